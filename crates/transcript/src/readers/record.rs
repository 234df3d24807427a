//! Parses one record into a value of bounded size: strings are kept (the record's length bounds them), but at most
//! [`MAX_VALUES`] values. The rest of a larger record is dropped and reported.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// The maximum number of values in one record. A byte array of an image would otherwise take 32 times its length.
pub(super) const MAX_VALUES: usize = 1 << 16;

/// Parses a value and counts down.
#[derive(Clone, Copy)]
pub(super) struct Bounded<'b> {
    left: &'b Cell<usize>,
}

impl<'b> Bounded<'b> {
    pub(super) fn new(left: &'b Cell<usize>) -> Self {
        Self { left }
    }

    fn take(self) -> bool {
        let left = self.left.get();
        self.left.set(left.saturating_sub(1));
        left > 0
    }
}

/// A whole text as one value, and whether the value is complete.
pub(super) fn parse(text: &str) -> Result<(Value, bool), serde_json::Error> {
    let left = Cell::new(MAX_VALUES);
    let mut source = serde_json::Deserializer::from_str(text);
    let value = Bounded::new(&left).deserialize(&mut source)?;
    source.end()?;
    Ok((value, left.get() > 0))
}

impl<'de> DeserializeSeed<'de> for Bounded<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<Value, D::Error> {
        source.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Bounded<'_> {
    type Value = Value;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while self.take() {
            match items.next_element_seed(self)? {
                Some(item) => list.push(item),
                None => return Ok(Value::Array(list)),
            }
        }
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut row = Map::new();
        while self.take() {
            match entries.next_key::<String>()? {
                Some(key) => {
                    let value = entries.next_value_seed(self)?;
                    row.insert(key, value);
                }
                None => return Ok(Value::Object(row)),
            }
        }
        while entries.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Value::Object(row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_up_to_its_bound() {
        let (value, is_whole) = parse(r#"{"a": [1, -2, 1.5, "x", null, true], "b": {}}"#).unwrap();
        assert_eq!(value, serde_json::json!({"a": [1, -2, 1.5, "x", null, true], "b": {}}));
        assert!(is_whole);
        let bytes = vec!["1"; MAX_VALUES + 10].join(",");
        let (value, is_whole) = parse(&format!(r#"{{"a": [{bytes}], "b": 1}}"#)).unwrap();
        assert!(!is_whole && value["a"].as_array().unwrap().len() < MAX_VALUES && value["b"].is_null());
        assert!(parse("{} {}").is_err());
        assert!(parse(&"[".repeat(10_000)).is_err());
    }
}
