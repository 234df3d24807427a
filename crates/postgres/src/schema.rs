//! The tables, by version.

use adage::StoreError;

use crate::failure;
use crate::pool::Pool;

/// The statements that lead to each version.
const MIGRATIONS: [&str; 1] = [include_str!("schema.sql")];
/// The version that this crate reads and writes.
pub(crate) const VERSION: usize = MIGRATIONS.len();
/// The oldest server that is tested against, as `server_version_num`.
const OLDEST_SERVER: i32 = 150_000;

/// Makes the tables, or brings them to the present version, one process at a time; a read-only handle only looks.
///
/// # Errors
/// `Version` for a server that is too old and for tables of a later version; `Refused`, `Unreachable`.
pub(crate) fn migrate(pool: &Pool) -> Result<(), StoreError> {
    let server: i32 = pool.with("state its version", |connection| {
        let rows = connection.query("SELECT current_setting('server_version_num')::int4", &[])?;
        rows.first().map_or(Ok(0), |row| row.try_get(0))
    })?;
    let version = |what, found: &dyn ToString, expected: String, advice| {
        let (store, found) = (pool.config.name.clone(), found.to_string());
        Err(StoreError::Version { store, what, found, expected, advice })
    };
    if server < OLDEST_SERVER {
        return version("server version", &server, format!("at least {OLDEST_SERVER}"), "upgrade the server");
    }
    let found = present(pool)?;
    if found > VERSION {
        return version("tables of version", &found, VERSION.to_string(), "use a newer version of this program");
    }
    if found == VERSION {
        return Ok(());
    }
    if pool.config.is_read_only {
        return version(
            "tables of version",
            &found,
            VERSION.to_string(),
            "open it once for writing, which makes the tables",
        );
    }
    let done = pool.attempt(|connection| {
        let mut transaction = connection.client.transaction()?;
        transaction.query("SELECT pg_advisory_xact_lock(hashtextextended('adage schema', 0))", &[])?;
        let now = version_in(&mut transaction)?;
        for statements in MIGRATIONS.iter().skip(now) {
            transaction.batch_execute(statements)?;
        }
        let number = i32::try_from(VERSION).unwrap_or(i32::MAX);
        let set = "INSERT INTO adage.version (version) VALUES ($1) ON CONFLICT (is_only) DO UPDATE SET version = excluded.version";
        transaction.execute(set, &[&number])?;
        transaction.commit()
    })?;
    done.map_err(|error| failure::error(&pool.config.name, "make its tables", error))
}

fn present(pool: &Pool) -> Result<usize, StoreError> {
    pool.with("state the version of its tables", |connection| version_in(&mut connection.client))
}

fn version_in(client: &mut impl postgres::GenericClient) -> Result<usize, postgres::Error> {
    // A query, because what a connection found by name before it waited for another's tables (`to_regclass`) may be remembered.
    const EXISTS: &str =
        "SELECT EXISTS (SELECT FROM pg_catalog.pg_tables WHERE schemaname = 'adage' AND tablename = 'version')";
    if client.query_one(EXISTS, &[])?.try_get(0)? {
        let found = client.query_opt("SELECT version FROM adage.version", &[])?;
        let version: i32 = found.map_or(Ok(0), |row| row.try_get(0))?;
        Ok(usize::try_from(version).unwrap_or_default())
    } else {
        Ok(0)
    }
}
