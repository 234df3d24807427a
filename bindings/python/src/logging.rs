//! The library's warnings, for the logger `adage` of Python's `logging`.

use std::fmt::{Debug, Write};
use std::sync::Once;

use pyo3::prelude::*;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::embedder::keep_interrupt;

static STARTED: Once = Once::new();

/// Passes warnings on from now on. A subscriber that the process has already is kept.
pub(crate) fn start() {
    STARTED.call_once(|| {
        let _ = tracing::subscriber::set_global_default(Logging);
    });
}

struct Logging;

impl Subscriber for Logging {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::WARN
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::WARN)
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut message = Message::default();
        event.record(&mut message);
        Python::attach(|py| {
            // A logger that fails must not fail the call that it reports.
            if let Err(error) = log(py, &format!("{}{}", message.text, message.fields)) {
                keep_interrupt(py, &error);
            }
        });
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

fn log(py: Python<'_>, message: &str) -> PyResult<()> {
    let logger = py.import("logging")?.call_method1("getLogger", ("adage",))?;
    logger.call_method1("warning", ("%s", message))?;
    Ok(())
}

/// An event on one line: its message, then its fields.
#[derive(Default)]
struct Message {
    text: String,
    fields: String,
}

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = match field.name() {
            "message" => write!(self.text, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
    }
}
