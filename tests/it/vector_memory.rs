//! A vector memory as a whole: killed processes, and threads that query while others write.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use adage::{Document, Filter, HashingEmbedder, Lookup, VectorMemory};

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
    assert_eq!(memory.needs_embedding().unwrap(), 0);
}
