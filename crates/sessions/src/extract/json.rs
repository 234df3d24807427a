//! Parses an answer that is a JSON object.

use serde_json::{Map, Value};

use super::reply::{
    Citation, Confidence, Malformed, Proposal, Proposals, RecoveryProposal, Reply, Unreadable, decides_to_learn,
    excerpt, lesson_number, turn_number,
};
use adage::lesson::WaysIn;

/// The maximum number of positions that are tried as the beginning of the object.
const MAX_STARTS: usize = 32;

/// Reads the only object with a decision. Lines before and after it (a code fence, a sentence) are ignored; a second object
/// with a decision makes the answer invalid.
pub(super) fn read(reply: &str) -> Result<Reply, Unreadable> {
    let object = object(reply)?;
    let word = object.get("decision").and_then(Value::as_str).unwrap_or_default();
    if !decides_to_learn(word)? {
        return Ok(Reply::Nothing);
    }
    let list = |key: &str| match object.get(key) {
        Some(Value::Array(list)) => Ok(Some(list)),
        None | Some(Value::Null) => Ok(None),
        Some(_) => Err(Unreadable::NoList),
    };
    match (list("lessons")?, list("recoveries")?) {
        (None, None) => Err(Unreadable::NoList),
        (lessons, recoveries) => Ok(Reply::Learn(Proposals {
            lessons: lessons.into_iter().flatten().map(proposal).collect(),
            recoveries: recoveries.into_iter().flatten().map(recovery).collect(),
        })),
    }
}

fn object(reply: &str) -> Result<Map<String, Value>, Unreadable> {
    let mut found: Option<Map<String, Value>> = None;
    let mut reason = "there is no JSON object".to_owned();
    let mut end = 0;
    for (start, _) in starts(reply).take(MAX_STARTS) {
        // Skips positions inside an object that was read already.
        let Some(text) = reply.get(start..).filter(|_| start >= end) else { continue };
        let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
        match values.next() {
            Some(Ok(Value::Object(object))) => {
                end = start + values.byte_offset();
                if !object.get("decision").is_some_and(Value::is_string) {
                    "the object has no decision".clone_into(&mut reason);
                } else if found.replace(object).is_some() {
                    return Err(Unreadable::Undecided);
                }
            }
            Some(Err(error)) => reason = error.to_string(),
            _ => {}
        }
    }
    found.ok_or(Unreadable::NoDecision { reason })
}

/// Where a line begins with a brace.
fn starts(reply: &str) -> impl Iterator<Item = (usize, char)> {
    let is_start = |place: usize| {
        reply.get(..place).is_some_and(|before| before.trim_end_matches([' ', '\t']).ends_with('\n'))
            || reply.get(..place).is_some_and(|before| before.trim().is_empty())
    };
    reply.char_indices().filter(move |(place, c)| *c == '{' && is_start(*place))
}

/// An object of a list, and how to refuse it.
struct Fields<'v> {
    row: &'v Map<String, Value>,
    excerpt: String,
}

impl<'v> Fields<'v> {
    fn of(value: &'v Value) -> Result<Self, Malformed> {
        let excerpt = excerpt(&value.to_string());
        match value {
            Value::Object(row) => Ok(Self { row, excerpt }),
            _ => Err(Malformed { excerpt, reason: "it is not an object".to_owned() }),
        }
    }

    fn malformed(&self, reason: String) -> Malformed {
        Malformed { excerpt: self.excerpt.clone(), reason }
    }

    fn text(&self, key: &str) -> Result<String, Malformed> {
        match self.row.get(key) {
            None | Some(Value::Null) => Ok(String::new()),
            Some(Value::String(text)) => Ok(text.trim().to_owned()),
            Some(_) => Err(self.malformed(format!("its {key} is not text"))),
        }
    }

