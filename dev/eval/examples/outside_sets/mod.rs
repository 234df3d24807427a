//! Reads data sets that other projects published, and counts what is found of them.

use std::error::Error;
use std::io::Read;
use std::path::Path;

use adage::TextHash;
use serde_json::Value;

/// The rows of a file: a list in JSON, or JSON lines.
pub(crate) fn rows(path: &Path) -> Result<Vec<Value>, Box<dyn Error>> {
    let mut rows = Vec::new();
    for value in serde_json::Deserializer::from_slice(&bytes(path)?).into_iter() {
        match value? {
            Value::Array(list) => rows.extend(list),
            row => rows.push(row),
        }
    }
    Ok(rows)
}

/// The bytes of a file, unpacked if it is gzipped.
fn bytes(path: &Path) -> Result<Vec<u8>, Box<dyn Error>> {
    let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Ok(bytes);
    }
    let mut unpacked = Vec::new();
    flate2::read::MultiGzDecoder::new(bytes.as_slice()).read_to_end(&mut unpacked)?;
    Ok(unpacked)
}

/// A text field of an object; empty if it is missing.
pub(crate) fn text<'a>(row: &'a Value, field: &str) -> &'a str {
    row.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// Sums of measures over questions: those that coefficients were fitted on, and the others.
pub(crate) struct Halves<const N: usize>([(f64, [f64; N]); 2]);

impl<const N: usize> Halves<N> {
    pub(crate) fn new() -> Self {
        Self([(0.0, [0.0; N]); 2])
    }

    /// Adds the measures of a question. The half is chosen by a hash of its text.
    pub(crate) fn add(&mut self, question: &str, measures: [f64; N]) {
        let hash = TextHash::of(&[question]);
        let half = hash.as_bytes().first().map_or(0, |byte| usize::from(byte % 2));
        if let Some((n, sums)) = self.0.get_mut(half) {
            *n += 1.0;
            sums.iter_mut().zip(measures).for_each(|(sum, measure)| *sum += measure);
        }
    }

    /// The means of the fitted half, of the other half, and of all, each as a row of a table.
    pub(crate) fn rows(&self, name: &str) -> String {
        let [fitted, held_out] = &self.0;
        let all = (fitted.0 + held_out.0, std::array::from_fn(|nth| fitted.1[nth] + held_out.1[nth]));
        let row = |half: &str, (n, sums): &(f64, [f64; N])| {
            let means = sums.iter().map(|sum| format!(" {:.3} |", sum / n.max(1.0))).collect::<Vec<_>>().concat();
            format!("| {name} | {half} | {n} |{means}\n")
        };
        row("fitted", fitted) + &row("held out", held_out) + &row("all", &all)
    }
}

/// The fraction of the relevant that is among the first `k` found.
pub(crate) fn recall(found: &[String], relevant: &[String], k: usize) -> f64 {
    let n_found = relevant.iter().filter(|id| found.iter().take(k).any(|found| found == *id)).count();
    n_found as f64 / relevant.len().max(1) as f64
}
