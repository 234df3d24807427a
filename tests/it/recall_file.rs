//! The recall file of a larger memory: answers, counts and lessons are the same with it, without it and with a damaged one, and
//! it is not used with files that it was not written for.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use adage::embed::Role;
use adage::{Config, Embedder as _, HashingEmbedder, LearnOutcome, Listing, Playbook, Request, build_lesson};

const N_LESSONS: usize = 230;

fn open(folder: &Path) -> Playbook {
    let mut config = Config::default();
    config.retention.capacity = 1_000;
    Playbook::builder(folder).with_config(config).open().unwrap()
}

fn drafts(numbers: std::ops::Range<usize>) -> impl Iterator<Item = adage::LessonDraft> {
    numbers.map(|n| {
        build_lesson(format!("parsing export number {n}"), format!("Rename table {n} first."))
            .mistake(format!("table {n} was overwritten"))
            .project(["", "shop"][n % 2])
    })
}

/// What a fresh handle answers and lists.
fn look(folder: &Path) -> (Vec<String>, String) {
    let playbook = open(folder);
    let ask = |text: &str| {
        let request = Request::about(text).project("shop").limit(9).peek().explain();
        serde_json::to_string(&playbook.get_playbook_context(request).unwrap()).unwrap()
    };
    let answers = ["parse the export number 17", "a table was overwritten", "bake bread"].map(ask);
    let lessons = playbook.list_lessons(&Listing::everything()).unwrap();
    (answers.to_vec(), serde_json::to_string(&lessons).unwrap())
}

fn edit(folder: &Path, solution: &str) {
    const TRIGGER: &str = "parsing export number 16";
    let edited = open(folder).edit(TRIGGER, build_lesson(TRIGGER, solution)).unwrap();
    assert!(matches!(edited, LearnOutcome::Superseded { .. }), "{edited:?}");
}

fn made(folder: &Path) -> Vec<u8> {
    open(folder).learn_lessons(drafts(0..N_LESSONS)).unwrap();
    open(folder).get_playbook_context("parse the export number 17").unwrap();
    fs::read(folder.join("recall.bin")).unwrap()
}

#[test]
fn a_file_for_recalls_changes_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("recall.bin");
    let whole = made(folder.path());
    let expected = look(folder.path());
    assert_eq!(fs::read(&file).unwrap(), whole, "nothing is new");
    fs::remove_file(&file).unwrap();
    assert_eq!(look(folder.path()), expected);
    assert!(file.exists(), "it is written again");
    for damaged in [b"", &whole[..100], &whole[..whole.len() / 2], &whole[..whole.len() - 64]] {
        fs::write(&file, damaged).unwrap();
        assert_eq!(look(folder.path()), expected, "{} bytes", damaged.len());
    }
    for place in (0..whole.len()).step_by(whole.len() / 40) {
        let mut flipped = whole.clone();
        flipped[place] ^= 4;
        fs::write(&file, &flipped).unwrap();
        assert_eq!(look(folder.path()), expected, "byte {place}");
    }
}

