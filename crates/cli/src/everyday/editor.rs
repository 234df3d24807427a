//! Opens the user's editor on a text.

use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::process::Command;

use tempfile::TempPath;

/// The edited text; `None` when the editor failed.
pub(crate) fn edit(text: &[u8], suffix: &str) -> Result<Option<Vec<u8>>, Box<dyn Error>> {
    #[expect(clippy::disallowed_methods, reason = "the program's own setting; the library reads no environment")]
    let setting = |name: &str| std::env::var(name).ok().filter(|command| !command.trim().is_empty());
    let command = setting("VISUAL").or_else(|| setting("EDITOR")).unwrap_or_else(|| "vi".to_owned());
    let words = shlex::split(&command).ok_or_else(|| format!("{command:?} is not a command"))?;
    let (program, arguments) = words.split_first().ok_or("there is no editor; set VISUAL or EDITOR")?;
    let file = scratch_file(text, suffix)?;
    let status = Command::new(program).args(arguments).arg(&file).status();
    let status = status.map_err(|error| format!("{program} could not be started: {error}"))?;
    Ok(if status.success() { Some(fs::read(&file)?) } else { None })
}

/// A file that only the user can read, removed on drop. It is closed, so that an editor can replace it.
fn scratch_file(text: &[u8], suffix: &str) -> io::Result<TempPath> {
    let mut file = tempfile::Builder::new().prefix("adage-review-").suffix(suffix).tempfile()?;
    file.write_all(text)?;
    Ok(file.into_temp_path())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scratch_files_are_private_and_removed() {
        let path = {
            let file = scratch_file(b"x", ".patch").unwrap();
            assert_eq!(fs::read(&file).unwrap(), b"x");
            assert_eq!(file.extension().unwrap(), "patch");
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt;
                assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
            }
            file.to_owned()
        };
        assert!(!path.exists());
    }
}
