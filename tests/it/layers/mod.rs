//! What the crates do not enforce: imports go down, and folders of `src/` form no cycle.
//!
//! Every file is parsed, so that an import counts wherever and however it is written. What only tests use does not count.

mod graph;
mod names;
mod source;
mod tests;
mod tokens;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use graph::Edges;
use source::Sources;
pub(super) use source::{is_for_tests, item_attributes};

/// From the bottom to the top. A module may import those of its own layer, as long as there is no cycle.
const LAYERS: [&[&str]; 7] = [
    // Words.
    &["clock", "config", "document", "error", "hash", "id", "lesson", "path_text", "setters", "testing", "user_key"],
    // Engines: they know text and numbers, never lessons.
    &["embed", "lexical", "model"],
    // What stages read, and what files are written through.
    &["difference", "folder", "state", "trust"],
    // Stages: values in, values out.
    &["credit", "exchange", "gate", "learn", "retrieve", "skill"],
    &["store"],
    // The façade.
    &["playbook", "vector_memory"],
    // The names by which a host finds it all.
    &["calibrate", "extend", "index", "lib", "redact", "skills", "transcript"],
];

#[test]
#[expect(clippy::print_stdout, reason = "figures for a person, under --nocapture")]
fn imports_go_down_and_form_no_cycle() {
    let (edges, modules) = read_crate(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    let cycles = graph::cycles(&edges);
    println!("{} edges between {} folders, {} cycles\n{}", edges.len(), modules.len(), cycles.len(), cycles.concat());
    let upward = graph::upward(&edges, &modules, &LAYERS);
    assert!(upward.is_empty(), "imports that go up:\n{}", upward.join("\n"));
    assert!(cycles.is_empty(), "{}", cycles.join("\n"));
}

/// The folders of a library with the edges between them.
fn read_crate(root: &Path) -> (Edges, BTreeSet<String>) {
    let files: BTreeMap<PathBuf, String> = rust_files(root)
        .into_iter()
        .map(|path| (path.strip_prefix(root).unwrap().to_owned(), fs::read_to_string(&path).unwrap()))
        .collect();
    let sources = Sources::read(&files, "lib.rs");
    let unreached: Vec<&PathBuf> = files.keys().filter(|path| !sources.reached.contains(*path)).collect();
    assert!(unreached.is_empty(), "in no module of the crate: {unreached:?}");
    (graph::edges(&sources), sources.top_level_modules())
}

pub(super) fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.flat_map(|path| if path.is_dir() { rust_files(&path) } else { vec![path] });
    files.filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect()
}
