//! Measures what can be said of a lesson's effect, on tasks whose outcomes are simulated, through the playbook as a host uses it.
//!
//! ```text
//! cargo run --example credit -- [--seeds N] [--from SEED] [--tasks N]
//! ```
//!
//! A task is hard or easy; what it is about decides which lesson is found, and hard tasks seldom go well. The hit rate of a lesson
//! therefore says more about its tasks than about the lesson: "hard" helps and looks harmful, "easy" does harm and looks helpful. Each
//! seed is a playbook of its own, each line of the table an effect that the lessons have in truth. For another gate, the simulator
//! knows the rate that it would have come to.

#![allow(clippy::print_stdout, reason = "a program of its own")]

use std::error::Error;
use std::sync::Arc;

use adage::config::CreditConfig;
use adage::credit::{Claim, Effect, Gate, Replay};
use adage::{Config, Context, Feedback, LessonId, ManualClock, Playbook, Request, build_lesson};
use chrono::{DateTime, TimeDelta};

type Failure = Box<dyn Error>;

/// The probability with which a lesson is withheld.
const DROPOUT: f64 = 0.2;
/// How likely a task goes well without a lesson.
const HARD: f64 = 0.2;
const EASY: f64 = 0.8;
/// What the tasks are about.
const HARD_QUERY: &str = "migrate the billing database schema";
const EASY_QUERY: &str = "rename a label on the settings page";
/// Lessons for hard tasks raise it by this, lessons for easy ones lower it.
const EFFECTS: [f64; 5] = [0.0, 0.05, 0.1, 0.2, 0.25];
/// What the gates show: all that is found, the best alone, nothing.
const GATES: [&str; 3] = ["limit=5", "limit=1", "answer_from=1"];

/// `SplitMix64` (Steele, Lea and Flood, 2014).
struct Chance(u64);

impl Chance {
    fn number(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// The lessons of a playbook: one for hard tasks, one for easy ones, and one that is found with either and does nothing.
struct Lessons {
    hard: LessonId,
    easy: LessonId,
}

/// Counts of lessons, of one effect.
#[derive(Default)]
struct Tally {
    measured: usize,
    covered: usize,
    claims: usize,
    wrong_claims: usize,
    /// Lessons whose hit rate, against that of all tasks, says the opposite of the truth.
    wrong_hit_rates: usize,
    hit_rates: usize,
}

/// Of one gate.
#[derive(Default)]
struct ReplayTally {
    n_estimated: usize,
    n_without_overlap: usize,
    n_covered: [usize; 2],
    width: [f64; 2],
}

fn main() -> Result<(), Failure> {
    let (mut n_seeds, mut first, mut n_tasks) = (200, 0, 400);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let number = arguments.next().ok_or_else(|| format!("{argument} needs a number"))?.parse()?;
        match argument.as_str() {
            "--seeds" => n_seeds = number,
            "--from" => first = number,
            "--tasks" => n_tasks = number,
            other => return Err(format!("unknown option {other}").into()),
        }
    }
    println!("seeds {first} to {}, {n_tasks} tasks each, dropout {DROPOUT}", first + n_seeds - 1);
    println!(
        "| true effect | lessons measured | 95% interval covers it | claims | wrong claims | hit rate of the wrong sign |"
    );
    println!("|---|---|---|---|---|---|");
    let mut gates: Vec<ReplayTally> = GATES.iter().map(|_| ReplayTally::default()).collect();
    for effect in EFFECTS {
        let mut tally = Tally::default();
        for seed in first..first + n_seeds {
            let world = World { effect, seed, n_tasks };
            world.measure(&mut tally, &mut gates)?;
        }
        tally.print(effect);
    }
    println!(
        "\n| gate | estimated | not enough overlap | covered, inverse propensity | … doubly robust | mean width | … |"
    );
    println!("|---|---|---|---|---|---|---|");
    GATES.iter().zip(&gates).for_each(|(gate, tally)| tally.print(gate));
    Ok(())
}

/// Tasks of a playbook, and what its lessons do to them.
struct World {
    effect: f64,
    seed: u64,
    n_tasks: u64,
}

impl World {
    fn measure(&self, tally: &mut Tally, gates: &mut [ReplayTally]) -> Result<(), Failure> {
        let folder = tempfile::tempdir()?;
        let credit =
            CreditConfig { log_receipts: true, dropout: DROPOUT, seed: Some(self.seed), ..CreditConfig::default() };
        let config = Config { credit, ..Config::default() };
        // What is withheld depends on the lessons' ids, and these on the time.
        let clock = Arc::new(ManualClock::new(DateTime::parse_from_rfc3339("2026-03-01T09:00:00+00:00")?));
        let builder =
            Playbook::builder(folder.path()).with_config(config).with_clock(Arc::<ManualClock>::clone(&clock));
        let playbook = builder.without_embedder().open()?;
        let lessons = learn(&playbook, &clock)?;
        let mut chance = Chance(self.seed.wrapping_mul(0x9e37_79b9).wrapping_add(self.effect.to_bits()));
        let mut n_helpful = 0;
        let mut truths = [0.0; GATES.len()];
        for _ in 0..self.n_tasks {
            clock.advance(TimeDelta::minutes(1));
            let is_hard = chance.number() < 0.5;
            let query = if is_hard { HARD_QUERY } else { EASY_QUERY };
            for (truth, limit) in truths.iter_mut().zip([5, 1, 0]) {
                let context = playbook.get_playbook_context(Request::about(query).limit(limit).peek())?;
                *truth += self.rate(is_hard, &context, &lessons) / self.n_tasks as f64;
            }
            let context = playbook.get_playbook_context(query)?;
            let is_helpful = chance.number() < self.rate(is_hard, &context, &lessons);
            n_helpful += u64::from(is_helpful);
            let outcome = if is_helpful { Feedback::Helpful } else { Feedback::Harmful };
            playbook.record_outcome(context.receipt.ok_or("a task without a receipt")?, outcome)?;
        }
        let rate_of_all = n_helpful as f64 / self.n_tasks as f64;
        for (lesson, truth) in [(lessons.hard, self.effect), (lessons.easy, -self.effect)] {
            tally.take(playbook.effect(lesson)?, truth);
            let found = playbook.find(lesson)?;
            let raw = found.helpful_retrievals as f64 / found.retrievals as f64 - rate_of_all;
            if truth != 0.0 {
                tally.hit_rates += 1;
                tally.wrong_hit_rates += usize::from(raw * truth < 0.0);
            }
        }
        let log = playbook.receipts()?;
        for ((gate, truth), tally) in GATES.iter().zip(truths).zip(gates) {
            tally.take(log.replay(&gate.parse::<Gate>()?), truth);
        }
        Ok(())
    }

