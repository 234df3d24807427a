use adage_transcript::{Format, Source, Transcript, TranscriptReader};
use serde_json::{Value, json};

use crate::Playbook;
use crate::model::CancelToken;
use crate::playbook::extraction::SessionLessons;

const RULE: &str = "From now on, always run the linter before you commit anything in this project.";

struct Desk {
    _folder: tempfile::TempDir,
    playbook: Playbook,
}

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let playbook = Playbook::builder(folder.path()).without_embedder().open().unwrap();
        Self { _folder: folder, playbook }
    }

    fn read(&self, session: &Transcript) -> SessionLessons {
        self.playbook.learn_from_session(session, None, &CancelToken::default()).unwrap()
    }

    /// How often the rule counts; 0 if it was not learned.
    fn frequency(&self) -> u64 {
        let view = self.playbook.shared.view().unwrap();
        let lessons = &view.snapshot.book().lessons;
        lessons.iter().filter(|lesson| lesson.correct_pattern.contains("linter")).map(|lesson| lesson.frequency).sum()
    }

    /// The drafts that are shown, and the sessions of all.
    fn drafts(&self) -> (usize, Vec<String>) {
        let skills = self.playbook.skills().list().unwrap().skills;
        let n_shown = skills.iter().filter(|listed| !listed.needs_review).count();
        (n_shown, skills.iter().flat_map(|listed| listed.skill.provenance.sources.clone()).collect())
    }
}

/// A session of Claude Code: these texts are typed and these commands run, on a day of March. The ids of its records end with `ids`.
fn session(id: &str, day: u32, ids: &str, typed: &[&str], commands: &[&str]) -> Vec<Value> {
    let record = |n: usize, kind: &str, content: Value| {
        json!({"type": kind, "sessionId": id, "uuid": format!("1d0e7a52-0d0c-4f6c-9d5f-{n:04}{ids}"), "cwd": "/srv/shop",
            "timestamp": format!("2026-03-{day:02}T10:{n:02}:00.000Z"), "message": {"role": kind, "content": content}})
    };
    let mut rows: Vec<Value> = Vec::new();
    for text in typed {
        rows.push(record(rows.len(), "user", json!(text)));
        rows.push(record(rows.len(), "assistant", json!([{"type": "text", "text": "ok"}])));
    }
    for command in commands {
        let call = format!("toolu_{:020}{ids}", rows.len());
        let uses = json!([{"type": "tool_use", "id": call, "name": "Bash", "input": {"command": command}}]);
        rows.push(record(rows.len(), "assistant", uses));
        let result = json!([{"type": "tool_result", "tool_use_id": call, "content": "done"}]);
        rows.push(record(rows.len(), "user", result));
    }
    rows
}

fn read(rows: &[Value]) -> Transcript {
    let lines: Vec<String> = rows.iter().map(Value::to_string).collect();
    TranscriptReader::new().read(lines.join("\n").as_bytes(), Format::ClaudeCode).unwrap().transcript
}

const TYPED: [&str; 2] = ["Release the next version, please.", RULE];
const COMMANDS: [&str; 5] = [
    "git checkout -b release",
    "git add VERSION",
    "git commit -m release",
    "git tag v2",
    "git push origin main --tags",
];

fn of_two(day: u32, ids: &str) -> Vec<Value> {
    session("two", day, ids, &TYPED, &COMMANDS)
}

/// Copies of the session `one` of the first of March, whose ids have no end.
fn copies() -> Vec<(&'static str, Vec<Value>)> {
    let hook = json!({"type": "attachment", "sessionId": "two", "timestamp": "2026-03-09T09:00:00.000Z",
        "attachment": {"type": "hook_success", "content": "x"}});
    let mut branch = of_two(9, "-2");
    branch.push(json!({"type": "assistant", "sessionId": "two", "timestamp": "2026-03-09T11:00:00.000Z", "uuid": "x",
        "forkedFrom": {"sessionId": "one"}, "message": {"role": "assistant", "content": [{"type": "text", "text": "ok"}]}}));
    let longer = [of_two(1, ""), session("two", 9, "-2", &["Now the footer."], &["cargo doc"])].concat();
    vec![
        ("the same records", of_two(1, "")),
        ("another time, the same ids", of_two(9, "")),
        ("other ids, the same times", of_two(1, "-2")),
        ("a hook's row first", [vec![hook], of_two(1, "")].concat()),
        ("a branch with new ids and times", branch),
        ("a fork that went on", longer),
    ]
}

#[test]
fn a_copy_or_fork_says_and_does_nothing_again() {
    for (name, copy) in copies() {
        for is_first in [false, true] {
            let desk = Desk::new();
            let (source, copy) = (read(&session("one", 1, "", &TYPED, &COMMANDS)), read(&copy));
            let (first, second) = if is_first { (copy, source) } else { (source, copy) };
            let learned = desk.read(&first);
            assert_eq!((desk.drafts().0, learned.skills.saved.len()), (0, 1), "{name}: {learned:?}");
            let n_said = desk.frequency();
            desk.read(&second);
            desk.read(&second);
            let other_first = desk.frequency().max(n_said);
            assert_eq!((other_first, desk.drafts().0), (n_said.max(1), 0), "{name}: {:?}", desk.drafts());
        }
    }
}

#[test]
fn many_copies_count_once_and_another_session_with_the_same_words_counts() {
    let desk = Desk::new();
    desk.read(&read(&session("one", 1, "", &TYPED, &COMMANDS)));
    for n in 0..4 {
        desk.read(&read(&session(&format!("copy {n}"), 1, "", &TYPED, &COMMANDS)));
        assert_eq!((desk.frequency(), desk.drafts().0), (1, 0), "{n}");
    }
    desk.read(&read(&of_two(9, "-2")));
    assert_eq!((desk.frequency(), desk.drafts()), (2, (1, vec!["one".to_owned(), "two".to_owned()])));
}

#[test]
fn a_fork_does_not_say_in_other_words_what_its_origin_said() {
    const SAID: &str = "pages in the tests are compared by their text, not by snapshots";
    const AGAIN: &str = "pages in our tests are compared by their text, not by snapshots";
    let n_learned = |second: &[Value]| {
        let desk = Desk::new();
        desk.read(&read(&session("one", 1, "", &["Fix the page.", SAID], &[])));
        desk.read(&read(second));
        let view = desk.playbook.shared.view().unwrap();
        view.snapshot.book().lessons.len()
    };
    let other = session("two", 9, "-2", &["Do it.", AGAIN], &[]);
    let fork = [session("two", 1, "", &["Fix the page."], &[]), other.clone()].concat();
    assert_eq!((n_learned(&fork), n_learned(&other)), (0, 1));
}

#[test]
fn the_persons_session_is_no_copy_of_one_that_others_can_have_written() {
    for (name, copy) in copies() {
        let desk = Desk::new();
        let planted = Transcript { source: Source::Others, ..read(&copy) };
        desk.read(&planted);
        assert_eq!(desk.frequency(), 0, "{name}");
        desk.read(&read(&session("one", 1, "", &TYPED, &COMMANDS)));
        let view = desk.playbook.shared.view().unwrap();
        let learned = view.snapshot.book().lessons.iter().find(|lesson| lesson.correct_pattern.contains("linter"));
        assert_eq!(learned.map(|lesson| lesson.provenance.counted_session()), Some("one"), "{name}");
    }
}
