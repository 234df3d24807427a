//! `user-correction`: corrections, rules, facts and preferences that the user typed. A rule that surely holds beyond the session
//! becomes a lesson of its own. A line that is useful to someone who was not there is proposed for review. The rest of a session is
//! listed in one item.

mod line;
mod neighbours;
mod picked;
mod quote;
mod subject;
mod topics;

use std::collections::{HashMap, HashSet};

use adage_redact::one_line;
use adage_transcript::Transcript;
use adage_transcript::command::slug;
use serde::Serialize;
use unicode_segmentation::UnicodeSegmentation;

use super::explicit_instruction;
use super::session::Session;
use super::statement::{Statement, read_statements};
use super::wording::char_range;
use super::{Author, Candidate, FiredBecause, Heuristic, RejectedBecause, Trial, mined};
use crate::capture::pasted::Typed;
use crate::lesson::{Evidence, also_said_item, build_lesson};
pub(crate) use picked::picked_lesson;
use quote::Quote;
pub(super) use subject::Subject;

/// The minimum probability of a turn that is used at all. Chosen by cross-validation on the labelled turns that the weights are
/// fitted on, for a precision well above 0.6.
const HEARD: f64 = 0.4;
/// The minimum probability of a rule that is learned without review; specified.
const SURE: f64 = 0.8;
/// The minimum probability of holding beyond the session, for a rule that is learned without review. Chosen on labelled turns.
const HOLDS: f64 = 0.5;
/// The minimum probability of holding beyond the session, for a session to have an item for review. A sentence worded as a rule
/// always suffices. Chosen like [`HEARD`].
const MAY_HOLD: f64 = 0.1;
/// The minimum cosine of the words of two statements that count as one, repeated; specified.
const SAME: f64 = 0.6;
/// The most statements of a session that are compared with each other; of more, the last ones.
const MAX_COMPARED: usize = 400;
/// The minimum probability of a line that is proposed as a lesson. Chosen by cross-validation on lines that readers judged, for a
/// precision above 0.6.
const PROPOSED: f64 = 0.6;
/// The most lines of a session that are proposed; of more, the likeliest.
const MAX_PROPOSED: usize = 5;
/// The most quotes in the item of a session; of more, the likeliest.
const MAX_GATHERED: usize = 15;
/// The confidence of what awaits review: less than a lesson needs to be admitted without it.
const UNSURE_CONFIDENCE: f64 = 0.3;

/// A statement that is likely enough to be used, with its quote.
struct Heard<'t> {
    said: Statement,
    text: &'t str,
    quote: Quote<'t>,
    /// The probability that someone who was not in the session could act on it.
    lasts: f64,
    /// The number of turns that say it; an earlier session counts as one.
    times: usize,
    /// True if it was said in an earlier session.
    is_old: bool,
}

/// `earlier` has the quotes of other sessions.
pub(super) fn find(session: &Session<'_>, first_untrusted: Option<usize>, earlier: &[&str]) -> Vec<Trial> {
    let (mut heard, mut trials) = hear(session);
    let repeats = count_repeats(&mut heard);
    mark_old(&mut heard, earlier);
    let (sure, unsure): (Vec<_>, Vec<_>) = heard.iter().enumerate().partition(|(_, heard)| heard.is_sure());
    for (number, heard) in sure {
        if repeats.contains(&number) {
            trials.push(Trial::refused(heard.said.turn, RejectedBecause::SaidBefore));
            continue;
        }
        let because = FiredBecause::Told { probability: heard.said.probability, times: heard.times };
        trials.push(Trial::fired(heard.said.turn, heard.learned(session, first_untrusted), because));
    }
    let is_candidate = |(number, heard): &(usize, &Heard<'_>)| heard.is_proposed() && !repeats.contains(number);
    let (mut proposed, rest): (Vec<_>, Vec<_>) = unsure.into_iter().partition(is_candidate);
    // Stable: of equals the earliest.
    proposed.sort_by(|(_, a), (_, b)| b.lasts.total_cmp(&a.lasts));
    let too_many = proposed.split_off(proposed.len().min(MAX_PROPOSED));
    for (_, heard) in &proposed {
        let because = FiredBecause::Proposed { probability: heard.lasts };
        trials.push(Trial::fired(heard.said.turn, heard.proposed(session, first_untrusted), because));
    }
    let rest = rest.into_iter().chain(too_many).map(|(_, heard)| heard).collect();
    trials.extend(list(session, first_untrusted, rest, !proposed.is_empty()));
    trials
}

/// The statements that are likely enough, and a refusal for each other one. Explicit instructions have a rule of their own.
fn hear<'t>(session: &Session<'t>) -> (Vec<Heard<'t>>, Vec<Trial>) {
    let mut trials = Vec::new();
    let mut heard = Vec::new();
    for said in read_statements(session.transcript, &session.typed) {
        let text = session.transcript.turns.get(said.turn).and_then(|turn| turn.as_user()).unwrap_or_default();
        if explicit_instruction::is_instruction(session, said.turn, text) {
            continue;
        }
        if let Some(quote) = (said.probability >= HEARD).then(|| Quote::of(text, &said.sentences)).flatten() {
            let lasts = line::probability(&said, &line::cues(&quote, &said));
            heard.push(Heard { said, text, quote, lasts, times: 1, is_old: false });
        } else {
            trials.push(Trial::refused(said.turn, RejectedBecause::NotHeard { probability: said.probability }));
        }
    }
    (heard, trials)
}

