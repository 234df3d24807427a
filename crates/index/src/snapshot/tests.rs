use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::kernels::CodeLine;
use crate::{IndexKind, Neighbour, SearchScope, UnitVector};

/// A file's sections: each one aligned, as a map gives them.
type Stored = BTreeMap<SectionKind, Vec<u8>>;

struct Aligned(Vec<CodeLine>, usize);

impl AsRef<[u8]> for Aligned {
    fn as_ref(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.0)[..self.1]
    }
}

fn aligned(bytes: &[u8]) -> Bytes {
    let mut lines = vec![CodeLine([0; 64]); bytes.len().div_ceil(64)];
    bytemuck::cast_slice_mut(&mut lines)[..bytes.len()].copy_from_slice(bytes);
    Arc::new(Aligned(lines, bytes.len()))
}

fn vector(seed: u32) -> UnitVector {
    let component = |nth: u32| ((seed * 31 + nth * 17) as f32 * 0.7).sin();
    UnitVector::new(&(0..8).map(component).collect::<Vec<f32>>()).unwrap()
}

fn config() -> IndexConfig {
    IndexConfig { kind: Some(IndexKind::Graph), ..IndexConfig::default() }
}

/// 1,100 rows, of which 1,024 are in the graph, some removed, some replaced.
fn index() -> VectorIndex {
    filled(config())
}

fn filled(config: IndexConfig) -> VectorIndex {
    let mut index = VectorIndex::new(config);
    for key in 0..1_100 {
        index.put(key, &vector(key)).unwrap();
    }
    for key in (0..1_100).step_by(7) {
        index.remove(key);
    }
    index.put(5, &vector(9_999)).unwrap();
    index
}

fn store(index: &VectorIndex) -> Stored {
    let sections = index.sections().unwrap().into_iter();
    let mut stored: Stored = sections.map(|(part, pieces)| (part, pieces.concat())).collect();
    stored.insert(SectionKind::Head, index.head());
    stored.insert(SectionKind::Sums, index.sums());
    stored
}

fn load(stored: &Stored, keys: &[Option<u32>]) -> Option<VectorIndex> {
    VectorIndex::from_sections(config(), |part| Some(aligned(stored.get(&part)?)), keys)
}

fn answers(index: &VectorIndex) -> Vec<(Vec<Neighbour>, IndexKind)> {
    let ask = |seed| index.search(&vector(seed), 5, SearchScope::All).unwrap();
    (20_000..20_020).map(ask).map(|answer| (answer.neighbours, answer.by)).collect()
}

#[test]
fn a_loaded_index_answers_as_before_and_can_be_changed() {
    let mut index = index();
    let mut loaded = load(&store(&index), &index.stored_keys()).unwrap();
    assert_eq!(answers(&loaded), answers(&index));
    assert_eq!(answers(&loaded)[0].1, IndexKind::Graph);
    assert_eq!(loaded.len(), index.len());
    for index in [&mut index, &mut loaded] {
        index.put(3_000, &vector(20_001)).unwrap();
        index.remove(11);
    }
    assert_eq!(loaded.vector(3_000), index.vector(3_000));
    let nearest = |index: &VectorIndex| index.search(&vector(20_001), 1, SearchScope::All).unwrap().neighbours[0].key;
    assert_eq!((nearest(&loaded), nearest(&index)), (3_000, 3_000));
}

fn coarse_config() -> IndexConfig {
    IndexConfig { coarse_from: 1_000, ..IndexConfig::default() }
}

fn load_coarse(stored: &Stored, keys: &[Option<u32>]) -> Option<VectorIndex> {
    let index = VectorIndex::from_sections(coarse_config(), |part| Some(aligned(stored.get(&part)?)), keys)?;
    Some(index.with_signs_of_few())
}

#[test]
fn stored_signs_are_those_that_are_made_again() {
    let index = filled(coarse_config()).with_signs_of_few();
    let (whole, keys) = (store(&index), index.stored_keys());
    assert_eq!(
        (whole[&SectionKind::Signs].len(), whole[&SectionKind::SignScales].len()),
        (1_024 / 64 * 8 * 64, 1_024 * 4)
    );
    assert_eq!(answers(&index)[0].1, IndexKind::Coarse);
    let mut loaded = load_coarse(&whole, &keys).unwrap();
    assert_eq!(answers(&loaded), answers(&index));
    // All whole blocks of a loaded index have signs.
    assert_eq!(store(&loaded)[&SectionKind::SignScales].len(), 1_101 / 64 * 64 * 4);
    for lost in [SectionKind::Signs, SectionKind::SignScales] {
        let mut stored = whole.clone();
        stored.remove(&lost);
        assert_eq!(store(&load_coarse(&stored, &keys).unwrap()), store(&loaded), "{lost:?}");
        stored.insert(lost, whole[&lost][64..].to_vec());
        assert_eq!(store(&load_coarse(&stored, &keys).unwrap()), store(&loaded), "{lost:?}, cut");
    }
    // A stored list is copied when it grows.
    for key in 5_000..6_100 {
        loaded.put(key, &vector(key)).unwrap();
    }
    assert_eq!(answers(&loaded)[0].1, IndexKind::Coarse);
    assert_eq!(loaded.search(&vector(6_000), 1, SearchScope::All).unwrap().neighbours[0].key, 6_000);
}

