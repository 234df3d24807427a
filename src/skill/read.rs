//! Reads a SKILL.md leniently: as much as possible is understood, corrections are reported, and nothing is lost
//! (docs/spec/skills.md, 1.3).

use adage_transcript::{JsonRepair, decoded};
use serde::Serialize;

use super::fields::Fields;
use super::front_matter::{self, Node};
use super::standard::{is_blank, normal_body};
use super::{BadSkillName, Skill, lines};

/// The maximum size of a file, in bytes.
pub(crate) const MAX_BYTES: usize = 1 << 20;
/// The maximum number of keys of a front matter, including those under `metadata`.
const MAX_KEYS: usize = 1_000;

/// The result of reading a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SkillReading {
    /// The skill.
    pub skill: Skill,
    /// What was repaired or moved, in the order in which it was found.
    pub notes: Vec<SkillNote>,
}

/// A repair or move made while a skill was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SkillNote {
    /// Bytes that are not UTF-8 were replaced.
    #[error("it is not UTF-8 throughout")]
    NotUtf8,
    /// It is UTF-16.
    #[error("it is UTF-16")]
    Utf16,
    /// There is no front matter: the whole file is the body.
    #[error("there is no front matter")]
    NoFrontMatter,
    /// The front matter is not valid YAML and was parsed line by line.
    #[error("the front matter is not YAML ({reason}) and was read line by line")]
    NotYaml {
        /// The parser's message.
        reason: String,
    },
    /// There is no name; that of the folder is used.
    #[error("there is no name; the folder's name is used")]
    NoName,
    /// The name differs from the folder's; the name in the file is used.
    #[error("the name is {name:?}, the folder's is {folder:?}")]
    OtherFolder {
        /// The name in the file.
        name: String,
        /// The folder's name.
        folder: String,
    },
    /// There is no description; the first paragraph is used.
    #[error("there is no description; the first paragraph is used")]
    NoDescription,
    /// A key that the specification does not have was moved under `metadata`.
    #[error("{key:?} is not a key of the specification and was moved under metadata as {kept_as:?}")]
    Moved {
        /// The key.
        key: String,
        /// The new key.
        kept_as: String,
    },
    /// A list or a map was found in the place of a text; it is kept as JSON.
    #[error("{key:?} is a list or a map and was kept as text")]
    Flattened {
        /// The key.
        key: String,
    },
    /// The id of a lesson is not valid.
    #[error("{text:?} is not the id of a lesson")]
    NoLesson {
        /// The text.
        text: String,
    },
}

/// Why a file is not a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SkillRefused {
    /// It is too large.
    #[error("{n_bytes} bytes, at most {max} are read")]
    TooLarge {
        /// The length in bytes.
        n_bytes: u64,
        /// The maximum length in bytes.
        max: u64,
    },
    /// The line `---` that ends the front matter is missing.
    #[error("the front matter has no end")]
    Unclosed,
    /// Neither the file nor its folder gives a valid name.
    #[error(transparent)]
    BadName(#[from] BadSkillName),
    /// The front matter has too many keys.
    #[error("more than {max} keys")]
    TooManyKeys {
        /// The maximum number of keys.
        max: usize,
    },
    /// It is to be copied, and some of its bytes are no text.
    #[error("it is not UTF-8 throughout; save it as UTF-8")]
    NotUtf8,
    /// There are no instructions.
    #[error("it has no body")]
    NoBody,
}

