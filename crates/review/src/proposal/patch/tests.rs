//! Parsing and positions of patches, case by case.

use proptest::prelude::*;

use super::*;

const BASE: &str = "one\ntwo\nthree\nfour\nfive\n";

/// Checks the result of a patch on a base, or the beginning of the error.
fn check(patch: &str, base: Option<&str>, expected: Result<&str, &str>) {
    let result = Patch::parse(patch.as_bytes()).and_then(|patch| {
        let mut state = base.map(|base| base.as_bytes().to_vec());
        for file in patch.files() {
            state = Some(file.apply(state.as_deref())?);
        }
        Ok(state.unwrap_or_default())
    });
    match (result, expected) {
        (Ok(after), Ok(expected)) => assert_eq!(String::from_utf8_lossy(&after), expected, "{patch}"),
        (Err(error), Err(expected)) => {
            assert!(error.to_string().starts_with(expected), "{patch}\n{error}\nbut expected {expected}");
        }
        (result, _) => panic!("{patch}\n{result:?} but expected {expected:?}"),
    }
}

/// Valid patches: one makes a file, one changes it.
const SEEDS: [&str; 2] = [
    "--- /dev/null\n+++ b/new.md\n@@ -0,0 +1,2 @@\n+one\n+two\n",
    "--- a\n+++ a\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n\\ No newline at end of file\n",
];

fn of_a(hunks: &str) -> String {
    format!("--- a\n+++ a\n{hunks}")
}

#[test]
fn hunks_apply_where_they_say() {
    for (hunks, after) in [
        ("@@ -1,2 +1,2 @@\n one\n-two\n+2\n", "one\n2\nthree\nfour\nfive\n"),
        ("@@ -2,3 +2,4 @@ any words\n two\n+2.5\n three\n four\n", "one\ntwo\n2.5\nthree\nfour\nfive\n"),
        ("@@ -1 +1,2 @@\n one\n+1.5\n@@ -5 +6,2 @@\n five\n+six\n", "one\n1.5\ntwo\nthree\nfour\nfive\nsix\n"),
        ("@@ -4,2 +4 @@\n four\n-five\n", "one\ntwo\nthree\nfour\n"),
        ("@@ -5 +5,2 @@\n five\n+six\n\\ No newline at end of file\n", "one\ntwo\nthree\nfour\nfive\nsix"),
        // No line is kept, so there can be no context.
        ("@@ -1,5 +1 @@\n-one\n-two\n-three\n-four\n-five\n+1\n", "1\n"),
        ("@@ -1,5 +0,0 @@\n-one\n-two\n-three\n-four\n-five\n", ""),
    ] {
        check(&of_a(hunks), Some(BASE), Ok(after));
        check(of_a(hunks).trim_end_matches('\n'), Some(BASE), Ok(after));
        let git = "diff --git a/a b/a\nindex 0123456..789abcd 100644\n";
        check(&format!("\n{git}{}\n\n", of_a(hunks)), Some(BASE), Ok(after));
    }
    check("--- /dev/null\n+++ a\n@@ -0,0 +1,2 @@\n+one\n+two\n", None, Ok("one\ntwo\n"));
    check(&of_a("@@ -0,0 +1 @@\n+one\n"), Some(""), Ok("one\n"));
    // An empty line of context that lost its space.
    check(&of_a("@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n"), Some("a\n\nb\n"), Ok("a\n\nc\n"));
    let two = of_a("@@ -1,2 +1 @@\n one\n-two\n") + &of_a("@@ -1,2 +1,2 @@\n one\n-three\n+3\n");
    check(&two, Some(BASE), Ok("one\n3\nfour\nfive\n"));
    // A removed line that looks like a header.
    check(&of_a("@@ -1,2 +1 @@\n x\n--- a\n"), Some("x\n-- a\n"), Ok("x\n"));
}

