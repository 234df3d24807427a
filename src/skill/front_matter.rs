//! The entries between the two `---` lines as texts: `1.10` stays `1.10`, `no` stays `no`.

use granit_parser::{Event, Options, Parser, ScalarStyle};

/// The maximum nesting of maps and lists.
const MAX_DEPTH: usize = 32;
/// The maximum number of scalars, lists and maps of a file.
const MAX_NODES: usize = 20_000;

/// A value as written in the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Node {
    Text {
        text: String,
        /// True for an unquoted text, which may be a number, a boolean or null.
        is_plain: bool,
    },
    List(Vec<Node>),
    /// In the order of the file; a key may be repeated.
    Map(Vec<(String, Node)>),
}

impl Node {
    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self::Text { text: text.into(), is_plain: true }
    }

    /// True for `~`, `null`, and a key without a value.
    pub(super) fn is_null(&self) -> bool {
        matches!(self, Self::Text { text, is_plain: true } if matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL"))
    }

    /// The value as one text: lists and maps as compact JSON.
    pub(super) fn into_text(self) -> String {
        match self {
            Self::Text { .. } if self.is_null() => String::new(),
            Self::Text { text, .. } => text,
            node => node.json(),
        }
    }

    /// Numbers keep the digits of the file.
    fn json(&self) -> String {
        match self {
            node if node.is_null() => "null".to_owned(),
            Self::Text { text, is_plain: true } if is_json_literal(text) => text.clone(),
            Self::Text { text, .. } => quoted(text),
            Self::List(items) => format!("[{}]", items.iter().map(Self::json).collect::<Vec<_>>().join(",")),
            Self::Map(entries) => {
                let entries = entries.iter().map(|(key, value)| format!("{}:{}", quoted(key), value.json()));
                format!("{{{}}}", entries.collect::<Vec<_>>().join(","))
            }
        }
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn is_json_literal(text: &str) -> bool {
    serde_json::from_str::<serde_json::Value>(text).is_ok_and(|value| value.is_number() || value.is_boolean())
}

/// A list or map that is still being read.
enum Open {
    List(Vec<Node>),
    Map { entries: Vec<(String, Node)>, key: Option<String> },
}

impl Open {
    fn take(&mut self, node: Node) -> Result<(), String> {
        match (self, node) {
            (Self::List(items), node) => items.push(node),
            (Self::Map { entries, key }, node) => match (key.take(), node) {
                (Some(key), node) => entries.push((key, node)),
                (None, Node::Text { text, .. }) => *key = Some(text),
                (None, _) => return Err("a list or a map cannot be a key".to_owned()),
            },
        }
        Ok(())
    }

    fn close(self) -> Node {
        match self {
            Self::List(items) => Node::List(items),
            Self::Map { entries, .. } => Node::Map(entries),
        }
    }
}

/// Parses YAML. An alias is refused: a few of them can expand to gigabytes, and no front matter needs one.
pub(super) fn parse(text: &str) -> Result<Node, String> {
    let mut options = Options::default();
    options.disallow_directives = true;
    options.flow_nesting_limit = MAX_DEPTH;
    options.block_nesting_limit = MAX_DEPTH;
    let (mut open, mut root, mut n_nodes) = (Vec::<Open>::new(), None, 0);
    for event in Parser::new_from_str_with_options(text, options) {
        let node = match event.map_err(|error| error.to_string())?.0 {
            Event::Scalar(text, style, ..) => {
                Node::Text { text: text.into_owned(), is_plain: style == ScalarStyle::Plain }
            }
            Event::SequenceStart(..) => {
                open.push(Open::List(Vec::new()));
                continue;
            }
            Event::MappingStart(..) => {
                open.push(Open::Map { entries: Vec::new(), key: None });
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(closed) => closed.close(),
                None => return Err("an end without a beginning".to_owned()),
            },
            Event::Alias(_) => return Err("an alias".to_owned()),
            Event::DocumentStart(..) if root.is_some() => return Err("a second document".to_owned()),
            _ => continue,
        };
        n_nodes += 1;
        if n_nodes > MAX_NODES || open.len() > MAX_DEPTH {
            return Err(format!("more than {MAX_NODES} values, or more than {MAX_DEPTH} within each other"));
        }
        match open.last_mut() {
            Some(open) => open.take(node)?,
            None => root = Some(node),
        }
    }
    Ok(root.unwrap_or(Node::Map(Vec::new())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn json(yaml: &str) -> Result<String, String> {
        parse(yaml).map(Node::into_text)
    }

    #[test]
    fn scalars_are_kept_as_written() {
        for (yaml, expected) in [
            ("version: 1.10", r#"{"version":1.10}"#),
            ("a: \"1.10\"\nb: yes\nc: ~\nd:\n", r#"{"a":"1.10","b":"yes","c":null,"d":null}"#),
            ("a: [x, {b: true}]\n# comment\n", r#"{"a":["x",{"b":true}]}"#),
            ("a: >\n  one\n  two\n", r#"{"a":"one two\n"}"#),
            ("a: 1\na: 2\n", r#"{"a":1,"a":2}"#),
            ("", "{}"),
        ] {
            assert_eq!(json(yaml).as_deref(), Ok(expected), "{yaml:?}");
        }
    }

    #[test]
    fn aliases_and_deep_nesting_are_refused() {
        let bomb = "a: &a [x,x,x]\nb: &b [*a,*a,*a]\nc: [*b,*b,*b]\n";
        let nested = format!("a: {}", "[".repeat(200_000));
        let wide = format!("a: [{}]", "x,".repeat(30_000));
        let deep: String = (0..200).fold(String::new(), |deep, depth| deep + &"  ".repeat(depth) + "a:\n");
        for yaml in [bomb, &nested, &wide, &deep, "[a]: b", "a: b\n---\nc: d", "a: b: c", "\ta: b\n x"] {
            assert!(json(yaml).is_err(), "{}", &yaml[..yaml.len().min(60)]);
        }
    }
}
