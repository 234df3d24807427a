//! The review inbox on real files: listing, applying and dismissing, and what a patch must not change.

mod home;
mod refusals;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use adage::{Error, FolderError, LearnOutcome, Playbook, build_lesson};
use adage_review::{Applied, CannotApply, Inbox, Patch, PatchKind, TargetError};

use crate::patches;

pub(crate) use home::Home;
use home::SKILL;

pub(crate) const CHANGE: &str = "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n";

pub(crate) fn skill(name: &str) -> PatchKind {
    PatchKind::Skill(name.parse().unwrap())
}

fn reason(error: adage_review::Error) -> CannotApply {
    match error {
        adage_review::Error::CannotApply { reason, .. } => *reason,
        other => panic!("{other}"),
    }
}

#[test]
fn proposals_of_every_kind_are_listed_shown_and_applied() {
    let home = Home::new();
    let playbook = home.builder().open().unwrap();
    let inbox = Inbox::of(&playbook);
    assert_eq!((inbox.list().unwrap(), inbox.notice().unwrap()), (vec![], None));
    inbox.propose(&PatchKind::Private, home.changes("memory/notes.md", CHANGE).as_bytes()).unwrap();
    let global = home.changes(".agent/NOTES.md", "@@ -1,3 +1,4 @@\n # Global\n \n - be kind\n+- be brief\n");
    inbox.propose(&PatchKind::Global, global.as_bytes()).unwrap();
    let deploy = home.changes("skills/deploy/SKILL.md", "@@ -5,3 +5,3 @@\n # Deploy\n \n-Run it.\n+Run it twice.\n");
    inbox.propose(&skill("deploy-fix"), deploy.as_bytes()).unwrap();
    inbox.propose_skill(&"release".parse().unwrap(), "---\nname: release\n---\n# Release\n").unwrap();
    playbook.learn_lesson(tainted("parse dates", "use the dateutil module")).unwrap();

    let proposals = inbox.list().unwrap();
    let names: Vec<String> = proposals[..4].iter().map(|proposal| proposal.name.to_string()).collect();
    assert_eq!(names, ["private", "global", "skills/deploy-fix.patch", "skills/release"]);
    assert_eq!(inbox.notice().unwrap().unwrap().to_string(), "3 patches, 1 skill and 1 lesson wait for review");
    let shown: Vec<String> = proposals.iter().map(|proposal| inbox.show(proposal).unwrap()).collect();
    assert!(shown[0].contains("\n-two\n+2\n three\n"), "{}", shown[0]);
    assert!(shown[3].contains("+# Release") && shown[3].contains("/memory/skills/release/SKILL.md"), "{}", shown[3]);
    assert!(shown[4].contains("do: use the dateutil module"), "{}", shown[4]);
    // Nothing has taken effect so far.
    assert_eq!(home.text("memory/notes.md"), "one\ntwo\nthree\n");

    let Applied { change, files, lessons, .. } = inbox.apply(&proposals).unwrap();
    assert_eq!((files.len(), change.is_some(), lessons.len()), (4, true, 1));
    assert!(matches!(lessons[0], LearnOutcome::Inserted { .. }));
    assert_eq!(home.text("memory/notes.md"), "one\n2\nthree\n");
    assert_eq!(home.text(".agent/NOTES.md"), "# Global\n\n- be kind\n- be brief\n");
    assert_eq!(home.text("skills/deploy/SKILL.md"), SKILL.replace("Run it.", "Run it twice."));
    assert_eq!(home.text("memory/skills/release/SKILL.md"), "---\nname: release\n---\n# Release\n");
    assert_eq!((inbox.list().unwrap(), inbox.inapplicable().unwrap()), (vec![], vec![]));
    assert!(playbook.get_playbook_context("parse dates").unwrap().text.contains("dateutil"));

    let undone = inbox.undo(change.unwrap()).unwrap();
    assert_eq!(undone.files.len(), 4 + 4 + 3);
    assert_eq!((home.text("memory/notes.md"), inbox.list().unwrap().len()), ("one\ntwo\nthree\n".to_owned(), 4));
}

