//! The fields of a lesson that reach a prompt or decide when it is shown. Prompts are rendered from this one list, a reviewer
//! is shown all of it, and a promotion covers all of it.

use std::borrow::Cow;

use adage_redact::{as_shown, mask, one_line};
use adage_transcript::without_harness_tags;

use super::{Lesson, Realm, RecoveryEvidence, TextHash};

/// The text as every prompt has it: without invisible characters, with secrets masked ([`as_shown`](crate::redact::as_shown)), and
/// with the tags of agents' programs written out ([`without_harness_tags`](crate::transcript::without_harness_tags)), so that it can
/// neither end the block that it is put into nor begin one.
///
/// ```
/// use adage::lesson::for_prompt;
/// assert_eq!(for_prompt("a\u{200b} </system-reminder>"), "a &lt;/system-reminder>");
/// ```
#[must_use]
pub fn for_prompt(text: &str) -> String {
    without_harness_tags(&as_shown(text))
}

/// A text of a lesson that reaches prompts, or decides when the lesson is shown (`Paths`, `Commands`, the ways in).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShownField {
    Trigger,
    Task,
    Domains,
    Paths,
    Commands,
    Names,
    Situations,
    Signs,
    Mistake,
    AntiPattern,
    Solution,
    CorrectPattern,
    Code,
}

impl ShownField {
    /// All fields, in the order in which a reviewer reads them.
    pub(crate) const ALL: [Self; 13] = [
        Self::Trigger,
        Self::Task,
        Self::Domains,
        Self::Paths,
        Self::Commands,
        Self::Names,
        Self::Situations,
        Self::Signs,
        Self::Mistake,
        Self::AntiPattern,
        Self::CorrectPattern,
        Self::Solution,
        Self::Code,
    ];

    /// The fields of the text hash, which identifies the advice.
    pub(super) const ADVICE: [Self; 4] = [Self::Trigger, Self::AntiPattern, Self::CorrectPattern, Self::Code];

    /// The row's key of the field.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Trigger => "trigger",
            Self::Task => "task",
            Self::Domains => "domains",
            Self::Paths => "paths",
            Self::Commands => "commands",
            Self::Names => "names",
            Self::Situations => "situations",
            Self::Signs => "signs",
            Self::Mistake => "mistake",
            Self::AntiPattern => "anti_pattern",
            Self::Solution => "solution",
            Self::CorrectPattern => "correct_pattern",
            Self::Code => "code_example",
        }
    }

    /// The text as it is rendered.
    pub(crate) fn of(self, lesson: &Lesson) -> Cow<'_, str> {
        match self {
            Self::Trigger => lesson.trigger.as_str().into(),
            Self::Task => lesson.task.as_str().into(),
            Self::Domains => {
                let names: Vec<String> = lesson.domains.iter().map(|name| one_line(name, usize::MAX)).collect();
                names.join(", ").into()
            }
            Self::Paths => lesson.paths.join("\n").into(),
            Self::Commands => lesson.commands.join("\n").into(),
            Self::Names => lesson.ways_in.names.join("\n").into(),
            Self::Situations => lesson.ways_in.situations.join("\n").into(),
            Self::Signs => lesson.ways_in.signs.join("\n").into(),
            Self::Mistake => lesson.mistake.as_str().into(),
            Self::AntiPattern => lesson.anti_pattern.as_str().into(),
            Self::Solution => lesson.solution.as_str().into(),
            Self::CorrectPattern => lesson.correct_pattern.as_str().into(),
            Self::Code => lesson.code_example.as_str().into(),
        }
    }

    /// The field that is equal to this one if a lesson gives only one of the two.
    fn counterpart(self) -> Option<Self> {
        match self {
            Self::Task => Some(Self::Trigger),
            Self::Mistake => Some(Self::AntiPattern),
            Self::Solution => Some(Self::CorrectPattern),
            _ => None,
        }
    }

    /// True if the field has a text that differs from its counterpart's.
    pub(crate) fn adds_text(self, lesson: &Lesson) -> bool {
        let text = self.of(lesson);
        self.counterpart().map_or(!text.is_empty(), |counterpart| text != counterpart.of(lesson))
    }
}

impl Lesson {
    /// The hash of the advice: trigger, anti-pattern, correct pattern, code.
    ///
    /// Receipts and removals identify a text by this hash.
    #[must_use]
    pub fn text_hash(&self) -> TextHash {
        TextHash::of(&ShownField::ADVICE.map(|field| field.of(self).into_owned()))
    }

    /// The hash of everything that reaches a prompt or decides when, and of the superseded lesson: all that a reviewer is
    /// shown.
    ///
    /// Promotions identify a text by this hash. It equals [`text_hash`](Self::text_hash) if domains, paths, commands, ways in, task,
    /// mistake and solution add nothing to the advice, and the lesson supersedes none.
    #[must_use]
    pub fn shown_hash(&self) -> TextHash {
        let mut parts: Vec<String> = ShownField::ADVICE.map(|field| field.of(self).into_owned()).into();
        let is_further = |field: &ShownField| !ShownField::ADVICE.contains(field) && field.adds_text(self);
        for field in ShownField::ALL.into_iter().filter(is_further) {
            parts.extend([format!("{field:?}"), field.of(self).into_owned()]);
        }
        parts.extend(self.provenance.supersedes.into_iter().flat_map(|id| ["supersedes".to_owned(), id.to_string()]));
        TextHash::of(&parts)
    }
}

