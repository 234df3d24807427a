//! Whether a task's sentence names what a command does (docs/spec/playbook.md, 5.1).
//!
//! A mined lesson on a mistake in a command is needed where that command runs. Cosines and shared words compare subjects: they do
//! not distinguish "run the linter" from "upgrade the linter", and find nothing in common between "roll out the new version" and
//! `kubectl apply`.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use super::advised_commands::spans;
use super::task_effect::{TaskEffect, is_about_documents};
use crate::lesson::{Lesson, Origin};

/// What commands are for: words of command lines, and beginnings of words of sentences (with `+` two words in a row).
#[rustfmt::skip]
const PURPOSES: [(&str, &str); 17] = [
    ("test tests pytest jest vitest rspec ctest nextest playwright cypress unittest tox phpunit e2e",
     "test retest e2e spec suite prueba probar prueb"),
    ("golangci-lint eslint clippy ruff flake8 pylint lint vet credo rubocop shellcheck mypy biome stylelint",
     "lint warning style"),
    ("gofmt fmt prettier black format goimports isort rustfmt", "format reformat prettier import"),
    ("build compile make tsc bundle webpack esbuild rollup goreleaser gradle cmake",
     "build built rebuil compil recompil kompil bundle binary executable baue construye construir"),
    ("start serve preview dev up server runserver",
     "start restart launch serve spin+up bring+up fire+up lokal levant arranc"),
    ("install add i ci restore", "install reinstall dependenc deps set+up setup instal abhängigkeit dependencia"),
    ("apply deploy helm terraform ansible rollout kamal",
     "deploy redeploy roll+out rollout ship ausroll despleg staging"),
    ("publish release tag twine vsce", "publish release tag veröffentlich publica"),
    ("commit add stage", "commit check+in stage einchecken"),
    ("push", "push pusch pull+request pr"),
    ("merge rebase cherry-pick", "merge rebase cherry-pick"),
    ("pull fetch clone", "pull fetch clone"),
    ("migrate migration migrations sqlx alembic prisma flyway ecto", "migrat schema"),
    ("grep rg find ag ack", "find search grep look+for where busca such locate every+place"),
    ("ls tree", "structure layout director folder organi overview"),
    ("curl wget scp rsync aws gsutil", "download upload fetch copy get+the herunterlad hochlad descarg"),
    ("docker podman compose", "container docker compose stack image"),
];
/// Purposes whose words also mean something else, with the programs for which they count.
const ONLY_OF: [(&str, &str); 2] = [
    ("install", "npm pnpm yarn bun pip pip3 uv poetry cargo go gem brew apt apt-get composer bundle conda dotnet"),
    ("commit", "git hg jj"),
];
/// Words of command lines that are not names: interpreters, programs that run others or are called like an everyday word.
const NO_NAMES: &str = "add all and app bash bundle cargo cat cd cut dotnet echo exec find for get git go head join kill less lib make mix new node \
                        not npm npx pnpm python python3 ruby run set sh sort split src sudo tail the time tmp top tree use uv yarn";
/// Programs that only look. A question is a reason to run them.
const LOOKING: &str = "grep rg find ag tree ls cat head tail echo";
/// Words before the verb of a task.
const OPENINGS: &str = "please pls bitte ok okay and so now then let's lets can could you we i want to need should just also first me tell por \
                        favor y und jetzt dann";
/// First words of sentences that ask about something, write about it or change its version, and run nothing.
const RUNS_NOTHING: &str = "explain what whats what's which who when where why how list document describe summarize summarise draft translate upgrade \
                            downgrade bump rename erkläre erklär was welche welcher welches wer wann wo warum wieso wie liste dokumentiere beschreibe \
                            que qué cual cuál como cómo cuando cuándo dónde explica lista documenta resume";
/// A word after one of these does not count.
const NEGATIONS: &str = "dont don't not without no nicht ohne sin";
/// The maximum number of words of a query that are read.
const MAX_WORDS: usize = 400;

/// A set of purposes, a bit each.
type Purposes = u32;

/// The purposes of each word of a command line.
static BY_COMMAND: LazyLock<HashMap<&str, Purposes>> = LazyLock::new(|| {
    let mut all: HashMap<&str, Purposes> = HashMap::new();
    for (at, (commands, _)) in PURPOSES.iter().enumerate() {
        for word in commands.split(' ') {
            *all.entry(word).or_default() |= 1 << at;
        }
    }
    all
});

/// True for a mined lesson on a mistake in a command. What has `paths` too is not about a command alone.
pub(super) fn is_on_a_command(lesson: &Lesson) -> bool {
    lesson.provenance.origin == Origin::Mined
        && !lesson.commands.is_empty()
        && lesson.paths.is_empty()
        && !lesson.mistake.is_empty()
}

