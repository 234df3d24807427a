//! Ids by their field, their column, their label or their unit.

use super::proof::{Form, Public};
use super::spot::{Spot, is_hex_of, lower_words};
use crate::score::promises_a_secret;
use crate::shape::is_uuid;

/// What an id in a field such as `x-amzn-requestid` identifies.
const IDENTIFIED: [&str; 46] = [
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
    "run",
    "job",
    "build",
    "workflow",
    "task",
    "step",
    "pipeline",
    "query",
    "zone",
    "process",
    "thread",
    "group",
    "project",
    "org",
    "organization",
    "resource",
    "instance",
    "host",
    "image",
    "snapshot",
    "volume",
    "release",
    "deployment",
    "distinct",
    "anonymous",
    "credential",
];
/// What stands before an id in its place.
const ID_PLACES: [&str; 7] = ["assignee", "principal", "objectid", "holderidentity", "leader", "release", "revision"];
/// Things whose ids come right after their name.
const NOUNS: [&str; 10] =
    ["order", "incident", "ref", "trace", "event", "issue", "deployment", "query", "shipment", "accessor"];
/// Words before an address that takes payments.
const PAYMENTS: [&str; 12] = [
    "donations",
    "donation",
    "donate",
    "address",
    "btc",
    "bitcoin",
    "tip",
    "tips",
    "tipjar",
    "payout",
    "payouts",
    "sent",
];
/// Tables whose ids are credentials, by a part of their name.
const SECRET_TABLES: [&str; 6] = ["session", "token", "key", "secret", "credential", "invite"];

/// The proof for the id of a thing that is not a credential. Each structure checks the exact form of its id; an SQL column has those of
/// any id.
pub(super) fn field_id(spot: &Spot<'_>) -> Option<Public> {
    if is_of_id_column(spot) {
        return Public::proven(spot, &[Form::Uuid, Form::Hex(&[24, 32]), Form::Digits(1)], "");
    }
    let has_form = is_of_thing(spot)
        || is_labelled(spot)
        || is_symbol(spot)
        || is_of_cloud(spot)
        || is_amount(spot)
        || is_of_legal_entity(spot)
        || is_of_firebase(spot)
        || is_site_key(spot)
        || is_playlist(spot)
        || is_after_noun(spot)
        || is_of_ledger(spot);
    has_form.then(|| Public::of_form(spot)).flatten()
}

/// True for a UUID or a digest in a field whose name is a thing and `id`, as `x-amzn-requestid`, `runId` and `JOB_ID`.
fn is_of_thing(spot: &Spot<'_>) -> bool {
    let end = spot.value().rsplit('_').next().unwrap_or_default();
    let is_number = spot.value().len() >= 15 && spot.value().bytes().all(|b| b.is_ascii_digit());
    if !(is_number || is_uuid(end) || is_hex_of(spot.value(), &[16, 24, 32, 40])) {
        return false;
    }
    // The value may begin with words, as in `rotator-<digest>_<id>`.
    let is_of_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let line = spot.before();
    let line = if line.ends_with(['-', '_']) { line.trim_end_matches(is_of_word) } else { line };
    let name = line.trim_end_matches(|c: char| !c.is_alphanumeric());
    let words = lower_words(name);
    let mut names = words.iter().rev().map(String::as_str);
    let (last, previous) = (names.next().unwrap_or_default(), names.next().unwrap_or_default());
    let thing = if last == "id" { previous } else { last.strip_suffix("id").unwrap_or_default() };
    let is_field = IDENTIFIED.contains(&thing) || ID_PLACES.contains(&last);
    line.len() > name.len() && is_field
}

/// True for a value whose label is a part of it or right before it, with the form of this label's ids.
fn is_labelled(spot: &Spot<'_>) -> bool {
    let lead = spot.before().rsplit([' ', '"', '\'']).next().unwrap_or_default();
    let whole = [lead, spot.value()].concat();
    let id = |label: &str| whole.rsplit_once(label).map(|(_, id)| id);
    let is_url_base64 = |id: &str| id.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
    let is_hex_32 = |id: &str| is_hex_of(id, &[32]);
    let is_job = |id: &str| id.bytes().all(|b| b.is_ascii_hexdigit() || b == b'_');
    let is_license = |id: &str| id.split(['-', '.']).all(is_of_license);
    id("mrk-").is_some_and(is_hex_32)
        || id("[$LATEST]").is_some_and(is_hex_32)
        || id("bquxjob_").is_some_and(is_job)
        || id("amq.gen-").is_some_and(|id| (15..=22).contains(&id.len()) && is_url_base64(id))
        || id("LicenseRef-").is_some_and(is_license)
}

