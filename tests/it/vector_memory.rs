//! A vector memory as a whole: killed processes, and threads that query while others write.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error as _;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use adage::embed::{EmbedError, Role};
use adage::ndarray::Array2;
use adage::{
    Document, Embedder, Filter, FolderError, FolderKind, HashingEmbedder, Lookup, Playbook, TextHash, VectorMemory,
    build_lesson,
};

/// The variable that gives a child process its role: the folder, a slash and a number.
const CHILD: &str = "ADAGE_TEST_MEMORY_CHILD";

const BATCH: usize = 3;

fn open(folder: &Path) -> VectorMemory {
    VectorMemory::builder(folder).with_embedder(Arc::new(HashingEmbedder)).open().unwrap()
}

fn id(who: usize, number: usize, place: usize) -> String {
    format!("{who}-{number}-{place}")
}

/// Adds batches until it is killed, compacts occasionally, and prints what is durable.
#[expect(clippy::print_stdout, reason = "what the parent reads")]
fn write_for_ever(folder: &Path, who: usize) {
    let memory = open(folder);
    for number in 0.. {
        let batch = (0..BATCH).map(|place| {
            Document::new(id(who, number, place), format!("text {number} of {who}")).with("who", who.to_string())
        });
        memory.add_all(batch).unwrap();
        println!("\nsafe {number}");
        if number % 16 == 15 {
            memory.remove(&id(who, number, 0)).unwrap();
            println!("\nremoved {number}");
            memory.compact().unwrap();
        }
    }
}

#[test]
fn acknowledged_writes_survive_a_kill() {
    if let Some(child) = std::env::var_os(CHILD) {
        let child = child.into_string().unwrap();
        let (folder, who) = child.rsplit_once('/').unwrap();
        return write_for_ever(Path::new(folder), who.parse().unwrap());
    }
    for round in 0..6 {
        let folder = tempfile::tempdir().unwrap();
        let mut children: Vec<_> = (0..2)
            .map(|who| {
                let name = "vector_memory::acknowledged_writes_survive_a_kill";
                let mut command = Command::new(std::env::current_exe().unwrap());
                command.args(["--exact", name, "--nocapture"]);
                command.env(CHILD, format!("{}/{who}", folder.path().display()));
                command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
            })
            .collect();
        // The number of the last batch that each said is safe, and the batches it took a document out of.
        let mut safe: BTreeMap<usize, (usize, Vec<usize>)> = BTreeMap::new();
        let outputs: Vec<_> = children.iter_mut().map(|child| child.stdout.take().unwrap()).collect();
        for (who, (child, output)) in children.iter_mut().zip(outputs).enumerate() {
            let mut lines = BufReader::new(output).lines().map_while(Result::ok);
            let mut note = |line: &str| {
                let entry = safe.entry(who).or_default();
                match line.split_once(' ') {
                    Some(("safe", number)) => entry.0 = number.parse().unwrap(),
                    Some(("removed", number)) => entry.1.push(number.parse().unwrap()),
                    _ => {}
                }
                entry.0
            };
            for line in lines.by_ref() {
                if note(&line) >= 20 + round * 9 + who * 5 {
                    break;
                }
            }
            child.kill().unwrap();
            for line in lines {
                note(&line);
            }
            child.wait().unwrap();
        }
        let memory = open(folder.path());
        assert!(memory.recovery().is_none(), "round {round}");
        for (who, (last, removed)) in safe {
            assert!(last >= 20, "round {round}: {who} wrote {last} batches");
            for number in 0..=last + 1 {
                let present: Vec<bool> =
                    (0..BATCH).map(|place| memory.get(&id(who, number, place)).unwrap().is_some()).collect();
                // A batch after the last acknowledged one is present completely or not at all; so is a removal.
                let is_whole = present.iter().all(|is_present| *is_present == present[1]);
                let is_removed = number % 16 == 15 && present == [false, true, true];
                assert!(is_whole || is_removed, "round {round}: batch {number} of {who}: {present:?}");
                assert!(number > last || present[1], "round {round}: batch {number} of {who} is lost");
                assert!(!removed.contains(&number) || is_removed, "round {round}: {number} of {who} came back");
            }
        }
        memory.add(Document::new("afterwards", "it goes on")).unwrap();
        assert_eq!(memory.query(&Lookup::text("it goes on").limit(1)).unwrap().hits[0].document.id, "afterwards");
    }
}

