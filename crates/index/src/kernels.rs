//! Sums of products, as fast as the processor allows: the one file with machine instructions.
//!
//! Every kernel gives the same bits as the portable one. Of integers that is so by nature; the kernels of floats keep sixteen
//! sums side by side, never fuse a multiplication with an addition, and add the sixteen up in the same order.
#![expect(unsafe_code, reason = "vector instructions; each use says why it is sound")]

use bytemuck::{Pod, Zeroable};

/// Sixty-four codes: a cache line, and one register of the widest kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub(crate) struct Line(pub(crate) [i8; LINE]);

// SAFETY: sixty-four bytes, any of which may be zero.
unsafe impl Zeroable for Line {}
// SAFETY: as many bytes as its alignment, so none is padding, and each pattern of bits is a code.
unsafe impl Pod for Line {}

/// Codes a line.
pub(crate) const LINE: usize = 64;

/// Queries of a [`Pack`].
pub(crate) const PACK: usize = 16;

/// Sixteen queries side by side, to be scored in one pass over the rows.
#[derive(Clone, Debug)]
pub(crate) struct Pack {
    /// Line `g` holds four codes, from the 4·g-th on, of each query.
    groups: Vec<Line>,
    scales: [f32; PACK],
}

impl Pack {
    /// Up to sixteen queries of one length, each with its scale; what is missing to sixteen scores 0.
    pub(crate) fn new<'q>(queries: impl Iterator<Item = (&'q [Line], f32)>) -> Self {
        let mut pack = Self { groups: Vec::new(), scales: [0.0; PACK] };
        for (lane, (lines, scale)) in queries.take(PACK).enumerate() {
            pack.set(lane, lines, scale);
        }
        pack
    }

    /// Puts a query in one of the sixteen places.
    pub(crate) fn set(&mut self, lane: usize, lines: &[Line], scale: f32) {
        self.groups.resize(lines.len() * LINE / GROUP, Line([0; LINE]));
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

    /// Lines a row.
    fn lines(&self) -> usize {
        self.groups.len() * GROUP / LINE
    }
}

/// Codes of one query in a line of a pack.
const GROUP: usize = LINE / PACK;

/// What the queries of a pack score with one row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct PackScores {
    pub(crate) scores: [f32; PACK],
    /// A bit for each query whose score is at least its floor.
    pub(crate) passed: u16,
}

impl PackScores {
    pub(crate) const NONE: Self = Self { scores: [0.0; PACK], passed: 0 };

    /// The score of a query that reached its floor.
    #[inline]
    pub(crate) fn score(&self, lane: usize) -> Option<f32> {
        self.scores.get(lane).copied().filter(|_| self.passed >> lane & 1 == 1)
    }
}

/// Coarse codes a byte.
pub(crate) const FIELDS: usize = 4;

/// Values of a coarse code.
pub(crate) const LEVELS: u8 = 4;

/// Sixteen rows of coarse codes side by side: byte 4 · `r` + `c` of line `j` holds, from its lowest bits on, the codes `c` of the
/// groups of four `j` · `FIELDS`, `j` · `FIELDS` + 1 … of row `r`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sixteen<'a> {
    pub(crate) lines: &'a [Line],
    pub(crate) scales: &'a [f32; PACK],
}

/// Rows that are fetched ahead of the one being scored. Measured with 100,000 rows of 384: 2 to 6 are alike, 0 is a half slower.
const AHEAD: usize = 4;

/// Which instructions are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kernel {
    /// Whatever the compiler makes of plain Rust.
    Portable,
    /// 256 bits.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// 512 bits, four products of codes and their sum in one step.
    #[cfg(target_arch = "x86_64")]
    Avx512Vnni,
}

impl Kernel {
    /// The fastest that this processor runs.
    pub(crate) fn best() -> Self {
        Self::available().last().copied().unwrap_or(Self::Portable)
    }

    /// Those that this processor runs, the slowest first.
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

