//! A memory folder with every kind of file that a memory can have.

use adage_sessions::Sessions;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use adage::lesson::Trust;
use adage::skills::{Quality, Skill};
use adage::{ChangeId, HashingEmbedder, ManualClock, Playbook, ReceiptId, Verification, build_lesson};
use adage_review::{Inbox, PatchKind, ProposalName};
use chrono::DateTime;

use super::run::NOW;

/// What commands are called with.
pub(super) struct Facts {
    pub(super) receipt: ReceiptId,
    /// A merge.
    pub(super) change: ChangeId,
    /// A patch that was applied.
    pub(super) edit: ChangeId,
}

pub(super) fn open(folder: &Path) -> Playbook {
    let clock = Arc::new(ManualClock::new(DateTime::parse_from_rfc3339(NOW).unwrap()));
    Playbook::builder(folder).with_embedder(Arc::new(HashingEmbedder)).with_clock(clock).open().unwrap()
}

/// A patch that adds a line to a note of one line, or makes one.
pub(super) fn patch(file: &Path, present: Option<&str>, added: &str) -> String {
    let file = file.display();
    match present {
        Some(line) => format!("--- {file}\n+++ {file}\n@@ -1 +1,2 @@\n {line}\n+{added}\n"),
        None => format!("--- /dev/null\n+++ {file}\n@@ -0,0 +1 @@\n+{added}\n"),
    }
}

fn draft(name: &str, topics: [&str; 2], step: &str) -> Skill {
    let body = format!(
        "## Overview\n\nWhat {step} does.\n\n## Step-by-Step\n\n1. `{step}`\n\n## Common Pitfalls\n\n- {step} twice\n"
    );
    let skill = Skill::new(name.parse().unwrap(), format!("About {step}.")).with_triggers(topics, ["build"]);
    Skill { quality: Quality::Draft, body, ..skill }
}

/// Fills a folder; `word` is in every text of it.
pub(super) fn fill(folder: &Path, word: &str) -> Facts {
    let playbook = open(folder);
    let folder = folder.canonicalize().unwrap();
    let trigger = format!("{word} parse a csv export");
    playbook.learn_lesson(build_lesson(trigger.clone(), format!("use the {word} csv module"))).unwrap();
    let again = format!("use the {word} csv module of the library");
    playbook.learn_lesson(build_lesson(trigger.clone(), again)).unwrap();
    playbook.learn_lesson(build_lesson(format!("{word} rebase a branch"), format!("fetch {word} first"))).unwrap();
    playbook.learn_lesson(build_lesson(format!("{word} tag a build"), format!("sign it, {word}"))).unwrap();
    playbook.learn_lesson(build_lesson("pin numpy", format!("below 2.0 says {word}")).trust(Trust::Tainted)).unwrap();
    let change = playbook.changes().unwrap()[0].id;
    let receipt = playbook.get_playbook_context(trigger).unwrap().receipt.unwrap();
    let skills = playbook.skills();
    for (name, topics) in [("alpha", ["docker", "ci"]), ("beta", ["ci", "docker"])] {
        skills.save(&draft(name, topics, word)).unwrap();
    }
    skills.save(&draft("gamma", ["release", "tag"], &format!("{word} --tag"))).unwrap();
    skills.verify("gamma", Verification::Passed).unwrap();
    let session = folder.join("session.jsonl");
    fs::write(&session, "{}\n").unwrap();
    Sessions::of(&playbook).queue(&session).unwrap();
    fs::remove_file(session).unwrap();
    let inbox = Inbox::of(&playbook);
    fs::write(folder.join("note.md"), format!("{word}\n")).unwrap();
    let first = patch(&folder.join("first.md"), None, word);
    inbox.propose(&PatchKind::Private, first.as_bytes()).unwrap();
    let proposal = inbox.find(&ProposalName::Patch(PatchKind::Private)).unwrap();
    let edit = inbox.apply(&[proposal]).unwrap().change.unwrap();
    let changed = patch(&folder.join("note.md"), Some(word), &format!("{word} too"));
    let second = changed + &patch(&folder.join("second.md"), None, word);
    inbox.propose(&PatchKind::Private, second.as_bytes()).unwrap();
    inbox.propose_skill(&"release".parse().unwrap(), &format!("# Release {word}\n")).unwrap();
    for name in ["mining.lock", "quarantine/kept", "skills-archive/old.0.md"] {
        let file = folder.join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, if name == "mining.lock" { "" } else { word }).unwrap();
    }
    Facts { receipt, change, edit }
}
