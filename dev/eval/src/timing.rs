//! Wall-clock times of calls.

use std::time::{Duration, Instant};

/// The value of a call, and the time that it took.
///
/// # Errors
/// Those of the call.
#[expect(clippy::disallowed_methods, reason = "a measurement needs the real clock")]
pub fn timed<T, E>(call: impl FnOnce() -> Result<T, E>) -> Result<(T, Duration), E> {
    let start = Instant::now();
    let value = call()?;
    Ok((value, start.elapsed()))
}

/// The median time of `n` calls, which get the numbers from 0; zero if `n` is 0.
///
/// # Errors
/// That of the first call that fails.
pub fn median<T, E>(n: usize, mut call: impl FnMut(usize) -> Result<T, E>) -> Result<Duration, E> {
    let mut times = (0..n).map(|number| Ok(timed(|| call(number))?.1)).collect::<Result<Vec<_>, E>>()?;
    times.sort_unstable();
    Ok(times.get(n / 2).copied().unwrap_or_default())
}
