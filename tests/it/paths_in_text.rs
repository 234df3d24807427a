//! A path is text only through `path_line`, `path_text` or `path_text.rs`: it need not be UTF-8, and may have line breaks.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote_of::quoted;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};

/// The sources of the library and the program.
const ROOTS: [&str; 3] = ["src", "crates/cli/src", "crates/transcript/src"];

/// Names that are those of a path in `json!`, whatever else they name.
const ALWAYS: [&str; 4] = ["file", "files", "folder", "path"];

mod quote_of {
    use proc_macro2::{Literal, TokenTree};

    /// The text between the quotes of a string.
    pub(super) fn quoted(token: &TokenTree) -> Option<String> {
        let TokenTree::Literal(literal) = token else { return None };
        let text = Literal::to_string(literal);
        Some(text.strip_prefix('"')?.strip_suffix('"')?.to_owned())
    }
}

#[test]
fn paths_become_text_in_one_way() {
    let files: Vec<(PathBuf, syn::File)> = ROOTS.iter().flat_map(|root| parsed(Path::new(root))).collect();
    let mut names = Names::default();
    for (_, file) in &files {
        names.visit_file(file);
    }
    let names = names.of_paths();
    assert!(["kept_at", "dir", "hidden_by", "kept_in"].iter().all(|name| names.contains(*name)), "{names:?}");
    let faults: Vec<String> = files.iter().flat_map(|(path, file)| faults(path, file, &names)).collect();
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn each_wrong_way_is_found() {
    for (source, n_expected) in [
        ("fn f(p: &Path) { g(p.display()) }", 1),
        ("fn f(p: &Path) { say(&format!(\"{}\", p.display())); }", 1),
        ("#[derive(Serialize)] struct S { p: PathBuf, q: Option<PathBuf>, n: u8 }", 2),
        ("#[derive(Serialize)] enum E { V { p: Vec<PathBuf> }, W(PathBuf) }", 2),
        ("#[derive(Serialize)] struct S { #[serde(serialize_with = \"crate::path_text::shown\")] p: PathBuf }", 0),
        ("#[derive(Serialize)] struct S { #[serde(with = \"crate::path_text::exact\")] p: PathBuf }", 0),
        ("#[derive(Serialize)] struct S { #[serde(skip)] p: PathBuf }", 0),
        ("#[derive(Serialize)] struct S { #[serde(with = \"other\")] p: PathBuf }", 1),
        ("#[derive(Serialize)] #[serde(into = \"(PathBuf, u8)\")] struct S { p: PathBuf }", 1),
        ("#[derive(Serialize)] #[serde(into = \"(String, u8)\")] struct S { p: PathBuf }", 0),
        ("#[derive(Clone)] struct S { p: PathBuf }", 0),
        ("#[derive(Error)] enum E { #[error(\"{p} is gone\")] V { p: PathBuf }, #[error(\"{n}\")] W { n: u8 } }", 1),
        ("#[derive(Error)] enum E { #[error(\"{p:?} is gone\")] V { p: PathBuf } }", 1),
        ("fn f(p: &Path) { json!({ \"a\": p, \"b\": [p, 1], \"c\": path_text(p) }); }", 2),
        ("fn f(s: &S) { json!({ \"a\": s.p() }); } impl S { fn p(&self) -> &Path { &self.p } }", 1),
        ("fn f(o: Option<PathBuf>) { json!(o); }", 1),
        ("#[cfg(test)] mod tests { fn f(p: &Path) { g(p.display()) } }", 0),
        ("#[test] fn f(p: &Path) { g(p.display()) }", 0),
    ] {
        let file = syn::parse_file(source).unwrap();
        let mut names = Names::default();
        names.visit_file(&file);
        let found = faults(Path::new("a.rs"), &file, &names.of_paths());
        assert_eq!(found.len(), n_expected, "{source}: {found:?}");
    }
}

fn parsed(root: &Path) -> Vec<(PathBuf, syn::File)> {
    let files = super::layers::rust_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join(root));
    let files = files.into_iter().filter(|path| {
        // Modules of tests, which their parents declare.
        !path
            .components()
            .any(|part| matches!(part.as_os_str().to_str(), Some("tests" | "tests.rs" | "fuzz" | "testing")))
    });
    files.map(|path| (path.clone(), syn::parse_file(&fs::read_to_string(path).unwrap()).unwrap())).collect()
}

/// By name, what is named so: fields, arguments, variables with a type, and functions by what they return. How many are paths, and how
/// many are not.
#[derive(Default)]
struct Names(BTreeMap<String, (usize, usize)>);

