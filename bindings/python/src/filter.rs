//! Filters of documents, from the dictionaries of a caller.

use adage::Filter;
use serde_json::{Map, Value};

use crate::errors::Failure;

/// The filter of a dictionary: every entry must match. A field has a text, a list of texts (one of them), or true or false (whether
/// the document has the field). `$or` and `$and` have a list of filters, `$not` has one.
pub(crate) fn filter(value: &Value) -> Result<Filter, Failure> {
    let entries = object(value)?;
    entries.iter().try_fold(Filter::all(), |all, (key, value)| Ok(all.and(entry(key, value)?)))
}

fn entry(key: &str, value: &Value) -> Result<Filter, Failure> {
    match (key, value) {
        ("$not", value) => Ok(filter(value)?.not()),
        ("$and", Value::Array(parts)) => parts.iter().try_fold(Filter::all(), |all, part| Ok(all.and(filter(part)?))),
        ("$or", Value::Array(parts)) => either(parts),
        (operator, _) if operator.starts_with('$') => Err(refused(operator, value)),
        (field, Value::Bool(true)) => Ok(Filter::has(field)),
        (field, Value::Bool(false)) => Ok(Filter::has(field).not()),
        (field, Value::String(value)) => Ok(Filter::is(field, value)),
        (field, Value::Array(values)) => Ok(Filter::one_of(field, texts(field, values)?)),
        _ => Err(refused(key, value)),
    }
}

/// Without parts, no document matches.
fn either(parts: &[Value]) -> Result<Filter, Failure> {
    let mut parts = parts.iter().map(filter);
    let first = parts.next().unwrap_or_else(|| Ok(Filter::all().not()))?;
    parts.try_fold(first, |either, part| Ok(either.or(part?)))
}

fn texts<'a>(field: &str, values: &'a [Value]) -> Result<Vec<&'a str>, Failure> {
    values.iter().map(|value| value.as_str().ok_or_else(|| refused(field, value))).collect()
}

fn object(value: &Value) -> Result<&Map<String, Value>, Failure> {
    value.as_object().ok_or_else(|| Failure::Argument(format!("a filter is a dictionary, this is {value}")))
}

fn refused(key: &str, value: &Value) -> Failure {
    Failure::Argument(format!(
        "the filter has {value} for {key:?}; a field takes a text, a list of texts, True or False, and $and, $or and $not take filters"
    ))
}
