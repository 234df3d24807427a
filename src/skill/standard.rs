//! The standard form of a skill: it meets the specification and is read back unchanged from a file.

use std::collections::{BTreeMap, BTreeSet};

use adage_redact::{shorten, visible};

use super::write::Key;
use super::{Skill, SkillName};

/// The maximum characters of a description, from the specification.
pub(super) const MAX_DESCRIPTION_CHARS: usize = 1024;
/// The maximum characters of a compatibility note, from the specification.
const MAX_COMPATIBILITY_CHARS: usize = 500;
/// The maximum characters of a key under `metadata`. Escaped, each becomes at most ten characters, and a YAML key may have
/// 1,024.
const MAX_KEY_CHARS: usize = 96;

impl Skill {
    /// The skill in standard form: a standard name, a description of 1 to 1,024 characters (cut after a word with `…`), a
    /// compatibility note of at most 500 characters, keywords as single lower-case words, line ends as `
    /// `. A skill in this form is unchanged.
    #[must_use]
    pub fn standardised(&self) -> Self {
        let name = match &self.name {
            name if name.is_standard() => name.clone(),
            name => SkillName::slug(name.as_str()).unwrap_or_else(SkillName::unnamed),
        };
        let text =
            |text: &Option<String>| text.as_deref().map(str::trim).filter(|text| !is_blank(text)).map(str::to_owned);
        let mut body = normal_body(&self.body);
        if is_blank(&body) {
            body = format!("# {name}");
        }
        let description = match self.description.trim() {
            blank if is_blank(blank) => first_paragraph(&body).unwrap_or_else(|| name.to_string()),
            description => description.to_owned(),
        };
        let mut known = BTreeSet::new();
        let provenance = super::SkillProvenance {
            trust: self.provenance.trust,
            sources: distinct(self.provenance.sources.iter().cloned()),
            lessons: self.provenance.lessons.iter().copied().filter(|id| known.insert(*id)).collect(),
        };
        let mut metadata = BTreeMap::new();
        for (key, value) in &self.metadata {
            keep(&mut metadata, key, value.clone());
        }
        Self {
            description: shorten(&description, MAX_DESCRIPTION_CHARS),
            license: text(&self.license),
            compatibility: text(&self.compatibility).map(|note| shorten(&note, MAX_COMPATIBILITY_CHARS)),
            allowed_tools: text(&self.allowed_tools),
            version: self.version.trim().to_owned(),
            author: self.author.trim().to_owned(),
            topics: own_words(self.topics.iter().cloned()),
            actions: own_words(self.actions.iter().cloned()),
            auto_load: self.auto_load,
            quality: self.quality,
            provenance,
            metadata,
            body,
            name,
        }
    }
}

/// Stores a value under an unused key that has no meaning to adage. Returns the key.
pub(super) fn keep(metadata: &mut BTreeMap<String, String>, key: &str, value: String) -> String {
    let key = if is_blank(key) { "unnamed" } else { key };
    let is_ours = |key: &str| Key::ALL.iter().any(|(_, own)| *own == key);
    let numbered = (2_usize..).map(|number| {
        let end = format!("-{number}");
        format!("{}{end}", chars(key, MAX_KEY_CHARS - end.len()))
    });
    let free = std::iter::once(chars(key, MAX_KEY_CHARS))
        .chain(numbered)
        .find(|key| !metadata.contains_key(key) && !is_ours(key))
        .unwrap_or_default();
    metadata.insert(free.clone(), value);
    free
}

fn chars(text: &str, max: usize) -> String {
    text.chars().take(max).collect()
}

/// True if the text has no visible character, by any definition of white space.
pub(super) fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || c.is_control() || visible(c).is_none())
}

/// The body without blank lines before it, white space after it, and carriage returns at line ends.
pub(super) fn normal_body(body: &str) -> String {
    let mut lines = body.split('\n').map(|line| line.trim_end_matches('\r')).skip_while(|line| line.trim().is_empty());
    let mut normal = lines.next().unwrap_or_default().to_owned();
    for line in lines {
        normal.push('\n');
        normal.push_str(line);
    }
    normal.truncate(normal.trim_end().len());
    normal
}

/// The first paragraph on one line; in a text with only headings, the first heading.
pub(super) fn first_paragraph(body: &str) -> Option<String> {
    let is_text = |line: &&str| {
        let line = line.trim();
        let is_rule = line.chars().all(|c| "-=*_ ".contains(c));
        !is_blank(line) && !is_rule && !line.starts_with(['#', '<', '|', '!', '`', '~'])
    };
    let paragraph: Vec<&str> = body.lines().skip_while(|line| !is_text(line)).take_while(is_text).collect();
    let words = paragraph.iter().flat_map(|line| line.split_whitespace()).collect::<Vec<_>>().join(" ");
    let heading = || body.lines().map(|line| line.trim_matches(['#', ' ', '\t'])).find(|line| !is_blank(line));
    if is_blank(&words) { heading().map(|line| line.trim().to_owned()) } else { Some(words) }
}

/// Keywords as single lower-case words, without duplicates, in order.
pub(super) fn own_words(texts: impl IntoIterator<Item = String>) -> Vec<String> {
    let words = texts.into_iter().flat_map(|text| {
        let lower = text.to_lowercase();
        let words = lower.split(|c: char| c.is_whitespace() || c.is_control() || c == ',').map(str::to_owned);
        words.collect::<Vec<_>>()
    });
    distinct(words)
}

/// Trimmed texts without duplicates and blank ones, in order.
pub(super) fn distinct(texts: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut known = BTreeSet::new();
    let kept = texts.into_iter().map(|text| text.trim().to_owned());
    kept.filter(|text| !is_blank(text) && known.insert(text.clone())).collect()
}

