//! The inbox on disk (docs/spec/skills.md, 4.1): its entries, and those in quarantine.
//!
//! ```text
//! .inbox/private/extraction.patch      with extraction.base.json: what the targets held when it was proposed
//! .inbox/global/extraction.patch
//! .inbox/skills/NAME.patch
//! .inbox/skills/NAME/SKILL.md
//! .inbox/aside/…                       what cannot be applied, each with a .reason
//! ```

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use adage_redact::path_line;
use chrono::{DateTime, FixedOffset};
use serde::{Deserialize, Serialize};

use crate::error::CannotApply;
use crate::proposal::PatchKind;
use adage::FolderError;
use adage::TextHash;
use adage::extend::files::{Entry, FileEdit, Folder, Name, content_hash};
use adage::skills::Name as SkillName;

/// The schema of the record beside a patch that this program writes.
const SCHEMA: u64 = 1;
/// The folder of the inbox.
const INBOX: &str = ".inbox";
/// The folder below it for entries that cannot be applied.
const ASIDE: &str = "aside";
/// The file of the patch of a kind.
const PATCH: &str = "extraction.patch";
/// The suffix of the record beside a patch.
const RECORD: &str = ".base.json";

/// An entry of the inbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    pub(crate) name: Name,
    pub(crate) what: InboxItem,
}

/// The type of an entry, by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum InboxItem {
    Patch(PatchKind),
    /// A patch under another name than that of its kind.
    Extra(PatchKind),
    /// The folder of a new skill.
    Skill(SkillName),
    /// An entry that cannot be applied, with what is expected there.
    Misplaced(&'static str),
}

/// The content of a patch's targets when it was proposed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Bases {
    schema: u64,
    /// The hash of the patch that this record belongs to.
    patch: TextHash,
    at: DateTime<FixedOffset>,
    files: Vec<Base>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Base {
    #[serde(with = "adage::extend::path_text::exact")]
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

    /// Checks that a file still has the content that the patch was proposed for. A file that is not in the record passes.
    pub(crate) fn check(&self, path: &Path, found: Option<TextHash>) -> Result<(), CannotApply> {
        match self.files.iter().find(|base| base.path == path) {
            Some(base) if base.content != found => {
                Err(CannotApply::Changed { path: path.to_owned(), proposed_for: base.content, found })
            }
            _ => Ok(()),
        }
    }
}

/// The files of the inbox, by names relative to the memory folder.
#[derive(Clone, Copy)]
pub(crate) struct InboxFiles<'a>(pub(crate) &'a Folder);

