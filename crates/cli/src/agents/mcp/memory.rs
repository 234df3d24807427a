//! The memory of a server: opened at the first call, and kept open with its model and indexes.

use std::collections::BTreeSet;
use std::error::Error;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use adage::redact::printable_line;
use adage::{ChangeId, FolderError, Playbooks};

use crate::global::{Access, Global};

pub(super) struct Memory {
    pub(super) global: Global,
    open: Mutex<Option<Open>>,
    /// The changes that the server's client has made.
    made: Mutex<BTreeSet<ChangeId>>,
}

struct Open {
    books: Playbooks,
    silent: Vec<PathBuf>,
    has_user: bool,
}

impl Memory {
    pub(super) fn new(global: Global) -> Self {
        Self { global, open: Mutex::default(), made: Mutex::default() }
    }

    /// The playbooks that apply, and a line about each folder that is not trusted.
    pub(super) fn books(&self) -> Result<(Playbooks, Vec<String>), Box<dyn Error>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        // The user's own memory may have been made since.
        let has_user = self.global.user_memory().is_some();
        // Another folder may be at a path by now: it is judged as if it were found for the first time.
        let is_in_place = |known: &Open| {
            let books = known.books.as_slice();
            known.has_user == has_user && books.iter().all(|book| book.exists() && book.check_folder().is_ok())
        };
        let known = if let Some(known) = open.take().filter(is_in_place) {
            known
        } else {
            let books = self.global.books_if_any(Access::Write)?;
            Open { books: books.all, silent: books.silent, has_user }
        };
        let warning = |path: &PathBuf| printable_line(&FolderError::NotTrusted { path: path.clone() }.to_string());
        let warnings = known.silent.iter().map(warning).collect();
        let books = known.books.clone();
        // A folder may be trusted or created while the server runs.
        if known.silent.is_empty() && !books.as_slice().is_empty() {
            *open = Some(known);
        }
        Ok((books, warnings))
    }

    /// The playbooks; an error if a folder is not trusted.
    pub(super) fn trusted(&self) -> Result<Playbooks, Box<dyn Error>> {
        let (books, warnings) = self.books()?;
        match warnings.into_iter().next() {
            Some(warning) if books.as_slice().is_empty() => Err(warning.into()),
            _ => Ok(books),
        }
    }

    /// Records a change of the client, which it may undo.
    pub(super) fn note(&self, change: ChangeId) {
        self.made.lock().unwrap_or_else(PoisonError::into_inner).insert(change);
    }

    /// True if the client has made this change. What a person removed or edited is not for an agent to undo.
    pub(super) fn has_made(&self, change: ChangeId) -> bool {
        self.made.lock().unwrap_or_else(PoisonError::into_inner).contains(&change)
    }

    /// Makes the next call open the memory again, because a folder was created.
    pub(super) fn reopen(&self) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}
