//! The faults, each in many cases.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::Tally;
use crate::memory::{Failure, Program, Random, State};

const PLAYBOOK: &str = "skills_playbook.json";
/// What nobody may wait longer for than this under a held lock: a writer, and a reader with its start.
const MAX_WAIT: Duration = Duration::from_secs(3);

impl Tally {
    pub(crate) fn count(&mut self, what: &str, is_same: bool, is_told: bool) {
        self.cases += 1;
        match (is_same, is_told) {
            (true, _) => self.same += 1,
            (false, true) => self.told += 1,
            (false, false) => {
                eprintln!("silent: {what}");
                self.silent += 1;
            }
        }
    }
}

/// Processes are killed while they learn and remove; then what was acknowledged is there, once, and nothing else but the last call.
pub(crate) fn kills(program: &Program, scale: usize) -> Result<Tally, Failure> {
    let (mut tally, mut random) = (Tally::default(), Random(1));
    let home = tempfile::tempdir()?;
    let folder = home.path().join("memory");
    program.stock(&folder)?;
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
            before.is_but_for(&after, "task number 2 of the campaign")
        } else {
            (after.has(&trigger) || !is_acknowledged) && after.is_but_for(&before, &trigger)
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

/// The files of a memory whose names begin so.
fn files(folder: &Path, starts: &[&str]) -> Result<Vec<PathBuf>, Failure> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)?.flatten().map(|entry| entry.path()).collect();
    let is_of_interest = |path: &PathBuf| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        path.is_file() && starts.iter().any(|start| name.starts_with(start))
    };
    files.retain(is_of_interest);
    files.sort();
    Ok(files)
}

/// Changes files behind everybody's back, one after the other, and looks.
fn damage(
    program: &Program,
    starts: &[&str],
    n_cases: usize,
    mut change: impl FnMut(&mut Random, &[u8]) -> Vec<u8>,
) -> Result<Tally, Failure> {
    let (mut tally, mut random) = (Tally::default(), Random(2));
    let home = tempfile::tempdir()?;
    let folder = home.path().join("memory");
    program.stock(&folder)?;
    let (known, _) = program.state(&folder)?;
    let files = files(&folder, starts)?;
    for case in 0..n_cases {
        let Some(path) = files.get(case % files.len()) else { continue };
        let (whole, modified) = (fs::read(path)?, fs::metadata(path)?.modified()?);
        let write = |bytes: &[u8]| -> Result<(), Failure> {
            fs::write(path, bytes)?;
            Ok(File::options().write(true).open(path)?.set_modified(modified)?)
        };
        write(&change(&mut random, &whole))?;
        let (state, is_told) = program.state(&folder)?;
        tally.count(&format!("case {case} of {}", path.display()), state == known, is_told);
        write(&whole)?;
    }
    Ok(tally)
}

pub(crate) fn flips(program: &Program, scale: usize) -> Result<Tally, Failure> {
    damage(program, &["skills_playbook", "playbook.log", "archive", "usage"], 300 * scale, |random, whole| {
        let mut bytes = whole.to_vec();
        let bit = random.below(bytes.len() * 8);
        if let Some(byte) = bytes.get_mut(bit / 8) {
            *byte ^= 1 << (bit % 8);
        }
        bytes
    })
}

pub(crate) fn cuts(program: &Program, scale: usize) -> Result<Tally, Failure> {
    damage(program, &["skills_playbook", "playbook.log", "archive", "usage"], 150 * scale, |random, whole| {
        // Every fourth cut is at the end of a line, where nothing is torn.
        let at = random.below(whole.len());
        let is_at_end = random.below(4) == 0;
        let end = whole.iter().skip(at).position(|byte| *byte == b'\n').filter(|_| is_at_end);
        whole.get(..end.map_or(at, |line| at + line + 1)).unwrap_or_default().to_vec()
    })
}

/// Every file may grow to so many blocks and no further: each write of the program fails at some limit.
pub(crate) fn full_disk(program: &Program, scale: usize) -> Result<Tally, Failure> {
    let (mut tally, mut random) = (Tally::default(), Random(3));
    let home = tempfile::tempdir()?;
    let folder = home.path().join("memory");
    program.stock(&folder)?;
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
        tally.count(&format!("limit of {n_blocks} blocks"), is_right && after.is_but_for(&before, &trigger), false);
        if after.has(&trigger) {
            program.object(&folder, &["remove", &trigger])?;
        }
        let context = program.run(&folder, &["context", "task number 3 of the campaign"])?;
        tally.count("works afterwards", context.status.success(), false);
    }
    Ok(tally)
}

