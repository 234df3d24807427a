//! The rows that join, and the threads that link them.

use std::ops::Range;

use crate::kernels::Kernel;
use crate::rows::Rows;

/// What a row needs to join.
#[derive(Clone, Copy)]
pub(crate) struct Builder<'a> {
    pub(crate) rows: &'a Rows,
    pub(crate) kernel: Kernel,
    pub(crate) threads: usize,
}

impl Builder<'_> {
    /// The results of `work` for each part of a range, in order, with a thread per part.
    pub(super) fn in_parts<T: Send>(self, range: Range<usize>, work: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
        let each = range.len().div_ceil(self.threads.max(1)).max(1);
        let parts = range.clone().step_by(each).map(|start| start..range.end.min(start + each));
        if range.len() <= each {
            return parts.map(work).collect();
        }
        std::thread::scope(|scope| {
            let work = &work;
            let threads: Vec<_> = parts.map(|part| scope.spawn(move || work(part))).collect();
            let done = threads.into_iter().map(std::thread::ScopedJoinHandle::join);
            done.map(|done| done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
        })
    }
}

#[expect(clippy::cast_possible_truncation, reason = "an index has less than 2^32 rows, as keys are u32")]
pub(super) fn number(row: usize) -> u32 {
    row as u32
}
