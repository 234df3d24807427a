//! The traits of a candidate: its form, and what stands around it. Each is a level of a fixed number of levels.

use std::collections::HashMap;
use std::ops::Range;

use crate::byte_set::ByteSet;

use super::form::{self, Form};
use super::grams::{Around, Grams};
use super::weights::Weights;
use super::words::{Said, SaidWords, Says};
use super::{Other, known};

/// So many bytes before a candidate are looked at for words.
const BEFORE: usize = 240;
/// And so many behind it.
const BEHIND: usize = 120;
/// Where a word that says something is: the levels of [`Place::near`].
const N_PLACES: u16 = 10;
/// The levels of [`Place::promise`].
const N_PROMISES: u16 = 12;
/// The levels of the traits of separators.
const N_SEPARATORS: u16 = 9;
/// The trait of why a value may be something else, and those of how many rules have found it.
pub(super) const OTHER: usize = 32;
const RULES: usize = 33;
const FORM_RULES: usize = 34;
/// Words between a name and its value, in several languages.
const COPULAS: [&str; 22] = [
    "is", "was", "to", "are", "ist", "lautet", "est", "es", "é", "to:", "jest", "är", "er", "on", "as", "with", "by",
    "now", "still", "just", "heißt", "are:",
];

/// The names of the traits, in the order of their levels, and how many levels each has.
pub(super) const TRAITS: [(&str, u16); 38] = [
    ("form", Form::N),
    ("length", 10),
    ("oddness", 8),
    ("entropy", 7),
    ("switches", 6),
    ("digits", 6),
    ("spice", 4),
    ("case", 4),
    ("password", N_PLACES),
    ("strong", N_PLACES),
    ("weak", N_PLACES),
    ("user", N_PLACES),
    ("digest", N_PLACES),
    ("public", N_PLACES),
    ("meta", N_PLACES),
    ("separator", N_SEPARATORS),
    ("quote", 5),
    ("next", 8),
    ("previous", 8),
    ("name", 6),
    ("line_words", 5),
    ("line_place", 4),
    ("in_url", 3),
    ("form_promise", Form::N * N_PROMISES),
    ("length_promise", 10 * N_PROMISES),
    ("form_separator", Form::N * N_SEPARATORS),
    ("oddness_promise", 8 * N_PROMISES),
    ("separator_promise", N_SEPARATORS * N_PROMISES),
    ("quote_promise", 5 * N_PROMISES),
    ("next_promise", 8 * N_PROMISES),
    ("line_promise", 5 * N_PROMISES),
    ("name_promise", 6 * N_PROMISES),
    ("other", Other::N),
    ("rules", 4),
    ("form_rules", Form::N * 4),
    ("known", known::N_SHARES),
    ("known_promise", known::N_SHARES * N_PROMISES),
    ("form_known", Form::N * known::N_SHARES),
];

/// How many of the borders are below a value.
fn level(value: f64, borders: &[f64]) -> u16 {
    u16::try_from(borders.iter().filter(|border| value >= **border).count()).unwrap_or(u16::MAX)
}

/// What is around a candidate.
struct Place<'t> {
    text: &'t str,
    at: Range<usize>,
    line: Range<usize>,
    /// So far back words are looked for.
    start: usize,
    name: Range<usize>,
    separator: u16,
    near: &'t [Said],
}

/// The level of each trait, in the order of [`TRAITS`].
pub(super) type Levels = [u16; TRAITS.len()];
/// The levels of the traits of a value alone, which are the first.
type ValueLevels = [u16; 9];

/// Measures candidates. Texts have the same names again and again, so what it knows of a value is kept; and what a rule has found is
/// a candidate too, so what it knows of that place is kept until then. Of a line, what does not depend on the candidate is kept until
/// the next line.
#[derive(Default)]
pub(super) struct Measurer<'t> {
    values: HashMap<&'t str, ValueLevels>,
    places: HashMap<Range<usize>, Measured<'t>>,
    line: Line,
    grams: Grams,
}

/// What is the same for all candidates of a line.
#[derive(Default)]
struct Line {
    at: Range<usize>,
    n_words: u16,
    has_url: bool,
}

impl Line {
    fn read(&mut self, text: &str, at: &Range<usize>) {
        if self.at == *at {
            return;
        }
        let line = text.get(at.start..text.floor_char_boundary(at.end)).unwrap_or_default();
        let n_words = line.split_ascii_whitespace().take(16).count();
        let n_words = level(n_words as f64, &[2.0, 4.0, 8.0, 16.0]);
        *self = Self { at: at.clone(), n_words, has_url: line.contains("://") };
    }
}

/// A candidate as far as its form and the words around it say; what is seldom asked for is worked out when it is.
pub(super) struct Measured<'t> {
    levels: Levels,
    around: Around<'t>,
    why: Option<Other>,
    buckets: Option<Vec<u16>>,
}

