//! The sources of a crate as modules: which names each has, and every path that its code names.
//!
//! Modules are found from the crate's root through `mod` items, as the compiler finds them. Code under `#[cfg(test)]` is left out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};

use super::tokens::{self, Named};

/// The path of a module or an item from the crate's root.
pub(super) type Absolute = Vec<String>;

/// A path as it is written, in the module in which it is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Written {
    pub(super) segments: Vec<String>,
    pub(super) line: usize,
}

/// One module: a file, or an inline module in one.
#[derive(Debug, Default)]
pub(super) struct Module {
    pub(super) file: PathBuf,
    /// Names of what it defines, its child modules among them.
    pub(super) items: BTreeSet<String>,
    /// What `use` brings in, under which name.
    pub(super) imports: Vec<(String, Written)>,
    /// Of what `use` brings in everything.
    pub(super) globs: Vec<Written>,
    /// Every path that it names, those of `use` too.
    pub(super) paths: Vec<Written>,
}

/// A crate.
#[derive(Debug, Default)]
pub(super) struct Sources {
    /// The root's file. Modules that are written in it are the root's own.
    pub(super) root: PathBuf,
    pub(super) modules: BTreeMap<Absolute, Module>,
    /// The files of its modules, those of its tests among them.
    pub(super) reached: BTreeSet<PathBuf>,
}

impl Sources {
    /// Reads the crate whose root is `root`, such as `lib.rs`, from files by their paths below `src`.
    ///
    /// # Panics
    /// On what this reader does not follow: a file that does not parse, `#[path]`, `include!`, a module without a file.
    pub(super) fn read(files: &BTreeMap<PathBuf, String>, root: &str) -> Self {
        let mut sources = Self { root: root.into(), ..Self::default() };
        sources.add_file(files, Path::new(root), &[], false);
        sources
    }

    /// The folders and files directly below the root.
    pub(super) fn top_level_modules(&self) -> BTreeSet<String> {
        let below = self.modules.iter().filter(|(_, module)| module.file != self.root);
        below.filter_map(|(path, _)| path.first().cloned()).collect()
    }

    fn add_file(&mut self, files: &BTreeMap<PathBuf, String>, path: &Path, module: &[String], is_test: bool) {
        self.reached.insert(path.to_owned());
        let parsed = syn::parse_file(&files[path]);
        let parsed = parsed.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut reader =
            Reader { at: vec![module.to_vec()], file: path, found: BTreeMap::new(), children: Vec::new(), is_test };
        reader.found.insert(module.to_vec(), Module { file: path.to_owned(), ..Module::default() });
        reader.visit_file(&parsed);
        let Reader { found, children, .. } = reader;
        if !is_test {
            self.modules.extend(found);
        }
        for (child, is_test) in children {
            let stem: PathBuf = child.iter().collect();
            let candidates = [stem.with_extension("rs"), stem.join("mod.rs")];
            let Some(file) = candidates.iter().find(|candidate| files.contains_key(*candidate)) else {
                panic!("{}: the file of module {} was not found", path.display(), child.join("::"))
            };
            self.add_file(files, file, &child, is_test);
        }
    }
}

struct Reader<'a> {
    /// The modules around what is visited, the innermost last.
    at: Vec<Absolute>,
    file: &'a Path,
    found: BTreeMap<Absolute, Module>,
    /// Modules in files of their own, and whether they are tests.
    children: Vec<(Absolute, bool)>,
    is_test: bool,
}

