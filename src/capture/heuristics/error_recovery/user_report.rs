//! Failures that the user reports: the report, the agent's changes, and the user's confirmation that it works.
//!
//! Users run what the agent cannot: another machine, a window, a pipeline. No recorded command fails and passes. Failure and success
//! are in the user's words, or in output that they pasted.

use std::sync::LazyLock;

use adage_redact::one_line;
use adage_transcript::command::slug;
use adage_transcript::{CommandLine, ToolCall, Turn, outcome};
use regex::Regex;
use unicode_segmentation::UnicodeSegmentation;

use super::diagnosis::{Diagnosis, advice, diagnosis, shares_a_name, summary_of_changes};
use super::edits::{are_settings, describe_edits, edit_text};
use super::lesson_text::within;
use super::{MAX_BETWEEN, MAX_FILES, is_go_ahead, is_test_file};
use crate::capture::heuristics::session::{Session, TerminalCall};
use crate::capture::heuristics::wording::{listed, matches, sentences};
use crate::capture::heuristics::{Author, Candidate, FiredBecause, Heuristic, RejectedBecause, Trial, mined};
use crate::lesson::build_lesson;

/// The maximum length of a turn that is read, in characters. A longer one is a document.
const MAX_TURN_CHARS: usize = 4_000;
/// The maximum length of a trigger, in characters.
const MAX_TRIGGER_CHARS: usize = 200;
/// The initial confidence, below the 0.5 of a lesson that someone wrote.
const CONFIDENCE: f64 = 0.4;
/// The score of every candidate, below that of most recoveries that commands prove.
const SCORE: f64 = 0.5;

/// A failure that the user reported in one or more turns.
struct Report {
    /// The turns of the report, from 0, rising.
    turns: Vec<usize>,
    /// The error line that the user pasted. None if they pasted none.
    pasted: Option<String>,
    /// The user's sentences about the failure.
    statements: Vec<String>,
}

/// Whether the user confirmed the fix.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Confirmed {
    /// The user says that it works.
    Yes,
    /// The user reports another failure.
    MovedOn,
    /// The user does not mention it again.
    No,
}

/// A trial for each reported failure after which something was changed or advised. Empty without reports.
pub(super) fn find(session: &Session<'_>) -> Vec<Trial> {
    /// The maximum number of turns about something else, such as answers to questions, before a report is closed.
    const MAX_OTHERS: usize = 1;
    let mut trials = Vec::new();
    let mut open: Option<Report> = None;
    let mut n_others = 0;
    for (turn, text) in session.user_turns().filter(|(_, text)| text.chars().count() <= MAX_TURN_CHARS) {
        let own = own_sentences(text);
        let reported = parse_report(turn, text, &own);
        if reports_a_success(session, turn, text) {
            trials.extend(open.take().and_then(|report| judge(session, &report, turn, Confirmed::Yes)));
            (open, n_others) = (reported, 0);
        } else if let Some(next) = reported {
            open = match open.take() {
                Some(report) if report.is_replaced_by(session, &next) => {
                    trials.extend(judge(session, &report, turn, Confirmed::MovedOn));
                    Some(next)
                }
                Some(report) => Some(report.and(next)),
                None => Some(next),
            };
            n_others = 0;
        } else if !own.is_empty() && !is_go_ahead(text) {
            n_others += 1;
            if n_others <= MAX_OTHERS && !has_edits_since(session, open.as_ref(), turn) {
                continue;
            }
            // The user has moved on.
            trials.extend(open.take().and_then(|report| judge(session, &report, turn, Confirmed::No)));
        }
    }
    let end = session.transcript.turns.len();
    trials.extend(open.and_then(|report| judge(session, &report, end, Confirmed::No)));
    trials
}

/// True if the user says in a turn that something does not work, or pasted an error.
pub(in crate::capture::heuristics) fn reports_a_failure(session: &Session<'_>, turn: usize, text: &str) -> bool {
    parse_report(turn, text, &own_sentences(text)).is_some()
}

/// True if the user says in the first sentences of a turn that it works, or approves of it.
pub(in crate::capture::heuristics) fn reports_a_success(session: &Session<'_>, turn: usize, text: &str) -> bool {
    let own = own_sentences(text);
    own.iter().take(2).any(|sentence| reports_success(sentence) || expresses_approval(sentence))
}

