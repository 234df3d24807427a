//! Ids of objects: commits that git printed, keys of OpenPGP, legal entities.

use super::spot::{Spot, is_hex_of, lower_words};
use crate::shape::is_uuid;

/// Commands of git that print ids of objects, one a line.
const PRINTING: [&str; 12] = [
    "rev-parse",
    "rev-list",
    "hash-object",
    "merge-base",
    "show-ref",
    "ls-remote",
    "ls-tree",
    "ls-files",
    "write-tree",
    "commit-tree",
    "for-each-ref",
    "stash create",
];
/// Lines above an id in which such a command counts; the lines between are ids too.
const N_LINES: usize = 4;
/// Words of a sentence on a change of a program.
const CHANGES: [&str; 27] = [
    "fix",
    "fixed",
    "fixes",
    "feat",
    "refactor",
    "revert",
    "reverts",
    "reverted",
    "merge",
    "merged",
    "rebase",
    "rebased",
    "bump",
    "backport",
    "backported",
    "landed",
    "introduced",
    "bisect",
    "cherry",
    "picked",
    "squash",
    "squashed",
    "amend",
    "pushed",
    "regression",
    "shipped",
    "changelog",
];
/// Words that name OpenPGP or one of its kinds of keys.
const OPENPGP: [&str; 12] = [
    "gpg",
    "gpg2",
    "pgp",
    "openpgp",
    "eddsa",
    "signingkey",
    "gpgsign",
    "validpgpkeys",
    "keyserver",
    "sec",
    "ssb",
    "subkey",
];
/// Marks of git's configuration beside `signingkey`.
const GIT_SETTINGS: [&str; 5] = ["user.signingkey", "gpgsign", "[user]", "[commit]", "[gpg"];
/// What an id in a field such as `x-amzn-requestid` identifies.
const IDENTIFIED: [&str; 20] = [
    "request",
    "trace",
    "span",
    "correlation",
    "causation",
    "transaction",
    "message",
    "event",
    "client",
    "device",
    "order",
    "user",
    "account",
    "tenant",
    "object",
    "subscription",
    "operation",
    "activity",
    "invocation",
    "execution",
];
/// Words that promise a secret; see [`promises`].
const PROMISES: [&str; 9] = ["password", "passphrase", "passwd", "secret", "token", "apikey", "api", "pin", "private"];

/// True for the id of an object of git, of a key of OpenPGP, or of a legal entity.
pub(super) fn is_object_id(spot: &Spot<'_>) -> bool {
    let value = spot.value();
    let is_commit = is_hex_of(value, &[40, 64]) && !value.bytes().any(|b| b.is_ascii_uppercase());
    (is_commit && (is_printed_by_git(spot) || is_pinned(spot) || is_of_a_change(spot)))
        || is_of_openpgp(spot)
        || is_of_legal_entity(spot)
        || is_of_firebase(spot)
        || is_of_request(spot)
        || is_site_key(spot)
}

/// True for a line that begins with the value, below a command that prints ids or below other ids that it printed.
fn is_printed_by_git(spot: &Spot<'_>) -> bool {
    let is_id_line = |line: &str| is_hex_of(line.split([' ', '\t']).next().unwrap_or_default(), &[40, 64]);
    let mut lines = spot.lines_above().take(N_LINES).skip_while(|line| is_id_line(line));
    let prints = |line: &str| line.contains("git ") && PRINTING.iter().any(|command| line.contains(command));
    spot.before().trim_start().is_empty() && lines.next().is_some_and(prints)
}

/// True for a commit behind the name of a repository, as in `uses: owner/name@commit`.
fn is_pinned(spot: &Spot<'_>) -> bool {
    let name = spot.before().strip_suffix('@').and_then(|name| name.rsplit([' ', '"', '\'', ':', '=']).next());
    let is_part =
        |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
    name.is_some_and(|name| name.split('/').count() >= 2 && name.split('/').all(is_part))
}

/// True for a commit in a sentence on a change, unless a word that promises a secret is right before it.
fn is_of_a_change(spot: &Spot<'_>) -> bool {
    let before = lower_words(spot.before());
    let is_named = before.last().is_some_and(|last| last == "key" || PROMISES.contains(&last.as_str()));
    let is_assigned = spot.before().trim_end_matches(['"', '\'', '`', ' ']).ends_with([':', '=']);
    !is_named && !is_assigned && before.iter().any(|word| CHANGES.contains(&word.as_str()))
}

/// True for the id or the fingerprint of a key, in upper case, on a line of OpenPGP or in git's configuration.
fn is_of_openpgp(spot: &Spot<'_>) -> bool {
    let value = spot.value();
    let id = value.rsplit('/').next().unwrap_or_default();
    let is_upper = is_hex_of(id, &[16, 40]) && !id.bytes().any(|b| b.is_ascii_lowercase());
    if !is_upper {
        return false;
    }
    let words = lower_words(spot.before());
    if words.iter().any(|word| PROMISES.contains(&word.as_str())) {
        return false;
    }
    let around = || {
        spot.text.get(
            spot.text.floor_char_boundary(spot.at.start.saturating_sub(200))
                ..spot.text.floor_char_boundary((spot.at.end + 100).min(spot.text.len())),
        )
    };
    if words.iter().any(|word| word == "signingkey") {
        return around().is_some_and(|around| GIT_SETTINGS.iter().any(|mark| around.contains(mark)));
    }
    let is_setting = spot.before().trim_start().starts_with("default-key ");
    is_setting || words.iter().any(|word| OPENPGP.contains(&word.as_str()))
}