#[test]
fn stored_links_are_not_used_where_no_graph_is_asked_for() {
    let index = index();
    for config in [coarse_config(), IndexConfig { kind: Some(IndexKind::Coarse), ..config() }] {
        let stored = store(&index);
        let section = |part| Some(aligned(stored.get(&part)?));
        let loaded = VectorIndex::from_sections(config, section, &index.stored_keys()).unwrap();
        assert!(!loaded.has_graph() && loaded.has_signs_or_graph());
        assert_eq!(answers(&loaded.with_signs_of_few())[0].1, IndexKind::Coarse);
    }
}

#[test]
fn an_empty_index_has_nothing_to_load() {
    let index = VectorIndex::new(config());
    assert!(load(&store(&index), &index.stored_keys()).is_none());
}

#[test]
fn lost_codes_and_links_are_made_again_and_lost_floats_are_not() {
    let index = index();
    for part in SectionKind::ALL {
        let mut stored = store(&index);
        stored.remove(&part);
        match load(&stored, &index.stored_keys()) {
            None => assert!(matches!(part, SectionKind::Head | SectionKind::Floats | SectionKind::Sums), "{part:?}"),
            Some(loaded) => {
                let is_of_links = matches!(part, SectionKind::Ground | SectionKind::Starts | SectionKind::Upper);
                let by = if is_of_links { IndexKind::Exact } else { IndexKind::Graph };
                assert_eq!(answers(&loaded)[0].1, by, "{part:?}");
                assert_eq!(loaded.search(&vector(8), 1, SearchScope::All).unwrap().neighbours[0].key, 8, "{part:?}");
            }
        }
    }
}

#[test]
fn a_flipped_float_costs_its_row_and_is_never_written_again() {
    let index = index();
    let (keys, whole) = (index.stored_keys(), store(&index));
    let n_floats = whole[&SectionKind::Floats].len();
    // The last block is not full: it is read, and checked, at once.
    let n_checked_late = BLOCK_ROWS * 8 * size_of::<f32>();
    for at in (0..n_floats).step_by(331) {
        let mut stored = whole.clone();
        stored.get_mut(&SectionKind::Floats).unwrap()[at] ^= 1 << (at % 8);
        let loaded = load(&stored, &keys);
        assert_eq!(loaded.is_none(), at >= n_checked_late, "byte {at}");
        let Some(mut loaded) = loaded else { continue };
        assert!(!loaded.is_damaged());
        let row = at / (8 * size_of::<f32>());
        for (other, key) in keys.iter().enumerate() {
            let Some(key) = key else { continue };
            let vector = loaded.vector(*key);
            assert_eq!(vector, index.vector(*key).filter(|_| other != row), "byte {at}");
        }
        // A row whose key was removed is not asked for.
        assert_eq!(loaded.is_damaged(), keys[row].is_some(), "byte {at}");
        for (found, expected) in answers(&loaded).into_iter().zip(answers(&index)) {
            for (found, expected) in found.0.iter().zip(expected.0) {
                assert!((found.distance - expected.distance).abs() < 0.02, "byte {at}");
            }
        }
        if loaded.is_damaged() {
            assert!(loaded.sections().is_none());
            for key in (0..1_100).step_by(2) {
                loaded.remove(key);
            }
            loaded.compact();
            assert!(loaded.sections().is_none(), "byte {at}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Checksums keep such sections out; what passes one by chance must still not lead out of bounds.
    #[test]
    fn senseless_sections_lead_nowhere(part in 0..SectionKind::ALL.len(), place in 0.0_f64..1.0, bytes in prop::array::uniform4(any::<u8>()), is_cut: bool) {
        let is_of_signs = matches!(SectionKind::ALL[part], SectionKind::Signs | SectionKind::SignScales);
        let (index, load): (_, fn(&_, &_) -> _) =
            if is_of_signs { (filled(coarse_config()), load_coarse) } else { (index(), load) };
        let mut stored = store(&index);
        let section = stored.get_mut(&SectionKind::ALL[part]).unwrap();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a length")]
        let at = (place * section.len() as f64) as usize / 4 * 4;
        if is_cut {
            section.truncate(at);
        } else if let Some(place) = section.get_mut(at..at + 4) {
            place.copy_from_slice(&bytes);
        }
        if let Some(mut loaded) = load(&stored, &index.stored_keys()) {
            answers(&loaded);
            for key in 5_000..6_100 {
                loaded.put(key, &vector(key)).unwrap();
            }
            answers(&loaded);
        }
    }
}
