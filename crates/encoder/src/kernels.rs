//! Sums of products of 16-bit activations and 8-bit weights: the only file of this crate with machine instructions.
//!
//! The sums are of integers and cannot overflow (8191 · 127 · 1536 < 2³¹), so every kernel gives the same bits.
#![expect(unsafe_code, reason = "vector instructions; each use says why it is sound")]
#![cfg_attr(
    target_arch = "x86_64",
    expect(clippy::cast_ptr_alignment, reason = "the instructions that read and write them require no alignment")
)]

#[cfg(target_arch = "x86_64")]
use std::sync::LazyLock;

use crate::forward::{Job, forward};
use crate::layout::PANEL;

/// The instruction set that is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kernel {
    /// Plain Rust, compiled for the target's baseline.
    Portable,
    /// 256 bits.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// 256 bits, two products and their sum in one step (AVX-VNNI: processors without 512 bits).
    #[cfg(target_arch = "x86_64")]
    AvxVnni,
    /// 512 bits.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// 512 bits, two products and their sum in one step.
    #[cfg(target_arch = "x86_64")]
    Avx512Vnni,
    /// 128 bits.
    #[cfg(target_arch = "aarch64")]
    Neon,
}

impl Kernel {
    /// The fastest kernel that this processor supports.
    #[must_use]
    pub fn best() -> Self {
        Self::available().last().copied().unwrap_or(Self::Portable)
    }

    /// The kernels that this processor supports, slowest first.
    #[must_use]
    pub fn available() -> &'static [Self] {
        #[cfg(target_arch = "x86_64")]
        {
            static AVAILABLE: LazyLock<Vec<Kernel>> = LazyLock::new(|| {
                let has_avx2 = is_x86_feature_detected!("avx2");
                let has_avx512 = has_avx2
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512dq");
                let candidates = [
                    (Kernel::Portable, true),
                    (Kernel::Avx2, has_avx2),
                    (Kernel::AvxVnni, has_avx2 && is_x86_feature_detected!("avxvnni")),
                    (Kernel::Avx512, has_avx512),
                    (Kernel::Avx512Vnni, has_avx512 && is_x86_feature_detected!("avx512vnni")),
                ];
                candidates.into_iter().filter_map(|(kernel, is_available)| is_available.then_some(kernel)).collect()
            });
            &AVAILABLE
        }
        #[cfg(target_arch = "aarch64")]
        if std::arch::is_aarch64_feature_detected!("neon") {
            &[Self::Portable, Self::Neon]
        } else {
            &[Self::Portable]
        }
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        &[Self::Portable]
    }

    /// Runs a job with this kernel.
    pub(crate) fn run(self, job: &mut Job<'_>) {
        match self {
            Self::Portable => forward::<Portable>(job),
            // SAFETY (all): `Encoder` has a kernel only if `available` names it.
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => unsafe { x86::forward_avx2(job) },
            #[cfg(target_arch = "x86_64")]
            Self::AvxVnni => unsafe { x86::forward_avx_vnni(job) },
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => unsafe { x86::forward_avx512(job) },
            #[cfg(target_arch = "x86_64")]
            Self::Avx512Vnni => unsafe { x86::forward_avx512_vnni(job) },
            #[cfg(target_arch = "aarch64")]
            Self::Neon => unsafe { arm::forward_neon(job) },
        }
    }
}

/// Sums of a panel's columns for several rows of activations.
pub(crate) trait Sums {
    /// The number of rows per call.
    const ROWS: usize;

    /// `sums[row][column] = Σ activations[row][k] · weights[k][column]`. There are as many rows of activations as of sums, all
    /// of the same even length; the weights are a panel with as many rows as this length.
    fn panel(activations: &[i16], weights: &[i8], sums: &mut [[i32; PANEL]]);
}

pub(crate) struct Portable;

impl Sums for Portable {
    const ROWS: usize = 4;

