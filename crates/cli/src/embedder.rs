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
    match global.embedder.as_str() {
        "none" => Ok(builder.without_embedder()),
        "hashing" => Ok(builder.with_embedder(Arc::new(HashingEmbedder))),
        // The library's default.
        BUNDLED if global.onnxruntime.is_none() => Ok(builder),
        model => Ok(builder.with_embedder(load(global, model)?)),
    }
}

#[cfg(any(feature = "rten", feature = "ort", feature = "bundled-model"))]
fn load(global: &Global, model: &str) -> Result<Arc<dyn Embedder>, Box<dyn Error>> {
    use adage::OnnxEmbedder;
    use adage::embed::Model;
    let engine = engine(global, model)?;
    let model = match model {
        #[cfg(feature = "bundled-model")]
        BUNDLED => Model::bundled(),
        folder => Model::from_dir(folder)?,
    };
    Ok(Arc::new(OnnxEmbedder::new(model, engine)))
}

#[cfg(not(any(feature = "rten", feature = "ort", feature = "bundled-model")))]
fn load(_: &Global, model: &str) -> Result<Arc<dyn Embedder>, Box<dyn Error>> {
    Err(Usage(format!("this build runs no models, so it cannot use {model}")).into())
}

#[cfg(any(feature = "rten", feature = "ort", feature = "bundled-model"))]
#[allow(
    clippy::unnecessary_wraps,
    unused_variables,
    reason = "a build with all engines refuses none, one with rten alone takes any"
)]
fn engine(global: &Global, model: &str) -> Result<adage::embed::Engine, Usage> {
    use adage::embed::Engine;
    match &global.onnxruntime {
        #[cfg(feature = "ort")]
        Some(library) => Ok(Engine::OnnxRuntime(library.clone())),
        #[cfg(not(feature = "ort"))]
        Some(_) => Err(Usage("this build cannot load ONNX Runtime".to_owned())),
        #[cfg(feature = "bundled-model")]
        None if model == BUNDLED => Ok(Engine::BuiltIn),
        #[cfg(feature = "rten")]
        None => Ok(Engine::Rten),
        #[cfg(not(feature = "rten"))]
        None => Err(Usage(format!("this build has no engine for {model}: name an ONNX Runtime with --onnxruntime"))),
    }
}

/// A description of the engine that runs the model.
pub(crate) fn engine_in_words(global: &Global) -> String {
    match &global.onnxruntime {
        _ if ["none", "hashing"].contains(&global.embedder.as_str()) => "none is needed".to_owned(),
        Some(library) => format!("ONNX Runtime from {}", path_line(library)),
        None if cfg!(feature = "bundled-model") && global.embedder == BUNDLED => "built in".to_owned(),
        None if cfg!(feature = "rten") => "rten".to_owned(),
        None => "none in this build".to_owned(),
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
