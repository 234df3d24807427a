//! The share of the nearest that graphs find, and what a graph depends on.

use super::{BATCH, GRAPHS, Naive, Random, check, clusters, config, filled, recall};
use crate::kernels::Kernel;
use crate::{IndexConfig, IndexKind, KeySet, SearchScope, UnitVector, VectorIndex};

#[test]
fn graphs_find_nearly_all() {
    let (vectors, queries) = clusters(400, 16);
    for kind in GRAPHS {
        let (recall, by) = recall(&filled(*kind, &vectors), &Naive::of(&vectors), &queries, SearchScope::All);
        assert!(recall >= 0.95, "{kind:?} {recall}");
        assert_eq!(by, *kind, "a fallback would test nothing");
    }
}

#[test]
fn graphs_find_nearly_all_of_what_is_left() {
    let (vectors, queries) = clusters(3_000, 32);
    for kind in GRAPHS {
        let full = filled(*kind, &vectors);
        for share in [0.1, 0.3, 0.5, 0.9] {
            let (mut index, mut naive, mut random) = (full.clone(), Naive::of(&vectors), Random(11));
            for key in (0..3_000).filter(|_| random.unit() < share) {
                assert!(index.remove(key));
                naive.0.remove(&key);
            }
            for what in ["as it is", "compacted"] {
                let (recall, by) = recall(&index, &naive, &queries, SearchScope::All);
                assert!(recall >= 0.98, "{kind:?} without {share} {what}: {recall}");
                assert_eq!(by, *kind, "a fallback would test nothing");
                index.compact();
            }
        }
        assert_eq!(full.len(), 3_000);
    }
}

#[test]
fn graphs_find_nearly_all_of_what_is_wanted() {
    let (vectors, queries) = clusters(3_000, 32);
    let naive = Naive::of(&vectors);
    for kind in GRAPHS {
        let mut index = filled(*kind, &vectors);
        // With few candidates the graph is worth a try among many keys; else a scan answers.
        for (ef, share, by_graph) in [
            (20, 0.95, true),
            (24, 0.5, false),
            (128, 0.9, false),
            (128, 0.5, false),
            (128, 0.1, false),
            (128, 0.01, false),
            (128, 0.001, false),
        ] {
            let mut random = Random(7);
            let keys: KeySet = (0..3_000).filter(|_| random.unit() < share).collect();
            assert!(!keys.is_empty());
            index.set_ef(ef);
            let (recall, by) = recall(&index, &naive, &queries, SearchScope::Only(&keys));
            assert!(recall >= 0.98, "{kind:?} among {share} at ef {ef}: {recall}");
            // The other graph may give up where the own one does not.
            if *kind == IndexKind::Graph || !by_graph {
                assert_eq!(by == IndexKind::Exact, !by_graph, "{kind:?} among {share} at ef {ef}");
            }
        }
    }
}

/// A search that goes to the nearest rows finds only rows there that are removed or not wanted.
#[test]
fn what_is_wanted_is_found_far_from_the_query() {
    const QUERIES: usize = 12;
    let (vectors, queries) = clusters(3_000, 32);
    for kind in GRAPHS {
        let mut full = filled(*kind, &vectors);
        full.set_ef(32);
        let (mut behind_removed, mut behind_unwanted) = (0.0, 0.0);
        for query in &queries[..QUERIES] {
            let (mut index, mut naive) = (full.clone(), Naive::of(&vectors));
            let order = naive.nearest(query, usize::MAX, SearchScope::All);
            for near in &order[..900] {
                index.remove(near.key);
                naive.0.remove(&near.key);
            }
            let (found, by) = check(&index, &naive, query, 10, SearchScope::All);
            assert_eq!(by, *kind);
            behind_removed += found / QUERIES as f64;
            let far: KeySet = order[1_500..].iter().map(|near| near.key).collect();
            behind_unwanted += check(&index, &naive, query, 10, SearchScope::Only(&far)).0 / QUERIES as f64;
        }
        assert!(behind_removed >= 0.95, "{kind:?} {behind_removed}");
        assert!(behind_unwanted >= 0.95, "{kind:?} {behind_unwanted}");
    }
}

