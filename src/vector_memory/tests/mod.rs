//! Documents, queries and embedders of a vector memory, and what its other tests share.

#![allow(clippy::disallowed_methods, reason = "the tests break files by themselves")]

mod failing;
mod log;
mod model;
mod stored_index;

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use adage_index::{IndexConfig, IndexKind, UnitVector, VectorError};
use ndarray::Array2;

use super::{Filter, Lookup, VectorMemory};
use crate::document::Document;
use crate::embed::{Embedder, HashingEmbedder, Role, embed_units};
use crate::error::vector_memory::{Error, Result};
use crate::error::{EmbedError, FolderError, with_causes};
use crate::lesson::TextHash;

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
        assert_eq!(with_causes(&result.unwrap_err()), expected);
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
    assert!(all[0].hits[0].distance.unwrap().abs() < 1e-6);
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
    assert!(matches!(silent.query(&about().vectors_only()), Err(Error::NoEmbedder)));
    let found = silent.query(&about().filtered(Filter::is("type", "task"))).unwrap();
    assert_eq!((found.hits[0].document.id.as_str(), found.hits[0].distance, found.by), ("b", None, None));
    assert_eq!(silent.documents_without_vector().unwrap().len(), 3);
}

#[test]
fn an_embedder_that_fails_leaves_nothing_behind() {
    struct Broken;
    impl Embedder for Broken {
        fn embed(&self, texts: &[&str], _: Role) -> Result<Array2<f32>, EmbedError> {
            Ok(Array2::ones((texts.len(), 3)))
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
    let reason = VectorError::Dimension { found: 3, expected: 2 };
    assert!(matches!(error, Error::Embed(EmbedError::BadRow { row: 0, reason: found }) if found == reason), "{error}");
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
    assert_eq!((one.take(), memory.documents_without_vector().unwrap().len()), (150, 0));
    // A change of metadata alone is not a new text.
    memory.update(note("007", "case 7 of parsing").with("done", "yes")).unwrap();
    assert_eq!(one.take(), 0);
    memory.update(note("007", "case seven of parsing")).unwrap();
    assert_eq!(one.take(), 1);

    let memory = open_with(folder.path(), two.clone());
    assert_eq!(memory.documents_without_vector().unwrap().len(), 150);
    assert_eq!(ids(&memory, &Lookup::text("case 42 of parsing").limit(1)), ["042"]);
    assert_eq!((two.take(), memory.warm_up().unwrap(), two.take()), (150, 0, 0));
    memory.snapshot().unwrap();
    for (embedder, name) in [(one, "one"), (two, "two")] {
        let memory = open_with(folder.path(), embedder.clone());
        assert_eq!((memory.documents_without_vector().unwrap().len(), memory.warm_up().unwrap()), (0, 0), "{name}");
        assert_eq!(ids(&memory, &Lookup::text("case 42 of parsing").limit(1)), ["042"]);
        assert_eq!(embedder.take(), 0, "{name}");
    }
    fs::remove_file(folder.path().join("vectors.bin")).unwrap();
    assert_eq!(open_with(folder.path(), Counting::named("one")).warm_up().unwrap(), 150);
}

/// A text of this many words, with one word of its own at the end.
fn long(n_words: usize, last: &str) -> String {
    (0..n_words).map(|n| format!("filler{} ", n % 7)).collect::<Vec<_>>().concat() + last
}

#[test]
fn a_long_document_is_found_by_a_word_at_its_end_and_the_hit_names_that_chunk() {
    let folder = tempfile::tempdir().unwrap();
    let embedder = Counting::named("m");
    let memory = open_with(folder.path(), embedder.clone());
    let text = long(400, "zeppelin");
    memory.add_all([note("long", &text), note("short", "parse a csv export")]).unwrap();
    let n_embedded = embedder.take();
    assert!(n_embedded > 4, "{n_embedded}");
    let silent = VectorMemory::builder(folder.path()).without_embedder().open().unwrap();
    for handle in [&memory, &silent] {
        let hit = handle.query(&Lookup::text("zeppelin")).unwrap().hits.remove(0);
        assert_eq!(hit.document.id, "long");
        assert!(hit.chunk_text().ends_with("zeppelin") && hit.chunk.start > 0 && hit.chunk.end == text.len());
    }
    let again = open_with(folder.path(), embedder.clone());
    assert_eq!(
        (again.documents_without_vector().unwrap().len(), embedder.take()),
        (0, 0),
        "each chunk's vector is kept"
    );
    // All chunks go with their document.
    memory.update(note("long", "short now")).unwrap();
    assert!(ids(&silent, &Lookup::text("zeppelin")).is_empty());
    assert_eq!(ids(&memory, &Lookup::text("short now").limit(1)), ["long"]);
}

#[test]
fn words_followed_from_change_to_change_equal_those_of_a_new_handle() {
    let folder = tempfile::tempdir().unwrap();
    let memory = VectorMemory::builder(folder.path()).without_embedder().open().unwrap();
    let answers = |memory: &VectorMemory| {
        let ask = |text: &str| {
            let hits = memory.query(&Lookup::text(text).limit(50)).unwrap().hits;
            let mut hits: Vec<(String, u32)> =
                hits.into_iter().map(|hit| (hit.document.id.clone(), hit.score.to_bits())).collect();
            hits.sort();
            hits
        };
        ["case7", "parse rotate", "zeppelin"].map(ask)
    };
    let check = |what: &str| {
        let fresh = VectorMemory::builder(folder.path()).without_embedder().open().unwrap();
        assert_eq!(answers(&memory), answers(&fresh), "{what}");
    };
    memory.add_all((0..40).map(stored_index::numbered)).unwrap();
    check("added");
    memory.remove("7").unwrap();
    memory.update(note("8", &long(300, "zeppelin"))).unwrap();
    check("changed");
    memory.add(stored_index::numbered(7)).unwrap();
    memory.compact().unwrap();
    check("compacted");
    memory.remove_all(&Filter::is("type", "note")).unwrap();
    check("emptied");
}

#[test]
fn a_text_without_a_usable_vector_is_found_by_its_words_and_the_others_by_vectors() {
    struct Picky;
    impl Embedder for Picky {
        fn embed(&self, texts: &[&str], role: Role) -> Result<Array2<f32>, EmbedError> {
            let mut rows = HashingEmbedder.embed(texts, role)?;
            for (mut row, text) in rows.outer_iter_mut().zip(texts) {
                if text.contains("unusable") {
                    row.fill(f32::NAN);
                }
            }
            Ok(rows)
        }
        fn fingerprint(&self) -> TextHash {
            TextHash::of(&["picky"])
        }
        fn dimension(&self) -> Result<usize, EmbedError> {
            HashingEmbedder.dimension()
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let silent = VectorMemory::builder(folder.path()).without_embedder().open().unwrap();
    silent.add_all([note("bad", "an unusable crate"), note("good", "rotate the ssh keys")]).unwrap();
    let memory = open_with(folder.path(), Arc::new(Picky));
    let first = |text: &str| memory.query(&Lookup::text(text)).unwrap().hits.remove(0);
    let (bad, good) = (first("crate"), first("ssh keys"));
    assert_eq!((bad.document.id.as_str(), bad.distance), ("bad", None));
    assert!(good.document.id == "good" && good.distance.is_some());
    // One such text does not keep the others of its batch from being stored.
    memory.add_all([note("worse", "another unusable crate"), note("better", "water the ferns")]).unwrap();
    let (worse, better) = (first("another crate"), first("ferns"));
    assert_eq!((worse.document.id.as_str(), worse.distance), ("worse", None));
    assert!(better.document.id == "better" && better.distance.is_some());
    assert_eq!(memory.documents_without_vector().unwrap(), ["bad", "worse"]);
}
