//! A failure that a person reports, what the agent changed about it, and that the person says it works now.
//!
//! The person runs what the agent cannot: another machine, a window, a pipeline. There is no command of which the record says that it
//! failed and passed; both are in the person's words, or in what they pasted.

use std::sync::LazyLock;

use adage_redact::one_line;
use adage_transcript::command::slug;
use adage_transcript::{CommandLine, ToolCall, outcome};
use regex::Regex;
use unicode_segmentation::UnicodeSegmentation;

use super::diagnosis::{Diagnosis, advice, diagnosis, shares_a_name, summary_of_changes};
use super::edits::{are_settings, describe_edits, edit_text};
use super::lesson_text::within;
use super::{MAX_BETWEEN, MAX_FILES, is_go_ahead, is_test_file};
use crate::capture::heuristics::session::{Session, TerminalCall};
use crate::capture::heuristics::wording::{listed, matches};
use crate::capture::heuristics::{Author, Candidate, FiredBecause, Heuristic, RejectedBecause, Trial, mined};
use crate::lesson::build_lesson;

/// A longer turn is a document.
const MAX_TURN_CHARS: usize = 4_000;
const MAX_TRIGGER_CHARS: usize = 200;
const CONFIDENCE: f64 = 0.4;
/// Below what a command proves.
const SCORE: f64 = 0.5;

/// A failure that the person reported, in one turn or several.
struct Report {
    /// In which turns, rising.
    turns: Vec<usize>,
    /// What a program said, as it was pasted.
    pasted: Option<String>,
    /// What the person says, a sentence each.
    told: Vec<String>,
}

/// How it ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Confirmed {
    /// The person says that it works.
    Yes,
    /// The person says nothing more of it.
    No,
}

pub(super) fn find(session: &Session<'_>) -> Vec<Trial> {
    /// Turns between, in which the person answers questions.
    const MAX_OTHERS: usize = 1;
    let mut trials = Vec::new();
    let mut open: Option<Report> = None;
    let mut n_others = 0;
    for (turn, text) in session.user_turns().filter(|(_, text)| text.chars().count() <= MAX_TURN_CHARS) {
        let own = own_sentences(session, turn, text);
        let reported = read(turn, text, &own);
        if own.iter().take(2).any(|sentence| reports_success(sentence) || is_content(sentence)) {
            trials.extend(open.take().and_then(|report| judge(session, &report, turn, Confirmed::Yes)));
            (open, n_others) = (reported, 0);
        } else if let Some(next) = reported {
            open = Some(match open.take() {
                Some(report) => report.and(next),
                None => next,
            });
            n_others = 0;
        } else if !own.is_empty() && !is_go_ahead(text) {
            n_others += 1;
            if n_others <= MAX_OTHERS && !has_edits(session, open.as_ref(), turn) {
                continue;
            }
            // Something else is asked for.
            trials.extend(open.take().and_then(|report| judge(session, &report, turn, Confirmed::No)));
        }
    }
    let end = session.transcript.turns.len();
    trials.extend(open.and_then(|report| judge(session, &report, end, Confirmed::No)));
    trials
}

/// The command that the person says that they ran: "I ran `npm install`".
pub(super) fn command_run_by_user(session: &Session<'_>, turn: usize, text: &str) -> Option<CommandLine> {
    static RAN: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)\bI(?:['’]ve| have)?(?: just| already| now)* (?:ran|run|executed|did)\b:? (?:`([^`\n]+)`|([a-z][\w./-]*(?: [\w@=./-]*[\w@=/-])+))\W*$").ok()
    });
    const ENGLISH: [&str; 14] =
        ["the", "it", "a", "an", "this", "that", "all", "some", "into", "your", "my", "our", "out", "another"];
    let own = own_sentences(session, turn, text);
    let mut found = own.iter().filter_map(|sentence| RAN.as_ref()?.captures(sentence));
    let found = found.next().filter(|_| found.next().is_none())?;
    let command = found.get(1).or_else(|| found.get(2))?.as_str();
    let line = CommandLine::parse(command);
    let is_word = line.program().is_none_or(|program| ENGLISH.contains(&program));
    (!is_word && !own.iter().any(|sentence| fails(sentence))).then_some(line)
}

