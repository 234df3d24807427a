//! Links created while a handle is open, in a memory's folder and in that of a vector memory.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use adage::{
    Document, Embedder, Feedback, Filter, HashingEmbedder, Listing, Lookup, Playbook, ReceiptId, VectorMemory,
    build_lesson,
};

/// In a file that no memory may read or change.
const FOREIGN: &str = "foreignword\n";

#[derive(Clone, Copy, Debug, PartialEq)]
enum Plant {
    Link,
    HardLink,
    Dangling,
    Loop,
    Fifo,
    Zero,
}

struct Ground {
    home: tempfile::TempDir,
}

impl Ground {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir_all(home.path().join("outside/empty")).unwrap();
        fs::write(home.path().join("outside/profile"), FOREIGN).unwrap();
        Self { home }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    fn plant(&self, place: &str, plant: Plant) {
        let at = self.path(place);
        match fs::symlink_metadata(&at) {
            Ok(found) if found.is_dir() => fs::remove_dir_all(&at).unwrap(),
            Ok(_) => fs::remove_file(&at).unwrap(),
            Err(_) => fs::create_dir_all(at.parent().unwrap()).unwrap(),
        }
        match plant {
            Plant::Link => symlink(self.path("outside/profile"), at).unwrap(),
            Plant::HardLink => fs::hard_link(self.path("outside/profile"), at).unwrap(),
            Plant::Dangling => symlink(self.path("outside/empty/new"), at).unwrap(),
            Plant::Loop => symlink(at.file_name().unwrap(), &at).unwrap(),
            Plant::Fifo => assert!(Command::new("mkfifo").arg(at).status().unwrap().success()),
            Plant::Zero => symlink("/dev/zero", at).unwrap(),
        }
    }

    /// Changes of the files outside, or content of them copied into the folder.
    fn faults(&self, place: &str) -> Vec<String> {
        let mut faults = Vec::new();
        let profile = fs::read(self.path("outside/profile")).unwrap();
        if profile != FOREIGN.as_bytes() {
            faults.push(format!("the file outside holds {} bytes", profile.len()));
        }
        if fs::read_dir(self.path("outside/empty")).unwrap().next().is_some() {
            faults.push("a file was made outside".to_owned());
        }
        for kept in fs::read_dir(self.path("memory/quarantine")).into_iter().flatten() {
            let kept = kept.unwrap().path();
            if kept != self.path(place) && fs::read_to_string(&kept).is_ok_and(|text| text.contains(FOREIGN.trim())) {
                faults.push(format!("the file outside was copied to {}", kept.display()));
            }
        }
        faults
    }
}

/// The result of a call: an error with its causes as text.
type Called = Result<(), String>;

fn called<T, E: std::error::Error + 'static>(result: Result<T, E>) -> Called {
    let with_causes = |error: E| {
        let mut text = error.to_string();
        let mut source = std::error::Error::source(&error);
        while let Some(cause) = source {
            text = format!("{text}: {cause}");
            source = cause.source();
        }
        text
    };
    result.map(drop).map_err(with_causes)
}

/// The result of a call on a thread, which is left alone when it does not end.
fn in_time(call: impl FnOnce() -> Called + Send + 'static) -> Option<Called> {
    let (sender, ended) = mpsc::channel();
    let thread = thread::spawn(move || {
        let _ = sender.send(call());
    });
    let result = ended.recv_timeout(Duration::from_secs(10)).ok();
    if result.is_some() {
        thread.join().unwrap();
    }
    result
}

/// Whether a call may succeed.
#[derive(Clone, Copy, PartialEq)]
enum Ending {
    Refused,
    Harmless,
}

struct Attack<H> {
    name: &'static str,
    place: &'static str,
    plant: Plant,
    call: fn(&H) -> Called,
    ending: Ending,
}

fn check<H: Send + 'static>(attacks: Vec<Attack<H>>, open: fn(&Path) -> H) {
    let (mut succeeded, n_all) = (Vec::new(), attacks.len());
    for Attack { name, place, plant, call, ending } in attacks {
        let ground = Ground::new();
        let handle = open(&ground.path("memory"));
        let place = place.replace("PID", &std::process::id().to_string());
        ground.plant(&place, plant);
        let called = in_time(move || call(&handle));
        let mut faults = ground.faults(&place);
        let named = Path::new(&place).file_name().unwrap().to_str().unwrap();
        match called {
            None => faults.push("it hangs".to_owned()),
            Some(Ok(())) if ending == Ending::Refused => faults.push("it is not refused".to_owned()),
            Some(Err(error)) if !error.contains(named) => faults.push(format!("{named} is not named: {error}")),
            _ => {}
        }
        if !faults.is_empty() {
            succeeded.push(format!("- {name}: {}", faults.join("; ")));
        }
    }
    let n = succeeded.len();
    assert!(succeeded.is_empty(), "{n} of {n_all} attacks succeed:\n{}", succeeded.join("\n"));
}

