//! A vector memory compared with a naive model, with two handles, and on a failing disk.

#![allow(clippy::disallowed_methods, reason = "the tests break files by themselves")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use adage_index::{IndexConfig, IndexKind, UnitVector, VectorError};
use ndarray::Array2;
use proptest::prelude::*;

use super::{Filter, Lookup, VectorMemory};
use crate::document::Document;
use crate::embed::{Embedder, HashingEmbedder, Role, embed_units};
use crate::error::vector_memory::{Error, Result};
use crate::error::{EmbedError, FolderError};
use crate::folder::disk::{Disk, RealDisk};
use crate::lesson::TextHash;
use crate::testing::faults::{Fault, FaultyDisk};

/// The hashing embedder with a count of texts; another name makes it another model.
#[derive(Default)]
struct Counting {
    name: &'static str,
    n_texts: AtomicUsize,
}

impl Counting {
    fn named(name: &'static str) -> Arc<Self> {
        Arc::new(Self { name, ..Self::default() })
    }

    fn take(&self) -> usize {
        self.n_texts.swap(0, Ordering::SeqCst)
    }
}

impl Embedder for Counting {
    fn embed(&self, texts: &[&str], role: Role) -> Result<Array2<f32>, EmbedError> {
        if role == Role::Document {
            self.n_texts.fetch_add(texts.len(), Ordering::SeqCst);
        }
        HashingEmbedder.embed(texts, role)
    }
    fn fingerprint(&self) -> TextHash {
        TextHash::of(&[self.name])
    }
    fn dimension(&self) -> Result<usize, EmbedError> {
        HashingEmbedder.dimension()
    }
}

fn open_with(folder: &Path, embedder: Arc<dyn Embedder>) -> VectorMemory {
    VectorMemory::builder(folder).with_embedder(embedder).open().unwrap()
}

fn open(folder: &Path) -> VectorMemory {
    open_with(folder, Arc::new(HashingEmbedder))
}

fn note(id: &str, text: &str) -> Document {
    Document::new(id, text).with("type", "note")
}

fn ids(memory: &VectorMemory, lookup: &Lookup) -> Vec<String> {
    memory.query(lookup).unwrap().hits.iter().map(|hit| hit.document.id.clone()).collect()
}

fn log_of(folder: &Path) -> String {
    fs::read_to_string(folder.join("documents.jsonl")).unwrap()
}

#[test]
fn ids_are_checked_and_a_refused_batch_leaves_nothing() {
    const EXISTS: &str = "document \"a\" exists already; replace it with `update` or `put_all`";
    let folder = tempfile::tempdir().unwrap();
    let memory = open(folder.path());
    memory.add(note("a", "parse a csv export")).unwrap();
    let before = log_of(folder.path());
    let check = |result: Result<()>, expected: &str| {
        assert_eq!(result.unwrap_err().to_string(), expected);
        assert_eq!(log_of(folder.path()), before);
        assert_eq!(memory.count(&Filter::all()).unwrap(), 1);
    };
    check(memory.add(note("a", "another")), EXISTS);
    check(memory.add_all([note("b", "t"), note("a", "t")]), EXISTS);
    check(
        memory.add_all([note("b", "t"), note("b", "t")]),
        "document \"b\" cannot be kept: its id comes twice in the batch",
    );
    check(memory.add_all([note("b", "t"), note("c", " ")]), "document \"c\" cannot be kept: the text is empty");
    check(memory.update(note("b", "t")), "no document \"b\"");
    check(memory.remove("b"), "no document \"b\"");
    // The same document again writes nothing.
    memory.update(note("a", "parse a csv export")).unwrap();
    memory.add_all([]).unwrap();
    assert_eq!(memory.remove_all(&Filter::is("type", "task")).unwrap(), 0);
    assert_eq!(log_of(folder.path()), before);
}

