//! Past sessions: listing, due sessions, one run at a time, and recovery of a killed run.

mod files;
mod processes;

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use adage::chrono::{DateTime, FixedOffset, TimeDelta};
use adage::model::CancelToken;
use adage::transcript::Reading;
use adage::{Config, Error, FolderError, ManualClock, Playbook};
use adage_sessions::{
    DueSessions, Ineligible, LeftOutReason, NotDue, ReadState, RunEnd, RunOutcome, SessionResult, Sessions,
};
use serde_json::json;

fn at(hours: i64) -> DateTime<FixedOffset> {
    DateTime::parse_from_rfc3339("2026-03-01T12:00:00Z").unwrap() + TimeDelta::hours(hours)
}

/// A playbook, a folder of sessions, and a clock that shows `at(0)`.
struct Desk {
    root: tempfile::TempDir,
    clock: Arc<ManualClock>,
    config: Config,
}

impl Desk {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("sessions")).unwrap();
        Self { root, clock: Arc::new(ManualClock::new(at(0))), config: Config::default() }
    }

    fn memory(&self) -> PathBuf {
        self.root.path().join("memory")
    }

    fn folder(&self) -> PathBuf {
        fs::canonicalize(self.root.path().join("sessions")).unwrap()
    }

    fn playbook(&self) -> Playbook {
        let builder = Playbook::builder(self.memory()).without_embedder().with_clock(Arc::clone(&self.clock) as _);
        builder.with_config(self.config.clone()).open().unwrap()
    }

    /// A session of 12 user turns, the last of them `hours` after the clock's first time.
    fn session(&self, name: &str, hours: i64) -> PathBuf {
        self.write(name, name.split('.').next().unwrap(), 12, at(hours))
    }

    fn write(&self, name: &str, session: &str, n_turns: i64, last: DateTime<FixedOffset>) -> PathBuf {
        let mut text = String::new();
        for n in (0..n_turns).rev() {
            let said = json!({"role": "user", "content": format!("Please make part {n} of {session} faster now.")});
            let time = (last - TimeDelta::seconds(n)).to_rfc3339();
            let record = json!({
                "type": "user", "uuid": format!("{name}-{n}"), "sessionId": session, "cwd": "/srv/shop",
                "timestamp": time, "message": said
            });
            writeln!(text, "{record}").unwrap();
        }
        let path = self.folder().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn due(&self, playbook: &Playbook) -> DueSessions {
        let sessions = Sessions::of(playbook);
        sessions.due(&sessions.scan(&self.folder()).unwrap()).unwrap()
    }

    fn due_ids(&self, playbook: &Playbook) -> Vec<String> {
        match self.due(playbook) {
            DueSessions::Sessions(entries) => entries.into_iter().map(|entry| entry.id).collect(),
            DueSessions::NotDue(waiting) => panic!("{waiting:?}"),
        }
    }

    /// A run in which `mine` fails for the sessions that are named.
    fn run(&self, playbook: &Playbook, failing: &[&str]) -> RunOutcome {
        let mine = |reading: &Reading| {
            let session = reading.transcript.session.as_str();
            if failing.contains(&session) { Err(format!("no luck with {session}")) } else { Ok(2) }
        };
        Sessions::of(playbook).run(&self.folder(), &CancelToken::default(), mine).unwrap()
    }
}

fn ids(entries: &[adage_sessions::SessionEntry]) -> Vec<&str> {
    entries.iter().map(|entry| entry.id.as_str()).collect()
}

fn read_state(playbook: &Playbook, folder: &Path, id: &str) -> ReadState {
    let scan = Sessions::of(playbook).scan(folder).unwrap();
    scan.entries.iter().find(|entry| entry.id == id).unwrap_or_else(|| panic!("no {id}")).read_state
}

