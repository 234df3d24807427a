//! The playbook file: indented JSON that a person can read and edit (docs/spec/playbook.md, 1).

mod encoder;
mod seals;
mod writing;
mod written_rows;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use chrono::{DateTime, FixedOffset};
use serde::de::{Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use self::seals::take_head;
use super::checksum::{self, Seal};
use super::usage::Folded;
use crate::clock::Clock;
use crate::lesson::{Lesson, LessonId, Realm, RemovedText, SCHEMA_VERSION, TextHash, time_of};
use crate::state::{Book, Evicted, Removed, ReviewReason, SkippedSuggestion, Waiting};

pub(super) use encoder::{EncodedFile, FileEncoder};
pub(crate) use seals::Seals;
pub(crate) use writing::render;
use writing::render_again;
pub(super) use writing::{others, removed_row, waiting_row};
pub(super) use written_rows::Layout;

/// The largest generation, length or line number that is believed: no playbook gets there, and what is counted from there on does not
/// overflow. A larger one counts as missing.
pub(crate) const MAX_NUMBER: u64 = 1 << 53;

/// A number of a file, unless it is larger than any that this program writes.
pub(crate) fn in_range(number: &Value) -> Option<u64> {
    number.as_u64().filter(|number| *number < MAX_NUMBER)
}

/// The content of the playbook file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PlaybookFile {
    pub(crate) generation: u64,
    /// The length of the archive that belongs to this generation.
    pub(crate) archive_length: u64,
    pub(crate) usage: Folded,
    pub(crate) book: Arc<Book>,
    /// Lessons that were edited in the file, until a person accepts the edits.
    pub(crate) edited: BTreeSet<LessonId>,
    /// Keys that this version does not know.
    pub(crate) extra: Map<String, Value>,
    /// True if the file does not state its archive and usage, because it is of an older version or was written by hand.
    pub(crate) is_unmarked: bool,
}

/// A parsed file.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) file: PlaybookFile,
    /// The schema of the file if it is newer; as much as possible is read of it.
    pub(crate) newer: Option<u64>,
    pub(crate) seals: Seals,
}

pub(super) const LESSONS: &str = "lessons";
const WAITING: &str = "waiting";
const REMOVED: &str = "removed";
/// The lists whose rows have checksums of their own.
pub(crate) const LISTS: [&str; 3] = [LESSONS, WAITING, REMOVED];
const EDITED: &str = "edited";
const WRITTEN: &str = "written";

/// As [`parse_then`], without a change.
#[cfg(test)]
pub(crate) fn parse(bytes: &[u8], clock: &dyn Clock, admits: &dyn Fn(&Lesson) -> bool) -> Result<Parsed, String> {
    parse_then(bytes, clock, admits, |_| {})
}

/// Parses the file, with a change of the keys after the checksums were checked. Lessons that `admits` rejects are kept separately.
///
/// # Errors
/// The reason why it is neither a playbook file nor a bare array of rows.
pub(crate) fn parse_then(
    bytes: &[u8],
    clock: &dyn Clock,
    admits: &dyn Fn(&Lesson) -> bool,
    advance: impl FnOnce(&mut Map<String, Value>),
) -> Result<Parsed, String> {
    let keys = match serde_json::from_slice(bytes) {
        Ok(Top::Rows(rows)) => {
            let mut seals = Seals::default();
            let book = Arc::new(read_book(rows, &mut seals, clock, admits));
            let file = PlaybookFile { book, is_unmarked: true, ..PlaybookFile::default() };
            return Ok(Parsed { file, newer: None, seals });
        }
        Ok(Top::Keys(keys)) => keys,
        Err(error) => return Err(error.to_string()),
    };
    parse_keys(keys, clock, admits, advance)
}

