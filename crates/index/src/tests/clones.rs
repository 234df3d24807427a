//! Clones share rows and graph, and are independent.

use super::{BATCH, KINDS, Naive, among_few, clusters, filled, recall, unit};
use crate::{IndexConfig, IndexKind, Neighbour, SearchResult, SearchScope, VectorIndex};

#[test]
fn a_clone_answers_as_before() {
    let (vectors, queries) = clusters(300, 16);
    for kind in KINDS {
        let mut index = filled(*kind, &vectors[..150]);
        let before = index.clone();
        let answers = |index: &VectorIndex| -> Vec<Vec<Neighbour>> {
            queries.iter().map(|query| index.search(query, 5, SearchScope::All).unwrap().neighbours).collect()
        };
        let expected = answers(&before);
        for (key, vector) in (100..).zip(&vectors[150..]) {
            index.put(key, vector).unwrap();
        }
        index.remove(3);
        assert_eq!(answers(&before), expected);
        assert_eq!(before.len(), 150);
        // Both go on from where they are.
        let mut other = before.clone();
        other.put_all((500..).zip(&vectors[200..])).unwrap();
        for index in [&mut index, &mut other] {
            let naive = Naive((0..700).filter_map(|key| Some((key, unit(index.vector(key)?)))).collect());
            let (recall, by) = recall(index, &naive, &queries, SearchScope::All);
            assert!(recall >= 0.95, "{kind:?} {recall}");
            assert!([*kind, among_few(*kind)].contains(&by), "{by:?}");
            index.compact();
        }
        assert_eq!(answers(&before), expected);
    }
}

/// One clone is searched while another one grows what they share.
#[test]
fn a_clone_is_searched_while_another_grows() {
    let (vectors, queries) = clusters(1_200, 16);
    let naive = Naive::of(&vectors[..400]);
    for kind in KINDS {
        let published = filled(*kind, &vectors[..400]);
        let mut next = published.clone();
        std::thread::scope(|scope| {
            let grows = scope.spawn(|| {
                next.put_all((400..).zip(&vectors[400..])).unwrap();
                next.len()
            });
            let mut n_rounds = 0;
            while n_rounds == 0 || !grows.is_finished() {
                let (recall, _) = recall(&published, &naive, &queries, SearchScope::All);
                assert!(recall >= 0.95, "{kind:?} {recall}");
                n_rounds += 1;
            }
            assert_eq!(grows.join().unwrap(), 1_200);
        });
    }
}

/// A clone of a default index is searched by its signs while another one gets a graph instead of them.
#[test]
fn a_clone_keeps_its_signs_while_another_gets_a_graph() {
    let (vectors, queries) = clusters(4_800, 32);
    let config = IndexConfig { coarse_from: 3_500, graph_from: 4_500, ..IndexConfig::default() };
    let mut published = VectorIndex::new(config).with_batch(BATCH);
    published.put_all((0..).zip(&vectors[..4_000])).unwrap();
    let mut next = published.clone();
    let expected: Vec<SearchResult> =
        queries.iter().map(|query| published.search(query, 10, SearchScope::All).unwrap()).collect();
    assert!(expected.iter().all(|result| result.by == IndexKind::Coarse));
    std::thread::scope(|scope| {
        let grows = scope.spawn(|| {
            next.put_all((4_000..).zip(&vectors[4_000..])).unwrap();
            next.search(&queries[0], 10, SearchScope::All).unwrap().by
        });
        let mut n_rounds = 0;
        while n_rounds == 0 || !grows.is_finished() {
            for (query, expected) in queries.iter().zip(&expected) {
                assert_eq!(published.search(query, 10, SearchScope::All).unwrap(), *expected);
            }
            n_rounds += 1;
        }
        assert_eq!(grows.join().unwrap(), IndexKind::Graph);
    });
}
