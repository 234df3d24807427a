//! Measures times and memory by the number of lessons: `adage-torture --growth [SIZE…]`. Each step is a process, so that its memory is
//! not that of another step.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use adage::Request;
use adage_eval::synthetic::{draft, trigger, write_playbook};
use adage_eval::timing::{median, timed};

use crate::memory::Failure;
use crate::worker::open;

pub(crate) const ARGUMENT: &str = "--growth";
const SIZES: [usize; 4] = [50, 1_000, 10_000, 100_000];
/// A step that takes more memory than this is killed, because the machine may be shared.
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
    println!("load of the machine: {}", fs::read_to_string("/proc/loadavg")?.trim_end());
    println!(
        "| lessons | file | sync of 600 bytes | learn | remove | open + first recall by words | recall by words | resident |\n\
         |--:|--:|--:|--:|--:|--:|--:|--:|"
    );
    for size in if given.is_empty() { SIZES.to_vec() } else { given } {
        let home = tempfile::tempdir()?;
        for step in ["make", "measure"] {
            let mut command = Command::new(std::env::current_exe()?);
            command.args([ARGUMENT, step, &size.to_string()]).arg(home.path());
            let mut child = command.stdin(Stdio::null()).spawn()?;
            let peak = watch(&mut child)?;
            if peak > MAX_RESIDENT_KIB {
                println!("| {size} | step {step} took more than {} GiB and was killed | | | | | | |", peak >> 20);
                break;
            }
        }
    }
    Ok(())
}

/// Waits for a process and returns its peak memory in KiB; kills it if that exceeds the limit.
fn watch(child: &mut Child) -> Result<u64, Failure> {
    let mut peak = 0;
    loop {
        peak = peak.max(resident(&child.id().to_string(), "VmRSS").unwrap_or_default());
        if peak > MAX_RESIDENT_KIB {
            child.kill()?;
        }
        match child.try_wait()? {
            None => thread::sleep(Duration::from_millis(50)),
            Some(status) if status.success() || peak > MAX_RESIDENT_KIB => return Ok(peak),
            Some(status) => return Err(format!("a step ended with {status}").into()),
        }
    }
}

/// A value of `/proc/PID/status` in KiB.
fn resident(process: &str, key: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'))?;
    line.split_whitespace().next()?.parse().ok()
}

/// Fills a folder as the program does.
fn make(size: usize, folder: &Path) -> Result<(), Failure> {
    write_playbook(folder, size)?;
    let playbook = open(folder)?;
    playbook.learn_lesson(draft(size))?;
    // The modification time of a file younger than two seconds does not prove that it is unchanged.
    thread::sleep(Duration::from_millis(2_500));
    Ok(())
}

fn measure(size: usize, folder: &Path) -> Result<(), Failure> {
    let about = |number: usize| Request::about(trigger(number % size)).peek();
    let (playbook, opened) = timed(|| open(folder))?;
    let (shown, first_recall) = timed(|| playbook.get_playbook_context(about(3)))?;
    if shown.lessons.is_empty() {
        return Err("nothing was recalled".into());
    }
    let recall = median(50, |number| playbook.get_playbook_context(about(7 * number)))?;
    let learn = median(15, |number| playbook.learn_lesson(draft(size + 1 + number)))?;
    let remove = median(5, |number| playbook.remove(&*trigger(number)))?;
    let resident = resident("self", "VmRSS").unwrap_or_default();
    let mut appended = File::options().create(true).append(true).open(folder.join("unrelated"))?;
    let sync = median(15, |_| {
        appended.write_all(&[b'x'; 600])?;
        appended.sync_all()
    })?;
    let length = fs::metadata(folder.join("skills_playbook.json"))?.len() as f64 / f64::from(1 << 20);
    println!(
        "| {size} | {length:.1} MiB | {sync:.1?} | {learn:.1?} | {remove:.1?} | {opened:.1?} + {first_recall:.1?} | \
         {recall:.0?} | {} MiB |",
        resident >> 10
    );
    Ok(())
}