/// As [`parse_then`], for the keys of a file.
///
/// # Errors
/// As [`parse_then`].
pub(crate) fn parse_keys(
    mut keys: Map<String, Value>,
    clock: &dyn Clock,
    admits: &dyn Fn(&Lesson) -> bool,
    advance: impl FnOnce(&mut Map<String, Value>),
) -> Result<Parsed, String> {
    let mut seals = Seals { head: Some(take_head(&mut keys)), ..Seals::default() };
    seals.written = keys.remove(WRITTEN).and_then(|written| written.as_u64());
    advance(&mut keys);
    let version = keys.remove("schema_version").and_then(|version| version.as_u64()).unwrap_or(SCHEMA_VERSION);
    let Some(Value::Array(rows)) = keys.remove(LESSONS) else {
        return Err("it has no list `lessons`".to_owned());
    };
    let mut book = read_book(rows, &mut seals, clock, admits);
    read_removals(&mut keys, &mut book, &mut seals, clock);
    read_all_waiting(&mut keys, &mut book, &mut seals, clock);
    book.unread.extend(take_list(&mut keys, "unread"));
    let drawn = take_list(&mut keys, "drawn");
    book.mined_texts = drawn.iter().filter_map(|hash| hash.as_str()?.parse().ok()).collect();
    let mut unread = Vec::new();
    book.skips = read_rows::<SkippedSuggestion>(&mut keys, "skips", &mut unread);
    let recalls = read_rows::<Recalls>(&mut keys, "recalls", &mut unread);
    book.recalls = recalls.into_iter().map(|recalls| (recalls.realm, recalls.n)).collect();
    book.evicted = read_rows::<Evicted>(&mut keys, "evicted", &mut unread);
    book.unread.extend(unread);
    let mut number = |key: &str| keys.remove(key).and_then(|number| in_range(&number));
    let (generation, archive_length) = (number("generation").unwrap_or(0), number("archive_len"));
    let edited = take_list(&mut keys, EDITED).iter().filter_map(|id| id.as_str()?.parse().ok()).collect();
    let usage = keys
        .remove("usage")
        .and_then(|usage| Folded::deserialize(usage).ok())
        .filter(|usage| usage.line() < MAX_NUMBER);
    let file = PlaybookFile {
        generation,
        is_unmarked: archive_length.is_none() || usage.is_none(),
        archive_length: archive_length.unwrap_or(0),
        usage: usage.unwrap_or(Folded::Former { segment: 0, offset: 0 }),
        book: Arc::new(book),
        edited,
        extra: keys,
    };
    Ok(Parsed { file, newer: (version > SCHEMA_VERSION).then_some(version), seals })
}

/// Reads the removals. Rows that cannot be read are kept, and reported by a check.
fn read_removals(keys: &mut Map<String, Value>, book: &mut Book, seals: &mut Seals, clock: &dyn Clock) {
    for mut row in take_list(keys, REMOVED) {
        let seal = checksum::take(REMOVED, &mut row);
        seals.n_broken += usize::from(seal == Seal::Broken);
        match read_removed(&row, clock) {
            Some(removed) => {
                if seal == Seal::Broken {
                    seals.broken_removals.insert(removed.id);
                }
                book.removed.push(removed);
            }
            None => book.unread.push(row),
        }
    }
}

/// Reads the lessons that await review. Rows that cannot be read are kept.
fn read_all_waiting(keys: &mut Map<String, Value>, book: &mut Book, seals: &mut Seals, clock: &dyn Clock) {
    for mut row in take_list(keys, WAITING) {
        let seal = checksum::take(WAITING, &mut row);
        match read_waiting(&row, clock) {
            Some(waiting) => {
                seals.note(seal, waiting.lesson.id);
                book.waiting.push(waiting);
            }
            None => book.unread.push(row),
        }
    }
}

/// The rows of a list; those that cannot be read are added to `unread`.
fn read_rows<T: for<'de> Deserialize<'de>>(
    keys: &mut Map<String, Value>,
    list: &str,
    unread: &mut Vec<Value>,
) -> Vec<T> {
    let mut rows = Vec::new();
    for row in take_list(keys, list) {
        match T::deserialize(&row) {
            Ok(read) => rows.push(read),
            Err(_) => unread.push(row),
        }
    }
    rows
}

/// The JSON of the file. A duplicate key is an error: otherwise one of two lists of lessons would be dropped silently.
enum Top {
    Rows(Vec<Value>),
    Keys(Map<String, Value>),
}

impl<'de> Deserialize<'de> for Top {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TopVisitor)
    }
}

struct TopVisitor;

impl<'de> Visitor<'de> for TopVisitor {
    type Value = Top;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object or a list of lessons")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Top, A::Error> {
        let mut rows = Vec::new();
        while let Some(row) = list.next_element()? {
            rows.push(row);
        }
        Ok(Top::Rows(rows))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut object: A) -> Result<Top, A::Error> {
        let mut keys = Map::new();
        while let Some((key, value)) = object.next_entry::<String, Value>()? {
            if keys.insert(key.clone(), value).is_some() {
                return Err(A::Error::custom(format_args!("it has the key `{key}` twice")));
            }
        }
        Ok(Top::Keys(keys))
    }
}