    fn list(&self, key: &str) -> Result<Vec<String>, Malformed> {
        match self.row.get(key) {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(texts)) => Ok(texts.iter().filter_map(Value::as_str).map(str::to_owned).collect()),
            Some(_) => Err(self.malformed(format!("its {key} are not a list"))),
        }
    }

    fn ways_in(&self) -> Result<WaysIn, Malformed> {
        Ok(WaysIn { names: self.list("names")?, situations: self.list("situations")?, signs: self.list("signs")? })
    }

    /// A turn with a quote; several, where a list is given.
    fn citations(&self, key: &str) -> Result<Vec<Citation>, Malformed> {
        let list = match self.row.get(key) {
            None | Some(Value::Null) => return Err(self.malformed(format!("it has no {key}"))),
            Some(Value::Array(list)) => list.as_slice(),
            Some(one) => std::slice::from_ref(one),
        };
        let cited = |value: &Value| {
            let turn = match value.get("turn") {
                Some(Value::Number(number)) => number.as_u64().and_then(|number| usize::try_from(number).ok()),
                Some(Value::String(text)) => turn_number(text),
                _ => None,
            };
            let quote = value.get("quote").map_or(Some(""), Value::as_str);
            let cited = turn.zip(quote).map(|(turn, quote)| Citation { turn, quote: quote.to_owned() });
            cited.ok_or_else(|| self.malformed(format!("its {key} is not a turn with a quote")))
        };
        list.iter().map(cited).collect()
    }

    fn citation(&self, key: &str) -> Result<Citation, Malformed> {
        match <[Citation; 1]>::try_from(self.citations(key)?) {
            Ok([only]) => Ok(only),
            Err(several) => Err(self.malformed(format!("its {key} has {} turns instead of one", several.len()))),
        }
    }
}

fn recovery(value: &Value) -> Result<RecoveryProposal, Malformed> {
    let fields = Fields::of(value)?;
    Ok(RecoveryProposal {
        trigger: fields.text("trigger")?,
        mistake: fields.text("mistake")?,
        solution: fields.text("solution")?,
        tags: fields.list("tags")?,
        ways_in: fields.ways_in()?,
        failure: fields.citation("failure")?,
        remedies: fields.citations("remedy")?,
        success: fields.citation("success")?,
    })
}

