//! The commands `trust` and `init`, and trust decisions from the command line, the environment and the user's settings.

use std::error::Error;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use adage::playbook::{AwaitingTrust, lesson_for_person};
use adage::redact::{path_line, path_text, printable_line};
use adage::skills::RefusedFile;
use adage::trust::{FileTrustStore, Sharing, Standing, Tracking, TrustStore, is_on_record};
use adage::{FolderError, LessonId, Playbook, PlaybookBuilder};
use clap::Args;
use serde_json::{Value, json, to_value};

use crate::global::{self, Access, Global};
use crate::location::Origin;
use crate::output::{Output, counted, masked, say};
use crate::result::Done;
use crate::team::tracked::tracking;
use crate::user_state;

#[derive(Args)]
pub(crate) struct Trust {
    /// Only print what is in the folder, or what awaits admission
    #[arg(long)]
    show: bool,
    /// Only these lessons, by their ids
    #[arg(conflicts_with = "show")]
    lessons: Vec<String>,
}

/// Who decides whether a folder is trusted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    /// The user's state.
    State,
    /// The user, for this call or this folder.
    User,
    /// The environment, for all folders; the user's state is used only for folders that it knows.
    Environment,
}

/// A builder with the user's trust decision for the folder.
pub(crate) fn ask(global: &Global, dir: &Path, builder: PlaybookBuilder) -> PlaybookBuilder {
    match word(global, dir) {
        Word::State => with_state(builder),
        Word::User => with_state(builder).trusted(),
        // What the user removes in a folder of theirs is recorded, so that no pull brings it back.
        Word::Environment => match private_store().ok().flatten() {
            Some(store) if is_on_record(store.as_ref(), dir).unwrap_or(false) => {
                builder.tracked_by(tracking).trust_store(store).trusted()
            }
            _ => builder.trusted(),
        },
    }
}

/// A builder with the user's state; without one, no folder is trusted.
fn with_state(builder: PlaybookBuilder) -> PlaybookBuilder {
    let builder = builder.tracked_by(tracking);
    match store() {
        Some(store) => builder.trust_store(store),
        None => builder.untrusted(),
    }
}

fn word(global: &Global, dir: &Path) -> Word {
    #[expect(clippy::disallowed_methods, reason = "the library takes a decision; this is the program's own setting")]
    let named = std::env::var_os("ADAGE_TRUST").unwrap_or_default();
    if named == OsStr::new("all") {
        return Word::Environment;
    }
    let Ok(folder) = dir.canonicalize() else { return Word::State };
    let is_this_folder = |path: &PathBuf| path.is_absolute() && path.canonicalize().is_ok_and(|path| path == folder);
    let is_named =
        std::env::split_paths(&named).any(|path| is_this_folder(&path)) || global.user.trust.iter().any(is_this_folder);
    let is_meant = global.trust && dir == global.dir();
    if is_meant || is_named { Word::User } else { Word::State }
}

/// True if all of the memory is the user's by more than a word for this call or this folder: by their state, or because the
/// environment trusts all folders.
pub(crate) fn is_own_by_state(global: &Global) -> bool {
    if word(global, global.dir()) != Word::User {
        return true;
    }
    let Ok(builder) = global.plain_builder() else { return false };
    let playbook = global::open_any(with_state(builder).without_creating(), Access::Read);
    playbook.is_ok_and(|playbook| {
        !is_unknown(&playbook) && playbook.awaiting_trust().is_ok_and(|waiting| waiting.is_empty())
    })
}

/// The user's decisions; none if there is no private folder for them.
fn store() -> Option<Arc<dyn TrustStore>> {
    private_store().unwrap_or_else(|fault| {
        say(&fault);
        None
    })
}

/// The same, or why what is there is not used.
fn private_store() -> Result<Option<Arc<dyn TrustStore>>, String> {
    let Some(folder) = user_state::folder() else { return Ok(None) };
    let fault = user_state::fault(&folder).or_else(|| {
        let is_tracked = folder.exists() && tracking(&folder) == Tracking::Tracked;
        is_tracked.then(|| "version control writes there".to_owned())
    });
    match fault {
        Some(fault) => Err(format!("{} is not used, so no folder is trusted: {fault}", path_line(folder))),
        None => Ok(Some(Arc::new(FileTrustStore::new(folder)))),
    }
}

