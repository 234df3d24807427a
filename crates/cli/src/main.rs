//! The `adage` command line: words in, playbook calls, words out.

mod args;
mod change;
mod curate;
mod embedder;
mod exchange;
mod health;
mod inbox;
mod learn;
mod mine;
mod onnxruntime;
mod review;
mod sessions;
mod show;
mod skill_matching;
mod skills;

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use adage::{Config, DedupPolicy, ManualClock, Playbook, PlaybookBuilder, Realm};
use anstream::AutoStream;
use clap::Parser;
use clap::error::ErrorKind;
use serde_json::Value;

use args::{Cli, Command, Dedup, Global};

/// What a command comes to: done or not, beside what it printed.
type Done = Result<ExitCode, Box<dyn Error>>;

fn main() -> ExitCode {
    let mut cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are data, everything else is a message.
            let is_data = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            let _ = error.print();
            return ExitCode::from(if is_data { 0 } else { 2 });
        }
    };
    if cli.global.onnxruntime.is_none() {
        #[expect(clippy::disallowed_methods, reason = "the library takes a path; this is the program's own setting")]
        let library = std::env::var_os("ORT_DYLIB_PATH");
        cli.global.onnxruntime = library.filter(|path| !path.is_empty()).map(Into::into);
    }
    // What the library has to say while it goes on: a model that fails, counts that have to wait.
    let warnings = tracing_subscriber::fmt().with_max_level(tracing::Level::WARN).with_writer(io::stderr);
    warnings.without_time().with_target(false).with_ansi(false).init();
    match dispatch(cli) {
        Ok(code) => code,
        Err(error) if is_broken_pipe(error.as_ref()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&chain(error.as_ref()));
            ExitCode::from(if error.is::<Usage>() { 2 } else { 1 })
        }
    }
}

fn dispatch(cli: Cli) -> Done {
    let Cli { global, command } = cli;
    let mut out = Output { json: global.json, stream: AutoStream::auto(io::stdout()) };
    match command {
        Command::Learn(learn) => learn::learn(&global, &learn, &mut out),
        Command::Import(asked) => exchange::import(&global, &asked, &mut out),
        Command::Mine(asked) => mine::mine(&global, &asked, &mut out),
        Command::Skip { name } => mine::skip(&global, &name, &mut out),
        Command::ResetSkips { name } => mine::reset_skips(&global, name.as_deref(), &mut out),
        Command::Curate(asked) => curate::curate(&global, &asked, &mut out),
        Command::Export(asked) => exchange::export(&global, &asked, &mut out),
        Command::Inbox(asked) => inbox::inbox(&global, &asked, &mut out),
        Command::Review(places) => review::review(&global, &places, &mut out),
        Command::Context(context) => show::context(&global, context, &mut out),
        Command::List(list) => show::list(&global, &list, &mut out),
        Command::Show { lesson } => show::show(&global, &lesson, &mut out),
        Command::Failures { limit } => show::failures(&global, limit, &mut out),
        Command::Stats => show::stats(&global, &mut out),
        Command::Outcome { receipt, outcome } => change::outcome(&global, &receipt, outcome.into(), &mut out),
        Command::Credit { window } => change::credit(&global, window, &mut out),
        Command::Verify { lesson, result } => change::verify(&global, &lesson, result.into(), &mut out),
        Command::Prune { dry_run } => change::prune(&global, dry_run, &mut out),
        Command::Remove { lesson } => change::remove(&global, &lesson, &mut out),
        Command::Undo { id } => change::undo(&global, &id, &mut out),
        Command::History { limit } => change::history(&global, limit, &mut out),
        Command::Sessions { folder, all } => sessions::list(&global, &folder, all, &mut out),
        Command::Skills { command } => skills::run(&global, command, &mut out),
        Command::Check => health::check(&global, &mut out),
        Command::Doctor => health::doctor(&global, &mut out),
    }
}

impl Global {
    fn builder(&self) -> Result<PlaybookBuilder, Box<dyn Error>> {
        self.builder_with(|_| ())
    }

    /// A builder whose settings a command changes further.
    fn builder_with(&self, change: impl FnOnce(&mut Config)) -> Result<PlaybookBuilder, Box<dyn Error>> {
        let mut config = Config::default();
        change(&mut config);
        if let Some(capacity) = self.capacity {
            config.retention.capacity = capacity;
        }
        config.learn.dedup = match self.dedup {
            Dedup::Guarded => DedupPolicy::Guarded,
            Dedup::Plain => DedupPolicy::Plain,
            Dedup::Off => DedupPolicy::Off,
        };
        let mut builder = Playbook::builder(&self.dir).with_config(config);
        if let Some(now) = self.now {
            builder = builder.with_clock(Arc::new(ManualClock::new(now)));
        }
        builder = self.project_skills.iter().fold(builder, PlaybookBuilder::with_project_skills);
        builder = self.extra_skills.iter().fold(builder, PlaybookBuilder::with_extra_skills);
        embedder::look_at_library(self)?;
        embedder::choose(self, builder)
    }

    /// The playbook, for commands that change it.
    fn open(&self) -> Result<Playbook, Box<dyn Error>> {
        Ok(tell_recovery(self.builder()?.open()?))
    }

    /// The playbook, for commands that only look.
    fn look(&self) -> Result<Playbook, Box<dyn Error>> {
        Ok(tell_recovery(self.builder()?.read_only().open()?))
    }

    fn realm(&self) -> Realm {
        Realm { project: self.project.clone(), role: self.role.clone() }
    }
}

fn tell_recovery(playbook: Playbook) -> Playbook {
    if let Some(recovery) = playbook.recovery() {
        let from = if recovery.from_backup { "its backup took its place" } else { "there was no backup" };
        let kept: Vec<String> = recovery.kept_at.iter().map(|path| path.display().to_string()).collect();
        say(&format!(
            "the playbook file was broken ({}); {from}, {} lessons; the broken file is {}",
            recovery.reason,
            recovery.n_lessons,
            kept.join(", ")
        ));
    }
    playbook
}

/// Where data goes.
struct Output {
    json: bool,
    stream: AutoStream<io::Stdout>,
}

impl Output {
    /// A line for people, nothing in JSON mode.
    fn line(&mut self, text: &str) -> io::Result<()> {
        if self.json { Ok(()) } else { writeln!(self.stream, "{text}") }
    }

    /// An object for programs, nothing otherwise.
    fn object(&mut self, object: &Value) -> io::Result<()> {
        if self.json { self.data(object) } else { Ok(()) }
    }

    /// An object for both.
    fn data(&mut self, object: &Value) -> io::Result<()> {
        writeln!(self.stream, "{object}")?;
        self.stream.flush()
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// A message for the person at the terminal.
fn say(text: &str) {
    // Nobody is left to be told when standard error is gone.
    let _ = writeln!(AutoStream::auto(io::stderr()), "adage: {text}");
}

/// The command line asks for what cannot be.
#[derive(Debug)]
struct Usage(String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Usage {}

/// An error with its causes.
fn chain(error: &(dyn Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| (*error).source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

fn is_broken_pipe(error: &(dyn Error + 'static)) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// A text on one line, cut to a width.
fn short(text: &str, width: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= width {
        return line;
    }
    let cut: String = line.chars().take(width.saturating_sub(1)).collect();
    format!("{cut}…")
}

/// Rows under headings, as wide as they need.
fn table(headings: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = comfy_table::Table::new();
    table.load_preset(comfy_table::presets::NOTHING);
    table.set_header(headings.iter().copied());
    table.add_rows(rows);
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}