fn tainted(trigger: &str, solution: &str) -> adage::LessonDraft {
    build_lesson(trigger, solution).trust(adage::lesson::Trust::Tainted)
}

#[test]
fn dismissed_proposals_are_removed_and_can_be_restored() {
    let home = Home::new();
    let playbook = home.builder().open().unwrap();
    let inbox = Inbox::of(&playbook);
    inbox.propose(&PatchKind::Private, home.makes("memory/new.md", "x").as_bytes()).unwrap();
    inbox.propose_skill(&"release".parse().unwrap(), "# Release").unwrap();
    playbook.learn_lesson(tainted("parse dates", "use the dateutil module")).unwrap();
    let before = inbox.list().unwrap();
    let dismissed = inbox.dismiss(&before).unwrap();
    assert!(inbox.list().unwrap().is_empty() && !home.path("memory/new.md").exists());
    inbox.undo(dismissed.change.unwrap()).unwrap();
    playbook.undo(dismissed.lessons[0].change).unwrap();
    assert_eq!(inbox.list().unwrap(), before);
}

#[test]
fn an_edit_in_between_is_not_overwritten_by_undo() {
    let home = Home::new();
    let inbox = home.inbox();
    inbox.propose(&PatchKind::Private, home.changes("memory/notes.md", CHANGE).as_bytes()).unwrap();
    let applied = inbox.apply(&inbox.list().unwrap()).unwrap();
    home.write("memory/notes.md", "mine\n");
    let refused = inbox.undo(applied.change.unwrap()).unwrap_err();
    assert!(
        matches!(refused, adage_review::Error::Memory(Error::FileChanged { expected: Some(_), found: Some(_), .. })),
        "{refused}"
    );
    assert_eq!(home.text("memory/notes.md"), "mine\n");
}

#[test]
fn proposals_of_a_kind_become_one_patch() {
    let home = Home::new();
    let inbox = home.inbox();
    let propose = |patch: String| inbox.propose(&PatchKind::Private, patch.as_bytes());
    home.write("memory/long.md", &(1..=20).map(|n| format!("line {n}\n")).collect::<Vec<_>>().concat());
    propose(home.changes("memory/long.md", "@@ -1,2 +1,2 @@\n-line 1\n+first\n line 2\n")).unwrap();
    // Based on the file as it is.
    propose(home.changes("memory/long.md", "@@ -19,2 +19,2 @@\n line 19\n-line 20\n+last\n")).unwrap();
    // Based on the result of the pending patch.
    propose(home.changes("memory/long.md", "@@ -1,2 +1,3 @@\n first\n+second\n line 2\n")).unwrap();
    propose(home.makes("memory/new.md", "new")).unwrap();
    // Again: no change.
    propose(home.makes("memory/new.md", "new")).unwrap();
    let proposals = inbox.list().unwrap();
    assert_eq!((proposals.len(), proposals[0].files.len()), (1, 3));
    let text = home.text("memory/.inbox/private/extraction.patch");
    let patch = Patch::parse(text.as_bytes()).unwrap();
    // The pointer to the new file is added when the patch is applied.
    assert_eq!((patch.files().len(), text.matches("@@ -").count()), (2, 3), "{text}");
    let refused = propose(home.changes("memory/long.md", "@@ -1,2 +1,2 @@\n-line 1\n+primo\n line 2\n")).unwrap_err();
    assert!(matches!(reason(refused), CannotApply::Diff { .. }));
    let refused = propose(home.makes("memory/new.md", "another")).unwrap_err();
    assert!(matches!(reason(refused), CannotApply::Diff { .. }));
    assert_eq!(inbox.list().unwrap(), proposals);
    inbox.apply(&proposals).unwrap();
    let between: Vec<String> = (2..20).map(|n| format!("line {n}\n")).collect();
    let expected = format!("first\nsecond\n{}last\n", between.concat());
    assert_eq!((home.text("memory/long.md"), home.text("memory/new.md")), (expected, "new\n".to_owned()));
}

