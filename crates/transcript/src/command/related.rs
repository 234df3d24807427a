//! The relation of a later command to one that failed.

use serde::Serialize;
use similar::{Algorithm, capture_diff_slices, get_diff_ratio};

use super::program::family;
use super::simple_command::{SimpleCommand, base_name};
use super::word_diff::words;
use super::{CommandLine, normal};

/// How a later command line relates to an earlier one; nearest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Relation {
    /// The same line again.
    Rerun,
    /// The same command with something before or around it: `mkdir build && …`, `sudo …`, another folder, a longer pipe.
    Prepared,
    /// The same program and subcommand with other arguments.
    SameAction,
    /// The program or its subcommand spelled differently, the rest equal: `gti status` and `git status`; or run by another program: `pytest`
    /// and `python -m pytest`.
    Respelled,
    /// The same program with another action.
    SameProgram,
}

/// The minimum similarity of two spellings: twice the number of letters they share in order, divided by the number of all
/// letters.
const MIN_LIKENESS: f32 = 0.6;

pub(super) fn relation(failed: &CommandLine, later: &CommandLine) -> Option<Relation> {
    if failed.parts.is_empty() || later.parts.is_empty() {
        return None;
    }
    if words(&failed.text) == words(&later.text) {
        return Some(Relation::Rerun);
    }
    let (before, after) = (failed.main_parts(), later.main_parts());
    let is_same = |a: &SimpleCommand, b: &SimpleCommand| a.words().eq(b.words());
    let is_within = |part: &SimpleCommand, other: &SimpleCommand| is_same(part, other) || holds(other, part);
    if before.iter().all(|part| after.iter().any(|other| is_within(part, other))) {
        return Some(Relation::Prepared);
    }
    let pairs = || before.iter().flat_map(|part| after.iter().map(move |other| (*part, *other)));
    if pairs().any(|(part, other)| normal::form(part) == normal::form(other) || is_extended(part, other)) {
        return Some(Relation::SameAction);
    }
    if pairs().any(|(part, other)| is_respelled(part, other) || holds(part, other) || is_run_otherwise(part, other)) {
        return Some(Relation::Respelled);
    }
    pairs().any(|(part, other)| family(part.program()) == family(other.program())).then_some(Relation::SameProgram)
}

/// True if another program is run on an operand of the failed one: a path, an address, or a name of some length.
pub(super) fn is_replaced(failed: &CommandLine, later: &CommandLine) -> bool {
    /// A shorter word is too common.
    const MIN_CHARS: usize = 4;
    let operands = |line: &CommandLine| -> Vec<String> {
        let words =
            line.main_parts().into_iter().flat_map(|part| part.words().skip(1).map(str::to_owned).collect::<Vec<_>>());
        words.filter(|word| word.chars().count() >= MIN_CHARS && !word.starts_with('-')).collect()
    };
    let (gone, come) = (operands(failed), operands(later));
    failed.program() != later.program() && gone.iter().any(|word| come.contains(word))
}

/// True if the first part contains the words of the second after others: `git clone URL` contains `URL`, `$ make all` contains
/// `make all`. A single plain word does not count: `git commit -m make` is unrelated to `make`.
fn holds(longer: &SimpleCommand, shorter: &SimpleCommand) -> bool {
    let words: Vec<&str> = shorter.words().collect();
    let is_telling = words.len() > 1 || shorter.original().contains(['/', '@', ':']);
    let (longer, shorter): (Vec<&str>, Vec<&str>) = (longer.originals().collect(), shorter.originals().collect());
    is_telling
        && longer.len() > shorter.len()
        && longer.windows(shorter.len().max(1)).skip(1).any(|window| window == shorter)
}

/// True if the same program runs with all words of the first part, in their order, and others: `make test` and `make clean test`.
fn is_extended(part: &SimpleCommand, other: &SimpleCommand) -> bool {
    let (own, others): (Vec<&str>, Vec<&str>) = (part.words().collect(), other.words().collect());
    let mut left = others.iter();
    own.len() > 1 && own.first() == others.first() && own.iter().all(|word| left.any(|other| other == word))
}

