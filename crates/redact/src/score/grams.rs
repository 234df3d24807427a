//! What is written in a value and around it, as buckets of a hash: the fit learns which words promise a secret and which do not.

use std::ops::Range;

use crate::shape::words;

/// The buckets that a gram can fall into.
pub(super) const N_BUCKETS: usize = 1 << 15;
/// So many words before a name are read on its line.
const N_BEFORE: usize = 6;
/// And so many of the line before.
const N_EARLIER: usize = 4;
/// So many words of the line are read.
const N_LINE: usize = 24;
/// The letters of a stem.
const STEM: usize = 4;
/// So much of a line before is read.
const EARLIER: usize = 160;

/// What a gram says; the same word is another gram in another place.
#[derive(Clone, Copy)]
enum Kind {
    Name = 1,
    LastName,
    First,
    Second,
    Before,
    Earlier,
    Program,
    After,
    Mark,
    Shape,
    Value,
    ValueWord,
    NameForm,
    FirstForm,
    Start,
    Rule,
    RuleForm,
    LastEarlier,
    Edge,
    ProgramName,
    Line,
    Above,
    Stem,
    Pair,
    Further,
}

/// What is around a value.
pub(super) struct Around<'t> {
    pub(super) text: &'t str,
    pub(super) at: Range<usize>,
    pub(super) line: Range<usize>,
    pub(super) name: Range<usize>,
    pub(super) form: u16,
}

struct Buckets(Vec<u16>);

impl Buckets {
    /// A gram of words, in whatever case.
    fn add(&mut self, kind: Kind, parts: &[&str]) {
        let mut hash = Hash::of(kind);
        for part in parts {
            if part.is_ascii() {
                part.bytes().for_each(|byte| hash.add(byte.to_ascii_lowercase()));
            } else {
                part.to_lowercase().bytes().for_each(|byte| hash.add(byte));
            }
            hash.add(0);
        }
        self.0.push(hash.bucket());
    }

    /// A gram of how a word begins: its end is another in another place of a sentence.
    fn add_stem(&mut self, word: &str) {
        let end = word.char_indices().nth(STEM).map(|(at, _)| at);
        if let Some(stem) = end.and_then(|end| word.get(..end)) {
            self.add(Kind::Stem, &[stem]);
        }
    }

    /// A gram of what is written.
    fn add_exactly(&mut self, kind: Kind, parts: &[&str]) {
        let mut hash = Hash::of(kind);
        for part in parts {
            part.bytes().chain([0]).for_each(|byte| hash.add(byte));
        }
        self.0.push(hash.bucket());
    }
}

/// FNV-1a, and a mix of its bits.
struct Hash(u32);

impl Hash {
    fn of(kind: Kind) -> Self {
        Self((0x811c_9dc5_u32 ^ kind as u32).wrapping_mul(0x0100_0193))
    }