#[test]
fn a_scan_lists_sessions_worth_reading_and_those_left_out() {
    let desk = Desk::new();
    desk.session("old.jsonl", -9);
    desk.session("deep/er/new.jsonl", -4);
    desk.session("fresh.jsonl", -1);
    desk.write("copy.jsonl", "old", 12, at(-20));
    desk.write("short.jsonl", "short", 3, at(-9));
    fs::write(desk.folder().join("settings.json"), "{\"theme\": \"dark\"}").unwrap();
    fs::write(desk.folder().join("notes.md"), "no").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("/", desk.folder().join("link")).unwrap();
    let playbook = desk.playbook();
    let scan = Sessions::of(&playbook).scan(&desk.folder()).unwrap();
    assert_eq!(ids(&scan.entries), ["fresh", "deep/er/new", "old", "short"]);
    let lines: Vec<String> = scan.shown().iter().map(ToString::to_string).collect();
    let folder = desk.folder().display().to_string();
    assert_eq!(
        lines,
        [
            format!("[NEW] Please make part 11 of deep/er/new faster now. (12 user msgs) — {folder}/deep/er/new.jsonl"),
            format!("[NEW] Please make part 11 of old faster now. (12 user msgs) — {folder}/old.jsonl"),
        ]
    );
    assert!(matches!(scan.entries[0].ineligible, Some(Ineligible::Active { .. })));
    assert!(matches!(scan.entries[3].ineligible, Some(Ineligible::FewTurns { n_user_turns: 3, n_tool_calls: 0 })));
    let left: Vec<_> = scan.left_out.iter().map(|left| (left.path.file_name().unwrap(), &left.reason)).collect();
    assert_eq!(left.len(), if cfg!(unix) { 2 } else { 1 }, "{left:?}");
    assert!(
        left.iter().any(|(name, reason)| *name == "settings.json" && matches!(reason, LeftOutReason::NoSession(_)))
    );
}

#[test]
fn a_file_is_read_once_for_each_version() {
    let desk = Desk::new();
    let path = desk.session("one.jsonl", -9);
    let playbook = desk.playbook();
    let first = Sessions::of(&playbook).scan(&desk.folder()).unwrap();
    // The recorded findings of the file are used as long as length and time are unchanged.
    let record = desk.memory().join("mining.json");
    let text = fs::read_to_string(&record).unwrap();
    fs::write(&record, text.replace("Please make part 11", "Please read what is written")).unwrap();
    let second = Sessions::of(&playbook).scan(&desk.folder()).unwrap();
    assert_ne!(first, second);
    assert!(second.entries[0].summary.intent.starts_with("Please read what is written"));
    // A summary of another version of this program is not used.
    let text = fs::read_to_string(&record).unwrap();
    fs::write(&record, text.replace("\"version\":2", "\"version\":0")).unwrap();
    assert_eq!(Sessions::of(&playbook).scan(&desk.folder()).unwrap(), first);
    let text = fs::read_to_string(&record).unwrap();
    fs::write(&record, text.replace("Please make part 11", "Please read what is written")).unwrap();
    let mut text = fs::read_to_string(&path).unwrap();
    text.push('\n');
    fs::write(&path, text).unwrap();
    assert_eq!(Sessions::of(&playbook).scan(&desk.folder()).unwrap().entries[0].summary, first.entries[0].summary);
}

