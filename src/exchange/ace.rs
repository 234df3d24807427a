//! Lines of an ACE playbook (Agentic Context Engineering): one bullet per line, `[id] helpful=n harmful=n :: text`, under
//! headings.
//!
//! A lesson's texts are on one line, with their labels; `⏎` represents a line end. A bullet that adage did not write is one text,
//! which becomes both the advice and the trigger; its heading becomes its topic.

use std::fmt::Write;

use super::field::{self, First};
use super::item::{Item, Label, joined, parted};
use super::{NotRead, NotReadReason};
use crate::lesson::{Lesson, LessonDraft, LessonId};

/// The character for a line break within a bullet.
const RETURN: char = '⏎';

/// The headings of lessons, in ACE's wording.
const STRATEGIES: &str = "STRATEGIES & INSIGHTS";
const CODE: &str = "CODE SNIPPETS & TEMPLATES";
const MISTAKES: &str = "COMMON MISTAKES TO AVOID";

pub(super) fn write<'a>(lessons: impl Iterator<Item = &'a Lesson>) -> String {
    let mut sections = [(STRATEGIES, String::new()), (CODE, String::new()), (MISTAKES, String::new())];
    for lesson in lessons {
        let item = Item::of(lesson);
        let heading = match () {
            () if item.has(Label::Not) => MISTAKES,
            () if item.has(Label::Code) => CODE,
            () => STRATEGIES,
        };
        let texts = item.texts().map(|(label, text)| {
            format!("{}: {}", label.name(), field::to_lines(text, First::OnItsOwnLine).join("\n  "))
        });
        let text = on_one_line(&texts.collect::<Vec<_>>().join("\n"));
        // No comment or tag of a text reaches over the bullets after it.
        let text = parted(&text, "<", "!--");
        let text = parted(&text, "<", "/");
        for (_, section) in sections.iter_mut().filter(|(name, _)| *name == heading) {
            let Item { helpful, harmful, .. } = item;
            let _ = writeln!(section, "[{}] helpful={helpful} harmful={harmful} :: {text}", lesson.id);
        }
    }
    let filled = sections.iter().filter(|(_, section)| !section.is_empty());
    filled.map(|(name, section)| format!("## {name}\n{section}")).collect::<Vec<_>>().join("\n")
}

pub(super) fn read(text: &str) -> Vec<Result<LessonDraft, NotRead>> {
    let (mut read, mut heading) = (Vec::new(), None);
    for (place, line) in text.lines().enumerate() {
        // Blanks at the end of a line belong to a fence.
        let line = line.trim_start();
        if line.is_empty() {
            continue;
        }
        if line.starts_with('#') {
            heading = Some(line.trim_start_matches('#').trim()).filter(|heading| !heading.is_empty());
            continue;
        }
        let draft = match bullet(line) {
            None => Err(NotReadReason::Stray),
            Some(bullet) => item(&bullet, heading).into_draft(),
        };
        read.push(draft.map_err(|reason| NotRead { line: place + 1, reason }));
    }
    read
}

pub(super) fn is_bullet(line: &str) -> bool {
    bullet(line.trim()).is_some()
}

/// True for a heading that lessons were written under.
pub(super) fn is_our_heading(line: &str) -> bool {
    let heading = line.strip_prefix("## ").map(str::trim_end);
    heading.is_some_and(|heading| [STRATEGIES, CODE, MISTAKES].contains(&heading))
}

/// True for a bullet that a lesson was written as.
pub(super) fn is_ours(line: &str) -> bool {
    bullet(line)
        .is_some_and(|bullet| bullet.id.parse::<LessonId>().is_ok() && labelled(&on_lines(bullet.text)).is_some())
}

struct Bullet<'a> {
    id: &'a str,
    helpful: u64,
    harmful: u64,
    text: &'a str,
}

fn bullet(line: &str) -> Option<Bullet<'_>> {
    let line = line.strip_prefix("- ").or_else(|| line.strip_prefix("* ")).unwrap_or(line);
    let (id, rest) = line.strip_prefix('[')?.split_once(']')?;
    let (counts, text) = rest.split_once("::")?;
    let mut counts = counts.split_whitespace();
    let mut count = |key: &str| counts.next()?.strip_prefix(key)?.strip_prefix('=')?.parse().ok();
    let (helpful, harmful) = (count("helpful")?, count("harmful")?);
    let is_all = counts.next().is_none();
    is_all.then_some(Bullet { id, helpful, harmful, text: text.trim_start() })
}

fn item(bullet: &Bullet<'_>, heading: Option<&str>) -> Item {
    let text = joined(bullet.text, "<", "/");
    let text = on_lines(&joined(&text, "<", "!--"));
    let mut item = labelled(&text).unwrap_or_else(|| {
        let topic = heading.map(|heading| heading.replace(',', " ").to_lowercase());
        Item::unlabelled(text.trim_end(), topic.as_deref())
    });
    item.id = bullet.id.parse().ok();
    (item.helpful, item.harmful) = (bullet.helpful, bullet.harmful);
    item
}

/// The item of a text with adage's labels, at least the first two.
fn labelled(text: &str) -> Option<Item> {
    let mut item = Item::default();
    let mut fields: Vec<(Label, Vec<&str>)> = Vec::new();
    for line in text.split('\n') {
        let label = Label::ALL.into_iter().find_map(|label| {
            let rest = line.strip_prefix(label.name())?.strip_prefix(':')?;
            Some((label, rest.strip_prefix(' ').unwrap_or(rest)))
        });
        match (label, fields.last_mut()) {
            (Some((label, first)), _) => fields.push((label, vec![first])),
            (None, Some((_, lines))) => lines.push(line.strip_prefix("  ")?),
            (None, None) => return None,
        }
    }
    for (label, lines) in fields {
        let lines = lines.into_iter().map(str::to_owned).collect();
        item.set(label, &field::from_lines(lines, First::OnItsOwnLine)).ok()?;
    }
    (item.has(Label::When) && item.has(Label::Do)).then_some(item)
}

/// Line breaks become `⏎`. Backslashes before one are doubled, and a literal `⏎` gets one more, so that both can be restored.
fn on_one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    let mut n_backslashes = 0;
    for c in text.chars() {
        if c == '\n' || c == RETURN {
            line.extend(std::iter::repeat_n('\\', n_backslashes));
            line.push_str(if c == RETURN { "\\" } else { "" });
            line.push(RETURN);
        } else {
            line.push(c);
        }
        n_backslashes = if c == '\\' { n_backslashes + 1 } else { 0 };
    }
    line
}

/// The inverse of [`on_one_line`]. Backslashes elsewhere are kept, for example in paths.
fn on_lines(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut n_backslashes = 0;
    for c in line.chars() {
        if c == '\\' {
            n_backslashes += 1;
            continue;
        }
        let n_kept = if c == RETURN { n_backslashes / 2 } else { n_backslashes };
        text.extend(std::iter::repeat_n('\\', n_kept));
        text.push(if c == RETURN && n_backslashes % 2 == 0 { '\n' } else { c });
        n_backslashes = 0;
    }
    text.extend(std::iter::repeat_n('\\', n_backslashes));
    text
}
