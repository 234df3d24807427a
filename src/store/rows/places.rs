//! The keys of the rows of an ordered list: numbers with gaps, so that a row keeps its key when others come or go.

use std::collections::BTreeMap;

/// The gap between two neighbours.
const GAP: u64 = 1 << 20;

/// An ordered list, by place.
pub(super) type Placed<T> = BTreeMap<u64, T>;

/// The key of a place; keys sort as the places do.
pub(super) fn key(place: u64) -> String {
    format!("{place:020}")
}

/// The places of a changed list: an item that `is_same` as one before keeps its place, as far as the order allows.
pub(super) fn placed<T: Clone>(before: &Placed<T>, after: &[T], is_same: impl Fn(&T, &T) -> bool) -> Placed<T> {
    let mut rest = before.iter();
    let mut kept: Vec<Option<u64>> = Vec::with_capacity(after.len());
    for item in after {
        let mut ahead = rest.clone();
        let found = ahead.find(|(_, known)| is_same(known, item)).map(|(place, _)| *place);
        if found.is_some() {
            rest = ahead;
        }
        kept.push(found);
    }
    let mut places = Vec::with_capacity(after.len());
    let mut last = 0;
    for (index, place) in kept.iter().enumerate() {
        let next = kept.get(index..).unwrap_or_default().iter().flatten().next();
        let free = next.map_or_else(
            || before.keys().next_back().copied().unwrap_or(0).max(last) + GAP,
            |next| last.midpoint(*next),
        );
        let own = place.unwrap_or(free);
        if own <= last {
            return from(before.keys().next_back().copied().unwrap_or(0), after);
        }
        places.push(own);
        last = own;
    }
    places.into_iter().zip(after.iter().cloned()).collect()
}

/// The list after a place.
fn from<T: Clone>(place: u64, items: &[T]) -> Placed<T> {
    (1..).map(|number| place + number * GAP).zip(items.iter().cloned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(before: &[(u64, &str)], after: &[&str], expected: &[u64]) {
        let before: Placed<&str> = before.iter().copied().collect();
        let placed = placed(&before, after, |a, b| a == b);
        assert_eq!(placed.keys().copied().collect::<Vec<_>>(), expected, "{after:?}");
        assert_eq!(placed.into_values().collect::<Vec<_>>(), after);
    }

    #[test]
    fn a_row_keeps_its_place_and_another_comes_between() {
        check(&[], &["a", "b"], &[GAP, 2 * GAP]);
        check(&[(10, "a"), (20, "b"), (30, "c")], &["a", "c"], &[10, 30]);
        check(&[(10, "a"), (20, "b")], &["a", "x", "b", "y"], &[10, 15, 20, 20 + GAP]);
        check(&[(10, "a"), (20, "b")], &["b", "a"], &[20, 20 + GAP]);
        check(&[(10, "a")], &["x", "a"], &[5, 10]);
    }

    #[test]
    fn without_room_all_get_new_places() {
        check(&[(1, "a"), (2, "b")], &["x", "a", "b"], &[2 + GAP, 2 + 2 * GAP, 2 + 3 * GAP]);
    }

    #[test]
    fn keys_sort_as_places() {
        assert!(key(9) < key(10) && key(u64::MAX) > key(GAP));
    }
}
