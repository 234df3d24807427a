//! Printing: data to standard output, as text or JSON; messages to standard error. All output of the program passes through
//! this module, which removes terminal control sequences from text.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use adage::redact::{mask, printable, printable_json, printable_line};
use anstream::AutoStream;
use clap::Parser;
use clap::error::ErrorKind;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::{Number, Value, json};

use crate::everyday::diff::coloured;
use crate::result::{Done, Failure};
use crate::schema;

/// The progress message of the current command, shown when it takes long.
static WAITING: OnceLock<ProgressBar> = OnceLock::new();

/// Whether messages and errors are printed as JSON.
static IS_JSON: AtomicBool = AtomicBool::new(false);

/// Prints messages and errors as JSON from now on: each an object on one line of standard error.
pub(crate) fn print_messages_as_json() {
    IS_JSON.store(true, Ordering::Relaxed);
}

/// After how long the message is shown.
const LONG: Duration = Duration::from_millis(500);

/// Shows on standard error, if it is a terminal, what the program is doing: after half a second, until something is printed.
#[expect(clippy::disallowed_methods, reason = "nothing is printed")]
pub(crate) fn say_if_long(what: String) {
    let Ok(style) = ProgressStyle::with_template("{spinner} {msg}, {elapsed}") else { return };
    if !io::stderr().is_terminal() {
        return;
    }
    let bar = WAITING.get_or_init(ProgressBar::hidden).clone();
    bar.set_style(style);
    bar.set_message(what);
    std::thread::spawn(move || {
        std::thread::sleep(LONG);
        if !bar.is_finished() {
            bar.set_draw_target(ProgressDrawTarget::stderr());
            bar.enable_steady_tick(Duration::from_millis(120));
        }
    });
}

/// Every print removes that line first.
fn clear_waiting() {
    if let Some(bar) = WAITING.get() {
        bar.finish_and_clear();
    }
}

/// Standard output in one of two formats: text for people, or one JSON object per line.
pub(crate) struct Output<W: Write = AutoStream<io::Stdout>> {
    pub(crate) json: bool,
    /// The schema named in each object.
    schema: String,
    stream: W,
}

impl Output {
    #[expect(clippy::disallowed_methods, reason = "the one printer")]
    pub(crate) fn new(json: bool, schema: String) -> Self {
        Self { json, schema, stream: AutoStream::auto(io::stdout()) }
    }
}

impl<W: Write> Output<W> {
    /// A line for people; nothing in JSON mode. A line break within it is shown as a replacement character.
    pub(crate) fn line(&mut self, text: &str) -> io::Result<()> {
        self.text(&printable_line(text))
    }

    /// Lines for people; nothing in JSON mode.
    pub(crate) fn text(&mut self, text: &str) -> io::Result<()> {
        if self.json { Ok(()) } else { writeln!(self.open(), "{}", printable(text)) }
    }

    /// Lines of a diff, coloured; nothing in JSON mode.
    pub(crate) fn diff(&mut self, text: &str) -> io::Result<()> {
        if self.json { Ok(()) } else { self.open().write_all(coloured(&printable(text)).as_bytes()) }
    }

    /// A prompt, on the line where the answer is typed.
    pub(crate) fn prompt(&mut self, text: &str) -> io::Result<()> {
        write!(self.open(), "{}", printable_line(text))?;
        self.flush()
    }

