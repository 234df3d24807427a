//! Text operations for lessons: sentences, requests, lists.

use std::sync::LazyLock;

use regex::Regex;
use unicode_segmentation::UnicodeSegmentation;

/// A fixed pattern. The tests use each, so that one which does not compile fails them.
#[expect(clippy::expect_used, reason = "a pattern that does not compile must not match nothing in silence")]
pub(super) fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a fixed pattern")
}

/// True for a text that matches a pattern.
pub(super) fn matches(words: &LazyLock<Regex>, text: &str) -> bool {
    words.is_match(text)
}

/// A sentence as it was typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sentence<'a> {
    /// Without blanks around it.
    pub(crate) text: &'a str,
    /// Where it starts in the text, in bytes.
    pub(crate) start: usize,
}

impl Sentence<'_> {
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// The sentences that a person typed, in any language's punctuation: without code blocks, quotations, tags, and pasted output.
pub(crate) fn sentences(text: &str) -> Vec<Sentence<'_>> {
    let mut sentences = Vec::new();
    let (mut place, mut is_code, mut is_context) = (0, false, false);
    let mut lines = text.split_inclusive('\n').peekable();
    let mut was_comment = false;
    while let Some(line) = lines.next() {
        let start = place;
        place += line.len();
        // Lines of comments, one after the other, are of a file.
        let is_of_a_file = is_comment(line) && (was_comment || lines.peek().is_some_and(|next| is_comment(next)));
        was_comment = is_comment(line);
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if let Some(heading) = line.trim_start().strip_prefix("## ") {
            // A command of the user's own puts what a program printed under such a heading.
            is_context = heading.trim().eq_ignore_ascii_case("context");
        } else if !is_code && !is_context && !is_of_a_file && !is_pasted(line) {
            sentences.extend(of_line(line).map(|(offset, text)| Sentence { text, start: start + offset }));
        }
    }
    sentences
}

/// The trimmed sentences of a line, and the byte at which each starts. A full stop within a word (".NET", "e.g.This") ends no sentence.
fn of_line(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut ends: Vec<usize> = line.split_sentence_bound_indices().map(|(start, text)| start + text.len()).collect();
    let last = ends.pop();
    ends.retain(|end| !line.get(..*end).is_some_and(|text| text.ends_with('.')));
    let starts: Vec<usize> = std::iter::once(0).chain(ends.iter().copied()).collect();
    starts.into_iter().zip(ends.into_iter().chain(last)).filter_map(move |(start, end)| {
        let sentence = line.get(start..end)?;
        let trimmed = sentence.trim();
        let lead = sentence.len() - sentence.trim_start().len();
        (!trimmed.is_empty()).then_some((start + lead, trimmed))
    })
}

/// True for a comment line in the form of most settings files: `# a comment`.
fn is_comment(line: &str) -> bool {
    line.trim_start().strip_prefix('#').is_some_and(|rest| rest.starts_with([' ', '#']))
}

/// True for a line that was probably pasted: a quotation, a tag, a prompt, a table, a log line with a time, code.
fn is_pasted(line: &str) -> bool {
    let trimmed = line.trim();
    let is_indented = line.starts_with("    ") || line.starts_with('\t');
    let is_marked = ["> ", "<", "$ ", "|", "⎿", "❯", "//", "#!", "@@", "+++", "---", "[Image", "[Request", "at "]
        .iter()
        .any(|mark| trimmed.starts_with(mark));
    let lower = trimmed.to_lowercase();
    let is_output = OUTPUT.iter().any(|start| lower.starts_with(start));
    let is_dated = trimmed.chars().filter(char::is_ascii_digit).count() >= 8 && trimmed.matches(':').count() >= 2;
    let is_prompt = trimmed.starts_with('[') && trimmed.contains("] ") && trimmed.contains("~/");
    let is_code = trimmed.ends_with(['{', '}']) || trimmed.ends_with(");");
    is_indented || is_marked || is_output || is_dated || is_prompt || is_code
}