#[test]
fn queries_by_text_and_vector_respect_limit_distance_and_filter() {
    let folder = tempfile::tempdir().unwrap();
    let memory = open(folder.path());
    let texts = ["parse the csv export", "parse csv exports", "rotate the ssh keys"];
    memory
        .add_all([note("a", texts[0]), Document::new("b", texts[1]).with("type", "task"), note("c", texts[2])])
        .unwrap();
    let about = || Lookup::text(texts[0]);
    assert_eq!(ids(&memory, &about()), ["a", "b", "c"]);
    assert_eq!(ids(&memory, &about().limit(1)), ["a"]);
    assert_eq!(ids(&memory, &about().limit(0)), [""; 0]);
    assert_eq!(ids(&memory, &about().within(0.5)), ["a", "b"]);
    assert_eq!(ids(&memory, &about().filtered(Filter::is("type", "note"))), ["a", "c"]);
    assert_eq!(ids(&memory, &about().filtered(Filter::has("lang"))), [""; 0]);
    let vector = HashingEmbedder.embed(&[texts[2]], Role::Query).unwrap().into_iter().collect::<Vec<f32>>();
    let all = memory.query_all(&[Lookup::vector(vector.clone()), about().limit(1), Lookup::text(texts[1])]).unwrap();
    let first: Vec<&str> = all.iter().map(|found| found.hits[0].document.id.as_str()).collect();
    assert_eq!(first, ["c", "a", "b"]);
    assert!(all[0].hits[0].distance.abs() < 1e-6);
    assert!(memory.query_all(&[]).unwrap().is_empty());

    let check = |lookup: Lookup, expected: &str| {
        assert_eq!(memory.query(&lookup).unwrap_err().to_string(), expected);
    };
    check(Lookup::vector(vec![0.0; 256]), "the vector has no direction: its length is zero");
    check(Lookup::vector(vec![f32::INFINITY; 256]), "component 0 of the vector is not finite");
    check(Lookup::vector([vec![1.0; 255], vec![f32::NAN]].concat()), "component 255 of the vector is not finite");
    check(Lookup::vector(vec![1.0; 2]), "the vector has 2 dimensions, the embedder's have 256");
    check(about().within(f32::NAN), "max_distance is NaN, it must be a number in [0, 2]");
    let silent = VectorMemory::builder(folder.path()).without_embedder().open().unwrap();
    assert!(matches!(silent.query(&about()), Err(Error::NoEmbedder)));
    assert_eq!(silent.needs_embedding().unwrap(), 3);
}

