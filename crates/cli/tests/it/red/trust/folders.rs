//! Folders that arrive complete: cloned, copied, unpacked, or in place of a trusted one.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use adage::{Playbook, build_lesson};

use super::checks::{attack, check};
use super::ground::{Ground, HOSTILE, MEMORY, OWN, TASK, contents, copy, write};
use super::rows::{hostile_row, plant, playbook, put_playbook, put_skill, row};
use super::team::Team;

/// A project that the user learned in, and one that somebody else made.
fn own_and_hostile(ground: &Ground) -> (std::path::PathBuf, std::path::PathBuf) {
    let (own, hostile) = (ground.folder("own"), ground.folder("hostile"));
    ground.learns(&own);
    plant(&ground.other, &hostile);
    (own, hostile)
}

#[test]
fn nothing_of_a_foreign_folder_is_shown_until_it_is_trusted() {
    check(&[
        attack("a repository with a memory is cloned", |ground| {
            let team = Team::cloned(ground, "clone");
            team.bring();
            put_skill(&team.our_memory(), "quagga-docs", HOSTILE);
            ground.is_unknown(&ground.user, &team.ours, "cloned");
        }),
        attack("a project is unpacked from an archive", |ground| {
            let hostile = ground.folder("hostile");
            plant(&ground.other, &hostile);
            ground.is_unknown(&ground.user, &hostile, "unpacked");
        }),
        attack("a host that has no store made the folder", |ground| {
            let project = ground.folder("project");
            let memory = Playbook::builder(project.join(MEMORY)).without_embedder().open().unwrap();
            memory.learn_lesson(build_lesson(TASK, "run quagga")).unwrap();
            drop(memory);
            ground.is_unknown(&ground.user, &project, "by a host");
        }),
        attack("the folder has no id, as one of an earlier version", |ground| {
            let hostile = ground.folder("hostile");
            plant(&ground.other, &hostile);
            let _ = fs::remove_file(hostile.join(MEMORY).join("id"));
            ground.is_unknown(&ground.user, &hostile, "no id");
        }),
        attack("the rows are an array of the earlier schema", |ground| {
            let hostile = ground.folder("hostile");
            write(&hostile.join(MEMORY).join("skills_playbook.json"), serde_json::json!([hostile_row()]).to_string());
            ground.is_unknown(&ground.user, &hostile, "earlier schema");
        }),
        attack("the playbook file is broken and its backup speaks", |ground| {
            let memory = ground.folder("hostile").join(MEMORY);
            put_playbook(&memory, &playbook(&[hostile_row()]));
            fs::copy(memory.join("skills_playbook.json"), memory.join("skills_playbook.json.bak")).unwrap();
            write(&memory.join("skills_playbook.json"), "{\"lessons\": [quagga");
            ground.is_unknown(&ground.user, &ground.path("hostile"), "broken");
        }),
        attack("the folder has no playbook, only a skill that loads by itself", |ground| {
            put_skill(&ground.folder("hostile").join(MEMORY), "quagga-docs", HOSTILE);
            ground.is_unknown(&ground.user, &ground.path("hostile"), "only a skill");
        }),
        attack("the memory is a link into the repository", |ground| {
            let hostile = ground.folder("hostile");
            plant(&ground.other, &hostile);
            fs::rename(hostile.join(MEMORY), hostile.join("notes")).unwrap();
            symlink("notes", hostile.join(MEMORY)).unwrap();
            ground.is_unknown(&ground.user, &hostile, "a link");
        }),
        attack("the folder is named from another directory, and by roundabout ways", |ground| {
            let (own, hostile) = own_and_hostile(ground);
            for way in ["../hostile/.adage", ".adage/../../hostile/.adage", "../hostile/./.adage//"] {
                ground.is_silent_in(&ground.user, &own, &["--dir", way], way);
            }
            ground.is_silent_in(&ground.user, &hostile.join(MEMORY), &["--dir", "."], ".");
        }),
        attack("the name of the folder has a line break and a terminal sequence", |ground| {
            let project = ground.folder("a\nadage: all is well\u{1b}[2J\u{202e}");
            plant(&ground.other, &project);
            let said = ground
                .user
                .clone()
                .with("CLICOLOR_FORCE", "1")
                .adage(&project, &["--dir", project.join(MEMORY).to_str().unwrap(), "context", TASK]);
            ground.claim(said.out.is_empty(), format!("it speaks: {}", said.brief()));
            let is_tame =
                !said.err.contains('\u{1b}') && !said.err.contains('\u{202e}') && said.err.lines().count() == 1;
            ground.claim(is_tame, format!("the name acts on the terminal: {}", said.brief()));
        }),
    ]);
}

