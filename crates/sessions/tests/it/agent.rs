//! The host's agent over past sessions: its job, its permissions, and the check of its files.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use adage::chrono::{DateTime, TimeDelta};
use adage::{ManualClock, Playbook};
use adage_review::{Inbox, PatchKind, ProposalKind};
use adage_sessions::NotDue;
use adage_sessions::agent::{AgentTool, Denied, SessionText};
use adage_sessions::{ReadState, RunEnd, Sessions};
use serde_json::json;

/// Assembled at run time, so that secret scanners do not report this file.
fn token() -> String {
    ["gh", "p_", "q7RtZ2mWx9LkB4vNs8Yd1HcJ6pGf3TaE5uQi"].concat()
}

struct Desk {
    root: tempfile::TempDir,
    clock: Arc<ManualClock>,
    playbook: Playbook,
}

impl Desk {
    fn new(sessions: &[&str]) -> Self {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("sessions")).unwrap();
        for session in sessions {
            let messages: Vec<_> = (0..12)
                .map(|n| {
                    let content = format!("Please release part {n}, the token is {}.", token());
                    json!({"type": "user", "id": n.to_string(), "content": content, "timestamp": "2026-03-01T03:00:00Z"})
                })
                .collect();
            let text = json!({"sessionId": session, "startTime": "2026-03-01T03:00:00Z", "messages": messages});
            fs::write(root.path().join("sessions").join(format!("{session}.json")), text.to_string()).unwrap();
        }
        let clock = Arc::new(ManualClock::new(DateTime::parse_from_rfc3339("2026-03-01T12:00:00Z").unwrap()));
        let builder = Playbook::builder(root.path().join("memory")).without_embedder();
        let playbook = builder.with_clock(Arc::clone(&clock) as _).open().unwrap();
        Self { root, clock, playbook }
    }

    fn memory(&self) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("memory")
    }

    fn session(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join("sessions").join(format!("{name}.json"))
    }

    fn begin(&self) -> adage_sessions::agent::AgentRun {
        Sessions::of(&self.playbook)
            .begin_agent(&self.root.path().join("sessions"))
            .unwrap()
            .unwrap_or_else(|why| panic!("{why:?}"))
    }

    /// A write by the agent's tool.
    fn write(&self, run: &adage_sessions::agent::AgentRun, path: &str, text: &str) -> Result<(), Denied> {
        let path = self.memory().join(path);
        run.may(AgentTool::Write, &path)?;
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        Ok(())
    }

    fn read_state(&self, id: &str) -> ReadState {
        let scan = Sessions::of(&self.playbook).scan(&self.root.path().join("sessions")).unwrap();
        scan.entries.iter().find(|entry| entry.id == id).unwrap().read_state
    }
}

fn new_note(path: &Path, text: &str) -> String {
    format!("--- /dev/null\n+++ {}\n@@ -0,0 +1 @@\n+{text}\n", path.display())
}

