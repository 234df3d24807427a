//! The content of a playbook as rows: what rows say, and which rows differ between two states.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::places::{Placed, key, placed};
use super::store::{List, Row};
use crate::clock::Clock;
use crate::lesson::{Lesson, LessonId};
use crate::state::{Book, Removed, ReviewReason, Waiting};
use crate::store::playbook_file::{self, PlaybookFile};

/// A state as far as it is committed, and the places of its lists.
#[derive(Clone, Debug, Default)]
pub(super) struct Content {
    pub(super) file: Arc<PlaybookFile>,
    waiting: Placed<Waiting>,
    removed: Placed<Removed>,
    others: BTreeMap<String, Value>,
}

impl Content {
    /// The state after these rows; `folded` events are in it.
    ///
    /// # Errors
    /// The key of a row that is not what this program writes, and the reason.
    pub(super) fn after(
        &self,
        rows: Vec<Row>,
        [generation, folded]: [u64; 2],
        clock: &dyn Clock,
    ) -> Result<Self, [String; 2]> {
        let mut next = self.clone();
        let mut book = Book::clone(&self.file.book);
        for Row { list, key, value } in rows {
            let wrong = |reason: &str| [format!("the row {key} of {list:?}"), reason.to_owned()];
            match list {
                List::Lessons => {
                    let id: LessonId = key.parse().map_err(|_| wrong("its key is not a lesson's id"))?;
                    drop(book.take(id));
                    if let Some(row) = value {
                        // Its time is in the row, and nothing else decides about its order.
                        let lesson = Lesson::from_row(row, clock).map_err(|reason| wrong(&reason.to_string()))?;
                        let is_own = lesson.id == id && ReviewReason::of(&lesson).is_none();
                        if !is_own {
                            return Err(wrong("it is not the lesson of its key, or needs a review"));
                        }
                        book.put(lesson);
                    }
                }
                List::Waiting => {
                    let read = |row: &Value| playbook_file::read_waiting(row, clock);
                    set(&mut next.waiting, &key, value.as_ref(), read).map_err(wrong)?;
                }
                List::Removed => {
                    let read = |row: &Value| playbook_file::read_removed(row, clock);
                    set(&mut next.removed, &key, value.as_ref(), read).map_err(wrong)?;
                }
                List::Others => drop(match value {
                    Some(value) => next.others.insert(key, value),
                    None => next.others.remove(&key),
                }),
            }
        }
        let mut keys: Map<String, Value> = next.others.clone().into_iter().collect();
        keys.extend([("lessons".to_owned(), json!([])), ("generation".to_owned(), generation.into())]);
        keys.extend([("archive_len".to_owned(), 0.into()), ("usage".to_owned(), folded.into())]);
        let read = playbook_file::parse_keys(keys, clock, &|_| true, |_| {});
        let mut file = read.map_err(|reason| ["the state".to_owned(), reason])?.file;
        let others = Arc::make_mut(&mut file.book);
        others.lessons = book.lessons;
        others.waiting = next.waiting.values().cloned().collect();
        others.removed = next.removed.values().cloned().collect();
        next.file = Arc::new(file);
        Ok(next)
    }

    /// The rows that turn this state into another one, and that one.
    ///
    /// # Errors
    /// Errors of the JSON writer; none is known for a playbook.
    pub(super) fn rows_to(&self, file: Arc<PlaybookFile>) -> serde_json::Result<(Vec<Row>, Self)> {
        let book = &file.book;
        let lessons = self.file.book.lessons.changed(&book.lessons).into_iter().filter_map(|changed| {
            let id = changed.after.as_ref().or(changed.before.as_ref())?.id;
            let value = changed.after.map(|lesson| json!(*lesson));
            Some(Row { list: List::Lessons, key: id.to_string(), value })
        });
        let mut rows: Vec<Row> = lessons.collect();
        let waiting = placed(&self.waiting, &book.waiting, |a, b| a.lesson.id == b.lesson.id);
        let removed = placed(&self.removed, &book.removed, |a, b| a.id == b.id);
        let others = playbook_file::others(&file)?.into_iter().collect();
        rows.extend(differing(List::Waiting, &self.waiting, &waiting, playbook_file::waiting_row)?);
        rows.extend(differing(List::Removed, &self.removed, &removed, playbook_file::removed_row)?);
        for name in self.others.keys().chain(BTreeMap::keys(&others).filter(|name| !self.others.contains_key(*name))) {
            let value = others.get(name);
            if self.others.get(name) != value {
                rows.push(Row { list: List::Others, key: name.clone(), value: value.cloned() });
            }
        }
        Ok((rows, Self { file, waiting, removed, others }))
    }
}

fn set<T>(
    list: &mut Placed<T>,
    key: &str,
    value: Option<&Value>,
    read: impl FnOnce(&Value) -> Option<T>,
) -> Result<(), &'static str> {
    let place = key.parse().map_err(|_| "its key is not a place")?;
    drop(match value {
        Some(row) => list.insert(place, read(row).ok_or("it is not a row of this list")?),
        None => list.remove(&place),
    });
    Ok(())
}

fn differing<T: PartialEq>(
    list: List,
    before: &Placed<T>,
    after: &Placed<T>,
    row: impl Fn(&T) -> serde_json::Result<Value>,
) -> serde_json::Result<Vec<Row>> {
    let gone = before.keys().filter(|place| !after.contains_key(place));
    let mut rows: Vec<Row> = gone.map(|place| Row { list, key: key(*place), value: None }).collect();
    for (place, item) in after {
        if before.get(place) != Some(item) {
            rows.push(Row { list, key: key(*place), value: Some(row(item)?) });
        }
    }
    Ok(rows)
}
