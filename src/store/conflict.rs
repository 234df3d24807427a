//! Merges the two versions of a playbook file, or of the archive, between which version control left the marks of a conflict
//! (docs/spec/folder-format.md, 4.1).

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::{Map, Value};

use super::checksum::{self, Seal};
use super::playbook_file::{LESSONS, REMOVED, WAITING, read_removed};
use super::salvage::mend;
use crate::clock::Clock;
use crate::lesson::{ChangeId, Lesson, LessonId, RemovedText, TextHash};
use crate::state::{Change, Removed, Why};

type Keys = Map<String, Value>;

/// Where a line of a file with marks belongs.
enum Part {
    Both,
    Ours,
    Ancestor,
    Theirs,
}

/// The lines of a file with the marks of a conflict: those of both versions, or those of each.
enum Lines<'t> {
    Both(&'t str),
    Either { ours: Vec<&'t str>, theirs: Vec<&'t str> },
}

/// Splits a file at the marks of a merge; none if it has no such marks. The common ancestor that some styles show is left out.
fn split(text: &str) -> Option<Vec<Lines<'_>>> {
    let (mut part, mut split) = (Part::Both, Vec::new());
    let [mut ours, mut theirs] = [Vec::new(), Vec::new()];
    let mut n_conflicts = 0;
    for line in text.lines() {
        let is_mark = |mark: &str| line.starts_with(mark);
        match part {
            Part::Both if is_mark("<<<<<<<") => part = Part::Ours,
            Part::Ours if is_mark("|||||||") => part = Part::Ancestor,
            Part::Ours | Part::Ancestor if is_mark("=======") => part = Part::Theirs,
            Part::Theirs if is_mark(">>>>>>>") => {
                part = Part::Both;
                n_conflicts += 1;
                split.push(Lines::Either { ours: std::mem::take(&mut ours), theirs: std::mem::take(&mut theirs) });
            }
            Part::Both => split.push(Lines::Both(line)),
            Part::Ours => ours.push(line),
            Part::Theirs => theirs.push(line),
            Part::Ancestor => {}
        }
    }
    (n_conflicts > 0 && matches!(part, Part::Both)).then_some(split)
}

/// The two versions of a file with the marks of a merge.
fn versions(text: &str) -> Option<[String; 2]> {
    let [mut ours, mut theirs] = [String::new(), String::new()];
    for lines in split(text)? {
        let (own, others) = match &lines {
            Lines::Both(line) => (std::slice::from_ref(line), std::slice::from_ref(line)),
            Lines::Either { ours, theirs } => (ours.as_slice(), theirs.as_slice()),
        };
        ours.extend(own.iter().flat_map(|line| [*line, "\n"]));
        theirs.extend(others.iter().flat_map(|line| [*line, "\n"]));
    }
    Some([ours, theirs])
}

/// True if a file may have the marks of a merge.
pub(super) fn has_marks(bytes: &[u8]) -> bool {
    const MARK: &[u8] = b"\n<<<<<<<";
    MARK.get(1..).is_some_and(|mark| bytes.starts_with(mark)) || bytes.windows(MARK.len()).any(|part| part == MARK)
}

/// The lines of both versions of a file of lines. Lines of a conflict are in the order of `time_of`, but those of each version keep
/// theirs; lines without a time follow the line before them. None if the file has no marks.
pub(super) fn merged_lines<T: Ord>(text: &str, time_of: impl Fn(&str) -> Option<T>) -> Option<Vec<&str>> {
    let mut merged = Vec::new();
    for lines in split(text)? {
        match lines {
            Lines::Both(line) => merged.push(line),
            Lines::Either { ours, theirs } => merged.extend(in_order(ours.into(), theirs.into(), &time_of)),
        }
    }
    let mut known = BTreeSet::new();
    merged.retain(|line| known.insert(*line));
    Some(merged)
}

fn in_order<'t, T: Ord>(
    mut ours: VecDeque<&'t str>,
    mut theirs: VecDeque<&'t str>,
    time_of: &impl Fn(&str) -> Option<T>,
) -> Vec<&'t str> {
    let mut merged = Vec::with_capacity(ours.len() + theirs.len());
    while let (Some(own), Some(other)) = (ours.front(), theirs.front()) {
        let next = if time_of(own) <= time_of(other) { &mut ours } else { &mut theirs };
        merged.extend(next.pop_front());
    }
    merged.into_iter().chain(ours).chain(theirs).collect()
}

