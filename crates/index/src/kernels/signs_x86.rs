//! The kernels of signs with AVX2 and AVX-512: a table of sixteen bytes is looked up in a register.

use core::arch::x86_64::{
    __m128i, __m256i, __m512i, _CMP_GE_OQ, _mm_load_si128, _mm256_add_epi8, _mm256_add_epi16, _mm256_add_ps,
    _mm256_and_si256, _mm256_broadcastsi128_si256, _mm256_cmp_ps, _mm256_cvtepi32_ps, _mm256_loadu_ps,
    _mm256_movemask_ps, _mm256_mul_ps, _mm256_set1_epi8, _mm256_set1_epi16, _mm256_set1_epi32, _mm256_set1_ps,
    _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_srli_epi16, _mm256_srli_epi32, _mm256_sub_ps, _mm512_add_epi8,
    _mm512_add_epi16, _mm512_add_ps, _mm512_and_si512, _mm512_broadcast_i32x4, _mm512_cmp_ps_mask, _mm512_cvtepi32_ps,
    _mm512_loadu_ps, _mm512_mul_ps, _mm512_set1_epi8, _mm512_set1_epi16, _mm512_set1_epi32, _mm512_set1_ps,
    _mm512_setzero_si512, _mm512_shuffle_epi8, _mm512_srli_epi16, _mm512_srli_epi32, _mm512_sub_ps,
};

use super::registers::{load256, load512};
use super::signs::{ADDED, Block, Limit, Passed, SignPack, TOGETHER};
use super::{CodeLine, LINE};

/// Blocks that are compared in one pass over the tables.
const BLOCKS: usize = 2;

/// The table of one query for four components: sixteen bytes.
#[inline]
#[target_feature(enable = "sse2")]
fn table(tables: &CodeLine, lane: usize) -> __m128i {
    debug_assert!(lane < TOGETHER, "a line has a table for each query");
    // SAFETY: a line has four tables of sixteen bytes and is aligned to 64.
    unsafe { _mm_load_si128(std::ptr::from_ref(tables).cast::<__m128i>().add(lane)) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
pub(super) fn scan_signs_avx512<'a>(
    pack: &SignPack,
    blocks: impl Iterator<Item = (Block<'a>, &'a mut Passed)>,
    limits: &[Limit; TOGETHER],
) {
    let mut blocks = blocks;
    while let Some(first) = blocks.next() {
        match (blocks.next(), pack.n_queries) {
            (Some(second), 0..=1) => signs_512::<1, BLOCKS>(pack, [first, second], limits),
            (Some(second), _) => signs_512::<TOGETHER, BLOCKS>(pack, [first, second], limits),
            (None, _) => signs_512::<TOGETHER, 1>(pack, [first], limits),
        }
    }
}

/// Compares `Q` queries with `N` blocks. Entries are added up in bytes; every [`ADDED`] lines, the even and the odd bytes are added to
/// sums of sixteen bits.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
#[expect(
    clippy::indexing_slicing,
    clippy::needless_range_loop,
    reason = "arrays of Q and N places, in loops that are unrolled"
)]
fn signs_512<const Q: usize, const N: usize>(
    pack: &SignPack,
    blocks: [(Block<'_>, &mut Passed); N],
    limits: &[Limit; TOGETHER],
) {
    let (nibble, low) = (_mm512_set1_epi8(15), _mm512_set1_epi16(255));
    let mut even = [[_mm512_setzero_si512(); N]; Q];
    let mut odd = even;
    let lines: [&[CodeLine]; N] = std::array::from_fn(|nth| blocks[nth].0.lines);
    for (nth, tables) in pack.tables.as_chunks::<{ 2 * ADDED }>().0.iter().enumerate() {
        let mut sums = [[_mm512_setzero_si512(); N]; Q];
        for (line, tables) in tables.as_chunks::<2>().0.iter().enumerate() {
            let signs: [__m512i; N] = std::array::from_fn(|block| {
                debug_assert!(nth * ADDED + line < lines[block].len(), "a block has a line for two tables");
                // SAFETY: `blocks` gives blocks of half as many lines as there are tables.
                load512(unsafe { lines[block].get_unchecked(nth * ADDED + line) })
            });
            for (half, halves) in tables.iter().enumerate() {
                for lane in 0..Q {
                    let entries = _mm512_broadcast_i32x4(table(halves, lane));
                    for block in 0..N {
                        let signs = if half == 0 { signs[block] } else { _mm512_srli_epi16::<4>(signs[block]) };
                        let added = _mm512_shuffle_epi8(entries, _mm512_and_si512(signs, nibble));
                        sums[lane][block] = _mm512_add_epi8(sums[lane][block], added);
                    }
                }
            }
        }
        for lane in 0..Q {
            for block in 0..N {
                let sum = sums[lane][block];
                even[lane][block] = _mm512_add_epi16(even[lane][block], _mm512_and_si512(sum, low));
                odd[lane][block] = _mm512_add_epi16(odd[lane][block], _mm512_srli_epi16::<8>(sum));
            }
        }
    }
    for (nth, (Block { scales, margins, .. }, out)) in blocks.into_iter().enumerate() {
        for lane in 0..Q {
            let limits = [pack.steps[lane], pack.offsets[lane], limits[lane].floor, limits[lane].spread];
            out[lane] = passed_512([even[lane][nth], odd[lane][nth]], scales, margins, limits);
        }
    }
}

/// The rows whose bound reaches the floor, from the sums of even and odd bytes: four adjacent bytes belong to rows `j`, `j` + 16, `j` + 32
/// and `j` + 48.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
fn passed_512(
    [even, odd]: [__m512i; 2],
    scales: &[f32; LINE],
    margins: &[f32; LINE],
    [step, offset, floor, spread]: [f32; 4],
) -> u64 {
    let low = _mm512_set1_epi32(0xFFFF);
    let sums = [
        _mm512_and_si512(even, low),
        _mm512_and_si512(odd, low),
        _mm512_srli_epi32::<16>(even),
        _mm512_srli_epi32::<16>(odd),
    ];
    let [step, offset, floor, spread] = [step, offset, floor, spread].map(|number| _mm512_set1_ps(number));
    let mut passed = 0;
    for (nth, sum) in sums.into_iter().enumerate() {
        // SAFETY: both have four times sixteen floats; the loads need no alignment.
        let (scale, margin) = unsafe {
            (_mm512_loadu_ps(scales.as_ptr().add(16 * nth)), _mm512_loadu_ps(margins.as_ptr().add(16 * nth)))
        };
        let product = _mm512_sub_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(sum), step), offset);
        let most = _mm512_add_ps(_mm512_mul_ps(product, scale), _mm512_mul_ps(margin, spread));
        passed |= u64::from(_mm512_cmp_ps_mask::<_CMP_GE_OQ>(most, floor)) << (16 * nth);
    }
    passed
}