/// What the person says that they did, in a sentence of its own: "I allowed the secret at that address". Not what they want or found.
pub(super) fn user_action(session: &Session<'_>, turn: usize, text: &str) -> Option<String> {
    static DID: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)^\W*(?:(?:ok|okay|yes|done|so|now|and|alright|right)\W+){0,3}(?:I|we)(?:['’]ve| have)?(?: just| already| now| also)* (?:allowed|added|set|put|installed|uninstalled|started|restarted|stopped|enabled|disabled|turned|opened|closed|created|made|granted|gave|changed|updated|upgraded|downgraded|deleted|removed|killed|unlocked|logged|signed|connected|plugged|freed|moved|copied|renamed|configured|exported|approved|accepted|reset|rebooted|switched)\b").ok()
    });
    const MIN_WORDS: usize = 4;
    let mut own = own_sentences(session, turn, text).into_iter();
    let is_it = |said: &&str| matches(&DID, said) && !said.contains('?') && said.unicode_words().count() >= MIN_WORDS;
    let done = own.by_ref().find(is_it)?;
    let is_short = done.chars().count() <= MAX_TRIGGER_CHARS;
    // Not everybody begins a sentence with a capital.
    let first = done.split(". ").next().unwrap_or(done);
    (is_short && !fails(done) && !own.any(fails)).then(|| first.trim_end_matches(['.', '!']).to_owned())
}

fn own_sentences<'t>(session: &Session<'_>, turn: usize, text: &'t str) -> Vec<&'t str> {
    session.typed.sentences(turn, text).iter().map(|sentence| sentence.text).collect()
}

fn has_edits(session: &Session<'_>, report: Option<&Report>, turn: usize) -> bool {
    report.is_some_and(|report| session.edits_in(report.last(), turn).next().is_some())
}

impl Report {
    fn last(&self) -> usize {
        self.turns.last().copied().unwrap_or_default()
    }

    fn first(&self) -> usize {
        self.turns.first().copied().unwrap_or_default()
    }

    /// What an account of it has to name something of.
    fn evidence(&self) -> String {
        format!("{}\n{}", self.pasted.as_deref().unwrap_or_default(), self.told.join("\n"))
    }

    /// The same failure, reported once more.
    fn and(mut self, next: Self) -> Self {
        self.turns.extend(next.turns);
        self.pasted = self.pasted.or(next.pasted);
        self.told.extend(next.told);
        self
    }
}

/// The failure that a turn reports, if it does.
fn read(turn: usize, text: &str, own: &[&str]) -> Option<Report> {
    let pasted = text.lines().map(str::trim).find(|line| is_pasted_error(line, own.contains(line)));
    let told = own.iter().enumerate().filter(|(_, sentence)| fails(sentence));
    let told: Vec<String> = told.map(|(place, said)| introduced(own, place, said)).collect();
    let report = Report { turns: vec![turn], pasted: pasted.map(|line| one_line(line, MAX_TRIGGER_CHARS)), told };
    (report.pasted.is_some() || !report.told.is_empty()).then_some(report)
}

/// A sentence, with the one before it where it points there: "but the sidebar does not show that one".
fn introduced(own: &[&str], place: usize, said: &str) -> String {
    static POINTS: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?i)^(?:but|and|so)\b|\b(?:it|this|that|they|them|these|those|there)\b").ok());
    let before = place.checked_sub(1).and_then(|before| own.get(before)).filter(|_| matches(&POINTS, said));
    let whole = before.map(|before| format!("{before} {said}"));
    whole.filter(|whole| whole.chars().count() <= MAX_TRIGGER_CHARS).unwrap_or_else(|| said.to_owned())
}

/// What a program says: `Restore cache failed: no lock file was found`. What could be typed has to begin as an error does.
fn is_pasted_error(line: &str, is_own: bool) -> bool {
    static SAYS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)^[\w .\[\]/-]{0,60}\b(?:failed|error|exception|denied|refused|not found)\b\s*: *\S").ok()
    });
    static BEGINS: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"^(?:[\w.]*(?i:error|exception)(?:\[\w+\])?|fatal|panic): \S").ok());
    const MIN_WORDS: usize = 4;
    let is_said =
        if is_own { matches(&BEGINS, line) } else { outcome::error_line(line).is_some() || matches(&SAYS, line) };
    is_said && line.unicode_words().count() >= MIN_WORDS
}

