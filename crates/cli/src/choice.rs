//! Options with a fixed set of values or a range, as types of the library.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};

/// Parses an id. The error names what it should be the id of.
pub(crate) fn id<T: FromStr + Clone + Send + Sync + 'static>(what: &'static str) -> impl TypedValueParser<Value = T> {
    let parser = StringValueParser::new();
    parser
        .try_map(move |given| given.parse::<T>().map_err(|_| format!("the id of {what} is a UUID, as adage prints it")))
}

/// The name of the first flag that is given.
pub(crate) fn given<const N: usize>(flags: [(&'static str, bool); N]) -> Option<&'static str> {
    flags.into_iter().find_map(|(name, is_given)| is_given.then_some(name))
}

/// Parses a number in this range. The error names the range.
pub(crate) fn number<T>(range: RangeInclusive<T>) -> impl TypedValueParser<Value = T>
where
    T: FromStr + PartialOrd + Display + Clone + Send + Sync + 'static,
{
    StringValueParser::new().try_map(move |given| {
        let number = given.parse::<T>().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| format!("it must be a number from {} to {}", range.start(), range.end()))
    })
}

/// Parses one of these words into its value; the help lists the words.
pub(crate) fn choice<T: Copy + Send + Sync + 'static, const N: usize>(
    words: [(&'static str, T); N],
) -> impl TypedValueParser<Value = T> {
    let parser = PossibleValuesParser::new(words.map(|(word, _)| PossibleValue::new(word)));
    // The parser accepts no other word.
    parser.try_map(move |given| {
        words.iter().find(|(word, _)| *word == given).map(|(_, value)| *value).ok_or("not one of the words")
    })
}
