//! The signs of a failure that was repaired by an edit (docs/spec/playbook.md, 5.9).
//!
//! The command of such a lesson runs for many purposes, and after the edit it does not fail again. The lesson is needed where the
//! failure comes again, or where the same symbols and files are worked on.

use std::collections::BTreeSet;

use super::advised_commands::spans;
use super::command_task::is_on_a_command;
use crate::lesson::{Lesson, RecoverySteps, error_in_trigger};
use crate::lexical::is_telling;

/// The minimum characters of a sign.
const MIN_CHARS: usize = 3;
/// The minimum characters of a part of an error that is recognised as it is.
const MIN_ERROR_CHARS: usize = 16;
/// The names by which the failure of a mined lesson on a command is recognised.
pub(super) struct FailureSigns {
    /// Names that few other tasks have: of several words, or codes.
    strong: BTreeSet<String>,
    /// Names of one word.
    weak: BTreeSet<String>,
    files: BTreeSet<String>,
    /// The error, without the place.
    error: String,
}

impl FailureSigns {
    /// None for a lesson that is not on a command. Only one that is repaired by an edit has other signs than its error.
    pub(super) fn of(lesson: &Lesson) -> Option<Self> {
        if !is_on_a_command(lesson) {
            return None;
        }
        let error = error_in_trigger(&lesson.trigger).unwrap_or_default();
        let mut signs = Self {
            strong: BTreeSet::new(),
            weak: BTreeSet::new(),
            files: BTreeSet::new(),
            error: without_place(error).to_owned(),
        };
        if let RecoverySteps::Edit { cause, changes } = RecoverySteps::of(&lesson.solution) {
            signs.add_names(lesson, error, cause, changes);
        }
        Some(signs)
    }

    fn add_names(&mut self, lesson: &Lesson, error: &str, cause: &str, changes: &str) {
        let command: BTreeSet<&str> = words_of(&lesson.mistake).collect();
        let in_spans = spans(cause).into_iter().chain(spans(changes)).flat_map(words_of);
        // Other words of an error are in many texts.
        let named = words_of(error).filter(|word| is_strong(word));
        for word in in_spans.chain(words_of(changes).filter(|word| is_file(word))).chain(named) {
            let list = if is_file(word) {
                &mut self.files
            } else if is_strong(word) {
                &mut self.strong
            } else {
                &mut self.weak
            };
            if !command.contains(word) && is_telling(&word.to_lowercase()) {
                list.insert(word.to_owned());
            }
        }
    }

    /// True if a text has the error, a strong sign, or a file together with another sign.
    pub(super) fn are_in(&self, text: &str) -> bool {
        if self.error.chars().count() >= MIN_ERROR_CHARS && text.contains(&self.error) {
            return true;
        }
        let words: BTreeSet<&str> = words_of(text).collect();
        let n_in = |signs: &BTreeSet<String>| signs.iter().filter(|sign| words.contains(sign.as_str())).count();
        let n_files = n_in(&self.files);
        n_in(&self.strong) > 0 || (n_files > 0 && n_files + n_in(&self.weak) > 1)
    }
}

/// True for a mined lesson on a command whose solution tells what to write in a file.
pub(super) fn is_repaired_by_an_edit(lesson: &Lesson) -> bool {
    is_on_a_command(lesson) && matches!(RecoverySteps::of(&lesson.solution), RecoverySteps::Edit { .. })
}

/// An error after the file in which it is.
fn without_place(error: &str) -> &str {
    error.strip_prefix("<file>: ").unwrap_or(error).trim_end_matches('…').trim()
}

/// Names in a text: words, the parts of paths and of qualified names, and the names of files.
fn words_of(text: &str) -> impl Iterator<Item = &str> {
    let is_end = |c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.' | '-'));
    let named = text.split(is_end).map(|word| word.trim_matches(&['.', '-'][..]));
    let parts = |word: &'_ str| if is_file(word) { 0 } else { usize::MAX };
    named
        .flat_map(move |word| std::iter::once(word).chain(word.split('.').take(parts(word))))
        .filter(|word| word.chars().count() >= MIN_CHARS)
}

/// `main.go`
fn is_file(word: &str) -> bool {
    word.rsplit_once('.').is_some_and(|(name, ending)| {
        !name.is_empty()
            && (1..6).contains(&ending.len())
            && ending.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
    })
}

