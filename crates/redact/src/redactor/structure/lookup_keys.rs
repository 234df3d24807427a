//! Keys by which something is looked up: in a cache, a table, a list. The word `key` promises no secret there.

use super::proof::{Form, Public};
use super::spot::{Spot, is_hex_of, lower_words};
use crate::redactor::promise::promises_within;
use crate::score::promises_a_secret;
use crate::shape::{is_uuid, words};

/// What a key looks up, by the word before `key`.
const KINDS: [&str; 30] = [
    "dedup",
    "dedupe",
    "deduplication",
    "memo",
    "memoization",
    "shard",
    "row",
    "action",
    "result",
    "aggregate",
    "aggregation",
    "react",
    "duplicate",
    "document",
    "doc",
    "record",
    "sccache",
    "ccache",
    "rowkey",
    "same",
    "query",
    "input",
    "build",
    "job",
    "task",
    "artifact",
    "layer",
    "entry",
    "item",
    "discovery",
];
/// What a key of a message, an event or a row identifies, by the word before `key`.
const EVENT_KINDS: [&str; 22] = [
    "event",
    "message",
    "tracking",
    "batch",
    "correlation",
    "partition",
    "routing",
    "lookup",
    "group",
    "foreign",
    "primary",
    "object",
    "idempotency",
    "request",
    "job",
    "task",
    "row",
    "record",
    "document",
    "entity",
    "order",
    "dedup",
];
/// The greatest length of the name of a mark of a page, in bytes.
const MAX_MARK: usize = 40;
/// The least length of a mark of a page, in bytes.
const MIN_PLACE: usize = 12;
/// What a mark such as `page_token` continues.
const PAGES: [&str; 12] = [
    "skip",
    "page",
    "next",
    "continue",
    "continuation",
    "starting",
    "pagination",
    "resume",
    "sync",
    "scroll",
    "nextpage",
    "delta",
];
/// Names of a place in a list, which need no other word.
const PLACES: [&str; 21] = [
    "cursor",
    "endcursor",
    "startcursor",
    "nextcursor",
    "after",
    "before",
    "startafter",
    "startingafter",
    "endingbefore",
    "continue",
    "continuation",
    "marker",
    "nextmarker",
    "skiptoken",
    "nexttoken",
    "pagetoken",
    "nextpagetoken",
    "scrollid",
    "synctoken",
    "deltatoken",
    "resumetoken",
];
/// Commands of Redis whose first argument is a key.
const COMMANDS: [&str; 14] = [
    "GET", "SET", "DEL", "HGET", "HGETALL", "HSET", "EXISTS", "EXPIRE", "TTL", "KEYS", "SCAN", "INCR", "TYPE", "UNLINK",
];
/// Words of a line on a cache.
const CACHES: [&str; 14] = [
    "cache",
    "cached",
    "caches",
    "caching",
    "lru",
    "memcached",
    "ccache",
    "sccache",
    "evict",
    "evicting",
    "evicted",
    "addressable",
    "memoized",
    "turborepo",
];
/// What happens to a key of a cache.
const OPERATIONS: [&str; 24] = [
    "restored",
    "restoring",
    "restore",
    "saved",
    "saving",
    "save",
    "hit",
    "miss",
    "missed",
    "found",
    "lookup",
    "evict",
    "evicting",
    "evicted",
    "stored",
    "get",
    "set",
    "computed",
    "primary",
    "matched",
    "expired",
    "invalidated",
    "populated",
    "warmed",
];
/// Words that promise a secret also on such a line.
const PROMISES: [&str; 18] = [
    "api",
    "apikey",
    "auth",
    "access",
    "secret",
    "private",
    "password",
    "token",
    "credential",
    "credentials",
    "encryption",
    "signing",
    "master",
    "license",
    "licence",
    "bearer",
    "account",
    "admin",
];

/// The proof for the key of a cache, a row or another entry, and for the mark of a page of a list.
pub(super) fn lookup_key(spot: &Spot<'_>) -> Option<Public> {
    if is_page_mark(spot) || is_place_in_list(spot) {
        return Public::proven(spot, &[Form::Mark(8)], "");
    }
    let has_form = is_named_key(spot) || is_of_event(spot) || is_of_command(spot) || is_attribute(spot);
    has_form.then(|| Public::of_form(spot)).flatten()
}

