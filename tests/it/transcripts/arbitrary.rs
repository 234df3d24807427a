//! Arbitrary input: no panic, and nothing is lost.

use std::fs;
use std::io::{self, Read};
use std::path::PathBuf;

use adage::transcript::{Format, TranscriptReader};
use proptest::prelude::*;
use serde_json::Value;

use super::{fixtures, read};

fn arb_json() -> impl Strategy<Value = Value> {
    let key = prop_oneof![
        Just("type"),
        Just("role"),
        Just("content"),
        Just("message"),
        Just("payload"),
        Just("messages"),
        Just("$set"),
        Just("$rewindTo"),
        Just("id"),
        Just("call_id"),
        Just("toolCalls"),
        Just("tool_calls"),
        Just("function"),
        Just("output"),
        Just("uuid"),
        Just("isSidechain"),
        Just("text"),
        Just("tool_use_id"),
        Just("result"),
    ];
    let word = prop_oneof![
        Just("user"),
        Just("assistant"),
        Just("tool"),
        Just("gemini"),
        Just("response_item"),
        Just("message"),
        Just("function_call"),
        Just("function_call_output"),
        Just("tool_use"),
        Just("tool_result"),
        Just("text"),
        Just("attachment"),
        Just("<system-reminder>x"),
        Just("{\"output\": \"x\"}"),
        Just("1"),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        word.prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 48, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((key.clone(), inner), 0..6)
                .prop_map(|row| Value::Object(row.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())),
        ]
    })
}

fn named() -> impl Iterator<Item = Format> {
    Format::ALL.into_iter().filter(|format| *format != Format::Auto)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        for format in named() {
            let report = read(&bytes, format).report;
            let text = String::from_utf8_lossy(&bytes);
            let has_content = text.lines().any(|line| !line.trim_start_matches('\u{feff}').trim().is_empty());
            prop_assert!(!has_content || report.n_broken + report.n_records > 0 || text.trim_start().starts_with('['));
        }
        let _ = TranscriptReader::new().read(&bytes[..], Format::Auto);
    }

    #[test]
    fn json_never_panics(values in prop::collection::vec(arb_json(), 0..8)) {
        let lines = values.iter().map(Value::to_string).collect::<Vec<_>>().join("\n");
        for source in [lines, Value::from(values).to_string()] {
            for format in named() {
                prop_assert_eq!(read(source.as_bytes(), format), read(source.as_bytes(), format));
            }
        }
    }

    #[test]
    fn cuts_and_chunks_never_panic(cut in 0..1_000_usize, chunk in 1..700_usize, which in 0..8_usize) {
        let mut names: Vec<PathBuf> = fs::read_dir(fixtures()).unwrap().map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|extension| extension != "outline")).collect();
        names.sort();
        let whole = fs::read(&names[which]).unwrap();
        let chunked = |source: &[u8]| TranscriptReader::new().read(Chunked(source, chunk), Format::Auto);
        prop_assert_eq!(chunked(&whole).unwrap(), read(&whole, Format::Auto));
        let _ = chunked(&whole[..whole.len() * cut / 1_000]);
    }
}

/// Returns at most this many bytes per read.
pub(super) struct Chunked<'s>(pub(super) &'s [u8], pub(super) usize);

impl Read for Chunked<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let room = into.len().min(self.1);
        self.0.read(&mut into[..room])
    }
}
