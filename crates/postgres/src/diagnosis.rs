//! What a person wants to know about the server of a store.

use std::fmt;
use std::time::Duration;

use adage::StoreError;

use crate::PostgresStore;
use crate::pool::Pool;

/// What a server is and does.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnosis {
    /// The server's version, such as `18.6`.
    pub server: String,
    /// The version of pgvector in the database; none if it is not created there.
    pub pgvector: Option<String>,
    /// The median of five round trips.
    pub latency: Duration,
    /// True for a standby, which cannot be written to.
    pub is_standby: bool,
    /// True if the tables let a tenant see its own rows only.
    pub has_row_security: bool,
    /// True if the role is exempt from that: a superuser, or one with BYPASSRLS.
    pub bypasses_row_security: bool,
}

impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let milliseconds = self.latency.as_secs_f64() * 1000.0;
        write!(f, "PostgreSQL {}, answers in {milliseconds:.1} ms", self.server)?;
        f.write_str(if self.is_standby { "; a standby, which cannot be written to" } else { "" })?;
        f.write_str(match (self.has_row_security, self.bypasses_row_security) {
            (false, _) => "; tenants are not separated: row security is off",
            (true, true) => "; tenants are not separated for this role, which bypasses row security",
            (true, false) => "; tenants are separated by row security",
        })
    }
}

const QUERY: &str = "SELECT current_setting('server_version'), \
     (SELECT extversion FROM pg_extension WHERE extname = 'vector'), pg_is_in_recovery(), \
     (SELECT coalesce(bool_and(relrowsecurity AND relforcerowsecurity), false) FROM pg_class \
      WHERE relnamespace = to_regnamespace('adage') AND relkind = 'r' AND relname <> 'version'), \
     (SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user)";

impl PostgresStore {
    /// Asks the server what it is, and measures how long it takes to answer.
    ///
    /// # Errors
    /// `Unreachable`, `Refused`.
    pub fn diagnose(&self) -> Result<Diagnosis, StoreError> {
        self.pool.with("say what it is", |connection| {
            let mut round_trips = Vec::new();
            for _ in 0..5 {
                let begun = Pool::moment();
                connection.query("SELECT 1", &[])?;
                round_trips.push(begun.elapsed());
            }
            round_trips.sort_unstable();
            let row = connection.client.query_one(QUERY, &[])?;
            Ok(Diagnosis {
                server: row.try_get(0)?,
                pgvector: row.try_get(1)?,
                latency: round_trips.get(2).copied().unwrap_or_default(),
                is_standby: row.try_get(2)?,
                has_row_security: row.try_get(3)?,
                bypasses_row_security: row.try_get(4)?,
            })
        })
    }
}
