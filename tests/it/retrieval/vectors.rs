//! Vectors: of the host, of another model, of a failing embedder, and of a damaged cache.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use adage::embed::{EmbedError, Role};
use adage::index::VectorError;
use adage::retrieve::TierChoice;
use adage::{Config, Embedder, Error, HashingEmbedder, LearnOutcome, Playbook, Request, TextHash, Tier, build_lesson};
use ndarray::Array2;

use super::super::bench::{Bench, learn, shown, three};
use super::{FRANCE, ask, stock, with_vectors};

/// The hashing embedder, which can be made to fail or to return another memory layout.
#[derive(Default)]
struct Watched {
    fails: AtomicBool,
    fails_for_documents: AtomicBool,
    n_texts: AtomicUsize,
    turn: usize,
}

impl Watched {
    /// Another model of the same dimension: its components are those of the first one, moved along.
    fn turned(turn: usize) -> Self {
        Self { turn, ..Self::default() }
    }

    fn n_texts(&self) -> usize {
        self.n_texts.swap(0, Ordering::Relaxed)
    }
}

impl Embedder for Watched {
    fn embed(&self, texts: &[&str], role: Role) -> Result<Array2<f32>, EmbedError> {
        let fails = self.fails.load(Ordering::Relaxed)
            || (self.fails_for_documents.load(Ordering::Relaxed) && role == Role::Document);
        if fails {
            return Err(EmbedError::Run { reason: "out of memory".to_owned() });
        }
        self.n_texts.fetch_add(texts.len(), Ordering::Relaxed);
        let rows = HashingEmbedder.embed(texts, role)?;
        let n_columns = rows.ncols();
        Ok(Array2::from_shape_fn(rows.dim(), |(row, column)| rows[[row, (column + self.turn) % n_columns]]))
    }

    fn fingerprint(&self) -> TextHash {
        TextHash::of(&["watched", &self.turn.to_string()])
    }

    fn dimension(&self) -> Result<usize, EmbedError> {
        HashingEmbedder.dimension()
    }
}

fn with(bench: &Bench, embedder: &Arc<Watched>) -> Playbook {
    let embedder: Arc<Watched> = Arc::clone(embedder);
    bench.builder().with_config(Config::classic()).with_embedder(embedder).open().unwrap()
}

