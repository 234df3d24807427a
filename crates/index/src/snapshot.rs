//! An index as sections of bytes, and back, for whoever keeps an index in files.
//!
//! Write [`VectorIndex::head`] as [`Part::Head`], [`VectorIndex::sums`] as [`Part::Sums`] and each of [`VectorIndex::sections`], and keep
//! [`VectorIndex::stored_keys`] in a form of your own; [`VectorIndex::from_sections`] takes them back. Sections must be checked for
//! damage by their owner, but for [`Part::Floats`]: each of its rows is compared with its checksum in [`Part::Sums`] when it is first
//! read, so that a large file need not be read to be opened. A section that is missing, or whose content makes no sense, is made again
//! from the floats. [`VectorIndex::is_damaged`] says whether a row was found that did not fit.

use std::sync::Arc;

use super::coarse::Coarse;
use super::float_block::{BLOCK_ROWS, FloatBlock, StoredFloats, floats_of};
use super::graph::{Graph, GraphShape};
use super::rows::Rows;
use super::shared::Shared;
use crate::{IndexConfig, VectorIndex};

/// A section of an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// Counts and settings.
    Head,
    /// The vectors, one row after the other.
    Floats,
    /// The rows' one-byte codes.
    Codes,
    /// The scale of each row's codes.
    Scales,
    /// The graph's links on the lowest level.
    Ground,
    /// Where each row's links of the upper levels begin.
    Starts,
    /// The graph's links on the upper levels.
    Upper,
    /// The checksum of each row of the floats.
    Sums,
    /// The signs of the rows' rotated components.
    Signs,
    /// The scale of each row's signs.
    SignScales,
}

impl Part {
    /// All of them, in their order in a file.
    pub const ALL: [Self; 10] = [
        Self::Head,
        Self::Floats,
        Self::Codes,
        Self::Scales,
        Self::Ground,
        Self::Starts,
        Self::Upper,
        Self::Sums,
        Self::Signs,
        Self::SignScales,
    ];
}

pub use super::float_block::row_sum;

/// Bytes of a section, wherever they are; aligned to 64.
pub type Bytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// A section's name, and the pieces that it is made of.
pub type Section<'a> = (Part, Vec<&'a [u8]>);

fn numbers_of(bytes: &Bytes) -> Option<Vec<u32>> {
    bytemuck::try_cast_slice(bytes.as_ref().as_ref()).ok().map(<[u32]>::to_vec)
}

