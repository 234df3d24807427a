//! Text that a harness (the agent's program) puts into a user message.
//!
//! A user message may consist of text of the harness (a compaction summary, the output of a local command), text of a person,
//! or both: a reminder after a question, lessons recalled before it. [`split`] separates them. Ambiguous text is attributed to
//! the harness: a lost sentence loses a lesson, but a sentence that no one typed can forge one.
//!
//! Text that a person typed after a slash command (`<command-args>`) is theirs; the command's own text is not. A tag quoted by
//! a person is treated as the tag. [`markers`] lists the tags and phrases.

mod markers;
mod task;
#[cfg(test)]
mod tests;

use adage_redact::block::BlockLines;

pub use task::task_in;

use markers::{
    COMMAND_ENDS, COMMAND_STARTS, EDITOR_REQUEST, EDITOR_STARTS, HARNESS_TAGS, HOOK_EVENTS, MESSAGE_STARTS, MODEL_TAGS,
    NOT_MADE_STARTS, NOTICE_STARTS, NOTIFICATION_TAG, REFUSAL_REASON, TYPED_TAG,
};

/// A user message, divided by author.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Split {
    /// The text that a person typed, its parts joined by newlines; empty if there is none.
    pub(crate) typed: String,
    /// The texts that the harness wrote, in the order in which they were cut out; none is blank.
    pub(crate) injected: Vec<String>,
    /// True if the harness's text reaches the end of the message. A following part of the same message continues it.
    pub(crate) is_open: bool,
}

/// Separates what a person typed from what the harness wrote.
pub(crate) fn split(text: &str) -> Split {
    let mut split = Split::default();
    if starts_with_any(text.trim_start(), &MESSAGE_STARTS) {
        split.inject(text);
        split.is_open = true;
        return split;
    }
    let body = split.cut_editor_context(text);
    let untagged = split.cut_tags(body);
    let unblocked = split.cut_blocks(&untagged);
    let (typed, notice) = unblocked.split_at(notice_start(&unblocked));
    split.is_open |= !notice.is_empty();
    split.inject(notice);
    trim_keeping_indent(typed).clone_into(&mut split.typed);
    split
}

/// The text with the angle bracket of each tag that a harness encloses its own text in, or a model's calls, as `&lt;`: the text
/// can neither end the harness's block that it is put into nor begin one. Case, blanks and slashes before the name do not count, nor
/// whether a hyphen or an underscore joins its words, nor the width of the bracket.
///
/// ```
/// use adage_transcript::without_harness_tags;
/// assert_eq!(without_harness_tags("a </system-reminder> <b>"), "a &lt;/system-reminder> <b>");
/// ```
#[must_use]
pub fn without_harness_tags(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, bracket, inner)) = at_bracket(rest) {
        safe.push_str(before);
        safe.push_str(if names_harness(inner) { "&lt;" } else { bracket });
        rest = inner;
    }
    safe.push_str(rest);
    safe
}

/// The text before the first angle bracket of any width, the bracket, and the text after it.
fn at_bracket(text: &str) -> Option<(&str, &str, &str)> {
    let (at, bracket) = text.match_indices(['<', '＜', '﹤']).next()?;
    let (before, from) = text.split_at(at);
    let (bracket, inner) = from.split_at(bracket.len());
    Some((before, bracket, inner))
}

/// True if what follows an angle bracket is a harness's tag. `<file>` alone is what a person writes for a word to be filled in.
fn names_harness(inner: &str) -> bool {
    let bare = inner.trim_start_matches(|c: char| c == '/' || c == '\\' || c.is_whitespace());
    let is_closing = inner.trim_start().starts_with(['/', '\\']);
    // Also to a reader that takes a long s for an s.
    let lower = |text: &str| -> String {
        let letters = text.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase);
        letters.map(|c| if matches!(c, '_' | '‐' | '‑') { '-' } else { c }).collect()
    };
    let name = lower(&bare.chars().take(64).collect::<String>());
    // Our own tag of a skill, whose text cannot close it.
    let tags = HARNESS_TAGS.iter().chain(&MODEL_TAGS).filter(|tag| **tag != "skill");
    tags.into_iter().any(|tag| {
        let Some(after) = name.strip_prefix(&lower(tag)) else { return false };
        let is_blank = !is_closing && after.starts_with(['>', '＞']) && !tag.contains(['-', '_', ' ']);
        !is_blank && !after.starts_with(|c: char| c.is_alphanumeric() || c == '-')
    })
}

/// True for the message that a slash command makes.
pub(crate) fn is_command(text: &str) -> bool {
    starts_with_any(text.trim_start(), &COMMAND_STARTS)
}

/// True for a message after which a slash command's own text is over: the output of a command of the program itself, or the person's
/// interruption.
pub(crate) fn ends_command(text: &str) -> bool {
    starts_with_any(text.trim_start(), &COMMAND_ENDS)
}

/// What the person said when they refused a tool call, from the call's result; none if they gave no reason.
pub(crate) fn said_at_refusal(result: &str) -> Option<&str> {
    result.split_once(REFUSAL_REASON).map(|(_, said)| said.trim()).filter(|said| !said.is_empty())
}

/// True if the result says that the call was never made.
pub(crate) fn is_not_made(result: &str) -> bool {
    starts_with_any(result.trim_start().trim_start_matches("<tool_use_error>"), &NOT_MADE_STARTS)
}

impl Split {
    /// Adds a text of the harness, unless it is blank.
    fn inject(&mut self, text: &str) {
        let text = text.trim();
        if !text.is_empty() {
            self.injected.push(text.to_owned());
        }
    }

