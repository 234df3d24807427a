//! What a guard admits, for each kind of folder and decision.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use super::*;
use crate::playbook::PlaybookBuilder;
use crate::{NoMatchReason, Playbook, build_lesson};

const TASK: &str = "deploy the docs";

fn builder(folder: &Path, store: &Arc<dyn TrustStore>) -> PlaybookBuilder {
    Playbook::builder(folder).without_embedder().trust_store(Arc::clone(store))
}

fn text(builder: PlaybookBuilder) -> String {
    builder.open().unwrap().get_playbook_context(TASK).unwrap().text
}

/// A folder made by someone else, with both kinds of store.
fn each(check: impl Fn(&Path, Arc<dyn TrustStore>)) {
    type MakeStore = fn(&Path) -> Arc<dyn TrustStore>;
    let stores: [MakeStore; 2] =
        [|_| Arc::new(MemoryTrustStore::default()), |state| Arc::new(FileTrustStore::new(state))];
    for store in stores {
        let temp = tempfile::tempdir().unwrap();
        let memory = temp.path().join("memory");
        Playbook::builder(&memory)
            .without_embedder()
            .open()
            .unwrap()
            .learn_lesson(build_lesson(TASK, "quagga"))
            .unwrap();
        check(&memory, store(&temp.path().join("state").join("adage")));
    }
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn an_unknown_folder_says_nothing_and_is_not_touched() {
    each(|memory, store| {
        let before = names(memory);
        for playbook in [builder(memory, &store), Playbook::builder(memory).without_embedder().untrusted()] {
            let playbook = playbook.open().unwrap();
            let context = playbook.get_playbook_context(TASK).unwrap();
            assert_eq!((context.text.as_str(), context.none_because), ("", Some(NoMatchReason::NotTrusted)));
            assert_eq!(playbook.standing(), Standing::Unknown);
            let refused = [
                playbook.list_lessons(&crate::Listing::default()).map(drop),
                playbook.learn_lesson(build_lesson("zip", "okapi")).map(drop),
                playbook.skills().list().map(drop),
                playbook.skills().save(&crate::skills::Skill::new("one".parse().unwrap(), "d")).map(drop),
                playbook.inbox().list().map(drop),
                playbook.changes().map(drop),
                playbook.trust().map(drop),
            ];
            for (number, refused) in refused.into_iter().enumerate() {
                let is_refused = matches!(refused, Err(crate::Error::Folder(FolderError::NotTrusted { .. })));
                assert!(is_refused, "{number}: {refused:?}");
            }
        }
        assert_eq!(names(memory), before);
    });
}

#[test]
fn trust_is_of_one_id_at_one_path() {
    each(|memory, store| {
        builder(memory, &store).trusted().open().unwrap().trust().unwrap();
        assert!(text(builder(memory, &store)).contains("quagga"));
        let moved = memory.with_file_name("moved");
        fs::rename(memory, &moved).unwrap();
        assert_eq!(text(builder(&moved, &store)), "");
        fs::rename(&moved, memory).unwrap();
        assert!(text(builder(memory, &store)).contains("quagga"));
        fs::write(memory.join("id"), format!("{}\n", FolderId::generate())).unwrap();
        assert_eq!(text(builder(memory, &store)), "");
    });
}

#[test]
fn a_decision_of_the_host_is_for_its_handle() {
    each(|memory, store| {
        assert!(text(builder(memory, &store).trusted()).contains("quagga"));
        assert_eq!(text(builder(memory, &store)), "");
    });
}

#[test]
fn a_new_folder_is_known_and_kept_out_of_repositories() {
    each(|memory, store| {
        let caches = "lock\nmining.lock\nmining.json\n*.bin\n.adage-tmp-*\nquarantine/\n";
        for (name, sharing, expected) in [("private", Sharing::Private, "*\n"), ("shared", Sharing::Shared, caches)] {
            let folder = memory.with_file_name(name);
            let open = || builder(&folder, &store).sharing(sharing);
            assert_eq!(text(open().read_only()), "");
            assert!(!folder.exists());
            open().open().unwrap().learn_lesson(build_lesson(TASK, "okapi")).unwrap();
            assert!(text(open()).contains("okapi"));
            assert_eq!(fs::read_to_string(folder.join(".gitignore")).unwrap(), expected);
        }
    });
}

#[test]
fn a_handle_that_creates_no_folder_uses_the_one_that_its_user_makes_meanwhile() {
    type Change = fn(PlaybookBuilder) -> PlaybookBuilder;
    let decisions: [(&str, Change); 3] = [
        ("asks", |builder| builder),
        ("told", PlaybookBuilder::trusted),
        ("tracked", |builder| builder.tracked(Tracking::Tracked)),
    ];
    each(|memory, store| {
        for (name, change) in decisions {
            for is_empty in [false, true] {
                let folder = memory.with_file_name(format!("{name} {is_empty}"));
                if is_empty {
                    fs::create_dir(&folder).unwrap();
                }
                let early = change(builder(&folder, &store)).without_creating().open().unwrap();
                let recall = || early.get_playbook_context(TASK).unwrap();
                assert_eq!((recall().lessons.len(), early.exists()), (0, false), "{name}");
                assert!(early.learn_lesson(build_lesson("zip", "okapi")).is_err(), "{name}");
                assert_eq!(early.credit_recent_retrievals(std::time::Duration::from_mins(1)).unwrap(), 0);
                assert_eq!(folder.exists().then(|| names(&folder)), is_empty.then(Vec::new), "{name}");
                change(builder(&folder, &store)).open().unwrap().learn_lesson(build_lesson(TASK, "okapi")).unwrap();
                let context = recall();
                assert!(context.text.contains("okapi") && early.exists(), "{name}: {context:?}");
                let receipt = context.receipt.unwrap();
                assert!(early.record_outcome(receipt, crate::Feedback::Helpful).is_ok(), "{name}");
                early.learn_lesson(build_lesson("zip the docs", "a second okapi")).unwrap();
            }
        }
    });
}

#[test]
fn a_handle_that_creates_no_folder_ignores_the_one_that_somebody_else_puts_there() {
    each(|memory, store| {
        let kept = memory.with_file_name("kept");
        for has_id in [false, true] {
            if has_id {
                fs::write(memory.join("id"), format!("{}\n", FolderId::generate())).unwrap();
            }
            let before = names(memory);
            fs::rename(memory, &kept).unwrap();
            let early = builder(memory, &store).without_creating().open().unwrap();
            assert_eq!(early.get_playbook_context(TASK).unwrap().text, "");
            fs::rename(&kept, memory).unwrap();
            assert!(!early.get_playbook_context(TASK).unwrap().text.contains("quagga"));
            assert!(early.learn_lesson(build_lesson("zip", "okapi")).is_err() && !early.exists());
            assert_eq!(names(memory), before);
        }
    });
}

#[test]
fn in_a_tracked_folder_each_text_is_admitted() {
    each(|memory, store| {
        let tracked = || builder(memory, &store).tracked(Tracking::Tracked);
        tracked().trusted().open().unwrap().trust().unwrap();
        tracked().open().unwrap().learn_lesson(build_lesson("zip the docs", "okapi")).unwrap();
        let file = memory.join("skills_playbook.json");
        let pulled = fs::read_to_string(&file).unwrap().replace("\"quagga\"", "\"quagga as root\"");
        fs::write(&file, pulled).unwrap();
        // A folder that was tracked once stays tracked.
        for open in [tracked(), builder(memory, &store)] {
            let playbook = open.open().unwrap();
            assert_eq!((playbook.standing(), playbook.stats().unwrap().n_lessons), (Standing::TextByText, 1));
            assert!(playbook.get_playbook_context("zip the docs").unwrap().text.contains("okapi"));
            assert!(!playbook.get_playbook_context(TASK).unwrap().text.contains("quagga"));
            assert_eq!(playbook.awaiting_trust().unwrap().lessons.len(), 1);
        }
        // A commit keeps lessons that await admission; they are admitted by id.
        let playbook = tracked().open().unwrap();
        playbook.learn_lesson(build_lesson("wash", "okapi")).unwrap();
        let waiting = playbook.awaiting_trust().unwrap().lessons;
        playbook.admit_lessons(&[waiting[0].id]).unwrap();
        assert!(playbook.get_playbook_context(TASK).unwrap().text.contains("quagga as root"));
        assert!(text(tracked()).contains("quagga as root"));
    });
}

#[test]
fn an_id_is_spelled_in_one_way() {
    let id = FolderId::generate();
    assert_eq!(id.to_string().parse(), Ok(id));
    for text in [id.to_string().to_uppercase(), id.to_string().replace('-', ""), format!("{{{id}}}"), String::new()] {
        assert!(text.parse::<FolderId>().is_err(), "{text}");
    }
}

#[test]
fn a_broken_record_trusts_nothing() {
    let temp = tempfile::tempdir().unwrap();
    let (memory, state) = (temp.path().join("memory"), temp.path().join("state"));
    let store: Arc<dyn TrustStore> = Arc::new(FileTrustStore::new(&state));
    builder(&memory, &store).open().unwrap().learn_lesson(build_lesson(TASK, "okapi")).unwrap();
    let record = fs::read_dir(&state).unwrap().map(|entry| entry.unwrap().path());
    let record = record.into_iter().find(|path| path.extension().is_some_and(|end| end == "json")).unwrap();
    let whole = fs::read_to_string(&record).unwrap();
    for broken in ["", "null", "\"all\"", "{}", &whole[..whole.len() / 2], &whole.repeat(2)] {
        fs::write(&record, broken).unwrap();
        assert_eq!(text(builder(&memory, &store)), "", "{broken}");
    }
    builder(&memory, &store).trusted().open().unwrap().trust().unwrap();
    assert!(text(builder(&memory, &store)).contains("okapi"));
}

#[test]
fn another_folder_at_the_path_is_noticed_by_a_handle_that_is_open() {
    type Change = fn(&Path);
    let changes: [(&str, Change); 4] = [
        ("it is another folder", |memory| {
            fs::rename(memory, memory.with_file_name("moved")).unwrap();
            fs::create_dir(memory).unwrap();
        }),
        ("it is gone", |memory| fs::remove_dir_all(memory).unwrap()),
        ("it has another id", |memory| fs::write(memory.join("id"), format!("{}\n", FolderId::generate())).unwrap()),
        ("it has no id", |memory| fs::remove_file(memory.join("id")).unwrap()),
    ];
    for (name, change) in changes {
        each(|memory, store| {
            builder(memory, &store).trusted().open().unwrap().trust().unwrap();
            let playbook = builder(memory, &store).open().unwrap();
            assert!(playbook.get_playbook_context(TASK).unwrap().text.contains("quagga"));
            change(memory);
            let refused = [
                playbook.get_playbook_context(TASK).map(drop),
                playbook.list_lessons(&crate::Listing::default()).map(drop),
                playbook.learn_lesson(build_lesson("zip", "okapi")).map(drop),
                playbook.skills().list().map(drop),
                playbook.check_folder(),
            ];
            for (number, refused) in refused.into_iter().enumerate() {
                let is_refused = matches!(refused, Err(crate::Error::Folder(FolderError::Replaced { .. })));
                assert!(is_refused, "{name}, {number}: {refused:?}");
            }
        });
    }
}

#[test]
fn a_folder_that_becomes_tracked_is_judged_again_once_it_changes() {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    each(|memory, store| {
        builder(memory, &store).trusted().open().unwrap().trust().unwrap();
        let (is_tracked, n_asked) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
        let ask = {
            let (is_tracked, n_asked) = (Arc::clone(&is_tracked), Arc::clone(&n_asked));
            move |_: &Path| {
                n_asked.fetch_add(1, Ordering::SeqCst);
                if is_tracked.load(Ordering::SeqCst) { Tracking::Tracked } else { Tracking::Untracked }
            }
        };
        let playbook = builder(memory, &store).tracked_by(ask).open().unwrap();
        playbook.learn_lesson(build_lesson("zip the docs", "okapi")).unwrap();
        playbook.skills().list().unwrap();
        let n_before = n_asked.load(Ordering::SeqCst);
        for _ in 0..5 {
            assert!(playbook.get_playbook_context(TASK).unwrap().text.contains("quagga"));
            playbook.skills().list().unwrap();
        }
        assert_eq!(n_asked.load(Ordering::SeqCst), n_before, "nothing changed");

        is_tracked.store(true, Ordering::SeqCst);
        let file = memory.join("skills_playbook.json");
        let pulled = fs::read_to_string(&file).unwrap().replace("\"quagga\"", "\"quagga as root\"");
        fs::write(&file, pulled).unwrap();
        assert!(!playbook.get_playbook_context(TASK).unwrap().text.contains("quagga"));
        assert!(playbook.get_playbook_context("zip the docs").unwrap().text.contains("okapi"));
        assert_eq!(playbook.standing(), Standing::TextByText);
    });
}

#[test]
fn a_skill_alone_has_a_tracked_folder_judged_again() {
    use std::sync::atomic::{AtomicBool, Ordering};
    each(|memory, store| {
        builder(memory, &store).trusted().open().unwrap().trust().unwrap();
        let is_tracked = Arc::new(AtomicBool::new(false));
        let said = Arc::clone(&is_tracked);
        let ask = move |_: &Path| if said.load(Ordering::SeqCst) { Tracking::Tracked } else { Tracking::Untracked };
        let playbook = builder(memory, &store).tracked_by(ask).open().unwrap();
        playbook.skills().list().unwrap();
        is_tracked.store(true, Ordering::SeqCst);
        let folder = memory.join("skills/docs");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("SKILL.md"), "---\nname: docs\ndescription: quagga\n---\n# Docs\nCall it.\n").unwrap();
        assert!(playbook.skills().list().unwrap().skills[0].needs_review);
    });
}