impl Measured<'_> {
    /// The level of each trait if so many rules have found it; that of why it may be something else if that was asked.
    pub(super) fn levels(&self, n_rules: usize) -> Levels {
        let mut levels = self.levels;
        let n_rules = u16::try_from(n_rules).unwrap_or(3).min(3);
        let more = [(OTHER, self.why.map_or(0, |why| why as u16)), (RULES, n_rules), (FORM_RULES, n_rules)];
        for (trait_, level) in more {
            if let Some(it) = levels.get_mut(trait_) {
                *it += level;
            }
        }
        levels
    }

    /// Why it may be something else, which is asked once.
    pub(super) fn why(&mut self, ask: impl FnOnce() -> Other) -> Other {
        *self.why.get_or_insert_with(ask)
    }
}

impl<'t> Measurer<'t> {
    /// What is known of a place, or measured.
    pub(super) fn measure(
        &mut self,
        text: &'t str,
        at: &Range<usize>,
        said: &SaidWords,
        weights: &Weights,
    ) -> Measured<'t> {
        if let Some(known) = self.places.remove(at) {
            return known;
        }
        let of_value = self.of_value(text.get(at.clone()).unwrap_or_default(), weights);
        let place = Place::of(text, at, said);
        self.line.read(text, &place.line);
        let [form, ..] = of_value;
        let levels = levels(&place, &self.line, of_value);
        let around = Around { text, at: at.clone(), line: place.line, name: place.name, form };
        Measured { levels, around, why: None, buckets: None }
    }

    /// What is said of the buckets of what is written in a candidate and around it, each once, and of the rules that found it.
    pub(super) fn buckets<T>(
        &mut self,
        one: &mut Measured<'t>,
        rules: &[[&'static str; 2]],
        ask: impl FnOnce(&[u16]) -> T,
    ) -> T {
        match &one.buckets {
            Some(buckets) => self.grams.restore(buckets),
            None => self.grams.read(&one.around),
        }
        if !rules.is_empty() {
            one.buckets = Some(self.grams.buckets().to_vec());
            self.grams.add_rules(rules, one.around.form);
        }
        ask(self.grams.buckets())
    }

    /// Keeps what is known of a place.
    pub(super) fn keep(&mut self, at: Range<usize>, one: Measured<'t>) {
        self.places.insert(at, one);
    }

    fn of_value(&mut self, value: &'t str, weights: &Weights) -> ValueLevels {
        *self.values.entry(value).or_insert_with(|| value_levels(value, weights))
    }

    /// Only small letters, or words of programs, as names are.
    pub(super) fn is_name(&mut self, value: &'t str, weights: &Weights) -> bool {
        // Those of names in small letters are not measured.
        static OTHERS: ByteSet = ByteSet::of(b" 0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ!#$%&*+?@^~");
        if value.bytes().any(|b| b.is_ascii_lowercase()) && !OTHERS.is_in(value) {
            return true;
        }
        let [_, _, _, _, switches, digits, spice, case, known] = self.of_value(value, weights);
        (switches, digits, spice) == (0, 0, 0) && (known == known::N_SHARES - 1 || (case == 1 && !value.contains(' ')))
    }
}

fn value_levels(value: &str, weights: &Weights) -> ValueLevels {
    let measured = form::Measured::of(value, weights);
    let counts = &measured.counts;
    let share = counts.digits as f64 / value.len().max(1) as f64;
    [
        measured.form as u16,
        level(value.len() as f64, &[5.0, 6.0, 8.0, 10.0, 13.0, 17.0, 25.0, 37.0, 65.0]),
        level(measured.oddness, &[0.1, 3.4, 3.9, 4.4, 5.0, 5.6, 6.4]),
        level(measured.entropy, &[2.0, 2.5, 3.0, 3.4, 3.8, 4.3]),
        level(counts.switches as f64, &[1.0, 2.0, 3.0, 5.0, 9.0]),
        level(share, &[0.01, 0.15, 0.3, 0.5, 1.0]),
        level(counts.spice as f64, &[1.0, 2.0, 3.0]),
        u16::from(counts.lower > 0) + 2 * u16::from(counts.upper > 0),
        known::share(value),
    ]
}

/// The levels of what no rule has found.
fn levels(place: &Place<'_>, line: &Line, of_value: ValueLevels) -> Levels {
    let [form, length, oddness, entropy, switches, digits, spice, case, known] = of_value;
    let near @ [password, strong, weak, user, digest, public, meta] = place.near();
    let promise = place.promise(&near);
    let (separator, quote, next, name) = (place.separator, place.quote(), place.next(), place.name());
    let line_words = line.n_words;
    [
        form,
        length,
        oddness,
        entropy,
        switches,
        digits,
        spice,
        case,
        password,
        strong,
        weak,
        user,
        digest,
        public,
        meta,
        separator,
        quote,
        next,
        place.previous(),
        name,
        line_words,
        place.line_place(),
        if line.has_url { place.in_url() } else { 0 },
        form * N_PROMISES + promise,
        length * N_PROMISES + promise,
        form * N_SEPARATORS + separator,
        oddness * N_PROMISES + promise,
        separator * N_PROMISES + promise,
        quote * N_PROMISES + promise,
        next * N_PROMISES + promise,
        line_words * N_PROMISES + promise,
        name * N_PROMISES + promise,
        0,
        0,
        form * 4,
        known,
        known * N_PROMISES + promise,
        form * known::N_SHARES + known,
    ]
}

impl<'t> Place<'t> {
    fn of(text: &'t str, at: &Range<usize>, said: &'t SaidWords) -> Self {
        let start = text.floor_char_boundary(at.start.saturating_sub(BEFORE));
        let line = line_break(text, start..at.start).map_or(start, |place| place + 1);
        let rest = text.as_bytes().get(at.end..(at.end + BEHIND).min(text.len())).unwrap_or_default();
        let end = at.end + rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
        let (name, separator) = name_before(text, line, at.start);
        let near = said.within(start..at.end + BEHIND);
        Self { text, at: at.clone(), line: line..end, start, name, separator, near }
    }

    /// Where the line before begins, and that five lines before.
    fn earlier(&self) -> [usize; 2] {
        let before = |end: usize| line_break(self.text, self.start..end);
        let first = before(self.line.start).and_then(before);
        let fifth = (0..4).try_fold(first, |at, _| Some(before(at?))).flatten();
        [first, fifth].map(|place| place.unwrap_or(self.start))
    }

    fn in_name(&self) -> impl DoubleEndedIterator<Item = &Said> {
        self.near.iter().filter(|said| said.end > self.name.start && said.end <= self.name.end + 1)
    }

    /// For each kind of word where the nearest is; the order is that of the levels.
    fn near(&self) -> [u16; Says::ALL.len()] {
        let mut levels = [N_PLACES; Says::ALL.len()];
        let is_earlier =
            self.near.first().is_some_and(|said| said.end <= self.at.start && said.start < self.line.start);
        let earlier = if is_earlier { self.earlier() } else { [self.start; 2] };
        for said in self.near {
            let in_name = said.end > self.name.start && said.end <= self.name.end + 1;
            let here = match () {
                () if in_name => 2,
                () if said.start < self.at.end && said.end > self.at.start => continue,
                () if said.end > self.at.start && said.start < self.line.end => 6,
                () if said.end > self.at.start => 9,
                () if said.start >= self.line.start => match self.at.start - said.end {
                    0..=12 => 3,
                    13..=40 => 4,
                    _ => 5,
                },
                () if said.start >= earlier[0] => 7,
                () if said.start >= earlier[1] => 8,
                () => continue,
            };
            if let Some(level) = levels.get_mut(said.says as usize) {
                *level = here.min(*level);
            }
        }
        if let Some(level) = self.in_name().next_back().and_then(|last| levels.get_mut(last.says as usize)) {
            *level = 1;
        }
        levels.map(|level| if level == N_PLACES { 0 } else { level })
    }

    /// What all words together promise: the order is that of the levels.
    fn promise(&self, near: &[u16; Says::ALL.len()]) -> u16 {
        match self.in_name().next_back().map(|said| said.says) {
            Some(Says::Password) => return 1,
            Some(Says::Strong) => return 2,
            Some(Says::Weak) => return 3,
            Some(Says::Digest | Says::Public | Says::Meta) => return 4,
            Some(Says::User) | None => {}
        }
        let [password, strong, weak, ..] = *near;
        match (password, strong, weak) {
            (2..=4, ..) => 5,
            (_, 2..=4, _) => 6,
            (.., 2..=4) => 7,
            (5..=6, ..) | (_, 5..=6, _) => 8,
            (7..=9, ..) | (_, 7..=9, _) => 9,
            (.., 5..=9) => 10,
            _ if self.name.is_empty() => 11,
            _ => 0,
        }
    }

    fn byte(&self, place: Option<usize>) -> u8 {
        place.and_then(|place| self.text.as_bytes().get(place)).copied().unwrap_or(b'\n')
    }

    fn quote(&self) -> u16 {
        let open = self.byte(self.at.start.checked_sub(1));
        match open {
            b'"' => 1,
            b'\'' => 2,
            b'`' => 3,
            b'(' | b'[' | b'{' | b'<' | b'*' => 4,
            _ => 0,
        }
    }

    fn next(&self) -> u16 {
        match self.byte(Some(self.at.end)) {
            b'\n' | b'\r' => 0,
            b' ' | b'\t' => 1,
            b'"' | b'\'' | b'`' => 2,
            b',' | b';' | b'|' | b'&' => 3,
            b'(' | b'[' | b'{' | b'<' => 4,
            b'.' | b'!' | b'?' => 5,
            b'@' | b':' | b'/' | b'=' => 6,
            _ => 7,
        }
    }

    fn previous(&self) -> u16 {
        match self.byte(self.at.start.checked_sub(1)) {
            b'\n' | b'\r' => 0,
            b' ' | b'\t' => 1,
            b'"' | b'\'' | b'`' => 2,
            b',' | b';' | b'|' | b'&' | b'?' => 3,
            b':' => 4,
            b'=' => 5,
            b'/' | b'@' | b'.' => 6,
            _ => 7,
        }
    }

    fn name(&self) -> u16 {
        let name = self.text.get(self.name.clone()).unwrap_or_default();
        let has = |class: fn(&u8) -> bool| name.as_bytes().iter().any(class);
        match () {
            () if name.is_empty() => 0,
            () if name.starts_with('-') => 1,
            () if !has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase) => 2,
            () if has(|b| b"_.-".contains(b)) || has(u8::is_ascii_uppercase) => 3,
            () if has(|b| !b.is_ascii()) => 4,
            () => 5,
        }
    }

    fn line_place(&self) -> u16 {
        let before = self.text.get(self.line.start..self.at.start).unwrap_or_default();
        let end = self.text.floor_char_boundary(self.line.end);
        let after = self.text.get(self.at.end..end.max(self.at.end)).unwrap_or_default();
        u16::from(before.chars().rev().any(char::is_alphanumeric))
            + 2 * u16::from(after.chars().any(char::is_alphanumeric))
    }

    /// Whether the word around is an address, and whether it is before its host ends.
    fn in_url(&self) -> u16 {
        let before = self.text.get(self.line.start..self.at.start).unwrap_or_default();
        let word = before.rsplit([' ', '"', '\'', '`', '<', '\t']).next().unwrap_or_default();
        match word.find("://") {
            None => 0,
            Some(_) if self.byte(Some(self.at.end)) == b'@' => 1,
            Some(_) => 2,
        }
    }
}

