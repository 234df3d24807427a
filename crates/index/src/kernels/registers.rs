//! Loads of codes into registers, for all kernels of x86-64.

use core::arch::x86_64::{
    __m256i, __m512i, _mm256_load_si256, _mm512_dpbusd_epi32, _mm512_load_si512, _mm512_reduce_add_epi32,
    _mm512_set1_epi8, _mm512_setzero_si512,
};

use super::CodeLine;

/// Four codes from number 4·`group` on, of one row or of several stored one after the other.
#[inline]
pub(super) fn group_at(row: &[CodeLine], group: usize) -> i32 {
    debug_assert!(group < size_of_val(row) / size_of::<i32>(), "the group is within the rows");
    // SAFETY: the callers count groups up to the last one of the rows, as asserted above; a line is aligned to 64.
    unsafe { *row.as_ptr().cast::<i32>().add(group) }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
pub(super) fn load512(line: &CodeLine) -> __m512i {
    // SAFETY: a line has 64 bytes and is aligned to 64.
    unsafe { _mm512_load_si512(std::ptr::from_ref(line).cast()) }
}

/// 128 times the sum of the codes: the excess of a product in which the other row's codes are taken as `code + 128`.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
pub(super) fn offset(row: &[CodeLine]) -> i32 {
    let ones = _mm512_set1_epi8(1);
    let mut sum = _mm512_setzero_si512();
    for line in row {
        sum = _mm512_dpbusd_epi32(sum, ones, load512(line));
    }
    128 * _mm512_reduce_add_epi32(sum)
}

/// The two halves of a line.
#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn load256(line: &CodeLine) -> [__m256i; 2] {
    let start = std::ptr::from_ref(line).cast::<__m256i>();
    // SAFETY: a line has 64 bytes and is aligned to 64, so both halves are there and aligned to 32.
    unsafe { [_mm256_load_si256(start), _mm256_load_si256(start.add(1))] }
}
