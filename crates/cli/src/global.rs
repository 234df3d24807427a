//! The options of every command, and the playbook that they select.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use adage::config::DedupPolicy;
use adage::playbook::Recovery;
use adage::redact::path_line;
use adage::{Config, FolderError, LessonRef, ManualClock, Playbook, PlaybookBuilder, Playbooks, Realm};
use adage_review::Inbox;
use anstream::ColorChoice;
use chrono::{DateTime, FixedOffset};
use clap::Args;

use crate::choice::choice;
use crate::embedder;
use crate::location::{MemoryLocation, Origin, has_memory};
use crate::output::{counted, say};
use crate::settings::UserSettings;
use crate::store;
use crate::team::trust;

#[expect(clippy::struct_excessive_bools, reason = "they are flags")]
#[derive(Args)]
#[command(next_help_heading = "Options of every command (--help explains all)")]
pub(crate) struct Global {
    /// Memory folder (also: `ADAGE_DIR`) [default: the nearest .adage up to the repository's root, with your own for all projects]
    #[arg(long, global = true, value_name = "FOLDER")]
    pub(crate) dir: Option<PathBuf>,
    /// Use your own memory for all projects, and no other
    #[arg(long = "global", id = "only_own", global = true, conflicts_with = "dir", hide_short_help = true)]
    pub(crate) only_own: bool,
    /// Memory in PostgreSQL instead of a folder (also: `ADAGE_STORE`): `postgres://USER@HOST/DATABASE?playbook=NAME`
    #[arg(long, global = true, value_name = "URL", conflicts_with_all = ["dir", "only_own"], hide_short_help = true)]
    pub(crate) store: Option<String>,
    /// Project that the lessons apply to: a path in its repository, or a name [default: this repository]
    #[arg(long, global = true, default_value = "", hide_default_value = true, hide_short_help = true)]
    pub(crate) project: String,
    /// Role that the lessons apply to
    #[arg(long, global = true, default_value = "", hide_default_value = true, hide_short_help = true)]
    pub(crate) role: String,
    /// Print JSON, one object per line
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Colours: auto (on a terminal, unless `NO_COLOR` is set), always, never
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", hide_default_value = true, hide_short_help = true, value_parser = choice(COLOURS))]
    pub(crate) color: ColorChoice,
    /// Override the current time (RFC 3339, a date, or seconds since 1970)
    #[arg(long, global = true, value_name = "TIME", hide_short_help = true, value_parser = time)]
    pub(crate) now: Option<DateTime<FixedOffset>>,
    /// Embedder: bundled, none, hashing, or a folder with model.onnx and tokenizer.json
    #[arg(long, global = true, default_value = "bundled", value_name = "KIND", hide_short_help = true)]
    pub(crate) embedder: String,
    /// Run the model of a folder in this ONNX Runtime library (1.24 or later; also: `ORT_DYLIB_PATH`); `doctor` finds one
    #[arg(long, global = true, value_name = "PATH", hide_short_help = true)]
    pub(crate) onnxruntime: Option<PathBuf>,
    /// Trust the folder, for this call
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) trust: bool,
    /// Maximum number of lessons per project and role
    #[arg(long, global = true, value_name = "N", hide_short_help = true)]
    pub(crate) capacity: Option<usize>,
    /// Allow a smaller --capacity to archive present lessons
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) yes: bool,
    /// Learn nothing from sessions: `mine` only prints its suggestions
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) no_learn: bool,
    /// Folder of the project's skills; each text awaits review before it is shown
    #[arg(long, global = true, value_name = "FOLDER", hide_short_help = true)]
    pub(crate) project_skills: Vec<PathBuf>,
    /// Another folder of skills; its files say how far each skill is trusted
    #[arg(long, global = true, value_name = "FOLDER", hide_short_help = true)]
    pub(crate) extra_skills: Vec<PathBuf>,
    /// Merging of near lessons: unless their values differ (the default), always, or never
    #[arg(long, global = true, value_parser = choice(DEDUP), hide_short_help = true)]
    pub(crate) dedup: Option<DedupPolicy>,
    /// The user's settings file.
    #[arg(skip)]
    pub(crate) user: UserSettings,
    /// The location of the memory.
    #[arg(skip)]
    pub(crate) location: MemoryLocation,
}

const COLOURS: [(&str, ColorChoice); 3] =
    [("auto", ColorChoice::Auto), ("always", ColorChoice::Always), ("never", ColorChoice::Never)];

