//! Sources of the present time: the façade reads a [`Clock`], and stages take the time as an argument.

use std::sync::Arc;

use chrono::{DateTime, FixedOffset, Local, NaiveDate, NaiveDateTime, NaiveTime, TimeZone};
use parking_lot::Mutex;

/// A source of the present time. The system's by default; a [`ManualClock`] makes every result reproducible.
pub trait Clock: Send + Sync {
    /// The present time, with the offset that defines "today".
    fn now(&self) -> DateTime<FixedOffset>;

    /// Converts a local time without an offset.
    fn resolve_local(&self, naive: NaiveDateTime) -> DateTime<FixedOffset> {
        let offset = *self.now().offset();
        offset.from_local_datetime(&naive).single().unwrap_or_else(|| naive.and_utc().with_timezone(&offset))
    }
}

/// Times with an offset that RFC 3339 does not have.
const OFFSET_FORMATS: [&str; 2] = ["%Y-%m-%dT%H:%M:%S%.f%#z", "%Y-%m-%dT%H:%M%#z"];

/// Reads a time as programs write it: RFC 3339, also without seconds or with an offset without a colon; a date, which is its midnight in
/// UTC; or the seconds, milliseconds, microseconds or nanoseconds since 1970. None for anything else, such as a time without an offset.
///
/// ```
/// let utc = |text: &str| adage::parse_time(text).map(|time| time.to_utc().to_rfc3339());
/// assert_eq!(utc("2026-11-02").as_deref(), Some("2026-11-02T00:00:00+00:00"));
/// assert_eq!(utc("1793611800123").as_deref(), Some("2026-11-02T09:30:00.123+00:00"));
/// assert_eq!(utc("2026-11-02T10:30+0100").as_deref(), Some("2026-11-02T09:30:00+00:00"));
/// assert_eq!((utc("2026-11-02T09:30:00"), utc("yesterday"), utc("2026")), (None, None, None));
/// ```
#[must_use]
pub fn parse_time(text: &str) -> Option<DateTime<FixedOffset>> {
    let text = text.trim();
    let n_digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if n_digits != 4 {
        return since_1970(text);
    }
    let joined = text.replacen(' ', "T", 1).replacen(' ', "", 1);
    let offset = || OFFSET_FORMATS.iter().find_map(|format| DateTime::parse_from_str(&joined, format).ok());
    let date = || NaiveDate::parse_from_str(text, "%Y-%m-%d").ok();
    let midnight = || Some(date()?.and_time(NaiveTime::MIN).and_utc().fixed_offset());
    DateTime::parse_from_rfc3339(text).ok().or_else(offset).or_else(midnight)
}

/// The time of a number since 1970. Its unit is known by the number of digits: with another unit, it would be before 1973 or after 5138.
fn since_1970(text: &str) -> Option<DateTime<FixedOffset>> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let is_number = |digits: &str| digits.bytes().all(|byte| byte.is_ascii_digit());
    let per_second: i64 = match whole.len() {
        _ if !is_number(whole) || !is_number(fraction) => return None,
        9..=11 => 1,
        12..=14 => 1_000,
        15..=17 => 1_000_000,
        18..=19 => 1_000_000_000,
        _ => return None,
    };
    let number: i64 = whole.parse().ok()?;
    let of_fraction: i64 = if per_second == 1 { format!("{fraction:0<9.9}").parse().ok()? } else { 0 };
    let nanos = number.rem_euclid(per_second) * (1_000_000_000 / per_second) + of_fraction;
    Some(DateTime::from_timestamp(number.div_euclid(per_second), u32::try_from(nanos).ok()?)?.fixed_offset())
}

/// The operating system's clock and time zone.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> DateTime<FixedOffset> {
        Local::now().fixed_offset()
    }

    fn resolve_local(&self, naive: NaiveDateTime) -> DateTime<FixedOffset> {
        // A time that occurs twice at a change of summer time is read as the earlier one; one that is skipped, as UTC.
        Local
            .from_local_datetime(&naive)
            .earliest()
            .map_or_else(|| naive.and_utc().fixed_offset(), |instant| instant.fixed_offset())
    }
}

/// A clock that changes only when it is moved.
///
/// ```
/// use std::sync::Arc;
///
/// use adage::chrono::{DateTime, TimeDelta};
/// use adage::playbook::{Listing, Window};
/// use adage::{ManualClock, Playbook, build_lesson};
///
/// # let folder = tempfile::tempdir()?;
/// let clock = Arc::new(ManualClock::new(DateTime::parse_from_rfc3339("2026-01-01T09:00:00+01:00")?));
/// let playbook = Playbook::builder(folder.path()).with_clock(clock.clone()).without_embedder().open()?;
/// playbook.learn_lesson(build_lesson("pinning numpy", "Pin numpy below 2.0."))?;
///
/// let this_week = Listing::default().window(Window::Week);
/// assert_eq!(playbook.list_lessons(&this_week)?.len(), 1);
/// clock.advance(TimeDelta::days(30));
/// assert_eq!(playbook.list_lessons(&this_week)?.len(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ManualClock(Mutex<DateTime<FixedOffset>>);

impl ManualClock {
    /// A clock that shows `now`.
    #[must_use]
    pub fn new(now: DateTime<FixedOffset>) -> Self {
        Self(Mutex::new(now))
    }

    /// Moves the clock forward, or back with a negative delta.
    pub fn advance(&self, by: chrono::TimeDelta) {
        let mut now = self.0.lock();
        *now += by;
    }
}

impl Clock for ManualClock {
    fn now(&self) -> DateTime<FixedOffset> {
        *self.0.lock()
    }
}

/// Another clock, clamped to times that can be written and read again: the years of RFC 3339.
pub(crate) struct WritableClock(pub(crate) Arc<dyn Clock>);

/// The start of year 1, and a day before the end of year 9999, whatever the offset.
const WRITABLE_SECONDS: [i64; 2] = [-62_135_510_400, 253_402_214_400];

impl Clock for WritableClock {
    fn now(&self) -> DateTime<FixedOffset> {
        let now = self.0.now();
        let [first, last] = WRITABLE_SECONDS.map(|seconds| DateTime::from_timestamp(seconds, 0).unwrap_or_default());
        now.clamp(first.with_timezone(now.offset()), last.with_timezone(now.offset()))
    }

    fn resolve_local(&self, naive: NaiveDateTime) -> DateTime<FixedOffset> {
        self.0.resolve_local(naive)
    }
}
