//! An embedder with a cache in memory and in a file: a text is embedded once for all playbooks and runs.

use std::collections::HashMap;
use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use adage::embed::{EmbedError, Role};
use adage::ndarray::Array2;
use adage::{Embedder, TextHash};

use crate::Error;

/// An embedder with a cache. It embeds lessons like queries, so that each text has one vector.
pub struct CachedEmbedder {
    model: Arc<dyn Embedder>,
    vectors: Mutex<HashMap<[u8; KEY], Vec<f32>>>,
    file: Option<Mutex<File>>,
}

/// Bytes of a text's hash in the file; the components follow, as little-endian f32.
const KEY: usize = 16;

impl CachedEmbedder {
    /// Caches the vectors of a model in memory and, if it is given, in a file. Use one file per model; nothing is ever removed from it.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Vectors`] if the file is truncated or of another dimension; [`Error::Embed`].
    pub fn new(model: Arc<dyn Embedder>, file: Option<&Path>) -> Result<Self, Error> {
        let (mut vectors, mut kept) = (HashMap::new(), None);
        if let Some(path) = file {
            let bytes = if path.exists() { std::fs::read(path).map_err(Error::io(path))? } else { Vec::new() };
            let record = KEY + 4 * model.dimension()?;
            if bytes.len() % record != 0 {
                return Err(Error::Vectors { path: path.to_path_buf(), found: bytes.len(), record });
            }
            for record in bytes.chunks_exact(record) {
                let Some((key, components)) = record.split_first_chunk::<KEY>() else { continue };
                let components = components.as_chunks().0.iter().map(|part| f32::from_le_bytes(*part));
                vectors.insert(*key, components.collect());
            }
            let file = OpenOptions::new().create(true).append(true).open(path).map_err(Error::io(path))?;
            kept = Some(Mutex::new(file));
        }
        Ok(Self { model, vectors: Mutex::new(vectors), file: kept })
    }

    /// The vector of a text, from the cache or the model.
    ///
    /// # Errors
    /// Those of the model; [`EmbedError::Host`] if the file cannot be written.
    pub fn vector(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        let key = *TextHash::of(&[text]).as_bytes();
        let known = || self.vectors.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        if let Some(known) = known() {
            return Ok(known);
        }
        let made: Vec<f32> = self.model.embed(&[text], Role::Query)?.into_iter().collect();
        if let Some(file) = &self.file {
            let mut record = key.to_vec();
            record.extend(made.iter().flat_map(|component| component.to_le_bytes()));
            let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
            file.write_all(&record).map_err(EmbedError::host)?;
        }
        self.vectors.lock().unwrap_or_else(PoisonError::into_inner).insert(key, made.clone());
        Ok(made)
    }
}

impl Embedder for CachedEmbedder {
    fn embed(&self, texts: &[&str], _: Role) -> Result<Array2<f32>, EmbedError> {
        let columns = self.dimension()?;
        let mut components = Vec::with_capacity(texts.len() * columns);
        for text in texts {
            components.extend(self.vector(text)?);
        }
        Array2::from_shape_vec((texts.len(), columns), components).map_err(EmbedError::host)
    }

    fn fingerprint(&self) -> TextHash {
        self.model.fingerprint()
    }

    fn dimension(&self) -> Result<usize, EmbedError> {
        self.model.dimension()
    }
}

impl fmt::Debug for CachedEmbedder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CachedEmbedder").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use adage::HashingEmbedder;

    use super::*;

    #[test]
    fn vector_after_reopening_the_file_is_the_cached_one() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("vectors");
        let open = || CachedEmbedder::new(Arc::new(HashingEmbedder), Some(&file)).unwrap();
        let made = open().vector("a text").unwrap();
        let length = std::fs::metadata(&file).unwrap().len();
        assert_eq!(open().vector("a text").unwrap(), made);
        assert_eq!(std::fs::metadata(&file).unwrap().len(), length);
        OpenOptions::new().append(true).open(&file).unwrap().write_all(b"cut").unwrap();
        let error = CachedEmbedder::new(Arc::new(HashingEmbedder), Some(&file)).unwrap_err();
        assert!(error.to_string().ends_with("1043 bytes, which is not a multiple of 1040"), "{error}");
    }
}
