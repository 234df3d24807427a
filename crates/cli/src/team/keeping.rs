//! Commands that keep a memory in order: backup, restore, repair, forget.

use std::path::Path;

use adage::PlaybookBuilder;
use adage::redact::{one_line, path_line, path_text};
use serde_json::json;

use crate::global::{Access, Global, of_both_branches};
use crate::output::{Output, counted};
use crate::result::Done;
use crate::team::export_key;

pub(crate) fn backup(global: &Global, folder: &Path, out: &mut Output) -> Done {
    let builder = export_key::for_export(global).into_iter().fold(global.builder()?, PlaybookBuilder::with_export_key);
    let record = global.open_with(builder, Access::Read)?.back_up(folder)?;
    let (lessons, files) = (counted(record.n_lessons, "lesson"), counted(record.files.len(), "file"));
    let text = format!("{lessons} in {files} copied to {}", path_line(folder));
    out.both(&json!({"folder": path_text(folder), "generation": record.generation, "lessons": record.n_lessons, "files": record.files.len()}), &text)
}

pub(crate) fn restore(global: &Global, folder: &Path, out: &mut Output) -> Done {
    let builder = export_key::for_import().into_iter().fold(global.builder()?, PlaybookBuilder::with_export_key);
    let restored = global.create_from(folder, builder)?.restore(folder)?;
    out.object(&json!(restored))?;
    if !restored.is_own {
        out.line(&format!(
            "the backup was not made with your key: {} of it await review, as after an import; nothing else was taken from it",
            counted(restored.n_waiting, "text")
        ))?;
        return Ok(std::process::ExitCode::SUCCESS);
    }
    out.line(&format!("{} restored", counted(restored.n_lessons, "lesson")))?;
    if restored.n_kept_removed > 0 {
        out.line(&format!("{} stay removed", restored.n_kept_removed))?;
    }
    if restored.n_files + restored.n_files_kept > 0 {
        let (back, kept) = (counted(restored.n_files, "other file"), restored.n_files_kept);
        out.line(&format!("{back} put back, {kept} kept as they are"))?;
    }
    if let Some(previous) = &restored.previous {
        out.line(&format!("the playbook file that was in use is kept at {}", path_line(previous)))?;
    }
    Ok(std::process::ExitCode::SUCCESS)
}

pub(crate) fn repair(global: &Global, dry_run: bool, out: &mut Output) -> Done {
    let playbook = global.open_with(global.builder()?, if dry_run { Access::Read } else { Access::Write })?;
    let repair = if dry_run { playbook.preview_repair()? } else { playbook.repair()? };
    out.object(&json!(repair))?;
    let (would, is) = if dry_run { ("would be ", "would be") } else { ("", "is") };
    match &repair.recovery {
        Some(recovery) if recovery.is_merge => {
            let has = if dry_run { "would have" } else { "has" };
            out.line(&format!("the playbook {has} {}", of_both_branches(recovery)))?;
        }
        Some(recovery) => out.line(&format!(
            "{} {would}taken from the file, {} from its backup, {} set aside",
            counted(recovery.n_from_file, "row"),
            recovery.n_from_backup,
            recovery.n_set_aside
        ))?,
        None => {}
    }
    for row in &repair.from_quarantine {
        out.line(&format!("{would}taken from {}: {}", path_line(&row.path), one_line(&row.trigger, 120)))?;
    }
    if repair.is_archive_merged {
        out.line(&format!("the archive {is} without the marks of a merge, with the lines of both branches"))?;
    }
    if repair.recovery.is_none() && repair.from_quarantine.is_empty() && !repair.is_archive_merged {
        out.line("nothing to repair")?;
    }
    Ok(std::process::ExitCode::SUCCESS)
}

pub(crate) fn forget(global: &Global, lesson: &str, out: &mut Output) -> Done {
    let reference = global.lesson(lesson);
    // A lesson that was removed before is in no listing.
    let playbook = global.holder(&reference).or_else(|_| global.open())?;
    let forgotten = playbook.forget(reference)?;
    let (id, kept_in) = (forgotten.id, &forgotten.kept_in);
    let text = if kept_in.is_empty() {
        format!("forgot {id}: its words are deleted from every file of the memory; this cannot be undone")
    } else {
        let files: Vec<String> = kept_in.iter().map(path_line).collect();
        format!(
            "forgot {id}, which cannot be undone; its words are still in files that you keep, edit or remove them: {}",
            files.join(", ")
        )
    };
    out.both(&json!({"forgotten": id, "kept_in": kept_in.iter().map(path_text).collect::<Vec<_>>()}), &text)
}
