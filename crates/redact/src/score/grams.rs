//! What is written in a value and around it, as buckets of a hash: the fit learns which words promise a secret and which do not.

use std::borrow::Cow;
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

/// Reads the grams of candidates. What is around them is the same for all candidates of a line, so it is kept until the next line.
#[derive(Default)]
pub(super) struct Grams {
    buckets: Buckets,
    line: LineWords,
    earlier: Earlier,
}

/// The words of a line, each with its bucket.
#[derive(Default)]
struct LineWords {
    at: Range<usize>,
    words: Vec<(Range<usize>, u16)>,
}

/// The buckets of the words of the lines before, and the last character there.
#[derive(Default)]
struct Earlier {
    line: Option<usize>,
    buckets: Vec<u16>,
    last: Range<usize>,
}

/// Buckets, each once.
#[derive(Default)]
struct Buckets {
    all: Vec<u16>,
    /// For each bucket whether it is among them, as bits.
    has: Vec<u64>,
}

impl Buckets {
    fn clear(&mut self) {
        self.has.resize(N_BUCKETS / 64, 0);
        for bucket in self.all.drain(..) {
            if let Some(part) = self.has.get_mut(usize::from(bucket / 64)) {
                *part = 0;
            }
        }
    }

    fn put(&mut self, bucket: u16) {
        let Some(part) = self.has.get_mut(usize::from(bucket / 64)) else { return };
        let bit = 1 << (bucket % 64);
        if *part & bit == 0 {
            *part |= bit;
            self.all.push(bucket);
        }
    }

    /// A gram of words, in whatever case.
    fn add(&mut self, kind: Kind, parts: &[&str]) {
        self.put(bucket(kind, parts));
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
        self.put(hash.bucket());
    }
}

