//! Processes that die before each call that writes, one after the other, by `strace`.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::Tally;
use crate::memory::{Failure, Program};

/// The calls of the system that change what a folder holds, and those that make a change durable.
const WRITING: &str = "write,writev,pwrite64,pwritev,rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,mkdirat,ftruncate,\
                       fallocate,copy_file_range,sendfile,fsync,fdatasync,utimensat,fchmod,openat2";

/// A command, and what it reads on standard input.
type Case = (&'static [&'static str], &'static str);

const IMPORTED: &str = "{\"trigger\": \"an imported task\", \"solution\": \"as they did\"}\n";

const CASES: [Case; 16] = [
    (&["learn", "--trigger", "one more task", "--solution", "do it"], ""),
    (&["learn", "--trigger", "task number 1 of the campaign", "--solution", "do what 1 says"], ""),
    (
        &["learn"],
        "{\"trigger\": \"first of two\", \"solution\": \"a\"}\n{\"trigger\": \"second of two\", \"solution\": \"b\"}\n",
    ),
    (&["edit", "task number 1 of the campaign", "--solution", "do something else"], ""),
    (&["context", "task number 2 of the campaign"], ""),
    (&["record", "task number 2 of the campaign"], ""),
    (&["helpful", "task number 3 of the campaign"], ""),
    (&["verify", "task number 1 of the campaign", "passed"], ""),
    (&["remove", "task number 1 of the campaign"], ""),
    (&["forget", "task number 1 of the campaign"], ""),
    (&["import", "-"], IMPORTED),
    (&["prune"], ""),
    (&["checkpoint"], ""),
    (&["repair"], ""),
    (&["restore", "BACKUP"], ""),
    (&["graduate", "task number 1 of the campaign"], ""),
];

/// True where this machine can kill a process at a call.
pub(crate) fn are_there() -> bool {
    let strace = Command::new("strace").args(["-qq", "true"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    strace.is_ok_and(|status| status.success())
}

/// The state without what differs from run to run.
fn told(program: &Program, folder: &Path) -> Result<(Vec<String>, bool), Failure> {
    let (state, is_told) = program.state(folder)?;
    Ok((state.without_names(), is_told))
}

fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    let status = Command::new("cp").arg("-a").arg(from).arg(to).status()?;
    if status.success() { Ok(()) } else { Err(format!("cp {} {}", from.display(), to.display()).into()) }
}

/// Each command dies before each of its calls; then the memory is as before or as after it, goes on, and has no strays.
pub(crate) fn points(program: &Program, scale: usize) -> Result<Tally, Failure> {
    let mut tally = Tally::default();
    let home = tempfile::tempdir()?;
    let (stocked, backup) = (home.path().join("stocked"), home.path().join("backup"));
    program.stock(&stocked)?;
    program.object(&stocked, &["backup", &backup.display().to_string()])?;
    program.object(&stocked, &["learn", "--trigger", "after the backup", "--solution", "is not in it"])?;
    let (before, _) = told(program, &stocked)?;
    let (folder, input) = (home.path().join("memory"), home.path().join("input"));
    // The short form takes every so many of them, another one of each command.
    let step = if scale >= 10 { 1 } else { 11 };
    for (number, (arguments, read)) in CASES.iter().enumerate() {
        let backup = backup.display().to_string();
        let arguments: Vec<&str> =
            arguments.iter().map(|word| if *word == "BACKUP" { &backup } else { *word }).collect();
        fs::write(&input, read)?;
        copy(&stocked, &folder)?;
        let done = program.command(&folder, &arguments).stdin(fs::File::open(&input)?).output()?;
        let (after, _) = told(program, &folder)?;
        if !done.status.success() {
            return Err(format!("{arguments:?}: {}", String::from_utf8_lossy(&done.stderr)).into());
        }
        for point in (1 + number % step..).step_by(step) {
            fs::remove_dir_all(&folder)?;
            copy(&stocked, &folder)?;
            let command = program.command(&folder, &arguments);
            let mut traced = Command::new("strace");
            traced.args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={WRITING}")]);
            traced.args(["-e", &format!("inject={WRITING}:signal=KILL:when={point}")]);
            traced.arg(command.get_program()).args(command.get_args()).env("ADAGE_TRUST", "all");
            let ended = traced.stdin(fs::File::open(&input)?).output()?;
            let (now, is_told) = told(program, &folder)?;
            let what = format!("{arguments:?} at call {point}");
            let is_between = arguments == ["learn"] && now.len() == before.len() + 1;
            let is_right =
                if ended.status.success() { now == after } else { now == before || now == after || is_between };
            tally.count(&what, is_right, is_told);
            let learned = program.run(&folder, &["learn", "--trigger", "and on", "--solution", "it goes"])?;
            let strays =
                fs::read_dir(&folder)?.flatten().filter(|entry| is_stray(&entry.file_name().to_string_lossy()));
            tally.count(&format!("learn after {what}"), learned.status.success() && strays.count() == 0, false);
            if ended.status.success() {
                break;
            }
        }
        fs::remove_dir_all(&folder)?;
    }
    Ok(tally)
}

fn is_stray(name: &str) -> bool {
    name.starts_with(".adage-")
}
