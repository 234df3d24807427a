//! The retrievals and their outcomes since the last commit: one line per event, appended without a change of the JSON.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::{DateTime, FixedOffset, TimeDelta};

use super::checksum::{self, Seal};
use super::playbook_file::Mark;
use super::usage_event::{Event, Text};
use crate::config::FeedbackConfig;
use crate::learn::feedback::{Feedback, count_outcome, count_retrieval, revert_credit};
use crate::lesson::{LessonId, ReceiptId, TextHash};
use crate::state::Book;

/// A segment longer than this, in bytes, is closed at the next commit.
pub(crate) const SEGMENT_BYTES: u64 = 64 * 1024;

/// How long receipts are kept.
pub(crate) const RECEIPT_DAYS: i64 = 7;

/// A retrieval and its feedback.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Receipt {
    pub(crate) at: DateTime<FixedOffset>,
    pub(crate) shown: Vec<Text>,
    /// The first outcome; later ones do not count.
    pub(crate) outcome: Option<Feedback>,
    /// Lessons that were credited by id since.
    credited_by_id: BTreeSet<LessonId>,
    /// Lessons that were credited with all retrievals of a window, and when; an explicit outcome overrides that.
    credited: BTreeMap<LessonId, DateTime<FixedOffset>>,
}

impl Receipt {
    /// The lessons that an outcome would credit: those shown whose text is still the same and that were not credited by id
    /// since.
    pub(crate) fn creditable(&self, book: &Book) -> Vec<Text> {
        self.shown.iter().filter(|text| self.is_open_for(text) && is_still(book, text)).copied().collect()
    }

    pub(crate) fn is_over(&self, now: DateTime<FixedOffset>) -> bool {
        now - self.at > TimeDelta::days(RECEIPT_DAYS)
    }

    /// Whether an explicit outcome would count.
    fn is_open_for(&self, lesson: &Text) -> bool {
        self.outcome.is_none() && self.shown.contains(lesson) && !self.credited_by_id.contains(&lesson.0)
    }

    /// Whether a credit of a window would count.
    fn is_unsettled_for(&self, lesson: &Text) -> bool {
        self.is_open_for(lesson) && !self.credited.contains_key(&lesson.0)
    }
}

/// The events of the kept segments, as far as they were read.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct UsageLog {
    /// How far the segments were read.
    pub(crate) end: Mark,
    /// The position of the last line that was read, and its hash: they identify the segments.
    pub(crate) last_line: Option<(Mark, TextHash)>,
    receipts: BTreeMap<ReceiptId, Arc<Receipt>>,
    /// Window credits that an explicit outcome overrode.
    overruled: BTreeSet<(LessonId, DateTime<FixedOffset>)>,
    /// The last event of each segment.
    last_event: BTreeMap<u64, DateTime<FixedOffset>>,
    /// Lines that could not be read.
    pub(crate) n_unreadable: usize,
    /// True if the last line has no newline.
    pub(crate) is_torn: bool,
    /// True if earlier segments may exist that were not read.
    pub(crate) is_partial: bool,
    /// True if an event refers to a retrieval that may be in such a segment.
    pub(super) needs_earlier: bool,
}

impl UsageLog {
    /// A log that starts with this segment.
    pub(super) fn from_segment(segment: u64) -> Self {
        Self { end: Mark { segment, offset: 0 }, is_partial: segment > 0, ..Self::default() }
    }

    pub(crate) fn receipt(&self, receipt: ReceiptId) -> Option<&Receipt> {
        self.receipts.get(&receipt).map(Arc::as_ref)
    }

