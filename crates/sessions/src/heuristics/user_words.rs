//! Whether a person says in a turn that something fails, or that it works.

use std::sync::LazyLock;

use adage_transcript::outcome;
use regex::Regex;
use unicode_segmentation::UnicodeSegmentation;

use super::wording::{matches, pattern, sentences};

/// True if the user says in a turn that something does not work, or pasted an error.
pub(super) fn reports_a_failure(text: &str) -> bool {
    let own: Vec<&str> = sentences(text).into_iter().map(|sentence| sentence.text).collect();
    let is_pasted = |line: &str| is_pasted_error(line, own.contains(&line));
    text.lines().map(str::trim).any(is_pasted) || own.iter().any(|sentence| reports_failure(sentence))
}

/// True if the user says in the first sentences of a turn that it works, or approves of it.
pub(super) fn reports_a_success(text: &str) -> bool {
    let sentences = sentences(text);
    let mut first = sentences.iter().take(2).map(|sentence| sentence.text);
    first.any(|sentence| reports_success(sentence) || expresses_approval(sentence))
}

/// True for an error line of a program: `Restore cache failed: no lock file was found`. A line that the user may have typed has to
/// begin like an error.
fn is_pasted_error(line: &str, is_own: bool) -> bool {
    static SAYS: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r"(?i)^[\w .\[\]/-]{0,60}\b(?:failed|error|exception|denied|refused|not found)\b\s*: *\S")
    });
    static BEGINS: LazyLock<Regex> =
        LazyLock::new(|| pattern(r"^(?:[\w.]*(?i:error|exception)(?:\[\w+\])?|fatal|panic): \S"));
    const MIN_WORDS: usize = 4;
    let is_said =
        if is_own { matches(&BEGINS, line) } else { outcome::error_line(line).is_some() || matches(&SAYS, line) };
    is_said && line.unicode_words().count() >= MIN_WORDS
}

/// True for a sentence that says that something does not work. False for questions, wishes, and remarks about the agent.
fn reports_failure(sentence: &str) -> bool {
    static FAILS: LazyLock<Regex> = LazyLock::new(|| {
        let does = "(?:work|show|load|start|run|open|see|find|appear|compile|build|respond|connect|updat|sav|render|happen|do anything|get|recogni[sz]|pick|accept|detect|print|return|exit|clos|stop|launch|boot|sync|install|trigger|fir|persist|exist|resolv|pass|change anything)\\w*";
        let state = "(?:\\w+ing|found|there|visible|available|detected|recogni[sz]ed|picked|applied|able|reachable|saved|updated|rendered)";
        let not = "(?:n['’]?t| not)";
        pattern(&format!(
            r"(?i)\b(?:(?:does|did|ca|could|wo|will|can){not} (?:even |actually |always |really )?{does}|(?:is|are|was|were){not} (?:even |actually |being )?{state})\b|\b(?:nope|still|fails?|failed|failing|crash\w*|broken|hangs?|stuck|not work\w*|no luck|nothing (?:happens|is|in)|no longer|funktioniert nicht|geht nicht|no funciona|ne (?:fonctionne|marche) pas|there(?:['’]s| is| are| was) (?:no|nothing)|(?:got|get|gets|see|shows?) (?:no|nothing)|(?:get(?:s|ting)?|got|ha(?:ve|s|ving)|throw(?:s|ing)?|rais(?:es|ing)|giv(?:es|ing)) (?:an? |this |these |the )?(?:\w+ )?(?:errors?|warnings?|exceptions?))\b|不行|报错|没有反应"
        ))
    });
    static WISHES: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)\b(?:should|shouldn['’]?t|must|please|let['’]?s|make sure|want|need|needs|would|if|your?|you['’]re|you['’]ve)\b|\?\W*$",
        )
    });
    matches(&FAILS, sentence) && !matches(&WISHES, sentence)
}

/// True for a sentence that says that it works now. False with a negation or a restriction.
fn reports_success(sentence: &str) -> bool {
    static WORKS: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)\b(?:works?|worked|working|fixed|solved|resolved|passes|compiles|shows up|(?:it|they) appears?|(?:they|numbers|results|both|all) (?:agree|match)|(?:is|are|it['’]s|ok|okay|now|yes|all) gone|did it|did the trick|funktioniert|klappt|funciona|fonctionne)\b|可以(?:了|[。！!]|$)|好了|^\W*(?:perfect|awesome|excellent|amazing|brilliant|much better|all good|(?:\w+ ){0,3}looks? (?:good|great|fine|right|correct))(?: now)?\W*$|^\W*(?:🎉|👍|✅)+\W*$",
        )
    });
    static BUT: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)n['’]t\b|\b(?:not|no|never|only|still|but|except|almost|partial\w*|half|would|should|could|can|will|if|when|how|why|what|where|whether|make|get|let|before|until|used to|working on|to be|nicht|aber|pero|mais)\b|\?\W*$",
        )
    });
    const MAX_WORDS: usize = 24;
    matches(&WORKS, sentence) && !matches(&BUT, sentence) && sentence.unicode_words().count() <= MAX_WORDS
}

/// True for a sentence that praises the result, or asks to commit or publish it.
fn expresses_approval(sentence: &str) -> bool {
    static CONTENT: LazyLock<Regex> = LazyLock::new(|| {
        pattern(
            r"(?i)^\W*(?:(?:ok|okay|great|nice|cool|good|alright|now|then|and|so|let['’]?s|please|go ahead and|you can|can you)\W+){0,4}(?:git )?(?:commit|push|merge|ship|release|deploy)\b|^\W*(?:great|nice|cool|good)\W*$",
        )
    });
    static BUT: LazyLock<Regex> = LazyLock::new(|| {
        pattern(r"(?i)n['’]t\b|\b(?:not|no|never|still|but|except|fails?|failed|errors?|why|revert)\b")
    });
    const MAX_WORDS: usize = 12;
    sentence.unicode_words().count() <= MAX_WORDS && matches(&CONTENT, sentence) && !matches(&BUT, sentence)
}