#[test]
fn an_embedder_that_fails_leaves_nothing_behind() {
    struct Broken;
    impl Embedder for Broken {
        fn embed(&self, texts: &[&str], _: Role) -> Result<Array2<f32>, EmbedError> {
            let mut rows = Array2::ones((texts.len(), 2));
            if let Some(component) = rows.last_mut() {
                *component = f32::NAN;
            }
            Ok(rows)
        }
        fn fingerprint(&self) -> TextHash {
            TextHash::of(&["broken"])
        }
        fn dimension(&self) -> Result<usize, EmbedError> {
            Ok(2)
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let memory = open_with(folder.path(), Arc::new(Broken));
    let error = memory.add_all([note("a", "t"), note("b", "u")]).unwrap_err();
    let reason = VectorError::NotFinite { position: 1 };
    assert!(matches!(error, Error::Embed(EmbedError::BadRow { row: 1, reason: found }) if found == reason), "{error}");
    assert_eq!(memory.count(&Filter::all()).unwrap(), 0);
    assert!(!folder.path().join("documents.jsonl").exists());
}

#[test]
fn vectors_are_made_once_for_each_model_and_kept_for_both() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (Counting::named("one"), Counting::named("two"));
    let documents = || (0..150).map(|n| note(&format!("{n:03}"), &format!("case {n} of parsing")));
    let memory = open_with(folder.path(), one.clone());
    memory.add_all(documents()).unwrap();
    assert_eq!((one.take(), memory.needs_embedding().unwrap()), (150, 0));
    // A change of metadata alone is not a new text.
    memory.update(note("007", "case 7 of parsing").with("done", "yes")).unwrap();
    assert_eq!(one.take(), 0);
    memory.update(note("007", "case seven of parsing")).unwrap();
    assert_eq!(one.take(), 1);

    let memory = open_with(folder.path(), two.clone());
    assert_eq!(memory.needs_embedding().unwrap(), 150);
    assert_eq!(ids(&memory, &Lookup::text("case 42 of parsing").limit(1)), ["042"]);
    assert_eq!((two.take(), memory.warm_up().unwrap(), two.take()), (150, 0, 0));
    memory.snapshot().unwrap();
    for (embedder, name) in [(one, "one"), (two, "two")] {
        let memory = open_with(folder.path(), embedder.clone());
        assert_eq!((memory.needs_embedding().unwrap(), memory.warm_up().unwrap()), (0, 0), "{name}");
        assert_eq!(ids(&memory, &Lookup::text("case 42 of parsing").limit(1)), ["042"]);
        assert_eq!(embedder.take(), 0, "{name}");
    }
    fs::remove_file(folder.path().join("vectors.bin")).unwrap();
    assert_eq!(open_with(folder.path(), Counting::named("one")).warm_up().unwrap(), 150);
}

#[test]
fn a_damaged_vector_file_is_rebuilt() {
    let folder = tempfile::tempdir().unwrap();
    open(folder.path()).add_all([note("a", "parse a csv export"), note("b", "rotate the ssh keys")]).unwrap();
    let path = folder.path().join("vectors.bin");
    let whole = fs::read(&path).unwrap();
    for place in (0..whole.len()).step_by(37) {
        let mut flipped = whole.clone();
        flipped[place] ^= 1;
        for bytes in [&flipped[..], &whole[..place]] {
            // Not changed in place: a handle may have mapped it.
            fs::remove_file(&path).unwrap();
            fs::write(&path, bytes).unwrap();
            let memory = open(folder.path());
            assert_eq!(ids(&memory, &Lookup::text("parse csv exports")), ["a", "b"], "byte {place}");
            drop(memory);
            assert_eq!(open(folder.path()).needs_embedding().unwrap(), 0, "byte {place}");
        }
    }
}

/// A memory whose index has a graph from 1,024 documents on.
fn open_with_graph(folder: &Path, embedder: &Arc<Counting>) -> VectorMemory {
    let embedder: Arc<dyn Embedder> = Arc::<Counting>::clone(embedder);
    let config = IndexConfig { graph_from: 1_000, ef: 64, ..IndexConfig::default() };
    VectorMemory::builder(folder).with_embedder(embedder).with_index_config(config).open().unwrap()
}

fn numbered(number: usize) -> Document {
    const WORDS: [&str; 8] = ["parse", "rotate", "cache", "lock", "retry", "merge", "stream", "quote"];
    let word = |shift: usize| WORDS[number / shift % WORDS.len()];
    note(&number.to_string(), &format!("{} {} {} {} case{number}", word(1), word(8), word(64), word(512)))
}

/// The results after each change: the documents nearest to some texts, and how they were searched.
fn nearest(memory: &VectorMemory) -> (Vec<String>, IndexKind) {
    let lookups: Vec<Lookup> = (0..40).map(|nth| Lookup::text(numbered(nth * 27).text.as_str()).limit(1)).collect();
    let found = memory.query_all(&lookups).unwrap();
    (found.iter().map(|found| found.hits[0].document.id.clone()).collect(), found[0].by)
}

#[test]
fn a_graph_is_built_and_reused_after_a_reopen() {
    let folder = tempfile::tempdir().unwrap();
    let embedder = Counting::named("m");
    let memory = open_with_graph(folder.path(), &embedder);
    memory.add_all((0..1_000).map(numbered)).unwrap();
    let (expected, by) = nearest(&memory);
    assert_eq!(by, IndexKind::Exact);
    assert_eq!(expected[1], "27");
    memory.add_all((1_000..1_100).map(numbered)).unwrap();
    let (expected, by) = nearest(&memory);
    assert_eq!((by, expected[39].as_str()), (IndexKind::Graph, "1053"));
    memory.snapshot().unwrap();
    // After the snapshot: one document added, one changed, one removed.
    memory.add(numbered(2_000)).unwrap();
    memory.update(Document { text: "entirely different words here".into(), ..numbered(27) }).unwrap();
    memory.remove("54").unwrap();
    let (expected, _) = nearest(&memory);
    embedder.take();
    let again = open_with_graph(folder.path(), &embedder);
    assert_eq!(nearest(&again), (expected, IndexKind::Graph));
    assert_eq!(ids(&again, &Lookup::text("entirely different words here").limit(1)), ["27"]);
    assert_eq!(ids(&again, &Lookup::text(numbered(2_000).text.as_str()).limit(1)), ["2000"]);
    assert_eq!((embedder.take(), again.needs_embedding().unwrap()), (0, 0));
    // The vector of a removed document is not found by its former text.
    assert!(!ids(&again, &Lookup::text(numbered(54).text.as_str()).limit(5)).contains(&"54".to_owned()));
}

/// Stores a memory whose index has a graph. Returns the results of the queries.
fn store_graph(folder: &Path, embedder: &Arc<Counting>) -> Vec<String> {
    let memory = open_with_graph(folder, embedder);
    memory.add_all((0..1_100).map(numbered)).unwrap();
    memory.snapshot().unwrap();
    nearest(&memory).0
}

#[test]
fn a_handle_without_queries_keeps_the_stored_index() {
    let folder = tempfile::tempdir().unwrap();
    let embedder = Counting::named("m");
    let expected = store_graph(folder.path(), &embedder);
    let stored = || fs::metadata(folder.path().join("vectors.bin")).unwrap().len();
    let with_graph = stored();
    for call in [VectorMemory::snapshot, VectorMemory::compact] {
        call(&open_with_graph(folder.path(), &embedder)).unwrap();
        assert_eq!(stored(), with_graph);
        embedder.take();
        let again = open_with_graph(folder.path(), &embedder);
        assert_eq!(nearest(&again), (expected.clone(), IndexKind::Graph));
        assert_eq!(embedder.take(), 0);
    }
}

#[test]
fn a_damaged_section_of_a_stored_index_is_rebuilt() {
    let folder = tempfile::tempdir().unwrap();
    let embedder = Counting::named("m");
    let expected = store_graph(folder.path(), &embedder);
    let path = folder.path().join("vectors.bin");
    let whole = fs::read(&path).unwrap();
    let mut n_by_graph = 0;
    for part in 0..40 {
        let mut bytes = whole.clone();
        let at = bytes.len() * part / 40 + 100;
        if part % 5 == 4 {
            bytes.truncate(at);
        } else {
            bytes[at] ^= 1;
        }
        // Replaced as this crate does it: a mapped file is never changed in place.
        fs::remove_file(&path).unwrap();
        fs::write(&path, bytes).unwrap();
        let again = open_with_graph(folder.path(), &embedder);
        let (found, by) = nearest(&again);
        assert_eq!(found, expected, "byte {at}");
        n_by_graph += usize::from(by == IndexKind::Graph);
        assert_eq!(again.needs_embedding().unwrap(), 0);
    }
    // Only lost links leave the search to a scan.
    assert!((1..40).contains(&n_by_graph), "{n_by_graph}");
}

#[test]
fn the_signs_of_many_documents_are_stored_and_used_after_a_reopen() {
    let folder = tempfile::tempdir().unwrap();
    let embedder = Counting::named("m");
    let open = |coarse_from| {
        let embedder: Arc<dyn Embedder> = Arc::<Counting>::clone(&embedder);
        let config = IndexConfig { coarse_from, ..IndexConfig::default() };
        VectorMemory::builder(folder.path()).with_embedder(embedder).with_index_config(config).open().unwrap()
    };
    open(4_000).add_all((0..5_200).map(numbered)).unwrap();
    // It was stored without being asked to, and single queries are answered by signs.
    let stored = fs::metadata(folder.path().join("vectors.bin")).unwrap().len();
    let again = open(4_000);
    let lookup = Lookup::text(numbered(27).text.as_str()).limit(1);
    let found = again.query(&lookup).unwrap();
    assert_eq!((found.hits[0].document.id.as_str(), found.by), ("27", IndexKind::Coarse));
    let exact = open(6_000).query(&lookup).unwrap();
    assert_eq!((exact.hits[0].document.id.as_str(), exact.by), ("27", IndexKind::Exact));
    again.snapshot().unwrap();
    open(6_000).snapshot().unwrap();
    assert!(fs::metadata(folder.path().join("vectors.bin")).unwrap().len() < stored);
}

#[test]
fn two_handles_see_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (Counting::named("m"), Counting::named("m"));
    let (a, b) = (open_with(folder.path(), first.clone()), open_with(folder.path(), second.clone()));
    let reader = VectorMemory::builder(folder.path()).with_embedder(Counting::named("m")).read_only().open().unwrap();
    for n in 0..20 {
        let (writer, other) = if n % 2 == 0 { (&a, &b) } else { (&b, &a) };
        let (id, text) = (format!("{n:02}"), format!("number {n}"));
        writer.add(note(&id, &text)).unwrap();
        assert!(matches!(other.add(note(&id, "t")), Err(Error::DocumentExists { .. })));
        assert_eq!(ids(other, &Lookup::text(&text).limit(1)), [id.as_str()]);
        assert_eq!(ids(&reader, &Lookup::text(&text).limit(1)), [id]);
        if n % 7 == 3 {
            other.remove(&format!("{:02}", n - 1)).unwrap();
            assert_eq!(writer.get(&format!("{:02}", n - 1)).unwrap(), None);
            other.compact().unwrap();
        }
    }
    assert_eq!(a.documents(&Filter::all()).unwrap(), b.documents(&Filter::all()).unwrap());
    assert_eq!(reader.documents(&Filter::all()).unwrap(), b.documents(&Filter::all()).unwrap());
    // No handle embedded a text that the other had embedded.
    assert_eq!((first.take(), second.take()), (10, 10));
    assert!(matches!(reader.add(note("x", "t")), Err(Error::Folder(FolderError::ReadOnly { .. }))));
}