impl InboxFiles<'_> {
    /// The file of a patch of a kind.
    pub(crate) fn patch(kind: &PatchKind) -> Name {
        let inbox = Name::from(INBOX);
        match kind {
            PatchKind::Private => inbox.join("private").join(PATCH),
            PatchKind::Global => inbox.join("global").join(PATCH),
            PatchKind::Skill(name) => inbox.join("skills").join(format!("{name}.patch")),
        }
    }

    /// The record beside a patch.
    pub(crate) fn record_of(patch: &Name) -> Name {
        patch.with_extension(RECORD.trim_start_matches('.'))
    }

    /// The folder of a proposed skill.
    pub(crate) fn skill(name: &SkillName) -> Name {
        Name::from(INBOX).join("skills").join(name.as_str())
    }

    /// The name without the inbox's folder, as shown to people.
    pub(crate) fn shown(name: &Name) -> String {
        let path = name.as_path();
        path_line(path.strip_prefix(INBOX).unwrap_or(path))
    }

    /// An edit of a file of the inbox.
    pub(crate) fn edit(self, name: &Name, before: Option<TextHash>, after: Option<Vec<u8>>) -> FileEdit {
        FileEdit::new(self.0.files().path_of(name), before, after)
    }

    /// All entries of the inbox, in the order of their names, including those that cannot be proposals.
    pub(crate) fn list(self) -> Result<Vec<Written>, FolderError> {
        let (inbox, files) = (Name::from(INBOX), self.0.files());
        if files.entry(&inbox)? == Entry::Missing {
            return Ok(Vec::new());
        }
        let mut written = Vec::new();
        for name in files.list_own(&inbox)? {
            let path = inbox.join(&name);
            let is_folder = files.entry(&path)? == Entry::Folder;
            match name.to_str() {
                Some(kind @ ("private" | "global" | "skills")) if is_folder => {
                    for file in files.list_own(&path)? {
                        written.extend(self.classify(&path, kind, &file)?);
                    }
                }
                Some(ASIDE) if is_folder => {}
                _ => {
                    let what = InboxItem::Misplaced("one of the folders private, global and skills");
                    written.push(Written { name: path, what });
                }
            }
        }
        Ok(written)
    }

    fn classify(self, folder: &Name, kind: &str, file: &OsStr) -> Result<Option<Written>, FolderError> {
        let path = folder.join(file);
        let Some(name) = file.to_str() else {
            return Ok(Some(Written { name: path, what: InboxItem::Misplaced("a file under a readable name") }));
        };
        let stem = name.strip_suffix(".patch");
        if let Some(stem) = name.strip_suffix(RECORD)
            && self.0.files().entry(folder.join(format!("{stem}.patch")))? != Entry::Missing
        {
            return Ok(None);
        }
        let what = match (kind, stem) {
            ("private", Some(_)) if name == PATCH => InboxItem::Patch(PatchKind::Private),
            ("global", Some(_)) if name == PATCH => InboxItem::Patch(PatchKind::Global),
            ("private", Some(_)) => InboxItem::Extra(PatchKind::Private),
            ("global", Some(_)) => InboxItem::Extra(PatchKind::Global),
            ("skills", Some(stem)) => match own_name(stem) {
                Some(skill) => InboxItem::Patch(PatchKind::Skill(skill)),
                None => InboxItem::Misplaced("a patch under the name of a skill"),
            },
            ("skills", None) => match own_name(name) {
                Some(_) if self.is_empty_folder(&path)? => return Ok(None),
                Some(skill) => InboxItem::Skill(skill),
                None => InboxItem::Misplaced("a folder under the name of a skill"),
            },
            _ => InboxItem::Misplaced("a patch, NAME.patch"),
        };
        Ok(Some(Written { name: path, what }))
    }

    /// Such a folder is left by an interrupted transaction or an applied skill.
    fn is_empty_folder(self, name: &Name) -> Result<bool, FolderError> {
        let files = self.0.files();
        Ok(files.entry(name)? == Entry::Folder && files.list_own(name)?.is_empty())
    }

    /// The names in a folder of the inbox, without temporary files.
    pub(crate) fn names_in(self, folder: &Name) -> Result<Vec<std::ffi::OsString>, FolderError> {
        self.0.files().list_own(folder)
    }

    /// True if there is no entry of this name.
    pub(crate) fn is_missing(self, name: &Name) -> Result<bool, FolderError> {
        Ok(self.0.files().entry(name)? == Entry::Missing)
    }

    /// The hash of a file's content; none if it is missing.
    pub(crate) fn hash_of(self, name: &Name) -> Result<Option<TextHash>, FolderError> {
        Ok(self.0.files().content(name)?.as_deref().map(content_hash))
    }

    /// The bytes of a file of the inbox: a regular file without other hard links, of at most `limit` bytes.
    pub(crate) fn read(self, name: &Name, limit: usize) -> Result<Vec<u8>, CannotApply> {
        let (limit, files) = (limit as u64, self.0.files());
        match files.entry(name).map_err(unreadable)? {
            Entry::File { n_links: 1, n_bytes, .. } if n_bytes <= limit => {
                files.read_or_empty(name, 0).map_err(unreadable)
            }
            Entry::File { n_links: 1, n_bytes, .. } => Err(CannotApply::TooLarge { found: n_bytes, limit }),
            _ => Err(CannotApply::NotAFile { path: name.as_path().to_owned() }),
        }
    }

    /// The record of exactly this patch, if there is one.
    pub(crate) fn bases(self, of: &Name, text: TextHash) -> Option<Bases> {
        let bytes = self.read(&Self::record_of(of), crate::proposal::MAX_BYTES).ok()?;
        let bases: Bases = serde_json::from_slice(&bytes).ok()?;
        (bases.schema == SCHEMA && bases.patch == text).then_some(bases)
    }

    /// Moves an entry of any type to quarantine with the reason. Returns the new path. It is only renamed.
    pub(crate) fn set_aside(self, name: &Name, reason: &CannotApply) -> Result<PathBuf, FolderError> {
        let files = self.0.files();
        let from = self.make_room_for_aside(name)?;
        let folder = Name::from(INBOX).join(ASIDE);
        let taken = files.list_own(&folder)?;
        let readable = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_') { c } else { '-' };
        let called: String = Self::shown(name).chars().map(readable).take(100).collect();
        // A proposal's name may also end in `.reason`.
        let number_of = |taken: &OsString| taken.to_str()?.split_once('-')?.0.parse::<usize>().ok();
        let numbers: HashSet<usize> = taken.iter().filter_map(number_of).collect();
        let number = (1..=taken.len() + 1).find(|n| !numbers.contains(n)).unwrap_or_default();
        let kept = folder.join(format!("{number}-{called}"));
        let reason_file = folder.join(format!("{number}-{called}.reason"));
        files.create(&reason_file, format!("{reason}\n").as_bytes())?;
        files.sync(reason_file)?;
        files.rename(from, &kept)?;
        files.sync_directory(folder)?;
        let record = Self::record_of(name);
        if name.as_path().extension().is_some_and(|extension| extension == "patch")
            && files.entry(&record)? != Entry::Folder
        {
            files.remove_if_exists(record)?;
        }
        let (path, kept) = (files.path_of(name), files.path_of(kept));
        tracing::warn!(from = %path_line(&path), to = %path_line(&kept), %reason, "a proposal cannot be applied and was moved to quarantine");
        Ok(kept)
    }

    /// Creates the quarantine folder. A link or a file in its place is renamed and becomes an entry like any other. Returns
    /// what `name` is called then.
    fn make_room_for_aside(self, name: &Name) -> Result<Name, FolderError> {
        let (files, folder) = (self.0.files(), Name::from(INBOX).join(ASIDE));
        let mut from = name.clone();
        if !matches!(files.entry(&folder)?, Entry::Folder | Entry::Missing) {
            let former = Name::from(INBOX).join("former-aside");
            files.rename(&folder, &former)?;
            if *name == folder {
                from = former;
            }
        }
        files.create_directory(folder)?;
        Ok(from)
    }

    /// Removes the folder of a proposed skill if it is empty.
    pub(crate) fn remove_empty_skill(self, name: &SkillName) {
        self.0.files().remove_if_empty(Self::skill(name));
    }
}

/// The name of a skill in exactly this spelling, which does not end like a patch.
fn own_name(text: &str) -> Option<SkillName> {
    let name: SkillName = text.parse().ok()?;
    let is_patch = Path::new(text).extension().is_some_and(|extension| extension == "patch");
    (name.as_str() == text && !is_patch).then_some(name)
}

/// An error of reading a proposal concerns only that proposal.
#[expect(clippy::needless_pass_by_value, reason = "for `map_err`")]
pub(crate) fn unreadable(error: FolderError) -> CannotApply {
    let causes = std::iter::successors(Some(&error as &dyn std::error::Error), |error| error.source());
    CannotApply::Unreadable { reason: causes.map(ToString::to_string).collect::<Vec<_>>().join(": ") }
}
