//! Lessons whose patterns match a file or command of the request (docs/spec/playbook.md, 5.9).

use std::cell::LazyCell;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use adage_transcript::CommandLine;
use adage_transcript::command::Invocation;

use super::command_task::{Task, is_on_a_command};
use super::file_kind::Languages;
use super::mined_steps::{is_procedure, steps_in};
use super::precondition::{is_inapplicable_at, is_list, runs_step_of};
use super::remedy::Remedy;
use super::signs::{FailureSigns, is_repaired_by_an_edit};
use super::tiers::{Hit, Ranked, Search};
use super::{NoMatchReason, PatternRule, Query, Request};
use crate::lesson::{GlobOf, Lesson, LessonId, MAX_PATTERNS, n_literal};

/// The maximum number of lessons shown because a pattern matches.
const MAX_MATCHED: usize = 2;

/// A command line, each of its commands, and these with their scripts named without a folder: a pattern for `git push` also matches
/// `cd web && git push`.
pub(super) fn forms_of(line: String, parsed: &CommandLine) -> Vec<String> {
    std::iter::once(line).chain(parsed.invocations().flat_map(|call| texts_of(&call))).collect()
}

/// A command as patterns are compared with it: by the program's base name, and with its script named without a folder.
pub(super) fn texts_of(call: &Invocation<'_>) -> Vec<String> {
    let mut words = call.words.clone();
    let with = |words: &[&str]| std::iter::once(call.name).chain(words.iter().copied()).collect::<Vec<_>>().join(" ");
    let mut texts = vec![with(&words)];
    let script = words.first_mut().filter(|word| !word.starts_with('-'));
    if let Some(script) = script
        && let Some((_, file)) = script.rsplit_once('/').filter(|(_, file)| file.contains('.'))
    {
        *script = file;
        texts.push(with(&words));
    }
    texts
}

impl Request {
    /// The lesson's pattern that matches a file or command of the request; the most specific one if several do.
    fn matching<'a>(&self, lesson: &'a Lesson) -> Option<&'a str> {
        let of_paths = lesson.paths.iter().map(|glob| (GlobOf::Path, glob, &self.touched));
        let of_commands = lesson.commands.iter().map(|glob| (GlobOf::Command, glob, &self.run));
        of_paths
            .chain(of_commands)
            .take(MAX_PATTERNS)
            .filter(|(of, glob, texts)| of.fault(glob).is_none() && texts.iter().any(|text| of.matches(glob, text)))
            .map(|(_, glob, _)| glob.as_str())
            .max_by_key(|glob| n_literal(glob))
            .filter(|_| self.is_needed(lesson))
            .or_else(|| self.expected_for(lesson))
            .or_else(|| self.touches_for(lesson))
            .filter(|_| !self.is_inapplicable(lesson))
            .filter(|_| !is_repaired_by_an_edit(lesson) || self.recognizes(lesson))
    }

    /// A pattern of a list of checks, for a file of another ending in a language of the list.
    fn touches_for<'a>(&self, lesson: &'a Lesson) -> Option<&'a str> {
        let is_touched = || self.touched.iter().any(|path| Languages::of(lesson).have(path));
        lesson.paths.first().filter(|_| is_list(lesson) && is_touched()).map(String::as_str)
    }

    /// True if the failure of a lesson is there: the request's text has its signs, or an earlier text had.
    fn recognizes(&self, lesson: &Lesson) -> bool {
        let Query::About(text) = &self.query else { return self.recognized.contains(&lesson.id) };
        self.recognized.contains(&lesson.id) || FailureSigns::of(lesson).is_some_and(|signs| signs.are_in(text))
    }

    /// False if a lesson tells what failed and what helped, and no command of the request is that one without what helped.
    fn is_needed(&self, lesson: &Lesson) -> bool {
        let tree = self.tree.as_ref();
        Remedy::of(lesson).is_none_or(|remedy| self.lines.iter().any(|line| remedy.is_needed_at(line, lesson, tree)))
    }

    /// True if a lesson tells to format or check, and nothing was changed for which the request's lines need it. A step of a list
    /// that the task needs is enough.
    fn is_inapplicable(&self, lesson: &Lesson) -> bool {
        if self.recognized.contains(&lesson.id) {
            return false;
        }
        let is_asked = |line: &CommandLine| self.expected.contains(&lesson.id) && runs_step_of(lesson, line);
        let is_inapplicable =
            |line: &CommandLine| is_inapplicable_at(lesson, line, self.tree.as_ref()) && !is_asked(line);
        self.touched.is_empty() && !self.lines.is_empty() && self.lines.iter().all(is_inapplicable)
    }

    /// The steps of a procedure that a line runs, if it needs the rest of them: two acts of it, or one if the task needs it.
    fn steps_of(&self, lesson: &Lesson) -> Option<String> {
        let n_acts = if self.expected.contains(&lesson.id) { 1 } else { 2 };
        self.lines.iter().find_map(|line| steps_in(lesson, line, n_acts)).filter(|_| !self.is_inapplicable(lesson))
    }

    /// The pattern of an expected lesson whose program and subcommand are about to run.
    fn expected_for<'a>(&self, lesson: &'a Lesson) -> Option<&'a str> {
        // A program alone is run for many purposes.
        let is_subcommand = |stem: &&str| stem.trim().contains(' ');
        let remedy = Remedy::of(lesson);
        let runs = |stem: &str| {
            let glob = format!("{stem}*");
            let is_of = |call: &Invocation<'_>| texts_of(call).iter().any(|text| GlobOf::Command.matches(&glob, text));
            self.lines.iter().any(|line| match &remedy {
                Some(remedy) => remedy.is_open_at(line, self.tree.as_ref(), is_of),
                None => line.invocations().any(|call| is_of(&call)),
            })
        };
        let is_about_to_run = |glob: &&String| glob.split('*').next().filter(is_subcommand).is_some_and(runs);
        let is_expected = self.expected.contains(&lesson.id);
        lesson.commands.iter().filter(|_| is_expected).find(is_about_to_run).map(String::as_str)
    }

    /// The number of different words of the commands that a lesson's mistake has too: of several lessons about one program, that
    /// about these flags and files comes first.
    fn n_shared_with_mistake(&self, lesson: &Lesson) -> usize {
        let words = |text: &str| -> BTreeSet<String> {
            text.split(|c: char| c.is_whitespace() || matches!(c, '`' | '\'' | '"')).map(str::to_owned).collect()
        };
        let mistake = words(&lesson.mistake);
        let run: BTreeSet<String> = self.run.iter().flat_map(|line| words(line)).collect();
        run.intersection(&mistake).filter(|word| word.len() > 1).count()
    }
}