#[test]
fn a_removed_text_is_purged_by_a_compaction() {
    let folder = tempfile::tempdir().unwrap();
    let memory = open(folder.path());
    memory.add_all([note("a", "keep this"), note("b", "my secret")]).unwrap();
    memory.remove("b").unwrap();
    assert!(log_of(folder.path()).contains("my secret"));
    let before = fs::metadata(folder.path().join("vectors.bin")).unwrap().len();
    memory.compact().unwrap();
    assert!(!log_of(folder.path()).contains("my secret"));
    assert!(fs::metadata(folder.path().join("vectors.bin")).unwrap().len() < before);
    assert_eq!(ids(&memory, &Lookup::text("my secret")), ["a"]);
    memory.add(note("b", "again")).unwrap();
    assert_eq!(open(folder.path()).count(&Filter::all()).unwrap(), 2);
}

#[test]
fn a_log_that_is_mostly_obsolete_is_compacted() {
    let folder = tempfile::tempdir().unwrap();
    let memory = open(folder.path());
    let text = "a long text ".repeat(100);
    for n in 0..200 {
        memory.put_all([note("a", &format!("{text}{n}"))]).unwrap();
    }
    assert!(log_of(folder.path()).len() < 70_000, "{}", log_of(folder.path()).len());
    assert_eq!(open(folder.path()).get("a").unwrap().unwrap().text, format!("{text}199"));
}

