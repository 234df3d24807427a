//! Recoveries of an earlier release, which were English alone (docs/spec/playbook.md, 2).

use serde_json::Value;

use super::bench::{Bench, PLAYBOOK, lessons, shown};
use adage::{Lesson, Request, lesson::RecoveryStep};

/// A playbook file that an earlier release wrote: recoveries of each wording, and three other mined lessons.
const FORMER: &str = include_str!("../fixtures/recoveries_as_english.json");
const OTHERS: [&str; 3] =
    ["`make deploy` fails: no such host", "checking a change before it is committed", "doing mix format and git push"];

fn row_of<'r>(file: &'r Value, lesson: &Lesson) -> &'r Value {
    let rows = file["lessons"].as_array().unwrap();
    rows.iter().find(|row| row["id"] == lesson.id.to_string()).unwrap()
}

#[test]
fn a_recovery_that_was_written_as_english_is_read_as_data() {
    let bench = Bench::with_playbook_file(FORMER);
    let former = bench.json();
    let playbook = bench.open();
    let read = lessons(&playbook);
    assert_eq!(read.len(), former["lessons"].as_array().unwrap().len());
    for lesson in &read {
        let row = row_of(&former, lesson);
        for key in ["trigger", "mistake", "solution", "correct_pattern", "code_example"] {
            assert_eq!(serde_json::json!(**lesson)[key], row[key], "{key}");
        }
        assert_eq!(lesson.recovery.is_none(), OTHERS.contains(&lesson.trigger.as_str()), "{}", lesson.trigger);
    }
    let push = read.iter().find(|lesson| lesson.mistake == "`git push`").unwrap();
    let recovery = push.recovery.as_ref().unwrap();
    assert_eq!(recovery.failed, "git push");
    assert_eq!(recovery.error, "fatal: The current branch fix has no upstream branch.");
    assert_eq!(recovery.steps, [RecoveryStep::Passed("git push --set-upstream origin <branch>".into())]);
    assert_eq!(bench.read(PLAYBOOK), FORMER.as_bytes(), "reading writes nothing");

    let asked = |line: &str| {
        let context = playbook.get_playbook_context(Request::about("zzz").running(line).peek()).unwrap();
        shown(&context).contains(&push.trigger.as_str())
    };
    assert!(asked("git push") && !asked("git push --set-upstream origin fix"));
    // The next commit writes it.
    playbook.mark_graduated(push.id).unwrap();
    assert_eq!(row_of(&bench.json(), push)["recovery"]["failed"], "git push");
}

#[test]
fn a_recovery_in_the_file_is_dropped_if_a_person_changes_its_text() {
    let bench = Bench::with_playbook_file(FORMER);
    let playbook = bench.open();
    let push = lessons(&playbook).into_iter().find(|lesson| lesson.mistake == "`git push`").unwrap();
    playbook.edit(push.id, adage::LessonDraft::default().domains(["git"])).unwrap();
    assert_eq!(playbook.find(push.trigger.as_str()).unwrap().recovery, push.recovery);
    playbook.edit(push.trigger.as_str(), adage::LessonDraft::default().correct_pattern("Name the branch.")).unwrap();
    assert_eq!(playbook.find(push.trigger.as_str()).unwrap().recovery, None);
}
