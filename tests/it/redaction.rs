//! Secrets: recall on labelled texts, false positives on ordinary texts, and that no secret is stored.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::{Debug, Write as _};
use std::path::Path;
use std::sync::Arc;

use adage::config::CaptureConfig;
use adage::embed::{EmbedError, Role};
use adage::redact::{Redactor, Secret};
use adage::transcript::{Format, Reading, TranscriptReader, Turn};
use adage::{Embedder, Feedback, HashingEmbedder, LessonDraft, Playbook, Request, TextHash, build_lesson};
use adage_sessions::heuristics::suggest;
use ndarray::Array2;
use parking_lot::Mutex;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

use super::transcripts::{data, gunzipped, read, say, specstory};

fn decoded(text: &str) -> String {
    let digit = |byte: u8| {
        b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".iter().position(|it| *it == byte)
    };
    let digits: Vec<usize> = text.bytes().filter_map(digit).collect();
    let bytes = digits.chunks(4).flat_map(|four| {
        let bits = four.iter().fold(0, |bits, digit| bits << 6 | digit) << (6 * (4 - four.len()));
        (0..four.len() - 1).map(move |place| (bits >> (16 - 8 * place)) as u8)
    });
    String::from_utf8_lossy(&bytes.collect::<Vec<_>>()).into_owned()
}

/// What a rule is about: the provider, or the first word of its name. Rules of one family are tuned together.
fn family(rule: &str) -> &str {
    rule.trim_start_matches("kingfisher.").split(['.', '-']).next().unwrap()
}

/// The half that the rules may be tuned on: half of all names, by the last bit of their SHA-256. The other half decides.
fn is_tuned_on(name: &str) -> bool {
    Sha256::digest(name.as_bytes()).last().unwrap() % 2 == 0
}

/// The number of flagged texts, and the total.
#[derive(Clone, Copy, Default)]
struct Share {
    n_flagged: usize,
    n_all: usize,
}

impl Share {
    fn add(&mut self, is_flagged: bool) {
        self.n_flagged += usize::from(is_flagged);
        self.n_all += 1;
    }

    fn value(self) -> f64 {
        self.n_flagged as f64 / self.n_all as f64
    }
}

#[test]
fn secrets_of_held_out_families_are_found_and_other_texts_are_not() {
    let Some(folder) = data("recall and false alarms of redaction") else { return };
    let text = std::fs::read_to_string(folder.join("secrets/cases.jsonl")).unwrap();
    let rows: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let shapes = Redactor::shapes();
    for (name, redactor, least, n_most) in
        [("all rules", Redactor::shared(), 0.95, 1), ("no provider's rules", &shapes, 0.87, 2)]
    {
        for tuned in [true, false] {
            let [mut found, mut alarms] = [Share::default(); 2];
            for row in rows.iter().filter(|row| is_tuned_on(family(row["rule"].as_str().unwrap())) == tuned) {
                let share = if row["label"] == 1 { &mut found } else { &mut alarms };
                share.add(!redactor.find(&decoded(row["b64"].as_str().unwrap())).is_empty());
            }
            let half = if tuned { "tuned on" } else { "left out" };
            let text = format!(
                "{name}, families {half}: {:.4} of {} secrets found, {} of {} other texts flagged",
                found.value(),
                found.n_all,
                alarms.n_flagged,
                alarms.n_all,
            );
            say(&text);
            assert!(tuned || found.value() >= least && alarms.n_flagged <= n_most, "{text}");
        }
    }
}

/// Each string of a value.
fn strings(value: &Value, into: &mut BTreeSet<String>) {
    match value {
        Value::String(text) => _ = into.insert(text.clone()),
        Value::Array(list) => list.iter().for_each(|value| strings(value, into)),
        Value::Object(row) => row.values().for_each(|value| strings(value, into)),
        _ => {}
    }
}