/// The keys of a playbook file that has the marks of a merge, with the rows of both versions. A row that only one version has was added
/// there, or is gone from the other one: it is left out if the history, which has the changes of both, says so. None if the file has no
/// marks, or if one of its versions cannot be read.
pub(super) fn merged(text: &str, history: &[Change], clock: &dyn Clock) -> Option<Keys> {
    let [ours, theirs] = versions(text)?.map(|version| serde_json::from_str::<Keys>(&mend(&version)).ok());
    let (ours, theirs) = (ours?, theirs?);
    let history = History::of(history);
    let removed = history.removals(&ours, &theirs);
    let parsed: Vec<Removed> = removed.iter().filter_map(|row| read_removed(row, clock)).collect();
    let merge = Merge { history, removed: &parsed, clock, is_by_line: text.contains("\n    {\"") };
    let lessons = merge.rows(LESSONS, &ours, &theirs);
    let ids: BTreeSet<&str> = lessons.iter().filter_map(id_of).collect();
    let mut waiting = merge.rows(WAITING, &ours, &theirs);
    waiting.retain(|row| id_of(row).is_none_or(|id| !ids.contains(id)));
    let removed = merge.in_force(removed, &lessons);
    let mut keys = others(ours, theirs);
    for (list, rows) in [(LESSONS, lessons), (WAITING, waiting), (REMOVED, removed)] {
        keys.insert(list.to_owned(), Value::Array(rows));
    }
    Some(keys)
}

/// What the changes of both versions say about lessons, by id.
struct History {
    /// Lessons that were removed, replaced or evicted, and did not come back.
    gone: BTreeSet<String>,
    undone: BTreeSet<ChangeId>,
}

impl History {
    fn of(changes: &[Change]) -> Self {
        let undone: BTreeSet<ChangeId> = changes.iter().filter_map(|change| change.undoes).collect();
        let mut gone = BTreeSet::new();
        let edits = changes.iter().filter(|change| !undone.contains(&change.id)).flat_map(|change| &change.edits);
        for edit in edits {
            if edit.after.is_none() {
                gone.insert(edit.id.to_string());
            } else if matches!(edit.why, Why::Inserted | Why::Restored | Why::Awaiting) {
                gone.remove(&edit.id.to_string());
            }
        }
        Self { gone, undone }
    }

    /// The removals of both versions, without those that were undone.
    fn removals(&self, ours: &Keys, theirs: &Keys) -> Vec<Value> {
        let is_undone = |row: &Value| {
            let change = row.get("change").and_then(Value::as_str).and_then(|change| change.parse().ok());
            change.is_some_and(|change| self.undone.contains(&change))
        };
        let mut known = BTreeSet::new();
        let rows = rows_of(REMOVED, ours).iter().chain(rows_of(REMOVED, theirs)).filter(|row| !is_undone(row));
        rows.filter(|row| id_of(row).is_none_or(|id| known.insert(id.to_owned()))).cloned().collect()
    }
}

/// A merge of rows.
struct Merge<'m> {
    history: History,
    removed: &'m [Removed],
    clock: &'m dyn Clock,
    /// True if each row is a line, so that version control did not mix the values of two rows.
    is_by_line: bool,
}

