//! The marks that git leaves in a file at a conflict.
//!
//! A mark is a line that begins with a run of one of `<`, `|`, `=` and `>`, followed by a blank or the end of the line. All marks of a file
//! have the same length: 7, or that of git's attribute `conflict-marker-size`. The common ancestor, which the styles `diff3` and `zdiff3`
//! show, may be the result of a merge with conflicts itself, where two branches were merged both ways before: its marks are longer. No line
//! of the files of a playbook begins with one of these characters, so the first mark of a file gives the length.

/// The kinds of marks, in the order in which a conflict has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Ours,
    Ancestor,
    Theirs,
    End,
}

/// The kind and the length of a mark; none for another line.
fn mark_of(line: &str) -> Option<(Kind, usize)> {
    let first = line.chars().next()?;
    let kind = match first {
        '<' => Kind::Ours,
        '|' => Kind::Ancestor,
        '=' => Kind::Theirs,
        '>' => Kind::End,
        _ => return None,
    };
    let rest = line.trim_start_matches(first);
    (rest.is_empty() || rest.starts_with(char::is_whitespace)).then_some((kind, line.len() - rest.len()))
}

/// Some lines of a file with the marks of a conflict.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Hunk<'t> {
    /// A line of both versions.
    Both(&'t str),
    /// The lines of each version, and of their common ancestor if the conflict shows it.
    Either { ours: Vec<&'t str>, ancestor: Vec<&'t str>, theirs: Vec<&'t str> },
}

/// A file with the marks of a conflict.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Conflict<'t> {
    pub(super) hunks: Vec<Hunk<'t>>,
    /// True if the ancestor is one state, and not the conflict of two.
    pub(super) is_of_one_ancestor: bool,
}

/// Where a line is.
#[derive(Clone, Copy)]
enum Side {
    Both,
    Ours,
    /// In the ancestor, within so many conflicts that were committed.
    Ancestor(usize),
    Theirs,
}

/// Splits a file at the marks of a conflict; none if it has no marks, or if their order is not that of a conflict.
pub(super) fn split(text: &str) -> Option<Conflict<'_>> {
    let mark_length = text.lines().find_map(|line| mark_of(line).map(|(_, size)| size))?;
    let mut conflict = Conflict { hunks: Vec::new(), is_of_one_ancestor: true };
    let (mut side, [mut ours, mut ancestor, mut theirs]) = (Side::Both, [const { Vec::new() }; 3]);
    for line in text.lines() {
        let mark = mark_of(line);
        let own = mark.filter(|(_, length)| *length == mark_length).map(|(kind, _)| kind);
        conflict.is_of_one_ancestor &= mark.is_none() || own.is_some();
        side = match (side, own) {
            (Side::Both, Some(Kind::Ours)) => Side::Ours,
            (Side::Ours, Some(Kind::Ancestor)) => Side::Ancestor(0),
            (Side::Ours | Side::Ancestor(0), Some(Kind::Theirs)) => Side::Theirs,
            (Side::Ancestor(depth), Some(Kind::Ours)) => Side::Ancestor(depth.saturating_add(1)),
            (Side::Ancestor(depth), Some(Kind::End)) => Side::Ancestor(depth.checked_sub(1)?),
            (Side::Theirs, Some(Kind::End)) => {
                let [ours, ancestor, theirs] = [&mut ours, &mut ancestor, &mut theirs].map(std::mem::take);
                conflict.hunks.push(Hunk::Either { ours, ancestor, theirs });
                Side::Both
            }
            (Side::Ancestor(_), _) => {
                ancestor.extend(mark.is_none().then_some(line));
                side
            }
            (_, _) if mark.is_some() => return None,
            (Side::Both, _) => {
                conflict.hunks.push(Hunk::Both(line));
                side
            }
            (Side::Ours, _) => {
                ours.push(line);
                side
            }
            (Side::Theirs, _) => {
                theirs.push(line);
                side
            }
        };
    }
    let is_complete =
        matches!(side, Side::Both) && conflict.hunks.iter().any(|hunk| matches!(hunk, Hunk::Either { .. }));
    is_complete.then_some(conflict)
}

/// The lines of a file without marks and without what is in an ancestor, also where the marks are not those of a whole conflict.
pub(in crate::store) fn without_ancestors(text: &str) -> impl Iterator<Item = &str> {
    let mut ancestor: Option<usize> = None;
    text.lines().filter(move |line| {
        let Some((kind, size)) = mark_of(line) else { return ancestor.is_none() };
        ancestor = match (ancestor, kind) {
            (None, Kind::Ancestor) => Some(size),
            (Some(own), Kind::Theirs | Kind::End) if own == size => None,
            _ => ancestor,
        };
        false
    })
}