#[target_feature(enable = "avx2")]
pub(super) fn scan_signs_avx2<'a>(
    pack: &SignPack,
    blocks: impl Iterator<Item = (Block<'a>, &'a mut Passed)>,
    limits: &[Limit; TOGETHER],
) {
    for (block, out) in blocks {
        if pack.n_queries <= 1 {
            signs_256::<1>(pack, block, out, limits);
        } else {
            signs_256::<TOGETHER>(pack, block, out, limits);
        }
    }
}

/// As [`signs_512`], for one block in two halves.
#[inline]
#[target_feature(enable = "avx2")]
#[expect(
    clippy::indexing_slicing,
    clippy::needless_range_loop,
    reason = "arrays of Q and two places, in loops that are unrolled"
)]
fn signs_256<const Q: usize>(
    pack: &SignPack,
    Block { lines, scales, margins }: Block<'_>,
    out: &mut Passed,
    limits: &[Limit; TOGETHER],
) {
    let (nibble, low) = (_mm256_set1_epi8(15), _mm256_set1_epi16(255));
    let mut even = [[_mm256_setzero_si256(); 2]; Q];
    let mut odd = even;
    for (lines, tables) in lines.as_chunks::<ADDED>().0.iter().zip(pack.tables.as_chunks::<{ 2 * ADDED }>().0) {
        let mut sums = [[_mm256_setzero_si256(); 2]; Q];
        for (line, tables) in lines.iter().zip(tables.as_chunks::<2>().0) {
            let signs = load256(line);
            for (half, halves) in tables.iter().enumerate() {
                for lane in 0..Q {
                    let entries = _mm256_broadcastsi128_si256(table(halves, lane));
                    for part in 0..2 {
                        let signs = if half == 0 { signs[part] } else { _mm256_srli_epi16::<4>(signs[part]) };
                        let added = _mm256_shuffle_epi8(entries, _mm256_and_si256(signs, nibble));
                        sums[lane][part] = _mm256_add_epi8(sums[lane][part], added);
                    }
                }
            }
        }
        for lane in 0..Q {
            for part in 0..2 {
                let sum = sums[lane][part];
                even[lane][part] = _mm256_add_epi16(even[lane][part], _mm256_and_si256(sum, low));
                odd[lane][part] = _mm256_add_epi16(odd[lane][part], _mm256_srli_epi16::<8>(sum));
            }
        }
    }
    for lane in 0..Q {
        let limits = [pack.steps[lane], pack.offsets[lane], limits[lane].floor, limits[lane].spread];
        out[lane] = 0;
        for part in 0..2 {
            let passed = passed_256([even[lane][part], odd[lane][part]], 8 * part, scales, margins, limits);
            out[lane] |= passed << (8 * part);
        }
    }
}

/// As [`passed_512`], for eight of each sixteen rows, from number `first` on.
#[inline]
#[target_feature(enable = "avx2")]
fn passed_256(
    [even, odd]: [__m256i; 2],
    first: usize,
    scales: &[f32; LINE],
    margins: &[f32; LINE],
    [step, offset, floor, spread]: [f32; 4],
) -> u64 {
    debug_assert!(first + 8 <= 16, "eight of sixteen");
    let low = _mm256_set1_epi32(0xFFFF);
    let sums = [
        _mm256_and_si256(even, low),
        _mm256_and_si256(odd, low),
        _mm256_srli_epi32::<16>(even),
        _mm256_srli_epi32::<16>(odd),
    ];
    let [step, offset, floor, spread] = [step, offset, floor, spread].map(|number| _mm256_set1_ps(number));
    let mut passed = 0;
    for (nth, sum) in sums.into_iter().enumerate() {
        let start = 16 * nth + first;
        // SAFETY: both have four times sixteen floats, and `first` is 0 or 8; the loads need no alignment.
        let (scale, margin) =
            unsafe { (_mm256_loadu_ps(scales.as_ptr().add(start)), _mm256_loadu_ps(margins.as_ptr().add(start))) };
        let product = _mm256_sub_ps(_mm256_mul_ps(_mm256_cvtepi32_ps(sum), step), offset);
        let most = _mm256_add_ps(_mm256_mul_ps(product, scale), _mm256_mul_ps(margin, spread));
        let bits = _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_GE_OQ>(most, floor));
        passed |= u64::from(bits.cast_unsigned()) << (16 * nth);
    }
    passed
}
