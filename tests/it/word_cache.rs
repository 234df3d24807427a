//! The words of a larger memory are kept in its folder: answers are the same with them, without them and with what is left of them.

use std::fs;
use std::path::Path;

use adage::{Config, Context, LessonId, Playbook, Request, build_lesson};

fn open(folder: &Path) -> Playbook {
    let mut config = Config::default();
    config.retention.capacity = 1_000;
    Playbook::builder(folder).with_config(config).without_embedder().open().unwrap()
}

/// What a fresh handle answers.
fn answers(folder: &Path) -> Vec<(LessonId, Option<f32>)> {
    let playbook = open(folder);
    let asked = ["parse the export number 17", "rename table 203 in a migration", "bake bread"];
    let ask = |text: &str| -> Context {
        playbook.get_playbook_context(Request::about(text).limit(50).peek().explain()).unwrap()
    };
    asked.iter().flat_map(|text| ask(text).considered).map(|lesson| (lesson.id, lesson.probability)).collect()
}

#[test]
fn a_cache_of_words_changes_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let cache = folder.path().join("words.bin");
    let drafts = |from: usize, to: usize| {
        (from..to).map(|n| build_lesson(format!("parsing export number {n}"), format!("Rename table {n} first.")))
    };
    open(folder.path()).learn_lessons(drafts(0, 199)).unwrap();
    answers(folder.path());
    assert!(!cache.exists(), "a small memory keeps none");
    open(folder.path()).learn_lessons(drafts(199, 260)).unwrap();
    let expected = answers(folder.path());
    assert!(cache.exists() && !expected.is_empty());
    let whole = fs::read(&cache).unwrap();
    assert_eq!(answers(folder.path()), expected);
    assert_eq!(fs::read(&cache).unwrap(), whole, "nothing is new");
    for damaged in [&b""[..], b"adagew\0\x02", &whole[..whole.len() / 2], &[&whole[..], b"x"].concat()] {
        fs::write(&cache, damaged).unwrap();
        assert_eq!(answers(folder.path()), expected);
        assert_eq!(fs::read(&cache).unwrap(), whole, "it is written again");
    }
    // Some lessons are new, some texts are other ones.
    let playbook = open(folder.path());
    playbook.learn_lessons(drafts(260, 265)).unwrap();
    playbook.edit("parsing export number 17", build_lesson("", "Rename nothing at all.")).unwrap();
    let with = answers(folder.path());
    fs::remove_file(&cache).unwrap();
    assert_eq!(answers(folder.path()), with);
    assert_ne!(with, expected);
    assert!(cache.exists());
    playbook.remove("parsing export number 3").unwrap();
    assert!(!cache.exists(), "it has words of the lesson that was removed");
}
