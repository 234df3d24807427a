//! A memory folder made by someone else: entries with the names of its files are links to outside.

use super::ground::{Ground, Plant};
use Plant::{
    Chain, Dangling, Fifo, Folder, HardLink, HardLinkedProfile, Inside, Loop, Nothing, OutsideFolder, Profile,
    RelativeTwin, Socket, Twin, Zero,
};

/// The allowed results of a call.
#[derive(Clone, Copy, PartialEq)]
enum Ending {
    /// With an error that names the link.
    Refused,
    /// Success or failure, with a message that names the link.
    Named,
    /// Success, or an error that names the link.
    Harmless,
}

struct Attack {
    name: &'static str,
    place: &'static str,
    plant: Plant,
    /// Run by a shell in the project before the call.
    prelude: &'static str,
    call: &'static [&'static str],
    ending: Ending,
}

/// An attack that has to be refused.
fn attack(name: &'static str, place: &'static str, plant: Plant, call: &'static [&'static str]) -> Attack {
    Attack { name, place, plant, prelude: "", call, ending: Ending::Refused }
}

impl Attack {
    fn named(self) -> Self {
        Self { ending: Ending::Named, ..self }
    }

    fn harmless(self) -> Self {
        Self { ending: Ending::Harmless, ..self }
    }

    fn after(self, prelude: &'static str) -> Self {
        Self { prelude, ..self }
    }

    fn faults(&self) -> Vec<String> {
        let ground = Ground::new();
        ground.plant(self.place, self.plant);
        let outside = ground.outside();
        let run = ground.run_after(self.prelude, self.call);
        let mut faults = ground.faults(&run, &outside, self.place);
        if self.ending == Ending::Refused && run.is_done() {
            faults.push("it is not refused".to_owned());
        }
        if self.ending == Ending::Named && run.is_done() && !run.err.contains(self.place) {
            faults.push(format!("no message names {}: {}", self.place, run.err));
        }
        faults.extend(ground.lost(self.place));
        faults
    }
}

/// Lists every attack that succeeds.
fn check(attacks: &[Attack]) {
    let mut succeeded = Vec::new();
    for attack in attacks {
        let faults = attack.faults();
        if !faults.is_empty() {
            succeeded.push(format!("- {}: {}", attack.name, faults.join("; ")));
        }
    }
    let (n, n_all) = (succeeded.len(), attacks.len());
    assert!(succeeded.is_empty(), "{n} of {n_all} attacks succeed:\n{}", succeeded.join("\n"));
}

const LEARN: &[&str] = &["learn", "--trigger", "tag a release", "--solution", "sign the tag"];
/// An evicted lesson is written to the archive.
const EVICT: &[&str] = &[
    "learn",
    "--trigger",
    "tag a release",
    "--solution",
    "sign the tag",
    "--capacity",
    "2",
    "--yes",
    "--dedup",
    "off",
];
const CONTEXT: &[&str] = &["context", "ownword parse a csv export"];
const LIST: &[&str] = &["list"];
const REMOVE: &[&str] = &["remove", "ownword tag a build"];
const APPLY: &[&str] = &["review", "apply", "private"];
const SHOW: &[&str] = &["review", "show", "private"];
const VERIFY: &[&str] = &["skills", "verify", "gamma", "failed"];
const IMPORT_SKILL: &[&str] = &["skills", "import", "new"];
const MINE: &[&str] = &["mine", "--sessions", "sessions"];
const CURATE: &[&str] = &["skills", "curate", "--apply"];
const BROKEN: &str = "echo broken > .adage/skills_playbook.json";
const NEW_SKILL: &str = "mkdir new; printf '# New\\n\\nDo it.\\n' > new/SKILL.md";

