//! The commands mine and skip.

use std::collections::BTreeMap;
use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use adage::model::CancelToken;
use adage::playbook::SkipSelection;
use adage::redact::{mask, one_line, path_line, path_text};
use adage::skills::AutoSaved;
use adage::transcript::{Format, ReadReport, Reading, Source, Transcript, TranscriptReader};
use adage::{LanguageModel, LearnOutcome, Playbook, skills};
use adage_sessions::extract::Extraction;
use adage_sessions::heuristics::Candidate;
use adage_sessions::{DueSessions, Ineligible, Mined, NotDue, ReadState, RunEnd, SessionScan, Sessions};
use clap::Args;
use indicatif::ProgressBar;
use serde_json::{Value, json};

use crate::agents::session_source::{FoundBy, OwnSessions};
use crate::agents::sessions as session_list;
use crate::global::{self, Access, Global};
use crate::output::{Output, counted, masked, progress, say, say_failure, with};
use crate::result::{Done, Failure, Usage, chain, exit_code};

/// The exit code after an interrupt.
const INTERRUPTED: u8 = 130;

#[derive(Args)]
pub(crate) struct Mine {
    /// Session files, also gzipped; for a folder, all .jsonl and .json files below it, also gzipped
    paths: Vec<PathBuf>,
    /// Read the sessions below this folder that are due: something happened in them, they ended 3 hours ago and were not read yet; 10 of them every 30 minutes
    #[arg(long, value_name = "DIR", conflicts_with_all = ["paths", "format"])]
    sessions: Option<PathBuf>,
    /// Read only the sessions that are queued: those that hooks have seen end
    #[arg(long, conflicts_with_all = ["paths", "sessions", "format"])]
    queued: bool,
    /// auto, claude-code, codex, gemini, pi, openai or anthropic
    #[arg(long, default_value = "auto")]
    format: Format,
    /// Only print the suggestions
    #[arg(long)]
    dry_run: bool,
    /// List the sessions below this folder that are worth reading
    #[arg(long, value_name = "DIR", conflicts_with_all = ["paths", "sessions", "queued", "format", "dry_run"])]
    list: Option<PathBuf>,
    /// With --list: also the other sessions, each with the reason why it is left out
    #[arg(long, requires = "list")]
    all: bool,
    #[cfg(feature = "http-llm")]
    #[command(flatten)]
    model: ModelArgs,
}

#[cfg(feature = "http-llm")]
#[derive(Args)]
struct ModelArgs {
    /// Also ask a language model at this base URL (OpenAI-compatible); its key is read from `ADAGE_MODEL_KEY`
    #[arg(long, value_name = "URL", requires = "model_name")]
    model_url: Option<String>,
    /// The model's name on that server
    #[arg(long, value_name = "NAME", requires = "model_url")]
    model_name: Option<String>,
}

impl Mine {
    pub(crate) fn printed(&self) -> Option<&'static str> {
        self.list.is_some().then_some("sessions")
    }

    #[cfg(feature = "http-llm")]
    fn model(&self) -> Result<Option<Box<dyn LanguageModel>>, Box<dyn Error>> {
        let ModelArgs { model_url: Some(url), model_name: Some(name) } = &self.model else { return Ok(None) };
        let model = adage::model::HttpModel::new(url, name)?;
        #[expect(clippy::disallowed_methods, reason = "the library takes a key; this is the program's own setting")]
        let key = std::env::var("ADAGE_MODEL_KEY").unwrap_or_default();
        Ok(Some(Box::new(if key.is_empty() { model } else { model.with_key(&key)? })))
    }

    #[cfg(not(feature = "http-llm"))]
    #[expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "same signature as with the feature")]
    fn model(&self) -> Result<Option<Box<dyn LanguageModel>>, Box<dyn Error>> {
        Ok(None)
    }
}

