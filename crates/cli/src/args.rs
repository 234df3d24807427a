//! The words of the command line.

use std::path::PathBuf;

use adage::{Feedback, LessonDraft, TierChoice, Verification, Window};
use chrono::{DateTime, FixedOffset};
use clap::{Args, Parser, Subcommand, ValueEnum};
use serde_json::{Map, Value};

use crate::curate::Curate;
use crate::exchange::{Export, Import};
use crate::inbox::{Inbox, Places};
use crate::mine::Mine;
use crate::skills;

/// Embedded, offline lesson memory for AI agents.
///
/// Data goes to standard output, messages to standard error. Exit codes: 0 done, 1 not done (the message says why),
/// 2 the command line is wrong.
#[derive(Parser)]
#[command(name = "adage", version, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Args)]
pub(crate) struct Global {
    /// Folder of the playbook
    #[arg(long, global = true, default_value = ".adage", value_name = "FOLDER")]
    pub(crate) dir: PathBuf,
    /// Project that the lessons hold for: a repository's root, or a name
    #[arg(long, global = true, default_value = "", hide_default_value = true)]
    pub(crate) project: String,
    /// Role that the lessons hold for
    #[arg(long, global = true, default_value = "", hide_default_value = true)]
    pub(crate) role: String,
    /// Print JSON: one object, or one a line
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Take this for the present time (RFC 3339)
    #[arg(long, global = true, value_name = "TIME")]
    pub(crate) now: Option<DateTime<FixedOffset>>,
    /// What makes vectors: bundled, none, hashing, or a folder with model.onnx and tokenizer.json
    #[arg(long, global = true, default_value = "bundled", value_name = "KIND")]
    pub(crate) embedder: String,
    /// Run the model in this ONNX Runtime library (1.24 or later; also: `ORT_DYLIB_PATH`); `doctor` finds one
    #[arg(long, global = true, value_name = "PATH")]
    pub(crate) onnxruntime: Option<PathBuf>,
    /// Lessons that a realm holds
    #[arg(long, global = true, value_name = "N")]
    pub(crate) capacity: Option<usize>,
    /// Learn nothing from sessions: `mine` only says what it would suggest
    #[arg(long, global = true)]
    pub(crate) no_learn: bool,
    /// Folder of the project's skills; each waits until a person promotes its text
    #[arg(long, global = true, value_name = "FOLDER")]
    pub(crate) project_skills: Vec<PathBuf>,
    /// Another folder of skills, trusted as its files say
    #[arg(long, global = true, value_name = "FOLDER")]
    pub(crate) extra_skills: Vec<PathBuf>,
    /// What happens to near lessons: merge unless values differ, merge whatever else, or never
    #[arg(long, global = true, default_value = "guarded")]
    pub(crate) dedup: Dedup,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Dedup {
    Guarded,
    Plain,
    Off,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Learn a lesson from flags, or one JSON lesson a line from standard input
    Learn(Learn),
    /// Print the lessons to put before a task
    Context(Context),
    /// List lessons, newest first
    List(List),
    /// Show one lesson, by id or trigger
    Show { lesson: String },
    /// Say how the task went for which a context was made
    Outcome { receipt: String, outcome: Verdict },
    /// Credit recent retrievals that nothing settled yet
    Credit {
        /// How far back, in seconds
        #[arg(long, default_value_t = 300)]
        window: u64,
    },
    /// Record a check of a lesson
    Verify { lesson: String, result: Check },
    /// Archive lessons that were shown often and did not help
    Prune {
        /// Only say which
        #[arg(long)]
        dry_run: bool,
    },
    /// Remove a lesson for good
    Remove { lesson: String },
    /// Take a change back, by its id; or the last merge into a lesson, by the lesson's id
    Undo { id: String },
    /// List the changes that can be undone, newest first
    History {
        #[arg(long, default_value_t = 20)]
        limit: usize,
    },
    /// Print the last mistakes
    Failures {
        #[arg(long, default_value_t = 5)]
        limit: usize,
    },
    /// Print the playbook in figures
    Stats,
    /// List the past sessions of an agent that are worth reading
    Sessions {
        /// Folder with the sessions: Claude Code, Codex, gemini-cli, `OpenAI` or Anthropic messages
        folder: PathBuf,
        /// Also those that are not, with the reason
        #[arg(long)]
        all: bool,
    },
    /// Look for what is not in order in the folder; exit code 1 if anything is
    Check,
    /// Try out what this installation needs: folder, lock, model
    Doctor,
    /// Find lessons in sessions that agents wrote down
    Mine(Mine),
    /// Do not suggest this again for 30 days
    Skip { name: String },
    /// Suggest again what was skipped: this, or everything
    ResetSkips { name: Option<String> },
    /// What waits for a person: list it, show it, apply or dismiss it
    Inbox(Inbox),
    /// Go through what waits for a person, one by one
    Review(Places),
    /// Skills: lessons as instructions of their own, in SKILL.md files
    Skills {
        #[command(subcommand)]
        command: skills::Command,
    },
    /// Put the memory's own draft skills in order; without --apply it only says what it would do
    Curate(Curate),
    /// Move lessons in: JSON lines, another playbook, the section of a MEMORY.md or AGENTS.md, an ACE playbook
    Import(Import),
    /// Print the lessons, or write them into a file that other programs read
    Export(Export),
}

#[derive(Args)]
pub(crate) struct Learn {
    /// The situation in which the lesson holds
    #[arg(long, allow_hyphen_values = true)]
    trigger: Option<String>,
    /// What was to be done
    #[arg(long, allow_hyphen_values = true)]
    task: Option<String>,
    /// What went wrong
    #[arg(long, allow_hyphen_values = true)]
    mistake: Option<String>,
    /// What not to do
    #[arg(long, allow_hyphen_values = true)]
    anti_pattern: Option<String>,
    /// What solved it
    #[arg(long, allow_hyphen_values = true)]
    solution: Option<String>,
    /// What to do
    #[arg(long, allow_hyphen_values = true)]
    correct_pattern: Option<String>,
    /// Code that shows it
    #[arg(long, visible_alias = "code", allow_hyphen_values = true)]
    code_example: Option<String>,
    /// Topics, separated by commas
    #[arg(long, allow_hyphen_values = true)]
    domains: Option<String>,
    /// How sure, from 0 to 1
    #[arg(long)]
    confidence: Option<f64>,
    /// Where it comes from, in a word
    #[arg(long, allow_hyphen_values = true)]
    source: Option<String>,
    /// An independent check passed with it
    #[arg(long)]
    verified: bool,
}

impl Learn {
    /// The draft that the flags describe; none when there are no flags.
    pub(crate) fn draft(&self) -> Option<LessonDraft> {
        let texts = [
            ("trigger", &self.trigger),
            ("task", &self.task),
            ("mistake", &self.mistake),
            ("anti_pattern", &self.anti_pattern),
            ("solution", &self.solution),
            ("correct_pattern", &self.correct_pattern),
            ("code_example", &self.code_example),
            ("domains", &self.domains),
            ("source", &self.source),
        ];
        let mut row = Map::new();
        for (key, text) in texts {
            if let Some(text) = text {
                row.insert(key.to_owned(), Value::from(text.as_str()));
            }
        }
        if let Some(confidence) = self.confidence {
            row.insert("confidence".to_owned(), Value::from(confidence));
        }
        if self.verified {
            row.insert("verified".to_owned(), Value::from(true));
        }
        (!row.is_empty()).then(|| LessonDraft::from_json(row))
    }
}

#[derive(Args)]
pub(crate) struct Context {
    /// What the task is about; without it, the newest lessons
    #[arg(allow_hyphen_values = true)]
    pub(crate) query: Option<String>,
    /// At most this many lessons
    #[arg(long)]
    pub(crate) limit: Option<usize>,
    /// Triggers below this cosine distance
    #[arg(long)]
    pub(crate) threshold: Option<f32>,
    /// At most this many estimated tokens
    #[arg(long)]
    pub(crate) max_tokens: Option<usize>,
    /// Insist on a tier
    #[arg(long)]
    pub(crate) tier: Option<TierName>,
    /// Count nothing
    #[arg(long)]
    pub(crate) peek: bool,
    /// Show everything that was looked at
    #[arg(long)]
    pub(crate) explain: bool,
}

#[derive(Args)]
pub(crate) struct List {
    /// How far back
    #[arg(long, default_value = "all")]
    pub(crate) window: WindowName,
    /// Only lessons of this source
    #[arg(long, default_value = "", hide_default_value = true)]
    pub(crate) source: String,
    /// At most this many
    #[arg(long, default_value_t = 20)]
    pub(crate) limit: usize,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum TierName {
    Vector,
    Lexical,
}

impl From<TierName> for TierChoice {
    fn from(name: TierName) -> Self {
        match name {
            TierName::Vector => Self::Vector,
            TierName::Lexical => Self::Lexical,
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum WindowName {
    Today,
    #[value(alias = "7d")]
    Week,
    All,
}

impl From<WindowName> for Window {
    fn from(name: WindowName) -> Self {
        match name {
            WindowName::Today => Self::Today,
            WindowName::Week => Self::Week,
            WindowName::All => Self::All,
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Verdict {
    Helpful,
    Neutral,
    Harmful,
}

impl From<Verdict> for Feedback {
    fn from(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Helpful => Self::Helpful,
            Verdict::Neutral => Self::Neutral,
            Verdict::Harmful => Self::Harmful,
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Check {
    Passed,
    Failed,
}

impl From<Check> for Verification {
    fn from(check: Check) -> Self {
        match check {
            Check::Passed => Self::Passed,
            Check::Failed => Self::Failed,
        }
    }
}