#[test]
fn damaged_lines_are_quarantined_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    open(folder.path()).add_all((0..5).map(|n| note(&n.to_string(), &format!("text {n}")))).unwrap();
    let path = folder.path().join("documents.jsonl");
    let broken = log_of(folder.path()).replace("text 2", "text X");
    fs::write(&path, &broken).unwrap();
    let reader = VectorMemory::builder(folder.path()).read_only().open().unwrap();
    assert_eq!(reader.recovery().map(|recovery| (recovery.n_lines, recovery.kept_at.clone())), Some((1, path.clone())));
    assert_eq!(reader.count(&Filter::all()).unwrap(), 4);
    assert!(!folder.path().join("quarantine").exists());
    let memory = open(folder.path());
    let recovery = memory.recovery().cloned().unwrap();
    assert_eq!(recovery.n_lines, 1);
    let kept = fs::read_to_string(recovery.kept_at).unwrap();
    assert!(kept.contains("text X") && kept.lines().count() == 1, "{kept}");
    assert_eq!(memory.count(&Filter::all()).unwrap(), 4);
    assert!(open(folder.path()).recovery().is_none());
    // Nothing of the file can be read.
    fs::write(&path, "garbage").unwrap();
    let memory = open(folder.path());
    assert!(memory.recovery().is_some());
    assert_eq!(memory.count(&Filter::all()).unwrap(), 0);
    memory.add(note("a", "t")).unwrap();
    assert!(open(folder.path()).recovery().is_none());
}