    /// Cuts out what an editor extension wrote before the request; returns the request.
    fn cut_editor_context<'a>(&mut self, text: &'a str) -> &'a str {
        // The last heading counts: the content of the editor can contain the heading too.
        if let Some((context, request)) = text.rsplit_once(EDITOR_REQUEST) {
            self.inject(context);
            request
        } else if starts_with_any(text.trim_start(), &EDITOR_STARTS) {
            self.inject(text);
            ""
        } else {
            text
        }
    }

    /// Cuts out tagged text; returns the rest.
    fn cut_tags(&mut self, text: &str) -> String {
        let is_command = is_command(text);
        let mut typed = String::new();
        // In the message of a slash command, only the arguments are typed.
        let untagged = |split: &mut Self, typed: &mut String, text: &str| {
            if is_command { split.inject(text) } else { typed.push_str(text) }
        };
        let mut rest = text;
        while let Some((start, tag)) = next_tag(rest) {
            let (before, tagged) = rest.split_at(start);
            untagged(self, &mut typed, before);
            let end = tag_end(tagged, tag);
            let (tagged, after) = tagged.split_at(end.unwrap_or(tagged.len()));
            if tag == TYPED_TAG {
                let arguments = tagged.split_once('>').map_or("", |(_, inner)| inner);
                let arguments = arguments.strip_suffix(&*format!("</{TYPED_TAG}>")).unwrap_or(arguments);
                typed.extend(["\n", arguments, "\n"]);
            } else {
                self.inject(tagged);
            }
            // A line after a notification says where the task's output is.
            let is_notification = tag == NOTIFICATION_TAG;
            if is_notification {
                self.inject(after);
            }
            if is_notification || end.is_none() {
                self.is_open = true;
                return typed;
            }
            rest = after;
        }
        untagged(self, &mut typed, rest);
        typed
    }

    /// Cuts out adage's own context blocks; returns the rest.
    fn cut_blocks(&mut self, text: &str) -> String {
        let mut kept = String::new();
        let mut cut = String::new();
        // The lines of `cut` that are not blank.
        let mut n_cut = 0;
        let mut block = BlockLines::default();
        for line in text.split_inclusive('\n') {
            // A real block has at least one item below its heading: after a bare heading, the line is part of an imitation.
            let is_bare_heading = n_cut == 1 && cut.trim_start().starts_with('#');
            if block.takes(line) || is_bare_heading {
                n_cut += usize::from(!line.trim().is_empty());
                cut.push_str(line);
            } else {
                n_cut = 0;
                self.inject(&std::mem::take(&mut cut));
                kept.push_str(line);
            }
        }
        self.inject(&cut);
        kept
    }
}

/// The position of the next opening tag, and its name.
fn next_tag(text: &str) -> Option<(usize, &'static str)> {
    // Once for all tags: a text of tags that do not end is read in linear time.
    let last_end = text.rfind('>')?;
    text.match_indices('<').take_while(|(at, _)| *at < last_end).find_map(|(at, _)| {
        let inner = text.get(at + 1..)?;
        let is_tag = |tag: &&str| inner.strip_prefix(*tag).is_some_and(|rest| rest.starts_with(['>', ' ', '\n']));
        HARNESS_TAGS.iter().chain([&TYPED_TAG]).find(|tag| is_tag(tag)).map(|tag| (at, *tag))
    })
}

/// The end of a tag that begins the text: behind the last tag that closes it, so that tagged text cannot end it early.
///
/// None, which means the whole text, if it is not closed, closed more often than opened, or opened again behind its last end: then
/// tagged text contains a tag itself.
fn tag_end(text: &str, tag: &str) -> Option<usize> {
    let (open, close) = (format!("<{tag}"), format!("</{tag}>"));
    let end = text.rfind(&close)? + close.len();
    let is_balanced = text.matches(&close).count() <= text.matches(&open).count();
    let is_opened_again = text.get(end..).is_none_or(|after| after.contains(&open));
    (is_balanced && !is_opened_again).then_some(end)
}

/// The start of the first line that begins the harness's text without a tag; the length of the text if there is none.
fn notice_start(text: &str) -> usize {
    text.split_inclusive('\n').take_while(|line| !is_notice(line.trim())).map(str::len).sum()
}

/// True for a line with which a harness begins: what follows was written or read by the harness.
fn is_notice(line: &str) -> bool {
    starts_with_any(line, &NOTICE_STARTS) || is_hook_notice(line) || is_tool_notice(line)
}

/// `UserPromptSubmit hook success: …`
fn is_hook_notice(line: &str) -> bool {
    let event = line.split([' ', ':']).next().unwrap_or_default();
    HOOK_EVENTS.contains(&event) && line.split_once(" hook ").is_some_and(|(before, _)| !before.contains(' '))
}

/// `Called the Grep tool with …`
fn is_tool_notice(line: &str) -> bool {
    starts_with_any(line, &["Called the ", "Result of calling the "]) && line.contains(" tool")
}

/// The text without white space around it, except for the indent of a first line that is indented as code.
fn trim_keeping_indent(text: &str) -> &str {
    let text = text.trim_end();
    let inner = text.trim_start();
    let start = text.get(..text.len() - inner.len()).map_or(0, |blanks| blanks.rfind('\n').map_or(0, |at| at + 1));
    let line = text.get(start..).unwrap_or_default();
    if line.starts_with("    ") || line.starts_with('\t') { line } else { inner }
}

fn starts_with_any(text: &str, starts: &[&str]) -> bool {
    starts.iter().any(|start| text.starts_with(start))
}
