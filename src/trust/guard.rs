//! Which parts of a folder a handle may use: judged when the folder is opened, and whenever its state is read anew.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use parking_lot::RwLock;

use super::for_git::{self, ATTRIBUTES, IGNORE};
use super::identity::{self, FolderId, FolderIdentity};
use super::{Reach, Sharing, Standing, Tracking, TrustRecord, TrustStore, removed};
use crate::error::folder::{FolderError, Result};
use crate::folder::disk::{Disk, RealDisk};
use crate::folder::{Access, Folder, Name, OwnEdits};
use crate::hash::TextHash;
use crate::user_key::{Codes, ExportKey};

/// The files that a folder without a memory may contain.
const HARMLESS: [&str; 3] = [IGNORE, ATTRIBUTES, "lock"];

/// A decision by the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Decision {
    Trusted,
    Untrusted,
}

/// The trust settings of a builder.
#[derive(Clone, Default)]
pub(crate) struct TrustRequest {
    /// Without one, and without a decision, the path that the host named is trusted.
    pub(crate) store: Option<Arc<dyn TrustStore>>,
    pub(crate) decision: Option<Decision>,
    pub(crate) tracking: AskTracking,
    pub(crate) sharing: Sharing,
}

/// How to find out whether version control writes to a folder.
#[derive(Clone)]
pub(crate) struct AskTracking(Arc<dyn Fn(&Path) -> Tracking + Send + Sync>);

impl AskTracking {
    pub(crate) fn by(ask: impl Fn(&Path) -> Tracking + Send + Sync + 'static) -> Self {
        Self(Arc::new(ask))
    }

    fn ask(&self, folder: &Folder) -> Tracking {
        (self.0)(folder.path())
    }
}

impl Default for AskTracking {
    fn default() -> Self {
        Self::by(|_| Tracking::default())
    }
}

/// Which parts of its folder a handle may use, and where it records what its user writes.
pub(crate) struct Guard {
    judged: RwLock<Judged>,
    store: Option<Arc<dyn TrustStore>>,
    tracking: AskTracking,
    /// True if the host trusts the folder, whatever the store says.
    is_trusted_by_host: bool,
    /// The user's key, once it was needed.
    key: OnceLock<ExportKey>,
}

/// What was found out when the folder was judged last.
struct Judged {
    /// The folder's identity, if the store knows it.
    known: Option<FolderIdentity>,
    /// What the user's decision covers; none if there is no decision.
    reach: Option<Reach>,
    admitted: BTreeSet<TextHash>,
}

/// The state of a folder before it is trusted.
enum Found {
    /// It is missing or empty.
    Fresh,
    Identified(FolderIdentity),
    /// It has no valid id.
    Nameless,
}

impl TrustRequest {
    /// Opens a folder as far as it is trusted. An unknown folder is closed: no file of it is read or written.
    pub(crate) fn open(self, path: &Path, disk: Box<dyn Disk>, access: Access) -> Result<(Folder, Arc<Guard>)> {
        let guard = Arc::new(Guard {
            judged: RwLock::new(Judged { known: None, reach: None, admitted: BTreeSet::new() }),
            store: self.store.clone(),
            tracking: self.tracking.clone(),
            is_trusted_by_host: self.decision == Some(Decision::Trusted),
            key: OnceLock::new(),
        });
        if self.decision == Some(Decision::Untrusted) {
            return Ok((Folder::open(path, disk, Access::ReadOnly)?.closed(), guard));
        }
        let Some(store) = &self.store else {
            guard.judged.write().reach = Some(Reach::Folder);
            let folder = Folder::open(path, disk, access)?;
            let is_absent = access == Access::Existing && matches!(look(&folder), Found::Fresh);
            return Ok((if is_absent { folder.absent() } else { folder }, guard));
        };
        let folder = Folder::open(path, disk, access.without_creating())?;
        let folder = self.judge(folder, access, &guard, store.as_ref())?;
        let (reader, writer) = (Arc::clone(&guard), Arc::clone(&guard));
        let own_edits = OwnEdits {
            knows: Box::new(move |journal| !reader.awaits(journal)),
            note: Box::new(move |journal| if writer.awaits_others() { writer.note(&[journal]) } else { Ok(()) }),
        };
        Ok((folder.with_own_edits(own_edits), guard))
    }

