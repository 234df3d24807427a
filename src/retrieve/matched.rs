//! Lessons whose patterns match a file or command of the request (docs/spec/playbook.md, 5.9).

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use adage_transcript::CommandLine;

use super::command_task::is_on_a_command;
use super::tiers::{Hit, Ranked, Search};
use super::{NoMatchReason, PatternRule, Request};
use crate::lesson::{GlobOf, Lesson, MAX_PATTERNS, MAX_TEXT_CHARS, n_literal};

/// The maximum number of lessons shown because a pattern matches.
const MAX_MATCHED: usize = 2;

/// A command line, each of its commands, and these with their scripts named without a folder: a pattern for `git push` also matches
/// `cd web && git push`.
pub(super) fn forms_of(mut line: String) -> Vec<String> {
    if let Some((end, _)) = line.char_indices().nth(MAX_TEXT_CHARS) {
        line.truncate(end);
    }
    let parsed = CommandLine::parse(&line);
    let mut forms = vec![line];
    for (program, mut words) in parsed.commands() {
        let with = |words: &[&str]| std::iter::once(program).chain(words.iter().copied()).collect::<Vec<_>>().join(" ");
        forms.push(with(&words));
        let Some(script) = words.first_mut().filter(|word| !word.starts_with('-')) else { continue };
        let Some((_, file)) = script.rsplit_once('/').filter(|(_, file)| file.contains('.')) else { continue };
        *script = file;
        forms.push(with(&words));
    }
    forms
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
            .or_else(|| self.expected_for(lesson))
    }

    /// The pattern of an expected lesson of which the program and the subcommand are about to run.
    fn expected_for<'a>(&self, lesson: &'a Lesson) -> Option<&'a str> {
        // A program alone is run for many purposes.
        let is_subcommand = |stem: &&str| stem.trim().contains(' ');
        let runs = |stem: &str| self.run.iter().any(|line| GlobOf::Command.matches(&format!("{stem}*"), line));
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
        if request.patterns == PatternRule::CommandsLater {
            ranked.leave_to_commands();
        }
        if request.patterns == PatternRule::Decide {
            let has_patterns = |lesson: &Lesson| !lesson.paths.is_empty() || !lesson.commands.is_empty();
            let is_else = |lesson: &Lesson| has_patterns(lesson) && request.matching(lesson).is_none();
            ranked.leave_out(is_else);
        }
        if request.touched.is_empty() && request.run.is_empty() {
            return ranked;
        }
        let matched = self.matched(request);
        if matched.is_empty() {
            return ranked;
        }
        let hit = |(glob, lesson): (&str, &Arc<Lesson>)| {
            let found = ranked.hits.iter().find(|hit| hit.lesson.id == lesson.id).cloned();
            Hit { matched: Some(glob.to_owned()), ..found.unwrap_or_else(|| Hit::of(Arc::clone(lesson))) }
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

    /// The lessons with a matching pattern, each with its pattern, best first.
    fn matched<'a>(&'a self, request: &Request) -> Vec<(&'a str, &'a Arc<Lesson>)> {
        let mut matched: Vec<(&str, &Arc<Lesson>)> = self
            .recall
            .visible(self.realm)
            .filter(|lesson| !request.except.contains(&lesson.id))
            .filter_map(|lesson| Some((request.matching(lesson)?, lesson)))
            .collect();
        // The sort is stable: lessons are visited newest first.
        matched.sort_by_cached_key(|(glob, lesson)| {
            let is_expected = request.expected.contains(&lesson.id);
            Reverse((is_expected, n_literal(glob), request.n_shared_with_mistake(lesson), lesson.frequency))
        });
        matched.truncate(MAX_MATCHED.min(self.limit));
        matched
    }
}

impl Ranked {
    /// Leaves out mined lessons on a mistake in a command: they come before the command.
    fn leave_to_commands(&mut self) {
        let later = self.hits.iter().filter(|hit| is_on_a_command(&hit.lesson));
        self.left_to_commands = later.map(|hit| hit.lesson.id).collect();
        self.leave_out(is_on_a_command);
    }

    fn leave_out(&mut self, is_left_out: impl Fn(&Lesson) -> bool) {
        let n_found = self.hits.len();
        self.hits.retain(|hit| !is_left_out(&hit.lesson));
        if self.hits.is_empty() && n_found > 0 {
            self.none_because = Some(NoMatchReason::LeftOut);
        }
    }
}
