//! Patches in the format of Codex' `apply_patch`, after [its grammar](https://github.com/openai/codex/blob/main/codex-rs/apply-patch/apply_patch_tool_instructions.md).
//! Only its headers name files. What its other lines contain is the text of a file, whatever it looks like.

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
/// Beginnings of the lines that name a file.
const HEADERS: [&str; 4] = ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];
/// The names of the program that applies a patch.
const PROGRAMS: [&str; 2] = ["apply_patch", "applypatch"];

/// The files that a patch adds, updates, moves and deletes, in order.
pub(crate) fn paths_in(patch: &str) -> impl Iterator<Item = &str> {
    let inner = patch.lines().skip_while(|line| line.trim() != BEGIN).take_while(|line| line.trim() != END);
    inner.filter_map(|line| HEADERS.iter().find_map(|header| line.strip_prefix(header))).map(str::trim)
}

/// True for a text that is a patch and nothing else.
pub(crate) fn is_patch(text: &str) -> bool {
    text.trim_start().starts_with(BEGIN)
}

/// A command line that applies patches.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct AppliedPatches {
    /// The changed files; below the folder that the line changes to first.
    pub(crate) paths: Vec<String>,
    /// The commands of the line without the patches.
    pub(crate) rest: String,
}

/// Takes the patches out of a command line; none if it applies none.
pub(crate) fn applied_by(line: &str) -> Option<AppliedPatches> {
    let mut applied = AppliedPatches::default();
    let mut rest = line;
    while let Some((before, call, patch, after)) = next_patch(rest) {
        let before = before.trim_end_matches(|c: char| c == '&' || c == ';' || c.is_whitespace());
        let folder = before.rsplit(['\n', ';', '&']).next().and_then(|last| last.trim().strip_prefix("cd "));
        let in_folder = |path: &str| match folder {
            Some(folder) if !path.starts_with('/') => format!("{}/{path}", folder.trim_matches(['"', '\'', '/', ' '])),
            _ => path.to_owned(),
        };
        applied.paths.extend(paths_in(patch).map(in_folder));
        let is_only_folder = folder.is_some_and(|folder| before.trim().len() == folder.len() + "cd ".len());
        push_line(&mut applied.rest, if is_only_folder { "" } else { before });
        let (beside, after) = behind(call, after);
        push_line(&mut applied.rest, beside);
        rest = after;
    }
    if applied.paths.is_empty() {
        return None;
    }
    push_line(&mut applied.rest, rest);
    Some(applied)
}

/// The text before the next call of the program, the call up to its patch, the patch and the text after it.
fn next_patch(text: &str) -> Option<(&str, &str, &str, &str)> {
    let (head, from) = text.split_at(text.find(BEGIN)?);
    let start = PROGRAMS.iter().filter_map(|program| head.rfind(program)).max()?;
    let (before, call) = head.split_at(start);
    // The patch begins in the call's own line, or in the next one.
    let is_near = call.lines().count() <= 2 && call.matches('\n').count() <= 1;
    let ahead = before.trim_end_matches([' ', '\t']);
    let is_command = ahead.is_empty() || ahead.ends_with(['&', ';', '\n', '|', '"', '\'']);
    if !is_near || !is_command {
        return None;
    }
    let end = from.find(END).map_or(from.len(), |at| at + END.len());
    let (patch, after) = from.split_at(end);
    Some((before, call, patch, after))
}

/// The commands in the line of the call, and those after the patch: behind the word that ends a here-document, or the quote.
fn behind<'a>(call: &'a str, after: &'a str) -> (&'a str, &'a str) {
    let Some((_, word)) = call.split_once("<<") else {
        return ("", after.trim_start_matches(['"', '\'', '\n', ' ', ')']));
    };
    let word = word.trim_start_matches(['-', ' ', '"', '\'']);
    let end = word.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(word.len());
    let (word, beside) = word.split_at(end);
    let after = after.trim_start();
    (beside.trim_matches(|c: char| "\"'&; \n".contains(c)), after.strip_prefix(word).unwrap_or(after))
}

fn push_line(lines: &mut String, line: &str) {
    let line = line.trim_matches(|c: char| c == '&' || c == ';' || c.is_whitespace());
    if !line.is_empty() {
        if !lines.is_empty() {
            lines.push('\n');
        }
        lines.push_str(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATCH: &str = "*** Begin Patch\n*** Add File: a.sh\n+rm -rf x\n+*** Add File: no.txt\n*** Update File: b.rs\n*** Move to: c.rs\n@@\n-x\n+y\n*** Delete File: d e.md\n*** End Patch";

    #[test]
    fn the_headers_name_the_files() {
        assert_eq!(paths_in(PATCH).collect::<Vec<_>>(), ["a.sh", "b.rs", "c.rs", "d e.md"]);
        assert_eq!(paths_in("*** Add File: a").count(), 0, "outside of a patch");
        assert!(is_patch(PATCH) && !is_patch("cat <<E\n*** Begin Patch\nE"));
    }

    #[test]
    fn a_command_line_is_divided_into_patches_and_commands() {
        let all = ["a.sh", "b.rs", "c.rs", "d e.md"].map(str::to_owned);
        for (line, rest) in [
            (format!("apply_patch <<'EOF'\n{PATCH}\nEOF"), ""),
            (format!("apply_patch <<'EOF'\n{PATCH}\nEOF\ncargo test"), "cargo test"),
            (format!("apply_patch <<EOF && cargo fmt\n{PATCH}\nEOF\n"), "cargo fmt"),
            (format!("git stash && apply_patch '{PATCH}' && cargo test"), "git stash\ncargo test"),
            (format!("apply_patch \"{PATCH}\"\n"), ""),
        ] {
            let found = applied_by(&line).unwrap();
            assert_eq!((found.paths.as_slice(), found.rest.as_str()), (&all[..], rest), "{line}");
        }
        let below = applied_by(&format!("cd web/ && apply_patch <<'E'\n{PATCH}\nE")).unwrap();
        assert_eq!((below.paths.first().unwrap().as_str(), below.rest.as_str()), ("web/a.sh", ""));
        for line in [format!("cat > notes <<E\n{PATCH}\nE"), format!("echo apply_patch\nls\ncat <<E\n{PATCH}\nE")] {
            assert_eq!(applied_by(&line), None, "{line}");
        }
    }
}