    fn judge(&self, mut folder: Folder, access: Access, guard: &Guard, store: &dyn TrustStore) -> Result<Folder> {
        let mut found = look(&folder);
        if matches!(found, Found::Fresh) {
            // Files that appear in it while the handle is open are not the user's.
            guard.judged.write().reach = Some(Reach::Texts);
            if access != Access::ReadWrite {
                return Ok(folder.absent());
            }
            folder = folder.writable()?;
            found = match self.make(&folder, store) {
                Err(error) if guard.is_trusted_by_host => {
                    tracing::warn!(%error, "the folder will be unknown to the next call");
                    return Ok(folder);
                }
                made => Found::Identified(made?),
            };
        }
        if let Found::Identified(identity) = found {
            self.recognise(&folder, identity, guard, store)?;
        }
        if guard.standing() == Standing::Unknown {
            return Ok(folder.closed());
        }
        if access == Access::ReadWrite {
            folder = folder.writable()?;
            if self.sharing == Sharing::Shared {
                let _lock = folder.lock()?;
                for_git::complete(&folder, self.sharing)?;
            }
        }
        Ok(folder)
    }

    fn recognise(&self, folder: &Folder, known: FolderIdentity, guard: &Guard, store: &dyn TrustStore) -> Result<()> {
        let record = store.find(&known).unwrap_or_else(|error| {
            tracing::warn!(%error, "it is not known whether the folder is trusted");
            None
        });
        let Some(mut record) = record else { return Ok(()) };
        if self.sharing.reach() > record.reach {
            record.reach = Reach::Texts;
            store.change(&known, &|record| record.reach = Reach::Texts)?;
        }
        guard.judge_by(known, record, folder)
    }

    /// Records a new folder in the store, then writes its id: a crash in between leaves an empty folder.
    fn make(&self, folder: &Folder, store: &dyn TrustStore) -> Result<FolderIdentity> {
        let _lock = folder.lock()?;
        match look(folder) {
            // Another process has done it first.
            Found::Identified(identity) => return Ok(identity),
            Found::Nameless => return Err(FolderError::NotTrusted { path: folder.path().to_owned() }),
            Found::Fresh => {}
        }
        let identity = FolderIdentity::of(FolderId::generate(), folder);
        store.change(&identity, &|record| record.reach = self.sharing.reach())?;
        match self.sharing {
            Sharing::Private => for_git::keep_out(folder)?,
            Sharing::Shared => for_git::complete(folder, self.sharing)?,
        }
        identity::write(folder, identity.id)?;
        Ok(identity)
    }
}

/// True if the store has a record of the folder at this path: its user created or trusted it. Nothing is changed.
///
/// # Errors
/// [`FolderError`] when the folder's id or the record cannot be read.
pub fn is_on_record(store: &dyn TrustStore, path: &Path) -> std::result::Result<bool, FolderError> {
    let folder = Folder::open(path, Box::new(RealDisk), Access::ReadOnly)?;
    let id = identity::read(folder.files())?;
    let record = id.map(|id| store.find(&FolderIdentity::of(id, &folder))).transpose()?;
    Ok(record.flatten().is_some())
}

fn look(folder: &Folder) -> Found {
    match identity::read(folder.files()) {
        Ok(Some(id)) => Found::Identified(FolderIdentity::of(id, folder)),
        Ok(None) => match folder.files().list(Name::TOP) {
            Ok(names) if names.iter().all(|name| HARMLESS.iter().any(|harmless| name == harmless)) => Found::Fresh,
            _ => Found::Nameless,
        },
        Err(_) => Found::Nameless,
    }
}

impl Guard {
    /// That of a folder which the host named.
    pub(crate) fn of_host() -> Self {
        let judged = Judged { known: None, reach: Some(Reach::Folder), admitted: BTreeSet::new() };
        let (store, tracking, key) = (None, AskTracking::default(), OnceLock::new());
        Self { judged: RwLock::new(judged), store, tracking, is_trusted_by_host: true, key }
    }

