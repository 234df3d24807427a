//! A sorted list whose clones share memory: a commit works on a clone, and unchanged rows exist once.
//!
//! The rows are in blocks behind shared pointers. A clone copies the pointers; a change copies the affected block, if it is
//! shared. At 100,000 rows these are a few hundred pointers and a few hundred rows. Blocks of a file are decoded on demand.

mod block;
mod stored;

use std::cmp::Ordering;

use block::Block;
pub(crate) use stored::{StoredBytes, StoredRow, codec, decode_fields, encode_fields};

/// A block that reaches this many rows is split in two.
const MAX_ROWS: usize = 512;

/// A block with fewer rows is joined with its neighbour.
const MIN_ROWS: usize = MAX_ROWS / 8;

/// Sorted rows without duplicates. The caller passes the order with every call, always the same one.
#[derive(Debug)]
pub(crate) struct SortedBlocks<T> {
    /// No block is empty.
    blocks: Vec<Block<T>>,
    len: usize,
}

/// A row that differs between two versions: the old one, the new one.
pub(crate) type Differing<'a, T> = (Option<&'a T>, Option<&'a T>);

impl<T> Clone for SortedBlocks<T> {
    fn clone(&self) -> Self {
        Self { blocks: self.blocks.clone(), len: self.len }
    }
}

impl<T> Default for SortedBlocks<T> {
    fn default() -> Self {
        Self { blocks: Vec::new(), len: 0 }
    }
}

impl<T: PartialEq> PartialEq for SortedBlocks<T> {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.iter().eq(other.iter())
    }
}

impl<T> SortedBlocks<T> {
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub(crate) fn iter(&self) -> impl DoubleEndedIterator<Item = &T> + Clone {
        self.blocks.iter().flat_map(|block| block.rows().iter())
    }

    /// The rows from this position on.
    pub(crate) fn iter_from(&self, order: impl Fn(&T) -> Ordering) -> impl Iterator<Item = &T> {
        let block = self.block(&order);
        let first = self.blocks.get(block).map_or(0, |block| block.rows().partition_point(|row| order(row).is_lt()));
        self.blocks.iter().skip(block).flat_map(|block| block.rows().iter()).skip(first)
    }

    pub(crate) fn find(&self, order: impl Fn(&T) -> Ordering) -> Option<&T> {
        let rows = self.blocks.get(self.block(&order))?.rows();
        rows.get(rows.binary_search_by(order).ok()?)
    }

    /// The block that contains this position, if there is one.
    fn block(&self, order: impl Fn(&T) -> Ordering) -> usize {
        self.blocks.partition_point(|block| block.last().is_some_and(|last| order(last).is_lt()))
    }

    /// The rows that differ, in order. Blocks that both versions share are skipped.
    pub(crate) fn differing<'a>(
        &'a self,
        newer: &'a Self,
        order: impl Fn(&T, &T) -> Ordering,
        is_same: impl Fn(&T, &T) -> bool,
    ) -> Vec<Differing<'a, T>> {
        let mut found = Vec::new();
        let (mut old, mut new) = (RowPosition::default(), RowPosition::default());
        loop {
            if let (Some(one), Some(other)) = (self.blocks.get(old.block), newer.blocks.get(new.block))
                && old.row == new.row
                && one.is_same(other)
            {
                (old, new) = (old.next_block(), new.next_block());
                continue;
            }
            let (before, after) = (old.row_of(self), new.row_of(newer));
            let side = match (before, after) {
                (None, None) => return found,
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(before), Some(after)) => order(before, after),
            };
            match side {
                Ordering::Less => found.push((before, None)),
                Ordering::Greater => found.push((None, after)),
                Ordering::Equal => {
                    if !before.zip(after).is_some_and(|(before, after)| is_same(before, after)) {
                        found.push((before, after));
                    }
                }
            }
            if side.is_le() {
                old = old.next(self);
            }
            if side.is_ge() {
                new = new.next(newer);
            }
        }
    }
}

