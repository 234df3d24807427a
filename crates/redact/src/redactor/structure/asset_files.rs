//! Digests in the names of files that a bundler wrote.

use super::proof::Public;
use super::spot::{Spot, is_hex_of};

/// The ends of such names.
const ENDS: [&str; 22] = [
    "js", "mjs", "cjs", "css", "map", "svg", "png", "jpg", "jpeg", "webp", "gif", "ico", "woff", "woff2", "ttf", "eot",
    "wasm", "html", "mp4", "webm", "avif", "json",
];
/// The lengths of digests in such names, in hexadecimal digits.
const LENGTHS: [usize; 6] = [8, 12, 16, 20, 32, 40];

/// The proof for a digest between a name with a joint and the end of a file's name, as in `login.<digest>.chunk.js`.
pub(super) fn part_of_asset(spot: &Spot<'_>) -> Option<Public> {
    let is_end = |c: char| !c.is_ascii_alphanumeric() && !"._-~@".contains(c);
    let lead = spot.before().rsplit(is_end).next().unwrap_or_default();
    let rest = spot.behind().split(is_end).next().unwrap_or_default();
    if lead.is_empty() && rest.is_empty() {
        return None;
    }
    let name = [lead, spot.value(), rest].concat();
    let mut parts = name.split('.');
    let stem = parts.next().unwrap_or_default();
    let ends: Vec<&str> = parts.collect();
    let is_asset = ends.last().is_some_and(|end| ENDS.contains(end));
    // The digest is the last part of the stem, or the part behind it.
    let digest = [stem.rsplit(['-', '_', '~']).next(), ends.first().copied()];
    let is_digest = digest.iter().flatten().any(|part| is_hex_of(part, &LENGTHS) && spot.value().contains(part));
    let is_named = stem.contains(|c: char| c.is_ascii_alphabetic()) && !spot.value().starts_with(stem);
    (is_asset && is_digest && is_named).then(|| Public::of_form(spot)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_in_names_of_bundled_files_are_public() {
        let hex = "3f9a0c7be15d24683f9a";
        for (text, expected) in [
            ("dist/api-token.§.bundle.js", true),
            ("<link href=\"/css/secret-page-§.css\">", true),
            ("vendors~key.§.js.map", true),
            // Secrets that touch a file's name, or are in a query or an assignment.
            ("api-token.§", false),
            ("api-token.§.txt", false),
            ("load('a.js?key=§')", false),
            ("token=§;a.js", false),
            ("key.§ main.js", false),
            ("https://ann:§@cdn.test/a.js", false),
        ] {
            assert_eq!(part_of_asset(&Spot::last(&text.replace('§', hex), hex)).is_some(), expected, "{text}");
        }
        let random = "q7RtZ2mWx9LkB4vNs8Yd1HcJ";
        assert!(part_of_asset(&Spot::last(&format!("api-token.{random}.js"), random)).is_none());
    }
}
