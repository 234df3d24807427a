//! A model-based test: every operation on a playbook, in random order, compared with a naive list.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use adage::learn::ReviewReason;
use adage::lesson::{Origin, Provenance, Refusal};
use adage::playbook::CannotUndo;
use adage::{
    ChangeId, Config, Credited, Error, Feedback, LearnOutcome, LessonDraft, LessonId, LessonRef, Playbook, ReceiptId,
    Request, Tier, Verification, build_lesson,
};
use chrono::{DateTime, FixedOffset, TimeDelta};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

use super::bench::{Bench, lessons, start};

/// The capacity of a realm.
const CAPACITY: usize = 5;
/// No two of them share a word, so that a word query finds exactly one lesson.
const TRIGGERS: [&str; 12] = [
    "amber kettle",
    "brass lantern",
    "copper anvil",
    "denim apron",
    "ebony flute",
    "felt slipper",
    "granite mortar",
    "hemp rope",
    "ivory comb",
    "jade buckle",
    "kelp basket",
    "linen sail",
];
/// The first is the global realm.
const PROJECTS: [&str; 3] = ["", "shop", "bank"];

/// The style of a lesson's text.
#[derive(Clone, Copy, Debug)]
struct Style {
    /// Longer solutions contain the shorter ones.
    length: usize,
    /// With other case and punctuation.
    is_loud: bool,
    is_verified: bool,
    is_imported: bool,
}

#[derive(Clone, Debug)]
enum Op {
    Learn {
        slot: usize,
        project: usize,
        style: Style,
    },
    /// The task and the trigger of an existing lesson.
    LearnTwin {
        pick: usize,
        style: Style,
    },
    /// The exact text of a removed lesson.
    LearnRemoved {
        pick: usize,
        is_imported: bool,
    },
    Recall {
        about: Option<usize>,
        project: usize,
        times: usize,
    },
    Peek {
        project: usize,
    },
    Outcome {
        pick: usize,
        outcome: Feedback,
    },
    CreditWindow,
    Credit {
        pick: usize,
        by_name: bool,
        helped: bool,
    },
    Verify {
        pick: usize,
        by_name: bool,
        passed: bool,
    },
    Prune,
    Remove {
        pick: usize,
        by_name: bool,
    },
    Undo {
        pick: usize,
    },
    Reopen,
    Advance {
        seconds: i64,
    },
}

fn style() -> impl Strategy<Value = Style> {
    (0..3_usize, any::<bool>(), 0..8_u8, 0..4_u8).prop_map(|(length, is_loud, verified, by_hand)| Style {
        length,
        is_loud,
        is_verified: verified == 0,
        is_imported: by_hand != 0,
    })
}

fn op() -> impl Strategy<Value = Op> {
    let (slot, project, pick) = (0..TRIGGERS.len(), 0..PROJECTS.len(), 0..1_000_usize);
    let outcome = prop_oneof![Just(Feedback::Helpful), Just(Feedback::Neutral), Just(Feedback::Harmful)];
    prop_oneof![
        8 => (slot.clone(), project.clone(), style()).prop_map(|(slot, project, style)| Op::Learn { slot, project, style }),
        3 => (pick.clone(), style()).prop_map(|(pick, style)| Op::LearnTwin { pick, style }),
        2 => (pick.clone(), any::<bool>()).prop_map(|(pick, is_imported)| Op::LearnRemoved { pick, is_imported }),
        6 => (proptest::option::of(slot), project.clone(), 1..7_usize)
            .prop_map(|(about, project, times)| Op::Recall { about, project, times }),
        1 => project.prop_map(|project| Op::Peek { project }),
        4 => (pick.clone(), outcome).prop_map(|(pick, outcome)| Op::Outcome { pick, outcome }),
        2 => Just(Op::CreditWindow),
        2 => (pick.clone(), any::<bool>(), any::<bool>())
            .prop_map(|(pick, by_name, helped)| Op::Credit { pick, by_name, helped }),
        2 => (pick.clone(), any::<bool>(), any::<bool>())
            .prop_map(|(pick, by_name, passed)| Op::Verify { pick, by_name, passed }),
        3 => Just(Op::Prune),
        2 => (pick.clone(), any::<bool>()).prop_map(|(pick, by_name)| Op::Remove { pick, by_name }),
        4 => pick.prop_map(|pick| Op::Undo { pick }),
        1 => Just(Op::Reopen),
        3 => (1..400_i64).prop_map(|seconds| Op::Advance { seconds }),
    ]
}

/// The shown text of a lesson: trigger and solution. Credits, removals and undos refer to a text.
type Text = (String, String);

