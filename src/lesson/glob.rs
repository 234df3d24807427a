//! Glob patterns of paths and command lines for which a lesson is shown (docs/spec/playbook.md, 5.9).

use std::collections::BTreeMap;

/// An element of a pattern.
#[derive(Clone, Copy, PartialEq)]
enum Piece {
    /// Any characters (`**`, and `*` in a command line).
    Any,
    /// Any characters but `/` (`*` in a path).
    AnyInName,
    /// One character, in a path not `/` (`?`).
    One,
    Exactly(char),
}

/// The kind of text that a pattern matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GlobOf {
    /// A path: `*` matches within a name, `**` across folders.
    Path,
    /// A command line: `*` matches any characters.
    Command,
}

impl GlobOf {
    /// True if the pattern matches the text.
    ///
    /// A path also matches if the pattern matches its end from some folder on: `src/*.rs` matches `/srv/shop/src/main.rs`, and
    /// `*.sql` a file in any folder. Spaces around a command line are ignored.
    pub(crate) fn matches(self, pattern: &str, text: &str) -> bool {
        let pieces = self.pieces(pattern);
        match self {
            Self::Command => is_match(&pieces, text.trim(), None),
            Self::Path => is_match(&pieces, text.replace('\\', "/").trim_start_matches("./"), Some('/')),
        }
    }

    fn pieces(self, pattern: &str) -> Vec<Piece> {
        let pattern = match self {
            Self::Command => pattern.trim(),
            Self::Path => pattern.trim().trim_start_matches("./").trim_start_matches('/'),
        };
        let mut pieces = Vec::new();
        for c in pattern.chars() {
            let piece = match (c, self) {
                ('*', Self::Command) => Piece::Any,
                ('*', Self::Path) => Piece::AnyInName,
                ('?', _) => Piece::One,
                ('\\', Self::Path) => Piece::Exactly('/'),
                _ => Piece::Exactly(c),
            };
            match pieces.last_mut() {
                Some(last @ (Piece::AnyInName | Piece::Any)) if c == '*' => *last = Piece::Any,
                _ => pieces.push(piece),
            }
        }
        pieces
    }
}

/// The most characters of a pattern.
pub(crate) const MAX_PATTERN_CHARS: usize = 250;
/// The most patterns of a lesson: of its paths and its commands together.
pub(crate) const MAX_PATTERNS: usize = 20;
/// Of a longer path or command line, only so many characters are compared.
pub(crate) const MAX_TEXT_CHARS: usize = 16_384;
/// So many literal characters in a row make a pattern specific.
const MIN_LITERAL_CHARS: usize = 3;

/// Why a pattern is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PatternFault {
    /// It has neither three literal characters in a row nor the whole name of a file, a folder or a program.
    MatchesEverything,
    TooLong {
        n_chars: usize,
    },
}

impl GlobOf {
    pub(crate) fn fault(self, pattern: &str) -> Option<PatternFault> {
        let n_chars = pattern.chars().count();
        if n_chars > MAX_PATTERN_CHARS {
            Some(PatternFault::TooLong { n_chars })
        } else {
            (!self.is_specific(pattern)).then_some(PatternFault::MatchesEverything)
        }
    }

    fn is_specific(self, pattern: &str) -> bool {
        let is_wild = |c: char| matches!(c, '*' | '?');
        let is_whole = |name: &str| !name.contains(is_wild) && name.contains(char::is_alphanumeric);
        let is_long = |run: &str| run.chars().filter(|c| !c.is_whitespace()).count() >= MIN_LITERAL_CHARS;
        let has_run = pattern.split(is_wild).any(|run| is_whole(run) && is_long(run));
        let has_name = || match self {
            Self::Command => pattern.split_whitespace().next().is_some_and(is_whole),
            Self::Path => {
                let ending = pattern.rsplit_once("*.").map(|(_, ending)| ending);
                ending.is_some_and(|ending| is_whole(ending) && !ending.contains('/'))
                    || pattern.split(['/', '\\']).any(is_whole)
            }
        };
        has_run || has_name()
    }
}

/// The number of literal characters of a pattern, as a measure of how specific it is.
pub(crate) fn n_literal(pattern: &str) -> usize {
    pattern.chars().filter(|c| !['*', '?'].contains(c)).count()
}

/// Compares from left to right, remembering which pieces a prefix of the text can end in, a bit for each: a few operations per
/// character, whatever the pattern is. What is matched may also begin after a separator, where there is one.
fn is_match(pieces: &[Piece], text: &str, separator: Option<char>) -> bool {
    let Some(steps) = Steps::of(pieces) else { return false };
    let mut ends = steps.passed_over(Places::only(0));
    for c in text.chars().take(MAX_TEXT_CHARS) {
        ends = steps.after(ends, c);
        if separator == Some(c) {
            ends = ends.or(Places::only(0));
        }
        ends = steps.passed_over(ends);
    }
    ends.has(pieces.len())
}

/// The words of a set of places: enough for a pattern of [`MAX_PATTERN_CHARS`].
const WORDS: usize = 4;

/// A set of places in a pattern: at the place `i`, the first `i` pieces match what was read so far.
#[derive(Clone, Copy, Default)]
struct Places([u64; WORDS]);

impl Places {
    fn only(place: usize) -> Self {
        let mut places = Self::default();
        places.add(place);
        places
    }

    fn add(&mut self, place: usize) {
        if let Some(word) = self.0.get_mut(place / 64) {
            *word |= 1 << (place % 64);
        }
    }

    fn has(self, place: usize) -> bool {
        self.0.get(place / 64).is_some_and(|word| (word >> (place % 64)) & 1 == 1)
    }

