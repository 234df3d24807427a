//! adage's section of a Markdown file: between two comments, one list item per lesson. Everything else in the file is kept byte for
//! byte.
//!
//! ```text
//! - **When:** parsing CSV exports
//!   - **Do:** Use the csv module.
//!   - **Not:** split(',')
//!   <!-- adage:lesson 019ac61f-… shown=3 helpful=2 harmful=0 -->
//! ```
//!
//! Further lines of a text are indented by four, deeper than anything of the list itself, so that no text can pass for a
//! label, a heading or a mark, and what it leaves open (a fence, a tag) ends with its list item.

use std::fmt::Write;

use super::field::First;
use super::item::{Item, Label, joined, parted};
use super::{BadSection, NotRead, NotReadReason, field};
use crate::lesson::{Lesson, LessonDraft};

const BEGIN: &str = "<!-- adage:lessons:begin";
const END: &str = "<!-- adage:lessons:end -->";
const MARK: &str = "<!-- adage:lesson";
const MARK_END: &str = " -->";
/// The note in the first mark, for readers of the file.
const NOTE: &str = " (kept by adage: `adage export` rewrites what stands between these marks, nothing else) -->";

/// The indent of further lines of a text.
const FURTHER: &str = "    ";

/// The reader that the section addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reader {
    Person,
    Agent,
}

impl Reader {
    fn heading(self) -> &'static str {
        match self {
            Self::Person => "## Lessons learned",
            Self::Agent => "## Lessons learned (follow these to avoid repeats)",
        }
    }
}

/// True for a text with the first mark of a section.
pub(super) fn begins_in(text: &str) -> bool {
    text.split_inclusive('\n').zip(fenced(text)).any(|(line, is_fenced)| !is_fenced && is_begin(line))
}

fn is_begin(line: &str) -> bool {
    outside_code(line).is_some_and(|line| line.starts_with(BEGIN))
}

fn is_end(line: &str) -> bool {
    outside_code(line) == Some(END)
}

/// The line without its indent; none for one that is indented as code, by four columns or a tab.
fn outside_code(line: &str) -> Option<&str> {
    let bare = line.trim();
    let indent = line.strip_suffix(line.trim_start()).unwrap_or_default();
    (indent.len() < FURTHER.len() && !indent.contains('\t')).then_some(bare)
}

/// For each line whether it is in a fenced block of code that is closed.
fn fenced(text: &str) -> Vec<bool> {
    let mut fenced = Vec::new();
    let mut open: Option<(usize, &str)> = None;
    for (place, line) in text.split_inclusive('\n').enumerate() {
        fenced.push(false);
        let bare = outside_code(line).unwrap_or_default();
        match open {
            Some((from, fence)) if bare.starts_with(fence) && bare.trim_matches(['`', '~']).is_empty() => {
                fenced.iter_mut().skip(from).for_each(|line| *line = true);
                open = None;
            }
            Some(_) => {}
            None => open = fence_at(bare).map(|fence| (place, fence)),
        }
    }
    fenced
}

/// The characters that open a fenced block.
fn fence_at(bare: &str) -> Option<&str> {
    ['`', '~'].into_iter().find_map(|mark| {
        let fence = bare.get(..bare.len() - bare.trim_start_matches(mark).len())?;
        let is_code_in_text = mark == '`' && bare.trim_start_matches(mark).contains(mark);
        (fence.len() >= 3 && !is_code_in_text).then_some(fence)
    })
}

/// The section, marks included.
pub(super) fn write<'a>(reader: Reader, lessons: impl Iterator<Item = &'a Lesson>) -> String {
    let mut text = format!("{BEGIN}{NOTE}\n{}\n\n", reader.heading());
    for lesson in lessons {
        let item = Item::of(lesson);
        for (label, field) in item.texts() {
            let bullet = if label == Label::When { "- " } else { "  - " };
            let _ = write!(text, "{bullet}**{}:**", label.name());
            let field = parted(field, "--", ">");
            let field = parted(&field, "<", "!--");
            let field = parted(&field, "<", "/");
            // Code keeps the indent of its first line, and a fence begins a line.
            let is_below = label == Label::Code || field.starts_with(char::is_whitespace) || field::opens_fence(&field);
            let first = if is_below { First::OnItsOwnLine } else { First::BesideLabel };
            let lines = field::to_lines(&field, first);
            let mut lines = lines.iter().map(String::as_str);
            if first == First::BesideLabel {
                let _ = write!(text, " {}", lines.next().unwrap_or_default());
            }
            text.push('\n');
            for line in lines {
                let indent = if line.is_empty() { "" } else { FURTHER };
                // So deep, a line is neither a heading nor an item in Markdown.
                let deeper = if could_mislead(line) { FURTHER } else { "" };
                let _ = writeln!(text, "{indent}{deeper}{line}");
            }
        }
        let Item { retrievals, helpful, harmful, .. } = item;
        let _ =
            writeln!(text, "  {MARK} {} shown={retrievals} helpful={helpful} harmful={harmful}{MARK_END}", lesson.id);
    }
    let _ = writeln!(text, "{END}");
    text
}