/// Counts how often each statement is said. Returns the indexes of those that repeat an earlier one.
fn count_repeats(heard: &mut [Heard<'_>]) -> HashSet<usize> {
    let from = heard.len().saturating_sub(MAX_COMPARED);
    let bags: Vec<HashMap<String, f64>> = heard.iter().map(|heard| bag(heard.quote.text)).collect();
    let mut repeats = HashSet::new();
    for later in from..heard.len() {
        let earlier = (from..later).find(|earlier| {
            let pair = bags.get(*earlier).zip(bags.get(later));
            !repeats.contains(earlier) && pair.is_some_and(|(a, b)| cosine(a, b) >= SAME)
        });
        let Some(earlier) = earlier else { continue };
        repeats.insert(later);
        if let Some(first) = heard.get_mut(earlier) {
            first.times += 1;
        }
        if let Some(again) = heard.get_mut(later) {
            again.times += 1;
        }
    }
    repeats
}

/// Marks statements that were also made in an earlier session.
fn mark_old(heard: &mut [Heard<'_>], earlier: &[&str]) {
    let earlier: Vec<HashMap<String, f64>> = earlier.iter().map(|text| bag(text)).collect();
    let from = heard.len().saturating_sub(MAX_COMPARED);
    for heard in heard.iter_mut().skip(from) {
        let own = bag(heard.quote.text);
        heard.is_old = earlier.iter().any(|other| cosine(&own, other) >= SAME);
        heard.times += usize::from(heard.is_old);
    }
}

/// The most telling sentence of a turn that a person typed, with the neighbouring sentences that it needs to be understood.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StatedLine {
    /// The turn, from 0.
    pub turn: usize,
    /// The words, verbatim.
    pub text: String,
    /// The probability that someone who was not in the session could act on it; from 0 to 1.
    pub lasts: f64,
    /// The cues of the line behind the probability, sorted.
    pub cues: Vec<String>,
}

/// The line of each turn that a person typed, in order, whatever its probability.
#[must_use]
pub fn stated_lines(transcript: &Transcript) -> Vec<StatedLine> {
    let statements = read_statements(transcript, &Typed::of(transcript));
    let line = |said: Statement| {
        let text = transcript.turns.get(said.turn).and_then(|turn| turn.as_user())?;
        let quote = Quote::of(text, &said.sentences)?;
        let cues = line::cues(&quote, &said);
        let lasts = line::probability(&said, &cues);
        Some(StatedLine { turn: said.turn, text: quote.text.to_owned(), lasts, cues })
    };
    statements.into_iter().filter_map(line).collect()
}

/// The number of occurrences of each word of more than two letters.
fn bag(text: &str) -> HashMap<String, f64> {
    let mut bag = HashMap::new();
    for word in text.to_lowercase().unicode_words().filter(|word| word.chars().count() > 2 || !word.is_ascii()) {
        *bag.entry(word.to_owned()).or_default() += 1.0;
    }
    bag
}

fn cosine(a: &HashMap<String, f64>, b: &HashMap<String, f64>) -> f64 {
    /// Texts with fewer different words are not compared.
    const MIN_WORDS: usize = 3;
    if a.len() < MIN_WORDS || b.len() < MIN_WORDS {
        return 0.0;
    }
    let dot: f64 = a.iter().filter_map(|(word, n)| Some(n * b.get(word)?)).sum();
    let norm = |bag: &HashMap<String, f64>| bag.values().map(|n| n * n).sum::<f64>().sqrt();
    dot / (norm(a) * norm(b))
}

impl Heard<'_> {
    /// True if it may be learned without review: a rule that can be understood alone, and is either repeated, or surely a rule and
    /// worded as a standing order; also a statement of several sessions, unless it is about the moment. *Measured*: of unseen rules
    /// that were as sure, but not worded as a standing order, 4 of 11 held beyond their session.
    fn is_sure(&self) -> bool {
        let is_meant = self.said.probability >= SURE && self.said.durable >= HOLDS && self.quote.is_standing_order();
        let is_rule = self.quote.is_rule() && self.quote.is_brief() && (is_meant || self.times > 1);
        self.quote.stands_alone() && (is_rule || (self.is_old && self.quote.may_last()))
    }

    /// What it is about. Names that the agent chose are used only if it had read nothing untrusted before.
    fn subject(&self, session: &Session<'_>, first_untrusted: Option<usize>) -> Subject {
        let is_clean = first_untrusted.is_none_or(|first| self.said.turn <= first);
        Subject::of(session, self.said.turn, self.quote.text, is_clean)
    }

    /// The text of its lesson. The quote in the evidence is unchanged.
    fn lesson_text(&self) -> String {
        one_line(&quote::without_opening(self.quote.text), quote::MAX_CHARS)
    }

    /// The text, followed by what was being done if it cannot be understood alone.
    fn in_context(&self, session: &Session<'_>, first_untrusted: Option<usize>) -> String {
        if self.quote.stands_alone() {
            return self.lesson_text();
        }
        let doing = self.subject(session, first_untrusted).doing;
        doing.map_or_else(|| self.lesson_text(), |doing| format!("{} ({doing})", self.lesson_text()))
    }

    fn evidence(&self) -> Evidence {
        let range = char_range(self.text, self.quote.start, self.quote.start + self.quote.text.len());
        Evidence { quote: self.quote.text.to_owned(), turn: self.said.turn, range }
    }

    /// True for a line that is proposed for review: it can be understood alone, and is likely useful beyond the session.
    fn is_proposed(&self) -> bool {
        self.lasts >= PROPOSED && self.quote.stands_alone() && self.quote.may_last()
    }

    /// A lesson that is learned without review.
    fn learned(&self, session: &Session<'_>, first_untrusted: Option<usize>) -> Candidate {
        // A probability of 0.8 is the confidence of a rule of another kind; a repetition is no less.
        let score = self.said.probability + f64::from(u8::from(self.times > 1));
        Candidate { score, ..self.candidate(session, first_untrusted, self.said.probability.max(0.6)) }
    }

    /// A lesson of its own that awaits review.
    fn proposed(&self, session: &Session<'_>, first_untrusted: Option<usize>) -> Candidate {
        // Below every lesson that is learned, above the item.
        Candidate { score: self.lasts / 2.0, ..self.candidate(session, first_untrusted, UNSURE_CONFIDENCE) }
    }

    fn candidate(&self, session: &Session<'_>, first_untrusted: Option<usize>, confidence: f64) -> Candidate {
        let subject = self.subject(session, first_untrusted);
        let mut draft = build_lesson(subject.trigger, self.lesson_text());
        let task = session.intent(self.said.turn);
        if !task.is_empty() {
            draft = draft.task(task);
        }
        if !subject.paths.is_empty() {
            draft = draft.paths(subject.paths);
        }
        if !subject.commands.is_empty() {
            draft = draft.commands(subject.commands);
        }
        if !subject.topic.is_empty() {
            draft = draft.domains([subject.topic.clone()]);
        }
        let topic = if subject.topic.is_empty() { "rule" } else { &subject.topic };
        Candidate {
            heuristic: Heuristic::UserCorrection,
            name: format!("user-correction-{}", slug(topic)),
            draft: mined(draft, session, confidence, vec![self.evidence()]),
            turns: vec![self.said.turn],
            score: 0.0,
            author: Author::Person,
        }
    }
}

