//! The file of the vector cache, `vectors.bin`: read incrementally, appended to, and compacted when it is too large.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::error::folder::Result;
use crate::folder::Folder;
use crate::hash::TextHash;
use crate::lesson::Lesson;
use crate::state::{Book, EmbeddedText};
use crate::store::commit::prepared::DerivedData;
use crate::store::{VECTORS, VectorCache, vectors};
use crate::trust::Guard;

/// A vector cache is compacted when it is larger than this, in bytes …
const MIN_BLOAT: u64 = 1 << 20;
/// … and larger than this multiple of what the lessons need.
const MAX_BLOAT: u64 = 4;

/// The vector cache of a playbook in a folder.
#[derive(Clone, Copy)]
pub(in crate::store) struct VectorFile<'a> {
    pub(in crate::store) folder: &'a Folder,
    pub(in crate::store) guard: &'a Guard,
}

impl VectorFile<'_> {
    /// Reads the vectors that were cached since the last read. Returns the length of the file.
    pub(in crate::store) fn read(self, cache: &mut VectorCache, model: TextHash) -> Result<u64> {
        let Some(stamp) = self.folder.files().stamp(VECTORS)? else { return Ok(0) };
        if cache.inode != Some(stamp.inode) || stamp.length < cache.read_to {
            cache.reread();
            cache.inode = Some(stamp.inode);
        }
        if stamp.length > cache.read_to {
            let bytes = self.folder.files().read_or_empty(VECTORS, cache.read_to)?;
            cache.read(&bytes, model, &self.guard.codes());
        }
        Ok(stamp.length)
    }

    /// Writes the unsaved vectors. The caller holds the lock.
    pub(in crate::store) fn write(
        self,
        cache: &mut VectorCache,
        model: TextHash,
        removed: DerivedData,
        book: &Book,
    ) -> Result<()> {
        let files = self.folder.files();
        let length = self.read(cache, model)?;
        if cache.read_to > 0 && length > cache.read_to {
            // The end cannot be read, and neither could anything appended after it.
            files.truncate(VECTORS, cache.read_to)?;
        }
        // Evicted lessons leave vectors behind, which a compaction removes.
        let live_bytes = book.lessons.len() as u64 * 3 * vectors::RECORD_ESTIMATE;
        if removed == DerivedData::DropRemoved || (cache.read_to > MIN_BLOAT && cache.read_to > MAX_BLOAT * live_bytes)
        {
            let live = live_texts(book);
            cache.keep_only(&live);
            self.replace(&vectors::compacted(&files.read_or_empty(VECTORS, 0)?, &live))?;
            self.read(cache, model)?;
        }
        if cache.unsaved.is_empty() {
            return Ok(());
        }
        // A foreign cache or one of another version is replaced: its beginning was not recognised.
        let is_ours = cache.read_to > 0;
        let records = cache.unsaved_records(model, &self.guard.codes_to_write());
        if is_ours {
            files.append(VECTORS, &records)?;
        } else {
            self.replace(&vectors::new_file(&records))?;
            cache.reread();
        }
        cache.unsaved.clear();
        Ok(())
    }

    /// Not changed in place: a vector memory may have mapped the file.
    fn replace(self, bytes: &[u8]) -> Result<()> {
        let temporary = Folder::temporary("vectors");
        self.folder.files().create(&temporary, bytes)?;
        self.folder.files().rename(temporary, VECTORS)
    }
}

/// The texts whose vectors are kept.
pub(in crate::store) fn live_texts(book: &Book) -> BTreeSet<TextHash> {
    let texts = |lesson: &Arc<Lesson>| {
        let searched = EmbeddedText::ALL.into_iter().flat_map(|text| text.of(lesson));
        searched.chain([lesson.whole_text()]).collect::<Vec<_>>()
    };
    book.used_and_reviewed().flat_map(texts).map(|text| vectors::key(&text)).collect()
}