/// The file with its section replaced, or with this section at its end.
pub(super) fn put_section(file: &[u8], section: &str) -> Result<Vec<u8>, BadSection> {
    let text = String::from_utf8_lossy(file);
    let lines: Vec<&[u8]> = file.split_inclusive(|byte| *byte == b'\n').collect();
    let is_crlf = lines.first().is_some_and(|line| line.ends_with(b"\r\n"));
    let section = if is_crlf { section.replace('\n', "\r\n") } else { section.to_owned() };
    let mut whole = Vec::with_capacity(file.len() + section.len());
    if let Some((begin, end)) = find(&text)? {
        let place = |range: std::ops::Range<usize>| lines.get(range).unwrap_or_default().concat();
        whole.extend(place(0..begin));
        whole.extend(section.as_bytes());
        // A file that ended with the section keeps its last line unchanged.
        let had_newline = lines.get(end).is_some_and(|line| line.ends_with(b"\n"));
        if !had_newline {
            whole.truncate(whole.trim_ascii_end().len());
        }
        whole.extend(place(end + 1..lines.len()));
    } else {
        whole.extend(file);
        let newline: &[u8] = if is_crlf { b"\r\n" } else { b"\n" };
        if !file.is_empty() && !file.ends_with(b"\n") {
            whole.extend(newline);
        }
        if !file.is_empty() && !whole.ends_with(b"\n\n") && !whole.ends_with(b"\n\r\n") {
            whole.extend(newline);
        }
        whole.extend(section.as_bytes());
    }
    Ok(whole)
}

/// The lines of the marks, from 0.
fn find(text: &str) -> Result<Option<(usize, usize)>, BadSection> {
    let (mut begin, mut found) = (None, None);
    let fenced = fenced(text);
    for (place, line) in text.split_inclusive('\n').enumerate() {
        // Within the section, a fence is in a text of it.
        if begin.is_none() && fenced.get(place) == Some(&true) {
            continue;
        }
        if is_begin(line) {
            if begin.is_some() || found.is_some() {
                return Err(BadSection::Second { line: place + 1 });
            }
            begin = Some(place);
        } else if is_end(line) {
            let Some(begin) = begin.take() else { return Err(BadSection::Unopened { line: place + 1 }) };
            found = Some((begin, place));
        }
    }
    begin.map_or(Ok(found), |begin| Err(BadSection::Unclosed { line: begin + 1 }))
}

/// The lessons of the section.
pub(super) fn read(text: &str) -> Vec<Result<LessonDraft, NotRead>> {
    let (begin, end) = match find(text) {
        Ok(Some(found)) => found,
        Ok(None) => return vec![Err(NotRead { line: 1, reason: NotReadReason::NoSection })],
        Err(error) => {
            let (BadSection::Unclosed { line } | BadSection::Unopened { line } | BadSection::Second { line }) = error;
            return vec![Err(NotRead { line, reason: error.into() })];
        }
    };
    let mut reading = Reading::default();
    for (place, line) in text.lines().enumerate().take(end).skip(begin + 1) {
        reading.line(place + 1, line);
    }
    reading.close_item();
    reading.read
}

/// The state of reading a section.
#[derive(Default)]
struct Reading {
    read: Vec<Result<LessonDraft, NotRead>>,
    /// The item that is open, and the line in which it began.
    item: Option<(usize, Item)>,
    /// The text that is open.
    field: Option<Field>,
    n_blank: usize,
    /// The error of the open item.
    fault: Option<NotRead>,
}

/// A text that is being read.
struct Field {
    /// None for a bullet without a label.
    label: Option<Label>,
    first: First,
    lines: Vec<String>,
}

