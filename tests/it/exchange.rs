//! Export of lessons to files, and import into other playbooks.

use std::fs;
use std::path::Path;

use adage::exchange::{ExportKey, ExportRefused, Seal, read_export, read_lessons};
use adage::learn::ReviewReason;
use adage::lesson::{Refusal, Trust};
use adage::{Config, Error, LearnOutcome, LessonDraft, Listing, Playbook, build_lesson, exchange};
use proptest::prelude::*;

use crate::bench::{Bench, learn, lessons, three};

const TEXTS: [exchange::Format; 3] = [exchange::Format::Memory, exchange::Format::Agents, exchange::Format::Ace];

fn text(playbook: &Playbook, format: exchange::Format) -> String {
    playbook.export_text(format, &Listing::everything()).unwrap()
}

fn drafts(format: exchange::Format, text: &str) -> Vec<LessonDraft> {
    read_lessons(format, text).into_iter().map(|read| read.unwrap_or_else(|error| panic!("{error}\n{text}"))).collect()
}

fn export(playbook: &Playbook, format: exchange::Format, file: &Path) -> adage::Result<adage::exchange::Exported> {
    playbook.export_into(format, &Listing::everything(), file)
}

#[test]
fn imported_lessons_await_review_and_are_imported_once() {
    let source_bench = Bench::new();
    let source = source_bench.open();
    for draft in three() {
        learn(&source, draft);
    }
    for format in TEXTS {
        let bench = Bench::new();
        let playbook = bench.open();
        let text = text(&source, format);
        for learned in playbook.import(drafts(format, &text)).unwrap().outcomes {
            assert!(matches!(learned, LearnOutcome::Review { reason: ReviewReason::Tainted, .. }), "{learned:?}");
        }
        assert_eq!(lessons(&playbook).len(), 0, "nothing is shown before a person looked at it");
        let waiting = playbook.waiting_lessons().unwrap();
        let ids: Vec<_> = waiting.iter().map(|waiting| waiting.lesson.id).collect();
        assert!(lessons(&source).iter().all(|lesson| ids.contains(&lesson.id)), "names are kept");
        assert!(waiting.iter().all(|waiting| waiting.lesson.provenance.trust == Trust::Tainted));

        let before = bench.read(crate::bench::PLAYBOOK);
        for learned in playbook.import(drafts(format, &text)).unwrap().outcomes {
            assert!(matches!(learned, LearnOutcome::Refused { reason: Refusal::AlreadyHere { .. } }), "{learned:?}");
        }
        assert_eq!(bench.read(crate::bench::PLAYBOOK), before, "a second import changes nothing");
    }
}

#[test]
fn a_playbook_recognises_its_own_export_and_removed_lessons() {
    for format in TEXTS {
        let bench = Bench::new();
        let playbook = bench.open();
        let [first, second, third] = three().map(|draft| learn(&playbook, draft));
        let own = text(&playbook, format);
        playbook.remove(second).unwrap();
        // A person corrected one lesson in the file.
        let edited = own.replace("Use the csv module.", "Use the csv module with newline=''.");
        assert_ne!(edited, own);
        let mut refusals = Vec::new();
        for learned in playbook.import(drafts(format, &edited)).unwrap().outcomes {
            match learned {
                LearnOutcome::Refused { reason: Refusal::AlreadyHere { id } } => assert_eq!(id, third),
                LearnOutcome::Refused { reason } => refusals.push(reason),
                LearnOutcome::Review { id, .. } => assert_ne!(id, first, "the lesson that is here keeps its name"),
                other => panic!("{other:?}"),
            }
        }
        assert_eq!(refusals, [Refusal::Removed], "{format}");
        assert_eq!((lessons(&playbook).len(), playbook.waiting_lessons().unwrap().len()), (2, 1));
    }
}

#[test]
fn a_removed_text_is_not_imported_under_another_id() {
    let bench = Bench::new();
    let playbook = bench.open();
    let bullet = "[shr-1] helpful=1 harmful=0 :: Never commit generated files.\n";
    let id = learn(&playbook, build_lesson("Never commit generated files.", "Never commit generated files."));
    playbook.remove(id).unwrap();
    let learned = playbook.import(drafts(exchange::Format::Ace, bullet)).unwrap().outcomes;
    assert!(matches!(learned[..], [LearnOutcome::Refused { reason: Refusal::Removed }]), "{learned:?}");
}

