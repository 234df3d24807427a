//! Kills a command before each of its system calls that write, with `strace`.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::Tally;
use crate::memory::{Failure, Program};

/// The system calls that change files, and those that make changes durable.
const WRITING: &str = "write,writev,pwrite64,pwritev,rename,renameat,renameat2,link,linkat,unlink,unlinkat,mkdir,mkdirat,ftruncate,\
                       fallocate,copy_file_range,sendfile,fsync,fdatasync,utimensat,fchmod,openat2";

/// The arguments of a command, and its standard input.
type CommandLine = (&'static [&'static str], &'static str);

const IMPORTED: &str = "{\"trigger\": \"an imported task\", \"solution\": \"as they did\"}\n";

const COMMANDS: [CommandLine; 15] = [
    (&["learn", "--trigger", "one more task", "--solution", "do it"], ""),
    (&["learn", "--trigger", "task number 1 of the campaign", "--solution", "do what 1 says"], ""),
    (
        &["learn"],
        "{\"trigger\": \"first of two\", \"solution\": \"a\"}\n{\"trigger\": \"second of two\", \"solution\": \"b\"}\n",
    ),
    (&["edit", "task number 1 of the campaign", "--solution", "do something else"], ""),
    (&["context", "task number 2 of the campaign"], ""),
    (&["outcome", "--shown", "task number 2 of the campaign"], ""),
    (&["outcome", "--helpful", "task number 3 of the campaign"], ""),
    (&["edit", "task number 1 of the campaign", "--verified", "yes"], ""),
    (&["remove", "task number 1 of the campaign"], ""),
    (&["remove", "--everywhere", "task number 1 of the campaign"], ""),
    (&["import", "-"], IMPORTED),
    (&["remove", "--prune"], ""),
    (&["doctor", "--repair"], ""),
    (&["restore", "BACKUP"], ""),
    (&["edit", "task number 1 of the campaign", "--graduated", "yes"], ""),
];

/// Whether `strace` works on this machine.
pub(crate) fn has_strace() -> bool {
    let strace = Command::new("strace").args(["-qq", "true"]).stdout(Stdio::null()).stderr(Stdio::null()).status();
    strace.is_ok_and(|status| status.success())
}

/// The state without ids and times, and whether the program reports damage.
fn comparable_state(program: &Program, folder: &Path) -> Result<(Vec<String>, bool), Failure> {
    let (state, is_reported) = program.state(folder)?;
    Ok((state.without_names(), is_reported))
}

fn copy(from: &Path, to: &Path) -> Result<(), Failure> {
    let status = Command::new("cp").arg("-a").arg(from).arg(to).status()?;
    if status.success() { Ok(()) } else { Err(format!("cp {} {}", from.display(), to.display()).into()) }
}

/// Kills each command before each of its calls: afterwards the memory is in the state before or after the command, the next learn
/// succeeds, and no temporary files are left.
pub(crate) fn kills(program: &Program, scale: usize) -> Result<Tally, Failure> {
    let mut tally = Tally::default();
    let home = tempfile::tempdir()?;
    let (filled, backup) = (home.path().join("filled"), home.path().join("backup"));
    program.fill(&filled)?;
    program.object(&filled, &["backup", &backup.display().to_string()])?;
    program.object(&filled, &["learn", "--trigger", "after the backup", "--solution", "is not in it"])?;
    let (before, _) = comparable_state(program, &filled)?;
    let (folder, input) = (home.path().join("memory"), home.path().join("input"));
    // The short form tests every 11th call, with another offset for each command.
    let step = if scale >= 10 { 1 } else { 11 };
    for (number, (arguments, read)) in COMMANDS.iter().enumerate() {
        let backup = backup.display().to_string();
        let arguments: Vec<&str> =
            arguments.iter().map(|word| if *word == "BACKUP" { &backup } else { *word }).collect();
        fs::write(&input, read)?;
        copy(&filled, &folder)?;
        let done = program.command(&folder, &arguments).stdin(fs::File::open(&input)?).output()?;
        let (after, _) = comparable_state(program, &folder)?;
        if !done.status.success() {
            return Err(format!("{arguments:?}: {}", String::from_utf8_lossy(&done.stderr)).into());
        }
        let case = Case { program, filled: &filled, folder: &folder, input: &input, arguments: &arguments };
        for call in (1 + number % step..).step_by(step) {
            let Killed { has_ended, state, is_reported } = case.kill_before(call)?;
            let what = format!("{arguments:?} at call {call}");
            let is_between = arguments == ["learn"] && state.len() == before.len() + 1;
            let is_right = if has_ended { state == after } else { state == before || state == after || is_between };
            tally.count(&what, is_right, is_reported);
            tally.count(&format!("learn after {what}"), case.can_learn()?, false);
            if has_ended {
                break;
            }
        }
        fs::remove_dir_all(&folder)?;
    }
    Ok(tally)
}

/// A command that is killed, on copies of a memory.
struct Case<'a> {
    program: &'a Program,
    /// The memory that is copied.
    filled: &'a Path,
    folder: &'a Path,
    /// The file that the command reads as its standard input.
    input: &'a Path,
    arguments: &'a [&'a str],
}

/// A memory after a command was killed.
struct Killed {
    /// The command made fewer calls, and was not killed.
    has_ended: bool,
    state: Vec<String>,
    is_reported: bool,
}

impl Case<'_> {
    /// Runs the command on a new copy of the memory and kills it before its `call`th call that writes.
    fn kill_before(&self, call: usize) -> Result<Killed, Failure> {
        fs::remove_dir_all(self.folder)?;
        copy(self.filled, self.folder)?;
        let command = self.program.command(self.folder, self.arguments);
        let mut traced = Command::new("strace");
        traced.args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={WRITING}")]);
        traced.args(["-e", &format!("inject={WRITING}:signal=KILL:when={call}")]);
        traced.arg(command.get_program()).args(command.get_args()).env("ADAGE_TRUST", "all");
        let ended = traced.stdin(fs::File::open(self.input)?).output()?;
        let (state, is_reported) = comparable_state(self.program, self.folder)?;
        Ok(Killed { has_ended: ended.status.success(), state, is_reported })
    }

    /// Whether the memory learns another lesson and has no temporary files then.
    fn can_learn(&self) -> Result<bool, Failure> {
        let learned = self.program.run(self.folder, &["learn", "--trigger", "and on", "--solution", "it goes"])?;
        let mut entries = fs::read_dir(self.folder)?.flatten();
        let has_strays = entries.any(|entry| is_stray(&entry.file_name().to_string_lossy()));
        Ok(learned.status.success() && !has_strays)
    }
}

fn is_stray(name: &str) -> bool {
    name.starts_with(".adage-")
}
