//! The command doctor: tests of the installation, checks and repairs of the memory.

use std::io;
use std::time::{Duration, Instant};

use adage::redact::path_line;
use adage::{Playbook, Request};
use clap::Args;
use serde_json::json;

use crate::choice::given;
use crate::global::{Access, Global};
use crate::output::{Output, counted};
use crate::result::{Done, chain, exit_code};
use crate::team::keeping;
use crate::{embedder, onnxruntime, store};

#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "flags of the command line")]
pub(crate) struct Doctor {
    /// Check the memory's integrity alone; exit code 1 if there are findings
    #[arg(long, group = "alone")]
    check: bool,
    /// As --check, and accept what was edited in the playbook file, so that it is not listed again
    #[arg(long, group = "alone")]
    accept: bool,
    /// Repair a broken playbook file row by row, and recover rows that are only in quarantine
    #[arg(long, group = "alone")]
    repair: bool,
    /// With --repair: print what would be taken from which file; change nothing
    #[arg(long, requires = "repair")]
    dry_run: bool,
    /// Embed the lessons that have no vector yet (for example after a clone), so that the next recall is fast
    #[arg(long, group = "alone")]
    embed: bool,
}

impl Doctor {
    pub(crate) fn printed(&self) -> Option<&'static str> {
        given([("check", self.check || self.accept), ("repair", self.repair), ("embed", self.embed)])
    }
}

pub(crate) fn doctor(global: &Global, asked: &Doctor, out: &mut Output) -> Done {
    match *asked {
        Doctor { check: true, .. } | Doctor { accept: true, .. } => check(global, asked.accept, out),
        Doctor { repair: true, dry_run, .. } => keeping::repair(global, dry_run, out),
        Doctor { embed: true, .. } => embed(global, out),
        _ => test(global, out),
    }
}

fn check(global: &Global, accept: bool, out: &mut Output) -> Done {
    let playbook = if accept { global.open()? } else { global.read()? };
    if accept {
        playbook.accept_edits()?;
    }
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
        out.line(&format!("in order: {}, {}", counted(check.n_lessons, "lesson"), counted(check.n_vectors, "vector")))?;
    }
    Ok(exit_code(is_fine))
}

/// Tests each part of the installation and prints how long it took.
fn test(global: &Global, out: &mut Output) -> Done {
    let mut report = Report { out, is_fine: true };
    report
        .add("adage", Ok(format!("{}, schema version {}", env!("CARGO_PKG_VERSION"), adage::lesson::SCHEMA_VERSION)))?;
    let engine = embedder::check_library(global).map(|()| embedder::engine_in_words(global));
    report.add("engine", engine.map_err(|error| chain(error.as_ref())))?;
    let has_engine = report.is_fine;
    if cfg!(feature = "ort") {
        report.add("onnx", Ok(onnxruntime::advice()))?;
    }
    if has_engine && let Some(playbook) = report.folder(global)? {
        report.playbook(&playbook)?;
        report.embedder(global, &playbook)?;
    }
    Ok(exit_code(report.is_fine))
}

/// The output of `doctor`, and whether every test passed.
struct Report<'a> {
    out: &'a mut Output,
    is_fine: bool,
}

impl Report<'_> {
    fn add(&mut self, part: &str, result: Result<String, String>) -> io::Result<()> {
        let is_ok = result.is_ok();
        self.is_fine &= is_ok;
        let (mark, text) = match result {
            Ok(text) => ("ok", text),
            Err(text) => ("FAILED", text),
        };
        self.out.object(&json!({"part": part, "ok": is_ok, "detail": text}))?;
        self.out.line(&format!("{part:10} {mark:7} {text}"))
    }

    /// The folder and its lock; no playbook when it cannot be opened. A missing folder is not created.
    fn folder(&mut self, global: &Global) -> io::Result<Option<Playbook>> {
        let playbook = match global.existing() {
            Ok(playbook) => playbook,
            Err(error) => {
                self.add("folder", Err(chain(error.as_ref())))?;
                return Ok(None);
            }
        };
        if let Some(address) = &global.store {
            let server = store::connect(address).and_then(|store| Ok(store.diagnose()?));
            self.add("server", server.map(|found| found.to_string()).map_err(|error| chain(error.as_ref())))?;
            return Ok(Some(playbook));
        }
        let exists = playbook.exists();
        let state = if exists { "can be read" } else { "does not exist yet; the first lesson creates it" };
        self.add("folder", Ok(format!("{} {state}", path_line(global.dir()))))?;
        if exists {
            let lock = playbook.check_writable().map(|()| "free, and the folder is writable".to_owned());
            self.add("lock", lock.map_err(|error| chain(&error)))?;
        }
        Ok(Some(playbook))
    }

    fn playbook(&mut self, playbook: &Playbook) -> io::Result<()> {
        let check = playbook.check().map_err(|error| chain(&error)).and_then(|check| {
            let findings = check.findings.len();
            let text = format!(
                "{}, {} (see: adage doctor --check)",
                counted(check.n_lessons, "lesson"),
                counted(findings, "finding")
            );
            if findings == 0 { Ok(text) } else { Err(text) }
        });
        self.add("playbook", check)
    }

    fn embedder(&mut self, global: &Global, playbook: &Playbook) -> io::Result<()> {
        if global.embedder == "none" {
            return self.add("embedder", Ok("none: retrieval by words".to_owned()));
        }
        let (loaded, load_time) = timed(|| playbook.warm_up());
        let request = Request::about("is the doctor in").tier(adage::retrieve::TierChoice::Vector).peek();
        let (recalled, recall_time) = timed(|| playbook.get_playbook_context(request));
        let text = loaded.and_then(|n_texts| recalled.map(|_| n_texts)).map(|n_texts| {
            let (load, recall) = (load_time.as_millis(), recall_time.as_secs_f64() * 1e3);
            let embedder = &global.embedder;
            format!("{embedder}, loaded in {load} ms ({n_texts} texts embedded), a recall takes {recall:.1} ms")
        });
        self.add("embedder", text.map_err(|error| chain(&error)))
    }
}

/// Embeds all lessons without a vector, in every folder that applies.
fn embed(global: &Global, out: &mut Output) -> Done {
    let books = global.books(Access::Write)?;
    let mut n_texts = 0;
    for playbook in books.all.as_slice() {
        n_texts += playbook.warm_up()?;
    }
    out.both(&json!({"embedded": n_texts}), &format!("embedded {}", counted(n_texts, "text")))
}

fn timed<T>(action: impl FnOnce() -> T) -> (T, Duration) {
    #[expect(clippy::disallowed_methods, reason = "the duration is printed")]
    let start = Instant::now();
    let result = action();
    (result, start.elapsed())
}
