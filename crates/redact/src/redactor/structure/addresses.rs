//! Parts of addresses: the slug of a page, and the name of a file in a folder of the system.

use super::proof::Public;
use super::spot::{Spot, is_hex_of};
use crate::redactor::promise::promises_value;
use crate::shape::is_uuid;

/// Hosts of pages whose address ends with the page's title and id.
const HOSTS: [&str; 8] = [
    "notion.so/",
    ".notion.site/",
    "docs.google.com/",
    "drive.google.com/",
    "figma.com/",
    "medium.com/",
    "miro.com/",
    "linear.app/",
];
/// The least length of a page's title, in bytes; a shorter one may be the prefix of a token.
const MIN_TITLE: usize = 4;
/// The starts of absolute paths of a system's own folders, and of relative ones that programs write.
const ROOTS: [&str; 28] = [
    "/home/",
    "/var/",
    "/usr/",
    "/etc/",
    "/proc/",
    "/run/",
    "/nix/",
    "/tmp/",
    "/opt/",
    "/root/",
    "/mnt/",
    "/sys/",
    "/dev/",
    "/Users/",
    "/private/",
    "/Library/",
    "target/",
    "node_modules/",
    "dist/",
    "build/",
    ".git/",
    ".cache/",
    "~/",
    "HKLM\\",
    "HKCU\\",
    "Cert:\\",
    "HKEY_",
    "./",
];

/// True for a part of the address of a page.
pub(super) fn is_of_page(spot: &Spot<'_>) -> bool {
    let url = spot.before().rsplit([' ', '"', '\'', '`', '<', '(', '[', '\t']).next().unwrap_or_default();
    is_slug(url, spot) || is_heading(url, spot.value())
}

/// The proof for a part of the address of a page, or of the path of a file.
pub(super) fn part_of_address(spot: &Spot<'_>) -> Option<Public> {
    let before = spot.before();
    let whole = before.rsplit([' ', '"', '\'', '`', '<', '(', '[', '\t', '=']).next().unwrap_or_default();
    let lead = before.get(..before.len() - whole.len()).unwrap_or_default();
    let is_part = is_of_page(spot) || (is_file_name(whole, spot.value()) && !promises_value(lead));
    is_part.then(|| Public::of_form(spot)).flatten()
}

/// True for the last part of a page's path: a title and 32 hexadecimal digits (12 at Medium). False in a query.
fn is_slug(url: &str, spot: &Spot<'_>) -> bool {
    let is_page =
        url.starts_with("https://") && HOSTS.iter().any(|host| url.contains(host)) && !url.contains(['?', '#']);
    let title = url.rsplit('/').next().unwrap_or_default();
    let whole = [title, spot.value()].concat();
    let id = whole.rsplit_once('-').filter(|(title, _)| title.len() >= MIN_TITLE);
    is_page && id.is_some_and(|(_, id)| is_hex_of(id, &[12, 32]))
}

/// True for the anchor of a heading in a document of Google: `#heading=h.` and 10 to 14 letters and digits.
fn is_heading(url: &str, value: &str) -> bool {
    let is_document = url.contains("docs.google.com/document/") && url.ends_with("#heading=");
    is_document && value.strip_prefix("h.").is_some_and(|id| (8..=14).contains(&id.len()))
}

/// True for a file or folder that is named by a digest or an id, in an absolute path. False in a URL, whose parts can be
/// secrets.
fn is_file_name(whole: &str, value: &str) -> bool {
    let is_drive = whole.as_bytes().get(1..3) == Some(b":\\");
    let is_absolute = is_drive || ROOTS.iter().any(|root| whole.starts_with(root));
    let stem = value.split('.').next().unwrap_or_default();
    let id = stem.split(['_', '-']).next().unwrap_or_default();
    let is_named_by_id = is_uuid(stem) || is_hex_of(id, &[16, 20, 24, 32, 38, 40, 56, 64, 96, 128]);
    // The name may begin with words, as in `token-<digest>`.
    let folder = whole.trim_end_matches(|c: char| c.is_ascii_lowercase() || c == '_' || c == '-');
    let is_whole = folder.len() == whole.len() || whole.ends_with('-');
    is_absolute
        && is_whole
        && folder.ends_with(['/', '\\'])
        && folder.matches(['/', '\\']).count() >= 2
        && is_named_by_id
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, value: &str, expected: bool) {
        assert_eq!(part_of_address(&Spot::first(text, value)).is_some(), expected, "{text}");
    }

    #[test]
    fn slugs_of_pages_are_public_and_values_of_queries_are_not() {
        let hex = "3f9a0c7be15d24683f9a0c7be15d2468";
        for (text, value, expected) in [
            ("https://www.notion.so/acme/API-keys-¶", "API-keys-¶", true),
            ("https://www.notion.so/acme/Secret-keys-¶?pvs=4", "keys-¶", true),
            ("https://www.notion.so/acme?api-key=¶", "¶", false),
            ("https://www.notion.so/acme/¶", "¶", false),
            ("https://hooks.test/acme/key-¶", "key-¶", false),
            ("https://docs.google.com/document/d/1a/edit#heading=h.2vytii2qrxzj", "h.2vytii2qrxzj", true),
            ("https://docs.google.com/document/d/1a/edit?token=h.2vytii2qrxzj", "h.2vytii2qrxzj", false),
        ] {
            check(&text.replace('¶', hex), &value.replace('¶', hex), expected);
        }
    }

    #[test]
    fn files_that_are_named_by_a_digest_are_public() {
        let hex = "3F9A0C7BE15D24683F9A0C7BE15D24683F9A0C7B";
        for (text, expected) in [
            ("C:\\Users\\me\\SystemCertificates\\My\\Keys\\¶", true),
            ("~/.gnupg/private-keys-v1.d/¶.key", true),
            ("https://acme.test/keys/¶", false),
            ("target/debug/deps/token-¶", true),
            ("key=¶", false),
            ("C:\\¶", false),
            ("POST /hooks/¶", false),
            ("the api key is ./keys/x/¶", false),
            ("the credential is /tmp/a/¶", false),
            ("API_KEY=~/x/y/¶", false),
        ] {
            check(&text.replace('¶', hex), hex, expected);
        }
    }
}