impl Merge<'_> {
    /// The rows of a list. Of those that only one version has, the ones that the other did not remove, and whose text is not in both.
    fn rows(&self, list: &str, ours: &Keys, theirs: &Keys) -> Vec<Value> {
        let [own, others] = [ours, theirs].map(|keys| rows_of(list, keys));
        let by_id = |rows: &[Value]| -> BTreeMap<String, Value> {
            rows.iter().filter_map(|row| Some((id_of(row)?.to_owned(), row.clone()))).collect()
        };
        let (own_ids, others_ids) = (by_id(own), by_id(others));
        let mut rows: Vec<Value> = Vec::with_capacity(own.len() + others.len());
        for row in own {
            match id_of(row).and_then(|id| others_ids.get(id)) {
                Some(other) => rows.extend(self.either(list, row, other)),
                None => rows.extend(self.is_kept(row).then(|| row.clone())),
            }
        }
        let texts: BTreeSet<TextHash> = rows.iter().filter_map(|row| self.text_of(row)).collect();
        let is_new = |row: &&Value| match id_of(row) {
            Some(id) => !own_ids.contains_key(id),
            None => !own.contains(row),
        };
        for row in others.iter().filter(is_new) {
            let is_twice = self.text_of(row).is_some_and(|text| texts.contains(&text));
            rows.extend((!is_twice && self.is_kept(row)).then(|| row.clone()));
        }
        rows
    }

    /// Of a row in both versions: the one that a person edited in the file, else the one that was learned or shown more often, else ours.
    /// Where a row is several lines, a wrong checksum is not an edit: version control mixed the values of two rows.
    fn either(&self, list: &str, own: &Value, other: &Value) -> Option<Value> {
        let is_whole = |row: &Value| checksum::take(list, &mut row.clone()) == Seal::Whole;
        let (own_is_whole, other_is_whole) = (is_whole(own), is_whole(other));
        if !self.is_by_line && !own_is_whole && !other_is_whole && self.is_gone(own) {
            return None;
        }
        let is_own =
            if own_is_whole == other_is_whole { uses(own) >= uses(other) } else { own_is_whole != self.is_by_line };
        Some(if is_own { own } else { other }.clone())
    }

    fn is_gone(&self, row: &Value) -> bool {
        id_of(row).is_some_and(|id| self.history.gone.contains(id))
    }

    /// False for a row of one version that the other removed or replaced, also by its text: but a text that a person learned again after
    /// its removal is kept.
    fn is_kept(&self, row: &Value) -> bool {
        let is_listed = || self.removed.iter().any(|removed| id_of(row) == Some(removed.id.to_string().as_str()));
        if self.is_gone(row) || is_listed() {
            return false;
        }
        let Some(lesson) = self.lesson(row) else { return true };
        let text = RemovedText::of(&lesson);
        !self.removed.iter().any(|removed| removed.text.is(text) && lesson.timestamp <= removed.at)
    }

    /// The removals, without those whose text a person learned again: under another id.
    fn in_force(&self, removed: Vec<Value>, lessons: &[Value]) -> Vec<Value> {
        let lessons: Vec<Lesson> = lessons.iter().filter_map(|row| self.lesson(row)).collect();
        let texts: Vec<(LessonId, RemovedText)> =
            lessons.iter().map(|lesson| (lesson.id, RemovedText::of(lesson))).collect();
        let is_back = |row: &Value| {
            let removed = read_removed(row, self.clock);
            removed.is_some_and(|removed| texts.iter().any(|(id, text)| *id != removed.id && removed.text.is(*text)))
        };
        removed.into_iter().filter(|row| !is_back(row)).collect()
    }

    fn lesson(&self, row: &Value) -> Option<Lesson> {
        Lesson::from_row(row.get("lesson").unwrap_or(row).clone(), self.clock).ok()
    }

    /// The hash of a lesson's advice and realm.
    fn text_of(&self, row: &Value) -> Option<TextHash> {
        let lesson = self.lesson(row)?;
        Some(TextHash::of(&[lesson.text_hash().to_string(), lesson.realm.project.clone(), lesson.realm.role.clone()]))
    }
}

/// The other keys of both versions: lists have the rows of both, the generation is that of a later commit, and otherwise ours is taken. The
/// archive and the usage of the result are not those of one version.
fn others(mut ours: Keys, theirs: Keys) -> Keys {
    let generation = |keys: &Keys| keys.get("generation").and_then(Value::as_u64).unwrap_or_default();
    let generation = generation(&ours).max(generation(&theirs)).saturating_add(1);
    for (key, value) in theirs {
        match (ours.get_mut(&key), value) {
            (None, value) => drop(ours.insert(key, value)),
            (Some(Value::Array(own)), Value::Array(rows)) if key == "recalls" => add_recalls(own, rows),
            (Some(Value::Array(own)), Value::Array(rows)) => {
                let known: BTreeSet<String> = own.iter().map(name_of).collect();
                own.extend(rows.into_iter().filter(|row| !known.contains(&name_of(row))));
            }
            _ => {}
        }
    }
    ours.insert("generation".to_owned(), generation.into());
    for key in ["archive_len", "usage", checksum::KEY] {
        ours.remove(key);
    }
    ours
}

/// By what two rows of a list are the same.
fn name_of(row: &Value) -> String {
    row.get("name").unwrap_or(row).to_string()
}

/// The larger count of each realm.
fn add_recalls(own: &mut Vec<Value>, others: Vec<Value>) {
    let realm = |row: &Value| [row.get("project").cloned(), row.get("role").cloned()];
    let n = |row: &Value| row.get("n").and_then(Value::as_u64);
    for other in others {
        match own.iter_mut().find(|row| realm(row) == realm(&other)) {
            Some(row) if n(row) >= n(&other) => {}
            Some(row) => *row = other,
            None => own.push(other),
        }
    }
}

fn rows_of<'k>(list: &str, keys: &'k Keys) -> &'k [Value] {
    keys.get(list).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The id of a row; the one of its lesson, if it awaits review.
fn id_of(row: &Value) -> Option<&str> {
    row.get("id").or_else(|| row.pointer("/lesson/id")).and_then(Value::as_str)
}

