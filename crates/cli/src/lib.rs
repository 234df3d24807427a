//! The `adage` command line: parses arguments, calls the playbook, prints the result.

mod agents;
mod args;
mod care;
mod choice;
mod embedder;
mod everyday;
mod git_layout;
mod global;
mod input;
mod json_kind;
mod location;
mod onnxruntime;
mod output;
mod own_program;
mod result;
mod settings;
mod skills;
mod store;
mod team;
mod user_state;

use std::error::Error;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{ArgMatches, CommandFactory, FromArgMatches};

use args::{Cli, Command};
use location::{MemoryLocation, Wanted, env_path};
use output::{Output, Warnings, print_messages_as_json, print_usage, say_failure, say_if_long};
use result::{Done, Failure, is_broken_pipe};

/// The version of the objects that commands print. Adding a field does not change it; removing a field or changing its meaning
/// does.
const SCHEMA_VERSION: u32 = 1;

/// Runs the program on a command line, the program's own name first: prints the result, and returns what the process should exit
/// with.
#[must_use]
pub fn run(words: &[OsString]) -> ExitCode {
    let code = run_command(words);
    // Agents take another exit code of a hook as a refusal of the tool call.
    if code != ExitCode::SUCCESS && is_hook(words) { ExitCode::SUCCESS } else { code }
}

/// As [`run`], in a process whose own file is another program, such as an interpreter: `program` is the file that runs this one again.
#[must_use]
pub fn run_as(program: PathBuf, words: &[OsString]) -> ExitCode {
    own_program::set(program);
    run(words)
}

/// True if the command is `hook`, also on a command line that cannot be parsed.
fn is_hook(words: &[OsString]) -> bool {
    // The parser stops at a flag that it does not know: without these flags, it reads what comes after them.
    let is_known = |word: &&OsString| {
        let flag = [&OsString::from("adage"), *word];
        !word.as_encoded_bytes().starts_with(b"-")
            || Cli::command()
                .try_get_matches_from(flag)
                .err()
                .is_none_or(|error| error.kind() != ErrorKind::UnknownArgument)
    };
    let known: Vec<&OsString> = words.iter().filter(is_known).collect();
    [words.iter().collect(), known].iter().any(|words| {
        let parsed = Cli::command().ignore_errors(true).try_get_matches_from(words);
        parsed.is_ok_and(|words| words.subcommand_name() == Some("hook"))
    })
}

fn run_command(words: &[OsString]) -> ExitCode {
    let parsed = Cli::command().try_get_matches_from(words);
    let parsed = parsed.and_then(|words| Ok((names(&words), Cli::from_arg_matches(&words)?)));
    let (names, mut cli) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => return print_usage::<Cli>(&error, words),
    };
    cli.global.color.write_global();
    if cli.global.json {
        print_messages_as_json();
    }
    let done = set_up(&mut cli, words).and_then(|()| dispatch(cli, &names));
    match done {
        Ok(code) => code,
        Err(error) if is_broken_pipe(error.as_ref()) => ExitCode::SUCCESS,
        Err(error) => {
            let failure = Failure::of(error.as_ref());
            say_failure(&failure);
            ExitCode::from(failure.exit_code)
        }
    }
}

/// The name of an object's schema: `adage/review-list/1` for the output of `adage review list`.
fn schema(name: &str) -> String {
    format!("adage/{name}/{SCHEMA_VERSION}")
}

/// The names of the command and its subcommands.
fn names(words: &ArgMatches) -> Vec<String> {
    let mut names = Vec::new();
    let mut words = words;
    while let Some((name, inner)) = words.subcommand() {
        names.push(name.to_owned());
        words = inner;
    }
    if names == ["config"] {
        names.push("list".to_owned());
    }
    names
}