/// True for a sentence that says that something does not work; no question, nothing about how it is to be, or about what the agent did.
fn fails(sentence: &str) -> bool {
    static FAILS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let does = "(?:work|show|load|start|run|open|see|find|appear|compile|build|respond|connect|updat|sav|render|happen|do anything|get|recogni[sz]|pick|accept|detect|print|return|exit|clos|stop|launch|boot|sync|install|trigger|fir|persist|exist|resolv|pass|change anything)\\w*";
        let state = "(?:\\w+ing|found|there|visible|available|detected|recogni[sz]ed|picked|applied|able|reachable|saved|updated|rendered)";
        let not = "(?:n['’]?t| not)";
        Regex::new(&format!(
            r"(?i)\b(?:(?:does|did|ca|could|wo|will|can){not} (?:even |actually |always |really )?{does}|(?:is|are|was|were){not} (?:even |actually |being )?{state})\b|\b(?:nope|still|fails?|failed|failing|crash\w*|broken|hangs?|stuck|not work\w*|no luck|nothing (?:happens|is|in)|no longer|funktioniert nicht|geht nicht|no funciona|ne (?:fonctionne|marche) pas|there(?:['’]s| is| are| was) (?:no|nothing)|(?:got|get|gets|see|shows?) (?:no|nothing)|get(?:s|ting)? (?:an? |this |these |the )?(?:\w+ )?(?:errors?|warnings?|exceptions?))\b|不行|报错|没有反应"
        ))
        .ok()
    });
    static WISHES: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)\b(?:should|shouldn['’]?t|must|please|let['’]?s|make sure|want|need|needs|would|if|your?|you['’]re|you['’]ve)\b|\?\W*$").ok()
    });
    matches(&FAILS, sentence) && !matches(&WISHES, sentence)
}

/// True for a sentence that says that it works now.
fn reports_success(sentence: &str) -> bool {
    static WORKS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)\b(?:works?|worked|working|fixed|solved|resolved|passes|compiles|shows up|(?:it|they) appears?|(?:they|numbers|results|both|all) (?:agree|match)|(?:is|are|it['’]s|ok|okay|now|yes|all) gone|did it|did the trick|funktioniert|klappt|funciona|fonctionne)\b|可以(?:了|[。！!]|$)|好了|^\W*(?:perfect|awesome|excellent|amazing|brilliant|much better|all good|(?:\w+ ){0,3}looks? (?:good|great|fine|right|correct))(?: now)?\W*$|^\W*(?:🎉|👍|✅)+\W*$").ok()
    });
    static BUT: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)n['’]t\b|\b(?:not|no|never|only|still|but|except|almost|partial\w*|half|would|should|could|can|will|if|when|how|why|what|where|whether|make|get|let|before|until|used to|working on|to be|nicht|aber|pero|mais)\b|\?\W*$").ok()
    });
    const MAX_WORDS: usize = 24;
    matches(&WORKS, sentence) && !matches(&BUT, sentence) && sentence.unicode_words().count() <= MAX_WORDS
}

/// True for a sentence of somebody who is content with what was done: they praise it, or have it committed.
fn is_content(sentence: &str) -> bool {
    static CONTENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)^\W*(?:(?:ok|okay|great|nice|cool|good|alright|now|then|and|so|let['’]?s|please|go ahead and|you can|can you)\W+){0,4}(?:git )?(?:commit|push|merge|ship|release|deploy)\b|^\W*(?:great|nice|cool|good)\W*$").ok()
    });
    static BUT: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)n['’]t\b|\b(?:not|no|never|still|but|except|fails?|failed|errors?|why|revert)\b").ok()
    });
    const MAX_WORDS: usize = 12;
    sentence.unicode_words().count() <= MAX_WORDS && matches(&CONTENT, sentence) && !matches(&BUT, sentence)
}

