//! Shell completions and manual pages, generated from the description of the command line.

use std::path::Path;
use std::process::ExitCode;

use adage::Playbook;
use adage::redact::{path_line, path_text};
use clap::CommandFactory;
use clap_complete::Shell;
use serde_json::json;

use crate::args::Cli;
use crate::output::Output;
use crate::result::Done;

pub(crate) fn completions(shell: Shell, out: &mut Output) -> Done {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "adage", &mut script);
    out.data(&String::from_utf8(script)?)?;
    Ok(ExitCode::SUCCESS)
}

#[expect(clippy::disallowed_methods, reason = "manual pages are not files of a memory")]
pub(crate) fn man(folder: &Path, out: &mut Output) -> Done {
    Playbook::check_target(folder)?;
    std::fs::create_dir_all(folder)?;
    // A page replaces what has its name, so that no link in its place is followed.
    let made = tempfile::tempdir_in(folder)?;
    clap_mangen::generate_to(Cli::command(), made.path())?;
    for page in std::fs::read_dir(made.path())? {
        let page = page?;
        std::fs::rename(page.path(), folder.join(page.file_name()))?;
    }
    let text = format!("wrote adage.1, and a page for each command, into {}", path_line(folder));
    out.both(&json!({ "folder": path_text(folder) }), &text)
}