/// True for a part of a license's name: at most 16 letters, a number, or a digest of eight digits.
fn is_of_license(word: &str) -> bool {
    let is_word = |is_of: fn(&u8) -> bool| word.len() <= 16 && word.as_bytes().iter().all(is_of);
    is_word(u8::is_ascii_alphabetic) || is_word(u8::is_ascii_digit) || is_hex_of(word, &[8])
}

/// True for the digest at the end of a symbol of Rust, as in `name::h<16 digits>`.
fn is_symbol(spot: &Spot<'_>) -> bool {
    let end = spot.value().rsplit("::").next().unwrap_or_default();
    let is_last = spot.before().ends_with("::") || end.len() < spot.value().len();
    is_last && end.strip_prefix('h').is_some_and(|digest| is_hex_of(digest, &[16]))
}

/// True for the id of a resource of AWS: a kind, a hyphen, a zero, and 16 hexadecimal digits.
fn is_of_cloud(spot: &Spot<'_>) -> bool {
    let line = spot.line();
    let id = line.rsplit([' ', '"', '=', ':', '/']).next().unwrap_or_default();
    id.split_once('-').is_some_and(|(kind, digits)| {
        (1..=8).contains(&kind.len())
            && kind.bytes().all(|b| b.is_ascii_lowercase())
            && digits.starts_with('0')
            && is_hex_of(digits, &[17])
    })
}

/// True for a value of an SQL statement in the place of a column whose name ends with `id`, unless the rows of the table are credentials.
fn is_of_id_column(spot: &Spot<'_>) -> bool {
    let Some((head, values)) = spot.before().rsplit_once("VALUES (") else { return false };
    let Some((table, columns)) = head.trim_end().strip_suffix(')').and_then(|head| head.rsplit_once('(')) else {
        return false;
    };
    let table = table.trim_end().rsplit(' ').next().unwrap_or_default().to_ascii_lowercase();
    let column = n_commas(values).and_then(|n_commas| columns.split(',').nth(n_commas));
    let name = column.unwrap_or_default().trim().to_ascii_lowercase();
    let is_credential = ["secret_id", "session_id", "credential_id"].contains(&name.as_str())
        || SECRET_TABLES.iter().any(|part| table.contains(part));
    (name == "id" || name.ends_with("_id")) && !is_credential
}

/// The number of commas outside of quotes; `None` if a bracket closes outside of them.
fn n_commas(values: &str) -> Option<usize> {
    let (mut is_quoted, mut n_commas) = (false, 0);
    for c in values.chars() {
        match c {
            '\'' => is_quoted = !is_quoted,
            ',' if !is_quoted => n_commas += 1,
            ')' if !is_quoted => return None,
            _ => {}
        }
    }
    Some(n_commas)
}

/// True for digits with a unit of an amount behind them.
fn is_amount(spot: &Spot<'_>) -> bool {
    const UNITS: [&str; 7] = ["wei", "gwei", "lamports", "satoshi", "sats", "ns", "bytes"];
    let rest = spot.behind().strip_prefix(' ').unwrap_or_default();
    let unit = rest.split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    spot.value().bytes().all(|b| b.is_ascii_digit()) && UNITS.contains(&unit)
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

/// True for the end of an application's id at Firebase: `1:number:web:digits`.
fn is_of_firebase(spot: &Spot<'_>) -> bool {
    let is_platform = |before: &str| {
        let mut parts = before.rsplit(':').skip(1);
        let platform = parts.next().is_some_and(|part| ["web", "ios", "android"].contains(&part));
        platform && parts.next().is_some_and(|part| part.len() >= 9 && part.bytes().all(|b| b.is_ascii_digit()))
    };
    is_hex_of(spot.value(), &[16, 20, 22]) && spot.before().ends_with(':') && is_platform(spot.before())
}

/// True for a key of `reCAPTCHA` that its name calls the one of the page.
fn is_site_key(spot: &Spot<'_>) -> bool {
    spot.value().starts_with("6L") && spot.value().len() == 40 && spot.words_before().concat().ends_with("sitekey")
}

/// True for capitals and digits, hexadecimal digits or a UUID right after the name of a thing that has an id, on a line that promises
/// no secret.
fn is_after_noun(spot: &Spot<'_>) -> bool {
    let value = spot.value();
    let is_upper = value.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit());
    let is_id = is_upper || is_uuid(value) || value.bytes().all(|b| b.is_ascii_hexdigit() || b == b'-');
    if !is_id {
        return false;
    }
    let before = spot.before();
    let name = before.strip_suffix(": ").or(before.strip_suffix(' ')).unwrap_or_default();
    let is_noun = || NOUNS.contains(&spot.last_word());
    is_noun() && !name.ends_with(|c: char| !c.is_alphanumeric()) && !promises_a_secret(before)
}

