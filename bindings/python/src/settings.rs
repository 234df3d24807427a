//! How a memory is opened.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use adage::exchange::ExportKey;
use adage::{Config, Embedder, Playbook, PlaybookBuilder, VectorMemory};
use serde::Deserialize;
use serde_json::Value;

use crate::errors::Failure;

/// The settings of a playbook, beside its folder and its embedder.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlaybookSettings {
    read_only: bool,
    create: bool,
    config: Option<Value>,
    export_key: Option<String>,
    own_project: Vec<String>,
    project_skills: Vec<PathBuf>,
    extra_skills: Vec<PathBuf>,
    writable_skills: Vec<PathBuf>,
    global_notes: Option<PathBuf>,
}

impl PlaybookSettings {
    pub(crate) fn open(self, folder: PathBuf, embedder: Option<Arc<dyn Embedder>>) -> Result<Playbook, Failure> {
        let mut builder = Playbook::builder(folder).own_project(self.own_project);
        builder = match embedder {
            Some(embedder) => builder.with_embedder(embedder),
            None => builder.without_embedder(),
        };
        if let Some(config) = self.config {
            builder = builder.with_config(Config::from_json(&config.to_string())?);
        }
        if let Some(key) = self.export_key {
            builder = builder.with_export_key(ExportKey::from_hex(&key)?);
        }
        builder = self.project_skills.into_iter().fold(builder, PlaybookBuilder::with_project_skills);
        builder = self.extra_skills.into_iter().fold(builder, PlaybookBuilder::with_extra_skills);
        builder = self.writable_skills.into_iter().fold(builder, PlaybookBuilder::with_writable_skills);
        builder = self.global_notes.into_iter().fold(builder, PlaybookBuilder::with_global_notes);
        builder = if self.create { builder } else { builder.without_creating() };
        builder = if self.read_only { builder.read_only() } else { builder };
        Ok(builder.open()?)
    }
}

/// The settings of a vector memory, beside its folder and its embedder.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DocumentsSettings {
    read_only: bool,
    lock_timeout: Option<f64>,
}

impl DocumentsSettings {
    pub(crate) fn open(self, folder: PathBuf, embedder: Option<Arc<dyn Embedder>>) -> Result<VectorMemory, Failure> {
        let mut builder = VectorMemory::builder(folder);
        builder = match embedder {
            Some(embedder) => builder.with_embedder(embedder),
            None => builder.without_embedder(),
        };
        if let Some(seconds) = self.lock_timeout {
            builder = builder.lock_timeout(duration(seconds)?);
        }
        builder = if self.read_only { builder.read_only() } else { builder };
        Ok(builder.open()?)
    }
}

/// A time in seconds.
pub(crate) fn duration(seconds: f64) -> Result<Duration, Failure> {
    Duration::try_from_secs_f64(seconds).map_err(|error| Failure::Argument(format!("{seconds} seconds: {error}")))
}