    pub(crate) fn standing(&self) -> Standing {
        match self.judged.read().reach {
            _ if self.is_trusted_by_host => Standing::Trusted,
            Some(Reach::Folder) => Standing::Trusted,
            Some(Reach::Texts) => Standing::TextByText,
            None => Standing::Unknown,
        }
    }

    /// True if a user's decisions count, not the host's alone.
    pub(crate) fn has_store(&self) -> bool {
        self.store.is_some()
    }

    /// The store, and the folder's identity in it; none if the store does not know the folder.
    fn recorded(&self) -> Option<(&dyn TrustStore, FolderIdentity)> {
        Some((self.store.as_deref()?, self.judged.read().known.clone()?))
    }

    /// Whether this still is the folder that was judged, by its handle and its id.
    ///
    /// # Errors
    /// `Replaced`, `Io`.
    pub(crate) fn check(&self, folder: &Folder) -> Result<()> {
        if self.standing() == Standing::Unknown {
            return Ok(());
        }
        folder.check_place()?;
        match self.recorded() {
            Some((_, known)) if identity::read(folder.files())? != Some(known.id) => {
                Err(FolderError::Replaced { path: known.path })
            }
            _ => Ok(()),
        }
    }

    /// Judges the folder by what is on record and by who writes there now.
    ///
    /// # Errors
    /// Those of [`Guard::check`]; `NotTrusted` when the record is gone.
    pub(crate) fn judge(&self, folder: &Folder) -> Result<()> {
        self.check(folder)?;
        let Some((store, known)) = self.recorded() else { return Ok(()) };
        match store.find(&known)? {
            Some(record) => self.judge_by(known, record, folder),
            None if self.is_trusted_by_host => Ok(()),
            None => Err(FolderError::NotTrusted { path: known.path }),
        }
    }

    fn judge_by(&self, known: FolderIdentity, record: TrustRecord, folder: &Folder) -> Result<()> {
        let reach = if record.reach == Reach::Folder { self.reach_now(&known, folder)? } else { record.reach };
        *self.judged.write() = Judged { known: Some(known), reach: Some(reach), admitted: record.admitted };
        Ok(())
    }

    /// The reach of a decision about the whole folder, by who writes there now.
    fn reach_now(&self, known: &FolderIdentity, folder: &Folder) -> Result<Reach> {
        let tracking = self.tracking.ask(folder);
        // The answer may be about another folder.
        folder.check_place()?;
        if let (Tracking::Tracked, Some(store)) = (tracking, &self.store)
            && let Err(error) = store.change(known, &|record| record.reach = Reach::Texts)
        {
            tracing::warn!(%error, "it is not on record that version control writes to the folder");
        }
        Ok(tracking.reach())
    }

    /// True if less of the folder may be used than when it was judged, because version control writes there by now. Git locks its index
    /// before it writes files: if it wrote one that was read before this call, it is noticed.
    pub(crate) fn is_limited_since(&self, folder: &Folder) -> Result<bool> {
        let Some((_, known)) = self.recorded().filter(|_| !self.awaits_others()) else { return Ok(false) };
        let reach = self.reach_now(&known, folder)?;
        self.judged.write().reach = Some(reach);
        Ok(reach == Reach::Texts)
    }

    /// By what a file of the folder is recognised as written by the user's own programs.
    pub(crate) fn codes(&self) -> Codes {
        self.codes_by(|store| store.key())
    }

    /// As [`Guard::codes`], for a write: the user's key is created if there is none.
    pub(crate) fn codes_to_write(&self) -> Codes {
        self.codes_by(|store| store.create_key())
    }

    fn codes_by(&self, find: fn(&dyn TrustStore) -> Result<Option<ExportKey>>) -> Codes {
        let Some(store) = &self.store else { return Codes::Unneeded };
        if let Some(key) = self.key.get() {
            return Codes::Under(key.clone());
        }
        match find(store.as_ref()) {
            Ok(Some(key)) => Codes::Under(self.key.get_or_init(|| key).clone()),
            Ok(None) => Codes::Impossible,
            Err(error) => {
                tracing::warn!(%error, "the user's key cannot be used, so records and caches of the folder are not believed");
                Codes::Impossible
            }
        }
    }

