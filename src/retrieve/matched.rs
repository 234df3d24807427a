//! Lessons whose patterns match a file or command of the request (docs/spec/playbook.md, 5.9).

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use adage_transcript::CommandLine;
use adage_transcript::command::Invocation;

use super::remedy::has_remedy;
use super::tiers::{Hit, Ranked, Search};
use super::{NoMatchReason, Request};
use crate::lesson::{CommandRecovery, GlobOf, Lesson, MAX_PATTERNS, n_literal};

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
        let is_by_edit = lesson.recovery.as_ref().is_some_and(CommandRecovery::is_by_edit);
        let commands = lesson.commands.iter().filter(|_| !is_by_edit);
        let of_commands = commands.map(|glob| (GlobOf::Command, glob, &self.run));
        of_paths
            .chain(of_commands)
            .take(MAX_PATTERNS)
            .filter(|(of, glob, texts)| of.fault(glob).is_none() && texts.iter().any(|text| of.matches(glob, text)))
            .map(|(_, glob, _)| glob.as_str())
            .max_by_key(|glob| n_literal(glob))
    }

    /// True if a command line of the request has what mended the failure that the lesson is about.
    fn has_remedy_of(&self, lesson: &Lesson) -> bool {
        lesson.recovery.as_ref().is_some_and(|recovery| self.lines.iter().any(|line| has_remedy(line, recovery)))
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
    /// Ranks lessons with a matching pattern before the others: the most specific patterns first, then those whose mistake is most like
    /// the commands, the more frequent and the newer ones. A recovery is left out if another
    /// command is named, or if the commands have its remedy.
    pub(crate) fn with_matched(self, request: &Request, mut ranked: Ranked) -> Ranked {
        if request.touched.is_empty() && request.run.is_empty() {
            ranked.leave_out(|lesson| request.leaves_recoveries && lesson.comes_before_its_command());
            return ranked;
        }
        ranked.leave_out(|lesson| lesson.recovery.is_some() && request.matching(lesson).is_none());
        ranked.leave_out(|lesson| request.has_remedy_of(lesson));
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
        Ranked { hits, none_because: None, ..ranked }
    }

    /// The lessons with a matching pattern, each with its pattern, best first.
    fn matched(&self, request: &Request) -> Vec<(&str, &Arc<Lesson>)> {
        let seen = self.recall.visible(self.realm).filter(|lesson| !request.except.contains(&lesson.id));
        let matched = seen.filter_map(|lesson| Some((request.matching(lesson)?, lesson)));
        let mut matched: Vec<(&str, &Arc<Lesson>)> =
            matched.filter(|(_, lesson)| !request.has_remedy_of(lesson)).collect();
        // The sort is stable: lessons are visited newest first.
        matched.sort_by_cached_key(|(glob, lesson)| {
            Reverse((n_literal(glob), request.n_shared_with_mistake(lesson), lesson.frequency))
        });
        matched.truncate(MAX_MATCHED.min(self.limit));
        matched
    }
}

impl Ranked {
    fn leave_out(&mut self, is_left_out: impl Fn(&Lesson) -> bool) {
        let n_found = self.hits.len();
        self.hits.retain(|hit| !is_left_out(&hit.lesson));
        if self.hits.is_empty() && n_found > 0 {
            self.none_because = Some(NoMatchReason::LeftOut);
        }
    }
}
