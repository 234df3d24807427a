//! Several queries at once.

use super::{BATCH, Naive, clusters, filled, unit};
use crate::kernels::Kernel;
use crate::{IndexConfig, IndexKind, KeySet, SearchScope, VectorError, VectorIndex};

#[test]
fn many_queries_at_once_find_what_each_alone_finds() {
    let (vectors, queries) = clusters(700, 70);
    let some: KeySet = (0..700).filter(|key| key % 3 != 0).collect();
    let few: KeySet = (0..700).step_by(40).collect();
    for kernel in Kernel::available() {
        let mut index = filled(IndexKind::Exact, &vectors).with_kernel(*kernel);
        for key in (0..700).step_by(7) {
            index.remove(key);
        }
        for among in [SearchScope::All, SearchScope::Only(&some), SearchScope::Only(&few)] {
            for n_queries in [0, 1, 7, 8, 16, 17, 60] {
                let queries = &queries[..n_queries];
                for k in [0, 1, 10, 1_000] {
                    let single: Vec<_> = queries.iter().map(|query| index.search(query, k, among).unwrap()).collect();
                    assert_eq!(index.search_many(queries, k, among).unwrap(), single, "{kernel:?}, k {k}, {among:?}");
                }
            }
        }
    }
}

#[test]
fn many_queries_ask_the_graph_where_it_was_named() {
    let (vectors, queries) = clusters(700, 24);
    let index = filled(IndexKind::Graph, &vectors);
    let answers = index.search_many(&queries, 10, SearchScope::All).unwrap();
    assert!(answers.iter().all(|answer| answer.by == IndexKind::Graph));
    let config = IndexConfig { graph_from: 1, ..IndexConfig::default() };
    let mut index = VectorIndex::new(config).with_batch(BATCH);
    index.put_all((0..).zip(&vectors)).unwrap();
    assert_eq!(index.search(&queries[0], 10, SearchScope::All).unwrap().by, IndexKind::Graph);
    for (query, answer) in queries.iter().zip(index.search_many(&queries, 10, SearchScope::All).unwrap()) {
        assert_eq!(answer.by, IndexKind::Exact);
        assert_eq!(answer.neighbours, Naive::of(&vectors).nearest(query, 10, SearchScope::All));
    }
}

#[test]
fn one_query_of_many_that_has_another_length_is_refused() {
    let index = filled(IndexKind::Exact, &[unit(&[1.0, 0.0])]);
    let queries = [unit(&[1.0, 0.0]), unit(&[1.0, 0.0, 0.0])];
    let refused = index.search_many(&queries, 1, SearchScope::All);
    assert_eq!(refused, Err(VectorError::Dimension { found: 3, expected: 2 }));
    assert_eq!(VectorIndex::new(IndexConfig::default()).search_many(&queries, 1, SearchScope::All).unwrap().len(), 2);
}
