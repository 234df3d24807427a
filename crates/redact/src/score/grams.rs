//! The words of a value and around it, hashed into buckets: the fit learns which of them announce a secret and which do not.

use std::borrow::Cow;
use std::ops::Range;

use crate::shape::words;
use crate::text_words;

/// The number of buckets.
pub(super) const N_BUCKETS: usize = 1 << 15;
/// The number of words read before a name on its line.
const N_BEFORE: usize = 6;
/// The number of words read of the previous line.
const N_EARLIER: usize = 4;
/// The number of words read of a line.
const N_LINE: usize = 24;
/// The length of a stem, in letters.
const STEM: usize = 4;
/// The number of bytes read before the line.
const EARLIER: usize = 160;

/// The place of a gram: the same word in another place is another gram.
#[derive(Clone, Copy, PartialEq, Eq)]
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

/// A value in its surroundings.
pub(super) struct Around<'t> {
    pub(super) text: &'t str,
    pub(super) at: Range<usize>,
    pub(super) line: Range<usize>,
    pub(super) name: Range<usize>,
    pub(super) form: u16,
}

/// Reads the grams of candidates.
#[derive(Default)]
pub(super) struct Grams {
    buckets: Buckets,
    words: Words,
}

/// The words of a part of the text with their buckets, cached because many candidates share them.
#[derive(Default)]
struct Words {
    part: Range<usize>,
    words: Vec<Word>,
}

/// A word, and its bucket for each kind of [`AROUND`].
struct Word {
    at: Range<usize>,
    buckets: [u16; AROUND.len()],
}

/// The kinds of grams of words around a candidate.
const AROUND: [Kind; 4] = [Kind::Line, Kind::Above, Kind::Further, Kind::Earlier];
/// From this number on, words before the current part are dropped from the cache.
const MANY: usize = 4096;

/// A set of buckets in the order of insertion.
#[derive(Default)]
struct Buckets {
    all: Vec<u16>,
    /// A bit for each bucket that is in the set.
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

    /// Adds the gram of words, regardless of case.
    fn add(&mut self, kind: Kind, parts: &[&str]) {
        self.put(bucket(kind, parts));
    }

    /// Adds the gram of a word's stem, so that its inflected forms share a bucket.
    fn add_stem(&mut self, word: &str) {
        let end = word.char_indices().nth(STEM).map(|(at, _)| at);
        if let Some(stem) = end.and_then(|end| word.get(..end)) {
            self.add(Kind::Stem, &[stem]);
        }
    }

    /// Adds the gram of a text as written.
    fn add_exactly(&mut self, kind: Kind, parts: &[&str]) {
        let mut hash = Hash::of(kind);
        for part in parts {
            part.bytes().chain([0]).for_each(|byte| hash.add(byte));
        }
        self.put(hash.bucket());
    }
}

/// The bucket of words, regardless of case.
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

