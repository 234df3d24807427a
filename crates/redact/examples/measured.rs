//! Prints what is measured in texts, for `scripts/fit_secrets.py`.
//!
//! Reads a text per line, as JSON strings; prints for each the places and the levels of its candidates, and where rules find secrets.
//! The first line has the names of the traits and how many levels each has.

use std::io::{self, BufRead as _, Write as _};

use adage_redact::Redactor;
use serde_json::json;

fn main() -> io::Result<()> {
    let redactor = Redactor::shared();
    let mut out = io::BufWriter::new(io::stdout().lock());
    writeln!(out, "{}", json!(Redactor::traits()))?;
    for line in io::stdin().lock().lines() {
        let text: String = serde_json::from_str(&line?)?;
        let measured: Vec<_> =
            redactor.measured(&text).into_iter().map(|(at, levels)| json!([at.start, at.end, levels])).collect();
        let found: Vec<_> =
            redactor.find(&text).into_iter().map(|one| json!([one.range.start, one.range.end, one.rule])).collect();
        writeln!(out, "{}", json!({"measured": measured, "found": found}))?;
    }
    out.flush()
}
