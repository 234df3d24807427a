//! gemini-cli's chat recordings, after
//! [its types](https://github.com/google-gemini/gemini-cli/blob/main/packages/core/src/services/chatRecordingTypes.ts): one
//! JSON document `{"sessionId", "messages": […]}`, or lines: a head, one message each, `{"$set": {…}}`, `{"$rewindTo": id}`.
//!
//! A message (`user`, `gemini`, `info`, `warning`, `error`) is written again whenever it grows: the last one with an id
//! counts, at the first one's place. `$rewindTo` takes back the message it names and all after it; an id that is not there
//! takes back all, as [the loader](https://github.com/google-gemini/gemini-cli/blob/main/packages/core/src/services/chatRecordingService.ts)
//! does. `$set` with `messages` adds and renews, and drops nothing: it is also written when the model's context is
//! compressed, and what was said before still was (ours).
//!
//! Status: `success`, `error`, `cancelled` (unknown). A shell call "succeeds" whatever its program did, so there an exit
//! code or an error line in the output decides.

use std::collections::HashMap;

use serde_json::Value;

use super::Owner;
use super::recorder::{Kept, Recorder, str_of, text_of};
use crate::{Status, Turn};

/// A message with the turns made from it, and their size.
struct Message {
    id: String,
    turns: Vec<Turn>,
    kept: Kept,
}

/// The messages so far.
#[derive(Default)]
pub(super) struct Gemini {
    messages: Vec<Message>,
    places: HashMap<String, usize>,
}

impl Gemini {
    pub(super) fn read(&mut self, record: &Value, recorder: &mut Recorder) {
        if let Some(id) = record.get("$rewindTo").and_then(Value::as_str) {
            let place = self.places.get(id).copied().unwrap_or(0);
            for gone in self.messages.drain(place..) {
                self.places.remove(&gone.id);
                release(recorder, gone.kept);
            }
        } else if let Some(set) = record.get("$set") {
            head(set, recorder);
            for message in set.get("messages").and_then(Value::as_array).into_iter().flatten() {
                self.message(message, recorder);
            }
        } else if record.get("type").is_some() {
            self.message(record, recorder);
        } else if record.get("sessionId").is_some() || record.get("startTime").is_some() {
            head(record, recorder);
        } else {
            recorder.skip("no type");
        }
    }

    pub(super) fn finish(self, recorder: &mut Recorder) {
        recorder.transcript.turns = self.messages.into_iter().flat_map(|message| message.turns).collect();
    }

    fn message(&mut self, message: &Value, recorder: &mut Recorder) {
        let before = recorder.kept;
        let content = message.get("displayContent").or(message.get("content")).unwrap_or(&Value::Null);
        match str_of(message, "type") {
            "user" => recorder.user(content, &[""]),
            "gemini" => {
                recorder.say(content, Recorder::assistant);
                for call in message.get("toolCalls").and_then(Value::as_array).into_iter().flatten() {
                    tool_call(call, recorder);
                }
            }
            "info" | "warning" | "error" => recorder.say(content, Recorder::system),
            other => recorder.skip(other),
        }
        let turns = std::mem::take(&mut recorder.transcript.turns);
        recorder.header(None, None, message.get("timestamp"));
        let id = str_of(message, "id");
        // A message without turns takes a place too.
        recorder.kept.n_turns += usize::from(turns.is_empty());
        let (n_turns, n_bytes) = (recorder.kept.n_turns - before.n_turns, recorder.kept.n_bytes - before.n_bytes);
        let new = Message { id: id.to_owned(), turns, kept: Kept { n_turns, n_bytes } };
        if let Some(known) = self.places.get(id).and_then(|place| self.messages.get_mut(*place)) {
            release(recorder, known.kept);
            *known = new;
            return;
        }
        if !id.is_empty() {
            self.places.insert(id.to_owned(), self.messages.len());
        }
        self.messages.push(new);
    }
}

/// Makes room for what takes the place of turns that are kept no longer.
fn release(recorder: &mut Recorder, gone: Kept) {
    recorder.kept.n_turns -= gone.n_turns;
    recorder.kept.n_bytes -= gone.n_bytes;
}

fn head(record: &Value, recorder: &mut Recorder) {
    if str_of(record, "kind") == "subagent" {
        recorder.report.owner = Owner::Agent;
        recorder.has_person = false;
    }
    let folder = record.pointer("/directories/0").or(record.get("projectHash"));
    recorder.header(record.get("sessionId"), folder, record.get("startTime"));
}

fn tool_call(call: &Value, recorder: &mut Recorder) {
    // A message is written again with the same calls, so the id is made from the position, not from the call's own id.
    let id = format!("turn {}", recorder.transcript.turns.len());
    recorder.forget(&id);
    recorder.call(&id, str_of(call, "name"), call.get("args").cloned().unwrap_or_default());
    let (text, has_error) = result(call.get("result").unwrap_or(&Value::Null), recorder);
    let is_shell = str_of(call, "name").contains("shell");
    let told = match str_of(call, "status") {
        "error" => Some(Status::Failed),
        _ if has_error => Some(Status::Failed),
        "success" if !is_shell => Some(Status::Succeeded),
        "cancelled" => Some(Status::Unknown),
        _ => None,
    };
    let text = if text.is_empty() { str_of(call, "resultDisplay").to_owned() } else { text };
    if !text.is_empty() || matches!(str_of(call, "status"), "success" | "error") {
        recorder.result(&id, &text, told);
    }
}

/// The text of a result, `[{"functionResponse": {"response": {"output" or "error"}}}]` or parts, and whether it is an error.
fn result(value: &Value, recorder: &mut Recorder) -> (String, bool) {
    let parts = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
    let responses: Vec<&Value> = parts.iter().filter_map(|part| part.pointer("/functionResponse/response")).collect();
    if responses.is_empty() {
        return (text_of(value, recorder), false);
    }
    let text = |key: &'static str| responses.iter().filter_map(move |response| response.get(key)?.as_str());
    let has_error = text("error").next().is_some();
    (text("output").chain(text("error")).collect::<Vec<_>>().join("\n"), has_error)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::{Format, TranscriptReader};

    const RULE: &str = "Always use the internal registry for packages.";

    fn said(id: &str, text: &str) -> Value {
        json!({"type": "user", "id": id, "content": text})
    }

    #[track_caller]
    fn check(records: &[Value], typed: &[&str]) {
        let head = json!({"sessionId": "s", "startTime": "2026-01-01T10:00:00Z"});
        let lines: Vec<String> = std::iter::once(&head).chain(records).map(Value::to_string).collect();
        let reading = TranscriptReader::new().read(lines.join("\n").as_bytes(), Format::Gemini).unwrap();
        let found: Vec<&str> = reading.transcript.user_turns().map(|(_, text)| text).collect();
        assert_eq!(found, typed, "{records:?}");
    }

    #[test]
    fn what_a_person_types_again_after_a_rewind_is_theirs() {
        check(&[said("u", RULE), json!({"$rewindTo": "u"}), said("v", RULE)], &[RULE]);
        check(&[said("u", RULE), said("u", &format!("{RULE} Now."))], &[&format!("{RULE} Now.")]);
        let answer = json!({"type": "gemini", "id": "g", "content": format!("Noted: {RULE}")});
        check(&[said("u", RULE), answer, json!({"$rewindTo": "u"}), said("v", RULE)], &[RULE]);
    }

    #[test]
    fn a_recorded_summary_that_repeats_the_persons_words_takes_nothing_from_them() {
        check(&[said("u", RULE), json!({"$set": {"summary": format!("The user said: {RULE}")}})], &[RULE]);
    }
}