#[test]
fn a_newer_schema_is_read_only_and_untouched() {
    let folder = tempfile::tempdir().unwrap();
    open(folder.path()).add(note("a", "t")).unwrap();
    let rest = r#""header":{"schema_version":2,"log":"00000000-0000-0000-0000-000000000001"}}"#;
    let header = format!("{{\"crc\":\"{:08x}\",{rest}", crc32fast::hash(rest.as_bytes()));
    let log = log_of(folder.path());
    let newer = format!("{header}\n{}what is this\n", log.split_once('\n').unwrap().1);
    fs::write(folder.path().join("documents.jsonl"), &newer).unwrap();
    let memory = open(folder.path());
    assert_eq!(memory.count(&Filter::all()).unwrap(), 1);
    assert_eq!(ids(&memory, &Lookup::text("t")), ["a"]);
    for result in [memory.add(note("b", "t")), memory.remove("a"), memory.compact(), memory.snapshot()] {
        assert!(
            matches!(result, Err(Error::Folder(FolderError::NewerSchema { found: 2, supported: 1, .. }))),
            "{result:?}"
        );
    }
    assert_eq!(log_of(folder.path()), newer);
}

#[test]
fn opening_for_reading_creates_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("none");
    let memory = VectorMemory::builder(&inside).with_embedder(Arc::new(HashingEmbedder)).read_only().open().unwrap();
    assert!(memory.query(&Lookup::text("t")).unwrap().hits.is_empty());
    assert!(!inside.exists());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        open(&inside).add(note("a", "t")).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&inside), 0o700);
        for name in ["documents.jsonl", "vectors.bin", "lock"] {
            assert_eq!(mode(&inside.join(name)), 0o600, "{name}");
        }
    }
}

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

/// Texts by id; none for a removed document.
type Edits = Vec<(&'static str, Option<&'static str>)>;

/// The calls in order, and whether each was acknowledged. One that was not may have had its effect or not.
type Calls = Vec<(bool, Edits)>;

/// Add, update, remove, query, compact, snapshot: every use of the store.
fn scenario(folder: &Path, disk: Box<dyn Disk>) -> Calls {
    let mut calls = Calls::new();
    let builder = VectorMemory::builder(folder).with_embedder(Arc::new(HashingEmbedder)).with_disk(disk);
    let Ok(memory) = builder.open() else { return calls };
    let mut step = |result: Result<()>, edits: &[(&'static str, Option<&'static str>)]| match result {
        Ok(()) => calls.push((true, edits.to_vec())),
        Err(Error::Folder(FolderError::Io { .. } | FolderError::WritesStopped { .. })) => {
            calls.push((false, edits.to_vec()));
        }
        // An earlier call failed: the document that it was to add is missing, or the one that it was to remove is.
        Err(Error::NoSuchDocument { .. }) if calls.iter().any(|(is_done, _)| !is_done) => {}
        Err(error) => panic!("{error}"),
    };
    step(memory.add(note("a", "one")), &[("a", Some("one"))]);
    step(memory.add_all([note("b", "two"), note("c", "three")]), &[("b", Some("two")), ("c", Some("three"))]);
    step(memory.update(note("b", "four")), &[("b", Some("four"))]);
    drop(memory.query(&Lookup::text("four")));
    step(memory.remove("a"), &[("a", None)]);
    step(memory.compact(), &[]);
    step(memory.add_all([note("d", "five"), note("e", "six")]), &[("d", Some("five")), ("e", Some("six"))]);
    step(memory.snapshot(), &[]);
    step(memory.remove_all(&Filter::is("type", "task")).map(drop), &[]);
    step(memory.put_all([note("f", "seven"), note("g", "eight")]), &[("f", Some("seven")), ("g", Some("eight"))]);
    calls
}

/// Whether the calls lead to these documents; each call without acknowledgement had its whole effect or none.
fn lead_to(calls: &Calls, present: &BTreeMap<&str, &str>) -> bool {
    let failed: Vec<usize> = (0..calls.len()).filter(|place| !calls[*place].0).collect();
    (0..1_usize << failed.len()).any(|chosen| {
        let mut documents = BTreeMap::new();
        for (place, (is_done, edits)) in calls.iter().enumerate() {
            let number = failed.iter().position(|failed| *failed == place);
            if *is_done || number.is_some_and(|number| chosen >> number & 1 == 1) {
                for (id, text) in edits {
                    documents.remove(id);
                    documents.extend(text.map(|text| (*id, text)));
                }
            }
        }
        documents == *present
    })
}