/// Texts of sessions, lessons and skills, each with the name of what it is from.
fn ordinary_texts(folder: &Path) -> BTreeMap<String, String> {
    let mut texts = BTreeMap::new();
    let mut add = |source: &str, value: &Value| {
        let mut found = BTreeSet::new();
        strings(value, &mut found);
        texts.extend(found.into_iter().map(|text| (text, source.to_owned())));
    };
    let rows = |bytes: Vec<u8>| -> Vec<Value> {
        let lines = bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
    };
    for session in rows(gunzipped(&folder.join("transcripts/specstory/sessions.jsonl.gz"))) {
        let reading = read(specstory(&session).as_bytes(), Format::Anthropic);
        turns(reading, &mut |text| add(session["id"].as_str().unwrap(), text));
    }
    let sessions = std::fs::read_dir(folder.join("transcripts/claude-code")).unwrap().map(|file| file.unwrap().path());
    for path in sessions.filter(|path| path.extension().is_some_and(|extension| extension == "gz")) {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let session = name.split(['_', '.']).next().unwrap();
        turns(read(&gunzipped(&path), Format::Auto), &mut |text| add(session, text));
    }
    for lesson in rows(std::fs::read(folder.join("lint-lessons/corpus.jsonl")).unwrap()) {
        for field in ["trigger", "why", "anti_pattern", "correct_pattern"] {
            add(lesson["id"].as_str().unwrap(), &lesson[field]);
        }
    }
    for skill in rows(gunzipped(&folder.join("skills/skills.jsonl.gz"))) {
        add(skill["path"].as_str().unwrap(), &skill["text"]);
    }
    texts
}

/// Each text of a session.
fn turns(reading: Reading, with: &mut dyn FnMut(&Value)) {
    for turn in reading.transcript.turns {
        match turn {
            Turn::User(text) | Turn::Assistant(text) => with(&text.into()),
            Turn::ToolCall(call) => {
                with(&call.input);
                with(&call.result.into());
            }
            Turn::System(_) => {}
        }
    }
}

#[test]
fn of_1000_ordinary_texts_less_than_one_is_flagged() {
    let Some(folder) = data("ordinary texts flagged by redaction") else { return };
    let texts = ordinary_texts(&folder);
    for tuned in [true, false] {
        let mut flagged = Share::default();
        for (text, _) in texts.iter().filter(|(_, source)| is_tuned_on(source) == tuned) {
            // Two sessions hold a code that Google gave out for a log-in: it is a secret.
            let is_login_code =
                |secret: &Secret<'_>| text.get(secret.range.start..).is_some_and(|rest| rest.starts_with("4/0A"));
            flagged.add(!Redactor::shared().find(text).iter().all(is_login_code));
        }
        let half = if tuned { "tuned on" } else { "left out" };
        let text = format!("{} of {} ordinary texts {half} flagged", flagged.n_flagged, flagged.n_all);
        say(&text);
        assert!(flagged.n_all > 5_000 && flagged.value() <= 0.000_5, "{text}");
    }
}

/// Keeps everything that is logged, at every level.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<String>>);

struct Line<'l>(&'l mut String);

impl Visit for Line<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, " {field}={value:?}").unwrap();
    }
}

impl Subscriber for Log {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        span.record(&mut Line(&mut self.0.lock()));
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        values.record(&mut Line(&mut self.0.lock()));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut log = self.0.lock();
        event.record(&mut Line(&mut log));
        log.push('\n');
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// Keys of different makes, each put together from parts and unlike the others, so that a leak tells its place.
#[derive(Default)]
struct Keys(Vec<String>);

impl Keys {
    fn fresh(&mut self) -> String {
        let number = self.0.len() as u64 + 1;
        let digits = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789".as_bytes();
        let mut state = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut random = |n: usize| -> String {
            let letter = |_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                char::from(digits[(state >> 59) as usize])
            };
            (0..n).map(letter).collect()
        };
        let key = match number % 3 {
            0 => ["gh", "p_", &random(36)].concat(),
            1 => ["AK", "IA", &random(16)].concat(),
            _ => ["np", "m_", &random(36)].concat(),
        };
        self.0.push(key.clone());
        key
    }

