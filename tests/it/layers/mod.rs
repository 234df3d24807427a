//! What the crates do not enforce: imports go down, and no two folders of `src/` import each other, by whatever way.
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

/// From the bottom to the top. A module may import those of its own layer, as long as there is no cycle.
const LAYERS: [&[&str]; 6] = [
    // Words.
    &["clock", "config", "document", "error", "hash", "lesson", "shelf", "testing"],
    // Engines: they know text and numbers, never lessons.
    &["embed", "index", "lexical"],
    // What stages read, and what files are written through.
    &["folder", "state"],
    // Stages.
    &["capture", "exchange", "gate", "inbox", "learn", "model", "retrieve", "skills"],
    &["store"],
    // The façade.
    &["cli", "lib", "playbook", "sessions", "vector_memory"],
];

/// Imports that make a cycle today. Each is to go; no other may come.
const KNOWN_CYCLES: [(&str, &str); 1] = [("gate", "capture")];

#[test]
fn imports_go_down_and_never_in_a_circle() {
    let (edges, modules) = read_crate(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    let cycles = graph::cycles(&edges);
    println!("{} edges between {} folders, {} cycles\n{}", edges.len(), modules.len(), cycles.len(), cycles.concat());
    let upward = graph::upward(&edges, &modules, &LAYERS);
    assert!(upward.is_empty(), "imports that go up:\n{}", upward.join("\n"));
    let known = KNOWN_CYCLES.map(|(from, to)| (from.to_owned(), to.to_owned()));
    for edge in &known {
        assert!(edges.contains_key(edge), "{edge:?} is gone: take it off the list");
    }
    let cycles = graph::cycles(&edges.into_iter().filter(|(edge, _)| !known.contains(edge)).collect());
    assert!(cycles.is_empty(), "{}", cycles.join("\n"));
}

/// The folders of a crate with the edges between them, those of its binary too.
fn read_crate(root: &Path) -> (Edges, BTreeSet<String>) {
    let files: BTreeMap<PathBuf, String> = rust_files(root)
        .into_iter()
        .map(|path| (path.strip_prefix(root).unwrap().to_owned(), fs::read_to_string(&path).unwrap()))
        .collect();
    let (mut edges, mut modules) = (Edges::new(), BTreeSet::new());
    let mut unreached: BTreeSet<&PathBuf> = files.keys().collect();
    for root in ["lib.rs", "main.rs"].into_iter().filter(|root| files.contains_key(Path::new(root))) {
        let sources = Sources::read(&files, root);
        unreached.retain(|path| !sources.reached.contains(*path));
        edges.extend(graph::edges(&sources));
        modules.extend(sources.top_level_modules());
    }
    assert!(unreached.is_empty(), "in no module of the crate: {unreached:?}");
    (edges, modules)
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.flat_map(|path| if path.is_dir() { rust_files(&path) } else { vec![path] });
    files.filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect()
}
