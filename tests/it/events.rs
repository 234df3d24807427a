//! Tracing events of the library: one event per operation, with ids and without texts.

use adage_sessions::Sessions;
use std::fmt::Debug;
use std::sync::{Arc, LazyLock, Mutex};

use adage::transcript::{Transcript, Turn};
use adage::{Config, LessonDraft, Playbook, Request, build_lesson};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Records every event of the library, one per line.
#[derive(Clone, Default)]
struct Listener(Arc<Mutex<Vec<String>>>);

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let text = format!("{value:?}");
        self.0 =
            if field.name() == "message" { format!("{text}{}", self.0) } else { format!("{} {field}={text}", self.0) };
    }
}

impl Subscriber for Listener {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("adage") && *metadata.level() <= Level::INFO
    }

    fn event(&self, event: &Event<'_>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        self.0.lock().unwrap().push(line.0);
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// The events of this operation.
fn heard(act: impl FnOnce()) -> Vec<String> {
    // While one subscriber exists, no other test can make the library cache that there is none.
    static LISTENING: LazyLock<tracing::Dispatch> = LazyLock::new(|| tracing::Dispatch::new(Listener::default()));
    LazyLock::force(&LISTENING);
    let listener = Listener::default();
    tracing::subscriber::with_default(listener.clone(), act);
    let heard = listener.0.lock().unwrap().clone();
    assert!(heard.iter().all(|line| !line.contains("numpy")), "texts are not part of it: {heard:?}");
    heard
}

fn check(found: &[String], expected: &[&str]) {
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (line, beginning) in found.iter().zip(expected) {
        assert!(line.starts_with(beginning), "{line} does not begin with {beginning}");
    }
}

#[test]
fn each_operation_is_one_event() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = Config::default();
    config.retention.capacity = 2;
    let playbook = Playbook::builder(folder.path()).with_config(config).without_embedder().open().unwrap();
    let learn = |draft: LessonDraft| drop(playbook.learn_lesson(draft).unwrap());
    let pin = || build_lesson("pinning numpy", "Write numpy==1.26.");
    let of_program = |trigger: &str| build_lesson(trigger, format!("Ask the owner of {trigger}.")).source("bot");
    check(&heard(|| learn(pin())), &["learned id="]);
    check(&heard(|| learn(pin())), &["merged id="]);
    let old = playbook.find("pinning numpy").unwrap().id;
    check(
        &heard(|| learn(build_lesson("pinning numpy", "Never write numpy==1.26.").supersedes(old))),
        &["superseded id="],
    );
    check(&heard(|| learn(build_lesson("", "numpy"))), &["refused reason="]);
    learn(of_program("table orders"));
    check(&heard(|| learn(of_program("job nightly"))), &["learned id=", "evicted id="]);
    let recall = |about: &str| drop(playbook.get_playbook_context(Request::about(about)).unwrap());
    let found = heard(|| recall("pinning numpy"));
    check(&found, &["recalled tier=Lexical shown=1 receipt="]);
    check(&heard(|| recall("bake bread")), &["recalled tier=Lexical shown=0 because="]);
    let said = Turn::User("Remember: never pin numpy.".to_owned());
    let transcript = Transcript { session: "s-1".to_owned(), turns: vec![said], ..Transcript::default() };
    check(&heard(|| drop(Sessions::of(&playbook).mine(&transcript).unwrap())), &["mined session=\"s-1\" candidates="]);
}

#[test]
fn retrievals_that_could_not_be_counted_are_logged_with_their_number() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = Config::default();
    config.store.lock_timeout = std::time::Duration::from_millis(1);
    let playbook = Playbook::builder(folder.path()).with_config(config).without_embedder().open().unwrap();
    let id = playbook.learn_lesson(build_lesson("pinning numpy", "Write numpy==1.26.")).unwrap().id().unwrap();
    let lock = std::fs::File::options().create(true).append(true).open(folder.path().join("usage.lock")).unwrap();
    lock.lock().unwrap();
    let record = |n: usize| (0..n).for_each(|_| _ = playbook.record_retrieval(id).unwrap());
    assert_eq!(heard(|| record(10_000)), [""; 0]);
    check(&heard(|| record(3)), &["10000 retrievals could not be written; further ones are not counted"]);
    let found = heard(|| drop(playbook));
    check(&found, &["waiting for the lock that process ", "retrievals could not be counted"]);
    assert!(found[1].ends_with("n_lost=10003"), "{found:?}");
}