/// A suggested lesson and its outcome; no outcome on a dry run.
struct Outcome {
    suggestion: Value,
    title: String,
    learned: Option<LearnOutcome>,
}

/// A session file to read.
enum Input {
    /// A person named it.
    Named(PathBuf),
    /// It is in a folder, or was queued.
    Found(adage_sessions::SessionFile, FoundBy),
}

/// How a session that is due came to be read.
fn found_by(scan: &SessionScan, path: &Path) -> FoundBy {
    if scan.entries.iter().any(|entry| entry.path == path) { FoundBy::Search } else { FoundBy::Queue }
}

/// Reads one session after another.
struct Miner<'a> {
    playbook: Playbook,
    model: Option<Box<dyn LanguageModel>>,
    own: OwnSessions,
    is_dry: bool,
    cancel: CancelToken,
    bar: ProgressBar,
    out: &'a mut Output,
    n_sessions: usize,
    n_suggested: usize,
    n_learned: usize,
    n_review: usize,
    is_done: bool,
}

pub(crate) fn mine(global: &Global, asked: &Mine, out: &mut Output) -> Done {
    if let Some(folder) = &asked.list {
        return session_list::list(global, folder, asked.all, out);
    }
    if asked.paths.is_empty() && asked.sessions.is_none() && !asked.queued {
        return Err(Usage("name files of sessions, or a folder of them with --sessions".into()).into());
    }
    let is_dry = asked.dry_run || global.no_learn;
    let builder = global.builder()?;
    let playbook = if is_dry { global::open(builder, Access::Read)? } else { global.create_with(builder)? };
    let cancel = CancelToken::default();
    let interrupted = cancel.clone();
    // A commit is atomic anyway; this lets the current session be finished and the run be recorded.
    ctrlc::set_handler(move || interrupted.cancel())?;
    let mut miner = Miner {
        playbook,
        model: asked.model()?,
        own: OwnSessions::with(&global.user.agent_sessions),
        is_dry,
        cancel,
        bar: ProgressBar::hidden(),
        out,
        n_sessions: 0,
        n_suggested: 0,
        n_learned: 0,
        n_review: 0,
        is_done: true,
    };
    if let Some(folder) = &asked.sessions {
        let scan = Sessions::of(&miner.playbook).scan(folder)?;
        miner.read_due(&scan)?;
        say_left_out(&scan);
    } else if asked.queued {
        let scan = Sessions::of(&miner.playbook).only_queued();
        miner.read_due(&scan)?;
    } else {
        let files = files_of(&asked.paths)?;
        miner.read_files(&files, asked.format);
    }
    miner.conclude()
}

/// The named files, and the session files in the named folders.
fn files_of(paths: &[PathBuf]) -> Result<Vec<Input>, Box<dyn Error>> {
    let mut named = Vec::new();
    for path in paths {
        if !path.is_dir() {
            named.push(Input::Named(path.clone()));
            continue;
        }
        let found = adage_sessions::files(path)?;
        for left in found.left_out {
            say(&format!("left out: {}: {}", path_line(&left.path), left.reason));
        }
        named.extend(found.files.into_iter().map(|file| Input::Found(file, FoundBy::Search)));
    }
    Ok(named)
}

