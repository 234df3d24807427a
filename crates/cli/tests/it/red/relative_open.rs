//! A handle keeps using the folder in which it was opened, whatever its process's working directory is.

use adage_sessions::Sessions;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use adage::skills::Skill;
use adage::{Document, Feedback, HashingEmbedder, Listing, Playbook, PlaybookBuilder, VectorMemory, build_lesson};
use adage_review::{Inbox, PatchKind, ProposalName};

use super::ground::{FOREIGN, OWN, listing};
use super::memory::{fill, open, patch};

const STEP: &str = "ADAGE_RED_STEP";
const HOME: &str = "ADAGE_RED_HOME";

fn home(name: &str) -> PathBuf {
    PathBuf::from(env::var_os(HOME).unwrap()).join(name)
}

fn relative(folder: &str) -> PlaybookBuilder {
    Playbook::builder(folder).with_embedder(Arc::new(HashingEmbedder))
}

/// From here on a relative path refers to another memory.
fn leave() {
    env::set_current_dir(home("elsewhere")).unwrap();
}

fn opened_then_left(folder: &str) -> Playbook {
    let playbook = relative(folder).open().unwrap();
    leave();
    playbook
}

fn learned(playbook: &Playbook) {
    playbook.learn_lesson(build_lesson("tag a release", "sign the tag")).unwrap();
    let stored = fs::read_to_string(home("project/.adage/skills_playbook.json")).unwrap();
    assert!(stored.contains("sign the tag"));
}

fn applied_and_undone(playbook: &Playbook) {
    let inbox = Inbox::of(playbook);
    let proposal = inbox.find(&ProposalName::Patch(PatchKind::Private)).unwrap();
    let change = inbox.apply(&[proposal]).unwrap().change.unwrap();
    let note = home("project/.adage/note.md");
    assert_eq!(fs::read_to_string(&note).unwrap(), format!("{OWN}\n{OWN} too\n"));
    inbox.undo(change).unwrap();
    assert_eq!(fs::read_to_string(&note).unwrap(), format!("{OWN}\n"));
}

fn written_skill() {
    let root = home("project/shared");
    fs::create_dir_all(root.join("deploy")).unwrap();
    fs::write(root.join("deploy/SKILL.md"), "one\n").unwrap();
    let playbook = relative(".adage").with_writable_skills("shared").open().unwrap();
    leave();
    let kind = PatchKind::Skill("deploy".parse().unwrap());
    let text = patch(&root.join("deploy/SKILL.md"), Some("one"), "two");
    let proposal = Inbox::of(&playbook).propose(&kind, text.as_bytes()).unwrap();
    let change = Inbox::of(&playbook).apply(&[proposal]).unwrap().change.unwrap();
    assert_eq!(fs::read_to_string(root.join("deploy/SKILL.md")).unwrap(), "one\ntwo\n");
    Inbox::of(&playbook).undo(change).unwrap();
    assert_eq!(fs::read_to_string(root.join("deploy/SKILL.md")).unwrap(), "one\n");
}

fn global_notes() {
    let file = home("project/GLOBAL.md");
    fs::write(&file, "one\n").unwrap();
    let playbook = relative(".adage").with_global_notes("GLOBAL.md").open().unwrap();
    leave();
    let proposal =
        Inbox::of(&playbook).propose(&PatchKind::Global, patch(&file, Some("one"), "two").as_bytes()).unwrap();
    Inbox::of(&playbook).apply(&[proposal]).unwrap();
    assert_eq!(fs::read_to_string(file).unwrap(), "one\ntwo\n");
}

fn project_skills() {
    fs::create_dir_all(home("project/ours/deploy")).unwrap();
    fs::write(home("project/ours/deploy/SKILL.md"), "# Deploy\n").unwrap();
    let playbook = relative(".adage").with_project_skills("ours").open().unwrap();
    leave();
    let listed = playbook.skills().list().unwrap().skills;
    let names: Vec<String> = listed.iter().map(|listed| listed.skill.name.to_string()).collect();
    assert!(names.contains(&"deploy".to_owned()), "{names:?}");
    assert!(listed.iter().all(|listed| listed.path.is_absolute()));
}

fn saved_skill() {
    let playbook = opened_then_left(".adage");
    let skill = Skill { body: "Do it.".to_owned(), ..Skill::new("build".parse().unwrap(), "About it.".to_owned()) };
    playbook.skills().save(&skill).unwrap();
    assert!(home("project/.adage/skills/build/SKILL.md").exists());
}

fn counted_recall() {
    let playbook = opened_then_left(".adage");
    let receipt = playbook.get_playbook_context(format!("{OWN} parse a csv export")).unwrap().receipt.unwrap();
    playbook.record_outcome(receipt, Feedback::Helpful).unwrap();
    drop(playbook);
    let lesson = open(&home("project/.adage")).find_by_trigger(&format!("{OWN} parse a csv export")).unwrap();
    assert_eq!((lesson.retrievals, lesson.helpful_retrievals), (2, 1));
}

fn read_only() {
    let playbook = relative(".adage").read_only().open().unwrap();
    leave();
    open(&home("project/.adage")).learn_lesson(build_lesson("tag a release", "sign the tag")).unwrap();
    let lessons = playbook.list_lessons(&Listing::everything()).unwrap();
    assert!(lessons.iter().any(|lesson| lesson.trigger == "tag a release"));
    assert!(lessons.iter().all(|lesson| !lesson.trigger.contains(FOREIGN)));
}