/// True if a file may have the marks of a conflict.
pub(in crate::store) fn has_marks(bytes: &[u8]) -> bool {
    let is_at = |place: usize| {
        let line = bytes.get(place..).unwrap_or_default();
        let length = line.iter().take_while(|byte| **byte == b'<').count();
        length > 0 && line.get(length).is_none_or(u8::is_ascii_whitespace)
    };
    let starts = bytes.windows(2).enumerate().filter(|(_, pair)| *pair == b"\n<").map(|(place, _)| place + 1);
    is_at(0) || starts.into_iter().any(is_at)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of ours, of the ancestor and of theirs.
    fn sides(text: &str) -> Option<([String; 3], bool)> {
        let conflict = split(text)?;
        let mut sides: [Vec<&str>; 3] = Default::default();
        for hunk in &conflict.hunks {
            match hunk {
                Hunk::Both(line) => sides.iter_mut().for_each(|side| side.push(line)),
                Hunk::Either { ours, ancestor, theirs } => {
                    for (side, lines) in sides.iter_mut().zip([ours, ancestor, theirs]) {
                        side.extend(lines);
                    }
                }
            }
        }
        Some((sides.map(|lines| lines.join(" ")), conflict.is_of_one_ancestor))
    }

    fn check(text: &str, expected: [&str; 3], is_of_one_ancestor: bool) {
        assert_eq!(sides(text), Some((expected.map(str::to_owned), is_of_one_ancestor)), "{text}");
        let crlf = text.replace('\n', "\r\n");
        assert_eq!(sides(&crlf), Some((expected.map(str::to_owned), is_of_one_ancestor)), "{crlf}");
        assert!(has_marks(text.as_bytes()));
    }

    #[test]
    fn a_conflict_has_ours_theirs_and_perhaps_an_ancestor() {
        check("1\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n2\n", ["1 a 2", "1 2", "1 b 2"], true);
        check("1\n<<<<<<<\na\n||||||| base\nc\n=======\nb\n>>>>>>> x y\n", ["1 a", "1 c", "1 b"], true);
        check("<<< a\na\n=== \n>>>\n<<<\n===\nb\n>>>\n", ["a", "", "b"], true);
    }

    #[test]
    fn a_line_is_a_mark_if_a_blank_or_its_end_follows() {
        check(
            "<<<<<<< a\n=======x\n>>>>>>>\"y\n=======\n|||||||z\n>>>>>>> b\n",
            ["=======x >>>>>>>\"y", "", "|||||||z"],
            true,
        );
        assert!(!has_marks(b"a <<<<<<< b\n<<<<<<<\"c\n") && has_marks(b"<<<<<<<"));
    }

    #[test]
    fn an_ancestor_may_be_a_conflict() {
        let longer = "<<<<<<<<< a\nx\n||||||||| b\ny\n=========\nz\n>>>>>>>>> c\n";
        let of = |ancestor: &str| format!("<<<<<<< o\n1\n||||||| m\n{ancestor}=======\n2\n>>>>>>> t\n3\n");
        check(&of(longer), ["1 3", "x y z 3", "2 3"], false);
        // Its marks may be in several conflicts of the file.
        check(&of("<<<<<<<<< a\nx\n"), ["1 3", "x 3", "2 3"], false);
        check(&of("x\n=========\nz\n>>>>>>>>> c\n"), ["1 3", "x z 3", "2 3"], false);
        // A conflict that somebody committed has marks of the same length.
        check(&of("<<<<<<< a\nx\n=======\nz\n>>>>>>> c\n"), ["1 3", "x z 3", "2 3"], true);
    }

    #[test]
    fn marks_in_another_order_are_not_understood() {
        for text in [
            "1\n2\n",
            "<<<<<<< a\n1\n=======\n2\n",
            "<<<<<<< a\n1\n>>>>>>> b\n",
            "<<<<<<< a\n<<<<<<< b\n1\n=======\n2\n>>>>>>> c\n=======\n3\n>>>>>>> d\n",
            "<<<<<<< a\n1\n=======\n2\n=======\n3\n>>>>>>> d\n",
            "<<<<<<< a\n1\n=======\n2\n>>>>>>> d\n>>>>>>> e\n",
            "<<<<<<< a\n1\n=========\n=======\n2\n>>>>>>> d\n",
        ] {
            assert_eq!(split(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_in_an_ancestor_is_left_out_of_any_file() {
        let check =
            |text: &str, expected: &str| assert_eq!(without_ancestors(text).collect::<String>(), expected, "{text}");
        check(
            "1\n<<<<<<< a\n2\n||||||| b\n3\n<<<<<<<<< c\n4\n=========\n5\n>>>>>>>>> d\n=======\n6\n>>>>>>> e\n7\n",
            "1267",
        );
        check("1\n||||||| b\n3\n", "1");
        check("1\n||||||| b\n3\n>>>>>>> e\n4\n", "14");
        check("1\n=======\n3\n>>>>>>> e\n4\n", "134");
    }
}