/// True for a digest or an id that a key's name is before, perhaps with words between the two as in `linux-cargo-<digest>`.
fn is_named_key(spot: &Spot<'_>) -> bool {
    if !is_id(spot.value()) {
        return false;
    }
    let line = spot.before();
    let is_word = |c: char| c.is_alphanumeric() || "-_.:/".contains(c);
    let stem = line.trim_end_matches(is_word);
    // A name that an assignment joins to the value is not part of it.
    let before = if is_joined(line) { stem } else { line };
    if spot.before().trim_start().starts_with("key: ${{") || (is_idempotent(spot) && is_uuid(spot.value())) {
        return true;
    }
    let name = before.trim_end_matches(|c: char| !c.is_alphanumeric());
    if name.len() == before.len() {
        return false;
    }
    let words = lower_words(name);
    let Some((last, words)) = words.split_last() else { return false };
    let is_key = last == "key" || last == "keys";
    let kind = words.last().map(String::as_str).unwrap_or_default();
    let is_name = ["rowkey", "dedupkey", "dedupekey", "cachekey", "shardkey", "sortkey"].contains(&last.as_str());
    let is_of_partition = || line.to_ascii_lowercase().contains("partition key ") && is_uuid(spot.value());
    // A path announces nothing.
    let prose: Vec<&str> = name.split(' ').filter(|word| !word.contains('/')).collect();
    let prose = prose.join(" ");
    let is_promised =
        promises_within(&prose) || lower_words(&prose).iter().any(|word| PROMISES.contains(&word.as_str()));
    !is_promised
        && (is_name || is_of_partition() || (is_key && (KINDS.contains(&kind) || is_on_line_of_cache(spot, words))))
}

/// True if the line ends with a joint of words, as in `cargo-` and `user:`, and not with a name and its colon.
fn is_joined(line: &str) -> bool {
    let end = line.trim_end_matches(|c: char| c.is_alphanumeric() || "-_.".contains(c));
    let is_name = ["key:", "keys:", "key-", "key_"].iter().any(|name| line.ends_with(name));
    !is_name && (line.ends_with(['-', '_', '/', ':', '.']) || (end.len() < line.len() && line.ends_with('.')))
}

/// True on a line that says that its token makes a request idempotent.
fn is_idempotent(spot: &Spot<'_>) -> bool {
    [spot.before(), spot.behind()].iter().any(|part| part.to_ascii_lowercase().contains("idempoten"))
}

/// True for the mark of a page of a list that a query, a call or a flag names: `page_token=`, `ContinueToken:`, `--starting-token`. In
/// prose a token of these names can be any.
fn is_page_mark(spot: &Spot<'_>) -> bool {
    let name = spot.before().trim_end_matches(['"', '\'', ' ', '\\']);
    let assigned = name.strip_suffix([':', '=']).map(|name| name.trim_end_matches(['"', '\'', ' ', '\\']));
    let tail = assigned.unwrap_or(name);
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let tail = tail.get(tail.floor_char_boundary(tail.len().saturating_sub(MAX_MARK))..).unwrap_or_default();
    let name = tail.rsplit(|c| !is_of_name(c)).next().unwrap_or_default();
    let words: Vec<String> = words(name).map(str::to_lowercase).collect();
    let [thing, last] = words.last_chunk().map_or(["", ""], |[thing, last]| [thing.as_str(), last.as_str()]);
    let is_named = assigned.is_some() || name.starts_with("--");
    is_named && ["token", "cursor"].contains(&last) && PAGES.contains(&thing)
}

/// True for a value that a name of a place in a list is assigned to, as in `?after=` and `"endCursor": "`. A word that promises a secret
/// in the value's own name or right behind the mark outweighs it.
fn is_place_in_list(spot: &Spot<'_>) -> bool {
    let line = spot.before().trim_end_matches(['"', '\'', ' ']);
    let Some(line) = line.strip_suffix(['=', ':']) else { return false };
    let line = line.trim_end_matches(['"', '\'', ' ']);
    let is_of_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let name = line.rsplit(|c| !is_of_name(c)).next().unwrap_or_default();
    let bare: String = name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    PLACES.contains(&bare.as_str()) && spot.value().len() >= MIN_PLACE && !promises_a_secret(spot.value())
}

