//! The vector cache: vectors by model and text, appended as they are made. A vector is never wrong; it may be missing.

pub(in crate::store) mod file;
pub(crate) mod memory;

use std::collections::{BTreeSet, HashMap};

use adage_index::UnitVector;
use bincode::config::{Configuration, Fixint, Limit, LittleEndian};

use crate::lesson::TextHash;
use crate::user_key::Codes;

/// The magic number of the file, with its version.
const MAGIC: &[u8; 8] = b"adagev\0\x01";

/// The maximum length of a record: 4 MiB is a vector of a million dimensions. A longer one is damaged.
const MAX_RECORD: usize = 4 << 20;

/// The size of a record of 384 dimensions, in bytes.
pub(crate) const RECORD_ESTIMATE: u64 = 1_600;

/// The length and checksum before each record.
const HEADER: usize = 8;

pub(in crate::store) fn codec() -> Configuration<LittleEndian, Fixint, Limit<MAX_RECORD>> {
    bincode::config::standard().with_little_endian().with_fixed_int_encoding().with_limit()
}

/// One cached vector: the model's fingerprint, the text's hash, the components.
///
/// Where a user's decisions count, a code under the user's key follows: a pull may have brought the file, and vectors decide which
/// lesson answers. Earlier versions ignore what follows.
type Record = ([u8; 16], [u8; 16], Vec<f32>);

/// What the codes of records are for.
const PURPOSE: &str = "vector";

/// The vectors of one model, and how far the file was read.
#[derive(Debug, Default)]
pub(crate) struct VectorCache {
    vectors: HashMap<TextHash, UnitVector>,
    /// The dimension of the model's last vector; all vectors have it.
    dimension: Option<usize>,
    /// Vectors made since the file was last written.
    pub(crate) unsaved: BTreeSet<TextHash>,
    /// The number of bytes of the file that were read.
    pub(crate) read_to: u64,
    /// The inode of the file that was read.
    pub(crate) inode: Option<u64>,
}

/// The key of a text's vector.
pub(crate) fn key(text: &str) -> TextHash {
    TextHash::of(&[text])
}

impl VectorCache {
    pub(crate) fn get(&self, text: &str) -> Option<&UnitVector> {
        self.vectors.get(&key(text))
    }

    pub(crate) fn put(&mut self, text: &str, vector: UnitVector) {
        self.fix_dimension(vector.as_slice().len());
        let key = key(text);
        if self.vectors.insert(key, vector).is_none() {
            self.unsaved.insert(key);
        }
    }

    /// Adds a vector that was written: one that is damaged or has another dimension is left out.
    pub(in crate::store) fn put_stored(&mut self, text: TextHash, components: Vec<f32>) {
        if let Some(vector) = UnitVector::from_stored(components)
            && self.dimension.is_none_or(|dimension| dimension == vector.as_slice().len())
        {
            self.unsaved.remove(&text);
            self.vectors.insert(text, vector);
        }
    }

    /// The vectors that are not written.
    pub(in crate::store) fn unsaved_vectors(&self) -> impl Iterator<Item = (TextHash, &UnitVector)> {
        self.unsaved.iter().filter_map(|text| Some((*text, self.vectors.get(text)?)))
    }

    /// Drops vectors of another dimension: they were made by an embedder that changed without changing its fingerprint.
    pub(crate) fn fix_dimension(&mut self, dimension: usize) {
        if self.dimension != Some(dimension) {
            self.dimension = Some(dimension);
            self.vectors.retain(|_, vector| vector.as_slice().len() == dimension);
            self.unsaved.retain(|text| self.vectors.contains_key(text));
        }
    }

    /// Reads the vectors of this model from where reading stopped. Those that the user's own programs did not write are left out.
    pub(crate) fn read(&mut self, bytes: &[u8], fingerprint: TextHash, codes: &Codes) {
        let mut rest = bytes;
        if self.read_to == 0 {
            let Some(after) = rest.strip_prefix(MAGIC) else { return };
            rest = after;
            self.read_to = MAGIC.len() as u64;
        }
        for (record, bytes) in records(rest) {
            if let Some((model, text, components)) = record
                && &model == fingerprint.as_bytes()
                && is_own(bytes, components.len(), codes)
            {
                self.put_stored(TextHash::from_bytes(text), components);
            }
            self.read_to += bytes.len() as u64;
        }
    }