#[test]
fn any_failing_disk_operation_loses_nothing_acknowledged() {
    for fault in [Fault::Once, Fault::Freeze] {
        for number in 1.. {
            let folder = tempfile::tempdir().unwrap();
            let done = Arc::new(AtomicUsize::new(0));
            let disk = FaultyDisk { fault, at: number, done: Arc::clone(&done) };
            let calls = scenario(folder.path(), Box::new(disk));
            let context = format!("{fault:?} at operation {number}");
            let memory = open(folder.path());
            assert!(memory.recovery().is_none(), "{context}");
            let documents = memory.documents(&Filter::all()).unwrap();
            let present = documents.iter().map(|document| (document.id.as_str(), document.text.as_str())).collect();
            assert!(lead_to(&calls, &present), "{context}: {present:?} after {calls:?}");
            memory.put_all([note("z", "after the fault")]).unwrap();
            assert_eq!(ids(&memory, &Lookup::text("after the fault").limit(1)), ["z"], "{context}");
            for document in documents {
                let nearest = ids(&memory, &Lookup::text(document.text.as_str()).limit(1));
                assert_eq!(nearest, [document.id.as_str()], "{context}");
            }
            let names = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
            let n_left = names.filter(|name| name.to_string_lossy().starts_with(".adage-tmp-")).count();
            assert_eq!(n_left, 0, "{context}: temporary files are left");
            if done.load(Ordering::SeqCst) < number {
                assert!(number > 80, "only {number} operations");
                assert!(calls.iter().all(|(is_done, _)| *is_done) && calls.len() == 9);
                break;
            }
        }
    }
}

#[derive(Clone, Debug)]
enum Op {
    Add(u8, u8, u8),
    Batch(Vec<(u8, u8)>),
    Update(u8, u8, u8),
    Put(u8, u8, u8),
    Remove(u8),
    RemoveAll(u8),
    Query(u8, u8, usize),
    Compact,
    Snapshot,
    Reopen,
}

fn operations() -> impl Strategy<Value = Vec<Op>> {
    let (id, text, kind) = (0_u8..8, 0_u8..6, 0_u8..3);
    let document = (id.clone(), text.clone(), kind.clone());
    let operation = prop_oneof![
        4 => document.clone().prop_map(|(id, text, kind)| Op::Add(id, text, kind)),
        2 => prop::collection::vec((id.clone(), text.clone()), 0..4).prop_map(Op::Batch),
        2 => document.clone().prop_map(|(id, text, kind)| Op::Update(id, text, kind)),
        2 => document.prop_map(|(id, text, kind)| Op::Put(id, text, kind)),
        2 => id.prop_map(Op::Remove),
        1 => kind.clone().prop_map(Op::RemoveAll),
        4 => (text, kind, 0_usize..5).prop_map(|(text, kind, limit)| Op::Query(text, kind, limit)),
        1 => Just(Op::Compact),
        1 => Just(Op::Snapshot),
        1 => Just(Op::Reopen),
    ];
    prop::collection::vec(operation, 1..30)
}

const TEXTS: [&str; 6] =
    ["parse a csv export", "parse csv exports", "rotate the ssh keys", "rotate logs", "\"quoted\"\n\u{1}", "grün"];

