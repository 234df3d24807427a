//! Whether a message gives a task.

use super::split;

/// Words of a message that only lets the work go on: it says nothing about what the task is.
const ASSENT: [&str; 44] = [
    "a", "again", "ahead", "alright", "and", "c", "continue", "cool", "do", "done", "exactly", "fine", "go", "going",
    "good", "great", "it", "keep", "lgtm", "looks", "next", "nice", "no", "now", "ok", "okay", "on", "perfect",
    "please", "proceed", "resume", "retry", "right", "sure", "thank", "thanks", "that", "then", "try", "up", "work",
    "y", "yes", "you",
];
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
    let is_plain = |word: &&str| ASSENT.contains(word) || word.chars().all(char::is_numeric);
    let is_assent = words.len() <= MAX_ASSENT && words.iter().all(is_plain);
    let is_command = typed.starts_with('/') && !typed.contains(char::is_whitespace) && typed.matches('/').count() == 1;
    (!is_assent && !is_command).then_some(typed)
}
