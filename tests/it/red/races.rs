//! A folder or file is repeatedly replaced with a link to outside while a handle writes.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use adage::lesson::Trust;
use adage::skills::Skill;
use adage::{Config, Error, FolderError, Listing, Playbook, build_lesson};
use adage_review::{Inbox, PatchKind};

const N_SWAPS: usize = 1_000;
/// The minimum number of writes.
const N_WRITES: usize = 40;
/// The time limit of each race.
const MAX_TIME: Duration = Duration::from_secs(4);

/// The content of the files outside.
const FOREIGN: &str = "foreignword\n";

/// Everything in `home/inside` is the caller's; nothing in `home/outside` may change.
struct Race {
    home: tempfile::TempDir,
    /// Set while swapping continues.
    goes_on: AtomicBool,
    n_swaps: AtomicUsize,
    /// Held while the link is in place, and while a handle is opened.
    turn: Mutex<()>,
}

/// The result of a race.
#[derive(Debug)]
struct Tally {
    n_swaps: usize,
    n_written: usize,
    n_refused: usize,
    /// Files outside that were made, changed, read or removed.
    escapes: Vec<String>,
}

impl Race {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir_all(home.path().join("inside")).unwrap();
        fs::create_dir_all(home.path().join("outside")).unwrap();
        Self { home, goes_on: AtomicBool::new(true), n_swaps: AtomicUsize::new(0), turn: Mutex::new(()) }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().canonicalize().unwrap().join(name)
    }

    fn memory(&self) -> PathBuf {
        self.path("inside/memory")
    }

    fn open(&self) -> Playbook {
        // A lesson evicted from a full realm is not lost.
        let mut config = Config::default();
        config.retention.capacity = LAST;
        Playbook::builder(self.memory()).with_config(config).without_embedder().open().unwrap()
    }

    /// Swaps until it is stopped, and leaves what was there. The link is there for a short while each time.
    fn swap(&self, place: &Path, target: &Path) {
        let (link, aside) = (self.path("link"), self.path("aside"));
        let mut seed = 7_u64;
        while self.goes_on.load(Ordering::Acquire) {
            symlink(target, &link).unwrap();
            let turn = self.turn.lock().unwrap();
            if fs::rename(place, &aside).is_ok() {
                let _ = fs::rename(&link, place);
                self.wait(&mut seed, 2);
                put_back(&aside, place);
            }
            drop(turn);
            let _ = fs::remove_file(&link).or_else(|_| fs::remove_dir_all(&link));
            self.n_swaps.fetch_add(1, Ordering::AcqRel);
            // Long enough for a write to be over, now and then.
            self.wait(&mut seed, 24);
        }
    }

    /// A number of turns that differs each time, up to 64 times `scale`.
    fn wait(&self, seed: &mut u64, scale: u64) {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        for _ in 0..(*seed >> 58) * scale {
            if !self.goes_on.load(Ordering::Acquire) {
                return;
            }
            thread::yield_now();
        }
    }

    /// Writes while `place` is swapped with a link to `target`. A handle that stopped writing is opened again between two swaps.
    fn run<E: Into<adage_review::Error>>(
        &self,
        [place, target]: [&str; 2],
        open: impl Fn() -> Playbook,
        mut write: impl FnMut(&Playbook, usize) -> Result<(), E>,
    ) -> Tally {
        let (place, target) = (self.path(place), self.path(target));
        let (before, start) = (self.outside(), Instant::now());
        let (mut n_written, mut n_refused, mut playbook) = (0, 0, open());
        thread::scope(|scope| {
            scope.spawn(|| self.swap(&place, &target));
            for number in 0.. {
                match write(&playbook, number) {
                    Ok(()) => n_written += 1,
                    Err(error) => {
                        n_refused += 1;
                        if matches!(
                            error.into(),
                            adage_review::Error::Memory(Error::Folder(FolderError::WritesStopped { .. }))
                        ) {
                            let _turn = self.turn.lock().unwrap();
                            playbook = open();
                        }
                    }
                }
                let is_enough = number >= N_WRITES && self.n_swaps.load(Ordering::Acquire) >= N_SWAPS;
                if is_enough || start.elapsed() > MAX_TIME {
                    break;
                }
            }
            self.goes_on.store(false, Ordering::Release);
        });
        let after = self.outside();
        let is_new = |line: &&String| !before.contains(line);
        let mut escapes: Vec<String> = after.iter().filter(is_new).cloned().collect();
        escapes.extend(before.iter().filter(|line| !after.contains(line)).map(|line| format!("gone: {line}")));
        let n_swaps = self.n_swaps.load(Ordering::Acquire);
        Tally { n_swaps, n_written, n_refused, escapes }
    }

    fn outside(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut folders = vec![self.path("outside")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path.clone());
                }
                let n_bytes = fs::symlink_metadata(&path).unwrap().len();
                let text = fs::read_to_string(&path).unwrap_or_default();
                let content = if path.is_dir() { String::new() } else { format!(" {n_bytes} {text:.40}") };
                found.push(format!("{}{content}", path.display()));
            }
        }
        found.sort();
        found
    }
}

