//! Merges the two versions of a playbook file, or of the archive, between which version control left the marks of a conflict
//! (docs/spec/folder-format.md, 4.1).

mod history;
mod marks;
mod row;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::{Map, Value};

use self::history::{Backs, History, Removals};
use self::marks::{Conflict, Hunk};
use self::row::{Row, id_of};
use super::checksum;
use super::playbook_file::{EDITED, LESSONS, REMOVED, WAITING, read_removed};
use super::salvage;
use crate::clock::Clock;
use crate::hash::TextHash;
use crate::lesson::Lesson;
use crate::state::{Change, Removed, ReviewReason};

pub(super) use self::history::ids_gone;
pub(super) use self::marks::{has_marks, without_ancestors};

type Keys = Map<String, Value>;

/// What is known about the rows of a file apart from the file.
pub(super) struct Known<'k> {
    /// The changes of both versions.
    pub(super) history: &'k [Change],
    pub(super) clock: &'k dyn Clock,
    /// True for a lesson that the user wrote or admitted.
    pub(super) admits: &'k dyn Fn(&Lesson) -> bool,
}

/// The two versions of a file with the marks of a conflict.
fn versions(conflict: &Conflict<'_>) -> [String; 2] {
    let [mut ours, mut theirs] = [String::new(), String::new()];
    for hunk in &conflict.hunks {
        let (own, others) = match hunk {
            Hunk::Both(line) => (std::slice::from_ref(line), std::slice::from_ref(line)),
            Hunk::Either { ours, theirs, .. } => (ours.as_slice(), theirs.as_slice()),
        };
        ours.extend(own.iter().flat_map(|line| [*line, "\n"]));
        theirs.extend(others.iter().flat_map(|line| [*line, "\n"]));
    }
    [ours, theirs]
}