const DEDUP: [(&str, DedupPolicy); 3] =
    [("guarded", DedupPolicy::Guarded), ("plain", DedupPolicy::Plain), ("off", DedupPolicy::Off)];

/// How a command uses the folder.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Access {
    Read,
    Write,
}

fn time(given: &str) -> Result<DateTime<FixedOffset>, String> {
    let forms = "2026-03-01T12:00:00Z, 2026-03-01 or 1772366400";
    adage::parse_time(given)
        .ok_or_else(|| format!("it must be a time with its offset, a date or the seconds since 1970: {forms}"))
}

impl Global {
    /// The folder that the command line names. A store has none, which is written as an empty path.
    pub(crate) fn named_dir(&self) -> Option<&Path> {
        if self.store.is_some() { Some(Path::new("")) } else { self.dir.as_deref() }
    }

    /// Whether there is a memory at the location; a store is one.
    pub(crate) fn has_memory(&self) -> bool {
        self.store.is_some() || has_memory(self.dir())
    }

    /// The folder that is read first and written to; empty for a store.
    pub(crate) fn dir(&self) -> &Path {
        &self.location.dir
    }

    pub(crate) fn builder(&self) -> Result<PlaybookBuilder, Box<dyn Error>> {
        self.builder_with(|_| ())
    }

    /// A builder with further changes of settings by a command. They are applied in this order: the user's, the folder's, the
    /// command line's.
    pub(crate) fn builder_with(
        &self,
        change: impl FnOnce(&mut Config) + Send + 'static,
    ) -> Result<PlaybookBuilder, Box<dyn Error>> {
        let builder = self.plain_builder()?.with_folder_config(self.finish(change));
        if self.store.is_some() {
            return Ok(builder);
        }
        Ok(trust::ask(self, self.dir(), builder))
    }

