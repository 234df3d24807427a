//! Batches of messages, which one version of the protocol has: several messages in a JSON list, whose responses are a list too.

use rmcp::model::{ErrorCode, ProtocolVersion};
use serde_json::{Value, json};

use super::message::{self, Message, refusal};

/// The responses that are missing of each batch, and the version of the protocol.
#[derive(Debug, Default)]
pub(super) struct Batches {
    /// The version that the server and its client agreed on.
    version: Option<String>,
    open: Vec<Batch>,
}

/// A batch whose responses are not complete.
#[derive(Debug)]
struct Batch {
    waits_for: Vec<Value>,
    responses: Vec<Value>,
}

impl Batches {
    /// The messages of a batch, and the response to those that are refused if it is complete.
    pub(super) fn open(&mut self, batch: Vec<Value>) -> (Vec<Message>, Option<Value>) {
        let invalid = |text: &str| (Vec::new(), Some(refusal(&Value::Null, ErrorCode::INVALID_REQUEST, text)));
        if self.version.as_deref() != Some(ProtocolVersion::V_2025_03_26.as_str()) {
            let version = self.version.as_deref().unwrap_or("that no `initialize` has named");
            return invalid(&format!(
                "a batch is not part of the protocol's version {version}: send one message a line"
            ));
        }
        if batch.is_empty() {
            return invalid("the batch is empty, it must have at least one message");
        }
        let (mut messages, mut open) = (Vec::new(), Batch { waits_for: Vec::new(), responses: Vec::new() });
        for value in batch {
            let id = value.get("id").filter(|_| value.get("method").is_some()).cloned();
            let is_initialize = value.get("method") == Some(&json!("initialize"));
            match message::message(value) {
                Ok(_) if is_initialize => {
                    let id = id.unwrap_or_default();
                    open.responses.push(refusal(
                        &id,
                        ErrorCode::INVALID_REQUEST,
                        "`initialize` is never part of a batch",
                    ));
                }
                Ok(message) => {
                    open.waits_for.extend(id.filter(|_| message.is_some()));
                    messages.extend(message);
                }
                Err(response) => open.responses.push(response),
            }
        }
        if open.waits_for.is_empty() {
            return (messages, open.answer());
        }
        self.open.push(open);
        (messages, None)
    }

    /// What is written when the server sends this message: the message, or nothing yet if it is a response that belongs to a batch.
    pub(super) fn sent(&mut self, message: Value) -> Option<Value> {
        if let Some(version) = message.pointer("/result/protocolVersion").and_then(Value::as_str) {
            self.version = Some(version.to_owned());
        }
        let is_response = message.get("method").is_none();
        let Some(id) = message.get("id").filter(|_| is_response).cloned() else { return Some(message) };
        let place = self.open.iter().position(|batch| batch.waits_for.contains(&id));
        let Some(batch) = place.and_then(|place| self.open.get_mut(place)) else { return Some(message) };
        batch.waits_for.retain(|other| *other != id);
        batch.responses.push(message);
        if batch.waits_for.is_empty() { self.open.remove(place?).answer() } else { None }
    }
}

impl Batch {
    /// The responses; none if all messages were notifications.
    fn answer(self) -> Option<Value> {
        (!self.responses.is_empty()).then_some(Value::Array(self.responses))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(id: u64, method: &str) -> Value {
        json!({ "jsonrpc": "2.0", "id": id, "method": method })
    }

    fn response(id: u64) -> Value {
        json!({ "jsonrpc": "2.0", "id": id, "result": {} })
    }

    fn agreed(version: &str) -> Batches {
        let mut batches = Batches::default();
        let answer = json!({ "jsonrpc": "2.0", "id": 0, "result": { "protocolVersion": version } });
        assert_eq!(batches.sent(answer.clone()), Some(answer));
        batches
    }

    #[test]
    fn the_responses_of_a_batch_are_sent_together() {
        let mut batches = agreed("2025-03-26");
        let notification = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let batch = vec![request(1, "ping"), notification.clone(), json!(7), request(2, "tools/list")];
        let (messages, answer) = batches.open(batch);
        assert_eq!((messages.len(), answer), (3, None));
        assert_eq!(batches.sent(response(9)), Some(response(9)), "of another request");
        assert_eq!(batches.sent(response(2)), None);
        let all = batches.sent(response(1)).unwrap();
        let codes: Vec<&Value> = all.as_array().unwrap().iter().map(|one| &one["id"]).collect();
        assert_eq!(codes, [&Value::Null, &json!(2), &json!(1)]);
        assert!(matches!(batches.open(vec![notification]), (messages, None) if messages.len() == 1));
        assert!(batches.open.is_empty());
    }

    #[test]
    fn a_batch_is_refused_where_the_protocol_has_none() {
        for version in ["2024-11-05", "2025-06-18", "2025-11-25"] {
            let (messages, answer) = agreed(version).open(vec![request(1, "ping")]);
            let answer = answer.unwrap();
            assert!(messages.is_empty() && answer["error"]["code"] == -32_600, "{answer}");
            assert!(answer["error"]["message"].as_str().unwrap().contains(version), "{answer}");
        }
        assert_eq!(Batches::default().open(vec![request(1, "ping")]).1.unwrap()["error"]["code"], -32_600);
        assert_eq!(agreed("2025-03-26").open(Vec::new()).1.unwrap()["error"]["code"], -32_600);
        let (messages, answer) = agreed("2025-03-26").open(vec![request(1, "initialize")]);
        assert!(messages.is_empty() && answer.unwrap().is_array());
    }
}