/// The position of a row.
#[derive(Clone, Copy, Default)]
struct RowPosition {
    block: usize,
    row: usize,
}

impl RowPosition {
    fn row_of<T>(self, rows: &SortedBlocks<T>) -> Option<&T> {
        rows.blocks.get(self.block)?.rows().get(self.row)
    }

    fn next<T>(self, rows: &SortedBlocks<T>) -> Self {
        let is_last = rows.blocks.get(self.block).is_none_or(|block| self.row + 1 >= block.len());
        if is_last { self.next_block() } else { Self { row: self.row + 1, ..self } }
    }

    fn next_block(self) -> Self {
        Self { block: self.block + 1, row: 0 }
    }
}

impl<T: Clone> SortedBlocks<T> {
    /// Built from sorted, distinct rows.
    pub(crate) fn from_sorted(rows: Vec<T>) -> Self {
        let len = rows.len();
        let mut blocks = Vec::with_capacity(len / (MAX_ROWS / 2) + 1);
        let mut rows = rows.into_iter();
        loop {
            let block: Vec<T> = rows.by_ref().take(MAX_ROWS / 2).collect();
            if block.is_empty() {
                return Self { blocks, len };
            }
            blocks.push(Block::of(block));
        }
    }

    /// Inserts a row, or replaces the equal one. Returns the replaced row.
    pub(crate) fn put(&mut self, row: T, order: impl Fn(&T) -> Ordering) -> Option<T> {
        let at = self.block(&order).min(self.blocks.len().saturating_sub(1));
        if self.blocks.is_empty() {
            self.blocks.push(Block::of(Vec::new()));
        }
        let block = self.blocks.get_mut(at)?.rows_mut();
        match block.binary_search_by(order) {
            Ok(place) => block.get_mut(place).map(|known| std::mem::replace(known, row)),
            Err(place) => {
                block.insert(place, row);
                self.len += 1;
                if block.len() >= MAX_ROWS {
                    let upper = block.split_off(MAX_ROWS / 2);
                    self.blocks.insert(at + 1, Block::of(upper));
                }
                None
            }
        }
    }

    pub(crate) fn take(&mut self, order: impl Fn(&T) -> Ordering) -> Option<T> {
        let at = self.block(&order);
        let shared = self.blocks.get_mut(at)?;
        let place = shared.rows().binary_search_by(order).ok()?;
        let block = shared.rows_mut();
        let row = block.remove(place);
        self.len -= 1;
        if block.len() < MIN_ROWS {
            self.join(at);
        }
        Some(row)
    }

    /// A row for a change that does not affect its position.
    pub(crate) fn find_mut(&mut self, order: impl Fn(&T) -> Ordering) -> Option<&mut T> {
        let at = self.block(&order);
        let shared = self.blocks.get_mut(at)?;
        let place = shared.rows().binary_search_by(order).ok()?;
        shared.rows_mut().get_mut(place)
    }

    /// Joins a small block with the next one, or the last one with the one before; a result that is too large is split.
    fn join(&mut self, at: usize) {
        let first = if at + 1 < self.blocks.len() { at } else { at.saturating_sub(1) };
        if let Some([one, other]) = self.blocks.get_mut(first..first + 2) {
            let one = one.rows_mut();
            one.extend(other.rows().iter().cloned());
            if one.len() >= MAX_ROWS {
                *other = Block::of(one.split_off(one.len() / 2));
            } else {
                self.blocks.remove(first + 1);
            }
        } else if self.len == 0 {
            self.blocks.clear();
        }
    }
}

/// For rows with a natural order.
impl<T: Ord + Clone> SortedBlocks<T> {
    pub(crate) fn of(mut rows: Vec<T>) -> Self {
        rows.sort_unstable();
        rows.dedup();
        Self::from_sorted(rows)
    }

    /// True if it was not in the list.
    pub(crate) fn insert(&mut self, row: T) -> bool {
        let wanted = row.clone();
        self.put(row, |other| other.cmp(&wanted)).is_none()
    }