    /// These bytes contain none of the keys, neither completely nor without its first characters.
    fn assert_none_in(&self, bytes: &[u8], place: &str) {
        for (number, key) in self.0.iter().enumerate() {
            let tail = &key.as_bytes()[4..];
            assert!(!bytes.windows(tail.len()).any(|window| window == tail), "key {number} is in {place}");
        }
    }

    fn assert_none_below(&self, folder: &Path) -> usize {
        let mut n_files = 0;
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let place = path.display().to_string();
            self.assert_none_in(place.as_bytes(), &place);
            if path.is_dir() {
                n_files += self.assert_none_below(&path);
            } else {
                n_files += 1;
                self.assert_none_in(&std::fs::read(&path).unwrap(), &place);
            }
        }
        n_files
    }
}

/// Records the texts that it was asked to embed.
#[derive(Clone, Default)]
struct Overheard(Arc<Mutex<String>>);

impl Embedder for Overheard {
    fn embed(&self, texts: &[&str], role: Role) -> Result<Array2<f32>, EmbedError> {
        self.0.lock().push_str(&texts.join("\n"));
        HashingEmbedder.embed(texts, role)
    }

    fn fingerprint(&self) -> TextHash {
        HashingEmbedder.fingerprint()
    }

    fn dimension(&self) -> Result<usize, EmbedError> {
        HashingEmbedder.dimension()
    }
}

/// Learns, shows, credits, verifies, merges, removes and restores, so that every file there is gets written.
fn live_with(playbook: &Playbook, drafts: Vec<LessonDraft>, query: &str) {
    let learned = playbook.learn_lessons(drafts.clone()).unwrap();
    let ids: Vec<_> = learned.iter().filter_map(adage::LearnOutcome::id).collect();
    let again = playbook.learn_lessons(drafts).unwrap();
    assert_eq!(learned.len(), again.len());
    let shown = playbook.get_playbook_context(Request::about(query)).unwrap();
    if let Some(receipt) = shown.receipt {
        playbook.record_outcome(receipt, Feedback::Helpful).unwrap();
    }
    for id in ids {
        if playbook.find(id).is_ok() {
            playbook.record_helpful_retrieval(id).unwrap();
            playbook.remove(id).unwrap();
        }
    }
    let removal = playbook.changes().unwrap();
    playbook.check().unwrap();
    assert!(!removal.is_empty());
}

#[test]
fn a_planted_key_is_in_no_file_in_no_line_of_the_log_and_not_embedded() {
    let (log, overheard, mut keys) = (Log::default(), Overheard::default(), Keys::default());
    let home = tempfile::tempdir().unwrap();
    tracing::subscriber::with_default(log.clone(), || {
        let playbook = Playbook::builder(home.path()).with_embedder(Arc::new(overheard.clone())).open().unwrap();
        live_with(&playbook, in_every_field(&mut keys), &format!("push with {}", keys.fresh()));
        live_with(&playbook, mined(&mut keys), &format!("deploy with {}", keys.fresh()));
        playbook.learn_lesson(build_lesson("rotate keys", format!("the old one was {}", keys.fresh()))).unwrap();
    });
    let text = log.0.lock().clone();
    assert!(!text.is_empty(), "nothing was logged");
    keys.assert_none_in(text.as_bytes(), "the log");
    let text = overheard.0.lock().clone();
    assert!(text.contains("rotate keys") && text.contains("[REDACTED:"), "{text}");
    keys.assert_none_in(text.as_bytes(), "what was embedded");
    assert!(keys.assert_none_below(home.path()) >= 3);
}