impl VectorIndex {
    /// The sections, each as the pieces that it is made of, in little-endian order. The keys are the owner's to keep: see
    /// [`VectorIndex::stored_keys`].
    ///
    /// `None` on a machine of the other byte order, where nothing is stored, and where a row is damaged.
    #[must_use]
    pub fn sections(&self) -> Option<Vec<Section<'_>>> {
        if cfg!(target_endian = "big") || self.is_damaged() {
            return None;
        }
        let mut sections = Vec::with_capacity(Part::ALL.len());
        let parts = self.row_parts();
        let floats = parts.iter().flat_map(|rows| rows.float_blocks()).map(bytemuck::cast_slice).collect();
        sections.push((Part::Floats, floats));
        sections.push((Part::Codes, parts.iter().map(|rows| bytemuck::cast_slice(rows.codes())).collect()));
        sections.push((Part::Scales, parts.iter().map(|rows| bytemuck::cast_slice(rows.scales())).collect()));
        let (signs, scales) = self.coarse().parts();
        if !scales.is_empty() {
            sections.push((Part::Signs, vec![bytemuck::cast_slice(signs)]));
            sections.push((Part::SignScales, vec![bytemuck::cast_slice(scales)]));
        }
        if let Some(graph) = self.graph() {
            let ([ground, starts, upper], _) = graph.parts();
            for (part, links) in [(Part::Ground, ground), (Part::Starts, starts), (Part::Upper, upper)] {
                sections.push((part, vec![bytemuck::cast_slice(links)]));
            }
        }
        Some(sections)
    }

    /// The first section, which says what the others hold.
    #[must_use]
    pub fn head(&self) -> Vec<u8> {
        let parts = self.row_parts();
        let entry = self.graph().map_or(u32::MAX, |graph| graph.parts().1);
        let shape = self.config().shape();
        let small = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        let error = parts.iter().map(|rows| rows.error()).fold(0.0, f32::max);
        let head = [
            small(self.dimension().unwrap_or(0)),
            small(parts.iter().map(|rows| rows.len()).sum()),
            error.to_bits(),
            small(shape.links),
            small(shape.ef_construction),
            entry,
        ];
        head.into_iter().flat_map(u32::to_le_bytes).collect()
    }

    /// The checksum of each row of the floats, a CRC-32 as four little-endian bytes.
    #[must_use]
    pub fn sums(&self) -> Vec<u8> {
        self.row_parts().iter().flat_map(|rows| rows.sums()).flat_map(u32::to_le_bytes).collect()
    }

    /// Which key each stored row has, in their order; none where it was removed.
    #[must_use]
    pub fn stored_keys(&self) -> Vec<Option<u32>> {
        self.keys_by_row()
    }

    /// An index of stored sections, with the keys that its rows have now: rows without one are removed. `None` when the floats
    /// or their checksums are missing; codes, signs and links that are missing or make no sense are made again. Links are not used where
    /// these settings ask for no graph.
    pub fn from_sections(
        config: IndexConfig,
        section: impl Fn(Part) -> Option<Bytes>,
        keys: &[Option<u32>],
    ) -> Option<Self> {
        if cfg!(target_endian = "big") {
            return None;
        }
        let head = numbers_of(&section(Part::Head)?)?;
        let [dimension, n_rows, error, links, ef_construction, entry] = <[u32; 6]>::try_from(head).ok()?;
        let (dimension, n_rows, error) = (dimension as usize, n_rows as usize, f32::from_bits(error));
        let floats = section(Part::Floats)?;
        let n_floats = floats_of(floats.as_ref().as_ref()).len();
        if dimension == 0 || n_rows != keys.len() || n_rows.checked_mul(dimension) != Some(n_floats) {
            return None;
        }
        let sums = numbers_of(&section(Part::Sums)?)?;
        if sums.len() != n_rows {
            return None;
        }
        let block = BLOCK_ROWS * dimension;
        let mut sums = sums.chunks_exact(BLOCK_ROWS);
        let full: Vec<FloatBlock> = (0..)
            .zip(sums.by_ref())
            .map(|(nth, sums): (usize, _)| {
                let range = nth * block..(nth + 1) * block;
                FloatBlock::Stored(Arc::new(StoredFloats::new(Arc::clone(&floats), range, sums.to_vec())))
            })
            .collect();
        let open = floats_of(floats.as_ref().as_ref()).get(full.len() * block..).unwrap_or_default();
        if !open.chunks_exact(dimension).map(row_sum).eq(sums.remainder().iter().copied()) {
            return None;
        }
        let codes = section(Part::Codes).zip(section(Part::Scales)).and_then(|(codes, scales)| {
            Some((Shared::stored(&codes)?, floats_of(scales.as_ref().as_ref()).to_vec(), error))
        });
        let row_keys = keys.iter().map(|key| key.unwrap_or(u32::MAX)).collect();
        let rows = Rows::from_parts(dimension, row_keys, (full, open.to_vec()), codes)?;
        let shape = config.shape();
        let stored = GraphShape { links: links as usize, ef_construction: ef_construction as usize };
        let graph =
            [Part::Ground, Part::Starts, Part::Upper].map(|part| section(part).and_then(|part| Shared::stored(&part)));
        let mut index = Self::new(config);
        let graph = match graph {
            [Some(ground), Some(starts), Some(upper)]
                if index.config().has_graph(n_rows)
                    && shape == stored
                    && starts.len() <= n_rows
                    && index.graph().is_some() =>
            {
                Graph::from_parts(shape, [ground, starts, upper], entry)
            }
            _ => None,
        };
        let coarse = section(Part::Signs).zip(section(Part::SignScales)).and_then(|(signs, scales)| {
            Coarse::from_parts(Shared::stored(&signs)?, floats_of(scales.as_ref().as_ref()).to_vec(), &rows)
        });
        index.restore(rows, coarse, graph, keys);
        Some(index)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::kernels::Line;
    use crate::{IndexKind, Neighbour, SearchScope, UnitVector};

    /// A file's sections: each one aligned, as a map gives them.
    type Stored = BTreeMap<Part, Vec<u8>>;

    struct Aligned(Vec<Line>, usize);

    impl AsRef<[u8]> for Aligned {
        fn as_ref(&self) -> &[u8] {
            &bytemuck::cast_slice(&self.0)[..self.1]
        }
    }

    fn aligned(bytes: &[u8]) -> Bytes {
        let mut lines = vec![Line([0; 64]); bytes.len().div_ceil(64)];
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
        stored.insert(Part::Head, index.head());
        stored.insert(Part::Sums, index.sums());
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
    fn what_is_stored_answers_as_before_and_goes_on() {
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
        let nearest =
            |index: &VectorIndex| index.search(&vector(20_001), 1, SearchScope::All).unwrap().neighbours[0].key;
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
        assert_eq!((whole[&Part::Signs].len(), whole[&Part::SignScales].len()), (1_024 / 64 * 8 * 64, 1_024 * 4));
        assert_eq!(answers(&index)[0].1, IndexKind::Coarse);
        let mut loaded = load_coarse(&whole, &keys).unwrap();
        assert_eq!(answers(&loaded), answers(&index));
        // All whole blocks of a loaded index have signs.
        assert_eq!(store(&loaded)[&Part::SignScales].len(), 1_101 / 64 * 64 * 4);
        for lost in [Part::Signs, Part::SignScales] {
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
    fn codes_and_links_that_are_lost_are_made_anew_and_floats_are_not() {
        let index = index();
        for part in Part::ALL {
            let mut stored = store(&index);
            stored.remove(&part);
            match load(&stored, &index.stored_keys()) {
                None => assert!(matches!(part, Part::Head | Part::Floats | Part::Sums), "{part:?}"),
                Some(loaded) => {
                    let is_of_links = matches!(part, Part::Ground | Part::Starts | Part::Upper);
                    let by = if is_of_links { IndexKind::Exact } else { IndexKind::Graph };
                    assert_eq!(answers(&loaded)[0].1, by, "{part:?}");
                    assert_eq!(
                        loaded.search(&vector(8), 1, SearchScope::All).unwrap().neighbours[0].key,
                        8,
                        "{part:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_flipped_float_costs_its_row_and_is_never_written_again() {
        let index = index();
        let (keys, whole) = (index.stored_keys(), store(&index));
        let n_floats = whole[&Part::Floats].len();
        // The last block is not full: it is read, and checked, at once.
        let n_checked_late = BLOCK_ROWS * 8 * size_of::<f32>();
        for at in (0..n_floats).step_by(331) {
            let mut stored = whole.clone();
            stored.get_mut(&Part::Floats).unwrap()[at] ^= 1 << (at % 8);
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
        fn senseless_sections_lead_nowhere(part in 0..Part::ALL.len(), place in 0.0_f64..1.0, bytes in prop::array::uniform4(any::<u8>()), is_cut: bool) {
            let is_of_signs = matches!(Part::ALL[part], Part::Signs | Part::SignScales);
            let (index, load): (_, fn(&_, &_) -> _) =
                if is_of_signs { (filled(coarse_config()), load_coarse) } else { (index(), load) };
            let mut stored = store(&index);
            let section = stored.get_mut(&Part::ALL[part]).unwrap();
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
}
