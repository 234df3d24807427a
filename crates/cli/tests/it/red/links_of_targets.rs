//! The memory folder itself as a link, and links in place of files and folders that the caller names.

use std::fs;
use std::os::unix::fs::symlink;

use super::ground::{Ground, MEMORY, Plant};

struct Attack {
    name: &'static str,
    /// From the home; nothing is planted in the memory.
    place: &'static str,
    plant: Plant,
    prelude: &'static str,
    call: &'static [&'static str],
}

const fn attack(name: &'static str, place: &'static str, plant: Plant, call: &'static [&'static str]) -> Attack {
    Attack { name, place, plant, prelude: "true", call }
}

impl Attack {
    fn after(self, prelude: &'static str) -> Self {
        Self { prelude, ..self }
    }

    fn faults(&self, must_fail: MustFail) -> Vec<String> {
        let ground = Ground::new();
        let at = ground.path(self.place);
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        if self.place == MEMORY {
            fs::rename(&at, ground.path("kept")).unwrap();
        }
        let twin = match self.place {
            MEMORY => ground.path("outside/twin"),
            _ => ground.path("outside/twin/skills").join(at.file_name().unwrap()),
        };
        ground.put(
            &at,
            if self.place.ends_with("SKILL.md") { ground.path("outside/profile") } else { twin }.as_path(),
            self.plant,
        );
        let outside = ground.outside();
        let run = ground.run_after(self.prelude, self.call);
        let mut faults = ground.faults(&run, &outside, self.place);
        if must_fail == MustFail::Yes && run.is_done() {
            faults.push("it is not refused".to_owned());
        }
        if self.place == MEMORY {
            fs::remove_file(&at).unwrap();
            fs::rename(ground.path("kept"), at).unwrap();
        }
        faults.extend(ground.lost(""));
        faults
    }
}

#[derive(Clone, Copy, PartialEq)]
enum MustFail {
    Yes,
    No,
}

fn check(attacks: &[Attack], must_fail: MustFail) {
    let mut succeeded = Vec::new();
    for attack in attacks {
        let faults = attack.faults(must_fail);
        if !faults.is_empty() {
            succeeded.push(format!("- {}: {}", attack.name, faults.join("; ")));
        }
    }
    let (n, n_all) = (succeeded.len(), attacks.len());
    assert!(succeeded.is_empty(), "{n} of {n_all} attacks succeed:\n{}", succeeded.join("\n"));
}

const LEARN: &[&str] = &["learn", "--trigger", "tag a release", "--solution", "sign the tag"];

const TO: &[&str] = &["skills", "export", "ownword parse a csv export", "--to", "skills", "--name", "csv"];

#[test]
fn the_folder_itself_is_not_a_link() {
    let at = |name, plant, call| attack(name, MEMORY, plant, call);
    check(
        &[
            at("learning does not write into another memory", Plant::Twin, LEARN),
            at("learning does not follow a relative link", Plant::RelativeTwin, LEARN),
            at("learning does not follow a chain of links", Plant::Chain, LEARN),
            at("learning does not make a folder where a link leads to none", Plant::Dangling, LEARN),
            at("learning does not begin a memory in a folder outside", Plant::OutsideFolder, LEARN),
            at("learning ends where the folder leads to itself", Plant::Loop, LEARN),
            at("learning does not wait at a pipe", Plant::Fifo, LEARN),
            at("listing does not print another memory's lessons", Plant::Twin, &["list"]),
            at("a context does not hold another memory's lessons", Plant::Twin, &["context", "foreignword csv export"]),
            at("an export does not print another memory's lessons", Plant::RelativeTwin, &["export"]),
            at("another memory's proposals are not shown", Plant::Twin, &["review", "list"]),
            at("another memory's skills are not listed", Plant::Chain, &["skills", "list"]),
            at("another memory's history is not printed", Plant::Twin, &["history"]),
            at("a slash after the name does not follow the link", Plant::Twin, &["list", "--dir", ".adage/"]),
            at(
                "slashes and a dot after the name do not follow the link",
                Plant::Twin,
                &["list", "--dir", "./.adage//."],
            ),
            at(
                "a way through the link and back does not follow it",
                Plant::Twin,
                &["list", "--dir", "sessions/../.adage"],
            ),
            at("an absolute path does not follow the link", Plant::Twin, &["list", "--dir", "{home}project/.adage"]),
            at(
                "an absolute path with a slash does not make a folder outside",
                Plant::Dangling,
                &["learn", "--trigger", "tag it", "--solution", "sign it", "--dir", "{home}project/.adage/"],
            ),
            at("a check of another memory is refused", Plant::Twin, &["doctor", "--check"]),
            at("the doctor does not take another memory's lock", Plant::Twin, &["doctor"]),
        ],
        MustFail::Yes,
    );
}