/// True if one word is spelled differently, or two are joined, and the other words are mostly equal.
fn is_respelled(part: &SimpleCommand, other: &SimpleCommand) -> bool {
    let (a, b): (Vec<&str>, Vec<&str>) = (part.words().collect(), other.words().collect());
    if squeezed(&a) == squeezed(&b) {
        return true;
    }
    // The first word; if it is equal, the second.
    let place = usize::from(a.first() == b.first());
    let (Some(&name), Some(&other_name)) = (a.get(place), b.get(place)) else { return false };
    let rest = |words: &[&str]| words.iter().skip(1 + place).map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let (rest_a, rest_b) = (rest(&a), rest(&b));
    let is_rest_alike = rest_a.is_empty() || ratio(&rest_a, &rest_b) >= 0.5;
    let letters = |word: &str| word.chars().map(|c| c.to_string()).collect::<Vec<_>>();
    name != other_name && is_rest_alike && ratio(&letters(name), &letters(other_name)) >= MIN_LIKENESS
}

/// Programs that run the program named next, and after which words of theirs: `uv run`, `bundle exec`.
const RUNNERS: [(&str, &[&str]); 14] = [
    ("npx", &[]),
    ("bunx", &[]),
    ("uvx", &[]),
    ("npm", &["exec", "run", "x"]),
    ("pnpm", &["exec", "run", "dlx"]),
    ("yarn", &["exec", "run", "dlx"]),
    ("bun", &["x", "run"]),
    ("uv", &["run"]),
    ("poetry", &["run"]),
    ("pipenv", &["run"]),
    ("pdm", &["run"]),
    ("hatch", &["run"]),
    ("bundle", &["exec"]),
    ("mise", &["exec"]),
];

/// True when both run the same, by different means: `pytest` and `python -m pytest`, `./run.sh` and `bash run.sh`, `npx vite` and
/// `pnpm exec vite`.
fn is_run_otherwise(part: &SimpleCommand, other: &SimpleCommand) -> bool {
    let (one, two) = (run_in_the_end(part), run_in_the_end(other));
    let is_same = |a: &[&str], b: &[&str]| match (a, b) {
        ([a, rest @ ..], [b, others @ ..]) => base_name(a) == base_name(b) && rest == others,
        _ => false,
    };
    is_same(&one, &two)
}

/// The words of a part without the programs that only run what follows, and their flags.
fn run_in_the_end(part: &SimpleCommand) -> Vec<&str> {
    /// `uv run python -m pytest` is as deep as people go.
    const MAX_DEPTH: usize = 3;
    let words: Vec<&str> = part.originals().collect();
    let mut left = words.as_slice();
    for _ in 0..MAX_DEPTH {
        let Some(inner) = run_by(left).filter(|inner| !inner.is_empty()) else { break };
        left = inner;
    }
    left.to_vec()
}

/// What a runner or an interpreter runs.
fn run_by<'w, 'a>(words: &'w [&'a str]) -> Option<&'w [&'a str]> {
    let [program, rest @ ..] = words else { return None };
    let program = base_name(program);
    if let Some((_, verbs)) = RUNNERS.iter().find(|(name, _)| *name == program) {
        let is_verb = rest.first().is_some_and(|word| verbs.contains(word));
        let rest = rest.get(usize::from(is_verb)..)?;
        let n_flags = rest.iter().take_while(|word| word.starts_with('-')).count();
        // `yarn vite` runs a program too, `npm install` and `uv sync` do not.
        return rest.get(n_flags..).filter(|_| verbs.is_empty() || is_verb || matches!(program, "yarn" | "pnpm"));
    }
    match rest {
        [flag, inner @ ..] if matches!((family(program), *flag), ("python", "-m") | (_, "-Command")) => Some(inner),
        [script, ..] if runs_scripts(program) && script.contains(['.', '/']) && !script.starts_with('-') => Some(rest),
        _ => None,
    }
}

/// True for a program that runs the file named first.
fn runs_scripts(program: &str) -> bool {
    const SHELLS: [&str; 6] = ["bash", "sh", "zsh", "ksh", "pwsh", "powershell"];
    matches!(family(program), "python" | "node" | "ruby" | "perl" | "php" | "tsx" | "ts-node")
        || SHELLS.contains(&program)
}

fn squeezed(words: &[&str]) -> String {
    words.concat().replace('-', "")
}

fn ratio(a: &[String], b: &[String]) -> f32 {
    get_diff_ratio(&capture_diff_slices(Algorithm::Myers, a, b), a.len(), b.len())
}
