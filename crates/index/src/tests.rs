//! One suite over every kind of index, compared with a naive one.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::kernels::Kernel;
use super::rows::Rows;
use super::vector_index::{Neighbour, SearchResult};
use super::{IndexConfig, IndexKind, KeySet, SearchScope, UnitVector, VectorError, VectorIndex};

const KINDS: &[IndexKind] = &[
    IndexKind::Exact,
    IndexKind::Coarse,
    IndexKind::Graph,
    #[cfg(feature = "hnsw_rs")]
    IndexKind::HnswRs,
];

/// Those that link their rows.
const GRAPHS: &[IndexKind] = KINDS.split_at(2).1;

/// Rows that join at a time, so that small indexes have a graph, and a rest that is scanned.
const BATCH: usize = 32;

/// What answers among a few hundred rows: so few are not worth choosing from.
fn among_few(kind: IndexKind) -> IndexKind {
    if kind == IndexKind::Coarse { IndexKind::Exact } else { kind }
}

fn config(kind: IndexKind) -> IndexConfig {
    IndexConfig { kind: Some(kind), ..IndexConfig::default() }
}

fn filled(kind: IndexKind, vectors: &[UnitVector]) -> VectorIndex {
    let mut index = VectorIndex::new(config(kind)).with_batch(BATCH);
    index.put_all((0..).zip(vectors)).unwrap();
    index
}

fn unit(components: &[f32]) -> UnitVector {
    UnitVector::new(components).unwrap()
}

/// Every key's vector, and no idea how to search.
#[derive(Clone, Debug, Default)]
struct Naive(BTreeMap<u32, UnitVector>);

impl Naive {
    fn of(vectors: &[UnitVector]) -> Self {
        Self((0..).zip(vectors.iter().cloned()).collect())
    }

    fn nearest(&self, query: &UnitVector, k: usize, among: SearchScope<'_>) -> Vec<Neighbour> {
        let wanted = self.0.iter().filter(|(key, _)| is_wanted(among, **key));
        let mut found: Vec<Neighbour> = wanted
            .map(|(key, vector)| {
                let product = Kernel::Portable.dot(query.as_slice(), vector.as_slice());
                Neighbour { key: *key, distance: (1.0 - product).clamp(0.0, 2.0) }
            })
            .collect();
        found.sort_by(|one, other| one.distance.total_cmp(&other.distance).then(one.key.cmp(&other.key)));
        found.truncate(k);
        found
    }
}

fn is_wanted(among: SearchScope<'_>, key: u32) -> bool {
    match among {
        SearchScope::All => true,
        SearchScope::Only(keys) => keys.contains(key),
    }
}

/// What holds of every answer, and of an exact one; the share of the nearest that it has, and what answered.
fn check(index: &VectorIndex, naive: &Naive, query: &UnitVector, k: usize, among: SearchScope<'_>) -> (f64, IndexKind) {
    let answer = index.search(query, k, among).unwrap();
    let everything = naive.nearest(query, usize::MAX, among);
    let expected = &everything[..k.min(everything.len())];
    if answer.by == IndexKind::Exact {
        assert_eq!(answer.neighbours, expected);
        return (1.0, answer.by);
    }
    assert_eq!(answer.neighbours.len(), expected.len(), "all {k} there are, by {:?}", answer.by);
    let truth: BTreeMap<u32, f32> = everything.iter().map(|near| (near.key, near.distance)).collect();
    for near in &answer.neighbours {
        assert_eq!(truth.get(&near.key), Some(&near.distance), "live, wanted, at its distance: {near:?}");
    }
    assert!(
        answer.neighbours.is_sorted_by(|one, other| (one.distance, one.key) < (other.distance, other.key)),
        "nearest first, ties by key, none twice: {:?}",
        answer.neighbours
    );
    let Some(last) = expected.last() else { return (1.0, answer.by) };
    let n_found = answer.neighbours.iter().filter(|near| near.distance <= last.distance + 1e-6).count();
    (n_found as f64 / expected.len() as f64, answer.by)
}

/// The mean share of the ten nearest that is found, and by what: exact when a scan answered each time.
fn recall(index: &VectorIndex, naive: &Naive, queries: &[UnitVector], among: SearchScope<'_>) -> (f64, IndexKind) {
    assert_eq!(index.len(), naive.0.len());
    let checked: Vec<(f64, IndexKind)> = queries.iter().map(|query| check(index, naive, query, 10, among)).collect();
    let by = checked.iter().map(|(_, by)| *by).find(|by| *by != IndexKind::Exact).unwrap_or(IndexKind::Exact);
    (checked.iter().map(|(recall, _)| recall).sum::<f64>() / queries.len() as f64, by)
}

/// A small source of chance (`SplitMix64`).
struct Chance(u64);

impl Chance {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    #[expect(clippy::cast_possible_truncation, reason = "chance needs no more digits")]
    fn component(&mut self) -> f32 {
        (2.0 * self.unit() - 1.0) as f32
    }
}

/// Vectors in clusters of about thirty, and queries drawn alike.
fn clusters(n: usize, dimension: usize) -> (Vec<UnitVector>, Vec<UnitVector>) {
    const QUERIES: usize = 60;
    let mut chance = Chance(5);
    let mut draw =
        |n: usize| -> Vec<Vec<f32>> { (0..n).map(|_| (0..dimension).map(|_| chance.component()).collect()).collect() };
    let centres = draw(n.div_ceil(30));
    let noise = draw(n + QUERIES);
    let mut all: Vec<UnitVector> = noise
        .iter()
        .zip(centres.iter().cycle())
        .map(|(noise, centre)| unit(&centre.iter().zip(noise).map(|(c, n)| c + 0.6 * n).collect::<Vec<_>>()))
        .collect();
    let queries = all.split_off(n);
    (all, queries)
}

#[derive(Clone, Debug)]
enum Op {
    Put(u32, [i8; 3]),
    PutAll(Vec<(u32, [i8; 3])>),
    Remove(u32),
    RemoveAll(Vec<u32>),
    Compact,
    /// The next operations are on a copy, the original stays.
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

/// Runs the operations on an index and on a naive one, and asks both the same, each copy to the end.
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

#[test]
fn graphs_find_nearly_all() {
    let (vectors, queries) = clusters(400, 16);
    for kind in GRAPHS {
        let (recall, by) = recall(&filled(*kind, &vectors), &Naive::of(&vectors), &queries, SearchScope::All);
        assert!(recall >= 0.95, "{kind:?} {recall}");
        assert_eq!(by, *kind, "or nothing was tried");
    }
}

#[test]
fn graphs_find_nearly_all_of_what_is_left() {
    let (vectors, queries) = clusters(3_000, 32);
    for kind in GRAPHS {
        let full = filled(*kind, &vectors);
        for share in [0.1, 0.3, 0.5, 0.9] {
            let (mut index, mut naive, mut chance) = (full.clone(), Naive::of(&vectors), Chance(11));
            for key in (0..3_000).filter(|_| chance.unit() < share) {
                assert!(index.remove(key));
                naive.0.remove(&key);
            }
            for what in ["as it is", "compacted"] {
                let (recall, by) = recall(&index, &naive, &queries, SearchScope::All);
                assert!(recall >= 0.98, "{kind:?} without {share} {what}: {recall}");
                assert_eq!(by, *kind, "or nothing was tried");
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
            let mut chance = Chance(7);
            let keys: KeySet = (0..3_000).filter(|_| chance.unit() < share).collect();
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