/// The lines of both versions of a file of lines. Lines of a conflict are in the order of `time_of`, but those of each version keep
/// theirs; lines without a time follow the line before them. None if the file has no marks.
pub(super) fn merged_lines<T: Ord>(text: &str, time_of: impl Fn(&str) -> Option<T>) -> Option<Vec<&str>> {
    let mut merged = Vec::new();
    for hunk in marks::split(text)?.hunks {
        match hunk {
            Hunk::Both(line) => merged.push(line),
            Hunk::Either { ours, theirs, .. } => merged.extend(in_order(ours.into(), theirs.into(), &time_of)),
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
/// there, or is gone from the other one: it is left out if the history, which has the changes of both, or the common ancestor says so.
/// None if the file has no marks, or if one of its versions cannot be read.
pub(super) fn merged(text: &str, known: &Known<'_>) -> Option<Keys> {
    let conflict = marks::split(text)?;
    let read = |version: String| serde_json::from_str::<Keys>(&salvage::mend(&version)).ok();
    let [ours, theirs] = versions(&conflict).map(read);
    let (ours, theirs) = (ours?, theirs?);
    let layout = if text.contains("\n    {\"") { Layout::ByLine } else { Layout::ByValue };
    let merge = Merge { ancestors: Ancestors::of(&conflict, known), layout, ..Merge::of(&ours, &theirs, known) };
    let lists = merge.lists(&ours, &theirs);
    let mut keys = others(ours, theirs);
    keys.extend(lists);
    Some(keys)
}

/// The rows that can be read of a file with marks that are not those of a whole conflict: none of an ancestor, and none that the history
/// says is gone. Of rows with the same id, the first is taken for ours.
pub(super) fn salvaged(text: &str, known: &Known<'_>) -> Keys {
    let lines: String = without_ancestors(text).flat_map(|line| [line, "\n"]).collect();
    let mut ours = salvage::rows(&salvage::mend(&lines));
    let mut theirs = Keys::new();
    let mut ids = BTreeSet::new();
    for (list, rows) in &mut ours {
        let Value::Array(rows) = rows else { continue };
        let is_first = |row: &Value| id_of(row).is_none_or(|id| ids.insert(format!("{list} {id}")));
        let (first, repeated) = std::mem::take(rows).into_iter().partition(is_first);
        *rows = first;
        theirs.insert(list.clone(), Value::Array(repeated));
    }
    let lists = Merge::of(&ours, &theirs, known).lists(&ours, &theirs);
    ours.extend(lists);
    ours
}

/// How the rows of a file are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// Each row is a line: version control did not mix the values of two rows.
    ByLine,
    /// Each value is a line, as earlier versions wrote them.
    ByValue,
}

/// The rows of the common ancestor that a conflict shows, by id.
#[derive(Default)]
struct Ancestors {
    rows: BTreeMap<String, Vec<Row>>,
    /// True if the ancestor is one state, so that a row of it that one version lacks was deleted there.
    is_one: bool,
}

impl Ancestors {
    fn of(conflict: &Conflict<'_>, known: &Known<'_>) -> Self {
        let mut lines = String::new();
        for hunk in &conflict.hunks {
            if let Hunk::Either { ancestor, .. } = hunk {
                lines.extend(ancestor.iter().flat_map(|line| [*line, "\n"]));
            }
        }
        let mut rows: BTreeMap<String, Vec<Row>> = BTreeMap::new();
        for (list, found) in salvage::rows(&salvage::mend(&lines)) {
            let Value::Array(found) = found else { continue };
            for row in found {
                let Some(id) = id_of(&row).map(str::to_owned) else { continue };
                rows.entry(id).or_default().push(Row::read(&list, row, known.clock));
            }
        }
        Self { rows, is_one: conflict.is_of_one_ancestor }
    }

    fn of_id(&self, id: Option<&str>) -> &[Row] {
        id.and_then(|id| self.rows.get(id)).map_or(&[], Vec::as_slice)
    }
}

/// Which text of a row in both versions is kept.
enum Pick {
    Own,
    Other,
    /// Ours, and theirs under another id: a person decides.
    Both,
}

/// A merge of rows.
struct Merge<'m> {
    known: &'m Known<'m>,
    history: History,
    removal_rows: Vec<Value>,
    removals: Removals,
    ancestors: Ancestors,
    /// The lessons that ours and theirs list as edited in the file.
    edited: [BTreeSet<String>; 2],
    layout: Layout,
}

impl<'m> Merge<'m> {
    fn of(ours: &Keys, theirs: &Keys, known: &'m Known<'m>) -> Self {
        let history = History::of(known.history);
        let removal_rows = history.removals(rows_of(REMOVED, ours).iter().chain(rows_of(REMOVED, theirs)));
        let parsed: Vec<Removed> = removal_rows.iter().filter_map(|row| read_removed(row, known.clock)).collect();
        let edited = |keys| rows_of(EDITED, keys).iter().filter_map(|id| id.as_str().map(str::to_owned)).collect();
        Self {
            known,
            history,
            removal_rows,
            removals: Removals::of(&parsed),
            ancestors: Ancestors::default(),
            edited: [edited(ours), edited(theirs)],
            layout: Layout::ByLine,
        }
    }

    /// The merged lists whose rows have checksums.
    fn lists(self, ours: &Keys, theirs: &Keys) -> [(String, Value); 3] {
        let read = |list: &str, keys| -> Vec<Row> {
            rows_of(list, keys).iter().map(|row| Row::read(list, row.clone(), self.known.clock)).collect()
        };
        let mut second = Vec::new();
        let lessons = self.rows(LESSONS, &read(LESSONS, ours), &read(LESSONS, theirs), &mut second);
        let mut waiting = self.rows(WAITING, &read(WAITING, ours), &read(WAITING, theirs), &mut second);
        let in_use = read_all(LESSONS, &lessons, self.known.clock);
        self.add_second(&mut waiting, second, &in_use);
        let backs = Backs::of(&in_use);
        let mut removed = self.removal_rows;
        removed.retain(|row| !read_removed(row, self.known.clock).is_some_and(|removed| backs.has(&removed)));
        [(LESSONS, lessons), (WAITING, waiting), (REMOVED, removed)]
            .map(|(list, rows)| (list.to_owned(), Value::Array(rows)))
    }

    /// The rows of a list. Of those that only one version has, the ones that the other did not remove, and whose text is not in both.
    fn rows(&self, list: &str, own: &[Row], others: &[Row], second: &mut Vec<Value>) -> Vec<Value> {
        let by_id: BTreeMap<&str, &Row> = others.iter().filter_map(|row| Some((row.id()?, row))).collect();
        let own_ids: BTreeSet<&str> = own.iter().filter_map(Row::id).collect();
        let mut places = BTreeSet::new();
        let mut rows: Vec<Value> = Vec::with_capacity(own.len() + others.len());
        for row in own {
            let kept = match row.id().and_then(|id| by_id.get(id)) {
                Some(other) => self.either(list, row, other, second),
                None => self.only_in_one(row, second),
            };
            places.extend(kept.as_ref().and_then(|_| row.place()));
            rows.extend(kept);
        }
        let is_new = |row: &&Row| match row.id() {
            Some(id) => !own_ids.contains(id),
            None => !own.iter().any(|known| known.value == row.value),
        };
        for row in others.iter().filter(is_new) {
            let is_twice = row.place().is_some_and(|place| places.contains(&place));
            rows.extend(if is_twice { None } else { self.only_in_one(row, second) });
        }
        rows
    }

    /// The row of two versions with the same id. Where a row is several lines, a wrong checksum is not an edit: version control mixed the
    /// values of two rows.
    fn either(&self, list: &str, own: &Row, other: &Row, second: &mut Vec<Value>) -> Option<Value> {
        if self.layout == Layout::ByValue {
            match (own.is_whole(), other.is_whole()) {
                (false, false) if self.history.is_gone(own.id()) => return None,
                (true, false) => return Some(own.value.clone()),
                (false, true) => return Some(other.value.clone()),
                _ => {}
            }
        }
        let ancestors = self.ancestors.of_id(own.id());
        Some(match self.pick(own, other, ancestors) {
            Pick::Own => row::united(list, own, other, ancestors),
            Pick::Other => row::united(list, other, own, ancestors),
            Pick::Both => {
                second.extend(other.renamed());
                row::united(list, own, other, ancestors)
            }
        })
    }

    /// The text that one version changed, by the ancestor; or, without one, by what the file and the history say about changes.
    fn pick(&self, own: &Row, other: &Row, ancestors: &[Row]) -> Pick {
        let says = [own.says(), other.says()];
        if says[0] == says[1] {
            return Pick::Own;
        }
        let is_old = says.map(|says| ancestors.iter().any(|ancestor| ancestor.says() == says));
        let is_new = match is_old {
            [false, false] if !ancestors.is_empty() => [true, true],
            [own_is_old, other_is_old] if own_is_old != other_is_old => [other_is_old, own_is_old],
            _ => {
                let [ours, theirs] = &self.edited;
                [self.is_changed(own, other, [ours, theirs]), self.is_changed(other, own, [theirs, ours])]
            }
        };
        match is_new {
            [true, false] => Pick::Own,
            [false, true] => Pick::Other,
            _ if !own.is_shown_as(other) => Pick::Both,
            _ if own.caution(self.known.admits) < other.caution(self.known.admits) => Pick::Other,
            _ => Pick::Own,
        }
    }

    /// True if a version changed the text of a row that the other has too. A row that both list as edited was so before.
    fn is_changed(&self, row: &Row, other: &Row, [own, others]: [&BTreeSet<String>; 2]) -> bool {
        let is_edited = || row.id().is_some_and(|id| own.contains(id) && !others.contains(id));
        !row.is_whole() || is_edited() || self.history.is_replaced(other)
    }

    /// A row of one version. If it is gone from the other, but has a text that the other never had, the text awaits review.
    fn only_in_one(&self, row: &Row, second: &mut Vec<Value>) -> Option<Value> {
        let is_kept = self.is_kept(row);
        if !is_kept && self.history.is_rewritten(row) && !self.is_of_ancestor(row) {
            second.extend(row.renamed());
        }
        is_kept.then(|| row.value.clone())
    }

    /// True for a row that says what it did in the common ancestor that the conflict shows.
    fn is_of_ancestor(&self, row: &Row) -> bool {
        self.ancestors.of_id(row.id()).iter().any(|ancestor| ancestor.says() == row.says())
    }

    /// False for a row of one version that the other removed or replaced, also by its text: but a text that a person learned again after
    /// its removal is kept.
    fn is_kept(&self, row: &Row) -> bool {
        !self.history.is_gone(row.id()) && !self.removals.has(row) && !self.is_deleted(row)
    }

    /// True for a row that one version has as it was in the common ancestor: somebody deleted it in the file of the other. An undo may have
    /// brought back a row that both had removed.
    fn is_deleted(&self, row: &Row) -> bool {
        self.ancestors.is_one && self.is_of_ancestor(row) && !self.history.is_back(row.id())
    }

    /// Leaves out what awaits review and is in use, and adds the second texts that are nowhere yet.
    fn add_second(&self, waiting: &mut Vec<Value>, second: Vec<Value>, in_use: &[Row]) {
        let ids: BTreeSet<&str> = in_use.iter().filter_map(Row::id).collect();
        let mut shown: BTreeSet<TextHash> = in_use.iter().filter_map(Row::place).collect();
        let read = |row: &Value| Row::read(WAITING, row.clone(), self.known.clock);
        waiting.retain(|row| {
            let is_second =
                row.get("reason").is_some_and(|reason| *reason == serde_json::json!(ReviewReason::OtherVersion));
            let is_here = || is_second && read(row).place().is_some_and(|place| shown.contains(&place));
            id_of(row).is_none_or(|id| !ids.contains(id)) && !is_here()
        });
        shown.extend(waiting.iter().filter_map(|row| read(row).place()));
        for lesson in second {
            let mut row = serde_json::json!({ "lesson": lesson, "reason": ReviewReason::OtherVersion });
            row::seal(WAITING, &mut row, true);
            let second = read(&row);
            if self.is_kept(&second) && second.place().is_none_or(|place| shown.insert(place)) {
                waiting.push(row);
            }
        }
    }
}

fn read_all(list: &str, rows: &[Value], clock: &dyn Clock) -> Vec<Row> {
    rows.iter().map(|row| Row::read(list, row.clone(), clock)).collect()
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::clock::ManualClock;
    use crate::testing::at;

    fn union(text: &str) -> Option<Keys> {
        merged(text, &Known { history: &[], clock: &ManualClock::new(at(0)), admits: &|_| true })
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
        check(&conflict(("1", 1, "once"), ("1", 2, "twice"), ""), &["once", "old"]);
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
