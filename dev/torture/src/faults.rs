//! Kills, damaged files, a full disk and a held lock.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use adage_eval::Random;

use crate::Tally;
use crate::memory::{Failure, Program};

/// The longest time that a writer may wait for a held lock, including the start of its process.
const MAX_WAIT: Duration = Duration::from_secs(3);

/// Kills processes while they learn or remove: afterwards every acknowledged write is there once, and at most the last one in addition.
pub(crate) fn kills(program: &Program, scale: usize) -> Result<Tally, Failure> {
    let (mut tally, mut random) = (Tally::default(), Random(1));
    let home = tempfile::tempdir()?;
    let folder = home.path().join("memory");
    program.fill(&folder)?;
    for case in 0..100 * scale {
        let trigger = format!("case {case} is killed");
        let (before, _) = program.state(&folder)?;
        let arguments: [&[&str]; 2] = [
            &["learn", "--trigger", &trigger, "--solution", "whatever comes of it"],
            &["remove", "task number 2 of the campaign"],
        ];
        let is_removal = case % 10 == 9;
        let mut child = program.command(&folder, if is_removal { arguments[1] } else { arguments[0] }).spawn()?;
        thread::sleep(Duration::from_micros(random.below(9_000) as u64));
        let _ = child.kill();
        let is_acknowledged = child.wait_with_output()?.status.success();
        let (after, _) = program.state(&folder)?;
        let is_right = if is_removal {
            before.equals_except(&after, "task number 2 of the campaign")
        } else {
            (after.has(&trigger) || !is_acknowledged) && after.equals_except(&before, &trigger)
        };
        tally.count(&format!("kill {case}"), is_right, false);
        if after.has(&trigger) {
            program.object(&folder, &["remove", &trigger])?;
        }
        if is_removal && after.has("task number 2 of the campaign") {
            continue;
        }
        let strays =
            fs::read_dir(&folder)?.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(".adage-"));
        if after.has(&trigger) {
            tally.count(&format!("strays of kill {case}"), strays.count() == 0, false);
        }
    }
    Ok(tally)
}

/// The files of a memory whose names have one of these prefixes.
fn files(folder: &Path, prefixes: &[&str]) -> Result<Vec<PathBuf>, Failure> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)?.flatten().map(|entry| entry.path()).collect();
    let is_of_interest = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        path.is_file() && prefixes.iter().any(|prefix| name.starts_with(prefix))
    };
    files.retain(is_of_interest);
    files.sort();
    Ok(files)
}

/// Changes one file at a time, restores its modification time, and compares the state.
fn damage(
    program: &Program,
    prefixes: &[&str],
    n_cases: usize,
    mut change: impl FnMut(&mut Random, &[u8]) -> Vec<u8>,
) -> Result<Tally, Failure> {
    let (mut tally, mut random) = (Tally::default(), Random(2));
    let home = tempfile::tempdir()?;
    let folder = home.path().join("memory");
    program.fill(&folder)?;
    let (known, _) = program.state(&folder)?;
    let files = files(&folder, prefixes)?;
    for case in 0..n_cases {
        let Some(path) = files.get(case % files.len()) else { continue };
        let (whole, modified) = (fs::read(path)?, fs::metadata(path)?.modified()?);
        let write = |bytes: &[u8]| -> Result<(), Failure> {
            fs::write(path, bytes)?;
            Ok(File::options().write(true).open(path)?.set_modified(modified)?)
        };
        write(&change(&mut random, &whole))?;
        let (state, is_reported) = program.state(&folder)?;
        tally.count(&format!("case {case} of {}", path.display()), state == known, is_reported);
        write(&whole)?;
    }
    Ok(tally)
}

/// Flips a random bit.
pub(crate) fn flips(program: &Program, scale: usize) -> Result<Tally, Failure> {
    damage(program, &["skills_playbook", "archive", "usage"], 300 * scale, |random, whole| {
        let mut bytes = whole.to_vec();
        let bit = random.below(bytes.len() * 8);
        if let Some(byte) = bytes.get_mut(bit / 8) {
            *byte ^= 1 << (bit % 8);
        }
        bytes
    })
}