/// Refuses a playbook of an unknown folder.
pub(crate) fn check(playbook: Playbook) -> Result<Playbook, Box<dyn Error>> {
    if is_unknown(&playbook) {
        return Err(FolderError::NotTrusted { path: playbook.folder().to_owned() }.into());
    }
    Ok(playbook)
}

pub(crate) fn is_unknown(playbook: &Playbook) -> bool {
    playbook.standing() == Standing::Unknown
}

/// Prints a message if texts await admission.
pub(crate) fn tell_of_waiting(playbook: &Playbook, out: &Output) -> Result<(), adage::Error> {
    if playbook.standing() == Standing::TextByText {
        let waiting = playbook.awaiting_trust()?;
        if !waiting.is_empty() {
            out.message(&format!("{} that others wrote: see `adage trust --show`", in_words(&waiting)));
        }
    }
    Ok(())
}

fn in_words(waiting: &AwaitingTrust) -> String {
    let config = if waiting.config.is_some() { ", settings" } else { "" };
    format!("{}, {}{config}", counted(waiting.lessons.len(), "lesson"), counted(waiting.skills.len(), "skill"))
}

pub(crate) fn trust(global: &Global, asked: &Trust, out: &mut Output) -> Done {
    if !global.dir().exists() {
        return Err(format!("{} does not exist; `adage init` makes one", path_line(global.dir())).into());
    }
    let builder = with_state(global.plain_builder()?);
    if asked.show {
        return show(&global::open_any(builder.trusted(), Access::Read)?, out);
    }
    if !asked.lessons.is_empty() {
        return admit(&global::open(builder, Access::Write)?, &asked.lessons, out);
    }
    let playbook = global::open_any(builder.trusted(), Access::Write)?;
    let waiting = playbook.awaiting_trust()?;
    // What cannot be shown is not admitted.
    review(&waiting)?;
    let folder = playbook.trust()?;
    let object = json!({
        "trusted": path_text(&folder.path), "lessons": waiting.lessons.len(), "skills": waiting.skills.len(),
        "config": waiting.config.is_some(), "edits_set_aside": waiting.edits.len(),
        "withdrawn": waiting.withdrawn.iter().map(|listed| listed.skill.name.as_str()).collect::<Vec<_>>(),
    });
    out.both(&object, &format!("trusted: {}, {}", path_line(&folder.path), in_words(&waiting)))?;
    if !waiting.edits.is_empty() {
        out.message(&format!(
            "{} of edits set aside, which you did not write",
            counted(waiting.edits.len(), "journal")
        ));
    }
    for listed in &waiting.withdrawn {
        let name = &listed.skill.name;
        out.message(&format!("{name} was withdrawn and stays so until `adage skills promote {name}`"));
    }
    Ok(ExitCode::SUCCESS)
}

