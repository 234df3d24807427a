//! Paths in JSON. A path need not be UTF-8, and serde refuses such a path: a field with a path names one of these modules.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// For readers: `#[serde(serialize_with = "crate::path_text::shown")]`.
///
/// # Errors
/// Those of the serializer.
pub fn shown<P: AsShown, S: Serializer>(path: &P, serializer: S) -> Result<S::Ok, S::Error> {
    path.as_shown().serialize(serializer)
}

/// A field's type that has paths.
pub trait AsShown {
    /// Its text in JSON.
    type Text: Serialize;

    /// The paths as text for readers.
    fn as_shown(&self) -> Self::Text;
}

impl AsShown for PathBuf {
    type Text = String;

    fn as_shown(&self) -> String {
        adage_redact::path_text(self)
    }
}

impl AsShown for Option<PathBuf> {
    type Text = Option<String>;

    fn as_shown(&self) -> Option<String> {
        self.as_ref().map(AsShown::as_shown)
    }
}

impl AsShown for Vec<PathBuf> {
    type Text = Vec<String>;

    fn as_shown(&self) -> Vec<String> {
        self.iter().map(AsShown::as_shown).collect()
    }
}

/// A path in a file that is read back, as text from which exactly this path is read again.
///
/// A path that is UTF-8 is spelled as it is. In another one, a byte that is not UTF-8 is spelled as NUL and two hex digits: no path
/// has a NUL, so no two paths have the same spelling.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Exact(PathBuf);

impl<'de> Deserialize<'de> for Exact {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(read(String::deserialize(deserializer)?)))
    }
}

/// For a field that is a path: `#[serde(with = "crate::path_text::exact")]`.
pub mod exact {
    use super::{Deserialize, Deserializer, Exact, Path, PathBuf, Serialize, Serializer, spelled};

    /// As a spelling from which exactly this is read again.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        spelled(path).serialize(serializer)
    }

    /// From that spelling.
    ///
    /// # Errors
    /// Those of the deserializer.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        Exact::deserialize(deserializer).map(|Exact(path)| path)
    }
}

/// The same for a list of paths.
pub mod exact_list {
    use super::{Deserialize, Deserializer, Exact, PathBuf, Serializer, spelled};

    /// As a spelling from which exactly this is read again.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(paths.iter().map(|path| spelled(path)))
    }

    /// From that spelling.
    ///
    /// # Errors
    /// Those of the deserializer.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<PathBuf>, D::Error> {
        let paths = Vec::<Exact>::deserialize(deserializer)?;
        Ok(paths.into_iter().map(|Exact(path)| path).collect())
    }
}

/// The same for an object whose keys are paths.
pub mod exact_keys {
    use std::collections::BTreeMap;

    use super::{Deserialize, Deserializer, Exact, PathBuf, Serialize, Serializer, spelled};

    /// As a spelling from which exactly this is read again.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<S: Serializer>(
        values: &BTreeMap<PathBuf, impl Serialize>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_map(values.iter().map(|(path, value)| (spelled(path), value)))
    }

    /// From that spelling.
    ///
    /// # Errors
    /// Those of the deserializer.
    pub fn deserialize<'de, V: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<PathBuf, V>, D::Error> {
        let values = BTreeMap::<Exact, V>::deserialize(deserializer)?;
        Ok(values.into_iter().map(|(Exact(path), value)| (path, value)).collect())
    }
}

/// The spelling of a path.
fn spelled(path: &Path) -> Cow<'_, str> {
    path.to_str().map_or_else(|| escaped(path).into(), Cow::Borrowed)
}

#[cfg(unix)]
fn escaped(path: &Path) -> String {
    use std::fmt::Write as _;
    use std::os::unix::ffi::OsStrExt;

    let mut text = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            let _ = write!(text, "\0{byte:02x}");
        }
    }
    text
}

/// The path of a spelling.
#[cfg(unix)]
fn read(text: String) -> PathBuf {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;

    let Some((first, rest)) = text.split_once('\0') else { return text.into() };
    let mut bytes = first.as_bytes().to_vec();
    for part in rest.split('\0') {
        // Anything else was not spelled by this program; a path with a NUL cannot be opened.
        let byte = part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let (Some(byte), Some(part)) = (byte, part.get(2..)) else { return text.into() };
        bytes.push(byte);
        bytes.extend(part.as_bytes());
    }
    OsString::from_vec(bytes).into()
}

/// On other systems such names are replaced: what is read back does not exist.
#[cfg(not(unix))]
fn escaped(path: &Path) -> String {
    path.to_string_lossy().replace(char::REPLACEMENT_CHARACTER, "\0fd")
}

#[cfg(not(unix))]
fn read(text: String) -> PathBuf {
    text.into()
}

#[cfg(all(test, unix))]
mod tests {
    use std::collections::BTreeMap;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    use proptest::prelude::*;

    use super::*;

    fn path(bytes: &[u8]) -> PathBuf {
        OsStr::from_bytes(bytes).into()
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct File {
        #[serde(with = "exact")]
        one: PathBuf,
        #[serde(with = "exact_list")]
        list: Vec<PathBuf>,
        #[serde(with = "exact_keys")]
        keys: BTreeMap<PathBuf, u8>,
    }

    proptest! {
        #[test]
        fn a_path_is_read_as_it_was_written(bytes in proptest::collection::vec(1_u8.., 0..12)) {
            let one = path(&bytes);
            let file = File { list: vec![one.clone()], keys: BTreeMap::from([(one.clone(), 7)]), one };
            let json = serde_json::to_string(&file).unwrap();
            prop_assert_eq!(serde_json::from_str::<File>(&json).unwrap(), file);
        }
    }

    #[test]
    fn spellings() {
        for (bytes, text) in [
            (&b"a/b.md"[..], "a/b.md"),
            (b"", ""),
            (b"bad\xff", "bad\0ff"),
            (b"\xff\xfe00/\xc3", "\0ff\0fe00/\0c3"),
            ("a\u{fffd}ff".as_bytes(), "a\u{fffd}ff"),
        ] {
            assert_eq!(spelled(&path(bytes)), text);
        }
        for forged in ["a\0", "a\0f", "a\0zz", "a\0é"] {
            assert_eq!(read(forged.to_owned()), PathBuf::from(forged), "{forged:?}");
        }
    }

    #[test]
    fn paths_for_readers() {
        #[derive(Serialize)]
        struct Fields {
            #[serde(serialize_with = "shown")]
            one: PathBuf,
            #[serde(serialize_with = "shown")]
            some: Option<PathBuf>,
            #[serde(serialize_with = "shown")]
            all: Vec<PathBuf>,
        }
        let fields = Fields { one: path(b"\xffa"), some: Some(path(b"\xff")), all: vec![path(b"a\nb")] };
        let expected = serde_json::json!({"one": "\u{fffd}ffa", "some": "\u{fffd}ff", "all": ["a\nb"]});
        assert_eq!(serde_json::to_value(fields).unwrap(), expected);
    }
}
