//! Writes a SKILL.md that every reader of the specification accepts, whatever the skill contains (docs/spec/skills.md, 1.1).

use std::fmt::Write;

use adage_redact::visible_chars;

use super::{Quality, Skill};
use crate::lesson::Trust;

/// The keys of adage under `metadata`. Version and author are the specification's own example; the others have a prefix that
/// makes them unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Version,
    Author,
    Topics,
    Actions,
    AutoLoad,
    Quality,
    Trust,
    Sources,
    Lessons,
}

impl Key {
    /// All keys with their names in a file.
    pub(super) const ALL: [(Self, &str); 9] = [
        (Self::Version, "version"),
        (Self::Author, "author"),
        (Self::Topics, "adage-topics"),
        (Self::Actions, "adage-actions"),
        (Self::AutoLoad, "adage-auto-load"),
        (Self::Quality, "adage-quality"),
        (Self::Trust, "adage-trust"),
        (Self::Sources, "adage-sources"),
        (Self::Lessons, "adage-lessons"),
    ];

    /// None if there is no value.
    fn value(self, skill: &Skill) -> Option<String> {
        let unless_empty = |text: String| (!text.is_empty()).then_some(text);
        let provenance = &skill.provenance;
        match self {
            Self::Version => unless_empty(skill.version.clone()),
            Self::Author => unless_empty(skill.author.clone()),
            Self::Topics => unless_empty(skill.topics.join(" ")),
            Self::Actions => unless_empty(skill.actions.join(" ")),
            Self::AutoLoad => skill.auto_load.then(|| "true".to_owned()),
            Self::Quality => (skill.quality != Quality::default()).then(|| skill.quality.name().to_owned()),
            Self::Trust => (provenance.trust == Trust::Tainted).then(|| "tainted".to_owned()),
            Self::Sources => {
                (!provenance.sources.is_empty()).then(|| serde_json::json!(provenance.sources).to_string())
            }
            Self::Lessons => {
                unless_empty(provenance.lessons.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
            }
        }
    }
}

impl Skill {
    /// The skill as a file: front matter with the keys of the specification, and the other fields under `metadata`.
    ///
    /// [`read`](Self::read) gives the same skill again if it is in the form of [`standardised`](Self::standardised).
    ///
    /// ```
    /// use adage::skills;
    /// use adage::skills::Skill;
    ///
    /// let mut skill = Skill::new("csv-export".parse::<skills::Name>()?, "Use when: a \"CSV\" is written");
    /// skill.body = "## Overview\n\nQuote it.".to_owned();
    /// let text = skill.to_text();
    /// assert!(text.starts_with("---\nname: \"csv-export\"\ndescription: \"Use when: a \\\"CSV\\\" is written\"\n---\n\n## O"));
    /// assert_eq!(Skill::read(text.as_bytes(), None)?.skill, skill);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = "---\n".to_owned();
        line(&mut text, "name", self.name.as_str());
        line(&mut text, "description", &self.description);
        let optional = [
            ("license", &self.license),
            ("compatibility", &self.compatibility),
            ("allowed-tools", &self.allowed_tools),
        ];
        for (key, value) in optional {
            if let Some(value) = value {
                line(&mut text, key, value);
            }
        }
        let own: Vec<(&str, String)> =
            Key::ALL.into_iter().filter_map(|(key, name)| Some((name, key.value(self)?))).collect();
        if !own.is_empty() || !self.metadata.is_empty() {
            text.push_str("metadata:\n");
        }
        for (key, value) in own {
            line(&mut text, &format!("  {key}"), &value);
        }
        for (key, value) in &self.metadata {
            line(&mut text, &format!("  {}", quoted(key)), value);
        }
        text.push_str("---\n\n");
        text.push_str(&self.body);
        text.push('\n');
        text
    }
}

fn line(text: &mut String, key: &str, value: &str) {
    text.extend([key, ": ", &quoted(value), "\n"]);
}

/// A YAML text in double quotes, on one line. Invisible characters are escaped, and so is the third of three hyphens, because
/// some readers take them for the end of the front matter anywhere.
fn quoted(value: &str) -> String {
    let mut text = "\"".to_owned();
    let mut n_hyphens = 0;
    for (_, c, seen) in visible_chars(value) {
        n_hyphens = if c == '-' { n_hyphens + 1 } else { 0 };
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            '\n' => text.push_str("\\n"),
            '\t' => text.push_str("\\t"),
            '-' if n_hyphens == 3 => {
                text.push_str("\\x2d");
                n_hyphens = 0;
            }
            c if seen == Some(c) => text.push(c),
            // Writing into a text cannot fail.
            c => drop(write!(text, "\\U{:08x}", u32::from(c))),
        }
    }
    text.push('"');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_text_cannot_be_read_as_anything_else() {
        for (value, expected) in [
            ("plain", "plain"),
            ("a: \"b\" \\ 'c' # d", "a: \\\"b\\\" \\\\ 'c' # d"),
            ("--- ----- -- -", "--\\x2d --\\x2d-- -- -"),
            ("a\nb\tc\rd\u{7}", "a\\nb\\tc\\U0000000dd\\U00000007"),
            ("\u{2028}\u{85}\u{feff}\u{202e}\u{ffff}", "\\U00002028\\U00000085\\U0000feff\\U0000202e\\U0000ffff"),
            ("größe 👩‍💻", "größe 👩‍💻"),
        ] {
            assert_eq!(quoted(value), format!("\"{expected}\""), "{value:?}");
        }
    }
}
