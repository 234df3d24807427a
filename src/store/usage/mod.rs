//! The retrievals and their outcomes: one line per event in a file of its own, until a commit folds them into the lessons' counts
//! (docs/spec/folder-format.md, 3).

mod event;
mod file;
mod former;
mod pending;
mod reading;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::{DateTime, FixedOffset, TimeDelta};

use crate::config::FeedbackConfig;
use crate::learn::feedback::{Feedback, count_outcome, count_retrieval, revert_credit};
use crate::lesson::{Lesson, LessonId, ReceiptId};
use crate::state::Book;
use crate::store::archive::whole_length;

pub(crate) use event::{Event, Text};
pub(crate) use file::{UsageCheck, UsageFile};
pub(crate) use former::{Folded, is_usage};
pub(super) use pending::Pending;

/// How long receipts are kept.
pub(crate) const RECEIPT_DAYS: i64 = 7;

/// True for an event so long ago that its receipt is not known any more.
fn is_over(at: DateTime<FixedOffset>, now: DateTime<FixedOffset>) -> bool {
    now - at > TimeDelta::days(RECEIPT_DAYS)
}

/// A retrieval and its feedback.
#[derive(Clone, Debug, Default, PartialEq)]
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
        is_over(self.at, now)
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

/// The events of the usage file, as far as they were read.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct UsageLog {
    /// The number of the last line that was read or counted.
    pub(crate) end: u64,
    /// The file, and the bytes up to the end of that line.
    inode: Option<u64>,
    n_bytes: u64,
    receipts: BTreeMap<ReceiptId, Arc<Receipt>>,
    /// Window credits that an explicit outcome overrode.
    overruled: BTreeSet<(LessonId, DateTime<FixedOffset>)>,
    /// True if the first lines, which are counted already, were not read.
    is_partial: bool,
    /// True if an event refers to a retrieval that may be in such a line.
    needs_earlier: bool,
}

impl UsageLog {
    pub(crate) fn receipt(&self, receipt: ReceiptId) -> Option<&Receipt> {
        self.receipts.get(&receipt).map(Arc::as_ref)
    }

    /// Reads lines. Those after `folded` change the book; earlier ones are in it already.
    pub(crate) fn read(&mut self, bytes: &[u8], folded: u64, book: &mut Book, config: &FeedbackConfig) {
        for (n, event) in file::lines(bytes).filter_map(file::read_line) {
            self.apply(event, &mut Counts { book: (n > folded).then_some(&mut *book), config });
            self.end = self.end.max(n);
        }
        self.n_bytes += whole_length(bytes);
    }

    /// The log of what follows an event that is counted, of a store that numbers events.
    pub(in crate::store) fn after(end: u64) -> Self {
        Self { end, is_partial: end > 0, ..Self::default() }
    }

    /// Adds an event: one that is counted has its number, another one changes the book.
    pub(in crate::store) fn add(
        &mut self,
        event: Event,
        counted: Option<u64>,
        book: &mut Book,
        config: &FeedbackConfig,
    ) {
        let book = if counted.is_none() { Some(book) } else { None };
        self.apply(event, &mut Counts { book, config });
        self.end = self.end.max(counted.unwrap_or_default());
    }

    /// True if some receipts were not read.
    pub(in crate::store) fn is_partial(&self) -> bool {
        self.is_partial
    }

    /// True if an event refers to a retrieval that may be among those that were not read.
    pub(in crate::store) fn needs_earlier(&self) -> bool {
        self.needs_earlier
    }

    fn apply(&mut self, event: Event, counts: &mut Counts<'_>) {
        self.needs_earlier |= self.is_partial
            && counts.book.is_some()
            && match &event {
                Event::Shown { .. } => false,
                Event::Outcome { receipt, .. } => !self.receipts.contains_key(receipt),
                Event::Credited { .. } => true,
            };
        match event {
            Event::Shown { receipt, shown, at } => {
                self.receipts.entry(receipt).or_insert_with(|| {
                    counts.show(&shown, at);
                    Arc::new(Receipt { at, shown, ..Receipt::default() })
                });
            }
            Event::Outcome { receipt, feedback, at } => self.record_outcome(receipt, feedback, at, counts),
            Event::Credited { texts, feedback, at, since } => {
                match since {
                    Some(since) => self.credit_window(&texts, at, since),
                    None => texts.iter().for_each(|text| self.credit_by_id(*text, counts)),
                }
                counts.credit(&texts, feedback, at);
            }
        }
    }

