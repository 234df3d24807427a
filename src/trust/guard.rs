//! Which parts of a folder a handle may use: decided at open, and consulted by every read.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::{Mutex, RwLock};

use super::for_git::{self, ATTRIBUTES, IGNORE};
use super::identity::{self, FolderId, FolderIdentity};
use super::{Reach, Sharing, Standing, Tracking, TrustRecord, TrustStore};
use crate::error::folder::{FolderError, Result};
use crate::folder::disk::{Disk, RealDisk};
use crate::folder::{Access, Folder, Name, OwnEdits, Stamp};
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

/// How to find out whether version control writes to a folder: asked at the open, and again when the folder changed.
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
    /// How often that changed since the open: what was read under an earlier judgement is read again.
    n_judged: AtomicU64,
    store: Option<Arc<dyn TrustStore>>,
    tracking: AskTracking,
    /// True if the host trusts the folder, whatever the store says.
    is_trusted_by_host: bool,
    /// The folder's identity, if the store knows it.
    known: RwLock<Option<FolderIdentity>>,
    /// The file with its id, as it was when it was read last.
    id_stamp: Mutex<Option<Stamp>>,
    admitted: RwLock<BTreeSet<TextHash>>,
    /// Texts that the user removed or replaced.
    withdrawn: RwLock<BTreeSet<TextHash>>,
    /// The user's key, once it was needed.
    key: OnceLock<ExportKey>,
}

/// What a handle uses, by what is known now.
#[derive(Clone, Copy, PartialEq)]
struct Judged {
    standing: Standing,
    /// The reach that is on record: if it is the whole folder, version control is asked again.
    recorded: Reach,
    /// True if the user's decision is about the whole folder, whatever is in it.
    is_whole: bool,
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
        if self.decision == Some(Decision::Untrusted) {
            let folder = Folder::open(path, disk, Access::ReadOnly)?.closed();
            return Ok((folder, Arc::new(self.guard(Standing::Unknown))));
        }
        let Some(store) = self.store.clone() else {
            let (folder, guard) = (Folder::open(path, disk, access)?, Arc::new(self.guard(Standing::Trusted)));
            guard.check(&folder)?;
            return Ok((folder, guard));
        };
        let (folder, guard) = self.judge(path, disk, access, store.as_ref())?;
        let guard = Arc::new(guard);
        let (reader, writer) = (Arc::clone(&guard), Arc::clone(&guard));
        let own_edits = OwnEdits {
            knows: Box::new(move |journal| !reader.awaits(journal)),
            note: Box::new(move |journal| if writer.is_whole() { Ok(()) } else { writer.note(&[journal]) }),
        };
        Ok((folder.with_own_edits(own_edits), guard))
    }

    fn judge(
        &self,
        path: &Path,
        disk: Box<dyn Disk>,
        access: Access,
        store: &dyn TrustStore,
    ) -> Result<(Folder, Guard)> {
        let mut folder = Folder::open(path, disk, access.without_creating())?;
        folder.keep();
        let found = match look(&folder) {
            Found::Fresh if access == Access::ReadWrite => {
                let folder = folder.writable()?;
                return match self.make(&folder, store) {
                    Err(error) if self.decision == Some(Decision::Trusted) => {
                        tracing::warn!(%error, "the folder will be unknown to the next call");
                        Ok((folder, self.guard(Standing::Trusted)))
                    }
                    made => {
                        let guard = self.ask(&folder, &made?, store)?;
                        Ok((folder, guard))
                    }
                };
            }
            found => found,
        };
        let guard = match found {
            Found::Identified(identity) => self.ask(&folder, &identity, store)?,
            // Files that appear in it while the handle is open are not the user's, unless the store knows the folder by then.
            Found::Fresh => return Ok((folder, self.unless_trusted(Standing::TextByText))),
            Found::Nameless => self.unless_trusted(Standing::Unknown),
        };
        let folder = match guard.standing() {
            Standing::Unknown => folder.closed(),
            _ if access == Access::ReadWrite => folder.writable()?,
            _ => folder,
        };
        folder.arrive();
        if self.sharing == Sharing::Shared && access == Access::ReadWrite && guard.standing() != Standing::Unknown {
            let _lock = folder.lock()?;
            for_git::complete(&folder, self.sharing)?;
        }
        Ok((folder, guard))
    }

    /// The guard of a folder that the store does not know.
    fn unless_trusted(&self, standing: Standing) -> Guard {
        self.guard(if self.decision == Some(Decision::Trusted) { Standing::Trusted } else { standing })
    }

    fn guard(&self, standing: Standing) -> Guard {
        Guard {
            judged: RwLock::new(Judged { standing, recorded: Reach::Texts, is_whole: self.store.is_none() }),
            n_judged: AtomicU64::new(0),
            store: self.store.clone(),
            tracking: self.tracking.clone(),
            is_trusted_by_host: self.decision == Some(Decision::Trusted),
            known: RwLock::default(),
            id_stamp: Mutex::default(),
            admitted: RwLock::default(),
            withdrawn: RwLock::default(),
            key: OnceLock::new(),
        }
    }

    /// The store's decision about a folder. If version control writes to the folder, that is recorded.
    ///
    /// # Errors
    /// `Replaced`: what was found out about the path is about another folder.
    fn ask(&self, opened: &Folder, folder: &FolderIdentity, store: &dyn TrustStore) -> Result<Guard> {
        let record = store.find(folder).unwrap_or_else(|error| {
            tracing::warn!(%error, "it is not known whether the folder is trusted");
            None
        });
        let guard = self.unless_trusted(Standing::Unknown);
        if let Some(mut record) = record {
            if self.sharing.reach() > record.reach {
                record.reach = self.sharing.reach();
                store.admit(folder, record.reach, &[])?;
            }
            guard.adopt(opened, folder, record, store)?;
        }
        Ok(guard)
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
        store.admit(&identity, self.sharing.reach().max(self.tracking.ask(folder).recorded_reach()), &[])?;
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
            Err(error) if identity::is_missing(&error) => Found::Fresh,
            _ => Found::Nameless,
        },
        Err(_) => Found::Nameless,
    }
}

