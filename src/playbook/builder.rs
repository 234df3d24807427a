//! The builder of a playbook.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use adage_redact::path_line;
use parking_lot::{Mutex, RwLock};

use super::own_config::own_config;
use super::recall::reads::Reads;
use super::skills::matching::SkillMatcher;
use super::{KnownSkills, NamedTargets, OpenPlaybook, Playbook, SkillPlace, View};
use crate::clock::{Clock, SystemClock, WritableClock};
use crate::config::Config;
use crate::credit::Chance;
use crate::embed::{Embedder, bundled};
use crate::error::folder::{FolderError, FolderKind};
use crate::error::{Result, with_causes};
use crate::exchange::ExportKey;
use crate::folder::disk::{Disk, RealDisk};
use crate::folder::{Access, Folder};
use crate::setters::setters;
use crate::store::folder_kind::check_kind;
use crate::store::rows::{RowStore, Store};
use crate::store::{FolderStore, Opened, PlaybookStore, VectorCache};
use crate::trust::{AskTracking, Decision, Guard, Sharing, Tracking, TrustRequest, TrustStore};

/// Changes the settings after the folder's own settings were read.
type Finish = Box<dyn FnOnce(&mut Config) + Send>;

/// Settings for opening a playbook; [`Playbook::builder`] starts one.
pub struct PlaybookBuilder {
    folder: PathBuf,
    /// The store of rows that is used instead of the folder.
    rows: Option<Arc<dyn Store>>,
    embedder: Option<Arc<dyn Embedder>>,
    clock: Arc<dyn Clock>,
    config: Config,
    access: Access,
    disk: Box<dyn Disk>,
    skill_roots: Vec<(SkillPlace, PathBuf)>,
    global_notes: Option<PathBuf>,
    writable_skills: Vec<PathBuf>,
    own_roots: Vec<String>,
    export_key: Option<ExportKey>,
    trust: TrustRequest,
    finish: Option<Finish>,
}

