//! The folder's lock. Waiting for it has a time limit, and an error names the holder.

use std::fs::{File, TryLockError};
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};

use crate::error::folder::Holder;

/// A lock that is held until it is dropped; the kernel frees it when the process dies.
pub(crate) type Lock = Box<dyn Send>;

/// The result of an attempt to lock.
pub(crate) enum Locked {
    Taken(Lock),
    /// Another handle holds it; with the process, if the system reports it.
    Held(Option<Holder>),
}

/// How long a writer waits before it logs that it waits.
const SILENCE: Duration = Duration::from_millis(300);

/// Waits for the lock of one file. The operating system's queue is fair but has no time limit, so a thread waits on the
/// caller's behalf. If it outlasts the caller's time limit, it serves the next caller.
#[derive(Default)]
pub(crate) struct Waiter {
    queued: Mutex<Option<Arc<Queued>>>,
}

#[derive(Default)]
struct Queued {
    /// The file's device and inode.
    identity: Option<(u64, u64)>,
    wait: Mutex<LockWait>,
    is_called: Condvar,
}

#[derive(Default)]
struct LockWait {
    /// False after the caller gave up: the lock is released as soon as it is acquired.
    is_wanted: bool,
    is_over: bool,
    locked: Option<io::Result<File>>,
}

impl Waiter {
    /// Locks the file exclusively, after at most `patience`.
    pub(super) fn lock(&self, file: File, patience: Duration) -> io::Result<Locked> {
        match file.try_lock() {
            Ok(()) => return Ok(Locked::Taken(Box::new(file))),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) => {}
        }
        let identity = identity(&file);
        let holder = || identity.and_then(holder);
        if patience.is_zero() {
            return Ok(Locked::Held(holder()));
        }
        let queued = match self.queued.lock().take() {
            Some(queued) if queued.identity == identity && queued.is_joined() => queued,
            _ => Queued::start(file, identity)?,
        };
        let deadline = now() + patience;
        if let Some(locked) = queued.wait_until((now() + SILENCE).min(deadline)) {
            return locked.map(|file| Locked::Taken(Box::new(file)));
        }
        if patience > SILENCE {
            let holder = holder().map_or_else(|| "another process".to_owned(), |holder| holder.to_string());
            tracing::warn!("waiting for the lock that {holder} holds, for at most {:.1} s", patience.as_secs_f64());
        }
        if let Some(locked) = queued.wait_until(deadline) {
            return locked.map(|file| Locked::Taken(Box::new(file)));
        }
        let holder = holder();
        if let Some(locked) = queued.leave() {
            return locked.map(|file| Locked::Taken(Box::new(file)));
        }
        *self.queued.lock() = Some(queued);
        Ok(Locked::Held(holder))
    }
}

impl Queued {
    /// Starts a thread that waits for the lock.
    fn start(file: File, identity: Option<(u64, u64)>) -> io::Result<Arc<Self>> {
        let queued = Arc::new(Self { identity, ..Self::default() });
        queued.wait.lock().is_wanted = true;
        let shared = Arc::clone(&queued);
        std::thread::Builder::new().name("adage-lock".to_owned()).spawn(move || {
            let locked = file.lock().map(|()| file);
            let mut wait = shared.wait.lock();
            wait.is_over = true;
            if wait.is_wanted {
                wait.locked = Some(locked);
            }
            shared.is_called.notify_all();
        })?;
        Ok(queued)
    }

    /// Takes over a waiting thread from a caller that gave up. False if the thread no longer waits.
    fn is_joined(&self) -> bool {
        let mut wait = self.wait.lock();
        wait.is_wanted = true;
        !wait.is_over
    }

    fn wait_until(&self, deadline: Instant) -> Option<io::Result<File>> {
        let mut wait = self.wait.lock();
        self.is_called.wait_while_until(&mut wait, |wait| !wait.is_over, deadline);
        wait.locked.take()
    }

