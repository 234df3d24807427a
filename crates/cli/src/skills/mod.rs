//! Skills: list, show, export, import, promote, verify.

mod curate;
mod matching;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use adage::lesson::Trust;
use adage::redact::{mask, one_line, path_line, path_text};
use adage::skills::{Quality, RefusedFile, Shadowed, Skill, Skills};
use adage::{TextHash, Verification, skills};
use clap::Subcommand;
use serde_json::{Value, json};

use curate::Curate;
use matching::Match;

use crate::agents::mine;
use crate::choice::choice;
use crate::everyday::change::VERIFICATION;
use crate::global::Global;
use crate::output::{Output, counted, masked, say_failure, with};
use crate::result::{Done, Failure};

#[derive(Subcommand)]
pub(crate) enum Command {
    /// List the skills, including those that await review, and the files that could not be read
    List,
    /// Show one skill
    Show { name: String },
    /// Write lessons into a folder of skills, as one skill
    Export {
        /// Lessons, by id or trigger
        #[arg(required = true)]
        lessons: Vec<String>,
        /// Folder of skills; the skill gets a folder of its own in it
        #[arg(long, value_name = "FOLDER")]
        to: PathBuf,
        /// Name of the skill; derived from the lessons if omitted
        #[arg(long)]
        name: Option<skills::Name>,
    },
    /// Copy a SKILL.md, or a folder with one and all its files, into the memory; it awaits review
    Import {
        path: PathBuf,
        /// Import it although something in it looks like a secret: you have read it
        #[arg(long)]
        reveal: bool,
    },
    /// Allow a skill to be shown: you have read exactly this text and its files
    Promote {
        name: String,
        /// Only if its text, with its files, has this hash, as printed by `show`
        #[arg(long, value_name = "HASH")]
        text_hash: Option<TextHash>,
        /// Promote a draft although its session read what others wrote
        #[arg(long)]
        force: bool,
    },
    /// Show a skill no more, also if its folder is deleted and a pull brings it back; `promote` allows it again
    Withdraw { name: String },
    /// Record whether a check of a skill passed
    Verify {
        name: String,
        #[arg(value_parser = choice(VERIFICATION))]
        result: Verification,
    },
    /// Print the skills that match a text, best first
    Match(Match),
    /// Curate the memory's own draft skills; prints the plan unless --apply is given
    Curate(Curate),
    /// Stop suggesting a lesson or skill for 30 days
    Skip {
        #[arg(required_unless_present = "again")]
        name: Option<String>,
        /// Make skipped suggestions again: this one, or all
        ///
        /// The exit code is 1 if the name is not skipped. If no name is given and none is skipped, there is nothing to do, and it is 0.
        #[arg(long)]
        again: bool,
    },
}

pub(crate) fn run(global: &Global, command: Command, out: &mut Output) -> Done {
    match command {
        Command::Match(asked) => matching::find(&global.preview()?.skills(), &asked, out),
        Command::Curate(asked) => curate::curate(global, &asked, out),
        Command::Skip { name: Some(name), again: false } => mine::skip(global, &name, out),
        Command::Skip { name, .. } => mine::reset_skips(global, name.as_deref(), out),
        Command::List => list(&global.preview()?.skills(), out),
        Command::Show { name } => show(&global.preview()?.skills(), &name, out),
        Command::Export { lessons, to, name } => export(global, &lessons, &to, name.as_ref(), out),
        Command::Import { path, reveal } => import(global, &path, reveal, out),
        Command::Promote { name, text_hash, force } => {
            let skills = global.open()?.skills();
            let reads_foreign =
                |skill: &Skill| skill.provenance.trust == Trust::Tainted && skill.quality == Quality::Draft;
            if !force && reads_foreign(&skills.get(&name)?.skill) {
                let why = "is of a session that read what others wrote; if you have read it, promote it with --force";
                return Err(format!("{name} {why}").into());
            }
            let listed = match text_hash {
                Some(text_hash) => skills.promote_text(&name, text_hash)?,
                None => skills.promote(&name)?,
            };
            out.both(&row(&listed), &format!("{} may be shown as long as its text does not change", listed.skill.name))
        }
        Command::Withdraw { name } => {
            let listed = global.open()?.skills().withdraw(&name)?;
            let name = &listed.skill.name;
            out.both(&row(&listed), &format!("{name} is not shown until `adage skills promote {name}`"))
        }
        Command::Verify { name, result } => {
            let listed = global.open()?.skills().verify(&name, result)?;
            out.both(&row(&listed), &format!("{} is {}", listed.skill.name, listed.skill.quality.name()))
        }
    }
}