/// FNV-1a with a final mix of its bits.
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
    /// The buckets that were read, each once.
    pub(super) fn buckets(&self) -> &[u16] {
        &self.buckets.all
    }

    /// Reads a value and what is around it.
    pub(super) fn read(&mut self, around: &Around<'_>) {
        self.buckets.clear();
        let out = &mut self.buckets;
        let Around { text, at, line, form, .. } = around;
        let start = text.floor_char_boundary(line.start.saturating_sub(EARLIER));
        self.words.read(text, start..text.floor_char_boundary(line.end.max(at.end)));
        of_name(out, around, &form.to_string());
        of_line(out, around, &self.words);
        of_earlier(out, around, &self.words);
        edges(out, around);
        of_value(out, text.get(at.clone()).unwrap_or_default());
    }

    /// Restores buckets that were read before.
    pub(super) fn restore(&mut self, buckets: &[u16]) {
        self.buckets.clear();
        for bucket in buckets {
            self.buckets.put(*bucket);
        }
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

/// Adds the name of the value and the words before it.
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

/// Adds the words of the line, without the value's.
fn of_line(out: &mut Buckets, around: &Around<'_>, words: &Words) {
    let Around { text, at, line, .. } = around;
    let end = text.floor_char_boundary(line.end.max(at.end));
    let before = words.within(text, line.start..at.start, Kind::Line);
    let of_line = before.chain(words.within(text, at.end..end, Kind::Line));
    of_line.filter(says_something).take(N_LINE).for_each(|(_, bucket)| out.put(bucket));
}

/// Adds the words of the previous lines.
fn of_earlier(out: &mut Buckets, around: &Around<'_>, words: &Words) {
    let Around { text, line, .. } = around;
    let start = text.floor_char_boundary(line.start.saturating_sub(EARLIER));
    let before = text.get(start..line.start).unwrap_or_default().trim_end();
    let end = start + before.len();
    let (further, earlier) = match before.rfind('\n') {
        Some(at) => (start..start + at, start + at + 1..end),
        None => (start..start, start..end),
    };
    let mut put = |(_, bucket)| out.put(bucket);
    let nearest = |part: &Range<usize>, kind: Kind| words.within(text, part.clone(), kind).rev();
    nearest(&further, Kind::Further).filter(says_something).take(N_LINE).for_each(&mut put);
    nearest(&earlier, Kind::Earlier).take(N_EARLIER).for_each(&mut put);
    nearest(&earlier, Kind::Above).filter(says_something).take(N_LINE).for_each(&mut put);
    let last = text.get(earlier).and_then(|earlier| Some(earlier.char_indices().next_back()?.0 + end - earlier.len()));
    let last = last.and_then(|last| text.get(last..end)).unwrap_or_default();
    out.add(Kind::LastEarlier, &[last, program(around)]);
}

/// True for a word of three bytes or more.
fn says_something((length, _): &(usize, u16)) -> bool {
    *length >= 3
}

impl Words {
    /// Makes sure that the cache has all words of a part of the text.
    fn read(&mut self, text: &str, part: Range<usize>) {
        if part.start < self.part.start || part.start > self.part.end {
            self.words.clear();
            self.part = part.start..part.start;
        } else if self.words.len() >= MANY {
            let n_passed = self.words.partition_point(|word| word.at.end <= part.start);
            self.words.drain(..n_passed);
            self.part.start = part.start;
        }
        let offset = self.part.end;
        let ahead = text.get(offset..).unwrap_or_default();
        let mut words = text_words::words_between(ahead, |c| !c.is_alphanumeric());
        while self.part.end < part.end {
            let Some(word) = words.next() else {
                self.part.end = text.len();
                break;
            };
            let buckets = buckets_around(ahead.get(word.clone()).unwrap_or_default());
            self.part.end = offset + word.end;
            self.words.push(Word { at: offset + word.start..offset + word.end, buckets });
        }
    }

    /// The length of each word in a part of the text, and its bucket of one kind of [`AROUND`]. Words are cut at the
    /// borders of the part.
    fn within<'w>(
        &'w self,
        text: &'w str,
        part: Range<usize>,
        kind: Kind,
    ) -> impl DoubleEndedIterator<Item = (usize, u16)> + 'w {
        let from = self.words.partition_point(|word| word.at.end <= part.start);
        let to = self.words.partition_point(|word| word.at.start < part.end);
        let slot = AROUND.iter().position(|it| *it == kind).unwrap_or_default();
        self.words.get(from..to).unwrap_or_default().iter().map(move |word| {
            let at = word.at.start.max(part.start)..word.at.end.min(part.end);
            let known = (at == word.at).then(|| word.buckets.get(slot).copied()).flatten();
            (at.len(), known.unwrap_or_else(|| bucket(kind, &[text.get(at).unwrap_or_default()])))
        })
    }
}

/// The buckets of a word for each kind of [`AROUND`], equal to those of [`bucket`].
fn buckets_around(word: &str) -> [u16; AROUND.len()] {
    let mut hashes = AROUND.map(Hash::of);
    let mut add = |byte: u8| hashes.iter_mut().for_each(|hash| hash.add(byte));
    if word.is_ascii() {
        word.bytes().for_each(|byte| add(byte.to_ascii_lowercase()));
    } else {
        word.to_lowercase().bytes().for_each(&mut add);
    }
    add(0);
    hashes.map(|hash| hash.bucket())
}

/// Adds the marks that touch the value, and the word after it.
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

/// The first `n_chars` characters of a text, or all of it.
fn first_chars(text: &str, n_chars: usize) -> &str {
    let end = text.char_indices().nth(n_chars).map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or_default()
}

/// Adds the value, its classes of characters, its start and its words.
fn of_value(out: &mut Buckets, value: &str) {
    out.add(Kind::Value, &[value]);
    out.add_exactly(Kind::Shape, &[&character_classes(value)]);
    out.add(Kind::Start, &[first_chars(value, 4)]);
    for word in words(value).filter(|word| word.len() >= 3).take(4) {
        out.add(Kind::ValueWord, &[word]);
    }
}

/// The words of a text, in order.
fn spoken(text: &str) -> impl DoubleEndedIterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// The classes of a value's characters in order, a run of one class as one.
fn character_classes(value: &str) -> String {
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
    fn buckets_ignore_case() {
        assert_eq!(grams("The door code: 4711", "4711"), grams("the DOOR Code: 4711", "4711"));
        let (one, other) = (grams("the door code: 4711", "4711"), grams("le code de la porte: 4711", "4711"));
        assert!(one != other && n_shared(&one, &other) > 3, "{one:?} {other:?}");
        assert!(one.is_sorted() && one.iter().all(|bucket| usize::from(*bucket) < N_BUCKETS));
    }

    #[test]
    fn character_classes_join_runs_of_one_class() {
        for (value, expected) in [("Zaun-4711!", "Aa-9!"), ("Öl2öl", "ua9a"), ("a1b2c3d4e5f6", "a9a9a9a9a9"), ("", "")]
        {
            assert_eq!(character_classes(value), expected, "{value}");
        }
    }
}
