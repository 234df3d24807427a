//! The marks that git leaves in a file at a conflict: lines of one of `<`, `|`, `=` and `>`, followed by a blank or the end of the line. All
//! marks of a file have the same length, except those within a common ancestor that is a conflict itself, which are longer.

/// Whose a line is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Both,
    Ours,
    Ancestor,
    Theirs,
}

/// Whose the lines after a mark are, and its length; none for another line.
fn mark(line: &[u8]) -> Option<(Side, usize)> {
    let first = *line.first()?;
    let side = match first {
        b'<' => Side::Ours,
        b'|' => Side::Ancestor,
        b'=' => Side::Theirs,
        b'>' => Side::Both,
        _ => return None,
    };
    let length = line.iter().take_while(|byte| **byte == first).count();
    line.get(length).is_none_or(u8::is_ascii_whitespace).then_some((side, length))
}

/// True if a file may have the marks of a conflict.
pub(super) fn has_marks(bytes: &[u8]) -> bool {
    bytes.split(|byte| *byte == b'\n').any(|line| matches!(mark(line), Some((Side::Ours, _))))
}

/// A text that was cut at the marks of its conflicts. The lines of a common ancestor are in no part.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Cut {
    pub(super) ours: String,
    pub(super) theirs: String,
    /// The lines of both versions.
    pub(super) all: String,
    /// True if the marks have the order of conflicts: then ours and theirs are what each branch had.
    pub(super) is_whole: bool,
}

pub(super) fn cut(text: &str) -> Cut {
    let mut cut = Cut { is_whole: true, ..Cut::default() };
    let (mut side, mut own_length) = (Side::Both, None);
    for line in text.lines() {
        match mark(line.as_bytes()) {
            None if side == Side::Ancestor => {}
            None => {
                cut.all.extend([line, "\n"]);
                if side != Side::Theirs {
                    cut.ours.extend([line, "\n"]);
                }
                if side != Side::Ours {
                    cut.theirs.extend([line, "\n"]);
                }
            }
            Some((_, length)) if length != *own_length.get_or_insert(length) => cut.is_whole &= side == Side::Ancestor,
            Some((next, _)) => {
                cut.is_whole &= matches!(
                    (side, next),
                    (Side::Both, Side::Ours)
                        | (Side::Ours, Side::Ancestor)
                        | (Side::Ours | Side::Ancestor, Side::Theirs)
                        | (Side::Theirs, Side::Both)
                );
                side = next;
            }
        }
    }
    cut.is_whole &= side == Side::Both;
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, [ours, theirs, all]: [&str; 3], is_whole: bool) {
        for text in [text.to_owned(), text.replace('\n', "\r\n")] {
            let parts = [ours, theirs, all].map(|part| part.split(' ').flat_map(|line| [line, "\n"]).collect());
            let [ours, theirs, all] = parts;
            assert_eq!(cut(&text), Cut { ours, theirs, all, is_whole }, "{text}");
            assert!(has_marks(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn a_conflict_is_cut_into_ours_and_theirs_without_the_ancestor() {
        check("1\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n2\n", ["1 a 2", "1 b 2", "1 a b 2"], true);
        check("1\n<<<<<<<\na\n||||||| base\nc\n=======\nb\n>>>>>>> x y\n", ["1 a", "1 b", "1 a b"], true);
        let nested = "<<<<<<<<< a\nx\n||||||||| b\ny\n=========\nz\n>>>>>>>>> c\n";
        check(
            &format!("<<< o\n1\n||| m\n{}===\n2\n>>> t\n", nested.replace("<<<<<<<<<", "<<<<<")),
            ["1", "2", "1 2"],
            true,
        );
    }

    #[test]
    fn a_line_is_a_mark_if_a_blank_or_its_end_follows() {
        let text = "<<<<<<< a\n=======x\n>>>>>>>\"y\n=======\n|||||||z\n>>>>>>> b\n";
        check(text, ["=======x >>>>>>>\"y", "|||||||z", "=======x >>>>>>>\"y |||||||z"], true);
        assert!(!has_marks(b"a <<<<<<< b\n<<<<<<<\"c\n") && has_marks(b"<<<<<<<"));
    }

    #[test]
    fn marks_in_another_order_are_not_those_of_a_conflict() {
        check("<<<<<<< a\n1\n=======\n2\n", ["1", "2", "1 2"], false);
        check("<<<<<<< a\n1\n>>>>>>> b\n2\n", ["1 2", "2", "1 2"], false);
        check("0\n<<<<<<< a\n1\n=======\n2\n=======\n3\n>>>>>>> d\n", ["0 1", "0 2 3", "0 1 2 3"], false);
        check("0\n<<<<<<< a\n<<<<<<< b\n1\n=======\n2\n>>>>>>> d\n", ["0 1", "0 2", "0 1 2"], false);
        check("0\n<<<<<<< a\n1\n=========\n=======\n2\n>>>>>>> d\n", ["0 1", "0 2", "0 1 2"], false);
    }
}