impl Guard {
    pub(crate) fn standing(&self) -> Standing {
        self.judged.read().standing
    }

    /// True if a user's decisions count, not the host's alone.
    pub(crate) fn has_store(&self) -> bool {
        self.store.is_some()
    }

    /// Uses the folder as far as its record covers it. If version control writes to the folder, that is recorded.
    fn adopt(
        &self,
        opened: &Folder,
        folder: &FolderIdentity,
        record: TrustRecord,
        store: &dyn TrustStore,
    ) -> Result<()> {
        let tracking = self.tracking.ask(opened);
        opened.check_place()?;
        if tracking.recorded_reach() > record.reach
            && let Err(error) = store.admit(folder, Reach::Texts, &[])
        {
            tracing::warn!(%error, "it is not on record that version control writes to the folder");
        }
        *self.judged.write() = self.judged_by(record.reach, tracking);
        self.take_texts(record);
        *self.known.write() = Some(folder.clone());
        Ok(())
    }

    fn take_texts(&self, record: TrustRecord) {
        *self.admitted.write() = record.admitted;
        *self.withdrawn.write() = record.withdrawn;
    }

    fn judged_by(&self, recorded: Reach, tracking: Tracking) -> Judged {
        let is_whole = recorded.max(tracking.reach()) == Reach::Folder;
        let standing = if self.is_trusted_by_host || is_whole { Standing::Trusted } else { Standing::TextByText };
        Judged { standing, is_whole, recorded: recorded.max(tracking.recorded_reach()) }
    }