#[derive(Clone, Debug)]
struct Row {
    id: LessonId,
    project: usize,
    trigger: String,
    solution: String,
    is_by_hand: bool,
    is_verified: bool,
    was_checked: bool,
    confidence: f64,
    frequency: u64,
    retrievals: u64,
    helpful: u64,
    harmful: u64,
    timestamp: DateTime<FixedOffset>,
    retrieved_at: Option<DateTime<FixedOffset>>,
}

impl Row {
    fn text(&self) -> Text {
        (self.trigger.clone(), self.solution.clone())
    }

    /// Playbook 4.
    fn hit_rate(&self) -> f64 {
        (self.helpful as f64 + 1.0) / (self.retrievals as f64 + 2.0)
    }

    /// Playbook 4.
    fn utility(&self) -> f64 {
        let verified = if self.is_verified { 0.3 } else { 0.0 };
        let learned = (0.1 * (1.0 + self.frequency as f64).ln()).min(0.3);
        let base = 0.5 * self.confidence + 0.8 * self.hit_rate() + verified + learned;
        let penalty = if self.retrievals >= 5 && self.hit_rate() < 0.35 { base / 2.0 } else { 0.0 };
        base - penalty
    }

    fn is_untouched(&self) -> bool {
        self.confidence.to_bits() == 0.5_f64.to_bits() && self.retrievals == 0 && self.frequency == 1
    }
}

#[derive(Clone, Debug)]
struct Receipt {
    id: ReceiptId,
    at: DateTime<FixedOffset>,
    shown: Vec<(LessonId, Text)>,
    outcome: Option<Feedback>,
    credited: BTreeSet<LessonId>,
    /// The credit by a window, and its time.
    by_window: BTreeMap<LessonId, DateTime<FixedOffset>>,
}

impl Receipt {
    fn is_open_for(&self, shown: &(LessonId, Text)) -> bool {
        self.outcome.is_none() && self.shown.contains(shown) && !self.credited.contains(&shown.0)
    }

    fn is_unsettled_for(&self, shown: &(LessonId, Text)) -> bool {
        self.is_open_for(shown) && !self.by_window.contains_key(&shown.0)
    }
}

#[derive(Clone, Debug)]
struct Edit {
    id: LessonId,
    before: Option<Row>,
    after: Option<Text>,
    is_removal: bool,
}

#[derive(Clone, Debug)]
struct Change {
    id: ChangeId,
    edits: Vec<Edit>,
    is_undo: bool,
    is_undone: bool,
}

struct Removed {
    id: LessonId,
    row: Row,
}

/// The operations that a run must cover.
#[derive(Clone, Copy, Debug)]
enum Seen {
    Merged,
    Evicted,
    NoRoom,
    Pruned,
    Refused,
    LearnedAgain,
    Restored,
    NotUndone,
    Credited,
    SettledBefore,
    TextChanged,
    Ambiguous,
}

impl Seen {
    const ALL: [Self; 12] = [
        Self::Merged,
        Self::Evicted,
        Self::NoRoom,
        Self::Pruned,
        Self::Refused,
        Self::LearnedAgain,
        Self::Restored,
        Self::NotUndone,
        Self::Credited,
        Self::SettledBefore,
        Self::TextChanged,
        Self::Ambiguous,
    ];
}

/// How often each of these happened.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Tally([usize; Seen::ALL.len()]);

impl Tally {
    fn count(&mut self, what: Seen, times: usize) {
        self.0[what as usize] += times;
    }
}

struct Model {
    now: DateTime<FixedOffset>,
    rows: Vec<Row>,
    receipts: Vec<Receipt>,
    /// Window credits that an outcome overrode.
    overruled: BTreeSet<(LessonId, DateTime<FixedOffset>)>,
    changes: Vec<Change>,
    removed: Vec<Removed>,
    tally: Tally,
}

type Checked<T = ()> = Result<T, TestCaseError>;