/// The command that the user says they ran: "I ran `npm install`". None without one, with several, or if they also report a failure.
pub(super) fn command_run_by_user(session: &Session<'_>, turn: usize, text: &str) -> Option<CommandLine> {
    static RAN: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)\bI(?:['’]ve| have)?(?: just| already| now)* (?:ran|run|executed|did)\b:? (?:`([^`\n]+)`|([a-z][\w./-]*(?: [\w@=./-]*[\w@=/-])+))\W*$").ok()
    });
    const ENGLISH: [&str; 14] =
        ["the", "it", "a", "an", "this", "that", "all", "some", "into", "your", "my", "our", "out", "another"];
    let own = own_sentences(text);
    let mut found = own.iter().filter_map(|sentence| RAN.as_ref()?.captures(sentence));
    let found = found.next().filter(|_| found.next().is_none())?;
    let command = found.get(1).or_else(|| found.get(2))?.as_str();
    let line = CommandLine::parse(command);
    let is_word = line.program().is_none_or(|program| ENGLISH.contains(&program));
    (!is_word && !own.iter().any(|sentence| reports_failure(sentence))).then_some(line)
}

/// The action that the user says they took: "I allowed the secret at that address". None for wishes and findings, or if they also
/// report a failure.
pub(super) fn user_action(session: &Session<'_>, turn: usize, text: &str) -> Option<String> {
    static DID: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)^\W*(?:(?:ok|okay|yes|done|so|now|and|alright|right)\W+){0,3}(?:I|we)(?:['’]ve| have)?(?: just| already| now| also)* (?:allowed|added|set|put|installed|uninstalled|started|restarted|stopped|enabled|disabled|turned|opened|closed|created|made|granted|gave|changed|updated|upgraded|downgraded|deleted|removed|killed|unlocked|logged|signed|connected|plugged|freed|moved|copied|renamed|configured|exported|approved|accepted|reset|rebooted|switched)\b").ok()
    });
    const MIN_WORDS: usize = 4;
    let mut own = own_sentences(text).into_iter();
    let reports_action =
        |said: &&str| matches(&DID, said) && !said.contains('?') && said.unicode_words().count() >= MIN_WORDS;
    let done = own.by_ref().find(reports_action)?;
    let is_short = done.chars().count() <= MAX_TRIGGER_CHARS;
    // Sentences that begin in lower case are not split before.
    let first = done.split(". ").next().unwrap_or(done);
    (is_short && !reports_failure(done) && !own.any(reports_failure))
        .then(|| first.trim_end_matches(['.', '!']).to_owned())
}

/// The sentences that the user typed in a turn, without pasted text.
fn own_sentences(text: &str) -> Vec<&str> {
    sentences(text).into_iter().map(|sentence| sentence.text).collect()
}

/// True if a file was edited between the end of an open report and a turn.
fn has_edits_since(session: &Session<'_>, report: Option<&Report>, turn: usize) -> bool {
    report.is_some_and(|report| session.edits_in(report.last(), turn).next().is_some())
}

impl Report {
    /// The last turn of the report.
    fn last(&self) -> usize {
        self.turns.last().copied().unwrap_or_default()
    }

    /// The first turn of the report.
    fn first(&self) -> usize {
        self.turns.first().copied().unwrap_or_default()
    }

    /// The text that a diagnosis must share a name with.
    fn evidence(&self) -> String {
        format!("{}\n{}", self.pasted.as_deref().unwrap_or_default(), self.statements.join("\n"))
    }

    /// True for a later report of another failure, after an edit: it shares no name with this one, which has a path or a symbol, and
    /// does not say "still".
    fn is_replaced_by(&self, session: &Session<'_>, next: &Self) -> bool {
        static AGAIN: LazyLock<Option<Regex>> =
            LazyLock::new(|| Regex::new(r"(?i)\b(?:still|again|same|nope|not fixed|no luck|no change)\b").ok());
        let said = next.evidence();
        let names_code = self.evidence().split_whitespace().any(|word| word.contains(['_', '/', '`']));
        names_code
            && has_edits_since(session, Some(self), next.first())
            && !matches(&AGAIN, &said)
            && !shares_a_name(&said, &self.evidence().to_lowercase())
    }

    /// This report, extended by a later one of the same failure.
    fn and(mut self, next: Self) -> Self {
        self.turns.extend(next.turns);
        self.pasted = self.pasted.or(next.pasted);
        self.statements.extend(next.statements);
        self
    }
}

