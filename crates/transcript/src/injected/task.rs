//! Whether a message gives a task.

use super::{split, starts_with_any};
use crate::outcome::error_line;

/// Words of a message that only lets the work go on: it says nothing about what the task is.
const ASSENT: &str = "a again ahead alright and c continue cool do done exactly fine go going good great it keep lgtm looks next \
    nice no now ok okay on perfect please proceed resume retry right sure thank thanks that then try up work y yes \
    you";
/// The same in German, French, Spanish, Italian and Portuguese, Russian, Chinese, Japanese and Korean.
const ASSENT_ELSEWHERE: &str = "bitte danke gut ja mach mal nein weiter continuez merci oui vas adelante continúa gracias sigue sí vale \
    continua grazie obrigado sim да давай дальше продолжай спасибо 可以 好 好的 继续 谢谢 続けて はい 계속 네";
/// A longer message is a task, whatever its words are.
const MAX_ASSENT: usize = 8;

/// What a person asks for in a message; none if all of it is a harness's, or only lets the work go on, as `continue` does.
///
/// ```
/// use adage_transcript::task_in;
/// assert_eq!(task_in("Fix the login. <system-reminder>x</system-reminder>").as_deref(), Some("Fix the login."));
/// assert_eq!(task_in("Continue with the migration").as_deref(), Some("Continue with the migration"));
/// for text in ["continue", "👍", "/compact", "<task-notification>done</task-notification>"] {
///     assert_eq!(task_in(text), None, "{text}");
/// }
/// ```
#[must_use]
pub fn task_in(message: &str) -> Option<String> {
    let typed = split(message).typed;
    let lower = typed.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let known = || ASSENT.split(' ').chain(ASSENT_ELSEWHERE.split(' '));
    let goes_on = |word: &&str| known().any(|known| known == *word) || word.chars().all(char::is_numeric);
    let is_assent = words.len() <= MAX_ASSENT && words.iter().all(goes_on);
    let is_command = typed.starts_with('/') && !typed.contains(char::is_whitespace) && typed.matches('/').count() == 1;
    (!is_assent && !is_command && !is_output(&typed)).then_some(typed)
}

/// True for the output of a command and nothing else: it begins as a terminal or a failed program does, and no line is a sentence.
fn is_output(text: &str) -> bool {
    const PROMPTS: [&str; 5] = ["$ ", "% ", "❯ ", "➜ ", "> "];
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let begins = lines.next().is_some_and(|first| starts_with_any(first, &PROMPTS) || error_line(first).is_some());
    let rest: Vec<&str> = lines.collect();
    // A word in a paragraph of its own is a request.
    let last = text.rsplit("\n\n").next().unwrap_or_default().trim();
    begins && !rest.is_empty() && !rest.into_iter().any(is_sentence) && !is_plain(last)
}

/// True for a line of plain words, as a person writes them. A program indents, counts, and names files and codes.
fn is_sentence(line: &str) -> bool {
    let n_words = line.split_whitespace().count();
    let is_indented = line.starts_with([' ', '\t']);
    n_words >= 2 && !is_indented && error_line(line).is_none() && line.split_whitespace().all(is_plain)
}

/// True for a single word of letters.
fn is_plain(word: &str) -> bool {
    let bare = word.trim_matches(|c: char| ",.;:!?'\"()`".contains(c));
    !bare.is_empty() && bare.chars().all(|c| c.is_alphabetic() || "'’-".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_alone_is_no_task_and_a_request_beside_it_is() {
        let log = "error[E0502]: cannot borrow `cart`\n  --> src/cart.rs:41:9\n\nerror: could not compile `shop`";
        let terminal = "$ npm test\n\n> vitest run\n Tests  3 passed (3)";
        for output in [log, terminal] {
            assert_eq!(task_in(output), None, "{output}");
            for request in ["fix", "Why does this fail?", "please make it pass"] {
                assert!(task_in(&format!("{output}\n\n{request}")).is_some(), "{output} {request}");
                assert!(task_in(&format!("{request}\n\n{output}")).is_some(), "{request} {output}");
            }
        }
        assert!(task_in("error: linker `cc` not found").is_some(), "one line may be what somebody asks about");
    }
}
