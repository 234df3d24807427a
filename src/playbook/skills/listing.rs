//! The listing of skills: the folder of each, what its promotion covers, and which skill of a name is used.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use adage_redact::{path_text, written_out};
use serde::Serialize;

use crate::learn::Verification;
use crate::lesson::hidden_in_prompts;
use crate::lesson::{TextHash, Trust};
use crate::skill::{Quality, Skill, SkillName, SkillNote};
use crate::store::skills::files::{FoundSkill, RefusedSkill};
use crate::store::skills::state::{SkillState, SkillUse};
use crate::store::skills::supporting::{NotCovered, SkillFile};
use crate::trust::{Guard, Standing, removed};

/// The kind of folder that a skill is in. The order is the order of precedence for names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SkillPlace {
    /// The project's folder. Whoever can write to the project can write skills there, so each awaits review whatever its file
    /// says.
    Project,
    /// The memory's own folder, `skills/` in the playbook's folder.
    User,
    /// Another folder that the host named.
    Extra,
}

impl SkillPlace {
    /// The name in listings: `project`, `user` or `extra`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::User => "user",
            Self::Extra => "extra",
        }
    }
}

/// A listed skill.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ListedSkill {
    /// The content of its file. The quality is that of the last check of this text, if there was one.
    pub skill: Arc<Skill>,
    /// The kind of folder it is in.
    pub place: SkillPlace,
    /// Its file.
    #[serde(serialize_with = "crate::path_text::shown")]
    pub path: PathBuf,
    /// Repairs that were made while it was read.
    pub notes: Vec<SkillNote>,
    /// True if the skill has to be promoted before a model sees it, and nobody has promoted exactly this text with these files.
    /// This applies to skills of the project, to tainted ones, to those from version control that are not admitted, to withdrawn ones,
    /// and to drafts that one session suggested and whose lesson is not admitted. They are listed, but never shown to a model.
    pub needs_review: bool,
    /// True if the user withdrew exactly this text with these files. Only a promotion lifts that.
    pub is_withdrawn: bool,
    /// True if the last check of this text failed. The skill is listed, but not shown to a model until a check passes or the
    /// text changes.
    pub has_failed: bool,
    /// The supporting files: scripts, references, assets.
    pub files: Vec<SkillFile>,
    /// Why a promotion cannot cover these files; the skill cannot be promoted then.
    pub not_covered: Option<NotCovered>,
    /// The hash of the text with its supporting files, which a promotion applies to.
    pub text_hash: TextHash,
    /// How often it was used.
    pub used: SkillUse,
}

impl ListedSkill {
    /// Whether it may be shown to a model: it does not await review, and its last check did not fail.
    #[must_use]
    pub fn is_shown(&self) -> bool {
        !self.needs_review && !self.has_failed
    }
}

/// A skill that another of the same name hides. In JSON: `[skill, hidden_by]`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(into = "(ListedSkill, String)")]
#[non_exhaustive]
pub struct ShadowedSkill {
    /// The hidden skill.
    pub skill: ListedSkill,
    /// The path of the skill in use.
    pub hidden_by: PathBuf,
}

impl From<ShadowedSkill> for (ListedSkill, String) {
    fn from(shadowed: ShadowedSkill) -> Self {
        (shadowed.skill, path_text(shadowed.hidden_by))
    }
}

/// All files that are named as skills.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SkillListing {
    /// The skills in use, one per name: ordered by place, then by folder. A skill that needs review never hides one that does
    /// not.
    pub skills: Vec<ListedSkill>,
    /// Skills hidden by another of the same name.
    pub shadowed: Vec<ShadowedSkill>,
    /// Files that could not be read as skills.
    pub refused: Vec<RefusedSkill>,
}

impl ListedSkill {
    /// The file's text, in which what looks like a secret is masked in each field, as in a prompt.
    #[must_use]
    pub fn masked_text(&self) -> String {
        self.skill.masked().0.to_text()
    }

    /// The file's text as a person should read it before promoting it, then the files beside it: what cannot be seen is
    /// written out, and what looks like a secret is masked, as in a prompt.
    #[must_use]
    pub fn for_person(&self) -> String {
        let (skill, n_hidden) = self.skill.masked();
        let mut text = skill.to_text();
        if !self.files.is_empty() || self.not_covered.is_some() {
            text.push_str("\nFiles that come with it:\n");
        }
        for SkillFile { path, n_bytes, hash } in &self.files {
            let _ = writeln!(text, "- {:?}, {n_bytes} bytes, hash {hash}", path_text(path));
        }
        if let Some(reason) = &self.not_covered {
            let _ = writeln!(text, "- not all, and none can be promoted: {:?}", reason.to_string());
        }
        if n_hidden > 0 {
            let _ = writeln!(text, "\n{}", hidden_in_prompts(n_hidden));
        }
        written_out(&text)
    }
}

