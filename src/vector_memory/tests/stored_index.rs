//! The stored vectors and the stored index.

use super::*;

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
            assert_eq!(open(folder.path()).documents_without_vector().unwrap().len(), 0, "byte {place}");
        }
    }
}

/// A memory whose index has a graph from 1,024 documents on.
fn open_with_graph(folder: &Path, embedder: &Arc<Counting>) -> VectorMemory {
    let embedder: Arc<dyn Embedder> = Arc::<Counting>::clone(embedder);
    let config = IndexConfig { graph_from: 1_000, ef: 64, ..IndexConfig::default() };
    VectorMemory::builder(folder).with_embedder(embedder).with_index_config(config).open().unwrap()
}

pub(super) fn numbered(number: usize) -> Document {
    const WORDS: [&str; 8] = ["parse", "rotate", "cache", "lock", "retry", "merge", "stream", "quote"];
    let word = |shift: usize| WORDS[number / shift % WORDS.len()];
    note(&number.to_string(), &format!("{} {} {} {} case{number}", word(1), word(8), word(64), word(512)))
}

/// The results after each change: the documents nearest to some texts, and how they were searched.
fn nearest(memory: &VectorMemory) -> (Vec<String>, IndexKind) {
    let lookups: Vec<Lookup> = (0..40).map(|nth| Lookup::text(numbered(nth * 27).text.as_str()).limit(1)).collect();
    let found = memory.query_all(&lookups).unwrap();
    (found.iter().map(|found| found.hits[0].document.id.clone()).collect(), found[0].by.unwrap())
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
    assert_eq!((embedder.take(), again.documents_without_vector().unwrap().len()), (0, 0));
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
        assert_eq!(again.documents_without_vector().unwrap().len(), 0);
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
    assert_eq!((found.hits[0].document.id.as_str(), found.by), ("27", Some(IndexKind::Coarse)));
    let exact = open(6_000).query(&lookup).unwrap();
    assert_eq!((exact.hits[0].document.id.as_str(), exact.by), ("27", Some(IndexKind::Exact)));
    again.snapshot().unwrap();
    open(6_000).snapshot().unwrap();
    assert!(fs::metadata(folder.path().join("vectors.bin")).unwrap().len() < stored);
}