#[test]
fn new_notes_get_a_pointer_in_the_same_step() {
    let home = Home::new();
    let inbox = home.inbox();
    let patch = home.makes("memory/api-limits.md", "100 a minute") + &home.makes("memory/data.md", "x");
    inbox.propose(&PatchKind::Private, patch.as_bytes()).unwrap();
    let proposal = &inbox.list().unwrap()[0];
    assert!(inbox.show(proposal).unwrap().contains("+- See "), "{}", inbox.show(proposal).unwrap());
    let applied = inbox.apply(std::slice::from_ref(proposal)).unwrap();
    let pointer = |name: &str, topic: &str| format!("- See {} for {topic} notes.\n", home.path(name).display());
    let expected = format!(
        "# Project Memory\n\n{}{}",
        pointer("memory/api-limits.md", "api limits"),
        pointer("memory/data.md", "data")
    );
    assert_eq!(home.text("memory/MEMORY.md"), expected);
    // `a.md` is not named by `data.md`.
    inbox.propose(&PatchKind::Private, home.makes("memory/a.md", "x").as_bytes()).unwrap();
    inbox.apply(&inbox.list().unwrap()).unwrap();
    assert_eq!(home.text("memory/MEMORY.md"), expected.clone() + &pointer("memory/a.md", "a"));
    // A patch that names its file itself gets no second pointer.
    let index = fs::read_to_string(home.path("memory/MEMORY.md")).unwrap();
    let n_lines = index.lines().count();
    let last = index.lines().last().unwrap();
    let patch = home.makes("memory/b.md", "x")
        + &home.changes("memory/MEMORY.md", &format!("@@ -{n_lines} +{n_lines},2 @@\n {last}\n+- b.md: about b\n"));
    inbox.propose(&PatchKind::Private, patch.as_bytes()).unwrap();
    inbox.apply(&inbox.list().unwrap()).unwrap();
    assert_eq!(home.text("memory/MEMORY.md"), index + "- b.md: about b\n");
    assert_eq!(applied.files.len(), 3);
}

/// Listing and showing read a patch; computing such a diff again each time would take long.
#[test]
fn a_patch_that_changes_every_line_is_listed_at_once() {
    const N_LINES: usize = 60_000;
    let home = Home::new();
    let lines = |what: &str| (0..N_LINES).map(|n| format!("{what}{n}\n")).collect::<Vec<_>>();
    let (old, new) = (lines("a"), lines("b"));
    home.write("memory/large.md", &(old.concat() + "end\n"));
    let hunk: String =
        old.iter().map(|line| format!("-{line}")).chain(new.iter().map(|line| format!("+{line}"))).collect();
    let n = N_LINES + 1;
    let patch = home.changes("memory/large.md", &format!("@@ -1,{n} +1,{n} @@\n{hunk} end\n"));
    home.write("memory/.inbox/private/extraction.patch", &(patch.clone() + &home.makes("memory/new.md", "x")));
    let inbox = home.inbox();
    let proposals = inbox.list().unwrap();
    let [proposal] = &proposals[..] else { panic!("{:?}", inbox.inapplicable().unwrap()) };
    assert_eq!(proposal.summary, "MEMORY.md and 2 more, 60001 lines added, 60000 removed");
    let started = std::time::Instant::now();
    let shown = inbox.show(proposal).unwrap();
    assert!(shown.starts_with(&patch) && shown.contains("MEMORY.md\n@@ -0,0 +1,3 @@"));
    assert!(started.elapsed() < std::time::Duration::from_secs(20), "{:?}", started.elapsed());
    inbox.apply(&proposals).unwrap();
    assert_eq!(home.text("memory/large.md"), new.concat() + "end\n");
}

