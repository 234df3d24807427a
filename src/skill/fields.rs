//! Converts the entries of a front matter to the fields of a skill: keys of the specification, of adage, and of an earlier
//! format.

use std::collections::{BTreeMap, BTreeSet};

use adage_redact::shorten;

use super::front_matter::Node;
use super::read::{SkillNote, SkillRefused};
use super::standard::{MAX_DESCRIPTION_CHARS, distinct, first_paragraph, is_blank, keep, own_words};
use super::write::Key;
use super::{Quality, Skill, SkillName, SkillProvenance};
use crate::lesson::{LessonId, Trust};

/// The entries of a front matter that have not been taken yet.
pub(super) struct Fields {
    pub(super) entries: Vec<(String, Node)>,
    pub(super) notes: Vec<SkillNote>,
}

impl Fields {
    /// Takes the first entry of a key. Entries that remain in the end are kept under `metadata`.
    fn take(&mut self, key: &str) -> Option<Node> {
        take(&mut self.entries, key)
    }

    /// A text of the specification, trimmed; none if it is missing.
    fn text(&mut self, key: &str) -> Option<String> {
        let node = self.take(key)?;
        let text = match node {
            // The specification requires the tools as one text, separated by blanks; many files have a list.
            Node::List(items) if key == "allowed-tools" => {
                items.into_iter().map(Node::into_text).collect::<Vec<_>>().join(" ")
            }
            node => self.flat(key, node),
        };
        let text = text.trim();
        (!is_blank(text)).then(|| text.to_owned())
    }

    fn flat(&mut self, key: &str, node: Node) -> String {
        if !matches!(node, Node::Text { .. }) {
            self.notes.push(SkillNote::Flattened { key: key.to_owned() });
        }
        node.into_text()
    }

    pub(super) fn name(&mut self, folder: Option<&str>) -> Result<SkillName, SkillRefused> {
        if let Some(name) = self.text("name") {
            let name: SkillName = name.parse()?;
            if let Some(folder) = folder.filter(|folder| *folder != name.as_str()) {
                self.notes.push(SkillNote::OtherFolder { name: name.to_string(), folder: folder.to_owned() });
            }
            return Ok(name);
        }
        let name = folder.unwrap_or_default().parse()?;
        self.notes.push(SkillNote::NoName);
        Ok(name)
    }

    pub(super) fn description(&mut self, body: &str, name: &SkillName) -> String {
        self.text("description").unwrap_or_else(|| {
            self.notes.push(SkillNote::NoDescription);
            let paragraph = first_paragraph(body).unwrap_or_else(|| name.to_string());
            shorten(&paragraph, MAX_DESCRIPTION_CHARS)
        })
    }

    pub(super) fn fill(&mut self, skill: &mut Skill) {
        skill.license = self.text("license");
        skill.compatibility = self.text("compatibility");
        skill.allowed_tools = self.text("allowed-tools");
        let mut metadata = BTreeMap::new();
        match self.take("metadata") {
            Some(Node::Map(entries)) => {
                let mut rest = self.own(skill, entries);
                for (key, node) in rest.drain(..) {
                    let text = self.flat(&key, node);
                    keep(&mut metadata, &key, text);
                }
            }
            Some(node) if !node.is_null() => {
                let text = self.flat("metadata", node);
                keep(&mut metadata, "metadata", text);
            }
            _ => {}
        }
        match self.take("odek") {
            Some(Node::Map(entries)) => self.older_block(skill, entries, &mut metadata),
            Some(node) => self.entries.push(("odek".to_owned(), node)),
            None => {}
        }
        for (key, field) in [("version", &mut skill.version), ("author", &mut skill.author)] {
            if field.is_empty()
                && let Some(node) = take(&mut self.entries, key)
            {
                node.into_text().trim().clone_into(field);
            }
        }
        for (key, node) in std::mem::take(&mut self.entries) {
            let text = self.flat(&key, node);
            let kept_as = keep(&mut metadata, &key, text);
            self.notes.push(SkillNote::Moved { key, kept_as });
        }
        skill.metadata = metadata;
    }

    /// Takes the entries that adage writes under `metadata`. Returns the others.
    fn own(&mut self, skill: &mut Skill, mut entries: Vec<(String, Node)>) -> Vec<(String, Node)> {
        for (key, name) in Key::ALL {
            let Some(node) = take(&mut entries, name) else { continue };
            let text = node.into_text();
            match key {
                Key::Version => text.trim().clone_into(&mut skill.version),
                Key::Author => text.trim().clone_into(&mut skill.author),
                Key::Topics => skill.topics = own_words([text]),
                Key::Actions => skill.actions = own_words([text]),
                Key::AutoLoad => skill.auto_load = is_true(&text),
                Key::Quality => skill.quality = Quality::parse(&text),
                // Any other value hides the skill instead of showing a tainted one.
                Key::Trust if text.trim() == "trusted" => {}
                Key::Trust => skill.provenance.trust = Trust::Tainted,
                Key::Sources => skill.provenance.sources = sources(&text),
                Key::Lessons => skill.provenance.lessons = self.lessons(&text),
            }
        }
        entries
    }

