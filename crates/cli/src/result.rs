//! The result of a command: an exit code, or an error with its causes.

use std::error::Error;
use std::fmt;
use std::io;
use std::process::ExitCode;

use adage::FolderError;
use adage::embed::EmbedError;
use adage::redact::json_error;
use clap::error::{ContextKind, ContextValue, ErrorKind};

/// The result of a command, apart from its output.
pub(crate) type Done = Result<ExitCode, Box<dyn Error>>;

/// 0 on success, 1 otherwise.
pub(crate) fn exit_code(is_done: bool) -> ExitCode {
    ExitCode::from(u8::from(!is_done))
}

/// An invalid command line: exit code 2.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Usage {}

/// An error as it is printed: as a sentence, or as an object of the schema `error`.
pub(crate) struct Failure {
    /// The error with its causes.
    pub(crate) error: String,
    /// What to do about it.
    pub(crate) next: Option<String>,
    /// 1 if something was not done, 2 for an invalid command line.
    pub(crate) exit_code: u8,
}

/// Commands of earlier versions, and what replaces them.
const MOVED: [(&str, &str); 26] = [
    ("calibrate", "cargo run --release -p adage-eval -- calibrate"),
    ("effect", "cargo run --release -p adage-eval -- effect"),
    ("eval", "cargo run --release -p adage-eval -- eval"),
    ("replay", "cargo run --release -p adage-eval -- replay"),
    ("check", "adage doctor --check"),
    ("completions", "adage config completions SHELL"),
    ("credit", "adage outcome --window SECONDS"),
    ("curate", "adage skills curate"),
    ("embed", "adage doctor --embed"),
    ("failures", "adage list --mistakes"),
    ("forget", "adage remove LESSON --everywhere"),
    ("graduate", "adage edit LESSON --graduated yes"),
    ("harmful", "adage outcome --harmful LESSON"),
    ("helpful", "adage outcome --helpful LESSON"),
    ("inbox", "adage review list"),
    ("man", "adage config man FOLDER"),
    ("prune", "adage remove --prune"),
    ("record", "adage outcome --shown LESSON"),
    ("repair", "adage doctor --repair"),
    ("reset-skips", "adage skills skip --again"),
    ("retract", "adage remove --session SESSION"),
    ("sessions", "adage mine --list DIR"),
    ("skip", "adage skills skip NAME"),
    ("stats", "adage list --stats"),
    ("checkpoint", "adage doctor --check"),
    ("verify", "adage edit LESSON --verified yes"),
];

impl Failure {
    /// The error that ends a command.
    pub(crate) fn of(error: &(dyn Error + 'static)) -> Self {
        let exit_code = if error.is::<Usage>() { 2 } else { 1 };
        Self { error: chain(error), next: next_step(error).map(str::to_owned), exit_code }
    }

    /// One of several items, such as a file or a line, was not processed. The command continues with the others.
    pub(crate) fn of_item(error: String) -> Self {
        Self { error, next: None, exit_code: 1 }
    }

    pub(crate) fn with_next(self, next: &str) -> Self {
        Self { next: Some(next.to_owned()), ..self }
    }

    /// An unknown command that an earlier version had: where it is now.
    pub(crate) fn of_moved_command(error: &clap::Error) -> Option<Self> {
        let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand) else { return None };
        let (name, next) = MOVED.into_iter().find(|(moved, _)| moved == name)?;
        Some(Self {
            error: format!("there is no `adage {name}` any more"),
            next: Some(format!("use `{next}`")),
            exit_code: 2,
        })
    }

    /// An error of the parser of the command line, on one line. Its tips and the place of the help are the next step.
    pub(crate) fn of_usage(error: &clap::Error) -> Self {
        let text = error.render().to_string();
        let one_lined = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut paragraphs = text.split("\n\n").map(one_lined).filter(|paragraph| !paragraph.is_empty());
        let (first, help) = match error.kind() {
            ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
                ("a command is missing".to_owned(), "`--help` lists the commands")
            }
            _ => (paragraphs.next().unwrap_or_default(), "`--help` shows what is allowed"),
        };
        let tips: Vec<String> = paragraphs.filter_map(|tip| Some(tip.strip_prefix("tip: ")?.to_owned())).collect();
        let next = tips.into_iter().chain([help.to_owned()]).collect::<Vec<_>>().join("; ");
        Self { error: first.trim_start_matches("error: ").to_owned(), next: Some(next), exit_code: 2 }
    }
}

/// An error with its causes.
pub(crate) fn chain(error: &(dyn Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| (*error).source());
    causes.map(message).collect::<Vec<_>>().join(": ")
}

/// The error's own message on one line, in words that are no parser's.
fn message(error: &(dyn Error + 'static)) -> String {
    if let Some(error) = error.downcast_ref::<serde_json::Error>() {
        return json_error(error);
    }
    let text = error.to_string();
    // The parser of TOML repeats the text below its position, and marks it: lines that begin with a bar.
    let is_quoted = |line: &&str| line.trim_start_matches(|c: char| c.is_ascii_digit() || c == ' ').starts_with('|');
    let lines: Vec<&str> = text.lines().filter(|line| !is_quoted(line)).map(str::trim).collect();
    lines.join(": ")
}

/// A hint about an error that its message does not contain.
fn next_step(error: &(dyn Error + 'static)) -> Option<&'static str> {
    let of_folder = |error: &FolderError| match error {
        FolderError::Io { source, .. } if source.kind() == io::ErrorKind::ReadOnlyFilesystem => {
            Some("the memory can be read, not changed")
        }
        FolderError::Io { source, .. } if source.kind() == io::ErrorKind::StorageFull => {
            Some("nothing was changed; make room")
        }
        _ => None,
    };
    if let Some(EmbedError::Load { .. }) = error.downcast_ref::<EmbedError>() {
        return Some(EMBEDDERS);
    }
    match error.downcast_ref::<adage::Error>()? {
        adage::Error::NoSuchLesson { .. } => Some("`adage list` shows all"),
        adage::Error::NoSuchChange { .. } => Some("`adage history` lists the changes"),
        adage::Error::Embed(EmbedError::Load { .. }) => Some(EMBEDDERS),
        adage::Error::Folder(error) => of_folder(error),
        _ => None,
    }
}

const EMBEDDERS: &str = "--embedder takes `bundled`, `hashing`, `none` or a folder with model.onnx and tokenizer.json";

pub(crate) fn is_broken_pipe(error: &(dyn Error + 'static)) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