#[test]
fn line_ends_are_kept_byte_for_byte() {
    check(&of_a("@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n"), Some("a\r\nb\r\n"), Ok("a\r\nc\r\n"));
    check(&of_a("@@ -1,2 +1,2 @@\n a\n-b\n+c\n"), Some("a\r\nb\r\n"), Err("line 1 of the file is \"a\", line 4"));
    let no_newline = "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n";
    check(&of_a(no_newline), Some("a\nb"), Ok("a\nc"));
    check(&of_a(no_newline), Some("a\nb\n"), Err("line 2 of the file"));
    check(&of_a("@@ -1,2 +1,3 @@\n a\n b\n+c\n"), Some("a\nb"), Err("line 2 of the file"));
    check(
        &of_a("@@ -1 +1,2 @@\n a\n+c\n\\ No newline at end of file\n"),
        Some("a\nb\n"),
        Err("line 5 of the patch ends"),
    );
    check(&of_a("@@ -1 +1,2 @@\n+c\n\\ No newline at end of file\n a\n"), Some("a\n"), Err("line 4 of the patch ends"));
    let mut bytes = of_a("@@ -1,2 +1,2 @@\n ").into_bytes();
    bytes.extend(b"\xff\xfe\n-b\n+\xe9\n");
    let patch = Patch::parse(&bytes).unwrap();
    assert_eq!(patch.files()[0].apply(Some(b"\xff\xfe\nb\n")).unwrap(), b"\xff\xfe\n\xe9\n");
}

#[test]
fn no_fuzz_and_no_other_place() {
    let hunk = of_a("@@ -2,2 +2,2 @@\n two\n-three\n+3\n");
    check(&hunk, Some("one\ntwo\nthree\n"), Ok("one\ntwo\n3\n"));
    check(
        &hunk,
        Some("zero\none\ntwo\nthree\n"),
        Err("line 2 of the file is \"one\", line 4 of the patch says \"two\""),
    );
    check(&hunk, Some("two\nthree\n"), Err("line 2 of the file is \"three\", line 4 of the patch says \"two\""));
    check(&hunk, Some("one\ntwo\n"), Err("line 3 of the file is behind its end, line 5 of the patch says \"three\""));
    check(&hunk, Some("one\nTwo\nthree\n"), Err("line 2 of the file"));
    check(&of_a("@@ -2 +2 @@\n-two\n+2\n"), Some(BASE), Err("the hunk at line 3 has no line of context"));
    check(&of_a("@@ -2,0 +3 @@\n+2\n"), Some(BASE), Err("the hunk at line 3 has no line of context"));
    check(&of_a("@@ -9,0 +10 @@\n+2\n"), Some(""), Err("the hunk at line 3 states that it begins at line 9"));
    check(
        &of_a("@@ -1,2 +2,2 @@\n one\n-two\n+2\n"),
        Some(BASE),
        Err("the hunk at line 3 states that it begins at line 2 of the new"),
    );
    let out_of_order = "@@ -4 +4,2 @@\n four\n+x\n@@ -1 +1,2 @@\n one\n+x\n";
    check(
        &of_a(out_of_order),
        Some(BASE),
        Err("the hunk at line 6 states that it begins at line 1 of the old file; by the hunks before it, that is 5"),
    );
    check(&of_a("@@ -0,1 +0,1 @@\n-one\n+1\n"), Some("one\n"), Err("the hunk at line 3"));
}

#[test]
fn new_and_changed_files_are_told_apart() {
    let new = "--- /dev/null\n+++ a\n@@ -0,0 +1 @@\n+one\n";
    check(new, Some("x\n"), Err("the patch makes a new file, but there is one of 2 bytes"));
    check(&of_a("@@ -0,0 +1 @@\n+one\n"), None, Err("the patch changes a file that does not exist"));
    check(
        "--- /dev/null\n+++ a\n@@ -1 +1,2 @@\n one\n+two\n",
        None,
        Err("the hunk at line 3 states that it begins at line 1 of the old"),
    );
    check(&format!("{new}@@ -1 +2 @@\n+x\n"), None, Err("line 5 is"));
}

#[test]
fn every_count_holds() {
    for (hunk, expected) in [
        ("@@ -1,3 +1,2 @@\n one\n-two\n+2\n", "states 3 old and 2 new lines and has 2 and 2"),
        ("@@ -1,2 +1,3 @@\n one\n-two\n+2\n", "states 2 old and 3 new lines and has 2 and 2"),
        ("@@ -1,2 +1,2 @@\n one\n-two\n+2\n+3\n", "states 2 old and 2 new lines and has 2 and 3"),
        ("@@ -1,2 +1,2 @@\n one\n-two\n+2\n three\n", "states 2 old and 2 new lines and has 3 and 3"),
        ("@@ -1,2 +1,2 @@\n one\n-two\n-three\n+2\n", "states 2 old and 2 new lines and has 3 and 1"),
        ("@@ -1,2 +1,2 @@\n one\n", "states 2 old and 2 new lines and has 1 and 1"),
        ("@@ -1,2 +1,2 @@\n one\n@@ -5 +5 @@\n", "states 2 old and 2 new lines and has 1 and 1"),
    ] {
        check(&of_a(hunk), Some(BASE), Err(&format!("the hunk at line 3 {expected}")));
    }
}