impl<'ast> Visit<'ast> for Names {
    fn visit_field(&mut self, field: &'ast syn::Field) {
        self.add(field.ident.as_ref(), &field.ty);
    }

    fn visit_pat_type(&mut self, argument: &'ast syn::PatType) {
        if let syn::Pat::Ident(name) = argument.pat.as_ref() {
            self.add(Some(&name.ident), &argument.ty);
        }
        visit::visit_pat_type(self, argument);
    }

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        if let syn::ReturnType::Type(_, returned) = &signature.output {
            self.add(Some(&signature.ident), returned);
        }
        visit::visit_signature(self, signature);
    }
}

impl Names {
    fn add(&mut self, name: Option<&syn::Ident>, of: &syn::Type) {
        let Some(name) = name else { return };
        let (n_paths, n_others) = self.0.entry(name.to_string()).or_default();
        *(if is_path(of) { n_paths } else { n_others }) += 1;
    }

    /// The names of paths: some always, and others unless they more often name something else.
    fn of_paths(&self) -> BTreeSet<String> {
        let named = self.0.iter().filter(|(_, (n_paths, n_others))| n_paths > n_others);
        named.map(|(name, _)| name.clone()).chain(ALWAYS.map(str::to_owned)).collect()
    }
}

/// True for a path, a list of paths, or one that may be missing.
fn is_path(of: &syn::Type) -> bool {
    match of {
        syn::Type::Reference(reference) => is_path(&reference.elem),
        syn::Type::Slice(slice) => is_path(&slice.elem),
        syn::Type::Tuple(tuple) => tuple.elems.iter().any(is_path),
        syn::Type::Path(path) => path.path.segments.last().is_some_and(|last| {
            let inner = match &last.arguments {
                syn::PathArguments::AngleBracketed(inner) => {
                    inner.args.iter().any(|one| matches!(one, syn::GenericArgument::Type(inner) if is_path(inner)))
                }
                _ => false,
            };
            let wraps = ["Option", "Vec", "BTreeMap", "BTreeSet", "HashMap", "Box", "Arc", "Cow"];
            last.ident == "Path" && path.path.segments.len() == 1
                || last.ident == "PathBuf"
                || wraps.iter().any(|wrap| last.ident == wrap) && inner
        }),
        _ => false,
    }
}

fn faults(path: &Path, file: &syn::File, names: &BTreeSet<String>) -> Vec<String> {
    // The one way itself.
    if path.ends_with("src/path_text.rs") {
        return Vec::new();
    }
    let mut reader = Reader { names, faults: Vec::new() };
    reader.visit_file(file);
    reader.faults.iter().map(|fault| format!("{}: {fault}", path.display())).collect()
}

struct Reader<'a> {
    names: &'a BTreeSet<String>,
    faults: Vec<String>,
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if !super::layers::is_for_tests(super::layers::item_attributes(item)) {
            visit::visit_item(self, item);
        }
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !super::layers::is_for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        self.check_fields(&item.attrs, &item.fields);
        visit::visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        for variant in &item.variants {
            self.check_fields(&item.attrs, &variant.fields);
            self.check_message(variant);
        }
        visit::visit_item_enum(self, item);
    }

    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if call.method == "display" {
            self.fault(&call.method, "display() instead of path_line");
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        if call.path.segments.last().is_some_and(|last| last.ident == "json") {
            self.check_json(&call.tokens);
        }
        visit::visit_macro(self, call);
    }

    fn visit_token_stream(&mut self, tokens: &'ast TokenStream) {
        for token in flat(tokens) {
            if let TokenTree::Ident(name) = &token
                && name == "display"
            {
                self.fault(name, "display() instead of path_line");
            }
        }
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        if !attribute.path().is_ident("doc") {
            visit::visit_attribute(self, attribute);
        }
    }
}

