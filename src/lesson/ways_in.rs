//! The ways in of a lesson: how a later task may ask for it (docs/spec/playbook.md, 2.1).

use std::collections::BTreeSet;

use serde::Serialize;

use super::Refusal;

/// A lesson has at most so many ways in, each of at most so many characters.
pub(crate) const MAX_WAYS_IN: usize = 12;
pub(crate) const MAX_WAY_CHARS: usize = 200;

/// How a later task may ask for a lesson, besides its trigger. They decide when the lesson is shown, and are never shown in a
/// prompt. Together at most 12, each of at most 200 characters.
///
/// ```
/// use adage::{Playbook, build_lesson};
///
/// # let folder = tempfile::tempdir()?;
/// let playbook = Playbook::builder(folder.path()).without_embedder().open()?;
/// let lesson = build_lesson("restoring the document store", "Stop the writers first.")
///     .names(["mongod"])
///     .situations(["bring back last night's backup"])
///     .signs(["WiredTiger error: file is already in use"]);
/// playbook.learn_lesson(lesson)?;
/// assert_eq!(playbook.get_playbook_context("mongod")?.lessons.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WaysIn {
    /// What it is called: short aliases, found where a query contains one whole, whatever its case.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// How a task may put it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub situations: Vec<String>,
    /// By what it is recognised: the text of an error, a file, an effect.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub signs: Vec<String>,
}

impl WaysIn {
    /// True if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len() + self.situations.len() + self.signs.len()
    }

    /// All texts.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &String> {
        self.names.iter().chain(&self.situations).chain(&self.signs)
    }

    pub(crate) fn texts_mut(&mut self) -> impl Iterator<Item = &mut String> {
        self.names.iter_mut().chain(&mut self.situations).chain(&mut self.signs)
    }

    /// Those that are compared by meaning, each with a vector of its own. Names are compared as words alone.
    pub(crate) fn embedded(&self) -> impl Iterator<Item = &String> {
        self.situations.iter().chain(&self.signs).take(MAX_WAYS_IN)
    }

    /// # Errors
    /// `TooManyWaysIn`, `WayInTooLong`.
    pub(crate) fn check_limits(&self) -> Result<(), Refusal> {
        if self.len() > MAX_WAYS_IN {
            return Err(Refusal::TooManyWaysIn { n_ways: self.len(), max: MAX_WAYS_IN });
        }
        match self.texts().map(|text| text.chars().count()).find(|n_chars| *n_chars > MAX_WAY_CHARS) {
            Some(n_chars) => Err(Refusal::WayInTooLong { n_chars, max: MAX_WAY_CHARS }),
            None => Ok(()),
        }
    }

    /// Leaves out what is not fit, and what is beyond the limits.
    pub(crate) fn keep_fit(&mut self, is_fit: impl Fn(&str) -> bool) {
        let is_kept = |text: &String| text.chars().count() <= MAX_WAY_CHARS && is_fit(text);
        self.lists().into_iter().for_each(|list| list.retain(is_kept));
        let mut room = MAX_WAYS_IN;
        for list in self.lists() {
            list.truncate(room);
            room -= list.len();
        }
    }

    /// Adds those of another lesson, as far as there is room. One that says the same as one that is there, or as the trigger, is not
    /// added; `is_near` compares two texts by meaning.
    pub(crate) fn add(&mut self, other: &Self, trigger: &str, is_near: &dyn Fn(&str, &str) -> bool) {
        self.names = distinct(&self.names, &other.names);
        let mut known: Vec<String> = self.embedded().cloned().chain([trigger.to_owned()]).collect();
        let mut is_new = |text: &&String| {
            let is_new = !known.iter().any(|known| folded(known) == folded(text) || is_near(known, text));
            known.extend(is_new.then(|| (*text).clone()));
            is_new
        };
        self.situations.extend(other.situations.iter().filter(&mut is_new).cloned());
        self.signs.extend(other.signs.iter().filter(&mut is_new).cloned());
        self.keep_fit(|_| true);
    }

    /// Adds how a task put it. If there is no room, the oldest situation makes room.
    pub(crate) fn add_situation(&mut self, text: &str, trigger: &str, is_near: &dyn Fn(&str, &str) -> bool) {
        if self.len() >= MAX_WAYS_IN && !self.situations.is_empty() {
            self.situations.remove(0);
        }
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let situation = Self { situations: vec![within_limit(&text)], ..Self::default() };
        self.add(&situation, trigger, is_near);
    }

    fn lists(&mut self) -> [&mut Vec<String>; 3] {
        [&mut self.names, &mut self.situations, &mut self.signs]
    }
}

