//! The command lines before which a recovery comes back.

use adage_transcript::CommandLine;

use super::Recovery;
use crate::capture::heuristics::error_line::{absent_program, unmatched};

/// The maximum number of patterns of a lesson.
const MAX_PATTERNS: usize = 3;
/// A longer word is text of one occasion.
const MAX_CHARS: usize = 60;

impl Recovery<'_, '_> {
    /// The patterns of the lesson. If the line itself was wrong, they have the word that was wrong: a lesson about a flag is not
    /// needed before each other use of the program.
    pub(super) fn patterns(&self) -> Vec<String> {
        if let Some(program) = self.absent() {
            return vec![format!("{program}*")];
        }
        let wrong = self.removed_flag().or_else(|| if self.n_between() == 0 { self.wrong_word() } else { None });
        if let Some(pattern) = wrong.and_then(|word| pattern(&self.before, &word)) {
            return vec![pattern];
        }
        let forms = self.before.normal_form();
        let known = forms.split(" && ").filter(|form| form.contains(char::is_alphanumeric)).take(MAX_PATTERNS);
        known.map(|form| format!("{}*", form.replace("<url>", "*"))).collect()
    }

    /// The program that the shell did not find.
    fn absent(&self) -> Option<&str> {
        let absent = self.error.and_then(absent_program)?;
        // An alias has a longer name: `python3` leads to `python3.12`.
        self.before.programs().find(|program| program.len() > 1 && absent.starts_with(program))
    }

    fn removed_flag(&self) -> Option<Fragment> {
        let removed = self.changes.iter().flat_map(|change| change.before.split_whitespace());
        let flag = removed.into_iter().find(|word| word.len() > 1 && word.starts_with('-'))?;
        Some(Fragment { word: flag.to_owned(), shown: format!(" {flag}") })
    }

    /// The word that the shell could not read, that was written otherwise, or that the error names.
    fn wrong_word(&self) -> Option<Fragment> {
        if let Some(word) = self.error.and_then(unmatched) {
            let shown = literal(&word)?;
            return Some(Fragment { word, shown });
        }
        let changed = self.changes.iter().find(|change| !change.before.is_empty());
        if let Some(change) = changed {
            let word = change.before.split_whitespace().next().filter(|word| is_plain(word))?;
            let ending = differing_ending(word, &change.after);
            let shown = ending.map_or_else(|| format!(" {word}"), str::to_owned);
            return Some(Fragment { word: word.to_owned(), shown });
        }
        let output = self.failed.output();
        let error = self.error.unwrap_or_default().to_lowercase();
        let words: Vec<&str> = self.before.commands().flat_map(|(_, words)| words).collect();
        words.iter().filter(|word| is_plain(word)).find_map(|word| named(word, &error, output))
    }
}

/// What of a command line a pattern has.
struct Fragment {
    /// The word, as it is in the line.
    word: String,
    /// The part of it that the pattern has, with the blank before it if it begins there.
    shown: String,
}

/// The pattern of the command that has the word: `go build* ./...*`.
fn pattern(line: &CommandLine, fragment: &Fragment) -> Option<String> {
    let (program, words) = line.commands().find(|(_, words)| words.contains(&fragment.word.as_str()))?;
    let form = CommandLine::parse(&format!("{program} {}", words.join(" "))).normal_form();
    let is_subcommand = |(own, word): (&str, &&str)| own == *word;
    let mut parts = form.split(' ');
    let is_whole = parts.next() == Some(program) && parts.zip(&words).all(is_subcommand);
    let stem = if is_whole && form.split(' ').skip(1).all(|word| word != fragment.word) { &form } else { program };
    (fragment.shown.chars().count() <= MAX_CHARS).then(|| format!("{stem}*{}*", fragment.shown))
}

/// False for what is different the next time: a variable, a placeholder, text.
fn is_plain(word: &str) -> bool {
    !word.contains(['$', '<', '>', '|', '&', '\'', '"', '`', ';']) && word.len() > 1
}

/// The longest literal part of a shell pattern: of `--include=*.go` it is `--include=`.
fn literal(word: &str) -> Option<String> {
    let parts = word.split(['*', '?', '[', ']', '"', '\'']);
    parts.max_by_key(|part| part.len()).filter(|part| part.len() > 1).map(str::to_owned)
}

/// The ending of a file's name, where another file of the same kind of name helped: of `order_test.go` after `order_main.go` it
/// is `_test.go`.
fn differing_ending<'w>(word: &'w str, other: &str) -> Option<&'w str> {
    let n_common: usize =
        word.chars().zip(other.chars()).take_while(|(own, other)| own == other).map(|(own, _)| own.len_utf8()).sum();
    let start = word.get(..n_common)?.rfind(['_', '-', '.'])?;
    let ending = word.get(start..)?;
    let is_kind = ending.contains('.') && ending.chars().filter(|c| c.is_alphabetic()).count() > 3;
    (is_kind && start > 0 && !ending.contains('/')).then_some(ending)
}

/// A flag that the error names, or a path whose file or folder the output names.
fn named(word: &str, error: &str, output: &str) -> Option<Fragment> {
    const MIN_CHARS: usize = 4;
    let bare = word.trim_start_matches('-').to_lowercase();
    let fragment = |shown: String| Some(Fragment { word: word.to_owned(), shown });
    if word.starts_with('-') {
        let is_named =
            bare.len() >= MIN_CHARS && error.split(|c: char| !c.is_alphanumeric() && c != '-').any(|own| own == bare);
        return if is_named { fragment(format!(" {word}")) } else { None };
    }
    let (folder, _) = word.trim_start_matches("./").rsplit_once('/')?;
    (folder.contains('/') && output.contains(folder)).then(|| folder.to_owned()).and_then(fragment)
}
