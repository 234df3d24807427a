//! Identifiers of lessons, changes and receipts.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, FixedOffset};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::hash::TextHash;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// A version 7 UUID of this instant whose remaining bits come from `seed`: the same inputs give the same id.
            pub(crate) fn at(instant: DateTime<FixedOffset>, seed: TextHash) -> Self {
                Self(uuid_v7(instant, seed))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                Uuid::parse_str(text.trim()).map(Self)
            }
        }
    };
}

id! {
    /// The name of a lesson, a UUID v7: it survives edits of the lesson's text, and later ones sort after earlier ones.
    LessonId
}

id! {
    /// The name of one committed change that can be undone: a learn that replaced or evicted something, a prune, a removal.
    ChangeId
}

id! {
    /// The name of one retrieval, to be handed back with its outcome.
    ReceiptId
}

impl ChangeId {
    /// When the change was made, to the millisecond, as its id says.
    pub(crate) fn millis(self) -> i64 {
        let instant = self.0.get_timestamp().map(|stamp| stamp.to_unix());
        instant.map_or(0, |(seconds, nanos)| {
            i64::try_from(seconds).unwrap_or(i64::MAX / 1_000).saturating_mul(1_000) + i64::from(nanos / 1_000_000)
        })
    }
}

impl LessonId {
    /// Sorts before every other id.
    pub(crate) const MIN: Self = Self(Uuid::nil());

    /// The id of the `n`th lesson of a batch that is learned at one instant: later ones sort after earlier ones.
    pub(crate) fn numbered(instant: DateTime<FixedOffset>, n: usize, seed: TextHash) -> Self {
        // The version takes the first 4 bits of the tail, the variant the first 2 of its third byte; n fills the 12 and 14
        // bits that follow them.
        let n = u32::try_from(n).unwrap_or(u32::MAX).min((1 << 26) - 1);
        let spread = ((n >> 14) << 16) | (n & 0x3fff);
        let mut tail = *seed.as_bytes();
        for (byte, value) in tail.iter_mut().zip(spread.to_be_bytes()) {
            *byte = value;
        }
        Self::at(instant, TextHash::from_bytes(tail))
    }
}

fn uuid_v7(instant: DateTime<FixedOffset>, seed: TextHash) -> Uuid {
    let millis = u64::try_from(instant.timestamp_millis()).unwrap_or(0);
    let mut tail = [0; 10];
    tail.copy_from_slice(seed.as_bytes().split_at(10).0);
    uuid::Builder::from_unix_timestamp_millis(millis, &tail).into_uuid()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_version_7_and_sort_by_time() {
        let early = DateTime::parse_from_rfc3339("2026-01-01T00:00:00Z").unwrap();
        let late = DateTime::parse_from_rfc3339("2026-01-01T00:00:00.001Z").unwrap();
        let (a, b) = (LessonId::at(early, TextHash::of(&["z"])), LessonId::at(late, TextHash::of(&["a"])));
        assert_eq!(a.0.get_version_num(), 7);
        assert!(a < b);
    }

    #[test]
    fn ids_of_a_batch_sort_in_its_order() {
        let now = DateTime::parse_from_rfc3339("2026-01-01T00:00:00Z").unwrap();
        let of = |n: usize| LessonId::numbered(now, n, TextHash::of(&[n.to_string()]));
        for n in [0, 1, 255, 4_095, 16_383, 16_384, 70_000] {
            assert!(of(n) < of(n + 1), "{n}: {} {}", of(n), of(n + 1));
        }
    }
}
