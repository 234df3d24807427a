//! Lessons whose patterns match a file or command of the request (docs/spec/playbook.md, 5.9).

use std::cmp::Reverse;
use std::sync::Arc;

use super::Request;
use super::tiers::{Hit, Ranked, Search};
use crate::lesson::{GlobOf, Lesson, matches_everything, n_literal};

/// The maximum number of lessons shown because a pattern matches.
const MAX_MATCHED: usize = 2;

impl Request {
    /// The lesson's pattern that matches a file or command of the request; the most specific one if several do.
    fn matching<'a>(&self, lesson: &'a Lesson) -> Option<&'a str> {
        let of_paths = lesson.paths.iter().map(|glob| (GlobOf::Path, glob, &self.touched));
        let of_commands = lesson.commands.iter().map(|glob| (GlobOf::Command, glob, &self.run));
        of_paths
            .chain(of_commands)
            .filter(|(of, glob, texts)| !matches_everything(glob) && texts.iter().any(|text| of.matches(glob, text)))
            .map(|(_, glob, _)| glob.as_str())
            .max_by_key(|glob| n_literal(glob))
    }

    /// True for a lesson whose patterns are of the kind that this request names.
    fn asks_for_patterns_of(&self, lesson: &Lesson) -> bool {
        let asks_for_paths = !self.touched.is_empty() && !lesson.paths.is_empty();
        asks_for_paths || (!self.run.is_empty() && !lesson.commands.is_empty())
    }
}

impl Search<'_> {
    /// Ranks lessons with a matching pattern before the others: the most specific patterns first, then the newer lessons.
    pub(crate) fn with_matched(self, request: &Request, mut ranked: Ranked) -> Ranked {
        if request.touched.is_empty() && request.run.is_empty() {
            return ranked;
        }
        let mut matched: Vec<(&str, &Arc<Lesson>)> = self
            .recall
            .visible(self.realm)
            .filter(|lesson| !request.except.contains(&lesson.id))
            .filter_map(|lesson| Some((request.matching(lesson)?, lesson)))
            .collect();
        if request.patterns_decide {
            let is_else = |lesson: &Lesson| request.asks_for_patterns_of(lesson) && request.matching(lesson).is_none();
            ranked.hits.retain(|hit| !is_else(&hit.lesson));
        }
        // The sort is stable: lessons are visited newest first.
        matched.sort_by_key(|(glob, _)| Reverse(n_literal(glob)));
        matched.truncate(MAX_MATCHED.min(self.limit));
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
}
