//! Caches that are forged or belong to another log.

#![allow(clippy::disallowed_methods, reason = "the tests write files by themselves")]

use super::*;
use crate::folder::Access;
use crate::folder::disk::RealDisk;
use crate::store::documents::{Change, LogUpdate};
use std::fs;

fn open(folder: &std::path::Path) -> DocumentLog {
    DocumentLog { folder: Folder::open(folder, Box::new(RealDisk), Access::ReadWrite).unwrap() }
}

/// A log of three documents, and their descriptions.
fn write_log(log: &DocumentLog) -> (LogMark, Vec<Described>) {
    let mut known = LogMark::default();
    let documents = ["a", "b", "c"].map(|id| Document::new(id, format!("text of {id}")).with("type", "note"));
    let lock = log.lock(&known, std::time::Duration::ZERO).unwrap();
    let changes = documents.clone().map(|document| Change::Put(Arc::new(document)));
    let spans = log.append(&mut known, &changes, &lock).unwrap();
    let described = documents.iter().zip(spans).map(|(document, span)| Described {
        id: TextHash::of(&[&document.id]),
        text: document.text_hash(),
        span,
        names: vec![TextHash::of(&["type"]), TextHash::of(&["type", "note"])],
    });
    (known, described.collect())
}

#[test]
fn impossible_numbers_lose_no_more_than_their_documents() {
    let check = |forge: fn(&mut Columns), expected: [Option<&str>; 3], n_notes: Option<usize>| {
        let folder = tempfile::tempdir().unwrap();
        let log = open(folder.path());
        let (known, described) = write_log(&log);
        let mut columns = Columns::of(described.into_iter());
        forge(&mut columns);
        let name = TextHash::from_bytes(known.log.unwrap().into_bytes());
        fs::write(folder.path().join(PLACES), columns.write(&known, name)).unwrap();
        let stored = log.open_stored().unwrap().documents;
        let found: Vec<Option<String>> = (0..3).map(|key| Some(stored.document(key).unwrap()?.id.clone())).collect();
        assert_eq!(found.iter().map(Option::as_deref).collect::<Vec<_>>(), expected);
        let notes = stored.with_name(&TextHash::of(&["type", "note"])).map(Iterator::count);
        assert_eq!(notes, n_notes);
        assert!((0..4).all(|key| stored.describe(key).is_none_or(|described| described.names.len() <= 2)));
        assert_eq!(stored.find(&TextHash::of(&["c"])), Some(2));
    };
    let all = [Some("a"), Some("b"), Some("c")];
    check(|_| (), all, Some(3));
    check(|columns| columns.starts.swap(0, 1), [None, None, Some("c")], Some(3));
    check(|columns| columns.starts[1] = u64::MAX, [Some("a"), None, Some("c")], Some(3));
    check(|columns| columns.lengths[1] = u32::MAX, [Some("a"), None, Some("c")], Some(3));
    check(|columns| columns.lengths[1] = 0, [Some("a"), None, Some("c")], Some(3));
    check(|columns| columns.document_starts = vec![9, 3, u32::MAX, 1], all, Some(3));
    let far = |columns: &mut Columns| {
        for (_, keys) in columns.names.values_mut() {
            *keys = vec![1, u32::MAX];
        }
    };
    check(far, all, Some(1));
}

#[test]
fn positions_are_used_only_for_the_log_with_their_id_and_version() {
    let check = |change: fn(&str) -> String, expected: bool| {
        let folder = tempfile::tempdir().unwrap();
        let log = open(folder.path());
        let (mut known, described) = write_log(&log);
        let path = folder.path().join(DOCUMENTS);
        let text = fs::read_to_string(&path).unwrap();
        let (header, rest) = text.split_once('\n').unwrap();
        let payload = change(&header["{\"crc\":\"xxxxxxxx\",".len()..]);
        let changed = format!("{{\"crc\":\"{:08x}\",{payload}\n{rest}", crc32fast::hash(payload.as_bytes()));
        fs::write(&path, &changed).unwrap();
        // The checksum is that of the changed bytes, so that only the header differs.
        known.checksum = crc32fast::hash(changed.as_bytes());
        let lock = log.folder.try_lock().unwrap().unwrap();
        log.store(&known, described.into_iter(), &lock).unwrap();
        assert_eq!(log.open_stored().is_some(), expected, "{payload}");
        assert!(
            matches!(log.look(&LogMark::default()).unwrap(), Some(LogUpdate::Replaced(logged, _)) if logged.len() == 3)
        );
    };
    check(str::to_owned, true);
    check(|payload| payload.replace("\"schema_version\":1", "\"schema_version\":2"), false);
    check(
        |payload| {
            let (start, end) = payload.split_once("\"log\":\"").unwrap();
            format!("{start}\"log\":\"{}{}", uuid::Uuid::nil(), &end[36..])
        },
        false,
    );
}
