//! The name of a skill, which is also the name of its folder.

use std::fmt;
use std::str::FromStr;

use adage_transcript::command::hyphenated;
use serde::Serialize;

/// The maximum characters of a name.
const MAX_CHARS: usize = 64;

/// The name of a skill: a folder name that is valid on every system. Names of other authors may contain capitals, underscores
/// and dots inside; names that adage writes consist of lower case, digits and hyphens (the Agent Skills specification).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SkillName(String);

/// Why a text is not a valid name of a skill.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BadSkillName {
    /// The text is empty.
    #[error("a skill's name cannot be empty")]
    Empty,
    /// The text is too long.
    #[error("a skill's name has at most {max} characters, this one has {n_chars}")]
    TooLong {
        /// The number of characters.
        n_chars: usize,
        /// The maximum.
        max: usize,
    },
    /// As a folder name, it would lead elsewhere or be hidden.
    #[error("{name:?} cannot be the name of a skill's folder")]
    Unsafe {
        /// The text.
        name: String,
    },
}

impl SkillName {
    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// True if it has the form of the specification: `a-z`, `0-9`, single hyphens inside.
    #[must_use]
    pub fn is_standard(&self) -> bool {
        let is_known = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        self.0.chars().all(is_known) && !self.0.starts_with('-') && !self.0.ends_with('-') && !self.0.contains("--")
    }

    /// The standard name nearest to a text: its letters and digits in lower case, everything else as single hyphens, cut at a
    /// hyphen if possible. None if nothing is left.
    #[must_use]
    pub fn slug(text: &str) -> Option<Self> {
        let mut slug = hyphenated(text, |c| c.is_ascii_alphanumeric());
        if slug.len() > MAX_CHARS {
            slug.truncate(MAX_CHARS + 1);
            slug.truncate(slug.rfind('-').unwrap_or(MAX_CHARS));
        }
        slug.truncate(slug.trim_end_matches('-').len());
        (!slug.is_empty()).then_some(Self(slug))
    }

    /// The same name with a number at its end, for a name that is taken: `docker-build-2`. It is shortened to fit.
    #[must_use]
    pub fn numbered(&self, number: usize) -> Self {
        let end = format!("-{number}");
        let kept: String = self.0.chars().take(MAX_CHARS.saturating_sub(end.len())).collect();
        Self(format!("{}{end}", kept.trim_end_matches('-')))
    }

    /// The name of a skill without any other.
    pub(super) fn unnamed() -> Self {
        Self("skill".to_owned())
    }
}

impl FromStr for SkillName {
    type Err = BadSkillName;

    fn from_str(text: &str) -> Result<Self, BadSkillName> {
        let name = text.trim();
        let n_chars = name.chars().count();
        if name.is_empty() {
            return Err(BadSkillName::Empty);
        }
        if n_chars > MAX_CHARS {
            return Err(BadSkillName::TooLong { n_chars, max: MAX_CHARS });
        }
        let is_unsafe = |c: char| matches!(c, '/' | '\\' | ':') || c.is_control();
        if name.starts_with('.') || name.contains("..") || name.contains(is_unsafe) {
            return Err(BadSkillName::Unsafe { name: name.to_owned() });
        }
        Ok(Self(name.to_owned()))
    }
}

impl fmt::Display for SkillName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for SkillName {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_within_its_folder() {
        for (text, is_name, is_standard) in [
            ("docker-build", true, true),
            (" padded ", true, true),
            ("deploy_script", true, false),
            ("Error-PIP", true, false),
            ("-lead", true, false),
            ("two--hyphens", true, false),
            ("v1.2", true, false),
            ("", false, false),
            ("   ", false, false),
            ("a/b", false, false),
            ("a\\b", false, false),
            ("foo..bar", false, false),
            (".hidden", false, false),
            ("c:drive", false, false),
            ("a\nb", false, false),
        ] {
            let name = text.parse::<SkillName>();
            assert_eq!(name.is_ok(), is_name, "{text:?}");
            assert_eq!(name.is_ok_and(|name| name.is_standard()), is_standard, "{text:?}");
        }
        assert_eq!("x".repeat(65).parse::<SkillName>(), Err(BadSkillName::TooLong { n_chars: 65, max: 64 }));
    }

    #[test]
    fn a_slug_of_any_text_is_a_standard_name_or_none() {
        for (text, slug) in [
            ("Building in Docker: use BuildKit!", Some("building-in-docker-use-buildkit")),
            ("--- ... ---", None),
            ("Ünïcode → größe", Some("n-code-gr-e")),
            ("./run.sh", Some("run-sh")),
        ] {
            assert_eq!(SkillName::slug(text).as_ref().map(SkillName::as_str), slug, "{text:?}");
        }
        let long = SkillName::slug(&"word ".repeat(300)).unwrap();
        assert!(long.as_str().len() <= 64 && long.is_standard() && long.as_str().ends_with("word"), "{long}");
        assert_eq!(SkillName::slug(&"x".repeat(1000)).unwrap().as_str().len(), 64);
        assert_eq!(SkillName::unnamed().numbered(2).as_str(), "skill-2");
        let numbered = SkillName::slug(&"x".repeat(63)).unwrap().numbered(12);
        assert_eq!((numbered.as_str().len(), numbered.is_standard()), (64, true));
    }
}