    /// The changes of settings by a command and the command line.
    fn finish(&self, change: impl FnOnce(&mut Config) + Send + 'static) -> impl FnOnce(&mut Config) + Send + 'static {
        let (capacity, dedup) = (self.capacity, self.dedup);
        move |config| {
            change(config);
            config.retention.capacity = capacity.unwrap_or(config.retention.capacity);
            config.learn.dedup = dedup.unwrap_or(config.learn.dedup);
        }
    }

    /// A builder without trust decisions that does not read the folder's settings.
    pub(crate) fn plain_builder(&self) -> Result<PlaybookBuilder, Box<dyn Error>> {
        let mut builder = self.builder_at(self.dir())?;
        if self.location.is_own {
            builder = builder.own_project(self.location.roots.clone());
        }
        builder = self.project_skills.iter().fold(builder, PlaybookBuilder::with_project_skills);
        let extra_skills = self.user.extra_skills.iter().chain(&self.extra_skills);
        Ok(extra_skills.fold(builder, PlaybookBuilder::with_extra_skills))
    }

    fn builder_at(&self, dir: &Path) -> Result<PlaybookBuilder, Box<dyn Error>> {
        let builder = match &self.store {
            Some(address) => Playbook::on(Arc::new(store::connect(address)?)),
            None => Playbook::builder(dir),
        };
        let mut builder = builder.with_config(self.user.config.clone());
        if let Some(now) = self.now {
            builder = builder.with_clock(Arc::new(ManualClock::new(now)));
        }
        embedder::check_library(self)?;
        embedder::choose(self, builder)
    }

    /// The playbook, for commands that change existing content. They create no folder.
    pub(crate) fn open(&self) -> Result<Playbook, Box<dyn Error>> {
        self.open_with(self.builder()?, Access::Write)
    }

    /// The playbook of a builder; it must exist to be changed.
    pub(crate) fn open_with(&self, builder: PlaybookBuilder, access: Access) -> Result<Playbook, Box<dyn Error>> {
        self.expect_memory()?;
        if access == Access::Write && !self.has_memory() {
            return Err(self.none_yet().into());
        }
        open(builder, access)
    }

    /// The playbook, for commands that add to it. A message is printed if the folder is created.
    pub(crate) fn create(&self) -> Result<Playbook, Box<dyn Error>> {
        self.create_with(self.builder()?)
    }

    /// The memory that a command fills from a file or folder. It is created if there is such a source.
    pub(crate) fn create_from(&self, source: &Path, builder: PlaybookBuilder) -> Result<Playbook, Box<dyn Error>> {
        if source.exists() { self.create_with(builder) } else { self.open_with(builder, Access::Write) }
    }

    /// As `create`, with this builder.
    pub(crate) fn create_with(&self, builder: PlaybookBuilder) -> Result<Playbook, Box<dyn Error>> {
        let is_new = !self.has_memory();
        let playbook = open(builder, Access::Write)?;
        if let Some(capacity) = self.capacity {
            self.check_capacity(&playbook, capacity)?;
        }
        if is_new {
            let whose = if self.location.origin == Origin::Named { "as you named it" } else { self.location.whose() };
            say(&format!("made the memory {} ({whose})", path_line(self.dir())));
        }
        Ok(playbook)
    }

    /// Refuses a capacity that would archive several lessons at once, unless the user agrees.
    pub(crate) fn check_capacity(&self, playbook: &Playbook, capacity: usize) -> Result<(), Box<dyn Error>> {
        let largest = playbook.stats()?.realms.into_values().max().unwrap_or_default();
        if largest > capacity && !self.yes {
            return Err(format!(
                "a capacity of {capacity} would archive up to {} of the {} there; say --yes to let it, or leave it out",
                largest - capacity,
                counted(largest, "lesson")
            )
            .into());
        }
        Ok(())
    }

    /// The playbook, for commands that only read it.
    pub(crate) fn read(&self) -> Result<Playbook, Box<dyn Error>> {
        self.open_with(self.builder()?, Access::Read)
    }

    /// The playbook, for commands that work without one: previews, and commands that also read other files.
    pub(crate) fn preview(&self) -> Result<Playbook, Box<dyn Error>> {
        open(self.builder()?, Access::Read)
    }

    /// As `preview`, but what is found may be cached in a folder that exists.
    pub(crate) fn existing(&self) -> Result<Playbook, Box<dyn Error>> {
        open(self.builder()?.without_creating(), Access::Write)
    }

    /// A folder named by the user must exist, unless the command adds to it.
    fn expect_memory(&self) -> Result<(), Box<dyn Error>> {
        if self.location.origin == Origin::Named && !self.has_memory() {
            let dir = path_line(self.dir());
            return Err(format!("there is no memory at {dir}; `adage init --dir {dir}` makes one").into());
        }
        Ok(())
    }

    fn none_yet(&self) -> String {
        format!(
            "there is no memory yet; `adage init` or the first `adage learn` makes {} ({})",
            path_line(self.dir()),
            self.location.whose()
        )
    }

    /// All playbooks that apply: that of the location, and the user's global one. Folders that are not trusted are listed
    /// separately. No folder is created; what another process makes meanwhile is used.
    pub(crate) fn books(&self, access: Access) -> Result<Books, Box<dyn Error>> {
        self.expect_memory()?;
        self.books_if_any(access)
    }

    /// As `books`, but a folder that the user named and that does not exist is empty.
    pub(crate) fn books_if_any(&self, access: Access) -> Result<Books, Box<dyn Error>> {
        let mut playbooks = vec![open_any(self.builder()?.without_creating(), access)?];
        if let Some(user) = self.user_memory() {
            let builder = self.builder_at(user)?.with_folder_config(self.finish(|_| ()));
            playbooks.push(open_any(trust::ask(self, user, builder).without_creating(), access)?);
        }
        let silent: Vec<PathBuf> = playbooks
            .iter()
            .filter(|playbook| trust::is_unknown(playbook))
            .map(|book| book.folder().to_owned())
            .collect();
        let all = Playbooks::new(playbooks).with_project_roots(self.location.roots.clone());
        Ok(Books { all, silent })
    }

    /// The user's global memory, if it is read as well and exists.
    pub(crate) fn user_memory(&self) -> Option<&Path> {
        self.location.user.as_deref().filter(|user| has_memory(user))
    }

    /// The playbook that contains a lesson, for commands that change it.
    pub(crate) fn holder(&self, lesson: &LessonRef) -> Result<Playbook, Box<dyn Error>> {
        let books = self.books(Access::Write)?.spoken()?;
        Ok(books.find(lesson.clone())?.playbook)
    }

    /// The realm of a query: the named project and role, by default this repository.
    pub(crate) fn realm(&self) -> Realm {
        let here = || self.location.roots.first().cloned().unwrap_or_default();
        let project = if self.project.is_empty() { here() } else { MemoryLocation::spelled(&self.project) };
        Realm::new(project, &self.role)
    }

    /// The realm of a new lesson. In a repository's own memory, the project is omitted.
    pub(crate) fn learning_realm(&self) -> Realm {
        let project = if self.project.is_empty() { String::new() } else { MemoryLocation::spelled(&self.project) };
        let is_plain = self.location.is_own && self.location.is_here(&project);
        Realm::new(if is_plain { String::new() } else { project }, &self.role)
    }

    /// The realm, if the command line names one.
    pub(crate) fn named_realm(&self) -> Option<Realm> {
        let is_named = !self.project.is_empty() || !self.role.is_empty();
        is_named.then(|| self.realm())
    }

    /// A reference to the lesson that a command names; restricted to the realm, if the command line names one.
    pub(crate) fn lesson(&self, lesson: &str) -> LessonRef {
        self.named_realm().map_or_else(|| lesson.into(), |realm| LessonRef::from(lesson).within(&realm))
    }

    /// The inbox; restricted to the realm, if the command line names one.
    pub(crate) fn inbox(&self, playbook: &Playbook) -> Inbox {
        let inbox = Inbox::of(playbook);
        self.named_realm().map_or_else(|| inbox.clone(), |realm| inbox.clone().within(realm))
    }
}

/// The playbooks of a command.
pub(crate) struct Books {
    /// The trusted ones.
    pub(crate) all: Playbooks,
    /// The folders that are not trusted.
    pub(crate) silent: Vec<PathBuf>,
}

impl Books {
    /// The trusted playbooks. An error if there are only folders that are not trusted. Each of these is named.
    pub(crate) fn spoken(self) -> Result<Playbooks, Box<dyn Error>> {
        if self.all.as_slice().is_empty()
            && let Some(path) = self.silent.first()
        {
            return Err(FolderError::NotTrusted { path: path.clone() }.into());
        }
        self.tell_of_silent();
        Ok(self.all)
    }

