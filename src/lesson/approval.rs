//! Whose word stands behind the text of a lesson (docs/spec/playbook.md, 3.4).
//!
//! A person's word is given for one text: that they wrote, that they were shown and promoted, or that a quote of theirs confirms.
//! [`Lesson::take_text`] is the only way in which a text moves from one lesson to another, and what vouches for it moves along.

use super::{Evidence, Lesson, WaysIn};

/// What a person has to do with the present text of a lesson, in ascending order. A text is replaced only by one with at least the
/// same approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Approval {
    /// Nothing: a program wrote it, and no person confirmed it.
    Nobody,
    /// A person promoted exactly this text, or their words confirm it.
    Confirmed,
    /// A person wrote it.
    ByHand,
}

impl Lesson {
    /// What a person has to do with the present text.
    pub(crate) fn approval(&self) -> Approval {
        if self.is_by_hand() {
            Approval::ByHand
        } else if self.is_promoted() || self.has_evidence() {
            Approval::Confirmed
        } else {
            Approval::Nobody
        }
    }

    /// The user's words that confirm the present text. Words that were given for another text are left out.
    #[must_use]
    pub fn evidence(&self) -> &[Evidence] {
        let is_of_text = self.provenance.confirmed.is_none_or(|confirmed| confirmed == self.shown_hash());
        if is_of_text { &self.provenance.evidence } else { &[] }
    }

    /// True if the user's words confirm the present text.
    pub(crate) fn has_evidence(&self) -> bool {
        !self.provenance.evidence.is_empty() && !self.evidence().is_empty()
    }

    /// Records that the evidence was given for the present text.
    pub(crate) fn bind_evidence(&mut self) {
        let confirmed = (!self.provenance.evidence.is_empty()).then(|| self.shown_hash());
        self.provenance.confirmed = confirmed;
    }

    /// Changes how the lesson is found, not what it says: a promotion and evidence stay given for it.
    pub(crate) fn change_ways_in(&mut self, change: impl FnOnce(&mut WaysIn)) {
        let (is_promoted, is_confirmed) = (self.is_promoted(), self.has_evidence());
        change(&mut self.ways_in);
        if is_promoted {
            self.provenance.promoted = Some(self.shown_hash());
        }
        if is_confirmed {
            self.bind_evidence();
        }
    }

    /// Drops the evidence of another text.
    pub(super) fn drop_stale_evidence(&mut self) {
        if !self.has_evidence() {
            self.provenance.evidence.clear();
            self.provenance.confirmed = None;
        }
    }

    /// Takes everything of another lesson that is shown or decides when it is, with what vouches for it: origin, source, trust,
    /// evidence, promotion. None of its own is left, so that nobody's word is used for a text that they never saw.
    pub(crate) fn take_text(&mut self, from: &Self) {
        let own_evidence = if self.shown_hash() == from.shown_hash() { self.evidence().to_vec() } else { Vec::new() };
        self.task.clone_from(&from.task);
        self.trigger.clone_from(&from.trigger);
        self.mistake.clone_from(&from.mistake);
        self.anti_pattern.clone_from(&from.anti_pattern);
        self.solution.clone_from(&from.solution);
        self.correct_pattern.clone_from(&from.correct_pattern);
        self.code_example.clone_from(&from.code_example);
        self.domains.clone_from(&from.domains);
        self.paths.clone_from(&from.paths);
        self.commands.clone_from(&from.commands);
        self.ways_in.clone_from(&from.ways_in);
        self.recovery.clone_from(&from.recovery);
        self.source.clone_from(&from.source);
        self.source_challenge_hash.clone_from(&from.source_challenge_hash);
        self.provenance = from.provenance.clone();
        self.add_evidence(&own_evidence);
    }

    /// Adds the evidence of a lesson with the same text; that of another text is not added.
    pub(crate) fn add_evidence_of(&mut self, other: &Self) {
        if self.shown_hash() == other.shown_hash() {
            self.add_evidence(other.evidence());
        }
    }

