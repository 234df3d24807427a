//! Prints the measurements of texts, for `scripts/fit_secrets.py`.
//!
//! Reads one JSON string per line and prints one line of JSON for each, see `Redactor::measured`. The first line of the
//! output has the traits and the number of buckets.

use std::io::{self, BufRead as _, Write as _};

use adage_redact::Redactor;

fn main() -> io::Result<()> {
    let redactor = Redactor::shared();
    let mut out = io::BufWriter::new(io::stdout().lock());
    writeln!(out, "{}", Redactor::measures())?;
    for line in io::stdin().lock().lines() {
        let text: String = serde_json::from_str(&line?)?;
        writeln!(out, "{}", redactor.measured(&text))?;
    }
    out.flush()
}