fn proposal(lesson: &Value) -> Result<Proposal, Malformed> {
    let fields = Fields::of(lesson)?;
    let supersedes = match fields.row.get("supersedes") {
        Some(Value::Number(number)) => number.as_u64().and_then(|number| usize::try_from(number).ok()),
        Some(Value::String(text)) => lesson_number(text),
        _ => None,
    };
    Ok(Proposal {
        trigger: fields.text("trigger")?,
        rule: fields.text("rule")?,
        mistake: fields.text("mistake")?,
        confidence: Confidence::parse(&fields.text("confidence")?),
        tags: fields.list("tags")?,
        ways_in: fields.ways_in()?,
        // As it was written: blanks are folded where it is compared.
        evidence: fields.text("evidence")?,
        supersedes,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::extract::reply;

    fn check(reply: &str, expected: &str) {
        let found = match reply::read(reply) {
            Ok(Reply::Nothing) => "nothing".to_owned(),
            Ok(Reply::Learn(Proposals { lessons, .. })) => {
                let told = lessons.iter().map(|lesson| match lesson {
                    Ok(proposal) => proposal.rule.clone(),
                    Err(malformed) => format!("! {}", malformed.reason),
                });
                told.collect::<Vec<_>>().join(", ")
            }
            Err(why) => format!("unreadable: {why}"),
        };
        assert_eq!(found, expected, "{reply}");
    }

    #[test]
    fn the_decision_comes_first() {
        let lessons = r#""lessons": [{"trigger": "t", "rule": "a", "evidence": "e"}, {"rule": "b"}]"#;
        check(&format!(r#"{{"decision": "LEARN", {lessons}}}"#), "a, b");
        check(&format!(r#"{{{lessons}, "decision": "LEARN"}}"#), "a, b");
        for word in ["NOTHING", "SKIP", "NONE"] {
            check(&format!(r#"{{"decision": "{word}", {lessons}}}"#), "nothing");
        }
        check(r#"{"decision": "LEARN", "lessons": []}"#, "");
        for word in ["learn", "MAYBE", "NOT LEARN", ""] {
            let why = format!("unreadable: its decision is {word:?}, which is neither LEARN nor NOTHING");
            check(&format!(r#"{{"decision": "{word}", {lessons}}}"#), &why);
        }
        check(&format!("{{{lessons}}}"), "unreadable: it has no decision: the object has no decision");
        check(
            &format!(r#"{{"decision": true, {lessons}}}"#),
            "unreadable: it has no decision: the object has no decision",
        );
        check(r#"{"decision": "LEARN"}"#, "unreadable: it decides LEARN, and its lessons are not a list");
        check(
            r#"{"decision": "LEARN", "lessons": {}}"#,
            "unreadable: it decides LEARN, and its lessons are not a list",
        );
    }

    #[test]
    fn what_stands_around_the_object_does_not_count() {
        let object = r#"{"decision": "LEARN", "lessons": [{"rule": "a"}]}"#;
        check(&format!("```json\n{object}\n```"), "a");
        check(&format!("Here it is:\n\n  {object}\n\nI hope it helps."), "a");
        check(&format!("<think>\n{{\"decision\": \"NOTHING\"}} or so\n</think>\n{object}"), "a");
        check(&format!("{object}\n{object}"), "unreadable: it decides more than once");
        // Not where it is quoted within a line, and not within another object.
        check(&format!("I would say {object}"), "unreadable: it has no decision: there is no JSON object");
        check(&format!("{{\"example\":\n{object}\n}}"), "unreadable: it has no decision: the object has no decision");
    }

    #[test]
    fn what_is_broken_is_told() {
        check("", "unreadable: it is empty");
        check("<think>hm</think> ", "unreadable: it is empty");
        check("I cannot help with that.", "unreadable: it has no decision: there is no JSON object");
        let cut = r#"{"decision": "LEARN", "lessons": [{"rule": "a"#;
        check(cut, "unreadable: it has no decision: EOF while parsing a string at line 1 column 45");
        check(
            r#"{"decision": "LEARN", "lessons": [7, {"rule": ["x"]}, {"tags": "a"}, {"rule": "ok"}]}"#,
            "! it is not an object, ! its rule is not text, ! its tags are not a list, ok",
        );
    }

    #[test]
    fn fields_are_read_leniently_where_nothing_hangs_on_them() {
        let reply = json!({"decision": "LEARN", "lessons": [{
            "trigger": " t ", "rule": "r", "mistake": null, "confidence": "High", "tags": ["a", 1, "b"],
            "evidence": "say \"x > y\"", "supersedes": "L2", "more": {},
        }]});
        let expected = Proposal {
            trigger: "t".into(),
            rule: "r".into(),
            tags: vec!["a".into(), "b".into()],
            evidence: "say \"x > y\"".into(),
            supersedes: Some(2),
            ..Proposal::default()
        };
        let expected = Proposals { lessons: vec![Ok(expected)], ..Proposals::default() };
        assert_eq!(reply::read(&reply.to_string()), Ok(Reply::Learn(expected)));
    }

    proptest! {
        #[test]
        fn what_was_rendered_is_read_again(
            rule in ".{0,30}", evidence in "(.|\\n){0,30}", tags in prop::collection::vec(".{0,8}", 0..3), number in any::<Option<u32>>()
        ) {
            let lesson = json!({
                "trigger": "t", "rule": rule, "evidence": evidence, "confidence": "high", "tags": tags, "supersedes": number,
            });
            let reply = json!({"decision": "LEARN", "lessons": [lesson]});
            for text in [reply.to_string(), serde_json::to_string_pretty(&reply).unwrap(), format!("```\n{reply}\n```")] {
                let expected = Proposal {
                    trigger: "t".into(),
                    rule: rule.trim().into(),
                    confidence: Confidence::High,
                    tags: tags.clone(),
                    evidence: evidence.trim().into(),
                    supersedes: number.map(|number| number as usize),
                    ..Proposal::default()
                };
                let expected = Proposals { lessons: vec![Ok(expected)], ..Proposals::default() };
                prop_assert_eq!(reply::read(&text), Ok(Reply::Learn(expected)));
            }
        }

        #[test]
        fn no_answer_panics(reply in "(.|\\n|\\{|\\}|\"|\\[|\\]|:|,|\"decision\":|\"LEARN\"|\"lessons\"|<lesson|<decision>|</decision>|</lesson>|=|>){0,60}") {
            let _ = reply::read(&reply);
        }
    }
}