    /// Asks again whether version control writes to the folder: it may have begun or ended to since. Called before what was read is
    /// used, and after a file was read, since git writes files first and its index last.
    ///
    /// # Errors
    /// Those of the store, when it has to be recorded.
    pub(crate) fn ask_again(&self, folder: &Folder) -> Result<()> {
        let (Some(store), Some(known)) = (&self.store, self.known.read().clone()) else { return Ok(()) };
        let before = *self.judged.read();
        if before.recorded != Reach::Folder {
            return Ok(());
        }
        let now = self.judged_by(before.recorded, self.tracking.ask(folder));
        if now == before {
            return Ok(());
        }
        folder.check_place()?;
        if now.recorded != before.recorded {
            store.admit(&known, now.recorded, &[])?;
        }
        *self.judged.write() = now;
        self.n_judged.fetch_add(1, Ordering::AcqRel);
        Ok(())
    }

    /// How often the judgement changed since the open.
    pub(crate) fn n_judged(&self) -> u64 {
        self.n_judged.load(Ordering::Acquire)
    }

    /// Whether a folder that did not exist is there by now. One that the user made or trusted is used from then on.
    fn look_again(&self, folder: &Folder) -> Result<()> {
        match (look(folder), &self.store) {
            (Found::Fresh, _) => return Ok(()),
            (Found::Identified(identity), Some(store)) => match store.find(&identity)? {
                Some(record) => self.adopt(folder, &identity, record, store.as_ref())?,
                None if self.is_trusted_by_host => {}
                None => return Ok(()),
            },
            (Found::Nameless, Some(_)) if !self.is_trusted_by_host => return Ok(()),
            (Found::Identified(_) | Found::Nameless, _) => {}
        }
        folder.arrive();
        Ok(())
    }

    /// Whether this still is the folder that was judged, by its handle and its id. Cheap: two stats, while nothing changed.
    ///
    /// # Errors
    /// `Replaced`, `Io`.
    pub(crate) fn check(&self, folder: &Folder) -> Result<()> {
        if folder.is_awaited() {
            self.look_again(folder)?;
        }
        if self.store.is_none() || self.standing() == Standing::Unknown {
            return Ok(());
        }
        folder.check_place()?;
        let Some(known) = self.known.read().clone() else { return Ok(()) };
        let now = folder.files().own_stamp(identity::ID)?;
        let is_same = |before: &Stamp, now: &Stamp| before.is_surely(now) && before.changed == now.changed;
        if matches!((self.id_stamp.lock().as_ref(), &now), (Some(before), Some(now)) if is_same(before, now)) {
            return Ok(());
        }
        if identity::read(folder.files())? != Some(known.id) {
            return Err(FolderError::Replaced { path: known.path });
        }
        *self.id_stamp.lock() = now;
        Ok(())
    }

