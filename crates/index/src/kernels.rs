//! Sums of products, as fast as the processor allows: [`products`] of one row with others, [`packs`] of sixteen queries, and [`signs`]
//! of rows. Processor instructions are used in this file and its folder, nowhere else in this crate.
//!
//! Every kernel gives the same bits as the portable one. Sums of integers are exact. The kernels of floats keep sixteen sums side by
//! side, never fuse a multiplication with an addition, and add up the sixteen in the same order.
#![expect(unsafe_code, reason = "vector instructions; each use says why it is sound")]

mod packs;
mod products;
#[cfg(target_arch = "x86_64")]
mod registers;
mod signs;
#[cfg(target_arch = "x86_64")]
mod signs_x86;

pub(crate) use packs::{PACK, Pack, PackScores};
pub(crate) use signs::{Limit, MOST_LINES, Passed, SignPack, SignRows, TOGETHER, place_of};

use bytemuck::{Pod, Zeroable};

/// Sixty-four codes: a cache line, and one register of the widest kernel. A row of codes is a whole number of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub(crate) struct CodeLine(pub(crate) [i8; LINE]);

// SAFETY: a line is sixty-four bytes, and zero is a valid code.
unsafe impl Zeroable for CodeLine {}
// SAFETY: its size is its alignment, so it has no padding, and every bit pattern is a valid code.
unsafe impl Pod for CodeLine {}

/// Codes per line.
pub(crate) const LINE: usize = 64;

/// The instructions that are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kernel {
    /// Plain Rust.
    Portable,
    /// AVX2: 256 bits.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512 with VNNI: 512 bits; four products of codes and their sum in one instruction.
    #[cfg(target_arch = "x86_64")]
    Avx512Vnni,
}

impl Kernel {
    /// The fastest kernel that this processor runs.
    pub(crate) fn best() -> Self {
        Self::available().last().copied().unwrap_or(Self::Portable)
    }

    /// The kernels that this processor runs, slowest first.
    pub(crate) fn available() -> &'static [Self] {
        #[cfg(target_arch = "x86_64")]
        {
            let has_avx2 = is_x86_feature_detected!("avx2");
            let has_avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vnni");
            match (has_avx2, has_avx512) {
                (true, true) => &[Self::Portable, Self::Avx2, Self::Avx512Vnni],
                (true, false) => &[Self::Portable, Self::Avx2],
                (false, _) => &[Self::Portable],
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        &[Self::Portable]
    }
}

/// Asks the processor to bring the value into its caches.
#[inline]
pub(crate) fn prefetch<T>(data: Option<&T>) {
    #[cfg(target_arch = "x86_64")]
    if let Some(data) = data {
        // SAFETY: a prefetch reads nothing, and the address is that of a live value.
        unsafe {
            core::arch::x86_64::_mm_prefetch(std::ptr::from_ref(data).cast::<i8>(), core::arch::x86_64::_MM_HINT_T0);
        };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = data;
}

#[cfg(test)]
mod tests {
    use super::{CodeLine, Kernel, LINE};
    use proptest::prelude::*;

    /// Five rows of up to eight lines, with the extremes often.
    pub(super) fn lines() -> impl Strategy<Value = Vec<CodeLine>> {
        let code = prop_oneof![3 => -127_i8..=127, 1 => Just(127_i8), 1 => Just(-127_i8)];
        (1_usize..8).prop_flat_map(move |n_lines| {
            prop::collection::vec(prop::collection::vec(code.clone(), LINE), 5 * n_lines)
                .prop_map(|lines| lines.into_iter().map(|line| CodeLine(line.try_into().unwrap())).collect())
        })
    }

    #[test]
    fn the_best_kernel_is_one_that_this_processor_runs() {
        assert_eq!(Kernel::available().first(), Some(&Kernel::Portable));
        assert_eq!(Kernel::available().last(), Some(&Kernel::best()));
    }
}
