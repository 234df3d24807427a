//! Every kind of index through random changes, compared with the naive one.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::{KINDS, Naive, check, config, unit};
use crate::{IndexConfig, KeySet, SearchScope, UnitVector, VectorIndex};

#[derive(Clone, Debug)]
enum Op {
    Put(u32, [i8; 3]),
    PutAll(Vec<(u32, [i8; 3])>),
    Remove(u32),
    RemoveAll(Vec<u32>),
    Compact,
    /// The next operations are on a copy; the original is kept.
    Clone,
    /// The next operations are on another copy.
    Turn,
    Search([i8; 3], usize, Option<BTreeSet<u32>>),
}

fn grid() -> impl Strategy<Value = [i8; 3]> {
    prop::array::uniform3(-2_i8..=2).prop_filter("it has a direction", |components| *components != [0; 3])
}

fn vector(components: [i8; 3]) -> UnitVector {
    unit(&components.map(f32::from))
}

fn op() -> impl Strategy<Value = Op> {
    let key = || 0_u32..60;
    prop_oneof![
        4 => (key(), grid()).prop_map(|(key, vector)| Op::Put(key, vector)),
        4 => prop::collection::vec((key(), grid()), 0..40).prop_map(Op::PutAll),
        3 => key().prop_map(Op::Remove),
        1 => prop::collection::vec(key(), 0..30).prop_map(Op::RemoveAll),
        1 => Just(Op::Compact),
        1 => Just(Op::Clone),
        1 => Just(Op::Turn),
        4 => (grid(), 0_usize..12, prop::option::of(prop::collection::btree_set(0_u32..70, 0..70)))
            .prop_map(|(query, k, only)| Op::Search(query, k, only)),
    ]
}

/// Runs the operations on an index and a naive one, and compares their answers; at the end, those of every copy.
fn run(config: &IndexConfig, ops: &[Op]) {
    let mut copies = vec![(VectorIndex::new(config.clone()).with_batch(8), Naive::default())];
    for op in ops {
        let n_copies = copies.len();
        let (index, naive) = copies.last_mut().unwrap();
        match op {
            Op::Put(key, components) => {
                index.put(*key, &vector(*components)).unwrap();
                naive.0.insert(*key, vector(*components));
            }
            Op::PutAll(rows) => {
                let rows: Vec<(u32, UnitVector)> = rows.iter().map(|(key, row)| (*key, vector(*row))).collect();
                index.put_all(rows.iter().map(|(key, row)| (*key, row))).unwrap();
                naive.0.extend(rows);
            }
            Op::Remove(key) => assert_eq!(index.remove(*key), naive.0.remove(key).is_some()),
            Op::RemoveAll(keys) => {
                for key in keys {
                    assert_eq!(index.remove(*key), naive.0.remove(key).is_some());
                }
            }
            Op::Compact => index.compact(),
            Op::Clone if n_copies < 4 => {
                let copy = (index.clone(), naive.clone());
                copies.push(copy);
            }
            Op::Clone => {}
            Op::Turn => copies.rotate_right(1),
            Op::Search(query, k, only) => {
                let keys: Option<KeySet> = only.as_ref().map(|keys| keys.iter().copied().collect());
                let among = keys.as_ref().map_or(SearchScope::All, SearchScope::Only);
                check(index, naive, &vector(*query), *k, among);
            }
        }
    }
    for (index, naive) in &copies {
        assert_eq!(index.len(), naive.0.len());
        for key in 0..60 {
            assert_eq!(index.vector(key), naive.0.get(&key).map(UnitVector::as_slice));
        }
        for query in [[1, 0, 0], [-2, 1, 1]] {
            check(index, naive, &vector(query), 7, SearchScope::All);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_kind_answers_as_a_naive_search_through_changes(ops in prop::collection::vec(op(), 0..60)) {
        for kind in KINDS {
            run(&IndexConfig { links: 4, ef: 1, ..config(*kind) }, &ops);
        }
        run(&IndexConfig { kind: None, coarse_from: 8, graph_from: 24, links: 4, ef: 12, ..IndexConfig::default() }, &ops);
    }
}
