//! `user-correction`: corrections, rules, facts and preferences that the user typed, each as a candidate with its quote. The likelier
//! that somebody who was not there could act on it, the higher it stands.

mod line;
mod neighbours;
mod quote;
mod subject;
mod topics;

use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};

use adage_redact::one_line;
use adage_transcript::Transcript;
use adage_transcript::command::slug;
use serde::Serialize;
use unicode_segmentation::UnicodeSegmentation;

use super::explicit_instruction;
use super::session::Session;
use super::statement::{Statement, statements};
use super::wording::char_range;
use super::{Author, Candidate, FiredBecause, Heuristic, RejectedBecause, Trial, mined};
use crate::evidence::Shown;
use adage::lesson::{Evidence, build_lesson};
use quote::Quote;
pub(super) use subject::Subject;

/// The minimum probability of a turn that is used at all. Chosen by cross-validation on the labelled turns that the weights are
/// fitted on, for a precision well above 0.6.
const HEARD: f64 = 0.4;
/// The minimum probability of holding beyond the session, for a session to have any candidate. Chosen like [`HEARD`].
const MAY_HOLD: f64 = 0.1;
/// The minimum cosine of the words of two statements that count as one, repeated; specified.
const SAME: f64 = 0.6;
/// The most statements of a session that are considered; of more, those that most likely last.
const MAX_HEARD: usize = 50;
/// The confidence of a statement that surely lasts. Below that of a lesson that the user asked for; chosen.
const MAX_CONFIDENCE: f64 = 0.5;

/// A statement that is likely enough to be used, with its quote.
struct Heard<'t> {
    said: Statement,
    text: &'t str,
    quote: Quote<'t>,
    /// The probability that someone who was not in the session could act on it.
    lasts: f64,
}

pub(super) fn find(session: &Session<'_>) -> Vec<Trial> {
    let (heard, mut trials) = hear(session);
    let repeats = repeats(&heard);
    let shown = LazyCell::new(|| Shown::of(session.transcript));
    let may_hold = heard.iter().any(|heard| heard.said.durable >= MAY_HOLD || heard.quote.is_rule());
    for (number, heard) in heard.iter().enumerate() {
        trials.push(match () {
            () if !may_hold => Trial::refused(heard.said.turn, RejectedBecause::OfTheMoment),
            () if repeats.contains(&number) || !shown.leaves_to_user(&heard.evidence()) => {
                Trial::refused(heard.said.turn, RejectedBecause::SaidBefore)
            }
            () if heard.quote.has_secret() => Trial::refused(heard.said.turn, RejectedBecause::HasSecret),
            () => {
                Trial::fired(heard.said.turn, heard.candidate(session), FiredBecause::Told { probability: heard.lasts })
            }
        });
    }
    trials
}

/// The statements that are likely enough, and a refusal for each other one. Explicit instructions have a rule of their own.
fn hear<'t>(session: &Session<'t>) -> (Vec<Heard<'t>>, Vec<Trial>) {
    let mut trials = Vec::new();
    let mut heard = Vec::new();
    for said in statements(session.transcript) {
        let text = session.transcript.turns.get(said.turn).and_then(|turn| turn.as_user()).unwrap_or_default();
        if explicit_instruction::is_instruction(text) {
            continue;
        }
        if let Some(quote) = (said.probability >= HEARD).then(|| Quote::of(text, &said.sentences)).flatten() {
            let lasts = line::probability(&said, &line::cues(&quote, &said));
            heard.push(Heard { said, text, quote, lasts });
        } else {
            trials.push(Trial::refused(said.turn, RejectedBecause::NotHeard { probability: said.probability }));
        }
    }
    heard.sort_by(|one: &Heard<'_>, other| other.lasts.total_cmp(&one.lasts));
    for left in heard.split_off(MAX_HEARD.min(heard.len())) {
        trials.push(Trial::refused(left.said.turn, RejectedBecause::TooMany { max: MAX_HEARD }));
    }
    heard.sort_by_key(|heard| heard.said.turn);
    (heard, trials)
}

/// The indexes of the statements that repeat an earlier one.
fn repeats(heard: &[Heard<'_>]) -> HashSet<usize> {
    let bags: Vec<HashMap<String, f64>> = heard.iter().map(|heard| bag(heard.quote.text)).collect();
    let mut repeats = HashSet::new();
    for (number, later) in bags.iter().enumerate() {
        let mut earlier = bags.iter().enumerate().take(number).filter(|(earlier, _)| !repeats.contains(earlier));
        if earlier.any(|(_, earlier)| cosine(earlier, later) >= SAME) {
            repeats.insert(number);
        }
    }
    repeats
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
    let line = |said: Statement| {
        let text = transcript.turns.get(said.turn).and_then(|turn| turn.as_user())?;
        let quote = Quote::of(text, &said.sentences)?;
        let cues = line::cues(&quote, &said);
        let lasts = line::probability(&said, &cues);
        Some(StatedLine { turn: said.turn, text: quote.text.to_owned(), lasts, cues })
    };
    statements(transcript).into_iter().filter_map(line).collect()
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
    /// The text of its lesson. The quote in the evidence is unchanged.
    fn lesson_text(&self) -> String {
        one_line(&quote::without_opening(self.quote.text), quote::MAX_CHARS)
    }

    fn evidence(&self) -> Evidence {
        let range = char_range(self.text, self.quote.start, self.quote.start + self.quote.text.len());
        Evidence { quote: self.quote.text.to_owned(), turn: self.said.turn, range }
    }

    fn candidate(&self, session: &Session<'_>) -> Candidate {
        let subject = Subject::of(session, self.said.turn, self.quote.text);
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
            draft: mined(draft, session, self.lasts * MAX_CONFIDENCE, vec![self.evidence()]),
            turns: vec![self.said.turn],
            score: self.lasts,
            author: Author::Person,
        }
    }
}