#[test]
fn a_file_named_by_the_caller_must_be_a_regular_file() {
    let into = |name, plant| {
        attack(name, "project/AGENTS.md", plant, &["export", "--format", "agents", "--into", "AGENTS.md"])
    };
    let import = |name, plant| attack(name, "project/got/SKILL.md", plant, &["skills", "import", "got"]);
    check(
        &[
            into("an export makes no file where a link leads to none", Plant::Dangling),
            into("an export does not wait at a pipe", Plant::Fifo),
            into("an export ends where a link leads to itself", Plant::Loop),
            into("an export does not read a file without an end", Plant::Zero),
            into("an export does not write into a folder", Plant::Folder),
            into("an export does not write to a socket", Plant::Socket),
            into("an export does not replace the playbook file", Plant::Inside("skills_playbook.json")),
            into("an export does not write into the archive", Plant::Inside("archive.jsonl")),
            into("an export does not write where a link in its place leads", Plant::Profile),
            into("an export does not follow a chain of links", Plant::Chain),
            attack(
                "an export does not write below a folder that is a link",
                "project/docs",
                Plant::OutsideFolder,
                &["export", "--format", "agents", "--into", "docs/AGENTS.md"],
            ),
            attack(
                "nor by an absolute path",
                "project/docs",
                Plant::OutsideFolder,
                &["export", "--into", "{home}project/docs/lessons.jsonl"],
            ),
            attack(
                "an undo of an export does not follow a link either",
                "project/AGENTS.md",
                Plant::Profile,
                &["export", "--undo", "{change}", "--into", "AGENTS.md"],
            ),
            import("a skill of a folder is not read from outside it", Plant::Profile),
            import("a skill of a folder is not read from a file without an end", Plant::Zero),
            import("a skill of a folder is not read from a pipe", Plant::Fifo),
            attack("a skill's folder that is a link is not written to", "project/skills/csv", Plant::OutsideFolder, TO),
            attack("a skill's folder is not made where a link leads", "project/skills/csv", Plant::Dangling, TO),
            attack("a skill's file that is a link is not replaced", "project/skills/csv/SKILL.md", Plant::Profile, TO),
            attack("a skill's file is not made where a link leads", "project/skills/csv/SKILL.md", Plant::Dangling, TO),
            attack("a skill's file is not a pipe", "project/skills/csv/SKILL.md", Plant::Fifo, TO),
        ],
        MustFail::Yes,
    );
}