    fn add_evidence(&mut self, evidence: &[Evidence]) {
        self.drop_stale_evidence();
        for quote in evidence {
            if !self.provenance.evidence.contains(quote) {
                self.provenance.evidence.push(quote.clone());
            }
        }
        if !evidence.is_empty() {
            self.bind_evidence();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lesson::{Origin, Provenance, ShownField};
    use crate::testing::lesson;

    fn quote(text: &str) -> Evidence {
        Evidence { quote: text.into(), turn: 1, range: (0, text.len()) }
    }

    fn confirmed(trigger: &str, solution: &str, said: &str) -> Lesson {
        let mut lesson = lesson(trigger, solution);
        lesson.provenance = Provenance { origin: Origin::Mined, evidence: vec![quote(said)], ..Provenance::default() };
        lesson.bind_evidence();
        lesson
    }

    #[test]
    fn evidence_confirms_only_the_text_that_it_was_given_for() {
        let given = confirmed("t", "s", "always do s");
        assert_eq!((given.approval(), given.evidence().len()), (Approval::Confirmed, 1));
        for field in ShownField::ALL {
            let mut edited = given.clone();
            let text = || "another".to_owned();
            match field {
                ShownField::Trigger => edited.trigger = text(),
                ShownField::Task => edited.task = text(),
                ShownField::Domains => edited.domains = vec![text()],
                ShownField::Paths => edited.paths = vec![text()],
                ShownField::Commands => edited.commands = vec![text()],
                ShownField::Names => edited.ways_in.names = vec![text()],
                ShownField::Situations => edited.ways_in.situations = vec![text()],
                ShownField::Signs => edited.ways_in.signs = vec![text()],
                ShownField::Mistake => edited.mistake = text(),
                ShownField::AntiPattern => edited.anti_pattern = text(),
                ShownField::Solution => edited.solution = text(),
                ShownField::CorrectPattern => edited.correct_pattern = text(),
                ShownField::Code => edited.code_example = text(),
            }
            assert_eq!((edited.approval(), edited.evidence().len()), (Approval::Nobody, 0), "{field:?}");
            assert!(edited.is_unreviewed(), "{field:?}");
        }
        // A row of an earlier version does not say which text its evidence was given for.
        let mut earlier = given;
        earlier.provenance.confirmed = None;
        assert_eq!(earlier.approval(), Approval::Confirmed);
    }

    #[test]
    fn a_new_way_in_keeps_promotion_and_evidence() {
        let mut promoted = lesson("t", "s");
        promoted.provenance.origin = Origin::Mined;
        promoted.provenance.promoted = Some(promoted.shown_hash());
        for mut lesson in [confirmed("t", "s", "always do s"), promoted] {
            lesson.change_ways_in(|ways| ways.situations.push("another case".into()));
            assert_eq!((lesson.approval(), lesson.ways_in.len()), (Approval::Confirmed, 1));
        }
        let mut nobodys = Lesson { source: "agent".into(), ..lesson("t", "s") };
        nobodys.provenance.origin = Origin::Program;
        nobodys.change_ways_in(|ways| ways.signs.push("an error".into()));
        assert_eq!(nobodys.approval(), Approval::Nobody);
    }

    #[test]
    fn a_text_is_taken_with_all_that_vouches_for_it() {
        let mut lesson = confirmed("t", "s", "always do s");
        lesson.paths = vec!["src/**".into()];
        lesson.bind_evidence();
        let other = confirmed("t2", "s2", "rather s2");
        lesson.take_text(&other);
        assert_eq!((lesson.shown_hash(), &lesson.provenance), (other.shown_hash(), &other.provenance));
        lesson.take_text(&Lesson { source: "agent".into(), ..crate::testing::lesson("t3", "s3") });
        assert!(lesson.evidence().is_empty() && lesson.provenance.evidence.is_empty());
        assert_eq!((lesson.source.as_str(), lesson.solution.as_str()), ("agent", "s3"));
    }

    #[test]
    fn evidence_of_the_same_text_adds_up() {
        let mut lesson = confirmed("t", "s", "always do s");
        lesson.add_evidence_of(&confirmed("t", "s", "as I said: s"));
        lesson.add_evidence_of(&confirmed("t", "s2", "never mind"));
        let said: Vec<&str> = lesson.evidence().iter().map(|evidence| evidence.quote.as_str()).collect();
        assert_eq!(said, ["always do s", "as I said: s"]);
        lesson.take_text(&confirmed("t", "s", "once more"));
        assert_eq!(lesson.evidence().len(), 3);
    }
}