#[test]
fn runs_read_ten_half_an_hour_apart_and_a_resumed_session_is_new_again() {
    let desk = Desk::new();
    for n in 0..12 {
        desk.session(&format!("s{n:02}.jsonl"), -4 - n);
    }
    let playbook = desk.playbook();
    let RunOutcome::Ended(record) = desk.run(&playbook, &["s00"]) else { panic!("nothing ran") };
    assert_eq!((record.end, record.sessions.len()), (RunEnd::Finished, 10));
    assert_eq!(record.sessions[0].result, SessionResult::Failed { error: "no luck with s00".to_owned() });
    assert_eq!(record.sessions[1].result, SessionResult::Read { n_candidates: 2 });
    assert_eq!(read_state(&playbook, &desk.folder(), "s01"), ReadState::Read);
    assert_eq!(read_state(&playbook, &desk.folder(), "s00"), ReadState::New { n_attempts: 1 });

    desk.clock.advance(TimeDelta::minutes(29));
    let until = at(0) + TimeDelta::minutes(30);
    assert_eq!(desk.due(&playbook), DueSessions::NotDue(NotDue::Throttled { until }));
    assert_eq!(desk.run(&playbook, &[]), RunOutcome::NotDue(NotDue::Throttled { until }));
    desk.clock.advance(TimeDelta::minutes(1));
    // The failed session comes after those without an attempt, although it is newer.
    assert_eq!(desk.due_ids(&playbook), ["s10", "s11", "s00"]);
    desk.session("s05.jsonl", -3);
    assert_eq!(read_state(&playbook, &desk.folder(), "s05"), ReadState::New { n_attempts: 0 });
    assert_eq!(desk.due_ids(&playbook), ["s05", "s10", "s11", "s00"]);
    // Another process gets the same result, and a clock that was set back delays no run.
    desk.clock.advance(TimeDelta::hours(-1));
    assert_eq!(desk.due_ids(&desk.playbook()), ["s10", "s11", "s00"]);
    desk.clock.advance(TimeDelta::hours(1));
    assert!(matches!(desk.run(&playbook, &[]), RunOutcome::Ended(_)));
    desk.clock.advance(TimeDelta::hours(1));
    assert_eq!(desk.run(&playbook, &[]), RunOutcome::NotDue(NotDue::NothingEligible));
    assert_eq!(Sessions::of(&playbook).history().unwrap().len(), 2);
}

#[test]
fn one_version_is_tried_three_times() {
    let desk = Desk::new();
    desk.session("bad.jsonl", -9);
    let playbook = desk.playbook();
    for _ in 0..3 {
        assert!(matches!(desk.run(&playbook, &["bad"]), RunOutcome::Ended(_)));
        desk.clock.advance(TimeDelta::minutes(30));
    }
    assert_eq!(desk.run(&playbook, &["bad"]), RunOutcome::NotDue(NotDue::NothingEligible));
    assert_eq!(read_state(&playbook, &desk.folder(), "bad"), ReadState::GivenUp { n_attempts: 3 });
    let scan = Sessions::of(&playbook).scan(&desk.folder()).unwrap();
    assert!(scan.shown()[0].to_string().starts_with("[NEW]"), "it was never read");
    desk.session("bad.jsonl", -4);
    assert_eq!(desk.due_ids(&playbook), ["bad"]);
}

#[test]
fn errors_are_kept_without_secrets() {
    let desk = Desk::new();
    desk.session("s.jsonl", -9);
    let token = ["ghp", "_", "Zq8TnV3kLx0RbYw7Jd2MfPc6Hs1Ga9Ue4Xi5"].concat();
    let mine = |_: &Reading| Err::<usize, _>(format!("the host refused {token}\nas always"));
    let playbook = desk.playbook();
    Sessions::of(&playbook).run(&desk.folder(), &CancelToken::default(), mine).unwrap();
    let text = fs::read_to_string(desk.memory().join("mining.json")).unwrap();
    assert!(!text.contains(&token) && text.contains("the host refused [REDACTED:github-token] as always"), "{text}");
}

#[test]
fn a_cancelled_run_stops_between_sessions() {
    let desk = Desk::new();
    for n in 0..3 {
        desk.session(&format!("s{n}.jsonl"), -4 - n);
    }
    let playbook = desk.playbook();
    let cancel = CancelToken::default();
    let mine = |_: &Reading| {
        cancel.cancel();
        Ok::<_, io::Error>(0)
    };
    let RunOutcome::Ended(record) = Sessions::of(&playbook).run(&desk.folder(), &cancel, mine).unwrap() else {
        panic!("nothing ran")
    };
    assert_eq!((record.end, record.sessions.len()), (RunEnd::Cancelled, 1));
    assert_eq!(read_state(&playbook, &desk.folder(), "s1"), ReadState::New { n_attempts: 0 });
    assert!(matches!(desk.due(&playbook), DueSessions::NotDue(NotDue::Throttled { .. })), "the rest is not queued");
    desk.clock.advance(TimeDelta::minutes(30));
    assert_eq!(desk.due_ids(&playbook), ["s1", "s2"]);
}

