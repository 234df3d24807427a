//! The memory that reading a long session takes.

use std::fs;
use std::io::{self, Read, Write as _};
use std::process::Command;

use adage::transcript::{Format, TranscriptReader};
use serde_json::json;

/// A session of this many bytes, generated as it is read: calls with results of 40 KB, texts, an occasional user turn.
struct Synthetic {
    n_left: usize,
    n_made: usize,
    line: io::Cursor<Vec<u8>>,
    /// The most memory that was used when a record was asked for, in KiB.
    peak: u64,
}

impl Read for Synthetic {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.line.position() as usize >= self.line.get_ref().len() {
            if self.n_left == 0 {
                return Ok(0);
            }
            self.n_made += 1;
            self.peak = self.peak.max(used_kib());
            let n = self.n_made;
            let (role, content) = match n % 20 {
                0 => ("user", json!(format!("no, use the other one in case {n}"))),
                odd if odd % 2 == 1 => (
                    "assistant",
                    json!([{"type": "tool_use", "id": format!("t{n}"), "name": "Bash", "input": {"command": "make"}}]),
                ),
                _ => (
                    "user",
                    json!([{"type": "tool_result", "tool_use_id": format!("t{}", n - 1), "content": "a line of output\n".repeat(2_400)}]),
                ),
            };
            let record =
                json!({"type": role, "uuid": n.to_string(), "sessionId": "s", "message": {"content": content}});
            let line = format!("{record}\n");
            self.n_left = self.n_left.saturating_sub(line.len());
            self.line = io::Cursor::new(line.into_bytes());
        }
        self.line.read(into)
    }
}

const CHILD: &str = "ADAGE_TEST_SYNTHETIC_MIB";

/// The memory that the process has allocated, in KiB, as the kernel tells it: without the pages of the program's file, whose number depends
/// on how it was built and on what is cached.
fn used_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// In a process of its own, so that the peak is this reading's. `ADAGE_BIG=1` reads 200 MiB instead of 24.
#[test]
fn a_long_session_needs_little_memory() {
    if let Some(n_mib) = std::env::var(CHILD).ok().and_then(|text| text.parse::<usize>().ok()) {
        let before = used_kib();
        let mut source = Synthetic { n_left: n_mib << 20, n_made: 0, line: io::Cursor::default(), peak: 0 };
        let reading = TranscriptReader::new().read(&mut source, Format::Auto).unwrap();
        assert!(reading.report.n_bytes >= (n_mib << 20) as u64 && reading.report.n_broken == 0);
        assert!(reading.transcript.turns.len() > n_mib * 20);
        writeln!(io::stdout(), "\npeak {}", source.peak.max(used_kib()) - before).unwrap();
        return;
    }
    let n_mib: u64 = if std::env::var_os("ADAGE_BIG").is_some() { 200 } else { 24 };
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["transcripts::memory::a_long_session_needs_little_memory", "--exact", "--nocapture"])
        .env(CHILD, n_mib.to_string())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let peak = text.lines().find_map(|line| line.strip_prefix("peak ")).unwrap_or_else(|| panic!("{text}"));
    let peak: u64 = peak.parse().unwrap();
    // A fifth of the source is kept; the rules, the buffers and one line at a time come on top of it: 6 MiB, and some 1 MiB of
    // fingerprints of what was shown, give or take half a MiB from build to build and run to run.
    let max = n_mib * 1_024 * 3 / 10 + 8 * 1_024;
    assert!(peak < max, "{n_mib} MiB were read in {peak} KiB, more than {max}");
}
