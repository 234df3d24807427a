//! The embedder selected on the command line.

use std::error::Error;
use std::sync::Arc;

use adage::redact::path_line;
use adage::{Embedder, HashingEmbedder, PlaybookBuilder};

use crate::global::Global;
use crate::result::Usage;

/// The built-in model.
const BUNDLED: &str = "bundled";

pub(crate) fn choose(global: &Global, builder: PlaybookBuilder) -> Result<PlaybookBuilder, Box<dyn Error>> {
    Ok(match global.embedder.as_str() {
        "none" => builder.without_embedder(),
        "hashing" => builder.with_embedder(Arc::new(HashingEmbedder)),
        // The library's default.
        BUNDLED => builder,
        folder => builder.with_embedder(load(global, folder)?),
    })
}

#[cfg(feature = "ort")]
fn load(global: &Global, folder: &str) -> Result<Arc<dyn Embedder>, Box<dyn Error>> {
    let model = adage::embed::Model::from_dir(folder)?;
    let Some(library) = &global.onnxruntime else {
        let how = "name its library with --onnxruntime or ORT_DYLIB_PATH (`adage doctor` finds one)";
        return Err(Usage(format!("the model in {folder} runs in ONNX Runtime: {how}")).into());
    };
    Ok(Arc::new(adage::OnnxEmbedder::new(model, adage::embed::Engine::OnnxRuntime(library.clone()))))
}

#[cfg(not(feature = "ort"))]
fn load(_: &Global, folder: &str) -> Result<Arc<dyn Embedder>, Box<dyn Error>> {
    Err(Usage(format!("this build cannot load ONNX Runtime, in which the model in {folder} would run")).into())
}

/// True if ONNX Runtime runs the model.
pub(crate) fn is_of_a_folder(global: &Global) -> bool {
    !["none", "hashing", BUNDLED].contains(&global.embedder.as_str())
}

/// A description of the engine that runs the model.
pub(crate) fn engine_in_words(global: &Global) -> String {
    match &global.onnxruntime {
        Some(library) if is_of_a_folder(global) => format!("ONNX Runtime from {}", path_line(library)),
        _ if global.embedder != BUNDLED => "none is needed".to_owned(),
        _ if cfg!(feature = "bundled-model") => "built in".to_owned(),
        _ => "none in this build".to_owned(),
    }
}

/// A path to a missing file is an error at once: otherwise the command would continue without vectors.
pub(crate) fn check_library(global: &Global) -> Result<(), Box<dyn Error>> {
    match &global.onnxruntime {
        Some(library) if !library.is_file() => {
            let named = "--onnxruntime or ORT_DYLIB_PATH must name the library file itself, neither a folder nor a bare file name";
            Err(format!("there is no file {}; {named}", path_line(library)).into())
        }
        _ => Ok(()),
    }
}