    /// Resets the position in the file, because it was replaced.
    pub(crate) fn reread(&mut self) {
        self.read_to = 0;
        self.inode = None;
    }

    /// Drops the vectors of all other texts.
    pub(crate) fn keep_only(&mut self, live: &BTreeSet<TextHash>) {
        self.vectors.retain(|text, _| live.contains(text));
        self.unsaved.retain(|text| live.contains(text));
    }

    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        self.vectors.len()
    }

    /// The records of everything unsaved.
    pub(crate) fn unsaved_records(&self, fingerprint: TextHash, codes: &Codes) -> Vec<u8> {
        let mut bytes = Vec::new();
        for (text, vector) in self.unsaved_vectors() {
            let record = (*fingerprint.as_bytes(), *text.as_bytes(), vector.as_slice().to_vec());
            write_record(&mut bytes, &record, codes);
        }
        bytes
    }
}

/// A file of these records.
pub(crate) fn new_file(records: &[u8]) -> Vec<u8> {
    [MAGIC, records].concat()
}

/// True if the bytes begin with the magic number.
pub(crate) fn is_cache(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// The file with only the records of these texts, of any model.
pub(crate) fn compacted(bytes: &[u8], live: &BTreeSet<TextHash>) -> Vec<u8> {
    let mut kept = MAGIC.to_vec();
    for (record, bytes) in records(bytes.strip_prefix(MAGIC).unwrap_or_default()) {
        if record.is_some_and(|(_, text, _)| live.contains(&TextHash::from_bytes(text))) {
            kept.extend_from_slice(bytes);
        }
    }
    kept
}

/// The number of records in the file, and how many of them are damaged.
pub(crate) fn count(bytes: &[u8]) -> (usize, usize) {
    let mut rest = bytes.strip_prefix(MAGIC).unwrap_or_default();
    let (mut n_records, mut n_broken) = (0, 0);
    for (record, bytes) in records(rest) {
        n_records += 1;
        n_broken += usize::from(record.is_none());
        rest = rest.get(bytes.len()..).unwrap_or_default();
    }
    (n_records, n_broken + usize::from(!rest.is_empty()))
}

/// The records with their bytes.
fn records(mut rest: &[u8]) -> impl Iterator<Item = (Option<Record>, &[u8])> {
    std::iter::from_fn(move || {
        let (record, length) = next_record(rest)?;
        let (bytes, after) = rest.split_at_checked(length)?;
        rest = after;
        Some((record, bytes))
    })
}

/// The next record and its length with its header. The record is `None` if its checksum is wrong. None at the end, and at a
/// record that is truncated or has an impossible length.
fn next_record(bytes: &[u8]) -> Option<(Option<Record>, usize)> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (checksum, rest) = rest.split_first_chunk::<4>()?;
    let length = usize::try_from(u32::from_le_bytes(*length)).ok().filter(|length| *length <= MAX_RECORD)?;
    let payload = rest.get(..length)?;
    let is_whole = crc32fast::hash(payload) == u32::from_le_bytes(*checksum);
    let record = is_whole.then(|| bincode::decode_from_slice(payload, codec()).ok()).flatten();
    Some((record.map(|(record, _)| record), HEADER + length))
}

/// Whether the user's own program wrote a whole record with this many components.
fn is_own(record: &[u8], n_components: usize, codes: &Codes) -> bool {
    // Two hashes, the number of components, the components.
    let length = HEADER + 2 * 16 + 8 + 4 * n_components;
    let Some((record, code)) = record.split_at_checked(length) else { return false };
    let payload = record.get(HEADER..).unwrap_or_default();
    codes.believe(PURPOSE, &[payload], code.try_into().ok().as_ref())
}