#[test]
fn nothing_stands_beside_the_diffs() {
    let good = of_a("@@ -1,2 +1,2 @@\n one\n-two\n+2\n");
    for (patch, expected) in [
        ("", "it contains no diff"),
        ("\n\r\n\n", "it contains no diff"),
        ("Here is the patch:\n", "line 1 is \"Here is the patch:\", expected `--- `"),
        (&format!("```diff\n{good}```\n"), "line 1 is \"```diff\""),
        (&format!("{good}```\n"), "line 7 is \"```\""),
        (&format!("{good}\n-- \n2.40.1\n"), "line 8 is \"-- \""),
        ("--- a\n", "line 2 is \"\", expected `+++ `"),
        ("--- a\n+++ a\n", "line 3 is \"\", expected a hunk"),
        ("--- \n+++ a\n@@ -1 +1 @@\n-a\n+b\n", "line 1 is"),
        ("+++ a\n--- a\n@@ -1 +1 @@\n-a\n+b\n", "line 1 is"),
        ("--- a\n--- a\n+++ a\n@@ -1 +1 @@\n-a\n+b\n", "line 2 is"),
        ("@@ -1 +1 @@\n-a\n+b\n", "line 1 is"),
        (&of_a("@@ -1,2 +1,2\n one\n"), "line 3 is \"@@ -1,2 +1,2\", expected `@@ "),
        (&of_a("@@ -+1 +1 @@\n one\n"), "line 3 is"),
        (&of_a("@@ -1,-2 +1 @@\n one\n"), "line 3 is"),
        (&of_a("@@@ -1 -1 +1 @@@\n one\n"), "line 3 is"),
        (&of_a("@@ -1,0 +1,0 @@\n"), "line 3 is"),
        (&of_a("@@ -1 +1 @@\n\\ No newline at end of file\n-a\n+b\n"), "line 4 is"),
        (
            &of_a("@@ -18446744073709551615 +1 @@\n-a\n+b\n"),
            "it has 18446744073709551615 as a line number, at most 10000000",
        ),
        (&of_a("@@ -99999999999999999999999 +1 @@\n-a\n+b\n"), "it has 18446744073709551615 as a line number"),
        (&of_a("@@ -1,4000000000 +1 @@\n-a\n+b\n"), "it has 4000000000 as a line number"),
    ] {
        check(patch, Some(BASE), Err(expected));
    }
}

#[test]
fn only_making_and_changing_is_allowed() {
    let git = |lines: &str| format!("diff --git a/a b/a\n{lines}");
    let change = of_a("@@ -1,2 +1,2 @@\n one\n-two\n+2\n");
    for (patch, expected) in [
        ("--- a\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n".to_owned(), "line 2 deletes a file"),
        ("--- /dev/null\n+++ /dev/null\n@@ -0,0 +1 @@\n+a\n".to_owned(), "line 2 deletes a file"),
        (git("deleted file mode 100644\n--- a\n+++ /dev/null\n"), "line 2 deletes a file"),
        (git("similarity index 100%\nrename from a\nrename to b\n"), "line 2 renames a file"),
        (git("rename from a\nrename to b\n"), "line 2 renames a file"),
        (git("copy from a\ncopy to b\n"), "line 2 copies a file"),
        (git(&format!("old mode 100644\nnew mode 100755\n{change}")), "line 2 sets the mode"),
        (git("new file mode 100755\n--- /dev/null\n+++ a\n@@ -0,0 +1 @@\n+a\n"), "line 2 sets the mode"),
        (git("new file mode 120000\n--- /dev/null\n+++ a\n@@ -0,0 +1 @@\n+/etc/passwd\n"), "line 2 sets the mode"),
        (git("index 1..2\nBinary files a/a and b/a differ\n"), "line 3 is of a binary"),
        (git("index 1..2\nGIT binary patch\nliteral 0\n"), "line 3 is of a binary"),
    ] {
        check(&patch, Some(BASE), Err(expected));
    }
}

