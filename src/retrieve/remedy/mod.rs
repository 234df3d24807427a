//! Whether a command that is about to run is the one that a mined lesson is about (docs/spec/playbook.md, 5.9).
//!
//! A lesson on a mistake in a command says what failed and what helped. It is not needed where the command has what helped
//! already, nor where it lacks a part of what was wrong only together.

mod arguments;
#[cfg(test)]
mod tests;

use adage_transcript::CommandLine;
use adage_transcript::command::Invocation;

use self::arguments::{Argument, arguments, n_operands};
use super::advised_commands;
use super::command_task::is_on_a_command;
use super::matched::texts_of;
use super::published::sends_no_change;
use super::signs::is_repaired_by_an_edit;
use super::work_tree::{Upstream, WorkTree, upstream_after};
use crate::lesson::recovery_text::commands_in_table;
use crate::lesson::{GlobOf, Lesson, RecoverySteps, error_in_trigger};

/// What a mined lesson on a command says.
pub(super) struct Remedy {
    failed: CommandLine,
    helped: CommandLine,
    /// What has to be run first.
    first: Vec<CommandLine>,
    error: String,
}

impl Remedy {
    /// None for another lesson, and for one whose remedy is a change of files or only told in words.
    pub(super) fn of(lesson: &Lesson) -> Option<Self> {
        if !is_on_a_command(lesson) || is_repaired_by_an_edit(lesson) {
            return None;
        }
        let first = advised_commands::first_steps_of(lesson);
        let failed = lesson.mistake.strip_prefix('`')?.strip_suffix('`')?;
        let instead = || match RecoverySteps::of(&lesson.solution) {
            RecoverySteps::Instead { command } => Some((failed.to_owned(), command.to_owned())),
            _ => None,
        };
        let same = || (!first.is_empty()).then(|| (failed.to_owned(), failed.to_owned()));
        let (before, after) = commands_in_table(&lesson.code_example).or_else(instead).or_else(same)?;
        let below = lesson.code_example.split_once("\n\n").map(|(_, error)| error);
        let error = below.or_else(|| error_in_trigger(&lesson.trigger));
        Some(Self {
            failed: advised_commands::parse(&before),
            helped: advised_commands::parse(&after),
            first,
            error: error.unwrap_or_default().to_owned(),
        })
    }

    /// True if a command of the line is the one that failed, and has not what helped.
    pub(super) fn is_needed_at(&self, line: &CommandLine, lesson: &Lesson, tree: Option<&WorkTree>) -> bool {
        let is_matched = |call: &Invocation<'_>| {
            let texts = texts_of(call);
            lesson.commands.iter().any(|glob| texts.iter().any(|text| GlobOf::Command.matches(glob, text)))
        };
        Self::is_any(line, |call, before| is_matched(call) && self.is_needed_for(call, before, tree))
    }

    /// True if such a command of the line is called without arguments, and nothing that helped is there.
    pub(super) fn is_open_at(
        &self,
        line: &CommandLine,
        tree: Option<&WorkTree>,
        is_of: impl Fn(&Invocation<'_>) -> bool,
    ) -> bool {
        Self::is_any(line, |call, before| {
            is_of(call) && call.arguments().is_empty() && !self.is_averted(call, before, tree)
        })
    }

    fn is_any(line: &CommandLine, is: impl Fn(&Invocation<'_>, &[Invocation<'_>]) -> bool) -> bool {
        let calls: Vec<Invocation<'_>> = line.invocations().collect();
        calls.iter().enumerate().any(|(at, call)| is(call, calls.get(..at).unwrap_or_default()))
    }

    fn is_needed_for(&self, call: &Invocation<'_>, before: &[Invocation<'_>], tree: Option<&WorkTree>) -> bool {
        if self.is_averted(call, before, tree) {
            return false;
        }
        // A merged lesson has patterns of other commands too.
        let Some(failed) = self.failed.invocations().find(|failed| failed.name == call.name) else { return true };
        let Some(helped) = self.helped.invocations().find(|helped| helped.form == failed.form) else { return true };
        let change = Change::between(&failed, &helped);
        let (own, call) = (failed.arguments(), call.arguments());
        !change.is_in(&arguments(&call), n_operands(&arguments(&own)))
            && change.is_together(&arguments(&call), &self.error)
    }

    /// True if what helped is there, other than in the arguments of the call: a step before, a place, a variable, an upstream.
    fn is_averted(&self, call: &Invocation<'_>, before: &[Invocation<'_>], tree: Option<&WorkTree>) -> bool {
        if self.is_prepared_by(before) || tree.is_some_and(|tree| self.is_prepared_in(tree)) {
            return true;
        }
        let Some(failed) = self.failed.invocations().find(|failed| failed.name == call.name) else { return false };
        let has_lead = |helped: &Invocation<'_>| has_lead_of(helped, &failed, call, before);
        let sets_upstream = |helped: &Invocation<'_>| Change::between(&failed, helped).sets_upstream();
        let helped = self.helped.invocations().find(|helped| helped.form == failed.form);
        is_elsewhere(&failed, &self.helped, call, before)
            || helped.as_ref().is_some_and(has_lead)
            || (helped.as_ref().is_some_and(sets_upstream) && !misses_upstream(call, before, tree))
    }

    /// True if the session has run what has to come first, as far as that lasts: a folder or a variable holds for one line.
    fn is_prepared_in(&self, tree: &WorkTree) -> bool {
        let lasts = !self.first.iter().any(CommandLine::sets_the_scene);
        let mut steps = self.first.iter().flat_map(CommandLine::invocations).peekable();
        lasts && steps.peek().is_some() && steps.all(|step| tree.has_run(&step))
    }

    /// True if the commands before in the line are those that have to come first.
    fn is_prepared_by(&self, before: &[Invocation<'_>]) -> bool {
        let is_known = |step: &Invocation<'_>| self.failed.invocations().any(|failed| failed.form == step.form);
        let steps: Vec<Invocation<'_>> = self.first.iter().flat_map(CommandLine::invocations).collect();
        let added: Vec<Invocation<'_>> = self.helped.invocations().filter(|step| !is_known(step)).collect();
        let mut all = steps.iter().chain(&added).peekable();
        all.peek().is_some() && all.all(|step| before.iter().any(|call| is_same_step(step, call)))
    }
}