#[cfg(test)]
mod tests {
    use proptest::collection::{btree_map, vec};
    use proptest::option::of;
    use proptest::prelude::*;

    use super::*;
    use crate::lesson::{LessonId, Trust};
    use crate::skill::{Quality, SkillProvenance};

    /// Common and unusual texts.
    fn text() -> impl Strategy<Value = String> {
        prop_oneof![
            "[a-z ,.:'\"#&*!|>%@`{}\\[\\]-]{0,40}",
            "(---|\\n|\\r|\\t|: |a|\\\\|\"|\u{2028}|\u{85}|\u{feff}|\u{7f}|\u{0}|\u{1b}|😀|\u{202e}|~|null|é){0,12}",
            any::<String>(),
            "x{0,3}".prop_map(|x| format!("{x} ").repeat(600)),
        ]
    }

    fn name() -> impl Strategy<Value = SkillName> {
        "[a-zA-Z0-9_ -]{1,30}|[a-z0-9]{1,64}|.{1,20}"
            .prop_map(|text| text.parse().unwrap_or_else(|_| SkillName::unnamed()))
    }

    fn skill() -> impl Strategy<Value = Skill> {
        let id = any::<u128>().prop_map(|n| {
            let hex = format!("{n:032x}");
            let at = |range| hex.get(range).unwrap_or_default();
            let id = format!("{}-{}-{}-{}-{}", at(0..8), at(8..12), at(12..16), at(16..20), at(20..32));
            id.parse::<LessonId>().unwrap()
        });
        let quality =
            prop_oneof![Just(Quality::Stale), Just(Quality::Draft), Just(Quality::Manual), Just(Quality::Verified)];
        let trust = prop_oneof![Just(Trust::Trusted), Just(Trust::Tainted)];
        let key = prop_oneof![text(), Just("adage-topics".to_owned()), Just("version".to_owned()), "k{90,99}"];
        let provenance = (trust, vec(text(), 0..3), vec(id, 0..3))
            .prop_map(|(trust, sources, lessons)| SkillProvenance { trust, sources, lessons });
        let head = (name(), text(), of(text()), of(text()), of(text()), text(), text());
        let rest = (
            vec(text(), 0..3),
            vec(text(), 0..3),
            any::<bool>(),
            quality,
            provenance,
            btree_map(key, text(), 0..4),
            text(),
        );
        (head, rest).prop_map(
            |(
                (name, description, license, compatibility, allowed_tools, version, author),
                (topics, actions, auto_load, quality, provenance, metadata, body),
            )| Skill {
                name,
                description,
                license,
                compatibility,
                allowed_tools,
                version,
                author,
                topics,
                actions,
                auto_load,
                quality,
                provenance,
                metadata,
                body,
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]
        #[test]
        fn a_written_skill_is_read_back(skill in skill()) {
            let standard = skill.standardised();
            prop_assert_eq!(&standard.standardised(), &standard);
            let text = standard.to_text();
            let reading = Skill::read(text.as_bytes(), Some(standard.name.as_str())).unwrap();
            prop_assert_eq!(&reading.skill, &standard);
            prop_assert!(reading.notes.is_empty(), "{:?}", reading.notes);
            prop_assert_eq!(reading.skill.to_text(), text);
            prop_assert!(standard.name.is_standard() && standard.name.as_str().len() <= 64);
            prop_assert!((1..=1024).contains(&standard.description.chars().count()));
        }

        #[test]
        fn any_bytes_are_read_or_refused_and_what_was_read_can_be_written(
            front in "(---|\\n|\\r\\n|name: |description: |odek:|metadata:|  |\\t|- |a|: |\"|'|\\[|\\{|\\||>|&|\\*|!|#|é|\u{feff}){0,40}",
            body in "(# |a|\\n|\\r|---|```){0,20}",
        ) {
            let text = format!("---\n{front}\n---\n{body}");
            if let Ok(reading) = Skill::read(text.as_bytes(), Some("folder")) {
                let standard = reading.skill.standardised();
                let again = Skill::read(standard.to_text().as_bytes(), None).unwrap();
                prop_assert_eq!(again.skill, standard);
                // The skill that was read changes only as the specification requires.
                let mut kept = reading.skill.clone();
                let changed = reading.skill.standardised();
                kept.name = changed.name.clone();
                kept.description = changed.description.clone();
                kept.compatibility = changed.compatibility.clone();
                prop_assert_eq!(kept, changed);
            }
        }
    }

    #[test]
    fn standardising_twice_equals_standardising_once() {
        let mut skill = Skill::new("Deploy_Script v1.2".parse().unwrap(), "word ".repeat(300));
        skill.topics = vec!["Docker, image".into(), "docker".into()];
        skill.metadata = [("adage-topics", "theirs"), ("", "x"), ("version", "7")]
            .into_iter()
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect();
        skill.body = "\r\n\n  text\r\r\nmore \n".into();
        let standard = skill.standardised();
        assert_eq!(standard.name.as_str(), "deploy-script-v1-2");
        assert_eq!(standard.description.chars().count(), 1_020);
        assert!(standard.description.ends_with("word…"), "{}", standard.description);
        assert_eq!(standard.topics, ["docker", "image"]);
        assert_eq!(standard.metadata.keys().collect::<Vec<_>>(), ["adage-topics-2", "unnamed", "version-2"]);
        assert_eq!(standard.body, "  text\nmore");
        assert_eq!(shorten(&"x".repeat(2_000), 1_024).chars().count(), 1_024);
        assert_eq!(
            Skill::new("...-".parse().unwrap_or_else(|_| SkillName::unnamed()), "").standardised().body,
            "# skill"
        );
    }
}