    /// The folder's id, to which the code of a file is bound; empty if it has none.
    pub(crate) fn scope(folder: &Folder) -> String {
        identity::read(folder.files()).ok().flatten().map(|id| id.to_string()).unwrap_or_default()
    }

    /// True if a text may be used. Its hash is computed only if needed.
    pub(crate) fn admits(&self, text: impl FnOnce() -> TextHash) -> bool {
        match self.standing() {
            Standing::Trusted => true,
            Standing::TextByText => self.has(text()),
            Standing::Unknown => false,
        }
    }

    /// True when the user wrote or admitted exactly this text.
    pub(crate) fn has(&self, text: TextHash) -> bool {
        self.judged.read().admitted.contains(&text)
    }

    /// True for a text that the user removed or replaced. It may have been admitted again since.
    pub(crate) fn was_removed(&self, text: TextHash) -> bool {
        self.has(removed(text))
    }

    /// True for a text that the user has neither written nor admitted, neither by itself nor with the folder.
    pub(crate) fn awaits(&self, text: TextHash) -> bool {
        self.awaits_others() && !self.has(text)
    }

    /// True where other people write too, whatever the host says.
    pub(crate) fn awaits_others(&self) -> bool {
        self.judged.read().reach != Some(Reach::Folder)
    }

    /// What the user wrote or admitted, where others write too; none where everything is used.
    pub(crate) fn admitted(&self) -> Option<Vec<TextHash>> {
        let is_limited = self.is_recording() && self.awaits_others();
        is_limited.then(|| self.judged.read().admitted.iter().copied().collect())
    }

    /// From now on, others count as writing to the folder, and of what is there, these texts are used.
    pub(crate) fn limit_to(&self, texts: &[TextHash]) -> Result<()> {
        let Some((store, folder)) = self.recorded() else { return Ok(()) };
        store.change(&folder, &|record| record.reach = Reach::Texts)?;
        self.judged.write().reach = Some(Reach::Texts);
        self.note(&texts.iter().copied().filter(|text| !self.was_removed(*text)).collect::<Vec<_>>())
    }

    /// True if the user's own texts are recorded.
    pub(crate) fn is_recording(&self) -> bool {
        self.recorded().is_some()
    }

    /// Records the user's texts before they are written. A crash in between is harmless: no one else has these texts.
    pub(crate) fn note(&self, texts: &[TextHash]) -> Result<()> {
        self.change(texts, &[])
    }

    /// Records that these texts left the folder, once they did: a crash in between leaves a record of the removal in the folder itself.
    pub(crate) fn withdraw(&self, texts: &[TextHash]) -> Result<()> {
        let texts: Vec<TextHash> = texts.iter().copied().filter(|text| self.has(*text)).collect();
        self.change(&texts.iter().copied().map(removed).collect::<Vec<_>>(), &texts)
    }

    /// Records what the user admits, and what is admitted no longer.
    pub(crate) fn change(&self, admitted: &[TextHash], withdrawn: &[TextHash]) -> Result<()> {
        let Some((store, folder)) = self.recorded() else { return Ok(()) };
        let is_known = admitted.iter().all(|text| self.has(*text)) && !withdrawn.iter().any(|text| self.has(*text));
        if is_known {
            return Ok(());
        }
        let change = |known: &mut BTreeSet<TextHash>| {
            known.retain(|text| !withdrawn.contains(text));
            known.extend(admitted);
        };
        store.change(&folder, &|record| change(&mut record.admitted))?;
        change(&mut self.judged.write().admitted);
        Ok(())
    }

    /// Records the folder as trusted with these texts; a folder without an id gets one.
    pub(crate) fn trust(&self, folder: &Folder, texts: &[TextHash]) -> Result<FolderIdentity> {
        let store = self.store.as_ref().ok_or_else(|| FolderError::NoTrustStore { path: folder.path().to_owned() })?;
        let identity = FolderIdentity::of(identity::ensure(folder)?, folder);
        let reach = store.find(&identity)?.map_or(Reach::Folder, |record| record.reach);
        store.change(&identity, &|record| {
            record.reach = reach;
            record.admitted.extend(texts);
        })?;
        self.judged.write().known = Some(identity.clone());
        self.judge(folder)?;
        Ok(identity)
    }
}
