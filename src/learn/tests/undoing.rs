//! What an undo restores, and what it refuses.

use super::*;
use crate::error::{CannotUndo, Error};
use crate::state::{Action, Edit};

fn try_undo(bench: &mut Bench, change: ChangeId) -> Result<Change, Error> {
    let mut plan = Plan::new(bench.book.clone(), 1_000 + bench.changes.len() as u64, at(1_000));
    let undone = undo(&mut plan, &bench.changes, change)?;
    let record = plan.changes.remove(0);
    assert_eq!((undone.change, record.undoes), (record.id, Some(change)));
    bench.book = plan.book;
    bench.changes.push(record.clone());
    Ok(record)
}

fn reason(result: Result<Change, Error>) -> CannotUndo {
    match result {
        Err(Error::CannotUndo { reason, .. }) => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn undoing_a_merge_restores_the_text_and_keeps_the_counts() {
    let mut bench = Bench::new();
    let Some(id) = bench.learn(&lesson("t", "tag the commit")).id() else { panic!() };
    let change = bench.learn(&lesson("t", "tag the commit and push")).change().unwrap();
    bench.book.update(id, |lesson| lesson.retrievals = 7);
    try_undo(&mut bench, change).unwrap();
    let restored = bench.book.get(id).unwrap();
    assert_eq!((restored.solution.as_str(), restored.frequency, restored.retrievals), ("tag the commit", 1, 7));
    assert_eq!(reason(try_undo(&mut bench, change)), CannotUndo::Already);
}

#[test]
fn undoing_an_eviction_restores_the_lesson_and_removes_the_newcomer() {
    let mut bench = Bench::new();
    for trigger in ["a", "b", "c"] {
        bench.learn(&lesson(trigger, "s"));
    }
    let change = bench.learn(&lesson("d", "s")).change().unwrap();
    let record = try_undo(&mut bench, change).unwrap();
    assert_eq!(bench.triggers(), ["c", "b", "a"]);
    assert!(record.edits.iter().any(|edit| edit.before.as_ref().is_some_and(|gone| gone.trigger == "d")));
    assert_eq!(reason(try_undo(&mut bench, record.id)), CannotUndo::IsUndo);
}

#[test]
fn changes_of_one_lesson_are_undone_newest_first() {
    let mut bench = Bench::new();
    bench.learn(&lesson("t", "tag the commit"));
    let first = bench.learn(&lesson("t", "tag the commit and push")).change().unwrap();
    let second = bench.learn(&lesson("t", "tag the commit and push twice")).change().unwrap();
    assert_eq!(reason(try_undo(&mut bench, first)), CannotUndo::Newer(second));
    try_undo(&mut bench, second).unwrap();
    try_undo(&mut bench, first).unwrap();
    assert_eq!(nth(&bench.book, 0).solution, "tag the commit");
}

#[test]
fn an_edited_text_is_not_overwritten() {
    let mut bench = Bench::new();
    let Some(id) = bench.learn(&lesson("t", "tag the commit")).id() else { panic!() };
    let change = bench.learn(&lesson("t", "tag the commit and push")).change().unwrap();
    bench.book.update(id, |lesson| lesson.correct_pattern = "by hand".into());
    assert_eq!(reason(try_undo(&mut bench, change)), CannotUndo::Edited(id));
    assert!(matches!(
        try_undo(&mut bench, ChangeId::at(at(5), TextHash::of(&["none"]))),
        Err(Error::NoSuchChange { .. })
    ));
}

#[test]
fn the_text_of_a_removal_is_kept_for_thirty_days() {
    let mut bench = Bench::new();
    let gone = lesson("gone", "s");
    let mut plan = Plan::new(Book::default(), 0, at(0));
    let target = plan.record(Action::Remove, vec![Edit::removed(Why::Removed, &gone)]);
    plan.book.remember_removal(Arc::new(gone), target, at(0));
    bench.changes = plan.changes;
    let after = |seconds: i64| {
        let mut plan = Plan::new(plan.book.clone(), 1, at(seconds));
        removal::forget_old_texts(&mut plan);
        plan.book
    };
    let day = 24 * 60 * 60;
    let (early, late) = (after(30 * day), after(30 * day + 1));
    assert!(early.removed[0].lesson.is_some() && late.removed[0].lesson.is_none());
    bench.book = late;
    assert_eq!(reason(try_undo(&mut bench, target)), CannotUndo::Expired);
    bench.book = early;
    try_undo(&mut bench, target).unwrap();
    assert_eq!((bench.triggers(), bench.book.removed.len()), (vec!["gone"], 0));
}
