//! Bodies for fuzzing, one per parser: parsed content that is written and parsed again is the same. The tests run them on
//! mutated fixtures.

mod texts;

use std::collections::BTreeSet;

use chrono::DateTime;
use serde_json::Value;

use super::documents::fuzz_documents;
use super::playbook_file::{self, PlaybookFile};
use super::recover::former_log::FormerLog;
use super::recover::salvage;
use super::{archive, checksum, vectors};
use crate::ManualClock;
use crate::hash::TextHash;
use crate::user_key::Codes;

fn clock() -> ManualClock {
    ManualClock::new(DateTime::UNIX_EPOCH.fixed_offset())
}

/// The lines with corrected checksums, so that their content is parsed.
fn resealed(bytes: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    let lines = text.lines().map(|line| {
        let open = line.split_once(",\"crc\":\"").map_or(line, |(open, _)| open);
        checksum::seal_line(&format!("{}}}", open.trim_end_matches('}'))) + "\n"
    });
    lines.collect::<String>().into_bytes()
}

fn fuzz_playbook_file(bytes: &[u8]) {
    let text = salvage::decode(bytes);
    let mended = salvage::mend(&text);
    if let Ok(value) = serde_json::from_str::<Value>(&text) {
        assert_eq!(serde_json::from_str::<Value>(&mended).unwrap(), value, "repair changed valid content");
    }
    let n_rows = salvage::rows(&text).values().filter_map(Value::as_array).map(Vec::len).sum::<usize>();
    assert!(n_rows <= text.matches('{').count());
    let parse = |bytes: &[u8]| playbook_file::parse(bytes, &clock(), &|_| true);
    let Ok(parsed) = parse(bytes) else { return };
    let file = PlaybookFile { is_unmarked: false, ..parsed.file };
    let rendered = playbook_file::render(&file, 7).unwrap();
    let again = parse(&rendered).unwrap();
    assert!(again.seals.is_whole(), "{:?}", again.seals);
    assert_eq!(again.file, file);
    assert_eq!(playbook_file::render(&again.file, 7).unwrap(), rendered);
}

fn fuzz_former_log(bytes: &[u8]) {
    for bytes in [bytes, &resealed(bytes)] {
        let log = FormerLog::parse(bytes);
        let mut keys = serde_json::json!({"generation": 1, "lessons": []}).as_object().unwrap().clone();
        log.advance(&mut keys);
        assert!(keys["lessons"].is_array() && keys["generation"].as_u64() <= Some(log.generation().max(1)));
    }
}

fn fuzz_usage(bytes: &[u8]) {
    super::usage::fuzz(bytes);
    super::usage::fuzz(&resealed(bytes));
}

fn fuzz_archive(bytes: &[u8]) {
    for bytes in [bytes, &resealed(bytes)] {
        let changes = archive::parse(bytes, &clock());
        let written = archive::render(&changes, 1);
        assert_eq!(archive::parse(&written, &clock()), changes);
        assert_eq!(archive::count_broken(&written), 0);
        let n_lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty() && !archive::is_mark(line));
        assert_eq!(changes.len() + archive::count_broken(bytes), n_lines.count());
        assert!(archive::committed_length(bytes) <= archive::whole_length(bytes));
        let all = archive::shortened(bytes, u64::MAX, DateTime::UNIX_EPOCH.fixed_offset());
        assert!(all.len() <= bytes.len());
        assert!(archive::whole_length(bytes) <= bytes.len() as u64);
        if let Some(edit) = changes.first().and_then(|change| change.edits.first()) {
            let without = archive::parse(&archive::without(bytes, &BTreeSet::from([edit.id])), &clock());
            assert!(without.iter().flat_map(|change| &change.edits).all(|other| other.id != edit.id));
        }
    }
}

fn fuzz_vectors(bytes: &[u8]) {
    let (n_records, n_broken) = vectors::count(bytes);
    assert!(n_broken <= n_records + 1);
    let mut cache = vectors::VectorCache::default();
    cache.read(bytes, TextHash::of(&["a model"]), &Codes::Unneeded);
    assert!(cache.read_to <= bytes.len() as u64);
    let none = vectors::compacted(bytes, &BTreeSet::new());
    assert_eq!(vectors::count(&none), (0, 0));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::mutated::{check, fixture};

    fn folder(name: &str) -> Vec<u8> {
        fixture(&format!("formats/playbook/{name}"))
    }

    /// Files of a memory as this version writes them.
    fn present(name: &str) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let playbook = crate::Playbook::builder(folder.path()).without_embedder().open().unwrap();
        for number in 0..4 {
            playbook.learn_lesson(crate::build_lesson(format!("t{number}r"), format!("s{number}"))).unwrap();
        }
        let receipt = playbook.get_playbook_context("t1r").unwrap().receipt.unwrap();
        playbook.record_outcome(receipt, crate::Feedback::Helpful).unwrap();
        playbook.remove_by_trigger("t2r").unwrap();
        playbook.record_helpful_retrieval("t3r").unwrap();
        std::fs::read(folder.path().join(name)).unwrap()
    }

    #[test]
    fn a_playbook_file_round_trips() {
        check(&[folder("skills_playbook.json"), present("skills_playbook.json")], fuzz_playbook_file);
    }

    #[test]
    fn a_log_of_an_earlier_version_is_read_in_order() {
        check(&[fixture("formats/logged/playbook.log")], fuzz_former_log);
    }

    #[test]
    fn usage_round_trips() {
        check(&[present("usage.jsonl")], fuzz_usage);
    }

    #[test]
    fn an_archive_round_trips() {
        check(&[folder("archive.jsonl"), present("archive.jsonl")], fuzz_archive);
    }

    #[test]
    fn documents_round_trip() {
        check(&[fixture("formats/documents/documents.jsonl")], fuzz_documents);
    }

    #[test]
    fn caches_are_read_or_rejected() {
        check(&[folder("vectors.bin")], fuzz_vectors);
    }
}