/// True for mined steps: a procedure, which has no mistake, or how a project is checked, which comes back for commands and files. What a
/// person said has their words as evidence.
pub(super) fn is_of_steps(lesson: &Lesson) -> bool {
    let provenance = &lesson.provenance;
    let is_of_checks = !lesson.commands.is_empty() && !lesson.paths.is_empty();
    provenance.origin == Origin::Mined && provenance.evidence.is_empty() && (lesson.mistake.is_empty() || is_of_checks)
}

/// Whether the sentence of a task names what the lesson's command does, or the command. Of steps it is only known that a sentence
/// which runs nothing does not ask for them. None for any other lesson, for which the task is not read.
pub(super) fn names_command<'t>(lesson: &Lesson, task: impl FnOnce() -> &'t Task) -> Option<bool> {
    if is_of_steps(lesson) {
        return task().declines_steps(lesson).then_some(false);
    }
    is_on_a_command(lesson).then(|| task().names_command_of(lesson))
}

/// A query as the sentence of a task.
pub(super) struct Task {
    /// In lower case.
    words: Vec<String>,
    purposes: Purposes,
    /// What the sentence says is not to be done.
    declined: Purposes,
    runs_nothing: bool,
    is_about_documents: bool,
}

impl Task {
    pub(super) fn of(text: &str) -> Self {
        let is_mark = |c: char| !c.is_alphanumeric() && !"'’+-_".contains(c);
        let words = text.split(is_mark).filter(|word| !word.is_empty()).take(MAX_WORDS);
        let words: Vec<String> = words.map(|word| word.to_lowercase().replace('’', "'")).collect();
        let of = |is_counted: fn(&[String], usize) -> bool| -> Purposes {
            let said = PURPOSES.iter().enumerate().filter(|(_, (_, said))| says(&words, said, is_counted));
            said.map(|(at, _)| 1 << at).sum()
        };
        Self {
            purposes: of(|words, at| !is_negated(words, at)),
            declined: of(is_negated),
            runs_nothing: runs_nothing(&words) || TaskEffect::of(text) == TaskEffect::ChangesNothing,
            is_about_documents: is_about_documents(text),
            words,
        }
    }

    /// True for a sentence that runs nothing, that is about documents where the steps check code, or that says not to do what the
    /// steps of a procedure do.
    fn declines_steps(&self, lesson: &Lesson) -> bool {
        let purposes = || spans(&lesson.solution).into_iter().fold(0, |all, step| all | Command::of(step).purposes);
        let is_of_checks = !lesson.mistake.is_empty();
        self.runs_nothing
            || (is_of_checks && self.is_about_documents)
            || (!is_of_checks && self.declined != 0 && purposes() & self.declined != 0)
    }

    /// True if the sentence says to do the last step of a procedure, for which the others are run.
    pub(super) fn names_goal_of(&self, procedure: &Lesson) -> bool {
        let goal = spans(&procedure.solution).last().map_or(0, |step| Command::of(step).purposes);
        !self.declines_steps(procedure) && goal & self.purposes != 0
    }

    fn names_command_of(&self, lesson: &Lesson) -> bool {
        let commands: Vec<Command<'_>> = lesson.commands.iter().map(|pattern| Command::of(pattern)).collect();
        let only_looks = commands.iter().all(|command| lists(LOOKING, command.program));
        let is_named = |command: &Command<'_>| command.purposes & self.purposes != 0 || self.has_one_of(&command.names);
        (only_looks || !self.runs_nothing) && commands.iter().any(is_named)
    }

    fn has_one_of(&self, names: &BTreeSet<String>) -> bool {
        let is = |word: &str, name: &String| {
            let again = word.strip_prefix("re").unwrap_or(word);
            word == name || (name.len() > 3 && (word.starts_with(name.as_str()) || again.starts_with(name.as_str())))
        };
        let mut counted = self.words.iter().enumerate().filter(|(at, _)| !is_negated(&self.words, *at));
        counted.any(|(_, word)| names.iter().any(|name| is(word, name)))
    }
}

/// A pattern of command lines, as mining makes it: program, subcommand or script, and what was wrong.
struct Command<'l> {
    program: &'l str,
    purposes: Purposes,
    /// Names of the program, the subcommand and the script, and their parts.
    names: BTreeSet<String>,
}

