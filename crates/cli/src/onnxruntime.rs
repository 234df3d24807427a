//! Finds the ONNX Runtime library of an installed Python package. It only reads folders; it runs and loads nothing.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use adage::redact::path_line;

use crate::output::say;
use crate::own_program;

/// The oldest supported version.
const OLDEST: [u32; 3] = [1, 24, 0];

/// A library and the version in its name.
struct Found {
    version: [u32; 3],
    library: PathBuf,
}

/// The variable that turns off ONNX Runtime's telemetry if it is set when the library is loaded. Otherwise version 1.32 writes
/// an id and a database to `Microsoft/DeveloperTools/.onnxruntime` in the user's cache folder.
const TELEMETRY_OFF: &str = "ORT_DISABLE_TELEMETRY";

/// Starts the program again with ONNX Runtime's telemetry turned off, unless the variable is set. It returns if the variable is
/// set or the start fails.
#[cfg(unix)]
#[expect(
    clippy::disallowed_methods,
    reason = "the environment of the program itself, which only a new process can have changed"
)]
pub(crate) fn run_without_telemetry(words: &[OsString]) {
    use std::os::unix::process::CommandExt;

    if env::var_os(TELEMETRY_OFF).is_some() {
        return;
    }
    let again = |program: PathBuf| {
        std::process::Command::new(program).args(words.iter().skip(1)).env(TELEMETRY_OFF, "1").exec()
    };
    let error = own_program::path().map_or_else(|error| error, again);
    say(&format!("ONNX Runtime may write an id below the home folder: {TELEMETRY_OFF}=1 could not be set: {error}"));
}

/// Other systems have no such file.
#[cfg(not(unix))]
pub(crate) fn run_without_telemetry(_: &[OsString]) {}

/// The advice that `doctor` prints.
pub(crate) fn advice() -> String {
    advice_on(found(&roots()))
}

fn advice_on(found: Vec<Found>) -> String {
    // If several have the newest version, the first one found.
    let newest = found.into_iter().rev().max_by_key(|found| found.version);
    let Some(Found { version, library }) = newest else {
        return "none in an installed Python package; the bundled model needs none".to_owned();
    };
    let version_in_words = version.map(|number| number.to_string()).join(".");
    let library = path_line(library);
    if version < OLDEST {
        return format!("{version_in_words} found at {library}, but it is too old: 1.24 or later is needed");
    }
    format!(
        "{version_in_words} found; to use it: adage --embedder FOLDER --onnxruntime {library} (or set ORT_DYLIB_PATH); other programs that load it set {TELEMETRY_OFF}=1, or it writes an id to ~/.cache/Microsoft"
    )
}

/// Where Python packages may be installed: the active environment, `.venv`, the user's folders, those on the path, the
/// system's.
#[expect(clippy::disallowed_methods, reason = "the doctor looks around on behalf of the person who asked")]
fn roots() -> Vec<PathBuf> {
    let mut roots: Vec<PathBuf> =
        ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(env::var_os).map(PathBuf::from).collect();
    roots.push(PathBuf::from(".venv"));
    if let Some(home) = env::home_dir() {
        roots.push(home.join(".local"));
        roots.extend(entries(&home.join(".pyenv/versions")));
    }
    for folder in env::var_os("PATH").iter().flat_map(env::split_paths) {
        let python = ["python3", "python", "python.exe"].map(|name| folder.join(name));
        for python in python.iter().filter(|python| python.is_file()) {
            // The path itself and the target of the link: an environment's python links to the system's.
            let paths = [Some(python.clone()), python.canonicalize().ok()];
            roots.extend(paths.iter().flatten().filter_map(|path| Some(path.parent()?.parent()?.to_owned())));
        }
    }
    roots.extend(["/usr/local", "/usr"].map(PathBuf::from));
    roots
}

fn found(roots: &[PathBuf]) -> Vec<Found> {
    let mut packages = Vec::new();
    for root in roots {
        // The layout on Windows.
        packages.push(root.join("Lib/site-packages"));
        for python in ["lib", "lib64"].iter().flat_map(|lib| entries(&root.join(lib))) {
            if python.file_name().is_some_and(|name| name.to_string_lossy().starts_with("python3")) {
                packages.extend(["site-packages", "dist-packages"].map(|packages| python.join(packages)));
            }
        }
    }
    let libraries = packages.iter().flat_map(|packages| entries(&packages.join("onnxruntime/capi")));
    libraries.filter_map(|library| Some(Found { version: version(&library)?, library })).collect()
}

/// The version in `libonnxruntime.so.1.31.1` or `libonnxruntime.1.31.1.dylib`. The extension module in the same folder does not
/// match.
fn version(library: &Path) -> Option<[u32; 3]> {
    let name = library.file_name()?.to_str()?;
    let version = match name.strip_prefix("libonnxruntime.so.") {
        Some(version) => version,
        None => name.strip_prefix("libonnxruntime.")?.strip_suffix(".dylib")?,
    };
    let numbers: Result<Vec<u32>, _> = version.split('.').map(str::parse).collect();
    numbers.ok()?.try_into().ok()
}

/// A folder's entries, sorted; empty if it cannot be read.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_the_version_of_the_library_alone() {
        let check = |name: &str, expected| assert_eq!(version(Path::new(name)), expected, "{name}");
        check("capi/libonnxruntime.so.1.31.1", Some([1, 31, 1]));
        check("capi/libonnxruntime.1.24.0.dylib", Some([1, 24, 0]));
        check("capi/libonnxruntime_providers_shared.so", None);
        check("capi/onnxruntime_pybind11_state.cpython-311-x86_64-linux-gnu.so", None);
        check("capi/libonnxruntime.so.1", None);
    }

    #[test]
    fn the_newest_is_advised() {
        let folder = tempfile::tempdir().unwrap();
        let install = |root: &str, version: &str| {
            let capi = folder.path().join(root).join("lib/python3.11/site-packages/onnxruntime/capi");
            fs::create_dir_all(&capi).unwrap();
            fs::File::create(capi.join(format!("libonnxruntime.so.{version}"))).unwrap();
            folder.path().join(root)
        };
        assert!(advice_on(found(&[folder.path().to_owned()])).starts_with("none in "));
        let old = install("old", "1.9.0");
        assert!(advice_on(found(std::slice::from_ref(&old))).starts_with("1.9.0 found at "));
        let new = install("new", "1.31.1");
        let advice = advice_on(found(&[new, old]));
        assert!(advice.starts_with("1.31.1 found; to use it: adage --embedder FOLDER --onnxruntime "), "{advice}");
    }
}
