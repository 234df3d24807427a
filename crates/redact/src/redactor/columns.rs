//! Columns of tables whose head says that their cells are secrets: rows of CSV, of Markdown, of a database's shell, and
//! of its dumps.

use std::ops::Range;

/// Bytes of a head and of a row that are read; a longer line is not a table.
const MAX_LINE: usize = 1_024;
/// The number of rows below a head that are read.
const MAX_ROWS: usize = 64;
/// The greatest length of a name in a head, in bytes.
const MAX_NAME: usize = 40;
/// What separates the cells of a row.
const SEPARATORS: [&str; 5] = ["|", "\t", ",", ";", "  "];

/// The cells below the name that ends with a keyword, in order; empty if the keyword is not in the head of a table.
pub(super) fn cells_below(text: &str, keyword: &Range<usize>) -> Vec<Range<usize>> {
    let Some(next) = text.as_bytes().get(keyword.end) else { return Vec::new() };
    if !b"|\t,; \"`)\n\r".contains(next) {
        return Vec::new();
    }
    let Some(line) = line_at(text, keyword.start) else { return Vec::new() };
    let head = head_of_statement(text, &line, keyword).unwrap_or(line.clone());
    for separator in SEPARATORS {
        let names = cells(text, &head, separator);
        let Some(column) = names.iter().position(|name| name.end == keyword.end && name.start <= keyword.start) else {
            continue;
        };
        let is_head = names.len() >= 2 && names.iter().all(|name| text.get(name.clone()).is_some_and(is_name));
        if is_head && !follows_row(text, &line, separator, names.len()) {
            // The rows of a statement for a bulk load are separated by tabs.
            let separator = if head == line { separator } else { "\t" };
            let keyword = text.get(keyword.clone()).unwrap_or_default().to_ascii_lowercase();
            // A cell that repeats the keyword is a name, as `mysql_native_password`.
            let is_value = |cell: &Range<usize>| {
                text.get(cell.clone()).is_some_and(|cell| !cell.to_ascii_lowercase().contains(&keyword))
            };
            let cells = rows_below(text, line.end, separator, names.len(), column);
            return cells.into_iter().filter(is_value).collect();
        }
    }
    Vec::new()
}

/// True if a row with as many cells is right above a line, which is then not a head.
fn follows_row(text: &str, line: &Range<usize>, separator: &str, n_cells: usize) -> bool {
    let above = line.start.checked_sub(1).and_then(|end| line_at(text, end));
    above.is_some_and(|above| {
        !text.get(above.clone()).is_some_and(is_rule) && cells(text, &above, separator).len() == n_cells
    })
}

/// The list of columns in `COPY table (a, b) FROM stdin;`.
fn head_of_statement(text: &str, line: &Range<usize>, keyword: &Range<usize>) -> Option<Range<usize>> {
    let statement = text.get(line.clone())?;
    let open = line.start + statement.find('(')?;
    let close = line.start + statement.find(')')?;
    let is_copy = statement.starts_with("COPY ") && statement.contains("FROM stdin");
    (is_copy && open < keyword.start && keyword.end <= close).then_some(open + 1..close)
}

/// The cells of one column in the rows below a place that are one word, up to the first line with another number of cells.
fn rows_below(text: &str, end_of_head: usize, separator: &str, n_cells: usize, column: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = end_of_head + 1;
    for _ in 0..MAX_ROWS {
        let Some(line) = line_at(text, at) else { break };
        at = line.end + 1;
        if text.get(line.clone()).is_some_and(is_rule) {
            continue;
        }
        let cells = cells(text, &line, separator);
        if cells.len() != n_cells {
            break;
        }
        let is_word = |cell: &Range<usize>| !text.get(cell.clone()).is_some_and(|cell| cell.contains(' '));
        found.extend(cells.into_iter().nth(column).filter(is_word));
    }
    found
}