impl Skill {
    /// Reads a skill from a file's bytes. `folder` is the name of the file's folder, if any; it is the name of a skill that has
    /// none.
    ///
    /// ```
    /// let file = "---\nname: docker-build\ndescription: Use when: an image is built\n---\n# Steps\n\n1. Build it.\n";
    /// let reading = adage::skills::Skill::read(file.as_bytes(), Some("docker-build"))?;
    /// assert_eq!(reading.skill.description, "Use when: an image is built");
    /// assert_eq!(reading.skill.body, "# Steps\n\n1. Build it.");
    /// // The colon in the description is not valid YAML.
    /// assert_eq!(reading.notes.len(), 1);
    /// # Ok::<(), adage::skills::Refused>(())
    /// ```
    ///
    /// # Errors
    /// [`SkillRefused`]: over 1 MiB, a front matter without an end or with more than 1,000 keys, an invalid name, no body.
    pub fn read(bytes: &[u8], folder: Option<&str>) -> Result<SkillReading, SkillRefused> {
        if bytes.len() > MAX_BYTES {
            return Err(SkillRefused::TooLarge { n_bytes: bytes.len() as u64, max: MAX_BYTES as u64 });
        }
        let mut notes = Vec::new();
        let (text, repairs) = decoded(bytes);
        if repairs.contains(&JsonRepair::InvalidByte) {
            notes.push(SkillNote::NotUtf8);
        }
        if repairs.contains(&JsonRepair::Utf16) {
            notes.push(SkillNote::Utf16);
        }
        let (front, body) = split(&text)?;
        let body = normal_body(body);
        if is_blank(&body) {
            return Err(SkillRefused::NoBody);
        }
        let mut entries = Vec::new();
        match front.map(|front| (front_matter::parse(front), front)) {
            None => notes.push(SkillNote::NoFrontMatter),
            Some((Ok(Node::Map(map)), _)) => entries = map,
            Some((parsed, front)) => {
                let reason = parsed.err().unwrap_or_else(|| "no map".to_owned());
                notes.push(SkillNote::NotYaml { reason });
                if let Node::Map(map) = lines::parse(front) {
                    entries = map;
                }
            }
        }
        let nested = entries.iter().map(|(_, node)| if let Node::Map(map) = node { map.len() } else { 0 });
        if nested.sum::<usize>() + entries.len() > MAX_KEYS {
            return Err(SkillRefused::TooManyKeys { max: MAX_KEYS });
        }
        let mut fields = Fields { entries, notes };
        let name = fields.name(folder)?;
        let description = fields.description(&body, &name);
        let mut skill = Skill::new(name, description);
        skill.body = body;
        fields.fill(&mut skill);
        Ok(SkillReading { skill, notes: fields.notes })
    }
}

/// The entries of a front matter as texts; what is not valid YAML is read line by line.
pub(crate) fn front_matter_texts(front: &str) -> Vec<(String, String)> {
    let node = front_matter::parse(front).unwrap_or_else(|_| lines::parse(front));
    let Node::Map(entries) = node else { return Vec::new() };
    entries.into_iter().map(|(key, value)| (key, value.into_text())).collect()
}