impl Reader<'_> {
    fn fault(&mut self, at: &proc_macro2::Ident, what: &str) {
        self.faults.push(format!("line {}: {at}: {what}", at.span().start().line));
    }

    /// Fields of a type that serde writes.
    fn check_fields(&mut self, attributes: &[syn::Attribute], fields: &syn::Fields) {
        let is_written = attributes.iter().any(|attribute| {
            attribute.path().is_ident("derive") && idents(attribute).iter().any(|name| name == "Serialize")
        });
        let into = attributes.iter().find_map(|attribute| value_in(attribute, "into"));
        if !is_written {
            return;
        }
        if let Some(into) = into {
            if into.contains("Path") {
                self.faults.push(format!("into = {into:?}: a path that is not UTF-8 is refused"));
            }
            return;
        }
        for field in fields.iter().filter(|field| is_path(&field.ty)) {
            let is_spelled = field.attrs.iter().any(|attribute| {
                let with = value_in(attribute, "serialize_with").or_else(|| value_in(attribute, "with"));
                with.is_some_and(|with| with.starts_with("crate::path_text::"))
                    || idents(attribute).iter().any(|name| name == "skip")
            });
            if !is_spelled {
                let name = field.ident.as_ref().map(ToString::to_string).unwrap_or_default();
                self.faults.push(format!("field {name:?}: a path that is not UTF-8 is refused"));
            }
        }
    }

    /// A path within the text of an error's message.
    fn check_message(&mut self, variant: &syn::Variant) {
        for attribute in variant.attrs.iter().filter(|attribute| attribute.path().is_ident("error")) {
            let syn::Meta::List(list) = &attribute.meta else { continue };
            let text = list.tokens.clone().into_iter().next().and_then(|first| quoted(&first)).unwrap_or_default();
            for name in
                variant.fields.iter().filter(|field| is_path(&field.ty)).filter_map(|field| field.ident.as_ref())
            {
                if text.contains(&format!("{{{name}}}")) || text.contains(&format!("{{{name}:")) {
                    self.fault(name, "in a message instead of path_line");
                }
            }
        }
    }

    /// A path as a value of `json!`: an expression of names, dots and calls that ends with the name of a path.
    fn check_json(&mut self, tokens: &TokenStream) {
        for value in values(tokens) {
            match value.as_slice() {
                [TokenTree::Group(group)] if group.delimiter() != Delimiter::Parenthesis => {
                    self.check_json(&group.stream());
                }
                value => {
                    if let Some(name) = last_name(value).filter(|name| self.names.contains(&name.to_string())) {
                        self.fault(&name, "in json! instead of path_text");
                    }
                }
            }
        }
    }
}

/// The values of an object or a list; a single one stands for itself.
fn values(tokens: &TokenStream) -> Vec<Vec<TokenTree>> {
    let mut values = vec![Vec::new()];
    for token in tokens.clone() {
        match &token {
            TokenTree::Punct(punct) if punct.as_char() == ',' => values.push(Vec::new()),
            // What precedes it is the key; the colons of a path have another one beside them.
            TokenTree::Punct(punct)
                if punct.as_char() == ':' && matches!(values.last().unwrap().as_slice(), [TokenTree::Literal(_)]) =>
            {
                *values.last_mut().unwrap() = Vec::new();
            }
            _ => values.last_mut().unwrap().push(token),
        }
    }
    values
}

/// The last name of `&a.b`, `a.b()` or `b`; none for another expression.
fn last_name(value: &[TokenTree]) -> Option<proc_macro2::Ident> {
    let is_plain = value.iter().all(|token| match token {
        TokenTree::Ident(_) => true,
        TokenTree::Punct(punct) => matches!(punct.as_char(), '&' | '.' | '*'),
        TokenTree::Group(group) => group.delimiter() == Delimiter::Parenthesis && group.stream().is_empty(),
        TokenTree::Literal(_) => false,
    });
    let last = value.iter().rev().find_map(|token| match token {
        TokenTree::Ident(name) => Some(name.clone()),
        _ => None,
    });
    last.filter(|_| is_plain)
}

/// The tokens, those of groups too.
fn flat(tokens: &TokenStream) -> Vec<TokenTree> {
    let inner = |token: TokenTree| match &token {
        TokenTree::Group(group) => flat(&group.stream()),
        _ => vec![token],
    };
    tokens.clone().into_iter().flat_map(inner).collect()
}

fn idents(attribute: &syn::Attribute) -> Vec<String> {
    let syn::Meta::List(list) = &attribute.meta else { return Vec::new() };
    flat(&list.tokens).iter().filter(|token| matches!(token, TokenTree::Ident(_))).map(ToString::to_string).collect()
}

/// The value of a key of `#[serde(…)]`.
fn value_in(attribute: &syn::Attribute, key: &str) -> Option<String> {
    let syn::Meta::List(list) = attribute.path().is_ident("serde").then_some(&attribute.meta)? else { return None };
    let metas = list.parse_args_with(Punctuated::<syn::Meta, syn::Token![,]>::parse_terminated).ok()?;
    metas.iter().filter(|meta| meta.path().is_ident(key)).find_map(|meta| {
        match &meta.require_name_value().ok()?.value {
            syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) => Some(text.value()),
            _ => None,
        }
    })
}