/// The lesson of a failure that was reported, up to the turn that says how it ended. None where nothing was changed.
fn judge(session: &Session<'_>, report: &Report, end: usize, confirmed: Confirmed) -> Option<Trial> {
    let edits: Vec<(usize, &ToolCall)> = session.edits_in(report.first(), end).collect();
    if edits.is_empty() {
        return if confirmed == Confirmed::Yes { judge_advice(session, report, end) } else { None };
    }
    let (first, last) =
        edits.iter().find(|(turn, _)| *turn > report.last()).map(|(turn, _)| *turn).zip(edits.last())?;
    let calls: Vec<&ToolCall> = edits.iter().map(|(_, call)| *call).collect();
    // Pipelines run elsewhere.
    if confirmed == Confirmed::No && !(are_settings(&calls) && report.pasted.is_some()) {
        return Some(Trial::refused(report.last(), RejectedBecause::NotConfirmed));
    }
    let mut evidence = report.evidence();
    evidence.extend(calls.iter().map(|call| edit_text(call)));
    let said = |to| diagnosis(session, report.last(), to, &evidence);
    let found = said(first).or_else(|| said(last.0)).or_else(|| summary_of_changes(session, last.0, end, &evidence));
    let files = changed_files(session, report.first(), end);
    let n_edits = calls.len();
    let refused = |rejection| Some(Trial::refused(report.last(), rejection));
    let Some(diagnosis) = found.filter(|_| (1..=MAX_FILES).contains(&files.len())) else {
        return refused(RejectedBecause::NothingTold { n_between: n_edits, n_changes: 0 });
    };
    let Some(trigger) = trigger(report, &diagnosis, &files) else { return refused(RejectedBecause::NoError) };
    let candidate =
        candidate(session, report, end, &trigger, &solution(session, &diagnosis, &calls, &files, confirmed), &files);
    Some(Trial::fired(report.last(), candidate, FiredBecause::Reported { n_edited: files.len() }))
}

/// The lesson of a failure that the person mended as the agent said; none where the agent changed something itself.
fn judge_advice(session: &Session<'_>, report: &Report, end: usize) -> Option<Trial> {
    if session.acts(report.first(), end).iter().any(|act| act.command.is_some_and(TerminalCall::succeeded)) {
        return None;
    }
    let evidence = report.evidence();
    let diagnosis = advice(session, report.last(), end, &evidence)?;
    let trigger = trigger(report, &diagnosis, &[])?;
    let text = within(&diagnosis.text, &session.transcript.project);
    let candidate = candidate(session, report, end, &trigger, &text, &[]);
    Some(Trial::fired(report.last(), candidate, FiredBecause::Reported { n_edited: 0 }))
}

/// What was changed; tests only where nothing else was.
fn changed_files(session: &Session<'_>, from: usize, to: usize) -> Vec<String> {
    let all = session.edited_files(from, to);
    let others: Vec<String> = all.iter().filter(|file| !is_test_file(file)).cloned().collect();
    if others.is_empty() { all } else { others }
}

/// What fails: what was pasted, else a sentence that can be understood alone.
fn trigger(report: &Report, diagnosis: &Diagnosis, files: &[String]) -> Option<String> {
    const MIN_WORDS: usize = 5;
    let evidence = format!("{}\n{}", diagnosis.text, files.join("\n")).to_lowercase();
    let is_clear = |said: &&String| {
        said.unicode_words().count() >= MIN_WORDS
            && said.chars().count() <= MAX_TRIGGER_CHARS
            && shares_a_name(said, &evidence)
    };
    report.pasted.clone().or_else(|| report.told.iter().find(is_clear).cloned())
}

fn solution(
    session: &Session<'_>,
    diagnosis: &Diagnosis,
    edits: &[&ToolCall],
    files: &[String],
    confirmed: Confirmed,
) -> String {
    let project = session.transcript.project.as_str();
    let told = describe_edits(edits, project).filter(|_| edits.len() <= MAX_BETWEEN);
    let change = told.unwrap_or_else(|| format!("change {}", listed(files)));
    let end = if confirmed == Confirmed::Yes { "; then it works" } else { "" };
    format!("{} To do so, {change}{end}.", within(&diagnosis.text, project))
}

fn candidate(
    session: &Session<'_>,
    report: &Report,
    end: usize,
    trigger: &str,
    solution: &str,
    files: &[String],
) -> Candidate {
    let topic = files.first().and_then(|file| file.split('.').find(|part| !part.is_empty())).unwrap_or("unknown");
    let mut turns = report.turns.clone();
    turns.push(end.min(session.transcript.turns.len().saturating_sub(1)));
    Candidate {
        heuristic: Heuristic::ErrorRecovery,
        name: format!("error-{}", slug(topic)),
        draft: mined(build_lesson(trigger, solution).domains([slug(topic)]), session, CONFIDENCE, Vec::new()),
        turns,
        score: SCORE,
        author: Author::Agent,
    }
}
