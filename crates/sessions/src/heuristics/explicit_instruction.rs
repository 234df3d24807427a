//! `explicit-instruction`: the user asks the agent to remember something.

use std::sync::LazyLock;

use adage_redact::one_line;
use adage_transcript::command::slug;
use regex::Regex;
use unicode_segmentation::UnicodeSegmentation;

use super::session::{Session, TerminalCall};
use super::user_correction::Subject;
use super::wording::{Sentence, char_range, pattern, sentences};
use super::{Author, Candidate, FiredBecause, Heuristic, Instruction, Trial, mined};
use adage::lesson::{Evidence, build_lesson};

/// The maximum number of commands in a lesson. The last ones are kept.
const MAX_COMMANDS: usize = 8;
/// The maximum length of the user's words in a lesson, in characters.
const MAX_WORDS_CHARS: usize = 400;
/// The initial confidence, above that of other mined lessons because the user asked for it.
const CONFIDENCE: f64 = 0.6;

/// The pattern of an instruction, at the beginning of a sentence or clause, or after words such as "please".
const INSTRUCTION: &str = r"(?ix)
    (?: ^ | [,;:.!—–-]\s* | \b(?: please | and | also | now | then | you | let'?s | ok(?:ay)? | so | just | to | i\s+want\s+to )\s+ )
    (?: save \s+ (?: this | that | it ) \b
      | (?: add | make | create ) \s+ (?: a \s+ | an \s+ | the \s+ | this \s+ (?: as \s+ )? (?: a \s+ )? )? (?: new \s+ )? skill \b
      | save \s+ as \s+ (?: a \s+ )? skill \b
      | remember (?: \s+ (?: this | that | to | not | never | always ) \b | \s* [:,] )
      | keep \s+ in \s+ mind \b
      | (?: make \s+ a \s+ )? note \s+ (?: for \s+ next \s+ time | for \s+ the \s+ future | for \s+ later ) \b
      | (?: from \s+ now \s+ on | going \s+ forward | for \s+ (?: next \s+ time | future \s+ reference ) ) \b
      | merk (?: e? \s+ dir ) \b | denk \s+ (?: daran | dran ) \b | ab \s+ (?: jetzt | sofort ) \b
      | recuerda \s+ que \b | a \s+ partir \s+ de \s+ ahora \b | de \s+ ahora \s+ en \s+ adelante \b
      | 记住 | 从现在开始 | 以后都 )";

/// True for a turn that consists of one line for the agent's memory in the form of Claude Code: `# always use tabs`.
fn is_memory_line(text: &str) -> bool {
    let text = text.trim();
    let words = text.strip_prefix("# ").unwrap_or_default();
    !text.contains('\n') && words.split_whitespace().count() >= 3
}

/// True for a turn that asks the agent to remember something.
pub(super) fn is_instruction(text: &str) -> bool {
    place(text, &sentences(text)).is_some()
}

/// The index of the sentence that asks, and the byte at which the request begins in it. None if no sentence asks.
fn place(text: &str, sentences: &[Sentence<'_>]) -> Option<(usize, usize)> {
    if text.trim_start().starts_with(['/', '<']) {
        return None;
    }
    if is_memory_line(text) {
        return Some((0, 0)).filter(|_| !sentences.is_empty());
    }
    let instruction = &*INSTRUCTIONS;
    let found =
        sentences.iter().enumerate().filter(|(_, sentence)| !sentence.text.ends_with('?') || asks_for_skill(sentence));
    let mut found = found.filter_map(|(number, sentence)| Some((number, instruction.find(sentence.text)?.start())));
    found.next()
}

/// True for a sentence about a skill, which is a request even as a question: "Can you add a skill for that?".
fn asks_for_skill(sentence: &Sentence<'_>) -> bool {
    sentence.text.to_lowercase().contains("skill")
}

/// The pattern of the lesson's name, as in "save this as docker-dev".
const NAME: &str = r#"(?ix) \b (?: as | about | named | called ) \s+ (?: (?: a | an | the | this | new | skill | called | named | about | for ) \s+ )* ["'`“]? ([\p{L}\p{N}][\p{L}\p{N}_.-]* (?: \s+ [\p{L}\p{N}][\p{L}\p{N}_-]* ){0,3})"#;

static INSTRUCTIONS: LazyLock<Regex> = LazyLock::new(|| pattern(INSTRUCTION));
static NAMES: LazyLock<Regex> = LazyLock::new(|| pattern(NAME));

/// A trial for each user turn that asks the agent to remember something.
pub(super) fn find(session: &Session<'_>) -> Vec<Trial> {
    session.user_turns().filter_map(|(turn, text)| judge(session, turn, text)).collect()
}

impl Instruction {
    /// A rule in words is worth more than a pointer.
    fn score(self) -> f64 {
        match self {
            Self::Rule => 1.0,
            Self::Pointer => 0.9,
        }
    }
}

/// A request to remember something, and what it is about.
struct Asked<'s, 't> {
    turn: usize,
    kind: Instruction,
    /// The name that it gives the lesson, as a slug.
    named: Option<String>,
    /// The user's words, without those that ask.
    words: String,
    /// What the words are about.
    about: Subject,
    /// What was run around a pointer.
    commands: Vec<&'s TerminalCall<'t>>,
}

/// The lesson of one user turn. None if it is not an instruction.
fn judge(session: &Session<'_>, turn: usize, text: &str) -> Option<Trial> {
    let sentences = sentences(text);
    let (place, start) = place(text, &sentences)?;
    let sentence = sentences.get(place)?;
    let named = lesson_name(sentence.text.get(start..)?);
    // What is to be kept may follow: "remember this: …".
    let rest: Vec<&str> = sentences.iter().skip(place).map(|sentence| sentence.text).collect();
    let rest = rest.join(" ");
    let words = one_line(without_request(&rest), MAX_WORDS_CHARS);
    let kind = kind_of(&rest, &words);
    let commands = match kind {
        // A rule in words has nothing to do with what was run around it.
        Instruction::Rule => Vec::new(),
        Instruction::Pointer => surrounding(session, turn),
    };
    let about = Subject::of_words(&words);
    let range = char_range(text, sentence.start, sentence.end());
    let evidence = Evidence { quote: sentence.text.to_owned(), turn, range };
    let asked = Asked { turn, kind, named, words, about, commands };
    let reason = FiredBecause::Instructed { kind, n_commands: asked.commands.len() };
    Some(Trial::fired(turn, asked.into_candidate(session, evidence), reason))
}

impl Asked<'_, '_> {
    fn into_candidate(self, session: &Session<'_>, evidence: Evidence) -> Candidate {
        let (trigger, solution, topic) = (self.trigger(session), self.solution(), self.topic());
        let author = if self.commands.is_empty() { Author::Person } else { Author::Agent };
        let earlier = self.commands.iter().map(|call| call.turn).filter(|other| *other < self.turn);
        let turns = earlier.chain([self.turn]).collect();
        let mut draft = build_lesson(trigger, solution).domains([topic.clone()]);
        if self.names_files_or_programs() {
            draft = draft.paths(self.about.paths).commands(self.about.commands);
        }
        Candidate {
            heuristic: Heuristic::ExplicitInstruction,
            name: self.named.unwrap_or_else(|| slug(&topic)),
            draft: mined(draft, session, CONFIDENCE, vec![evidence]),
            turns,
            score: self.kind.score(),
            author,
        }
    }

    fn topic(&self) -> String {
        self.commands.first().map_or_else(|| self.about.name(&self.words), |call| call.line.topic())
    }

    fn names_files_or_programs(&self) -> bool {
        !self.about.paths.is_empty() || !self.about.commands.is_empty()
    }

    fn trigger(&self, session: &Session<'_>) -> String {
        let named = self.named.as_ref().map(|name| name.replace('-', " "));
        // Files and programs that the words name say more than what was run around them.
        if named.is_none() && (self.commands.is_empty() || self.names_files_or_programs()) {
            return self.about.trigger.clone();
        }
        let subject = named.unwrap_or_else(|| self.topic());
        let intent = if self.commands.is_empty() { String::new() } else { session.intent(self.turn) };
        if intent.is_empty() { subject } else { format!("{subject}: {intent}") }
    }

    /// The user's words, and the commands as numbered steps.
    fn solution(&self) -> String {
        let steps = self.commands.iter().zip(1..).map(|(call, number)| format!("{number}. `{}`", call.line.text()));
        std::iter::once(self.words.clone()).chain(steps).collect::<Vec<_>>().join("\n")
    }
}

/// A rule without the words that ask to remember it: "Remember: use tabs" is the rule "Use tabs".
fn without_request(text: &str) -> &str {
    const OPENINGS: [&str; 9] = [
        "remember this:",
        "remember that:",
        "remember:",
        "keep in mind:",
        "note for next time:",
        "note for the future:",
        "for next time:",
        "for future reference:",
        "# ",
    ];
    let text = text.trim_start();
    let opening = OPENINGS
        .iter()
        .find(|opening| text.get(..opening.len()).is_some_and(|start| start.eq_ignore_ascii_case(opening)));
    opening.and_then(|opening| text.get(opening.len()..)).map_or(text, str::trim_start)
}

/// A rule, if the words say what is to be kept. "Save this" and "add a skill for that" mean what was done.
fn kind_of(asked: &str, words: &str) -> Instruction {
    /// Of a request that is nothing but a pointer there are at most so many words: "remember this for next time please".
    const MAX_POINTER_WORDS: usize = 6;
    let lower = asked.to_lowercase();
    let is_pointer = words.unicode_words().count() <= MAX_POINTER_WORDS && points_back(&lower);
    let saves = lower.unicode_words().any(|word| matches!(word, "save" | "skill"));
    let is_rule = (words.len() < asked.trim().len() || !is_pointer) && (!saves || asked.contains(':'));
    if is_rule { Instruction::Rule } else { Instruction::Pointer }
}

/// True if what is to be remembered is only pointed at.
fn points_back(lower: &str) -> bool {
    let mut words = lower.unicode_words();
    let object = words.by_ref().skip_while(|word| !matches!(*word, "this" | "that" | "it" | "so")).nth(1);
    object.is_none_or(|next| matches!(next, "for" | "please" | "as" | "too" | "later" | "next" | "way"))
        && lower.unicode_words().any(|word| matches!(word, "this" | "that" | "it" | "so"))
}

/// Words that may follow "as" or "about" without being a name.
const NO_NAMES: [&str; 12] =
    ["skill", "a", "unknown", "well", "this", "that", "it", "please", "so", "for", "and", "is"];

/// A name without the words that follow it: `docker-dev` for `docker-dev please`.
fn trim_name(name: &str) -> &str {
    const TAIL: [&str; 8] = ["please", "so", "for", "and", "skill", "that", "which", "when"];
    let end = TAIL.iter().filter_map(|word| name.to_lowercase().find(&format!(" {word}"))).min();
    end.and_then(|end| name.get(..end)).unwrap_or(name)
}

/// The name that an instruction gives the lesson, as a slug. None if it gives no name.
fn lesson_name(instruction: &str) -> Option<String> {
    let name = NAMES.captures(instruction)?.get(1)?;
    Some(slug(trim_name(name.as_str()))).filter(|name| !NO_NAMES.contains(&name.as_str()))
}

/// The successful commands since the previous user turn, else those up to the next one. Scripts are left out.
fn surrounding<'s, 't>(session: &'s Session<'t>, turn: usize) -> Vec<&'s TerminalCall<'t>> {
    let within = |from: usize, to: usize| {
        let first = session.calls.partition_point(|call| call.turn < from);
        let calls = session.calls.iter().skip(first).take_while(move |call| call.turn < to);
        calls.filter(|call| call.succeeded() && call.acts() && !call.is_script()).collect::<Vec<_>>()
    };
    let before = within(session.user_turn_before(turn).unwrap_or(0), turn);
    let calls = if before.is_empty() { within(turn, session.user_turn_after(turn)) } else { before };
    let n_left_out = calls.len().saturating_sub(MAX_COMMANDS);
    calls.into_iter().skip(n_left_out).collect()
}
