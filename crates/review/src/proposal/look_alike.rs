//! Names that a person takes for another (Unicode Technical Standard 39): confusable letters, and words of mixed scripts.

use unicode_normalization::UnicodeNormalization;
use unicode_security::{RestrictionLevel, RestrictionLevelDetection, skeleton};

/// True if one name may be taken for the other, by a reader or by a system that ignores case and Unicode forms.
pub(super) fn is_alike(one: &str, other: &str) -> bool {
    let (one, other) = (forms(one), forms(other));
    one.iter().any(|form| other.contains(form))
}

/// A name without case and without what cannot be distinguished by looking. Case goes first once and last once: a capital I looks
/// like a small l, a small i does not.
fn forms(name: &str) -> [String; 3] {
    let folded = |text: &str| text.nfkc().collect::<String>().to_lowercase().nfkc().collect::<String>();
    let plain = folded(name);
    [skeleton(&plain).collect(), folded(&skeleton(name).collect::<String>()), plain]
}

/// True if a word of the name mixes scripts that no language writes together, or has a letter that hardly any word has, such as
/// a small capital.
pub(super) fn mixes_scripts(name: &str) -> bool {
    let words = name.split(|c: char| !c.is_alphanumeric());
    words.into_iter().any(|word| !word.check_restriction_level(RestrictionLevel::HighlyRestrictive))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_looks_like_another_is_alike() {
        for (name, alike) in [
            ("NOTES.md", "N\u{41e}TES.md"),
            ("NOTES.md", "\u{39d}OTES.md"),
            ("NOTES.md", "NOTE\u{405}.md"),
            ("NOTES.md", "n\u{43e}tes.md"),
            ("NOTES.md", "N0TES.md"),
            ("NOTES.md", "\u{2115}OTES.md"),
            ("NOTES.md", "NOTES.\u{ff4d}d"),
            ("NOTES.md", "notes.md"),
            ("agents.md", "\u{410}GENTS.md"),
            ("agents.md", "AGENT\u{405}.md"),
            ("claude.md", "CL\u{410}UDE.md"),
            ("claude.md", "cl\u{430}ude.md"),
            ("claude.md", "CLA\u{54d}DE.md"),
            ("claude.md", "C1AUDE.md"),
            ("gemini.md", "GEM\u{406}NI.md"),
            ("gemini.md", "GEMlNl.md"),
            ("gemini.md", "gem\u{456}ni.md"),
            ("gemini.md", "\u{ff27}emini.md"),
            ("warp.md", "W\u{410}RP.md"),
            ("copilot-instructions.md", "copilot\u{2010}instructions.md"),
            ("моё.md", "мoё.md"),
        ] {
            let upper = name.to_uppercase();
            assert!(is_alike(name, alike) || is_alike(&upper, alike), "{name} {alike}");
        }
        for (name, other) in [
            ("NOTES.md", "N\u{d6}TES.md"),
            ("NOTES.md", "NOTE.md"),
            ("claude.md", "cloud.md"),
            ("日本語.md", "日本.md"),
            ("заметки.md", "notes.md"),
        ] {
            assert!(!is_alike(name, other), "{name} {other}");
        }
    }

    #[test]
    fn a_word_of_mixed_scripts_is_none_of_a_language() {
        for name in
            ["N\u{41e}TES.md", "\u{262}EMINI.md", "\u{39d}otes.md", "a-мoё.md", "CLA\u{54d}DE.md", "\u{1d5ea}arp.md"]
        {
            assert!(mixes_scripts(name), "{name}");
        }
        for name in [
            "NOTES.md",
            "caf\u{e9}.md",
            "日本語.md",
            "API設計メモ.md",
            "заметки-api.md",
            "v1.2 notes.md",
            "한국어.md",
            "हिन्दी.md",
            "N\u{d6}TES.md",
        ] {
            assert!(!mixes_scripts(name), "{name}");
        }
    }
}
