//! The blocks of a Markdown text that can each be a rule: items of lists with all below them, paragraphs, and code.

use adage_redact::fence_of;

/// A front matter and the text after it.
pub(super) struct Part<'a> {
    pub(super) front: Option<&'a str>,
    pub(super) body: &'a str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockKind {
    Item,
    Paragraph,
    Fence,
}

#[derive(Debug)]
pub(super) struct Block {
    pub(super) kind: BlockKind,
    /// The heading above it, or the line that introduces it; empty if there is none.
    pub(super) topic: String,
    pub(super) text: String,
}

/// The mark of a front matter's first and last line, and the key of each one after the first: a Codex handbook has several.
const FRONT: &str = "---\n";
const LATER_FRONT: &str = "\n---\nrollout_summary_files:";

/// The text as parts, each with the front matter that it begins with.
pub(super) fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    loop {
        let framed = rest.strip_prefix(FRONT).and_then(|inner| inner.split_once("\n---"));
        let (front, after) = framed.map_or((None, rest), |(front, after)| (Some(front), after));
        let Some((body, later)) = after.find(LATER_FRONT).and_then(|at| after.split_at_checked(at + 1)) else {
            parts.push(Part { front, body: after });
            return parts;
        };
        parts.push(Part { front, body });
        rest = later;
    }
}

/// The text of a heading, which may be a line in bold.
pub(super) fn heading(line: &str) -> Option<&str> {
    let line = line.trim();
    let marked = line.trim_start_matches('#');
    let n_marks = line.len() - marked.len();
    if (1..=6).contains(&n_marks) && marked.starts_with(' ') {
        return Some(marked.trim().trim_end_matches(':'));
    }
    let bold = line.strip_prefix("**")?.strip_suffix("**")?;
    (!bold.is_empty() && !bold.contains("**")).then(|| bold.trim_end_matches(':'))
}

/// The text of a list's item.
pub(super) fn item(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let bullet = ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark));
    let numbered = || {
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let is_number = (1..=9).contains(&(line.len() - rest.len()));
        rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") ")).filter(|_| is_number)
    };
    bullet.or_else(numbered).map(str::trim).filter(|text| !text.is_empty())
}

/// True for what only names another file: an import, `@` and a path, or an entry of an index, a link to a topic's file.
pub(super) fn is_pointer(text: &str) -> bool {
    let is_import = text.starts_with('@') && !text.contains(char::is_whitespace);
    let target =
        text.strip_prefix('[').and_then(|rest| rest.split_once("](")).and_then(|(_, rest)| rest.split_once(')'));
    is_import || target.is_some_and(|(file, _)| file.strip_suffix(".md").is_some_and(|name| !name.contains('/')))
}

pub(super) fn blocks(text: &str) -> Vec<Block> {
    let mut reader = Reader::default();
    text.lines().for_each(|line| reader.read(line.trim_end()));
    reader.close();
    reader.blocks
}

#[derive(Default)]
struct Reader {
    blocks: Vec<Block>,
    open: Option<Block>,
    heading: String,
    /// The line that introduces the next list or code.
    lead: Option<String>,
    /// The marks of the open fence.
    fence: Option<String>,
    is_comment: bool,
    is_after_blank: bool,
}

impl Reader {
    fn read(&mut self, line: &str) {
        let bare = line.trim_start();
        if self.is_comment {
            self.is_comment = !bare.contains("-->");
        } else if let Some(marks) = &self.fence {
            let is_end = fence_of(bare).is_some_and(|(end, info)| end.starts_with(marks.as_str()) && info.is_empty());
            self.fence = self.fence.take().filter(|_| !is_end);
            self.add(line);
        } else if self.is_in_item(line) {
            self.fence = fence_of(bare).map(|(marks, _)| marks);
            self.add(line);
        } else {
            self.begin(line, bare);
        }
        self.is_after_blank = bare.is_empty();
    }

    /// True for a line below an item: indented, blank, or its next line.
    fn is_in_item(&self, line: &str) -> bool {
        let is_item = self.open.as_ref().is_some_and(|open| open.kind == BlockKind::Item);
        is_item && (line.is_empty() || line.starts_with("  ") || line.starts_with('\t'))
    }

    fn begin(&mut self, line: &str, bare: &str) {
        let is_text = self.open.as_ref().is_some_and(|open| open.kind != BlockKind::Fence) && !self.is_after_blank;
        if bare.is_empty() || matches!(bare, "---" | "***" | "___") {
            self.close();
        } else if bare.starts_with("<!--") {
            self.close();
            self.is_comment = !bare.contains("-->");
        } else if let Some(heading) = heading(bare) {
            self.close();
            (self.heading, self.lead) = (heading.to_owned(), None);
        } else if let Some((marks, _)) = fence_of(bare) {
            self.start(BlockKind::Fence, line);
            self.fence = Some(marks);
        } else if let Some(text) = item(bare) {
            self.start(BlockKind::Item, text);
        } else if is_text {
            self.add(line);
        } else {
            self.start(BlockKind::Paragraph, bare);
        }
    }

    fn start(&mut self, kind: BlockKind, text: &str) {
        self.close();
        if kind == BlockKind::Paragraph {
            self.lead = None;
        }
        let topic = self.lead.clone().unwrap_or_else(|| self.heading.clone());
        self.open = Some(Block { kind, topic, text: text.to_owned() });
    }

    fn add(&mut self, line: &str) {
        if let Some(open) = &mut self.open {
            open.text.extend(["\n", line]);
        }
    }

    fn close(&mut self) {
        let Some(mut block) = self.open.take() else { return };
        block.text.truncate(block.text.trim_end().len());
        match block.text.strip_suffix(':') {
            Some(lead) if block.kind == BlockKind::Paragraph => self.lead = Some(lead.to_owned()),
            _ => self.blocks.push(block),
        }
    }
}