#[test]
fn threads_query_whole_batches_while_others_write() {
    let folder = tempfile::tempdir().unwrap();
    let memory = open(folder.path());
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let mut n_queries = 0;
                    while !is_over.load(Ordering::SeqCst) {
                        let filter = Filter::is("who", "0");
                        assert_eq!(memory.count(&filter).unwrap() % BATCH, 0);
                        let found = memory.query(&Lookup::text("text").filtered(filter)).unwrap();
                        assert!(found.hits.iter().all(|hit| hit.document.metadata["who"] == "0"));
                        n_queries += 1;
                    }
                    n_queries
                })
            })
            .collect();
        let writers: Vec<_> = (0..2)
            .map(|who| {
                let memory = memory.clone();
                scope.spawn(move || {
                    for number in 0..20 {
                        let document = |place| Document::new(id(who, number, place), format!("text {number}"));
                        memory.add_all((0..BATCH).map(|place| document(place).with("who", who.to_string()))).unwrap();
                    }
                })
            })
            .collect();
        for writer in writers {
            writer.join().unwrap();
        }
        is_over.store(true, Ordering::SeqCst);
        assert!(readers.into_iter().all(|reader| reader.join().unwrap() > 0));
    });
    assert_eq!(memory.count(&Filter::all()).unwrap(), 2 * 20 * BATCH);
    assert_eq!(memory.documents_without_vector().unwrap().len(), 0);
}

#[test]
fn a_playbook_and_a_vector_memory_refuse_the_folder_of_the_other() {
    let (lessons, documents) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let playbook = |folder: &Path| Playbook::builder(folder).without_embedder().open();
    let lesson = build_lesson("pinning numpy", "Pin numpy below 2.0.");
    playbook(lessons.path()).unwrap().learn_lesson(lesson.clone()).unwrap();
    open(documents.path()).add(Document::new("n1", "a note")).unwrap();
    let names = |folder: &Path| -> BTreeSet<_> {
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect()
    };
    let before = [lessons.path(), documents.path()].map(names);

    let refused = playbook(documents.path()).err().unwrap();
    let text = format!(
        "{} has a vector memory, and was opened as a playbook; each needs a folder of its own",
        documents.path().display()
    );
    assert_eq!(refused.to_string(), text);
    let adage::Error::Folder(FolderError::WrongKind { found, expected, .. }) = refused else { panic!("{refused}") };
    assert_eq!((found, expected), (FolderKind::VectorMemory, FolderKind::Playbook));
    let refused = VectorMemory::open(lessons.path()).err().unwrap();
    assert!(refused.to_string().contains("has a playbook, and was opened as a vector memory"), "{refused}");
    assert_eq!([lessons.path(), documents.path()].map(names), before, "nothing was created");

    // A folder that has both already is read as either.
    std::fs::copy(documents.path().join("documents.jsonl"), lessons.path().join("documents.jsonl")).unwrap();
    assert_eq!(open(lessons.path()).count(&Filter::all()).unwrap(), 1);
    playbook(lessons.path()).unwrap().learn_lesson(lesson).unwrap();
}

/// An embedder whose server cannot be reached.
struct Down;

impl Embedder for Down {
    fn embed(&self, _: &[&str], _: Role) -> Result<Array2<f32>, EmbedError> {
        Err(EmbedError::host(std::io::Error::other("the server is down")))
    }
    fn fingerprint(&self) -> TextHash {
        TextHash::of(&["down"])
    }
    fn dimension(&self) -> Result<usize, EmbedError> {
        Ok(384)
    }
}

#[test]
fn an_error_has_its_cause_as_source() {
    let folder = tempfile::tempdir().unwrap();
    let refused = open(folder.path()).add(Document::new("n1", " ")).unwrap_err();
    assert_eq!(refused.to_string(), "document \"n1\" cannot be kept");
    assert_eq!(refused.source().unwrap().to_string(), "the text is empty");

    let memory = VectorMemory::builder(folder.path()).with_embedder(Arc::new(Down)).open().unwrap();
    let failed = memory.query(&Lookup::text("a note")).unwrap_err();
    assert_eq!(failed.source().unwrap().to_string(), "the server is down");

    let file = folder.path().join("a file");
    std::fs::write(&file, "mine").unwrap();
    let failed = VectorMemory::open(&file).err().unwrap();
    let mut causes = std::iter::successors(failed.source(), |error| (*error).source());
    assert!(causes.any(<dyn std::error::Error>::is::<std::io::Error>), "{failed:?}");
}