/// True for a name of several words (`parse_line`, `parseLine`) and for a code (`TS2307`).
fn is_strong(word: &str) -> bool {
    if is_file(word) || word.contains('.') {
        return false;
    }
    let letters: Vec<char> = word.chars().collect();
    let is_hump = |pair: &[char]| matches!(pair, [a, b] if a.is_lowercase() && b.is_uppercase());
    let has_code =
        letters.iter().any(char::is_ascii_uppercase) && letters.iter().filter(|c| c.is_ascii_digit()).count() > 2;
    word.trim_matches('_').contains('_') || letters.windows(2).any(is_hump) || has_code
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lesson::Origin;

    fn lesson(mistake: &str, error: &str, solution: &str) -> Lesson {
        let mut lesson = crate::testing::lesson(&format!("`{mistake}` fails: {error}"), solution);
        lesson.mistake = format!("`{mistake}`");
        lesson.commands = vec![format!("{mistake}*")];
        lesson.provenance.origin = Origin::Mined;
        lesson
    }

    #[track_caller]
    fn check(lesson: &Lesson, with: &[&str], without: &[&str]) {
        let signs = FailureSigns::of(lesson).unwrap();
        for text in with {
            assert!(signs.are_in(text), "{}: {text}", lesson.trigger);
        }
        for text in without {
            assert!(!signs.are_in(text), "{}: {text}", lesson.trigger);
        }
    }

    #[test]
    fn a_symbol_of_the_failure_is_a_sign() {
        let lesson = lesson(
            "go build -o shop",
            "<file>: log.PrintBanner undefined (type *zap.Logger has no field or method PrintBanner)",
            "`log` is both the logger (`.Sync()`) and the package `log`. Rename the import to `logpkg`. To do so, change serve.go; \
             then `go build -o shop` passes.",
        );
        let with = [
            "call PrintBanner at the start of serve",
            "serve.go should use the log package for the banner",
            "./serve.go:12:6: log.PrintBanner undefined (type *zap.Logger has no field or method PrintBanner)",
            "is logpkg gone? serve.go has an import less",
            "move PrintBanner and its test to another file",
            "use `log` in cmd/serve.go as well",
        ];
        let without = [
            "the build says undefined: cart.Total in serve.go",
            "build the binary and run ./shop",
            "go build -o shop && ./shop serve",
            "add a --port flag to the serve command",
            "which package logs the banner?",
            "why does go build take 40s",
        ];
        check(&lesson, &with, &without);
    }

    #[test]
    fn everyday_words_of_the_error_are_no_signs() {
        let lesson = lesson(
            "go build -o shop",
            "<file>: cannot find the module for the cart package",
            "The import of the cart is wrong. To do so, change serve.go; then `go build -o shop` passes.",
        );
        check(
            &lesson,
            &["serve.go:3:1: cannot find the module for the cart package"],
            &[
                "change the port in serve.go",
                "the build of serve.go for me",
                "a car is in serve.go",
                "use the cart in serve.go",
            ],
        );
    }

    #[test]
    fn a_setting_and_its_file_are_signs_together() {
        let lesson = lesson(
            "npm run build",
            "src/app.ts(3,20): error TS2307: Cannot find module '@/cart' or its type declarations.",
            "First replace `\"paths\": {}` by `\"paths\": { \"@/*\": [\"src/*\"] }` in tsconfig.json, run `npm install`; then `npm run build` passes.",
        );
        let with = [
            "CI fails with TS2307 in the new module",
            "clean up the paths in tsconfig.json",
            "move paths from tsconfig.json to a base file",
            "Cannot find module: error TS2307",
            "sed -n 1,40p tsconfig.json | grep paths",
        ];
        let without = [
            "npm run build",
            "npm install && npm run build",
            "set strict in tsconfig.json",
            "the build is slow, look at the paths of the images",
            "bump typescript",
            "make the bundle smaller",
        ];
        check(&lesson, &with, &without);
    }

    #[test]
    fn another_lesson_is_recognised_by_its_error_alone() {
        let lesson = lesson(
            "golangci-lint run",
            "<file>: File is not properly formatted (gofmt)",
            "First run `gofmt -w <file>`; then `golangci-lint run` passes.",
        );
        assert!(!is_repaired_by_an_edit(&lesson));
        check(
            &lesson,
            &["pkg/a.go:1:1: File is not properly formatted (gofmt)"],
            &["golangci-lint run", "gofmt -w a.go", "it is not formatted"],
        );
    }
}