/// The name before a value, and what is between the two.
fn name_before(text: &str, line: usize, at: usize) -> (Range<usize>, u16) {
    let (name, between) = identifier_before(text, line, at);
    if between.is_empty() && text.get(name.clone()).is_some_and(is_copula) {
        let (before, _) = identifier_before(text, line, name.start);
        return (before, 7);
    }
    if name.is_empty() {
        return (name, 0);
    }
    let mark = text.get(between).unwrap_or_default();
    let has = |marks: &[char]| mark.contains(marks);
    let separator = match () {
        () if has(&['(']) => 1,
        () if has(&['=']) => 2,
        () if has(&[':', '：']) => 3,
        () if has(&[',', '|', ';', '\t']) => 4,
        () if has(&['"', '\'', '`', '>', '[']) => 5,
        () if mark.is_empty() && at > name.end => 6,
        () => 8,
    };
    (name, separator)
}

/// Where the last line break of a part of a text is.
fn line_break(text: &str, part: Range<usize>) -> Option<usize> {
    let bytes = text.as_bytes().get(part.clone())?;
    bytes.iter().rposition(|b| *b == b'\n').map(|at| part.start + at)
}

/// A word between a name and its value.
fn is_copula(word: &str) -> bool {
    match word.len() {
        2..=6 if word.is_ascii() => COPULAS.iter().any(|copula| copula.eq_ignore_ascii_case(word)),
        2..=12 => COPULAS.contains(&word.to_lowercase().as_str()),
        _ => false,
    }
}

/// The identifier before a place on the same line, and the marks between the two without blanks.
fn identifier_before(text: &str, line: usize, at: usize) -> (Range<usize>, Range<usize>) {
    let before = text.get(line.min(at)..at).unwrap_or_default();
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_' || c == '-' || c == '.';
    let bare = before.trim_end_matches(|c: char| !is_of_name(c));
    let gap = before.len() - bare.len();
    if gap == 0 || gap > 12 {
        return (at..at, at..at);
    }
    let length = bare.chars().rev().take_while(|c| is_of_name(*c)).map(char::len_utf8).sum::<usize>();
    let end = line.min(at) + bare.len();
    let marks = text.get(end..at).unwrap_or_default();
    let lead = marks.len() - marks.trim_start_matches(' ').len();
    let trail = marks.trim_end_matches(' ').len();
    (end - length..end, if lead < trail { end + lead..end + trail } else { end..end })
}
