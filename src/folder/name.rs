//! Names of entries in a directory. Every operation takes one.

use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// A path relative to a directory, without a root, `.` or `..`.
///
/// A name with such a part can be constructed, but every operation refuses it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name(PathBuf);

impl Name {
    /// The directory itself.
    pub const TOP: Self = Self(PathBuf::new());

    /// The name of an entry below this one.
    #[must_use]
    pub fn join(&self, part: impl AsRef<Path>) -> Self {
        Self(self.0.join(part))
    }

    /// The name with another extension.
    #[must_use]
    pub fn with_extension(&self, extension: &str) -> Self {
        let mut path = self.0.clone();
        // `Path::with_extension` would turn `..patch` into `..`.
        path.set_extension(extension);
        Self(path)
    }

    /// It as a relative path.
    #[must_use]
    pub fn as_path(&self) -> &Path {
        &self.0
    }

    /// False for a name that has a part other than plain names.
    pub(super) fn is_plain(&self) -> bool {
        self.0.components().all(|part| matches!(part, Component::Normal(_)))
    }
}

impl From<&'static str> for Name {
    fn from(name: &'static str) -> Self {
        Self(name.into())
    }
}

impl From<String> for Name {
    fn from(name: String) -> Self {
        Self(name.into())
    }
}

impl From<&Name> for Name {
    fn from(name: &Name) -> Self {
        name.clone()
    }
}

impl From<&OsStr> for Name {
    fn from(name: &OsStr) -> Self {
        Self(name.into())
    }
}