/// Truncates a file at a random byte.
pub(crate) fn cuts(program: &Program, scale: usize) -> Result<Tally, Failure> {
    damage(program, &["skills_playbook", "archive", "usage"], 150 * scale, |random, whole| {
        // Every fourth cut is at the end of a line, where no line is incomplete.
        let at = random.below(whole.len());
        let is_at_end = random.below(4) == 0;
        let end = whole.iter().skip(at).position(|byte| *byte == b'\n').filter(|_| is_at_end);
        let mut cut = whole.get(..end.map_or(at, |line| at + line + 1)).unwrap_or_default().to_vec();
        // A line of usage that no commit counted may also never have been written.
        if whole.starts_with(b"{\"n\":") && cut.ends_with(b"\n") {
            cut.pop();
        }
        cut
    })
}

/// Limits the size of files to a random number of blocks, so that different writes of the program fail.
pub(crate) fn full_disk(program: &Program, scale: usize) -> Result<Tally, Failure> {
    let (mut tally, mut random) = (Tally::default(), Random(3));
    let home = tempfile::tempdir()?;
    let folder = home.path().join("memory");
    program.fill(&folder)?;
    for case in 0..30 * scale {
        let (before, _) = program.state(&folder)?;
        let trigger = format!("case {case} finds no space");
        let n_blocks = random.below(12).to_string();
        let learn = program.command(&folder, &["learn", "--trigger", &trigger, "--solution", "whatever comes of it"]);
        let mut limited = Command::new("bash");
        limited.args(["-c", "trap '' XFSZ; n=$1; shift; ulimit -f $n; exec \"$@\"", "-", &n_blocks]);
        limited.arg(learn.get_program()).args(learn.get_args()).env("ADAGE_TRUST", "all");
        let output = limited.output()?;
        let (after, _) = program.state(&folder)?;
        let is_right = if output.status.success() { after.has(&trigger) } else { !output.stderr.is_empty() };
        tally.count(&format!("limit of {n_blocks} blocks"), is_right && after.equals_except(&before, &trigger), false);
        if after.has(&trigger) {
            program.object(&folder, &["remove", &trigger])?;
        }
        let context = program.run(&folder, &["context", "task number 3 of the campaign"])?;
        tally.count("works afterwards", context.status.success(), false);
    }
    Ok(tally)
}

/// Another process holds the lock and does not release it.
pub(crate) fn holders(program: &Program, _: usize) -> Result<Tally, Failure> {
    let mut tally = Tally::default();
    let home = tempfile::tempdir()?;
    let folder = home.path().join("memory");
    program.fill(&folder)?;
    let lock = File::options().append(true).open(folder.join("lock"))?;
    lock.lock()?;
    let writers: [&[&str]; 4] = [
        &["learn", "--trigger", "waits", "--solution", "and gives up"],
        &["remove", "task number 1 of the campaign"],
        &["remove", "--everywhere", "task number 1 of the campaign"],
        &["remove", "--prune"],
    ];
    for arguments in writers {
        let begun = Instant::now();
        let output = program.run(&folder, arguments)?;
        let is_named = String::from_utf8_lossy(&output.stderr).contains(&format!("process {}", std::process::id()));
        let is_right = !output.status.success() && is_named && begun.elapsed() < MAX_WAIT;
        tally.count(&format!("{arguments:?} took {:?}", begun.elapsed()), is_right, false);
    }
    let readers: [&[&str]; 5] = [
        &["context", "task number 1 of the campaign"],
        &["list"],
        &["list", "--stats"],
        &["doctor", "--check"],
        &["doctor"],
    ];
    for arguments in readers {
        let begun = Instant::now();
        program.run(&folder, arguments)?;
        let elapsed = begun.elapsed();
        tally.count(&format!("{arguments:?} took {elapsed:?}"), elapsed < Duration::from_millis(100), false);
    }
    Ok(tally)
}
