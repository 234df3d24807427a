//! Durations as numbers of seconds: whole ones as integers.

use std::fmt;
use std::time::Duration;

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserializer, Serializer};

const EXPECTED: &str = "a number of seconds, 0 or more";

pub(crate) fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    match duration.subsec_nanos() {
        0 => serializer.serialize_u64(duration.as_secs()),
        _ => serializer.serialize_f64(duration.as_secs_f64()),
    }
}

/// Null for none.
#[expect(clippy::ref_option, reason = "the signature that serde calls")]
pub(crate) fn serialize_if_any<S: Serializer>(duration: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    match duration {
        Some(duration) => serialize(duration, serializer),
        None => serializer.serialize_none(),
    }
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    deserializer.deserialize_any(Seconds)
}

struct Seconds;

impl Visitor<'_> for Seconds {
    type Value = Duration;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(EXPECTED)
    }

    fn visit_u64<E: Error>(self, seconds: u64) -> Result<Duration, E> {
        Ok(Duration::from_secs(seconds))
    }

    fn visit_i64<E: Error>(self, seconds: i64) -> Result<Duration, E> {
        let invalid = |_| E::invalid_value(Unexpected::Signed(seconds), &self);
        u64::try_from(seconds).map(Duration::from_secs).map_err(invalid)
    }

    fn visit_f64<E: Error>(self, seconds: f64) -> Result<Duration, E> {
        // The longest durations round up to 2^64, which is one second too many.
        if seconds.to_bits() == Duration::MAX.as_secs_f64().to_bits() {
            return Ok(Duration::MAX);
        }
        Duration::try_from_secs_f64(seconds).map_err(|_| E::invalid_value(Unexpected::Float(seconds), &self))
    }
}
