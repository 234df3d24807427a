//! One JSON document that is a whole session, a list of messages or an object with `messages`, read a message at a time.

use std::cell::Cell;
use std::fmt;
use std::io::{self, BufRead, Read};

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use super::BrokenReason;
use super::record::{Bounded, MAX_VALUES};

/// Takes a record, whether it is complete, and the line that it ends on.
pub(super) type Take<'t> = &'t mut dyn FnMut(Value, bool, u64);

/// Passes every message to `take`. The other content of the document is passed as records of its own: one before the messages,
/// and one after them. Returns where and why the document is invalid, if it is.
pub(super) fn read(source: impl BufRead, max: usize, take: Take) -> io::Result<Option<(u64, BrokenReason)>> {
    let left = Cell::new(max);
    let line = Cell::new(1);
    let mut json = serde_json::Deserializer::from_reader(Capped { source, left: &left, line: &line });
    let document = Document { left: &left, line: &line, max, take };
    let Err(error) = document.deserialize(&mut json).and_then(|()| json.end()) else {
        return Ok(None);
    };
    let number = error.line() as u64;
    if left.get() == 0 {
        return Ok(Some((number, BrokenReason::TooLong { max })));
    }
    if error.is_io() {
        return Err(error.into());
    }
    Ok(Some((number, BrokenReason::BreaksOff(adage_redact::json_error(&error)))))
}

/// A source that fails if a message is longer than the limit.
struct Capped<'c, R> {
    source: R,
    left: &'c Cell<usize>,
    line: &'c Cell<u64>,
}

impl<R: BufRead> Read for Capped<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.left.get() == 0 {
            return Err(io::Error::other("a message is longer than the limit"));
        }
        let n_read = self.source.read(into)?;
        self.left.set(self.left.get().saturating_sub(n_read));
        let n_lines = into.get(..n_read).unwrap_or_default().split(|byte| *byte == b'\n').count() - 1;
        self.line.set(self.line.get() + n_lines as u64);
        Ok(n_read)
    }
}

struct Document<'c, 't> {
    left: &'c Cell<usize>,
    line: &'c Cell<u64>,
    max: usize,
    take: Take<'t>,
}

impl Document<'_, '_> {
    fn give(&mut self, value: Value, n_left: usize) {
        (self.take)(value, n_left > 0, self.line.get());
        self.left.set(self.max);
    }

    fn head(&mut self, head: &mut Map<String, Value>) {
        if !head.is_empty() {
            self.give(Value::Object(std::mem::take(head)), 1);
        }
    }
}

impl<'de> DeserializeSeed<'de> for Document<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<(), D::Error> {
        source.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Document<'_, '_> {
    type Value = ();

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("a list of messages or an object with them")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut messages: A) -> Result<(), A::Error> {
        loop {
            let n_left = Cell::new(MAX_VALUES);
            let Some(message) = messages.next_element_seed(Bounded::new(&n_left))? else { return Ok(()) };
            self.give(message, n_left.get());
        }
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut entries: A) -> Result<(), A::Error> {
        let mut head = Map::new();
        let n_left = Cell::new(MAX_VALUES);
        while let Some(key) = entries.next_key::<String>()? {
            if key == "messages" {
                self.head(&mut head);
                entries.next_value_seed(Messages(&mut self))?;
            } else if n_left.get() == 0 {
                entries.next_value::<IgnoredAny>()?;
            } else {
                head.insert(key, entries.next_value_seed(Bounded::new(&n_left))?);
            }
        }
        self.head(&mut head);
        Ok(())
    }
}

/// The list under `messages`.
struct Messages<'d, 'c, 't>(&'d mut Document<'c, 't>);

impl<'de> DeserializeSeed<'de> for Messages<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, source: D) -> Result<(), D::Error> {
        let Document { left, line, max, take } = self.0;
        source.deserialize_any(Document { left, line, max: *max, take: &mut **take })
    }
}
