//! Notes that other memories keep, as drafts that await review.

mod json;
mod markdown;

use serde_json::Value;

use super::item::{Item, Label};
use super::{NotRead, NotReadReason};
use crate::lesson::LessonDraft;
use crate::skill::front_matter_texts;
use markdown::{Block, BlockKind};

/// Another memory, or a file of rules, by the form of its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OtherMemory {
    /// A topic file of an agent's memory: a front matter with a description, and a note.
    Topic,
    /// Codex' `MEMORY.md` and `memory_summary.md`.
    Codex,
    /// A note of basic-memory: observations under a front matter.
    BasicMemory,
    /// Markdown with lists or headings: `CLAUDE.md`, `AGENTS.md`, `GEMINI.md`, an agent's `MEMORY.md`.
    Rules,
    /// Memories of mem0, as its API and its export give them.
    Mem0,
    /// An export of mcp-memory-service.
    McpMemoryService,
    /// `memory.json` of a data export of `ChatGPT`.
    ChatGpt,
    /// `memories.json` of a data export of Claude.
    Claude,
}

impl OtherMemory {
    /// Detects the memory that a text was written by; none for lessons, and for text without lists and headings.
    #[must_use]
    pub fn detect(text: &str) -> Option<Self> {
        let text = normal(text);
        match serde_json::from_str::<Value>(&text) {
            Ok(value) => json::detect(&value),
            Err(_) if text.starts_with(['{', '[']) => None,
            Err(_) => detect_markdown(&text),
        }
    }

    /// The notes of a text in their order, and the entries that cannot be read. Each note is a draft that awaits review.
    ///
    /// ```
    /// use adage::exchange::OtherMemory;
    ///
    /// let text = "# Testing\n- Run `npm test` before each commit\n";
    /// let memory = OtherMemory::detect(text).unwrap();
    /// assert_eq!(memory, OtherMemory::Rules);
    /// let notes = memory.read(text);
    /// assert_eq!(notes[0].as_ref().unwrap().to_json()["correct_pattern"], "Run `npm test` before each commit");
    /// assert_eq!(notes[0].as_ref().unwrap().to_json()["domains"][0], "Testing");
    /// ```
    #[must_use]
    pub fn read(self, text: &str) -> Vec<Result<LessonDraft, NotRead>> {
        let text = &normal(text);
        match self {
            Self::Topic => drafts(topic_note(text)),
            Self::Codex => drafts(codex_notes(text)),
            Self::BasicMemory => drafts(observations(text)),
            Self::Rules => drafts(rules(text)),
            Self::Mem0 => json::mem0(text),
            Self::McpMemoryService | Self::ChatGpt => json::contents(text),
            Self::Claude => json::claude(text),
        }
    }
}

/// What a note says, before it is a draft.
#[derive(Debug, Default)]
struct Note {
    trigger: String,
    solution: String,
    topics: Vec<String>,
}

impl Note {
    /// A text without a situation of its own.
    fn of(text: &str) -> Self {
        Self { trigger: text.to_owned(), solution: text.to_owned(), topics: Vec::new() }
    }

    fn into_draft(self) -> Result<LessonDraft, NotReadReason> {
        let topics: Vec<String> = self.topics.iter().map(|topic| topic.replace(',', " ")).collect();
        let mut item = Item::default();
        item.set(Label::When, &self.trigger)?;
        item.set(Label::Do, &self.solution)?;
        item.set(Label::Topics, &topics.join(", "))?;
        item.into_draft()
    }
}

/// The text without a byte order mark, with line feeds only.
fn normal(text: &str) -> String {
    text.trim_start_matches('\u{feff}').trim_start().replace("\r\n", "\n")
}

fn drafts(notes: Vec<Note>) -> Vec<Result<LessonDraft, NotRead>> {
    notes.into_iter().filter_map(|note| note.into_draft().ok()).map(Ok).collect()
}

