//! The merge guard: differences that make near lessons distinct, such as conflicting values, opposite polarity or another order
//! (docs/spec/playbook.md, 3.3).
//!
//! ```
//! use adage::{LearnOutcome, Playbook, build_lesson};
//!
//! # let folder = tempfile::tempdir()?;
//! let playbook = Playbook::builder(folder.path()).without_embedder().open()?;
//! playbook.learn_lesson(build_lesson("pinning numpy", "Pin numpy below 2.0."))?;
//! let outcome = playbook.learn_lesson(build_lesson("pinning numpy", "Pin numpy above 2.0."))?;
//! let LearnOutcome::Distinct { why, .. } = outcome else { panic!("{outcome}") };
//! println!("{why}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod agreement;
mod conflict;
mod direction;
mod exchange;
mod forms;
mod order;
mod polarity;
mod token;

use std::collections::BTreeSet;

use serde::Serialize;

use crate::lesson::Lesson;
use crate::lexical::{is_telling, stem, terms};
pub(crate) use agreement::agreement;
pub(crate) use conflict::contradicts;
use exchange::Pair;
pub use token::Kind as ValueKind;
use token::{Kind, Token, first_sentence, tokens};

/// A field of a lesson.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Field {
    /// The situation.
    #[error("trigger")]
    Trigger,
    /// What not to do.
    #[error("anti-pattern")]
    AntiPattern,
    /// What to do.
    #[error("correct pattern")]
    CorrectPattern,
    /// The task, if it differs from the situation.
    #[error("task")]
    Task,
    /// The mistake, if it differs from what not to do.
    #[error("mistake")]
    Mistake,
    /// The solution, if it differs from what to do.
    #[error("solution")]
    Solution,
    /// The code example.
    #[error("code")]
    Code,
}

impl Field {
    const ALL: [Self; 7] =
        [Self::Trigger, Self::AntiPattern, Self::CorrectPattern, Self::Task, Self::Mistake, Self::Solution, Self::Code];

    fn of(self, lesson: &Lesson) -> &str {
        match self {
            Self::Trigger => &lesson.trigger,
            Self::AntiPattern => &lesson.anti_pattern,
            Self::CorrectPattern => &lesson.correct_pattern,
            Self::Task => &lesson.task,
            Self::Mistake => &lesson.mistake,
            Self::Solution => &lesson.solution,
            Self::Code => &lesson.code_example,
        }
    }

    /// True if the field differs from the one that it is a copy of by default.
    fn adds_to(self, lesson: &Lesson) -> bool {
        let copied = match self {
            Self::Task => Self::Trigger,
            Self::Mistake => Self::AntiPattern,
            Self::Solution => Self::CorrectPattern,
            _ => return true,
        };
        self.of(lesson) != copied.of(lesson)
    }
}

/// How two lessons differ, with the content of each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case", tag = "difference")]
pub enum Difference {
    /// Different values in the same position.
    #[error("another {kind} in the {field}: {ours} against {theirs}")]
    Value {
        /// Where.
        field: Field,
        /// The kind of value.
        kind: Kind,
        /// The content of this lesson.
        ours: String,
        /// The content of the other lesson.
        theirs: String,
    },
    /// Opposites: always and never, before and after, do and do not.
    #[error("the opposite in the {field}: {} against {}", said(ours, "no negation"), said(theirs, "no negation"))]
    Polarity {
        /// Where.
        field: Field,
        /// The content of this lesson; empty if only the other one has a negation.
        ours: String,
        /// The content of the other lesson; empty if only this one has a negation.
        theirs: String,
    },
    /// One or a few different words in texts that are otherwise equal.
    #[error("exchanged in the {field}: {} against {}", said(ours, "nothing"), said(theirs, "nothing"))]
    Exchange {
        /// Where.
        field: Field,
        /// The content of this lesson; empty if only the other one has content there.
        ours: String,
        /// The content of the other lesson; empty if only this one has content there.
        theirs: String,
    },
    /// Different mistakes, and different advice.
    #[error("another mistake, and other advice")]
    Mistake,
    /// One lesson retracts the advice of the other in the same situation.
    #[error("it contradicts that one")]
    Contradiction,
    /// The same words in another order.
    #[error("the same words in another order in the {field}")]
    Order {
        /// Where.
        field: Field,
    },
    /// Short texts about different subjects: they have too few words for one to be a rewording.
    #[error("another subject: {ours} against {theirs}")]
    Subject {
        /// The subject of this lesson only.
        ours: String,
        /// The subject of the other lesson only.
        theirs: String,
    },
    /// A short text with a condition that the other text lacks.
    #[error("only one of them has the condition: {condition} …")]
    Scope {
        /// The word that begins the condition.
        condition: String,
    },
}

