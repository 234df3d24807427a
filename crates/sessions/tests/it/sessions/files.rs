//! The files that a scan takes: compressed, large, deep and real ones.

use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use adage::chrono::TimeDelta;
use adage::transcript::Owner;
use adage_sessions::{DueSessions, LeftOutReason, NotDue, ReadState, RunOutcome, SessionResult, Sessions};

use super::{Desk, at, read_state};

/// Replaces a file by itself gzipped, under the same name with `ending` behind it.
fn compress(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    let mut encoder = flate2::write::GzEncoder::new(fs::File::create(&name).unwrap(), flate2::Compression::best());
    encoder.write_all(&fs::read(path).unwrap()).unwrap();
    encoder.finish().unwrap();
    fs::remove_file(path).unwrap();
    name.into()
}

#[test]
fn a_compressed_session_is_scanned_due_and_read() {
    let desk = Desk::new();
    let path = compress(&desk.session("packed.JSONL", -9), ".GZ");
    desk.session("plain.Json", -8);
    let playbook = desk.playbook();
    assert_eq!(desk.due_ids(&playbook), ["plain", "packed"]);
    let RunOutcome::Ended(run) = desk.run(&playbook, &[]) else { panic!("nothing was read") };
    assert!(run.sessions.iter().all(|session| session.result == SessionResult::Read { n_candidates: 2 }), "{run:?}");
    assert_eq!(read_state(&playbook, &desk.folder(), "packed"), ReadState::Read);
    fs::write(&path, "not gzip").unwrap();
    let left_out = Sessions::of(&playbook).scan(&desk.folder()).unwrap().left_out;
    assert!(
        matches!(&left_out[..], [left] if left.path == path && matches!(left.reason, LeftOutReason::Unreadable(_)))
    );
}

#[test]
fn a_file_that_decompresses_to_too_much_is_left_out() {
    let desk = Desk::new();
    let path = desk.write("bomb.jsonl", "bomb", 50, at(-9));
    // A blank line of the limit's length compresses to nothing.
    let max: usize = 256 << 20;
    let session = fs::read_to_string(&path).unwrap();
    fs::write(&path, [session.as_bytes(), &vec![b'\n'; max]].concat()).unwrap();
    let path = compress(&path, ".gz");
    let playbook = desk.playbook();
    // The second scan knows it from the first.
    for _ in 0..2 {
        let scan = Sessions::of(&playbook).scan(&desk.folder()).unwrap();
        assert!(scan.entries.is_empty());
        assert_eq!(scan.left_out.len(), 1);
        assert_eq!(scan.left_out[0].reason, LeftOutReason::TooLargeDecompressed { max: max as u64 });
    }
    Sessions::of(&playbook).queue(&path).unwrap();
    assert_eq!(desk.due(&playbook), DueSessions::NotDue(NotDue::NothingEligible), "not even on request");
}

#[test]
fn depth_and_size_are_bounded() {
    let desk = Desk::new();
    desk.session("1/2/3/4/5/6/7/8/seen.jsonl", -9);
    desk.session("1/2/3/4/5/6/7/8/9/deep.jsonl", -9);
    let large = desk.write("large.jsonl", "large", 40, at(-9));
    fs::File::options().write(true).open(large).unwrap().set_len((256 << 20) + 1).unwrap();
    let scan = Sessions::of(&desk.playbook()).scan(&desk.folder()).unwrap();
    assert_eq!(scan.entries.len(), 1);
    let reasons: Vec<_> = scan.left_out.into_iter().map(|left| left.reason).collect();
    assert_eq!(reasons[0], LeftOutReason::TooDeep { max: 8 });
    assert!(matches!(reasons[1], LeftOutReason::TooLarge { max: 268_435_456, .. }));
    assert!(Sessions::of(&desk.playbook()).scan(&desk.folder().join("nowhere")).is_err());
}

#[test]
fn real_sessions_make_an_index() {
    let Some(data) = std::env::var_os("ADAGE_DATA").map(PathBuf::from) else {
        // Straight to standard error: the test runner keeps the output of tests that pass to itself.
        io::stderr().write_all(b"NOT MEASURED: an index of real sessions; set ADAGE_DATA to the folder\n").unwrap();
        return;
    };
    let desk = Desk::new();
    let mut n_files = 0;
    for entry in fs::read_dir(data.join("transcripts/claude-code")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "gz") {
            let mut bytes = Vec::new();
            flate2::read::GzDecoder::new(fs::File::open(&path).unwrap()).read_to_end(&mut bytes).unwrap();
            fs::write(desk.folder().join(path.file_stem().unwrap()), bytes).unwrap();
            n_files += 1;
        }
    }
    desk.clock.advance(TimeDelta::days(365));
    let playbook = desk.playbook();
    let scan = Sessions::of(&playbook).scan(&desk.folder()).unwrap();
    assert!(n_files >= 10 && scan.entries.len() + scan.left_out.len() == n_files, "{n_files} files: {scan:?}");
    for entry in &scan.entries {
        let is_agent = entry.path.display().to_string().contains("__agent-");
        assert_eq!(entry.summary.owner == Owner::Agent, is_agent, "{entry}");
        let summary = &entry.summary;
        assert!(summary.intent.chars().count() <= 80 && summary.workflow.chars().count() <= 160, "{entry}");
        assert!(!summary.workflow.contains("://") && !summary.workflow.contains("/Users/"), "{entry}");
        assert!(summary.last_record.is_some_and(|last| last == entry.updated), "{entry}");
        assert!(is_agent || !summary.intent.is_empty() && !summary.workflow.is_empty(), "{entry}");
    }
    assert_eq!(Sessions::of(&playbook).scan(&desk.folder()).unwrap(), scan);
}
