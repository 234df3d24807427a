//! Kinds of changed files, and which of them a mined lesson's programs read (docs/spec/playbook.md, 5.9).

use std::collections::BTreeSet;

use adage_transcript::command::Purpose;
use serde::{Deserialize, Serialize};

use super::told;
use crate::lesson::Lesson;

/// Endings of files that no compiler, linter or test reads.
const DOCUMENTS: &str = "md mdx markdown txt rst adoc asciidoc org tex pdf docx png jpg jpeg gif svg webp ico drawio puml mmd dot \
                         csv tsv jsonl log out";
/// Names of files without such an ending that are as much.
const NAMED: &str = "readme license licence copying notice authors contributors changelog changes codeowners maintainers \
                     .gitignore .gitattributes .mailmap .editorconfig";
/// Languages: the programs that format or check only one, and the endings of its files.
const LANGUAGES: [(&str, &str); 14] = [
    ("go gofmt goimports gofumpt golangci-lint staticcheck", "go"),
    ("mix", "ex exs heex eex leex"),
    ("cargo rustfmt", "rs"),
    ("black isort ruff flake8 mypy pylint pytest autopep8 pyright", "py pyi"),
    ("eslint tsc jest vitest", "js jsx ts tsx mjs cjs mts cts vue svelte"),
    ("stylelint", "css scss sass less"),
    ("rubocop rspec standardrb", "rb rake"),
    ("clang-format ctest", "c h cc cpp cxx hpp"),
    ("terraform", "tf tfvars"),
    ("dart flutter", "dart"),
    ("swiftformat swiftlint", "swift"),
    ("ktlint detekt", "kt kts"),
    ("shellcheck shfmt", "sh bash"),
    ("sqlfluff", "sql"),
];
/// The longest ending that is kept.
const MAX_ENDING: usize = 8;

/// The kind of a file: the ending of its name in lower case, `document`, or empty.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct FileKind(String);

impl FileKind {
    pub(super) fn of(path: &str) -> Self {
        if is_document(path) {
            return Self("document".to_owned());
        }
        let ending = file_of(path).rsplit_once('.').map_or("", |(_, ending)| ending);
        let is_plain = ending.len() <= MAX_ENDING && ending.chars().all(|c| c.is_ascii_alphanumeric());
        Self(if is_plain { ending.to_ascii_lowercase() } else { String::new() })
    }

    pub(super) fn is_document(&self) -> bool {
        self.0 == "document"
    }

    /// True for a file without an ending, which may be a folder.
    pub(super) fn is_unknown(&self) -> bool {
        self.0.is_empty()
    }

    /// The language of the file, as a row of [`LANGUAGES`].
    fn language(&self) -> Option<usize> {
        LANGUAGES.iter().position(|(_, endings)| lists(endings, &self.0))
    }
}

/// The languages that the steps and the paths of a lesson are about.
pub(super) struct Languages {
    known: BTreeSet<usize>,
    /// Whether a step runs a program that may read files of any kind, such as a script of the project.
    has_others: bool,
    /// Whether the steps are those of a recovery that only formats.
    only_format: bool,
}

impl Languages {
    pub(super) fn of(lesson: &Lesson) -> Self {
        let mut known: BTreeSet<usize> = lesson.paths.iter().filter_map(|glob| FileKind::of(glob).language()).collect();
        let mut has_others = false;
        for step in told::steps_of(lesson) {
            for call in step.invocations().filter(|call| !matches!(call.name, "cd" | "git")) {
                let words = call.form.split(' ').chain([call.name]);
                let of_words: Vec<usize> = words.filter_map(language_of_program).collect();
                has_others |= of_words.is_empty();
                known.extend(of_words);
            }
        }
        Self { known, has_others, only_format: is_first_formatted(lesson) }
    }

    /// True if a file is of one of the languages.
    pub(super) fn have(&self, path: &str) -> bool {
        FileKind::of(path).language().is_some_and(|language| self.known.contains(&language))
    }

    /// True if a step may depend on a file of this kind. A formatter rewrites files of its language; the result of a check depends on
    /// files of no language too, such as settings.
    pub(super) fn may_read(&self, kind: &FileKind) -> bool {
        let is_known = kind.language().map_or(!self.only_format, |language| self.known.contains(&language));
        !kind.is_document() && (is_known || self.are_open())
    }

    fn are_open(&self) -> bool {
        self.has_others || self.known.is_empty()
    }
}

/// True if all that a recovery tells to run first formats.
pub(super) fn is_first_formatted(lesson: &Lesson) -> bool {
    let first = told::first_steps_of(lesson);
    !first.is_empty() && first.iter().all(|step| step.purpose() == Purpose::Formats)
}

fn language_of_program(word: &str) -> Option<usize> {
    LANGUAGES.iter().position(|(programs, _)| lists(programs, word))
}

/// True if a path names a document, whose kind is read by people only, or a file in a tool's folder (`.github/`).
pub(super) fn is_document(path: &str) -> bool {
    let path = path.to_lowercase();
    let file = file_of(&path);
    let stem = file.split('.').find(|part| !part.is_empty()).unwrap_or_default();
    let folders = path.split('/').rev().skip(1);
    is_document_file(file)
        || lists(NAMED, file)
        || (!file.contains('.') && lists(NAMED, stem))
        || folders.into_iter().any(|folder| folder.len() > 2 && folder.starts_with('.'))
}

/// True if a file's ending, in lower case, is that of a document.
pub(super) fn is_document_file(file: &str) -> bool {
    file.rsplit_once('.').is_some_and(|(name, ending)| !name.is_empty() && lists(DOCUMENTS, ending))
}

fn file_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}

fn lists(list: &str, word: &str) -> bool {
    !word.is_empty() && list.split(' ').any(|listed| listed == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_and_files_of_tools_are_of_one_kind() {
        for path in
            ["README.md", "docs/a.rst", "LICENSE", ".github/workflows/ci.yml", ".beads/issues.jsonl", "logo.PNG"]
        {
            assert!(FileKind::of(path).is_document(), "{path}");
        }
        for path in ["main.go", "a/readme.go", "./x.rs", "../x.py", "Makefile", ".eslintrc.json", "mix.exs"] {
            assert!(!FileKind::of(path).is_document(), "{path}");
        }
        assert_eq!(FileKind::of("/srv/Shop/Main.GO"), FileKind("go".into()));
        assert_eq!(FileKind::of("a.what is this"), FileKind(String::new()));
    }

    #[test]
    fn steps_concern_files_of_their_languages() {
        let of = |solution: &str, paths: &[&str]| {
            let mut lesson = crate::testing::lesson("checking", solution);
            lesson.paths = paths.iter().map(|path| (*path).to_owned()).collect();
            Languages::of(&lesson)
        };
        let (mix, list) = (of("First run `mix format`; then x", &[]), of("1. `cd api && go vet ./...`", &["*.go"]));
        let other = of("First run `npm run fix`; then x", &[]);
        for (file, expected) in [
            ("a.ex", [true, false, true]),
            ("a.exs", [true, false, true]),
            ("a.go", [false, true, true]),
            ("a.ts", [false, false, true]),
            ("a.yml", [false, true, true]),
            ("a.md", [false, false, false]),
            ("Makefile", [false, true, true]),
        ] {
            let kind = FileKind::of(file);
            assert_eq!([&mix, &list, &other].map(|languages| languages.may_read(&kind)), expected, "{file}");
        }
    }
}