/// Equal vectors link to each other first, and may become an island.
#[test]
fn groups_of_equal_vectors_are_reached() {
    let (centres, _) = clusters(30, 16);
    let vectors: Vec<UnitVector> = (0..1_500).map(|row| centres[row % 30].clone()).collect();
    for kind in GRAPHS {
        let (recall, by) = recall(&filled(*kind, &vectors), &Naive::of(&vectors), &centres, SearchScope::All);
        assert!(recall >= 0.95, "{kind:?} {recall}");
        assert_eq!(by, *kind);
    }
}

#[test]
fn the_own_graph_follows_from_its_rows() {
    let (vectors, queries) = clusters(640, 16);
    let at_once = filled(IndexKind::Graph, &vectors);
    let mut one_by_one = VectorIndex::new(config(IndexKind::Graph)).with_batch(8);
    for (key, vector) in (0..).zip(&vectors) {
        one_by_one.put(key, vector).unwrap();
    }
    let mut late = VectorIndex::new(IndexConfig { graph_from: 600, ..IndexConfig::default() }).with_batch(BATCH);
    late.put_all((0..).zip(&vectors)).unwrap();
    for other in [&one_by_one, &late] {
        assert_eq!(format!("{:?}", other.links()), format!("{:?}", at_once.links()));
    }
    // A compacted index is a new one of what is left.
    let mut compacted = at_once.clone();
    let left: Vec<u32> = (0..640).filter(|key| key % 4 != 1).collect();
    for key in (0..640).filter(|key| key % 4 == 1) {
        compacted.remove(key);
    }
    let answers = |index: &VectorIndex| -> Vec<_> {
        queries.iter().map(|query| index.search(query, 10, SearchScope::All).unwrap()).collect()
    };
    let mut fresh = VectorIndex::new(config(IndexKind::Graph)).with_batch(BATCH);
    fresh.put_all(left.iter().map(|key| (*key, &vectors[*key as usize]))).unwrap();
    assert_ne!(format!("{:?}", compacted.links()), format!("{:?}", fresh.links()));
    compacted.compact();
    assert_eq!(format!("{:?}", compacted.links()), format!("{:?}", fresh.links()));
    assert_eq!(answers(&compacted), answers(&fresh));
}

/// Enough rows for cells, whose centres are placed twice.
#[test]
fn the_own_graph_is_the_same_with_any_threads_pieces_and_kernel() {
    let (vectors, queries) = clusters(4_500, 16);
    let build = |build_threads, piece, kernel| {
        let config = IndexConfig { build_threads, ..config(IndexKind::Graph) };
        let mut index = VectorIndex::new(config).with_batch(100).with_kernel(kernel);
        let rows: Vec<(u32, &UnitVector)> = (0..).zip(&vectors).collect();
        for rows in rows.chunks(piece) {
            index.put_all(rows.iter().copied()).unwrap();
        }
        index
    };
    let expected = build(1, 4_500, Kernel::best());
    let found = recall(&expected, &Naive::of(&vectors), &queries, SearchScope::All);
    assert!(found.0 >= 0.98 && found.1 == IndexKind::Graph, "{found:?}");
    for (threads, piece) in [(1, 1), (2, 4_500), (3, 700), (64, 100)] {
        let other = build(threads, piece, Kernel::best());
        assert!(
            format!("{:?}", other.links()) == format!("{:?}", expected.links()),
            "{threads} threads, {piece} at a time"
        );
    }
    for kernel in Kernel::available() {
        let other = build(1, 4_500, *kernel);
        assert!(format!("{:?}", other.links()) == format!("{:?}", expected.links()), "{kernel:?}");
    }
}
