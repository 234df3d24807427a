//! The commands of the command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::agents::hook::Hook;
use crate::agents::inbox::Review;
use crate::agents::init::Init;
use crate::agents::mcp::Mcp;
use crate::agents::mine::Mine;
use crate::care::config::ConfigCommand;
use crate::care::health::Doctor;
use crate::care::view::View;
use crate::everyday::change::{Outcome, Remove};
use crate::everyday::learn::{Edit, Learn};
use crate::everyday::show::{Context, List};
use crate::global::Global;
use crate::skills;
use crate::team::exchange::{Export, Import};
use crate::team::trust::Trust;

/// Embedded, offline lesson memory for AI agents.
///
/// Data goes to standard output, messages to standard error. Exit codes: 0 success, 1 failure (the message gives the reason), 2
/// invalid command line.
#[derive(Parser)]
#[command(name = "adage", version, arg_required_else_help = true, override_help = HELP)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The commands by what one wants.
const HELP: &str = "\
Embedded, offline lesson memory for AI agents.

Usage: adage [OPTIONS] <COMMAND>

Everyday
  learn     Learn a lesson, or lessons from standard input
  context   Print the lessons to put before a task
  list      List lessons, newest first; --mistakes, --stats
  show      Show one lesson
  edit      Change a lesson, or mark it: --verified, --graduated
  remove    Remove a lesson; --session, --prune, --everywhere
  outcome   Record how a task went, or what a lesson did
Agents
  init      Create the memory, and set up agents to use it
  hook      Answer an agent's hook
  mcp       Serve the memory by the Model Context Protocol
  mine      Find lessons in agents' session files; --list
  review    Decide what waits, one by one, or by list, show, apply, dismiss
Team
  trust     Admit a folder of somebody else, or what a pull brought
  export    Print the lessons, or write them for other programs
  import    Import lessons; they await review
  backup    Copy the memory to a folder
  restore   Replace the playbook with that of a backup
Care
  view      Look at the memory in a browser: ask, correct, review; --export
  doctor    Test the installation and the memory; --check, --repair, --embed
  history   List the changes that can be undone
  undo      Undo a change
  config    List, read and write settings; completions, manual pages
Skills
  skills    List, import, export, match, promote, curate skills

Options
  --dir FOLDER   the memory; default: the nearest .adage, and your own
  --global       only your own memory
  --json         data and errors as JSON
  `adage COMMAND --help` has all options.

Data goes to standard output, messages to standard error. Exit codes: 0 success, 1 failure (the message gives the reason),
2 invalid command line.
";

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Learn a lesson from flags, or lessons from standard input, one JSON object per line
    Learn(Learn),
    /// Print the lessons to put before a task
    Context(Context),
    /// List lessons, newest first
    List(List),
    /// Show one lesson, by id or trigger
    Show { lesson: String },
    /// Change a lesson: the fields given as flags, or all of them in an editor. The old text is replaced; undo restores it
    Edit(Edit),
    /// Remove a lesson; mining and imports do not bring it back, `undo` does for 30 days
    Remove(Remove),
    /// Record how a task went, by its receipt; or what a lesson did; or that one should have been shown
    Outcome(Outcome),
    /// Create the memory, which git ignores unless it is shared, and set up agents to use it
    Init(Init),
    /// Answer an agent's hook: reads its JSON from standard input and prints the answer in its format; always exit code 0
    Hook(Hook),
    /// Serve the memory to agents by the Model Context Protocol, over standard input and output
    Mcp(Mcp),
    /// Find lessons in agents' session files
    Mine(Mine),
    /// Review what waits, one by one; or list, show, apply or dismiss it
    Review(Review),
    /// Admit a folder created by someone else, or lessons and skills from a pull
    Trust(Trust),
    /// Print the lessons, or write them into a file for other programs
    Export(Export),
    /// Import lessons: JSON lines, another playbook, the section of a MEMORY.md or AGENTS.md, an ACE playbook
    ///
    /// The exit code is 1 if a row is refused or cannot be read. Rows that exist already, or that a person removed, are not failures.
    Import(Import),
    /// Copy the memory to a folder that is empty or missing, while others write
    Backup { folder: PathBuf },
    /// Replace the playbook with that of a backup; the present one is kept in quarantine
    Restore { folder: PathBuf },
    /// Look at the memory in a browser: a page that only this machine can reach. Ask, correct, review, look back
    View(View),
    /// Test what this installation needs (folder, lock, model), or check and repair the memory
    Doctor(Doctor),
    /// List the changes that can be undone, newest first
    History {
        /// Maximum number of changes
        #[arg(long, default_value_t = 20)]
        limit: usize,
    },
    /// Undo a change, by its id; or the last merge into a lesson, by the lesson's id
    Undo { id: String },
    /// List, read and write settings; shows where each was set
    Config {
        #[command(subcommand)]
        command: Option<ConfigCommand>,
    },
    /// List, import, export, match, promote and curate skills: lessons as SKILL.md files
    Skills {
        #[command(subcommand)]
        command: skills::Command,
    },
}

impl Command {
    /// The name of what the command prints, if flags decide which of several objects that is. Else it has the command's name.
    pub(crate) fn printed(&self) -> Option<&'static str> {
        match self {
            Self::List(asked) => asked.printed(),
            Self::Edit(asked) => asked.printed(),
            Self::Remove(asked) => asked.printed(),
            Self::Outcome(asked) => asked.printed(),
            Self::Mine(asked) => asked.printed(),
            Self::Doctor(asked) => asked.printed(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_help_names_each_command_in_order() {
        let listed = HELP.split("\nOptions\n").next().unwrap().lines();
        let listed = listed.filter_map(|line| line.strip_prefix("  ")?.split(' ').next());
        let commands = Cli::command();
        assert!(listed.eq(commands.get_subcommands().map(clap::Command::get_name)));
    }
}