/// True for a UUID or a digest in a sentence of a log that says what happened to a key: `event key … already processed`.
fn is_of_event(spot: &Spot<'_>) -> bool {
    let is_id = is_uuid(spot.value()) || is_hex_of(spot.value(), &[32, 40, 64]);
    let Some(name) = spot.before().strip_suffix(" key ").filter(|_| is_id) else { return false };
    let words = lower_words(name);
    let kind = words.last().map(String::as_str).unwrap_or_default();
    let next = lower_words(spot.behind()).into_iter().next().unwrap_or_default();
    let happened =
        ["was", "is", "has", "already", "not", "seen", "done", "missing", "skipped", "moved", "violates", "bound"];
    let is_told = happened.contains(&next.as_str()) || (next.len() >= 5 && next.ends_with("ed"));
    is_told && EVENT_KINDS.contains(&kind) && !words.iter().any(|word| PROMISES.contains(&word.as_str()))
}

/// True for a part of the first argument of a command of Redis that reads or writes a key.
fn is_of_command(spot: &Spot<'_>) -> bool {
    let line = spot.before().trim_start();
    let command = line.rsplit_once("> ").map_or(line, |(_, command)| command);
    let Some((verb, argument)) = command.split_once(' ') else { return false };
    let is_key = argument.contains(':') && !argument.contains([' ', '"']);
    let is_promised = || {
        argument
            .trim_end_matches(':')
            .rsplit(':')
            .next()
            .is_some_and(|part| promises_within(part) && !part.ends_with("-list"))
    };
    COMMANDS.contains(&verb) && is_key && is_id(spot.value()) && !is_promised()
}

/// True within a quoted path of at least three words and numbers with colons between them.
pub(super) fn is_path_of_words(spot: &Spot<'_>) -> bool {
    let lead = spot.before().rsplit(['"', '\'', '`']).next().unwrap_or_default();
    if lead.len() == spot.before().len() {
        return false;
    }
    let rest = spot.behind().split(['"', '\'', '`']).next().unwrap_or_default();
    let whole = [lead, spot.value(), rest].concat();
    let is_word = |part: &str| {
        !part.is_empty() && (part.bytes().all(|b| b.is_ascii_alphabetic()) || part.bytes().all(|b| b.is_ascii_digit()))
    };
    whole.split(':').count() >= 4 && whole.split(':').all(is_word)
}

/// True for a key of an entry of `DynamoDB`: the attribute `pk` or `sk` with a kind, `#` and an id. The kind must not promise a secret.
fn is_attribute(spot: &Spot<'_>) -> bool {
    let line = spot.line();
    let value = line.rsplit(['"', ' ', '\'']).next().unwrap_or_default();
    let names = lower_words(line.get(..line.len() - value.len()).unwrap_or_default());
    let field = names.iter().rev().find(|name| *name != "s").map(String::as_str).unwrap_or_default();
    let is_kind = |kind: &str| {
        let lower = kind.to_ascii_lowercase();
        kind.len() >= 2
            && kind.bytes().all(|b| b.is_ascii_uppercase() || b == b'_')
            && !lower.ends_with("key")
            && lower != "session"
            && !promises_within(&lower)
    };
    let is_id = |id: &str| id.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b));
    ["pk", "sk", "gsi1pk", "gsi1sk"].contains(&field)
        && value.split_once('#').is_some_and(|(kind, id)| is_kind(kind) && is_id(id))
}

/// True for hexadecimal digits of at least the length of a short digest or a UUID, at the end of the value.
fn is_id(value: &str) -> bool {
    let end = value.rsplit(['-', '_', ':', '/']).next().unwrap_or_default();
    is_uuid(value) || is_hex_of(end, &[16, 20, 24, 32, 40, 56, 64, 96, 128])
}

