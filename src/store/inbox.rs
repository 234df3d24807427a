//! The inbox on disk (docs/spec/skills.md, 4.1): what lies there, what stands where a proposal leads, and what goes aside.
//!
//! ```text
//! .inbox/private/extraction.patch      with extraction.base.json: what the targets held when it was proposed
//! .inbox/global/extraction.patch
//! .inbox/skills/NAME.patch
//! .inbox/skills/NAME/SKILL.md
//! .inbox/aside/…                       what cannot be applied, each with a .reason
//! ```

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use chrono::{DateTime, FixedOffset};
use serde::{Deserialize, Serialize};

use super::Place;
use super::disk::TEMPORARY;
use super::edits::BESIDE;
use crate::error::{CannotApply, Error, Result};
use crate::inbox::{Entry, Ground, Grounds, Located, PatchKind, View};
use crate::lesson::TextHash;
use crate::skills::SkillName;

/// The version of the record beside a patch that this program writes.
const SCHEMA: u64 = 1;
/// The only patch of a kind that has one.
const PATCH: &str = "extraction.patch";
/// How the record beside a patch ends.
const RECORD: &str = ".base.json";

/// Something that lies in the inbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) path: PathBuf,
    pub(crate) what: Lies,
}

/// What it is, by name and place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Lies {
    Patch(PatchKind),
    /// A patch beside the one of its kind, under a name of its own.
    Extra(PatchKind),
    /// The folder of a new skill.
    Skill(SkillName),
    /// Nothing that could be applied; what could lie there.
    Misplaced(&'static str),
}

/// What the targets of a patch held when it was proposed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Bases {
    schema: u64,
    /// The patch that it is the record of; of another one it says nothing.
    patch: TextHash,
    at: DateTime<FixedOffset>,
    files: Vec<Base>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Base {
    path: PathBuf,
    content: Option<TextHash>,
}

impl Bases {
    pub(crate) fn new(
        patch: TextHash,
        at: DateTime<FixedOffset>,
        files: impl IntoIterator<Item = (PathBuf, Option<TextHash>)>,
    ) -> Self {
        let files = files.into_iter().map(|(path, content)| Base { path, content }).collect();
        Self { schema: SCHEMA, patch, at, files }
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::json!(self).to_string().into_bytes();
        bytes.push(b'\n');
        bytes
    }

    /// Whether a file still is what the patch was proposed for. One that the record does not know is.
    pub(crate) fn check(&self, path: &Path, found: Option<TextHash>) -> Result<(), CannotApply> {
        match self.files.iter().find(|base| base.path == path) {
            Some(base) if base.content != found => {
                Err(CannotApply::Changed { path: path.to_owned(), proposed_for: base.content, found })
            }
            _ => Ok(()),
        }
    }
}

impl Place {
    /// Where a patch of a kind lies.
    pub(crate) fn patch_path(&self, kind: &PatchKind) -> PathBuf {
        let inbox = self.inbox();
        match kind {
            PatchKind::Private => inbox.join("private").join(PATCH),
            PatchKind::Global => inbox.join("global").join(PATCH),
            PatchKind::Skill(name) => inbox.join("skills").join(format!("{name}.patch")),
        }
    }

    /// Where the record of a patch lies.
    pub(crate) fn record_path(patch: &Path) -> PathBuf {
        patch.with_extension(RECORD.trim_start_matches('.'))
    }

    pub(crate) fn skill_proposal(&self, name: &SkillName) -> PathBuf {
        self.inbox().join("skills").join(name.as_str())
    }

    fn inbox(&self) -> PathBuf {
        self.folder.path().join(".inbox")
    }

    /// A path of the inbox as people call it.
    pub(crate) fn inbox_name(&self, path: &Path) -> String {
        path.strip_prefix(self.inbox()).unwrap_or(path).display().to_string()
    }

    /// Everything that lies in the inbox, in the order of its paths. What cannot be a proposal is among it.
    pub(crate) fn written(&self) -> Result<Vec<Written>> {
        let inbox = self.inbox();
        if self.look(&inbox)? == Entry::Missing {
            return Ok(Vec::new());
        }
        let mut written = Vec::new();
        for name in self.names(&inbox)? {
            let path = inbox.join(&name);
            let is_folder = self.look(&path)? == Entry::Folder;
            match name.to_str() {
                Some(kind @ ("private" | "global" | "skills")) if is_folder => {
                    for file in self.names(&path)? {
                        if let Some(file) = file.to_str() {
                            written.extend(self.lies(&path, kind, file)?);
                        } else {
                            let what = Lies::Misplaced("a file under a readable name");
                            written.push(Written { path: path.join(file), what });
                        }
                    }
                }
                Some("aside") if is_folder => {}
                _ => written
                    .push(Written { path, what: Lies::Misplaced("one of the folders private, global and skills") }),
            }
        }
        Ok(written)
    }

