//! The files, folders, pages and sections that documentation and comments name exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::LazyLock;

use regex::Regex;
use walkdir::WalkDir;

/// Names with these extensions are names of files in this repository, in any folder.
const SOURCES: [&str; 5] = [".rs", ".sh", ".py", ".toml", ".tsv"];

static LINK: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"\]\(([^()\s]+)\)").unwrap());
static CODE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"`([^`\s]+)`").unwrap());
static ANCHOR: LazyLock<Regex> = LazyLock::new(|| Regex::new(r#"<a id="([^"]+)">"#).unwrap());
static CITED: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b(docs/[a-z/-]+\.md)(?:, ([0-9]+(?:\.[0-9]+)*))?").unwrap());

/// The files of the repository, with their folders, relative to its root.
struct Repository {
    root: PathBuf,
    paths: BTreeSet<PathBuf>,
}

impl Repository {
    fn read() -> Self {
        let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        // What others wrote, as data of tests, names files of its own.
        let is_made = |name: &str| matches!(name, "target" | ".git" | "memories");
        let walk = WalkDir::new(&root).min_depth(1).into_iter();
        let entries = walk.filter_entry(|entry| !entry.file_name().to_str().is_some_and(is_made));
        let paths = entries.map(|entry| entry.unwrap().path().strip_prefix(&root).unwrap().to_owned()).collect();
        Self { root, paths }
    }

    fn text(&self, path: &Path) -> String {
        fs::read_to_string(self.root.join(path)).unwrap()
    }

    fn with_extension(&self, extension: &str) -> Vec<&PathBuf> {
        let paths: Vec<&PathBuf> =
            self.paths.iter().filter(|path| path.extension().is_some_and(|found| found == extension)).collect();
        assert!(!paths.is_empty(), "no file ends in .{extension}");
        paths
    }

    /// Whether some path ends in this one, as `merge.rs` is the end of `src/learn/merge.rs`.
    fn has_end(&self, end: &str) -> bool {
        self.paths.iter().any(|path| path.ends_with(end))
    }

    fn is_at_top(&self, name: Component<'_>) -> bool {
        self.paths.contains(Path::new(&name))
    }

    /// Whether a word in code font names a missing file or folder of the repository. A path may be relative to the root or to
    /// the page's folder.
    fn missing(&self, page: &Path, word: &str) -> bool {
        // The folder of `readers/<name>.rs` exists; the file name is a placeholder.
        let word =
            word.split_once('<').map_or(word, |(before, _)| before.rsplit_once('/').map_or("", |(folder, _)| folder));
        let mut parts = Path::new(word).components();
        let top = parts.next().filter(|_| parts.next().is_some());
        let beside = page.parent().unwrap().join(word);
        let is_source = SOURCES.iter().any(|end| word.ends_with(end));
        let is_module = page == Path::new("ARCHITECTURE.md") && word.ends_with('/');
        if word.contains(['*', '$', '~', ':', '{', '=']) || word.starts_with('.') && is_source {
            return false;
        }
        match top {
            Some(top) if self.is_at_top(top) => {
                ![Path::new(word), &beside].iter().any(|path| self.paths.contains(*path))
            }
            _ => (is_source || is_module) && !self.has_end(word),
        }
    }

    /// Whether a page has this anchor, explicit or from a heading.
    fn has_anchor(&self, page: &Path, anchor: &str) -> bool {
        let text = self.text(page);
        let slug = |line: &str| {
            let title = line.trim_start_matches('#').trim().to_lowercase();
            title.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c)).collect::<String>().replace(' ', "-")
        };
        ANCHOR.captures_iter(&text).any(|found| &found[1] == anchor)
            || text.lines().filter(|line| line.starts_with('#')).any(|line| slug(line) == anchor)
    }

    /// Whether the target of a link exists in the repository.
    fn leads_somewhere(&self, page: &Path, target: &str) -> bool {
        let (path, anchor) = target.split_once('#').map_or((target, None), |(path, anchor)| (path, Some(anchor)));
        let to = if path.is_empty() { page.to_owned() } else { normal(&page.parent().unwrap().join(path)) };
        self.paths.contains(&to) && anchor.is_none_or(|anchor| self.has_anchor(&to, anchor))
    }
}