impl Miner<'_> {
    fn read_files(&mut self, files: &[Input], format: Format) {
        self.bar = progress(files.len(), "sessions");
        for input in files {
            if self.cancel.is_cancelled() {
                break;
            }
            let (file, found_by) = input.named();
            let reading = input.read(format);
            if let Err(error) = reading.and_then(|reading| self.one(file, found_by, &reading)) {
                let error = Failure::of_item(format!("{}: {}", path_line(file), chain(error.as_ref())));
                self.bar.suspend(|| say_failure(&error));
                self.is_done = false;
            }
            self.bar.inc(1);
        }
    }

    /// Reads the sessions of a scan that are due, as a recorded run.
    fn read_due(&mut self, scan: &SessionScan) -> Result<(), Box<dyn Error>> {
        let sessions = Sessions::of(&self.playbook);
        if self.is_dry {
            match sessions.due(scan)? {
                DueSessions::NotDue(waiting) => say(&why(&waiting)),
                DueSessions::Sessions(due) => {
                    let input =
                        |path: &Path| Ok(Input::Found(adage_sessions::SessionFile::look(path)?, found_by(scan, path)));
                    let files: Vec<Input> = due.iter().map(|entry| input(&entry.path)).collect::<io::Result<_>>()?;
                    self.read_files(&files, Format::default());
                }
            }
            return Ok(());
        }
        let mut run = match sessions.begin_run(scan)? {
            Ok(run) => run,
            Err(waiting) => {
                say(&why(&waiting));
                return Ok(());
            }
        };
        self.bar = progress(run.to_read().count(), "sessions");
        loop {
            let next = run.to_read().next().map(|entry| entry.path.clone());
            let Some(path) = next else { break };
            if self.cancel.is_cancelled() {
                run.finish(RunEnd::Cancelled)?;
                return Ok(());
            }
            let outcome = run.read_next(|reading| self.one(&path, found_by(scan, &path), reading))?;
            if let Some(adage_sessions::SessionResult::Failed { error }) = outcome.map(|outcome| outcome.result) {
                let error = Failure::of_item(format!("{}: {error}", path_line(path)));
                self.bar.suspend(|| say_failure(&error));
                self.is_done = false;
            }
            self.bar.inc(1);
        }
        run.finish(RunEnd::Finished)?;
        Ok(())
    }

    /// Reads one session and returns how many lessons it suggests. When the model fails, the other suggestions are printed before
    /// the error is returned.
    fn one(&mut self, file: &Path, found_by: FoundBy, reading: &Reading) -> Result<usize, Box<dyn Error>> {
        let doubted = self.own.doubt(file, found_by, reading).map(|why| {
            self.bar.suspend(|| say(&format!("{}: others can have written it: {why}", path_line(file))));
            let mut doubted = reading.clone();
            doubted.transcript.source = Source::Others;
            doubted
        });
        let reading = doubted.as_ref().unwrap_or(reading);
        let lessons = self.lessons(&reading.transcript)?;
        let mut learned = lessons.mined.into_iter();
        let suggested = lessons.suggested.candidates.iter();
        let mut outcomes: Vec<Outcome> = suggested.map(|candidate| Outcome::mined(candidate, learned.next())).collect();
        let mut failed = None;
        match lessons.extraction {
            Some(Extraction::Proposed { lessons: proposed, refused }) => {
                let mut learned = lessons.extracted.into_iter();
                let proposed = proposed.iter();
                outcomes.extend(proposed.map(|lesson| Outcome::proposed(&lesson.draft.to_json(), learned.next())));
                for refused in refused {
                    let what = format!(
                        "{}: the model's {:?} was rejected",
                        path_line(file),
                        one_line(&mask(&refused.rule).text, 60)
                    );
                    self.bar.suspend(|| say(&format!("{what}: {}", refused.because)));
                }
            }
            Some(unused) => failed = unused.failure(),
            None => {}
        }
        self.count(&outcomes);
        let out = &mut *self.out;
        self.bar.suspend(|| {
            print(file, reading, &outcomes, &lessons.suggested, out)?;
            print_skills(&lessons.skills, out)
        })?;
        failed.map_or(Ok(outcomes.len()), |failed| Err(failed.into()))
    }

    /// Adds a session to the totals.
    fn count(&mut self, outcomes: &[Outcome]) {
        self.n_sessions += 1;
        self.n_suggested += outcomes.len();
        for learned in outcomes.iter().filter_map(|outcome| outcome.learned.as_ref()) {
            self.n_review += usize::from(matches!(learned, LearnOutcome::Review { .. }));
            self.n_learned += usize::from(matches!(
                learned,
                LearnOutcome::Inserted { .. }
                    | LearnOutcome::Superseded { .. }
                    | LearnOutcome::Merged { .. }
                    | LearnOutcome::Distinct { .. }
            ));
        }
    }

    /// The lessons of a session; nothing is learned on a dry run.
    fn lessons(&self, transcript: &Transcript) -> Result<adage_sessions::SessionLessons, Box<dyn Error>> {
        let model = self.model.as_deref();
        if !self.is_dry {
            return Ok(Sessions::of(&self.playbook).learn_from(transcript, model, &self.cancel)?);
        }
        let mut lessons = adage_sessions::SessionLessons::default();
        lessons.suggested = Sessions::of(&self.playbook).mine(transcript)?;
        lessons.extraction = match model {
            Some(model) => Some(Sessions::of(&self.playbook).extract(model, transcript, &self.cancel)?),
            None => None,
        };
        Ok(lessons)
    }

    fn conclude(self) -> Done {
        self.bar.finish_and_clear();
        let Self { n_sessions, n_suggested, n_learned, n_review, .. } = self;
        let outcome = if self.is_dry {
            "nothing was learned".to_owned()
        } else {
            format!("{n_learned} learned, {n_review} for review")
        };
        self.out.line(&format!(
            "{}, {}, {outcome}",
            counted(n_sessions, "session"),
            counted(n_suggested, "suggestion")
        ))?;
        if n_review > 0 {
            say("nothing of it is shown before you have answered: adage review");
        }
        if self.cancel.is_cancelled() {
            say("interrupted; what was read is learned, the rest is unchanged");
            return Ok(ExitCode::from(INTERRUPTED));
        }
        Ok(exit_code(self.is_done))
    }
}