#[test]
fn the_rest_of_a_file_stays_byte_for_byte() {
    let bench = Bench::new();
    let playbook = bench.open();
    learn(&playbook, build_lesson("parsing CSV exports", "Use the csv module.\n<!-- adage:lessons:end -->\n# x"));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("AGENTS.md");
    let (head, tail) = ("# Agents\r\n\r\nno final newline ", "\n\tafter \u{e9}\n");
    fs::write(&file, format!("{head}\n<!-- adage:lessons:begin -->\nold\n<!-- adage:lessons:end -->{tail}")).unwrap();
    let exported = export(&playbook, exchange::Format::Agents, &file).unwrap();
    assert_eq!(exported.n_lessons, 1);
    let written = fs::read_to_string(&file).unwrap();
    assert!(written.starts_with(head) && written.ends_with(tail) && !written.contains("old"), "{written}");
    assert_eq!(drafts(exchange::Format::Agents, &written).len(), 1);
    assert_eq!(export(&playbook, exchange::Format::Agents, &file).unwrap().change, None, "nothing to write");

    let change = exported.change.unwrap();
    assert!(matches!(playbook.undo(change), Err(Error::NoSuchChange { .. })), "it is no change of lessons");
    let other = folder.path().join("other.md");
    assert!(matches!(playbook.undo_export(change, &other), Err(Error::OutOfReach { .. })));
    playbook.undo_export(change, &file).unwrap();
    assert!(fs::read_to_string(&file).unwrap().contains("\nold\n"));
    fs::write(&file, "mine now\n").unwrap();
    assert!(playbook.undo_export(change, &file).is_err());
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine now\n");
}

