//! The lossless binary encoding of a lesson.

use std::sync::Arc;

use chrono::{DateTime, FixedOffset, TimeZone, Utc};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    CommandRecovery, Evidence, Lesson, LessonId, Origin, Provenance, Realm, RecoveryEvidence, TextHash, Trust, WaysIn,
};
use crate::sorted_blocks::{StoredRow, decode_fields, encode_fields};

/// Seconds since 1970, nanoseconds, and the offset from UTC in seconds.
type Time = (i64, u32, i32);
/// The quote, its turn, and its range in that turn.
type Quote = (String, u64, u64, u64);
type Id = [u8; 16];

/// Texts, lists, numbers, flags, times, near lessons, origin, and unknown keys as JSON.
pub(crate) type Fields = (
    Id,
    [String; 11],
    [Vec<String>; 6],
    [u64; 9],
    [bool; 3],
    (Time, Option<Time>, Option<Time>),
    Vec<Id>,
    (u8, String, u8, Vec<Quote>, Option<Id>, Option<Id>, String),
    String,
);

/// The origins by their encoded number; new ones are appended.
const ORIGINS: [Origin; 5] = [Origin::Hand, Origin::Program, Origin::SelfPlay, Origin::Mined, Origin::Imported];

impl StoredRow for Arc<Lesson> {
    // A recall reads some dozens of lessons, spread over the memory.
    const ROWS_PER_BLOCK: usize = 16;

    fn encode(&self, bytes: &mut Vec<u8>) {
        encode_fields(fields_of(self), bytes);
    }

    fn decode(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (fields, rest) = decode_fields(bytes)?;
        Some((Self::new(lesson_of(fields)?), rest))
    }
}

fn fields_of(lesson: &Lesson) -> Fields {
    let Lesson {
        schema_version,
        id,
        timestamp,
        task,
        trigger,
        mistake,
        anti_pattern,
        solution,
        correct_pattern,
        code_example,
        domains,
        paths,
        commands,
        ways_in: WaysIn { names, situations, signs },
        recovery,
        confidence,
        source_challenge_hash,
        source,
        realm: Realm { project, role },
        verified,
        verification_attempted,
        graduated,
        retrievals,
        helpful_retrievals,
        harmful_retrievals,
        settled_retrievals,
        learned_at_recall,
        shown_at_recall,
        frequency,
        last_retrieved_at,
        last_credited_at,
        near,
        provenance,
        extra,
    } = lesson;
    let head = [task, trigger, mistake, anti_pattern, solution, correct_pattern];
    let tail = [code_example, source_challenge_hash, source, project, role];
    let mut texts = head.into_iter().chain(tail).cloned();
    (
        *id.as_bytes(),
        std::array::from_fn(|_| texts.next().unwrap_or_default()),
        [domains, paths, commands, names, situations, signs].map(Clone::clone),
        [
            *schema_version,
            as_in_json(*confidence).to_bits(),
            *retrievals,
            *helpful_retrievals,
            *harmful_retrievals,
            *settled_retrievals,
            *learned_at_recall,
            *shown_at_recall,
            *frequency,
        ],
        [*verified, *verification_attempted, *graduated],
        (time_fields(*timestamp), last_retrieved_at.map(time_fields), last_credited_at.map(time_fields)),
        near.iter().map(|id| *id.as_bytes()).collect(),
        provenance_fields(provenance),
        json_with_recovery(extra, recovery.as_ref()),
    )
}

/// Few lessons have a recovery: it is written beside the unknown keys, under its key in the file, which is never one of these.
fn json_with_recovery(extra: &Map<String, Value>, recovery: Option<&CommandRecovery>) -> String {
    let Some(recovery) = recovery else { return json_of(extra) };
    let mut keys = extra.clone();
    keys.insert(RECOVERY.to_owned(), json!(recovery));
    json_of(&keys)
}

fn lesson_of(fields: Fields) -> Option<Lesson> {
    let (
        id,
        texts,
        [domains, paths, commands, names, situations, signs],
        numbers,
        flags,
        times,
        near,
        provenance,
        extra,
    ) = fields;
    let [task, trigger, mistake, anti_pattern, solution, correct_pattern, code_example, hash, source, project, role] =
        texts;
    let [schema_version, confidence, retrievals, helpful, harmful, settled, learned_at, shown_at, frequency] = numbers;
    let [verified, verification_attempted, graduated] = flags;
    let mut extra = map_of(&extra)?;
    let recovery = extra.remove(RECOVERY).map(|value| CommandRecovery::deserialize(&value)).transpose().ok()?;
    Some(Lesson {
        schema_version,
        id: LessonId::from_bytes(id),
        timestamp: time_of(times.0)?,
        task,
        trigger,
        mistake,
        anti_pattern,
        solution,
        correct_pattern,
        code_example,
        domains,
        paths,
        commands,
        ways_in: WaysIn { names, situations, signs },
        recovery,
        confidence: f64::from_bits(confidence),
        source_challenge_hash: hash,
        source,
        realm: Realm { project, role },
        verified,
        verification_attempted,
        graduated,
        retrievals,
        helpful_retrievals: helpful,
        harmful_retrievals: harmful,
        settled_retrievals: settled,
        learned_at_recall: learned_at,
        shown_at_recall: shown_at,
        frequency,
        last_retrieved_at: optional_time(times.1)?,
        last_credited_at: optional_time(times.2)?,
        near: near.into_iter().map(LessonId::from_bytes).collect(),
        provenance: provenance_of(provenance)?,
        extra,
    })
}

