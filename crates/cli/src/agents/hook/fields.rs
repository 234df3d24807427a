//! Reads the fields of a payload. Every text of it is data.

use adage::transcript::{Error, JsonRepair, read_json};
use serde_json::{Map, Value};

use crate::json_kind::kind;

/// The object that an agent sent, with the name of its event.
#[derive(Debug, Default)]
pub(super) struct PayloadFields {
    row: Map<String, Value>,
    event: String,
}

/// Keys by which agents name the event.
const EVENT: [&str; 4] = ["hook_event_name", "hookEventName", "agent_action_name", "event"];

impl PayloadFields {
    /// Reads a payload; `event` is the name that the command line gives.
    pub(super) fn read(bytes: &[u8], event: &str) -> Result<(Self, Vec<JsonRepair>), Error> {
        let mended = read_json(bytes)?;
        let Value::Object(row) = mended.value else {
            return Err(Error::NotJson { reason: format!("it is {}, not an object", kind(&mended.value)) });
        };
        if row.is_empty() {
            return Err(Error::NotJson { reason: "it has no fields".to_owned() });
        }
        let fields = Self { row, event: String::new() };
        let named = fields.text(&EVENT);
        let event = if named.is_empty() { event } else { named }.to_owned();
        Ok((Self { event, ..fields }, mended.repairs))
    }

    /// The agent's name of the event.
    pub(super) fn event(&self) -> &str {
        &self.event
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.row.contains_key(key)
    }

    /// The first of these fields that is a text and not empty; otherwise an empty text.
    pub(super) fn text(&self, keys: &[&str]) -> &str {
        keys.iter().filter_map(|key| self.row.get(*key)?.as_str()).find(|text| !text.is_empty()).unwrap_or_default()
    }

    pub(super) fn is_true(&self, key: &str) -> bool {
        self.row.get(key) == Some(&Value::Bool(true))
    }

    /// The first of these fields that is not null. Some agents give an object as a text of JSON.
    pub(super) fn value(&self, keys: &[&str]) -> Option<Value> {
        keys.iter().filter_map(|key| self.row.get(*key)).find(|value| !value.is_null()).map(unpacked)
    }

    /// The texts of a list.
    pub(super) fn texts(&self, key: &str) -> impl Iterator<Item = &str> {
        self.row.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    }

    /// The fields of an object in a field; none if there is no object.
    pub(super) fn inner(&self, key: &str) -> Self {
        let row = match self.value(&[key]) {
            Some(Value::Object(row)) => row,
            _ => Map::new(),
        };
        Self { row, event: self.event.clone() }
    }
}

fn unpacked(value: &Value) -> Value {
    let inner = value.as_str().and_then(|text| serde_json::from_str(text).ok());
    inner.filter(|inner: &Value| inner.is_object() || inner.is_array()).unwrap_or_else(|| value.clone())
}