impl Outcome {
    fn mined(candidate: &Candidate, learned: Option<LearnOutcome>) -> Self {
        let turns: Vec<String> = candidate.turns.iter().map(ToString::to_string).collect();
        let heuristic = candidate.heuristic.name();
        Self {
            title: format!("{heuristic}  {}  (turns {})", candidate.name, one_line(&turns.join(", "), 40)),
            suggestion: json!({
                "heuristic": heuristic, "name": candidate.name, "turns": candidate.turns, "score": candidate.score,
                "lesson": candidate.draft.to_json(),
            }),
            learned,
        }
    }

    fn proposed(lesson: &Value, learned: Option<LearnOutcome>) -> Self {
        let turn = lesson.pointer("/provenance/evidence/0/turn").map(ToString::to_string).unwrap_or_default();
        Self { title: format!("model  (turn {turn})"), suggestion: json!({"model": true, "lesson": lesson}), learned }
    }
}

/// Prints how many sessions of a folder are left out, by reason.
fn say_left_out(scan: &SessionScan) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for entry in &scan.entries {
        let reason = match (entry.ineligible, entry.read_state) {
            (Some(Ineligible::SubAgent), _) => "of sub-agents",
            (Some(Ineligible::FewTurns { .. }), _) => "too little happened",
            (Some(Ineligible::Active { .. }), _) => "may still go on",
            (_, ReadState::GivenUp { .. }) => "given up after several attempts",
            (_, ReadState::Read) => "read before",
            _ => continue,
        };
        *counts.entry(reason).or_default() += 1;
    }
    if !scan.left_out.is_empty() {
        counts.insert("no sessions, or not readable", scan.left_out.len());
    }
    if !counts.is_empty() {
        let counts: Vec<String> = counts.into_iter().map(|(reason, n)| format!("{n} {reason}")).collect();
        say(&format!("not read: {}; `mine --list DIR --all` lists them", counts.join(", ")));
    }
}

/// Why no session is due. It is not an error.
fn why(waiting: &NotDue) -> String {
    match waiting {
        NotDue::NothingEligible => format!("{waiting}; `mine --list DIR --all` prints the reasons"),
        _ => waiting.to_string(),
    }
}