/// False for a push of a branch that has an upstream, as far as the line and the session tell, or that does not push this branch:
/// what is forced was pushed before.
fn misses_upstream(push: &Invocation<'_>, before: &[Invocation<'_>], tree: Option<&WorkTree>) -> bool {
    let in_line = before.iter().rev().find_map(upstream_after);
    let upstream = in_line.or_else(|| tree.map(WorkTree::upstream)).unwrap_or_default();
    let is_forced = push.words.iter().any(|word| word.starts_with("--force") || *word == "-f");
    upstream != Upstream::Set && !is_forced && !sends_no_change(push)
}

/// True if the call names the place of a program that the shell did not find by its name, or the line activates an environment
/// before, which has it.
fn is_elsewhere(
    failed: &Invocation<'_>,
    helped: &CommandLine,
    call: &Invocation<'_>,
    before: &[Invocation<'_>],
) -> bool {
    let is_activated =
        |call: &Invocation<'_>| call.words.iter().any(|word| word.rsplit('/').next() == Some("activate"));
    let was_found = helped.invocations().any(|helped| helped.name == failed.name && helped.program.contains('/'));
    !failed.program.contains('/') && (call.program.contains('/') || (was_found && before.iter().any(is_activated)))
}

/// True if a call sets the variables that helped, or the line does before.
fn has_lead_of(
    helped: &Invocation<'_>,
    failed: &Invocation<'_>,
    call: &Invocation<'_>,
    before: &[Invocation<'_>],
) -> bool {
    let added: Vec<&str> = helped.lead.iter().copied().filter(|word| !failed.lead.contains(word)).collect();
    let name = |word: &str| word.split('=').next().unwrap_or_default().to_owned();
    let exported = before.iter().filter(|call| call.name == "export").flat_map(|call| &call.words);
    let set: Vec<String> = call.lead.iter().chain(exported).map(|word| name(word)).collect();
    !added.is_empty() && added.iter().all(|word| set.contains(&name(word)))
}

/// True if a call is the step: the same action; of a change of the folder, to a folder of that name.
fn is_same_step(step: &Invocation<'_>, call: &Invocation<'_>) -> bool {
    let sets_the_scene = CommandLine::parse(step.name).sets_the_scene();
    let is_same_place = |own: &str, word: &str| {
        let own = own.trim_start_matches("./").trim_end_matches('/');
        word.trim_end_matches('/').strip_suffix(own).is_some_and(|before| before.is_empty() || before.ends_with('/'))
    };
    let has_words = || step.words.iter().all(|own| call.words.iter().any(|word| is_same_place(own, word)));
    step.form == call.form && (!sets_the_scene || has_words())
}

/// What the command that helped has otherwise than the one that failed.
struct Change<'w> {
    removed: Vec<Argument<'w>>,
    kept: Vec<Argument<'w>>,
    added: Vec<Argument<'w>>,
}

impl<'w> Change<'w> {
    fn between(failed: &Invocation<'w>, helped: &Invocation<'w>) -> Self {
        let (failed, helped) = (arguments(&failed.arguments()), arguments(&helped.arguments()));
        let is_in = |one: &Argument<'_>, all: &[Argument<'_>]| all.iter().any(|other| other.text() == one.text());
        let (kept, removed): (Vec<_>, Vec<_>) = failed.iter().copied().partition(|own| is_in(own, &helped));
        let added = helped.into_iter().filter(|own| !is_in(own, &failed)).collect();
        Self { removed, kept, added }
    }

    fn sets_upstream(&self) -> bool {
        self.added.iter().any(|argument| matches!(argument.text(), "-u" | "--set-upstream"))
    }

    /// True if a call has all that was added and nothing of what was removed, or has operands, which the one that failed lacked.
    fn is_in(&self, call: &[Argument<'_>], n_failed_operands: usize) -> bool {
        let n_added = n_operands(&self.added);
        if n_failed_operands == 0 && self.removed.is_empty() && n_added > 0 && n_operands(call) >= n_added {
            return true;
        }
        // The value of a flag that was added can be another one.
        let values: Vec<&str> = self.added.iter().filter_map(|argument| argument.value()).collect();
        let is_value = |argument: &Argument<'_>| matches!(argument, Argument::AfterFlag(word) if values.contains(word));
        let mut needed = self.added.iter().filter(|argument| !is_value(argument)).peekable();
        let has_removed = self.removed.iter().any(|argument| argument.is_in(call));
        let is_changed = needed.peek().is_some() || !self.removed.is_empty();
        is_changed && !has_removed && needed.all(|argument| argument.is_in(call))
    }

    /// True if a call has what was wrong together with what was removed: what the error names, and operands that stand for several
    /// files. If the error names a flag that was removed, the flag was wrong by itself or with the flags that the error names too.
    fn is_together(&self, call: &[Argument<'_>], error: &str) -> bool {
        if self.removed.is_empty() {
            return true;
        }
        let is_blamed = self.removed.iter().any(|argument| argument.is_flag() && names_flag(error, argument.text()));
        let is_part = |argument: &&Argument<'_>| {
            let is_named = argument.is_flag() && names_flag(error, argument.text());
            let is_kept = |value: &str| self.removed.iter().all(|removed| removed.text() != value);
            let is_value_named = argument.value().is_some_and(|value| is_kept(value) && names_word(error, value));
            is_named || (!is_blamed && (is_value_named || argument.is_of_several()))
        };
        let has = |argument: &Argument<'_>| call.iter().any(|own| argument.is_like(*own));
        let with_value = |argument: &&Argument<'_>| argument.value().is_some_and(|value| names_word(error, value));
        let removed = self.removed.iter().filter(|argument| argument.is_flag()).filter(with_value);
        self.kept.iter().filter(is_part).chain(removed).all(has)
    }
}

/// The words of an error, without the marks around them.
fn words_of(error: &str) -> impl Iterator<Item = &str> {
    error.split_whitespace().map(|word| word.trim_matches(|c: char| "'\"`,:;()[].".contains(c)))
}

fn names_word(error: &str, word: &str) -> bool {
    word.len() > 1 && words_of(error).any(|said| said == word)
}

/// True if an error names a flag: `--lib`, `-lib` of a program with short dashes, `option -- A`.
fn names_flag(error: &str, flag: &str) -> bool {
    let name = |word: &str| word.split('=').next().unwrap_or_default().trim_start_matches('-').to_owned();
    let is_of_option = error.contains("option") && flag.len() == 2;
    words_of(error).any(|said| (said.starts_with('-') || is_of_option) && !said.is_empty() && name(said) == name(flag))
}
