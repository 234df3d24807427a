//! The result of a command: an exit code, or an error with its causes.

use std::error::Error;
use std::fmt;
use std::io;
use std::process::ExitCode;

use adage::FolderError;
use adage::embed::EmbedError;

/// The result of a command, apart from its output.
pub(crate) type Done = Result<ExitCode, Box<dyn Error>>;

/// 0 on success, 1 otherwise.
pub(crate) fn exit_code(is_done: bool) -> ExitCode {
    ExitCode::from(u8::from(!is_done))
}

/// An invalid command line: exit code 2.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl fmt::Display for Usage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for Usage {}

/// An error with its causes.
pub(crate) fn chain(error: &(dyn Error + 'static)) -> String {
    let causes = std::iter::successors(Some(error), |error| (*error).source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

/// A hint about an error that its message does not contain.
pub(crate) fn next_step(error: &(dyn Error + 'static)) -> Option<&'static str> {
    let of_folder = |error: &FolderError| match error {
        FolderError::Io { source, .. } if source.kind() == io::ErrorKind::ReadOnlyFilesystem => {
            Some("the memory can be read, not changed")
        }
        FolderError::Io { source, .. } if source.kind() == io::ErrorKind::StorageFull => {
            Some("nothing was changed; make room")
        }
        _ => None,
    };
    if let Some(EmbedError::Load { .. }) = error.downcast_ref::<EmbedError>() {
        return Some(EMBEDDERS);
    }
    match error.downcast_ref::<adage::Error>()? {
        adage::Error::NoSuchLesson { .. } => Some("`adage list` shows all"),
        adage::Error::NoSuchChange { .. } => Some("`adage history` lists the changes"),
        adage::Error::Embed(EmbedError::Load { .. }) => Some(EMBEDDERS),
        adage::Error::Folder(error) => of_folder(error),
        _ => None,
    }
}

const EMBEDDERS: &str = "--embedder takes `bundled`, `hashing`, `none` or a folder with model.onnx and tokenizer.json";

pub(crate) fn is_broken_pipe(error: &(dyn Error + 'static)) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