fn write_record(bytes: &mut Vec<u8>, record: &Record, codes: &Codes) {
    // Encoding into memory fails only past the size limit; such a vector is not cached.
    let Ok(mut payload) = bincode::encode_to_vec(record, codec()) else { return };
    payload.extend(codes.code(PURPOSE, &[&payload]).iter().flatten());
    let Ok(length) = u32::try_from(payload.len()) else { return };
    bytes.extend(length.to_le_bytes());
    bytes.extend(crc32fast::hash(&payload).to_le_bytes());
    bytes.extend(payload);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::user_key::ExportKey;

    fn unit(x: f32, y: f32) -> UnitVector {
        UnitVector::new(&[x, y]).unwrap()
    }

    fn model() -> TextHash {
        TextHash::of(&["model"])
    }

    fn file() -> Vec<u8> {
        let mut cache = VectorCache::default();
        cache.put("a", unit(1.0, 0.0));
        cache.put("b", unit(3.0, 4.0));
        new_file(&cache.unsaved_records(model(), &Codes::Unneeded))
    }

    fn read(bytes: &[u8], fingerprint: TextHash) -> VectorCache {
        let mut cache = VectorCache::default();
        cache.read(bytes, fingerprint, &Codes::Unneeded);
        cache
    }

    #[test]
    fn written_vectors_are_read_back_for_their_model_only() {
        let cache = read(&file(), model());
        assert_eq!(cache.get("a"), Some(&unit(1.0, 0.0)));
        assert_eq!(cache.get("b"), Some(&unit(3.0, 4.0)));
        assert_eq!(cache.get("c"), None);
        assert_eq!(read(&file(), TextHash::of(&["another model"])).len(), 0);
    }

    #[test]
    fn a_flipped_bit_or_a_cut_loses_vectors_and_never_changes_one() {
        let whole = file();
        for place in 0..whole.len() {
            let mut flipped = whole.clone();
            flipped[place] ^= 4;
            for bytes in [&flipped[..], &whole[..place]] {
                let cache = read(bytes, model());
                for (text, vector) in [("a", unit(1.0, 0.0)), ("b", unit(3.0, 4.0))] {
                    assert!(cache.get(text).is_none_or(|cached| *cached == vector), "byte {place}");
                }
            }
        }
    }

    #[test]
    fn reading_continues_where_it_stopped() {
        let whole = file();
        let mut cache = read(&whole[..whole.len() - 3], model());
        assert_eq!(cache.len(), 1);
        let rest = usize::try_from(cache.read_to).unwrap();
        cache.read(&whole[rest..], model(), &Codes::Unneeded);
        assert_eq!(cache.len(), 2);
    }

    #[test]
    fn compaction_keeps_the_live_texts_of_every_model() {
        let live = BTreeSet::from([key("b")]);
        let kept = compacted(&file(), &live);
        assert_eq!((count(&file()), count(&kept)), ((2, 0), (1, 0)));
        assert!(read(&kept, model()).get("b").is_some());
    }

    #[test]
    fn a_vector_is_believed_only_for_the_model_and_the_text_that_the_user_s_program_wrote_it_for() {
        let own = Codes::Under(ExportKey::generate());
        let other = Codes::Under(ExportKey::generate());
        let written_by = |codes: &Codes| {
            let mut cache = VectorCache::default();
            cache.put("a", unit(1.0, 0.0));
            cache.put("b", unit(3.0, 4.0));
            new_file(&cache.unsaved_records(model(), codes))
        };
        let n_believed = |bytes: &[u8], codes: &Codes| {
            let mut cache = VectorCache::default();
            cache.read(bytes, model(), codes);
            cache.len()
        };
        let file = written_by(&own);
        assert_eq!((n_believed(&file, &own), n_believed(&file, &Codes::Unneeded)), (2, 2));
        for forged in [written_by(&other), written_by(&Codes::Unneeded), written_by(&Codes::Impossible)] {
            assert_eq!((n_believed(&forged, &own), n_believed(&forged, &Codes::Unneeded)), (0, 2));
        }
        assert_eq!(n_believed(&file, &Codes::Impossible), 0);

        // The components, the texts' hashes, the model or the codes of two records are exchanged, with right checksums.
        let records: Vec<Vec<u8>> = records(&file[MAGIC.len()..]).map(|(_, bytes)| bytes[HEADER..].to_vec()).collect();
        for part in [40..48, 16..32, 0..16, 48..80] {
            let mut changed = records.clone();
            let (first, second) = changed.split_at_mut(1);
            first[0][part.clone()].swap_with_slice(&mut second[0][part.clone()]);
            changed[0][part.start] ^= u8::from(part.start == 0);
            let mut forged = MAGIC.to_vec();
            for payload in &changed {
                forged.extend(u32::try_from(payload.len()).unwrap().to_le_bytes());
                forged.extend(crc32fast::hash(payload).to_le_bytes());
                forged.extend(payload);
            }
            let n_right = usize::from(part.start == 0);
            assert_eq!(n_believed(&forged, &own), n_right, "{part:?}");
        }
    }
}