/// One item with all other statements, numbered; those that may hold beyond the session come first. None of them is learned unless a
/// person picks it. There is no item if nothing is proposed and all statements are about the moment.
fn list(
    session: &Session<'_>,
    first_untrusted: Option<usize>,
    mut heard: Vec<&Heard<'_>>,
    has_proposed: bool,
) -> Vec<Trial> {
    heard.retain(|heard| !heard.quote.has_secret());
    heard.sort_by(|a, b| b.said.durable.total_cmp(&a.said.durable));
    heard.truncate(MAX_GATHERED);
    let may_hold = |heard: &&Heard<'_>| heard.said.durable >= MAY_HOLD || heard.quote.is_rule();
    if !has_proposed && !heard.iter().any(may_hold) {
        let of_now = |heard: &&Heard<'_>| Trial::refused(heard.said.turn, RejectedBecause::OfTheMoment);
        return heard.iter().map(of_now).collect();
    }
    let (lasting, of_now): (Vec<&Heard<'_>>, Vec<&Heard<'_>>) = heard.iter().copied().partition(may_hold);
    heard = lasting.into_iter().chain(of_now).collect();
    let Some(first) = heard.first() else { return Vec::new() };
    let texts = heard.iter().map(|heard| heard.in_context(session, first_untrusted));
    let lasting = session.user_turns().find_map(|(_, text)| super::request::lasting(text));
    let during = lasting.map(str::to_owned).or_else(|| first.subject(session, first_untrusted).doing);
    let trigger =
        during.map_or_else(|| "also said".to_owned(), |during| one_line(&format!("also said during: {during}"), 160));
    let draft = also_said_item(&trigger, &texts.collect::<Vec<_>>());
    let evidence: Vec<Evidence> = heard.iter().map(|heard| heard.evidence()).collect();
    let mut turns: Vec<usize> = heard.iter().map(|heard| heard.said.turn).collect();
    turns.sort_unstable();
    let candidate = Candidate {
        heuristic: Heuristic::UserCorrection,
        name: "user-statements".to_owned(),
        draft: mined(draft, session, UNSURE_CONFIDENCE, evidence),
        turns,
        // Below every lesson of its own.
        score: 0.0,
        author: Author::Person,
    };
    vec![Trial::fired(first.said.turn, candidate, FiredBecause::Gathered { n_quotes: heard.len() })]
}