impl Input {
    fn named(&self) -> (&Path, FoundBy) {
        match self {
            Self::Named(path) => (path, FoundBy::Name),
            Self::Found(file, found_by) => (&file.path, *found_by),
        }
    }

    fn read(&self, format: Format) -> Result<Reading, Box<dyn Error>> {
        match self {
            Self::Named(path) => Ok(TranscriptReader::new().read(adage_sessions::open(path)?, format)?),
            Self::Found(file, _) => Ok(file.read(format)?),
        }
    }
}

fn print(file: &Path, reading: &Reading, outcomes: &[Outcome], mined: &Mined, out: &mut Output) -> io::Result<()> {
    for name in &mined.skipped {
        say(&format!("{}: {name} was skipped; `skills skip --again` suggests it again", path_line(file)));
    }
    for name in &mined.known {
        say(&format!("{}: {name} is in the playbook already, or was removed", path_line(file)));
    }
    say_broken(file, &reading.report);
    for Outcome { suggestion, title, learned } in outcomes {
        let learned = learned.as_ref().map(ToString::to_string);
        let object =
            json!({"file": path_text(file), "session": mask(&reading.transcript.session).text, "learned": learned});
        let object = with(object, masked(suggestion.clone()));
        out.object(&object)?;
        let text = |key: &str| object.pointer(&format!("/lesson/{key}")).and_then(Value::as_str).unwrap_or_default();
        out.line(title)?;
        out.line(&format!("  when  {}", one_line(text("trigger"), 160)))?;
        out.line(&format!("  do    {}", one_line(text("correct_pattern"), 400)))?;
        out.line(&format!("  {}", learned.as_deref().unwrap_or("not learned: a dry run")))?;
    }
    Ok(())
}

/// Prints the skills drafted from a session's procedures, and why others were declined.
fn print_skills(skills: &AutoSaved, out: &mut Output) -> io::Result<()> {
    for saved in &skills.saved {
        let (skills::Saved::Written { name, path } | skills::Saved::Unchanged { name, path }) = saved else { continue };
        out.object(&json!({"skill": name.as_str(), "path": path_text(path)}))?;
        out.line(&format!("draft skill {name}"))?;
        out.line(&format!("  {}", path_line(path)))?;
    }
    for name in &skills.recurred {
        say(&format!("draft skill {name}: one more session suggests it; from two on it is shown"));
    }
    if let Some(failed) = &skills.failed {
        say(&format!("no more skills were saved: {failed}"));
    }
    for declined in &skills.declined {
        say(&format!("no skill was drafted for {}: {}", declined.name, declined.reason));
    }
    Ok(())
}

/// Prints the records of the file that could not be read.
fn say_broken(file: &Path, report: &ReadReport) {
    if report.n_broken > 0 {
        let first =
            report.broken.first().map(|broken| format!("line {}, {}", broken.line, broken.reason)).unwrap_or_default();
        let n_broken = counted(usize::try_from(report.n_broken).unwrap_or(usize::MAX), "broken record");
        say(&format!("{}: {n_broken}; the first: {first}", path_line(file)));
    }
}

pub(crate) fn skip(global: &Global, name: &str, out: &mut Output) -> Done {
    let times = global.open()?.skip(name)?;
    let name = mask(name).text;
    out.both(&json!({ "name": name, "times": times }), &format!("{name} will not be suggested for 30 days"))
}

pub(crate) fn reset_skips(global: &Global, name: Option<&str>, out: &mut Output) -> Done {
    let n_forgotten = global.open()?.reset_skips(name.map_or(SkipSelection::All, SkipSelection::Of))?;
    if let Some(name) = name.filter(|_| n_forgotten == 0) {
        return Err(format!("{name} is not skipped").into());
    }
    out.both(&json!({ "forgotten": n_forgotten }), &format!("{} cleared", counted(n_forgotten, "skip")))
}