/// Restores the original in place of a link or a file created meanwhile.
fn put_back(aside: &Path, place: &Path) {
    while fs::rename(aside, place).is_err() {
        let _ = fs::remove_file(place).or_else(|_| fs::remove_dir_all(place));
    }
}

/// The program may refuse while it is attacked, and may not be broken afterwards: the last number is written in peace.
#[expect(clippy::print_stdout, reason = "how many writes there were says what the result is worth")]
fn check<E: std::fmt::Debug>(
    name: &str,
    tally: &Tally,
    playbook: &Playbook,
    mut write: impl FnMut(&Playbook, usize) -> Result<(), E>,
) {
    let Tally { n_swaps, n_written, n_refused, escapes } = tally;
    println!("{name}: {n_swaps} swaps, {n_written} written, {n_refused} refused, {} escapes", escapes.len());
    assert!(escapes.is_empty(), "{name}: {} escapes: {tally:#?}", escapes.len());
    assert!(*n_swaps > 0, "{name}: nothing was swapped: {tally:?}");
    write(playbook, LAST).unwrap_or_else(|error| panic!("{name}: in peace: {error:?}"));
}

const LAST: usize = 1_000_000;

/// Text that shares no words with that of another number.
fn learn(playbook: &Playbook, number: usize) -> adage::Result<()> {
    let draft = build_lesson(format!("task{number} topic{number}"), format!("rule{number} way{number}"));
    playbook.learn_lesson(draft).map(drop)
}

fn check_learning(name: &str, places: [&str; 2], prepare: impl FnOnce(&Race)) {
    let race = Race::new();
    prepare(&race);
    learn(&race.open(), LAST + 1).unwrap();
    let mut learned = vec![LAST + 1];
    let tally =
        race.run(places, || race.open(), |playbook, number| learn(playbook, number).inspect(|()| learned.push(number)));
    let playbook = race.open();
    check(name, &tally, &playbook, learn);
    let lessons = playbook.list_lessons(&Listing::everything()).unwrap();
    let is_lost = |number: &&usize| !lessons.iter().any(|lesson| lesson.trigger.starts_with(&format!("task{number} ")));
    let lost: Vec<&usize> = learned.iter().filter(is_lost).collect();
    assert!(lost.is_empty(), "{name}: {} of {} acknowledged lessons are lost", lost.len(), learned.len());
}

#[test]
fn a_lesson_is_learned_in_the_folder_that_was_opened() {
    check_learning("the archive", ["inside/memory/archive.jsonl", "outside/profile"], |race| {
        fs::write(race.path("outside/profile"), FOREIGN).unwrap();
    });
    check_learning("the folder", ["inside/memory", "outside"], |race| {
        fs::write(race.path("outside/archive.jsonl"), FOREIGN).unwrap();
    });
    check_learning("the folder above", ["inside", "outside"], |race| {
        fs::create_dir(race.path("outside/memory")).unwrap();
        fs::write(race.path("outside/memory/usage.jsonl"), FOREIGN).unwrap();
    });
    check_learning("the lock", ["inside/memory/lock", "outside/new"], |_| ());
}

#[test]
fn a_recall_is_counted_in_the_folder_that_was_opened() {
    for (name, places) in [
        ("usage", ["inside/memory/usage.jsonl", "outside/profile"]),
        ("the folder of usage", ["inside/memory", "outside"]),
    ] {
        let race = Race::new();
        fs::write(race.path("outside/profile"), FOREIGN).unwrap();
        learn(&race.open(), 1).unwrap();
        let recall = |playbook: &Playbook, _| playbook.get_playbook_context("task1 topic1").map(drop);
        recall(&race.open(), 0).unwrap();
        let tally = race.run(places, || race.open(), recall);
        check(name, &tally, &race.open(), recall);
    }
}

/// Adds a line to a file that is as it was, and takes it out again: the file outside is one that every other patch would fit.
fn turn(playbook: &Playbook, kind: &PatchKind, file: &Path) -> adage_review::Result<()> {
    let inbox = Inbox::of(playbook);
    let text = fs::read_to_string(file).unwrap_or_default();
    let is_first = text == FOREIGN;
    let diff = if is_first { "@@ -1 +1,2 @@\n foreignword\n+more\n" } else { "@@ -1,2 +1 @@\n foreignword\n-more\n" };
    let patch = format!("--- {0}\n+++ {0}\n{diff}", file.display());
    let applied = inbox.propose(kind, patch.as_bytes()).and_then(|proposal| inbox.apply(&[proposal]));
    if applied.is_err() {
        // The pending proposal is of the other turn.
        let _ = inbox.list().and_then(|listed| inbox.dismiss(&listed));
    }
    applied.map(drop)
}