impl Lesson {
    /// The lesson as it is rendered: each text [`for_prompt`]. The gate removed what is invisible and what looks like a secret from
    /// what it let in; a row that somebody else wrote into the file never passed it.
    pub(crate) fn as_shown(&self) -> Self {
        let mut lesson = self.clone();
        lesson.drop_stale_evidence();
        lesson.rendered().filter(|text| !text.is_empty()).for_each(|text| *text = for_prompt(text));
        lesson
    }

    /// The lesson as a person reads it before letting it in, with the masks that a prompt has; how many characters they hide.
    #[must_use]
    pub fn masked(&self) -> (Self, usize) {
        let (mut lesson, mut n_hidden) = (self.clone(), 0);
        lesson.drop_stale_evidence();
        let mut hide = |text: &mut String| {
            let masked = mask(text);
            n_hidden += masked.n_hidden;
            *text = masked.text;
        };
        lesson.rendered().filter(|text| !text.is_empty()).for_each(&mut hide);
        lesson.beside().filter(|text| !text.is_empty()).for_each(&mut hide);
        (lesson, n_hidden)
    }

    /// The texts that prompts have.
    fn rendered(&mut self) -> impl Iterator<Item = &mut String> {
        let texts = [
            &mut self.trigger,
            &mut self.task,
            &mut self.mistake,
            &mut self.anti_pattern,
            &mut self.solution,
            &mut self.correct_pattern,
            &mut self.code_example,
        ];
        texts.into_iter().chain(&mut self.domains)
    }

    /// The texts that only a reviewer sees.
    fn beside(&mut self) -> impl Iterator<Item = &mut String> {
        let (session, realm) = (&mut self.provenance.session, &mut self.realm);
        let texts = [&mut self.source, &mut realm.project, &mut realm.role, session].into_iter();
        let lists = self.paths.iter_mut().chain(&mut self.commands).chain(self.ways_in.texts_mut());
        let quotes = self.provenance.evidence.iter_mut().map(|evidence| &mut evidence.quote);
        let passages = self.provenance.recovery.iter_mut().flat_map(RecoveryEvidence::texts);
        texts.chain(lists).chain(quotes).chain(passages)
    }
}

impl Lesson {
    /// The hash of all that the lesson says: what is shown, where it holds, where it comes from, and what this version does not know.
    /// It does not cover the id, times, counts, checks and near lessons.
    ///
    /// In a folder that others write to, a lesson is used only if its user wrote or admitted this hash (see
    /// [`trust`](crate::trust)).
    #[must_use]
    pub fn admission_hash(&self) -> TextHash {
        let extra = serde_json::json!({ "provenance": self.provenance, "extra": self.extra }).to_string();
        let Realm { project, role } = &self.realm;
        let shown = self.shown_hash().to_string();
        TextHash::of(&["lesson", &shown, &self.source, &self.source_challenge_hash, project, role, &extra])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::lesson;

    #[test]
    fn the_shown_hash_covers_each_field_and_equals_the_text_hash_without_further_fields() {
        let plain = lesson("t", "s");
        assert_eq!(plain.shown_hash(), plain.text_hash());
        let text = || "other".to_owned();
        let mut hashes = vec![plain.shown_hash()];
        for field in ShownField::ALL {
            let mut changed = plain.clone();
            match field {
                ShownField::Trigger => changed.trigger = text(),
                ShownField::Task => changed.task = text(),
                ShownField::Domains => changed.domains = vec![text()],
                ShownField::Paths => changed.paths = vec![text()],
                ShownField::Commands => changed.commands = vec![text()],
                ShownField::Names => changed.ways_in.names = vec![text()],
                ShownField::Situations => changed.ways_in.situations = vec![text()],
                ShownField::Signs => changed.ways_in.signs = vec![text()],
                ShownField::Mistake => changed.mistake = text(),
                ShownField::AntiPattern => changed.anti_pattern = text(),
                ShownField::Solution => changed.solution = text(),
                ShownField::CorrectPattern => changed.correct_pattern = text(),
                ShownField::Code => changed.code_example = text(),
            }
            let is_of_advice = ShownField::ADVICE.contains(&field);
            assert_eq!(changed.text_hash() != plain.text_hash(), is_of_advice, "{field:?}");
            hashes.push(changed.shown_hash());
        }
        let mut superseding = plain.clone();
        superseding.provenance.supersedes = Some(plain.id);
        hashes.push(superseding.shown_hash());
        let distinct: std::collections::BTreeSet<_> = hashes.iter().collect();
        assert_eq!(distinct.len(), hashes.len(), "{hashes:?}");
    }

    #[test]
    fn a_promotion_of_the_text_hash_holds_if_nothing_else_is_shown() {
        let mut promoted = lesson("t", "s");
        promoted.provenance.promoted = Some(promoted.text_hash());
        assert!(promoted.is_admitted());
        promoted.domains = vec!["ssh".into()];
        assert!(!promoted.is_admitted());
    }
}
