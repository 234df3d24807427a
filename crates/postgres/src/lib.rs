//! One playbook for many machines, kept in PostgreSQL.
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use adage::{Playbook, build_lesson};
//! use adage_postgres::{Config, PostgresStore};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let store = PostgresStore::connect(&Config::parse("postgres://app@db.example/memory?playbook=team")?)?;
//! let playbook = Playbook::on(Arc::new(store)).without_embedder().open()?;
//! playbook.learn_lesson(build_lesson("pinning numpy", "Pin numpy below 2.0."))?;
//! # Ok(())
//! # }
//! ```
//!
//! The decisions are those of the library, on any store. This crate keeps the rows: transactions, replication, failover, backup and access
//! rules are PostgreSQL's. `docs/postgres.md` of the repository says when to choose it. Calls block: in an async program, make them on a
//! blocking thread.

mod config;
mod diagnosis;
mod failure;
mod pool;
mod schema;
mod store;
mod tls;

pub use config::{Config, ConfigError};
pub use diagnosis::Diagnosis;
pub use store::PostgresStore;
