//! Options whose values are words, as the library's own types.

use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};

/// Reads an id; what it is the id of is said where it is none.
pub(crate) fn id<T: FromStr + Clone + Send + Sync + 'static>(what: &'static str) -> impl TypedValueParser<Value = T> {
    let parser = StringValueParser::new();
    parser
        .try_map(move |given| given.parse::<T>().map_err(|_| format!("the id of {what} is a UUID, as adage prints it")))
}

/// Reads one of these words as the value beside it; the help lists the words.
pub(crate) fn choice<T: Copy + Send + Sync + 'static, const N: usize>(
    words: [(&'static str, T); N],
) -> impl TypedValueParser<Value = T> {
    let parser = PossibleValuesParser::new(words.map(|(word, _)| PossibleValue::new(word)));
    // The parser lets no other word through.
    parser.try_map(move |given| {
        words.iter().find(|(word, _)| *word == given).map(|(_, value)| *value).ok_or("not one of the words")
    })
}
