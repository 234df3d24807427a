//! Sources of the present time: the façade reads a [`Clock`], and stages take the time as an argument.

use std::sync::Arc;

use chrono::{DateTime, FixedOffset, Local, NaiveDateTime, TimeZone};
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
