//! A memory that several people or machines have: trust, exports, backups, repositories.

pub(crate) mod exchange;
pub(crate) mod export_key;
pub(crate) mod keeping;
pub(crate) mod repository;
pub(crate) mod tracked;
pub(crate) mod trust;
pub(crate) mod writers;
