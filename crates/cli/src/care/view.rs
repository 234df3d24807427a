//! The command view: a local page on the memory, or the same as one file.

use std::error::Error;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use adage::Playbook;
use adage::redact::{path_line, path_text};
use adage_view::{Access as PageAccess, Memory, PageServer, export};
use clap::Args;
use serde_json::json;

use crate::global::{Access, Global};
use crate::output::Output;
use crate::result::Done;

#[derive(Args)]
pub(crate) struct View {
    /// Write the page into this file instead, to be read only; an existing file is replaced
    #[arg(long, value_name = "FILE")]
    export: Option<PathBuf>,
    /// Offer no changes
    #[arg(long)]
    read_only: bool,
    /// Print the link only, and open no browser
    #[arg(long)]
    no_open: bool,
}

pub(crate) fn view(global: &Global, asked: &View, out: &mut Output) -> Done {
    let is_read_only = asked.read_only || asked.export.is_some();
    let (access, offered) =
        if is_read_only { (Access::Read, PageAccess::ReadOnly) } else { (Access::Write, PageAccess::Write) };
    let books = global.books(access)?.spoken()?;
    let mut memory = Memory::new(books, global.realm(), offered);
    if let Some(first) = memory.first() {
        memory = memory.clone().with_inbox(global.inbox(first));
    }
    if let Some(file) = &asked.export {
        write(file, &export(&memory)?)?;
        return out.both(&json!({ "file": path_text(file) }), &format!("wrote {}", path_line(file)));
    }
    let server = PageServer::bind(memory)?;
    let stop = server.stop_handle();
    ctrlc::set_handler(move || stop.stop())?;
    let mut link = server.link();
    out.both(&json!({ "link": link }), &link)?;
    out.message("Ctrl-C ends it, and an hour without a request");
    out.flush()?;
    if !asked.no_open {
        open_browser(&link);
    }
    server.run(&mut |next| {
        link = next;
        out.message(&format!("a browser was let in; a link for another one: {link}"));
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a file next to its final place and renames it, so that it is whole or not there, and no link is followed.
fn write(file: &Path, page: &str) -> Result<(), Box<dyn Error>> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Playbook::check_target(folder)?;
    let mut part = tempfile::NamedTempFile::new_in(folder)?;
    part.write_all(page.as_bytes())?;
    let _file: File = part.persist(file)?;
    Ok(())
}

/// Asks the system to open the link. Where that fails, the link was printed.
fn open_browser(link: &str) {
    let (program, first): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("rundll32", &["url.dll,FileProtocolHandler"])
    } else {
        ("xdg-open", &[])
    };
    let mut command = Command::new(program);
    command.args(first).arg(link).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Ok(mut child) = command.spawn() {
        std::thread::spawn(move || child.wait());
    }
}
