//! The words, texts and marks of JavaScript, as far as the arguments of calls need them.

/// A piece of a program; comments and blanks are left out.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ScriptToken {
    /// A name, a keyword or a number.
    Word(String),
    /// A string or a template.
    Text(Vec<TextPart>),
    Mark(char),
}

/// A piece of a text.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum TextPart {
    Literal(String),
    /// The name in `${name}`.
    Variable(String),
    /// Anything else that a template contains.
    Unknown,
}

impl ScriptToken {
    /// True for one of these keys of an object, quoted or not.
    pub(super) fn is_one_of(&self, keys: &[&str]) -> bool {
        match self {
            Self::Word(word) => keys.contains(&word.as_str()),
            Self::Text(parts) => matches!(parts.as_slice(), [TextPart::Literal(text)] if keys.contains(&text.as_str())),
            Self::Mark(_) => false,
        }
    }
}

/// How deep templates within templates are read.
const MAX_DEPTH: usize = 8;

pub(super) fn tokens(code: &str) -> Vec<ScriptToken> {
    tokens_within(code, 0)
}

fn tokens_within(code: &str, depth: usize) -> Vec<ScriptToken> {
    let mut found = Vec::new();
    let mut rest = code;
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..).unwrap_or_default();
        rest = match c {
            '/' if after.starts_with('/') => rest.find('\n').and_then(|end| rest.get(end..)).unwrap_or_default(),
            '/' if after.starts_with('*') => rest.split_once("*/").map_or("", |(_, after)| after),
            '"' | '\'' => {
                let (text, after) = quoted(after, c, false);
                found.push(text.map_or(ScriptToken::Text(vec![TextPart::Unknown]), |text| {
                    ScriptToken::Text(vec![TextPart::Literal(text)])
                }));
                after
            }
            '`' => {
                let is_raw = matches!(found.last(), Some(ScriptToken::Word(word)) if word == "raw");
                template(after, is_raw, depth, &mut found)
            }
            _ if is_of_word(c) => {
                let (word, after) = rest.split_at(rest.find(|c| !is_of_word(c)).unwrap_or(rest.len()));
                found.push(ScriptToken::Word(word.to_owned()));
                after
            }
            _ => {
                if !c.is_whitespace() {
                    found.push(ScriptToken::Mark(c));
                }
                after
            }
        };
    }
    found
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// The text up to a quote, and what follows it; no text if the quote is missing.
fn quoted(text: &str, quote: char, is_raw: bool) -> (Option<String>, &str) {
    let mut value = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..).unwrap_or_default();
        if c == quote {
            return (Some(value), after);
        }
        if c == '\\' {
            let (escaped, behind) = escape(after);
            if is_raw {
                value.push_str(rest.get(..rest.len() - behind.len()).unwrap_or_default());
            } else {
                value.extend(escaped);
            }
            rest = behind;
        } else {
            value.push(c);
            rest = after;
        }
    }
    (None, "")
}

/// The character of an escape, whose backslash is read; none for the end of a line.
fn escape(text: &str) -> (Option<char>, &str) {
    let Some(c) = text.chars().next() else { return (None, "") };
    let after = text.get(c.len_utf8()..).unwrap_or_default();
    let hex = |n_digits: usize| {
        let code = u32::from_str_radix(after.get(..n_digits)?, 16).ok()?;
        Some((char::from_u32(code), after.get(n_digits..)?))
    };
    let found = match c {
        'n' => Some((Some('\n'), after)),
        't' => Some((Some('\t'), after)),
        'r' => Some((Some('\r'), after)),
        '\n' => Some((None, after)),
        'x' => hex(2),
        'u' => hex(4),
        _ => None,
    };
    found.unwrap_or((Some(c), after))
}

/// Reads a template whose first quote is read; the calls in its `${…}` follow it.
fn template<'t>(text: &'t str, is_raw: bool, depth: usize, found: &mut Vec<ScriptToken>) -> &'t str {
    let (mut parts, mut inner) = (Vec::new(), Vec::new());
    let mut rest = text;
    loop {
        let end = placeholder_or_end(rest);
        let (literal, from) = rest.split_at(end);
        // The end of the piece stands for the quote.
        let quoted = quoted(&format!("{literal}`"), '`', is_raw).0;
        parts.push(quoted.filter(|_| !from.is_empty()).map_or(TextPart::Unknown, TextPart::Literal));
        let Some(expression) = from.strip_prefix("${") else {
            rest = from.strip_prefix('`').unwrap_or_default();
            break;
        };
        let (expression, after) = expression.split_at(closing_brace(expression));
        match expression.trim() {
            name if !name.is_empty() && name.chars().all(is_of_word) => parts.push(TextPart::Variable(name.to_owned())),
            other => {
                parts.push(TextPart::Unknown);
                if depth < MAX_DEPTH {
                    inner.extend(tokens_within(other, depth + 1));
                }
            }
        }
        rest = after.strip_prefix('}').unwrap_or_default();
    }
    found.push(ScriptToken::Text(parts));
    found.append(&mut inner);
    rest
}

/// The position of the next `${` or of the closing quote.
fn placeholder_or_end(text: &str) -> usize {
    let mut was_backslash = false;
    for (at, c) in text.char_indices() {
        let is_placeholder = c == '$' && text.get(at + 1..).is_some_and(|after| after.starts_with('{'));
        if !was_backslash && (c == '`' || is_placeholder) {
            return at;
        }
        was_backslash = c == '\\' && !was_backslash;
    }
    text.len()
}

/// The position of the brace that closes a `${`, whose own is read.
fn closing_brace(text: &str) -> usize {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => return at,
            '}' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}
