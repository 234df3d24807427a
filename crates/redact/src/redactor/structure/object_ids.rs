//! Ids of objects: commits of git, keys of `OpenPGP`, what Nix prints.

use super::proof::{Form, Public};
use super::spot::{Spot, is_hex_of};

/// Commands of git that print ids of objects, one per line.
const PRINTING: [&str; 15] = [
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
    "git log",
    "git show",
    "git describe",
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
/// Words that name `OpenPGP` or one of its kinds of keys.
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
/// Words that promise a secret beside an id.
const PROMISES: [&str; 9] = ["password", "passphrase", "passwd", "secret", "token", "apikey", "api", "pin", "private"];

/// The proof for the id of an object of git, of a key of `OpenPGP`, or of a path of Nix.
pub(super) fn object_id(spot: &Spot<'_>) -> Option<Public> {
    const COMMIT: [Form; 1] = [Form::Hex(&[40, 64])];
    let is_lower = !spot.value().bytes().any(|b| b.is_ascii_uppercase());
    if is_lower && (is_printed_by_git(spot) || is_pinned(spot)) {
        return Public::proven(spot, &COMMIT, "");
    }
    if is_lower && is_of_a_change(spot) {
        return Public::proven(spot, &COMMIT, gap_of_change(spot));
    }
    let is_key_or_path = is_of_openpgp(spot) || is_printed_by_nix(spot);
    is_key_or_path.then(|| Public::proven(spot, &[Form::Mark(16)], "")).flatten()
}

/// The text between the name of a commit and the value: nothing right after `commit`, and the whole line in other sentences, as any
/// word of them may be the name.
fn gap_of_change<'t>(spot: &Spot<'t>) -> &'t str {
    if ["commit", "commits", "revision"].contains(&spot.last_word()) { "" } else { spot.before() }
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
    let before = spot.words_before();
    let is_named = before.last().is_some_and(|last| last == "key" || PROMISES.contains(&last.as_str()));
    let is_assigned = spot.before().trim_end_matches(['"', '\'', '`', ' ']).ends_with([':', '=']);
    let is_stated = before.last().is_some_and(|last| ["is", "was", "to"].contains(&last.as_str()));
    let is_promised = is_stated && before.iter().any(|word| PROMISES.contains(&word.as_str()));
    let is_change = before.iter().any(|word| CHANGES.contains(&word.as_str()));
    !is_named && !is_assigned && !is_promised && is_change
}

/// True for the id or the fingerprint of a key, in upper case, on a line of `OpenPGP` or in git's configuration.
fn is_of_openpgp(spot: &Spot<'_>) -> bool {
    let value = spot.value();
    let id = value.rsplit('/').next().unwrap_or_default();
    let is_upper = is_hex_of(id, &[16, 40]) && !id.bytes().any(|b| b.is_ascii_lowercase());
    if !is_upper {
        return false;
    }
    let words = spot.words_before();
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

/// True for the digest that a command of Nix prints, in its base 32.
fn is_printed_by_nix(spot: &Spot<'_>) -> bool {
    let is_digit = |b: u8| b.is_ascii_digit() || (b.is_ascii_lowercase() && !b"eotu".contains(&b));
    let is_printed = || spot.lines_above().any(|line| line.contains("nix-") || line.contains("nix "));
    let is_digest = spot.value().len() == 52 && spot.value().bytes().all(is_digit);
    is_digest && spot.before().trim().is_empty() && is_printed()
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMIT: &str = "3f9a0c7be15d24683f9a0c7be15d24683f9a0c7b";

    fn check(text: &str, value: &str, expected: bool) {
        assert_eq!(object_id(&Spot::last(text, value)).is_some(), expected, "{text}");
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
            (format!("$ git log -1 --format=%H -- credentials.yml\n{COMMIT}"), true),
            (format!("fix: the api key {COMMIT}"), false),
            (format!("fixed, api_key={COMMIT}"), false),
            (format!("the token that landed is {COMMIT}"), false),
            (format!("fixed the deploy by replacing the token with {COMMIT}"), false),
            (format!("pushed the signing key again ({COMMIT})"), false),
            (format!("merged; use the credentials from {COMMIT}"), false),
            (format!("fixed the token in commit {COMMIT}"), true),
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
}
