//! Glob patterns of paths and command lines for which a lesson is shown (docs/spec/playbook.md, 5.9).

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

/// True if a pattern contains no letter and no digit, so that it matches everything or nearly everything.
pub(crate) fn matches_everything(pattern: &str) -> bool {
    !pattern.chars().any(char::is_alphanumeric)
}

/// The number of literal characters of a pattern, as a measure of how specific it is.
pub(crate) fn n_literal(pattern: &str) -> usize {
    pattern.chars().filter(|c| !['*', '?'].contains(c)).count()
}

/// Compares from left to right, remembering which pieces a prefix of the text can end in: as many steps as the product of both
/// lengths, whatever they are. What is matched may also begin after a separator, where there is one.
fn is_match(pieces: &[Piece], text: &str, separator: Option<char>) -> bool {
    // `ends[i]`: the first i pieces match what was read so far.
    let mut ends = vec![false; pieces.len() + 1];
    if let Some(first) = ends.first_mut() {
        *first = true;
    }
    pass_over(pieces, &mut ends);
    for c in text.chars() {
        let mut next = vec![false; ends.len()];
        for (at, piece) in pieces.iter().enumerate() {
            if !ends.get(at).copied().unwrap_or_default() {
                continue;
            }
            let (stays, goes_on) = match piece {
                Piece::Any => (true, false),
                Piece::AnyInName => (c != '/', false),
                Piece::One => (false, c != '/'),
                Piece::Exactly(wanted) => (false, c == *wanted),
            };
            for (place, reached) in [(at, stays), (at + 1, goes_on)] {
                if let Some(end) = next.get_mut(place).filter(|_| reached) {
                    *end = true;
                }
            }
        }
        ends = next;
        if let Some(first) = ends.first_mut().filter(|_| separator == Some(c)) {
            *first = true;
        }
        pass_over(pieces, &mut ends);
    }
    ends.last().copied().unwrap_or_default()
}

/// Elements that may match nothing can be skipped.
fn pass_over(pieces: &[Piece], ends: &mut [bool]) {
    for at in 0..pieces.len() {
        if ends.get(at).copied().unwrap_or_default()
            && matches!(pieces.get(at), Some(Piece::Any | Piece::AnyInName))
            && let Some(end) = ends.get_mut(at + 1)
        {
            *end = true;
        }
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
    fn a_pattern_without_a_letter_matches_everything() {
        for pattern in ["", "*", "**", "**/*", " ?* ", "/**/*.*"] {
            assert!(matches_everything(pattern), "{pattern:?}");
        }
        for pattern in ["*.rs", "src/**", "git *", "1"] {
            assert!(!matches_everything(pattern), "{pattern:?}");
        }
    }

    #[test]
    fn a_hostile_pattern_is_matched_in_linear_time() {
        let pattern = "*a".repeat(200);
        assert!(!GlobOf::Command.matches(&pattern, &"a".repeat(199)));
        assert!(GlobOf::Command.matches(&pattern, &"a".repeat(400)));
        // Each folder of the path could be a beginning: that is one pass too.
        let (pattern, path) = (format!("{}b", "**/".repeat(60)), "a/".repeat(20_000));
        assert!(!GlobOf::Path.matches(&pattern, &path));
        assert!(GlobOf::Path.matches(&pattern, &format!("{path}b")));
    }
}
