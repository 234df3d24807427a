//! Tests on a real server: `ADAGE_POSTGRES` names it, and `scripts/postgres start FOLDER` starts one.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "the environment names the server"
)]

mod conformance;
mod crashes;
mod servers;
mod tenants;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use adage::chrono::DateTime;
use adage::{HashingEmbedder, ManualClock, Playbook, PlaybookBuilder};
use adage_postgres::{Config, PostgresStore};

/// The address of the server; none, and that is said, if there is none to test on.
pub(crate) fn server() -> Option<String> {
    let address = std::env::var("ADAGE_POSTGRES").ok();
    if address.is_none() {
        eprintln!("NOT TESTED: ADAGE_POSTGRES names no server; `scripts/postgres start FOLDER` starts one");
    }
    address
}

/// A playbook that no other test uses.
pub(crate) fn fresh(address: &str) -> Config {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let number = NUMBER.fetch_add(1, Ordering::SeqCst);
    let time = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_nanos();
    Config::parse(&format!("{address}?playbook=test-{}-{time}-{number}", std::process::id())).unwrap()
}

pub(crate) fn connect(config: &Config) -> Arc<PostgresStore> {
    Arc::new(PostgresStore::connect(config).unwrap())
}

pub(crate) fn clock() -> Arc<ManualClock> {
    Arc::new(ManualClock::new(DateTime::parse_from_rfc3339("2026-03-01T12:00:00+00:00").unwrap()))
}

pub(crate) fn on(config: &Config) -> PlaybookBuilder {
    Playbook::on(connect(config)).with_embedder(Arc::new(HashingEmbedder))
}