    fn lies(&self, folder: &Path, kind: &str, name: &str) -> Result<Option<Written>> {
        let path = folder.join(name);
        let stem = name.strip_suffix(".patch");
        if let Some(stem) = name.strip_suffix(RECORD)
            && self.look(&folder.join(format!("{stem}.patch")))? != Entry::Missing
        {
            return Ok(None);
        }
        let what = match (kind, stem) {
            ("private", Some(_)) if name == PATCH => Lies::Patch(PatchKind::Private),
            ("global", Some(_)) if name == PATCH => Lies::Patch(PatchKind::Global),
            ("private", Some(_)) => Lies::Extra(PatchKind::Private),
            ("global", Some(_)) => Lies::Extra(PatchKind::Global),
            ("skills", Some(stem)) => match own_name(stem) {
                Some(skill) => Lies::Patch(PatchKind::Skill(skill)),
                None => Lies::Misplaced("a patch under the name of a skill"),
            },
            ("skills", None) => match own_name(name) {
                Some(_) if self.is_empty_folder(&path)? => return Ok(None),
                Some(skill) => Lies::Skill(skill),
                None => Lies::Misplaced("a folder under the name of a skill"),
            },
            _ => Lies::Misplaced("a patch, NAME.patch"),
        };
        Ok(Some(Written { path, what }))
    }

    /// What a transaction that was stopped half-way, or an applied skill, leaves.
    fn is_empty_folder(&self, path: &Path) -> Result<bool> {
        Ok(self.look(path)? == Entry::Folder && self.names(path)?.is_empty())
    }

    /// The names in a folder, without our temporary files.
    pub(crate) fn names(&self, folder: &Path) -> Result<Vec<OsString>> {
        if self.look(folder)? != Entry::Folder {
            return Err(Error::io("list", folder)(io::Error::other("it is no folder")));
        }
        let names = self.disk.list(folder).map_err(Error::io("list", folder))?;
        let is_ours = |name: &OsString| {
            let name = name.to_string_lossy();
            name.starts_with(BESIDE) || name.starts_with(TEMPORARY)
        };
        Ok(names.into_iter().filter(|name| !is_ours(name)).collect())
    }

    /// The bytes of a file that lies in the inbox: a regular file of its own, no larger than `limit`.
    pub(crate) fn read_written(&self, path: &Path, limit: usize) -> Result<Vec<u8>, CannotApply> {
        let limit = limit as u64;
        match self.look(path).map_err(unreadable)? {
            Entry::File { n_links: 1, n_bytes, .. } if n_bytes <= limit => {
                self.read_or_empty(path, 0).map_err(unreadable)
            }
            Entry::File { n_links: 1, n_bytes, .. } => Err(CannotApply::TooLarge { found: n_bytes, limit }),
            _ => Err(CannotApply::NotAFile),
        }
    }

    /// The record of a patch; none where there is none of this very patch.
    pub(crate) fn bases(&self, of: &Path, text: TextHash) -> Option<Bases> {
        let bytes = self.read_written(&Self::record_path(of), crate::inbox::MAX_BYTES).ok()?;
        let bases: Bases = serde_json::from_slice(&bytes).ok()?;
        (bases.schema == SCHEMA && bases.patch == text).then_some(bases)
    }