impl Reading {
    fn line(&mut self, number: usize, line: &str) {
        let bare = line.trim();
        // A mark within a text is escaped: this one was written by adage, however an editor has indented it.
        let is_mark = bare.starts_with(MARK);
        if let Some(Field { lines, .. }) = self.field.as_mut().filter(|_| !is_mark) {
            if bare.is_empty() && !line.starts_with(FURTHER) {
                self.n_blank += 1;
                return;
            }
            if let Some(further) = line.strip_prefix(FURTHER) {
                lines.extend(std::iter::repeat_n(String::new(), std::mem::take(&mut self.n_blank)));
                let shallower = further.strip_prefix(FURTHER).filter(|line| could_mislead(line));
                lines.push(shallower.unwrap_or(further).to_owned());
                return;
            }
        }
        self.n_blank = 0;
        if let Some(bullet) = line.strip_prefix("- ") {
            self.close_item();
            self.item = Some((number, Item::default()));
            self.open_field(labelled(bullet).map_or((None, bullet), |(label, text)| (Some(label), text)));
        } else if let Some((label, text)) = line.strip_prefix("  - ").and_then(labelled).filter(|_| self.item.is_some())
        {
            self.close_field(number);
            self.open_field((Some(label), text));
        } else if let Some(mark) = bare.strip_prefix(MARK).filter(|_| self.item.is_some()) {
            self.close_field(number);
            if !self.mark(mark) {
                self.fault = self.fault.take().or(Some(NotRead { line: number, reason: NotReadReason::BadMark }));
            }
        } else if !bare.is_empty() && !line.starts_with('#') {
            self.close_item();
            self.read.push(Err(NotRead { line: number, reason: NotReadReason::Stray }));
        }
    }

    fn open_field(&mut self, (label, text): (Option<Label>, &str)) {
        let first = text.strip_prefix(' ').unwrap_or(text);
        self.field = Some(if first.is_empty() {
            Field { label, first: First::OnItsOwnLine, lines: Vec::new() }
        } else {
            Field { label, first: First::BesideLabel, lines: vec![first.to_owned()] }
        });
    }

    fn close_field(&mut self, number: usize) {
        let (Some(Field { label, first, lines }), Some((_, item))) = (self.field.take(), self.item.as_mut()) else {
            return;
        };
        let text = field::from_lines(lines, first);
        let text = joined(&text, "<", "/");
        let text = joined(&text, "<", "!--");
        let text = joined(&text, "--", ">");
        let set = if let Some(label) = label {
            item.set(label, &text)
        } else {
            *item = Item::unlabelled(&text, None);
            Ok(())
        };
        if let Err(reason) = set {
            self.fault = self.fault.take().or(Some(NotRead { line: number, reason }));
        }
    }

    fn close_item(&mut self) {
        let Some(line) = self.item.as_ref().map(|(line, _)| *line) else { return };
        self.close_field(line);
        let Some((line, item)) = self.item.take() else { return };
        self.n_blank = 0;
        self.read.push(match self.fault.take() {
            Some(fault) => Err(fault),
            None => item.into_draft().map_err(|reason| NotRead { line, reason }),
        });
    }

    /// Reads id and counts; false if they are invalid.
    fn mark(&mut self, mark: &str) -> bool {
        let Some((_, item)) = self.item.as_mut() else { return false };
        let Some(mark) = mark.strip_suffix(MARK_END) else { return false };
        let mut words = mark.split_whitespace();
        let Some(Ok(id)) = words.next().map(str::parse) else { return false };
        item.id = Some(id);
        words.all(|word| {
            let Some((key, Ok(count))) = word.split_once('=').map(|(key, count)| (key, count.parse())) else {
                return false;
            };
            match key {
                "shown" => item.retrievals = count,
                "helpful" => item.helpful = count,
                "harmful" => item.harmful = count,
                // Keys of a later version.
                _ => {}
            }
            true
        })
    }
}

/// True for a line that a reader could take for a heading, or for a label of the list.
fn could_mislead(line: &str) -> bool {
    let bare = line.trim_start_matches(|c: char| c.is_whitespace() || c.is_ascii_digit() || "-+*>.)_".contains(c));
    let is_underline = !line.trim().is_empty() && line.trim().chars().all(|c| matches!(c, '=' | '-'));
    let is_label =
        || Label::ALL.iter().any(|label| bare.strip_prefix(label.name()).is_some_and(|rest| rest.starts_with(':')));
    bare.starts_with('#') || is_underline || is_label()
}

/// The label of a text, and the rest of its line.
fn labelled(text: &str) -> Option<(Label, &str)> {
    let rest = text.strip_prefix("**")?;
    Label::ALL.into_iter().find_map(|label| Some((label, rest.strip_prefix(label.name())?.strip_prefix(":**")?)))
}
