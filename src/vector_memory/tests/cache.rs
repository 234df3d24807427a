//! The cache `documents.bin`, which says where in the log each document is.

use super::stored_index::numbered;
use super::*;

fn places_of(folder: &Path) -> Vec<u8> {
    fs::read(folder.join("documents.bin")).unwrap_or_default()
}

/// The documents of a memory, and the results of some queries.
fn state(memory: &VectorMemory) -> (Vec<Document>, Vec<Vec<String>>, Vec<usize>) {
    let documents = memory.documents(&Filter::all()).unwrap();
    // All matching documents, not in the order of their distances: ties are in the order of keys, which an open assigns.
    let lookups = ["parse cache", "rotate", "case7"].map(|text| Lookup::text(text).limit(100));
    let filters = [Filter::is("type", "note"), Filter::has("type").not(), Filter::one_of("half", ["0", "2"])];
    let found = lookups.into_iter().zip(&filters).map(|(lookup, filter)| {
        let mut found = ids(memory, &lookup.filtered(filter.clone()));
        found.sort();
        found
    });
    let counts = filters.iter().map(|filter| memory.count(filter).unwrap());
    (documents.into_iter().map(|document| document.as_ref().clone()).collect(), found.collect(), counts.collect())
}

/// A memory of 40 documents, some changed after the cache was stored.
fn changed_behind_the_stored(folder: &Path) -> VectorMemory {
    let memory = open(folder);
    memory.add_all((0..40).map(|n| numbered(n).with("half", (n % 2).to_string()))).unwrap();
    memory.remove("3").unwrap();
    memory.snapshot().unwrap();
    memory.remove("5").unwrap();
    memory.update(Document::new("7", "entirely different words")).unwrap();
    memory.update(numbered(8).with("half", "2")).unwrap();
    memory.add_all([numbered(50), numbered(3)]).unwrap();
    memory.remove_all(&Filter::is("half", "1").and(Filter::is("type", "note"))).unwrap();
    memory
}

#[test]
fn stored_documents_equal_those_of_the_log_after_later_changes() {
    let folder = tempfile::tempdir().unwrap();
    let memory = changed_behind_the_stored(folder.path());
    let expected = state(&memory);
    let check = |what: &str| assert_eq!(state(&open(folder.path())), expected, "{what}");
    check("stored");
    memory.snapshot().unwrap();
    check("stored again, by a handle that held them");
    open(folder.path()).snapshot().unwrap();
    check("stored again, by a handle that read them");
    open(folder.path()).compact().unwrap();
    check("compacted");
    fs::remove_file(folder.path().join("documents.bin")).unwrap();
    check("not stored");
    // A handle that was open all the time.
    assert_eq!(state(&memory), expected);
}

#[test]
fn a_damaged_cache_of_positions_is_rebuilt() {
    let folder = tempfile::tempdir().unwrap();
    let expected = state(&changed_behind_the_stored(folder.path()));
    let whole = places_of(folder.path());
    let path = folder.path().join("documents.bin");
    for place in (0..whole.len()).step_by(41) {
        let mut flipped = whole.clone();
        flipped[place] ^= 4;
        for bytes in [&flipped[..], &whole[..place]] {
            // Not changed in place: a handle may have mapped it.
            fs::remove_file(&path).unwrap();
            fs::write(&path, bytes).unwrap();
            assert_eq!(state(&open(folder.path())), expected, "byte {place}");
        }
    }
}

#[test]
fn positions_of_another_log_are_not_used() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for (folder, text) in [(&one, "this is one"), (&other, "that is two")] {
        let memory = open(folder.path());
        memory.add(note("a", text)).unwrap();
        memory.snapshot().unwrap();
    }
    fs::remove_file(other.path().join("documents.bin")).unwrap();
    fs::copy(one.path().join("documents.bin"), other.path().join("documents.bin")).unwrap();
    assert_eq!(open(other.path()).get("a").unwrap().unwrap().text, "that is two");
}

#[test]
fn a_damaged_line_is_reported_at_the_open_with_or_without_the_cache() {
    let folder = tempfile::tempdir().unwrap();
    drop(changed_behind_the_stored(folder.path()));
    let (log, places) = (log_of(folder.path()), places_of(folder.path()));
    let line = |start: &str| log.lines().find(|line| line.contains(start)).unwrap().to_owned();
    // One line in the covered part of the log, one after it.
    for damaged in [line("\"id\":\"30\""), line("\"id\":\"50\"")] {
        let broken = log.replace(&damaged, &damaged.replace("case", "cAse"));
        let check = |is_stored: bool| {
            fs::write(folder.path().join("documents.jsonl"), &broken).unwrap();
            fs::remove_file(folder.path().join("documents.bin")).unwrap();
            fs::write(folder.path().join("documents.bin"), if is_stored { &places[..] } else { &[] }).unwrap();
            let reader = VectorMemory::builder(folder.path()).read_only().open().unwrap();
            let n_lines = reader.recovery().map(|recovery| recovery.n_lines);
            let memory = open(folder.path());
            let kept = fs::read_to_string(&memory.recovery().unwrap().kept_at).unwrap();
            (n_lines, memory.count(&Filter::all()).unwrap(), kept)
        };
        let with = check(true);
        assert_eq!(with, check(false));
        assert_eq!(with.0, Some(1), "{damaged}");
        assert!(with.2.contains("cAse"));
    }
}