    /// Puts something aside with the reason; where it is now. What it is does not matter: it is only given another name.
    pub(crate) fn set_aside(&self, path: &Path, reason: &CannotApply) -> Result<PathBuf> {
        let folder = self.inbox().join("aside");
        let mut from = path.to_owned();
        if !matches!(self.look(&folder)?, Entry::Folder | Entry::Missing) {
            // A link or a file in the place of our folder: under another name it goes aside like anything else.
            let former = self.inbox().join("former-aside");
            self.rename(&folder, &former)?;
            if path == folder {
                from = former;
            }
        }
        self.disk.create_folder(&folder).map_err(Error::io("make the folder", &folder))?;
        let taken = self.names(&folder)?;
        let readable = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_') { c } else { '-' };
        let name: String = self.inbox_name(path).chars().map(readable).take(100).collect();
        // A name that ends in `.reason` can be that of a proposal too.
        let is_taken = |n: usize| taken.iter().any(|taken| taken.to_string_lossy().starts_with(&format!("{n}-")));
        let number = (1..=taken.len() + 1).find(|n| !is_taken(*n)).unwrap_or_default();
        let kept = folder.join(format!("{number}-{name}"));
        let told = folder.join(format!("{number}-{name}.reason"));
        self.disk.create(&told, format!("{reason}\n").as_bytes()).map_err(Error::io("write", &told))?;
        self.sync(&told)?;
        self.rename(&from, &kept)?;
        self.sync_folder(&folder)?;
        let record = Self::record_path(path);
        if path.extension().is_some_and(|extension| extension == "patch") && self.look(&record)? != Entry::Folder {
            self.remove_if_there(&record)?;
        }
        tracing::warn!(from = %path.display(), to = %kept.display(), %reason, "a proposal cannot be applied and was put aside");
        Ok(kept)
    }

    /// Removes a folder of the inbox that nothing is left in.
    pub(crate) fn drop_empty(&self, folder: &Path) {
        // One that is not empty stays, which is what is wanted.
        let _ = self.disk.remove_folder(folder);
    }

    /// The places that proposals may lead to.
    pub(crate) fn grounds(&self, global: Option<&Path>, skills: &[PathBuf]) -> Result<Grounds> {
        let memory = self.folder.path();
        let ground = |path: &Path| -> Result<Ground> {
            let spelled = std::path::absolute(path).map_err(Error::io("resolve", path))?;
            let resolved = self.resolve_present(&spelled)?;
            Ok(Ground { spelled, resolved })
        };
        let file = |path: &Path| -> Result<Ground> {
            let spelled = std::path::absolute(path).map_err(Error::io("resolve", path))?;
            let (Some(folder), Some(name)) = (spelled.parent(), spelled.file_name()) else { return ground(path) };
            let resolved = self.resolve_present(folder)?.join(name);
            Ok(Ground { spelled, resolved })
        };
        Ok(Grounds {
            memory: ground(memory)?,
            global: global.map(file).transpose()?,
            skills: skills.iter().map(|root| ground(root)).collect::<Result<_>>()?,
        })
    }

    /// A path with every link followed, as far as it is there.
    pub(super) fn resolve_present(&self, path: &Path) -> Result<PathBuf> {
        for ancestor in path.ancestors() {
            match self.disk.resolve(ancestor) {
                Ok(found) => {
                    return Ok(path.strip_prefix(ancestor).map_or_else(
                        |_| found.clone(),
                        |rest| {
                            if rest.as_os_str().is_empty() { found.clone() } else { found.join(rest) }
                        },
                    ));
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(Error::io("resolve", ancestor)(error)),
            }
        }
        Ok(path.to_owned())
    }

    /// What stands at a target and on the way to it.
    pub(crate) fn view(&self, target: &Located) -> Result<View> {
        let steps = target.steps.iter().map(|step| self.look(step)).collect::<Result<Vec<Entry>>>()?;
        let (folder, siblings) = if let Some(parent) = target.path.parent()
            && self.disk.look(parent).is_ok_and(|entry| matches!(entry, Entry::Folder | Entry::Link))
        {
            let resolved = self.disk.resolve(parent).map_err(Error::io("resolve", parent))?;
            let names = self.disk.list(&resolved).map_err(Error::io("list", parent))?;
            (Some(resolved), names.into_iter().map(|name| name.to_string_lossy().into_owned()).collect())
        } else {
            (None, Vec::new())
        };
        Ok(View { steps, folder, siblings })
    }
}

/// The name of a skill that is spelled exactly like this, and does not end like a patch.
fn own_name(text: &str) -> Option<SkillName> {
    let name: SkillName = text.parse().ok()?;
    let is_patch = Path::new(text).extension().is_some_and(|extension| extension == "patch");
    (name.as_str() == text && !is_patch).then_some(name)
}

/// An error while a proposal is looked at speaks of that proposal only.
#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
pub(crate) fn unreadable(error: Error) -> CannotApply {
    let causes = std::iter::successors(Some(&error as &dyn std::error::Error), |error| error.source());
    CannotApply::Unreadable { reason: causes.map(ToString::to_string).collect::<Vec<_>>().join(": ") }
}