#[test]
fn a_proposal_changes_the_notes_that_were_shown() {
    for (name, places) in [
        ("a note", ["inside/memory/note.md", "outside/note.md"]),
        ("the folder of notes", ["inside/memory", "outside"]),
        ("the folder of journals", ["inside/memory/edits", "outside"]),
        ("the inbox", ["inside/memory/.inbox", "outside"]),
    ] {
        let race = Race::new();
        fs::write(race.path("outside/note.md"), FOREIGN).unwrap();
        let note = race.memory().join("note.md");
        let playbook = race.open();
        fs::write(&note, FOREIGN).unwrap();
        let apply = |playbook: &Playbook, _| turn(playbook, &PatchKind::Private, &note);
        apply(&playbook, 0).unwrap();
        let tally = race.run(places, || race.open(), apply);
        let playbook = race.open();
        let _ = Inbox::of(&playbook).list().and_then(|listed| Inbox::of(&playbook).dismiss(&listed));
        check(name, &tally, &playbook, apply);
    }
}

#[test]
fn a_patch_of_a_skill_stays_below_the_root_that_was_named() {
    let race = Race::new();
    for folder in ["inside/root/build", "outside"] {
        fs::create_dir_all(race.path(folder)).unwrap();
        fs::write(race.path(folder).join("SKILL.md"), FOREIGN).unwrap();
    }
    let (root, file) = (race.path("inside/root"), race.path("inside/root/build/SKILL.md"));
    let open = || Playbook::builder(race.memory()).without_embedder().with_writable_skills(&root).open().unwrap();
    let kind = PatchKind::Skill("build".parse().unwrap());
    let apply = |playbook: &Playbook, _| turn(playbook, &kind, &file);
    apply(&open(), 0).unwrap();
    let tally = race.run(["inside/root/build", "outside"], open, apply);
    let playbook = open();
    let _ = Inbox::of(&playbook).list().and_then(|listed| Inbox::of(&playbook).dismiss(&listed));
    check("a root of skills", &tally, &playbook, apply);
}

#[test]
fn a_skill_is_written_where_the_memory_keeps_them() {
    for (name, place) in [("the folder of skills", "inside/memory/skills"), ("a skill", "inside/memory/skills/build")] {
        let race = Race::new();
        fs::write(race.path("outside/SKILL.md"), FOREIGN).unwrap();
        let save = |playbook: &Playbook, number: usize| {
            let skill = Skill::new("build".parse().unwrap(), "About it.".to_owned());
            playbook.skills().replace(&Skill { body: format!("Do it {number} times."), ..skill }).map(drop)
        };
        save(&race.open(), 0).unwrap();
        let tally = race.run([place, "outside"], || race.open(), save);
        check(name, &tally, &race.open(), save);
        assert!(fs::read_to_string(race.memory().join("skills/build/SKILL.md")).unwrap().contains("1000000 times"));
    }
}

/// The caller names a path, and either of two files may be meant at the time. What was read of one is not written into the other,
/// and nothing is left beside either.
#[test]
fn an_export_writes_into_the_file_that_it_read() {
    for (name, places) in [
        ("the folder of an export", ["inside/docs", "outside"]),
        ("the file of an export", ["inside/docs/AGENTS.md", "outside/AGENTS.md"]),
    ] {
        let race = Race::new();
        fs::create_dir(race.path("inside/docs")).unwrap();
        let file = race.path("inside/docs/AGENTS.md");
        fs::write(&file, "# Inside\n").unwrap();
        fs::write(race.path("outside/AGENTS.md"), "# Outside\n").unwrap();
        let export = |playbook: &Playbook, number: usize| {
            learn(playbook, number)?;
            playbook.export_into(adage::exchange::Format::Agents, &Listing::everything(), &file).map(drop)
        };
        let mut tally = race.run(places, || race.open(), export);
        let outside = fs::read_to_string(race.path("outside/AGENTS.md")).unwrap();
        tally.escapes.retain(|line| !line.contains("/outside/AGENTS.md"));
        if !outside.starts_with("# Outside\n") {
            tally.escapes.push(format!("the file outside begins with {:?}", outside.lines().next()));
        }
        check(name, &tally, &race.open(), export);
        let inside = fs::read_to_string(&file).unwrap();
        assert!(inside.starts_with("# Inside\n") && inside.contains("rule1000000"), "{name}: {inside:.60}");
    }
}

/// The swaps take back what is committed into the file meanwhile; only where it is written counts here.
#[test]
fn a_lesson_for_review_is_kept_in_the_folder_that_was_opened() {
    let race = Race::new();
    fs::write(race.path("outside/skills_playbook.json"), "[]").unwrap();
    let learn = |playbook: &Playbook, number: usize| {
        let draft = build_lesson(format!("task{number} topic{number}"), format!("rule{number} way{number}"));
        playbook.learn_lesson(draft.trust(Trust::Tainted)).map(drop)
    };
    learn(&race.open(), LAST + 1).unwrap();
    let places = ["inside/memory/skills_playbook.json", "outside/skills_playbook.json"];
    let tally = race.run(places, || race.open(), learn);
    check("the playbook file", &tally, &race.open(), learn);
}
