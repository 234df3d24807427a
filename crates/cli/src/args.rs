//! The commands of the command line.

use std::path::PathBuf;

use adage::{Feedback, ReceiptId, Verification};
use clap::{Parser, Subcommand};

use crate::change::{FEEDBACK, Prune, VERIFICATION};
use crate::choice::{choice, id};
use crate::config::ConfigCommand;
use crate::curate::Curate;
use crate::exchange::{Export, Import};
use crate::global::Global;
use crate::hook::Hook;
use crate::inbox::{Inbox, Roots};
use crate::init::Init;
use crate::learn::{Edit, Learn};
use crate::manual::{Completions, Man};
use crate::mcp::Mcp;
use crate::mine::Mine;
use crate::show::{Context, List};
use crate::skills;
use crate::trust::Trust;

/// Embedded, offline lesson memory for AI agents.
///
/// Data goes to standard output, messages to standard error. Exit codes: 0 success, 1 failure (the message gives the reason), 2
/// invalid command line.
#[derive(Parser)]
#[command(name = "adage", version, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Learn a lesson from flags, or lessons from standard input, one JSON object per line
    Learn(Learn),
    /// Change a lesson: the fields given as flags, or all of them in an editor. The old text is replaced; undo restores it
    Edit(Edit),
    /// Print the lessons to put before a task
    Context(Context),
    /// List lessons, newest first
    List(List),
    /// Show one lesson, by id or trigger
    Show { lesson: String },
    /// Record how a task went, by its receipt; or that a lesson should have been shown for it
    Outcome {
        #[arg(value_parser = id::<ReceiptId>("a receipt"), required_unless_present = "missed", requires = "outcome")]
        receipt: Option<ReceiptId>,
        #[arg(value_parser = choice(FEEDBACK))]
        outcome: Option<Feedback>,
        /// The lesson that should have been shown, by id or trigger
        #[arg(long, value_name = "LESSON", requires = "request")]
        missed: Option<String>,
        /// What was asked: it becomes a situation of the lesson
        #[arg(long, value_name = "TEXT", requires = "missed", allow_hyphen_values = true)]
        request: Option<String>,
    },
    /// Credit recent retrievals that have no outcome yet
    Credit {
        /// How far back, in seconds
        #[arg(long, default_value_t = 300)]
        window: u64,
    },
    /// Count that you showed a lesson yourself; prints its receipt
    Record { lesson: String },
    /// Record that a lesson helped
    Helpful { lesson: String },
    /// Record that a lesson did harm
    Harmful { lesson: String },
    /// Record whether a check of a lesson passed
    Verify {
        lesson: String,
        #[arg(value_parser = choice(VERIFICATION))]
        result: Verification,
    },
    /// Mark a lesson as graduated: another text covers it, such as a skill or a page of rules
    Graduate {
        lesson: String,
        /// Remove the mark
        #[arg(long)]
        not: bool,
    },
    /// Archive lessons that were judged often and did not help
    Prune(Prune),
    /// Remove a lesson; mining and imports do not bring it back, `undo` does for 30 days
    Remove { lesson: String },
    /// Remove every lesson that was mined from a session, including those that await review
    Retract { session: String },
    /// Delete a lesson and all its text, also from the backup, the history and quarantine; cannot be undone
    Forget { lesson: String },
    /// Undo a change, by its id; or the last merge into a lesson, by the lesson's id
    Undo { id: String },
    /// List the changes that can be undone, newest first
    History {
        /// Maximum number of changes
        #[arg(long, default_value_t = 20)]
        limit: usize,
    },
    /// Print the most recent mistakes
    Failures {
        /// Maximum number of mistakes
        #[arg(long, default_value_t = 5)]
        limit: usize,
    },
    /// Print the playbook's figures
    Stats,
    /// List an agent's past sessions that are worth reading
    Sessions {
        /// Folder with the sessions: Claude Code, Codex, gemini-cli, pi, `OpenAI` or Anthropic messages
        folder: PathBuf,
        /// Also list the other sessions, each with the reason why it is left out
        #[arg(long)]
        all: bool,
    },
    /// Check the folder's integrity; exit code 1 if there are findings
    Check {
        /// Accept what was edited in the playbook file, so that it is not listed again
        #[arg(long)]
        accept: bool,
    },
    /// Repair a broken playbook file row by row, and recover rows that are only in quarantine
    Repair {
        /// Print what would be taken from which file; change nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Copy the memory to a folder that is empty or missing, while others write
    Backup { folder: PathBuf },
    /// Replace the playbook with that of a backup; the present one is kept in quarantine
    Restore { folder: PathBuf },
    /// Embed the lessons that have no vector yet (for example after a clone), so that the next recall is fast
    Embed,
    /// Test what this installation needs: folder, lock, model
    Doctor,
    /// Find lessons in agents' session files
    Mine(Mine),
    /// Stop suggesting a lesson or skill for 30 days
    Skip { name: String },
    /// Make skipped suggestions again: one name, or all
    ///
    /// The exit code is 1 if the name is not skipped. If no name is given and none is skipped, there is nothing to do, and it is 0.
    ResetSkips { name: Option<String> },
    /// List, show, apply or dismiss what awaits review
    Inbox(Inbox),
    /// Review what is in the inbox, one by one
    Review(Roots),
    /// List, import, export, match and promote skills: lessons as SKILL.md files
    Skills {
        #[command(subcommand)]
        command: skills::Command,
    },
    /// Curate the memory's own draft skills; prints the plan unless --apply is given
    Curate(Curate),
    /// List, read and write settings; shows where each was set
    Config {
        #[command(subcommand)]
        command: Option<ConfigCommand>,
    },
    /// Serve the memory to agents by the Model Context Protocol, over standard input and output
    Mcp(Mcp),
    /// Import lessons: JSON lines, another playbook, the section of a MEMORY.md or AGENTS.md, an ACE playbook
    ///
    /// The exit code is 1 if a row is refused or cannot be read. Rows that exist already, or that a person removed, are not failures.
    Import(Import),
    /// Create the memory, which git ignores unless it is shared, and set up agents to use it
    Init(Init),
    /// Answer an agent's hook: reads its JSON from standard input and prints the answer in its format; always exit code 0
    Hook(Hook),
    /// Print the completions of a shell: `adage completions bash > ~/.local/share/bash-completion/completions/adage`
    Completions(Completions),
    /// Write manual pages into a folder, such as `~/.local/share/man/man1`
    Man(Man),
    /// Admit a folder created by someone else, or lessons and skills from a pull
    Trust(Trust),
    /// Print the lessons, or write them into a file for other programs
    Export(Export),
}
