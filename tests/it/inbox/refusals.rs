//! What is not applied, and what a refusal leaves as it was.

use std::fs;

use adage::{Error, FolderError, Playbook, TextHash};
use adage_review::{CannotApply, Inbox, PatchKind, ProposalName, TargetError};

use super::{CHANGE, skill, tainted};

use super::{Home, reason};

#[test]
fn only_the_listed_content_is_applied() {
    let home = Home::new();
    let inbox = home.inbox();
    let looked_at = inbox.propose(&PatchKind::Private, home.changes("memory/notes.md", CHANGE).as_bytes()).unwrap();
    let other = home.changes("memory/notes.md", &CHANGE.replace("+2", "+something else"));
    home.write("memory/.inbox/private/extraction.patch", &other);
    for refused in [inbox.apply(std::slice::from_ref(&looked_at)).map(drop), inbox.show(&looked_at).map(drop)] {
        assert!(matches!(refused, Err(adage_review::Error::Memory(Error::Changed { .. }))), "{refused:?}");
    }
    assert_eq!(home.text("memory/notes.md"), "one\ntwo\nthree\n");
}

#[test]
fn a_target_that_changed_is_refused_with_both_hashes() {
    let home = Home::new();
    let inbox = home.inbox();
    let proposal = inbox.propose(&PatchKind::Private, home.changes("memory/notes.md", CHANGE).as_bytes()).unwrap();
    // The hunk still applies, but the file has changed.
    home.write("memory/notes.md", "one\ntwo\nthree\nfour\n");
    let hash = |text: &str| Some(TextHash::of(&[text]));
    let refused = reason(inbox.apply(std::slice::from_ref(&proposal)).unwrap_err());
    let (proposed_for, found) = (hash("one\ntwo\nthree\n"), hash("one\ntwo\nthree\nfour\n"));
    assert_eq!(refused, CannotApply::Changed { path: home.path("memory/notes.md"), proposed_for, found });
    assert!(inbox.list().unwrap().is_empty());
    assert_eq!(inbox.inapplicable().unwrap()[0].reason, refused);
    // Nothing is lost: it is quarantined with the reason.
    let checked = inbox.check_written().unwrap();
    assert_eq!(checked.aside[0].reason, refused);
    let kept = fs::read_to_string(&checked.aside[0].kept_at).unwrap();
    assert_eq!(kept, home.changes("memory/notes.md", CHANGE));
    let told = fs::read_to_string(format!("{}.reason", checked.aside[0].kept_at.display())).unwrap();
    assert!(told.contains("changed since"), "{told}");
    assert!(inbox.inapplicable().unwrap().is_empty());
}

#[test]
fn one_invalid_diff_prevents_all_changes() {
    let home = Home::new();
    let inbox = home.inbox();
    let good = home.makes("memory/new.md", "x");
    for bad in [
        home.changes("memory/notes.md", "@@ -1,3 +1,3 @@\n one\n-TWO\n+2\n three\n"),
        home.makes("project/new.md", "x"),
        home.makes("memory/notes.md", "x"),
        home.changes("memory/absent.md", CHANGE),
    ] {
        let patch = format!("{good}{bad}");
        let refused = inbox.propose(&PatchKind::Private, patch.as_bytes());
        assert!(matches!(refused, Err(adage_review::Error::CannotApply { .. })), "{bad}: {refused:?}");
        home.write("memory/.inbox/private/extraction.patch", &patch);
        assert!(inbox.list().unwrap().is_empty());
        let refused = inbox.find(&ProposalName::Patch(PatchKind::Private)).unwrap_err();
        assert!(matches!(refused, adage_review::Error::CannotApply { .. }), "{bad}: {refused}");
        assert_eq!(inbox.check_written().unwrap().aside.len(), 1);
        assert!(!home.path("memory/new.md").exists());
        assert_eq!(home.text("memory/notes.md"), "one\ntwo\nthree\n");
    }
    let nothing = home.changes("memory/notes.md", "@@ -1,3 +1,3 @@\n one\n two\n three\n");
    let refused = inbox.propose(&PatchKind::Private, nothing.as_bytes()).unwrap_err();
    assert_eq!(reason(refused), CannotApply::ChangesNothing);
}