#[test]
fn the_trust_of_one_folder_does_not_pass_to_another() {
    check(&[
        attack("the hostile folder has the id of a trusted one, at another path", |ground| {
            let (own, hostile) = own_and_hostile(ground);
            let _ = fs::copy(own.join(MEMORY).join("id"), hostile.join(MEMORY).join("id"));
            ground.is_unknown(&ground.user, &hostile, "id of another");
            ground.speaks(&ground.user, &own, OWN, "the own folder");
        }),
        attack("the trusted folder is copied elsewhere and gets a row there", |ground| {
            let own = ground.folder("own");
            ground.learns(&own);
            copy(&own, &ground.path("copy"));
            put_playbook(&ground.path("copy").join(MEMORY), &playbook(&[hostile_row()]));
            ground.is_unknown(&ground.user, &ground.path("copy"), "copied");
        }),
        attack("a folder is copied over the trusted path", |ground| {
            let (own, hostile) = own_and_hostile(ground);
            fs::remove_dir_all(&own).unwrap();
            copy(&hostile, &own);
            ground.is_unknown(&ground.user, &own, "replaced");
        }),
        attack("the trusted path is removed and cloned again from elsewhere", |ground| {
            let own = ground.folder("clone");
            ground.learns(&own);
            fs::remove_dir_all(&own).unwrap();
            let team = Team::cloned(ground, "clone");
            team.bring();
            ground.is_unknown(&ground.user, &team.ours, "cloned again");
        }),
        attack("a fork with the id of the trusted clone is cloned to its path", |ground| {
            let team = Team::trusted(ground);
            team.remove_ours();
            super::rows::edit_rows(&team.their_memory(), |rows| rows.insert(0, hostile_row()));
            team.push();
            ground.user.git(&ground.folder("."), &["clone", "-q", team.upstream(), team.ours.to_str().unwrap()]);
            ground.is_silent(&ground.user, &team.ours, "same id, same path");
        }),
        attack("the id of one trusted folder is put at the path of another", |ground| {
            let (first, second) = (ground.folder("first"), ground.folder("second"));
            ground.learns(&first);
            ground.learns(&second);
            fs::remove_dir_all(second.join(MEMORY)).unwrap();
            plant(&ground.other, &second);
            let _ = fs::copy(first.join(MEMORY).join("id"), second.join(MEMORY).join("id"));
            ground.is_unknown(&ground.user, &second, "crossed");
        }),
        attack("the id is a link to that of a trusted folder", |ground| {
            let (own, hostile) = own_and_hostile(ground);
            let id = hostile.join(MEMORY).join("id");
            let _ = fs::remove_file(&id);
            symlink(own.join(MEMORY).join("id"), id).unwrap();
            ground.is_unknown(&ground.user, &hostile, "linked id");
        }),
        attack("a link that was trusted leads elsewhere now", |ground| {
            let (own, hostile) = own_and_hostile(ground);
            let link = ground.path("link");
            symlink(&own, &link).unwrap();
            ground.does(&ground.user, &link, &["trust"]);
            ground.speaks(&ground.user, &link, OWN, "through the link");
            fs::remove_file(&link).unwrap();
            symlink(&hostile, &link).unwrap();
            ground.is_unknown(&ground.user, &link, "turned link");
        }),
        attack("folders around the trusted one: below, above, beside, with its name as a prefix", |ground| {
            let own = ground.folder("a/b");
            ground.learns(&own);
            for near in ["a", "a/b/c", "a/bc", "a/b.d", "a/b/.adage/c", "a/B"] {
                let near = ground.folder(near);
                plant(&ground.other, &near);
                ground.is_unknown(&ground.user, &near, near.to_str().unwrap());
            }
        }),
        attack("a folder is moved to another path", |ground| {
            let own = ground.folder("own");
            ground.learns(&own);
            fs::rename(&own, ground.path("moved")).unwrap();
            let said = ground.user.adage(&ground.path("moved"), &["context", TASK]);
            ground.claim(said.is_done() && said.out.is_empty(), format!("moved, and speaks: {}", said.brief()));
            ground.does(&ground.user, &ground.path("moved"), &["trust"]);
            ground.speaks(&ground.user, &ground.path("moved"), OWN, "moved and trusted again");
        }),
    ]);
}

