//! Prints what is measured in texts, for `scripts/fit_secrets.py`.
//!
//! Reads a text per line, as JSON strings; prints a line for each. The first line says which traits are measured.

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