    /// Rows with headings for people; nothing in JSON mode.
    pub(crate) fn table(&mut self, headings: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> io::Result<()> {
        if self.json { Ok(()) } else { self.text(&table(headings, rows, terminal_width())) }
    }

    /// A message for people; nothing in JSON mode.
    pub(crate) fn message(&self, text: &str) {
        if !self.json {
            say(text);
        }
    }

    /// An object for programs, with the name of its schema; nothing in text mode.
    pub(crate) fn object(&mut self, object: &Value) -> io::Result<()> {
        self.foreign_object(&with(object.clone(), json!({ "schema": self.schema })))
    }

    /// An object in the format of another program; nothing in text mode.
    pub(crate) fn foreign_object(&mut self, object: &Value) -> io::Result<()> {
        if !self.json {
            return Ok(());
        }
        writeln!(self.open(), "{}", printable_json(&shortest(object.clone()).to_string()))?;
        self.stream.flush()
    }

    /// Lines of JSON that are data in both modes.
    pub(crate) fn json_lines(&mut self, text: &str) -> io::Result<()> {
        self.open().write_all(printable_json(text).as_bytes())
    }

    /// Text that is data in both modes.
    pub(crate) fn data(&mut self, text: &str) -> io::Result<()> {
        self.open().write_all(printable(text).as_bytes())
    }

    /// The final result of a command, in both modes.
    pub(crate) fn both(&mut self, object: &Value, text: &str) -> Done {
        self.object(object)?;
        self.line(text)?;
        Ok(ExitCode::SUCCESS)
    }

    /// The stream, at the start of a line.
    fn open(&mut self) -> &mut W {
        clear_waiting();
        &mut self.stream
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

#[cfg(test)]
impl Output<Vec<u8>> {
    pub(crate) fn into(stream: Vec<u8>) -> Self {
        Self { json: false, schema: String::new(), stream }
    }

    pub(crate) fn printed(self) -> String {
        String::from_utf8(self.stream).unwrap()
    }
}

/// A number with its noun: `1 lesson`, `2 lessons`.
pub(crate) fn counted(n: usize, what: &str) -> String {
    if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") }
}

/// How often something happened: `1 time`, `2 times`.
pub(crate) fn times(n: u64) -> String {
    counted(usize::try_from(n).unwrap_or(usize::MAX), "time")
}

/// A value in which every text has the masks that a review has. The texts of skills, and of lessons that are not stored yet, are
/// printed through it.
pub(crate) fn masked(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(mask(&text).text),
        Value::Array(list) => list.into_iter().map(masked).collect(),
        Value::Object(fields) => fields.into_iter().map(|(key, value)| (mask(&key).text, masked(value))).collect(),
        other => other,
    }
}

/// The value with each single-precision number in the shortest form that reads back as the same number: a `Value` stores it in
/// double precision, where 0.4 is 0.4000000059604645.
pub(crate) fn shortest(value: Value) -> Value {
    match value {
        Value::Number(number) => {
            number.as_f64().filter(|_| number.is_f64()).and_then(shortest_number).unwrap_or(number).into()
        }
        Value::Array(list) => list.into_iter().map(shortest).collect(),
        Value::Object(fields) => fields.into_iter().map(|(key, value)| (key, shortest(value))).collect(),
        other => other,
    }
}

/// The same in another number; none if it is not single-precision.
fn shortest_number(number: f64) -> Option<Number> {
    #[expect(clippy::cast_possible_truncation, reason = "compared with the original")]
    let single = number as f32;
    let is_single = f64::from(single).to_bits() == number.to_bits();
    is_single.then(|| single.to_string().parse().ok()).flatten().and_then(Number::from_f64)
}

/// An object with the fields of another one added.
pub(crate) fn with(mut object: Value, more: Value) -> Value {
    if let (Value::Object(fields), Value::Object(more)) = (&mut object, more) {
        fields.extend(more);
    }
    object
}

/// A message that is not an error, on one line.
pub(crate) fn say(text: &str) {
    say_text(&printable_line(text));
}

/// A message of several lines.
pub(crate) fn say_text(text: &str) {
    let text = mask(text).text;
    say_in_form(&text, || json!({ "schema": schema("message"), "message": text }));
}

/// An error, on one line.
///
/// It may quote an argument, and a terminal's text is logged and pasted: secrets are masked, as in every message.
pub(crate) fn say_failure(Failure { error, next, exit_code }: &Failure) {
    let (error, next) = (&mask(error).text, &next.as_deref().map(|next| mask(next).text));
    let text = [Some(error), next.as_ref()].into_iter().flatten().map(|part| printable_line(part)).collect::<Vec<_>>();
    say_in_form(
        &text.join("; "),
        || json!({ "schema": schema("error"), "error": error, "next": next, "exit_code": exit_code }),
    );
}

/// Prints a text for people, or an object for programs.
fn say_in_form(text: &str, object: impl FnOnce() -> Value) {
    let line = if IS_JSON.load(Ordering::Relaxed) {
        printable_json(&object().to_string())
    } else {
        format!("adage: {}", printable(text))
    };
    // If standard error is closed, the message is dropped.
    let _ = writeln!(standard_error(), "{line}");
}

#[expect(clippy::disallowed_methods, reason = "the one printer")]
fn standard_error() -> AutoStream<io::Stderr> {
    clear_waiting();
    AutoStream::auto(io::stderr())
}

/// True if the terminal is interactive.
#[expect(clippy::disallowed_methods, reason = "nothing is printed")]
pub(crate) fn is_terminal() -> bool {
    io::stdin().is_terminal() && io::stdout().is_terminal()
}

/// The writer of the library's warnings: each is written at once, as one line.
pub(crate) struct Warnings;

impl Write for Warnings {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(line);
        let text = printable_line(mask(text.trim_end()).text.as_str());
        if IS_JSON.load(Ordering::Relaxed) {
            say(&text);
        } else {
            writeln!(standard_error(), "{text}")?;
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Prints help, the version, or an error of the command line. An error quotes the arguments, so they are sanitised before it is
/// made.
pub(crate) fn print_usage<P: Parser>(error: &clap::Error, words: &[OsString]) -> ExitCode {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    // The command line could not be parsed, so the flag is looked up in its words.
    let is_json = words.iter().take_while(|word| *word != "--").any(|word| word == "--json");
    if is_json {
        print_messages_as_json();
    }
    let moved = Failure::of_moved_command(error);
    if is_json || moved.is_some() {
        say_failure(&moved.unwrap_or_else(|| Failure::of_usage(error)));
        return ExitCode::from(2);
    }
    let clean = |word: &OsString| printable_line(&mask(&word.to_string_lossy()).text);
    let cleaned = P::try_parse_from(words.iter().map(clean));
    match cleaned.err().filter(|cleaned| cleaned.kind() == error.kind()) {
        Some(cleaned) => {
            let _ = cleaned.print();
        }
        // It does not quote the argument.
        None if error.kind() == ErrorKind::InvalidUtf8 => say_text(&error.render().to_string()),
        // The arguments were invalid only because of control characters or secrets.
        None => say(&error.render().to_string()),
    }
    ExitCode::from(2)
}

/// A progress bar for a known number of steps, on standard error if it is a terminal.
pub(crate) fn progress(n_steps: usize, what: &str) -> ProgressBar {
    clear_waiting();
    let bar = ProgressBar::new(n_steps as u64);
    if let Ok(style) = ProgressStyle::with_template(&format!("{{bar:40}} {{pos}}/{{len}} {what}, {{eta}} left")) {
        bar.set_style(style);
    }
    bar
}

/// The columns of the terminal; none if standard output is not one.
fn terminal_width() -> Option<u16> {
    let terminal = console::Term::stdout();
    terminal.is_term().then(|| terminal.size_checked()).flatten().map(|(_, columns)| columns)
}

/// A table with headings, at most this wide. Only the last cell of a row is wrapped.
pub(crate) fn table(headings: &[&str], rows: impl IntoIterator<Item = Vec<String>>, width: Option<u16>) -> String {
    let mut table = comfy_table::Table::new();
    if let Some(width) = width {
        table.set_width(width).set_content_arrangement(comfy_table::ContentArrangement::Dynamic);
    }
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header(headings.iter().copied());
    table.add_rows(rows.into_iter().map(|cells| {
        let last = cells.len().saturating_sub(1);
        let clean = |(at, cell): (usize, String)| if at < last { printable_line(&cell) } else { printable(&cell) };
        cells.into_iter().enumerate().map(clean).collect::<Vec<_>>()
    }));
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use adage::redact::visible_chars;

    use super::*;

    const HOSTILE: &str = "a\u{1b}[8m\u{9b}\u{202e}\u{e0041}\rb\nc\t👩\u{200d}🔧";
    const CLEAN: &str = "a\u{fffd}[8m\u{fffd}\u{fffd}\u{fffd}\u{fffd}b";

    fn printed(json: bool, print: impl FnOnce(&mut Output<Vec<u8>>) -> io::Result<()>) -> String {
        let mut out = Output { json, ..Output::into(Vec::new()) };
        print(&mut out).unwrap();
        out.printed()
    }

    #[test]
    fn text_has_no_terminal_control_characters() {
        let end = "c\t👩\u{200d}🔧";
        assert_eq!(printed(false, |out| out.line(HOSTILE)), format!("{CLEAN}\u{fffd}{end}\n"));
        assert_eq!(printed(false, |out| out.text(HOSTILE)), format!("{CLEAN}\n{end}\n"));
        assert_eq!(printed(false, |out| out.data(HOSTILE)), format!("{CLEAN}\n{end}"));
        assert_eq!(printed(false, |out| out.prompt(HOSTILE)), format!("{CLEAN}\u{fffd}{end}"));
        let diff = printed(false, |out| out.diff(&format!("+{HOSTILE}")));
        assert_eq!(diff, format!("\u{1b}[32m+{CLEAN}\u{1b}[0m\n{end}\n"));
        let table = table(&["x", "y"], [vec![HOSTILE.to_owned(), HOSTILE.to_owned()]], None);
        assert!(visible_chars(&table).all(|(_, c, seen)| seen == Some(c)) && table.lines().count() == 3, "{table:?}");
    }

    #[test]
    fn a_table_fits_the_terminal() {
        let rows = || [vec!["an id".to_owned(), "a solution of many words that goes on and on and on".to_owned()]];
        let widest = |table: &str| table.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest(&table(&["id", "solution"], rows(), None)) > 50);
        let narrow = table(&["id", "solution"], rows(), Some(30));
        assert!(widest(&narrow) <= 30 && narrow.lines().count() > 2, "{narrow}");
        assert!(["many", "words", "on and on"].iter().all(|words| narrow.contains(words)), "{narrow}");
    }

    #[test]
    fn numbers_of_single_precision_are_printed_in_their_shortest_form() {
        for (value, expected) in [
            (json!(0.4_f32), "0.4"),
            (json!({ "a": [0.15_f32, 1.0_f32, -2.5_f32, 1e-7_f32] }), r#"{"a":[0.15,1.0,-2.5,1e-7]}"#),
            (
                json!([0.1_f64, 0.1_f64 + 0.2_f64, 7, u64::MAX, "0.4"]),
                "[0.1,0.30000000000000004,7,18446744073709551615,\"0.4\"]",
            ),
        ] {
            assert_eq!(shortest(value).to_string(), expected);
        }
    }

    #[test]
    fn json_is_escaped_and_keeps_its_meaning() {
        let object = json!({ HOSTILE: HOSTILE });
        let line = printed(true, |out| out.object(&object));
        assert!(visible_chars(line.trim_end()).all(|(_, c, seen)| seen == Some(c) && c != '\n'), "{line:?}");
        assert!(line.contains("\\u009b\\u202e\\udb40\\udc41\\rb\\nc\\t👩\u{200d}🔧"), "{line}");
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), with(object, json!({ "schema": "" })));
        assert_eq!(printed(false, |out| out.json_lines(&line)), line);
    }
}
