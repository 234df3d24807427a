//! Scores of sixteen queries with each row, in one pass over the rows.

use super::{CodeLine, Kernel, LINE};

/// Queries in a [`Pack`].
pub(crate) const PACK: usize = 16;

/// Sixteen queries side by side, to be scored in one pass over the rows.
#[derive(Clone, Debug)]
pub(crate) struct Pack {
    /// Line `g` holds four codes of each query, from number 4·g on.
    groups: Vec<CodeLine>,
    scales: [f32; PACK],
}

impl Pack {
    /// Up to sixteen queries of the same length, each with its scale. Missing ones score 0.
    pub(crate) fn new<'q>(queries: impl Iterator<Item = (&'q [CodeLine], f32)>) -> Self {
        let mut pack = Self { groups: Vec::new(), scales: [0.0; PACK] };
        for (lane, (lines, scale)) in queries.take(PACK).enumerate() {
            pack.set(lane, lines, scale);
        }
        pack
    }

    /// Puts a query in one of the sixteen places.
    pub(crate) fn set(&mut self, lane: usize, lines: &[CodeLine], scale: f32) {
        self.groups.resize(lines.len() * LINE / GROUP, CodeLine([0; LINE]));
        let groups = lines.iter().flat_map(|line| line.0.as_chunks::<GROUP>().0);
        for (line, group) in self.groups.iter_mut().zip(groups) {
            if let Some(place) = line.0.as_chunks_mut::<GROUP>().0.get_mut(lane) {
                *place = *group;
            }
        }
        if let Some(own_scale) = self.scales.get_mut(lane) {
            *own_scale = scale;
        }
    }

    /// Lines per row.
    fn lines(&self) -> usize {
        self.groups.len() * GROUP / LINE
    }
}

/// Codes of one query in a line of a pack.
const GROUP: usize = LINE / PACK;

/// Rows stored one after the other, to be scored for packs.
#[derive(Clone, Debug)]
pub(crate) struct PackRows<'a> {
    codes: &'a [CodeLine],
    scales: &'a [f32],
    /// The excess of each row's sums, if the kernel needs it.
    #[cfg(target_arch = "x86_64")]
    offsets: Vec<i32>,
}

/// The scores of a pack's queries with one row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PackScores {
    pub(crate) scores: [f32; PACK],
    /// A bit for each query whose score is at least its floor.
    pub(crate) passed: u16,
}

impl PackScores {
    pub(crate) const NONE: Self = Self { scores: [0.0; PACK], passed: 0 };
}

impl Kernel {
    /// Rows to be scored for one or more packs; what depends on the rows alone is computed once. `scales` are those of the rows.
    pub(crate) fn pack_rows<'a>(self, codes: &'a [CodeLine], scales: &'a [f32]) -> PackRows<'a> {
        PackRows {
            codes,
            scales,
            #[cfg(target_arch = "x86_64")]
            offsets: match self {
                // SAFETY: a kernel comes from `available`, which checks that the processor has its instructions.
                Self::Avx512Vnni => unsafe { x86::offsets(codes, scales.len()) },
                _ => Vec::new(),
            },
        }
    }

    /// The score of each query with each row, product of codes · (scale of the row · scale of the query), and whether it reaches the
    /// query's floor. `out` takes one entry per row. The scores of a row that reaches no floor may be left out.
    pub(crate) fn scan_pack(self, pack: &Pack, rows: &PackRows<'_>, floors: &[f32; PACK], out: &mut [PackScores]) {
        let n_rows = rows.scales.len().min(out.len()).min(rows.codes.len() / pack.lines().max(1));
        let scales = rows.scales.get(..n_rows).unwrap_or_default();
        let codes = rows.codes.get(..n_rows * pack.lines()).unwrap_or_default();
        match self {
            Self::Portable => portable::scan_pack(pack, codes, scales, floors, out),
            // SAFETY: a kernel comes from `available`, which checks that the processor has its instructions.
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => unsafe { x86::scan_pack_avx2(pack, codes, scales, floors, out) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Self::Avx512Vnni => unsafe { x86::scan_pack_avx512(pack, codes, (scales, &rows.offsets), floors, out) },
        }
    }
}

mod portable {
    use super::{CodeLine, GROUP, LINE, PACK, Pack, PackScores};
    use crate::kernels::products::portable::dot_codes;

    /// Copies each query's codes into a row of its own: compilers vectorise products of rows better than those of groups of four.
    pub(super) fn scan_pack(
        pack: &Pack,
        rows: &[CodeLine],
        scales: &[f32],
        floors: &[f32; PACK],
        out: &mut [PackScores],
    ) {
        let queries: [Vec<CodeLine>; PACK] = std::array::from_fn(|lane| codes_of(pack, lane));
        for ((row, scale), out) in rows.chunks_exact(pack.lines().max(1)).zip(scales).zip(out) {
            out.passed = 0;
            let lanes = out.scores.iter_mut().zip(&queries).zip(pack.scales.iter().zip(floors)).enumerate();
            for (lane, ((score, query), (own_scale, floor))) in lanes {
                *score = dot_codes(query, row) as f32 * (scale * own_scale);
                out.passed |= u16::from(*score >= *floor) << lane;
            }
        }
    }

