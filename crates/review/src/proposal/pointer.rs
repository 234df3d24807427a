//! The pointer to a new file in the table of contents of the notes (docs/spec/skills.md, 4.5).

use std::path::Path;

use adage_redact::path_line;

/// The table of contents of the notes.
pub(crate) const INDEX: &str = "MEMORY.md";

/// The table of contents with a pointer added for each of these new files that it does not name; none if it names all.
pub(crate) fn with_pointers<'a>(index: Option<&str>, files: impl IntoIterator<Item = &'a Path>) -> Option<String> {
    let mut text = index.unwrap_or_default().to_owned();
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let mut is_changed = false;
    for file in files {
        if names(&text, file) {
            continue;
        }
        if text.is_empty() {
            text = format!("# Project Memory{newline}{newline}");
        } else if !text.ends_with('\n') {
            text.push_str(newline);
        }
        let topic = file.file_stem().unwrap_or_default().to_string_lossy().replace(['-', '_'], " ");
        text += &["- See ", &path_line(file), " for ", &topic, " notes.", newline].concat();
        is_changed = true;
    }
    is_changed.then_some(text)
}

/// True if the text names this file: by its whole path, or by its name without another folder before it.
fn names(text: &str, file: &Path) -> bool {
    let Some(name) = file.file_name().and_then(|name| name.to_str()) else { return false };
    let folder = file.parent().map(|folder| format!("{}/", path_line(folder))).unwrap_or_default();
    text.match_indices(name).any(|(start, _)| {
        let (before, after) =
            (text.get(..start).unwrap_or_default(), text.get(start + name.len()..).unwrap_or_default());
        let before = [folder.as_str(), "./"].iter().find_map(|folder| before.strip_suffix(folder)).unwrap_or(before);
        // A dot ends a sentence, unless a name follows it.
        let after = after.trim_start_matches('.');
        !before.ends_with(is_of_name) && !after.starts_with(is_of_name)
    })
}

/// True for a character that continues a path.
fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '\\' | '~' | '%' | '+' | '@')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(index: Option<&str>, files: &[&str], expected: Option<&str>) {
        let found = with_pointers(index, files.iter().map(|file| Path::new(*file)));
        assert_eq!(found.as_deref(), expected, "{index:?}");
    }

    #[test]
    fn a_new_file_gets_a_pointer_once() {
        let pointer = "- See /m/api-rate_limits.md for api rate limits notes.\n";
        let file = "/m/api-rate_limits.md";
        check(None, &[file], Some(&format!("# Project Memory\n\n{pointer}")));
        check(Some("# Mine\n\n- old"), &[file], Some(&format!("# Mine\n\n- old\n{pointer}")));
        check(Some("a\r\nb\r\n"), &["/m/x.md"], Some("a\r\nb\r\n- See /m/x.md for x notes.\r\n"));
        check(Some(pointer), &[file], None);
        check(Some("# M\n"), &[], None);
        let two = with_pointers(Some("# M\n"), [Path::new("/m/a.md"), Path::new("/m/b.md")]).unwrap();
        assert_eq!(two, "# M\n- See /m/a.md for a notes.\n- See /m/b.md for b notes.\n");
    }

    #[test]
    fn a_file_is_named_by_its_whole_name() {
        for index in
            ["see a.md", "[a](a.md)", "`./a.md`.", "/m/a.md", "more in a.md. And", "a.md: x", "\"a.md\"", "a.md..."]
        {
            check(Some(index), &["/m/a.md"], None);
        }
        for index in
            ["data.md", "see a.md.bak", "a.mdx", "other/a.md", "/n/a.md", "x/m/a.md", "a-a.md", "é/a.md", "a.md/b"]
        {
            assert!(with_pointers(Some(index), [Path::new("/m/a.md")]).is_some(), "{index}");
        }
    }
}