/// Openings of lines that programs print, mostly `git status`, in lower case.
const OUTPUT: [&str; 14] = [
    "(use \"git",
    "on branch ",
    "your branch is ",
    "changes not staged",
    "changes to be committed",
    "untracked files",
    "modified:",
    "new file:",
    "no changes added",
    "nothing to commit",
    "warning:",
    "error:",
    "info:",
    "debug:",
];

/// The first sentence of a turn that says what to do, else its first sentence of at least four words. None for "yes, go on", for slash
/// commands, and for a turn that only announces something: "implement the following plan:".
pub(crate) fn first_request(text: &str) -> Option<&str> {
    const MIN_WORDS: usize = 4;
    if text.trim_start().starts_with(['/', '<']) {
        return None;
    }
    let sentences = sentences(text);
    let told = || {
        let texts = sentences.iter().map(|sentence| sentence.text.trim_start_matches(['#', ' ']));
        texts.filter(|text| {
            text.unicode_words().count() >= MIN_WORDS && !text.ends_with(':') && !text.starts_with(['-', '*', '+'])
        })
    };
    told().find(|text| super::cues::requests(text)).or_else(|| told().next())
}

/// A list in words: `a, b and c`. More than four names are cut: `a, b, c and 4 others`. Empty for no names.
pub(super) fn listed(names: &[String]) -> String {
    const MAX: usize = 4;
    match names {
        [] => String::new(),
        [name] => name.clone(),
        [names @ .., last] if names.len() < MAX => format!("{} and {last}", names.join(", ")),
        _ => {
            let shown = names.get(..MAX - 1).unwrap_or_default();
            format!("{} and {} others", shown.join(", "), names.len() - shown.len())
        }
    }
}

/// A text with its first letter in upper case.
pub(super) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A text for comparison: in lower case, with plain apostrophes.
pub(super) fn folded(text: &str) -> String {
    text.to_lowercase().replace('\u{2019}', "'")
}

/// The character range of a byte range. Both ends are between characters.
pub(super) fn char_range(text: &str, start: usize, end: usize) -> (usize, usize) {
    let chars_to = |place: usize| text.char_indices().take_while(|(at, _)| *at < place).count();
    (chars_to(start), chars_to(end))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        sentences(text).iter().map(|sentence| sentence.text).collect()
    }

    #[test]
    fn sentences_are_split_and_pasted_text_is_left_out() {
        assert_eq!(texts("No. Use bun!\nthen test"), ["No.", "Use bun!", "then test"]);
        assert_eq!(texts("不对。用 bun！"), ["不对。", "用 bun！"]);
        assert_eq!(texts("look:\n```\nno, instead\n```\nok?"), ["look:", "ok?"]);
        assert_eq!(texts("It says:\n# # All settings are global\n# # unless they are not\nwhy?"), ["It says:", "why?"]);
        assert_eq!(texts("# always use tabs"), ["# always use tabs"]);
        assert_eq!(texts("> no\n<tag>\n    indented\nyes"), ["yes"]);
        assert_eq!(texts("Use .NET here. Not Java.\nOk."), ["Use .NET here.", "Not Java.", "Ok."]);
        assert!(texts("").is_empty());
    }

    #[test]
    fn a_short_answer_or_a_slash_command_is_not_a_request() {
        assert_eq!(first_request("yes\nPlease add a test for it. Thanks!"), Some("Please add a test for it."));
        assert_eq!(first_request("/commit all of the files now"), None);
        assert_eq!(first_request("ok go on"), None);
    }

    #[test]
    fn a_long_list_is_cut_with_a_count() {
        assert_eq!(listed(&["a", "b", "c", "d", "e"].map(str::to_owned)), "a, b, c and 2 others");
        assert_eq!(listed(&["a", "b"].map(str::to_owned)), "a and b");
    }

    proptest! {
        #[test]
        fn the_range_of_a_sentence_contains_its_text(text in "([a-zäß。！? .\\n]|```\\n|> ){0,80}") {
            for sentence in sentences(&text) {
                prop_assert_eq!(text.get(sentence.start..sentence.end()), Some(sentence.text));
                let (start, end) = char_range(&text, sentence.start, sentence.end());
                let quote: String = text.chars().skip(start).take(end - start).collect();
                prop_assert_eq!(quote.as_str(), sentence.text);
            }
        }
    }
}