/// A word, or a placeholder if a lesson has none.
fn said<'a>(word: &'a str, none: &'static str) -> &'a str {
    if word.is_empty() { none } else { word }
}

/// The first difference that makes two lessons distinct; `None` if they may be merged.
pub(crate) fn difference(ours: &Lesson, theirs: &Lesson) -> Option<Difference> {
    let told = |field: &Field| field.adds_to(ours) || field.adds_to(theirs);
    let fields: Vec<Field> = Field::ALL.into_iter().filter(told).collect();
    let ours = Side::new(ours, &fields);
    let theirs = Side::new(theirs, &fields);
    let fields = ours.fields.iter().zip(&theirs.fields).map(|((field, a), (_, b))| (*field, a, b));
    let mut differences = fields
        .filter_map(|(field, a, b)| compare(field, Said { tokens: a, by: &ours }, Said { tokens: b, by: &theirs }));
    differences
        .next()
        .or_else(|| exchange_of(&ours, &theirs))
        .or_else(|| other_mistake(&ours, &theirs))
        .or_else(|| short(&ours, &theirs))
}

fn exchange_of(ours: &Side, theirs: &Side) -> Option<Difference> {
    let fields = ours.fields.iter().zip(&theirs.fields);
    let pairs: Vec<Pair<'_>> = fields.map(|((_, ours), (_, theirs))| Pair { ours, theirs }).collect();
    let found = exchange::exchanged(&pairs)?;
    let (field, _) = ours.fields.get(found.field)?;
    Some(Difference::Exchange { field: *field, ours: found.ours, theirs: found.theirs })
}

/// Different mistakes: both name one, in words that the other lacks, and the advice is not in the same words; if the situation
/// is worded differently too, one of them rejects something.
fn other_mistake(ours: &Side, theirs: &Side) -> Option<Difference> {
    const SHARED: f32 = 0.5;
    const SHARED_OF_BOTH: f32 = 1.25;
    let mistake = shared(&ours.stems(Field::AntiPattern), &theirs.stems(Field::AntiPattern))?;
    let advice = shared(&ours.stems(Field::CorrectPattern), &theirs.stems(Field::CorrectPattern))?;
    let is_turned = || ours.turns() != theirs.turns();
    let is_other = mistake <= SHARED && mistake + advice < SHARED_OF_BOTH;
    (is_other && (ours.trigger() == theirs.trigger() || is_turned())).then_some(Difference::Mistake)
}

/// The fraction of the shorter one's words that the other one has; none if one has no words.
fn shared(ours: &BTreeSet<String>, theirs: &BTreeSet<String>) -> Option<f32> {
    let n_words = ours.len().min(theirs.len());
    (n_words > 0).then(|| ours.intersection(theirs).count() as f32 / n_words as f32)
}

/// The difference of short texts, unless the trigger is the same. Short lessons are distinct if each side has a word that the
/// other lacks, or if one side has an additional condition. Longer texts may be rewordings.
fn short(ours: &Side, theirs: &Side) -> Option<Difference> {
    const MAX_SUBJECT_WORDS: usize = 6;
    const MAX_SCOPE_WORDS: usize = 6;
    let (a, b) = (&ours.content, &theirs.content);
    let n_words = a.len().min(b.len());
    if ours.trigger() == theirs.trigger() {
        return None;
    }
    match (a.difference(b).next(), b.difference(a).next()) {
        (Some(ours), Some(theirs)) if n_words <= MAX_SUBJECT_WORDS => {
            Some(Difference::Subject { ours: ours.clone(), theirs: theirs.clone() })
        }
        (Some(_), None) if n_words <= MAX_SCOPE_WORDS => ours.condition_beyond(theirs),
        (None, Some(_)) if n_words <= MAX_SCOPE_WORDS => theirs.condition_beyond(ours),
        _ => None,
    }
}

