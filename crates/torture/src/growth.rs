//! What a memory costs as it grows: `adage-torture --growth [SIZE…]`, a process for each step so that its memory is its own.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use adage::{LessonDraft, Playbook, Request, build_lesson};

use crate::memory::Failure;
use crate::worker::open;

pub(crate) const ARGUMENT: &str = "--growth";
const SIZES: [usize; 5] = [50, 1_000, 10_000, 100_000, 1_000_000];
/// A step that takes more memory than this is ended: the machine is shared.
const MAX_RESIDENT_KIB: u64 = 8 << 20;

/// Prints a row for each size.
pub(crate) fn growth(arguments: &[String]) -> Result<(), Failure> {
    if let [step, size, folder] = arguments
        && let Ok(size) = size.parse()
    {
        match step.as_str() {
            "make" => return make(size, folder.as_ref()),
            "measure" => return measure(size, folder.as_ref()),
            _ => {}
        }
    }
    let given = arguments.iter().map(|size| size.parse()).collect::<Result<Vec<usize>, _>>()?;
    println!("others on the machine: a load of {}", fs::read_to_string("/proc/loadavg")?.trim_end());
    println!(
        "| lessons | file | sync of 600 bytes | learn | remove | open | first recall by words | … with `recall.bin` | recall by words | resident |\n\
         |--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    );
    for size in if given.is_empty() { SIZES.to_vec() } else { given } {
        let home = tempfile::tempdir()?;
        for step in ["make", "measure"] {
            let mut command = Command::new(std::env::current_exe()?);
            command.args([ARGUMENT, step, &size.to_string()]).arg(home.path());
            let mut child = command.stdin(Stdio::null()).spawn()?;
            let most = watch(&mut child)?;
            if most > MAX_RESIDENT_KIB {
                println!("| {size} | to {step} it takes more than {} GiB: ended | | | | | | | |", most >> 20);
                break;
            }
        }
    }
    Ok(())
}

/// Waits for a process, and ends it if it takes too much memory; the most that it took, in KiB.
fn watch(child: &mut Child) -> Result<u64, Failure> {
    let mut most = 0;
    loop {
        most = most.max(resident(&child.id().to_string(), "VmRSS").unwrap_or_default());
        if most > MAX_RESIDENT_KIB {
            child.kill()?;
        }
        match child.try_wait()? {
            None => thread::sleep(Duration::from_millis(50)),
            Some(status) if status.success() || most > MAX_RESIDENT_KIB => return Ok(most),
            Some(status) => return Err(format!("a step ended with {status}").into()),
        }
    }
}

/// What Linux says of a process's memory, in KiB.
fn resident(process: &str, key: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
    line.split_whitespace().next()?.parse().ok()
}

/// A trigger and a solution, of which no two say the same.
fn texts(number: usize) -> (String, String) {
    const WORDS: [&str; 16] = [
        "dates",
        "locks",
        "exports",
        "ports",
        "caches",
        "threads",
        "paths",
        "tokens",
        "migrations",
        "retries",
        "queues",
        "schemas",
        "sessions",
        "certificates",
        "indexes",
        "streams",
    ];
    let word = |shift: u32| WORDS.get(number / 16_usize.pow(shift) % 16).copied().unwrap_or_default();
    let trigger = format!("handle {} with {} under {} near {} case{number}x", word(0), word(1), word(2), word(3));
    (trigger, format!("Check {} first, then {}; note{number}y.", word(1), word(0)))
}

fn draft(number: usize) -> LessonDraft {
    let (trigger, solution) = texts(number);
    build_lesson(trigger, solution)
}

/// A memory as the program writes it: rows by hand, which the first commit carries over.
fn make(size: usize, folder: &Path) -> Result<(), Failure> {
    let mut file = BufWriter::new(File::create(folder.join("skills_playbook.json"))?);
    for number in 0..size {
        let (trigger, solution) = texts(number);
        let row = serde_json::json!({
            "trigger": trigger, "solution": solution, "id": format!("00000000-0000-7000-8000-{number:012x}"),
            "schema_version": 2, "timestamp": "2026-01-01T00:00:00Z", "confidence": (number % 97) as f64 / 97.0,
        });
        write!(file, "{}{row}", if number == 0 { '[' } else { ',' })?;
    }
    file.write_all(b"]")?;
    file.into_inner()?.sync_all()?;
    let playbook = open(folder)?;
    playbook.learn_lesson(draft(size))?;
    playbook.checkpoint()?;
    // The time of a file that is younger than two seconds does not show whether it changed since.
    thread::sleep(Duration::from_millis(2_500));
    Ok(())
}

fn measure(size: usize, folder: &Path) -> Result<(), Failure> {
    let about = |number: usize| Request::about(texts(number % size).0).peek();
    let first = || -> Result<(Playbook, Duration, Duration), Failure> {
        let (playbook, opened) = timed(|| open(folder))?;
        let (shown, recalled) = timed(|| playbook.get_playbook_context(about(3)))?;
        if shown.lessons.is_empty() {
            return Err("nothing was recalled".into());
        }
        Ok((playbook, opened, recalled))
    };
    // It leaves `recall.bin` for the next process.
    let (playbook, first_opened, first_recall) = first()?;
    drop(playbook);
    let (playbook, opened, stored_recall) = first()?;
    let recall = median(50, |number| playbook.get_playbook_context(about(7 * number)).map(drop))?;
    let learn = median(15, |number| playbook.learn_lesson(draft(size + 1 + number)).map(drop))?;
    let remove = median(5, |number| playbook.remove(&*texts(number).0).map(drop))?;
    let resident = resident("self", "VmRSS").unwrap_or_default();
    let mut appended = File::options().create(true).append(true).open(folder.join("unrelated"))?;
    let sync = median(15, |_| {
        appended.write_all(&[b'x'; 600])?;
        appended.sync_all()
    })?;
    let length = fs::metadata(folder.join("skills_playbook.json"))?.len() as f64 / f64::from(1 << 20);
    println!(
        "| {size} | {length:.1} MiB | {sync:.1?} | {learn:.1?} | {remove:.1?} | {first_opened:.1?} + {first_recall:.1?} | \
         {opened:.1?} + {stored_recall:.1?} | {recall:.0?} | {} MiB |",
        resident >> 10
    );
    Ok(())
}

/// The median time of one of some.
fn median<E>(n: usize, mut run: impl FnMut(usize) -> Result<(), E>) -> Result<Duration, E> {
    let mut times = (0..n).map(|number| Ok(timed(|| run(number))?.1)).collect::<Result<Vec<_>, E>>()?;
    times.sort_unstable();
    Ok(times.get(n / 2).copied().unwrap_or_default())
}

fn timed<T, E>(run: impl FnOnce() -> Result<T, E>) -> Result<(T, Duration), E> {
    let start = Instant::now();
    let value = run()?;
    Ok((value, start.elapsed()))
}
