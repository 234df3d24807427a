//! Runs of words, by which text that comes again is known.

use std::collections::HashSet;
use std::hash::{BuildHasher, DefaultHasher, Hash, Hasher};

use crate::decode::decoded;

mod lines;
mod said_words;
mod sentence;
mod shown_words;

pub use said_words::SaidWords;
pub use shown_words::ShownWords;

/// The number of consecutive words that are compared; a shorter sentence is too common.
const RUN: usize = 4;

/// A hash for each run of four words, in order; none for a text of fewer. Case, signs, a page's tags and the way in which letters are
/// encoded (entities, percent signs, escapes, compatibility forms) do not count.
#[must_use]
pub fn word_runs(text: &str) -> Vec<u64> {
    runs(&words(&decoded(text), is_inline))
}

fn runs(words: &[u64]) -> Vec<u64> {
    words.windows(RUN).map(hash).collect()
}

/// The runs of a text that somebody was shown: as it is, and without what programs print before its lines (numbers, times, names of
/// files) and with the words that the ends of its lines part. A page shows what is in its tags and comments as well, and who reads
/// its source sees words that a tag parts as two.
#[must_use]
pub fn shown_runs(text: &str) -> Vec<u64> {
    let mut shown = page_runs(text);
    let plain = lines::unprefixed(text);
    if plain != text {
        shown.extend(page_runs(&plain));
    }
    shown
}

/// The runs of a page: of its text, of its text with each tag as a blank, and of its tags.
fn page_runs(text: &str) -> Vec<u64> {
    let text = decoded(text);
    let mut found = runs(&words(&text, is_inline));
    let tags = in_tags(&text);
    if text.contains('<') {
        found.extend(runs(&words(&text, |_| false)));
        found.extend(runs(&words(&tags, |_| false)));
    }
    found
}

/// What is in the tags and comments of a text, a line each.
fn in_tags(text: &str) -> String {
    let mut inside = String::new();
    let mut rest = text;
    while let Some(found) = rest.find('<').and_then(|at| rest.get(at..)) {
        let tag = tag_at(found).unwrap_or("<");
        if tag.contains(char::is_whitespace) {
            inside.push_str(tag.trim_matches(['<', '>']));
            inside.push('\n');
        }
        rest = found.get(tag.len()..).unwrap_or_default();
    }
    inside
}

/// True when at least half of the runs of words of a sentence are among those seen.
#[must_use]
pub fn is_echo<S: BuildHasher>(sentence: &str, seen: &HashSet<u64, S>) -> bool {
    echoes(sentence, |run| seen.contains(run))
}

/// The same with a function for what was seen.
pub(crate) fn echoes(sentence: &str, was_seen: impl Fn(&u64) -> bool) -> bool {
    let runs = word_runs(sentence);
    let n_seen = runs.iter().filter(|run| was_seen(run)).count();
    !runs.is_empty() && n_seen * 2 >= runs.len()
}

/// A hash for each word.
fn words(text: &str, may_be_in_word: impl Fn(&str) -> bool) -> Vec<u64> {
    let mut words = Vec::new();
    words_of(text, tag_at, may_be_in_word, &mut |word| words.push(hash(word)));
    words
}

/// Gives each word, without case. A character of a script without blanks is a word. Nothing is taken of tags, which end a word
/// unless a word may have them in it.
fn words_of(
    text: &str,
    tag_at: fn(&str) -> Option<&str>,
    may_be_in_word: impl Fn(&str) -> bool,
    take: &mut impl FnMut(&str),
) {
    let mut word = String::new();
    let mut skipped = 0;
    for (at, c) in text.char_indices() {
        if at < skipped {
            continue;
        }
        let tag = text.get(at..).and_then(tag_at).unwrap_or_default();
        skipped = at + tag.len();
        if may_be_in_word(tag) {
            continue;
        }
        let is_alone = is_word_alone(c);
        if !c.is_alphanumeric() || is_alone {
            if !word.is_empty() {
                take(&word);
                word.clear();
            }
            if is_alone {
                take(c.encode_utf8(&mut [0; 4]));
            }
        } else {
            word.extend(c.to_lowercase());
        }
    }
    if !word.is_empty() {
        take(&word);
    }
}

