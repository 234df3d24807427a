//! Printing: data to standard output, as text or as JSON; messages to standard error.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use anstream::AutoStream;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;

use crate::result::Done;

/// Standard output, in one of two forms: text for people, or one JSON object per line.
pub(crate) struct Output {
    pub(crate) json: bool,
    pub(crate) stream: AutoStream<io::Stdout>,
}

impl Output {
    pub(crate) fn new(json: bool) -> Self {
        Self { json, stream: AutoStream::auto(io::stdout()) }
    }

    /// A line for people, nothing in JSON mode.
    pub(crate) fn line(&mut self, text: &str) -> io::Result<()> {
        if self.json { Ok(()) } else { writeln!(self.stream, "{text}") }
    }

    /// Rows under headings for people, nothing in JSON mode.
    pub(crate) fn table(&mut self, headings: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> io::Result<()> {
        if self.json { Ok(()) } else { self.line(&table(headings, rows)) }
    }

    /// A message for people, nothing in JSON mode.
    pub(crate) fn message(&self, text: &str) {
        if !self.json {
            say(text);
        }
    }

    /// An object for programs, nothing in text mode.
    pub(crate) fn object(&mut self, object: &Value) -> io::Result<()> {
        if !self.json {
            return Ok(());
        }
        writeln!(self.stream, "{object}")?;
        self.stream.flush()
    }

    /// What a command has to say in the end, in either form.
    pub(crate) fn both(&mut self, object: &Value, text: &str) -> Done {
        self.object(object)?;
        self.line(text)?;
        Ok(ExitCode::SUCCESS)
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// An object with the fields of another one too.
pub(crate) fn with(mut object: Value, more: Value) -> Value {
    if let (Value::Object(fields), Value::Object(more)) = (&mut object, more) {
        fields.extend(more);
    }
    object
}

/// A message for the person at the terminal.
pub(crate) fn say(text: &str) {
    // When standard error is closed there is nobody to tell.
    let _ = writeln!(AutoStream::auto(io::stderr()), "adage: {text}");
}

/// Progress through a known number of things, on standard error while it is a terminal.
pub(crate) fn progress(n_steps: usize, what: &str) -> ProgressBar {
    let bar = ProgressBar::new(n_steps as u64);
    if let Ok(style) = ProgressStyle::with_template(&format!("{{bar:40}} {{pos}}/{{len}} {what}, {{eta}} left")) {
        bar.set_style(style);
    }
    bar
}

/// A path on one line, whatever characters are in its names.
pub(crate) fn on_a_line(path: &Path) -> String {
    path.display().to_string().replace(char::is_control, "\u{fffd}")
}

/// Rows under headings, as wide as they need.
pub(crate) fn table(headings: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = comfy_table::Table::new();
    table.load_preset(comfy_table::presets::NOTHING);
    table.set_header(headings.iter().copied());
    table.add_rows(rows);
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}