#[test]
fn a_line_damaged_under_an_open_handle_is_quarantined_and_no_other_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let add = || {
        let memory = open(folder.path());
        memory.put_all((0..5).map(|n| note(&n.to_string(), &format!("text {n}")))).unwrap();
        memory.snapshot().unwrap();
    };
    let check = |what: &str, find: &dyn Fn(&VectorMemory)| {
        add();
        let memory = open(folder.path());
        assert!(memory.recovery().is_none(), "{what}");
        fs::write(folder.path().join("documents.jsonl"), log_of(folder.path()).replace("text 2", "text X")).unwrap();
        find(&memory);
        let left: Vec<String> =
            memory.documents(&Filter::all()).unwrap().iter().map(|document| document.id.clone()).collect();
        assert_eq!(left, ["0", "1", "3", "4"], "{what}");
        let before = fs::read_dir(folder.path().join("quarantine")).map_or(0, Iterator::count);
        memory.put_all([note("0", what)]).unwrap();
        let kept = fs::read_dir(folder.path().join("quarantine")).unwrap();
        let kept: Vec<String> = kept.map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap()).collect();
        assert!(kept.len() == before + 1 && kept.iter().all(|kept| kept.contains("text X")), "{what}: {kept:?}");
        fs::remove_dir_all(folder.path().join("quarantine")).unwrap();
        assert!(open(folder.path()).recovery().is_none(), "{what}");
    };
    check("got", &|memory| assert_eq!(memory.get("2").unwrap(), None));
    check("asked for", &|memory| assert!(!ids(memory, &Lookup::text("text 2")).contains(&"2".to_owned())));
    check("listed", &|memory| assert_eq!(memory.documents(&Filter::all()).unwrap().len(), 4));
    check("removed", &|memory| assert_eq!(memory.remove_all(&Filter::is("type", "task")).unwrap(), 0));
    check("put", &|memory| memory.put_all([note("1", "text 1")]).unwrap());
    // A compaction reads every line, and quarantines the damaged one at once.
    add();
    let memory = open(folder.path());
    fs::write(folder.path().join("documents.jsonl"), log_of(folder.path()).replace("text 2", "text X")).unwrap();
    memory.compact().unwrap();
    assert_eq!(memory.count(&Filter::all()).unwrap(), 4);
    assert_eq!(fs::read_dir(folder.path().join("quarantine")).unwrap().count(), 1);
    assert!(open(folder.path()).recovery().is_none());
}

#[test]
fn after_a_compaction_the_cache_has_nothing_of_a_removed_document() {
    let folder = tempfile::tempdir().unwrap();
    let memory = open(folder.path());
    memory.add_all([note("a", "keep this"), note("b", "my secret").with("only", "here")]).unwrap();
    memory.snapshot().unwrap();
    let hashes = [TextHash::of(&["b"]), TextHash::of(&["my secret"]), TextHash::of(&["only", "here"])];
    let n_found = || {
        let bytes = places_of(folder.path());
        hashes.iter().filter(|hash| bytes.windows(16).any(|window| window == hash.as_bytes())).count()
    };
    assert_eq!(n_found(), 3);
    for word in ["secret", "keep this", "only", "here"] {
        let is_there = places_of(folder.path()).windows(word.len()).any(|window| window == word.as_bytes());
        assert!(!is_there, "{word}");
    }
    memory.remove("b").unwrap();
    memory.compact().unwrap();
    assert_eq!((n_found(), places_of(folder.path()).is_empty()), (0, false));
}

#[test]
fn positions_are_stored_after_many_additions_and_when_the_handle_is_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let memory = open(folder.path());
    let text = "a long text ".repeat(100);
    let add = |from: usize, to: usize| {
        memory.add_all((from..to).map(|n| note(&n.to_string(), &format!("{text}{n}")))).unwrap();
    };
    add(0, 40);
    assert!(places_of(folder.path()).is_empty());
    add(40, 300);
    let by_itself = places_of(folder.path()).len();
    assert!(by_itself > 300 * 40, "{by_itself}");
    add(300, 310);
    assert_eq!(places_of(folder.path()).len(), by_itself);
    add(310, 400);
    drop(memory);
    assert!(places_of(folder.path()).len() > by_itself);
    // A reader, and a handle that found no change, write nothing.
    fs::remove_file(folder.path().join("documents.bin")).unwrap();
    drop(VectorMemory::builder(folder.path()).read_only().open().unwrap());
    assert!(places_of(folder.path()).is_empty());
    drop(open(folder.path()));
    let stored = fs::metadata(folder.path().join("documents.bin")).unwrap().modified().unwrap();
    drop(open(folder.path()));
    assert_eq!(fs::metadata(folder.path().join("documents.bin")).unwrap().modified().unwrap(), stored);
}