impl Reader<'_> {
    fn module(&mut self) -> &mut Module {
        let innermost = self.at.last().unwrap();
        self.found.get_mut(innermost).unwrap()
    }

    fn name(&mut self, segments: Vec<String>, line: usize) {
        self.module().paths.push(Written { segments, line });
    }

    fn name_all(&mut self, named: Vec<Named>) {
        for Named { segments, line } in named {
            self.name(segments, line);
        }
    }

    fn import(&mut self, tree: &syn::UseTree, before: &[String]) {
        let with = |ident: &syn::Ident| [before, &[plain(ident)]].concat();
        match tree {
            syn::UseTree::Path(path) => self.import(&path.tree, &with(&path.ident)),
            syn::UseTree::Group(group) => group.items.iter().for_each(|item| self.import(item, before)),
            syn::UseTree::Glob(glob) => {
                let line = glob.star_token.span.start().line;
                self.name([before, &["*".to_owned()]].concat(), line);
                self.module().globs.push(Written { segments: before.to_vec(), line });
            }
            syn::UseTree::Name(name) if name.ident == "self" => {
                self.import_as(before.to_vec(), before.last().cloned().unwrap_or_default(), &name.ident);
            }
            syn::UseTree::Rename(renamed) if renamed.ident == "self" => {
                self.import_as(before.to_vec(), plain(&renamed.rename), &renamed.ident);
            }
            syn::UseTree::Name(name) => self.import_as(with(&name.ident), plain(&name.ident), &name.ident),
            syn::UseTree::Rename(renamed) => {
                self.import_as(with(&renamed.ident), plain(&renamed.rename), &renamed.ident);
            }
        }
    }

    fn import_as(&mut self, segments: Vec<String>, name: String, place: &syn::Ident) {
        let line = place.span().start().line;
        // Under another name the root is all that is in it.
        let is_root = segments == ["crate"];
        self.name(if is_root { vec!["crate".to_owned(), "*".to_owned()] } else { segments.clone() }, line);
        self.module().imports.push((name, Written { segments, line }));
    }

    fn visit_child(&mut self, item: &syn::ItemMod) {
        let path = [self.at.last().unwrap().as_slice(), &[plain(&item.ident)]].concat();
        let is_elsewhere = item.attrs.iter().any(names_a_path);
        assert!(!is_elsewhere, "{}: #[path] on {} is not followed", self.file.display(), item.ident);
        let is_test = self.is_test || is_for_tests(&item.attrs);
        if !is_test {
            let name = plain(&item.ident);
            self.module().items.insert(name);
        }
        let Some((_, items)) = &item.content else { return self.children.push((path, is_test)) };
        if is_test {
            // What is in it is not an import, but it may have files of its own.
            return items.iter().for_each(|item| self.assert_inline(item));
        }
        self.found.insert(path.clone(), Module { file: self.file.to_owned(), ..Module::default() });
        self.at.push(path);
        visit::visit_item_mod(self, item);
        self.at.pop();
    }

    fn assert_inline(&self, item: &syn::Item) {
        if let syn::Item::Mod(inner) = item {
            assert!(inner.content.is_some(), "{}: a file below an inline test module", self.file.display());
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item(&mut self, item: &'ast syn::Item) {
        if let syn::Item::Mod(child) = item {
            self.visit_child(child);
        } else if !is_for_tests(item_attributes(item)) {
            if let Some(name) = item_name(item) {
                self.module().items.insert(name);
            }
            visit::visit_item(self, item);
        }
    }

    fn visit_impl_item(&mut self, item: &'ast syn::ImplItem) {
        let attributes = match item {
            syn::ImplItem::Fn(item) => item.attrs.as_slice(),
            syn::ImplItem::Const(item) => &item.attrs,
            syn::ImplItem::Type(item) => &item.attrs,
            _ => &[],
        };
        if !is_for_tests(attributes) {
            visit::visit_impl_item(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        item.attrs.iter().for_each(|attribute| self.visit_attribute(attribute));
        // `use ::name` is another crate.
        if item.leading_colon.is_none() {
            self.import(&item.tree, &[]);
        }
    }

    fn visit_item_extern_crate(&mut self, item: &'ast syn::ItemExternCrate) {
        if item.ident == "self" {
            let name = item.rename.as_ref().map_or_else(|| plain(&item.ident), |(_, name)| plain(name));
            self.import_as(vec!["crate".to_owned()], name, &item.ident);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<&syn::Ident> = path.segments.iter().map(|segment| &segment.ident).collect();
        if let Some(first) = segments.first().filter(|_| path.leading_colon.is_none()) {
            let line = first.span().start().line;
            self.name(segments.into_iter().map(plain).collect(), line);
        }
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        assert!(!call.path.is_ident("include"), "{}: include! is not followed", self.file.display());
        visit::visit_macro(self, call);
    }

    /// Tokens that are not parsed: macros, attributes, syntax that is too new.
    fn visit_token_stream(&mut self, tokens: &'ast proc_macro2::TokenStream) {
        self.name_all(tokens::paths(tokens));
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        if attribute.path().is_ident("doc") {
            return;
        }
        visit::visit_attribute(self, attribute);
        if let syn::Meta::List(list) = &attribute.meta {
            self.name_all(tokens::quoted_paths(&list.tokens));
        }
    }

    /// A visibility is not an import.
    fn visit_vis_restricted(&mut self, _: &'ast syn::VisRestricted) {}
}

/// An identifier without `r#`.
fn plain(ident: &syn::Ident) -> String {
    ident.to_string().trim_start_matches("r#").to_owned()
}

fn names_a_path(attribute: &syn::Attribute) -> bool {
    let in_list = |list: &syn::MetaList| tokens::paths(&list.tokens).iter().any(|named| named.segments == ["path"]);
    attribute.path().is_ident("path")
        || attribute.path().is_ident("cfg_attr") && attribute.meta.require_list().is_ok_and(in_list)
}

/// True for `#[test]`, and for `#[cfg(…)]` that cannot hold without `test`.
pub(crate) fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    let is_one = |attribute: &syn::Attribute| {
        let condition = || attribute.parse_args::<syn::Meta>();
        attribute.path().is_ident("test")
            || attribute.path().is_ident("cfg")
                && condition().is_ok_and(|meta| holds_without_test(&meta) == Some(false))
    };
    attributes.iter().any(is_one)
}

/// Whether a condition holds where `test` does not; none where that depends on something else.
fn holds_without_test(meta: &syn::Meta) -> Option<bool> {
    if meta.path().is_ident("test") {
        return Some(false);
    }
    let list = meta.require_list().ok()?;
    let inner =
        list.parse_args_with(syn::punctuated::Punctuated::<syn::Meta, syn::Token![,]>::parse_terminated).ok()?;
    let inner: Vec<Option<bool>> = inner.iter().map(holds_without_test).collect();
    let all_are = |value| inner.iter().all(|part| *part == Some(value));
    if list.path.is_ident("not") {
        inner.first().copied().flatten().map(|holds| !holds)
    } else if list.path.is_ident("all") && inner.contains(&Some(false)) || list.path.is_ident("any") && all_are(false) {
        Some(false)
    } else {
        all_are(true).then_some(true)
    }
}

pub(crate) fn item_attributes(item: &syn::Item) -> &[syn::Attribute] {
    match item {
        syn::Item::Const(item) => &item.attrs,
        syn::Item::Enum(item) => &item.attrs,
        syn::Item::Fn(item) => &item.attrs,
        syn::Item::Impl(item) => &item.attrs,
        syn::Item::Macro(item) => &item.attrs,
        syn::Item::Static(item) => &item.attrs,
        syn::Item::Struct(item) => &item.attrs,
        syn::Item::Trait(item) => &item.attrs,
        syn::Item::Type(item) => &item.attrs,
        syn::Item::Union(item) => &item.attrs,
        syn::Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

fn item_name(item: &syn::Item) -> Option<String> {
    let ident = match item {
        syn::Item::Const(item) => &item.ident,
        syn::Item::Enum(item) => &item.ident,
        syn::Item::Fn(item) => &item.sig.ident,
        syn::Item::Macro(item) => item.ident.as_ref()?,
        syn::Item::Static(item) => &item.ident,
        syn::Item::Struct(item) => &item.ident,
        syn::Item::Trait(item) => &item.ident,
        syn::Item::Type(item) => &item.ident,
        syn::Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(plain(ident))
}