/// True on a line on a cache and on what happens to its key, without a word that promises a secret before the key.
fn is_on_line_of_cache(spot: &Spot<'_>, before: &[String]) -> bool {
    let behind = lower_words(spot.behind());
    let any = |list: &[&str]| before.iter().chain(&behind).any(|word| list.contains(&word.as_str()));
    any(&CACHES) && any(&OPERATIONS) && !before.iter().any(|word| PROMISES.contains(&word.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_lists_and_keys_of_events_are_public() {
        let (random, uuid) = ("q7RtZ2mWx9LkB4vNs8Yd", "1a652f10-a47e-449f-ab74-68de3b744220");
        for (text, value, expected) in [
            ("/pods?limit=5&continue=¶", random, true),
            ("{\"endCursor\": \"¶\"}", random, true),
            ("GET /x?$skiptoken=¶", random, true),
            ("--marker=¶ --max 9", random, true),
            ("shipment event key ¶ was dropped", uuid, true),
            // A secret in the same places.
            ("?login_after=¶", random, false),
            ("continue with ¶", random, false),
            ("?after=¶", "my-password-lamp", false),
            ("token: ¶ # continue", random, false),
            ("the api token, event key ¶ was dropped", uuid, false),
            ("deploy key ¶ was dropped", uuid, false),
            ("event key ¶", uuid, false),
            ("event key ¶ was dropped", random, false),
        ] {
            let text = text.replace('¶', value);
            assert_eq!(lookup_key(&Spot::last(&text, value)).is_some(), expected, "{text}");
        }
    }

    #[test]
    fn marks_of_pages_and_attributes_are_public() {
        for (text, value, expected) in [
            ("GET /items?page_token=cGFnZT0z&limit=1", "cGFnZT0z", true),
            ("ListOpts{ContinueToken: \"c3RhcnQ9cG9kcw\"}", "c3RhcnQ9cG9kcw", true),
            ("statuspage_token=cGFnZT0z", "cGFnZT0z", false),
            ("the previous token q7RtZ2mWx9Lk was revoked", "q7RtZ2mWx9Lk", false),
            ("resume token: q7RtZ2mWx9Lk", "q7RtZ2mWx9Lk", false),
            ("next token q7RtZ2mWx9Lk", "q7RtZ2mWx9Lk", false),
            ("page_token=q7RtZ!mWx9Lk", "q7RtZ!mWx9Lk", false),
            ("sk = \"TOKEN#q7RtZ2mWx9Lk\"", "q7RtZ2mWx9Lk", false),
            ("sk = \"API_KEY#q7RtZ2mWx9Lk\"", "q7RtZ2mWx9Lk", false),
            ("pk = 1, note = \"ORG#q7RtZ2mWx9Lk\"", "q7RtZ2mWx9Lk", false),
            ("GET /items?access_token=cGFnZT0z&limit=1", "cGFnZT0z", false),
            ("{\"pk\": {\"S\": \"ORG#AFSrZ7YWsX3IMngn\"}}", "ORG#AFSrZ7YWsX3IMngn", true),
            ("{\"pw\": {\"S\": \"ORG#AFSrZ7YWsX3IMngn\"}}", "ORG#AFSrZ7YWsX3IMngn", false),
        ] {
            assert_eq!(lookup_key(&Spot::first(text, value)).is_some(), expected, "{text}");
        }
        for (text, value, expected) in [
            ("map.get(\"user:password:changedAt:276393\")", "changedAt", true),
            ("login(\"user:password:changed276393\")", "changed276393", false),
        ] {
            assert_eq!(is_path_of_words(&Spot::first(text, value)), expected, "{text}");
        }
    }

    #[test]
    fn keys_of_caches_and_rows_are_public_and_keys_of_services_are_not() {
        let hex = "3f9a0c7be15d24683f9a0c7be15d2468";
        for (text, expected) in [
            ("Cache restored from key: node-¶", true),
            ("cache hit for key ¶", true),
            ("evicting key ¶ from the LRU", true),
            ("dedup key ¶ already seen", true),
            ("dedupe_key=¶", true),
            ("action key ¶", true),
            ("cache key of the api: ¶", false),
            ("the cache restored its api key: ¶", false),
            ("the cache service has the key ¶", false),
            ("api_key=¶", false),
            ("key: ¶", false),
            ("key: ${{ runner.os }}-auth-¶", true),
            ("dedup_key=checkout:¶ seen", true),
            ("api_key=checkout:¶ seen", false),
            ("redis> GET cache:token-list:¶", true),
            ("redis> SET cache:token ¶", false),
            ("dedup key q7RtZ2mWx9LkB4vNs8Yd1HcJ", false),
            ("the node key ¶", false),
            ("kms key: ¶", false),
            ("the api secret of the service: job key: ¶", false),
            ("redis> GET api:token:¶", false),
        ] {
            let text = text.replace('¶', hex);
            let at = text.find("node-3f").or(text.find(hex)).or(text.find("q7Rt")).unwrap_or_default();
            let end = text.get(at..).and_then(|rest| rest.find(' ')).map_or(text.len(), |end| at + end);
            assert_eq!(lookup_key(&Spot::of(&text, &(at..end))).is_some(), expected, "{text}");
        }
    }
}