/// The number of recalls of a realm.
#[derive(Serialize, Deserialize)]
struct Recalls {
    #[serde(flatten)]
    realm: Realm,
    n: u64,
}

fn read_book(rows: Vec<Value>, seals: &mut Seals, clock: &dyn Clock, admits: &dyn Fn(&Lesson) -> bool) -> Book {
    let (mut lessons, mut waiting, mut foreign, mut unread) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut ids = BTreeSet::new();
    let ranks = ranks(&rows, clock);
    for (place, mut row) in rows.into_iter().enumerate() {
        let seal = checksum::take(LESSONS, &mut row);
        let time = time_of(&row, clock);
        let unread_row = (!has_texts(&row)).then(|| row.clone());
        let read = Lesson::from_row(row, clock).map(|lesson| in_file_order(lesson, time, ranks.get(&place)));
        match read {
            Ok(lesson) if lesson.is_admitted() && !admits(&lesson) => foreign.push(Arc::new(lesson)),
            Ok(mut lesson) => {
                seals.note(seal, lesson.id);
                // A row that was copied by hand gets an id of its own, the same for every reader.
                if !ids.insert(lesson.id) {
                    let seed = TextHash::of(&[lesson.text_hash().to_string(), place.to_string()]);
                    lesson.id = LessonId::at(DateTime::default(), seed);
                    ids.insert(lesson.id);
                }
                let lesson = Arc::new(lesson);
                // A row that was changed since its promotion, or that another program added, is listed for review.
                match ReviewReason::of(&lesson) {
                    Some(reason) => waiting.push(Waiting { lesson, reason }),
                    None => lessons.push(lesson),
                }
            }
            Err(why) => {
                seals.n_broken += usize::from(seal == Seal::Broken);
                tracing::warn!(place, %why, "a row of the playbook file is not a lesson; it is kept unchanged");
                unread.extend(unread_row);
            }
        }
    }
    Book { lessons: lessons.into_iter().collect(), waiting, foreign, unread, ..Book::default() }
}

/// True for a row that is a lesson: it has a trigger and a solution.
fn has_texts(row: &Value) -> bool {
    let has = |key: &str| row.get(key).and_then(Value::as_str).is_some_and(|text| !text.trim().is_empty());
    (has("trigger") || has("task")) && (has("correct_pattern") || has("solution"))
}

/// The rank of each row without an id among rows of the same time, by its position; counted from the last one.
fn ranks(rows: &[Value], clock: &dyn Clock) -> BTreeMap<usize, usize> {
    let mut groups: BTreeMap<Option<DateTime<FixedOffset>>, Vec<usize>> = BTreeMap::new();
    for (place, row) in rows.iter().enumerate().rev().filter(|(_, row)| row.get("id").is_none()) {
        groups.entry(time_of(row, clock)).or_default().push(place);
    }
    let shared = groups.into_values().filter(|group| group.len() > 1);
    shared.flat_map(|group| group.into_iter().enumerate().map(|(rank, place)| (place, rank))).collect()
}

/// A row with its position in the file taken into account: without a time it is older than all others, and among rows of equal
/// time the earlier one is newer.
fn in_file_order(mut lesson: Lesson, time: Option<DateTime<FixedOffset>>, rank: Option<&usize>) -> Lesson {
    lesson.timestamp = time.unwrap_or_default();
    if let Some(rank) = rank {
        lesson.id = LessonId::numbered(lesson.timestamp, *rank, lesson.text_hash());
    }
    lesson
}

fn take_list(file: &mut Map<String, Value>, key: &str) -> Vec<Value> {
    match file.remove(key) {
        Some(Value::Array(list)) => list,
        _ => Vec::new(),
    }
}

pub(super) fn read_removed(row: &Value, clock: &dyn Clock) -> Option<Removed> {
    let text = |key: &str| row.get(key).and_then(Value::as_str);
    let at = text("at").and_then(|at| DateTime::parse_from_rfc3339(at).ok());
    let hash = |key: &str| text(key)?.parse::<TextHash>().ok();
    let lesson = row.get("lesson").and_then(|row| Lesson::from_row(row.clone(), clock).ok());
    // Earlier versions wrote one hash: the other one is that of the lesson, as long as it is kept.
    let wording = hash("wording_hash").or_else(|| RemovedText::of(lesson.as_ref()?).wording);
    Some(Removed {
        id: text("id")?.parse().ok()?,
        text: RemovedText { exact: hash("text_hash")?, wording },
        at: at.unwrap_or_else(DateTime::<FixedOffset>::default),
        change: text("change").and_then(|change| change.parse().ok()),
        lesson: lesson.map(Arc::new),
    })
}