fn undone_export() {
    let playbook = relative(".adage").open().unwrap();
    let listing = Listing::everything();
    let format = adage::exchange::Format::Agents;
    let change = playbook.export_into(format, &listing, Path::new("AGENTS.md")).unwrap().change.unwrap();
    leave();
    playbook.undo_export(change, &home("project/AGENTS.md")).unwrap();
    assert!(!home("project/AGENTS.md").exists());
}

fn kept_documents() {
    let open = |folder: &Path| VectorMemory::builder(folder).with_embedder(Arc::new(HashingEmbedder)).open().unwrap();
    let memory = open(Path::new("documents"));
    leave();
    memory.add(Document::new("one", "The first.")).unwrap();
    memory.compact().unwrap();
    assert!(memory.folder().is_absolute());
    drop(memory);
    assert!(open(&home("project/documents")).get("one").unwrap().is_some());
}

fn recorded_sessions() {
    let file = home("project/session.jsonl");
    fs::write(&file, "{}\n").unwrap();
    let playbook = relative(".adage").open().unwrap();
    Sessions::of(&playbook).queue(Path::new("session.jsonl")).unwrap();
    leave();
    let record = home("project/.adage/mining.json");
    assert!(fs::read_to_string(&record).unwrap().contains(file.to_str().unwrap()));
    fs::remove_file(&record).unwrap();
    Sessions::of(&playbook).queue(&file).unwrap();
    assert!(fs::read_to_string(&record).unwrap().contains(file.to_str().unwrap()));
}

fn told_recovery() {
    fs::write(".adage/skills_playbook.json", "broken").unwrap();
    let playbook = opened_then_left(".adage");
    let kept = &playbook.recovery().unwrap().kept_at;
    assert!(kept.iter().all(|path| path.is_absolute() && path.exists()), "{kept:?}");
}

fn removed_on_the_way() {
    fs::create_dir("passage").unwrap();
    let playbook = relative("passage/../.adage").open().unwrap();
    fs::remove_dir("passage").unwrap();
    learned(&playbook);
    applied_and_undone(&playbook);
}

fn two_handles() {
    let (first, second) = (relative(".adage").open().unwrap(), relative("./deep/../.adage/").open().unwrap());
    leave();
    first.learn_lesson(build_lesson("tag a release", "sign the tag")).unwrap();
    assert!(second.find_by_trigger("tag a release").is_ok());
    assert_eq!(first.folder().canonicalize().unwrap(), second.folder().canonicalize().unwrap());
}

const STEPS: [(&str, fn()); 20] = [
    ("the folder is absolute", || assert!(opened_then_left(".adage").folder().is_absolute())),
    ("the folder is where it was", || {
        assert_eq!(opened_then_left("./.adage/").folder().canonicalize().unwrap(), home("project/.adage"));
    }),
    ("learning stays in the folder", || learned(&opened_then_left(".adage"))),
    ("learning stays in a folder with dots", || learned(&opened_then_left("../project/deep/.././.adage/"))),
    ("learning does without what was on the way", removed_on_the_way),
    ("listing stays in the folder", || {
        let lessons = opened_then_left(".adage").list_lessons(&Listing::everything()).unwrap();
        assert!(lessons.iter().all(|lesson| lesson.trigger.contains(OWN)));
    }),
    ("a recall is counted in the folder", counted_recall),
    ("a proposal is applied and undone in the folder", || applied_and_undone(&opened_then_left(".adage"))),
    ("a proposal is applied in a folder with dots", || applied_and_undone(&opened_then_left("deep/../.adage"))),
    ("a relative root of skills stays where it was", written_skill),
    ("a relative file of global notes stays where it was", global_notes),
    ("a relative folder of the project's skills stays where it was", project_skills),
    ("a skill is saved in the folder", saved_skill),
    ("a handle that only reads stays in the folder", read_only),
    ("an export by a relative path is undone by an absolute one", undone_export),
    ("documents stay in the folder", kept_documents),
    ("the record of sessions stays in the folder", recorded_sessions),
    ("where a broken file is kept is told for good", told_recovery),
    ("two spellings are one folder", two_handles),
    ("the folder can still be written to", || opened_then_left(".adage").check_writable().unwrap()),
];

/// Every step has a process of its own, since the working directory is the whole process's.
#[test]
fn a_handle_stays_at_its_folder() {
    if let Some(step) = env::var_os(STEP) {
        let number: usize = step.to_str().unwrap().parse().unwrap();
        return (STEPS[number].1)();
    }
    let mut succeeded = Vec::new();
    for (number, (name, _)) in STEPS.iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        fs::create_dir_all(home.join("project/deep")).unwrap();
        fill(&home.join("project/.adage"), OWN);
        fill(&home.join("elsewhere/.adage"), FOREIGN);
        let before = listing(&home.join("elsewhere"));
        let mut command = Command::new(env::current_exe().unwrap());
        command.args(["red::relative_open::a_handle_stays_at_its_folder", "--exact", "--nocapture"]);
        command.current_dir(home.join("project")).env(STEP, number.to_string()).env(HOME, &home);
        let output = command.output().unwrap();
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            let said: Vec<&str> = said.lines().filter(|line| !line.is_empty()).take(3).collect();
            succeeded.push(format!("- {name}: {}", said.join(" ")));
        } else if listing(&home.join("elsewhere")) != before {
            succeeded.push(format!("- {name}: the other memory was changed"));
        }
    }
    let n = succeeded.len();
    assert!(succeeded.is_empty(), "{n} of {} attacks succeed:\n{}", STEPS.len(), succeeded.join("\n"));
}
