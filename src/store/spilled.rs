//! Usage that a handle still has in memory when it is dropped while another handle holds the lock. It is written to a separate
//! file, which the next holder of the lock reads.

use std::sync::Arc;

use super::{Pending, Snapshot, Store};
use crate::error::folder::Result;
use crate::folder::Name;

/// The prefix of these files.
const PREFIX: &str = "spilled-";
/// The prefix before that while a file is being written.
const UNFINISHED: &str = "un";
/// The suffix of files with usage lines.
const USAGE: &str = ".usage";
/// The suffix of files with receipts for the log.
const RECEIPTS: &str = ".receipts";

impl Store {
    /// Writes the pending lines to files of their own, without waiting for a lock.
    pub(crate) fn spill(&self, known: &Snapshot) -> Result<()> {
        let mut pending = self.pending.lock();
        if pending.usage.is_empty() || !self.may_append(known) {
            return Ok(());
        }
        let Pending { usage, receipts } = std::mem::take(&mut *pending);
        let name = uuid::Uuid::new_v4();
        if !receipts.is_empty() {
            self.write_spilled(&format!("{PREFIX}{name}{RECEIPTS}"), &receipts)?;
        }
        self.write_spilled(&format!("{PREFIX}{name}{USAGE}"), &usage)
    }

    /// A torn file keeps its unfinished name.
    fn write_spilled(&self, name: &str, bytes: &[u8]) -> Result<()> {
        // Not a temporary file that the holder of the lock may sweep: this handle does not hold the lock.
        let unfinished = Name::from(format!("{UNFINISHED}{name}"));
        self.files().create(&unfinished, bytes)?;
        self.files().rename(unfinished, Name::from(name.to_owned()))
    }

    /// Counts what other handles spilled, if it was not absorbed yet.
    pub(super) fn read_spilled(&self, snapshot: &mut Snapshot) -> Result<()> {
        for name in self.spilled()?.into_iter().filter(|name| name.ends_with(USAGE)) {
            let bytes = self.files().read_or_empty(Name::from(name), 0)?;
            snapshot.is_provisional = true;
            let file = Arc::make_mut(&mut snapshot.file);
            snapshot.log.read_more(&bytes, Arc::make_mut(&mut file.book), &self.feedback);
        }
        Ok(())
    }

    /// The names of spilled files.
    fn spilled(&self) -> Result<Vec<String>> {
        let names = self.files().list(Name::TOP)?.into_iter().filter_map(|name| name.into_string().ok());
        let is_spilled =
            |name: &String| name.starts_with(PREFIX) && (name.ends_with(USAGE) || name.ends_with(RECEIPTS));
        Ok(names.filter(is_spilled).collect())
    }

    /// Absorbs what other handles spilled; the caller holds the lock. A crash may leave an absorbed file, but a receipt counts
    /// only once.
    pub(super) fn absorb_spilled(&self, known: &Snapshot) -> Result<()> {
        for name in self.spilled()? {
            let is_usage = name.ends_with(USAGE);
            let name = Name::from(name);
            let bytes = self.files().read_or_empty(&name, 0)?;
            if is_usage {
                self.usage_files().append(known.log.end, &bytes)?;
            } else {
                self.receipt_file().append(&bytes)?;
            }
            self.files().remove_if_exists(&name)?;
        }
        Ok(())
    }
}