fn admit(playbook: &Playbook, ids: &[String], out: &mut Output) -> Done {
    let parse = |id: &String| id.parse::<LessonId>().map_err(|_| format!("{id:?} is not the id of a lesson"));
    let ids: Vec<LessonId> = ids.iter().map(parse).collect::<Result<_, _>>()?;
    for lesson in playbook.admit_lessons(&ids)? {
        out.both(&json!({ "admitted": lesson.id }), &format!("admitted: {} {}", lesson.id, lesson.trigger))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Why a lesson awaits admission although it was in use once.
const REMOVED_BEFORE: &str = "this text was removed or replaced here before, and somebody put it back";

/// Prints everything that trusting the folder would admit.
fn show(playbook: &Playbook, out: &mut Output) -> Done {
    let waiting = playbook.awaiting_trust()?;
    for Reviewed { object, text } in review(&waiting)? {
        out.object(&object)?;
        out.text(&text)?;
    }
    out.message(&format!("{}: {} would be let in by `adage trust`", path_line(playbook.folder()), in_words(&waiting)));
    Ok(ExitCode::SUCCESS)
}

/// Something that awaits admission, for programs and for people.
struct Reviewed {
    object: Value,
    text: String,
}

/// Everything that trusting a folder would admit. An error if a part of it cannot be shown.
fn review(waiting: &AwaitingTrust) -> Result<Vec<Reviewed>, serde_json::Error> {
    let mut all = Vec::new();
    for lesson in &waiting.lessons {
        let was_removed = waiting.removed_before.contains(&lesson.id);
        let why = if was_removed { REMOVED_BEFORE } else { "nobody here has admitted it" };
        all.push(Reviewed {
            object: masked(json!({ "lesson": to_value(lesson)?, "removed_before": was_removed })),
            text: format!("lesson {}\n{}", lesson.id, lesson_for_person(lesson, why)),
        });
    }
    for waiting in &waiting.in_review {
        let reason = waiting.reason.to_string();
        all.push(Reviewed {
            text: format!("in review {}\n{}", waiting.lesson.id, lesson_for_person(&waiting.lesson, &reason)),
            object: masked(json!({ "lesson": to_value(&waiting.lesson)?, "reason": reason })),
        });
    }
    for lesson in &waiting.quarantined {
        let text = lesson_for_person(lesson, "it is in quarantine, and `adage doctor --repair` would take it back");
        all.push(Reviewed {
            object: masked(json!({ "lesson": to_value(lesson)?, "quarantined": true })),
            text: format!("in quarantine {}\n{text}", lesson.id),
        });
    }
    review_files(waiting, &mut all)?;
    Ok(all)
}

/// As [`review`], what is in files of its own.
fn review_files(waiting: &AwaitingTrust, all: &mut Vec<Reviewed>) -> Result<(), serde_json::Error> {
    for listed in &waiting.skills {
        let text = listed.for_person();
        all.push(Reviewed {
            object: json!({ "skill": to_value(listed)?, "text": text }),
            text: format!("skill {}, {}\n{text}", listed.skill.name, path_line(&listed.path)),
        });
    }
    for listed in &waiting.withdrawn {
        let (name, path, text) = (&listed.skill.name, path_line(&listed.path), listed.for_person());
        let why = format!("withdrawn; `adage trust` leaves it out, `adage skills promote {name}` lets it in");
        all.push(Reviewed {
            object: json!({ "skill": to_value(listed)?, "text": text, "withdrawn": true }),
            text: format!("skill {name}, {path}: {why}\n{text}"),
        });
    }
    for RefusedFile { path, reason, .. } in &waiting.refused {
        all.push(Reviewed {
            object: json!({ "path": path_text(path), "refused": reason.to_string() }),
            text: format!("not a skill: {}: {}", path_line(path), printable_line(&reason.to_string())),
        });
    }
    for path in &waiting.edits {
        all.push(Reviewed {
            object: json!({ "edits": path_text(path), "followed": false }),
            text: format!("edits of somebody else, not followed: {}", path_line(path)),
        });
    }
    if let Some(config) = &waiting.config {
        all.push(Reviewed { object: json!({ "config": config }), text: format!("config.json\n{config}\n") });
    }
    Ok(())
}

pub(crate) fn init(global: &Global, shared: bool, out: &mut Output) -> Done {
    let sharing = if shared { Sharing::Shared } else { Sharing::Private };
    let builder = with_state(global.plain_builder()?).sharing(sharing);
    let playbook = global::open(builder, Access::Write)?;
    let found = playbook.sharing()?;
    let folder = path_line(playbook.folder());
    if shared && found != Some(Sharing::Shared) {
        return Err(format!("{folder} is there already; remove its .gitignore to share it").into());
    }
    let who = match found {
        Some(Sharing::Private) => "kept out of repositories by .gitignore",
        Some(Sharing::Shared) => "a repository may take it",
        None => "a repository may take it: its .gitignore is not one that adage writes, see `adage doctor --check`",
    };
    let object = json!({ "folder": path_text(playbook.folder()), "shared": found != Some(Sharing::Private) });
    out.both(&object, &format!("{folder}: {who}"))?;
    if found == Some(Sharing::Private) && global.location.origin == Origin::Repository {
        out.message(
            "git ignores this memory, and deletes what it ignores if a pull brings a `.adage` of its own: `adage backup FOLDER` makes a copy",
        );
    }
    Ok(ExitCode::SUCCESS)
}
