//! Measures how well the effect of a lesson is estimated, on simulated tasks with known effects.
//!
//! ```text
//! cargo run --example credit -- [--seeds N] [--from SEED] [--tasks N]
//! ```
//!
//! A task is hard or easy, and the lesson that is retrieved depends on which. Hard tasks seldom succeed. The hit rate of a lesson
//! therefore reflects its tasks more than the lesson: the one for hard tasks helps and looks harmful, the one for easy tasks harms
//! and looks helpful. The first table has a row per true effect, over one playbook per seed. The second has a row per gate: how often
//! the replay of the log under that gate covers the true success rate, which the simulation knows.

#![allow(clippy::print_stdout, reason = "a program, not a library")]

use std::error::Error;
use std::sync::Arc;

use adage::chrono::{DateTime, TimeDelta};
use adage::config::CreditConfig;
use adage::credit::{Claim, Effect, Gate, Replay};
use adage::{Config, Context, Feedback, LessonId, ManualClock, Playbook, Request, build_lesson};
use adage_eval::Random;

type Failure = Box<dyn Error>;

/// The probability with which a lesson is withheld.
const DROPOUT: f64 = 0.2;
/// Probability that a hard task succeeds without a lesson.
const HARD_RATE: f64 = 0.2;
/// Probability that an easy task succeeds without a lesson.
const EASY_RATE: f64 = 0.8;
const HARD_QUERY: &str = "migrate the billing database schema";
const EASY_QUERY: &str = "rename a label on the settings page";
/// True effects: the lesson for hard tasks raises their probability by this, the lesson for easy ones lowers theirs by it.
const EFFECTS: [f64; 5] = [0.0, 0.05, 0.1, 0.2, 0.25];
/// Gates that show everything found, the best lesson alone, and nothing.
const GATES: [&str; 3] = ["limit=5", "limit=1", "answer_from=1"];

/// The two lessons with an effect: one is retrieved for hard tasks, one for easy ones. The others of the playbook have none.
struct Lessons {
    hard: LessonId,
    easy: LessonId,
}

/// Counts of lessons with one true effect.
#[derive(Default)]
struct Tally {
    measured: usize,
    covered: usize,
    claims: usize,
    wrong_claims: usize,
    /// Lessons whose hit rate, less that of all tasks, has the sign opposite to the true effect.
    wrong_hit_rates: usize,
    hit_rates: usize,
}

/// Counts of replays under one gate.
#[derive(Default)]
struct ReplayTally {
    n_estimated: usize,
    n_without_overlap: usize,
    /// Intervals that cover the true rate: by inverse propensity, doubly robust.
    n_covered: [usize; 2],
    /// Sum of the intervals' widths, likewise.
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
            let simulation = Simulation { effect, seed, n_tasks };
            simulation.measure(&mut tally, &mut gates)?;
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

/// The tasks of one playbook, and the effect of its lessons on them.
struct Simulation {
    effect: f64,
    seed: u64,
    n_tasks: u64,
}

impl Simulation {
    fn measure(&self, tally: &mut Tally, gates: &mut [ReplayTally]) -> Result<(), Failure> {
        let folder = tempfile::tempdir()?;
        let credit =
            CreditConfig { log_receipts: true, dropout: DROPOUT, seed: Some(self.seed), ..CreditConfig::default() };
        let config = Config { credit, ..Config::default() };
        // Which lessons are withheld depends on their ids, and these on the time.
        let clock = Arc::new(ManualClock::new(DateTime::parse_from_rfc3339("2026-03-01T09:00:00+00:00")?));
        let builder =
            Playbook::builder(folder.path()).with_config(config).with_clock(Arc::<ManualClock>::clone(&clock));
        let playbook = builder.without_embedder().open()?;
        let lessons = learn(&playbook, &clock)?;
        let rates = self.run_tasks(&playbook, &clock, &lessons)?;
        for (lesson, truth) in [(lessons.hard, self.effect), (lessons.easy, -self.effect)] {
            tally.add_effect(playbook.effect(lesson)?, truth);
            let found = playbook.find(lesson)?;
            let hit_rate = found.helpful_retrievals as f64 / found.retrievals as f64;
            tally.add_hit_rate(hit_rate - rates.observed, truth);
        }
        let log = playbook.receipts()?;
        for ((gate, truth), tally) in GATES.iter().zip(rates.by_gate).zip(gates) {
            tally.add(log.replay(&gate.parse::<Gate>()?), truth);
        }
        Ok(())
    }

    /// Requests lessons for every task and records whether it succeeded.
    fn run_tasks(&self, playbook: &Playbook, clock: &ManualClock, lessons: &Lessons) -> Result<Rates, Failure> {
        let mut random = Random(self.seed.wrapping_mul(0x9e37_79b9).wrapping_add(self.effect.to_bits()));
        let (mut n_helpful, mut by_gate) = (0, [0.0; GATES.len()]);
        for _ in 0..self.n_tasks {
            clock.advance(TimeDelta::minutes(1));
            let is_hard = random.unit() < 0.5;
            let query = if is_hard { HARD_QUERY } else { EASY_QUERY };
            for (rate, limit) in by_gate.iter_mut().zip([5, 1, 0]) {
                let context = playbook.get_playbook_context(Request::about(query).limit(limit).peek())?;
                *rate += self.rate(is_hard, &context, lessons) / self.n_tasks as f64;
            }
            let context = playbook.get_playbook_context(query)?;
            let is_helpful = random.unit() < self.rate(is_hard, &context, lessons);
            n_helpful += u64::from(is_helpful);
            let outcome = if is_helpful { Feedback::Helpful } else { Feedback::Harmful };
            playbook.record_outcome(context.receipt.ok_or("a task without a receipt")?, outcome)?;
        }
        Ok(Rates { observed: n_helpful as f64 / self.n_tasks as f64, by_gate })
    }

    /// Probability that a task succeeds.
    fn rate(&self, is_hard: bool, context: &Context, lessons: &Lessons) -> f64 {
        let has = |id: LessonId| f64::from(u8::from(context.lessons.iter().any(|shown| shown.id == id)));
        let base = if is_hard { HARD_RATE } else { EASY_RATE };
        base + self.effect * has(lessons.hard) - self.effect * has(lessons.easy)
    }
}

/// Shares of tasks that succeed.
struct Rates {
    /// In the simulation, with lessons withheld at random.
    observed: f64,
    /// The expected share under each gate.
    by_gate: [f64; GATES.len()],
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
    fn add_hit_rate(&mut self, difference: f64, truth: f64) {
        if truth != 0.0 {
            self.hit_rates += 1;
            self.wrong_hit_rates += usize::from(difference * truth < 0.0);
        }
    }

    fn add_effect(&mut self, effect: Effect, truth: f64) {
        let Effect::Measured { uplift, claim, .. } = effect else { return };
        self.measured += 1;
        self.covered += usize::from(uplift.covers(truth));
        let is_right = match claim {
            Claim::Undecided => return,
            Claim::Helps => truth > 0.0,
            Claim::Harms => truth < 0.0,
        };
        self.claims += 1;
        // Without an effect, any claim is wrong.
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
    fn add(&mut self, replay: Replay, truth: f64) {
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