    fn or(mut self, other: Self) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word |= other);
        self
    }

    fn and(mut self, other: Self) -> Self {
        self.0.iter_mut().zip(other.0).for_each(|(word, other)| *word &= other);
        self
    }

    /// Each place moved to the next one.
    fn moved(self) -> Self {
        let mut carried = 0;
        Self(self.0.map(|word| {
            let moved = (word << 1) | carried;
            carried = word >> 63;
            moved
        }))
    }
}

/// The pieces of a pattern by what they match.
#[derive(Default)]
struct Steps {
    any: Places,
    in_name: Places,
    one: Places,
    exactly: BTreeMap<char, Places>,
}

impl Steps {
    /// None for a pattern with more places than a set has.
    fn of(pieces: &[Piece]) -> Option<Self> {
        if pieces.len() >= WORDS * 64 {
            return None;
        }
        let mut steps = Self::default();
        for (place, piece) in pieces.iter().enumerate() {
            match piece {
                Piece::Any => steps.any.add(place),
                Piece::AnyInName => steps.in_name.add(place),
                Piece::One => steps.one.add(place),
                Piece::Exactly(c) => steps.exactly.entry(*c).or_default().add(place),
            }
        }
        Some(steps)
    }

    fn after(&self, ends: Places, c: char) -> Places {
        let exactly = self.exactly.get(&c).copied().unwrap_or_default();
        let (stays, goes_on) =
            if c == '/' { (self.any, exactly) } else { (self.any.or(self.in_name), exactly.or(self.one)) };
        ends.and(stays).or(ends.and(goes_on).moved())
    }

    /// Pieces that may match nothing can be skipped. Two of them are never neighbours.
    fn passed_over(&self, ends: Places) -> Places {
        ends.or(ends.and(self.any.or(self.in_name)).moved())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(of: GlobOf, pattern: &str, matching: &[&str], others: &[&str]) {
        for text in matching {
            assert!(of.matches(pattern, text), "{pattern} does not match {text}");
        }
        for text in others {
            assert!(!of.matches(pattern, text), "{pattern} matches {text}");
        }
    }

    #[test]
    fn one_star_matches_within_a_name_and_two_across_folders() {
        check(GlobOf::Path, "*.sql", &["a.sql", "db/a.sql", "/srv/db/a.sql", "db\\a.sql"], &["a.sql.bak", "sql"]);
        check(GlobOf::Path, "src/*.rs", &["src/a.rs", "./src/a.rs", "/w/src/a.rs"], &["src/b/a.rs", "xsrc/a.rs"]);
        check(GlobOf::Path, "db/**/*.sql", &["db/a/b.sql", "x/db/a/b/c.sql"], &["db.sql", "a/b.sql"]);
        check(GlobOf::Path, "/migrations/**", &["migrations/1.sql", "a/migrations/b/1.sql"], &["migrations.md"]);
        check(GlobOf::Path, "v?.md", &["v1.md", "docs/v2.md"], &["v10.md", "v/.md"]);
        check(GlobOf::Path, "Cargo.toml", &["Cargo.toml", "a/Cargo.toml"], &["cargo.toml", "Cargo.toml.orig"]);
    }

    #[test]
    fn a_star_in_a_command_matches_any_characters() {
        check(GlobOf::Command, "git push *", &["git push -f", " git push origin a/b "], &["git push", "git pull x"]);
        check(GlobOf::Command, "*docker*prune*", &["sudo docker system prune -af"], &["docker ps"]);
        check(GlobOf::Command, "npm ?", &["npm i", "npm t"], &["npm ci"]);
    }

    #[test]
    fn a_pattern_has_three_literal_characters_in_a_row_or_a_whole_name() {
        let check = |of: GlobOf, usable: &[&str], others: &[&str]| {
            for pattern in usable {
                assert_eq!(of.fault(pattern), None, "{pattern:?}");
            }
            for pattern in others {
                assert_eq!(of.fault(pattern), Some(PatternFault::MatchesEverything), "{pattern:?}");
            }
        };
        let nothing = ["", "*", "**", "**/*", " ?* ", "/**/*.*", "*e*", "*a?b*", "?e", "**/*a*", "- * --", "*::*"];
        check(GlobOf::Path, &["*.rs", "*.c", "src/**", "a/*", "**/v1", "Makefile", "R", "**/tes*"], &nothing);
        check(GlobOf::Command, &["git *", "ls", "w *", "*push*", "go build*"], &nothing);
        check(GlobOf::Command, &[], &["c*", "gi*", "l?", "*.c", "**/a"]);
        let long = "a".repeat(MAX_PATTERN_CHARS);
        assert_eq!(GlobOf::Command.fault(&long), None);
        assert!(GlobOf::Command.matches(&long, &long));
        assert_eq!(GlobOf::Path.fault(&format!("{long}é")), Some(PatternFault::TooLong { n_chars: 251 }));
    }

    #[test]
    fn of_a_long_line_the_beginning_is_compared() {
        let line = format!("git push {}", "x ".repeat(MAX_TEXT_CHARS));
        check(GlobOf::Command, "git push*", &[&line], &[]);
        check(GlobOf::Command, "*yyy*", &[], &[&format!("{line}yyy")]);
    }

    #[test]
    fn a_hostile_pattern_is_matched_in_linear_time() {
        let pattern = "*a".repeat(120);
        assert!(!GlobOf::Command.matches(&pattern, &"a".repeat(119)));
        assert!(GlobOf::Command.matches(&pattern, &"a".repeat(400)));
        // Each folder of the path could be a beginning: that is one pass too.
        let (pattern, path) = (format!("{}b", "**/".repeat(60)), "a/".repeat(8_000));
        assert!(!GlobOf::Path.matches(&pattern, &path));
        assert!(GlobOf::Path.matches(&pattern, &format!("{path}b")));
    }
}