/// The bucket of words, in whatever case.
fn bucket(kind: Kind, parts: &[&str]) -> u16 {
    let mut hash = Hash::of(kind);
    for part in parts {
        if part.is_ascii() {
            part.bytes().for_each(|byte| hash.add(byte.to_ascii_lowercase()));
        } else {
            part.to_lowercase().bytes().for_each(|byte| hash.add(byte));
        }
        hash.add(0);
    }
    hash.bucket()
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

impl Grams {
    /// The buckets of what was read, each once.
    pub(super) fn buckets(&self) -> &[u16] {
        &self.buckets.all
    }

    /// Reads a value and what is around it.
    pub(super) fn read(&mut self, around: &Around<'_>) {
        self.buckets.clear();
        self.line.read(around);
        self.earlier.read(around);
        let out = &mut self.buckets;
        let Around { text, at, form, .. } = around;
        of_name(out, around, &form.to_string());
        self.line.add(out, around);
        self.earlier.add(out, around);
        edges(out, around);
        of_value(out, text.get(at.clone()).unwrap_or_default());
    }

    /// Takes buckets that were read before.
    pub(super) fn restore(&mut self, buckets: &[u16]) {
        self.buckets.clear();
        buckets.iter().for_each(|bucket| self.buckets.put(*bucket));
    }

    /// Adds the buckets of the rules that found the value.
    pub(super) fn add_rules(&mut self, rules: &[[&'static str; 2]], form: u16) {
        let form = form.to_string();
        for [rule, check] in rules {
            self.buckets.add_exactly(Kind::Rule, &[rule, check]);
            self.buckets.add_exactly(Kind::RuleForm, &[rule, &form]);
        }
    }
}

/// The name of the value, and the words before it.
fn of_name(out: &mut Buckets, around: &Around<'_>, form: &str) {
    let Around { text, line, name, .. } = around;
    let written = text.get(name.clone()).unwrap_or_default();
    let last = if written.is_ascii() {
        words(written).for_each(|word| out.add(Kind::Name, &[word]));
        let last = words(written).last().unwrap_or_default();
        if last.bytes().any(|b| b.is_ascii_uppercase()) { last.to_ascii_lowercase().into() } else { last.into() }
    } else {
        out.add(Kind::Name, &[written]);
        Cow::Owned(written.to_lowercase())
    };
    let last = if written.len() <= 3 { written } else { &*last };
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
    let program = program(around);
    out.add(Kind::Program, &[program]);
    out.add(Kind::ProgramName, &[program, last]);
}

/// The first word of the line, which in a command is the program.
fn program<'t>(around: &Around<'t>) -> &'t str {
    let before = around.text.get(around.line.start..around.at.start).unwrap_or_default();
    spoken(before).next().unwrap_or_default()
}

/// A word that is not too short to say something.
fn says_something(word: &&str) -> bool {
    word.len() >= 3
}

impl LineWords {
    fn read(&mut self, around: &Around<'_>) {
        let Around { text, line, at, .. } = around;
        let whole = line.start..text.floor_char_boundary(line.end.max(at.end));
        if self.at == whole {
            return;
        }
        let line = text.get(whole.clone()).unwrap_or_default();
        let place = |word: &str| whole.start + (word.as_ptr() as usize - line.as_ptr() as usize);
        self.words.clear();
        let words = spoken(line).filter(says_something);
        self.words.extend(words.map(|word| (place(word)..place(word) + word.len(), bucket(Kind::Line, &[word]))));
        self.at = whole;
    }

    /// The words of the line but for those of the value.
    fn add(&self, out: &mut Buckets, around: &Around<'_>) {
        let Around { text, at, .. } = around;
        let cut = |word: Range<usize>| {
            let word = text.get(word).filter(says_something)?;
            Some(bucket(Kind::Line, &[word]))
        };
        let parts = self.words.iter().flat_map(|(word, bucket)| {
            if word.end <= at.start || word.start >= at.end {
                return [Some(*bucket), None];
            }
            // What is left of a word that the value is a part of.
            [cut(word.start..at.start.max(word.start)), cut(at.end.min(word.end)..word.end)]
        });
        parts.flatten().take(N_LINE).for_each(|bucket| out.put(bucket));
    }
}

impl Earlier {
    fn read(&mut self, around: &Around<'_>) {
        let Around { text, line, .. } = around;
        if self.line == Some(line.start) {
            return;
        }
        let start = text.floor_char_boundary(line.start.saturating_sub(EARLIER));
        let before = text.get(start..line.start).unwrap_or_default().trim_end();
        let (further, earlier) = before.rsplit_once('\n').unwrap_or(("", before));
        self.buckets.clear();
        let mut add = |kind: Kind, word: &str| self.buckets.push(bucket(kind, &[word]));
        spoken(further).rev().filter(says_something).take(N_LINE).for_each(|word| add(Kind::Further, word));
        spoken(earlier).rev().take(N_EARLIER).for_each(|word| add(Kind::Earlier, word));
        spoken(earlier).rev().filter(says_something).take(N_LINE).for_each(|word| add(Kind::Above, word));
        let end = start + before.len();
        self.last = end - earlier.chars().next_back().map_or(0, char::len_utf8)..end;
        self.line = Some(line.start);
    }

    /// The words of the lines before.
    fn add(&self, out: &mut Buckets, around: &Around<'_>) {
        self.buckets.iter().for_each(|bucket| out.put(*bucket));
        let last = around.text.get(self.last.clone()).unwrap_or_default();
        out.add(Kind::LastEarlier, &[last, program(around)]);
    }
}

/// What touches the value, and the word behind it.
fn edges(out: &mut Buckets, around: &Around<'_>) {
    let Around { text, at, name, .. } = around;
    let mark = text.get(name.end..at.start).unwrap_or_default();
    out.add_exactly(Kind::Mark, &[first_chars(mark, 4)]);
    let start = text.floor_char_boundary(at.start.saturating_sub(3));
    let lead = text.get(start..at.start).unwrap_or_default();
    let behind = text.get(at.end..text.floor_char_boundary((at.end + 40).min(text.len()))).unwrap_or_default();
    let behind = behind.lines().next().unwrap_or_default();
    let tail = first_chars(behind, 2);
    out.add_exactly(Kind::Edge, &[lead]);
    out.add_exactly(Kind::Edge, &[" ", tail]);
    let last = lead.char_indices().next_back().and_then(|(at, _)| lead.get(at..)).unwrap_or_default();
    out.add_exactly(Kind::Edge, &[last, first_chars(tail, 1)]);
    out.add(Kind::After, &[spoken(behind).next().unwrap_or_default()]);
}

/// At most so many characters from the start.
fn first_chars(text: &str, n_chars: usize) -> &str {
    let end = text.char_indices().nth(n_chars).map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or_default()
}

fn of_value(out: &mut Buckets, value: &str) {
    out.add(Kind::Value, &[value]);
    let shape = shape(value);
    out.add_exactly(Kind::Shape, &[&shape]);
    out.add(Kind::Start, &[first_chars(value, 4)]);
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
        let mut grams = Grams::default();
        grams.read(&around);
        let mut buckets = grams.buckets().to_vec();
        buckets.sort_unstable();
        buckets
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
