//! The ranges of settings. Each section checks its own fields, and names all of them: a new one is checked or left out on purpose.

use std::fmt::Display;
use std::ops::RangeInclusive;

use crate::error::config::Error;

/// An error that names the setting and its value unless the condition holds.
pub(super) fn check<T: Display + ?Sized>(
    setting: &'static str,
    value: &T,
    holds: bool,
    expected: &'static str,
) -> Result<(), Error> {
    if holds { Ok(()) } else { Err(Error::Invalid { setting, value: value.to_string(), expected }) }
}

/// A count of at least 1.
pub(super) fn at_least_one<T: Copy + PartialOrd + From<u8> + Display>(
    setting: &'static str,
    value: T,
) -> Result<(), Error> {
    check(setting, &value, value >= T::from(1), "at least 1")
}

/// A count of at least 2.
pub(super) fn at_least_two(setting: &'static str, value: usize) -> Result<(), Error> {
    check(setting, &value, value >= 2, "at least 2")
}

/// A share, in [0, 1].
pub(super) fn share<T: Copy + PartialOrd + From<u8> + Display>(setting: &'static str, value: T) -> Result<(), Error> {
    within(setting, value, T::from(0)..=T::from(1), "in [0, 1]")
}

/// A cosine distance, in [0, 2].
pub(super) fn distance<T: Copy + PartialOrd + From<u8> + Display>(
    setting: &'static str,
    value: T,
) -> Result<(), Error> {
    within(setting, value, T::from(0)..=T::from(2), "a cosine distance in [0, 2]")
}

/// A number in a range, so never NaN.
pub(super) fn within<T: Copy + PartialOrd + Display>(
    setting: &'static str,
    value: T,
    range: RangeInclusive<T>,
    expected: &'static str,
) -> Result<(), Error> {
    check(setting, &value, range.contains(&value), expected)
}