/// The tokens of one lesson.
struct Side {
    fields: Vec<(Field, Vec<Token>)>,
    /// All values of the lesson: a value that the other lesson has in another position is not a conflict.
    said: BTreeSet<String>,
    /// The names among these.
    names: BTreeSet<String>,
    /// The stems of its subject.
    content: BTreeSet<String>,
}

/// Words that begin a condition.
const CONDITIONS: [&str; 6] = ["when", "if", "unless", "except", "while", "until"];

/// Stems of words that phrase a rule on any subject.
const PHRASING: [&str; 20] = [
    "rule", "disallow", "enforc", "requir", "prevent", "ensur", "check", "avoid", "prefer", "aim", "use", "usag",
    "alway", "never", "make", "sure", "must", "warn", "report", "flag",
];

impl Side {
    fn new(lesson: &Lesson, fields: &[Field]) -> Self {
        let fields: Vec<(Field, Vec<Token>)> = fields.iter().map(|field| (*field, tokens(field.of(lesson)))).collect();
        let tokens = || fields.iter().flat_map(|(_, tokens)| tokens);
        let said = tokens().map(|token| token.normal.clone()).collect();
        let names = tokens().filter(|token| token.is_name()).map(|token| token.normal.clone()).collect();
        let texts = [&lesson.trigger, &lesson.anti_pattern, &lesson.correct_pattern];
        let content = texts.into_iter().flat_map(|text| terms(text)).filter(|term| !PHRASING.contains(&term.as_str()));
        Self { content: content.collect(), said, names, fields }
    }

    fn trigger(&self) -> Vec<&str> {
        let trigger = self.fields.first().map(|(_, tokens)| tokens.as_slice()).unwrap_or_default();
        trigger.iter().map(|token| token.normal.as_str()).collect()
    }

    /// True if its advice rejects something.
    fn turns(&self) -> bool {
        let advice = self.fields.iter().filter(|(field, _)| *field == Field::CorrectPattern);
        advice.flat_map(|(_, tokens)| tokens).any(conflict::is_turn)
    }

    /// The content words of a field.
    fn stems(&self, wanted: Field) -> BTreeSet<String> {
        let tokens = self.fields.iter().filter(|(field, _)| *field == wanted).flat_map(|(_, tokens)| tokens);
        tokens.filter(|token| is_telling(&token.normal)).map(Token::key).collect()
    }

    /// The condition in the first sentence of a field, if the other side has none.
    fn condition_beyond(&self, other: &Self) -> Option<Difference> {
        let is_condition = |token: &&Token| CONDITIONS.contains(&token.text.to_lowercase().as_str());
        if other.fields.iter().flat_map(|(_, tokens)| tokens).any(|token| is_condition(&token)) {
            return None;
        }
        let first_sentences = self.fields.iter().flat_map(|(_, tokens)| first_sentence(tokens));
        let condition = first_sentences.into_iter().find(is_condition)?;
        Some(Difference::Scope { condition: condition.text.clone() })
    }

    fn says(&self, token: &Token) -> bool {
        self.said.contains(&token.normal)
            || self.said.contains(&stem(&token.normal))
            || self.names.iter().any(|name| token.is_same_name(name))
    }
}

/// One field of one lesson.
#[derive(Clone, Copy)]
struct Said<'a> {
    tokens: &'a [Token],
    by: &'a Side,
}

impl Said<'_> {
    /// A value of this kind that the other side lacks.
    fn only(self, kind: Kind, other: &Side) -> Option<String> {
        let own = self.tokens.iter().find(|token| token.kind == kind && !other.says(token));
        own.map(|token| token.text.clone())
    }
}

