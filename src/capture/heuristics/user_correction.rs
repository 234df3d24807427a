//! `user-correction`: what the user tells the agent. A rule that is surely meant to last becomes a lesson of its own, and so does,
//! for review, a line that somebody who was not there could act on; the rest of a session is listed in one item.

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

/// From here on a turn is taken to tell the agent something. Chosen by cross-validation on the labelled turns that weights are
/// fitted on: the precision is to be well above 0.6.
const HEARD: f64 = 0.4;
/// From here on a rule is learned without review; specified.
const SURE: f64 = 0.8;
/// From here on it is taken to hold beyond the session, where it is to be learned without review. Chosen on labelled turns.
const HOLDS: f64 = 0.5;
/// From here on it may hold, and is a line of what awaits review; what is worded as a rule always is. Chosen like [`HEARD`].
const MAY_HOLD: f64 = 0.1;
/// Two statements that are so similar are one that is repeated; specified.
const SAME: f64 = 0.6;
/// Statements of a session that are compared with each other; of more, the last ones.
const MAX_COMPARED: usize = 400;
/// From here on a line is proposed as a lesson. Chosen by cross-validation on lines that readers judged: of those proposed more than
/// 0.6 are to be right.
const PROPOSED: f64 = 0.6;
/// Lines of a session that are proposed; of more, the likeliest.
const MAX_PROPOSED: usize = 5;
/// Quotes of a session that await review together; of more, the likeliest.
const MAX_GATHERED: usize = 15;
/// Below what a lesson needs to be let in without review.
const UNSURE_CONFIDENCE: f64 = 0.3;

/// A statement that is heard.
struct Heard<'t> {
    said: Statement,
    text: &'t str,
    quote: Quote<'t>,
    /// The probability that somebody who was not there could act on it.
    lasts: f64,
    /// In how many turns it is said.
    times: usize,
    /// True when it was said in an earlier session.
    is_old: bool,
}

/// `earlier`: what was heard in other sessions.
pub(super) fn find(session: &Session<'_>, first_untrusted: Option<usize>, earlier: &[&str]) -> Vec<Trial> {
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
    let repeats = count_repeats(&mut heard);
    find_again(&mut heard, earlier);
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

/// Counts how often each statement is said. The statements that an earlier one says as well, by their place.
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

/// Marks what was said in an earlier session too.
fn find_again(heard: &mut [Heard<'_>], earlier: &[&str]) {
    let earlier: Vec<HashMap<String, f64>> = earlier.iter().map(|text| bag(text)).collect();
    let from = heard.len().saturating_sub(MAX_COMPARED);
    for heard in heard.iter_mut().skip(from) {
        let own = bag(heard.quote.text);
        heard.is_old = earlier.iter().any(|other| cosine(&own, other) >= SAME);
        heard.times += usize::from(heard.is_old);
    }
}

/// A line of what a person said: the sentence that a turn tells most by, with those beside it that it needs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct StatedLine {
    /// The turn, from 0.
    pub turn: usize,
    /// The words, verbatim.
    pub text: String,
    /// The probability that somebody who was not in the session could act on it; from 0 to 1.
    pub lasts: f64,
    /// What the probability is made of beside what the turn tells, sorted.
    pub cues: Vec<String>,
}

/// The line of each turn that a person typed, in order, whether or not the turn is heard.
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

/// How often each word of more than two letters comes.
fn bag(text: &str) -> HashMap<String, f64> {
    let mut bag = HashMap::new();
    for word in text.to_lowercase().unicode_words().filter(|word| word.chars().count() > 2 || !word.is_ascii()) {
        *bag.entry(word.to_owned()).or_default() += 1.0;
    }
    bag
}

fn cosine(a: &HashMap<String, f64>, b: &HashMap<String, f64>) -> f64 {
    /// Fewer different words say too little to be compared.
    const MIN_WORDS: usize = 3;
    if a.len() < MIN_WORDS || b.len() < MIN_WORDS {
        return 0.0;
    }
    let dot: f64 = a.iter().filter_map(|(word, n)| Some(n * b.get(word)?)).sum();
    let norm = |bag: &HashMap<String, f64>| bag.values().map(|n| n * n).sum::<f64>().sqrt();
    dot / (norm(a) * norm(b))
}

impl Heard<'_> {
    /// True when it may be learned without review: a rule that is understood alone, and said again, or surely meant and ordered
    /// from now on; also what is said in session after session, unless it is about the moment. Of unseen rules that were as
    /// surely meant, but worded otherwise, 4 of 11 held beyond their session.
    fn is_sure(&self) -> bool {
        let is_meant = self.said.probability >= SURE && self.said.durable >= HOLDS && self.quote.is_standing_order();
        let is_rule = self.quote.is_rule() && self.quote.is_brief() && (is_meant || self.times > 1);
        self.quote.stands_alone() && (is_rule || (self.is_old && self.quote.may_last()))
    }

    /// What it is about. Names that the agent chose are used only where nothing foreign was read before.
    fn subject(&self, session: &Session<'_>, first_untrusted: Option<usize>) -> Subject {
        let is_clean = first_untrusted.is_none_or(|first| self.said.turn <= first);
        Subject::of(session, self.said.turn, self.quote.text, is_clean)
    }

    /// What a lesson says of it. The quote stays what was typed.
    fn told(&self) -> String {
        one_line(&quote::without_opening(self.quote.text), quote::MAX_CHARS)
    }

    /// The quote, and what was being done where it needs that to be understood.
    fn in_context(&self, session: &Session<'_>, first_untrusted: Option<usize>) -> String {
        if self.quote.stands_alone() {
            return self.told();
        }
        let doing = self.subject(session, first_untrusted).doing;
        doing.map_or_else(|| self.told(), |doing| format!("{} ({doing})", self.told()))
    }

    fn evidence(&self) -> Evidence {
        let range = char_range(self.text, self.quote.start, self.quote.start + self.quote.text.len());
        Evidence { quote: self.quote.text.to_owned(), turn: self.said.turn, range }
    }

    /// True for a line that a reviewer is to be asked about: it is understood alone, and likely of use beyond the session.
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
        let mut draft = build_lesson(subject.trigger, self.told());
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

/// One item of all else that was heard, numbered, what may hold beyond the session first. Nothing of it is learned unless a person
/// picks it. No item where nothing is proposed and all is of the moment.
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