    fn add(&mut self, byte: u8) {
        self.0 = (self.0 ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    }

    fn bucket(&self) -> u16 {
        let hash = (self.0 ^ (self.0 >> 15)).wrapping_mul(0x2c1b_3c6d);
        u16::try_from((hash ^ (hash >> 13)) as usize % N_BUCKETS).unwrap_or_default()
    }
}

/// The buckets of a value, each once, in order.
pub(super) fn buckets(around: &Around<'_>) -> Vec<u16> {
    let mut out = Buckets(Vec::with_capacity(96));
    let Around { text, at, form, .. } = around;
    let form = form.to_string();
    of_line(&mut out, around, &form);
    of_earlier(&mut out, around);
    edges(&mut out, around);
    of_value(&mut out, text.get(at.clone()).unwrap_or_default());
    out.0.sort_unstable();
    out.0.dedup();
    out.0
}

/// With the buckets of the rules that found it.
pub(super) fn add_rules(buckets: &mut Vec<u16>, rules: &[[&'static str; 2]], form: u16) {
    if rules.is_empty() {
        return;
    }
    let mut out = Buckets(std::mem::take(buckets));
    let form = form.to_string();
    for [rule, check] in rules {
        out.add_exactly(Kind::Rule, &[rule, check]);
        out.add_exactly(Kind::RuleForm, &[rule, &form]);
    }
    out.0.sort_unstable();
    out.0.dedup();
    *buckets = out.0;
}

/// The name of the value, and the words of its line.
fn of_line(out: &mut Buckets, around: &Around<'_>, form: &str) {
    let Around { text, at, line, name, .. } = around;
    let written = text.get(name.clone()).unwrap_or_default();
    let mut last = String::new();
    if written.is_ascii() {
        words(written).for_each(|word| out.add(Kind::Name, &[word]));
        last.extend(words(written).last().map(str::to_ascii_lowercase));
    } else {
        out.add(Kind::Name, &[written]);
        last = written.to_lowercase();
    }
    let last = if written.len() <= 3 { written } else { &last };
    out.add_exactly(Kind::LastName, &[last]);
    out.add_exactly(Kind::NameForm, &[last, form]);
    let before = text.get(line.start..name.start.max(line.start)).unwrap_or_default();
    let mut nearest = spoken(before).rev();
    let (first, second) = (nearest.next().unwrap_or_default(), nearest.next().unwrap_or_default());
    out.add(Kind::First, &[first]);
    out.add(Kind::FirstForm, &[first, form]);
    out.add(Kind::Second, &[second]);
    let all = [first, second].into_iter().chain(nearest).take(N_BEFORE);
    all.filter(|word| !word.is_empty()).for_each(|word| out.add(Kind::Before, &[word]));
    out.add(Kind::Pair, &[second, first]);
    out.add(Kind::Pair, &[first, last]);
    for word in [last, first, second] {
        out.add_stem(word);
    }
    let whole = text.get(line.start..at.start).unwrap_or_default();
    let program = spoken(whole).next().unwrap_or_default();
    out.add(Kind::Program, &[program]);
    out.add(Kind::ProgramName, &[program, last]);
    let end = text.floor_char_boundary(line.end.max(at.end));
    let after = text.get(at.end..end).unwrap_or_default();
    for word in spoken(whole).chain(spoken(after)).filter(|word| word.len() >= 3).take(N_LINE) {
        out.add(Kind::Line, &[word]);
    }
}

/// The words of the line before.
fn of_earlier(out: &mut Buckets, around: &Around<'_>) {
    let Around { text, at, line, .. } = around;
    let start = text.floor_char_boundary(line.start.saturating_sub(EARLIER));
    let before = text.get(start..line.start).unwrap_or_default().trim_end();
    let (further, earlier) = before.rsplit_once('\n').unwrap_or(("", before));
    for word in spoken(further).rev().filter(|word| word.len() >= 3).take(N_LINE) {
        out.add(Kind::Further, &[word]);
    }
    for word in spoken(earlier).rev().take(N_EARLIER) {
        out.add(Kind::Earlier, &[word]);
    }
    for word in spoken(earlier).rev().filter(|word| word.len() >= 3).take(N_LINE) {
        out.add(Kind::Above, &[word]);
    }
    let program = spoken(text.get(line.start..at.start).unwrap_or_default()).next().unwrap_or_default();
    let last = earlier.chars().next_back().map(String::from).unwrap_or_default();
    out.add(Kind::LastEarlier, &[&last, program]);
}

/// What touches the value, and the word behind it.
fn edges(out: &mut Buckets, around: &Around<'_>) {
    let Around { text, at, name, .. } = around;
    let mark = text.get(name.end..at.start).unwrap_or_default();
    let mark: String = mark.chars().take(4).collect();
    out.add_exactly(Kind::Mark, &[&mark]);
    let start = text.floor_char_boundary(at.start.saturating_sub(3));
    let lead = text.get(start..at.start).unwrap_or_default();
    let behind = text.get(at.end..text.floor_char_boundary((at.end + 40).min(text.len()))).unwrap_or_default();
    let behind = behind.lines().next().unwrap_or_default();
    let tail: String = behind.chars().take(2).collect();
    out.add_exactly(Kind::Edge, &[lead]);
    out.add_exactly(Kind::Edge, &[" ", &tail]);
    let lead = lead.chars().next_back().map(String::from).unwrap_or_default();
    let tail = tail.chars().next().map(String::from).unwrap_or_default();
    out.add_exactly(Kind::Edge, &[&lead, &tail]);
    out.add(Kind::After, &[spoken(behind).next().unwrap_or_default()]);
}

fn of_value(out: &mut Buckets, value: &str) {
    out.add(Kind::Value, &[value]);
    let shape = shape(value);
    out.add_exactly(Kind::Shape, &[&shape]);
    let start: String = value.chars().take(4).collect();
    out.add(Kind::Start, &[&start]);
    for word in words(value).filter(|word| word.len() >= 3).take(4) {
        out.add(Kind::ValueWord, &[word]);
    }
}

/// The words of a text, in order.
fn spoken(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// The kinds of characters one after the other, each once in a row.
fn shape(value: &str) -> String {
    let mut out = String::new();
    let mut last = ' ';
    for c in value.chars() {
        let kind = match c {
            'a'..='z' => 'a',
            'A'..='Z' => 'A',
            '0'..='9' => '9',
            c if c.is_ascii() => c,
            c if c.is_lowercase() => 'a',
            _ => 'u',
        };
        if kind != last && out.len() < 10 {
            out.push(kind);
        }
        last = kind;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grams(text: &str, value: &str) -> Vec<u16> {
        let start = text.find(value).unwrap_or(0);
        let line = text.get(..start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1)..text.len();
        let around = Around { text, at: start..start + value.len(), line, name: start..start, form: 0 };
        buckets(&around)
    }

    fn n_shared(one: &[u16], other: &[u16]) -> usize {
        one.iter().filter(|bucket| other.contains(bucket)).count()
    }

    #[test]
    fn the_same_words_fall_into_the_same_buckets_whatever_their_case() {
        assert_eq!(grams("The door code: 4711", "4711"), grams("the DOOR Code: 4711", "4711"));
        let (one, other) = (grams("the door code: 4711", "4711"), grams("le code de la porte: 4711", "4711"));
        assert!(one != other && n_shared(&one, &other) > 3, "{one:?} {other:?}");
        assert!(one.is_sorted() && one.iter().all(|bucket| usize::from(*bucket) < N_BUCKETS));
    }

    #[test]
    fn a_shape_has_each_kind_of_characters_once_in_a_row() {
        for (value, expected) in [("Zaun-4711!", "Aa-9!"), ("Öl2öl", "ua9a"), ("a1b2c3d4e5f6", "a9a9a9a9a9"), ("", "")]
        {
            assert_eq!(shape(value), expected, "{value}");
        }
    }
}
