//! Many processes with many threads on one memory; now and then the one that holds the lock is stopped.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use adage::config::StoreConfig;
use adage::{LessonId, Listing, build_lesson};
use adage_eval::Random;

use crate::Tally;
use crate::memory::{Failure, Program};
use crate::worker::{self, Call, Outcome};

const N_PROCESSES: usize = 8;
/// How long a process is stopped: longer than the longest wait for the lock.
const STOP: Duration = Duration::from_secs(3);
/// How much longer than `store.lock_timeout` a call may take: the machine is busy, and a call may first wait for another of its handle.
const MARGIN: Duration = Duration::from_secs(1);

/// A time during which a process was stopped, in microseconds since 1970.
struct Stop {
    process: usize,
    begun: u64,
    ended: u64,
}

/// The acknowledged counts of a lesson.
#[derive(Debug, Default, PartialEq)]
struct Counts {
    retrievals: u64,
    helpful: u64,
    harmful: u64,
}

pub(crate) fn contention(_: &Program, scale: usize) -> Result<Tally, Failure> {
    let home = tempfile::tempdir()?;
    let folder = home.path().join("memory");
    let playbook = worker::open(&folder)?;
    let shared =
        (0..worker::N_SHARED).map(|number| build_lesson(worker::shared_trigger(number), "Shared by all threads."));
    playbook.learn_lessons(shared.collect::<Vec<_>>())?;
    let mut counts: BTreeMap<LessonId, Counts> =
        playbook.list_lessons(&Listing::everything())?.iter().map(|lesson| (lesson.id, Counts::default())).collect();
    drop(playbook);
    // The long form takes three minutes.
    let seconds = if scale >= 10 { 180 } else { 8 * scale };
    let logs: Vec<PathBuf> = (0..N_PROCESSES).map(|number| home.path().join(format!("{number}.log"))).collect();
    let start = |(number, log): (usize, &PathBuf)| {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(worker::ARGUMENT).arg(&folder).arg(log).args([number.to_string(), seconds.to_string()]);
        command.spawn()
    };
    let mut workers = logs.iter().enumerate().map(start).collect::<Result<Vec<Child>, _>>()?;
    let stops = stop_holders(&workers, &folder, Duration::from_secs(seconds as u64));
    for worker in &mut workers {
        if !worker.wait()?.success() {
            return Err("a worker failed".into());
        }
    }
    let stops = stops?;
    let mut report = Report::default();
    for (process, log) in logs.iter().enumerate() {
        for line in fs::read_to_string(log)?.lines() {
            report.add(serde_json::from_str(line)?, &mut counts, &|call| stopped(&stops, process, call));
        }
    }
    report.compare(&folder, counts)?;
    let Report { tally, n_locked, n_removed, longest, longest_recall, .. } = report;
    eprintln!(
        "{} calls in {seconds} s, {n_removed} removals, {} stops of a holder, {n_locked} calls gave up; the longest took \
         {longest:.2?}, the longest recall {longest_recall:.2?}",
        tally.cases,
        stops.len()
    );
    Ok(tally)
}

/// How long a process was stopped during a call.
fn stopped(stops: &[Stop], process: usize, call: &Call) -> Duration {
    let within = |stop: &Stop| stop.ended.min(call.ended).saturating_sub(stop.begun.max(call.begun));
    Duration::from_micros(stops.iter().filter(|stop| stop.process == process).map(within).sum())
}

/// The evaluation of the logs of all processes.
#[derive(Default)]
struct Report {
    tally: Tally,
    removed: Vec<LessonId>,
    n_removed: usize,
    n_locked: usize,
    longest: Duration,
    longest_recall: Duration,
}

