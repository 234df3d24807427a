//! Counts the bytes of a source and stops it at a limit.

use std::cell::Cell;
use std::io::Read;

/// What a source has given so far.
pub(super) struct Meter {
    n_bytes: Cell<u64>,
    is_cut: Cell<bool>,
    max: u64,
}

impl Meter {
    pub(super) fn new(max: u64) -> Self {
        Self { n_bytes: Cell::new(0), is_cut: Cell::new(false), max }
    }

    pub(super) fn n_bytes(&self) -> u64 {
        self.n_bytes.get()
    }

    /// True when the source had more than the limit.
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut.get()
    }

    /// The source, counted.
    pub(super) fn count<R: Read>(&self, source: R) -> impl Read {
        Counted { source, meter: self }
    }
}

struct Counted<'m, R> {
    source: R,
    meter: &'m Meter,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let left = usize::try_from(self.meter.max - self.meter.n_bytes.get()).unwrap_or(usize::MAX);
        if left == 0 {
            let n_more = if self.meter.is_cut.get() { 0 } else { self.source.read(&mut [0])? };
            self.meter.is_cut.set(self.meter.is_cut.get() || n_more > 0);
            return Ok(0);
        }
        let room = into.len().min(left);
        let n_read = self.source.read(into.get_mut(..room).unwrap_or_default())?;
        self.meter.n_bytes.set(self.meter.n_bytes.get() + n_read as u64);
        Ok(n_read)
    }
}
