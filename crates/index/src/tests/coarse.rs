//! Searches that compare signs first.

use super::{Naive, clusters, config, filled, recall, unit};
use crate::kernels::Kernel;
use crate::rows::Rows;
use crate::{IndexKind, KeySet, SearchResult, SearchScope, UnitVector, VectorIndex};

#[test]
fn a_coarse_search_finds_nearly_all_and_the_same_with_every_kernel() {
    let (vectors, queries) = clusters(3_000, 96);
    let mut naive = Naive::of(&vectors);
    let mut index = filled(IndexKind::Coarse, &vectors).with_signs_of_few();
    for key in (0..3_000).step_by(11) {
        index.remove(key);
        naive.0.remove(&key);
    }
    for (key, vector) in [(1, 2), (700, 701), (2_999, 40)] {
        index.put(key, &vectors[vector]).unwrap();
        naive.0.insert(key, vectors[vector].clone());
    }
    let half: KeySet = (0..3_000).filter(|key| key % 2 == 0).collect();
    for among in [SearchScope::All, SearchScope::Only(&half)] {
        let (share, by) = recall(&index, &naive, &queries, among);
        assert_eq!(by, IndexKind::Coarse);
        assert!(share >= 0.999, "{share}");
        let single: Vec<SearchResult> = queries.iter().map(|query| index.search(query, 10, among).unwrap()).collect();
        assert_eq!(index.search_many(&queries, 10, among).unwrap(), single);
        for kernel in Kernel::available() {
            let other = index.clone().with_kernel(*kernel);
            assert_eq!(other.search(&queries[0], 10, among).unwrap(), single[0], "{kernel:?}");
            assert_eq!(other.search_many(&queries, 10, among).unwrap(), single, "{kernel:?}");
        }
    }
}

/// The signs of such components say nothing or, where a few are large in every vector, what is wrong; those of rotated ones do not.
#[test]
fn a_coarse_search_of_vectors_whose_signs_mislead_is_right() {
    let (vectors, queries) = clusters(2_000, 96);
    let large = |(nth, component): (usize, f32)| component + if nth % 40 == 3 { 1.0 } else { 0.0 };
    let made: [&dyn Fn((usize, f32)) -> f32; 4] =
        [&|(_, component)| component.abs(), &|(_, component)| (component - 0.1).max(0.0), &large, &|(
            nth,
            component,
        )| {
            component * 0.95_f32.powi(i32::try_from(nth).unwrap())
        }];
    for (nth, made) in made.into_iter().enumerate() {
        let made =
            |vector: &UnitVector| unit(&vector.as_slice().iter().copied().enumerate().map(made).collect::<Vec<f32>>());
        let vectors: Vec<UnitVector> = vectors.iter().map(made).collect();
        let queries: Vec<UnitVector> = queries.iter().map(made).collect();
        let index = filled(IndexKind::Coarse, &vectors).with_signs_of_few();
        let (share, by) = recall(&index, &Naive::of(&vectors), &queries, SearchScope::All);
        assert_eq!(by, IndexKind::Coarse);
        assert!(share >= 0.995, "{share} of the {nth}-th kind");
    }
}

#[test]
fn a_coarse_search_of_many_equal_rows_finds_as_many_as_asked_for() {
    let (vectors, queries) = clusters(500, 96);
    let vectors: Vec<UnitVector> = vectors.into_iter().chain(vec![queries[0].clone(); 500]).collect();
    let index = filled(IndexKind::Coarse, &vectors).with_signs_of_few();
    let (share, by) = recall(&index, &Naive::of(&vectors), &queries, SearchScope::All);
    assert_eq!(by, IndexKind::Coarse);
    assert!(share >= 0.995, "{share}");
}

#[test]
fn few_rows_are_scored_without_a_look_at_their_signs() {
    let (vectors, queries) = clusters(3_300, 96);
    let index = filled(IndexKind::Coarse, &vectors);
    let by = |among| index.search(&queries[0], 10, among).unwrap().by;
    assert_eq!(by(SearchScope::All), IndexKind::Coarse);
    let few: KeySet = (0..3_000).collect();
    assert_eq!(by(SearchScope::Only(&few)), IndexKind::Exact);
    let together = index.search_many(&queries, 10, SearchScope::All).unwrap();
    assert!(together.iter().all(|answer| answer.by == IndexKind::Exact));
}

#[test]
fn rows_from_a_snapshot_are_searched_coarsely_too() {
    let (vectors, queries) = clusters(1_003, 70);
    // Part of the rows is not a whole block of sixty-four.
    let rows = vectors.iter().fold(Rows::new(70), |mut rows, vector| {
        rows.push(0, vector.as_slice());
        rows
    });
    let keys: Vec<Option<u32>> = (0..1_003).map(Some).collect();
    let rows = Rows::from_parts(
        70,
        (0..1_003).collect(),
        (Vec::new(), rows.float_blocks().flatten().copied().collect()),
        None,
    );
    let mut index = VectorIndex::new(config(IndexKind::Coarse)).with_signs_of_few();
    index.restore(rows.unwrap(), None, None, &keys);
    let (share, by) = recall(&index, &Naive::of(&vectors), &queries, SearchScope::All);
    assert_eq!(by, IndexKind::Coarse);
    assert!(share >= 0.995, "{share}");
    let last = index.search(&vectors[1_002], 1, SearchScope::All).unwrap();
    assert_eq!(last.neighbours[0].key, 1_002);
}