fn distinct(ours: &[String], theirs: &[String]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    ours.iter().chain(theirs).filter(|text| seen.insert(folded(text))).cloned().collect()
}

/// The words of a text in lower case, without the marks around them.
fn folded(text: &str) -> Vec<String> {
    let words =
        text.split_whitespace().map(|word| word.trim_matches(|c: char| c.is_ascii_punctuation()).to_lowercase());
    words.filter(|word| !word.is_empty()).collect()
}

/// The beginning of a text, up to the last whole word within the limit.
fn within_limit(text: &str) -> String {
    let Some((end, _)) = text.char_indices().nth(MAX_WAY_CHARS) else { return text.to_owned() };
    let start = text.get(..end).unwrap_or_default();
    start.rsplit_once(' ').map_or(start, |(whole, _)| whole).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ways(names: &[&str], situations: &[&str], signs: &[&str]) -> WaysIn {
        let owned = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
        WaysIn { names: owned(names), situations: owned(situations), signs: owned(signs) }
    }

    fn numbered(n_ways: usize) -> Vec<String> {
        (0..n_ways).map(|n| format!("case {n}a")).collect()
    }

    #[test]
    fn too_many_and_too_long_ways_are_refused_and_left_out() {
        let long = "word ".repeat(50);
        let many = WaysIn { situations: numbered(13), ..WaysIn::default() };
        for (ways, refused) in [
            (ways(&["k8s"], &["roll out the shop"], &["CrashLoopBackOff"]), None),
            (many, Some(Refusal::TooManyWaysIn { n_ways: 13, max: 12 })),
            (ways(&[], &[&long], &[]), Some(Refusal::WayInTooLong { n_chars: 250, max: 200 })),
        ] {
            assert_eq!(ways.check_limits().err(), refused, "{ways:?}");
            let mut fit = ways.clone();
            fit.keep_fit(|_| true);
            assert_eq!((fit.check_limits(), fit == ways), (Ok(()), refused.is_none()));
        }
        let mut some = ways(&["a"], &["b"], &["c"]);
        some.keep_fit(|text| text != "b");
        assert_eq!(some, ways(&["a"], &[], &["c"]));
    }

    #[test]
    fn ways_of_another_lesson_are_added_once_and_within_the_limit() {
        let mut ours = ways(&["K8s"], &["roll out the shop"], &[]);
        let theirs = ways(&["k8s", "kube"], &["Roll out the shop!", "deploying", "put it online"], &["deploying"]);
        ours.add(&theirs, "Deploying", &|one, other| one == "roll out the shop" && other == "put it online");
        assert_eq!(ours, ways(&["K8s", "kube"], &["roll out the shop"], &[]));
        ours.add(&WaysIn { signs: numbered(20), ..WaysIn::default() }, "", &|_, _| false);
        assert_eq!((ours.len(), ours.signs.len()), (12, 9));
    }

    #[test]
    fn what_a_task_said_takes_the_place_of_the_oldest_situation() {
        let mut full = WaysIn { situations: numbered(12), ..WaysIn::default() };
        full.add_situation("push\n my  branch", "pushing", &|_, _| false);
        assert_eq!(full.situations.last().map(String::as_str), Some("push my branch"));
        assert_eq!((full.len(), full.situations[0].as_str()), (12, "case 1a"));
        full.add_situation(&"word ".repeat(100), "pushing", &|_, _| false);
        assert_eq!(full.situations.last().map(|text| text.chars().count()), Some(199));
    }
}