    /// Records the outcome of a receipt. It overrides the credits of windows.
    fn record_outcome(
        &mut self,
        receipt: ReceiptId,
        feedback: Feedback,
        at: DateTime<FixedOffset>,
        counts: &mut Counts<'_>,
    ) {
        let Some(receipt) = self.receipts.get_mut(&receipt).map(Arc::make_mut) else { return };
        if receipt.outcome.is_some() {
            return;
        }
        let open: Vec<Text> = receipt.shown.iter().filter(|text| receipt.is_open_for(text)).copied().collect();
        receipt.outcome = Some(feedback);
        let blind: Vec<_> = open.iter().filter_map(|text| Some((*text, *receipt.credited.get(&text.0)?))).collect();
        for (text, credited_at) in blind {
            self.overrule(text, credited_at, counts);
        }
        counts.credit(&open, feedback, at);
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
    fn credit_by_id(&mut self, text: Text, counts: &mut Counts<'_>) {
        let mut last_blind = None;
        for receipt in self.receipts.values_mut().filter(|receipt| receipt.is_open_for(&text)) {
            last_blind = last_blind.max(receipt.credited.get(&text.0).copied());
            Arc::make_mut(receipt).credited_by_id.insert(text.0);
        }
        if let Some(credited_at) = last_blind {
            self.overrule(text, credited_at, counts);
        }
    }

    /// Reverts a window credit, once.
    fn overrule(&mut self, text: Text, credited_at: DateTime<FixedOffset>, counts: &mut Counts<'_>) {
        if self.overruled.insert((text.0, credited_at)) {
            counts.change(&text, revert_credit);
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
}

/// The lessons that an event changes; none if it is counted already.
struct Counts<'a> {
    book: Option<&'a mut Book>,
    config: &'a FeedbackConfig,
}

impl Counts<'_> {
    fn show(&mut self, shown: &[Text], at: DateTime<FixedOffset>) {
        let Some(book) = &mut self.book else { return };
        book.count_recall(shown.iter().map(|(id, _)| *id));
        for (id, _) in shown {
            let recalls = book.get(*id).map_or(0, |lesson| book.recalls(&lesson.realm));
            book.update(*id, |lesson| count_retrieval(lesson, at, recalls));
        }
    }

    fn credit(&mut self, texts: &[Text], feedback: Feedback, at: DateTime<FixedOffset>) {
        for text in texts {
            self.change(text, |lesson, config| count_outcome(lesson, feedback, at, config));
        }
    }

    /// Changes a lesson, if it still has this text.
    fn change(&mut self, text: &Text, change: impl FnOnce(&mut Lesson, &FeedbackConfig)) {
        if let Some(book) = self.book.as_deref_mut().filter(|book| is_still(book, text)) {
            book.update(text.0, |lesson| change(lesson, self.config));
        }
    }
}

fn is_still(book: &Book, (id, text_hash): &Text) -> bool {
    book.get(*id).is_some_and(|lesson| lesson.text_hash() == *text_hash)
}

/// What is read of a file, written again, is the same; and the file is appended to after any bytes.
#[cfg(test)]
pub(super) fn fuzz(bytes: &[u8]) {
    let read = |bytes: &[u8]| {
        let (mut log, mut book) = (UsageLog::default(), Book::default());
        log.read(bytes, 0, &mut book, &FeedbackConfig::default());
        (UsageLog { n_bytes: 0, ..log }, book)
    };
    let lines = || file::lines(bytes).filter_map(file::read_line);
    let written: Vec<u8> = lines().flat_map(|(n, event)| event.line(n)).collect();
    assert_eq!(read(&written), read(bytes));

    let folder = tempfile::tempdir().unwrap();
    let files = crate::folder::Directory::real(folder.path());
    files.create(file::USAGE, bytes).unwrap();
    let (usage, n_lines) = (UsageFile(&files), file::lines(bytes).count());
    assert_eq!(usize::try_from(usage.check(0).unwrap().n_unreadable).unwrap() + lines().count(), n_lines);
    let last = usage.last().unwrap();
    let event = Event::Shown {
        receipt: "018f0000-0000-7000-8000-000000000001".parse().unwrap(),
        shown: Vec::new(),
        at: crate::testing::at(0),
    };
    usage.append(0, std::slice::from_ref(&event)).unwrap();
    assert_eq!((usage.last().unwrap(), usage.check(0).unwrap().is_torn), (last + 1, false));
    let bytes = files.read_or_empty(file::USAGE, 0).unwrap();
    assert_eq!(file::lines(&bytes).last().and_then(file::read_line), Some((last + 1, event)));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lesson::TextHash;
    use crate::testing::{at, lesson};

    fn receipt(number: i64) -> ReceiptId {
        ReceiptId::at(at(number), TextHash::of(&[number.to_string()]))
    }

    fn text(lesson: &Lesson) -> Text {
        (lesson.id, lesson.text_hash())
    }

    fn replay(events: &[Event], folded: u64) -> (UsageLog, Book, Lesson) {
        let shown = lesson("t", "s");
        let mut book = Book::default();
        book.put(shown.clone());
        let bytes: Vec<u8> = (1..).zip(events).flat_map(|(n, event)| event.line(n)).collect();
        let mut log = UsageLog::default();
        log.read(&bytes, folded, &mut book, &FeedbackConfig::default());
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
    fn events_that_were_folded_in_are_not_counted_again() {
        let (log, book, lesson) = replay(&[shown(1), shown(2)], 1);
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
    fn a_damaged_or_torn_line_loses_only_itself() {
        let mut damaged = shown(1).line(1);
        damaged[9] ^= 1;
        let bytes = [damaged, shown(2).line(2), b"{\"n\":3,\"receipt\":\"unfin".to_vec()].concat();
        let mut book = Book::default();
        book.put(lesson("t", "s"));
        let mut log = UsageLog::default();
        log.read(&bytes, 0, &mut book, &FeedbackConfig::default());
        assert_eq!(book.lessons.iter().next().unwrap().retrievals, 1);
        assert_eq!((log.end, log.n_bytes), (2, whole_length(&bytes)));
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
}
