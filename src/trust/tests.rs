//! What a guard admits, for each kind of folder and decision.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use super::*;
use crate::embed::HashingEmbedder;
use crate::playbook::{MemoryPart, PlaybookBuilder};
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
                playbook.waiting_lessons().map(drop),
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
        let caches = "lock\nmining.lock\nmining.json\n*.bin\n.adage-tmp-*\nquarantine/\nplaybook.log\n\
                      skills_playbook.json.bak\nusage.*\n*.usage\n*.receipts\nreceipts.jsonl\n";
        for (name, sharing, expected) in [("private", Sharing::Private, "*\n"), ("shared", Sharing::Shared, caches)] {
            let folder = memory.with_file_name(name);
            let open = || builder(&folder, &store).sharing(sharing);
            assert_eq!(text(open().read_only()), "");
            assert!(!folder.exists());
            open().open().unwrap().learn_lesson(build_lesson(TASK, "okapi")).unwrap();
            assert!(text(open()).contains("okapi"));
            assert_eq!(fs::read_to_string(folder.join(".gitignore")).unwrap(), expected);
            assert_eq!(folder.join(".gitattributes").exists(), sharing == Sharing::Shared);
        }
    });
}

/// A clone may bring a `.gitignore` that leaves out nothing.
#[test]
fn a_new_private_folder_is_kept_out_whatever_was_in_it() {
    let long = format!("*\n{}!*\n", "#\n".repeat(1 << 16));
    let foreign =
        ["", "!*\n", "*\n!*\n", "*\n!/skills/\r\n", "*.bin\n", " *\n", "#*\n", "/*/\n", "lock\n", "\u{feff}*\n", &long];
    let own = ["*\n", "*", "*\r\n", "# mine\n*\n", "!*\n*  \n", "*\nlock\n"];
    each(|memory, store| {
        for (at, text) in foreign.iter().chain(&own).enumerate() {
            let folder = memory.with_file_name(format!("new{at}"));
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join(".gitignore"), text).unwrap();
            let playbook = builder(&folder, &store).open().unwrap();
            playbook.learn_lesson(build_lesson(TASK, "okapi")).unwrap();
            let expected = if at < foreign.len() { "*\n" } else { text };
            assert_eq!(fs::read_to_string(folder.join(".gitignore")).unwrap(), expected, "{text:?}");
            assert_eq!(playbook.sharing().unwrap(), Some(Sharing::Private));
            assert_eq!(playbook.check().unwrap().findings, []);
            // Later it is found out.
            fs::write(folder.join(".gitignore"), text).unwrap();
            let parts = || playbook.check().unwrap().findings.iter().map(|finding| finding.part).collect::<Vec<_>>();
            let is_shared = *text == "lock\n";
            assert_eq!(parts() == [MemoryPart::GitIgnore], at < foreign.len() && !is_shared, "{text:?}");
        }
    });
}

#[cfg(unix)]
#[test]
fn a_link_in_place_of_the_ignore_file_is_replaced_and_not_followed() {
    each(|memory, store| {
        let folder = memory.with_file_name("new");
        let target = memory.with_file_name("target");
        fs::create_dir_all(&folder).unwrap();
        fs::write(&target, "mine").unwrap();
        std::os::unix::fs::symlink(&target, folder.join(".gitignore")).unwrap();
        drop(builder(&folder, &store).open().unwrap().learn_lesson(build_lesson(TASK, "okapi")));
        assert_eq!(fs::read_to_string(&target).unwrap(), "mine");
        let about = fs::symlink_metadata(folder.join(".gitignore")).unwrap();
        assert!(about.is_file() || !folder.join("skills_playbook.json").exists());
    });
}

/// A folder that an earlier version shared tells git what this version needs, once it is shared again.
#[test]
fn sharing_a_folder_again_adds_the_missing_lines_for_git() {
    each(|memory, store| {
        let folder = memory.with_file_name("shared");
        let share = || drop(builder(&folder, &store).sharing(Sharing::Shared).open().unwrap());
        let file = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
        share();
        let (ignored, attributes) = (file(".gitignore"), file(".gitattributes"));
        let earlier = "# ours\nlock\nmining.lock\nmining.json\n*.bin\n.adage-tmp-*\nquarantine/";
        fs::write(folder.join(".gitignore"), earlier).unwrap();
        fs::remove_file(folder.join(".gitattributes")).unwrap();
        share();
        assert_eq!((file(".gitignore"), file(".gitattributes")), (format!("# ours\n{ignored}"), attributes));
        // A private folder stays private.
        fs::write(folder.join(".gitignore"), "*\n").unwrap();
        share();
        assert_eq!(file(".gitignore"), "*\n");
    });
}

