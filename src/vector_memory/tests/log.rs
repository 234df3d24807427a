//! The log of documents: several handles, compaction, damage, permissions.

use super::*;

#[test]
fn two_handles_see_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (Counting::named("m"), Counting::named("m"));
    let (a, b) = (open_with(folder.path(), first.clone()), open_with(folder.path(), second.clone()));
    let reader = VectorMemory::builder(folder.path()).with_embedder(Counting::named("m")).read_only().open().unwrap();
    for n in 0..20 {
        let (writer, other) = if n % 2 == 0 { (&a, &b) } else { (&b, &a) };
        let (id, text) = (format!("{n:02}"), format!("number {n}"));
        writer.add(note(&id, &text)).unwrap();
        assert!(matches!(other.add(note(&id, "t")), Err(Error::DocumentExists { .. })));
        assert_eq!(ids(other, &Lookup::text(&text).limit(1)), [id.as_str()]);
        assert_eq!(ids(&reader, &Lookup::text(&text).limit(1)), [id]);
        if n % 7 == 3 {
            other.remove(&format!("{:02}", n - 1)).unwrap();
            assert_eq!(writer.get(&format!("{:02}", n - 1)).unwrap(), None);
            other.compact().unwrap();
        }
    }
    assert_eq!(a.documents(&Filter::all()).unwrap(), b.documents(&Filter::all()).unwrap());
    assert_eq!(reader.documents(&Filter::all()).unwrap(), b.documents(&Filter::all()).unwrap());
    // No handle embedded a text that the other had embedded.
    assert_eq!((first.take(), second.take()), (10, 10));
    assert!(matches!(reader.add(note("x", "t")), Err(Error::Folder(FolderError::ReadOnly { .. }))));
}

#[test]
fn a_removed_text_is_purged_by_a_compaction() {
    let folder = tempfile::tempdir().unwrap();
    let memory = open(folder.path());
    memory.add_all([note("a", "keep this"), note("b", "my secret")]).unwrap();
    memory.remove("b").unwrap();
    assert!(log_of(folder.path()).contains("my secret"));
    let before = fs::metadata(folder.path().join("vectors.bin")).unwrap().len();
    memory.compact().unwrap();
    assert!(!log_of(folder.path()).contains("my secret"));
    assert!(fs::metadata(folder.path().join("vectors.bin")).unwrap().len() < before);
    assert_eq!(ids(&memory, &Lookup::text("my secret")), ["a"]);
    memory.add(note("b", "again")).unwrap();
    assert_eq!(open(folder.path()).count(&Filter::all()).unwrap(), 2);
}

#[test]
fn a_log_that_is_mostly_obsolete_is_compacted() {
    let folder = tempfile::tempdir().unwrap();
    let memory = open(folder.path());
    let text = "a long text ".repeat(100);
    for n in 0..200 {
        memory.put_all([note("a", &format!("{text}{n}"))]).unwrap();
    }
    assert!(log_of(folder.path()).len() < 70_000, "{}", log_of(folder.path()).len());
    assert_eq!(open(folder.path()).get("a").unwrap().unwrap().text, format!("{text}199"));
}

#[test]
fn damaged_lines_are_quarantined_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    open(folder.path()).add_all((0..5).map(|n| note(&n.to_string(), &format!("text {n}")))).unwrap();
    let path = folder.path().join("documents.jsonl");
    let broken = log_of(folder.path()).replace("text 2", "text X");
    fs::write(&path, &broken).unwrap();
    let reader = VectorMemory::builder(folder.path()).read_only().open().unwrap();
    assert_eq!(reader.recovery().map(|recovery| (recovery.n_lines, recovery.kept_at.clone())), Some((1, path.clone())));
    assert_eq!(reader.count(&Filter::all()).unwrap(), 4);
    assert!(!folder.path().join("quarantine").exists());
    let memory = open(folder.path());
    let recovery = memory.recovery().cloned().unwrap();
    assert_eq!(recovery.n_lines, 1);
    let kept = fs::read_to_string(recovery.kept_at).unwrap();
    assert!(kept.contains("text X") && kept.lines().count() == 1, "{kept}");
    assert_eq!(memory.count(&Filter::all()).unwrap(), 4);
    assert!(open(folder.path()).recovery().is_none());
    // Nothing of the file can be read.
    fs::write(&path, "garbage").unwrap();
    let memory = open(folder.path());
    assert!(memory.recovery().is_some());
    assert_eq!(memory.count(&Filter::all()).unwrap(), 0);
    memory.add(note("a", "t")).unwrap();
    assert!(open(folder.path()).recovery().is_none());
}

#[test]
fn a_newer_schema_is_read_only_and_untouched() {
    let folder = tempfile::tempdir().unwrap();
    open(folder.path()).add(note("a", "t")).unwrap();
    let rest = r#""header":{"schema_version":2,"log":"00000000-0000-0000-0000-000000000001"}}"#;
    let header = format!("{{\"crc\":\"{:08x}\",{rest}", crc32fast::hash(rest.as_bytes()));
    let log = log_of(folder.path());
    let newer = format!("{header}\n{}what is this\n", log.split_once('\n').unwrap().1);
    fs::write(folder.path().join("documents.jsonl"), &newer).unwrap();
    let memory = open(folder.path());
    assert_eq!(memory.count(&Filter::all()).unwrap(), 1);
    assert_eq!(ids(&memory, &Lookup::text("t")), ["a"]);
    for result in [memory.add(note("b", "t")), memory.remove("a"), memory.compact(), memory.snapshot()] {
        assert!(
            matches!(result, Err(Error::Folder(FolderError::NewerSchema { found: 2, supported: 1, .. }))),
            "{result:?}"
        );
    }
    assert_eq!(log_of(folder.path()), newer);
}

#[test]
fn opening_for_reading_creates_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("none");
    let memory = VectorMemory::builder(&inside).with_embedder(Arc::new(HashingEmbedder)).read_only().open().unwrap();
    assert!(memory.query(&Lookup::text("t")).unwrap().hits.is_empty());
    assert!(!inside.exists());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        open(&inside).add(note("a", "t")).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&inside), 0o700);
        for name in ["documents.jsonl", "vectors.bin", "lock"] {
            assert_eq!(mode(&inside.join(name)), 0o600, "{name}");
        }
    }
}