    /// True if it was in the list.
    pub(crate) fn remove(&mut self, row: &T) -> bool {
        self.take(|other| other.cmp(row)).is_some()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use proptest::prelude::*;

    type Rows = SortedBlocks<(u32, u32)>;

    fn rows(sorted: &Rows) -> Vec<(u32, u32)> {
        sorted.iter().copied().collect()
    }

    fn by(key: u32) -> impl Fn(&(u32, u32)) -> Ordering {
        move |row| row.0.cmp(&key)
    }

    proptest! {
        /// Runs of insertions and removals, so that blocks are split and joined; clones must not change.
        #[test]
        fn it_is_an_ordered_map_whose_clones_stay(
            runs in prop::collection::vec((0_u32..4_000, 1_u32..900, 1_u32..7, 0_u32..3), 1..12),
        ) {
            let (mut sorted, mut model) = (Rows::default(), BTreeMap::new());
            for (run, (start, n, step, what)) in (0_u32..).zip(runs) {
                let (earlier, before) = (sorted.clone(), rows(&sorted));
                for key in (0..n).map(|place| start + place * step) {
                    if what == 0 {
                        prop_assert_eq!(sorted.take(by(key)).map(|row| row.1), model.remove(&key));
                        prop_assert_eq!(sorted.find(by(key)), None);
                    } else {
                        prop_assert_eq!(sorted.put((key, run), by(key)).map(|row| row.1), model.insert(key, run));
                        prop_assert_eq!(sorted.find(by(key)), Some(&(key, run)));
                    }
                }
                let expected: Vec<(u32, u32)> = model.iter().map(|(key, value)| (*key, *value)).collect();
                prop_assert_eq!(rows(&sorted), &expected[..]);
                prop_assert_eq!((sorted.len(), sorted.is_empty()), (model.len(), model.is_empty()));
                prop_assert_eq!(rows(&earlier), &before[..]);
                let from: Vec<(u32, u32)> = sorted.iter_from(by(start)).copied().collect();
                let tail: Vec<(u32, u32)> = expected.iter().filter(|row| row.0 >= start).copied().collect();
                prop_assert_eq!(from, tail);
                prop_assert!(sorted.blocks.iter().all(|block| block.len() > 0 && block.len() < MAX_ROWS));

                let differing = earlier.differing(&sorted, |a, b| a.0.cmp(&b.0), |a, b| a == b);
                let old: BTreeMap<u32, u32> = before.iter().copied().collect();
                let mut keys: Vec<u32> = old.keys().chain(model.keys()).copied().collect();
                keys.sort_unstable();
                keys.dedup();
                keys.retain(|key| old.get(key) != model.get(key));
                let found: Vec<u32> = differing.iter().filter_map(|(a, b)| a.or(*b)).map(|row| row.0).collect();
                prop_assert_eq!(found, keys);
                for (was, is) in differing {
                    let key = was.or(is).unwrap().0;
                    prop_assert_eq!(was.map(|row| row.1), old.get(&key).copied());
                    prop_assert_eq!(is.map(|row| row.1), model.get(&key).copied());
                }
            }
        }
    }

    #[test]
    fn a_change_copies_one_block() {
        let sorted = SortedBlocks::of((0..100_000_u32).collect());
        let mut changed = sorted.clone();
        assert!(changed.remove(&70_000) && !changed.insert(5));
        let n_shared = sorted.blocks.iter().zip(&changed.blocks).filter(|(one, other)| one.is_same(other)).count();
        assert_eq!(sorted.blocks.len() - n_shared, 2);
        assert_eq!(sorted.differing(&changed, Ord::cmp, |a, b| a == b), [(Some(&70_000), None)]);
    }

    #[test]
    fn few_rows_left_lie_in_few_blocks() {
        let mut sorted = SortedBlocks::of((0..100_000_u32).collect());
        (0..100_000).filter(|row| row % 100 != 0).for_each(|row| assert!(sorted.remove(&row)));
        assert_eq!(sorted.len(), 1_000);
        assert!(sorted.blocks.len() < 40, "{}", sorted.blocks.len());
    }
}