/// The failure that a turn reports. None if it reports none.
fn parse_report(turn: usize, text: &str, own: &[&str]) -> Option<Report> {
    let pasted = text.lines().map(str::trim).find(|line| is_pasted_error(line, own.contains(line)));
    let statements = own.iter().enumerate().filter(|(_, sentence)| reports_failure(sentence));
    let statements: Vec<String> = statements.map(|(place, said)| with_antecedent(own, place, said)).collect();
    let report = Report { turns: vec![turn], pasted: pasted.map(|line| one_line(line, MAX_TRIGGER_CHARS)), statements };
    (report.pasted.is_some() || !report.statements.is_empty()).then_some(report)
}

/// A sentence, preceded by the one before it if it refers to that one: "but the sidebar does not show that one".
fn with_antecedent(own: &[&str], place: usize, said: &str) -> String {
    static POINTS: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"(?i)^(?:but|and|so)\b|\b(?:it|this|that|they|them|these|those|there)\b").ok());
    let before = place.checked_sub(1).and_then(|before| own.get(before)).filter(|_| matches(&POINTS, said));
    let whole = before.map(|before| format!("{before} {said}"));
    whole.filter(|whole| whole.chars().count() <= MAX_TRIGGER_CHARS).unwrap_or_else(|| said.to_owned())
}

/// True for an error line of a program: `Restore cache failed: no lock file was found`. A line that the user may have typed has to
/// begin like an error.
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

/// True for a sentence that says that something does not work. False for questions, wishes, and remarks about the agent.
fn reports_failure(sentence: &str) -> bool {
    static FAILS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let does = "(?:work|show|load|start|run|open|see|find|appear|compile|build|respond|connect|updat|sav|render|happen|do anything|get|recogni[sz]|pick|accept|detect|print|return|exit|clos|stop|launch|boot|sync|install|trigger|fir|persist|exist|resolv|pass|change anything)\\w*";
        let state = "(?:\\w+ing|found|there|visible|available|detected|recogni[sz]ed|picked|applied|able|reachable|saved|updated|rendered)";
        let not = "(?:n['’]?t| not)";
        Regex::new(&format!(
            r"(?i)\b(?:(?:does|did|ca|could|wo|will|can){not} (?:even |actually |always |really )?{does}|(?:is|are|was|were){not} (?:even |actually |being )?{state})\b|\b(?:nope|still|fails?|failed|failing|crash\w*|broken|hangs?|stuck|not work\w*|no luck|nothing (?:happens|is|in)|no longer|funktioniert nicht|geht nicht|no funciona|ne (?:fonctionne|marche) pas|there(?:['’]s| is| are| was) (?:no|nothing)|(?:got|get|gets|see|shows?) (?:no|nothing)|(?:get(?:s|ting)?|got|ha(?:ve|s|ving)|throw(?:s|ing)?|rais(?:es|ing)|giv(?:es|ing)) (?:an? |this |these |the )?(?:\w+ )?(?:errors?|warnings?|exceptions?))\b|不行|报错|没有反应"
        ))
        .ok()
    });
    static WISHES: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)\b(?:should|shouldn['’]?t|must|please|let['’]?s|make sure|want|need|needs|would|if|your?|you['’]re|you['’]ve)\b|\?\W*$").ok()
    });
    matches(&FAILS, sentence) && !matches(&WISHES, sentence)
}

/// True for a sentence that says that it works now. False with a negation or a restriction.
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

/// True for a sentence that praises the result, or asks to commit or publish it.
fn expresses_approval(sentence: &str) -> bool {
    static CONTENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)^\W*(?:(?:ok|okay|great|nice|cool|good|alright|now|then|and|so|let['’]?s|please|go ahead and|you can|can you)\W+){0,4}(?:git )?(?:commit|push|merge|ship|release|deploy)\b|^\W*(?:great|nice|cool|good)\W*$").ok()
    });
    static BUT: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)n['’]t\b|\b(?:not|no|never|still|but|except|fails?|failed|errors?|why|revert)\b").ok()
    });
    const MAX_WORDS: usize = 12;
    sentence.unicode_words().count() <= MAX_WORDS && matches(&CONTENT, sentence) && !matches(&BUT, sentence)
}

