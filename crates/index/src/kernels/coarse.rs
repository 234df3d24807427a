//! Coarse codes of sixteen rows with one row of codes.

use super::{Kernel, Line, PACK, PackScores};

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

impl Kernel {
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
}

/// Codes of one row in a line.
const GROUP: usize = super::LINE / PACK;

mod portable {
    use super::{FIELDS, GROUP, LEVELS, Line, PACK, PackScores, Sixteen};

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
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use core::arch::x86_64::{
        _CMP_GE_OQ, _mm_cvtsi32_si128, _mm256_add_epi32, _mm256_and_si256, _mm256_madd_epi16, _mm256_maddubs_epi16,
        _mm256_set1_epi8, _mm256_set1_epi16, _mm256_set1_epi32, _mm256_setzero_si256, _mm256_srl_epi16,
        _mm256_storeu_si256, _mm512_add_epi32, _mm512_and_si512, _mm512_cmp_ps_mask, _mm512_cvtepi32_ps,
        _mm512_dpbusd_epi32, _mm512_loadu_ps, _mm512_mul_ps, _mm512_set1_epi8, _mm512_set1_epi32, _mm512_set1_ps,
        _mm512_setzero_si512, _mm512_srav_epi32, _mm512_storeu_ps, _mm512_sub_ps,
    };

    use super::super::registers::{group_at, load256, load512};
    use super::{FIELDS, LEVELS, Line, PACK, PackScores, Sixteen};

    /// How far up in its byte each coarse code is.
    const SHIFTS: [i32; FIELDS] = [0, 2, 4, 6];

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
}

#[cfg(test)]
mod tests {
    use super::super::LINE;
    use super::super::tests::lines;
    use super::*;
    use proptest::prelude::*;

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
}