/// A path without `..`.
fn normal(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut path, part| {
        match part {
            Component::ParentDir => assert!(path.pop(), "a link leaves the repository"),
            part => path.push(part),
        }
        path
    })
}

/// A page without its fenced blocks.
fn prose(text: &str) -> String {
    let parts = text.split("```").step_by(2);
    parts.collect::<Vec<_>>().join("\n")
}

#[test]
fn wrong_paths_links_and_sections_are_detected() {
    let repository = Repository::read();
    let missing = |page: &str, word: &str| repository.missing(Path::new(page), word);
    for word in ["src/nowhere.rs", "nowhere.rs", "docs/spec/Nowhere.md", "nowhere/", "src/nowhere/<name>.rs"] {
        assert!(missing("ARCHITECTURE.md", word), "{word}");
    }
    for word in [
        "src/config/mod.rs",
        "merge.rs",
        "gate/",
        "crates/transcript/src/readers/<name>.rs",
        "SKILL.md",
        "and/or",
        "*.rs",
    ] {
        assert!(!missing("ARCHITECTURE.md", word), "{word}");
    }
    assert!(!missing("crates/index/README.md", "src/kernels.rs"), "a path from the page's folder");
    assert!(!missing("README.md", "skills/"), "a folder of the reader's");
    let leads = |target: &str| repository.leads_somewhere(Path::new("docs/spec/capture.md"), target);
    assert!(leads("playbook.md#3.3") && leads("../../src/config/mod.rs") && leads("#1.2"));
    assert!(!leads("playbook.md#3.99") && !leads("nowhere.md") && !leads("#1.99"));
}

#[test]
fn pages_name_only_files_and_folders_that_exist() {
    let repository = Repository::read();
    let mut missing = Vec::new();
    for page in repository.with_extension("md") {
        let text = prose(&repository.text(page));
        let words = CODE.captures_iter(&text).map(|found| found[1].to_owned());
        missing.extend(
            words.filter(|word| repository.missing(page, word)).map(|word| format!("{}: {word}", page.display())),
        );
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn links_between_pages_lead_to_a_page_and_a_section_that_exist() {
    let repository = Repository::read();
    let mut dead = Vec::new();
    for page in repository.with_extension("md") {
        let text = prose(&repository.text(page));
        let targets =
            LINK.captures_iter(&text).map(|found| found[1].to_owned()).filter(|target| !target.contains("://"));
        let leads_nowhere = targets.filter(|target| !repository.leads_somewhere(page, target));
        dead.extend(leads_nowhere.map(|target| format!("{}: {target}", page.display())));
    }
    assert!(dead.is_empty(), "{}", dead.join("\n"));
}

#[test]
fn comments_cite_pages_and_sections_that_exist() {
    let repository = Repository::read();
    let mut dead = Vec::new();
    for file in repository.with_extension("rs").into_iter().chain(repository.with_extension("toml")) {
        let text = repository.text(file);
        let is_dead = |page: &str, section: Option<&str>| {
            let page = Path::new(page);
            !repository.paths.contains(page) || section.is_some_and(|section| !repository.has_anchor(page, section))
        };
        let cited =
            CITED.captures_iter(&text).filter(|found| is_dead(&found[1], found.get(2).map(|part| part.as_str())));
        dead.extend(cited.map(|found| format!("{}: {}", file.display(), &found[0])));
    }
    assert!(dead.is_empty(), "{}", dead.join("\n"));
}

#[test]
fn every_public_module_begins_with_an_example() {
    let repository = Repository::read();
    let root = repository.text(Path::new("src/lib.rs"));
    let modules: Vec<&str> = root.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';')).collect();
    assert!(modules.len() > 15, "{modules:?}");
    let file_of = |module: &str| {
        let places = [format!("src/{module}.rs"), format!("src/{module}/mod.rs")].map(PathBuf::from);
        places.into_iter().find(|path| repository.paths.contains(path)).unwrap()
    };
    let has_example = |module: &str| {
        let text = repository.text(&file_of(module));
        text.lines().take_while(|line| line.starts_with("//!")).any(|line| line == "//! ```")
    };
    let without: Vec<&str> = modules.into_iter().filter(|module| !has_example(module)).collect();
    assert!(without.is_empty(), "{without:?}");
}