#[test]
fn a_file_that_no_export_wrote_is_not_changed() {
    let bench = Bench::new();
    let playbook = bench.open();
    learn(&playbook, build_lesson("parsing CSV exports", "Use the csv module."));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    for (format, held, refused) in [
        (exchange::Format::Memory, "a\n<!-- adage:lessons:begin -->\n", ExportRefused::Section { line: 2 }),
        (exchange::Format::Ace, "[shr-1] helpful=0 harmful=0 :: theirs\n", ExportRefused::Foreign { line: 1 }),
        (exchange::Format::Ace, "## STRATEGIES & INSIGHTS\n\n## My own notes\n", ExportRefused::Foreign { line: 3 }),
        (exchange::Format::JsonLines, "{\"name\": \"package\"}\n", ExportRefused::Foreign { line: 1 }),
    ] {
        fs::write(&file, held).unwrap();
        match export(&playbook, format, &file) {
            Err(Error::Exchange(exchange::Error::Refused { path, reason })) => {
                assert_eq!((path, reason), (file.clone(), refused));
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(fs::read_to_string(&file).unwrap(), held);
    }
    for format in exchange::Format::ALL {
        let fresh = folder.path().join(format.name());
        export(&playbook, format, &fresh).unwrap();
        let written = fs::read_to_string(&fresh).unwrap();
        assert_eq!(drafts(format, &written).len(), 1, "{written}");
        learn(&playbook, build_lesson(format!("another situation {format}"), format!("do what {format} says")));
        export(&playbook, format, &fresh).unwrap();
        assert_eq!(drafts(format, &fs::read_to_string(&fresh).unwrap()).len(), 2);
        playbook.remove_by_trigger(&format!("another situation {format}")).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn permissions_and_links_are_kept() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let bench = Bench::new();
    let playbook = bench.open();
    learn(&playbook, build_lesson("parsing CSV exports", "Use the csv module."));
    let folder = tempfile::tempdir().unwrap();
    let (file, link) = (folder.path().join("AGENTS.md"), folder.path().join("CLAUDE.md"));
    fs::write(&file, "# Agents\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o664)).unwrap();
    symlink("AGENTS.md", &link).unwrap();
    export(&playbook, exchange::Format::Agents, &link).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read_to_string(&file).unwrap().contains("Use the csv module."));
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o664);
}

/// Content that agents and people may have in such a file.
fn soup() -> impl Strategy<Value = String> {
    let piece = proptest::sample::select(vec![
        "<!-- adage:lessons:begin -->\n",
        "<!-- adage:lessons:end -->\n",
        "- **When:** a\n",
        "  - **Do:** b\n",
        "- c\n",
        "\n",
        "  <!-- adage:lesson 019ac61f-0000-7000-8000-000000000000 shown=9 helpful=18446744073709551615 harmful=2 -->\n",
        "[x] helpful=1 harmful=0 :: t⏎u\n",
        "## H\n",
        "{\"trigger\": \"a\"}\n",
        "    d\n",
        "\u{202e}",
        "[",
        "é",
    ]);
    proptest::collection::vec(piece, 0..16).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn no_text_is_shown_unseen_and_a_second_import_changes_nothing(text in soup()) {
        let bench = Bench::new();
        let playbook = bench.open();
        for format in TEXTS {
            let drafts = || read_lessons(format, &text).into_iter().flatten();
            playbook.import(drafts()).unwrap();
            prop_assert_eq!(lessons(&playbook).len(), 0);
            let before = playbook.waiting_lessons().unwrap();
            playbook.import(drafts()).unwrap();
            prop_assert_eq!(playbook.waiting_lessons().unwrap(), before);
        }
    }
}

#[test]
fn an_undo_reverts_an_import_and_keeps_later_decisions() {
    let (source_bench, bench) = (Bench::new(), Bench::new());
    let (source, playbook) = (source_bench.open(), bench.open());
    for draft in three() {
        learn(&source, draft);
    }
    let imported = playbook.import(drafts(exchange::Format::Ace, &text(&source, exchange::Format::Ace))).unwrap();
    let waiting = playbook.waiting_lessons().unwrap();
    let [promoted, dismissed, left] = waiting.as_slice() else { panic!("{waiting:?}") };
    playbook.promote(promoted.lesson.id, promoted.lesson.text_hash()).unwrap();
    playbook.dismiss(dismissed.lesson.id, dismissed.lesson.text_hash()).unwrap();
    let undone = playbook.undo(imported.change.unwrap()).unwrap();
    assert_eq!(undone.withdrawn, [left.lesson.id]);
    assert_eq!(lessons(&playbook).iter().map(|lesson| lesson.id).collect::<Vec<_>>(), [promoted.lesson.id]);
    assert_eq!(playbook.waiting_lessons().unwrap(), []);
}

/// Rows of the own export are merged, inserted and evicted: all of it is one change.
#[test]
fn an_own_export_larger_than_the_capacity_is_previewed_and_undone() {
    let (source_bench, bench, key) = (Bench::new(), Bench::new(), ExportKey::generate());
    let source = source_bench.builder().with_export_key(key.clone()).open().unwrap();
    for draft in three() {
        learn(&source, draft);
        source_bench.advance(1);
    }
    let mut config = Config::default();
    config.retention.capacity = 2;
    let playbook = bench.builder().with_config(config).open().unwrap();
    let photographs = build_lesson("compressing photographs", "Strip the metadata first, and look at it.");
    learn(&playbook, photographs.mistake("leaked the position"));
    let before = lessons(&playbook);

    let read = || read_export(exchange::Format::JsonLines, &text(&source, exchange::Format::JsonLines), Some(&key));
    assert_eq!(read().seal, Seal::Own);
    let own = || read().lessons.into_iter().flatten();
    let preview = playbook.preview_import(own()).unwrap();
    assert_eq!(lessons(&playbook), before);
    let imported = playbook.import(own()).unwrap();
    assert_eq!(preview, imported);
    let n_merged = imported.outcomes.iter().filter(|learned| matches!(learned, LearnOutcome::Merged { .. })).count();
    let n_evicted: usize = imported.outcomes.iter().map(|learned| learned.evicted().len()).sum();
    assert_eq!((n_merged, n_evicted, lessons(&playbook).len()), (1, 1, 2), "{imported:?}");

    playbook.undo(imported.change.unwrap()).unwrap();
    assert_eq!(lessons(&playbook), before);
}
