//! What tests share.

use chrono::{DateTime, FixedOffset};

/// A time, in seconds since 1970.
pub(crate) fn at(seconds: i64) -> DateTime<FixedOffset> {
    DateTime::from_timestamp(seconds, 0).unwrap().fixed_offset()
}
