//! Usage that a handle still has in memory when it is dropped while somebody else holds the lock: it goes to a separate file, which
//! the next holder of the lock reads in.

use std::sync::Arc;

use super::{Pending, Snapshot, Store};
use crate::error::folder::Result;
use crate::folder::Name;

/// How the names of such files begin.
const PREFIX: &str = "spilled-";
/// What comes before that while one is written.
const UNFINISHED: &str = "un";
/// How those of usage lines end.
const USAGE: &str = ".usage";
/// How those of receipts for the log end.
const RECEIPTS: &str = ".receipts";

impl Store {
    /// Writes down what waits, in files that nobody else writes to. It waits for no lock.
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

    /// A torn file has no name yet.
    fn write_spilled(&self, name: &str, bytes: &[u8]) -> Result<()> {
        // Not one of the temporary files that a lock's holder sweeps away: the lock is somebody else's.
        let unfinished = Name::from(format!("{UNFINISHED}{name}"));
        self.files().create(&unfinished, bytes)?;
        self.files().rename(unfinished, Name::from(name.to_owned()))
    }

    /// Counts what other handles spilled and nobody took in yet.
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

    /// Takes in what other handles spilled; the caller holds the lock. A crash may leave a file that was taken in: a receipt counts
    /// once.
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
