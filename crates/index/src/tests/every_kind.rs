//! What holds for every kind of index, and when each kind is used.

use super::{BATCH, KINDS, Naive, among_few, check, clusters, config, filled, recall, unit};
use crate::{IndexConfig, IndexKind, KeySet, SearchScope, VectorError, VectorIndex};

#[test]
fn a_vector_of_another_length_changes_nothing() {
    let (vectors, queries) = clusters(100, 8);
    let (long, short) = (unit(&[1.0; 9]), unit(&[1.0; 7]));
    for kind in KINDS {
        let mut index = filled(*kind, &vectors);
        let before = index.search(&queries[0], 10, SearchScope::All).unwrap();
        assert_eq!(index.put(0, &long), Err(VectorError::Dimension { found: 9, expected: 8 }));
        let among_good = [(200, &vectors[0]), (3, &vectors[1]), (201, &short), (202, &vectors[2])];
        assert_eq!(index.put_all(among_good), Err(VectorError::Dimension { found: 7, expected: 8 }));
        assert_eq!(index.search(&short, 3, SearchScope::All), Err(VectorError::Dimension { found: 7, expected: 8 }));
        assert_eq!((index.len(), index.dimension()), (100, Some(8)));
        assert_eq!(index.vector(200), None);
        assert_eq!(index.search(&queries[0], 10, SearchScope::All).unwrap(), before);
        // The first of many sets the dimension only when all have it.
        let mut index = VectorIndex::new(config(*kind));
        let differing = [(0, &long), (1, &short)];
        assert_eq!(index.put_all(differing), Err(VectorError::Dimension { found: 7, expected: 9 }));
        assert_eq!((index.len(), index.dimension()), (0, None));
    }
}

#[test]
fn equal_vectors_are_all_found() {
    let equal = vec![unit(&[0.3, -0.5, 0.7, 0.2, 0.9]); 200];
    let naive = Naive::of(&equal);
    for kind in KINDS {
        let index = filled(*kind, &equal);
        let answer = index.search(&equal[0], 10, SearchScope::All).unwrap();
        assert_eq!(answer.by, among_few(*kind));
        if answer.by == IndexKind::Exact {
            assert!(answer.neighbours.iter().map(|near| near.key).eq(0..10), "{:?}", answer.neighbours);
        }
        for k in [1, 10, 199, 200, 201, usize::MAX] {
            check(&index, &naive, &equal[0], k, SearchScope::All);
        }
    }
}

#[test]
fn more_than_there_are_is_all_there_are() {
    let (vectors, queries) = clusters(100, 8);
    let naive = Naive::of(&vectors);
    let keys: KeySet = (90..2_000).collect();
    for kind in KINDS {
        let index = filled(*kind, &vectors);
        for k in [0, 1, 99, 100, 101, usize::MAX] {
            check(&index, &naive, &queries[0], k, SearchScope::All);
            check(&index, &naive, &queries[0], k, SearchScope::Only(&keys));
            check(&index, &naive, &queries[0], k, SearchScope::Only(&KeySet::default()));
            check(&VectorIndex::new(config(*kind)), &Naive::default(), &queries[0], k, SearchScope::All);
        }
    }
}

/// By default rows are scored one by one, then by their signs, then found in a graph; and the way back.
#[test]
fn the_number_of_rows_decides_how_they_are_searched() {
    let (vectors, queries) = clusters(5_000, 32);
    let config = IndexConfig { coarse_from: 3_500, graph_from: 4_500, ..IndexConfig::default() };
    let mut index = VectorIndex::new(config).with_batch(BATCH);
    let mut naive = Naive::default();
    let mut seen = Vec::new();
    let mut look = |index: &VectorIndex, naive: &Naive| {
        let (share, by) = recall(index, naive, &queries[..10], SearchScope::All);
        assert!(share >= 0.97, "{share} by {by:?} of {}", index.len());
        seen.push((by, index.has_signs_or_graph(), index.has_graph()));
    };
    for (keys, next) in [(0..3_400, 3_400), (3_400..4_400, 4_400), (4_400..5_000, 5_000)] {
        let rows = || (keys.start..).zip(&vectors[keys.start as usize..next]);
        index.put_all(rows()).unwrap();
        naive.0.extend(rows().map(|(key, vector)| (key, vector.clone())));
        look(&index, &naive);
    }
    for key in 0..1_000 {
        index.remove(key);
        naive.0.remove(&key);
    }
    index.compact();
    look(&index, &naive);
    assert_eq!(
        seen,
        [
            (IndexKind::Exact, false, false),
            (IndexKind::Coarse, true, false),
            (IndexKind::Graph, true, true),
            (IndexKind::Coarse, true, false)
        ]
    );
}