    /// The products of one row of codes with each of the rows that lie in `rows` one behind the other. `out` takes one sum a row.
    pub(crate) fn scan(self, row: &[Line], rows: &[Line], out: &mut [i32]) {
        let rows = rows.chunks_exact(row.len().max(1)).zip(out);
        match self {
            Self::Portable => rows.for_each(|(other, out)| *out = portable::dot_codes(row, other)),
            // SAFETY: a kernel is only named by `available`, which asks the processor for its instructions first.
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => unsafe { x86::scan_avx2(row, rows) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Self::Avx512Vnni => unsafe { x86::scan_avx512(row, rows) },
        }
    }

    /// The scores of each query of a pack with each of the rows, product of codes · (scale of the row · scale of the query), and
    /// which of them reach their query's floor. `scales` are those of the rows; `out` takes one entry a row.
    pub(crate) fn scan_pack(
        self,
        pack: &Pack,
        (rows, scales): (&[Line], &[f32]),
        floors: &[f32; PACK],
        out: &mut [PackScores],
    ) {
        let n_rows = scales.len().min(out.len()).min(rows.len() / pack.lines().max(1));
        let rows = rows.get(..n_rows * pack.lines()).unwrap_or_default();
        match self {
            Self::Portable => portable::scan_pack(pack, rows, scales, floors, out),
            // SAFETY: a kernel is only named by `available`, which asks the processor for its instructions first.
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => unsafe { x86::scan_pack_avx2(pack, rows, scales, floors, out) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Self::Avx512Vnni => unsafe { x86::scan_pack_avx512(pack, rows, scales, floors, out) },
        }
    }

    /// The scores of a row of codes with sixteen rows of coarse codes: (Σ code · coarse code − `offset`) · scale; and which of them
    /// reach the floor.
    pub(crate) fn scan_coarse(self, row: &[Line], offset: f32, block: Sixteen<'_>, floor: f32) -> PackScores {
        if block.lines.len() * FIELDS != row.len() * PACK {
            return PackScores::NONE;
        }
        match self {
            Self::Portable => portable::scan_coarse(row, offset, block, floor),
            // SAFETY: a kernel is only named by `available`, which asks the processor for its instructions first.
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => unsafe { x86::scan_coarse_avx2(row, offset, block, floor) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Self::Avx512Vnni => unsafe { x86::scan_coarse_avx512(row, offset, block, floor) },
        }
    }

    /// The products of one row of codes with each of the `picked` ones among `rows`. A row that is not there gives 0.
    pub(crate) fn gather(self, row: &[Line], rows: &[Line], picked: &[u32], out: &mut Vec<i32>) {
        out.clear();
        match self {
            Self::Portable => {
                out.extend(picked.iter().map(|place| portable::dot_codes(row, row_at(rows, row.len(), *place))));
            }
            // SAFETY: a kernel is only named by `available`, which asks the processor for its instructions first.
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => unsafe { x86::gather_avx2(row, rows, picked, out) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Self::Avx512Vnni => unsafe { x86::gather_avx512(row, rows, picked, out) },
        }
    }

    /// The dot product of two vectors of one length.
    pub(crate) fn dot(self, a: &[f32], b: &[f32]) -> f32 {
        match self {
            Self::Portable => portable::dot(a, b),
            // SAFETY: a kernel is only named by `available`, which asks the processor for its instructions first.
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => unsafe { x86::dot_avx2(a, b) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Self::Avx512Vnni => unsafe { x86::dot_avx512(a, b) },
        }
    }
}

/// Asks the processor to bring what is behind this reference closer.
#[inline]
pub(crate) fn prefetch<T>(data: Option<&T>) {
    #[cfg(target_arch = "x86_64")]
    if let Some(data) = data {
        // SAFETY: a prefetch reads nothing, and the address is of something that lives.
        unsafe {
            core::arch::x86_64::_mm_prefetch(std::ptr::from_ref(data).cast::<i8>(), core::arch::x86_64::_MM_HINT_T0);
        };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = data;
}

#[inline]
fn row_at(rows: &[Line], lines: usize, place: u32) -> &[Line] {
    let start = place as usize * lines;
    rows.get(start..start + lines).unwrap_or_default()
}

/// Sums side by side in the kernels of floats.
const LANES: usize = 16;

/// What is left behind the last whole block, and the sum of everything.
fn finish(sums: &[f32; LANES], a_rest: &[f32], b_rest: &[f32]) -> f32 {
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f32>() + rest
}

mod portable {
    use super::{FIELDS, GROUP, LANES, LEVELS, Line, PACK, Pack, PackScores, Sixteen, finish};

    pub(super) fn scan_coarse(row: &[Line], offset: f32, block: Sixteen<'_>, floor: f32) -> PackScores {
        let mut sums = [0_i32; PACK];
        let groups: Vec<&[i8; GROUP]> = row.iter().flat_map(|line| line.0.as_chunks::<GROUP>().0).collect();
        for (line, groups) in block.lines.iter().zip(groups.chunks_exact(FIELDS)) {
            for (sum, bytes) in sums.iter_mut().zip(line.0.as_chunks::<GROUP>().0) {
                for (field, group) in groups.iter().enumerate() {
                    let coarse = |byte: &i8| i32::from(byte.cast_unsigned() >> (8 / FIELDS * field) & (LEVELS - 1));
                    *sum += bytes.iter().zip(*group).map(|(byte, code)| coarse(byte) * i32::from(*code)).sum::<i32>();
                }
            }
        }
        scores_of(sums, offset, block.scales, floor)
    }

    /// From the sums of sixteen rows to their scores.
    pub(super) fn scores_of(sums: [i32; PACK], offset: f32, scales: &[f32; PACK], floor: f32) -> PackScores {
        let mut out = PackScores::NONE;
        for (lane, ((score, sum), scale)) in out.scores.iter_mut().zip(sums).zip(scales).enumerate() {
            *score = (sum as f32 - offset) * scale;
            out.passed |= u16::from(*score >= floor) << lane;
        }
        out
    }

    pub(super) fn scan_pack(pack: &Pack, rows: &[Line], scales: &[f32], floors: &[f32; PACK], out: &mut [PackScores]) {
        for ((row, scale), out) in rows.chunks_exact(pack.lines().max(1)).zip(scales).zip(out) {
            let mut sums = [0_i32; PACK];
            let codes = row.iter().flat_map(|line| line.0.as_chunks::<GROUP>().0);
            for (line, codes) in pack.groups.iter().zip(codes) {
                for (sum, group) in sums.iter_mut().zip(line.0.as_chunks::<GROUP>().0) {
                    *sum += group.iter().zip(codes).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum::<i32>();
                }
            }
            out.passed = 0;
            let lanes = out.scores.iter_mut().zip(sums).zip(pack.scales.iter().zip(floors)).enumerate();
            for (lane, ((score, sum), (own_scale, floor))) in lanes {
                *score = sum as f32 * (scale * own_scale);
                out.passed |= u16::from(*score >= *floor) << lane;
            }
        }
    }

    pub(super) fn dot_codes(a: &[Line], b: &[Line]) -> i32 {
        let line =
            |(a, b): (&Line, &Line)| -> i32 { a.0.iter().zip(&b.0).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum() };
        a.iter().zip(b).map(line).sum()
    }

    pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
        let mut sums = [0.0_f32; LANES];
        let (a_blocks, a_rest) = a.as_chunks::<LANES>();
        let (b_blocks, b_rest) = b.as_chunks::<LANES>();
        for (a, b) in a_blocks.iter().zip(b_blocks) {
            for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
                *sum += a * b;
            }
        }
        finish(&sums, a_rest, b_rest)
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use core::arch::x86_64::{
        __m256i, __m512i, _CMP_GE_OQ, _mm_add_epi32, _mm_cvtsi32_si128, _mm_cvtsi128_si32, _mm_shuffle_epi32,
        _mm256_abs_epi8, _mm256_add_epi32, _mm256_add_ps, _mm256_and_si256, _mm256_castsi256_si128, _mm256_cmp_ps,
        _mm256_cvtepi32_ps, _mm256_extracti128_si256, _mm256_load_si256, _mm256_loadu_ps, _mm256_madd_epi16,
        _mm256_maddubs_epi16, _mm256_movemask_ps, _mm256_mul_ps, _mm256_set1_epi8, _mm256_set1_epi16,
        _mm256_set1_epi32, _mm256_set1_ps, _mm256_setzero_ps, _mm256_setzero_si256, _mm256_sign_epi8, _mm256_srl_epi16,
        _mm256_storeu_ps, _mm256_storeu_si256, _mm512_add_epi32, _mm512_add_ps, _mm512_and_si512, _mm512_cmp_ps_mask,
        _mm512_cvtepi32_ps, _mm512_dpbusd_epi32, _mm512_load_si512, _mm512_loadu_ps, _mm512_mul_ps,
        _mm512_reduce_add_epi32, _mm512_set1_epi8, _mm512_set1_epi32, _mm512_set1_ps, _mm512_setzero_ps,
        _mm512_setzero_si512, _mm512_srav_epi32, _mm512_storeu_ps, _mm512_sub_epi32, _mm512_sub_ps, _mm512_xor_si512,
    };

    use super::{AHEAD, FIELDS, LANES, LEVELS, Line, PACK, Pack, PackScores, Sixteen, finish, prefetch, row_at};

    /// Rows that the kernels of packs score together: as many sums as registers hold.
    const ROWS_512: usize = 16;
    const ROWS_256: usize = 4;

    /// How far up in its byte each coarse code is.
    const SHIFTS: [i32; FIELDS] = [0, 2, 4, 6];

    /// Four codes of a row, from the 4·`group`-th on.
    #[inline]
    fn group_at(row: &[Line], group: usize) -> i32 {
        debug_assert!(group < size_of_val(row) / size_of::<i32>(), "the pack and the rows have one length");
        // SAFETY: the callers go up to the last group of the row; a line is aligned to 64.
        unsafe { *row.as_ptr().cast::<i32>().add(group) }
    }

    /// A coarse code is below 256 wherever in its byte it is, so the products are taken in place and their sums shifted down.
    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    pub(super) fn scan_coarse_avx512(row: &[Line], offset: f32, block: Sixteen<'_>, floor: f32) -> PackScores {
        let masks = SHIFTS.map(|shift| _mm512_set1_epi8(((LEVELS - 1) << shift).cast_signed()));
        let mut sums = [_mm512_setzero_si512(); FIELDS];
        for (nth, line) in block.lines.iter().enumerate() {
            let line = load512(line);
            for (field, (sum, mask)) in sums.iter_mut().zip(masks).enumerate() {
                let codes = _mm512_set1_epi32(group_at(row, nth * FIELDS + field));
                *sum = _mm512_dpbusd_epi32(*sum, _mm512_and_si512(line, mask), codes);
            }
        }
        let mut sum = _mm512_setzero_si512();
        for (shift, part) in SHIFTS.into_iter().zip(sums) {
            sum = _mm512_add_epi32(sum, _mm512_srav_epi32(part, _mm512_set1_epi32(shift)));
        }
        let mut out = PackScores::NONE;
        // SAFETY: there are sixteen scales and room for sixteen scores; neither load nor store asks for an alignment.
        unsafe {
            let scales = _mm512_loadu_ps(block.scales.as_ptr());
            let score = _mm512_mul_ps(_mm512_sub_ps(_mm512_cvtepi32_ps(sum), _mm512_set1_ps(offset)), scales);
            _mm512_storeu_ps(out.scores.as_mut_ptr(), score);
            out.passed = _mm512_cmp_ps_mask::<_CMP_GE_OQ>(score, _mm512_set1_ps(floor));
        }
        out
    }

    /// Sixteen bits hold two products of a code with a coarse code, 2 · 127 · 3 at most.
    #[target_feature(enable = "avx2")]
    pub(super) fn scan_coarse_avx2(row: &[Line], offset: f32, block: Sixteen<'_>, floor: f32) -> PackScores {
        let (ones, mask) = (_mm256_set1_epi16(1), _mm256_set1_epi8((LEVELS - 1).cast_signed()));
        let shifts = SHIFTS.map(|shift| _mm_cvtsi32_si128(shift));
        let mut sums = [_mm256_setzero_si256(); 2];
        for (nth, line) in block.lines.iter().enumerate() {
            let halves = load256(line);
            for (field, shift) in shifts.into_iter().enumerate() {
                let codes = _mm256_set1_epi32(group_at(row, nth * FIELDS + field));
                for (sum, half) in sums.iter_mut().zip(halves) {
                    let coarse = _mm256_and_si256(_mm256_srl_epi16(half, shift), mask);
                    let pairs = _mm256_maddubs_epi16(coarse, codes);
                    *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(pairs, ones));
                }
            }
        }
        let mut lanes = [0_i32; PACK];
        for (half, sum) in sums.into_iter().enumerate() {
            // SAFETY: there is room for sixteen sums, the second half begins at the eighth; the store asks for no alignment.
            unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().add(8 * half).cast(), sum) };
        }
        super::portable::scores_of(lanes, offset, block.scales, floor)
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    pub(super) fn scan_pack_avx512(
        pack: &Pack,
        rows: &[Line],
        scales: &[f32],
        floors: &[f32; PACK],
        out: &mut [PackScores],
    ) {
        let lines = pack.lines().max(1);
        let blocks = rows.chunks(ROWS_512 * lines).zip(scales.chunks(ROWS_512).zip(out.chunks_mut(ROWS_512)));
        for (block, (scales, out)) in blocks {
            if block.len() == ROWS_512 * lines {
                pack_block_512::<ROWS_512>(pack, block, scales, floors, out);
                continue;
            }
            let each = block.chunks_exact(lines).zip(scales.chunks_exact(1).zip(out.chunks_exact_mut(1)));
            for (row, (scales, out)) in each {
                pack_block_512::<1>(pack, row, scales, floors, out);
            }
        }
    }

    /// `N` rows one behind the other. The sums stay in registers where the loop over them is unrolled, which the compiler is sure to do
    /// with a loop over numbers: zipped arrays made this three times as slow in some builds. The instruction multiplies unsigned by signed, so the queries' codes are taken as
    /// `code + 128`, and 128 times the sum of the row's codes is taken away again.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    #[expect(clippy::indexing_slicing, reason = "both arrays have N places")]
    fn pack_block_512<const N: usize>(
        pack: &Pack,
        rows: &[Line],
        scales: &[f32],
        floors: &[f32; PACK],
        out: &mut [PackScores],
    ) {
        let flip = _mm512_set1_epi8(i8::MIN);
        let lines = pack.lines();
        let mut each = rows.chunks_exact(lines);
        let rows: [&[Line]; N] = std::array::from_fn(|_| each.next().unwrap_or_default());
        if rows.iter().any(|row| row.len() != lines) {
            return;
        }
        let mut sums = [_mm512_setzero_si512(); N];
        for (group, line) in pack.groups.iter().enumerate() {
            let queries = _mm512_xor_si512(load512(line), flip);
            for nth in 0..N {
                sums[nth] = _mm512_dpbusd_epi32(sums[nth], queries, _mm512_set1_epi32(group_at(rows[nth], group)));
            }
        }
        // SAFETY: both have sixteen floats; the loads ask for no alignment.
        let (own_scales, floors) = unsafe { (_mm512_loadu_ps(pack.scales.as_ptr()), _mm512_loadu_ps(floors.as_ptr())) };
        for ((sum, row), (scale, out)) in sums.into_iter().zip(rows).zip(scales.iter().zip(out)) {
            let sum = _mm512_cvtepi32_ps(_mm512_sub_epi32(sum, _mm512_set1_epi32(offset(row))));
            let score = _mm512_mul_ps(sum, _mm512_mul_ps(_mm512_set1_ps(*scale), own_scales));
            // SAFETY: there is room for sixteen floats; the store asks for no alignment.
            unsafe { _mm512_storeu_ps(out.scores.as_mut_ptr(), score) };
            out.passed = _mm512_cmp_ps_mask::<_CMP_GE_OQ>(score, floors);
        }
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn scan_pack_avx2(
        pack: &Pack,
        rows: &[Line],
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

    /// `N` rows one behind the other, eight queries a register. As in [`dot_avx2_codes`], sixteen bits hold two products.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn pack_block_256<const N: usize>(
        pack: &Pack,
        rows: &[Line],
        scales: &[f32],
        floors: &[f32; PACK],
        out: &mut [PackScores],
    ) {
        let ones = _mm256_set1_epi16(1);
        let lines = pack.lines();
        let mut each = rows.chunks_exact(lines);
        let rows: [&[Line]; N] = std::array::from_fn(|_| each.next().unwrap_or_default());
        if rows.iter().any(|row| row.len() != lines) {
            return;
        }
        let mut sums = [[_mm256_setzero_si256(); 2]; N];
        for (group, line) in pack.groups.iter().enumerate() {
            let queries = load256(line);
            for (sums, row) in sums.iter_mut().zip(&rows) {
                let codes = _mm256_set1_epi32(group_at(row, group));
                for (sum, query) in sums.iter_mut().zip(queries) {
                    let pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(query), _mm256_sign_epi8(codes, query));
                    *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(pairs, ones));
                }
            }
        }
        for (sums, (scale, out)) in sums.into_iter().zip(scales.iter().zip(out)) {
            out.passed = 0;
            for (half, sum) in sums.into_iter().enumerate() {
                // SAFETY: each has sixteen floats, the second half begins at the eighth; the loads and the store ask for no
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

    /// Rows in the order of a list, the next ones on their way.
    #[inline]
    fn visit<'a>(rows: &'a [Line], lines: usize, picked: &'a [u32]) -> impl Iterator<Item = &'a [Line]> {
        let fetch = move |place: Option<&u32>| {
            let Some(place) = place else { return };
            for line in row_at(rows, lines, *place) {
                prefetch(Some(line));
            }
        };
        for place in picked.iter().take(AHEAD) {
            fetch(Some(place));
        }
        picked.iter().enumerate().map(move |(nth, place)| {
            fetch(picked.get(nth + AHEAD));
            row_at(rows, lines, *place)
        })
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    fn load512(line: &Line) -> __m512i {
        // SAFETY: a line has 64 bytes and is aligned to 64.
        unsafe { _mm512_load_si512(std::ptr::from_ref(line).cast()) }
    }

    /// 128 times the sum of the codes: what it adds that the other row's codes are taken as `code + 128`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    fn offset(row: &[Line]) -> i32 {
        let ones = _mm512_set1_epi8(1);
        let mut sum = _mm512_setzero_si512();
        for line in row {
            sum = _mm512_dpbusd_epi32(sum, ones, load512(line));
        }
        128 * _mm512_reduce_add_epi32(sum)
    }

    /// Σ a·(b + 128): the instruction multiplies signed by unsigned.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    fn dot_lifted(a: &[Line], b: &[Line]) -> i32 {
        let flip = _mm512_set1_epi8(i8::MIN);
        let mut sum = _mm512_setzero_si512();
        for (a, b) in a.iter().zip(b) {
            sum = _mm512_dpbusd_epi32(sum, _mm512_xor_si512(load512(b), flip), load512(a));
        }
        _mm512_reduce_add_epi32(sum)
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    pub(super) fn scan_avx512<'a>(row: &[Line], rows: impl Iterator<Item = (&'a [Line], &'a mut i32)>) {
        let offset = offset(row);
        for (other, out) in rows {
            *out = dot_lifted(row, other) - offset;
        }
    }

    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    pub(super) fn gather_avx512(row: &[Line], rows: &[Line], picked: &[u32], out: &mut Vec<i32>) {
        let offset = offset(row);
        for other in visit(rows, row.len(), picked) {
            let sum = dot_lifted(row, other);
            out.push(if other.is_empty() { 0 } else { sum - offset });
        }
    }

    #[target_feature(enable = "avx512f")]
    pub(super) fn dot_avx512(a: &[f32], b: &[f32]) -> f32 {
        let (a_blocks, a_rest) = a.as_chunks::<LANES>();
        let (b_blocks, b_rest) = b.as_chunks::<LANES>();
        let mut sum = _mm512_setzero_ps();
        for (a, b) in a_blocks.iter().zip(b_blocks) {
            // SAFETY: a block has sixteen floats; the loads ask for no alignment.
            let (a, b) = unsafe { (_mm512_loadu_ps(a.as_ptr()), _mm512_loadu_ps(b.as_ptr())) };
            sum = _mm512_add_ps(sum, _mm512_mul_ps(a, b));
        }
        let mut sums = [0.0_f32; LANES];
        // SAFETY: there is room for sixteen floats; the store asks for no alignment.
        unsafe { _mm512_storeu_ps(sums.as_mut_ptr(), sum) };
        finish(&sums, a_rest, b_rest)
    }

    /// The two halves of a line.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn load256(line: &Line) -> [__m256i; 2] {
        let start = std::ptr::from_ref(line).cast::<__m256i>();
        // SAFETY: a line has 64 bytes and is aligned to 64, so both halves are there and aligned to 32.
        unsafe { [_mm256_load_si256(start), _mm256_load_si256(start.add(1))] }
    }

    /// Codes lie in −127..=127: the sum of two products is at most 2 · 127², which sixteen bits hold.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn dot_avx2_codes(a: &[Line], b: &[Line]) -> i32 {
        let ones = _mm256_set1_epi16(1);
        let mut sum = _mm256_setzero_si256();
        for (a, b) in a.iter().zip(b) {
            for (a, b) in load256(a).into_iter().zip(load256(b)) {
                let pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(a), _mm256_sign_epi8(b, a));
                sum = _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, ones));
            }
        }
        let half = _mm_add_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256::<1>(sum));
        let quarter = _mm_add_epi32(half, _mm_shuffle_epi32::<0b01_00_11_10>(half));
        _mm_cvtsi128_si32(_mm_add_epi32(quarter, _mm_shuffle_epi32::<0b10_11_00_01>(quarter)))
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn scan_avx2<'a>(row: &[Line], rows: impl Iterator<Item = (&'a [Line], &'a mut i32)>) {
        for (other, out) in rows {
            *out = dot_avx2_codes(row, other);
        }
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn gather_avx2(row: &[Line], rows: &[Line], picked: &[u32], out: &mut Vec<i32>) {
        for other in visit(rows, row.len(), picked) {
            out.push(dot_avx2_codes(row, other));
        }
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn dot_avx2(a: &[f32], b: &[f32]) -> f32 {
        let (a_blocks, a_rest) = a.as_chunks::<LANES>();
        let (b_blocks, b_rest) = b.as_chunks::<LANES>();
        let mut sum = [_mm256_setzero_ps(); 2];
        for (a, b) in a_blocks.iter().zip(b_blocks) {
            for (half, sum) in sum.iter_mut().enumerate() {
                // SAFETY: a block has sixteen floats, the second half begins at the eighth; the loads ask for no alignment.
                let (a, b) =
                    unsafe { (_mm256_loadu_ps(a.as_ptr().add(8 * half)), _mm256_loadu_ps(b.as_ptr().add(8 * half))) };
                *sum = _mm256_add_ps(*sum, _mm256_mul_ps(a, b));
            }
        }
        let mut sums = [0.0_f32; LANES];
        for (half, sum) in sum.into_iter().enumerate() {
            // SAFETY: there is room for sixteen floats, the second half begins at the eighth.
            unsafe { _mm256_storeu_ps(sums.as_mut_ptr().add(8 * half), sum) };
        }
        finish(&sums, a_rest, b_rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lines() -> impl Strategy<Value = Vec<Line>> {
        // Five rows of up to eight lines, with the extremes often.
        let code = prop_oneof![3 => -127_i8..=127, 1 => Just(127_i8), 1 => Just(-127_i8)];
        (1_usize..8).prop_flat_map(move |n_lines| {
            prop::collection::vec(prop::collection::vec(code.clone(), LINE), 5 * n_lines)
                .prop_map(|lines| lines.into_iter().map(|line| Line(line.try_into().unwrap())).collect())
        })
    }

    proptest! {
        #[test]
        fn every_kernel_gives_the_bits_of_the_portable_one(
            rows in lines(),
            floats in prop::collection::vec((-1.0_f32..1.0, -1.0_f32..1.0), 0..100),
            picked in prop::collection::vec(0_u32..6, 0..12),
        ) {
            let n_lines = rows.len() / 5;
            let row = &rows[..n_lines];
            let (a, b): (Vec<f32>, Vec<f32>) = floats.into_iter().unzip();
            let run = |kernel: Kernel| {
                let mut scanned = vec![0; 5];
                kernel.scan(row, &rows, &mut scanned);
                let mut gathered = Vec::new();
                kernel.gather(row, &rows, &picked, &mut gathered);
                (scanned, gathered, kernel.dot(&a, &b).to_bits())
            };
            let expected = run(Kernel::Portable);
            let by_hand: Vec<i32> = rows
                .chunks(n_lines)
                .map(|other| {
                    let codes = |row: &[Line]| row.iter().flat_map(|line| line.0).map(i32::from).collect::<Vec<i32>>();
                    codes(row).iter().zip(codes(other)).map(|(a, b)| a * b).sum()
                })
                .collect();
            prop_assert_eq!(&expected.0, &by_hand);
            let by_place: Vec<i32> = picked.iter().map(|place| by_hand.get(*place as usize).copied().unwrap_or(0)).collect();
            prop_assert_eq!(&expected.1, &by_place);
            for kernel in Kernel::available() {
                prop_assert_eq!(&run(*kernel), &expected, "{:?}", kernel);
            }
        }
    }

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
            let rows: Vec<Line> = codes.iter().copied().cycle().take(n_rows * n_lines).collect();
            let queries: Vec<(&[Line], f32)> = codes.chunks(n_lines).cycle().skip(1).zip(scales.iter().copied()).take(n_queries).collect();
            let pack = Pack::new(queries.iter().copied());
            for kernel in Kernel::available() {
                let mut packed = vec![PackScores::NONE; n_rows];
                kernel.scan_pack(&pack, (&rows, &scales[..n_rows]), &[floor; PACK], &mut packed);
                for (row, (packed, other)) in packed.iter().zip(rows.chunks(n_lines)).enumerate() {
                    for lane in 0..PACK {
                        let (codes, scale) = queries.get(lane).copied().unwrap_or_default();
                        let score = portable::dot_codes(codes, other) as f32 * (scales[row] * scale);
                        prop_assert_eq!(packed.scores[lane].to_bits(), score.to_bits(), "{:?}, row {}, query {}", kernel, row, lane);
                        prop_assert_eq!(packed.passed >> lane & 1 == 1, score >= floor);
                    }
                }
            }
        }
    }

    proptest! {
        #[test]
        fn every_kernel_scores_coarse_codes_alike(
            query in lines(),
            bytes in prop::collection::vec(any::<i8>(), LINE * 8 * PACK / FIELDS),
            scales in prop::array::uniform16(-1.0_f32..1.0),
            offset in -1000.0_f32..1000.0,
        ) {
            let query = &query[..query.len() / 5];
            let lines: Vec<Line> = bytes.chunks(LINE).map(|line| Line(line.try_into().unwrap())).collect();
            let block = Sixteen { lines: &lines[..query.len() * PACK / FIELDS], scales: &scales };
            for kernel in Kernel::available() {
                let scored = kernel.scan_coarse(query, offset, block, 0.5);
                for (lane, scale) in scales.iter().enumerate() {
                    let sum: i32 = query.iter().flat_map(|line| line.0).enumerate().map(|(nth, code)| {
                        let (group, component) = (nth / GROUP, nth % GROUP);
                        let byte = block.lines[group / FIELDS].0[lane * GROUP + component].cast_unsigned();
                        i32::from(byte >> (8 / FIELDS * (group % FIELDS)) & (LEVELS - 1)) * i32::from(code)
                    }).sum();
                    let score = (sum as f32 - offset) * scale;
                    prop_assert_eq!(scored.scores[lane].to_bits(), score.to_bits(), "{:?}, row {}", kernel, lane);
                    prop_assert_eq!(scored.passed >> lane & 1 == 1, score >= 0.5);
                }
            }
        }
    }

    #[test]
    fn the_best_kernel_is_one_that_this_processor_runs() {
        assert_eq!(Kernel::available().first(), Some(&Kernel::Portable));
        assert_eq!(Kernel::available().last(), Some(&Kernel::best()));
    }
}