/// The trial of a reported failure that ended at turn `end`. None if nothing was changed or advised.
fn judge(session: &Session<'_>, report: &Report, end: usize, confirmed: Confirmed) -> Option<Trial> {
    let edits: Vec<(usize, &ToolCall)> = session.edits_in(report.first(), end).collect();
    if edits.is_empty() {
        return if confirmed == Confirmed::Yes { judge_advice(session, report, end) } else { None };
    }
    let (first, last) =
        edits.iter().find(|(turn, _)| *turn > report.last()).map(|(turn, _)| *turn).zip(edits.last())?;
    let calls: Vec<&ToolCall> = edits.iter().map(|(_, call)| *call).collect();
    let mut evidence = report.evidence();
    evidence.extend(calls.iter().map(|call| edit_text(call)));
    let said = |to| diagnosis(session, report.last(), to, &evidence);
    let before_edits = said(first);
    let repair = Repair { report, calls: &calls, end, confirmed };
    if !repair.is_confirmed(session, before_edits.as_ref()) {
        return Some(Trial::refused(report.last(), RejectedBecause::NotConfirmed));
    }
    let found = before_edits.or_else(|| said(last.0)).or_else(|| summary_of_changes(session, last.0, end, &evidence));
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

/// The edits after a report.
struct Repair<'r, 't> {
    report: &'r Report,
    calls: &'r [&'t ToolCall],
    /// The turn in which the user says something else, or the end of the session.
    end: usize,
    confirmed: Confirmed,
}

impl Repair<'_, '_> {
    /// True if the user confirms the repair, or goes on after one that the agent explained or that is of settings.
    fn is_confirmed(&self, session: &Session<'_>, said: Option<&Diagnosis>) -> bool {
        let failure = self.report.evidence().to_lowercase();
        let is_explained = said.is_some_and(|said| shares_a_name(&said.text, &failure));
        match self.confirmed {
            Confirmed::Yes => true,
            Confirmed::MovedOn => is_explained,
            Confirmed::No => {
                let next = session.transcript.turns.get(self.end).and_then(Turn::as_user);
                // The user of a pipeline rarely confirms a fix of its settings.
                self.report.pasted.is_some() && are_settings(self.calls) && !next.is_some_and(objects)
            }
        }
    }
}

/// True for a turn that begins by objecting to what was done.
fn objects(text: &str) -> bool {
    static OBJECTS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)^\W*(?:no|nope|nah|wrong|wait|stop|hm+|why|actually|not|revert|undo|don['’]?t|that['’]?s (?:not|wrong)|what['’]?s wrong|still|same|nein|non)\b|\b(?:instead|revert|undo|rather|shouldn['’]?t|should(?:n['’]t| not)? have)\b|^[^.!\n]{0,60}\bwrong\b").ok()
    });
    matches(&OBJECTS, text)
}

/// The trial of a failure that the user fixed by following the agent's advice. None if the agent ran a command that acts.
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

/// The names of the edited files, without tests unless only tests were edited.
fn changed_files(session: &Session<'_>, from: usize, to: usize) -> Vec<String> {
    let all = session.edited_files(from, to);
    let others: Vec<String> = all.iter().filter(|file| !is_test_file(file)).cloned().collect();
    if others.is_empty() { all } else { others }
}

/// The trigger of the lesson: the pasted error, else a sentence that names something of the fix. None without either.
fn trigger(report: &Report, diagnosis: &Diagnosis, files: &[String]) -> Option<String> {
    const MIN_WORDS: usize = 5;
    let evidence = format!("{}\n{}", diagnosis.text, files.join("\n")).to_lowercase();
    let is_clear = |said: &&String| {
        said.unicode_words().count() >= MIN_WORDS
            && said.chars().count() <= MAX_TRIGGER_CHARS
            && shares_a_name(said, &evidence)
    };
    report.pasted.clone().or_else(|| report.statements.iter().find(is_clear).cloned())
}

/// The agent's diagnosis and the changes.
fn solution(
    session: &Session<'_>,
    diagnosis: &Diagnosis,
    edits: &[&ToolCall],
    files: &[String],
    confirmed: Confirmed,
) -> String {
    let project = session.transcript.project.as_str();
    let edits = describe_edits(edits, project).filter(|_| edits.len() <= MAX_BETWEEN);
    let change = edits.unwrap_or_else(|| format!("change {}", listed(files)));
    let end = if confirmed == Confirmed::Yes { "; then it works" } else { "" };
    format!("{} To do so, {change}{end}.", within(&diagnosis.text, project))
}

/// The lesson that the rule suggests. Its topic is the first changed file, else `unknown`.
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