impl<'l> Command<'l> {
    fn of(pattern: &'l str) -> Self {
        /// What comes after these is a flag or an operand.
        const MAX_NAMES: usize = 3;
        let words: Vec<&str> = pattern.split([' ', '*']).filter(|word| !word.is_empty()).take(MAX_NAMES).collect();
        let program = words.first().copied().unwrap_or_default();
        let (mut purposes, mut names) = (0, BTreeSet::new());
        for word in words.iter().filter(|word| !word.starts_with('-')) {
            let file = word.rsplit('/').next().unwrap_or_default();
            purposes |= purposes_of(file) | file.split([':', '.']).map(purposes_of).fold(0, |all, one| all | one);
            let parts = file.split(['-', '_', '.', ':']).chain([file]).map(str::to_lowercase);
            names.extend(parts.filter(|name| name.chars().nth(2).is_some() && !lists(NO_NAMES, name)));
        }
        for (purpose, programs) in ONLY_OF {
            if !lists(programs, program) {
                purposes &= !purposes_of(purpose);
            }
        }
        Self { program, purposes, names }
    }
}

/// True if a word is in a list.
fn lists(list: &str, word: &str) -> bool {
    list.split(' ').any(|listed| listed == word)
}

fn purposes_of(word: &str) -> Purposes {
    BY_COMMAND.get(word.to_lowercase().as_str()).copied().unwrap_or_default()
}

/// True if one of the listed beginnings of words, or pairs of words, is in a sentence.
fn says(words: &[String], said: &str, is_counted: fn(&[String], usize) -> bool) -> bool {
    // A short beginning would be that of many words.
    let begins = |word: &str, start: &str| match word.strip_prefix(start) {
        Some(rest) => start.len() > 3 || rest.is_empty() || rest == "s",
        None => false,
    };
    let is_at = |at: usize, phrase: &str| match phrase.split_once('+') {
        Some((first, second)) => {
            words.get(at).is_some_and(|word| word == first) && words.get(at + 1).is_some_and(|word| word == second)
        }
        None => words.get(at).is_some_and(|word| begins(word, phrase)),
    };
    (0..words.len()).filter(|at| is_counted(words, *at)).any(|at| said.split(' ').any(|phrase| is_at(at, phrase)))
}

/// True for a word after a negation, also the second of two: "don't commit or push".
fn is_negated(words: &[String], at: usize) -> bool {
    let before = |n: usize| at.checked_sub(n).and_then(|at| words.get(at)).map(String::as_str).unwrap_or_default();
    let is_second = matches!(before(1), "or" | "nor" | "oder" | "ni");
    lists(NEGATIONS, before(1)) || (is_second && lists(NEGATIONS, before(3)))
}

