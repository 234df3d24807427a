//! The memory in PostgreSQL that `--store` names.

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use adage_postgres::{Config, PostgresStore};

use crate::location::env_path;

/// The environment variable that names a store.
pub(crate) const VARIABLE: &str = "ADAGE_STORE";

/// Connects to the server of an address. The password is that of the address, or of the environment as libpq reads it.
pub(crate) fn connect(address: &str) -> Result<PostgresStore, Box<dyn Error>> {
    let mut config = Config::parse(address)?;
    if let Some(password) = env_path("PGPASSWORD") {
        config = config.password(&password.to_string_lossy());
    }
    if let Some(text) = password_file().and_then(|file| fs::read_to_string(file).ok()) {
        config = config.password_of(&text);
    }
    Ok(PostgresStore::connect(&config)?)
}

fn password_file() -> Option<PathBuf> {
    env_path("PGPASSFILE").or_else(|| Some(std::env::home_dir()?.join(".pgpass")))
}
