//! Paths in the tokens of a macro or an attribute, which are not parsed.

use std::iter::Peekable;

use proc_macro2::{Delimiter, TokenStream, TokenTree, token_stream};

/// A path that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) segments: Vec<String>,
    pub(super) line: usize,
}

/// Every path in the tokens: `a::b`, `$crate::a`, each of `a::{b, c::d}`, single identifiers too; groups are looked into.
pub(super) fn paths(tokens: &TokenStream) -> Vec<Named> {
    let mut found = Vec::new();
    let mut rest = tokens.clone().into_iter().peekable();
    while let Some(token) = rest.next() {
        match token {
            TokenTree::Group(group) => found.extend(paths(&group.stream())),
            TokenTree::Ident(ident) => {
                let first = ident.to_string().trim_start_matches("r#").to_owned();
                path_from(vec![first], ident.span().start().line, &mut rest, &mut found);
            }
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
    found
}

/// What follows the segments that were read: more of them, braces, a star, or something else.
fn path_from(
    mut segments: Vec<String>,
    line: usize,
    rest: &mut Peekable<token_stream::IntoIter>,
    found: &mut Vec<Named>,
) {
    while skip_colons(rest) {
        match rest.peek() {
            Some(TokenTree::Ident(ident)) => segments.push(ident.to_string().trim_start_matches("r#").to_owned()),
            Some(TokenTree::Punct(star)) if star.as_char() == '*' => segments.push("*".to_owned()),
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                for inner in paths(&group.stream()) {
                    let is_self = inner.segments == ["self"];
                    let tail = if is_self { Vec::new() } else { inner.segments };
                    found.push(Named { segments: [segments.clone(), tail].concat(), line: inner.line });
                }
            }
            // Such as `Vec::<T>`: what is in the angles is read on its own.
            _ => break,
        }
        rest.next();
    }
    let is_renamed = matches!(rest.peek(), Some(TokenTree::Ident(next)) if next == "as");
    match segments.as_slice() {
        [first] if first == "crate" && is_renamed => segments.push("*".to_owned()),
        // A visibility.
        [first] if first == "crate" => return,
        _ => {}
    }
    found.push(Named { segments, line });
}

/// Consumes `::`, if it is next.
fn skip_colons(rest: &mut Peekable<token_stream::IntoIter>) -> bool {
    let is_colon = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ':');
    let mut ahead = rest.clone();
    let is_double = ahead.next().as_ref().is_some_and(is_colon) && ahead.next().as_ref().is_some_and(is_colon);
    if is_double {
        rest.next();
        rest.next();
    }
    is_double
}

/// Paths in the text literals of an attribute, such as `#[serde(with = "crate::times")]`.
pub(super) fn quoted_paths(tokens: &TokenStream) -> Vec<Named> {
    let mut found = Vec::new();
    for token in tokens.clone() {
        match token {
            TokenTree::Group(group) => found.extend(quoted_paths(&group.stream())),
            TokenTree::Literal(literal) => {
                let text = syn::parse_str::<syn::LitStr>(&literal.to_string());
                let inner = text.ok().and_then(|text| text.value().parse::<TokenStream>().ok());
                let line = literal.span().start().line;
                found.extend(inner.iter().flat_map(paths).map(|named| Named { line, ..named }));
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) => {}
        }
    }
    found
}