impl Report {
    fn add(&mut self, call: Call, counts: &mut BTreeMap<LessonId, Counts>, stopped: &dyn Fn(&Call) -> Duration) {
        let took = Duration::from_micros(call.ended.saturating_sub(call.begun)).saturating_sub(stopped(&call));
        let is_recall = matches!(call.outcome, Outcome::Shown { .. });
        let limit = if is_recall { MARGIN } else { StoreConfig::default().lock_timeout + MARGIN };
        self.longest = self.longest.max(took);
        if is_recall {
            self.longest_recall = self.longest_recall.max(took);
        }
        let mut failure = None;
        match call.outcome {
            Outcome::Learned { id } => drop(counts.entry(id).or_default()),
            Outcome::Removed { id } => {
                self.n_removed += 1;
                self.removed.push(id);
            }
            Outcome::Shown { receipt: Some(_), lessons } => {
                for id in lessons {
                    counts.entry(id).or_default().retrievals += 1;
                }
            }
            Outcome::Settled { is_helpful, lessons } => {
                for id in lessons {
                    let counts = counts.entry(id).or_default();
                    *(if is_helpful { &mut counts.helpful } else { &mut counts.harmful }) += 1;
                }
            }
            Outcome::Locked => self.n_locked += 1,
            Outcome::Shown { receipt: None, .. } | Outcome::AlreadyRemoved => {}
            Outcome::Failed { error } => failure = Some(error),
        }
        // A call that returns late has lost nothing.
        match failure {
            Some(error) => self.tally.count(&error, false, false),
            None => self.tally.count("a call took too long", took <= limit, true),
        }
    }

    /// Compares the memory with the acknowledged calls.
    fn compare(&mut self, folder: &Path, mut counts: BTreeMap<LessonId, Counts>) -> Result<(), Failure> {
        for id in &self.removed {
            counts.remove(id);
        }
        let playbook = worker::open(folder)?;
        let mut lessons: BTreeMap<LessonId, Counts> = BTreeMap::new();
        let n_removed = playbook.stats()?.n_removed;
        for lesson in playbook.list_lessons(&Listing::everything())? {
            let counts = Counts {
                retrievals: lesson.retrievals,
                helpful: lesson.helpful_retrievals,
                harmful: lesson.harmful_retrievals,
            };
            lessons.insert(lesson.id, counts);
        }
        for id in counts.keys().chain(lessons.keys()).collect::<std::collections::BTreeSet<_>>() {
            let (expected, found) = (counts.get(id), lessons.get(id));
            if expected != found {
                self.tally.count(&format!("{id}: {found:?} instead of {expected:?}"), false, false);
            }
        }
        if n_removed != self.n_removed {
            self.tally.count(&format!("{n_removed} removals instead of {}", self.n_removed), false, false);
        }
        let findings = playbook.check()?.findings;
        if !findings.is_empty() {
            self.tally.count(&format!("{findings:?}"), false, false);
        }
        Ok(())
    }
}

/// Stops the process that holds the lock, again and again until the time is over.
fn stop_holders(workers: &[Child], folder: &Path, time: Duration) -> Result<Vec<Stop>, Failure> {
    let end = Instant::now() + time;
    let (mut random, mut stops) = (Random(6), Vec::new());
    thread::sleep(Duration::from_secs(1));
    while Instant::now() + STOP < end {
        let Some(process) = workers.iter().position(|worker| Some(worker.id()) == holder(folder)) else {
            thread::sleep(Duration::from_micros(200));
            continue;
        };
        let Some(pid) = workers.get(process).map(Child::id) else { continue };
        let begun = worker::now();
        signal(pid, "STOP")?;
        let is_holder = holder(folder) == Some(pid);
        if is_holder {
            thread::sleep(STOP);
        }
        signal(pid, "CONT")?;
        stops.push((is_holder, Stop { process, begun, ended: worker::now() }));
        if is_holder {
            thread::sleep(Duration::from_millis(1_000 + random.below(9_000) as u64).min(end - Instant::now()));
        }
    }
    Ok(stops.into_iter().filter(|(is_holder, _)| *is_holder).map(|(_, stop)| stop).collect())
}

fn signal(pid: u32, signal: &str) -> Result<(), Failure> {
    let status = Command::new("kill").args([format!("-{signal}"), pid.to_string()]).status()?;
    if status.success() { Ok(()) } else { Err(format!("kill -{signal} {pid}").into()) }
}

/// The process that holds the lock of a memory, as Linux lists it.
fn holder(folder: &Path) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    let inode = fs::metadata(folder.join("lock")).ok()?.ino().to_string();
    let locks = fs::read_to_string("/proc/locks").ok()?;
    locks.lines().find_map(|line| match line.split_whitespace().collect::<Vec<_>>().as_slice() {
        [_, "FLOCK", _, "WRITE", pid, file, ..] if file.rsplit(':').next() == Some(&inode) => pid.parse().ok(),
        _ => None,
    })
}