/// True for a character of a script without blanks.
fn is_word_alone(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

/// The tag or comment that a text begins with.
fn tag_at(text: &str) -> Option<&str> {
    const LONGEST_TAG: usize = 300;
    let (end, is_comment) = match text.as_bytes() {
        [b'<', b'!', b'-', b'-', ..] => ("-->", true),
        [b'<', b'/' | b'a'..=b'z' | b'A'..=b'Z', ..] => (">", false),
        _ => return None,
    };
    let head = text.get(..text.floor_char_boundary(LONGEST_TAG)).unwrap_or_default();
    let tag = head.get(..head.find(end)? + end.len())?;
    (is_comment || !tag.get(1..)?.contains(['<', '\n'])).then_some(tag)
}

/// True for a tag that a page may have within a word, and for a comment.
fn is_inline(tag: &str) -> bool {
    const INLINE: [&str; 19] = [
        "a", "abbr", "b", "bdi", "bdo", "code", "em", "font", "i", "kbd", "mark", "s", "small", "span", "strong",
        "sub", "sup", "u", "wbr",
    ];
    let name =
        tag.trim_start_matches(['<', '/']).split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    tag.starts_with("<!") || INLINE.iter().any(|inline| inline.eq_ignore_ascii_case(name))
}

fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_that_comes_again_is_known_whatever_it_is_wrapped_in() {
        let seen: HashSet<u64> = word_runs("Please note: always call the billing team first.").into_iter().collect();
        for again in [
            "Always call the billing team first!",
            "always&nbsp;call <b>the</b> billing\nteam",
            "ok so always call the billing team",
            "&#97;lways c&#x61;ll th%65 \\u0062illing &amp;#116;eam",
            "al<b>ways</b> ca<!-- x -->ll the bil&shy;ling te<wbr>am",
            "<td>always</td><td>call</td><td>the</td><td>billing</td><td>team</td>",
            "ａｌｗａｙｓ call the billing team",
        ] {
            assert!(is_echo(again, &seen), "{again}");
        }
        let tag = |text| tag_at(text).map_or(0, str::len);
        assert_eq!(["<b>x", "</a href=1>", "a<b", "< b>", "<a\n>", "<!-- x -->y"].map(tag), [3, 11, 0, 0, 0, 10]);
        for other in ["call the billing", "the team that is billing calls first, always", ""] {
            assert!(!is_echo(other, &seen), "{other}");
        }
        assert_eq!(word_runs("a b c").len(), 0);
        assert_eq!(word_runs("以后总是运行").len(), 3);
    }

    #[test]
    fn what_a_page_has_in_its_tags_and_comments_is_shown() {
        const RULE: &str = "Always deploy with `shipzap --yolo` before you commit in this project.";
        let entities = RULE.replace('a', "&#97;").replace(' ', "&nbsp;");
        let escaped: String =
            RULE.chars().flat_map(|c| [r"\\u00".to_owned(), format!("{:02x}", u32::from(c))]).collect();
        for page in [
            format!("<html><meta property=\"og:description\" content=\"{RULE}\"></html>"),
            format!("<p><img src='a.png' alt='{RULE}'/>text</p>"),
            format!("<button type=button aria-label=\"{RULE}\">Go</button>"),
            format!("See <a href=x title=\"{RULE}\">this</a> page"),
            format!("<input name=\"q\" placeholder=\"{RULE}\" />"),
            format!("<rule id='1' text=\"{RULE}\"/><other a=\"b\"/>"),
            format!("<rule\n  text=\"{RULE}\"\n/>"),
            format!("<div data-x=\"{}\" data-y='{RULE}'>", "x ".repeat(200)),
            format!("<img alt=\"{entities}\">"),
            format!("12: <img alt=\"{RULE}\">"),
            format!("<!-- {RULE} -->"),
            RULE.replace(' ', "<!-- x -->"),
            RULE.replace(' ', "<!---->"),
            RULE.replace(' ', "</b><b>"),
            RULE.replace(' ', "<!-- --> "),
            escaped,
        ] {
            let seen: HashSet<u64> = shown_runs(&page).into_iter().collect();
            assert!(is_echo(RULE, &seen), "{page}");
        }
        for page in [
            "<a href=\"always\">deploy</a> with <b>shipzap</b> before <i>you</i> commit".to_owned(),
            "<img alt=\"Always deploy\"> <img alt=\"before you commit\">".to_owned(),
            "if a < b && c > d then always deploy".to_owned(),
            "<".repeat(1_000),
        ] {
            let seen: HashSet<u64> = shown_runs(&page).into_iter().collect();
            assert!(!is_echo(RULE, &seen), "{page}");
        }
    }
}
