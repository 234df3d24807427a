//! Commits that conflict with other writers: they are tried three times in all.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use adage::embed::{EmbedError, Role};
use adage::{Embedder, Error, HashingEmbedder, Listing, Playbook, TextHash, build_lesson};
use ndarray::Array2;

/// While it embeds, another process learns a lesson without a vector.
struct Overtaken {
    folder: PathBuf,
    n_rivals: usize,
    n_calls: AtomicUsize,
}

impl Embedder for Overtaken {
    fn embed(&self, texts: &[&str], role: Role) -> Result<Array2<f32>, EmbedError> {
        let call = self.n_calls.fetch_add(1, Ordering::Relaxed);
        if call < self.n_rivals {
            let rival = Playbook::builder(&self.folder).without_embedder().open().unwrap();
            rival.learn_lesson(build_lesson(format!("rival {call}"), "be quicker")).unwrap();
        }
        HashingEmbedder.embed(texts, role)
    }

    fn fingerprint(&self) -> TextHash {
        TextHash::of(&["overtaken"])
    }

    fn dimension(&self) -> Result<usize, EmbedError> {
        HashingEmbedder.dimension()
    }
}

/// The result of a learn with this many conflicting commits, and the number of calls of the embedder.
fn learn_against(n_rivals: usize, folder: &Path) -> (Result<(), Error>, usize) {
    let embedder = Arc::new(Overtaken { folder: folder.to_owned(), n_rivals, n_calls: AtomicUsize::new(0) });
    let host: Arc<Overtaken> = Arc::clone(&embedder);
    let playbook = Playbook::builder(folder).with_embedder(host).open().unwrap();
    let learned = playbook.learn_lesson(build_lesson("parsing CSV exports", "Use the csv module."));
    (learned.map(drop), embedder.n_calls.load(Ordering::Relaxed))
}

#[test]
fn a_learn_that_conflicts_is_decided_again_on_the_newest_state() {
    for n_rivals in 0..3 {
        let folder = tempfile::tempdir().unwrap();
        let (learned, n_calls) = learn_against(n_rivals, folder.path());
        assert!(learned.is_ok(), "{n_rivals}: {learned:?}");
        assert_eq!(n_calls, n_rivals + 1);
        let lessons = Playbook::open(folder.path()).unwrap().list_lessons(&Listing::everything()).unwrap();
        assert_eq!(lessons.len(), n_rivals + 1);
    }
}

#[test]
fn a_learn_that_conflicts_three_times_fails() {
    let folder = tempfile::tempdir().unwrap();
    let (learned, n_calls) = learn_against(9, folder.path());
    assert!(matches!(learned, Err(Error::Contended { rounds: 3 })), "{learned:?}");
    assert_eq!(n_calls, 3);
    let lessons = Playbook::open(folder.path()).unwrap().list_lessons(&Listing::everything()).unwrap();
    assert_eq!(lessons.len(), 3, "of the others alone");
}