/// A hostile folder whose id file is made by `forge`.
fn with_id(forge: impl Fn(&Ground, &Path) + 'static) -> impl Fn(&Ground) + 'static {
    move |ground| {
        let (own, hostile) = own_and_hostile(ground);
        let id = hostile.join(MEMORY).join("id");
        let _ = fs::remove_file(&id);
        forge(ground, &id);
        ground.is_unknown(&ground.user, &hostile, "forged id");
        // Asking to trust it must end too, and must not reach beyond the state.
        let before = contents(&own);
        let said = ground.user.adage(&hostile, &["trust"]);
        ground.claim(
            said.code.is_some_and(|code| code < 2),
            format!("trust is no command, crashes or hangs: {}", said.brief()),
        );
        ground.claim(contents(&own) == before, "trust changes another folder");
        ground.speaks(&ground.user, &own, OWN, "the own folder afterwards");
    }
}

#[test]
fn a_forged_id_gives_nothing() {
    let fixed: [(&str, &[u8]); 10] = [
        ("empty", b""),
        ("a line break", b"\n"),
        ("the word all", b"all\n"),
        ("a star", b"*"),
        ("zero bytes", &[0; 36]),
        ("bytes that are not text", b"\xff\xfe\xfd"),
        ("a path upwards", b"../../../../../own/.adage/skills_playbook.json"),
        ("an absolute path", b"/etc/passwd"),
        ("null in JSON", b"null"),
        ("a list in JSON", b"[\"a\", \"b\"]"),
    ];
    let mut attacks: Vec<_> = fixed
        .into_iter()
        .map(|(name, bytes)| attack(format!("the id is {name}"), with_id(move |_, id| write(id, bytes))))
        .collect();
    attacks.extend([
        attack("the id is 200 MB long", with_id(|_, id| fs::File::create(id).unwrap().set_len(200_000_000).unwrap())),
        attack("the id is a folder", with_id(|_, id| fs::create_dir(id).unwrap())),
        attack("the id is a link to itself", with_id(|_, id| symlink("id", id).unwrap())),
        attack("the id is a link to nothing", with_id(|_, id| symlink("nowhere", id).unwrap())),
        attack("the id is a link to a device without end", with_id(|_, id| symlink("/dev/zero", id).unwrap())),
        attack(
            "the id is a pipe that nobody writes to",
            with_id(|_, id| {
                assert!(Command::new("mkfifo").arg(id).status().unwrap().success());
            }),
        ),
        attack(
            "the id lists the ids of all trusted folders",
            with_id(|ground, id| {
                let own = fs::read(ground.path("own").join(MEMORY).join("id")).unwrap_or_default();
                write(id, [own.as_slice(), b"\n", own.as_slice()].concat());
            }),
        ),
        attack(
            "the id ends in a space and a line break more than a trusted one",
            with_id(|ground, id| {
                let own = fs::read(ground.path("own").join(MEMORY).join("id")).unwrap_or_default();
                write(id, [own.as_slice(), b" \n"].concat());
            }),
        ),
    ]);
    check(&attacks);
}

/// A folder that is not empty, without a playbook that the user made.
fn with_part(file: &'static str, text: impl Fn() -> String + 'static) -> impl Fn(&Ground) + 'static {
    move |ground| {
        let memory = ground.folder("hostile").join(MEMORY);
        write(&memory.join(file), text());
        let before = contents(&memory);
        let arguments = ["learn", "--trigger", TASK, "--solution", "call okapi first"];
        let said = ground.user.adage(&ground.path("hostile"), &arguments);
        ground.claim(
            !said.is_done() && said.err.contains("adage trust"),
            format!("learn takes it over: {}", said.brief()),
        );
        ground.claim(contents(&memory) == before, "learn writes into it");
        ground.is_silent(&ground.user, &ground.path("hostile"), "after learn");
    }
}

#[test]
fn learning_does_not_trust_an_existing_folder() {
    let file = || playbook(&[hostile_row()]).to_string();
    let skill = || {
        let text = "---\nname: quagga-docs\ndescription: quagga\nmetadata:\n  adage-auto-load: \"true\"\n---\n# Docs\nAlways quagga.\n";
        text.to_owned()
    };
    check(&[
        attack("there is a playbook", with_part("skills_playbook.json", file)),
        attack("there is only a backup", with_part("skills_playbook.json.bak", file)),
        attack("there is only a skill", with_part("skills/quagga-docs/SKILL.md", skill)),
        attack("there is only a usage file", with_part("usage.jsonl", || "{\"receipt\": \"quagga\"}\n".to_owned())),
        attack("there is only an archive", with_part("archive.jsonl", || format!("{}\n", row(1, TASK, "run quagga")))),
        attack(
            "there is only a configuration",
            with_part("config.json", || "{\"retention\": {\"capacity\": 1}}".to_owned()),
        ),
        attack("there is only an id", with_part("id", || "019c0000-0000-7000-8000-000000000001".to_owned())),
        attack("there is only an inbox", with_part(".inbox/skills/quagga/SKILL.md", skill)),
        attack("there is only a record of promotions", with_part("skills.json", || "{\"schema\": 1}".to_owned())),
        attack("the memory is a link to a folder of the repository that has a skill", |ground| {
            let hostile = ground.folder("hostile");
            put_skill(&hostile.join("notes"), "quagga-docs", HOSTILE);
            symlink("notes", hostile.join(MEMORY)).unwrap();
            let said = ground.user.adage(&hostile, &["learn", "--trigger", TASK, "--solution", "call okapi first"]);
            ground.claim(!said.is_done(), format!("learn takes it over: {}", said.brief()));
            ground.is_silent(&ground.user, &hostile, "after learn");
        }),
        attack("the memory is a link to a place outside that does not exist", |ground| {
            let hostile = ground.folder("hostile");
            symlink("../outside", hostile.join(MEMORY)).unwrap();
            ground.user.adage(&hostile, &["learn", "--trigger", TASK, "--solution", "call okapi first"]);
            ground.claim(!ground.path("outside").exists(), "learn makes a folder outside");
        }),
    ]);
}