impl PlaybookBuilder {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self {
            folder,
            rows: None,
            embedder: bundled(),
            clock: Arc::new(SystemClock),
            config: Config::default(),
            access: Access::ReadWrite,
            disk: Box::new(RealDisk),
            skill_roots: Vec::new(),
            global_notes: None,
            writable_skills: Vec::new(),
            own_roots: Vec::new(),
            export_key: None,
            trust: TrustRequest::default(),
            finish: None,
        }
    }

    pub(super) fn on(store: Arc<dyn Store>) -> Self {
        Self { rows: Some(store), ..Self::new(PathBuf::new()) }
    }

    setters! {
        /// Uses the host's embedder instead of the bundled one.
        with_embedder(embedder: Arc<dyn Embedder>) => embedder = Some(embedder);
        /// Uses no embedder: retrieval compares words only, and duplicates are detected by task and trigger.
        without_embedder() => embedder = None;
        /// Uses the host's clock, for example a fixed one in tests.
        with_clock(clock: Arc<dyn Clock>) => clock = clock;
        /// Replaces the default settings.
        with_config(config: Config) => config = config;
        /// Seals JSON lines exports with the user's key, so that the user's own imports recognise them.
        with_export_key(key: ExportKey) => export_key = Some(key);
        /// Asks this store whether the folder is trusted, and records in it what this handle creates and writes. Without a
        /// store, a path that the host names is trusted.
        trust_store(store: Arc<dyn TrustStore>) => trust.store = Some(store);
        /// Trusts the folder regardless of the store: the host has asked the user, or knows who created it.
        trusted() => trust.decision = Some(Decision::Trusted);
        /// Treats the folder as not trusted: nothing in it is read, shown, matched or written.
        untrusted() => trust.decision = Some(Decision::Untrusted);
        /// Whether version control writes to the folder. If it does and there is a store, each of the folder's texts has to be
        /// admitted.
        tracked(tracking: Tracking) => trust.tracking = AskTracking::by(move |_| tracking);
        /// The same, found out from the folder's path whenever its state is read.
        tracked_by(ask: impl Fn(&Path) -> Tracking + Send + Sync + 'static) => trust.tracking = AskTracking::by(ask);
        /// Who a new folder is for. Used only with a trust store.
        sharing(sharing: Sharing) => trust.sharing = sharing;
        /// Creates no folder. If there is none, or only an empty one, the playbook is empty and refuses writes, whatever is made there
        /// later. For programs that recall from folders that may not exist.
        without_creating() => access = Access::Existing;
        /// Opens the folder for reading: nothing in it is created or changed, and it need not exist.
        read_only() => access = Access::ReadOnly;
        /// The only file that proposals for global notes may change. Without it, there are no such proposals.
        with_global_notes(file: impl Into<PathBuf>) => global_notes = Some(file.into());
    }

    /// Applies the folder's own `config.toml` on top of the given settings, then calls `finish` on the result. The file is not
    /// read if the folder is not trusted or its user has not admitted the file. A file that contains a setting not allowed in a
    /// folder ([`Config::for_folder`]) is ignored with a warning.
    #[must_use]
    pub fn with_folder_config(mut self, finish: impl FnOnce(&mut Config) + Send + 'static) -> Self {
        self.finish = Some(Box::new(finish));
        self
    }

    /// Declares the folder to be the memory of one project with these root folders: the repository's root and those of its
    /// worktrees. Lessons learned for a root, or for a folder below one, are stored without a project, so that they still apply
    /// if the repository moves.
    #[must_use]
    pub fn own_project<T: Into<String>>(mut self, roots: impl IntoIterator<Item = T>) -> Self {
        self.own_roots = roots.into_iter().map(Into::into).collect();
        self
    }

    /// Adds a project's folder of skills; they are listed before the memory's own. Each is shown only after a person has
    /// promoted it.
    #[must_use]
    pub fn with_project_skills(mut self, folder: impl Into<PathBuf>) -> Self {
        self.skill_roots.push((SkillPlace::Project, folder.into()));
        self
    }

    /// Adds another folder of skills; they are listed after the memory's own, with the trust that their files state.
    #[must_use]
    pub fn with_extra_skills(mut self, folder: impl Into<PathBuf>) -> Self {
        self.skill_roots.push((SkillPlace::Extra, folder.into()));
        self
    }

    /// Adds a root below which proposals may change existing skills. Do not name a folder of built-in skills.
    #[must_use]
    pub fn with_writable_skills(mut self, root: impl Into<PathBuf>) -> Self {
        self.writable_skills.push(root.into());
        self
    }

    #[cfg(test)]
    pub(crate) fn with_disk(mut self, disk: Box<dyn Disk>) -> Self {
        self.disk = disk;
        self
    }

    /// Opens the playbook.
    ///
    /// # Errors
    /// [`Error::Config`](crate::Error::Config) for a setting out of range; [`FolderError::Io`](crate::FolderError::Io) when the
    /// folder, which is created if it is missing, cannot be created or read; [`FolderError::WrongKind`](crate::FolderError::WrongKind)
    /// for the folder of a vector memory.
    pub fn open(self) -> Result<Playbook> {
        let (folder, guard) = match &self.rows {
            Some(store) => (Folder::without_files(store.name()), Arc::new(Guard::of_host())),
            None => self.trust.open(&self.folder, self.disk, self.access)?,
        };
        check_kind(&folder, FolderKind::Playbook)?;
        let mut config = self.config;
        if let Some(finish) = self.finish {
            config = with_own_config(&folder, &guard, config);
            finish(&mut config);
        }
        config.validate()?;
        // Relative paths are resolved against the current directory now.
        let absolute = |path: PathBuf| std::path::absolute(&path).map_err(FolderError::io("resolve", &path));
        let mut roots = Vec::new();
        for (place, root) in self.skill_roots {
            roots.push((place, absolute(root)?));
        }
        let global_notes = self.global_notes.map(absolute).transpose()?;
        let writable_skills = self.writable_skills.into_iter().map(absolute).collect::<Result<_, _>>()?;
        let clock: Arc<dyn Clock> = Arc::new(WritableClock(self.clock));
        let (feedback, credit) = (config.feedback.clone(), config.credit.clone());
        let folder = folder.with_lock_timeout(config.store.lock_timeout).with_max_file(config.store.max_file_bytes);
        let Opened { store, snapshot, recovery } = FolderStore::open(
            folder,
            guard,
            Arc::clone(&clock),
            feedback.clone(),
            credit.clone(),
            config.store.clone(),
        )?;
        let store = Arc::new(store);
        let (kept, snapshot) = match self.rows {
            Some(rows) => {
                let may_write = self.access != Access::ReadOnly;
                let (rows, snapshot) = RowStore::open(rows, may_write, Arc::clone(&clock), feedback, credit)?;
                (PlaybookStore::Rows(Box::new(rows)), snapshot)
            }
            None => (PlaybookStore::Folder(Arc::clone(&store)), snapshot),
        };
        let shared = OpenPlaybook {
            store,
            kept,
            chance: Chance::new(config.credit.seed),
            config,
            clock,
            embedder: self.embedder,
            view: RwLock::new(View::new(snapshot)),
            reads: Reads::default(),
            vectors: RwLock::new(VectorCache::default()),
            writer: Mutex::new(()),
            recovery,
            skills: KnownSkills { roots, state: Mutex::default(), matcher: SkillMatcher::default() },
            targets: NamedTargets { global_notes, writable_skills },
            own_roots: self.own_roots,
            export_key: self.export_key,
        };
        Ok(Playbook { shared: Arc::new(shared) })
    }
}

/// The given settings with the folder's own on top, if they may be used.
fn with_own_config(folder: &Folder, guard: &Guard, config: Config) -> Config {
    let Some(own) = own_config(folder).filter(|own| guard.admits(|| own.hash)) else { return config };
    own.on_top_of(&config).unwrap_or_else(|error| {
        tracing::warn!(error = with_causes(&error), folder = %path_line(folder.path()), "the folder's settings are not used");
        config
    })
}
