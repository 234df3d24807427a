//! A copy of a fixture in a temporary folder, as if it had been created there.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use adage::chrono::DateTime;
use adage::embed::{EmbedError, Role};
use adage::ndarray::Array2;
use adage::{Embedder, HashingEmbedder, TextHash};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Where the fixtures were made; their absolute paths begin with it.
const MADE_IN: &str = "/home/agent";
/// When the sessions of the fixture were last written to, which the record of what was read names.
const SESSIONS_AT: &str = "2026-02-01T11:00:00Z";

/// A home with the folders of one fixture.
pub(super) struct Home {
    temp: TempDir,
    root: PathBuf,
}

impl Home {
    /// A copy of `tests/fixtures/formats/NAME`: the folder itself if it is a memory, otherwise its content.
    pub(super) fn of(name: &str) -> Self {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/formats").join(name);
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().canonicalize().unwrap();
        let home = Self { temp, root };
        let is_memory = source.join("lock").exists();
        copy(&source, &if is_memory { home.path(name) } else { home.root.clone() });
        home.relocate();
        home
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    pub(super) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Every file below the home, by its path there.
    pub(super) fn files(&self) -> BTreeMap<String, Vec<u8>> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.temp.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = path.strip_prefix(self.temp.path()).unwrap().display().to_string();
                    found.insert(name, fs::read(&path).unwrap());
                }
            }
        }
        found
    }

    /// Replaces the home folder of the fixture by this one, including hashes and lengths that depend on it.
    fn relocate(&self) {
        let mut moved = Moved { home: self.root.to_str().unwrap().to_owned(), hashes: BTreeMap::new() };
        let files = self.files();
        let is = |name: &str, end: &str| name.ends_with(end);
        for (name, bytes) in files.iter().filter(|(name, _)| is(name, ".patch")) {
            self.write(name, &moved.patch(bytes));
        }
        for (name, bytes) in files.iter().filter(|(name, _)| is(name, ".done")) {
            self.write(name, &moved.journal(bytes));
        }
        for (name, bytes) in files.iter().filter(|(name, _)| is(name, ".base.json") || is(name, "mining.json")) {
            self.write(name, &moved.text(bytes));
        }
        let modified = DateTime::parse_from_rfc3339(SESSIONS_AT).unwrap();
        for name in files.keys().filter(|name| name.starts_with("sessions/")) {
            let file = File::options().write(true).open(self.path(name)).unwrap();
            file.set_modified(modified.into()).unwrap();
        }
    }

    #[allow(clippy::disallowed_methods, reason = "what happens to a folder from outside")]
    fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path(name), bytes).unwrap();
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.path().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// A change of home, with the hashes of the patches that it changes.
struct Moved {
    home: String,
    hashes: BTreeMap<String, String>,
}

impl Moved {
    fn text(&self, bytes: &[u8]) -> Vec<u8> {
        let text = std::str::from_utf8(bytes).unwrap().replace(MADE_IN, &self.home);
        self.hashes.iter().fold(text, |text, (before, after)| text.replace(before, after)).into_bytes()
    }

    fn patch(&mut self, bytes: &[u8]) -> Vec<u8> {
        let after = self.text(bytes);
        self.hashes.insert(TextHash::of(&[bytes]).to_string(), TextHash::of(&[&after]).to_string());
        after
    }

    /// A line of JSON with paths and lengths, the contents, and a line with the hash of all that.
    fn journal(&mut self, bytes: &[u8]) -> Vec<u8> {
        let end = bytes.iter().position(|byte| *byte == b'\n').unwrap();
        let mut header: Value = serde_json::from_slice(&self.text(&bytes[..end])).unwrap();
        let mut rest = &bytes[end + 1..];
        let mut contents = Vec::new();
        for file in header["files"].as_array_mut().unwrap() {
            for side in ["before", "after"] {
                let Some(length) = file[side].as_u64() else { continue };
                let (content, after) = rest.split_at(usize::try_from(length).unwrap());
                let path = Path::new(file["path"].as_str().unwrap());
                let is_patch = path.extension().is_some_and(|extension| extension == "patch");
                let moved = if is_patch { self.patch(content) } else { self.text(content) };
                file[side] = json!(moved.len());
                contents.extend(moved);
                rest = after;
            }
        }
        let whole = [header.to_string().as_bytes(), b"\n", &contents].concat();
        let seal = format!("\n{}\n", TextHash::of(&[&whole]));
        assert_eq!(rest.len(), seal.len(), "the contents are as long as the header says");
        [whole, seal.into_bytes()].concat()
    }
}

/// Embeds like [`HashingEmbedder`], but refuses documents: their vectors are in the folder.
pub(super) struct QueriesOnly;

impl Embedder for QueriesOnly {
    fn embed(&self, texts: &[&str], role: Role) -> Result<Array2<f32>, EmbedError> {
        assert_eq!(role, Role::Query, "{texts:?} are embedded again");
        HashingEmbedder.embed(texts, role)
    }

    fn fingerprint(&self) -> TextHash {
        HashingEmbedder.fingerprint()
    }

    fn dimension(&self) -> Result<usize, EmbedError> {
        HashingEmbedder.dimension()
    }
}
