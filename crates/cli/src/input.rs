//! What a command reads from standard input, or from a file that is named in its place.

use std::io::{self, Read};

/// The longest text, in bytes.
const MAX_BYTES: u64 = 256 << 20;

/// All of standard input.
pub(crate) fn standard_input() -> Result<String, String> {
    let mut text = String::new();
    read_up_to(io::stdin().lock(), &mut text).map_err(|error| format!("could not read the input: {error}"))?;
    Ok(text)
}

/// Appends all of the source; an error if it is too long or is not UTF-8.
pub(crate) fn read_up_to(source: impl Read, text: &mut String) -> io::Result<()> {
    let n_bytes = source.take(MAX_BYTES + 1).read_to_string(text)?;
    if n_bytes as u64 > MAX_BYTES {
        return Err(io::Error::other(format!("it has more than {MAX_BYTES} bytes, at most that many are read")));
    }
    Ok(())
}