    /// Gives up, unless the lock was acquired at the last moment.
    fn leave(&self) -> Option<io::Result<File>> {
        let mut wait = self.wait.lock();
        wait.is_wanted = false;
        wait.locked.take()
    }
}

#[expect(clippy::disallowed_methods, reason = "how long a caller waits is real time")]
pub(super) fn now() -> Instant {
    Instant::now()
}

/// Device and inode, by which Linux lists locks.
#[cfg(unix)]
fn identity(file: &File) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    file.metadata().ok().map(|metadata| (metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(_: &File) -> Option<(u64, u64)> {
    None
}

/// The holder of a lock of this file.
fn holder((device, inode): (u64, u64)) -> Option<Holder> {
    // The list changes while it is read: a lock may be missed once.
    let look = |_| holder_in(&std::fs::read_to_string("/proc/locks").ok()?, device, inode);
    let pid = (0..5).find_map(look)?;
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).ok().map(|name| name.trim_end().to_owned());
    Some(Holder { pid, name })
}

/// The process of the first lock of a file in a list such as `/proc/locks`: `1: FLOCK  ADVISORY  WRITE 1234 fe:01:5678 0 EOF`.
/// Some file systems list another device than they report; the inode decides then.
fn holder_in(locks: &str, device: u64, inode: u64) -> Option<u32> {
    // The kernel's encoding of a device number for programs.
    let (major, minor) = ((device >> 8) & 0xfff, (device & 0xff) | ((device >> 12) & 0xf_ff00));
    let mut other = None;
    for line in locks.lines() {
        // A process that waits is listed with an arrow.
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [_, "FLOCK", _, _, pid, file, ..] = fields.as_slice() else { continue };
        let (Ok(pid), mut parts) = (pid.parse::<u32>(), file.split(':')) else { continue };
        let mut hex = || u64::from_str_radix(parts.next()?, 16).ok();
        let listed = (hex(), hex());
        if parts.next().and_then(|listed| listed.parse().ok()) != Some(inode) || pid == 0 {
            continue;
        }
        if listed == (Some(major), Some(minor)) {
            return Some(pid);
        }
        other = other.or(Some(pid));
    }
    other
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_holder_is_found_in_the_list_of_locks() {
        let locks = "1: POSIX  ADVISORY  WRITE 7 fe:01:5678 0 EOF\n\
                     2: FLOCK  ADVISORY  WRITE 11 fe:02:5678 0 EOF\n\
                     2: -> FLOCK  ADVISORY  WRITE 12 fe:01:5678 0 EOF\n\
                     3: FLOCK  ADVISORY  READ 13 fe:01:5678 0 EOF\n";
        let device = (0xfe << 8) | 1;
        assert_eq!(holder_in(locks, device, 5678), Some(13));
        assert_eq!(holder_in(locks, 0x2_0000, 5678), Some(11), "by the inode, where the device is another one");
        assert_eq!(holder_in(locks, device, 9), None);
    }

    #[test]
    fn a_wait_times_out_and_a_lock_acquired_too_late_is_released() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let open = || File::options().create(true).append(true).open(&path).unwrap();
        let held = open();
        held.lock().unwrap();
        let waiter = Waiter::default();
        let begun = now();
        for _ in 0..2 {
            let locked = waiter.lock(open(), Duration::from_millis(50)).unwrap();
            let Locked::Held(holder) = locked else { panic!("locked twice") };
            if cfg!(target_os = "linux") {
                assert_eq!(holder.map(|holder| holder.pid), Some(std::process::id()));
            }
        }
        assert!(begun.elapsed() >= Duration::from_millis(100));
        drop(held);
        assert!(matches!(waiter.lock(open(), Duration::from_secs(5)).unwrap(), Locked::Taken(_)));
        assert!(matches!(Waiter::default().lock(open(), Duration::from_secs(5)).unwrap(), Locked::Taken(_)));
    }
}