/// A lesson for each field, with a key in it: alone, in a sentence, and as the field's name.
fn in_every_field(keys: &mut Keys) -> Vec<LessonDraft> {
    let lesson = json!({
        "task": "push a branch", "trigger": "pushing a branch", "mistake": "no login", "anti_pattern": "push at once",
        "solution": "log in first", "correct_pattern": "log in first", "code_example": "git push", "domains": ["git"],
        "source": "user", "source_challenge_hash": "c1", "project": "p", "role": "r", "note": "n", "confidence": 0.5,
        "verified": false, "graduated": false, "frequency": 1, "id": "x", "timestamp": "2026-01-01T00:00:00Z",
        "last_retrieved_at": null, "near": [], "schema_version": 2,
        "provenance": {"origin": "hand", "session": "s", "trust": "trusted", "promoted": null, "note": {"deep": ["n"]},
            "evidence": [{"quote": "q", "turn": 0, "range": [0, 1]}]},
    });
    let Value::Object(lesson) = lesson else { unreachable!() };
    let mut drafts = Vec::new();
    let mut plant = |row: Map<String, Value>| {
        drafts.push(LessonDraft::from_json(row.clone()));
        drafts.push(LessonDraft::from_row(row));
    };
    for field in lesson.keys() {
        for kind in 0..3 {
            let mut row = lesson.clone();
            row.insert("trigger".into(), format!("pushing branch {kind} of {field}").into());
            row.insert("project".into(), format!("{kind} of {field}").into());
            let value = match kind {
                0 => json!(keys.fresh()),
                1 => json!(format!("see \"{}\", please", keys.fresh())),
                _ => json!([keys.fresh(), {(keys.fresh()): keys.fresh()}]),
            };
            row.insert(field.clone(), value);
            row.insert(keys.fresh(), true.into());
            plant(row);
        }
    }
    for path in ["/session", "/note", "/note/deep/0", "/evidence/0/quote", "/origin", "/trust", "/promoted"] {
        let mut row = lesson.clone();
        row.insert("trigger".into(), format!("pushing, as told by {path}").into());
        *row["provenance"].pointer_mut(path).unwrap() = keys.fresh().into();
        plant(row);
    }
    drafts
}

/// The suggestions for a session with keys in typed text, commands and output.
fn mined(keys: &mut Keys) -> Vec<LessonDraft> {
    let mut messages = vec![json!({"role": "user", "content": format!("Deploy the site with {}.", keys.fresh())})];
    let mut n_calls = 0;
    let mut call = |command: String, output: String, failed: bool| {
        n_calls += 1;
        let id = format!("call {n_calls}");
        [
            json!({"role": "assistant", "content": [
                {"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}]}),
            json!({"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": id, "content": output, "is_error": failed}]}),
        ]
    };
    messages.extend(call(
        format!("deploy --key {}", keys.fresh()),
        format!("Error: {} was refused", keys.fresh()),
        true,
    ));
    messages.extend(call(format!("deploy --key {}", keys.fresh()), format!("done with {}", keys.fresh()), false));
    let said = format!("No, don't do that. Use the key {} instead, never the old one.", keys.fresh());
    messages.push(json!({"role": "user", "content": said}));
    for _ in 0..8 {
        messages.extend(call(format!("deploy --key {}", keys.fresh()), format!("done with {}", keys.fresh()), false));
    }
    messages.push(json!({"role": "user", "content": format!("Remember this: {} opens the door.", keys.fresh())}));
    let source = Value::from(messages).to_string();
    let transcript = TranscriptReader::new().read(source.as_bytes(), Format::Anthropic).unwrap().transcript;
    let candidates = suggest(&transcript, &CaptureConfig::default()).candidates;
    let names: BTreeSet<_> = candidates.iter().map(|candidate| candidate.heuristic.name()).collect();
    assert_eq!(names, BTreeSet::from(["error-recovery", "explicit-instruction", "repeated-action", "user-correction"]));
    let drafts: Vec<LessonDraft> = candidates.into_iter().map(|candidate| candidate.draft).collect();
    let raw = drafts.iter().map(|draft| draft.to_json().to_string()).collect::<String>();
    assert!(keys.0.iter().any(|key| raw.contains(key)), "the session's keys are in what the rules suggest");
    drafts
}
