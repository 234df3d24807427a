//! A command of a line that can be run again as written, so that a lesson may recommend it.

use std::collections::HashSet;

use super::Effect;
use super::program::{Purpose, own_effect, purpose};
use super::simple_command::{Context, Form, SimpleCommand, Word, base_name};
use super::{normal, program};

/// The maximum characters of a command; a longer one is a script for one occasion.
const MAX_CHARS: usize = 160;
/// The maximum characters of a quoted text; a longer one is a script.
const MAX_QUOTED_CHARS: usize = 60;

/// Flags, in any program, whose text is for people and differs each time.
const TEXT_FLAGS: [&str; 10] =
    ["-m", "-am", "--message", "--body", "--title", "--reason", "--comment", "--notes", "--description", "--subject"];
/// The placeholder for such a text.
const TEXT: &str = "\"<text>\"";

/// A command without filters of its output, with the folder that the line changed to, if any.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Program and subcommand, for comparisons.
    pub form: String,
    /// Its purpose.
    pub purpose: Purpose,
    /// The folder that the line changed to before.
    pub folder: Option<String>,
    /// The words as typed.
    pub words: Vec<String>,
}

/// Flags that narrow a check to the tests named by their value.
const NARROWING_FLAGS: [&str; 8] =
    ["-run", "--run", "-k", "--filter", "--grep", "--only", "--testNamePattern", "--test-name-pattern"];

impl Step {
    /// False for an errand, for a script, for a check narrowed to one test, and for a command in a temporary folder.
    pub(super) fn is_lasting(&self) -> bool {
        let narrows = |word: &str| NARROWING_FLAGS.contains(&word.split('=').next().unwrap_or(word));
        let is_narrow = self.purpose == Purpose::Checks && self.words.iter().any(|word| narrows(word));
        let is_passing =
            |word: &str| word.contains("/tmp/") || word.starts_with("/tmp") || word.contains("/var/folders/");
        let is_passing = self.words.iter().map(String::as_str).chain(self.folder.as_deref()).any(is_passing);
        let is_short = self.text().chars().count() <= MAX_CHARS;
        self.purpose != Purpose::Errand && !is_narrow && !is_passing && is_short
    }

    /// True for version control and its hosts.
    #[must_use]
    pub fn is_version_control(&self) -> bool {
        program::is_version_control(self.program())
    }

    /// None for a command without effect, and for one that cannot be run again as written: a part of a loop, a reader of a pipe
    /// or a here-document, a word with an expansion, a script.
    pub(super) fn of(part: &SimpleCommand) -> Option<Self> {
        let Context::Independent { folder } = &part.context else { return None };
        if own_effect(part) == Effect::Looks || !program::is_main(part) {
            return None;
        }
        let mut words: Vec<String> = Vec::new();
        let mut is_text = false;
        let own = Word { text: part.original().to_owned(), raw: part.original().to_owned(), form: Form::Plain };
        for word in part.lead.iter().chain([&own]).chain(&part.arguments) {
            let said = if is_text && word.form == Form::Quoted { Some(TEXT.to_owned()) } else { word_shown(word) };
            words.push(said?);
            is_text = TEXT_FLAGS.contains(&word.text.as_str());
        }
        let form = normal::form(part);
        if form == "git push" {
            name_no_branch(&mut words);
        }
        let step = Self { form, purpose: purpose(part), folder: folder.clone(), words };
        let is_whole = part.original().chars().all(|c| !c.is_whitespace() && !matches!(c, '"' | '\'' | '`' | '$'));
        (is_whole && !step.text().contains('\n')).then_some(step)
    }

    /// The program's base name.
    #[must_use]
    pub fn program(&self) -> &str {
        self.form.split(' ').next().unwrap_or_default()
    }

    /// The base name of the file that it writes with `-o`.
    #[must_use]
    pub fn built(&self) -> Option<String> {
        let place = self.words.iter().position(|word| word == "-o" || word == "--output")?;
        self.words.get(place + 1).map(|path| base_name(path).to_owned())
    }

    /// The command as text.
    #[must_use]
    pub fn text(&self) -> String {
        self.words.join(" ")
    }

    /// True if no operand selects a part: `go test ./...`, `npm test`.
    #[must_use]
    pub fn takes_all(&self) -> bool {
        let is_part = |word: &&String| !word.starts_with('-') && word.contains(['/', '<']) && word.as_str() != "./...";
        self.words.iter().skip(1).find(is_part).is_none()
    }

    /// The command with placeholders for operands that are among the files or their folders: the next time, other files will
    /// have changed.
    pub(super) fn without_changed(&self, files: &ChangedFiles) -> Self {
        let mut words: Vec<String> = Vec::new();
        for word in &self.words {
            let said = if files.names.contains(base_name(word)) {
                "<changed-files>"
            } else if files.has_folder(word) {
                "<changed-folders>"
            } else {
                word
            };
            if !said.starts_with("<changed") || !words.iter().any(|known| known == said) {
                words.push(said.to_owned());
            }
        }
        Self { words, ..self.clone() }
    }
}

/// Replaces the branch in `git push -u origin fix-12`: the next time it is another one.
fn name_no_branch(words: &mut [String]) {
    const LASTING: [&str; 5] = ["main", "master", "develop", "trunk", "HEAD"];
    let is_first_push = words.iter().any(|word| matches!(word.as_str(), "-u" | "--set-upstream"));
    let mut operands = words.iter_mut().skip(2).filter(|word| !word.starts_with('-'));
    if let Some(branch) = operands.nth(1).filter(|branch| is_first_push && !LASTING.contains(&branch.as_str())) {
        "<branch>".clone_into(branch);
    }
}

/// The files that a session changed, indexed by name and by folder.
#[derive(Clone, Debug, Default)]
pub struct ChangedFiles {
    names: HashSet<String>,
    /// Every run of two or more names in the paths of their folders.
    folders: HashSet<String>,
}

impl ChangedFiles {
    /// True for a relative path of two or more names, also with Go's `/...`, that leads to one of the files.
    fn has_folder(&self, word: &str) -> bool {
        let path = word.trim_end_matches("...").trim_end_matches('/').trim_start_matches("./");
        !word.starts_with('-') && self.folders.contains(path)
    }
}

impl<'f> FromIterator<&'f str> for ChangedFiles {
    fn from_iter<I: IntoIterator<Item = &'f str>>(files: I) -> Self {
        /// The maximum number of names of a path that are indexed, from its end.
        const MAX_DEPTH: usize = 24;
        let mut changed = Self::default();
        for file in files {
            changed.names.insert(base_name(file).to_owned());
            let folders: Vec<&str> = file.rsplit('/').skip(1).take(MAX_DEPTH).collect();
            let folders: Vec<&str> = folders.into_iter().rev().collect();
            for from in 0..folders.len() {
                for to in from + 2..=folders.len() {
                    changed.folders.extend(folders.get(from..to).map(|names| names.join("/")));
                }
            }
        }
        changed
    }
}

fn word_shown(word: &Word) -> Option<String> {
    if let Some((flag, value)) = word.raw.split_once('=')
        && TEXT_FLAGS.contains(&flag)
        && value.starts_with(['"', '\''])
    {
        return Some(format!("{flag}={TEXT}"));
    }
    let is_script = word.expands() || word.raw.contains('\n') || word.raw.chars().count() > MAX_QUOTED_CHARS;
    (word.form == Form::Plain || !is_script).then(|| word.raw.clone())
}