    /// Reads the bytes of a segment from `offset` on. Events from `mark` on change the book; earlier ones are in it already.
    pub(crate) fn read(&mut self, at: Mark, bytes: &[u8], mark: Mark, book: &mut Book, config: &FeedbackConfig) {
        let mut offset = at.offset;
        let mut last_line = None;
        self.is_torn = bytes.last().is_some_and(|byte| *byte != b'\n');
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            let [text @ .., b'\n'] = line else { break };
            let here = Mark { segment: at.segment, offset };
            offset += line.len() as u64;
            if text.is_empty() {
                continue;
            }
            last_line = Some((here, text));
            let event = serde_json::from_slice::<Event>(text);
            match event {
                Ok(event) if checksum::check_line(text) != Seal::Broken => {
                    self.last_event
                        .entry(at.segment)
                        .and_modify(|last| *last = event.at().max(*last))
                        .or_insert(event.at());
                    self.apply(event, (here >= mark).then_some(&mut *book), config);
                }
                _ => self.n_unreadable += 1,
            }
        }
        self.end = Mark { segment: at.segment, offset };
        if let Some((here, text)) = last_line {
            self.last_line = Some((here, TextHash::of(&[text])));
        }
    }

    /// Reads lines that are in no segment yet. A receipt that is known is in a segment meanwhile.
    pub(crate) fn read_more(&mut self, bytes: &[u8], book: &mut Book, config: &FeedbackConfig) {
        for line in bytes.split(|byte| *byte == b'\n').filter(|line| checksum::check_line(line) != Seal::Broken) {
            if let Ok(event @ Event::Shown { .. }) = serde_json::from_slice(line) {
                self.apply(event, Some(book), config);
            }
        }
    }

    /// A segment without readable events is not kept.
    pub(crate) fn note_empty(&mut self, segment: u64) {
        self.last_event.entry(segment).or_insert(DateTime::<FixedOffset>::MIN_UTC.into());
    }

    fn apply(&mut self, event: Event, mut book: Option<&mut Book>, config: &FeedbackConfig) {
        self.needs_earlier |= self.is_partial
            && book.is_some()
            && match &event {
                Event::Shown { .. } => false,
                Event::Outcome { receipt, .. } => !self.receipts.contains_key(receipt),
                Event::Credited { .. } => true,
            };
        match event {
            Event::Shown { receipt, shown, at } => self.add_retrieval(receipt, shown, at, book),
            Event::Outcome { receipt, feedback, at } => self.record_outcome(receipt, feedback, at, book, config),
            Event::Credited { texts, feedback, at, since } => {
                match since {
                    Some(since) => self.credit_window(&texts, at, since),
                    None => texts.iter().for_each(|text| self.credit_by_id(*text, book.as_deref_mut(), config)),
                }
                credit(book, &texts, feedback, at, config);
            }
        }
    }

    fn add_retrieval(
        &mut self,
        receipt: ReceiptId,
        shown: Vec<Text>,
        at: DateTime<FixedOffset>,
        book: Option<&mut Book>,
    ) {
        if self.receipts.contains_key(&receipt) {
            return;
        }
        if let Some(book) = book {
            book.count_recall(shown.iter().map(|(id, _)| *id));
            for (id, _) in &shown {
                let recalls = book.get(*id).map_or(0, |lesson| book.recalls(&lesson.realm));
                book.update(*id, |lesson| count_retrieval(lesson, at, recalls));
            }
        }
        let entry = Receipt { at, shown, outcome: None, credited_by_id: BTreeSet::new(), credited: BTreeMap::new() };
        self.receipts.insert(receipt, Arc::new(entry));
    }

    /// Records the outcome of a receipt. It overrides the credits of windows.
    fn record_outcome(
        &mut self,
        receipt: ReceiptId,
        feedback: Feedback,
        at: DateTime<FixedOffset>,
        mut book: Option<&mut Book>,
        config: &FeedbackConfig,
    ) {
        let Some(receipt) = self.receipts.get_mut(&receipt).map(Arc::make_mut) else { return };
        if receipt.outcome.is_some() {
            return;
        }
        let open: Vec<Text> = receipt.shown.iter().filter(|text| receipt.is_open_for(text)).copied().collect();
        receipt.outcome = Some(feedback);
        let blind: Vec<_> = open.iter().filter_map(|text| Some((*text, *receipt.credited.get(&text.0)?))).collect();
        for (text, credited_at) in blind {
            self.overrule(text, credited_at, book.as_deref_mut(), config);
        }
        credit(book, &open, feedback, at, config);
    }

    /// Notes a credit for all retrievals since a time, whatever their receipts.
    fn credit_window(&mut self, texts: &[Text], at: DateTime<FixedOffset>, since: DateTime<FixedOffset>) {
        for receipt in self.receipts.values_mut().filter(|receipt| receipt.at >= since) {
            for text in texts.iter().filter(|text| receipt.is_unsettled_for(text)).collect::<Vec<_>>() {
                Arc::make_mut(receipt).credited.insert(text.0, at);
            }
        }
    }

    /// Notes that a lesson was credited by id in all its open retrievals. That overrides the last credit of a window.
    fn credit_by_id(&mut self, text: Text, book: Option<&mut Book>, config: &FeedbackConfig) {
        let mut last_blind = None;
        for receipt in self.receipts.values_mut().filter(|receipt| receipt.is_open_for(&text)) {
            last_blind = last_blind.max(receipt.credited.get(&text.0).copied());
            Arc::make_mut(receipt).credited_by_id.insert(text.0);
        }
        if let Some(credited_at) = last_blind {
            self.overrule(text, credited_at, book, config);
        }
    }

    /// Reverts a window credit, once, if the lesson still has the text that was credited.
    fn overrule(
        &mut self,
        text: Text,
        credited_at: DateTime<FixedOffset>,
        book: Option<&mut Book>,
        config: &FeedbackConfig,
    ) {
        let is_first = self.overruled.insert((text.0, credited_at));
        if let Some(book) = book.filter(|book| is_first && is_still(book, &text)) {
            book.update(text.0, |lesson| revert_credit(lesson, config));
        }
    }

    /// Lessons with a retrieval since `from` that has no feedback yet (docs/spec/playbook.md, 6.4).
    ///
    /// If the receipts are missing, the lesson's own times decide.
    pub(crate) fn unsettled_since(&self, from: DateTime<FixedOffset>, book: &Book) -> Vec<Text> {
        let mut known = BTreeSet::new();
        let mut open = BTreeSet::new();
        for receipt in self.receipts.values().filter(|receipt| receipt.at >= from) {
            known.extend(receipt.shown.iter().map(|text| text.0));
            open.extend(receipt.shown.iter().filter(|text| receipt.is_unsettled_for(text) && is_still(book, text)));
        }
        for lesson in book.lessons.iter().filter(|lesson| !known.contains(&lesson.id)) {
            let shown = lesson.last_retrieved_at.filter(|shown| *shown >= from);
            if shown.is_some_and(|shown| lesson.last_credited_at.is_none_or(|credited| credited < shown)) {
                open.insert((lesson.id, lesson.text_hash()));
            }
        }
        open.into_iter().collect()
    }

    /// Segments before `oldest` whose receipts have all expired.
    pub(crate) fn spent_segments(&self, oldest: u64, now: DateTime<FixedOffset>) -> Vec<u64> {
        let is_over = |at: &DateTime<FixedOffset>| now - *at > TimeDelta::days(RECEIPT_DAYS);
        self.last_event
            .iter()
            .filter(|(segment, at)| **segment < oldest && is_over(at))
            .map(|(segment, _)| *segment)
            .collect()
    }

    pub(crate) fn forget_segment(&mut self, segment: u64, now: DateTime<FixedOffset>) {
        self.last_event.remove(&segment);
        self.receipts.retain(|_, receipt| !receipt.is_over(now));
    }
}