fn provenance_fields(provenance: &Provenance) -> (u8, String, u8, Vec<Quote>, Option<Id>, Option<Id>, String) {
    let Provenance { origin, session, trust, evidence, confirmed, recovery, promoted, supersedes, extra } = provenance;
    let quote =
        |Evidence { quote, turn, range }: &Evidence| (quote.clone(), *turn as u64, range.0 as u64, range.1 as u64);
    (
        ORIGINS.iter().position(|known| known == origin).and_then(|place| u8::try_from(place).ok()).unwrap_or(u8::MAX),
        session.clone(),
        u8::from(*trust == Trust::Tainted),
        evidence.iter().map(quote).collect(),
        promoted.map(|hash| *hash.as_bytes()),
        supersedes.map(|id| *id.as_bytes()),
        json_with_rare(extra, *confirmed, recovery.as_ref()),
    )
}

/// Few lessons have evidence or a recovery: what belongs to these is written beside the unknown keys, under
/// its key in the file, which is never one of these.
fn json_with_rare(
    extra: &Map<String, Value>,
    confirmed: Option<TextHash>,
    recovery: Option<&RecoveryEvidence>,
) -> String {
    if confirmed.is_none() && recovery.is_none() {
        return json_of(extra);
    }
    let mut keys = extra.clone();
    keys.extend(confirmed.map(|hash| (CONFIRMED.to_owned(), json!(hash))));
    keys.extend(recovery.map(|recovery| (RECOVERY.to_owned(), json!(recovery))));
    json_of(&keys)
}

const CONFIRMED: &str = "confirmed";
const RECOVERY: &str = "recovery";

fn provenance_of(fields: (u8, String, u8, Vec<Quote>, Option<Id>, Option<Id>, String)) -> Option<Provenance> {
    let (origin, session, trust, evidence, promoted, supersedes, extra) = fields;
    let size = |number: u64| usize::try_from(number).ok();
    let quote = |(quote, turn, start, end): Quote| {
        Some(Evidence { quote, turn: size(turn)?, range: (size(start)?, size(end)?) })
    };
    let mut extra = map_of(&extra)?;
    let recovery = extra.remove(RECOVERY).map(|value| RecoveryEvidence::deserialize(&value)).transpose().ok()?;
    let confirmed = extra.remove(CONFIRMED).map(|value| TextHash::deserialize(&value)).transpose().ok()?;
    Some(Provenance {
        confirmed,
        origin: *ORIGINS.get(usize::from(origin))?,
        session,
        trust: if trust == 0 { Trust::Trusted } else { Trust::Tainted },
        evidence: evidence.into_iter().map(quote).collect::<Option<_>>()?,
        promoted: promoted.map(TextHash::from_bytes),
        supersedes: supersedes.map(LessonId::from_bytes),
        recovery,
        extra,
    })
}

/// The number as it is read back from JSON, which may differ in the last bit.
fn as_in_json(number: f64) -> f64 {
    serde_json::to_string(&number).ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or(number)
}

pub(crate) fn time_fields(time: DateTime<FixedOffset>) -> Time {
    (time.timestamp(), time.timestamp_subsec_nanos(), time.offset().local_minus_utc())
}

pub(crate) fn time_of((seconds, nanos, offset): Time) -> Option<DateTime<FixedOffset>> {
    Some(
        FixedOffset::east_opt(offset)?.from_utc_datetime(&DateTime::<Utc>::from_timestamp(seconds, nanos)?.naive_utc()),
    )
}

/// None inside the result for a missing time; none for an invalid one.
#[expect(clippy::option_option, reason = "no time is another thing than a time that makes no sense")]
fn optional_time(time: Option<Time>) -> Option<Option<DateTime<FixedOffset>>> {
    match time {
        None => Some(None),
        Some(time) => time_of(time).map(Some),
    }
}

fn json_of(map: &Map<String, Value>) -> String {
    if map.is_empty() { String::new() } else { Value::Object(map.clone()).to_string() }
}

fn map_of(json: &str) -> Option<Map<String, Value>> {
    if json.is_empty() { Some(Map::new()) } else { serde_json::from_str(json).ok() }
}

