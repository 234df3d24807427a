//! Keys by which something is looked up: in a cache, a table, a list. The word `key` promises no secret there.

use super::spot::{Spot, is_hex_of, lower_words};
use crate::shape::is_uuid;

/// What a key looks up, by the word before `key`.
const KINDS: [&str; 31] = [
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
    "node",
    "kms",
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

/// True for the key of a cache, a row or another entry: a digest or an id, perhaps with words before it.
pub(super) fn is_lookup_key(spot: &Spot<'_>) -> bool {
    let before = spot.before();
    let name = before.trim_end_matches(|c: char| !c.is_alphanumeric());
    // The value may begin with words, as in `linux-cargo-<digest>`.
    if !is_id(spot.value()) || name.len() == before.len() {
        return false;
    }
    let words = lower_words(name);
    let Some((last, words)) = words.split_last() else { return false };
    let is_key = last == "key" || last == "keys";
    let kind = words.last().map(String::as_str).unwrap_or_default();
    let is_joined = ["rowkey", "dedupkey", "dedupekey", "cachekey", "shardkey", "sortkey"].contains(&last.as_str());
    is_joined || (is_key && (KINDS.contains(&kind) || is_on_line_of_cache(spot, words)))
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
            ("dedup key q7RtZ2mWx9LkB4vNs8Yd1HcJ", false),
        ] {
            let text = text.replace('¶', hex);
            let start = text.rfind([' ', '=']).map_or(0, |at| at + 1);
            let at = text.find("node-3f").or(text.find(hex)).unwrap_or(start);
            let end = text.get(at..).and_then(|rest| rest.find(' ')).map_or(text.len(), |end| at + end);
            assert_eq!(is_lookup_key(&Spot::of(&text, &(at..end))), expected, "{text}");
        }
    }
}