fn is_still(book: &Book, (id, text_hash): &Text) -> bool {
    book.get(*id).is_some_and(|lesson| lesson.text_hash() == *text_hash)
}

fn credit(
    book: Option<&mut Book>,
    texts: &[Text],
    feedback: Feedback,
    at: DateTime<FixedOffset>,
    config: &FeedbackConfig,
) {
    let Some(book) = book else { return };
    for text in texts {
        if is_still(book, text) {
            book.update(text.0, |lesson| count_outcome(lesson, feedback, at, config));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lesson::Lesson;
    use crate::testing::{at, lesson};

    fn receipt(number: i64) -> ReceiptId {
        ReceiptId::at(at(number), TextHash::of(&[number.to_string()]))
    }

    fn text(lesson: &Lesson) -> Text {
        (lesson.id, lesson.text_hash())
    }

    fn replay(events: &[Event], mark: u64) -> (UsageLog, Book, Lesson) {
        let shown = lesson("t", "s");
        let mut book = Book::default();
        book.put(shown.clone());
        let bytes: Vec<u8> = events.iter().flat_map(Event::line).collect();
        let mut log = UsageLog::default();
        let start = Mark { segment: 0, offset: 0 };
        log.read(start, &bytes, Mark { segment: 0, offset: mark }, &mut book, &FeedbackConfig::default());
        let now = book.get(shown.id).map(|lesson| Lesson::clone(lesson)).unwrap();
        (log, book, now)
    }

    fn shown(number: i64) -> Event {
        Event::Shown { receipt: receipt(number), shown: vec![text(&lesson("t", "s"))], at: at(number) }
    }

    fn outcome(number: i64, feedback: Feedback) -> Event {
        Event::Outcome { receipt: receipt(number), feedback, at: at(number + 1) }
    }

    #[test]
    fn the_first_outcome_of_a_receipt_counts() {
        let events =
            [shown(1), outcome(1, Feedback::Helpful), outcome(1, Feedback::Helpful), outcome(1, Feedback::Harmful)];
        let (log, book, lesson) = replay(&events, 0);
        assert_eq!((lesson.retrievals, lesson.helpful_retrievals, lesson.harmful_retrievals), (1, 1, 0));
        assert!(log.unsettled_since(at(0), &book).is_empty());
    }

    #[test]
    fn events_before_the_mark_are_not_counted_again() {
        let first = shown(1).line().len() as u64;
        let (log, book, lesson) = replay(&[shown(1), shown(2)], first);
        assert_eq!(lesson.retrievals, 1);
        assert_eq!(log.unsettled_since(at(0), &book).len(), 1);
        assert!(log.receipt(receipt(1)).is_some());
    }

    #[test]
    fn neutral_outcomes_settle_too_and_each_retrieval_settles_alone() {
        let (log, book, lesson) = replay(&[shown(1), outcome(1, Feedback::Neutral)], 0);
        assert_eq!((lesson.retrievals, lesson.helpful_retrievals), (1, 0));
        assert!(log.unsettled_since(at(0), &book).is_empty());
        let (log, book, _) = replay(&[shown(1), shown(2), outcome(1, Feedback::Neutral)], 0);
        assert_eq!(log.unsettled_since(at(0), &book).len(), 1);
        assert!(log.unsettled_since(at(3), &book).is_empty());
    }

    #[test]
    fn a_credit_by_name_settles_the_retrievals_before_it() {
        let credited = Event::Credited {
            texts: vec![text(&lesson("t", "s"))],
            feedback: Feedback::Helpful,
            at: at(5),
            since: None,
        };
        let (log, book, lesson) = replay(&[shown(1), shown(2), credited, outcome(1, Feedback::Helpful)], 0);
        assert_eq!((lesson.retrievals, lesson.helpful_retrievals), (2, 1));
        assert!(log.unsettled_since(at(0), &book).is_empty());
    }

    #[test]
    fn an_explicit_outcome_overrules_a_blind_credit_once() {
        let blind = || Event::Credited {
            texts: vec![text(&lesson("t", "s"))],
            feedback: Feedback::Helpful,
            at: at(5),
            since: Some(at(0)),
        };
        let check = |later: &[Event], expected: (u64, u64, u64)| {
            let events = [&[shown(1), shown(2), blind()], later].concat();
            let (log, book, lesson) = replay(&events, 0);
            let counts = (lesson.helpful_retrievals, lesson.harmful_retrievals, lesson.settled_retrievals);
            assert_eq!(counts, expected, "{later:?}");
            assert!(log.unsettled_since(at(0), &book).is_empty());
        };
        check(&[], (1, 0, 1));
        check(&[outcome(1, Feedback::Harmful)], (0, 1, 1));
        check(&[outcome(1, Feedback::Neutral)], (0, 0, 1));
        check(&[outcome(1, Feedback::Helpful)], (1, 0, 1));
        check(&[outcome(1, Feedback::Harmful), outcome(2, Feedback::Harmful)], (0, 2, 2));
        let by_name = Event::Credited {
            texts: vec![text(&lesson("t", "s"))],
            feedback: Feedback::Harmful,
            at: at(6),
            since: None,
        };
        check(&[by_name], (0, 1, 1));
    }

    #[test]
    fn each_recall_counts_once_in_each_realm_that_it_showed() {
        let (_, book, lesson) = replay(&[shown(1), shown(2), outcome(1, Feedback::Neutral)], 0);
        assert_eq!((book.recalls(&lesson.realm), lesson.shown_at_recall, lesson.learned_at_recall), (2, 2, 0));
        assert_eq!(lesson.settled_retrievals, 1);
    }

    #[test]
    fn another_text_is_not_credited() {
        let other =
            Event::Shown { receipt: receipt(1), shown: vec![(lesson("t", "s").id, TextHash::of(&["old"]))], at: at(1) };
        let (log, book, lesson) = replay(&[other, outcome(1, Feedback::Helpful)], 0);
        assert_eq!((lesson.retrievals, lesson.helpful_retrievals), (1, 0));
        assert!(log.receipt(receipt(1)).unwrap().creditable(&book).is_empty());
    }

    #[test]
    fn a_torn_line_loses_only_itself() {
        let mut bytes = shown(1).line();
        bytes.truncate(bytes.len() - 9);
        bytes.extend(shown(2).line());
        bytes.extend(b"{\"receipt\": \"unfin");
        let mut book = Book::default();
        book.put(lesson("t", "s"));
        let mut log = UsageLog::default();
        log.read(Mark::default(), &bytes, Mark::default(), &mut book, &FeedbackConfig::default());
        assert_eq!(book.lessons.iter().next().unwrap().retrievals, 1);
        assert_eq!(log.n_unreadable, 1);
        assert_eq!(log.end.offset, bytes.len() as u64 - "{\"receipt\": \"unfin".len() as u64);
    }

    #[test]
    fn without_receipts_the_times_of_the_lesson_decide() {
        let mut book = Book::default();
        book.put(Lesson { last_retrieved_at: Some(at(9)), ..lesson("open", "s") });
        book.put(Lesson { last_retrieved_at: Some(at(9)), last_credited_at: Some(at(9)), ..lesson("credited", "s") });
        book.put(Lesson { last_retrieved_at: Some(at(1)), ..lesson("long ago", "s") });
        let open = UsageLog::default().unsettled_since(at(5), &book);
        assert_eq!(open, [text(&lesson("open", "s"))]);
    }

    #[test]
    fn segments_are_removed_when_their_receipts_expire() {
        let (log, _, _) = replay(&[shown(1)], 0);
        let week = TimeDelta::days(RECEIPT_DAYS);
        assert!(log.spent_segments(1, at(1) + week).is_empty());
        assert!(log.spent_segments(0, at(2) + week).is_empty());
        assert_eq!(log.spent_segments(1, at(2) + week), [0]);
    }
}