fn embedder() -> Arc<dyn Embedder> {
    Arc::new(HashingEmbedder)
}

struct Opened {
    playbook: Playbook,
    receipt: ReceiptId,
}

fn open_playbook(folder: &Path) -> Opened {
    let playbook = Playbook::builder(folder).with_embedder(embedder()).open().unwrap();
    for (trigger, solution) in [("parse dates", "use dateutil"), ("pin numpy", "below 2.0"), ("pin numpy", "below 2.1")]
    {
        playbook.learn_lesson(build_lesson(trigger, solution)).unwrap();
    }
    let receipt = playbook.get_playbook_context("parse dates").unwrap().receipt.unwrap();
    Opened { playbook, receipt }
}

fn learn(opened: &Opened) -> Called {
    called(opened.playbook.learn_lesson(build_lesson("tag a release", "sign the tag")))
}

fn recall(opened: &Opened) -> Called {
    called(opened.playbook.get_playbook_context("parse dates"))
}

#[test]
fn links_created_under_an_open_playbook_are_not_followed() {
    use Ending::{Harmless, Refused};
    type Row = (&'static str, &'static str, Plant, fn(&Opened) -> Called, Ending);
    let list = |opened: &Opened| called(opened.playbook.list_lessons(&Listing::everything()));
    let settle = |opened: &Opened| called(opened.playbook.record_outcome(opened.receipt, Feedback::Helpful));
    let remove = |opened: &Opened| called(opened.playbook.remove_by_trigger("parse dates"));
    let history = |opened: &Opened| called(opened.playbook.changes());
    let skill = |opened: &Opened| {
        let skill = adage::skills::Skill::new("build".parse().unwrap(), "About it.".to_owned());
        let skill = adage::skills::Skill { body: "Do it.".to_owned(), ..skill };
        called(opened.playbook.skills().save(&skill))
    };
    let rows: Vec<Row> = vec![
        ("learning sees that the archive became a link", "memory/archive.jsonl", Plant::Link, learn, Refused),
        ("learning sees that the archive got a second name", "memory/archive.jsonl", Plant::HardLink, learn, Refused),
        ("learning makes no archive outside", "memory/archive.jsonl", Plant::Dangling, learn, Refused),
        ("learning does not wait for the archive", "memory/archive.jsonl", Plant::Fifo, learn, Refused),
        ("the history does not wait for the archive", "memory/archive.jsonl", Plant::Fifo, history, Refused),
        ("an outcome is not appended through a link", "memory/usage.jsonl", Plant::Link, settle, Refused),
        ("an outcome is not appended to a second name", "memory/usage.jsonl", Plant::HardLink, settle, Refused),
        ("a recall is not appended through a link", "memory/usage.jsonl", Plant::Link, recall, Harmless),
        ("a recall makes no file outside", "memory/usage.jsonl", Plant::Dangling, recall, Harmless),
        ("a recall does not wait for usage", "memory/usage.jsonl", Plant::Fifo, recall, Harmless),
        ("listing sees that the playbook became a link", "memory/skills_playbook.json", Plant::Link, list, Refused),
        ("listing does not wait for the playbook", "memory/skills_playbook.json", Plant::Fifo, list, Refused),
        (
            "learning does not begin again through a link",
            "memory/skills_playbook.json",
            Plant::Dangling,
            learn,
            Refused,
        ),
        (
            "learning ends where the playbook leads to itself",
            "memory/skills_playbook.json",
            Plant::Loop,
            learn,
            Refused,
        ),
        ("the lock is not made outside", "memory/lock", Plant::Dangling, learn, Refused),
        ("a recall makes no lock outside", "memory/lock", Plant::Dangling, recall, Harmless),
        ("a device is no lock", "memory/lock", Plant::Zero, learn, Refused),
        ("vectors are not appended through a link", "memory/vectors.bin", Plant::Link, learn, Harmless),
        ("vectors are not appended to a second name", "memory/vectors.bin", Plant::HardLink, learn, Harmless),
        ("vectors are not rewritten through a link", "memory/vectors.bin", Plant::Link, remove, Harmless),
        ("removing does not wait for vectors", "memory/vectors.bin", Plant::Fifo, remove, Harmless),
        ("a skill is not saved through a link", "memory/skills", Plant::Dangling, skill, Refused),
        ("a backup is replaced, not followed", "memory/skills_playbook.json.bak", Plant::Link, learn, Harmless),
        ("a temporary file is not followed", "memory/.adage-tmp-playbook.PID", Plant::Link, learn, Harmless),
        ("a temporary skill is not followed", "memory/.adage-tmp-SKILL.md.PID", Plant::HardLink, skill, Harmless),
    ];
    let attack = |(name, place, plant, call, ending)| Attack { name, place, plant, call, ending };
    check(rows.into_iter().map(attack).collect(), open_playbook);
}

