//! Whether everything is in order: check, doctor.

use std::process::ExitCode;
use std::time::Instant;

use adage::Request;
use serde_json::json;

use crate::args::Global;
use crate::{Done, Output, chain, embedder, onnxruntime};

pub(crate) fn check(global: &Global, out: &mut Output) -> Done {
    let playbook = global.look()?;
    let check = playbook.check()?;
    let is_recovered = playbook.recovery().is_some();
    out.object(&json!({
        "lessons": check.n_lessons, "vectors": check.n_vectors, "findings": check.findings, "recovered": is_recovered,
    }))?;
    for finding in &check.findings {
        out.line(&format!("{}: {}; {}", finding.part, finding.problem, finding.consequence))?;
    }
    let is_fine = check.findings.is_empty() && !is_recovered;
    if is_fine {
        out.line(&format!("in order: {} lessons, {} vectors", check.n_lessons, check.n_vectors))?;
    }
    Ok(ExitCode::from(u8::from(!is_fine)))
}

/// Tries what a use needs, one thing after another, and says how long it took.
pub(crate) fn doctor(global: &Global, out: &mut Output) -> Done {
    let mut is_fine = true;
    let mut report = |out: &mut Output, part: &str, result: Result<String, String>| -> std::io::Result<()> {
        is_fine &= result.is_ok();
        let (mark, text) = match &result {
            Ok(text) => ("ok", text),
            Err(text) => ("FAILED", text),
        };
        out.object(&json!({"part": part, "ok": result.is_ok(), "detail": text}))?;
        out.line(&format!("{part:10} {mark:7} {text}"))
    };
    let version = format!("{}, schema version {}", env!("CARGO_PKG_VERSION"), adage::SCHEMA_VERSION);
    report(out, "adage", Ok(version))?;
    let engine = embedder::look_at_library(global).map(|()| embedder::engine_in_words(global));
    let has_engine = engine.is_ok();
    report(out, "engine", engine.map_err(|error| chain(error.as_ref())))?;
    if cfg!(feature = "ort") {
        report(out, "onnx", Ok(onnxruntime::advice()))?;
    }
    if !has_engine {
        return Ok(ExitCode::FAILURE);
    }
    let exists = global.dir.is_dir();
    let playbook = if exists { global.open() } else { global.look() };
    let playbook = match playbook {
        Ok(playbook) => playbook,
        Err(error) => {
            report(out, "folder", Err(chain(error.as_ref())))?;
            return Ok(ExitCode::FAILURE);
        }
    };
    let state = if exists { "can be read" } else { "is not there yet; the first lesson makes it" };
    report(out, "folder", Ok(format!("{} {state}", global.dir.display())))?;
    if exists {
        let lock = playbook.check_writable().map(|()| "free, and the folder can be written".to_owned());
        report(out, "lock", lock.map_err(|error| chain(&error)))?;
    }
    let check = playbook.check().map_err(|error| chain(&error)).and_then(|check| {
        let findings = check.findings.len();
        let text = format!("{} lessons, {findings} findings (see: adage check)", check.n_lessons);
        if findings == 0 { Ok(text) } else { Err(text) }
    });
    report(out, "playbook", check)?;
    if global.embedder == "none" {
        report(out, "embedder", Ok("none: retrieval by words".to_owned()))?;
    } else {
        #[expect(clippy::disallowed_methods, reason = "told to the person who asked")]
        let start = Instant::now();
        let first = playbook.warm_up().map_err(|error| chain(&error));
        let loaded = start.elapsed();
        #[expect(clippy::disallowed_methods, reason = "told to the person who asked")]
        let start = Instant::now();
        let asked = Request::about("is the doctor in").tier(adage::TierChoice::Vector).peek();
        let recall = playbook.get_playbook_context(asked).map_err(|error| chain(&error));
        let took = start.elapsed();
        let text = first.and_then(|n_texts| {
            recall?;
            let (load, recall) = (loaded.as_millis(), took.as_secs_f64() * 1e3);
            Ok(format!(
                "{}, loaded in {load} ms ({n_texts} texts embedded), a recall takes {recall:.1} ms",
                global.embedder
            ))
        });
        report(out, "embedder", text)?;
    }
    Ok(ExitCode::from(u8::from(!is_fine)))
}