/// A handle configured with fewer roots than the one before: proposals for the other roots are left alone.
#[test]
fn proposals_that_this_handle_is_not_configured_for_are_kept() {
    let home = Home::new();
    let told = home.inbox();
    let hunk = "@@ -1,3 +1,4 @@\n # Global\n \n - be kind\n+- be brief\n";
    let global = home.changes(".agent/NOTES.md", hunk);
    told.propose(&PatchKind::Global, global.as_bytes()).unwrap();
    let deploy = home.changes("skills/deploy/SKILL.md", "@@ -5,3 +5,3 @@\n # Deploy\n \n-Run it.\n+Run it twice.\n");
    told.propose(&skill("deploy"), deploy.as_bytes()).unwrap();
    home.write("memory/.inbox/global/more.patch", &global.replace("be brief", "be short"));
    let (waiting, before) = (told.list().unwrap(), home.snapshot("memory/.inbox"));

    let untold = Inbox::of(&Playbook::builder(home.path("memory")).without_embedder().open().unwrap());
    assert_eq!(untold.check_written().unwrap(), adage_review::CheckedInbox::default());
    let inapplicable: Vec<String> =
        untold.inapplicable().unwrap().into_iter().map(|inapplicable| inapplicable.name).collect();
    assert_eq!(inapplicable, ["global/extraction.patch", "global/more.patch", "skills/deploy.patch"]);
    for (kind, patch) in [(PatchKind::Global, &global), (skill("deploy"), &deploy)] {
        let refused = reason(untold.propose(&kind, patch.as_bytes()).unwrap_err());
        assert!(matches!(refused, CannotApply::Target { reason: TargetError::NoAllowedRoot { .. }, .. }), "{refused}");
    }
    assert_eq!((home.snapshot("memory/.inbox"), told.list().unwrap()), (before, waiting));

    // The same if a file cannot be read right now: the note is kept, although the table of contents is not text.
    told.propose(&PatchKind::Private, home.makes("memory/new.md", "x").as_bytes()).unwrap();
    fs::write(home.path("memory/MEMORY.md"), [0xff]).unwrap();
    told.check_written().unwrap();
    assert!(matches!(told.inapplicable().unwrap()[..], [ref one] if one.name == "private/extraction.patch"));
    home.write("memory/MEMORY.md", "# Index\n");
    assert_eq!(told.list().unwrap()[0].name.to_string(), "private");
}

#[test]
fn a_missing_lesson_prevents_changes_of_files() {
    let home = Home::new();
    let playbook = home.builder().open().unwrap();
    let inbox = Inbox::of(&playbook);
    inbox.propose(&PatchKind::Private, home.changes("memory/notes.md", CHANGE).as_bytes()).unwrap();
    playbook.learn_lesson(tainted("parse dates", "use the dateutil module")).unwrap();
    let proposals = inbox.list().unwrap();
    let mut other = proposals.clone();
    other[1].text = TextHash::of(&["another text"]);
    let twice = [&proposals[..], &proposals[1..]].concat();
    let before = home.snapshot("memory");
    let check = |proposals: &[adage_review::Proposal], is_expected: fn(&adage_review::Error) -> bool| {
        for refused in [inbox.apply(proposals).map(drop), inbox.dismiss(proposals).map(drop)] {
            assert!(refused.as_ref().is_err_and(is_expected), "{refused:?}");
        }
        assert_eq!((home.snapshot("memory"), inbox.list().unwrap().len()), (before.clone(), 2));
    };
    check(&other, |error| matches!(error, adage_review::Error::Memory(Error::Changed { .. })));
    check(&twice, |error| matches!(error, adage_review::Error::Memory(Error::NoSuchLesson { .. })));
    inbox.dismiss(&proposals[1..]).unwrap();
    let refused = inbox.apply(&proposals).unwrap_err();
    assert!(matches!(refused, adage_review::Error::Memory(Error::NoSuchLesson { .. })), "{refused}");
    assert_eq!((home.text("memory/notes.md").as_str(), inbox.list().unwrap().len()), ("one\ntwo\nthree\n", 1));
}

#[test]
fn a_read_only_handle_proposes_and_applies_nothing() {
    let home = Home::new();
    let inbox = home.inbox();
    inbox.propose(&PatchKind::Private, home.changes("memory/notes.md", CHANGE).as_bytes()).unwrap();
    let reader = Inbox::of(&home.builder().read_only().open().unwrap());
    let proposals = reader.list().unwrap();
    assert_eq!(proposals.len(), 1);
    assert!(matches!(
        reader.apply(&proposals),
        Err(adage_review::Error::Memory(Error::Folder(FolderError::ReadOnly { .. })))
    ));
    assert!(matches!(
        reader.dismiss(&proposals),
        Err(adage_review::Error::Memory(Error::Folder(FolderError::ReadOnly { .. })))
    ));
    assert!(matches!(
        reader.check_written(),
        Err(adage_review::Error::Memory(Error::Folder(FolderError::ReadOnly { .. })))
    ));
    let nowhere = home.path("nowhere");
    let reader = Playbook::builder(&nowhere).without_embedder().read_only().open().unwrap();
    assert!(Inbox::of(&reader).list().unwrap().is_empty() && !nowhere.exists());
}
