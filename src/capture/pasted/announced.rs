//! Lines that announce text of others and go on with it: `pasting the ticket: …`, `quote: …`, `translate this: …`.

use std::sync::LazyLock;

use regex::Regex;

/// What text of others is called.
const DOCUMENTS: &str = r"(?:e-?mails?|mails?|tickets?|issues?|bug\s+reports?|reports?|comments?|messages?|threads?|pages?|articles?|posts?|answers?|replies|reply|docs?|documents?
    |documentation|readme|wiki|manual|handbook|guide|guidelines|policy|policies|runbook|specs?|specification|transcripts?|logs?|outputs?|texts?|paragraphs?|passages?|quotes?|quotation
    |citation|excerpts?|extracts?|snippets?|letters?|memos?|notices?|notification|announcements?|reviews?|feedback|chats?|conversations?|discussion|slack|teams|discord|tweets?|story
    |description|instructions|notes|minutes|blog|website|site|forum|stack\s?overflow|newsletter|advisory|changelog|release\s+notes|response|statement|advice)";

/// With which a person brings it.
const BRINGS: &str = r"(?:past(?:e|es|ed|ing)|cop(?:y|ied|ying)|got|get|received|found|saw|seen|read|reading|here(?:'|’)?s|here\s+(?:is|are)|quot(?:e|ed|ing)|cit(?:e|ed|ing)|forward(?:ed|ing)?
    |shar(?:e|ed|ing)|attach(?:ed|ing)?|translat(?:e|ing)|summari[sz](?:e|ing)|review|proofread|rephrase|reword|paraphrase|explain|analy[sz]e|fyi|consider|check|look\s+at|see|below\s+is
    |taken\s+from|comes?\s+from|came\s+in|excerpt\s+(?:from|of)|sent|dropping|including|adding|regarding|re)";

/// Words by which the text is the person's own, or what they want written.
const OWN: [&str; 12] = ["my", "our", "your", "own", "no", "i", "we", "put", "add", "write", "append", "update"];

/// True for a line that announces text of others and has it, or some of it, behind the colon.
pub(super) fn is_announced(line: &str) -> bool {
    static FORMS: LazyLock<Option<Vec<Regex>>> = LazyLock::new(|| {
        let forms = [
            // "got this from somebody: …"
            r"(?ix)\b(?:got|get|received|found|have|saw|copied|took)\s+(?:this|that|these|it|the\s+following)\b[^.!?:\n]{0,40}\b(?:from|on|in|at|via|by)\b(?P<between>[^.!?:\n]{1,40}):\s+\S".to_owned(),
            // "see https://…: …"
            r"(?i)^\W*(?:from|see|per|via|quoting|according\s+to)\s+https?://\S*:(?:\s+\S|$)".to_owned(),
            // "below is the comment", "this is what they answered", without a colon and with the text in the next lines
            format!(r"(?ix)^\W*(?:here(?:'|’)?s|here\s+(?:is|are)|below\s+(?:is|are)|this\s+is|see)\s+(?:(?:the|a|an|their|his|her)\s+(?:\w+\s+){{0,2}}{DOCUMENTS}|what\s+(?P<between>\w+)\s+(?:answered|said|wrote|replied|sent))\W*$"),
            // "slack message from the team: …"
            format!(r"(?ix)^\W*(?P<between>(?:[\w-]+\s+){{0,3}}){DOCUMENTS}\s+(?:from|by|of|on|in)\b[^.!?:\n]{{1,50}}:\s+\S"),
            // "pasting the ticket: …", "fyi from slack: …". What is one's own is not an announcement.
            format!(r"(?ix)^(?:[^.!?:\n]{{0,40}}\b)?{BRINGS}\b(?P<between>[^.!?:\n]{{0,60}}?)\b{DOCUMENTS}\b[^.!?:\n]{{0,40}}:\s+\S"),
            // "quote: …", "ticket text: …"
            r"(?ix)^\W*(?:quote|quotation|citation|excerpt|extract|snippet|transcript|e-?mail|mail|ticket|thread|article|wiki|readme|docs?|documentation|paste|pasted|clipboard|forwarded|tweet|memo
                |letter|announcement|(?:\w+\s)?(?:ticket|issue|mail|page|comment|message|document|article|original)\s+(?:text|body|content|description))\W*:\s+\S".to_owned(),
            // "translate this: …"
            r"(?ix)^(?:\W*(?:please|can|could|you|now|then|and)\b)*\W*(?:translate|summari[sz]e|proofread|rephrase|reword|paraphrase|explain|quote|copy|paste|pasting|quoting)\s+(?:this|that|it|these|the\s+following|what\s+follows)\b[^.!?:\n]{0,40}:\s+\S".to_owned(),
        ];
        forms.iter().map(|form| Regex::new(form).ok()).collect()
    });
    let Some(forms) = FORMS.as_ref() else { return true };
    forms.iter().any(|form| {
        form.captures(line).is_some_and(|found| {
            let between = found.name("between").map_or("", |between| between.as_str());
            !between.split_whitespace().any(|word| OWN.contains(&word.to_lowercase().as_str()))
        })
    })
}
