//! Inputs for parsers: bytes at random, and valid inputs that were changed somewhere.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::random::{Random, n_cases};

/// What parsers stumble over.
const TOKENS: [&str; 26] = [
    "\n",
    "\r\n",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "\\",
    "\\u0000",
    "\\ud800",
    ",",
    ":",
    "null",
    "-0",
    "1e999",
    "18446744073709551616",
    "\u{feff}",
    "\u{2028}",
    "\u{0}",
    "ß",
    "---\n",
    "+++ ",
    "@@ -1,9 +1,0 @@\n",
    "<!-- ",
    "'''",
    "$(",
];

/// Runs a body on these inputs, on changed ones and on random bytes; `ADAGE_FUZZ` says on how many.
pub(crate) fn check(seeds: &[Vec<u8>], body: fn(&[u8])) {
    assert!(!seeds.is_empty());
    let mut random = Random(14);
    for seed in seeds {
        run(seed, body);
    }
    for case in 0..n_cases("ADAGE_FUZZ", 300) {
        let mut bytes = match case % 8 {
            0 => (0..random.below(200)).map(|_| u8::try_from(random.below(256)).unwrap()).collect(),
            _ => random.of(seeds).unwrap().clone(),
        };
        for _ in 0..=random.below(6) {
            change(&mut bytes, seeds, &mut random);
        }
        run(&bytes, body);
    }
}

fn run(bytes: &[u8], body: fn(&[u8])) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| body(bytes))) {
        let path = std::env::temp_dir().join(format!("adage-fuzz-{:08x}", crc32fast::hash(bytes)));
        #[allow(clippy::disallowed_methods, reason = "the failing input is kept for debugging")]
        std::fs::write(&path, bytes).unwrap();
        let start = bytes.get(..2_000).unwrap_or(bytes).escape_ascii();
        let shown = format!("the input is {}, and begins with {start}", path.display());
        std::io::Write::write_all(&mut std::io::stderr(), shown.as_bytes()).unwrap();
        resume_unwind(panic);
    }
}

fn change(bytes: &mut Vec<u8>, seeds: &[Vec<u8>], random: &mut Random) {
    let at = random.below(bytes.len() + 1);
    let end = at + random.below((bytes.len() - at).min(64) + 1);
    match random.below(7) {
        0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
        1 if at < bytes.len() => bytes[at] = u8::try_from(random.below(256)).unwrap(),
        2 => drop(bytes.splice(at..end, [])),
        3 => {
            let copy = bytes[at..end].to_vec();
            bytes.splice(end..end, copy);
        }
        4 => {
            let other = random.of(seeds).unwrap();
            let from = random.below(other.len() + 1);
            let to = from + random.below((other.len() - from).min(200) + 1);
            bytes.splice(at..at, other[from..to].iter().copied());
        }
        5 => bytes.truncate(at),
        _ => drop(bytes.splice(at..end.min(at + 4), random.of(&TOKENS).unwrap().bytes())),
    }
}

/// A file of the repository.
pub(crate) fn fixture(path: &str) -> Vec<u8> {
    std::fs::read(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(path)).unwrap()
}