pub(super) fn read_waiting(row: &Value, clock: &dyn Clock) -> Option<Waiting> {
    let lesson = Lesson::from_row(row.get("lesson")?.clone(), clock).ok()?;
    let reason = row.get("reason").and_then(|reason| ReviewReason::deserialize(reason).ok());
    Some(Waiting { lesson: Arc::new(lesson), reason: reason.unwrap_or(ReviewReason::Tainted) })
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;
    use crate::clock::ManualClock;
    use crate::testing::{at, lesson};
    use serde_json::json;

    fn read(bytes: &[u8]) -> PlaybookFile {
        match parse(bytes, &ManualClock::new(at(0)), &|_| true) {
            Ok(Parsed { file, newer: None, .. }) => file,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_playbook_file_is_read_back() {
        let mut file = PlaybookFile { generation: 7, archive_length: 12, ..PlaybookFile::default() };
        file.usage = Folded::Line(99);
        let book = Arc::make_mut(&mut file.book);
        book.put(lesson("t", "s"));
        book.put(Lesson { timestamp: at(5), ..lesson("later", "s") });
        let gone = lesson("gone", "s");
        let gone_id = gone.id;
        let removed = Removed {
            id: gone.id,
            text: RemovedText::of(&gone),
            at: at(3),
            change: None,
            lesson: Some(Arc::new(gone)),
        };
        book.removed.push(removed);
        let waiting = Waiting { lesson: Arc::new(lesson("waits", "s")), reason: ReviewReason::WouldEvictTrusted };
        book.waiting.push(waiting);
        book.unread.push(json!("a note"));
        assert!(
            book.remember_mined(TextHash::of(&["session", "text"]))
                && !book.remember_mined(TextHash::of(&["session", "text"]))
        );
        book.skips.push(SkippedSuggestion { name: "error-pip".into(), at: at(9), times: 2 });
        book.recalls = [(Realm::default(), 7), (Realm::new("shop", "reviewer"), 2)].into();
        book.remember_evicted(&lesson("evicted", "s"), 50);
        file.extra.insert("note".into(), json!({"by": "hand"}));
        file.edited.insert(gone_id);
        let bytes = render(&file, 1_700_000_000_123_456_789).unwrap();
        assert_eq!(read(&bytes), file);
        let seals = parse(&bytes, &ManualClock::new(at(0)), &|_| true).unwrap().seals;
        assert!(seals.is_whole(), "{seals:?}");
        let modified = |nanos| UNIX_EPOCH.checked_add(std::time::Duration::from_nanos(nanos));
        assert!(seals.is_untouched(modified(1_700_000_000_123_456_789)));
        assert!(
            seals.is_untouched(modified(1_700_000_000_123_456_000))
                && seals.is_untouched(modified(1_700_000_000_000_000_000))
        );
        assert!(!seals.is_untouched(modified(1_700_000_000_123_456_788)) && !seals.is_untouched(None));
    }

    #[test]
    fn a_bare_list_opens_and_other_rows_are_kept() {
        let file =
            read(br#"[{"task":"old","solution":"s"}, 5, {"mood":"good"}, {"trigger":"new","correct_pattern":"p"}]"#);
        assert_eq!(file.book.lessons.len(), 2);
        assert_eq!(file.book.unread, [json!(5), json!({"mood": "good"})]);
    }

    #[test]
    fn a_copied_row_gets_the_same_new_id_from_every_reader() {
        let row = json!(lesson("t", "s"));
        let rows = json!({"lessons": [row, row]}).to_string();
        let ids = |file: &PlaybookFile| file.book.lessons.iter().map(|lesson| lesson.id).collect::<BTreeSet<_>>();
        assert_eq!(ids(&read(rows.as_bytes())).len(), 2);
        assert_eq!(ids(&read(rows.as_bytes())), ids(&read(rows.as_bytes())));
    }

    #[test]
    fn a_file_that_is_not_a_playbook_is_reported() {
        for (bytes, reason) in
            [("", "EOF"), ("{", "EOF"), ("3", "an object or a list"), (r#"{"lessons": 3}"#, "no list")]
        {
            let error = parse(bytes.as_bytes(), &ManualClock::new(at(0)), &|_| true).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
        let newer = parse(br#"{"schema_version": 3, "lessons": []}"#, &ManualClock::new(at(0)), &|_| true);
        assert!(matches!(newer, Ok(Parsed { newer: Some(3), .. })));
    }
}