    fn lessons(&mut self, text: &str) -> Vec<LessonId> {
        let (mut lessons, mut known) = (Vec::new(), BTreeSet::new());
        for word in text.split_whitespace() {
            match word.parse() {
                Ok(id) if !known.insert(id) => {}
                Ok(id) => lessons.push(id),
                Err(_) => self.notes.push(SkillNote::NoLesson { text: word.to_owned() }),
            }
        }
        lessons
    }

    /// The nested block of an earlier format: `trigger: {topic, action}`, `auto_load`, `quality`, `provenance`.
    fn older_block(
        &mut self,
        skill: &mut Skill,
        mut entries: Vec<(String, Node)>,
        metadata: &mut BTreeMap<String, String>,
    ) {
        let words = |node: Option<Node>| match node {
            Some(Node::List(items)) => own_words(items.into_iter().map(Node::into_text)),
            Some(node) => own_words([node.into_text()]),
            None => Vec::new(),
        };
        if let Some(Node::Map(mut trigger)) = take_map(&mut entries, "trigger") {
            let (topics, actions) = (words(take(&mut trigger, "topic")), words(take(&mut trigger, "action")));
            for (field, found) in [(&mut skill.topics, topics), (&mut skill.actions, actions)] {
                if field.is_empty() {
                    *field = found;
                }
            }
            put_back(&mut entries, "trigger", trigger);
        }
        if let Some(node) = take(&mut entries, "auto_load") {
            skill.auto_load |= is_true(&node.into_text());
        }
        if let Some(node) = take(&mut entries, "quality")
            && skill.quality == Quality::default()
        {
            skill.quality = Quality::parse(&node.into_text());
        }
        if let Some(Node::Map(mut provenance)) = take_map(&mut entries, "provenance") {
            take_provenance(&mut skill.provenance, &mut provenance);
            put_back(&mut entries, "provenance", provenance);
        }
        for (key, node) in entries {
            let text = self.flat(&key, node);
            let kept_as = keep(metadata, &format!("odek-{key}"), text);
            self.notes.push(SkillNote::Moved { key: format!("odek.{key}"), kept_as });
        }
    }
}

/// Reads the origin of a skill in the earlier format.
fn take_provenance(provenance: &mut SkillProvenance, entries: &mut Vec<(String, Node)>) {
    for key in ["untrusted", "needs_review"] {
        // Only an explicit no counts as no.
        if take(entries, key).is_some_and(|node| !is_false(&node.into_text())) {
            provenance.trust = Trust::Tainted;
        }
    }
    if let Some(node) = take(entries, "sources")
        && provenance.sources.is_empty()
    {
        provenance.sources = match node {
            Node::List(items) => distinct(items.into_iter().map(Node::into_text)),
            node => distinct(node.into_text().split([',', ' ']).map(str::to_owned)),
        };
    }
}

fn take(entries: &mut Vec<(String, Node)>, key: &str) -> Option<Node> {
    let place = entries.iter().position(|(name, _)| name == key)?;
    Some(entries.remove(place).1)
}

/// As `take`, but leaves a value that is not a map.
fn take_map(entries: &mut Vec<(String, Node)>, key: &str) -> Option<Node> {
    let is_map = entries.iter().any(|(name, node)| name == key && matches!(node, Node::Map(_)));
    if is_map { take(entries, key) } else { None }
}

fn put_back(entries: &mut Vec<(String, Node)>, key: &str, rest: Vec<(String, Node)>) {
    if !rest.is_empty() {
        entries.push((key.to_owned(), Node::Map(rest)));
    }
}

fn is_true(text: &str) -> bool {
    ["true", "yes", "on", "1"].iter().any(|word| text.trim().eq_ignore_ascii_case(word))
}

fn is_false(text: &str) -> bool {
    ["", "false", "no", "off", "0"].iter().any(|word| text.trim().eq_ignore_ascii_case(word))
}

/// A JSON list of texts; any other value is one source.
fn sources(text: &str) -> Vec<String> {
    match serde_json::from_str::<Vec<String>>(text) {
        Ok(sources) => distinct(sources),
        Err(_) => distinct([text.to_owned()]),
    }
}