    /// Prints the folders that are not trusted.
    pub(crate) fn tell_of_silent(&self) {
        for path in &self.silent {
            say(&FolderError::NotTrusted { path: path.clone() }.to_string());
        }
    }
}

/// Opens a playbook and prints what it recovered from. An unknown folder is refused.
pub(crate) fn open(builder: PlaybookBuilder, access: Access) -> Result<Playbook, Box<dyn Error>> {
    trust::check(open_any(builder, access)?)
}

/// Opens a playbook whose folder may be unknown: then it is empty.
pub(crate) fn open_any(builder: PlaybookBuilder, access: Access) -> Result<Playbook, Box<dyn Error>> {
    let playbook = if access == Access::Read { builder.read_only().open()? } else { builder.open()? };
    if !playbook.config().ignored.is_empty() {
        say(&format!("settings of an earlier version have no effect: {}", playbook.config().ignored.join(", ")));
    }
    if let Some(recovery) = playbook.recovery().filter(|recovery| recovery.is_merge) {
        say(&merged(&playbook, recovery, access));
    } else if let Some(recovery) = playbook.recovery() {
        let from = if recovery.from_backup { "restored from its second copy" } else { "there was no backup" };
        let kept: Vec<String> = recovery.kept_at.iter().map(path_line).collect();
        say(&format!(
            "the playbook file was broken ({}); {from}, {}; the broken file is kept at {}",
            recovery.reason,
            counted(recovery.n_lessons, "lesson"),
            kept.join(", ")
        ));
    }
    Ok(playbook)
}

/// The lessons of a merged playbook, and what its user has to do for those that are not used yet.
pub(crate) fn of_both_branches(recovery: &Recovery) -> String {
    let Recovery { n_lessons, n_awaiting, n_other_versions, .. } = *recovery;
    let all = format!("the {} of both branches", counted(n_lessons + n_awaiting, "lesson"));
    let wait = if n_awaiting == 1 { "waits" } else { "wait" };
    let how = "until you admit them (`adage trust --show`, then `adage trust`)";
    let awaiting = (n_awaiting > 0).then(|| format!(", {n_awaiting} of which {wait} {how}"));
    let texts = counted(n_other_versions, "text");
    let in_review = (n_other_versions > 0)
        .then(|| format!(", and {texts} under review, as both branches changed a lesson (`adage review`)"));
    [Some(all), awaiting, in_review].into_iter().flatten().collect()
}

/// What became of a merge that had left conflicts in a playbook, and what its user does next.
fn merged(playbook: &Playbook, recovery: &Recovery, access: Access) -> String {
    let (folder, lessons) = (path_line(playbook.folder()), of_both_branches(recovery));
    match access {
        Access::Read => format!(
            "a merge left conflicts in {folder}; merged, it has {lessons}: `adage doctor --repair` writes them, then `git add {folder}`"
        ),
        Access::Write => {
            format!("a merge had left conflicts in {folder}; it now has {lessons}: `git add {folder}`")
        }
    }
}