impl Search<'_> {
    /// Ranks lessons with a matching pattern before the others: expected lessons first, then the most specific patterns, then those
    /// whose mistake is most like the commands, the more frequent and the newer ones.
    pub(crate) fn with_matched(self, request: &Request, mut ranked: Ranked) -> Ranked {
        let seen = self.recall.visible(self.realm);
        ranked.recognized = seen.filter(|lesson| request.recognizes(lesson)).map(|lesson| lesson.id).collect();
        if request.patterns == PatternRule::CommandsLater {
            let Query::About(text) = &request.query else { return ranked };
            let task = LazyCell::new(|| Task::of(text));
            let is_named = |lesson: &Lesson| is_procedure(lesson) && task.names_goal_of(lesson);
            let seen = || self.recall.visible(self.realm);
            ranked.leave_to_commands(seen().filter(|lesson| is_named(lesson)).map(|lesson| lesson.id));
        }
        if request.patterns == PatternRule::Decide {
            let has_patterns = |lesson: &Lesson| !lesson.paths.is_empty() || !lesson.commands.is_empty();
            let is_else = |lesson: &Lesson| has_patterns(lesson) && request.matching(lesson).is_none();
            ranked.leave_out(|lesson| is_else(lesson) || is_procedure(lesson) || request.is_inapplicable(lesson));
        }
        if request.touched.is_empty() && request.run.is_empty() {
            return ranked;
        }
        let matched = self.matched(request);
        if matched.is_empty() {
            return ranked;
        }
        let hit = |(reason, lesson): (String, &Arc<Lesson>)| {
            let found = ranked.hits.iter().find(|hit| hit.lesson.id == lesson.id).cloned();
            Hit { matched: Some(reason), ..found.unwrap_or_else(|| Hit::of(Arc::clone(lesson))) }
        };
        let mut hits: Vec<Hit> = matched.into_iter().map(hit).collect();
        let is_new = |hit: &Hit| hits.iter().all(|known| known.lesson.id != hit.lesson.id);
        let others: Vec<Hit> = ranked.hits.iter().filter(|hit| is_new(hit)).cloned().collect();
        hits.extend(others);
        hits.truncate(self.limit);
        ranked.hits = hits;
        ranked.none_because = None;
        ranked
    }

    /// The lessons with a matching pattern, each with its pattern, best first; before them a procedure, with the steps that are run.
    fn matched(&self, request: &Request) -> Vec<(String, &Arc<Lesson>)> {
        let seen = || self.recall.visible(self.realm).filter(|lesson| !request.except.contains(&lesson.id));
        let mut matched: Vec<(String, &Arc<Lesson>)> =
            seen().filter_map(|lesson| Some((request.matching(lesson)?.to_owned(), lesson))).collect();
        // The sort is stable: lessons are visited newest first.
        matched.sort_by_cached_key(|(glob, lesson)| {
            let is_expected = request.expected.contains(&lesson.id);
            Reverse((is_expected, n_literal(glob), request.n_shared_with_mistake(lesson), lesson.frequency))
        });
        matched.truncate(MAX_MATCHED.min(self.limit));
        let procedures = seen().filter_map(|lesson| Some((request.steps_of(lesson)?, lesson)));
        // Of two that are equal the first is the newer one.
        let best = procedures.min_by_key(|(steps, _)| Reverse(n_literal(steps)));
        let best = best.filter(|(_, lesson)| matched.iter().all(|(_, known)| known.id != lesson.id));
        // It is about more of the line than a pattern, so it takes the tokens before them.
        best.into_iter().chain(matched).collect()
    }
}

impl Ranked {
    /// Leaves out mined lessons on a mistake in a command, and mined steps: they come before the command. Of procedures, those whose
    /// goal the request names are needed.
    fn leave_to_commands(&mut self, procedures: impl Iterator<Item = LessonId>) {
        let is_for_later = |lesson: &Lesson| is_on_a_command(lesson) || is_list(lesson);
        let later = self.hits.iter().filter(|hit| is_for_later(&hit.lesson)).map(|hit| hit.lesson.id);
        self.left_to_commands = later.chain(procedures).collect();
        self.leave_out(|lesson| is_for_later(lesson) || is_procedure(lesson));
    }

    fn leave_out(&mut self, is_left_out: impl Fn(&Lesson) -> bool) {
        let n_found = self.hits.len();
        self.hits.retain(|hit| !is_left_out(&hit.lesson));
        if self.hits.is_empty() && n_found > 0 {
            self.none_because = Some(NoMatchReason::LeftOut);
        }
    }
}
