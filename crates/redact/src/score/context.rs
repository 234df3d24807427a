//! The surroundings of a candidate: its name, the separator, the marks that touch it, and the announcing words nearby.

use std::ops::Range;

use super::words::{Said, SaidWords, Says};

/// Bytes before a candidate that are searched for words.
const BEFORE: usize = 240;
/// Bytes after a candidate that are searched for words.
const BEHIND: usize = 120;
/// The levels of [`Context::near`].
pub(super) const N_PLACES: u16 = 10;
/// The levels of [`Context::promise`].
pub(super) const N_PROMISES: u16 = 12;
/// The levels of the traits of separators.
pub(super) const N_SEPARATORS: u16 = 9;
/// Words that join a name to its value, in several languages.
const COPULAS: [&str; 22] = [
    "is", "was", "to", "are", "ist", "lautet", "est", "es", "é", "to:", "jest", "är", "er", "on", "as", "with", "by",
    "now", "still", "just", "heißt", "are:",
];

/// The surroundings of a candidate.
pub(super) struct Context<'t> {
    text: &'t str,
    at: Range<usize>,
    pub(super) line: Range<usize>,
    /// The start of the search for words.
    start: usize,
    pub(super) name: Range<usize>,
    pub(super) separator: u16,
    /// The words before the value, in it and after it.
    near: &'t [Said],
}

impl<'t> Context<'t> {
    /// The surroundings of the candidate at a place.
    pub(super) fn of(text: &'t str, at: &Range<usize>, said: &'t SaidWords) -> Self {
        let start = text.floor_char_boundary(at.start.saturating_sub(BEFORE));
        let line = line_break(text, start..at.start).map_or(start, |place| place + 1);
        let rest = text.as_bytes().get(at.end..(at.end + BEHIND).min(text.len())).unwrap_or_default();
        let end = at.end + rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
        let (name, separator) = name_before(text, line, at.start);
        let near = said.within(start..at.end + BEHIND);
        Self { text, at: at.clone(), line: line..end, start, name, separator, near }
    }

    /// The starts of the previous line and of the line five lines up.
    fn earlier(&self) -> [usize; 2] {
        let before = |end: usize| line_break(self.text, self.start..end);
        let first = before(self.line.start).and_then(before);
        let fifth = (0..4).try_fold(first, |at, _| Some(before(at?))).flatten();
        [first, fifth].map(|place| place.unwrap_or(self.start))
    }

    /// The announcing words in the candidate's name.
    fn in_name(&self) -> impl DoubleEndedIterator<Item = &Said> {
        self.near.iter().filter(|said| said.end > self.name.start && said.end <= self.name.end + 1)
    }

    /// For each kind of announcing word, where the nearest one is: 0 none, 1 the end of the name, 2 the name, 3 to 5
    /// before the value on its line by distance, 6 after it on its line, 7 on the previous line, 8 up to five lines up,
    /// 9 on a later line.
    pub(super) fn near(&self) -> [u16; Says::ALL.len()] {
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

    /// How strongly all words together announce a secret: the last word of the name (1 to 4), else the nearest words by
    /// kind and distance (5 to 10), else 11 without a name and 0 with one.
    pub(super) fn promise(&self, near: &[u16; Says::ALL.len()]) -> u16 {
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

    /// The byte at a place; a newline outside of the text.
    fn byte(&self, place: Option<usize>) -> u8 {
        place.and_then(|place| self.text.as_bytes().get(place)).copied().unwrap_or(b'\n')
    }

    /// The mark that opens before the value: 0 none, 1 to 3 a quote, 4 a bracket or an asterisk.
    pub(super) fn quote(&self) -> u16 {
        let open = self.byte(self.at.start.checked_sub(1));
        match open {
            b'"' => 1,
            b'\'' => 2,
            b'`' => 3,
            b'(' | b'[' | b'{' | b'<' | b'*' => 4,
            _ => 0,
        }
    }

    /// The class of the byte after the value: 0 line end, 1 blank, 2 quote, 3 list separator, 4 opening bracket, 5 end
    /// of sentence, 6 mark of an address or assignment, 7 other.
    pub(super) fn next(&self) -> u16 {
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

    /// The class of the byte before the value: 0 line end, 1 blank, 2 quote, 3 list separator, 4 colon, 5 equals sign,
    /// 6 mark of an address, 7 other.
    pub(super) fn previous(&self) -> u16 {
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

    /// The form of the name: 0 none, 1 flag, 2 upper case, 3 with joints or capitals, 4 beyond ASCII, 5 lower case.
    pub(super) fn name(&self) -> u16 {
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

    /// Whether the line has text before the value (1), after it (2), both (3) or neither (0).
    pub(super) fn line_place(&self) -> u16 {
        let before = self.text.get(self.line.start..self.at.start).unwrap_or_default();
        let end = self.text.floor_char_boundary(self.line.end);
        let after = self.text.get(self.at.end..end.max(self.at.end)).unwrap_or_default();
        u16::from(before.chars().rev().any(char::is_alphanumeric))
            + 2 * u16::from(after.chars().any(char::is_alphanumeric))
    }

    /// Whether the value is in a URL: 0 no, 1 before an `@`, 2 elsewhere.
    pub(super) fn in_url(&self) -> u16 {
        let before = self.text.get(self.line.start..self.at.start).unwrap_or_default();
        let word = before.rsplit([' ', '"', '\'', '`', '<', '\t']).next().unwrap_or_default();
        match word.find("://") {
            None => 0,
            Some(_) if self.byte(Some(self.at.end)) == b'@' => 1,
            Some(_) => 2,
        }
    }
}

/// The name before a value, and the level of the separator between the two.
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

/// The place of the last line break in a part of a text.
fn line_break(text: &str, part: Range<usize>) -> Option<usize> {
    let bytes = text.as_bytes().get(part.clone())?;
    bytes.iter().rposition(|b| *b == b'\n').map(|at| part.start + at)
}

/// True for a word that joins a name to its value.
fn is_copula(word: &str) -> bool {
    match word.len() {
        2..=6 if word.is_ascii() => COPULAS.iter().any(|copula| copula.eq_ignore_ascii_case(word)),
        2..=12 => COPULAS.contains(&word.to_lowercase().as_str()),
        _ => false,
    }
}

/// The identifier before a place on the same line, and the marks between the two, trimmed.
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
