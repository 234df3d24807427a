//! Imports go down, never up: the order of the layers is read from the `use crate::` lines.

use std::fs;
use std::path::{Path, PathBuf};

/// From the bottom to the top. Modules of one layer may use each other.
const LAYERS: [&[&str]; 6] = [
    &["clock", "config", "document", "error", "hash", "id", "lesson", "sorted_blocks", "testing"],
    &["embed", "lexical"],
    &["difference", "state"],
    &["capture", "exchange", "gate", "inbox", "learn", "retrieve", "skills"],
    &["store"],
    &["playbook", "vector_memory", "lib", "main", "cli"],
];

fn layer(module: &str) -> usize {
    LAYERS.iter().position(|layer| layer.contains(&module)).unwrap_or_else(|| panic!("{module} has no layer"))
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let files = entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] });
    files.filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect()
}

/// The modules of the crate that a line names after `crate::`, also within braces.
fn named(line: &str) -> Vec<String> {
    let word = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    line.match_indices("crate::").map(|(place, prefix)| word(&line[place + prefix.len()..])).collect()
}

#[test]
fn imports_go_down() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut n_imports, mut upward) = (0, Vec::new());
    for path in sources(&root) {
        let relative = path.strip_prefix(&root).unwrap();
        let module = relative.components().next().unwrap().as_os_str().to_str().unwrap().trim_end_matches(".rs");
        let text = fs::read_to_string(&path).unwrap();
        // Tests may look around.
        let text = text.split("#[cfg(test)]\nmod ").next().unwrap();
        for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
            for target in named(line).into_iter().filter(|target| target.starts_with(|c: char| c.is_lowercase())) {
                n_imports += 1;
                if layer(&target) > layer(module) {
                    upward.push(format!("{}: {}", relative.display(), line.trim()));
                }
            }
        }
    }
    assert!(n_imports > 50, "only {n_imports} imports were read");
    assert!(upward.is_empty(), "imports that go up:\n{}", upward.join("\n"));
}