/// How often a lesson was learned, had an outcome, and was shown.
fn uses(row: &Value) -> [u64; 3] {
    let row = row.get("lesson").unwrap_or(row);
    ["frequency", "settled_retrievals", "retrievals"]
        .map(|key| row.get(key).and_then(Value::as_u64).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::clock::ManualClock;
    use crate::testing::at;

    fn union(text: &str) -> Option<Keys> {
        merged(text, &[], &ManualClock::new(at(0)))
    }

    #[test]
    fn a_conflict_within_rows_keeps_the_rows_of_both_versions() {
        let file = |id: &str, frequency: u64, trigger: &str| {
            format!(
                "{{\n\"generation\": 3,\n\"lessons\": [\n{{\n\"id\": \"{id}\",\n\"frequency\": {frequency},\n\"trigger\": \"{trigger}\",\n\
                 \"solution\": \"s\"\n}},\n{{\"id\": \"0\", \"trigger\": \"old\", \"solution\": \"s\"}}\n]\n}}\n"
            )
        };
        let conflict = |ours: (&str, u64, &str), theirs: (&str, u64, &str), ancestor: &str| {
            let lines = |(id, frequency, trigger): (&str, u64, &str)| {
                format!("\"id\": \"{id}\",\n\"frequency\": {frequency},\n\"trigger\": \"{trigger}\",\n")
            };
            let whole = file(ours.0, ours.1, ours.2);
            let marked = format!("<<<<<<< HEAD\n{}{ancestor}=======\n{}>>>>>>> other\n", lines(ours), lines(theirs));
            whole.replace(&lines(ours), &marked)
        };
        let check = |text: &str, expected: &[&str]| {
            let keys = union(text).unwrap();
            let rows = keys["lessons"].as_array().unwrap();
            let triggers: Vec<&str> = rows.iter().map(|row| row["trigger"].as_str().unwrap()).collect();
            assert_eq!(triggers, expected, "{text}");
            assert_eq!(keys["generation"], 4);
        };
        check(&conflict(("1", 1, "alice"), ("2", 1, "bob"), ""), &["alice", "old", "bob"]);
        check(&conflict(("1", 1, "alice"), ("2", 1, "bob"), "||||||| base\n"), &["alice", "old", "bob"]);
        check(&conflict(("1", 1, "alice"), ("2", 1, "alice"), ""), &["alice", "old"]);
        check(&conflict(("1", 1, "once"), ("1", 2, "twice"), ""), &["twice", "old"]);
        check(&conflict(("1", 2, "twice"), ("1", 1, "once"), ""), &["twice", "old"]);
        assert_eq!(union(&file("1", 1, "whole")), None);
        assert_eq!(union(&conflict(("1", 1, "a"), ("2", 1, "b"), "").replace(">>>>>>>", "")), None);
    }

    #[test]
    fn other_lists_have_the_rows_of_both_versions() {
        let keys = |keys: Value| match keys {
            Value::Object(keys) => keys,
            other => panic!("{other}"),
        };
        let ours = json!({"generation": 9, "drawn": ["a", "b"], "usage": {"segment": 1}, "skips": [{"name": "x", "times": 1}],
            "recalls": [{"n": 3}, {"project": "p", "n": 1}], "crc": "0"});
        let theirs = json!({"generation": 4, "drawn": ["b", "c"], "skips": [{"name": "x", "times": 2}], "unread": [1],
            "recalls": [{"n": 2}, {"project": "p", "n": 5}, {"project": "q", "n": 1}]});
        let expected = json!({"generation": 10, "drawn": ["a", "b", "c"], "skips": [{"name": "x", "times": 1}], "unread": [1],
            "recalls": [{"n": 3}, {"project": "p", "n": 5}, {"project": "q", "n": 1}]});
        assert_eq!(others(keys(ours), keys(theirs)), keys(expected));
    }

    #[test]
    fn lines_of_both_versions_are_ordered_by_time_and_are_there_once() {
        let text = "1 a\n<<<<<<< ours\n2 b\n5 c\n1 d\n=======\n2 b\n3 e\n9 f\n>>>>>>> theirs\n1 g\n";
        let time = |line: &str| line.split(' ').next()?.parse::<u64>().ok();
        assert_eq!(merged_lines(text, time).unwrap(), ["1 a", "2 b", "3 e", "5 c", "1 d", "9 f", "1 g"]);
        assert_eq!(merged_lines("1 a\n2 b\n", time), None);
        assert!(has_marks(text.as_bytes()) && has_marks(b"<<<<<<< ours\n") && !has_marks(b"a <<<<<<< ours\n"));
    }
}