#[test]
fn links_in_a_named_folder_are_not_followed_out_of_it() {
    const LIST: &[&str] = &["skills", "list", "--json", "--project-skills", "ours"];
    const MINE: &[&str] = &["mine", "runs"];
    const DUE: &[&str] = &["mine", "--sessions", "runs"];
    let ours = |name, plant| attack(name, "project/ours/gamma/SKILL.md", plant, LIST);
    let session = |name, plant, call| attack(name, "project/runs/session.jsonl", plant, call);
    check(
        &[
            ours("a project's skill is not read from outside", Plant::Profile),
            ours("a project's skill is not read from a pipe", Plant::Fifo),
            ours("a project's skill is not read from a file without an end", Plant::Zero),
            attack("a project's skill is not read from a folder outside", "project/ours/gamma", Plant::Twin, LIST),
            session("a session is not read from outside", Plant::Profile, MINE),
            session("a session is not read from a pipe", Plant::Fifo, MINE),
            session("a session is not read from a file without an end", Plant::Zero, DUE),
            session("a due session is not read from a pipe", Plant::Fifo, DUE),
            attack(
                "a skill is not written through a link in the temporary file's place",
                "project/none",
                Plant::Nothing,
                TO,
            )
            .after("mkdir -p skills/csv; ln -s ../../../outside/profile skills/csv/.adage-tmp-SKILL.md.$$"),
            attack("a skill does not wait at a pipe in the temporary file's place", "project/none", Plant::Nothing, TO)
                .after("mkdir -p skills/csv; mkfifo skills/csv/.adage-tmp-SKILL.md.$$"),
        ],
        MustFail::No,
    );
}

#[test]
fn a_folder_that_is_written_into_is_not_a_link_of_a_clone() {
    const INTO: [(&str, &[&str]); 3] = [
        ("a skill", &["skills", "export", "ownword parse a csv export", "--to", "out/new", "--name", "csv"]),
        ("a backup", &["backup", "out/new"]),
        ("manual pages", &["config", "man", "out/new"]),
    ];
    let mut attacks: Vec<Attack> = Vec::new();
    for (name, call) in INTO {
        attacks.push(attack(name, "project/out/new", Plant::OutsideFolder, call));
        attacks.push(attack(name, "project/out", Plant::OutsideFolder, call));
        attacks.push(attack(name, "project/out", Plant::Dangling, call));
        attacks.push(attack(name, "project/out/new", Plant::Loop, call));
    }
    check(&attacks, MustFail::Yes);
    check(&[attack("a page", "project/out/new/adage.1", Plant::Profile, INTO[2].1)], MustFail::No);
}

/// The links are those of the repository that they are in, wherever the caller is.
#[test]
fn a_link_of_a_clone_is_found_from_any_folder() {
    const LESSON: &str = "ownword parse a csv export";
    const SUB: &str = "mkdir -p .git a/b; touch .git/HEAD; cd a/b; export ADAGE_DIR=../../.adage";
    const ABOVE: &str = "mkdir -p .git; touch .git/HEAD; cd ..; export ADAGE_DIR=project/.adage";
    const ELSEWHERE: &str = "mkdir -p .hg ../other; cd ../other; export ADAGE_DIR=../project/.adage";
    let mut attacks: Vec<Attack> = Vec::new();
    for place in ["project/out", "project/out/new"] {
        for (call, prelude) in [
            (&["config", "man", "../../out/new"][..], SUB),
            (&["config", "man", "project/out/new"], ABOVE),
            (&["config", "man", "../project/out/new"], ELSEWHERE),
            (&["config", "man", "{home}project/out/new"], ELSEWHERE),
            (&["backup", "../../out/new"], SUB),
            (&["backup", "project/out/new"], ABOVE),
            (&["skills", "export", LESSON, "--to", "../../out/new", "--name", "csv"], SUB),
            (&["skills", "export", LESSON, "--to", "../project/out/new", "--name", "csv"], ELSEWHERE),
            (&["export", "--format", "agents", "--into", "../../out/new/A.md"], SUB),
            (&["export", "--format", "agents", "--into", "project/out/new/A.md"], ABOVE),
        ] {
            attacks.push(attack(call[0], place, Plant::OutsideFolder, call).after(prelude));
        }
    }
    check(&attacks, MustFail::Yes);
}