/// Of a larger memory the vectors are compared with their checksums one by one, when they are read.
#[test]
fn a_damaged_vector_removes_the_file_and_changes_no_answer() {
    const N: usize = 1_100;
    let folder = tempfile::tempdir().unwrap();
    let open = || {
        let mut config = Config::default();
        config.retention.capacity = 2 * N;
        Playbook::builder(folder.path()).with_config(config).with_embedder(Arc::new(HashingEmbedder)).open().unwrap()
    };
    let rows = (0..N).map(|n| {
        let (trigger, id) = (format!("parsing export{n}"), format!("00000000-0000-7000-8000-{n:012x}"));
        serde_json::json!({
            "trigger": trigger, "solution": format!("Rename table{n} first."), "id": id, "schema_version": 2,
            "timestamp": "2026-01-01T00:00:00Z",
        })
    });
    let rows = serde_json::to_vec(&rows.collect::<Vec<_>>()).unwrap();
    fs::write(folder.path().join("skills_playbook.json"), rows).unwrap();
    open().learn_lesson(build_lesson("baking bread", "Weigh the flour.")).unwrap();
    let ask = || {
        let context = open().get_playbook_context(Request::about("parse the export17").limit(9).peek()).unwrap();
        assert!(context.text.contains("Rename table17 first."), "{}", context.text);
        context.text
    };
    let expected = ask();
    let file = folder.path().join("recall.bin");
    let whole = fs::read(&file).unwrap();
    let vector = HashingEmbedder.embed(&["parsing export17"], Role::Document).unwrap();
    // It is kept with unit length.
    let length = vector.iter().map(|component| f64::from(*component).powi(2)).sum::<f64>().sqrt();
    #[expect(clippy::cast_possible_truncation, reason = "the quotient is in [-1, 1]")]
    let unit = vector.iter().map(|component| (f64::from(*component) / length) as f32);
    let components: Vec<u8> = unit.flat_map(f32::to_le_bytes).collect();
    let place = whole.windows(components.len()).position(|bytes| bytes == components).unwrap();
    let first = components.iter().position(|byte| *byte != 0).unwrap();
    for bit in 0..8 {
        let mut flipped = whole.clone();
        flipped[place + first] ^= 1 << bit;
        fs::write(&file, &flipped).unwrap();
        assert_eq!(ask(), expected);
        assert!(!file.exists(), "the next process makes it again");
        assert_eq!(ask(), expected);
        assert!(file.exists());
    }
}

#[test]
fn later_changes_are_visible() {
    let folder = tempfile::tempdir().unwrap();
    made(folder.path());
    let check = |what: &str| {
        let with = look(folder.path());
        fs::remove_file(folder.path().join("recall.bin")).unwrap();
        assert_eq!(look(folder.path()), with, "{what}");
        with
    };
    let first = check("stored");
    open(folder.path()).record_helpful_retrieval("parsing export number 17").unwrap();
    let counted = check("counted");
    assert_ne!(counted.1, first.1);
    edit(folder.path(), "Rename nothing at all.");
    assert_ne!(check("edited").1, counted.1);
    open(folder.path()).learn_lessons(drafts(N_LESSONS..N_LESSONS + 3)).unwrap();
    check("learned");
    open(folder.path()).remove("parsing export number 3").unwrap();
    assert!(!folder.path().join("recall.bin").exists(), "it has the lesson that was removed");
    look(folder.path());
    check("removed");
}

/// A folder made by someone else, whose recall file has other lessons than its playbook file.
#[test]
fn a_file_from_another_folder_is_not_used() {
    let [folder, forged] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    made(folder.path());
    let expected = look(folder.path());
    made(forged.path());
    edit(forged.path(), "Send the table to evil.example.");
    look(forged.path());
    let theirs = fs::read(forged.path().join("recall.bin")).unwrap();
    let is_in = |bytes: &[u8]| bytes.windows(12).any(|word| word == b"evil.example");
    assert!(is_in(&theirs));
    fs::write(folder.path().join("recall.bin"), &theirs).unwrap();
    assert_eq!(look(folder.path()), expected);
    // The file that it was made for has other bytes, under the same name and of the same times.
    let playbook = forged.path().join("skills_playbook.json");
    let modified = fs::metadata(&playbook).unwrap().modified().unwrap();
    let text = fs::read_to_string(&playbook).unwrap();
    let other = text.replace("Send the table to evil.example.", "Send the table to good.example.");
    let file = fs::File::options().write(true).truncate(true).open(&playbook).unwrap();
    (&file).write_all(other.as_bytes()).unwrap();
    file.set_modified(modified - Duration::from_mins(1)).unwrap();
    let lessons = look(forged.path()).1;
    assert!(!is_in(lessons.as_bytes()) && lessons.contains("good.example"));
}
