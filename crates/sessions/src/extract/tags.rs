//! Parses the older format: `<decision>LEARN</decision>`, then `<lesson confidence="" tags="" evidence="">…</lesson>`. It has no
//! recoveries.

use super::reply::{
    Confidence, Malformed, Proposal, Proposals, Reply, Unreadable, decides_to_learn, excerpt, lesson_number,
};

/// The attributes of a lesson. A quotation mark ends a value only before one of these or before the tag's end: values hold
/// quotation marks and `>` as they were typed.
const ATTRIBUTES: [&str; 7] = ["trigger", "title", "mistake", "confidence", "tags", "evidence", "supersedes"];

/// The characters of a title that is made of the rule.
const MAX_TITLE_CHARS: usize = 80;

/// Parses the older format; none if it contains no decision.
pub(super) fn read(reply: &str) -> Option<Result<Reply, Unreadable>> {
    let mut rest = reply;
    let mut words: Vec<&str> = Vec::new();
    let mut found = Proposals::default();
    while let Some((_, tag)) = rest.split_once('<') {
        rest = tag;
        if let Some(decision) = tag.strip_prefix("decision>") {
            let Some((word, after)) = decision.split_once("</decision>") else { break };
            words.push(word);
            rest = after;
        } else if let Some(lesson) = of_lesson(tag) {
            let Some((proposal, after)) = read_lesson(lesson) else {
                found.lessons.push(Err(not_closed(lesson)));
                break;
            };
            found.lessons.push(Ok(proposal));
            rest = after;
        }
    }
    let (first, others) = words.split_first()?;
    if others.iter().any(|word| word.trim() != first.trim()) {
        return Some(Err(Unreadable::Undecided));
    }
    Some(decides_to_learn(first).map(|learns| if learns { Reply::Learn(found) } else { Reply::Nothing }))
}

/// What is behind the name of a lesson's tag.
fn of_lesson(tag: &str) -> Option<&str> {
    tag.strip_prefix("lesson").filter(|rest| rest.starts_with([' ', '\t', '\n', '\r', '>']))
}

fn not_closed(tag: &str) -> Malformed {
    Malformed { excerpt: excerpt(tag), reason: "its tag is not closed".to_owned() }
}

/// Reads from behind `<lesson` to behind `</lesson>`.
fn read_lesson(text: &str) -> Option<(Proposal, &str)> {
    let mut proposal = Proposal::default();
    let body = read_attributes(text, |name, value| match name {
        "trigger" | "title" => proposal.trigger = value,
        "mistake" => proposal.mistake = value,
        "confidence" => proposal.confidence = Confidence::parse(&value),
        "tags" => proposal.tags = read_list(&value),
        "evidence" => proposal.evidence = value,
        "supersedes" => proposal.supersedes = lesson_number(&value),
        _ => {}
    })?;
    let (rule, after) = body.split_once("</lesson>")?;
    rule.trim().clone_into(&mut proposal.rule);
    if proposal.trigger.is_empty() {
        proposal.trigger = title(&proposal.rule);
    }
    Some((proposal, after))
}

/// The names of a list between commas.
fn read_list(value: &str) -> Vec<String> {
    value.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// Reads the attributes of a tag, each with its decoded value. Returns what is behind the tag.
fn read_attributes(text: &str, mut take: impl FnMut(&str, String)) -> Option<&str> {
    let mut rest = text.trim_start();
    loop {
        if let Some(body) = rest.strip_prefix('>') {
            return Some(body);
        }
        let name_end = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '-').filter(|end| *end > 0)?;
        let (name, after) = rest.split_at(name_end);
        let after = after.trim_start().strip_prefix('=')?.trim_start();
        let mark = after.chars().next().filter(|mark| matches!(mark, '"' | '\''))?;
        let after = after.strip_prefix(mark)?;
        let end = value_end(after, mark)?;
        take(name, decode(after.get(..end)?.trim()));
        rest = after.get(end..)?.strip_prefix(mark)?.trim_start();
    }
}

/// Where a value ends: at the first mark behind which the tag goes on or ends.
fn value_end(text: &str, mark: char) -> Option<usize> {
    let closes = |place: usize| {
        let after = text.get(place + mark.len_utf8()..).unwrap_or_default();
        let next = after.trim_start();
        let goes_on = || {
            let name = next.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_' || c == '-');
            let is_known = next.get(..next.len() - name.len()).is_some_and(|name| ATTRIBUTES.contains(&name));
            after.len() > next.len() && is_known && name.trim_start().starts_with('=')
        };
        next.starts_with('>') || goes_on()
    };
    text.match_indices(mark).map(|(place, _)| place).find(|place| closes(*place))
}

/// The five entities of XML; any other stays as it is.
fn decode(value: &str) -> String {
    const ENTITIES: [(&str, char); 6] =
        [("&quot;", '"'), ("&apos;", '\''), ("&#39;", '\''), ("&lt;", '<'), ("&gt;", '>'), ("&amp;", '&')];
    let mut out = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(place) = rest.find('&') {
        let (before, at) = rest.split_at(place);
        out.push_str(before);
        let entity = ENTITIES.iter().find(|(entity, _)| at.starts_with(entity));
        let (length, c) = entity.map_or((1, '&'), |(entity, c)| (entity.len(), *c));
        out.push(c);
        rest = at.get(length..).unwrap_or_default();
    }
    out + rest
}

