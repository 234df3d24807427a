//! Vectors of sixteen floats. In every kernel, sums are computed per lane first and then by halving, and no multiplication is
//! fused with an addition, so that the bits are the same on every processor.

/// The number of lanes.
pub(crate) const LANES: usize = 16;

pub(crate) type Lanes = [f32; LANES];

/// 1.5 · 2²³: adding it to a number below 2²² rounds the number to the nearest integer, ties to even, in the lowest bits.
const ROUNDER: f32 = 12_582_912.0;

/// Calls a function for each lane.
#[inline(always)]
pub(crate) fn each(mut function: impl FnMut(usize) -> f32) -> Lanes {
    let mut lanes = [0.0; LANES];
    for (place, lane) in lanes.iter_mut().enumerate() {
        *lane = function(place);
    }
    lanes
}

/// A vector as groups of sixteen; its length is a multiple of sixteen.
#[inline(always)]
pub(crate) fn groups(vector: &[f32]) -> &[Lanes] {
    vector.as_chunks().0
}

#[inline(always)]
pub(crate) fn groups_mut(vector: &mut [f32]) -> &mut [Lanes] {
    vector.as_chunks_mut().0
}

/// The sum of the lanes, by halving.
#[inline(always)]
pub(crate) fn sum(lanes: &Lanes) -> f32 {
    halved(lanes, |one, other| one + other)
}

#[inline(always)]
pub(crate) fn max(lanes: &Lanes) -> f32 {
    halved(lanes, larger)
}

#[inline(always)]
#[expect(clippy::many_single_char_names, reason = "the variables have equal roles")]
fn halved(lanes: &Lanes, join: impl Fn(f32, f32) -> f32) -> f32 {
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = *lanes;
    let [a, b, c, d, e, f, g, h] =
        [join(a, i), join(b, j), join(c, k), join(d, l), join(e, m), join(f, n), join(g, o), join(h, p)];
    let [a, b, c, d] = [join(a, e), join(b, f), join(c, g), join(d, h)];
    join(join(a, c), join(b, d))
}

#[inline(always)]
pub(crate) fn larger(one: f32, other: f32) -> f32 {
    if one > other { one } else { other }
}

/// The integer nearest to `number`, whose absolute value is at most 2¹⁵.
#[inline(always)]
#[expect(
    clippy::cast_possible_truncation,
    reason = "the lowest 16 bits; compilers turn the cast into vectors, and bytes into none"
)]
pub(crate) fn rounded(number: f32) -> i16 {
    (number + ROUNDER).to_bits() as i16
}

/// `e` to the power of a number of at most 88: 2ⁿ times a polynomial (Cephes, `expf`), within 1e-7 of the value.
#[inline(always)]
pub(crate) fn exp(number: f32) -> f32 {
    let number = larger(number, -87.0);
    let sum = number * std::f32::consts::LOG2_E + ROUNDER;
    let whole = sum - ROUNDER;
    let rest = number - whole * 0.693_359_4 + whole * 2.121_944_4e-4;
    let mut series = 1.987_569_1e-4;
    for term in [1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 0.166_666_65, 0.5] {
        series = series * rest + term;
    }
    let power = series * (rest * rest) + rest + 1.0;
    // The exponent of a float begins at bit 23; 127 stands for 1.
    power * f32::from_bits(sum.to_bits().wrapping_sub(ROUNDER.to_bits()).wrapping_add(127) << 23)
}

/// `x · Φ(x)`, with the error function by Abramowitz and Stegun 7.1.26, within 1.5e-7 of the value.
#[inline(always)]
pub(crate) fn gelu(number: f32) -> f32 {
    let scaled = number * std::f32::consts::FRAC_1_SQRT_2;
    let size = scaled.abs();
    let share = 1.0 / (size * 0.327_591_1 + 1.0);
    let mut series = 1.061_405_4;
    for term in [-1.453_152, 1.421_413_7, -0.284_496_74, 0.254_829_6] {
        series = series * share + term;
    }
    let error = 1.0 - series * share * exp(-(size * size));
    let half = number * 0.5;
    half + half * error.copysign(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_and_gelu_equal_tabulated_values() {
        for number in [-90.0_f32, -20.0, -3.5, -1e-3, 0.0, 1e-3, 1.0, 3.25, 80.0] {
            let expected = number.exp();
            assert!((exp(number) - expected).abs() <= expected * 2e-7 + 1e-37, "{number}: {} {expected}", exp(number));
        }
        // x·Φ(x) from tables of the normal distribution.
        for (number, expected) in
            [(0.0, 0.0), (1.0, 0.841_344_7), (-1.0, -0.158_655_25), (2.5, 2.484_475_9), (-9.0, 0.0)]
        {
            assert!((gelu(number) - expected).abs() < 1e-6, "{number}: {}", gelu(number));
        }
    }

    #[test]
    fn rounding_is_to_the_nearest_and_ties_to_even() {
        for (number, expected) in
            [(0.4, 0), (0.5, 0), (1.5, 2), (-0.5, 0), (-1.5, -2), (8190.6, 8191), (-8191.0, -8191)]
        {
            assert_eq!(rounded(number), expected, "{number}");
        }
    }

    #[test]
    fn lanes_are_summed_and_compared() {
        let lanes = each(|place| place as f32);
        assert_eq!((sum(&lanes), max(&lanes)), (120.0, 15.0));
    }
}