#[test]
fn only_one_run_is_active_and_a_dropped_run_is_resumed() {
    let desk = Desk::new();
    desk.session("one.jsonl", -9);
    desk.session("two.jsonl", -10);
    let (first, second) = (desk.playbook(), desk.playbook());
    let scan = Sessions::of(&first).scan(&desk.folder()).unwrap();
    let mut run = Sessions::of(&first).begin_run(&scan).unwrap().unwrap_or_else(|waiting| panic!("{waiting:?}"));
    run.read_next(|_| Ok::<_, io::Error>(1)).unwrap().unwrap();
    let DueSessions::NotDue(NotDue::Locked { owner: Some(owner) }) = desk.due(&second) else { panic!("not locked") };
    assert_eq!((owner.pid, owner.started), (std::process::id(), at(0)));
    assert!(matches!(desk.run(&second, &[]), RunOutcome::NotDue(NotDue::Locked { .. })));
    assert!(matches!(desk.run(&first, &[]), RunOutcome::NotDue(NotDue::Locked { .. })));
    assert_eq!(run.to_read().count(), 1);
    drop(run);

    // Without a wait: it was begun and not ended.
    assert_eq!(desk.due_ids(&second), ["two"]);
    let RunOutcome::Ended(record) = desk.run(&second, &[]) else { panic!("nothing ran") };
    assert_eq!(record.sessions.len(), 1);
    let history = Sessions::of(&second).history().unwrap();
    assert_eq!(history.iter().map(|run| run.end).collect::<Vec<_>>(), [RunEnd::Died, RunEnd::Finished]);
    assert_eq!(history[0].sessions[0].result, SessionResult::Read { n_candidates: 1 });
    assert!(matches!(desk.due(&second), DueSessions::NotDue(NotDue::Throttled { .. })));
}

#[test]
fn a_queued_session_is_read_at_once_and_once() {
    let desk = Desk::new();
    desk.session("idle.jsonl", -9);
    let playbook = desk.playbook();
    desk.run(&playbook, &[]);
    let fresh = desk.write("elsewhere.jsonl", "elsewhere", 1, at(0));
    Sessions::of(&playbook).queue(&fresh).unwrap();
    Sessions::of(&playbook).queue(&fresh).unwrap();
    assert_eq!(desk.due_ids(&playbook), ["elsewhere"]);
    assert!(matches!(desk.run(&playbook, &[]), RunOutcome::Ended(_)));
    assert!(matches!(desk.due(&playbook), DueSessions::NotDue(NotDue::Throttled { .. })));
    Sessions::of(&playbook).queue(&fresh).unwrap();
    fs::remove_file(&fresh).unwrap();
    assert!(matches!(desk.due(&playbook), DueSessions::NotDue(NotDue::Throttled { .. })), "what is gone is not due");
}

#[test]
fn a_read_only_handle_lists_sessions_and_writes_nothing() {
    let desk = Desk::new();
    desk.session("one.jsonl", -9);
    let reader = Playbook::builder(desk.memory()).without_embedder().with_clock(Arc::clone(&desk.clock) as _);
    let reader = reader.read_only().open().unwrap();
    assert_eq!(desk.due_ids(&reader), ["one"]);
    assert!(!desk.memory().exists());
    let scan = Sessions::of(&reader).scan(&desk.folder()).unwrap();
    assert!(matches!(Sessions::of(&reader).begin_run(&scan), Err(Error::Folder(FolderError::ReadOnly { .. }))));
}
