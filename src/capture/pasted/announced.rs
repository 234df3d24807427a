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

/// Who writes or says something to others, in the third person, before a colon; and the source of a text. First persons have other
/// forms, except in Chinese, Japanese and Korean.
const SAYINGS: &str = r"(?ix)
    # German, Dutch, Scandinavian
      \b(?:schreibt|schrieb|sagt|sagte|meint|meinte|antwortet|antwortete|behauptet|empfiehlt|verlangt|fordert|erklärt
        |schrijft|schreef|zegt|antwoordt|antwoordde|skriver|skrev|säger|siger|sier)\b[^.!?:\n]{0,60}:(?:\s|$)
    | ^\W*(?:aus|laut|gemäß|zitat|auszug|volgens|uit|enligt|ifølge)\b(?P<between>(?:\s+[\p{L}.-]+){1,5})\s*:(?:\s|$)
    # Romance languages
    | \b(?:a\s+(?:écrit|dit|répondu|envoyé|demandé)|répond|recommande|escribió|escribe|dijo|dice|respondió|recomienda|comentó|escreveu|disse|diz|respondeu|recomenda
        |ha\s+(?:scritto|detto|risposto)|scrive|risponde|consiglia)\b[^.!?:\n]{0,60}:(?:\s|$)
    | ^\W*(?:d['’]après|selon|extrait|según|segundo|secondo|cita|citation)\b[^.!?:\n]{1,60}:(?:\s|$)
    # Slavic languages
    | \b(?:пишет|написал[аи]?|сказал[аи]?|говорит|ответил[аи]?|пише|каже|pisze|napisała?|mówi|powiedziała?|píše|napsal|říká)\b[^.!?:\n]{0,60}:(?:\s|$)
    # Chinese, Japanese, Korean
    | ^[^我\n。！？:：]{1,20}(?:说|说道|写道|写的|表示|回复|提到|要求|建议)(?:的是)?[：:]
    | ^[^私僕俺\n。:：]{1,20}(?:によると|いわく|言って(?:い|る)[^:：\n]{0,8}|書いて[^:：\n]{0,8}|の(?:コメント|返信|回答))[：:]
    | ^[^\n.:：]{1,30}(?:말했|썼|답했|에\s*따르면)[^:：\n]{0,8}[：:]";

/// Requests to work on a text, which follows.
const REQUESTS: &str = r"(?ix)
      ^(?:\W*(?:please|can|could|would|you|now|then|and)\b)*\W*(?:translat|summari[sz]|proofread|rephras|reword|paraphras|condens|shorten|polish|copy-?edit|spell-?check)\w*\b[^.!?:\n]{0,50}:(?:\s|$)
    | ^(?:\W*(?:please|can|could|would|you|now|then|and)\b)*\W*(?:translate|summari[sz]e|proofread|rephrase|reword|paraphrase|shorten|polish)\s+(?:this|that|these|the\s+following)(?:\s+\w+){0,4}\s*[.!?]\s+\S
    | ^\W*(?:bitte\s+)?(?:übersetz|fass|korrigier|lektorier|kürz|vertaal|oversett|översätt)\p{L}*\b[^.!?:\n]{0,50}:(?:\s|$)
    | ^\W*(?:traduis|traduisez|résume|résumez|corrige|corrigez|relis|relisez|traduce|traduzca|resume|resuma|corrija|revisa|traduza|resumir|traduci|riassumi|correggi|переведи|przetłumacz)\b[^.!?:\n]{0,50}:(?:\s|$)
    | ^[^\n。：:]{0,12}(?:翻译|总结|校对|润色|概括|改写|翻訳|要約|校正|添削|번역|요약|교정)[^\n。：:]{0,16}[：:]
    # What somebody else may be right about.
    | \b(?:is\s+(?:it|this|that)\s+(?:true|right|correct)|do\s+you\s+agree)\b[^.!?:\n]{0,60}:\s+\S";

/// A line that says no more than that something follows.
const FOLLOWS: &str = r"(?ix)^\W*(?:(?:please\s+)?(?:see|read)\s+(?:below|the\s+following|attached)|(?:for|some|more|as)\s+(?:context|reference|background)|fyi|context|background|reference|as\s+(?:follows|below)
    |siehe\s+unten|voir\s+ci-dessous|ver\s+abajo|如下|见下|以下)\W*$";

/// Somebody's text in the next lines: `the docs state the following`, `here is what the reporter wrote`.
const STATED: &str = r"(?ix)
      ^\W*(?P<who>(?:[\w'’-]+\s+){1,4}?)(?:states?|stated|says?|said|reads?|writes?|wrote|recommends?|recommended|suggests?|answers?|answered|replied|reported|posted|explains?|explained)
        \s+(?:the\s+following|as\s+follows|this)\W*$
    | ^\W*(?:here(?:'|’)?s|here\s+is|this\s+is|that(?:'|’)?s|below\s+is|see)\s+what\s+(?P<speaker>(?:[\w'’-]+\s+){1,4}?)
        (?:answered|said|says|wrote|writes|replied|sent|reported|posted|asked|told\s+(?:me|us))(?:\s+\w+){0,3}\W*$";

/// Questions on a text that follows.
const QUESTIONS: &str = r"(?ix)
      ^\W*(?:(?:so|and|ok|hey|hi)\W+)?what\s+(?:does|do)\s+(?:this|these|the\s+following)(?:\s+\w+)?\s+mean\b[^.!?:\n]{0,30}[?:](?:\s+(?P<rest>\S.*))?$
    | ^\W*how\s+(?:would|do|does|can|should|could)\s+(?:you|one|i|we)\s+(?:say|translate|write|put|phrase|word)\s+(?:this|the\s+following)\s+in\s+\w+\b[^.!?:\n]{0,20}[?:](?:\s+\S|$)
    | ^\W*(?:tl;?dr|eli5)[\s,]+(?:of\s+)?(?:this|it|the\s+following|please|pls)\b[^.!?:\n]{0,30}\W*(?:$|[.?:]\s+\S)
    | ^\W*(?:was\s+(?:bedeutet|hei(?:ß|ss)t)\s+(?:das|dies|folgendes)|que\s+(?:signifie|veut\s+dire)\s+(?:ceci|cela|ça)|qu[eé]\s+significa\s+(?:esto|isto))\b[^.!?:\n]{0,20}[?:](?:\s+\S|$)
    | ^\W*(?:wie\s+sagt\s+man\s+(?:das|dies)|comment\s+dit-on\s+(?:ceci|ça|cela)|c[oó]mo\s+se\s+dice\s+esto)\b[^.!?:\n]{0,30}[?:](?:\s+\S|$)";

/// Somebody's saying behind a comma.
const SAID: &str = r"(?ix)^\W*(?:and\s+|but\s+|so\s+)?(?:he|she|they|(?:the|my|our|a|their|his|her)\s+[\w-]+)\s+(?:said|says|wrote|writes|replied|told\s+(?:me|us))\s*,\s+\S";

/// Words by which the text is the person's own, or what they want written.
const OWN: [&str; 12] = ["my", "our", "your", "own", "no", "i", "we", "put", "add", "write", "append", "update"];

/// The same in other languages, behind a preposition.
const OWN_ELSEWHERE: [&str; 8] = ["meiner", "meinem", "unserer", "unserem", "meine", "unsere", "mijn", "onze"];

/// Words with which a person speaks of themselves.
const FIRST_PERSON: [&str; 8] = ["i", "we", "i'd", "i've", "i'm", "i'll", "we've", "you"];

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
            // "customer feedback below", "issue text", with the text in the next lines
            format!(r"(?ix)^\W*(?P<between>(?:[\w'’-]+\s+){{0,3}}?)(?:details|{DOCUMENTS})\s+(?:(?:is|are)\s+)?(?:below|follows?|attached)\W*$"),
            r"(?ix)^\W*(?:(?:the|their)\s+)?(?:ticket|issue|mail|page|comment|article|original)\s+(?:text|body|content)\W*$".to_owned(),
            // "can you explain the following to me"
            r"(?ix)\b(?:explain|translate|summari[sz]e|proofread|rephrase|paraphrase|analy[sz]e|interpret|read|understand)\s+(?:the\s+following|what\s+follows)(?:\s+(?:to|for)\s+(?:me|us))?(?:\s*,?\s*please)?\W*$".to_owned(),
            // "slack message from the team: …"
            format!(r"(?ix)^\W*(?P<between>(?:[\w-]+\s+){{0,3}}){DOCUMENTS}\s+(?:from|by|of|on|in)\b[^.!?:\n]{{1,50}}:\s+\S"),
            // "pasting the ticket: …", "fyi from slack: …". What is one's own is not an announcement.
            format!(r"(?ix)^(?:[^.!?:\n]{{0,40}}\b)?{BRINGS}\b(?P<between>[^.!?:\n]{{0,60}}?)\b{DOCUMENTS}\b[^.!?:\n]{{0,40}}:\s+\S"),
            // "quote: …", "ticket text: …"
            r"(?ix)^\W*(?:quote|quotation|citation|excerpt|extract|snippet|transcript|e-?mail|mail|ticket|thread|article|wiki|readme|docs?|documentation|paste|pasted|clipboard|forwarded|tweet|memo
                |letter|announcement|(?:\w+\s)?(?:ticket|issue|mail|page|comment|message|document|article|original)\s+(?:text|body|content|description))\W*:\s+\S".to_owned(),
            // "translate this: …"
            r"(?ix)^(?:\W*(?:please|can|could|you|now|then|and)\b)*\W*(?:translate|summari[sz]e|proofread|rephrase|reword|paraphrase|explain|quote|copy|paste|pasting|quoting)\s+(?:this|that|it|these|the\s+following|what\s+follows)\b[^.!?:\n]{0,40}:\s+\S".to_owned(),
            // "what do you think of this comment? …"
            format!(r"(?ix)\b(?:what\s+do\s+you\s+think|your\s+(?:take|opinion)|thoughts?|opinions?|do\s+you\s+agree)\b[^.!?:\n]{{0,30}}\b(?:this|that|these|those|the\s+following)\s+(?:\w+\s+){{0,2}}{DOCUMENTS}\W*[?:]\s+\S"),
            SAYINGS.to_owned(),
            STATED.to_owned(),
            QUESTIONS.to_owned(),
            REQUESTS.to_owned(),
            FOLLOWS.to_owned(),
            SAID.to_owned(),
        ];
        forms.iter().map(|form| Regex::new(form).ok()).collect()
    });
    let Some(forms) = FORMS.as_ref() else { return true };
    forms.iter().any(|form| {
        form.captures(line).is_some_and(|found| {
            let between = found.name("between").map_or("", |between| between.as_str());
            let is_first_person = |name: &str| {
                let words = found.name(name).map_or("", |words| words.as_str());
                words
                    .split_whitespace()
                    .any(|word| FIRST_PERSON.contains(&word.replace('’', "'").to_lowercase().as_str()))
            };
            let is_own = |word: &str| OWN.contains(&word) || OWN_ELSEWHERE.contains(&word);
            !between.split_whitespace().any(|word| is_own(&word.to_lowercase()))
                && !["who", "speaker", "rest"].into_iter().any(is_first_person)
        })
    })
}
