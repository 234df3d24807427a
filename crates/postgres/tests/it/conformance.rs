//! The same random history on a folder and in PostgreSQL: the same answers in the same order after every step.

use std::collections::BTreeMap;
use std::sync::Arc;

use adage::lesson::Trust;
use adage::playbook::ChangeRecord;
use adage::{
    Config, Feedback, HashingEmbedder, Listing, ManualClock, Playbook, Realm, ReceiptId, Request, build_lesson,
};

use crate::{clock, connect, fresh, server};

/// A small generator with a fixed seed.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % n
    }
}

const TASKS: [&str; 8] = [
    "pushing a rebased branch",
    "parsing CSV exports",
    "pinning numpy",
    "deploying on a Friday",
    "rotating the log files",
    "reading a large JSON file",
    "retrying a failed upload",
    "naming a migration",
];
const ADVICE: [&str; 8] = [
    "Use --force-with-lease, never --force.",
    "Use the csv module, not split.",
    "Pin it below 2.0.",
    "Wait until Monday.",
    "Keep seven of them.",
    "Stream it in parts of 1000 rows.",
    "Back off after each failure.",
    "Begin it with the date.",
];
const REALMS: [(&str, &str); 3] = [("", ""), ("shop", ""), ("shop", "reviewer")];

/// One store with its clock, and the receipts that it gave for each step.
struct Side {
    open: Box<dyn Fn(Arc<ManualClock>) -> Playbook>,
    playbook: Playbook,
    clock: Arc<ManualClock>,
    receipts: BTreeMap<usize, ReceiptId>,
}

impl Side {
    fn new(open: impl Fn(Arc<ManualClock>) -> Playbook + 'static) -> Self {
        let clock = clock();
        Self { playbook: open(Arc::clone(&clock)), open: Box::new(open), clock, receipts: BTreeMap::new() }
    }

    /// A step, and what the caller sees of it.
    fn step(&mut self, number: usize, random: &mut Random) -> String {
        let realm = REALMS[random.below(3)];
        let realm = Realm::new(realm.0, realm.1);
        let (task, advice, pick) = (TASKS[random.below(8)], ADVICE[random.below(8)], random.below(64));
        let playbook = &self.playbook;
        let all = playbook.list_lessons(&Listing::everything()).unwrap();
        let lesson = all.get(pick % all.len().max(1)).map(|lesson| lesson.id);
        let changes = playbook.changes().unwrap();
        let change = changes.get(changes.len().saturating_sub(1 + pick % 4)).map(|change: &ChangeRecord| change.id);
        let waiting = playbook.waiting_lessons().unwrap();
        let next =
            waiting.get(pick % waiting.len().max(1)).map(|waiting| (waiting.lesson.id, waiting.lesson.shown_hash()));
        let draft = build_lesson(format!("{task} {}", pick % 5), format!("{advice} {}", pick % 3)).in_realm(&realm);
        let known = self.receipts.values().nth(pick % self.receipts.len().max(1)).copied();
        let feedback = [Feedback::Helpful, Feedback::Harmful, Feedback::Neutral][pick % 3];
        self.clock.advance(adage::chrono::TimeDelta::seconds(1 + i64::try_from(pick).unwrap() * 60));
        match (random.below(15), lesson) {
            (0..=4, _) => format!("{:?}", playbook.learn_lesson(draft)),
            (5, _) => format!("{:?}", playbook.learn_lesson(draft.trust(Trust::Tainted))),
            (6 | 7, _) => {
                let context = playbook.get_playbook_context(Request::about(task).in_realm(&realm)).unwrap();
                if let Some(receipt) = context.receipt {
                    self.receipts.insert(number, receipt);
                }
                let shown = context
                    .lessons
                    .iter()
                    .map(|shown| (shown.id, shown.distance.map(f32::to_bits), shown.score.map(f32::to_bits)));
                format!("{:?} {} {:?}", context.tier, context.text, shown.collect::<Vec<_>>())
            }
            (8, _) => match known {
                Some(receipt) => format!("{:?}", playbook.record_outcome(receipt, feedback).map_err(|_| "no receipt")),
                None => String::new(),
            },
            (9, Some(id)) => {
                format!("{:?} {:?}", playbook.record_helpful_retrieval(id), playbook.record_harmful_retrieval(id))
            }
            (10, _) => format!("{:?}", playbook.credit_recent_retrievals(std::time::Duration::from_hours(1))),
            (11, Some(id)) if pick % 8 == 0 => format!("{:?}", playbook.forget(id)),
            (11, Some(id)) => format!("{:?}", playbook.remove(id)),
            (12, _) => change.map(|change| format!("{:?}", playbook.undo(change))).unwrap_or_default(),
            (13, _) => match next {
                Some((id, text)) if pick % 2 == 0 => format!("{:?}", playbook.promote(id, text)),
                Some((id, text)) => format!("{:?}", playbook.dismiss(id, text)),
                None => format!("{:?}", playbook.prune_low_utility()),
            },
            (14, _) if pick % 4 == 0 => {
                playbook.flush().unwrap();
                self.playbook = (self.open)(Arc::clone(&self.clock));
                String::new()
            }
            _ => format!("{:?}", playbook.skip(task)),
        }
    }

    /// Everything that the playbook has.
    fn all(&self) -> String {
        let stats = self.playbook.stats().unwrap();
        let lessons = self.playbook.list_lessons(&Listing::everything()).unwrap();
        let (waiting, changes) = (self.playbook.waiting_lessons().unwrap(), self.playbook.changes().unwrap());
        format!("{stats:#?}\n{lessons:#?}\n{waiting:#?}\n{changes:#?}\n{:?}", self.playbook.skips().unwrap())
    }
}

fn settings() -> Config {
    let mut config = Config::default();
    config.retention.capacity = 8;
    config
}

/// `ADAGE_STEPS` sets the number of steps.
#[test]
fn a_folder_and_postgresql_give_the_same_answers() {
    let Some(address) = server() else { return };
    let n_steps = std::env::var("ADAGE_STEPS").ok().and_then(|n| n.parse().ok()).unwrap_or(600);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    let embedder = || Arc::new(HashingEmbedder);
    let mut left = Side::new(move |clock| {
        Playbook::builder(&path).with_embedder(embedder()).with_clock(clock).with_config(settings()).open().unwrap()
    });
    let config = fresh(&address);
    let mut right = Side::new(move |clock| {
        Playbook::on(connect(&config))
            .with_embedder(embedder())
            .with_clock(clock)
            .with_config(settings())
            .open()
            .unwrap()
    });
    for number in 0..n_steps {
        let seed = 7_919 * (number as u64 + 1);
        let (one, other) = (left.step(number, &mut Random(seed)), right.step(number, &mut Random(seed)));
        assert_eq!(one, other, "step {number}");
        if number % 10 == 9 {
            assert_eq!(left.all(), right.all(), "after step {number}");
        }
    }
    assert!(left.playbook.changes().unwrap().len() > n_steps / 20, "too little happened");
}
