//! The options that every command has, and the playbook that they describe.

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;

use adage::config::DedupPolicy;
use adage::inbox::Inbox;
use adage::{Config, LessonRef, ManualClock, Playbook, PlaybookBuilder, Realm};
use chrono::{DateTime, FixedOffset};
use clap::Args;

use crate::choice::choice;
use crate::output::say;
use crate::settings::UserSettings;
use crate::{embedder, trust};

#[derive(Args)]
pub(crate) struct Global {
    /// Playbook folder
    #[arg(long, global = true, default_value = ".adage", value_name = "FOLDER")]
    pub(crate) dir: PathBuf,
    /// Project that the lessons apply to: a repository's root, or a name
    #[arg(long, global = true, default_value = "", hide_default_value = true)]
    pub(crate) project: String,
    /// Role that the lessons apply to
    #[arg(long, global = true, default_value = "", hide_default_value = true)]
    pub(crate) role: String,
    /// Print JSON, one object per line
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Override the current time (RFC 3339)
    #[arg(long, global = true, value_name = "TIME")]
    pub(crate) now: Option<DateTime<FixedOffset>>,
    /// Embedder: bundled, none, hashing, or a folder with model.onnx and tokenizer.json
    #[arg(long, global = true, default_value = "bundled", value_name = "KIND")]
    pub(crate) embedder: String,
    /// Run the model in this ONNX Runtime library (1.24 or later; also: `ORT_DYLIB_PATH`); `doctor` finds one
    #[arg(long, global = true, value_name = "PATH")]
    pub(crate) onnxruntime: Option<PathBuf>,
    /// Trust the folder, for this call
    #[arg(long, global = true)]
    pub(crate) trust: bool,
    /// Maximum number of lessons per project and role
    #[arg(long, global = true, value_name = "N")]
    pub(crate) capacity: Option<usize>,
    /// Learn nothing from sessions: `mine` only prints its suggestions
    #[arg(long, global = true)]
    pub(crate) no_learn: bool,
    /// Folder of the project's skills; each text awaits review before it is shown
    #[arg(long, global = true, value_name = "FOLDER")]
    pub(crate) project_skills: Vec<PathBuf>,
    /// Another folder of skills, trusted as its files say
    #[arg(long, global = true, value_name = "FOLDER")]
    pub(crate) extra_skills: Vec<PathBuf>,
    /// Merging of near lessons: unless their values differ (the default), always, or never
    #[arg(long, global = true, value_parser = choice(DEDUP))]
    pub(crate) dedup: Option<DedupPolicy>,
    /// What the user has set in a file.
    #[arg(skip)]
    pub(crate) user: UserSettings,
}

const DEDUP: [(&str, DedupPolicy); 3] =
    [("guarded", DedupPolicy::Guarded), ("plain", DedupPolicy::Plain), ("off", DedupPolicy::Off)];

/// What a command does to the folder.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Access {
    Read,
    Write,
}

impl Global {
    pub(crate) fn builder(&self) -> Result<PlaybookBuilder, Box<dyn Error>> {
        self.builder_with(|_| ())
    }

    /// A builder whose settings a command changes further. The user's come first, then the folder's, then the command line's.
    pub(crate) fn builder_with(
        &self,
        change: impl FnOnce(&mut Config) + Send + 'static,
    ) -> Result<PlaybookBuilder, Box<dyn Error>> {
        let (capacity, dedup) = (self.capacity, self.dedup);
        let builder = self.plain_builder()?.with_folder_config(move |config| {
            change(config);
            config.retention.capacity = capacity.unwrap_or(config.retention.capacity);
            config.learn.dedup = dedup.unwrap_or(config.learn.dedup);
        });
        Ok(trust::ask(self, builder))
    }

    /// A builder that says nothing about trust, and does not read the folder's settings.
    pub(crate) fn plain_builder(&self) -> Result<PlaybookBuilder, Box<dyn Error>> {
        let mut builder = Playbook::builder(&self.dir).with_config(self.user.config.clone());
        if let Some(now) = self.now {
            builder = builder.with_clock(Arc::new(ManualClock::new(now)));
        }
        builder = self.project_skills.iter().fold(builder, PlaybookBuilder::with_project_skills);
        let extra_skills = self.user.extra_skills.iter().chain(&self.extra_skills);
        builder = extra_skills.fold(builder, PlaybookBuilder::with_extra_skills);
        embedder::check_library(self)?;
        embedder::choose(self, builder)
    }

    /// The playbook, for commands that change it.
    pub(crate) fn open(&self) -> Result<Playbook, Box<dyn Error>> {
        open(self.builder()?, Access::Write)
    }

    /// The playbook, for commands that only read it.
    pub(crate) fn read(&self) -> Result<Playbook, Box<dyn Error>> {
        open(self.builder()?, Access::Read)
    }

    pub(crate) fn realm(&self) -> Realm {
        Realm::new(&self.project, &self.role)
    }

    /// The realm, when the command line names one.
    pub(crate) fn named_realm(&self) -> Option<Realm> {
        let is_named = !self.project.is_empty() || !self.role.is_empty();
        is_named.then(|| self.realm())
    }

    /// The lesson that a command names: of the realm, when the command line names one.
    pub(crate) fn lesson(&self, lesson: &str) -> LessonRef {
        self.named_realm().map_or_else(|| lesson.into(), |realm| LessonRef::from(lesson).within(&realm))
    }

    /// The inbox, of the realm when the command line names one.
    pub(crate) fn inbox(&self, playbook: &Playbook) -> Inbox {
        let inbox = playbook.inbox();
        self.named_realm().map_or_else(|| inbox.clone(), |realm| inbox.clone().within(realm))
    }
}

/// Opens a playbook; what it recovered from is reported. An unknown folder is refused.
pub(crate) fn open(builder: PlaybookBuilder, access: Access) -> Result<Playbook, Box<dyn Error>> {
    trust::check(open_any(builder, access)?)
}

/// Opens a playbook whose folder may be unknown: then there is nothing in it.
pub(crate) fn open_any(builder: PlaybookBuilder, access: Access) -> Result<Playbook, Box<dyn Error>> {
    let playbook = if access == Access::Read { builder.read_only().open()? } else { builder.open()? };
    if let Some(recovery) = playbook.recovery() {
        let from = if recovery.from_backup { "restored from its backup" } else { "there was no backup" };
        let kept: Vec<String> = recovery.kept_at.iter().map(|path| path.display().to_string()).collect();
        say(&format!(
            "the playbook file was broken ({}); {from}, {} lessons; the broken file is kept at {}",
            recovery.reason,
            recovery.n_lessons,
            kept.join(", ")
        ));
    }
    Ok(playbook)
}