fn compare(field: Field, ours: Said<'_>, theirs: Said<'_>) -> Option<Difference> {
    let (a, b) = (ours.tokens, theirs.tokens);
    let words = |tokens: &'_ [Token]| tokens.iter().map(|token| token.normal.clone()).collect::<Vec<_>>();
    let (a_words, b_words) = (words(a), words(b));
    if a_words == b_words {
        return None;
    }
    if order::is_reordered(a, b) || direction::is_turned(a, b) {
        return Some(Difference::Order { field });
    }
    if let Some((kind, ours, theirs)) = conflict(ours, theirs) {
        return Some(Difference::Value { field, kind, ours, theirs });
    }
    let opposite = polarity::opposites(a, b).or_else(|| polarity::negation(a, b));
    opposite.map(|(ours, theirs)| Difference::Polarity { field, ours, theirs })
}

/// Values of one kind in the same field, each on one side only.
fn conflict(ours: Said<'_>, theirs: Said<'_>) -> Option<(Kind, String, String)> {
    Kind::VALUES.into_iter().find_map(|kind| Some((kind, ours.only(kind, theirs.by)?, theirs.only(kind, ours.by)?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::lesson;

    /// Checks the difference of two solutions with the same trigger, in both directions.
    fn check(a: &str, b: &str, expected: Option<&str>) {
        for (a, b) in [(a, b), (b, a)] {
            let found = difference(&lesson("one trigger", a), &lesson("one trigger", b));
            let kind = found.as_ref().map(|found| match found {
                Difference::Value { kind, .. } => kind.to_string(),
                Difference::Polarity { .. } => "polarity".to_owned(),
                Difference::Order { .. } => "order".to_owned(),
                Difference::Exchange { .. } => "exchange".to_owned(),
                Difference::Mistake => "mistake".to_owned(),
                Difference::Contradiction => "contradiction".to_owned(),
                Difference::Subject { .. } => "subject".to_owned(),
                Difference::Scope { .. } => "scope".to_owned(),
            });
            assert_eq!(kind.as_deref(), expected, "{a:?} and {b:?}: {found:?}");
        }
    }

    #[test]
    fn other_values_in_one_field_keep_apart() {
        check("wait 5 seconds between retries", "wait 30 seconds between retries", Some("number"));
        check("wait five seconds between retries", "wait 5 seconds between retries", None);
        check("use tokio 1.0 for the runtime", "use tokio 1 for the runtime", None);
        check("pass timeout=5 to every call", "give each call timeout=30", Some("number"));
        check("pin it with numpy<2 in the file", "pin it with numpy>=2 in the file", Some("comparison"));
        check("run git push --force then", "run git push --force-with-lease then", Some("flag"));
        check("mount it at /var/lib/data here", "mount it at /srv/data here", Some("path"));
        check("edit Cargo.toml by hand", "edit Cargo.lock by hand", Some("path"));
        check("export DATABASE_URL before tests", "export TEST_DATABASE_URL before tests", Some("identifier"));
        check("call `fetch_all` at the end", "call `fetch_one` at the end", Some("identifier"));
        check("store times in UTC there", "store times in CET there", Some("identifier"));
    }

    #[test]
    fn what_only_one_side_has_is_no_conflict() {
        check("import csv", "import csv; reader = csv.reader(f)", None);
        check("retry with a delay", "retry with a delay of 5 seconds", None);
        check("call Path.read_text() on it", "call `read_text` on it", None);
        check("pin pnpm to 8, not 9", "pin pnpm to 8", None);
    }

    #[test]
    fn opposites_in_the_same_company_keep_apart() {
        check("pin numpy below 2.0", "pin numpy above 2.0", Some("polarity"));
        check("always commit the lock file", "never commit the lock file", Some("polarity"));
        check("run migrations before the rollout", "run migrations after the rollout", Some("polarity"));
        check("enable proxy buffering for events", "for events, disable proxy buffering", Some("polarity"));
        check("commit the generated files", "do not commit the generated files", Some("polarity"));
        // Double opposites, and opposites about different things.
        check("run it outside a transaction", "it must not run inside a transaction", None);
        check("create it outside a transaction block", "create it, and not inside a transaction block", None);
        check("the old server answered while the cache was filled", "wait; a new record has to reach everybody", None);
        // In differently worded texts, a negation is ignored.
        check("use the csv module, not a split by commas", "parse rows with the csv module", None);
    }

    #[test]
    fn order_and_direction_keep_apart() {
        check("copy staging onto production", "copy production onto staging", Some("order"));
        check(
            "convert the times from UTC to local time before saving",
            "before saving them, convert the times from local time to UTC",
            Some("order"),
        );
        check("merge main into the feature branch", "merge the feature branch into main", Some("order"));
        check("commit the change log; push the tag", "push the tag; commit the change log", Some("order"));
        check("only admins may delete rows", "admins may delete only rows", Some("order"));
    }

    #[test]
    fn clauses_may_change_places() {
        check("use the lock file instead of guessing", "instead of guessing, use the lock file", None);
        check("read the log before you close it", "before you close it, read the log", None);
        check("list the origins explicitly", "explicitly list the origins", None);
    }

    #[test]
    fn a_word_in_the_place_of_another_keeps_apart_whatever_it_is() {
        for (ours, theirs) in [
            ("daily", "weekly"),
            ("container", "contained"),
            ("serializable", "serialized"),
            ("signed", "unsigned"),
            ("pre-save", "post-save"),
            ("Anna", "Anne"),
            ("duty engineer", "account manager"),
            ("all", "some"),
            ("US", "EU"),
        ] {
            let text = |word: &str| format!("send the {word} report to the team before noon");
            let found = difference(&lesson("one trigger", &text(ours)), &lesson("one trigger", &text(theirs)));
            assert!(found.is_some(), "{ours} and {theirs}");
        }
        check("keep the copies and the log", "keep the copies or the log", Some("exchange"));
        check("copy rows if they are new", "copy rows unless they are new", Some("exchange"));
        check("copy the rows", "copy only the rows", Some("exchange"));
    }

    #[test]
    fn forms_of_one_another_are_one_word() {
        check("the colours weren't organised in 2 files", "the colors were not organized in two files", None);
        check("at seven per cent, wait 5 seconds", "at 7%, wait 5s", None);
        check("edit the config of the repo by hand", "edit the configuration of the repository by hand", None);
        check("keep the time zone in lower-case letters", "keep the timezone in lowercase letters", None);
        check("the script's log was overwritten", "the script overwrote the log", None);
        check("wait a month before you delete it", "wait one month before you delete it", None);
    }

    #[test]
    fn another_mistake_in_the_same_situation_keeps_apart() {
        let with = |mistake: &str, advice: &str| crate::Lesson { anti_pattern: mistake.into(), ..lesson("t", advice) };
        let first = with("the drop waited for a long query", "set a lock timeout of two seconds");
        let second = with("a view still selected the column", "look for views that need it");
        assert_eq!(difference(&first, &second), Some(Difference::Mistake));
        let reworded = with("the drop was waiting for a long query to end", "set the lock timeout to two seconds");
        assert_eq!(difference(&first, &reworded), None);
    }

    #[test]
    fn short_texts_about_other_things_keep_apart() {
        let pair = |a: &str, b: &str| difference(&lesson(a, a), &lesson(b, b));
        let other = pair("Disallow unused imports", "Disallow unused labels");
        assert!(matches!(other, Some(Difference::Exchange { .. })), "{other:?}");
        let other = pair("Disallow unused imports in all modules", "Prevents labels that are unused");
        assert!(matches!(other, Some(Difference::Subject { .. })), "{other:?}");
        let scoped = pair("Disallow ternary operators", "Disallow ternary operators when simpler ones exist");
        assert_eq!(scoped, Some(Difference::Scope { condition: "when".to_owned() }));
        assert_eq!(pair("Disallow ternary operators", "Enforce that no ternary operators are used"), None);
        // With six words on the shorter side, it may be a rewording.
        let a = "rotate the deploy keys of every staging server quarterly";
        let b = "every quarter, rotate the deploy keys on all staging machines";
        assert_eq!(pair(a, b), None);
    }

    #[test]
    fn a_value_that_the_other_lesson_says_elsewhere_is_no_conflict() {
        let a = crate::Lesson { anti_pattern: "port 80 was taken".into(), ..lesson("t", "bind to port 8080") };
        let b = crate::Lesson { anti_pattern: "it bound to port 80".into(), ..lesson("t", "choose port 8080, not 80") };
        assert_eq!(difference(&a, &b), None);
    }
}