/// The rule on one line, cut at a word's end.
fn title(rule: &str) -> String {
    let line = rule.split_whitespace().collect::<Vec<_>>().join(" ");
    let Some((end, _)) = line.char_indices().nth(MAX_TITLE_CHARS) else { return line };
    // A blank right behind the cut is a word's end, too.
    let cut = line.get(..=end).and_then(|start| start.rfind(' ')).unwrap_or(end);
    line.get(..cut).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::extract::reply;

    fn lessons(reply: &str) -> Vec<Proposal> {
        match reply::read(reply) {
            Ok(Reply::Learn(found)) => found.lessons.into_iter().filter_map(Result::ok).collect(),
            other => panic!("{reply}: {other:?}"),
        }
    }

    #[test]
    fn a_lesson_is_read_with_its_attributes() {
        let reply = "<decision>LEARN</decision>\n<lesson confidence=\"high\" tags=\"git, , ci\" evidence=\"never force push here\" \
                     supersedes='L3'>\nUse --force-with-lease.\n</lesson>\n<lesson evidence='x'>Second.</lesson>";
        let expected = [
            Proposal {
                trigger: "Use --force-with-lease.".into(),
                rule: "Use --force-with-lease.".into(),
                confidence: Confidence::High,
                tags: vec!["git".into(), "ci".into()],
                evidence: "never force push here".into(),
                supersedes: Some(3),
                ..Proposal::default()
            },
            Proposal { trigger: "Second.".into(), rule: "Second.".into(), evidence: "x".into(), ..Proposal::default() },
        ];
        assert_eq!(lessons(reply), expected);
    }

    #[test]
    fn values_hold_marks_as_they_were_typed() {
        let check = |value: &str, expected: &str| {
            let reply = format!("<decision>LEARN</decision><lesson evidence={value} tags=\"a\">r</lesson>");
            let found = lessons(&reply);
            assert_eq!((found[0].evidence.as_str(), found[0].tags.len()), (expected, 1), "{value}");
        };
        check(r#""he said "no" twice""#, r#"he said "no" twice"#);
        check(r#""if a > b, stop""#, "if a > b, stop");
        check(r#""write "x > y" there""#, r#"write "x > y" there"#);
        check(r#""set "path" = "here" now""#, r#"set "path" = "here" now"#);
        check(r#""a &quot;b&quot; &lt;c&gt; &amp;lt; &other; & d""#, r#"a "b" <c> &lt; &other; & d"#);
        check("'don't do it'", "don't do it");
        check("\"</lesson> is a tag\"", "</lesson> is a tag");
        check("\"<decision>NOTHING</decision>\"", "<decision>NOTHING</decision>");
    }

    #[test]
    fn without_learn_there_is_nothing() {
        let lesson = "<lesson evidence=\"<decision>LEARN</decision>\">r</lesson>";
        assert_eq!(reply::read(&format!("<decision>NOTHING</decision>{lesson}")), Ok(Reply::Nothing));
        assert_eq!(reply::read(&format!("<decision> SKIP </decision>{lesson}")), Ok(Reply::Nothing));
        let no_decision = reply::read(lesson);
        assert!(matches!(no_decision, Err(Unreadable::NoDecision { .. })), "{no_decision:?}");
        let twice = format!("<decision>NOTHING</decision>{lesson}<decision>LEARN</decision>");
        assert_eq!(reply::read(&twice), Err(Unreadable::Undecided));
        let other = reply::read("<decision>YES</decision>");
        assert_eq!(other, Err(Unreadable::OtherDecision { word: "YES".into() }));
    }

    #[test]
    fn what_was_cut_off_costs_itself_only() {
        for end in ["<lesson evidence=\"b", "<lesson evidence=\"b\">no end", "<lesson evidence>x</lesson>"] {
            let reply = format!("<decision>LEARN</decision><lesson evidence=\"a\">first</lesson>{end}");
            let Ok(Reply::Learn(Proposals { lessons, .. })) = reply::read(&reply) else { panic!("{reply}") };
            assert_eq!(lessons.len(), 2, "{lessons:?}");
            assert_eq!(lessons[0].as_ref().unwrap().rule, "first");
            assert_eq!(lessons[1].as_ref().unwrap_err().reason, "its tag is not closed");
        }
    }

    #[test]
    fn titles_end_with_a_word() {
        let words = "word ".repeat(30);
        assert_eq!(title(&words).chars().count(), 79);
        assert!(title(&words).ends_with("word"));
        assert_eq!(title(&"é".repeat(100)), "é".repeat(80));
        assert_eq!(title(&format!("{} x", "é".repeat(80))), "é".repeat(80));
        assert_eq!(title("a\n b"), "a b");
    }

    fn encode(text: &str) -> String {
        text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;")
    }

    proptest! {
        #[test]
        fn what_was_rendered_is_read_again(
            rule in "[^<]{1,40}", evidence in "(.|\\n){0,40}", plain in "[a-z\"'>=., ]{0,30}", tags in prop::collection::vec("[a-z]{1,5}", 0..3)
        ) {
            let tagged = |evidence: &str| {
                let tags = tags.join(",");
                format!("<decision>LEARN</decision>\n<lesson confidence=\"high\" tags=\"{tags}\" evidence=\"{evidence}\">{rule}</lesson>")
            };
            let found = lessons(&tagged(&encode(&evidence)));
            let expected = Proposal {
                trigger: title(rule.trim()),
                rule: rule.trim().into(),
                confidence: Confidence::High,
                tags: tags.clone(),
                evidence: evidence.trim().into(),
                ..Proposal::default()
            };
            prop_assert_eq!(found, vec![expected]);
            // As it was typed, unless a mark is followed by what could be the tag's end.
            let folded = plain.replace(' ', "");
            if !folded.contains("\">") && !folded.ends_with('"') {
                let found = lessons(&tagged(&plain));
                prop_assert_eq!(&found[0].evidence, plain.trim());
            }
        }
    }
}