    #[inline(always)]
    fn panel(activations: &[i16], weights: &[i8], sums: &mut [[i32; PANEL]]) {
        let length = weights.len() / PANEL;
        for (row, sums) in activations.chunks_exact(length).zip(sums) {
            *sums = [0; PANEL];
            for (pair, weights) in row.as_chunks::<2>().0.iter().zip(weights.as_chunks::<{ 2 * PANEL }>().0) {
                let [one, two] = pair.map(i32::from);
                // Two weights of a column as one 16-bit number, separated by shifts: compilers vectorise this.
                let both = weights.as_chunks::<2>().0;
                for (sum, both) in sums.iter_mut().zip(both) {
                    let both = i16::from_le_bytes(both.map(|weight| weight.to_le_bytes()[0]));
                    *sum += one * i32::from(both << 8 >> 8) + two * i32::from(both >> 8);
                }
            }
        }
    }
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
/// Calls a kernel for the number of rows of the sums.
macro_rules! by_rows {
    ($kernel:ident, $activations:ident, $weights:ident, $sums:ident, $($rows:literal)*) => {
        match $sums.len() {
            $($rows => {
                let length = $weights.len() / PANEL;
                assert!(length % 8 == 0 && $activations.len() >= $rows * length);
                // SAFETY: the lengths were checked, and only a forward pass with these instructions comes here.
                unsafe { $kernel::<$rows>($activations.as_ptr(), $weights.as_ptr(), length, $sums.as_mut_ptr()) }
            })*
            _ => {}
        }
    };
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::asm;
    use std::arch::x86_64::{
        __m128i, __m256i, __m512i, _mm_loadu_si128, _mm256_add_epi32, _mm256_cvtepi8_epi16, _mm256_loadu_si256,
        _mm256_madd_epi16, _mm256_set1_epi32, _mm256_setzero_si256, _mm256_storeu_si256, _mm512_add_epi32,
        _mm512_cvtepi8_epi16, _mm512_madd_epi16, _mm512_set1_epi32, _mm512_setzero_si512, _mm512_storeu_si512,
    };

    use super::{Job, PANEL, Sums, forward};

    /// All other code is plain Rust, compiled for these instructions too.
    #[target_feature(enable = "avx2")]
    pub(super) fn forward_avx2(job: &mut Job<'_>) {
        forward::<Avx2>(job);
    }

    #[target_feature(enable = "avx2,avxvnni")]
    pub(super) fn forward_avx_vnni(job: &mut Job<'_>) {
        forward::<AvxVnni>(job);
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
    pub(super) fn forward_avx512(job: &mut Job<'_>) {
        forward::<Avx512>(job);
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")]
    pub(super) fn forward_avx512_vnni(job: &mut Job<'_>) {
        forward::<Avx512Vnni>(job);
    }

    struct Avx2;
    struct AvxVnni;
    struct Avx512;
    struct Avx512Vnni;

    /// Two consecutive activations, to be multiplied by two weights of a column.
    ///
    /// # Safety
    /// Two numbers can be read from `at`.
    #[inline(always)]
    unsafe fn pair(at: *const i16) -> i32 {
        // SAFETY: the caller's.
        unsafe { at.cast::<i32>().read_unaligned() }
    }

    impl Sums for Avx2 {
        const ROWS: usize = 6;

        #[inline(always)]
        fn panel(activations: &[i16], weights: &[i8], sums: &mut [[i32; PANEL]]) {
            by_rows!(panel_avx2, activations, weights, sums, 1 2 3 4 5 6);
        }
    }

    impl Sums for AvxVnni {
        const ROWS: usize = 6;

        #[inline(always)]
        fn panel(activations: &[i16], weights: &[i8], sums: &mut [[i32; PANEL]]) {
            by_rows!(panel_avx_vnni, activations, weights, sums, 1 2 3 4 5 6);
        }
    }

    impl Sums for Avx512 {
        const ROWS: usize = 12;

        #[inline(always)]
        fn panel(activations: &[i16], weights: &[i8], sums: &mut [[i32; PANEL]]) {
            by_rows!(panel_avx512, activations, weights, sums, 1 2 3 4 5 6 7 8 9 10 11 12);
        }
    }

    impl Sums for Avx512Vnni {
        const ROWS: usize = 14;

        #[inline(always)]
        fn panel(activations: &[i16], weights: &[i8], sums: &mut [[i32; PANEL]]) {
            by_rows!(panel_vnni, activations, weights, sums, 1 2 3 4 5 6 7 8 9 10 11 12 13 14);
        }
    }

    macro_rules! panel_256 {
        ($name:ident, $features:literal, $step:expr) => {
            /// One half of the panel after the other: six rows of sixteen sums are the most that sixteen registers hold.
            ///
            /// # Safety
            /// The processor has the instructions; there are `ROWS` rows of `length` activations, `length` rows of a panel, `ROWS`
            /// rows of sums; the length is even.
            #[target_feature(enable = $features)]
            unsafe fn $name<const ROWS: usize>(
                activations: *const i16,
                weights: *const i8,
                length: usize,
                sums: *mut [i32; PANEL],
            ) {
                for half in 0..2 {
                    let mut kept: [[__m256i; 2]; ROWS] = [[_mm256_setzero_si256(); 2]; ROWS];
                    for k in (0..length).step_by(2) {
                        // SAFETY: `k` and `k + 1` are below the length; sixteen weights a quarter of the panel's two rows.
                        let quarter = |place: usize| unsafe {
                            let at = weights.add(k * PANEL + half * PANEL + place * 16);
                            _mm256_cvtepi8_epi16(_mm_loadu_si128(at.cast::<__m128i>()))
                        };
                        let quarters = [quarter(0), quarter(1)];
                        for (row, kept) in kept.iter_mut().enumerate() {
                            // SAFETY: the row and `k + 1` are there.
                            let both = _mm256_set1_epi32(unsafe { pair(activations.add(row * length + k)) });
                            for (kept, quarter) in kept.iter_mut().zip(quarters) {
                                *kept = $step(*kept, both, quarter);
                            }
                        }
                    }
                    for (row, kept) in kept.iter().enumerate() {
                        for (place, eight) in kept.iter().enumerate() {
                            // SAFETY: eight of the row's thirty-two sums.
                            unsafe {
                                let at = sums.add(row).cast::<i32>().add(half * 16 + place * 8);
                                _mm256_storeu_si256(at.cast::<__m256i>(), *eight);
                            }
                        }
                    }
                }
            }
        };
    }

    panel_256!(panel_avx2, "avx2", |kept, both, quarter| _mm256_add_epi32(kept, _mm256_madd_epi16(both, quarter)));

    panel_256!(panel_avx_vnni, "avx2,avxvnni", dot_256);

    /// `_mm256_dpwssd_avx_epi32` as inline assembly: compilers split the intrinsic into a product and a sum, which is twice the
    /// work.
    #[inline]
    #[target_feature(enable = "avx2,avxvnni")]
    fn dot_256(mut kept: __m256i, both: __m256i, quarter: __m256i) -> __m256i {
        // SAFETY: it reads and writes these registers only.
        unsafe {
            asm!(
                "{{vex}} vpdpwssd {kept}, {both}, {quarter}",
                kept = inout(ymm_reg) kept, both = in(ymm_reg) both, quarter = in(ymm_reg) quarter,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        kept
    }

    macro_rules! panel_512 {
        ($name:ident, $features:literal, $step:expr) => {
            /// # Safety
            /// The processor has the instructions; there are `ROWS` rows of `length` activations, `length` rows of a panel, `ROWS`
            /// rows of sums; the length is even.
            #[target_feature(enable = $features)]
            unsafe fn $name<const ROWS: usize>(
                activations: *const i16,
                weights: *const i8,
                length: usize,
                sums: *mut [i32; PANEL],
            ) {
                let mut kept: [[__m512i; 2]; ROWS] = [[_mm512_setzero_si512(); 2]; ROWS];
                for k in (0..length).step_by(2) {
                    // SAFETY: `k` and `k + 1` are below the length; thirty-two weights a half of the panel's two rows.
                    let half = |place: usize| unsafe {
                        _mm512_cvtepi8_epi16(_mm256_loadu_si256(weights.add(k * PANEL + place * 32).cast::<__m256i>()))
                    };
                    let halves = [half(0), half(1)];
                    for (row, kept) in kept.iter_mut().enumerate() {
                        // SAFETY: the row and `k + 1` are there.
                        let both = _mm512_set1_epi32(unsafe { pair(activations.add(row * length + k)) });
                        for (kept, half) in kept.iter_mut().zip(halves) {
                            *kept = $step(*kept, both, half);
                        }
                    }
                }
                for (row, kept) in kept.iter().enumerate() {
                    for (place, sixteen) in kept.iter().enumerate() {
                        // SAFETY: sixteen of the row's thirty-two sums.
                        unsafe {
                            _mm512_storeu_si512(sums.add(row).cast::<i32>().add(place * 16).cast::<__m512i>(), *sixteen)
                        };
                    }
                }
            }
        };
    }

    panel_512!(panel_avx512, "avx512f,avx512bw", |kept, both, half| _mm512_add_epi32(
        kept,
        _mm512_madd_epi16(both, half)
    ));
    panel_512!(panel_vnni, "avx512f,avx512bw,avx512vnni", dot_512);

    /// `_mm512_dpwssd_epi32` in one instruction, as [`dot_256`].
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    fn dot_512(mut kept: __m512i, both: __m512i, half: __m512i) -> __m512i {
        // SAFETY: it reads and writes these registers only.
        unsafe {
            asm!(
                "vpdpwssd {kept}, {both}, {half}",
                kept = inout(zmm_reg) kept, both = in(zmm_reg) both, half = in(zmm_reg) half,
                options(pure, nomem, nostack, preserves_flags)
            );
        }
        kept
    }
}

#[cfg(target_arch = "aarch64")]
mod arm {
    use std::arch::aarch64::{
        int16x8_t, int32x4_t, vdupq_n_s32, vget_high_s8, vget_low_s8, vget_low_s16, vld1q_s16, vld2q_s8,
        vmlal_high_laneq_s16, vmlal_laneq_s16, vmovl_s8, vst1q_s32,
    };

    use super::{Job, PANEL, Sums, forward};

    #[target_feature(enable = "neon")]
    pub(super) fn forward_neon(job: &mut Job<'_>) {
        forward::<Neon>(job);
    }

    struct Neon;

    impl Sums for Neon {
        const ROWS: usize = 4;

        #[inline(always)]
        fn panel(activations: &[i16], weights: &[i8], sums: &mut [[i32; PANEL]]) {
            by_rows!(panel_neon, activations, weights, sums, 1 2 3 4);
        }
    }

    /// Adds the products of an activation and the weights of sixteen columns to their sums.
    #[inline]
    #[target_feature(enable = "neon")]
    fn add<const LANE: i32>(kept: &mut [int32x4_t; 4], weights: [int16x8_t; 2], activations: int16x8_t) {
        let [one, two, three, four] = *kept;
        let [low, high] = weights;
        *kept = [
            vmlal_laneq_s16::<LANE>(one, vget_low_s16(low), activations),
            vmlal_high_laneq_s16::<LANE>(two, low, activations),
            vmlal_laneq_s16::<LANE>(three, vget_low_s16(high), activations),
            vmlal_high_laneq_s16::<LANE>(four, high, activations),
        ];
    }

    /// One half of the panel after the other: of thirty-two registers, four rows of sixteen sums take sixteen.
    ///
    /// # Safety
    /// The processor has NEON; there are `ROWS` rows of `length` activations, `length` rows of a panel, `ROWS` rows of sums; the
    /// length is a multiple of eight.
    #[target_feature(enable = "neon")]
    unsafe fn panel_neon<const ROWS: usize>(
        activations: *const i16,
        weights: *const i8,
        length: usize,
        sums: *mut [i32; PANEL],
    ) {
        for half in 0..2 {
            let mut kept: [[int32x4_t; 4]; ROWS] = [[vdupq_n_s32(0); 4]; ROWS];
            for k in (0..length).step_by(8) {
                // SAFETY: the row and its numbers from `k` to `k + 7` are there.
                let eights: [int16x8_t; ROWS] =
                    std::array::from_fn(|row| unsafe { vld1q_s16(activations.add(row * length + k)) });
                macro_rules! pairs {
                    ($($first:literal $second:literal)*) => { $(
                        // SAFETY: `k + 7` is below the length; the weights of sixteen columns in two of the panel's rows.
                        let both = unsafe { vld2q_s8(weights.add((k + $first) * PANEL + half * PANEL)) };
                        let first = [vmovl_s8(vget_low_s8(both.0)), vmovl_s8(vget_high_s8(both.0))];
                        let second = [vmovl_s8(vget_low_s8(both.1)), vmovl_s8(vget_high_s8(both.1))];
                        for (kept, eight) in kept.iter_mut().zip(eights) {
                            add::<$first>(kept, first, eight);
                            add::<$second>(kept, second, eight);
                        }
                    )* };
                }
                pairs!(0 1 2 3 4 5 6 7);
            }
            for (row, kept) in kept.iter().enumerate() {
                for (place, four) in kept.iter().enumerate() {
                    // SAFETY: four of the row's thirty-two sums.
                    unsafe { vst1q_s32(sums.add(row).cast::<i32>().add(half * 16 + place * 4), *four) };
                }
            }
        }
    }
}
