//! The type of an entry in a directory.

/// The type of an entry; a link is not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    Missing,
    File {
        n_links: u64,
        n_bytes: u64,
        is_writable: bool,
    },
    Folder,
    Link,
    /// A device, a pipe, a socket.
    Other,
}
