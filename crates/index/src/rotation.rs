//! A fixed rotation of codes, after which each component is a mixture of all: what their signs say of a product holds for any vectors.
//!
//! Twice, signs are turned at random and each sixty-four components are mixed by a Hadamard matrix; in between, the components of all lines
//! change places. Numbers stay whole, so the result is exact. It is longer by [`STRETCH`], and includes the padding after the last component.

use super::kernels::{CodeLine, LINE};
use super::rows::Codes;

const ROUNDS: usize = 2;

/// How many times as long a rotated vector is: √64 for each round.
pub(crate) const STRETCH: f32 = 64.0;

/// The rotated codes, in `out`.
pub(crate) fn rotate(codes: &[CodeLine], out: &mut Vec<[i32; LINE]>) {
    let turned = |(nth, line): (usize, &CodeLine)| turn(0, nth, line.0.map(i32::from));
    let mixed: Vec<[i32; LINE]> = codes.iter().enumerate().map(turned).map(mix).collect();
    let n_lines = mixed.len();
    let of_all = (0..LINE).flat_map(|place| mixed.iter().map(move |line| line.get(place).copied().unwrap_or(0)));
    let mut of_all = of_all.into_iter();
    out.clear();
    out.extend((0..n_lines).map(|nth| mix(turn(1, nth, std::array::from_fn(|_| of_all.next().unwrap_or(0))))));
}

/// A rotated query's codes, and their scale.
pub(crate) fn rotated(query: &Codes) -> (Vec<CodeLine>, f32) {
    let mut components = Vec::new();
    rotate(&query.lines, &mut components);
    let largest = components.as_flattened().iter().map(|component| component.unsigned_abs()).max().unwrap_or(0).max(1);
    let step = largest as f32 / 127.0;
    #[expect(clippy::cast_possible_truncation, reason = "it is in -127..=127")]
    let code = |component: i32| {
        let scaled = component as f32 / step;
        (scaled + 0.5_f32.copysign(scaled)) as i32 as i8
    };
    let lines = components.into_iter().map(|line| CodeLine(line.map(code))).collect();
    (lines, query.scale * step / STRETCH)
}

/// Turns the signs of half of a line's components.
fn turn(round: usize, line: usize, components: [i32; LINE]) -> [i32; LINE] {
    // SplitMix64 (Steele, Lea and Flood, 2014).
    let mut z = ((line * ROUNDS + round) as u64).wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^= z >> 31;
    let mut bits = z;
    components.map(|component| {
        let is_turned = bits & 1 == 1;
        bits >>= 1;
        if is_turned { -component } else { component }
    })
}

/// The product with a Hadamard matrix: of each pair the sum and the difference, six times.
fn mix(mut line: [i32; LINE]) -> [i32; LINE] {
    step::<64>(&mut line);
    step::<32>(&mut line);
    step::<16>(&mut line);
    step::<8>(&mut line);
    step::<4>(&mut line);
    step::<2>(&mut line);
    line
}

fn step<const PAIR: usize>(line: &mut [i32; LINE]) {
    for pair in line.as_chunks_mut::<PAIR>().0 {
        let (low, high) = pair.split_at_mut(PAIR / 2);
        for (low, high) in low.iter_mut().zip(high) {
            (*low, *high) = (*low + *high, *low - *high);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rotated_ints(codes: &[CodeLine]) -> Vec<i64> {
        let mut out = Vec::new();
        rotate(codes, &mut out);
        out.as_flattened().iter().map(|component| i64::from(*component)).collect()
    }

    fn product(one: &[i64], other: &[i64]) -> i64 {
        one.iter().zip(other).map(|(one, other)| one * other).sum()
    }

    #[test]
    fn products_stay_and_a_component_is_in_all() {
        for n_lines in [1_usize, 2, 6, 12] {
            let unit = |place: usize| {
                let mut lines = vec![CodeLine([0; LINE]); n_lines];
                lines[place / LINE].0[place % LINE] = 100;
                lines
            };
            let rotated: Vec<Vec<i64>> = (0..n_lines * LINE).map(|place| rotated_ints(&unit(place))).collect();
            for (nth, one) in rotated.iter().enumerate() {
                for (other_nth, other) in rotated.iter().enumerate() {
                    let expected = if nth == other_nth { 10_000 * 64 * 64 } else { 0 };
                    assert_eq!(product(one, other), expected, "{nth} and {other_nth} of {n_lines} lines");
                }
                // Its largest share of one place would be 1.
                let largest = one.iter().map(|component| component.pow(2)).max().unwrap();
                assert!(largest * 4 < 10_000 * 64 * 64, "{nth} of {n_lines} lines: {largest}");
            }
        }
    }

    #[test]
    fn a_rotated_query_is_as_long_as_before() {
        let vector: Vec<f32> = (0..150_u8).map(|nth| f32::from(nth % 7) - 2.0).collect();
        let codes = Codes::of(&vector);
        let length = |lines: &[CodeLine], scale: f32| {
            let squares = lines.iter().flat_map(|line| line.0).map(|code| (f32::from(code) * scale).powi(2));
            squares.sum::<f32>().sqrt()
        };
        let (lines, scale) = rotated(&codes);
        let (before, after) = (length(&codes.lines, codes.scale), length(&lines, scale));
        assert!((before - after).abs() < 0.01 * before, "{before} and {after}");
    }
}