    fn codes_of(pack: &Pack, lane: usize) -> Vec<CodeLine> {
        let mut lines = vec![CodeLine([0; LINE]); pack.lines()];
        let places = lines.iter_mut().flat_map(|line| line.0.as_chunks_mut::<GROUP>().0);
        for (place, line) in places.zip(&pack.groups) {
            *place = line.0.as_chunks::<GROUP>().0.get(lane).copied().unwrap_or_default();
        }
        lines
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use core::arch::x86_64::{
        _CMP_GE_OQ, _mm256_abs_epi8, _mm256_add_epi32, _mm256_cmp_ps, _mm256_cvtepi32_ps, _mm256_loadu_ps,
        _mm256_madd_epi16, _mm256_maddubs_epi16, _mm256_movemask_ps, _mm256_mul_ps, _mm256_set1_epi16,
        _mm256_set1_epi32, _mm256_set1_ps, _mm256_setzero_si256, _mm256_sign_epi8, _mm256_storeu_ps,
        _mm512_cmp_ps_mask, _mm512_cvtepi32_ps, _mm512_dpbusd_epi32, _mm512_loadu_ps, _mm512_mul_ps, _mm512_set1_epi8,
        _mm512_set1_epi32, _mm512_set1_ps, _mm512_setzero_si512, _mm512_storeu_ps, _mm512_sub_epi32, _mm512_xor_si512,
    };

    use super::super::registers::{group_at, load256, load512, offset};
    use super::{CodeLine, PACK, Pack, PackScores};

    /// Rows that are scored together: as many as there are registers for their sums.
    const ROWS_512: usize = 16;
    const ROWS_256: usize = 4;

    /// 128 times the sum of each row's codes.
    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    pub(super) fn offsets(codes: &[CodeLine], n_rows: usize) -> Vec<i32> {
        codes.chunks_exact((codes.len() / n_rows.max(1)).max(1)).map(|row| offset(row)).collect()
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    pub(super) fn scan_pack_avx512(
        pack: &Pack,
        rows: &[CodeLine],
        (scales, offsets): (&[f32], &[i32]),
        floors: &[f32; PACK],
        out: &mut [PackScores],
    ) {
        let lines = pack.lines().max(1);
        let numbers = scales.chunks(ROWS_512).zip(offsets.chunks(ROWS_512));
        let blocks = rows.chunks(ROWS_512 * lines).zip(numbers.zip(out.chunks_mut(ROWS_512)));
        for (block, ((scales, offsets), out)) in blocks {
            if block.len() == ROWS_512 * lines {
                pack_block_512::<ROWS_512>(pack, block, (scales, offsets), floors, out);
                continue;
            }
            let numbers = scales.chunks_exact(1).zip(offsets.chunks_exact(1));
            let each = block.chunks_exact(lines).zip(numbers.zip(out.chunks_exact_mut(1)));
            for (row, (numbers, out)) in each {
                pack_block_512::<1>(pack, row, numbers, floors, out);
            }
        }
    }

    /// Scores `N` rows stored one after the other.
    ///
    /// The instruction multiplies unsigned by signed numbers, so the queries' codes are taken as `code + 128`, and 128 times the sum of
    /// the row's codes is subtracted. The sums remain in registers only if the loop over them is unrolled, which compilers do reliably
    /// for a loop over numbers: with zipped arrays this took three times as long in some builds, and with a slice per row an eighth
    /// longer.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    #[expect(
        clippy::indexing_slicing,
        clippy::needless_range_loop,
        reason = "the array has N places, in a loop that is unrolled"
    )]
    fn pack_block_512<const N: usize>(
        pack: &Pack,
        rows: &[CodeLine],
        (scales, offsets): (&[f32], &[i32]),
        floors: &[f32; PACK],
        out: &mut [PackScores],
    ) {
        let flip = _mm512_set1_epi8(i8::MIN);
        let lines = pack.lines();
        let groups = pack.groups.len();
        if rows.len() != N * lines || offsets.len() != N {
            return;
        }
        let mut sums = [_mm512_setzero_si512(); N];
        for (group, line) in pack.groups.iter().enumerate() {
            let queries = _mm512_xor_si512(load512(line), flip);
            for nth in 0..N {
                sums[nth] =
                    _mm512_dpbusd_epi32(sums[nth], queries, _mm512_set1_epi32(group_at(rows, nth * groups + group)));
            }
        }
        // SAFETY: both have sixteen floats; the loads need no alignment.
        let (own_scales, floors) = unsafe { (_mm512_loadu_ps(pack.scales.as_ptr()), _mm512_loadu_ps(floors.as_ptr())) };
        for ((sum, offset), (scale, out)) in sums.into_iter().zip(offsets).zip(scales.iter().zip(out)) {
            let sum = _mm512_cvtepi32_ps(_mm512_sub_epi32(sum, _mm512_set1_epi32(*offset)));
            let score = _mm512_mul_ps(sum, _mm512_mul_ps(_mm512_set1_ps(*scale), own_scales));
            out.passed = _mm512_cmp_ps_mask::<_CMP_GE_OQ>(score, floors);
            if out.passed != 0 {
                // SAFETY: there is room for sixteen floats; the store needs no alignment.
                unsafe { _mm512_storeu_ps(out.scores.as_mut_ptr(), score) };
            }
        }
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn scan_pack_avx2(
        pack: &Pack,
        rows: &[CodeLine],
        scales: &[f32],
        floors: &[f32; PACK],
        out: &mut [PackScores],
    ) {
        let lines = pack.lines().max(1);
        let blocks = rows.chunks(ROWS_256 * lines).zip(scales.chunks(ROWS_256).zip(out.chunks_mut(ROWS_256)));
        for (block, (scales, out)) in blocks {
            if block.len() == ROWS_256 * lines {
                pack_block_256::<ROWS_256>(pack, block, scales, floors, out);
                continue;
            }
            let each = block.chunks_exact(lines).zip(scales.chunks_exact(1).zip(out.chunks_exact_mut(1)));
            for (row, (scales, out)) in each {
                pack_block_256::<1>(pack, row, scales, floors, out);
            }
        }
    }

    /// Scores `N` rows stored one after the other, eight queries per register. The sum of two products of codes in −127..=127 fits into
    /// sixteen bits.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn pack_block_256<const N: usize>(
        pack: &Pack,
        rows: &[CodeLine],
        scales: &[f32],
        floors: &[f32; PACK],
        out: &mut [PackScores],
    ) {
        let ones = _mm256_set1_epi16(1);
        let lines = pack.lines();
        let groups = pack.groups.len();
        if rows.len() != N * lines {
            return;
        }
        let mut sums = [[_mm256_setzero_si256(); 2]; N];
        for (group, line) in pack.groups.iter().enumerate() {
            let queries = load256(line);
            for (nth, sums) in sums.iter_mut().enumerate() {
                let codes = _mm256_set1_epi32(group_at(rows, nth * groups + group));
                for (sum, query) in sums.iter_mut().zip(queries) {
                    let pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(query), _mm256_sign_epi8(codes, query));
                    *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(pairs, ones));
                }
            }
        }
        for (sums, (scale, out)) in sums.into_iter().zip(scales.iter().zip(out)) {
            out.passed = 0;
            for (half, sum) in sums.into_iter().enumerate() {
                // SAFETY: each has sixteen floats, the second half begins at the eighth; the loads and the store need no
                // alignment.
                unsafe {
                    let own_scales = _mm256_loadu_ps(pack.scales.as_ptr().add(8 * half));
                    let floors = _mm256_loadu_ps(floors.as_ptr().add(8 * half));
                    let scales = _mm256_mul_ps(_mm256_set1_ps(*scale), own_scales);
                    let score = _mm256_mul_ps(_mm256_cvtepi32_ps(sum), scales);
                    _mm256_storeu_ps(out.scores.as_mut_ptr().add(8 * half), score);
                    let passed = _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_GE_OQ>(score, floors));
                    out.passed |= u16::try_from(passed).unwrap_or_default() << (8 * half);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::lines;
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_pack_scores_like_single_queries(
            codes in lines(),
            n_rows in 0_usize..40,
            n_queries in 1_usize..=PACK,
            scales in prop::collection::vec(0.001_f32..0.1, 40),
            floor in -1000.0_f32..1000.0,
        ) {
            let n_lines = codes.len() / 5;
            let rows: Vec<CodeLine> = codes.iter().copied().cycle().take(n_rows * n_lines).collect();
            let queries: Vec<(&[CodeLine], f32)> = codes.chunks(n_lines).cycle().skip(1).zip(scales.iter().copied()).take(n_queries).collect();
            let pack = Pack::new(queries.iter().copied());
            for kernel in Kernel::available() {
                let mut packed = vec![PackScores::NONE; n_rows];
                kernel.scan_pack(&pack, &kernel.pack_rows(&rows, &scales[..n_rows]), &[floor; PACK], &mut packed);
                for (row, (packed, other)) in packed.iter().zip(rows.chunks(n_lines)).enumerate() {
                    for lane in 0..PACK {
                        let (codes, scale) = queries.get(lane).copied().unwrap_or_default();
                        let mut product = [0];
                        Kernel::Portable.scan(codes, other, &mut product);
                        let score = product[0] as f32 * (scales[row] * scale);
                        prop_assert_eq!(packed.passed >> lane & 1 == 1, score >= floor);
                        if packed.passed != 0 {
                            let scored = packed.scores[lane].to_bits();
                            prop_assert_eq!(scored, score.to_bits(), "{:?}, row {}, query {}", kernel, row, lane);
                        }
                    }
                }
            }
        }
    }
}
