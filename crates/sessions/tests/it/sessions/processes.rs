//! A run whose process is killed.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;

use adage::model::CancelToken;
use adage::transcript::Reading;
use adage::{ManualClock, Playbook};
use adage_sessions::{DueSessions, NotDue, ReadState, RunEnd, RunOutcome, SessionResult, Sessions};

use super::{Desk, at, read_state};

/// The folder of a test that is to be killed in the middle of a run.
const VICTIM: &str = "ADAGE_TEST_RUN";

#[test]
fn the_run_of_a_killed_process_is_finished_by_the_next() {
    if let Some(root) = std::env::var_os(VICTIM) {
        let root = PathBuf::from(root);
        let clock = Arc::new(ManualClock::new(at(0)));
        let playbook = Playbook::builder(root.join("memory")).without_embedder().with_clock(clock).open().unwrap();
        let mine = |_: &Reading| {
            writeln!(io::stdout(), "\nreading").unwrap();
            // Until it is killed.
            io::stdin().read_exact(&mut [0]).map(|()| 0)
        };
        Sessions::of(&playbook).run(&root.join("sessions"), &CancelToken::default(), mine).unwrap();
        return;
    }
    let desk = Desk::new();
    desk.session("fatal.jsonl", -4);
    desk.session("other.jsonl", -9);
    for round in 1..=3 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "sessions::processes::the_run_of_a_killed_process_is_finished_by_the_next",
                "--exact",
                "--nocapture",
            ])
            .env(VICTIM, desk.root.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap() == "reading"));
        let playbook = desk.playbook();
        let DueSessions::NotDue(NotDue::Locked { owner: Some(owner) }) = desk.due(&playbook) else {
            panic!("not locked")
        };
        assert_eq!(owner.pid, child.id());
        child.kill().unwrap();
        child.wait().unwrap();
        let expected = if round < 3 { vec!["fatal", "other"] } else { vec!["other"] };
        assert_eq!(desk.due_ids(&playbook), expected, "round {round}: no wait, and the lock is free");
    }
    let playbook = desk.playbook();
    assert_eq!(read_state(&playbook, &desk.folder(), "fatal"), ReadState::GivenUp { n_attempts: 3 });
    let RunOutcome::Ended(record) = desk.run(&playbook, &[]) else { panic!("nothing ran") };
    assert_eq!((record.sessions.len(), record.sessions[0].id.as_str()), (1, "other"));
    let history = Sessions::of(&playbook).history().unwrap();
    assert_eq!(history.iter().map(|run| run.end == RunEnd::Died).collect::<Vec<_>>(), [true, true, true, false]);
    assert_eq!(history[0].sessions[0].result, SessionResult::Failed { error: "the attempt did not end".to_owned() });
}