fn detect_markdown(text: &str) -> Option<OtherMemory> {
    let parts = markdown::parts(text);
    let front: Vec<(String, String)> = parts.first()?.front.map(front_matter_texts).unwrap_or_default();
    let has = |key: &str| front.iter().any(|(name, _)| name == key);
    let is_codex = |line: &str| line.starts_with("# Task Group:") || line.trim() == "## What's in Memory";
    if has("rollout_summary_files") || text.lines().any(is_codex) {
        Some(OtherMemory::Codex)
    } else if has("permalink") && !observations(text).is_empty() {
        Some(OtherMemory::BasicMemory)
    } else if has("description") {
        Some(OtherMemory::Topic)
    } else {
        text.lines()
            .any(|line| markdown::heading(line).is_some() || markdown::item(line).is_some())
            .then_some(OtherMemory::Rules)
    }
}

/// One note: the description says when it holds.
fn topic_note(text: &str) -> Vec<Note> {
    let Some(part) = markdown::parts(text).into_iter().next() else { return Vec::new() };
    let front = part.front.map(front_matter_texts).unwrap_or_default();
    let value = |key: &str| front.iter().find(|(name, _)| name == key).map(|(_, value)| value.clone());
    let trigger = value("description").unwrap_or_default();
    vec![Note { trigger, solution: part.body.trim().to_owned(), topics: value("name").into_iter().collect() }]
}

fn rules(text: &str) -> Vec<Note> {
    blocks(text).into_iter().filter(|block| !markdown::is_pointer(&block.text)).map(note).collect()
}

fn note(block: Block) -> Note {
    let topics: Vec<String> = Some(block.topic).filter(|topic| !topic.is_empty()).into_iter().collect();
    match (block.kind, topics.first()) {
        // Code alone does not say when it holds.
        (BlockKind::Fence, Some(topic)) => Note { trigger: topic.clone(), solution: block.text, topics },
        _ => Note { topics, ..Note::of(&block.text) },
    }
}

fn blocks(text: &str) -> Vec<Block> {
    markdown::parts(text).into_iter().flat_map(|part| markdown::blocks(part.body)).collect()
}

/// The sections of Codex' files that index other files.
const CODEX_INDEXES: [&str; 4] = ["rollout_summary_files", "keywords", "What's in Memory", "references"];

fn codex_notes(text: &str) -> Vec<Note> {
    let is_said = |block: &Block| {
        !CODEX_INDEXES.contains(&block.topic.as_str())
            && !["scope:", "applies_to:"].iter().any(|key| block.text.starts_with(key))
    };
    let note = |block: Block| {
        let text = without_citations(&block.text).to_owned();
        match text.split_once(" -> ") {
            Some((trigger, solution)) => {
                Note { trigger: trigger.to_owned(), solution: solution.to_owned(), topics: vec![block.topic] }
            }
            None => note(Block { text, ..block }),
        }
    };
    blocks(text).into_iter().filter(is_said).map(note).collect()
}

/// The text without `[Task 1]` and `[ad-hoc note]` at its end.
fn without_citations(text: &str) -> &str {
    let mut text = text.trim_end();
    while let Some((before, cited)) = text.strip_suffix(']').and_then(|inner| inner.rsplit_once('[')) {
        if !cited.starts_with("Task ") && cited != "ad-hoc note" {
            break;
        }
        text = before.trim_end();
    }
    text
}

/// The observations of a note of basic-memory: `- [category] text #tag`.
fn observations(text: &str) -> Vec<Note> {
    let parts = markdown::parts(text);
    let front = parts.first().and_then(|part| part.front).map(front_matter_texts).unwrap_or_default();
    let title = front.into_iter().find(|(key, _)| key == "title").map(|(_, title)| title);
    let items = blocks(text).into_iter().filter(|block| block.kind == BlockKind::Item);
    let observed = items.filter_map(|block| {
        let (category, text) = block.text.strip_prefix('[')?.split_once("] ")?;
        // A task of a list, or a link.
        if matches!(category.trim(), "" | "x" | "X" | "-") || category.contains('[') {
            return None;
        }
        let (text, tags) = without_tags(text);
        let topics = title.iter().cloned().chain([category.to_owned()]).chain(tags).collect();
        Some(Note { topics, ..Note::of(text) })
    });
    observed.collect()
}

fn without_tags(text: &str) -> (&str, Vec<String>) {
    let (mut text, mut tags) = (text.trim_end(), Vec::new());
    while let Some((before, tag)) = text.rsplit_once(" #") {
        if tag.is_empty() || tag.contains(char::is_whitespace) {
            break;
        }
        tags.push(tag.to_owned());
        text = before.trim_end();
    }
    (text, tags)
}