/// Reads the user's settings and locates the memory.
fn set_up(cli: &mut Cli, words: &[OsString]) -> Result<(), Box<dyn Error>> {
    cli.global.user = settings::read()?;
    if cli.global.dir.is_none() && !cli.global.only_own && cli.global.store.is_none() {
        cli.global.store = env_path(store::VARIABLE).map(|address| address.to_string_lossy().into_owned());
    }
    let wanted = Wanted { dir: cli.global.named_dir(), is_global: cli.global.only_own };
    match MemoryLocation::find(wanted) {
        Ok(location) if matches!(cli.command, Command::Init(_)) => {
            cli.global.location = location.into_init(cli.global.only_own);
        }
        Ok(location) => cli.global.location = location,
        // A hook locates it by the folder that the agent names.
        Err(_) if matches!(cli.command, Command::Hook(_)) => {}
        Err(error) => return Err(error.into()),
    }
    if cli.global.onnxruntime.is_none() {
        #[expect(clippy::disallowed_methods, reason = "the library takes a path; this is the program's own setting")]
        let library = std::env::var_os("ORT_DYLIB_PATH");
        cli.global.onnxruntime = library.filter(|path| !path.is_empty()).map(Into::into);
    }
    cli.global.onnxruntime = cli.global.onnxruntime.take().or(cli.global.user.onnxruntime.clone());
    if cli.global.onnxruntime.is_some() && embedder::is_of_a_folder(&cli.global) {
        onnxruntime::run_without_telemetry(words);
    }
    // Warnings of the library while it continues: for example, a model fails, or counts cannot be written yet.
    let warnings = tracing_subscriber::fmt().with_max_level(tracing::Level::WARN).with_writer(|| Warnings);
    warnings.without_time().with_target(false).with_ansi(false).init();
    Ok(())
}

fn dispatch(cli: Cli, names: &[String]) -> Done {
    let Cli { global, command } = cli;
    // Commands that prompt a person, or serve, print their own progress.
    if !matches!(command, Command::Edit(_) | Command::Review(_) | Command::Mcp(_) | Command::Hook(_) | Command::View(_))
    {
        say_if_long(format!("adage {}", names.join(" ")));
    }
    let printed = command.printed().map_or_else(|| names.join("-"), str::to_owned);
    let mut out = Output::new(global.json, schema(&printed));
    match command {
        Command::Learn(asked) => everyday::learn::learn(&global, &asked, &mut out),
        Command::Edit(asked) => everyday::learn::edit(&global, &asked, &mut out),
        Command::Context(asked) => everyday::show::context(&global, asked, &mut out),
        Command::List(asked) => everyday::show::list(&global, asked, &mut out),
        Command::Show { lesson } => everyday::show::show(&global, &lesson, &mut out),
        Command::Outcome(asked) => everyday::change::outcome(&global, &asked, &mut out),
        Command::Remove(asked) => everyday::change::remove(&global, &asked, &mut out),
        Command::Undo { id } => everyday::change::undo(&global, &id, &mut out),
        Command::History { limit } => everyday::change::history(&global, limit, &mut out),
        Command::Backup { folder } => team::keeping::backup(&global, &folder, &mut out),
        Command::Restore { folder } => team::keeping::restore(&global, &folder, &mut out),
        Command::View(asked) => care::view::view(&global, &asked, &mut out),
        Command::Doctor(asked) => care::health::doctor(&global, &asked, &mut out),
        Command::Mine(asked) => agents::mine::mine(&global, &asked, &mut out),
        Command::Review(asked) => agents::inbox::inbox(&global, &asked, &mut out),
        Command::Skills { command } => skills::run(&global, command, &mut out),
        Command::Import(asked) => team::exchange::import(&global, &asked, &mut out),
        Command::Config { command } => care::config::config(&global, command, &mut out),
        Command::Mcp(asked) => agents::mcp::serve(global, &asked),
        Command::Hook(asked) => agents::hook::hook(global, &asked, &mut out),
        Command::Init(asked) => agents::init::init(&global, &asked, &mut out),
        Command::Trust(asked) => team::trust::trust(&global, &asked, &mut out),
        Command::Export(asked) => team::exchange::export(&global, &asked, &mut out),
    }
}