    /// Judges the folder again, which changed: another process may have admitted more, and version control may write to it by now.
    ///
    /// # Errors
    /// Those of [`Guard::check`]; `NotTrusted` when the record is gone.
    pub(crate) fn refresh(&self, folder: &Folder) -> Result<()> {
        self.check(folder)?;
        let (Some(store), Some(known)) = (&self.store, self.known.read().clone()) else { return Ok(()) };
        let Some(record) = store.find(&known)? else {
            return if self.is_trusted_by_host { Ok(()) } else { Err(FolderError::NotTrusted { path: known.path }) };
        };
        if record.reach > self.judged.read().recorded {
            *self.judged.write() = self.judged_by(record.reach, Tracking::Tracked);
            self.n_judged.fetch_add(1, Ordering::AcqRel);
        }
        self.ask_again(folder)?;
        self.take_texts(record);
        Ok(())
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

    /// The folder's id, to which the code of a file is bound; empty if it has none. It is read only if the folder was not
    /// recognised by it.
    pub(crate) fn scope(&self, folder: &Folder) -> String {
        let known = self.known.read().as_ref().map(|known| known.id);
        let id = known.or_else(|| identity::read(folder.files()).ok().flatten());
        id.map(|id| id.to_string()).unwrap_or_default()
    }

    fn is_whole(&self) -> bool {
        self.judged.read().is_whole
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
        self.admitted.read().contains(&text)
    }

    /// True for a text that the user removed or replaced, and has not admitted since.
    pub(crate) fn is_withdrawn(&self, text: impl FnOnce() -> TextHash) -> bool {
        let withdrawn = self.withdrawn.read();
        !withdrawn.is_empty() && withdrawn.contains(&text())
    }

    /// True for a text that the user has neither written nor admitted, neither by itself nor with the folder.
    pub(crate) fn awaits(&self, text: TextHash) -> bool {
        !self.is_whole() && !self.has(text)
    }

    /// What the user wrote or admitted, where others write too; none where everything is used.
    pub(crate) fn admitted(&self) -> Option<Vec<TextHash>> {
        let is_limited = self.is_recording() && !self.is_whole();
        is_limited.then(|| self.admitted.read().iter().copied().collect())
    }

    /// From now on, others count as writing to the folder, and of what is there, these texts are used.
    pub(crate) fn limit_to(&self, texts: &[TextHash]) -> Result<()> {
        let (Some(store), Some(folder)) = (&self.store, self.known.read().clone()) else { return Ok(()) };
        let withdrawn = self.withdrawn.read().clone();
        let texts: Vec<TextHash> = texts.iter().copied().filter(|text| !withdrawn.contains(text)).collect();
        store.admit(&folder, Reach::Texts, &texts)?;
        self.admitted.write().extend(texts);
        *self.judged.write() = self.judged_by(Reach::Texts, Tracking::Tracked);
        self.n_judged.fetch_add(1, Ordering::AcqRel);
        Ok(())
    }

    /// True where other people write too, whatever the host says.
    pub(crate) fn awaits_others(&self) -> bool {
        !self.is_whole()
    }

    /// True if the user's own texts are recorded.
    pub(crate) fn is_recording(&self) -> bool {
        self.known.read().is_some()
    }

    /// Records the user's texts before they are written. A crash in between is harmless: no one else has these texts.
    pub(crate) fn note(&self, texts: &[TextHash]) -> Result<()> {
        let (Some(store), Some(folder)) = (&self.store, self.known.read().clone()) else { return Ok(()) };
        let new: Vec<TextHash> = texts.iter().copied().filter(|text| !self.has(*text)).collect();
        if !new.is_empty() {
            store.admit(&folder, Reach::Folder, &new)?;
            self.admitted.write().extend(new);
            self.withdrawn.write().retain(|text| !texts.contains(text));
        }
        Ok(())
    }

    /// Records that the user removed or replaced these texts. Called after they left the folder: a crash in between leaves a record
    /// of the removal in the folder itself.
    pub(crate) fn withdraw(&self, texts: &[TextHash]) -> Result<()> {
        let (Some(store), Some(folder)) = (&self.store, self.known.read().clone()) else { return Ok(()) };
        if !texts.is_empty() {
            store.withdraw(&folder, texts)?;
            self.admitted.write().retain(|text| !texts.contains(text));
            self.withdrawn.write().extend(texts);
        }
        Ok(())
    }

    /// Records the folder as trusted with these texts; a folder without an id gets one.
    pub(crate) fn trust(&self, folder: &Folder, texts: &[TextHash]) -> Result<FolderIdentity> {
        let store = self.store.as_ref().ok_or_else(|| FolderError::NoTrustStore { path: folder.path().to_owned() })?;
        let id = match identity::read(folder.files())? {
            Some(id) => id,
            None => give_id(folder)?,
        };
        let identity = FolderIdentity::of(id, folder);
        store.admit(&identity, self.tracking.ask(folder).recorded_reach(), texts)?;
        self.admitted.write().extend(texts);
        self.withdrawn.write().retain(|text| !texts.contains(text));
        *self.known.write() = Some(identity.clone());
        Ok(identity)
    }
}

fn give_id(folder: &Folder) -> Result<FolderId> {
    let _lock = folder.lock()?;
    if let Some(id) = identity::read(folder.files())? {
        return Ok(id);
    }
    let id = FolderId::generate();
    identity::write(folder, id)?;
    Ok(id)
}