#[test]
fn a_handle_that_creates_no_folder_is_empty_where_it_found_none() {
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
                let open = || change(builder(&folder, &store)).without_creating().open().unwrap();
                let early = open();
                assert_eq!(
                    (early.get_playbook_context(TASK).unwrap().lessons.len(), early.exists()),
                    (0, false),
                    "{name}"
                );
                assert!(early.learn_lesson(build_lesson("zip", "okapi")).is_err(), "{name}");
                assert_eq!(early.credit_recent_retrievals(std::time::Duration::from_mins(1)).unwrap(), 0);
                assert_eq!(folder.exists().then(|| names(&folder)), is_empty.then(Vec::new), "{name}");
                change(builder(&folder, &store)).open().unwrap().learn_lesson(build_lesson(TASK, "okapi")).unwrap();
                let later = open();
                assert!(later.get_playbook_context(TASK).unwrap().text.contains("okapi") && later.exists(), "{name}");
                later.learn_lesson(build_lesson("zip the docs", "a second okapi")).unwrap();
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
fn a_record_with_withdrawn_texts_of_a_former_version_is_read() {
    let temp = tempfile::tempdir().unwrap();
    let (memory, state) = (temp.path().join("memory"), temp.path().join("state"));
    let store: Arc<dyn TrustStore> = Arc::new(FileTrustStore::new(&state));
    let tracked = || builder(&memory, &store).tracked(Tracking::Tracked).open().unwrap();
    tracked().learn_lesson(build_lesson(TASK, "okapi")).unwrap();
    let gone = tracked().learn_lesson(build_lesson("zip the docs", "quagga")).unwrap().id().unwrap();
    let gone = tracked().find(gone).unwrap().admission_hash();
    let record = fs::read_dir(&state).unwrap().map(|entry| entry.unwrap().path());
    let record = record.into_iter().find(|path| path.to_string_lossy().contains("trust-")).unwrap();
    let mut former: serde_json::Value = serde_json::from_slice(&fs::read(&record).unwrap()).unwrap();
    former["admitted"].as_array_mut().unwrap().retain(|hash| *hash != gone.to_string());
    former["withdrawn"] = serde_json::json!([gone]);
    former["later"] = serde_json::json!("kept");
    fs::write(&record, former.to_string()).unwrap();
    for _ in 0..2 {
        let playbook = tracked();
        assert!(playbook.get_playbook_context(TASK).unwrap().text.contains("okapi"));
        let waiting = playbook.awaiting_trust().unwrap();
        assert_eq!((waiting.lessons.len(), waiting.removed_before.len()), (1, 1));
        playbook.learn_lesson(build_lesson("wash the car", "wax it")).unwrap();
    }
    assert!(fs::read_to_string(&record).unwrap().contains("\"later\":\"kept\""));
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
fn a_file_that_is_read_anew_is_judged_by_who_writes_there_by_then() {
    use parking_lot::Mutex;
    for (later, standing) in [
        (Tracking::Tracked, Standing::TextByText),
        (Tracking::Unsettled, Standing::TextByText),
        (Tracking::Untracked, Standing::Trusted),
    ] {
        each(|memory, store| {
            builder(memory, &store).trusted().open().unwrap().trust().unwrap();
            let tracking = Arc::new(Mutex::new(Tracking::Untracked));
            let said = Arc::clone(&tracking);
            let playbook = builder(memory, &store).tracked_by(move |_: &Path| *said.lock()).open().unwrap();
            playbook.learn_lesson(build_lesson("zip the docs", "okapi")).unwrap();
            let edit = |from: &str, to: &str| {
                let file = memory.join("skills_playbook.json");
                let edited = fs::read_to_string(&file).unwrap().replace(from, to);
                fs::write(&file, edited).unwrap();
            };
            let shows = |task: &str, text: &str| playbook.get_playbook_context(task).unwrap().text.contains(text);
            edit("\"quagga\"", "\"quagga as root\"");
            assert!(shows(TASK, "quagga as root"), "a hand edit in an untracked folder");
            *tracking.lock() = later;
            edit("as root", "as anybody");
            assert_eq!(shows(TASK, "as anybody"), standing == Standing::Trusted, "{later:?}");
            assert!(shows("zip the docs", "okapi"), "{later:?}");
            assert_eq!(playbook.standing(), standing);
            // Only what is known is kept.
            *tracking.lock() = Tracking::Untracked;
            edit("as anybody", "as nobody");
            assert_eq!(shows(TASK, "as nobody"), later != Tracking::Tracked, "{later:?}, settled");
        });
    }
}

#[test]
fn a_file_that_changes_between_the_question_and_the_read_is_judged_again() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    each(|memory, store| {
        builder(memory, &store).trusted().open().unwrap().trust().unwrap();
        let file = memory.join("skills_playbook.json");
        let edited = fs::read_to_string(&file).unwrap().replace("\"quagga\"", "\"quagga as root\"");
        let n_asked = AtomicUsize::new(0);
        // The first answer is given, and then git locks its index and writes the file.
        let ask = move |_: &Path| {
            if n_asked.fetch_add(1, Ordering::SeqCst) > 0 {
                return Tracking::Unsettled;
            }
            fs::write(&file, &edited).unwrap();
            Tracking::Untracked
        };
        let playbook = builder(memory, &store).tracked_by(ask).open().unwrap();
        assert!(!playbook.get_playbook_context(TASK).unwrap().text.contains("quagga as root"));
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

/// Every way in which others can have made a file of vectors: the user's own with the vectors exchanged, one without codes, and one
/// with the codes of another user.
fn forged_vectors(own: &[u8], without_codes: &[u8], of_another: &[u8]) -> [(&'static str, Vec<u8>); 3] {
    const MAGIC: usize = 8;
    let mut payloads: Vec<Vec<u8>> = Vec::new();
    let mut rest = &own[MAGIC..];
    while !rest.is_empty() {
        let length = u32::from_le_bytes(rest[..4].try_into().unwrap()) as usize;
        payloads.push(rest[8..8 + length].to_vec());
        rest = &rest[8 + length..];
    }
    let vectors: Vec<Vec<u8>> = payloads.iter().rev().map(|payload| payload[32..].to_vec()).collect();
    let mut exchanged = own[..MAGIC].to_vec();
    for (payload, vector) in payloads.iter().zip(vectors) {
        let payload = [&payload[..32], &vector].concat();
        exchanged.extend(u32::try_from(payload.len()).unwrap().to_le_bytes());
        exchanged.extend(crc32fast::hash(&payload).to_le_bytes());
        exchanged.extend(payload);
    }
    [("exchanged", exchanged), ("no codes", without_codes.to_vec()), ("codes of another", of_another.to_vec())]
}

#[test]
fn vectors_that_others_wrote_are_made_again() {
    each(|memory, store| {
        let open = |folder: &Path, store: &Arc<dyn TrustStore>| {
            let embedder = Arc::new(HashingEmbedder);
            Playbook::builder(folder).with_embedder(embedder).trust_store(Arc::clone(store)).open().unwrap()
        };
        let written = |folder: &Path, store: &Arc<dyn TrustStore>| {
            let playbook = open(folder, store);
            for (trigger, solution) in [("zip the docs", "okapi"), ("bake a loaf of bread", "rye")] {
                playbook.learn_lesson(build_lesson(trigger, solution)).unwrap();
            }
            playbook.warm_up().unwrap();
            fs::read(folder.join("vectors.bin")).unwrap()
        };
        let (ours, theirs) = (memory.with_file_name("ours"), memory.with_file_name("theirs"));
        let own = written(&ours, &store);
        let of_another = written(&theirs, &(Arc::new(MemoryTrustStore::default()) as Arc<dyn TrustStore>));
        let plain = memory.with_file_name("plain");
        let playbook = Playbook::builder(&plain).with_embedder(Arc::new(HashingEmbedder)).open().unwrap();
        for (trigger, solution) in [("zip the docs", "okapi"), ("bake a loaf of bread", "rye")] {
            playbook.learn_lesson(build_lesson(trigger, solution)).unwrap();
        }
        playbook.warm_up().unwrap();
        let without_codes = fs::read(plain.join("vectors.bin")).unwrap();

        assert_eq!(open(&ours, &store).texts_without_vector().unwrap(), 0, "the user's own");
        for (name, forged) in forged_vectors(&own, &without_codes, &of_another) {
            fs::write(ours.join("vectors.bin"), forged).unwrap();
            let playbook = open(&ours, &store);
            assert!(playbook.texts_without_vector().unwrap() >= 4, "{name}");
            let context = playbook.get_playbook_context("bake bread").unwrap();
            assert!(context.text.contains("rye"), "{name}: {context:?}");
            playbook.warm_up().unwrap();
            assert_eq!(open(&ours, &store).texts_without_vector().unwrap(), 0, "{name}: they are kept again");
        }
    });
}
