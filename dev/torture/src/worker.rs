//! One of many processes on one memory: its threads learn, recall, record outcomes and remove, and log what was acknowledged.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use adage::{
    Config, Credited, Error, Feedback, FolderError, LearnOutcome, LessonId, Listing, Playbook, ReceiptId, build_lesson,
};
use adage_eval::Random;
use serde::{Deserialize, Serialize};

use crate::memory::Failure;

/// The first argument of a worker process.
pub(crate) const ARGUMENT: &str = "--worker";
/// Threads per process.
pub(crate) const N_THREADS: usize = 64;
/// The longest pause of a thread between two calls. All threads together make about 170 calls per second, of which a tenth take the
/// lock; many more would queue for it on a small machine.
const MAX_PAUSE: Duration = Duration::from_millis(5_600);
/// From this many lessons on, threads remove more than they learn, because every process reads the file again after a commit of another.
const MAX_LESSONS: usize = 70;

/// A call that returned, as it is logged.
#[derive(Serialize, Deserialize)]
pub(crate) struct Call {
    pub(crate) outcome: Outcome,
    /// In microseconds since 1970.
    pub(crate) begun: u64,
    pub(crate) ended: u64,
}

/// The outcome of a call.
#[derive(Serialize, Deserialize)]
pub(crate) enum Outcome {
    Learned {
        id: LessonId,
    },
    Removed {
        id: LessonId,
    },
    /// A recall; without a receipt it showed nothing.
    Shown {
        receipt: Option<ReceiptId>,
        lessons: Vec<LessonId>,
    },
    /// Feedback that counts for these lessons.
    Settled {
        is_helpful: bool,
        lessons: Vec<LessonId>,
    },
    /// Another process had removed the lesson.
    AlreadyRemoved,
    /// The lock was not free in time; nothing changed.
    Locked,
    /// Any other error.
    Failed {
        error: String,
    },
}

/// The trigger of a lesson that all processes recall.
pub(crate) fn shared_trigger(number: usize) -> String {
    format!("shared{number}x task of the campaign")
}

/// The number of these lessons.
pub(crate) const N_SHARED: usize = 40;

/// Microseconds since 1970.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

/// A handle with the settings that all processes use.
pub(crate) fn open(folder: &Path) -> Result<Playbook, Failure> {
    let mut config = Config::default();
    config.retention.capacity = 10_000_000;
    Ok(Playbook::builder(folder).with_config(config).without_embedder().open()?)
}

/// Makes calls until the time is over: `--worker FOLDER LOG NUMBER SECONDS`.
pub(crate) fn work(arguments: &[String]) -> Result<(), Failure> {
    let [folder, log, number, seconds] = arguments else { return Err("a worker takes four arguments".into()) };
    let (number, seconds): (usize, u64) = (number.parse()?, seconds.parse()?);
    let log = Mutex::new(BufWriter::new(File::create(log)?));
    let playbook = open(folder.as_ref())?;
    let end = Instant::now() + Duration::from_secs(seconds);
    thread::scope(|scope| {
        for thread in 0..N_THREADS {
            let (playbook, log) = (playbook.clone(), &log);
            let mut worker =
                WorkerThread { playbook, log, random: Random((number * N_THREADS + thread) as u64), n_learned: 0 };
            scope.spawn(move || worker.run_until(end, &format!("p{number}t{thread}")));
        }
    });
    // A dropped handle gives up after a while, and the lock is held by stopped processes.
    while !playbook.flush()? {
        thread::yield_now();
    }
    drop(playbook);
    log.into_inner().map_err(|_| "a thread of a worker panicked")?.flush()?;
    Ok(())
}

/// One thread.
struct WorkerThread<'a> {
    playbook: Playbook,
    log: &'a Mutex<BufWriter<File>>,
    random: Random,
    n_learned: usize,
}

impl WorkerThread<'_> {
    fn run_until(&mut self, end: Instant, name: &str) {
        let mut receipts = Vec::new();
        loop {
            let max_pause = usize::try_from(MAX_PAUSE.as_millis()).unwrap_or(usize::MAX);
            thread::sleep(Duration::from_millis(self.random.below(max_pause) as u64));
            if Instant::now() >= end {
                return;
            }
            let begun = now();
            let outcome = self.call(name, &mut receipts).unwrap_or_else(Outcome::of);
            let call = Call { outcome, begun, ended: now() };
            if let Outcome::Shown { receipt: Some(receipt), .. } = &call.outcome {
                receipts.push(*receipt);
            }
            if let (Ok(mut log), Ok(line)) = (self.log.lock(), serde_json::to_string(&call))
                && let Err(error) = writeln!(log, "{line}")
            {
                eprintln!("a worker cannot log: {error}");
            }
        }
    }

    fn call(&mut self, name: &str, receipts: &mut Vec<ReceiptId>) -> Result<Outcome, Error> {
        match self.random.below(100) {
            0..91 => {
                let context = self.playbook.get_playbook_context(&*shared_trigger(self.random.below(N_SHARED)))?;
                let lessons = context.lessons.iter().map(|shown| shown.id).collect();
                Ok(Outcome::Shown { receipt: context.receipt, lessons })
            }
            91..95 if !receipts.is_empty() => {
                let is_helpful = self.random.below(2) == 0;
                let receipt = receipts.swap_remove(self.random.below(receipts.len()));
                let verdict = if is_helpful { Feedback::Helpful } else { Feedback::Harmful };
                let settled = self.playbook.record_outcome(receipt, verdict);
                if settled.is_err() {
                    receipts.push(receipt);
                }
                match settled? {
                    Credited::Recorded { lessons } => Ok(Outcome::Settled { is_helpful, lessons }),
                    credited @ Credited::AlreadyRecorded { .. } => {
                        Ok(Outcome::Failed { error: format!("{receipt}: {credited:?}") })
                    }
                }
            }
            95..98 => {
                let lessons = self.playbook.list_lessons(&Listing::everything())?;
                let others: Vec<LessonId> = lessons
                    .iter()
                    .filter(|lesson| !lesson.trigger.starts_with("shared"))
                    .map(|lesson| lesson.id)
                    .collect();
                let is_removal = lessons.len() >= MAX_LESSONS || self.random.below(3) == 0;
                match others.get(self.random.below(others.len())).filter(|_| is_removal) {
                    Some(id) => self.playbook.remove(*id).map(|_| Outcome::Removed { id: *id }),
                    None => self.learn(name),
                }
            }
            _ => self.learn(name),
        }
    }

    fn learn(&mut self, name: &str) -> Result<Outcome, Error> {
        self.n_learned += 1;
        let text = format!("{name}n{}", self.n_learned);
        match self.playbook.learn_lesson(build_lesson(&*text, format!("{text}s")))? {
            LearnOutcome::Inserted { id, .. } | LearnOutcome::Distinct { id, .. } => Ok(Outcome::Learned { id }),
            other => Ok(Outcome::Failed { error: format!("learned {text}: {other:?}") }),
        }
    }
}

impl Outcome {
    fn of(error: Error) -> Self {
        match error {
            Error::Folder(FolderError::Locked { .. }) => Self::Locked,
            Error::NoSuchLesson { .. } => Self::AlreadyRemoved,
            error => Self::Failed { error: error.to_string() },
        }
    }
}
