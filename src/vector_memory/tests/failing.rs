//! A failing disk.

use std::collections::BTreeMap;

use super::*;
use crate::folder::disk::{Disk, RealDisk};
use crate::testing::faults::{Fault, FaultyDisk};

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