    /// How likely a task goes well.
    fn rate(&self, is_hard: bool, context: &Context, lessons: &Lessons) -> f64 {
        let has = |id: LessonId| f64::from(u8::from(context.lessons.iter().any(|shown| shown.id == id)));
        let base = if is_hard { HARD } else { EASY };
        base + self.effect * has(lessons.hard) - self.effect * has(lessons.easy)
    }
}

fn learn(playbook: &Playbook, clock: &ManualClock) -> Result<Lessons, Failure> {
    let learn = |trigger: &str, advice: &str| -> Result<LessonId, Failure> {
        clock.advance(TimeDelta::minutes(1));
        Ok(playbook.learn_lesson(build_lesson(trigger, advice))?.id().ok_or("a lesson was refused")?)
    };
    let hard = learn("migrating the billing database schema safely", "Expand, backfill, then contract.")?;
    let easy = learn("renaming a label on the settings page quickly", "Rewrite the whole page first.")?;
    learn("migrating the billing database schema politely", "Tell the engineer on call.")?;
    learn("renaming a label on the settings page neatly", "Look into the design file.")?;
    learn("compressing photographs", "Strip the metadata first.")?;
    Ok(Lessons { hard, easy })
}

impl Tally {
    fn take(&mut self, effect: Effect, truth: f64) {
        let Effect::Measured { uplift, claim, .. } = effect else { return };
        self.measured += 1;
        self.covered += usize::from(uplift.covers(truth));
        let is_right = match claim {
            Claim::Undecided => return,
            Claim::Helps => truth > 0.0,
            Claim::Harms => truth < 0.0,
        };
        self.claims += 1;
        // Where there is no effect, neither sign is right.
        self.wrong_claims += usize::from(!is_right);
    }

    fn print(&self, effect: f64) {
        let share = |part: usize, all: usize| if all == 0 { "–".to_owned() } else { percent(part, all) };
        println!(
            "| ±{effect:.2} | {} | {} | {} | {} | {} |",
            self.measured,
            share(self.covered, self.measured),
            self.claims,
            self.wrong_claims,
            share(self.wrong_hit_rates, self.hit_rates),
        );
    }
}

impl ReplayTally {
    fn take(&mut self, replay: Replay, truth: f64) {
        let Replay::Estimated { weighted, doubly_robust, .. } = replay else {
            self.n_without_overlap += 1;
            return;
        };
        self.n_estimated += 1;
        let tallies = self.n_covered.iter_mut().zip(&mut self.width);
        for ((n_covered, width), estimate) in tallies.zip([weighted, doubly_robust]) {
            *n_covered += usize::from(estimate.covers(truth));
            *width += estimate.high - estimate.low;
        }
    }

    fn print(&self, gate: &str) {
        if self.n_estimated == 0 {
            println!("| {gate} | 0 | {} | – | – | – | – |", self.n_without_overlap);
            return;
        }
        let [weighted, robust] = self.n_covered.map(|n_covered| percent(n_covered, self.n_estimated));
        let [width, width_robust] = self.width.map(|width| width / self.n_estimated as f64);
        println!(
            "| {gate} | {} | {} | {weighted} | {robust} | {width:.3} | {width_robust:.3} |",
            self.n_estimated, self.n_without_overlap
        );
    }
}

fn percent(part: usize, all: usize) -> String {
    format!("{:.1}%", 100.0 * part as f64 / all as f64)
}