#[test]
fn folders_that_are_no_links_of_a_clone_are_written_into() {
    let ground = Ground::new();
    fs::create_dir_all(ground.path("outside/real")).unwrap();
    fs::create_dir_all(ground.path("project/real")).unwrap();
    symlink("outside/real", ground.path("mine")).unwrap();
    symlink("real", ground.path("project/beside")).unwrap();
    for to in ["new", "real", "beside/again", "{home}mine"] {
        let skill = format!("{to}/skills");
        let (backup, man) = (format!("{to}/backup"), format!("{to}/man"));
        for call in [
            &["skills", "export", "ownword parse a csv export", "--to", &skill, "--name", "csv"][..],
            &["backup", &backup],
            &["config", "man", &man],
        ] {
            let run = ground.run(call);
            assert!(run.is_done(), "{call:?}: {run:?}");
        }
    }
    assert!(ground.path("outside/real/man/adage.1").exists() && ground.path("project/real/backup").exists());
}

/// The id of a change follows from its time and text: whoever knows both can be there first.
#[test]
fn files_of_a_journal_created_by_others_are_not_used() {
    const EXPORT: &[&str] = &["export", "--format", "agents", "--into", "AGENTS.md", "--json"];
    let mut succeeded = Vec::new();
    let places = [
        ("beside the target", "project/.adage-edit-{id}.0"),
        ("as the token", "project/.adage-edit-{id}.journal"),
        ("as the journal that is prepared", "project/.adage/edits/{id}.staging"),
    ];
    for (name, place) in places {
        for (kind, plant) in [
            ("a link", Plant::Profile),
            ("a link to nothing", Plant::Dangling),
            ("a pipe", Plant::Fifo),
            ("a second name", Plant::HardLinkedProfile),
        ] {
            let ground = Ground::new();
            let keep = ground.path("before");
            let copy = |from: &std::path::Path, to: &std::path::Path| {
                assert!(std::process::Command::new("cp").arg("-a").args([from, to]).status().unwrap().success());
            };
            copy(&ground.path("project"), &keep);
            let change = ground.run(EXPORT).field("change");
            fs::remove_dir_all(ground.path("project")).unwrap();
            fs::rename(keep, ground.path("project")).unwrap();
            let place = place.replace("{id}", &change);
            ground.put(&ground.path(&place), &ground.path("outside/profile"), plant);
            let outside = ground.outside();
            let run = ground.run(EXPORT);
            let faults = ground.faults(&run, &outside, &place);
            if !faults.is_empty() {
                succeeded.push(format!("- {kind} {name}: {}", faults.join("; ")));
            }
        }
    }
    assert!(succeeded.is_empty(), "{} of 12 attacks succeed:\n{}", succeeded.len(), succeeded.join("\n"));
}

#[test]
fn links_above_the_folder_and_between_siblings_work() {
    let ground = Ground::new();
    symlink("project", ground.path("way-in")).unwrap();
    for dir in ["../way-in/.adage", "{home}way-in/.adage", "{home}way-in/sessions/../.adage/"] {
        for call in [LEARN, &["list"], &["context", "ownword csv"], &["review", "list"], &["skills", "list"]] {
            let run = ground.run(&[call, &["--dir", dir]].concat());
            assert!(run.is_done() && !run.says("foreignword"), "{dir} {call:?}: {run:?}");
        }
    }
    fs::write(ground.path("project/AGENTS.md"), "# Mine\n").unwrap();
    symlink("AGENTS.md", ground.path("project/CLAUDE.md")).unwrap();
    let run = ground.run(&["export", "--format", "agents", "--into", "../way-in/CLAUDE.md"]);
    let text = fs::read_to_string(ground.path("project/AGENTS.md")).unwrap();
    assert!(run.is_done() && text.starts_with("# Mine\n") && text.contains("ownword"), "{run:?}");
    assert!(fs::symlink_metadata(ground.path("project/CLAUDE.md")).unwrap().is_symlink());
}
