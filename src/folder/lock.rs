//! The folder's lock. Waiting for it has a time limit, and an error names the holder.

use std::fs::{File, TryLockError};
use std::io;
use std::time::{Duration, Instant};

use crate::error::folder::Holder;

/// A lock that is held until it is dropped; the kernel frees it when the process dies.
pub type Lock = Box<dyn Send>;

/// The result of an attempt to lock.
pub(crate) enum Locked {
    Taken(Lock),
    /// Another handle holds it; with the process, if the system reports it.
    Held(Option<Holder>),
}

/// The time between two attempts: a fraction of a commit.
const PAUSE: Duration = Duration::from_millis(1);
/// How long a writer waits before it logs that it waits.
const SILENCE: Duration = Duration::from_millis(300);

/// Locks the file exclusively, after at most `patience`.
pub(super) fn lock(file: File, patience: Duration) -> io::Result<Locked> {
    let (begun, mut is_silent) = (now(), patience > SILENCE);
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Locked::Taken(Box::new(file))),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) => {}
        }
        let waited = begun.elapsed();
        if waited >= patience {
            return Ok(Locked::Held(holder(&file)));
        }
        if is_silent && waited > SILENCE {
            is_silent = false;
            let holder = holder(&file).map_or_else(|| "another process".to_owned(), |holder| holder.to_string());
            tracing::warn!("waiting for the lock that {holder} holds, for at most {:.1} s", patience.as_secs_f64());
        }
        std::thread::sleep(PAUSE.min(patience.saturating_sub(waited)));
    }
}

#[expect(clippy::disallowed_methods, reason = "how long a caller waits is real time")]
pub(super) fn now() -> Instant {
    Instant::now()
}

/// The holder of the file's lock, where the system lists locks.
#[cfg(unix)]
fn holder(file: &File) -> Option<Holder> {
    use std::os::unix::fs::MetadataExt;
    let inode = file.metadata().ok()?.ino();
    // The list changes while it is read: a lock may be missed once.
    let pid = (0..5).find_map(|_| holder_in(&std::fs::read_to_string("/proc/locks").ok()?, inode))?;
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).ok().map(|name| name.trim_end().to_owned());
    Some(Holder { pid, name })
}

#[cfg(not(unix))]
fn holder(_: &File) -> Option<Holder> {
    None
}

/// The process of the first lock of a file in a list such as `/proc/locks`: `1: FLOCK  ADVISORY  WRITE 1234 fe:01:5678 0 EOF`. Some
/// file systems list another device than they report, so the inode decides.
fn holder_in(locks: &str, inode: u64) -> Option<u32> {
    locks.lines().find_map(|line| {
        // A process that waits is listed with an arrow.
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [_, "FLOCK", _, _, pid, file, ..] = fields.as_slice() else { return None };
        let is_it = file.rsplit(':').next().and_then(|listed| listed.parse().ok()) == Some(inode);
        pid.parse().ok().filter(|pid| is_it && *pid > 0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_holder_is_found_in_the_list_of_locks() {
        let locks = "1: POSIX  ADVISORY  WRITE 7 fe:01:5678 0 EOF\n\
                     2: -> FLOCK  ADVISORY  WRITE 12 fe:01:5678 0 EOF\n\
                     3: FLOCK  ADVISORY  READ 13 fe:01:5678 0 EOF\n";
        assert_eq!(holder_in(locks, 5678), Some(13));
        assert_eq!(holder_in(locks, 9), None);
    }

    #[test]
    fn a_wait_times_out_and_names_the_holder() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let open = || File::options().create(true).append(true).open(&path).unwrap();
        let held = open();
        held.lock().unwrap();
        let begun = now();
        let Locked::Held(holder) = lock(open(), Duration::from_millis(50)).unwrap() else { panic!("locked twice") };
        if cfg!(target_os = "linux") {
            assert_eq!(holder.map(|holder| holder.pid), Some(std::process::id()));
        }
        assert!(begun.elapsed() >= Duration::from_millis(50));
        drop(held);
        assert!(matches!(lock(open(), Duration::from_secs(5)).unwrap(), Locked::Taken(_)));
    }
}
