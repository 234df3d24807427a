//! The checker on small crates: every form of import is detected, and nothing else.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::graph::{self, Edges};
use super::source::Sources;

const LAYERS: [&[&str]; 3] = [&["words"], &["stage"], &["store", "lib"]];

const ROOT: &str = "mod stage; mod store; mod words; pub use store::{Place as Folder, log::*}; pub use words::Word;";

fn read(files: &[(&str, &str)]) -> Sources {
    let rest = [
        ("lib.rs", ROOT),
        ("words.rs", "pub struct Word;"),
        ("stage/mod.rs", "mod deep;"),
        ("stage/deep.rs", ""),
        ("store/mod.rs", "pub mod log; pub struct Place; impl Place { pub fn open() {} } pub trait Kept {}"),
        ("store/log.rs", "pub struct Log; pub mod line { pub struct Line; }"),
    ];
    let mut all: BTreeMap<PathBuf, String> =
        rest.into_iter().map(|(path, text)| (path.into(), text.to_owned())).collect();
    all.extend(files.iter().map(|(path, text)| (PathBuf::from(path), (*text).to_owned())));
    Sources::read(&all, "lib.rs")
}

fn edges(files: &[(&str, &str)]) -> Edges {
    graph::edges(&read(files))
}

fn upward(files: &[(&str, &str)]) -> Vec<String> {
    let sources = read(files);
    graph::upward(&graph::edges(&sources), &sources.top_level_modules(), &LAYERS)
}

/// What is wrong with the crate when a file of `stage` has this text.
fn wrong_with(text: &str) -> Vec<String> {
    upward(&[("stage/deep.rs", text)])
}

#[track_caller]
fn check(text: &str, names: &str) {
    assert_eq!(wrong_with(text), [format!("stage → store leads up, stage/deep.rs:{names}")], "{text}");
}

#[track_caller]
fn check_clean(text: &str) {
    assert_eq!(wrong_with(text), Vec::<String>::new(), "{text}");
}

#[test]
fn a_plain_import_is_seen() {
    check("\nuse crate::store::Place;", "2: crate::store::Place");
}

#[test]
fn braces_are_read() {
    check("use crate::{words::Word, store::Place};", "1: crate::store::Place");
    check("use {std::fmt, crate::{store::{self, log::Log}}};", "1: crate::store");
    check("use crate::{words, store};", "1: crate::store");
}

#[test]
fn a_type_at_the_root_is_followed_to_its_module() {
    check("use crate::Folder;", "1: crate::Folder");
    check("fn f(_: crate::Folder) {}", "1: crate::Folder");
    check("use crate::Log;", "1: crate::Log");
    check_clean("use crate::Word;");
}

#[test]
fn a_module_in_the_root_file_is_followed_to_what_it_brings() {
    let root =
        format!("{ROOT} pub mod files {{ pub use crate::store::Place; pub mod more {{ pub use crate::words::*; }} }}");
    let with_root = |text| upward(&[("lib.rs", &root), ("stage/deep.rs", text)]);
    let expected = ["stage → store leads up, stage/deep.rs:1: crate::files::Place"];
    assert_eq!(with_root("use crate::files::Place;"), expected);
    let none: [&str; 0] = [];
    assert_eq!(with_root("use crate::files::more::Word;"), none);
    let all = ["stage → lib leads up, stage/deep.rs:1: crate::files::*"];
    assert_eq!(with_root("use crate::files::*;"), all);
}

#[test]
fn super_is_followed() {
    check("use super::super::store::Place;", "1: super::super::store::Place");
    check("fn f() { self::super::super::store::Place::open() }", "1: self::super::super::store::Place::open");
    check("mod inner { use super::super::super::store; }", "1: super::super::super::store");
    check_clean("use super::super::words::Word; use super::deep as own;");
}

#[test]
fn code_after_a_test_module_is_read() {
    let files = [("stage/deep/tests.rs", "use crate::store::Place;")];
    let after = "#[cfg(test)]\nmod tests;\n\nuse crate::store::Place;";
    let expected = ["stage → store leads up, stage/deep.rs:4: crate::store::Place"];
    assert_eq!(upward(&[files[0], ("stage/deep.rs", after)]), expected);
    check("#[cfg(test)] mod tests { use crate::store::log; }\nuse crate::store::Place;", "2: crate::store::Place");
}

#[test]
fn tokens_of_macros_are_read() {
    check("fn f() { println!(\"{}\", crate::store::Place::open()) }", "1: crate::store::Place::open");
    check("macro_rules! m { ($x:expr) => { $crate::store::Place::open($x) } }", "1: crate::store::Place::open");
    check("thing! { use crate::{words::Word, store::{Place}}; }", "1: crate::store::Place");
    check("thing! { fn f() { super::super::store::Place } }", "1: super::super::store::Place");
    check("fn f() { assert!(matches!(1, crate::Folder)) }", "1: crate::Folder");
    check_clean("thing! { pub(crate) struct S { words: crate::words::Word } }");
}

#[test]
fn globs_are_followed() {
    check("use crate::store::*;", "1: crate::store::*");
    // All of the root is more than any layer below it may take.
    let root = wrong_with("use crate::*; fn f(_: Folder) {}");
    let (to_lib, to_store) =
        ("stage → lib leads up, stage/deep.rs:1: crate::*", "stage → store leads up, stage/deep.rs:1: Folder");
    assert_eq!(root, [to_lib, to_store]);
    check_clean("use super::*; use crate::words::*; fn f(_: Word) {}");
}

