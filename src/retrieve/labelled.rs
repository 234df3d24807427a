//! A user's labelled queries, each with the lesson that should answer it.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};

use crate::error::calibrate::Error;
use crate::lesson::LessonRef;

/// The minimum number of queries for a fit.
const NEEDED: usize = 40;
/// The minimum number of answered and of unanswered queries.
const OF_A_KIND: usize = 5;

/// A query with the lesson that answers it, or the statement that none does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelledPair {
    query: String,
    lesson: Option<LessonRef>,
    /// The number of the line that it was read from.
    line: Option<usize>,
}

/// A line of a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    query: String,
    /// Required: a missing key could mean either an error or no lesson.
    #[serde(deserialize_with = "text_or_null")]
    lesson: Option<String>,
}

fn text_or_null<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    Option::deserialize(deserializer)
}

impl LabelledPair {
    /// A query that this lesson answers. If several lessons answer a query, give one pair for each.
    pub fn answered_by(query: impl Into<String>, lesson: impl Into<LessonRef>) -> Self {
        Self { query: query.into(), lesson: Some(lesson.into()), line: None }
    }

    /// A query that no lesson answers.
    pub fn unanswered(query: impl Into<String>) -> Self {
        Self { query: query.into(), lesson: None, line: None }
    }

    /// Reads JSON lines `{"query": "…", "lesson": "id or trigger"}`; the lesson is `null` if none answers. Blank lines are
    /// skipped but counted.
    ///
    /// # Errors
    /// [`Error::Line`] for the first line with another format.
    pub fn read_lines(text: &str) -> Result<Vec<Self>, Error> {
        let lines = (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty());
        let pair = |(line, text)| {
            let row: Row = serde_json::from_str(text).map_err(|source| Error::Line { line, source })?;
            Ok(Self { query: row.query, lesson: row.lesson.map(LessonRef::from), line: Some(line) })
        };
        lines.map(pair).collect()
    }
}

/// A query with all lessons that answer it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) line: usize,
    pub(crate) query: String,
    /// Empty if no lesson answers.
    pub(crate) lessons: Vec<LessonRef>,
}

/// Each query once, in the order of the lines.
///
/// # Errors
/// [`Error::Blank`], [`Error::Contradiction`], [`Error::TooFew`].
pub(crate) fn distinct(pairs: &[LabelledPair]) -> Result<Vec<Asked>, Error> {
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    let mut asked: Vec<Asked> = Vec::new();
    for (place, pair) in (1..).zip(pairs) {
        let (line, query) = (pair.line.unwrap_or(place), pair.query.trim());
        if query.is_empty() {
            return Err(Error::Blank { line });
        }
        let lessons: Vec<LessonRef> = pair.lesson.iter().cloned().collect();
        let Some(same) = known.get(query).and_then(|at| asked.get_mut(*at)) else {
            known.insert(query, asked.len());
            asked.push(Asked { line, query: query.to_owned(), lessons });
            continue;
        };
        if same.lessons.is_empty() != lessons.is_empty()
            && let Some(lesson) = same.lessons.first().or(lessons.first()).cloned()
        {
            return Err(Error::Contradiction { line, other: same.line, query: query.to_owned(), lesson });
        }
        same.lessons.extend(lessons);
    }
    let wanting = asked.iter().filter(|asked| !asked.lessons.is_empty()).count();
    let wanting_none = asked.len() - wanting;
    if asked.len() < NEEDED || wanting.min(wanting_none) < OF_A_KIND {
        return Err(Error::TooFew { wanting, wanting_none, needed: NEEDED, of_a_kind: OF_A_KIND });
    }
    Ok(asked)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs with this many different queries of either kind.
    fn pairs(wanting: usize, wanting_none: usize) -> Vec<LabelledPair> {
        let some = (0..wanting).map(|number| LabelledPair::answered_by(format!("some {number}"), "deploying"));
        some.chain((0..wanting_none).map(|number| LabelledPair::unanswered(format!("none {number}")))).collect()
    }

    fn check(pairs: &[LabelledPair], expected: Result<usize, &str>) {
        match (distinct(pairs), expected) {
            (Ok(asked), Ok(n)) => assert_eq!(asked.len(), n),
            (Err(error), Err(expected)) => assert_eq!(error.to_string(), expected),
            (found, expected) => panic!("{found:?}, not {expected:?}"),
        }
    }

    #[test]
    fn at_least_forty_queries_and_five_of_either_kind_are_required() {
        check(&pairs(35, 5), Ok(40));
        check(&pairs(5, 35), Ok(40));
        check(
            &pairs(20, 19),
            Err(
                "39 queries, 20 that a lesson answers and 19 that none does; it takes 40, 5 of either kind: 1 are missing, 0 that a lesson answers and 0 that none does",
            ),
        );
        check(
            &pairs(1, 50),
            Err(
                "51 queries, 1 that a lesson answers and 50 that none does; it takes 40, 5 of either kind: 0 are missing, 4 that a lesson answers and 0 that none does",
            ),
        );
    }

    #[test]
    fn a_query_counts_once_with_all_its_lessons_and_may_not_contradict_itself() {
        let again = LabelledPair::answered_by(" some 0 ", "releasing");
        check(
            &[pairs(20, 19), vec![again.clone()]].concat(),
            Err(
                "39 queries, 20 that a lesson answers and 19 that none does; it takes 40, 5 of either kind: 1 are missing, 0 that a lesson answers and 0 that none does",
            ),
        );
        let asked = distinct(&[pairs(20, 20), vec![again]].concat()).unwrap();
        assert_eq!(asked[0].lessons, ["deploying".into(), "releasing".into()]);
        check(
            &[pairs(20, 20), vec![LabelledPair::unanswered("some 1")]].concat(),
            Err("lines 41 and 2 contradict each other: \"some 1\" names trigger \"deploying\" and no lesson"),
        );
        check(
            &[pairs(20, 20), vec![LabelledPair::answered_by("none 0", "deploying")]].concat(),
            Err("lines 41 and 21 contradict each other: \"none 0\" names trigger \"deploying\" and no lesson"),
        );
        check(&[LabelledPair::unanswered("  ")], Err("line 1: the query is blank"));
    }

    #[test]
    fn lines_are_read_strictly_and_named_by_their_number() {
        let read =
            LabelledPair::read_lines("{\"query\": \"a\", \"lesson\": \"t\"}\n\n{\"query\": \"b\", \"lesson\": null}\n")
                .unwrap();
        let expected = [LabelledPair::answered_by("a", "t"), LabelledPair::unanswered("b")];
        let lines = [Some(1), Some(3)];
        assert_eq!(
            read,
            expected.into_iter().zip(lines).map(|(pair, line)| LabelledPair { line, ..pair }).collect::<Vec<_>>()
        );
        for bad in [
            "{\"query\": \"a\"}",
            "[]",
            "{\"query\": 1, \"lesson\": null}",
            "{\"query\": \"a\", \"lesson\": null, \"id\": 1}",
            "x",
        ] {
            let error = LabelledPair::read_lines(&format!("\n{bad}")).unwrap_err();
            assert!(matches!(error, Error::Line { line: 2, .. }), "{bad}: {error}");
        }
    }
}