#[test]
fn links_in_place_of_the_archive_are_not_followed() {
    let no_archive = r#"sed -i.old 's/"archive_len": *[0-9]*/"archive_len": 0/' .adage/skills_playbook.json"#;
    let at = |name, plant, call| attack(name, "archive.jsonl", plant, call);
    check(&[
        at("learning does not append to a start-up file", Profile, EVICT),
        at("learning does not cut a file outside to the length that the playbook states", Profile, EVICT)
            .after(no_archive),
        at("learning does not append to a start-up file that has a second name here", HardLinkedProfile, EVICT),
        at("learning does not cut a file that has a second name here", HardLink, EVICT).after(no_archive),
        at("the history does not print another memory's", Twin, &["history"]),
        at("removing a lesson does not write through a relative link", RelativeTwin, REMOVE),
        at("undoing a change does not follow a chain of links", Chain, &["undo", "{change}"]),
        at("learning does not make a file where a link leads to none", Dangling, EVICT),
        at("learning ends where the archive leads to itself", Loop, EVICT),
        at("learning does not wait at a pipe", Fifo, EVICT),
        at("the history does not wait at a pipe", Fifo, &["history"]),
        at("undoing does not read a file without an end", Zero, &["undo", "{change}"]),
        at("learning does not write to a socket", Socket, EVICT),
        at("learning does not take a folder for the archive", Folder, EVICT),
        at("learning does not append to the playbook file through the archive", Inside("skills_playbook.json"), EVICT),
        at("learning does not append to a note through the archive", Inside("note.md"), EVICT),
        at("pruning does not write to a folder outside", OutsideFolder, &["remove", "--prune"]).harmless(),
        at("importing does not append to a start-up file", Profile, &["import", "lessons", "--capacity", "1", "--yes"])
            .after(r#"echo '{"trigger": "sign a tag", "solution": "git tag -s"}' > lessons"#),
    ]);
}

#[test]
fn links_in_place_of_usage_files_are_not_followed() {
    let at = |name, plant, call| attack(name, "usage.jsonl", plant, call);
    check(&[
        at("a recall does not append to a start-up file", Profile, CONTEXT).named(),
        at("a recall does not append to a file that has a second name here", HardLinkedProfile, CONTEXT).named(),
        at("a recall does not append to another memory's usage", RelativeTwin, CONTEXT).named(),
        at("a recall does not append to the playbook file", Inside("skills_playbook.json"), CONTEXT).named(),
        at("a recall does not append to the archive", Inside("archive.jsonl"), CONTEXT).named(),
        at("an outcome is not written to another memory", HardLink, &["outcome", "{receipt}", "helpful"]),
        at("an outcome does not follow a chain of links", Chain, &["outcome", "{receipt}", "helpful"]),
        at("a credit is not written through a link", Twin, &["outcome", "--window"]),
        at("listing does not wait at a pipe", Fifo, LIST),
        at("learning does not wait at a pipe", Fifo, LEARN),
        at("listing does not read a file without an end", Zero, LIST),
        at("the figures end where usage leads to itself", Loop, &["list", "--stats"]),
        at("a recall makes no file where a link leads to none", Dangling, CONTEXT).named(),
    ]);
}

#[test]
fn links_in_place_of_the_playbook_file_and_its_backup_are_not_followed() {
    let at = |name, plant, call| attack(name, "skills_playbook.json", plant, call);
    let backup = |name, plant, call| attack(name, "skills_playbook.json.bak", plant, call);
    check(&[
        at("listing does not print another memory's lessons", Twin, LIST),
        at("an export does not print another memory's lessons", RelativeTwin, &["export"]),
        at("a context does not hold another memory's lessons", Chain, &["context", "foreignword parse a csv export"]),
        at("learning does not copy another memory's lessons", Twin, LEARN),
        at("a file that is no playbook is not copied to quarantine", Profile, LEARN),
        at("a check does not print what a file outside holds", Profile, &["doctor", "--check"]),
        at("listing does not wait at a pipe", Fifo, LIST),
        at("learning does not wait at a pipe", Fifo, LEARN),
        at("listing does not read a file without an end", Zero, LIST),
        at("learning does not begin a playbook where a link leads to nothing", Dangling, LEARN),
        at("learning ends where the playbook leads to itself", Loop, LEARN),
        at("the doctor does not take a folder outside for the playbook", OutsideFolder, &["doctor"]).harmless(),
        at("another file of the folder is not taken for the playbook", Inside("archive.jsonl"), LEARN),
        backup("another memory's backup does not take the place of a broken file", Twin, LIST).after(BROKEN),
        backup("a file outside is not copied to quarantine as a backup", Profile, LEARN).after(BROKEN),
        backup("restoring does not wait at a pipe", Fifo, LIST).after(BROKEN),
        backup("restoring does not read a file without an end", Zero, LEARN).after(BROKEN),
        backup("a commit replaces a link in the backup's place, not what it leads to", Profile, LEARN).harmless(),
        backup("a commit makes no backup where a link leads", Dangling, LEARN).harmless(),
    ]);
}

#[test]
fn links_in_place_of_caches_and_locks_are_not_followed() {
    let vectors = |name, plant, call| attack(name, "vectors.bin", plant, call).harmless();
    let lock = |name, plant, call| attack(name, "lock", plant, call);
    check(&[
        vectors("new vectors are not appended to a start-up file", Profile, LEARN),
        vectors("new vectors are not appended to a file that has a second name here", HardLinkedProfile, LEARN),
        vectors("removing a lesson does not rewrite another memory's vectors", Twin, REMOVE),
        vectors("removing a lesson does not rewrite vectors of two names", HardLink, REMOVE),
        vectors("a recall makes no file where the vectors lead to none", Dangling, CONTEXT),
        vectors("learning makes no file where the vectors lead to none", Dangling, LEARN),
        vectors("a recall does not wait for vectors from a pipe", Fifo, CONTEXT),
        vectors("a check does not wait for vectors from a pipe", Fifo, &["doctor", "--check"]),
        vectors("a recall does not read vectors without an end", Zero, CONTEXT),
        vectors("learning does not take vectors from a folder", Folder, LEARN),
        lock("the lock is not made outside", Dangling, LEARN),
        attack("a recall does not make the lock of usage outside", "usage.lock", Dangling, CONTEXT).named(),
        lock("another memory's lock is not ours", Twin, LEARN),
        lock("learning does not wait at a pipe for the lock", Fifo, LEARN),
        attack("a recall does not wait at a pipe for the lock of usage", "usage.lock", Fifo, CONTEXT).named(),
        lock("a device is no lock", Zero, LEARN),
        lock("the doctor does not take a link for a lock", Profile, &["doctor"]).harmless(),
        attack("the lock of a run is not made outside", "mining.lock", Dangling, MINE),
        attack("a run does not wait at a pipe for its lock", "mining.lock", Fifo, MINE),
    ]);
}

#[test]
fn links_in_place_of_records_and_quarantine_are_not_followed() {
    let skills = |name, plant| attack(name, "skills.json", plant, VERIFY);
    let mining = |name, plant| attack(name, "mining.json", plant, MINE);
    let kept = |name, plant| attack(name, "quarantine", plant, LEARN).after(BROKEN);
    check(&[
        skills("a file outside is not copied to quarantine as the record of skills", Profile),
        skills("another memory's promotions are not taken over", Twin),
        skills("the record of skills is not read from a pipe", Fifo),
        skills("the record of skills is not read from a file without an end", Zero),
        skills("the record of skills is not begun where a link leads", Dangling),
        attack("listing skills does not read the record from a pipe", "skills.json", Fifo, &["skills", "list"]),
        mining("a file outside is not copied to quarantine as the record of runs", Profile),
        mining("another memory's queue is not read", RelativeTwin),
        mining("the record of runs is not read from a pipe", Fifo),
        mining("the record of runs ends where it leads to itself", Loop),
        attack(
            "listing sessions does not read the record from a pipe",
            "mining.json",
            Fifo,
            &["mine", "--list", "sessions"],
        ),
        kept("a broken playbook is not copied out of the folder", OutsideFolder),
        kept("a broken playbook is not copied into another memory", Twin),
        kept("a broken playbook is not copied through a relative link", RelativeTwin),
        kept("no folder is made where the quarantine leads to nothing", Dangling),
        kept("the quarantine is no pipe", Fifo),
    ]);
}

#[test]
fn links_in_place_of_journals_notes_and_proposals_are_not_followed() {
    let edits = |name, plant, call| attack(name, "edits", plant, call);
    let proposed = |name, plant, call| attack(name, ".inbox/private/extraction.patch", plant, call);
    check(&[
        edits("a journal is not written outside", OutsideFolder, APPLY),
        edits("a journal is not written into another memory", Twin, APPLY),
        edits("no folder for journals is made outside", Dangling, APPLY),
        edits("another memory's changes are not listed", Twin, &["review", "history"]),
        edits("another memory's change is not undone here", Twin, &["review", "undo", "{edit}"]),
        edits("a curation is not written down outside", OutsideFolder, CURATE),
        edits("an export is not written down outside", OutsideFolder, &["export", "--into", "AGENTS.md"]),
        attack("another memory's proposals are not listed", ".inbox", Twin, &["review", "list", "--json"]),
        attack("another memory's patch is not shown through its folder", ".inbox/private", Twin, SHOW),
        proposed("another memory's patch is not shown", Twin, SHOW),
        proposed("a patch of two names is not shown", HardLink, SHOW),
        proposed("a patch is not read from a pipe", Fifo, &["review", "list"]).harmless(),
        proposed("a patch is not read from a file without an end", Zero, APPLY),
        attack("the record of a patch is not read from a pipe", ".inbox/private/extraction.base.json", Fifo, APPLY)
            .harmless(),
        attack(
            "another memory's skill is not shown",
            ".inbox/skills/release",
            Twin,
            &["review", "show", "skills/release"],
        ),
        attack(
            "a proposed skill is not read from outside",
            ".inbox/skills/release/SKILL.md",
            Twin,
            &["review", "apply", "skills/release"],
        )
        .harmless(),
        attack("nothing is put aside outside", ".inbox/aside", OutsideFolder, &["review", "check"])
            .after("echo none > .inbox-note; mv .inbox-note .adage/.inbox/stray")
            .harmless(),
        attack("a note that is a link is not patched", "note.md", Twin, APPLY),
        attack("a note of two names is not patched", "note.md", HardLink, APPLY),
        attack("a note is not read from a pipe", "note.md", Fifo, APPLY),
        attack("the index of the notes is not written through a link", "MEMORY.md", Profile, APPLY),
        attack("the index of the notes is not made where a link leads", "MEMORY.md", Dangling, APPLY),
    ]);
}

#[test]
fn links_in_place_of_skills_are_not_followed() {
    let gamma = &["skills", "show", "gamma"];
    let list = &["skills", "list", "--json"];
    check(&[
        attack("another memory's skills are not listed", "skills", Twin, list).harmless(),
        attack("an imported skill is not written into another memory", "skills", Twin, IMPORT_SKILL).after(NEW_SKILL),
        attack("an imported skill is not written outside", "skills", RelativeTwin, IMPORT_SKILL).after(NEW_SKILL),
        attack("no folder of skills is made outside", "skills", Dangling, IMPORT_SKILL).after(NEW_SKILL),
        attack("a skill is not read from a folder outside", "skills/gamma", Twin, gamma),
        attack("a skill is not read from a file outside", "skills/gamma/SKILL.md", Twin, list).harmless(),
        attack("a skill's check is not recorded for a text outside", "skills/gamma", Twin, VERIFY),
        attack("a skill is not read from a pipe", "skills/gamma/SKILL.md", Fifo, list).harmless(),
        attack("a skill is not read from a file without an end", "skills/gamma/SKILL.md", Zero, list).harmless(),
        attack("an imported skill does not replace what a link leads to", "skills/new", OutsideFolder, IMPORT_SKILL)
            .after(NEW_SKILL),
        attack("an imported skill is not written through a file", "skills/new/SKILL.md", Profile, IMPORT_SKILL)
            .after(NEW_SKILL),
        attack("an imported skill does not wait at a pipe", "skills/new/SKILL.md", Fifo, IMPORT_SKILL).after(NEW_SKILL),
        attack(
            "a proposed skill is not applied through a link",
            "skills/release",
            OutsideFolder,
            &["review", "apply", "skills/release"],
        ),
        attack("a curation archives nothing outside", "skills-archive", OutsideFolder, CURATE),
        attack("a curation archives nothing in another memory", "skills-archive", Twin, CURATE),
        attack("a curation makes no archive where a link leads", "skills-archive", Dangling, CURATE),
        attack("a curation does not remove a skill outside", "skills/beta", Twin, CURATE).harmless(),
        attack("a context does not hold a skill from outside", "skills", Twin, CONTEXT).harmless(),
    ]);
}

/// An attacker can prepare a folder for the next process ids.
#[test]
fn links_in_place_of_temporary_files_are_not_followed() {
    let at = |name, prelude, call| attack(name, ".adage-tmp-", Nothing, call).after(prelude).harmless();
    check(&[
        at(
            "a restored playbook is not written through a link in the temporary file's place",
            "echo broken > .adage/skills_playbook.json; ln -s ../../outside/profile .adage/.adage-tmp-playbook.$$",
            LEARN,
        ),
        at(
            "a record is not written through a link in the temporary file's place",
            "ln -s ../../outside/profile .adage/.adage-tmp-skills.json.$$",
            VERIFY,
        ),
        at(
            "a record is not written into a second name of a file outside",
            "ln ../outside/profile .adage/.adage-tmp-skills.json.$$",
            VERIFY,
        ),
        at(
            "a record is not written where a dangling link leads",
            "ln -s ../../outside/empty/new .adage/.adage-tmp-skills.json.$$",
            VERIFY,
        ),
        at(
            "a record does not wait at a pipe in the temporary file's place",
            "mkfifo .adage/.adage-tmp-skills.json.$$",
            VERIFY,
        ),
        at(
            "a record of runs is not written through a link in the temporary file's place",
            "ln -s ../../outside/profile .adage/.adage-tmp-mining.json.$$",
            MINE,
        ),
        at(
            "a lesson is not written through a link in the temporary file's place",
            "ln -s ../../outside/profile .adage/.adage-tmp-playbook.$$",
            LEARN,
        ),
        at(
            "a backup is not made through a link in the temporary file's place",
            "ln -s ../../outside/empty .adage/.adage-tmp-backup.$$",
            LEARN,
        ),
        at(
            "a skill is not written through a link in the temporary file's place",
            "ln -s ../../outside/profile .adage/.adage-tmp-SKILL.md.$$; mkdir new; echo '# New' > new/SKILL.md",
            IMPORT_SKILL,
        ),
    ]);
}

#[test]
fn an_ordinary_folder_works_as_before() {
    for call in [
        LEARN,
        CONTEXT,
        LIST,
        REMOVE,
        SHOW,
        APPLY,
        VERIFY,
        MINE,
        CURATE,
        &["history"],
        &["doctor", "--check"],
        &["doctor"],
        &["remove", "--prune"],
        &["undo", "{change}"],
        &["outcome", "{receipt}", "helpful"],
        &["review", "history"],
        &["review", "apply", "--all"],
        &["skills", "list"],
        &["export"],
        &["export", "--into", "AGENTS.md"],
    ] {
        let ground = Ground::new();
        // Two names within the folder, as a commit leaves them.
        let backup = ground.in_memory("skills_playbook.json.bak");
        std::fs::remove_file(&backup).unwrap();
        std::fs::hard_link(ground.in_memory("skills_playbook.json"), backup).unwrap();
        let run = ground.run(call);
        assert!(run.is_done() && !run.says("foreignword"), "{call:?}: {run:?}");
    }
    let ground = Ground::new();
    let undone = ground.run_after("rm -r .adage/.inbox/private", &["review", "undo", "{edit}"]);
    assert!(undone.is_done() && !ground.in_memory("first.md").exists(), "{undone:?}");
}