/// For each skill, the path of the one that hides it. Among skills of the same name, the first that does not need review is
/// used: otherwise whoever can write to a project could hide a promoted skill by its name.
pub(in crate::playbook) fn shadowed_by(all: &[ListedSkill]) -> Vec<Option<PathBuf>> {
    let mut first: BTreeMap<&SkillName, &ListedSkill> = BTreeMap::new();
    for listed in all {
        let holder = first.entry(&listed.skill.name).or_insert(listed);
        if holder.needs_review && !listed.needs_review {
            *holder = listed;
        }
    }
    let holder = |listed: &ListedSkill| first.get(&listed.skill.name).filter(|holder| !std::ptr::eq(**holder, listed));
    all.iter().map(|listed| holder(listed).map(|holder| holder.path.clone())).collect()
}

/// Whether the promotion of a text is recorded.
pub(in crate::playbook) fn is_recorded(text: TextHash, state: &SkillState, guard: &Guard) -> bool {
    match guard.standing() {
        _ if is_withdrawn(text, guard) => false,
        Standing::Trusted => state.promoted.contains_key(&text),
        _ => guard.has(promotion_of(text)),
    }
}

/// The hash under which the user's state records a promotion of the text.
pub(in crate::playbook) fn promotion_of(text: TextHash) -> TextHash {
    TextHash::of(&["promoted", &text.to_string()])
}

/// The hash under which the user's state records that the text was withdrawn. It is apart from that of the text, which a `trust` of the
/// whole folder, a restored backup and an applied proposal admit: only a promotion lifts it.
pub(in crate::playbook) fn withdrawal_of(text: TextHash) -> TextHash {
    removed(TextHash::of(&["skill withdrawn", &text.to_string()]))
}

/// True if the user withdrew this text, and has not promoted it since.
pub(in crate::playbook) fn is_withdrawn(text: TextHash, guard: &Guard) -> bool {
    guard.has(withdrawal_of(text))
}

/// The hash under which the user's state records that a check of the text passed, or failed.
pub(in crate::playbook) fn check_of(text: TextHash, result: Verification) -> TextHash {
    let word = match result {
        Verification::Passed => "skill passed",
        Verification::Failed => "skill failed",
    };
    TextHash::of(&[word, &text.to_string()])
}

/// The last check of a text. Where others write too, only the user's own counts: a pull would take back a failed one.
fn last_check(text: TextHash, state: &SkillState, guard: &Guard) -> Option<Verification> {
    if guard.is_recording() && guard.awaits_others() {
        let results = [Verification::Failed, Verification::Passed];
        return results.into_iter().find(|result| guard.has(check_of(text, *result)));
    }
    let result = |passed| if passed { Verification::Passed } else { Verification::Failed };
    state.checked.get(&text).map(|checked| result(checked.passed))
}

/// The listing of a skill. In a folder that version control writes to, the folder's own records of promotions are ignored.
pub(in crate::playbook) fn listed(
    found: FoundSkill,
    place: SkillPlace,
    state: &SkillState,
    guard: &Guard,
) -> ListedSkill {
    let FoundSkill { path, mut skill, notes, files, not_covered, text_hash } = found;
    let is_promoted = not_covered.is_none() && is_recorded(text_hash, state, guard);
    let is_whole = guard.standing() == Standing::Trusted || not_covered.is_none();
    let is_admitted = place == SkillPlace::Extra || (is_whole && guard.admits(|| text_hash)) || is_promoted;
    let is_withdrawn = is_withdrawn(text_hash, guard);
    let is_foreign = !is_admitted || is_withdrawn;
    let check = last_check(text_hash, state, guard);
    let quality = match check {
        _ if is_foreign => skill.quality.min(Quality::Draft),
        Some(Verification::Passed) => Quality::Verified,
        Some(Verification::Failed) if skill.quality == Quality::Verified => Quality::Draft,
        _ => skill.quality,
    };
    let is_untrusted = place == SkillPlace::Project || skill.provenance.trust == Trust::Tainted;
    let used = state.used.get(skill.name.as_str()).copied().unwrap_or_default();
    if quality != skill.quality {
        Arc::make_mut(&mut skill).quality = quality;
    }
    let needs_review = is_foreign || (is_untrusted && !is_promoted);
    let has_failed = check == Some(Verification::Failed);
    ListedSkill {
        skill,
        place,
        path,
        notes,
        needs_review,
        is_withdrawn,
        has_failed,
        files,
        not_covered,
        text_hash,
        used,
    }
}