/// True for a line between a head and its rows, as `---|---` and `+----+----+`.
fn is_rule(line: &str) -> bool {
    !line.is_empty() && line.bytes().all(|b| b"-+|=: \t\r".contains(&b))
}

/// The place of the line that contains a place; `None` for an empty or a long one, and behind the text.
fn line_at(text: &str, at: usize) -> Option<Range<usize>> {
    let lowest = text.floor_char_boundary(at.saturating_sub(MAX_LINE));
    let highest = text.floor_char_boundary((at + MAX_LINE).min(text.len()));
    let (before, behind) = (text.get(lowest..at)?, text.get(at..highest)?);
    let start = before.rfind('\n').map_or(lowest, |line_break| lowest + line_break + 1);
    let end = behind.find('\n').map_or(highest, |line_break| at + line_break);
    let is_cut = (start == lowest && lowest > 0) || (end == highest && highest < text.len());
    (start < end && !is_cut).then_some(start..end)
}

/// The cells of a line without blanks and quotes around them. A bar at the start or the end of a line is its border.
fn cells(text: &str, line: &Range<usize>, separator: &str) -> Vec<Range<usize>> {
    let whole = text.get(line.clone()).unwrap_or_default();
    let trimmed = whole.trim_end();
    let border = |c: char| (separator == "|" && c == '|') || (separator == "  " && c == ' ');
    let inner = trimmed.trim_end_matches(border);
    let mut at = line.start + inner.len() - inner.trim_start_matches(border).len();
    let inner = inner.trim_start_matches(border);
    let mut found = Vec::new();
    for cell in inner.split(separator) {
        let bare = cell.trim_matches([' ', '"', '\'', '`', '*']);
        let lead = cell.len() - cell.trim_start_matches([' ', '"', '\'', '`', '*']).len();
        // Columns that are aligned by blanks have no empty cells.
        if separator != "  " || !bare.is_empty() {
            found.push(at + lead..at + lead + bare.len());
        }
        at += cell.len() + separator.len();
    }
    found
}

/// True for a name of a column: letters, digits and joints.
fn is_name(cell: &str) -> bool {
    let is_of_name = |c: char| c.is_alphanumeric() || "_-. #".contains(c);
    (1..=MAX_NAME).contains(&cell.len())
        && !cell.starts_with('-')
        && cell.chars().all(is_of_name)
        && cell.chars().any(char::is_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, keyword: &str, expected: &[&str]) {
        let start = text.find(keyword).unwrap_or_default();
        let found = cells_below(text, &(start..start + keyword.len()));
        let found: Vec<&str> = found.into_iter().filter_map(|at| text.get(at)).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn cells_are_below_their_name_in_tables_of_many_notations() {
        for (text, expected) in [
            ("door,device_token,n\nwest,my_token,7\nnorth,abc,1\nsouth,\"def\",2\n\nx,y,z", &["abc", "def"][..]),
            ("| door | token |\n|:---|---|\n| north | `abc` |\ntext", &["abc"]),
            ("+---+-------+\n| n | token |\n+---+-------+\n| 1 | abc   |\n+---+-------+", &["abc"]),
            (" n | token \n---+-------\n 1 | abc\n(1 row)", &["abc"]),
            ("n\ttoken\n1\tabc", &["abc"]),
            ("NAME    token\nnorth   abc", &["abc"]),
            ("COPY doors (n, token) FROM stdin;\n1\tabc\n\\.", &["abc"]),
        ] {
            check(text, "token", expected);
        }
    }

    #[test]
    fn a_keyword_outside_of_a_head_has_no_cells() {
        for text in [
            "token\nabc",
            "token, please\nabc, please",
            "the token, 4 (of 9)\nabc, 5",
            "token=abc,n\nabc,1",
            "token_count,n\n4,5",
            "n,token",
            "n,m\n4,token\n5,abc",
            "  -t token  read a file\n  -f token  abc",
            "",
        ] {
            let expected: &[&str] = if text.starts_with("token, please") { &["abc"] } else { &[] };
            check(text, "token", expected);
        }
    }
}
