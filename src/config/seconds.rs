//! Durations as numbers of seconds: whole ones as integers.

use std::time::Duration;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};
use serde_json::Value;

/// A number of seconds; a whole one as an integer.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
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
    let value = Value::deserialize(deserializer)?;
    let duration = value.as_u64().map(Duration::from_secs).or_else(|| of_float(value.as_f64()?));
    duration.ok_or_else(|| D::Error::custom(format!("{value} is not a number of seconds, 0 or more")))
}

fn of_float(seconds: f64) -> Option<Duration> {
    // The longest durations round up to 2^64, which is one second too many.
    let is_longest = seconds.to_bits() == Duration::MAX.as_secs_f64().to_bits();
    if is_longest { Some(Duration::MAX) } else { Duration::try_from_secs_f64(seconds).ok() }
}
