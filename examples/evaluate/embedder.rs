//! The bundled model with its vectors kept, in memory and in a file: a text is embedded once for all books and runs.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;

use adage::embed::{EmbedError, Engine, Model, Role};
use adage::ndarray::Array2;
use adage::{Embedder, OnnxEmbedder, TextHash};

use super::Failure;

pub(crate) struct Kept {
    model: OnnxEmbedder,
    vectors: Mutex<HashMap<[u8; KEY], Vec<f32>>>,
    file: Option<Mutex<std::fs::File>>,
}

/// Bytes of a text's hash in the file.
const KEY: usize = 16;

impl Kept {
    pub(crate) fn open(file: Option<&Path>) -> Result<Self, Failure> {
        let model = OnnxEmbedder::new(Model::bundled(), Engine::Portable);
        let mut vectors = HashMap::new();
        let file = match file {
            None => None,
            Some(path) => {
                let bytes = if path.exists() { std::fs::read(path)? } else { Vec::new() };
                for record in bytes.chunks_exact(KEY + 4 * model.dimension()?) {
                    let (key, components) = record.split_at(KEY);
                    let components =
                        components.chunks_exact(4).map(|part| f32::from_le_bytes([part[0], part[1], part[2], part[3]]));
                    vectors.insert(key.try_into()?, components.collect());
                }
                Some(Mutex::new(std::fs::OpenOptions::new().create(true).append(true).open(path)?))
            }
        };
        Ok(Self { model, vectors: Mutex::new(vectors), file })
    }

    pub(crate) fn vector(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        let key = *TextHash::of(&[text]).as_bytes();
        if let Some(known) = self.vectors.lock().ok().and_then(|vectors| vectors.get(&key).cloned()) {
            return Ok(known);
        }
        let made: Vec<f32> = self.model.embed(&[text], Role::Query)?.into_iter().collect();
        if let Some(file) = &self.file
            && let Ok(mut file) = file.lock()
        {
            let mut record = key.to_vec();
            record.extend(made.iter().flat_map(|component| component.to_le_bytes()));
            file.write_all(&record).map_err(EmbedError::host)?;
        }
        if let Ok(mut vectors) = self.vectors.lock() {
            vectors.insert(key, made.clone());
        }
        Ok(made)
    }
}

impl Embedder for Kept {
    fn embed(&self, texts: &[&str], _: Role) -> Result<Array2<f32>, EmbedError> {
        let rows: Vec<Vec<f32>> = texts.iter().map(|text| self.vector(text)).collect::<Result<_, _>>()?;
        let columns = self.dimension()?;
        Ok(Array2::from_shape_fn((rows.len(), columns), |(row, column)| rows[row][column]))
    }

    fn fingerprint(&self) -> TextHash {
        self.model.fingerprint()
    }

    fn dimension(&self) -> Result<usize, EmbedError> {
        self.model.dimension()
    }
}