/// A lesson's id and the time that it is sorted by.
impl StoredRow for (LessonId, DateTime<FixedOffset>) {
    fn encode(&self, bytes: &mut Vec<u8>) {
        encode_fields((*self.0.as_bytes(), time_fields(self.1)), bytes);
    }

    fn decode(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let ((id, time), rest) = decode_fields(bytes)?;
        Some(((LessonId::from_bytes(id), time_of(time)?), rest))
    }
}

impl StoredRow for (LessonId, u32) {
    fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(self.0.as_bytes());
        bytes.extend_from_slice(&self.1.to_le_bytes());
    }

    fn decode(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (id, rest) = bytes.split_first_chunk()?;
        let (number, rest) = rest.split_first_chunk()?;
        Some(((LessonId::from_bytes(*id), u32::from_le_bytes(*number)), rest))
    }
}

impl StoredRow for (u32, LessonId) {
    fn encode(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.0.to_le_bytes());
        bytes.extend_from_slice(self.1.as_bytes());
    }

    fn decode(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (number, rest) = bytes.split_first_chunk()?;
        let (id, rest) = rest.split_first_chunk()?;
        Some(((u32::from_le_bytes(*number), LessonId::from_bytes(*id)), rest))
    }
}

/// One of several rows of a lesson.
impl StoredRow for ((LessonId, u8), u32) {
    fn encode(&self, bytes: &mut Vec<u8>) {
        (self.0.0, self.1).encode(bytes);
        bytes.push(self.0.1);
    }

    fn decode(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let ((id, number), rest) = StoredRow::decode(bytes)?;
        let (place, rest) = rest.split_first()?;
        Some((((id, *place), number), rest))
    }
}

impl StoredRow for (u32, (LessonId, u8)) {
    fn encode(&self, bytes: &mut Vec<u8>) {
        (self.1, self.0).encode(bytes);
    }

    fn decode(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let ((key, number), rest) = StoredRow::decode(bytes)?;
        Some(((number, key), rest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lesson::{Passage, RecoveryStep};
    use crate::testing::{at, lesson};

    fn passage(turn: usize, source: &str) -> Passage {
        Passage { turn, source: source.into(), quote: format!("quote {turn}") }
    }

    #[test]
    fn every_field_is_read_back() {
        let extra = |text: &str| match json!({ text: [1, null, {"a": 0.25}] }) {
            Value::Object(map) => map,
            _ => Map::new(),
        };
        let full = Lesson {
            schema_version: 2,
            timestamp: DateTime::parse_from_rfc3339("2026-03-01T00:30:00.123456789+05:30").unwrap(),
            task: "task".into(),
            mistake: "mistake".into(),
            anti_pattern: "anti".into(),
            correct_pattern: "pattern".into(),
            code_example: "code".into(),
            domains: vec!["a".into(), "b".into()],
            paths: vec!["src/**".into()],
            commands: vec!["cargo *".into(), String::new()],
            ways_in: WaysIn {
                names: vec!["n".into()],
                situations: vec!["how".into()],
                signs: vec!["by".into(), "this".into()],
            },
            recovery: Some(CommandRecovery {
                failed: "make".into(),
                error: "no rule".into(),
                steps: vec![RecoveryStep::Run("npm ci".into()), RecoveryStep::Passed("make".into())],
            }),
            confidence: 0.375,
            source_challenge_hash: "hash".into(),
            source: "mined".into(),
            realm: Realm::new("shop", "reviewer"),
            verified: true,
            verification_attempted: false,
            graduated: true,
            retrievals: 1,
            helpful_retrievals: 2,
            harmful_retrievals: 3,
            settled_retrievals: 4,
            learned_at_recall: 5,
            shown_at_recall: 6,
            frequency: u64::MAX,
            last_retrieved_at: Some(at(7)),
            last_credited_at: None,
            near: vec![lesson("near", "s").id],
            provenance: Provenance {
                origin: Origin::Mined,
                session: "session".into(),
                trust: Trust::Tainted,
                evidence: vec![Evidence { quote: "never \u{fc}ber".into(), turn: 9, range: (1, 2) }],
                confirmed: Some(TextHash::of(&["said"])),
                promoted: Some(TextHash::of(&["shown"])),
                supersedes: Some(lesson("old", "s").id),
                recovery: Some(RecoveryEvidence {
                    failure: passage(1, "`make`"),
                    remedies: vec![passage(2, "changed a.rs"), passage(3, "the user")],
                    success: passage(4, "`make`"),
                }),
                extra: extra("unknown"),
            },
            extra: extra("mood"),
            ..lesson("trigger", "solution")
        };
        for lesson in [full, lesson("t", "s")] {
            let row = Arc::new(lesson);
            let mut bytes = Vec::new();
            row.encode(&mut bytes);
            assert_eq!(StoredRow::decode(&bytes), Some((row, &[][..])));
        }
    }
}