fn list(skills: &Skills, out: &mut Output) -> Done {
    let listing = skills.list()?;
    for listed in &listing.skills {
        out.object(&row(listed))?;
    }
    if listing.skills.is_empty() {
        out.message("no skills");
    } else {
        let rows = listing.skills.iter().map(|listed| {
            let skill = &listed.skill;
            vec![
                skill.name.to_string(),
                listed.place.name().to_owned(),
                skill.quality.name().to_owned(),
                shown(listed).to_owned(),
                listed.used.count.to_string(),
                one_line(&mask(&skill.description).text, 60),
            ]
        });
        out.table(&["name", "from", "quality", "shown", "used", "description"], rows)?;
    }
    for Shadowed { skill: listed, hidden_by: by, .. } in &listing.shadowed {
        out.object(
            &json!({"name": listed.skill.name.as_str(), "path": path_text(&listed.path), "shadowed_by": path_text(by)}),
        )?;
        out.message(&format!("{} is not used: {} has the same name", path_line(&listed.path), path_line(by)));
    }
    for RefusedFile { path, reason, .. } in &listing.refused {
        out.object(&json!({"path": path_text(path), "refused": reason.to_string()}))?;
        out.message(&format!("{}: {reason}", path_line(path)));
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether a skill is shown to a model, or why not.
fn shown(listed: &skills::Listed) -> &'static str {
    match listed {
        skills::Listed { is_withdrawn: true, .. } => "no: withdrawn",
        skills::Listed { needs_review: true, .. } => "awaits review",
        skills::Listed { has_failed: true, .. } => "no: failed",
        _ => "yes",
    }
}

fn show(skills: &Skills, name: &str, out: &mut Output) -> Done {
    let listed = skills.get(name)?;
    out.object(&with(row(&listed), json!({ "text": listed.masked_text() })))?;
    out.text(listed.for_person().trim_end())?;
    let waits = match &listed {
        skills::Listed { is_withdrawn: true, .. } => "; it was withdrawn, until adage skills promote",
        skills::Listed { needs_review: true, .. } => "; it awaits review: adage skills promote",
        _ => "",
    };
    let (file, from) = (path_line(&listed.path), listed.place.name());
    out.message(&format!("{file}, from {from}, text hash {}{waits}", listed.text_hash));
    for note in &listed.notes {
        out.message(&note.to_string());
    }
    Ok(ExitCode::SUCCESS)
}

fn export(global: &Global, lessons: &[String], to: &Path, name: Option<&skills::Name>, out: &mut Output) -> Done {
    let skills = global.open()?.skills();
    let lessons = lessons.iter().map(|lesson| global.lesson(lesson));
    let exported = match name {
        Some(name) => skills.export_as(lessons, name, to)?,
        None => skills.export(lessons, to)?,
    };
    out.both(
        &json!({"name": exported.name.as_str(), "path": path_text(&exported.path), "lessons": exported.lessons}),
        &format!("{} written to {}", counted(exported.lessons.len(), "lesson"), path_line(&exported.path)),
    )
}

fn import(global: &Global, path: &Path, reveal: bool, out: &mut Output) -> Done {
    let skills = global.create_from(path, global.builder()?)?.skills();
    let imported = if reveal { skills.import_revealed(path) } else { skills.import(path) };
    let (saved, notes) = match imported? {
        skills::Imported::Saved { saved, notes } => (saved, notes),
        skills::Imported::Refused { reason } => {
            out.object(&json!({"outcome": "refused", "why": reason.to_string()}))?;
            say_failure(&Failure::of_item(format!("{}: {reason}", path_line(path))));
            return Ok(ExitCode::FAILURE);
        }
        _ => return Ok(ExitCode::FAILURE),
    };
    let (outcome, name, file) = match &saved {
        skills::Saved::Unchanged { name, path } => ("unchanged", name, path),
        skills::Saved::Written { name, path } => ("saved", name, path),
        _ => return Ok(ExitCode::FAILURE),
    };
    let notes: Vec<String> = notes.iter().map(ToString::to_string).collect();
    out.object(&json!({"outcome": outcome, "name": name.as_str(), "path": path_text(file), "notes": notes}))?;
    out.line(&match outcome {
        "unchanged" => format!("{name} was here already"),
        _ => format!("{name} awaits review: adage skills promote {name}"),
    })?;
    for note in &notes {
        out.message(note);
    }
    Ok(ExitCode::SUCCESS)
}

fn row(listed: &skills::Listed) -> Value {
    let skill = &listed.skill;
    let trust = if skill.provenance.trust == Trust::Tainted { "tainted" } else { "trusted" };
    let notes: Vec<String> = listed.notes.iter().map(ToString::to_string).collect();
    let not_covered = listed.not_covered.as_ref().map(ToString::to_string);
    masked(json!({
        "name": skill.name.as_str(), "place": listed.place.name(), "path": path_text(&listed.path), "description": skill.description,
        "quality": skill.quality.name(), "trust": trust, "needs_review": listed.needs_review, "is_withdrawn": listed.is_withdrawn, "has_failed": listed.has_failed, "auto_load": skill.auto_load,
        "topics": skill.topics, "actions": skill.actions, "lessons": skill.provenance.lessons, "sources": skill.provenance.sources,
        "used": listed.used, "files": listed.files.as_slice(), "not_covered": not_covered, "text_hash": listed.text_hash, "notes": notes,
    }))
}