/// True for a sentence that asks about something, writes about it or changes its version. "How do I …" asks for a command.
fn runs_nothing(words: &[String]) -> bool {
    const HOW_TO: [[&str; 2]; 4] = [["do", "i"], ["do", "we"], ["can", "i"], ["can", "we"]];
    let mut words = words.iter().map(String::as_str).skip_while(|word| lists(OPENINGS, word));
    let first = words.next().unwrap_or_default();
    let next: Vec<&str> = words.take(2).collect();
    let asks_how_to = first == "how" && (next.first() == Some(&"to") || HOW_TO.iter().any(|phrase| next == *phrase));
    lists(RUNS_NOTHING, first) && !asks_how_to
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on_a_command(pattern: &str) -> Lesson {
        let mut lesson = crate::testing::lesson("a command fails", "Run another one.");
        lesson.mistake = "a command".into();
        lesson.commands = vec![pattern.into()];
        lesson.provenance.origin = Origin::Mined;
        lesson
    }

    fn asks(sentence: &str, lesson: &Lesson) -> Option<bool> {
        let task = Task::of(sentence);
        names_command(lesson, || &task)
    }

    fn check(pattern: &str, sentence: &str, expected: bool) {
        let found = asks(sentence, &on_a_command(pattern));
        assert_eq!(found, Some(expected), "{pattern}: {sentence}");
    }

    #[test]
    fn a_sentence_names_a_command_by_what_it_does() {
        for (pattern, sentence) in [
            ("go build* ./...*", "Compile everything."),
            ("node* assets/build.js*", "rebuild the js after changing app.js"),
            ("golangci-lint run*", "fix the warnings of the linter"),
            ("kubectl apply*", "roll out the new version"),
            ("kubectl apply*", "Deploye die API bitte nochmal"),
            ("pnpm install* --frozen-lockfile*", "set up the repo and get the deps in"),
            ("git add*dist*", "check in the generated files"),
            ("mix ecto.migrate*", "apply the new schema to the database"),
            ("npx vitest*", "are the tests green?"),
            ("tree*", "Which folders are there in lib?"),
        ] {
            check(pattern, sentence, true);
        }
    }

    #[test]
    fn a_sentence_names_a_command_by_its_own_name() {
        for (pattern, sentence) in [
            ("shop sync* --debug*", "resync the orders of May"),
            ("python train.py*", "train again with a smaller rate"),
            ("jupyter nbconvert*", "use nbconvert for the report"),
        ] {
            check(pattern, sentence, true);
        }
    }

    #[test]
    fn a_sentence_about_the_same_subject_does_not_name_the_command() {
        for (pattern, sentence) in [
            ("golangci-lint run*", "upgrade golangci-lint in the pipeline"),
            ("npx vitest*", "What does vitest use for snapshots?"),
            ("shop sync* --debug*", "Explain how sync decides what to upload"),
            ("pnpm install*", "add react 19 to package.json, don't install yet"),
            ("tree*", "render the agents as a tree"),
            ("bd add*", "check in the generated files"),
            ("git push*", "rename the local variable"),
            ("git push*", ""),
        ] {
            check(pattern, sentence, false);
        }
        check("npx vitest*", "how do I run the tests?", true);
    }

    #[test]
    fn a_sentence_that_runs_nothing_does_not_ask_for_steps() {
        let mut steps =
            crate::testing::lesson("checking a change before it is committed", "Check with:\n1. `go test ./...`");
        steps.provenance.origin = Origin::Mined;
        for (sentence, expected) in [
            ("Why does the check of the cache come first?", Some(false)),
            ("Which version of go is checked in CI?", Some(false)),
            ("how do I check my change?", None),
            ("go over the change once more and commit it", None),
        ] {
            assert_eq!(asks(sentence, &steps), expected, "{sentence}");
        }
        steps.mistake = "Committing without checking.".into();
        (steps.commands, steps.paths) = (vec!["git commit*".into()], vec!["*.go".into()]);
        assert_eq!(asks("Which version of go is checked in CI?", &steps), Some(false));
        // What a person said is not about steps.
        steps.provenance.evidence =
            vec![crate::lesson::Evidence { quote: "run the tests".into(), turn: 0, range: (0, 13) }];
        assert_eq!(asks("Why does the check of the cache come first?", &steps), None);
    }

    #[test]
    fn a_sentence_that_declines_a_step_does_not_ask_for_the_procedure() {
        let solution = "Run, in this order:\n1. `mix format`\n2. `git commit -m \"<text>\"`\n3. `git push`";
        let mut steps = crate::testing::lesson("doing mix format, git commit and git push", solution);
        steps.provenance.origin = Origin::Mined;
        for (sentence, expected) in [
            ("squash my last 3 local commits into one. do not push", Some(false)),
            ("format it but don't commit or push", Some(false)),
            ("commit and push it", None),
            ("format, commit, push, but no new tests", None),
        ] {
            assert_eq!(asks(sentence, &steps), expected, "{sentence}");
        }
        steps.mistake = "Committing without checking.".into();
        (steps.commands, steps.paths) = (vec!["git commit*".into()], vec!["*.ex".into()]);
        assert_eq!(asks("commit it, don't push", &steps), None, "the checks come before the commit");
        assert_eq!(asks("fix the typo in README.md and commit", &steps), Some(false));
    }

    #[test]
    fn a_sentence_names_the_goal_of_a_procedure() {
        let solution = "Run, in this order:\n1. `mix format`\n2. `git commit -m \"<text>\"`\n3. `git push`";
        let steps = crate::testing::lesson("doing mix format, git commit and git push", solution);
        for (sentence, expected) in [
            ("finish up: close spotter-x1 and get it all pushed", true),
            ("commit it and push", true),
            ("open a pull request with it", true),
            ("mach es fertig und pushe es", true),
            ("drop the dead module, commit", false),
            ("commit it, do not push yet", false),
            ("what would be pushed?", false),
            ("format the importer", false),
        ] {
            assert_eq!(Task::of(sentence).names_goal_of(&steps), expected, "{sentence}");
        }
    }

    #[test]
    fn only_mined_lessons_on_a_mistake_in_a_command_are_judged() {
        let names = |change: fn(&mut Lesson)| {
            let mut lesson = on_a_command("git push*");
            change(&mut lesson);
            asks("push it", &lesson)
        };
        assert_eq!(names(|_| ()), Some(true));
        assert_eq!(names(|lesson| lesson.provenance.origin = Origin::Hand), None);
        assert_eq!(names(|lesson| lesson.paths = vec!["*.rs".into()]), None, "steps, and it is a task");
        assert_eq!(names(|lesson| lesson.commands.clear()), None);
        assert_eq!(names(|lesson| lesson.mistake.clear()), None);
    }
}