/// A text as somebody's program leaves it.
type Kind = (&'static str, fn(&str) -> Vec<u8>);

const KINDS: [Kind; 40] = [
    ("byte order mark", |text| [b"\xef\xbb\xbf", text.as_bytes()].concat()),
    ("UTF-16, little-endian", |text| {
        text.encode_utf16().fold(vec![0xff, 0xfe], |mut bytes, unit| {
            bytes.extend(unit.to_le_bytes());
            bytes
        })
    }),
    ("UTF-16, big-endian", |text| {
        text.encode_utf16().fold(vec![0xfe, 0xff], |mut bytes, unit| {
            bytes.extend(unit.to_be_bytes());
            bytes
        })
    }),
    ("carriage returns", |text| text.replace('\n', "\r\n").into_bytes()),
    ("trailing comma", |text| text.replacen("    }\n  ]", "    },\n  ]", 1).into_bytes()),
    ("a comma too few", |text| text.replacen("    },\n", "    }\n", 1).into_bytes()),
    ("NaN", |text| text.replacen("\"confidence\": 0.5", "\"confidence\": NaN", 1).into_bytes()),
    ("a comment", |text| text.replacen("  \"lessons\"", "  // mine\n  \"lessons\"", 1).into_bytes()),
    ("conflict markers", |text| format!("<<<<<<< HEAD\n{text}=======\n>>>>>>> theirs\n").into_bytes()),
    ("half of it", |text| text.get(..text.len() / 2).unwrap_or_default().as_bytes().to_vec()),
    ("the last byte is missing", |text| text.trim_end().trim_end_matches('}').as_bytes().to_vec()),
    ("nothing", |_| Vec::new()),
    ("zeros", |text| vec![0; text.len()]),
    ("a tail of zeros", |text| {
        let half = text.len() / 2;
        [text.get(..half).unwrap_or_default().as_bytes(), &vec![0; text.len() - half]].concat()
    }),
    ("one byte that is no text", |text| {
        text.replacen("campaign", "camp\u{1}aign", 1).bytes().map(|byte| if byte == 1 { 0xff } else { byte }).collect()
    }),
    ("a quote too few", |text| text.replacen("\"lessons\":", "\"lessons:", 1).into_bytes()),
    ("one line", |text| serde_json::from_str::<Value>(text).unwrap_or_default().to_string().into_bytes()),
    ("twice the same text", |text| text.repeat(2).into_bytes()),
    // Editors.
    ("tabs for blanks", |text| text.replace("  ", "\t").into_bytes()),
    ("blanks at the ends of lines", |text| text.replace('\n', "   \n").into_bytes()),
    ("empty lines", |text| text.replace('\n', "\n\n").into_bytes()),
    ("no newline at the end", |text| text.trim_end().as_bytes().to_vec()),
    ("old Macintosh ends of lines", |text| text.replace('\n', "\r").into_bytes()),
    ("letters as escapes", |text| text.replace("campaign", "c\\u0061mpaign").into_bytes()),
    ("keys in another order", |text| sorted(text).into_bytes()),
    ("curly quotes", |text| text.replacen("\"trigger\"", "\u{201c}trigger\u{201d}", 1).into_bytes()),
    ("single quotes", |text| text.replace('"', "'").into_bytes()),
    ("a byte order mark and carriage returns", |text| format!("\u{feff}{}", text.replace('\n', "\r\n")).into_bytes()),
    ("Latin-1", |text| text.replacen("task number 1", "t\u{e4}sk number 1", 1).chars().map(latin_1).collect()),
    ("a swap file's text", |_| b"b0VIM 9.1\0\0\0\0".to_vec()),
    // Version control.
    ("markers within a lesson", |text| {
        text.replacen("    },\n", "<<<<<<< ours\n    },\n=======\n    },\n>>>>>>> theirs\n", 1).into_bytes()
    }),
    ("a pointer of large-file storage", |_| {
        b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n".to_vec()
    }),
    ("a patch that was refused", |text| lines(text.lines().map(|line| format!("+{line}")))),
    ("both sides after a merge", |text| text.replacen("\n  ]", ",\n    {}\n  ]", 1).into_bytes()),
    // Sync tools and programs.
    ("a page of an error", |_| b"<!DOCTYPE html><html><body>503 Service Unavailable</body></html>".to_vec()),
    ("JSON lines", |text| lines(rows_of(text).iter().map(ToString::to_string))),
    ("the list of lessons alone", |text| Value::from(rows_of(text)).to_string().into_bytes()),
    ("null", |_| b"null\n".to_vec()),
    ("two files joined in the middle", |text| {
        let (one, other) = text.split_at(text.len() / 2);
        format!("{one}{text}{other}").into_bytes()
    }),
    ("the last block twice", |text| format!("{text}{}", text.get(text.len() / 2..).unwrap_or_default()).into_bytes()),
];

/// The text with its keys sorted, as `jq -S` leaves it.
fn sorted(text: &str) -> String {
    let value: Value = serde_json::from_str(text).unwrap_or_default();
    serde_json::to_string_pretty(&value).unwrap_or_default()
}

fn lines(lines: impl Iterator<Item = String>) -> Vec<u8> {
    let mut text = lines.collect::<Vec<_>>().join("\n");
    text.push('\n');
    text.into_bytes()
}

fn latin_1(c: char) -> u8 {
    u8::try_from(u32::from(c)).unwrap_or(b'?')
}

fn rows_of(text: &str) -> Vec<Value> {
    let value: Value = serde_json::from_str(text).unwrap_or_default();
    value.get("lessons").and_then(Value::as_array).cloned().unwrap_or_default()
}

/// After each of them, no lesson is gone but where the program says so.
pub(crate) fn edits(program: &Program, _: usize) -> Result<Tally, Failure> {
    let mut tally = Tally::default();
    for (name, edit) in KINDS {
        let home = tempfile::tempdir()?;
        let folder = home.path().join("memory");
        program.stock(&folder)?;
        let (known, _) = program.state(&folder)?;
        let path = folder.join(PLAYBOOK);
        let text = fs::read_to_string(&path)?;
        fs::write(&path, edit(&text))?;
        let (read, is_told) = program.state(&folder)?;
        tally.count(&format!("read after: {name}"), read == known, is_told);
        let learned = program.run(&folder, &["learn", "--trigger", "after the edit", "--solution", "it goes on"])?;
        let (after, _) = program.state(&folder)?;
        let is_right =
            known.is_but_for(&after, "after the edit") && (after.has("after the edit") || !learned.status.success());
        tally.count(&format!("learned after: {name}"), is_right, is_told && known.is_within(&after));
    }
    Ok(tally)
}

/// Somebody holds the lock and does not go on.
pub(crate) fn holders(program: &Program, _: usize) -> Result<Tally, Failure> {
    let mut tally = Tally::default();
    let home = tempfile::tempdir()?;
    let folder = home.path().join("memory");
    program.stock(&folder)?;
    let lock = File::options().append(true).open(folder.join("lock"))?;
    lock.lock()?;
    let writers: [&[&str]; 4] = [
        &["learn", "--trigger", "waits", "--solution", "and gives up"],
        &["remove", "task number 1 of the campaign"],
        &["forget", "task number 1 of the campaign"],
        &["prune"],
    ];
    for arguments in writers {
        let begun = Instant::now();
        let output = program.run(&folder, arguments)?;
        let is_named = String::from_utf8_lossy(&output.stderr).contains(&format!("process {}", std::process::id()));
        let is_right = !output.status.success() && is_named && begun.elapsed() < MAX_WAIT;
        tally.count(&format!("{arguments:?} took {:?}", begun.elapsed()), is_right, false);
    }
    let readers: [&[&str]; 5] =
        [&["context", "task number 1 of the campaign"], &["list"], &["stats"], &["check"], &["doctor"]];
    for arguments in readers {
        let begun = Instant::now();
        program.run(&folder, arguments)?;
        let elapsed = begun.elapsed();
        tally.count(&format!("{arguments:?} took {elapsed:?}"), elapsed < Duration::from_millis(100), false);
    }
    Ok(tally)
}

impl State {
    /// True where both are the same, but for a lesson that only this one may have.
    fn is_but_for(&self, other: &Self, trigger: &str) -> bool {
        let (own, others) = (self.texts(trigger), other.texts(trigger));
        own == others
    }

    /// True where the other one has every lesson of this one.
    fn is_within(&self, other: &Self) -> bool {
        let others = other.texts("");
        self.texts("").iter().all(|text| others.contains(text))
    }
}
