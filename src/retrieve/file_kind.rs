//! Kinds of changed files, and which of them a mined lesson's programs read (docs/spec/playbook.md, 5.9).

use std::collections::BTreeSet;

use adage_transcript::command::{Invocation, Purpose};
use serde::{Deserialize, Serialize};

use super::advised_commands;
use crate::lesson::Lesson;

/// Endings of files that no compiler or linter reads.
const DOCUMENTS: &str = "md mdx markdown txt rst adoc asciidoc org tex pdf docx png jpg jpeg gif svg webp ico drawio puml mmd dot \
                         csv tsv jsonl log out";
/// Of these, what tests read in their folders.
const DATA: &str = "txt csv tsv jsonl svg out";
const FOLDERS_OF_TESTS: &str = "test tests spec specs fixtures testdata __fixtures__ __snapshots__";
/// Names of documents without such an ending.
const NAMED: &str = "readme license licence copying notice authors contributors changelog changes codeowners maintainers \
                     .gitignore .gitattributes .mailmap";
/// Beginnings of the names of files ending with `.txt` that a build reads.
const BUILD_FILES: [&str; 3] = ["cmakelists", "requirements", "constraints"];
/// Names of files without an ending, in lower case; so are names that end with `file`, such as `Makefile`.
const WITHOUT_ENDING: &str = "build workspace gradlew mvnw";
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

/// The kind of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum FileKind {
    /// People read it, no program does.
    Document,
    /// By the ending of its name, in lower case.
    Ending(String),
    /// Another file, such as `Makefile`.
    Other,
    /// A folder, whose files may be of any kind.
    Folder,
}

impl FileKind {
    /// The kind of a path that a command names: without an ending it is a folder, unless files are called so.
    pub(super) fn of(path: &str) -> Self {
        if is_document(path) {
            Self::Document
        } else if may_be_folder(path) {
            Self::Folder
        } else {
            Self::of_file(path)
        }
    }

    /// The kind of a file.
    pub(super) fn of_file(path: &str) -> Self {
        if is_document(path) {
            return Self::Document;
        }
        let ending = file_of(path).rsplit_once('.').map_or("", |(_, ending)| ending);
        let is_plain = (1..=MAX_ENDING).contains(&ending.len()) && ending.chars().all(|c| c.is_ascii_alphanumeric());
        if is_plain { Self::Ending(ending.to_ascii_lowercase()) } else { Self::Other }
    }

    /// The language of the file, as a row of [`LANGUAGES`].
    fn language(&self) -> Option<usize> {
        let Self::Ending(ending) = self else { return None };
        LANGUAGES.iter().position(|(_, endings)| lists(endings, ending))
    }

    /// True if a program that formats or checks may read the file. A program of no known language reads any.
    pub(super) fn is_read_by(&self, call: &Invocation<'_>) -> bool {
        let mut words = call.form.split(' ').chain([call.name]);
        match (self, words.find_map(language_of_program)) {
            (Self::Document, _) => false,
            (Self::Folder, _) | (_, None) => true,
            (_, language) => self.language() == language,
        }
    }
}

fn may_be_folder(path: &str) -> bool {
    let file = file_of(path).to_lowercase();
    let is_named = file.ends_with("file") || lists(WITHOUT_ENDING, &file);
    !is_named && (!file.contains('.') || file.chars().all(|c| c == '.'))
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
        for step in advised_commands::steps_of(lesson) {
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
        match kind {
            FileKind::Document => false,
            FileKind::Folder => true,
            FileKind::Ending(_) | FileKind::Other => is_known || self.are_open(),
        }
    }

    fn are_open(&self) -> bool {
        self.has_others || self.known.is_empty()
    }
}

/// True if all that a recovery tells to run first formats.
pub(super) fn is_first_formatted(lesson: &Lesson) -> bool {
    let first = advised_commands::first_steps_of(lesson);
    !first.is_empty() && first.iter().all(|step| step.purpose() == Purpose::Formats)
}

fn language_of_program(word: &str) -> Option<usize> {
    LANGUAGES.iter().position(|(programs, _)| lists(programs, word))
}

/// True if a path names a document, which people read and no program does, or a setting in a tool's folder (`.github/`). Code is code
/// in every folder.
pub(super) fn is_document(path: &str) -> bool {
    let path = path.to_lowercase();
    let file = file_of(&path);
    let folders: Vec<&str> = path.split('/').rev().skip(1).collect();
    let ending = file.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_code = LANGUAGES.iter().any(|(_, endings)| lists(endings, ending));
    let is_data = lists(DATA, ending) && folders.iter().any(|folder| lists(FOLDERS_OF_TESTS, folder));
    let is_built = ending == "txt" && BUILD_FILES.iter().any(|name| file.starts_with(name));
    let is_of_a_tool = folders.iter().any(|folder| folder.len() > 2 && folder.starts_with('.'));
    lists(NAMED, file) || (is_document_file(file) && !is_data && !is_built) || (is_of_a_tool && !is_code)
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
            assert_eq!(FileKind::of(path), FileKind::Document, "{path}");
        }
        for path in [
            "main.go",
            "a/readme.go",
            "./x.rs",
            "../x.py",
            "Makefile",
            ".eslintrc.json",
            "mix.exs",
            "/srv/shop/.claude/worktrees/w/a.go",
            "/home/me/.local/src/shop/a.ex",
            "CMakeLists.txt",
            "requirements-dev.txt",
            ".editorconfig",
            "test/fixtures/orders.csv",
        ] {
            assert_ne!(FileKind::of(path), FileKind::Document, "{path}");
        }
        assert_eq!(FileKind::of("/srv/Shop/Main.GO"), FileKind::Ending("go".into()));
        assert_eq!(FileKind::of("x.document"), FileKind::Ending("document".into()));
    }

    #[test]
    fn a_path_without_an_ending_is_a_folder_unless_files_are_called_so() {
        for path in ["pkg", "lib/", ".", "./", "..", "src/api", "*"] {
            assert_eq!(FileKind::of(path), FileKind::Folder, "{path}");
        }
        for path in ["Makefile", "docker/Dockerfile", "Gemfile", "Justfile", "BUILD", ".dockerignore", "a.what is this"]
        {
            assert_eq!(FileKind::of(path), FileKind::Other, "{path}");
        }
        assert_eq!(FileKind::of_file("bin/run"), FileKind::Other);
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
            ("pkg", [true, true, true]),
        ] {
            let kind = FileKind::of(file);
            assert_eq!([&mix, &list, &other].map(|languages| languages.may_read(&kind)), expected, "{file}");
        }
    }
}