#[test]
fn quarantined_entries_are_never_overwritten() {
    let home = Home::new();
    let inbox = home.inbox();
    let mut kept = BTreeMap::new();
    for (n, name) in ["a", "a.reason", "a", "a.reason", "a.reason.reason", "b"].into_iter().enumerate() {
        home.write(&format!("memory/.inbox/{name}"), &n.to_string());
        for aside in inbox.check_written().unwrap().aside {
            assert_eq!(kept.insert(aside.kept_at.clone(), n), None, "{aside:?}");
        }
    }
    assert_eq!(kept.len(), 6);
    for (path, n) in kept {
        assert_eq!(fs::read_to_string(path).unwrap(), n.to_string());
    }
}

#[test]
fn secrets_are_masked_where_a_person_reads_them() {
    let home = Home::new();
    let inbox = home.inbox();
    let secret = ["ghp_", "1a2B3c4D5e6F7g8H9i0J1k2L3m4N5o6P7q8R"].concat();
    inbox.propose(&PatchKind::Private, home.makes("memory/new.md", &format!("token {secret}")).as_bytes()).unwrap();
    let shown = inbox.show(&inbox.list().unwrap()[0]).unwrap();
    assert!(!shown.contains(&secret) && shown.contains("characters that look like secrets are masked"), "{shown}");
}

#[test]
fn recorded_diffs_of_notes_pass_the_inbox() {
    let Some(rows) = patches::rows("single_file.jsonl.gz") else { return };
    let home = Home::new();
    let inbox = home.inbox();
    let mut n_applied = 0;
    for (n, row) in rows.iter().enumerate() {
        let text = |key: &str| row[key].as_str().unwrap();
        let (id, diff) = (text("id"), text("diff"));
        let is_notes = Path::new(id).extension().is_some_and(|extension| extension == "md");
        // Every third: each one syncs to disk.
        if !is_notes || diff.is_empty() || n % 3 != 0 {
            continue;
        }
        let name = format!("memory/recorded-{n}.md");
        let path = home.path(&name).display().to_string();
        let hunks = &diff[diff.find("@@ -").unwrap()..];
        let old = if diff.starts_with("--- /dev/null") { "/dev/null" } else { path.as_str() };
        if old != "/dev/null" {
            home.write(&name, text("before"));
        }
        // As agents write it.
        home.write("memory/.inbox/private/extraction.patch", &format!("--- {old}\n+++ {path}\n{hunks}"));
        let proposals = inbox.list().unwrap();
        assert_eq!(proposals.len(), 1, "{id}: {:?}", inbox.inapplicable());
        inbox.apply(&proposals).unwrap();
        assert_eq!(home.text(&name), text("after"), "{id}");
        n_applied += 1;
    }
    assert!(n_applied > 40, "only {n_applied} diffs of notes");
}

#[cfg(unix)]
#[test]
fn links_on_the_way_to_the_memory_folder_are_the_hosts_choice() {
    let home = Home::new();
    std::os::unix::fs::symlink(home.path(""), home.path("way-in")).unwrap();
    let inbox = Inbox::of(&Playbook::builder(home.path("way-in/memory")).without_embedder().open().unwrap());
    let through = home.changes("memory/notes.md", CHANGE).replace("/memory/", "/way-in/memory/");
    for patch in [through, home.changes("memory/notes.md", "@@ -1,3 +1,3 @@\n one\n-2\n+two\n three\n")] {
        inbox.propose(&PatchKind::Private, patch.as_bytes()).unwrap();
        inbox.apply(&inbox.list().unwrap()).unwrap();
    }
    assert_eq!(home.text("memory/notes.md"), "one\ntwo\nthree\n");
    // Another handle's spelling of the path is not this one's.
    let refused =
        home.inbox().propose(&PatchKind::Private, home.makes("way-in/memory/new.md", "x").as_bytes()).unwrap_err();
    assert!(matches!(reason(refused), CannotApply::Target { reason: TargetError::Outside { .. }, .. }));
    // The folder itself is not a link.
    std::os::unix::fs::symlink(home.path("memory"), home.path("a-link")).unwrap();
    let refused = Playbook::builder(home.path("a-link")).without_embedder().open().err().unwrap();
    assert!(
        matches!(refused, Error::Folder(FolderError::Irregular { ref path, .. }) if path.ends_with("a-link")),
        "{refused}"
    );
}
