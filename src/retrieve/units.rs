//! The parts of a long request that are compared by themselves (docs/spec/playbook.md, 5.1): a task below a log is not drowned by it.

use crate::lexical::is_telling;

/// Shorter requests are compared as a whole. Chosen: the model reads about 200 words, and a task has about 15.
const MAX_WORDS: usize = 60;
const MAX_LINES: usize = 6;

/// The maximum number of parts that are compared by meaning.
const MAX_UNITS: usize = 8;

/// A sentence of fewer words belongs to the one before it.
const MIN_WORDS: usize = 4;

/// A part of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// What somebody typed.
    Typed(String),
    /// What a program printed: only the signs of lessons are looked for.
    Output(String),
}

/// The parts of a request, in no particular order; a short request is one part. Never empty.
pub(crate) fn units(text: &str) -> Vec<Unit> {
    if text.split_whitespace().count() <= MAX_WORDS && text.lines().count() <= MAX_LINES {
        return vec![Unit::Typed(text.to_owned())];
    }
    let (mut typed, mut printed) = (vec![String::new()], String::new());
    let (mut is_output, mut is_fenced) = (false, false);
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_fenced = !is_fenced;
            typed.push(String::new());
            continue;
        }
        is_output = is_fenced || looks_like_output(line).unwrap_or(is_output && !line.trim().is_empty());
        if is_output {
            printed.extend([line, "\n"]);
        }
        match typed.last_mut() {
            Some(paragraph) if !is_output && !line.trim().is_empty() => paragraph.extend([line, "\n"]),
            _ => typed.push(String::new()),
        }
    }
    // Beside output a line may be a program's too, so that neighbours are not read together.
    let is_mixed = !printed.is_empty();
    let parts = typed.iter().flat_map(|paragraph| {
        if is_mixed { paragraph.lines().map(str::to_owned).collect() } else { sentences(paragraph) }
    });
    let typed: Vec<String> = parts.filter(|part| part.split_whitespace().count() > 1).collect();
    let chosen = chosen(typed).into_iter().map(Unit::Typed);
    let units: Vec<Unit> = chosen.chain((!printed.is_empty()).then_some(Unit::Output(printed))).collect();
    if units.is_empty() { vec![Unit::Typed(text.to_owned())] } else { units }
}

/// The words of a text, and how many of them are those that every sentence has.
fn sentence_words(text: &str) -> (usize, usize) {
    let words = || text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    (words().count(), words().filter(|word| !is_telling(&word.to_lowercase())).count())
}

/// Whether a line looks as if a program printed it: it is indented, or much of it is neither letter nor blank and few of its words are
/// those of a sentence. None for a line of one or two words. Measured: true of 2% of 1,080 sentences that people type.
fn looks_like_output(line: &str) -> Option<bool> {
    let (n_words, n_sentence_words) = sentence_words(line);
    if n_words < 3 {
        return None;
    }
    let is_sign = |c: &char| !c.is_alphabetic() && !c.is_whitespace() && !".,'?!-".contains(*c);
    let signs = line.chars().filter(is_sign).count() as f32 / line.trim().chars().count() as f32;
    let is_sentence = n_sentence_words as f32 >= 0.2 * n_words as f32;
    Some(line.starts_with(char::is_whitespace) || signs > 0.15 || (signs > 0.08 && !is_sentence))
}

/// The sentences of a long paragraph; a short one is one.
fn sentences(paragraph: &str) -> Vec<String> {
    if paragraph.split_whitespace().count() <= MAX_WORDS {
        return vec![paragraph.trim().to_owned()];
    }
    let mut found: Vec<String> = Vec::new();
    for sentence in paragraph.split_inclusive(['.', '!', '?', '\n']) {
        match found.last_mut() {
            Some(last) if sentence.split_whitespace().count() < MIN_WORDS => last.push_str(sentence),
            _ => found.push(sentence.to_owned()),
        }
    }
    found
}

/// At most [`MAX_UNITS`] of them, in their order: the first, the last, and those that read most like a sentence.
fn chosen(parts: Vec<String>) -> Vec<String> {
    let last = parts.len().saturating_sub(1);
    let rank = |place: usize, part: &str| {
        let (n_words, n_sentence_words) = sentence_words(part);
        let share = 1_000 * n_sentence_words / n_words.max(1);
        (place != 0 && place != last, std::cmp::Reverse(share), place)
    };
    let mut ranked: Vec<_> = parts.iter().enumerate().map(|(place, part)| rank(place, part)).collect();
    ranked.sort_unstable();
    let kept: std::collections::BTreeSet<usize> = ranked.into_iter().take(MAX_UNITS).map(|ranked| ranked.2).collect();
    parts.into_iter().enumerate().filter(|(place, _)| kept.contains(place)).map(|(_, part)| part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(text: &str) -> Vec<String> {
        let of_typed = |unit| if let Unit::Typed(text) = unit { Some(text) } else { None };
        units(text).into_iter().filter_map(of_typed).collect()
    }

    fn log(n_lines: usize) -> String {
        let line = |n| format!("2026-11-28T10:00:{n:02}Z INFO web[412]: GET /orders/{n} 200 {n}ms\n");
        (0..n_lines).map(line).collect::<Vec<_>>().concat()
    }

    #[test]
    fn a_short_request_is_one_part() {
        for text in ["fix the flaky test", "", "error[E0382]: use of moved value\nhelp: consider cloning"] {
            assert_eq!(units(text), [Unit::Typed(text.to_owned())]);
        }
    }

    #[test]
    fn a_task_beside_or_within_a_log_is_a_part_of_its_own() {
        let task = "Please find out why the orders page is slow today.";
        for text in [
            format!("{task}\n{}", log(50)),
            format!("{}{task}", log(50)),
            format!("{}{task}\n{}", log(25), log(25)),
            format!("{task}\n\n```\n{}```\n", log(50)),
        ] {
            assert_eq!(typed(&text), [task], "{text}");
            assert!(
                units(&text).iter().any(|unit| matches!(unit, Unit::Output(printed) if printed.lines().count() == 50))
            );
        }
        assert_eq!(typed(&log(50)), Vec::<String>::new());
    }

    #[test]
    fn a_long_text_is_cut_into_sentences_of_which_the_first_and_last_count() {
        let sentence = |n| format!("This is the sentence with number {n}. ");
        let parts = typed(&(0..30).map(sentence).collect::<Vec<_>>().concat());
        assert_eq!(parts.len(), 8);
        assert!(parts[0].contains("number 0.") && parts[7].contains("number 29."));
    }
}
