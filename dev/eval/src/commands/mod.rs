//! The commands of the program: each returns its answer as text and as JSON.

pub(crate) mod calibrate;
pub(crate) mod credit;
pub(crate) mod eval;
#[cfg(test)]
mod tests;

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use adage::embed::{Engine, Model};
use adage::{Embedder, HashingEmbedder, OnnxEmbedder};
use clap::Args;
use serde_json::Value;

pub(crate) type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// What a command found.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) json: Value,
}

/// The embedder that a command uses.
#[derive(Args)]
pub(crate) struct EmbedderArgs {
    /// Embedder: bundled, hashing, or a folder with model.onnx and tokenizer.json
    #[arg(long, default_value = "bundled", value_name = "KIND")]
    pub(crate) embedder: String,
}

impl EmbedderArgs {
    fn load(&self) -> Result<Arc<dyn Embedder>> {
        Ok(match self.embedder.as_str() {
            "hashing" => Arc::new(HashingEmbedder),
            "bundled" => Arc::new(OnnxEmbedder::new(Model::bundled(), Engine::BuiltIn)),
            folder => Arc::new(OnnxEmbedder::new(Model::from_dir(folder)?, Engine::Rten)),
        })
    }
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()).into())
}

/// Rows with headings.
fn table(headings: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = comfy_table::Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header(headings.iter().copied());
    table.add_rows(rows);
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}