#[test]
fn an_agents_proposals_are_reported_to_a_person() {
    let desk = Desk::new(&["monday", "tuesday"]);
    let notes = desk.memory().join("waiting.md");
    Inbox::of(&desk.playbook).propose(&PatchKind::Private, new_note(&notes, "Wait.").as_bytes()).unwrap();
    let mut run = desk.begin();
    let job = run.job().clone();
    assert!(job.system.contains(&format!("{}/private/extraction.patch", desk.memory().join(".inbox").display())));
    assert!(job.query.contains("## private\n") && job.query.contains("+Wait."), "{}", job.query);
    assert!(job.query.contains(&format!("(12 user msgs) — {}", desk.session("monday").display())), "{}", job.query);
    assert!(!job.system.contains(&token()) && !job.query.contains(&token()));
    assert_eq!((job.limits.max_turns, job.limits.time_limit.as_secs()), (30, 1_800));

    let SessionText::Text(text) = run.read_session(&desk.session("monday")).unwrap() else { panic!("not read") };
    assert!(text.contains("Please release part 3") && !text.contains(&token()), "{text}");
    assert_eq!(run.read_session(&desk.memory().join("lessons.json")).unwrap(), SessionText::NotListed);

    let release = desk.memory().join("release.md");
    let both = format!("{}{}", new_note(&notes, "Wait."), new_note(&release, "Release in parts."));
    desk.write(&run, ".inbox/private/extraction.patch", &both).unwrap();
    let skill = "---\nname: release-parts\ndescription: Releases in parts.\n---\n\n## Overview\n\nFor releases.\n";
    desk.write(&run, ".inbox/skills/release-parts/SKILL.md", skill).unwrap();
    desk.write(&run, ".inbox/private/more.patch", "no patch at all").unwrap();
    let report = run.finish(RunEnd::Finished).unwrap();

    assert_eq!(report.written.aside.len(), 1, "{report:?}");
    assert!(desk.memory().join(".inbox/aside").is_dir());
    let notice = report.notice.unwrap();
    assert_eq!((notice.n_patches, notice.n_skills, notice.n_lessons), (1, 1, 0));
    assert!(!release.exists(), "nothing takes effect by itself");
    let listed = Inbox::of(&desk.playbook).list().unwrap();
    let kinds: Vec<ProposalKind> = listed.iter().map(|proposal| proposal.name.kind()).collect();
    assert_eq!(kinds, [ProposalKind::Private, ProposalKind::Skill]);
    // A session that it read counts as read, another one as an attempt.
    assert_eq!(desk.read_state("monday"), ReadState::Read);
    assert_eq!(desk.read_state("tuesday"), ReadState::New { n_attempts: 1 });
    assert_eq!(report.record.sessions.len(), 2);
    Inbox::of(&desk.playbook).apply(&listed).unwrap();
    assert_eq!(fs::read_to_string(release).unwrap(), "Release in parts.\n");
}

#[test]
fn its_tools_are_confined_to_the_memory_folder() {
    let desk = Desk::new(&["monday"]);
    let run = desk.begin();
    let memory = desk.memory();
    let check = |tool: AgentTool, path: &Path, expected: bool| {
        assert_eq!(run.may(tool, path).is_ok(), expected, "{tool} {}", path.display());
    };
    check(AgentTool::Read, &memory.join("lessons.json"), true);
    check(AgentTool::List, &memory, true);
    check(AgentTool::Read, &desk.session("monday"), false);
    check(AgentTool::Write, &memory.join("MEMORY.md"), false);
    check(AgentTool::Edit, &memory.join(".inbox/private/extraction.patch"), true);
    check(AgentTool::Write, &memory.join(".inbox/../MEMORY.md"), false);
    check(AgentTool::Read, Path::new("/etc/passwd"), false);
    #[cfg(unix)]
    {
        fs::create_dir_all(memory.join(".inbox")).unwrap();
        std::os::unix::fs::symlink("/etc", memory.join(".inbox/out")).unwrap();
        std::os::unix::fs::symlink(desk.root.path().join("nowhere"), memory.join(".inbox/later")).unwrap();
        check(AgentTool::Read, &memory.join(".inbox/out/passwd"), false);
        check(AgentTool::Write, &memory.join(".inbox/out/new"), false);
        check(AgentTool::Write, &memory.join(".inbox/later"), false);
        check(AgentTool::Write, &memory.join(".inbox/later/new"), false);
    }
}

#[test]
fn one_run_at_a_time_and_a_cancelled_one_counts_nothing() {
    let desk = Desk::new(&["monday"]);
    let folder = desk.root.path().join("sessions");
    let run = desk.begin();
    assert!(matches!(Sessions::of(&desk.playbook).begin_agent(&folder).unwrap(), Err(NotDue::Locked { .. })));
    run.finish(RunEnd::Cancelled).unwrap();
    assert_eq!(desk.read_state("monday"), ReadState::New { n_attempts: 0 });
    assert!(matches!(Sessions::of(&desk.playbook).begin_agent(&folder).unwrap(), Err(NotDue::Throttled { .. })));
    // After three attempts it is abandoned.
    for n in 1..=3 {
        desk.clock.advance(TimeDelta::minutes(30));
        assert_eq!(desk.read_state("monday"), ReadState::New { n_attempts: n - 1 });
        desk.begin().finish(RunEnd::Finished).unwrap();
    }
    assert_eq!(desk.read_state("monday"), ReadState::GivenUp { n_attempts: 3 });
}