/// True for a legal entity identifier (ISO 17442) after its label: the four digits of its issuer, and 16 letters and digits.
fn is_of_legal_entity(spot: &Spot<'_>) -> bool {
    let (issuer, body) = spot.value().split_at_checked(4).unwrap_or_default();
    let label = spot.before().trim_end_matches([' ', ':', '=', '"']);
    let is_label = label.len() < spot.before().len() && lower_words(label).last().is_some_and(|last| last == "lei");
    is_label
        && body.len() == 16
        && issuer.bytes().all(|b| b.is_ascii_digit())
        && body.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
}

/// True for a UUID or a digest in a field whose name joins a thing and `id`, as `x-amzn-requestid`.
fn is_of_request(spot: &Spot<'_>) -> bool {
    let name = spot.before().trim_end_matches(|c: char| !c.is_alphanumeric());
    let last = lower_words(name).pop().unwrap_or_default();
    let is_field =
        spot.before().len() > name.len() && last.strip_suffix("id").is_some_and(|thing| IDENTIFIED.contains(&thing));
    is_field && (is_uuid(spot.value()) || is_hex_of(spot.value(), &[16, 24, 32]))
}

/// True for a key of reCAPTCHA that its name calls the one of the page.
fn is_site_key(spot: &Spot<'_>) -> bool {
    let name = lower_words(spot.before()).concat();
    spot.value().starts_with("6L") && spot.value().len() == 40 && name.ends_with("sitekey")
}

/// True for the end of an application's id at Firebase: `1:number:web:digits`.
fn is_of_firebase(spot: &Spot<'_>) -> bool {
    let is_platform = |before: &str| {
        let mut parts = before.rsplit(':').skip(1);
        let platform = parts.next().is_some_and(|part| ["web", "ios", "android"].contains(&part));
        platform && parts.next().is_some_and(|part| part.len() >= 9 && part.bytes().all(|b| b.is_ascii_digit()))
    };
    is_hex_of(spot.value(), &[16, 20, 22]) && spot.before().ends_with(':') && is_platform(spot.before())
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMIT: &str = "3f9a0c7be15d24683f9a0c7be15d24683f9a0c7b";

    fn check(text: &str, value: &str, expected: bool) {
        let start = text.rfind(value).unwrap_or_default();
        assert_eq!(is_object_id(&Spot::of(text, &(start..start + value.len()))), expected, "{text}");
    }

    #[test]
    fn ids_below_a_command_of_git_are_public() {
        for (text, expected) in [
            (format!("$ git rev-parse HEAD:src/password.rs\n{COMMIT}"), true),
            (format!("git rev-list -2 HEAD -- key.rs\n{COMMIT}\n{COMMIT}"), true),
            (format!("git rev-parse HEAD\nexport API_KEY={COMMIT}"), false),
            (format!("git config api.key\n{COMMIT}"), false),
            (format!("cat key.txt\n{COMMIT}"), false),
            (format!("uses: owner/vault-action@{COMMIT}"), true),
            (format!("key@{COMMIT}"), false),
            (format!("fix key rotation ({COMMIT})"), true),
            (format!("fix: the api key {COMMIT}"), false),
            (format!("fixed, api_key={COMMIT}"), false),
        ] {
            check(&text, COMMIT, expected);
        }
    }

    #[test]
    fn ids_of_openpgp_are_in_upper_case_and_in_its_places() {
        let upper = COMMIT.to_uppercase();
        for (text, value, expected) in [
            (format!("gpg: using EDDSA key {upper}"), upper.as_str(), true),
            (format!("signingkey = {upper}\ngpgsign = true"), &upper, true),
            (format!("signingkey = {upper}"), &upper, false),
            (format!("gpg passphrase {upper}"), &upper, false),
            (format!("gpg: using key {COMMIT}"), COMMIT, false),
            (format!("api key: {upper}"), &upper, false),
        ] {
            check(&text, value, expected);
        }
    }

    #[test]
    fn identifiers_of_entities_and_applications_have_a_label_and_a_form() {
        for (text, value, expected) in [
            ("LEI 5493LZU30OSGYP2FR519", "5493LZU30OSGYP2FR519", true),
            ("LEI 5K93LZU30OSGYP2FR519", "5K93LZU30OSGYP2FR519", false),
            ("key 5493LZU30OSGYP2FR519", "5493LZU30OSGYP2FR519", false),
            ("appId: 1:83282289433:web:3f9a0c7be15d24683f9a0c", "3f9a0c7be15d24683f9a0c", true),
            ("key: 3f9a0c7be15d24683f9a0c", "3f9a0c7be15d24683f9a0c", false),
            (
                "\"x-amzn-requestid\": \"1a652f10-a47e-449f-ab74-68de3b744220\"",
                "1a652f10-a47e-449f-ab74-68de3b744220",
                true,
            ),
            ("\"secretid\": \"1a652f10-a47e-449f-ab74-68de3b744220\"", "1a652f10-a47e-449f-ab74-68de3b744220", false),
            (
                "data-sitekey=\"6LdQ7RtZAAAAAB2mWx9LkB4vNs8Yd1HcJ6pGf3Ta\"",
                "6LdQ7RtZAAAAAB2mWx9LkB4vNs8Yd1HcJ6pGf3Ta",
                true,
            ),
            (
                "secretkey=\"6LdQ7RtZAAAAAB2mWx9LkB4vNs8Yd1HcJ6pGf3Ta\"",
                "6LdQ7RtZAAAAAB2mWx9LkB4vNs8Yd1HcJ6pGf3Ta",
                false,
            ),
        ] {
            check(text, value, expected);
        }
    }
}