#[test]
fn a_vector_given_by_the_host_is_used_or_refused() {
    let bench = Bench::new();
    let watched = Arc::new(Watched::default());
    let playbook = with(&bench, &watched);
    stock(&bench, &playbook);
    ask(&playbook, Request::about("parsing CSV exports").peek());
    let vector = HashingEmbedder.embed(&["rotating ssh keys"], Role::Query).unwrap().into_raw_vec_and_offset().0;
    watched.n_texts();
    let context = ask(&playbook, Request::about("whatever it is called").with_vector(vector.clone()));
    assert_eq!((shown(&context), context.tier), (vec!["rotating ssh keys"], Tier::Vector));
    assert_eq!(watched.n_texts(), 0, "it was embedded all the same");

    let mut with_nan = vector.clone();
    with_nan[7] = f32::NAN;
    let wrong = [
        (vec![1.0; 3], VectorError::Dimension { found: 3, expected: 256 }),
        (Vec::new(), VectorError::Dimension { found: 0, expected: 256 }),
        (with_nan, VectorError::NotFinite { position: 7 }),
        (vec![0.0; 256], VectorError::Zero),
    ];
    for (vector, expected) in wrong {
        match playbook.get_playbook_context(Request::about("rotating ssh keys").with_vector(vector)) {
            Err(Error::Vector(error)) => assert_eq!(error, expected),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn requiring_vectors_without_an_embedder_is_an_error() {
    let bench = Bench::new();
    let playbook = bench.open();
    stock(&bench, &playbook);
    let request = Request::about("parsing CSV exports").tier(TierChoice::Vector);
    assert!(matches!(playbook.get_playbook_context(request.clone()), Err(Error::NoEmbedder)), "there is no embedder");
    let watched = Arc::new(Watched::default());
    let playbook = with(&bench, &watched);
    assert_eq!(ask(&playbook, request.clone()).tier, Tier::Vector);
    watched.fails.store(true, Ordering::Relaxed);
    match playbook.get_playbook_context(request) {
        Err(Error::Embed(EmbedError::Run { reason })) => assert_eq!(reason, "out of memory"),
        other => panic!("{other:?}"),
    }
}

/// The error of the host's embedder.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error("status {status}")]
struct Refused {
    status: u16,
}

struct Refusing;

impl Embedder for Refusing {
    fn embed(&self, _: &[&str], _: Role) -> Result<Array2<f32>, EmbedError> {
        Err(EmbedError::host(Refused { status: 429 }))
    }

    fn fingerprint(&self) -> TextHash {
        TextHash::of(&["refusing"])
    }

    fn dimension(&self) -> Result<usize, EmbedError> {
        Ok(3)
    }
}

#[test]
fn an_error_of_the_hosts_embedder_is_the_source() {
    let bench = Bench::new();
    let playbook = bench.builder().with_embedder(Arc::new(Refusing)).open().unwrap();
    // Learning continues without vectors.
    stock(&bench, &playbook);
    let request = Request::about("parsing CSV exports").tier(TierChoice::Vector);
    let error = playbook.get_playbook_context(request).unwrap_err();
    assert_eq!(error.to_string(), "the embedder failed");
    let causes = std::iter::successors(std::error::Error::source(&error), |error| error.source());
    let causes: Vec<Option<&Refused>> = causes.map(|cause| cause.downcast_ref()).collect();
    assert_eq!(causes, [Some(&Refused { status: 429 })]);
}

#[test]
fn when_the_embedder_fails_words_are_used_and_lessons_are_learned() {
    for is_total in [true, false] {
        let bench = Bench::new();
        let watched = Arc::new(Watched::default());
        let switch = if is_total { &watched.fails } else { &watched.fails_for_documents };
        switch.store(true, Ordering::Relaxed);
        let playbook = with(&bench, &watched);
        stock(&bench, &playbook);
        let context = ask(&playbook, "parsing CSV exports");
        assert_eq!((context.tier, shown(&context)), (Tier::Lexical, vec!["parsing CSV exports"]));
        assert_eq!(ask(&playbook, FRANCE).text, "");
        // Duplicates are then detected by task and trigger.
        let again = playbook.learn_lesson(three()[0].clone()).unwrap();
        assert!(matches!(again, LearnOutcome::Merged { distance: None, .. }), "{again:?}");
        // And when it works again, everything is found by vectors.
        switch.store(false, Ordering::Relaxed);
        let context = ask(&playbook, "parsing CSV exports");
        assert_eq!((context.tier, shown(&context)), (Tier::Vector, vec!["parsing CSV exports"]));
    }
}

#[test]
fn vectors_of_another_model_are_recomputed_and_never_mixed() {
    let bench = Bench::new();
    let first = Arc::new(Watched::default());
    let playbook = with(&bench, &first);
    stock(&bench, &playbook);
    let expected = ask(&playbook, Request::about("parsing CSV exports").peek());
    drop(playbook);
    // Another model: the distances within it are the same ones, those across the two are not.
    for (embedder, n_triggers) in [(Arc::new(Watched::turned(100)), 3), (Arc::new(Watched::turned(100)), 0), (first, 0)]
    {
        embedder.n_texts();
        let playbook = with(&bench, &embedder);
        assert_eq!(playbook.warm_up().unwrap(), n_triggers);
        assert_eq!(embedder.n_texts(), n_triggers);
        let context = ask(&playbook, Request::about("parsing CSV exports").peek());
        assert_eq!(context, expected);
        assert_eq!(embedder.n_texts(), 1, "the query and nothing else");
        let again = playbook.learn_lesson(three()[0].clone()).unwrap();
        assert!(matches!(again, LearnOutcome::Merged { distance: Some(distance), .. } if distance < 1e-5), "{again:?}");
    }
}

#[test]
fn a_lost_or_damaged_vector_cache_changes_no_answer() {
    let bench = Bench::new();
    let playbook = with_vectors(&bench);
    stock(&bench, &playbook);
    let queries = ["parsing CSV exports", "ssh keys that rotate", FRANCE];
    let answers = |playbook: &Playbook| queries.map(|query| ask(playbook, Request::about(query).peek().explain()));
    let expected = answers(&playbook);
    assert_eq!(expected[0].tier, Tier::Vector);
    let whole = bench.read("vectors.bin");
    let (cut, mut noise) = (whole[..whole.len() / 2].to_vec(), vec![0xa5; whole.len()]);
    noise[..8].copy_from_slice(&whole[..8]);
    let mut spoilt = vec![cut, noise, Vec::new(), b"something else".to_vec()];
    // The highest bit of a byte that is not zero: often the sign of a component, which leaves the length of the vector.
    let places: Vec<usize> = (0..whole.len()).filter(|place| whole[*place] != 0).collect();
    for place in places.iter().step_by(places.len() / 40) {
        let mut flipped = whole.clone();
        flipped[*place] ^= 0x80;
        spoilt.push(flipped);
    }
    for bytes in spoilt {
        bench.write("vectors.bin", bytes);
        assert_eq!(answers(&with_vectors(&bench)), expected);
    }
    bench.delete("vectors.bin");
    // Under a handle that has them in memory, and for one that has not.
    assert_eq!(answers(&playbook), expected);
    let reopened = with_vectors(&bench);
    assert_eq!(answers(&reopened), expected);
    learn(&reopened, build_lesson("amber kettle", "fill it first"));
    assert_eq!(with_vectors(&bench).warm_up().unwrap(), 0, "the cache was not made again");
}

#[test]
fn a_cache_with_a_broken_record_is_whole_again_after_a_warm_up() {
    let bench = Bench::new();
    let playbook = with_vectors(&bench);
    stock(&bench, &playbook);
    drop(playbook);
    let mut bytes = bench.read("vectors.bin");
    // The length of the first record: later records cannot be found any more.
    bytes[11] ^= 0x7f;
    bench.write("vectors.bin", bytes);
    assert_eq!(with_vectors(&bench).warm_up().unwrap(), 3);
    assert_eq!(with_vectors(&bench).warm_up().unwrap(), 0, "the same texts are embedded at every start");
}