/// True for a list of videos at `YouTube`.
fn is_playlist(spot: &Spot<'_>) -> bool {
    let name = spot.last_word();
    spot.value().starts_with("PL") && spot.value().len() == 34 && (name == "playlist" || name == "list")
}

/// True for an address of Bitcoin (26 to 35 characters of base 58 from `1` or `3` on) or of a token's mint at Solana (43 or 44), unless the
/// word before it promises a secret.
fn is_of_ledger(spot: &Spot<'_>) -> bool {
    let value = spot.value();
    let is_digit = |b: u8| b.is_ascii_alphanumeric() && !b"0OIl".contains(&b);
    let name = spot.last_word();
    let is_payment = PAYMENTS.contains(&name) && (26..=35).contains(&value.len()) && value.starts_with(['1', '3']);
    let is_mint = name == "mint" && (43..=44).contains(&value.len());
    (is_payment || is_mint) && value.bytes().all(is_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, value: &str, expected: bool) {
        assert_eq!(field_id(&Spot::last(text, value)).is_some(), expected, "{text}");
    }

    #[test]
    fn ids_of_things_are_public_and_ids_of_secrets_are_not() {
        let uuid = "1a652f10-a47e-449f-ab74-68de3b744220";
        for (text, value, expected) in [
            ("BUILDKITE_JOB_ID=¶", uuid, true),
            ("workflow rotate-secrets runId=¶", uuid, true),
            ("SECRET_ID=¶", uuid, false),
            ("SecretBox<str>::h4b640c815da37556", "h4b640c815da37556", true),
            ("key: h4b640c815da37556", "h4b640c815da37556", false),
            ("key pair key-04b640c815da37556", "04b640c815da37556", true),
            ("api key 04b640c815da37556", "04b640c815da37556", false),
            ("INSERT INTO orders (note, user_id) VALUES ('a, b', '¶')", uuid, true),
            ("INSERT INTO passkeys (credential_id, n) VALUES ('UnH2-1LcOKt', 7)", "UnH2-1LcOKt", false),
            ("INSERT INTO sessions (id, user_id) VALUES ('¶', 7)", uuid, false),
            ("INSERT INTO users (name, password, user_id) VALUES ('Doe, J', '¶', 7)", uuid, false),
            ("INSERT INTO users (id, n) VALUES ('q7RtZ2mWx9LkB4vNs8', 7)", "q7RtZ2mWx9LkB4vNs8", false),
            ("https://api.test/?k=mrk-1&token=q7RtZ2mWx9LkB4vN", "q7RtZ2mWx9LkB4vN", false),
            ("amq.gen-x password q7RtZ2mWx9LkB4vN", "q7RtZ2mWx9LkB4vN", false),
            ("key LicenseRef-q7RtZ2mWx9LkB4vN", "LicenseRef-q7RtZ2mWx9LkB4vN", false),
            ("INSERT INTO users (id, password) VALUES (7, 'UnH2-1LcOKt')", "UnH2-1LcOKt", false),
            ("sum(token_supply) = 852991736206089692942334439 wei", "852991736206089692942334439", true),
            ("token = 852991736206089692942334439", "852991736206089692942334439", false),
            ("holderIdentity: rotator-038b77e7_¶", "038b77e7_1a652f10-a47e-449f-ab74-68de3b744220", true),
            ("donations: 1AaqW4jRoQaJDzNY9Fefx9FQzkWMkCsMpU", "1AaqW4jRoQaJDzNY9Fefx9FQzkWMkCsMpU", true),
            ("token: 1AaqW4jRoQaJDzNY9Fefx9FQzkWMkCsMpU", "1AaqW4jRoQaJDzNY9Fefx9FQzkWMkCsMpU", false),
            ("paypal order 8AC14829KX3390014", "8AC14829KX3390014", true),
            ("client.run(\"8AC14829KX3390014\")", "8AC14829KX3390014", false),
            ("paypal order q7RtZ2mWx9LkB4vNs8", "q7RtZ2mWx9LkB4vNs8", false),
            ("the api token for this order 8AC14829KX3390014", "8AC14829KX3390014", false),
            ("queue amq.gen-cFGJFLCb5g6xef6", "amq.gen-cFGJFLCb5g6xef6", true),
        ] {
            check(&text.replace('¶', uuid), value, expected);
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
