//! Patches of real repositories, which are not part of this one.
//!
//! `ADAGE_DATA` names the folder that holds `diffs/single_file.jsonl.gz` (`id`, `before`, `diff`, `after`) and
//! `diffs/multi_file_commits.jsonl.gz` (`id`, `patch`: a message and the diffs that git makes of a commit).

use std::io::Read;
use std::path::PathBuf;

use adage_review::{Patch, PatchError};
use flate2::read::MultiGzDecoder;
use serde_json::Value;

pub(crate) fn rows(file: &str) -> Option<Vec<Value>> {
    let Some(folder) = std::env::var_os("ADAGE_DATA").map(PathBuf::from) else {
        use std::io::Write;
        // Straight to standard error: the test runner keeps the output of tests that pass to itself.
        let mut terminal = std::io::stderr();
        writeln!(terminal, "NOT MEASURED: patches; set ADAGE_DATA to the folder with diffs/{file}").unwrap();
        return None;
    };
    let mut text = String::new();
    MultiGzDecoder::new(std::fs::File::open(folder.join("diffs").join(file)).unwrap())
        .read_to_string(&mut text)
        .unwrap();
    Some(text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

fn apply(diff: &str, before: &str) -> Result<String, PatchError> {
    let patch = Patch::parse(diff.as_bytes())?;
    assert_eq!(patch.files().len(), 1);
    // A created file has no earlier text.
    let before = patch.files()[0].old_name().map(|_| before.as_bytes());
    Ok(String::from_utf8(patch.files()[0].apply(before)?).unwrap())
}

/// The nth line of context with a letter more; none where there are fewer.
fn with_context_changed(diff: &str, nth: usize) -> Option<String> {
    let place = diff.match_indices("\n ").nth(nth)?.0 + 2;
    Some(format!("{}~{}", &diff[..place], &diff[place..]))
}

#[test]
fn recorded_diffs_give_exactly_the_recorded_result() {
    let Some(rows) = rows("single_file.jsonl.gz") else { return };
    let (mut n_applied, mut n_empty, mut n_changed, mut n_moved) = (0, 0, 0, 0);
    for row in &rows {
        let text = |key: &str| row[key].as_str().unwrap();
        let (before, after, diff) = (text("before"), text("after"), text("diff"));
        match apply(diff, before) {
            Ok(result) => {
                assert_eq!(result, after, "{}", row["id"]);
                n_applied += 1;
            }
            // Only the mode changed.
            Err(PatchError::Empty) => {
                assert_eq!((diff, before), ("", after), "{}", row["id"]);
                n_empty += 1;
            }
            Err(error) => panic!("{}: {error}", row["id"]),
        }
        for nth in [0, 1, 5] {
            if let Some(diff) = with_context_changed(diff, nth) {
                assert!(matches!(apply(&diff, before), Err(PatchError::Mismatch { .. })), "{}", row["id"]);
                n_changed += 1;
            }
        }
        // One line further down, the position differs.
        let moved = format!("a line that is nowhere else\n{before}");
        if let Err(error) = apply(diff, &moved) {
            let is_known =
                matches!(error, PatchError::Mismatch { .. } | PatchError::Empty | PatchError::NoContext { .. });
            assert!(is_known, "{}: {error}", row["id"]);
            n_moved += 1;
        }
    }
    assert_eq!((n_applied, n_empty, n_moved), (936, 2, 938));
    assert!(n_changed > 2_000, "only {n_changed} were changed");
}

/// What the old and the new file read at the places that a file's diff shows, made without the code under test.
fn sparse(diff: &str) -> (String, String) {
    let (mut old, mut new): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    let mut counts = (0, 0);
    let mut last = ' ';
    for line in diff.split_inclusive('\n') {
        if counts == (0, 0) && line.starts_with("@@ -") {
            let numbers: Vec<Vec<usize>> = line
                .split(['-', '+'])
                .skip(1)
                .take(2)
                .map(|part| part.split_whitespace().next().unwrap().split(',').map(|n| n.parse().unwrap()).collect())
                .collect();
            let count = |side: usize| numbers[side].get(1).copied().unwrap_or(1);
            let above = numbers[0][0] - usize::from(count(0) > 0);
            while old.len() < above {
                let filler = format!("line {} of the part that is not shown\n", old.len());
                old.push(filler.clone());
                new.push(filler);
            }
            counts = (count(0), count(1));
        } else if line.starts_with('\\') {
            let trim = |lines: &mut Vec<String>| {
                let line = lines.pop().unwrap();
                lines.push(line.trim_end_matches('\n').to_owned());
            };
            if last != '+' {
                trim(&mut old);
            }
            if last != '-' {
                trim(&mut new);
            }
        } else if counts != (0, 0) {
            last = line.chars().next().unwrap();
            if last != '+' {
                old.push(line[1..].to_owned());
                counts.0 -= 1;
            }
            if last != '-' {
                new.push(line[1..].to_owned());
                counts.1 -= 1;
            }
        }
    }
    (old.concat(), new.concat())
}

#[test]
fn recorded_commits_apply_file_by_file_or_are_refused() {
    let Some(rows) = rows("multi_file_commits.jsonl.gz") else { return };
    let (mut n_applied, mut n_files, mut n_refused, mut n_changed) = (0, 0, 0, 0);
    for row in &rows {
        let text = row["patch"].as_str().unwrap();
        // The commit's message precedes the diffs.
        let text = &text[text.find("diff --git ").unwrap()..];
        let is_header = |start: &str| text.lines().any(|line| line.starts_with(start));
        let goes_too_far =
            ["deleted file mode", "rename from", "copy from", "old mode", "Binary files", "similarity index"];
        if goes_too_far.iter().any(|start| is_header(start)) || text.contains("new file mode 100755") {
            let refused = Patch::parse(text.as_bytes());
            assert!(matches!(refused, Err(PatchError::Forbidden { .. })), "{}: {refused:?}", row["id"]);
            n_refused += 1;
            continue;
        }
        let patch = match Patch::parse(text.as_bytes()) {
            Ok(patch) => patch,
            // An empty file is created: there is no diff to show.
            Err(PatchError::Unexpected { found, .. }) if found.starts_with("diff --git ") || found.is_empty() => {
                n_refused += 1;
                continue;
            }
            Err(error) => panic!("{}: {error}", row["id"]),
        };
        let parts: Vec<&str> = text.split("diff --git ").skip(1).collect();
        n_applied += 1;
        for file in patch.files() {
            let is_of = |part: &&&str| part.contains(&format!("\n+++ {}\n", file.new_name()));
            let (old, new) = sparse(parts.iter().find(is_of).unwrap());
            let base = file.old_name().map(|_| old.as_bytes());
            match file.apply(base) {
                Ok(after) => {
                    assert_eq!(String::from_utf8(after).unwrap(), new, "{}: {}", row["id"], file.new_name());
                    n_files += 1;
                }
                Err(error) => panic!("{}: {}: {error}", row["id"], file.new_name()),
            }
        }
        if let Some(text) = with_context_changed(text, 0) {
            let patch = Patch::parse(text.as_bytes()).unwrap();
            let is_refused = patch.files().iter().any(|file| {
                let is_of = |part: &&&str| part.contains(&format!("\n+++ {}\n", file.new_name()));
                let (old, _) = sparse(parts.iter().find(is_of).unwrap());
                file.apply(file.old_name().map(|_| old.as_bytes())).is_err()
            });
            assert!(is_refused, "{}", row["id"]);
            n_changed += 1;
        }
    }
    assert_eq!(n_applied + n_refused, 147);
    assert!(
        n_refused <= 8 && n_files > 500 && n_changed > 100,
        "{n_refused} refused, {n_files} files, {n_changed} changed"
    );
}