fn open_documents(folder: &Path) -> VectorMemory {
    let memory = VectorMemory::builder(folder).with_embedder(embedder()).open().unwrap();
    memory.add_all([Document::new("one", "The first."), Document::new("two", "The second.")]).unwrap();
    memory
}

fn reopened(memory: &VectorMemory) -> Called {
    called(
        VectorMemory::builder(memory.folder())
            .with_embedder(embedder())
            .open()
            .and_then(|memory| memory.query(&Lookup::text("first"))),
    )
}

#[test]
fn links_in_a_vector_memory_are_not_followed() {
    use Ending::{Harmless, Refused};
    type Row = (&'static str, &'static str, Plant, fn(&VectorMemory) -> Called, Ending);
    let add = |memory: &VectorMemory| called(memory.add(Document::new("three", "The third.")));
    let query = |memory: &VectorMemory| called(memory.query(&Lookup::text("first")));
    let compact = |memory: &VectorMemory| called(memory.compact());
    let snapshot = |memory: &VectorMemory| called(memory.snapshot());
    let remove = |memory: &VectorMemory| called(memory.remove_all(&Filter::all()));
    let (documents, vectors) = ("memory/documents.jsonl", "memory/vectors.bin");
    let rows: Vec<Row> = vec![
        ("a document is not appended through a link", documents, Plant::Link, add, Refused),
        ("a document is not appended to a second name", documents, Plant::HardLink, add, Refused),
        ("a log is not begun outside", documents, Plant::Dangling, add, Refused),
        ("adding does not wait for the log", documents, Plant::Fifo, add, Refused),
        ("a query does not wait for the log", documents, Plant::Fifo, query, Refused),
        ("a log that leads to itself is refused", documents, Plant::Loop, query, Refused),
        ("removing does not write through a link", documents, Plant::Link, remove, Refused),
        ("compacting does not read through a link", documents, Plant::Link, compact, Refused),
        ("an open does not put a file outside into quarantine", documents, Plant::Link, reopened, Refused),
        ("an open does not mend a file of two names", documents, Plant::HardLink, reopened, Refused),
        ("an open does not wait for the log", documents, Plant::Fifo, reopened, Refused),
        ("vectors are not appended through a link", vectors, Plant::Link, add, Harmless),
        ("vectors are not appended to a second name", vectors, Plant::HardLink, add, Harmless),
        ("vectors are not begun outside", vectors, Plant::Dangling, add, Harmless),
        ("vectors are not written outside as a whole", vectors, Plant::Dangling, snapshot, Harmless),
        ("an open does not wait for vectors", vectors, Plant::Fifo, reopened, Harmless),
        ("an open does not map a device", vectors, Plant::Zero, reopened, Harmless),
        ("the lock is not made outside", "memory/lock", Plant::Dangling, add, Refused),
        ("a pipe is no lock", "memory/lock", Plant::Fifo, add, Refused),
        ("a temporary log is not followed", "memory/.adage-tmp-documents.PID", Plant::Link, compact, Harmless),
        ("temporary vectors are not followed", "memory/.adage-tmp-vectors.PID", Plant::Link, snapshot, Harmless),
        ("temporary vectors do not wait at a pipe", "memory/.adage-tmp-vectors.PID", Plant::Fifo, snapshot, Harmless),
    ];
    let attack = |(name, place, plant, call, ending)| Attack { name, place, plant, call, ending };
    check(rows.into_iter().map(attack).collect(), open_documents);
}

/// The folder of a vector memory is not a link either; links above it are the host's choice.
#[test]
fn only_links_above_a_vector_memory_are_followed() {
    let ground = Ground::new();
    drop(open_documents(&ground.path("memory")));
    symlink(ground.path("memory"), ground.path("link")).unwrap();
    let refused = VectorMemory::builder(ground.path("link")).with_embedder(embedder()).open();
    let named = called(refused).err().unwrap_or_default();
    assert!(named.contains("link"), "{named}");
    symlink(ground.home.path(), ground.path("above")).unwrap();
    let memory = VectorMemory::builder(ground.path("above/memory")).with_embedder(embedder()).open().unwrap();
    memory.add(Document::new("three", "The third.")).unwrap();
    assert_eq!(memory.count(&Filter::all()).unwrap(), 3);
}