#[test]
fn sizes_are_limited() {
    let hunk = "@@ -0,0 +1 @@\n+a\n";
    let many =
        |count: usize| (0..count).map(|n| format!("--- /dev/null\n+++ {n}\n{hunk}")).collect::<Vec<_>>().concat();
    assert_eq!(Patch::parse(many(64).as_bytes()).unwrap().files().len(), 64);
    let refused = |text: &str| Patch::parse(text.as_bytes()).unwrap_err();
    assert_eq!(refused(&many(65)), PatchError::TooLarge { what: Limit::Files, found: 65, limit: 64 });
    let found = MAX_BYTES + 1;
    assert_eq!(refused(&"x".repeat(found)), PatchError::TooLarge { what: Limit::Bytes, found, limit: MAX_BYTES });
    let hunks: Vec<String> = (0..1_001).map(|n| format!("@@ -{0},2 +{0},2 @@\n a\n-b\n+c\n", 1 + 2 * n)).collect();
    assert_eq!(
        refused(&of_a(&hunks.concat())),
        PatchError::TooLarge { what: Limit::Hunks, found: 1_001, limit: 1_000 }
    );
    let base = vec![b'\n'; MAX_FILE_BYTES + 1];
    let patch = Patch::parse(of_a("@@ -1 +1,2 @@\n \n+x\n").as_bytes()).unwrap();
    assert!(matches!(patch.files()[0].apply(Some(&base)), Err(PatchError::TooLarge { what: Limit::FileBytes, .. })));
}

#[test]
fn errors_show_no_secret() {
    let secret = ["ghp_", "1a2B3c4D5e6F7g8H9i0J1k2L3m4N5o6P7q8R"].concat();
    let patch = of_a(&format!("@@ -1,2 +1,2 @@\n token {secret}\n-two\n+2\n"));
    let error = Patch::parse(patch.as_bytes()).unwrap().files()[0].apply(Some(BASE.as_bytes())).unwrap_err();
    assert!(!error.to_string().contains(&secret) && error.to_string().contains("REDACTED"), "{error}");
}

/// A file of few different lines, so that every hunk would fit in many places.
fn file() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec!["a\n", "b\n", "\n", "-- x\n", "++ y\n", "@@ -1 +1 @@\n", "c\r\n", " \n"]);
    (prop::collection::vec(line, 0..12), prop::bool::ANY).prop_map(|(lines, ends)| {
        let text = lines.concat();
        if ends { text } else { text.trim_end_matches('\n').to_owned() }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn what_is_made_of_two_files_leads_from_one_to_the_other(before in file(), after in file()) {
        let (before, after) = (before.as_bytes(), after.as_bytes());
        match FilePatch::between("/x", Some(before), after) {
            None => prop_assert_eq!(before, after),
            Some(file) => {
                let patch = Patch::parse(&file.to_bytes()).unwrap();
                prop_assert_eq!(patch.to_bytes(), file.to_bytes());
                prop_assert_eq!(patch.files()[0].apply(Some(before)).unwrap(), after);
            }
        }
        if let Some(file) = FilePatch::between("/x", None, after) {
            prop_assert_eq!(Patch::parse(&file.to_bytes()).unwrap().files()[0].apply(None).unwrap(), after);
        }
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), hunk in "[-+ @\\\\a0-9,\n]{0,80}") {
        let _ = Patch::parse(&bytes);
        let _ = Patch::parse(of_a(&format!("@@ -1,2 +1,2 @@\n{hunk}")).as_bytes()).map(|patch| patch.files()[0].apply(Some(b"a\n0\n")));
    }

    #[test]
    fn a_changed_patch_round_trips_or_is_refused(seed in 0..2usize, at in 0..80usize, n in 0..4usize, put in "[-+ @\\\\a0-9,\n]{0,4}") {
        let mut bytes = SEEDS[seed].as_bytes().to_vec();
        let at = at.min(bytes.len());
        let end = (at + n).min(bytes.len());
        bytes.splice(at..end, put.bytes());
        if let Ok(patch) = Patch::parse(&bytes) {
            let again = Patch::parse(&patch.to_bytes()).unwrap();
            prop_assert_eq!(again.to_bytes(), patch.to_bytes());
            for file in patch.files() {
                let is_made = file.apply(None).is_ok();
                prop_assert!(!is_made || file.old_name().is_none(), "a file that is not there was changed");
                let _ = file.apply(Some(b"one\ntwo\nthree\n"));
            }
        }
    }
}