#[test]
fn renames_are_followed() {
    check("use crate::store as words;", "1: crate::store");
    check("use crate::Folder as Word;", "1: crate::Folder");
    check("use crate::{store::{self as words}};", "1: crate::store");
    let root = "stage → lib leads up, stage/deep.rs:1: crate::*";
    let through = "stage → store leads up, stage/deep.rs:2: top::store::Place";
    assert_eq!(wrong_with("use crate as top;\nuse top::store::Place;"), [root, through]);
    assert_eq!(wrong_with("use crate::{self as top};\nuse top::store::Place;"), [root, through]);
    assert_eq!(wrong_with("thing! { use crate as top; }"), [root]);
    let up = "stage → store leads up, stage/deep.rs:2: up::store::Place";
    assert!(wrong_with("use super::super as up;\nuse up::store::Place;").contains(&up.to_owned()));
}

#[test]
fn full_paths_are_read_wherever_they_are() {
    for text in [
        "fn f() { crate::store::Place::open() }",
        "fn f() -> Vec<crate::store::Place> { todo!() }",
        "fn f<T: crate::store::Kept>() {}",
        "fn f(x: S) { match x { crate::store::Place => {} } }",
        "impl crate::store::Kept for S {}",
        "fn f() { <crate::store::Place as S>::f() }",
        "struct S { a: Option<Box<dyn crate::store::Kept>> }",
        "const N: usize = crate::store::N;",
        "type T = crate::store::Place;",
        "fn f() { use crate::store::Place; }",
        "impl S { fn f() { let x = crate::store::Place; } }",
        "pub use crate::store::Place;",
        "trait T { fn f() { crate::store::Place::open() } }",
    ] {
        let found = wrong_with(text);
        assert!(found.len() == 1 && found[0].starts_with("stage → store leads up"), "{text}: {found:?}");
    }
}

#[test]
fn attributes_are_read() {
    check("#[crate::store::mark] struct S;", "1: crate::store::mark");
    check("#[derive(crate::store::Kept)] struct S;", "1: crate::store::Kept");
    check("#[cfg_attr(feature = \"x\", crate::store::mark)] struct S;", "1: crate::store::mark");
    check("struct S { #[serde(with = \"crate::store::log\")] a: u8 }", "1: crate::store::log");
    check_clean("/// See [`crate::store::Place`].\nstruct S;");
}

#[test]
fn imports_of_tests_do_not_count() {
    check_clean("#[cfg(test)] use crate::store::Place;");
    check_clean("#[cfg(all(test, unix))] mod tests { use crate::store::Place; }");
    check_clean("#[test] fn f() { crate::store::Place::open() }");
    check_clean("impl S { #[cfg(test)] fn f() { crate::store::Place::open() } }");
    check_clean("#[cfg(test)] thing! { crate::store::Place }");
    // These are built without tests too.
    check("#[cfg(not(test))] use crate::store::Place;", "1: crate::store::Place");
    check("#[cfg(any(test, feature = \"x\"))] use crate::store::Place;", "1: crate::store::Place");
}

#[test]
fn imports_down_or_from_elsewhere_are_allowed() {
    check_clean("use crate::words::Word; use std::store::Place; use ::store::Place; fn f(store: u8) -> u8 { store }");
    check_clean("pub(in crate::stage) struct S; pub(crate) fn f() {}");
}

#[test]
fn a_module_without_a_layer_is_reported() {
    let root = format!("{ROOT} mod fresh;");
    assert_eq!(upward(&[("lib.rs", &root), ("fresh.rs", "")]), ["fresh has no layer"]);
}

#[test]
fn cycles_are_reported_with_a_position_for_each_edge() {
    let files = [
        ("words.rs", "\nuse crate::stage;"),
        ("stage/deep.rs", "use crate::store::Place;"),
        ("store/log.rs", "use crate::words::Word;"),
    ];
    let cycles = graph::cycles(&edges(&files));
    let expected = "a cycle:\n  stage → store, stage/deep.rs:1: crate::store::Place\n  \
        store → words, store/log.rs:1: crate::words::Word\n  words → stage, words.rs:2: crate::stage\n";
    assert_eq!(cycles, [expected]);
    assert_eq!(graph::cycles(&edges(&files[..2])), Vec::<String>::new());
    let two = [files[0], ("stage/deep.rs", "use crate::words::Word;"), ("store/log.rs", "use crate::words::Word;")];
    let cycles = graph::cycles(&edges(&two));
    assert!(cycles.len() == 1 && cycles[0].lines().count() == 3, "{cycles:?}");
}

#[test]
#[should_panic(expected = "#[path] on deep is not followed")]
fn a_module_that_is_elsewhere_stops_the_check() {
    edges(&[("stage/mod.rs", "#[path = \"../store/log.rs\"] mod deep;")]);
}

#[test]
#[should_panic(expected = "include! is not followed")]
fn included_code_stops_the_check() {
    edges(&[("stage/deep.rs", "include!(\"../store/log.rs\");")]);
}