/// The front matter, if there is one, and the rest.
fn split(text: &str) -> Result<(Option<&str>, &str), SkillRefused> {
    let text = text.trim_start_matches('\u{feff}').trim_start_matches(['\n', '\r', ' ', '\t']);
    let mut place = 0;
    let mut start = None;
    for line in text.split_inclusive('\n') {
        let end = place + line.len();
        match (start, line.trim_end()) {
            (None, "---") => start = Some(end),
            (None, _) => return Ok((None, text)),
            (Some(start), "---") => {
                return Ok((text.get(start..place), text.get(end..).unwrap_or_default()));
            }
            _ => {}
        }
        place = end;
    }
    match start {
        Some(_) => Err(SkillRefused::Unclosed),
        None => Err(SkillRefused::NoBody),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::lesson::Trust;
    use crate::skill::Quality;

    fn read(text: &str) -> SkillReading {
        Skill::read(text.as_bytes(), Some("folder")).unwrap_or_else(|refused| panic!("{refused}: {text:?}"))
    }

    #[test]
    fn a_plain_file_is_read_without_a_note() {
        let reading = Skill::read(
            b"---\nname: csv\ndescription: \"a: b\"\nlicense: MIT\nallowed-tools: Read Bash(git:*)\nmetadata:\n  author: me\n  \
              version: 1.10\n  note: x\n---\n\n  indented\nbody \n\n",
            Some("csv"),
        )
        .unwrap();
        let skill = &reading.skill;
        assert_eq!(reading.notes, []);
        assert_eq!((skill.name.as_str(), skill.description.as_str()), ("csv", "a: b"));
        assert_eq!((skill.version.as_str(), skill.author.as_str()), ("1.10", "me"));
        assert_eq!(skill.license.as_deref(), Some("MIT"));
        assert_eq!(skill.allowed_tools.as_deref(), Some("Read Bash(git:*)"));
        assert_eq!(skill.metadata, BTreeMap::from([("note".to_owned(), "x".to_owned())]));
        assert_eq!(skill.body, "  indented\nbody");
    }

    #[test]
    fn the_older_block_is_understood() {
        let text = "---\nname: folder\ndescription: d\nversion: 1.0.0\nauthor: odek\nodek:\n  trigger:\n    topic: Docker image\n    \
                    action: build\n  auto_load: yes\n  quality: draft\n  provenance:\n    untrusted: false\n    needs_review: true\n    \
                    sources: [browser, a__b]\n  other: 1\n---\nBody.\n";
        for text in [text.to_owned(), text.replace("description: d", "description: d: e").replace('\n', "\r\n")] {
            let SkillReading { skill, notes } = read(&text);
            assert_eq!((skill.topics.join(" "), skill.actions.join(" ")), ("docker image".into(), "build".into()));
            assert_eq!(
                (skill.auto_load, skill.quality, skill.provenance.trust),
                (true, Quality::Draft, Trust::Tainted)
            );
            assert_eq!(skill.provenance.sources, ["browser", "a__b"]);
            assert_eq!((skill.version.as_str(), skill.author.as_str()), ("1.0.0", "odek"));
            assert_eq!(skill.metadata["odek-other"], "1");
            assert_eq!(skill.body, "Body.");
            assert!(notes.iter().any(|note| matches!(note, SkillNote::Moved { key, .. } if key == "odek.other")));
        }
        let promoted = read("---\nodek:\n  provenance:\n    untrusted: false\n    sources: browser\n---\nBody.");
        assert_eq!(promoted.skill.provenance.trust, Trust::Trusted);
        assert_eq!(promoted.skill.provenance.sources, ["browser"]);
    }

    #[test]
    fn missing_fields_are_filled_in_and_reported() {
        let reading = read("\u{feff}\n---\r\n---\r\n# Title\r\n\r\nFirst\r\nparagraph.\r\n\r\nSecond.");
        assert_eq!((reading.skill.name.as_str(), reading.skill.description.as_str()), ("folder", "First paragraph."));
        assert_eq!(reading.skill.body, "# Title\n\nFirst\nparagraph.\n\nSecond.");
        assert_eq!(reading.notes, [SkillNote::NoName, SkillNote::NoDescription]);
        let reading = read("Only text.\n---\nmore");
        assert_eq!(
            (reading.skill.description.as_str(), reading.skill.body.as_str()),
            ("Only text.", "Only text.\n---\nmore")
        );
        assert!(reading.notes.contains(&SkillNote::NoFrontMatter));
        assert_eq!(read("---\ndescription: ~\n---\n# Only a title").skill.description, "Only a title");
        let latin = Skill::read(b"---\nname: folder\ndescription: caf\xe9\n---\nx", Some("folder")).unwrap();
        let wide: Vec<u8> =
            "\u{feff}---\nname: a\ndescription: café\n---\nb\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let wide = Skill::read(&wide, None).unwrap();
        assert_eq!((wide.skill.description.as_str(), wide.notes), ("café", vec![SkillNote::Utf16]));
        assert_eq!((latin.skill.description.as_str(), latin.notes), ("caf\u{fffd}", vec![SkillNote::NotUtf8]));
    }

    #[test]
    fn nothing_of_the_front_matter_is_lost() {
        let reading = read(
            "---\nname: other\nname: again\ndescription: [a, b]\nversion: 2\nextra: {a: [1, x]}\nmetadata:\n  version: 1\n  extra: y\n  \
             nested: {k: v}\n---\nx",
        );
        let metadata: Vec<String> =
            reading.skill.metadata.iter().map(|(key, value)| format!("{key}={value}")).collect();
        assert_eq!(
            metadata,
            ["extra=y", "extra-2={\"a\":[1,\"x\"]}", "name=again", "nested={\"k\":\"v\"}", "version-2=2"]
        );
        assert_eq!((reading.skill.version.as_str(), reading.skill.description.as_str()), ("1", "[\"a\",\"b\"]"));
        assert!(reading.notes.contains(&SkillNote::OtherFolder { name: "other".into(), folder: "folder".into() }));
        assert_eq!(read("---\nmetadata: [a]\n---\nx").skill.metadata["metadata"], "[\"a\"]");
        assert_eq!(
            read("---\nallowed-tools: [Read, Write]\n---\nx").skill.allowed_tools.as_deref(),
            Some("Read Write")
        );
    }

    #[test]
    fn only_the_word_trusted_gives_trust() {
        for (trust, expected) in [
            ("trusted", Trust::Trusted),
            ("Trusted", Trust::Tainted),
            ("tainted", Trust::Tainted),
            ("", Trust::Tainted),
        ] {
            let text = format!("---\nmetadata:\n  adage-trust: \"{trust}\"\n---\nx");
            assert_eq!(read(&text).skill.provenance.trust, expected, "{trust:?}");
        }
    }

    /// None of these takes more than linear time.
    #[test]
    fn a_large_file_is_read_or_refused() {
        let words: Vec<String> = (0..100_000).map(|n| format!("w{n}")).collect();
        let many = |before: &str, between: &str, after: &str| format!("{before}{}{after}", words.join(between));
        for (front, is_read) in [
            ("a:\n".repeat(300_000), false),
            ("metadata:\n".to_owned() + &"  a: b: c\n".repeat(100_000), false),
            (format!("metadata:\n  adage-topics: {}", words.join(" ")), true),
            (many("metadata:\n  adage-sources: '[\"", "\",\"", "\"]'"), true),
            (format!("metadata:\n  adage-lessons: {}", words.join(" ")), true),
            (many("odek:\n  trigger:\n    topic: [", ",", "]"), true),
            (format!("a: {}", "{b: ".repeat(100_000)), true),
            (format!("a: \"{}\"", "\\n".repeat(400_000)), true),
            (format!("a: {}", "- ".repeat(400_000)), true),
        ] {
            let text = format!("---\n{front}\n---\nBody.");
            let reading = Skill::read(text.as_bytes(), Some("folder"));
            assert_eq!(reading.is_ok(), is_read, "{:?}", front.get(..40));
            let written = reading.map(|reading| reading.skill.standardised().to_text());
            assert!(
                written.is_err()
                    || written.is_ok_and(|text| text.len() > MAX_BYTES || Skill::read(text.as_bytes(), None).is_ok())
            );
        }
    }

    #[test]
    fn an_invalid_file_is_refused_with_the_reason() {
        let check = |text: &str, folder: Option<&str>, reason: &str| {
            let refused = Skill::read(text.as_bytes(), folder).unwrap_err();
            assert_eq!(refused.to_string(), reason, "{text:?}");
        };
        check("", Some("a"), "it has no body");
        check("---\nname: a\n---\n \n\u{feff}\n", Some("a"), "it has no body");
        check("---\nname: a\ntext", Some("a"), "the front matter has no end");
        check("---\nname: ../a\n---\nx", Some("a"), "\"../a\" cannot be the name of a skill's folder");
        check("---\nname: a\\b\n---\nx", Some("a"), "\"a\\\\b\" cannot be the name of a skill's folder");
        check("---\ndescription: a\n---\nx", None, "a skill's name cannot be empty");
        check("---\ndescription: a\n---\nx", Some(".hidden"), "\".hidden\" cannot be the name of a skill's folder");
        let long = format!("---\nname: {}\n---\nx", "a".repeat(65));
        check(&long, None, "a skill's name has at most 64 characters, this one has 65");
        let large = format!("---\nname: a\n---\n{}", "x".repeat(MAX_BYTES));
        check(&large, None, "1048592 bytes, at most 1048576 are read");
        assert!(Skill::read(&large.as_bytes()[..MAX_BYTES], None).is_ok());
    }
}
