//! One process of many on one memory: threads that learn, recall, record outcomes and remove, and a log of what was acknowledged.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use adage::{
    Config, Credited, Error, Feedback, FolderError, LearnOutcome, LessonId, Listing, Playbook, ReceiptId, build_lesson,
};
use serde::{Deserialize, Serialize};

use crate::memory::{Failure, Random};

/// The first argument of such a process.
pub(crate) const ARGUMENT: &str = "--worker";
/// How many threads each process has.
pub(crate) const N_THREADS: usize = 64;
/// Each thread pauses between two calls, up to this long: all of them together call about 170 times in a second, a tenth of which take
/// the lock. Much more would pile up behind it on a small machine.
const MAX_PAUSE: Duration = Duration::from_millis(5_600);
/// From so many lessons on, threads remove more than they learn: every process reads the file again after each commit of another.
const N_ENOUGH: usize = 70;

/// A call that came back, as the log has it.
#[derive(Serialize, Deserialize)]
pub(crate) struct Call {
    pub(crate) what: What,
    /// In microseconds since 1970.
    pub(crate) begun: u64,
    pub(crate) ended: u64,
}

/// What a call came to.
#[derive(Serialize, Deserialize)]
pub(crate) enum What {
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
    /// An outcome that counts for these lessons.
    Settled {
        is_helpful: bool,
        lessons: Vec<LessonId>,
    },
    /// Somebody else removed the lesson before.
    Overtaken,
    /// The lock was not free in time; nothing happened.
    Locked,
    /// Anything else is wrong.
    Failed {
        error: String,
    },
}

/// What a worker's lessons and those of all are about.
pub(crate) fn trigger_of_all(number: usize) -> String {
    format!("shared{number}x task of the campaign")
}

pub(crate) const N_OF_ALL: usize = 40;

pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}

/// A handle as every process has it.
pub(crate) fn open(folder: &Path) -> Result<Playbook, Failure> {
    let mut config = Config::default();
    config.retention.capacity = 10_000_000;
    Ok(Playbook::builder(folder).with_config(config).without_embedder().open()?)
}

/// Works on a folder for a time: `--worker FOLDER LOG NUMBER SECONDS`.
pub(crate) fn work(arguments: &[String]) -> Result<(), Failure> {
    let [folder, log, number, seconds] = arguments else { return Err("a worker takes four arguments".into()) };
    let (number, seconds): (usize, u64) = (number.parse()?, seconds.parse()?);
    let log = Mutex::new(BufWriter::new(File::create(log)?));
    let playbook = open(folder.as_ref())?;
    let end = Instant::now() + Duration::from_secs(seconds);
    thread::scope(|scope| {
        for thread in 0..N_THREADS {
            let (playbook, log) = (playbook.clone(), &log);
            let mut hand = Hand { playbook, log, random: Random((number * N_THREADS + thread) as u64), n_learned: 0 };
            scope.spawn(move || hand.work_until(end, &format!("p{number}t{thread}")));
        }
    });
    drop(playbook);
    log.into_inner().map_err(|_| "a thread of a worker panicked")?.flush()?;
    Ok(())
}

/// One thread.
struct Hand<'a> {
    playbook: Playbook,
    log: &'a Mutex<BufWriter<File>>,
    random: Random,
    n_learned: usize,
}

impl Hand<'_> {
    fn work_until(&mut self, end: Instant, name: &str) {
        let mut receipts = Vec::new();
        loop {
            let most = usize::try_from(MAX_PAUSE.as_millis()).unwrap_or(usize::MAX);
            thread::sleep(Duration::from_millis(self.random.below(most) as u64));
            if Instant::now() >= end {
                return;
            }
            let begun = now();
            let what = self.call(name, &mut receipts).unwrap_or_else(What::of);
            let call = Call { what, begun, ended: now() };
            if let What::Shown { receipt: Some(receipt), .. } = &call.what {
                receipts.push(*receipt);
            }
            if let (Ok(mut log), Ok(line)) = (self.log.lock(), serde_json::to_string(&call))
                && let Err(error) = writeln!(log, "{line}")
            {
                eprintln!("a worker cannot log: {error}");
            }
        }
    }

    fn call(&mut self, name: &str, receipts: &mut Vec<ReceiptId>) -> Result<What, Error> {
        match self.random.below(100) {
            0..91 => {
                let context = self.playbook.get_playbook_context(&*trigger_of_all(self.random.below(N_OF_ALL)))?;
                let lessons = context.lessons.iter().map(|shown| shown.id).collect();
                Ok(What::Shown { receipt: context.receipt, lessons })
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
                    Credited::Recorded { lessons } => Ok(What::Settled { is_helpful, lessons }),
                    credited @ Credited::AlreadyRecorded { .. } => {
                        Ok(What::Failed { error: format!("{receipt}: {credited:?}") })
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
                let is_removal = lessons.len() >= N_ENOUGH || self.random.below(3) == 0;
                match others.get(self.random.below(others.len())).filter(|_| is_removal) {
                    Some(id) => self.playbook.remove(*id).map(|_| What::Removed { id: *id }),
                    None => self.learn(name),
                }
            }
            _ => self.learn(name),
        }
    }

    fn learn(&mut self, name: &str) -> Result<What, Error> {
        self.n_learned += 1;
        let text = format!("{name}n{}", self.n_learned);
        match self.playbook.learn_lesson(build_lesson(&*text, format!("{text}s")))? {
            LearnOutcome::Inserted { id, .. } | LearnOutcome::Distinct { id, .. } => Ok(What::Learned { id }),
            other => Ok(What::Failed { error: format!("learned {text}: {other:?}") }),
        }
    }
}

impl What {
    fn of(error: Error) -> Self {
        match error {
            Error::Folder(FolderError::Locked { .. }) => Self::Locked,
            Error::NoSuchLesson { .. } => Self::Overtaken,
            error => Self::Failed { error: error.to_string() },
        }
    }
}
