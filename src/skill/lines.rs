//! A line-by-line parser for front matter that is not valid YAML: `key: value`, nested by indentation. It accepts every text.

use super::front_matter::Node;

/// The maximum nesting of maps; anything deeper is text.
const MAX_DEPTH: usize = 8;

struct Line<'a> {
    indent: usize,
    /// Without white space around it.
    text: &'a str,
}

impl<'a> Line<'a> {
    /// A tab counts as one level of nesting.
    fn new(line: &'a str) -> Self {
        let text = line.trim();
        let lead = line.len() - line.trim_start().len();
        let indent = line.chars().take(lead).map(|c| if c == '\t' { 2 } else { 1 }).sum();
        Self { indent, text }
    }

    fn says_nothing(&self) -> bool {
        self.text.is_empty() || self.text.starts_with('#')
    }

    /// The key and the rest of the line. A colon in the middle of a sentence does not end a key.
    fn entry(&self) -> Option<(&'a str, &'a str)> {
        let (key, value) = self.text.split_once(':')?;
        let is_key = |c: char| c.is_alphanumeric() || "_-.".contains(c);
        let bare = key.trim_matches(['"', '\'']);
        let ends = value.is_empty() || value.starts_with([' ', '\t']);
        (ends && !bare.is_empty() && bare.chars().all(is_key)).then(|| (bare, value.trim()))
    }

    fn item(&self) -> Option<&'a str> {
        if self.text == "-" { Some("") } else { self.text.strip_prefix("- ").map(str::trim) }
    }
}

/// Parses the lines as a map.
pub(super) fn parse(text: &str) -> Node {
    let lines: Vec<Line<'_>> = text.lines().map(Line::new).collect();
    let mut reader = Reader { lines: &lines, at: 0 };
    Node::Map(reader.map(0, 0))
}

struct Reader<'a> {
    lines: &'a [Line<'a>],
    at: usize,
}

impl<'a> Reader<'a> {
    /// The next line with content, if it is indented at least this much.
    fn peek(&mut self, indent: usize) -> Option<&'a Line<'a>> {
        while self.lines.get(self.at).is_some_and(Line::says_nothing) {
            self.at += 1;
        }
        self.lines.get(self.at).filter(|line| line.indent >= indent)
    }

    fn map(&mut self, indent: usize, depth: usize) -> Vec<(String, Node)> {
        let mut entries: Vec<(String, Node)> = Vec::new();
        while let Some(line) = self.peek(indent) {
            self.at += 1;
            match (line.entry(), entries.last_mut()) {
                (Some((key, value)), _) => {
                    let node = self.value(value, line.indent, depth);
                    entries.push((key.to_owned(), node));
                }
                // The continuation, in the first column, of a text.
                (None, Some((_, Node::Text { text, .. }))) => join(text, line.text),
                (None, _) => {}
            }
        }
        entries
    }

    fn value(&mut self, value: &str, indent: usize, depth: usize) -> Node {
        if let Some(style @ ('|' | '>')) = value.chars().next()
            && value.chars().skip(1).all(|c| "+-0123456789".contains(c))
        {
            return Node::Text { text: self.block(style, indent), is_plain: false };
        }
        if value.is_empty() {
            if self.peek(indent).is_some_and(|line| line.item().is_some()) {
                return Node::List(self.list(indent));
            }
            if let Some(line) = self.peek(indent + 1).filter(|line| line.entry().is_some() && depth < MAX_DEPTH) {
                return Node::Map(self.map(line.indent, depth + 1));
            }
        }
        let mut text = value.to_owned();
        while let Some(line) = self.peek(indent + 1) {
            join(&mut text, line.text);
            self.at += 1;
        }
        scalar(&text)
    }

    /// The items, each with the lines indented below it.
    fn list(&mut self, indent: usize) -> Vec<Node> {
        let mut items = Vec::new();
        while let Some(line) = self.peek(indent) {
            let Some(item) = line.item() else { break };
            self.at += 1;
            let mut text = item.to_owned();
            while let Some(further) = self.peek(line.indent + 1).filter(|line| line.item().is_none()) {
                join(&mut text, further.text);
                self.at += 1;
            }
            items.push(scalar(&text));
        }
        items
    }

    /// A literal (`|`) or folded (`>`) text: the lines indented below its key.
    fn block(&mut self, style: char, indent: usize) -> String {
        let mut text = String::new();
        while let Some(line) = self.lines.get(self.at).filter(|line| line.text.is_empty() || line.indent > indent) {
            if style == '|' && !text.is_empty() {
                text.push('\n');
                text.push_str(line.text);
            } else {
                join(&mut text, line.text);
            }
            self.at += 1;
        }
        text.trim_end().to_owned()
    }
}

fn join(text: &mut String, more: &str) {
    if !text.is_empty() && !more.is_empty() {
        text.push(' ');
    }
    text.push_str(more);
}

/// A text without the quotes around it, or a list in brackets. A single quote is kept.
fn scalar(text: &str) -> Node {
    if let Some(items) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let items = items.split(',').map(str::trim).filter(|item| !item.is_empty());
        return Node::List(items.map(unquote).collect());
    }
    unquote(text)
}

fn unquote(text: &str) -> Node {
    let within = |mark: char| text.strip_prefix(mark).and_then(|rest| rest.strip_suffix(mark));
    if let Some(inner) = within('\'') {
        Node::Text { text: inner.replace("''", "'"), is_plain: false }
    } else if let Some(inner) = within('"') {
        Node::Text { text: unescape(inner), is_plain: false }
    } else {
        Node::plain(text)
    }
}

fn unescape(inner: &str) -> String {
    let mut text = String::with_capacity(inner.len());
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            text.push(c);
            continue;
        }
        match chars.next() {
            Some('n') => text.push('\n'),
            Some('t') => text.push('\t'),
            Some(escaped @ ('"' | '\\' | '/')) => text.push(escaped),
            other => {
                text.push('\\');
                text.extend(other);
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(parse(text).into_text(), expected, "{text:?}");
    }

    #[test]
    fn lines_become_a_map() {
        check("name: a\ndescription: Use when: x: y", r#"{"name":"a","description":"Use when: x: y"}"#);
        check(
            "a: 'it''s'\nb: \"x \\\"y\\\" z\"\nc: \"lone\nd: '",
            r#"{"a":"it's","b":"x \"y\" z","c":"\"lone","d":"'"}"#,
        );
        check("a: one\n  two\nthree\nb: c", r#"{"a":"one two three","b":"c"}"#);
        check("a: |\n  one\n\n  two\nb: >-\n  one\n  two\n", r#"{"a":"one\n\ntwo","b":"one two"}"#);
        check(
            "odek:\n\ttrigger:\n\t\ttopic: a: b\n\tauto_load: true\nx: y",
            r#"{"odek":{"trigger":{"topic":"a: b"},"auto_load":true},"x":"y"}"#,
        );
        check("a:\n- b: c\n- d\n  e\nf: [g, 'h', \"i\"]", r#"{"a":["b: c","d e"],"f":["g","h","i"]}"#);
        check("not a key\n# comment\nhttp://x\na : b\nc:d", "{}");
    }

    proptest! {
        #[test]
        fn any_text_is_accepted(text in "([a-c \\t:'\"|>\\-\\[\\]#\\\\]|\\n){0,120}") {
            parse(&text).into_text();
        }
    }
}