fn document((id, text, kind): (u8, u8, u8)) -> Document {
    Document::new(format!("d{id}"), TEXTS[usize::from(text)]).with("kind", kind.to_string())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    #[test]
    fn agrees_with_a_naive_model(operations in operations()) {
        let folder = tempfile::tempdir().unwrap();
        let mut memory = open(folder.path());
        let other = open(folder.path());
        let mut model: BTreeMap<String, Document> = BTreeMap::new();
        for operation in operations {
            match operation {
                Op::Add(id, text, kind) => {
                    let document = document((id, text, kind));
                    let is_new = !model.contains_key(&document.id);
                    prop_assert_eq!(memory.add(document.clone()).is_ok(), is_new);
                    model.entry(document.id.clone()).or_insert(document);
                }
                Op::Batch(batch) => {
                    let documents: Vec<Document> = batch.into_iter().map(|(id, text)| document((id, text, 0))).collect();
                    let mut ids: Vec<&String> = documents.iter().map(|document| &document.id).collect();
                    ids.sort_unstable();
                    ids.dedup();
                    let is_taken = ids.len() == documents.len() && ids.iter().all(|id| !model.contains_key(*id));
                    prop_assert_eq!(memory.add_all(documents.clone()).is_ok(), is_taken);
                    if is_taken {
                        model.extend(documents.into_iter().map(|document| (document.id.clone(), document)));
                    }
                }
                Op::Update(id, text, kind) => {
                    let document = document((id, text, kind));
                    prop_assert_eq!(other.update(document.clone()).is_ok(), model.contains_key(&document.id));
                    model.entry(document.id.clone()).and_modify(|present| *present = document);
                }
                Op::Put(id, text, kind) => {
                    let document = document((id, text, kind));
                    memory.put_all([document.clone()]).unwrap();
                    model.insert(document.id.clone(), document);
                }
                Op::Remove(id) => {
                    let id = format!("d{id}");
                    prop_assert_eq!(memory.remove(&id).is_ok(), model.remove(&id).is_some());
                }
                Op::RemoveAll(kind) => {
                    let before = model.len();
                    model.retain(|_, document| document.metadata["kind"] != kind.to_string());
                    let n_removed = memory.remove_all(&Filter::is("kind", kind.to_string())).unwrap();
                    prop_assert_eq!(n_removed, before - model.len());
                }
                Op::Query(text, kind, limit) => {
                    let filter = Filter::is("kind", kind.to_string()).not();
                    let lookup = Lookup::text(TEXTS[usize::from(text)]).limit(limit).filtered(filter);
                    let found = memory.query(&lookup).unwrap().hits;
                    let unit = |text: &str| embed_units(&HashingEmbedder, &[text], Role::Query).unwrap().remove(0);
                    let asked = unit(TEXTS[usize::from(text)]);
                    let distance = |vector: &UnitVector| {
                        1.0 - asked.as_slice().iter().zip(vector.as_slice()).map(|(a, b)| a * b).sum::<f32>()
                    };
                    let meant = model.values().filter(|document| document.metadata["kind"] != kind.to_string());
                    let mut expected: Vec<f32> = meant.map(|document| distance(&unit(&document.text))).collect();
                    expected.sort_by(f32::total_cmp);
                    expected.truncate(limit);
                    // Equal texts are equally near, so distances are compared, and the distance of each document is checked.
                    prop_assert_eq!(found.len(), expected.len());
                    for (hit, expected) in found.iter().zip(expected) {
                        prop_assert!((hit.distance - expected).abs() < 1e-4);
                        prop_assert!((hit.distance - distance(&unit(&hit.document.text))).abs() < 1e-4);
                        prop_assert_eq!(Some(hit.document.as_ref()), model.get(&hit.document.id));
                    }
                }
                Op::Compact => memory.compact().unwrap(),
                Op::Snapshot => memory.snapshot().unwrap(),
                Op::Reopen => memory = open(folder.path()),
            }
            for handle in [&memory, &other] {
                let documents = handle.documents(&Filter::all()).unwrap();
                prop_assert!(documents.iter().map(AsRef::as_ref).eq(model.values()), "{:?} {:?}", documents, model);
                for kind in 0..3 {
                    let n_meant = model.values().filter(|document| document.metadata["kind"] == kind.to_string()).count();
                    prop_assert_eq!(handle.count(&Filter::is("kind", kind.to_string())).unwrap(), n_meant);
                }
            }
        }
    }
}

#[test]
fn after_a_failed_sync_a_handle_refuses_to_write() {
    // The first write creates the file; its sync follows that of the temporary file.
    for number in 1..60 {
        let folder = tempfile::tempdir().unwrap();
        open(folder.path()).add(note("a", "t")).unwrap();
        let disk = FaultyDisk { fault: Fault::Once, at: number, done: Arc::default() };
        let builder = VectorMemory::builder(folder.path()).with_embedder(Arc::new(HashingEmbedder));
        let Ok(memory) = builder.with_disk(Box::new(disk)).open() else { continue };
        let Err(Error::Folder(FolderError::Io { action: "sync", .. })) = memory.add(note("b", "t")) else { continue };
        assert!(matches!(memory.add(note("c", "t")), Err(Error::Folder(FolderError::WritesStopped { .. }))));
        assert!(open_real(folder.path()).add(note("c", "t")).is_ok());
        return;
    }
    panic!("no sync failed");
}

fn open_real(folder: &Path) -> VectorMemory {
    VectorMemory::builder(folder).with_embedder(Arc::new(HashingEmbedder)).with_disk(Box::new(RealDisk)).open().unwrap()
}