/// Tasks are compared without case, punctuation and white space (docs/spec/playbook.md, 3.2).
fn plain(text: &str) -> String {
    let letters: String = text.to_lowercase().chars().filter(|c| c.is_alphanumeric() || *c == ' ').collect();
    letters.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn loud(trigger: &str) -> String {
    let mut letters = trigger.chars();
    let first: String = letters.next().into_iter().flat_map(char::to_uppercase).collect();
    format!("{first}{}!", letters.as_str())
}

fn solution(trigger: &str, length: usize) -> String {
    let words = plain(trigger);
    let first = words.split(' ').next().unwrap_or_default().to_owned();
    [
        format!("polish the {first}"),
        format!("polish the {first} gently"),
        format!("polish the {first} gently with wool"),
    ][length]
        .clone()
}

fn draft(trigger: &str, solution: &str, project: usize, style: Style) -> LessonDraft {
    let draft = build_lesson(trigger, solution).project(PROJECTS[project]);
    // A verified draft with confidence 0: only its mark adds to the confidence of the lesson.
    let draft = if style.is_verified { draft.verified().confidence(0.0) } else { draft };
    let origin = if style.is_imported { Origin::Imported } else { Origin::Hand };
    draft.provenance(&Provenance { origin, ..Provenance::default() })
}

impl Model {
    fn new() -> Self {
        Self {
            now: start(),
            rows: Vec::new(),
            receipts: Vec::new(),
            overruled: BTreeSet::new(),
            changes: Vec::new(),
            removed: Vec::new(),
            tally: Tally::default(),
        }
    }

    fn row(&mut self, id: LessonId) -> Option<&mut Row> {
        self.rows.iter_mut().find(|row| row.id == id)
    }

    fn is_still(&self, (id, text): &(LessonId, Text)) -> bool {
        self.rows.iter().any(|row| row.id == *id && row.text() == *text)
    }

    /// Newest first, of equal times the later id first.
    fn sorted(&self) -> Vec<&Row> {
        let mut rows: Vec<&Row> = self.rows.iter().collect();
        rows.sort_by(|a, b| b.timestamp.cmp(&a.timestamp).then(b.id.cmp(&a.id)));
        rows
    }

    /// Own lessons and global ones (docs/spec/playbook.md, 5.3).
    fn visible(&self, project: usize) -> Vec<&Row> {
        self.sorted().into_iter().filter(|row| row.project == 0 || row.project == project).collect()
    }

    fn pick(&self, pick: usize) -> Option<&Row> {
        self.sorted().get(pick % self.rows.len().max(1)).copied()
    }

    /// Playbook 3.
    fn learn(
        &mut self,
        (trigger, solution): (&str, &str),
        project: usize,
        style: Style,
        learned: &LearnOutcome,
    ) -> Checked {
        let text = (trigger.to_owned(), solution.to_owned());
        if style.is_imported && self.removed.iter().any(|removed| removed.row.text() == text) {
            prop_assert_eq!(learned, &LearnOutcome::Refused { reason: Refusal::Removed });
            self.tally.count(Seen::Refused, 1);
            return Ok(());
        }
        if !style.is_imported {
            let n_before = self.removed.len();
            self.removed.retain(|removed| removed.row.text() != text);
            self.tally.count(Seen::LearnedAgain, n_before - self.removed.len());
        }
        let twins: Vec<LessonId> = (self.rows.iter())
            .filter(|row| row.project == project && plain(&row.trigger) == plain(trigger))
            .map(|row| row.id)
            .collect();
        let (head, mut edits) = match learned {
            LearnOutcome::Inserted { id, .. } if twins.is_empty() => {
                self.rows.push(Row {
                    id: *id,
                    project,
                    trigger: text.0.clone(),
                    solution: text.1.clone(),
                    is_by_hand: !style.is_imported,
                    is_verified: style.is_verified,
                    was_checked: style.is_verified,
                    confidence: if style.is_verified { 0.0 } else { 0.5 },
                    frequency: 1,
                    retrievals: 0,
                    helpful: 0,
                    harmful: 0,
                    timestamp: self.now,
                    retrieved_at: None,
                });
                (*id, vec![Edit { id: *id, before: None, after: Some(text), is_removal: false }])
            }
            LearnOutcome::Merged { into, distance: None, .. } if twins.contains(into) => {
                self.tally.count(Seen::Merged, 1);
                (*into, vec![self.merge(*into, text, style)])
            }
            // An imported text does not replace one by hand.
            LearnOutcome::Review { reason: ReviewReason::WouldEvictTrusted, .. } if twins.is_empty() => {
                let n_by_hand = self.rows.iter().filter(|row| row.project == project && row.is_by_hand).count();
                prop_assert!(style.is_imported && n_by_hand >= CAPACITY, "{:?}: {} are by hand", learned, n_by_hand);
                self.tally.count(Seen::NoRoom, 1);
                return Ok(());
            }
            other => return Err(TestCaseError::fail(format!("{other:?}, the twins are {twins:?}"))),
        };
        edits.extend(self.trim(head, style, learned.evicted())?);
        let is_on_record = edits.len() > 1 || edits[0].before.is_some();
        prop_assert_eq!(learned.change().is_some(), is_on_record);
        if let Some(id) = learned.change() {
            self.changes.push(Change { id, edits, is_undo: false, is_undone: false });
        }
        Ok(())
    }

    /// Playbook 3.4.
    fn merge(&mut self, into: LessonId, (trigger, solution): Text, style: Style) -> Edit {
        let now = self.now;
        let row = self.row(into).unwrap();
        let before = row.clone();
        let is_same = row.text() == (trigger.clone(), solution.clone());
        let mut is_newly_verified = style.is_verified && !row.is_verified;
        match (row.is_by_hand, row.is_verified).cmp(&(!style.is_imported, style.is_verified)) {
            Ordering::Less => {
                row.trigger = trigger;
                row.solution = solution;
                row.is_verified &= style.is_verified || is_same;
            }
            Ordering::Equal if solution.len() > row.solution.len() => row.solution = solution,
            Ordering::Equal => {}
            Ordering::Greater => is_newly_verified &= is_same,
        }
        if is_newly_verified {
            row.is_verified = true;
            row.confidence = (row.confidence + 0.2).min(1.0);
        }
        row.is_by_hand |= !style.is_imported;
        row.was_checked |= style.is_verified;
        row.frequency += 1;
        row.timestamp = now;
        Edit { id: into, after: Some(row.text()), before: Some(before), is_removal: false }
    }

    /// docs/spec/playbook.md, 3.6: the evicted lesson may be any of the least useful, as long as no less useful one was kept.
    fn trim(&mut self, head: LessonId, newcomer: Style, evicted: &[LessonId]) -> Checked<Vec<Edit>> {
        let project = self.row(head).unwrap().project;
        let others: Vec<Row> =
            self.rows.iter().filter(|row| row.project == project && row.id != head).cloned().collect();
        let excess = (others.len() + 1).saturating_sub(CAPACITY);
        let is_expendable = |row: &&Row| !newcomer.is_imported || !row.is_by_hand;
        let is_room = others.iter().filter(is_expendable).count() >= excess;
        prop_assert_eq!(evicted.len(), if is_room { excess } else { 0 }, "evicted");
        let (gone, stayed): (Vec<Row>, Vec<Row>) = others.into_iter().partition(|row| evicted.contains(&row.id));
        prop_assert!(gone.iter().all(|row| is_expendable(&row)), "{:?} went", gone);
        prop_assert_eq!(gone.len(), evicted.len(), "somebody was evicted who was not there: {:?}", evicted);
        for gone in &gone {
            for stayed in &stayed {
                let is_right = if !is_expendable(&stayed) {
                    true
                } else if gone.is_verified == stayed.is_verified {
                    let is_tie = gone.is_untouched() && stayed.is_untouched();
                    gone.utility() <= stayed.utility() + 1e-9 && (!is_tie || gone.id < stayed.id)
                } else {
                    !gone.is_verified
                };
                prop_assert!(is_right, "{:?} went and {:?} stayed", gone, stayed);
            }
        }
        self.tally.count(Seen::Evicted, gone.len());
        self.rows.retain(|row| !evicted.contains(&row.id));
        Ok(gone.into_iter().map(|row| Edit { id: row.id, before: Some(row), after: None, is_removal: false }).collect())
    }

    fn show(&mut self, id: ReceiptId, shown: &[LessonId]) {
        let now = self.now;
        let mut texts = Vec::new();
        for id in shown {
            let row = self.row(*id).unwrap();
            row.retrievals += 1;
            row.retrieved_at = Some(now);
            texts.push((*id, row.text()));
        }
        self.receipts.push(Receipt {
            id,
            at: now,
            shown: texts,
            outcome: None,
            credited: BTreeSet::new(),
            by_window: BTreeMap::new(),
        });
    }

    /// Playbook 6.2.
    fn move_by(&mut self, id: LessonId, outcome: Feedback) {
        let row = self.row(id).unwrap();
        match outcome {
            Feedback::Helpful => {
                row.helpful += 1;
                row.confidence = (row.confidence + 0.05).min(1.0);
            }
            Feedback::Neutral => {}
            Feedback::Harmful => {
                row.harmful += 1;
                row.confidence = (row.confidence - 0.1).max(0.0);
            }
        }
    }

    /// Playbook 6.3.
    fn settle(&mut self, place: usize, outcome: Feedback) -> Credited {
        let receipt = self.receipts[place].clone();
        if let Some(outcome) = receipt.outcome {
            self.tally.count(Seen::SettledBefore, 1);
            return Credited::AlreadyRecorded { outcome };
        }
        let (lessons, changed): (Vec<_>, Vec<_>) =
            receipt.shown.iter().filter(|shown| receipt.is_open_for(shown)).partition(|shown| self.is_still(shown));
        self.tally.count(Seen::TextChanged, changed.len());
        let lessons: Vec<LessonId> = lessons.into_iter().map(|(id, _)| *id).collect();
        for id in &lessons {
            if let Some(at) = receipt.by_window.get(id) {
                self.overrule(*id, *at);
            }
            self.move_by(*id, outcome);
        }
        for (id, _) in &changed {
            self.overruled.extend(receipt.by_window.get(id).map(|at| (*id, *at)));
        }
        self.receipts[place].outcome = Some(outcome);
        Credited::Recorded { lessons }
    }

    /// An outcome overrides a window credit, once.
    fn overrule(&mut self, id: LessonId, at: DateTime<FixedOffset>) {
        if self.overruled.insert((id, at)) {
            let row = self.row(id).unwrap();
            row.helpful -= 1;
            row.confidence = (row.confidence - 0.05).max(0.0);
        }
    }

    /// Playbook 6.4.
    fn credit_window(&mut self) -> usize {
        let from = self.now - TimeDelta::seconds(300);
        let recent = self.receipts.iter().filter(|receipt| receipt.at >= from);
        let open = recent.flat_map(|receipt| receipt.shown.iter().filter(|shown| receipt.is_unsettled_for(shown)));
        let open: BTreeSet<(LessonId, Text)> = open.filter(|shown| self.is_still(shown)).cloned().collect();
        for shown in &open {
            self.move_by(shown.0, Feedback::Helpful);
            let now = self.now;
            let recent = self.receipts.iter_mut().filter(|receipt| receipt.at >= from);
            for receipt in recent.filter(|receipt| receipt.is_unsettled_for(shown)) {
                receipt.by_window.insert(shown.0, now);
            }
        }
        self.tally.count(Seen::Credited, open.len());
        open.len()
    }

    fn credit_by_name(&mut self, id: LessonId, outcome: Feedback) {
        let shown = (id, self.row(id).unwrap().text());
        let mut last = None;
        for receipt in &mut self.receipts {
            if receipt.is_open_for(&shown) {
                last = last.max(receipt.by_window.get(&id).copied());
                receipt.credited.insert(id);
            }
        }
        if let Some(at) = last {
            self.overrule(id, at);
        }
        self.move_by(id, outcome);
    }

    /// Playbook 6.6.
    fn prune(&mut self, pruned: &adage::learn::Pruned) -> Checked {
        let n_rows = self.rows.len();
        let most = if n_rows < 10 { 0 } else { n_rows / 4 };
        let (taken, left): (Vec<Row>, Vec<Row>) =
            self.rows.iter().cloned().partition(|row| pruned.lessons.contains(&row.id));
        prop_assert_eq!(taken.len(), pruned.lessons.len());
        prop_assert!(taken.len() <= most, "{} of {} were pruned", taken.len(), n_rows);
        let failed =
            |row: &Row| row.retrievals >= 5 && !row.is_verified && !row.is_by_hand && row.hit_rate() < 0.35 - 1e-12;
        let n_below = |row: &Row, slack: f64| {
            let is_below = |other: &&Row| other.id != row.id && other.utility() < row.utility() + slack;
            self.rows.iter().filter(is_below).count()
        };
        for row in &taken {
            prop_assert!(failed(row) && n_below(row, -1e-9) <= n_rows / 4, "{:?} was pruned", row);
        }
        for row in &left {
            let is_due = failed(row) && n_below(row, 1e-9) < n_rows / 4;
            prop_assert!(!is_due || taken.len() == most, "{:?} was not pruned", row);
        }
        prop_assert_eq!(pruned.change.is_some(), !taken.is_empty());
        self.tally.count(Seen::Pruned, taken.len());
        self.rows = left;
        if let Some(id) = pruned.change {
            let gone =
                taken.into_iter().map(|row| Edit { id: row.id, before: Some(row), after: None, is_removal: false });
            self.changes.push(Change { id, edits: gone.collect(), is_undo: false, is_undone: false });
        }
        Ok(())
    }

    /// Playbook 7.
    fn remove(&mut self, id: LessonId, change: ChangeId) {
        let row = self.row(id).unwrap().clone();
        self.rows.retain(|row| row.id != id);
        self.removed.push(Removed { id, row });
        let edit = Edit { id, before: None, after: None, is_removal: true };
        self.changes.push(Change { id: change, edits: vec![edit], is_undo: false, is_undone: false });
    }

    /// Playbook 7: newest first of the changes of one lesson.
    fn undo(&mut self, place: usize, result: &Result<adage::learn::Undone, Error>) -> Checked {
        let (change, later) = (&self.changes[place], &self.changes[place + 1..]);
        let touches =
            |other: &Change| other.edits.iter().any(|edit| change.edits.iter().any(|ours| ours.id == edit.id));
        let newer: Vec<ChangeId> = later
            .iter()
            .filter(|other| !other.is_undo && !other.is_undone && touches(other))
            .map(|other| other.id)
            .collect();
        let forgotten = |edit: &Edit| edit.is_removal && !self.removed.iter().any(|removed| removed.id == edit.id);
        let is_refused = match result {
            Err(Error::CannotUndo { reason: CannotUndo::IsUndo, .. }) => change.is_undo,
            Err(Error::CannotUndo { reason: CannotUndo::Already, .. }) => change.is_undone,
            Err(Error::CannotUndo { reason: CannotUndo::Newer(id), .. }) => !change.is_undone && newer.contains(id),
            Err(Error::CannotUndo { reason: CannotUndo::Expired, .. }) => change.edits.iter().any(forgotten),
            _ => false,
        };
        let edited = |edit: &Edit| edit.after.as_ref().is_some_and(|text| !self.is_still(&(edit.id, text.clone())));
        let is_due = change.is_undo
            || change.is_undone
            || !newer.is_empty()
            || change.edits.iter().any(|edit| forgotten(edit) || edited(edit));
        let Ok(undone) = result else {
            prop_assert!(is_refused, "{:?} for {:?}, newer ones are {:?}", result, change, newer);
            self.tally.count(Seen::NotUndone, 1);
            return Ok(());
        };
        prop_assert!(!is_due, "{:?} for {:?}, newer ones are {:?}", result, change, newer);
        let edits = change.edits.clone();
        let (mut restored, mut withdrawn) = (BTreeSet::new(), BTreeSet::new());
        for edit in &edits {
            let current = self.rows.iter().position(|row| row.id == edit.id).map(|place| self.rows.remove(place));
            let removed = self.removed.iter().position(|removed| removed.id == edit.id);
            let removed = removed.filter(|_| edit.is_removal).map(|place| self.removed.remove(place).row);
            match (removed.or(edit.before.clone()), current) {
                // A merge: the earlier text with the counts of now.
                (Some(before), Some(current)) => {
                    restored.insert(edit.id);
                    self.rows.push(Row {
                        retrievals: current.retrievals,
                        helpful: current.helpful,
                        harmful: current.harmful,
                        retrieved_at: current.retrieved_at,
                        ..before
                    });
                }
                (Some(before), None) => {
                    restored.insert(edit.id);
                    self.rows.push(before);
                }
                (None, _) => {
                    withdrawn.insert(edit.id);
                }
            }
        }
        prop_assert_eq!(&undone.restored.iter().copied().collect::<BTreeSet<_>>(), &restored);
        prop_assert_eq!(&undone.withdrawn.iter().copied().collect::<BTreeSet<_>>(), &withdrawn);
        self.tally.count(Seen::Restored, restored.len());
        self.changes[place].is_undone = true;
        self.changes.push(Change { id: undone.change, edits, is_undo: true, is_undone: false });
        Ok(())
    }

    /// The reference to the lesson, and whether it is unambiguous.
    fn refer(&mut self, pick: usize, by_name: bool) -> Option<(LessonRef, LessonId, Vec<LessonId>)> {
        let row = self.pick(pick)?.clone();
        if !by_name {
            return Some((row.id.into(), row.id, vec![row.id]));
        }
        let named = self.rows.iter().filter(|other| other.trigger.to_lowercase() == row.trigger.to_lowercase());
        let named: Vec<LessonId> = named.map(|row| row.id).collect();
        self.tally.count(Seen::Ambiguous, usize::from(named.len() > 1));
        Some((LessonRef::Trigger(row.trigger.to_uppercase()), row.id, named))
    }
}

/// The value, unless several lessons have the name: then the error must list them.
fn unless_ambiguous<T>(result: Result<T, Error>, named: &[LessonId]) -> Checked<Option<T>> {
    match result {
        Ok(value) if named.len() == 1 => Ok(Some(value)),
        Err(Error::Ambiguous { ids, .. }) if named.len() > 1 => {
            prop_assert_eq!(ids.into_iter().collect::<BTreeSet<_>>(), named.iter().copied().collect::<BTreeSet<_>>());
            Ok(None)
        }
        Ok(_) => Err(TestCaseError::fail(format!("one of {named:?} was taken"))),
        Err(error) => Err(TestCaseError::fail(format!("{error}, named are {named:?}"))),
    }
}

fn recall(model: &mut Model, playbook: &Playbook, about: Option<usize>, project: usize) -> Checked {
    let request = about.map_or_else(Request::cold_start, |slot| Request::about(TRIGGERS[slot]));
    let context = playbook.get_playbook_context(request.project(PROJECTS[project])).unwrap();
    let shown: Vec<LessonId> = context.lessons.iter().map(|shown| shown.id).collect();
    match about {
        None => {
            let newest: Vec<LessonId> = model.visible(project).iter().take(5).map(|row| row.id).collect();
            prop_assert_eq!((context.tier, &shown), (Tier::Recency, &newest));
        }
        Some(slot) => {
            let named = model.visible(project).into_iter().filter(|row| plain(&row.trigger) == TRIGGERS[slot]);
            let named: BTreeSet<LessonId> = named.map(|row| row.id).collect();
            let is_all = shown.len() == named.len().min(5) && shown.iter().all(|id| named.contains(id));
            prop_assert!(context.tier == Tier::Lexical && is_all, "{:?}, expected {:?}", context, named);
        }
    }
    prop_assert_eq!(context.receipt.is_some(), !shown.is_empty());
    if let Some(receipt) = context.receipt {
        model.show(receipt, &shown);
    }
    Ok(())
}

fn learn(model: &mut Model, playbook: &Playbook, text: (&str, &str), project: usize, style: Style) -> Checked {
    let learned = playbook.learn_lesson(draft(text.0, text.1, project, style)).unwrap();
    model.learn(text, project, style, &learned)
}

/// Applies the operation to both.
fn step(model: &mut Model, playbook: &Playbook, bench: &Bench, op: &Op) -> Checked {
    match op {
        Op::Learn { slot, project, style } => {
            let trigger = if style.is_loud { loud(TRIGGERS[*slot]) } else { TRIGGERS[*slot].to_owned() };
            learn(model, playbook, (&trigger, &solution(&trigger, style.length)), *project, *style)?;
        }
        Op::LearnTwin { pick, style } => {
            let Some(row) = model.pick(*pick).cloned() else { return Ok(()) };
            let trigger = if style.is_loud { loud(&plain(&row.trigger)) } else { plain(&row.trigger) };
            learn(model, playbook, (&trigger, &solution(&trigger, style.length)), row.project, *style)?;
        }
        Op::LearnRemoved { pick, is_imported } => {
            let n_removed = model.removed.len().max(1);
            let Some(row) = model.removed.get(pick % n_removed).map(|removed| removed.row.clone()) else {
                return Ok(());
            };
            let style = Style { length: 0, is_loud: false, is_verified: false, is_imported: *is_imported };
            learn(model, playbook, (&row.trigger, &row.solution), row.project, style)?;
        }
        Op::Recall { about, project, times } => {
            for _ in 0..*times {
                recall(model, playbook, *about, *project)?;
            }
        }
        Op::Peek { project } => {
            let request = Request::cold_start().project(PROJECTS[*project]).peek();
            prop_assert_eq!(playbook.get_playbook_context(request).unwrap().receipt, None);
        }
        Op::Outcome { pick, outcome } => {
            // Mostly of the last ones, now and then of one that is settled already.
            let n_receipts = model.receipts.len();
            let Some(place) = n_receipts.checked_sub(1 + pick % n_receipts.clamp(1, 8)) else { return Ok(()) };
            let settled = playbook.record_outcome(model.receipts[place].id, *outcome).unwrap();
            prop_assert_eq!(settled, model.settle(place, *outcome));
        }
        Op::CreditWindow => {
            let window = playbook.config().feedback.credit_window;
            prop_assert_eq!(playbook.credit_recent_retrievals(window).unwrap(), model.credit_window());
        }
        Op::Credit { pick, by_name, helped } => {
            let Some((reference, id, named)) = model.refer(*pick, *by_name) else { return Ok(()) };
            let (result, outcome) = if *helped {
                (playbook.record_helpful_retrieval(reference), Feedback::Helpful)
            } else {
                (playbook.record_harmful_retrieval(reference), Feedback::Harmful)
            };
            if unless_ambiguous(result, &named)?.is_some() {
                model.credit_by_name(id, outcome);
            }
        }
        Op::Verify { pick, by_name, passed } => {
            let Some((reference, id, named)) = model.refer(*pick, *by_name) else { return Ok(()) };
            let verification = if *passed { Verification::Passed } else { Verification::Failed };
            if unless_ambiguous(playbook.mark_verified(reference, verification), &named)?.is_some() {
                let row = model.row(id).unwrap();
                row.is_verified = *passed;
                row.was_checked = true;
                row.confidence = (row.confidence + if *passed { 0.2 } else { 0.0 }).min(1.0);
            }
        }
        Op::Prune => {
            let due = playbook.prunable().unwrap();
            let pruned = playbook.prune_low_utility().unwrap();
            prop_assert_eq!(&due, &pruned.lessons);
            model.prune(&pruned)?;
        }
        Op::Remove { pick, by_name } => {
            let Some((reference, id, named)) = model.refer(*pick, *by_name) else { return Ok(()) };
            if let Some(removal) = unless_ambiguous(playbook.remove(reference), &named)? {
                prop_assert_eq!(removal.id, id);
                model.remove(id, removal.change);
            }
        }
        Op::Undo { pick } => {
            let n_changes = model.changes.len();
            let Some(place) = n_changes.checked_sub(1 + pick % n_changes.clamp(1, 6)) else { return Ok(()) };
            let result = playbook.undo(model.changes[place].id);
            model.undo(place, &result)?;
        }
        Op::Reopen => {}
        Op::Advance { seconds } => {
            bench.advance(*seconds);
            model.now += TimeDelta::seconds(*seconds);
        }
    }
    Ok(())
}

fn compare(model: &Model, playbook: &Playbook) -> Checked {
    let (ours, theirs) = (model.sorted(), lessons(playbook));
    prop_assert_eq!(
        theirs.iter().map(|lesson| (lesson.id, lesson.trigger.as_str())).collect::<Vec<_>>(),
        ours.iter().map(|row| (row.id, row.trigger.as_str())).collect::<Vec<_>>()
    );
    for (row, lesson) in ours.iter().zip(&theirs) {
        prop_assert_eq!(&lesson.solution, &row.solution);
        prop_assert_eq!(&lesson.correct_pattern, &row.solution);
        prop_assert_eq!(&lesson.realm.project, PROJECTS[row.project]);
        prop_assert_eq!(
            (lesson.verified, lesson.verification_attempted),
            (row.is_verified, row.was_checked),
            "{:?}",
            row
        );
        let counts = (lesson.frequency, lesson.retrievals, lesson.helpful_retrievals, lesson.harmful_retrievals);
        prop_assert_eq!(counts, (row.frequency, row.retrievals, row.helpful, row.harmful), "{:?}", row);
        prop_assert_eq!((lesson.timestamp, lesson.last_retrieved_at), (row.timestamp, row.retrieved_at), "{:?}", row);
        prop_assert!((lesson.confidence - row.confidence).abs() < 1e-9, "{} of {:?}", lesson.confidence, row);
        prop_assert!(
            (playbook.utility(lesson) - row.utility()).abs() < 1e-9,
            "{} of {:?}",
            playbook.utility(lesson),
            row
        );
    }
    prop_assert_eq!(playbook.stats().unwrap().n_removed, model.removed.len());
    Ok(())
}

/// Two handles take turns, and each step is checked through the other one.
fn run(ops: &[Op]) -> Checked<Tally> {
    let bench = Bench::new();
    let mut config = Config::classic();
    config.retention.capacity = CAPACITY;
    let open = || bench.builder().with_config(config.clone()).open().unwrap();
    let mut handles = [open(), open()];
    let mut model = Model::new();
    let style = Style { length: 1, is_loud: false, is_verified: false, is_imported: false };
    // Enough of them that a prune looks at all; some triggers in two projects.
    let first: Vec<(&str, usize)> = (0..13)
        .map(|place| (TRIGGERS[place % TRIGGERS.len()], (place + place / TRIGGERS.len()) % PROJECTS.len()))
        .collect();
    let drafts = first.iter().map(|(trigger, project)| draft(trigger, &solution(trigger, 1), *project, style));
    for ((trigger, project), learned) in first.iter().zip(handles[0].learn_lessons(drafts).unwrap()) {
        model.learn((trigger, &solution(trigger, 1)), *project, style, &learned)?;
    }
    for (number, op) in ops.iter().enumerate() {
        if matches!(op, Op::Reopen) {
            handles = [open(), open()];
        }
        step(&mut model, &handles[number % 2], &bench, op)?;
        // A process that another test starts holds every open lock until it is another program: counts may have to wait.
        while !handles[number % 2].flush().unwrap() {
            std::thread::yield_now();
        }
        compare(&model, &handles[(number + 1) % 2])?;
    }
    Ok(model.tally)
}

#[test]
fn the_playbook_agrees_with_a_naive_model_after_any_operations() {
    let config =
        ProptestConfig { cases: 64, failure_persistence: None, max_shrink_iters: 400, ..ProptestConfig::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let total = std::cell::RefCell::new(Tally::default());
    let result = runner.run(&proptest::collection::vec(op(), 40), |ops| {
        let tally = run(&ops)?;
        let mut total = total.borrow_mut();
        for what in Seen::ALL {
            total.count(what, tally.0[what as usize]);
        }
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
    let Tally(seen) = total.into_inner();
    assert!(Seen::ALL.iter().all(|what| seen[*what as usize] >= 5), "hardly ever happened: {seen:?}");
}
