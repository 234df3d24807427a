//! A bounded number of connections, each with the statements that it has prepared.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use adage::StoreError;
use parking_lot::{Condvar, Mutex};
use postgres::types::ToSql;
use postgres::{Client, Row, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::{Config, failure};

/// A statement's parameters.
pub(crate) type Parameters<'a> = &'a [&'a (dyn ToSql + Sync)];

/// A connection.
pub(crate) struct Connection {
    pub(crate) client: Client,
    prepared: HashMap<&'static str, Statement>,
}

impl Connection {
    /// Runs a statement, which is prepared once.
    pub(crate) fn query(&mut self, sql: &'static str, values: Parameters<'_>) -> Result<Vec<Row>, postgres::Error> {
        let statement = if let Some(statement) = self.prepared.get(sql) {
            statement.clone()
        } else {
            let statement = self.client.prepare(sql)?;
            self.prepared.insert(sql, statement.clone());
            statement
        };
        self.client.query(&statement, values)
    }
}

/// The connections of a store.
pub(crate) struct Pool {
    pub(crate) config: Config,
    tls: MakeRustlsConnect,
    state: Mutex<State>,
    freed: Condvar,
}

#[derive(Default)]
struct State {
    idle: Vec<Connection>,
    n_open: usize,
}

/// Settings of every connection: the tenant, and that each statement sees what others committed before it.
const BEGIN_SESSION: &str = "SELECT set_config('adage.tenant', $1, false), \
     set_config('default_transaction_isolation', 'read committed', false), set_config('statement_timeout', '30s', false), \
     set_config('lock_timeout', '10s', false), \
     set_config('idle_in_transaction_session_timeout', '0', false)";

impl Pool {
    pub(crate) fn new(config: Config, tls: MakeRustlsConnect) -> Self {
        Self { config, tls, state: Mutex::default(), freed: Condvar::new() }
    }

    /// Runs something on a connection, which is not used again if it fails.
    pub(crate) fn with<T>(
        &self,
        action: &'static str,
        run: impl FnOnce(&mut Connection) -> Result<T, postgres::Error>,
    ) -> Result<T, StoreError> {
        self.attempt(run)?.map_err(|error| failure::error(&self.config.name, action, error))
    }

    /// As [`with`](Self::with), with the error of the server. The outer error is that no connection could be had, so nothing was sent.
    pub(crate) fn attempt<T>(
        &self,
        run: impl FnOnce(&mut Connection) -> Result<T, postgres::Error>,
    ) -> Result<Result<T, postgres::Error>, StoreError> {
        let mut connection = self.take()?;
        let done = run(&mut connection);
        let is_usable = done.as_ref().err().is_none_or(|error| failure::kind(error) != failure::Failure::Lost);
        self.give_back(is_usable.then_some(connection));
        Ok(done)
    }

    fn take(&self) -> Result<Connection, StoreError> {
        let mut state = self.state.lock();
        loop {
            while let Some(connection) = state.idle.pop() {
                if !connection.client.is_closed() {
                    return Ok(connection);
                }
                state.n_open -= 1;
            }
            if state.n_open < self.config.max_connections {
                state.n_open += 1;
                break;
            }
            if self.freed.wait_for(&mut state, self.config.patience).timed_out() {
                return Err(StoreError::Busy { store: self.config.name.clone(), waited: self.config.patience });
            }
        }
        drop(state);
        self.open().inspect_err(|_| self.give_back(None))
    }

    fn give_back(&self, connection: Option<Connection>) {
        let mut state = self.state.lock();
        match connection {
            Some(connection) => state.idle.push(connection),
            None => state.n_open -= 1,
        }
        self.freed.notify_one();
    }

    /// A connection that does not count: its holder needs others meanwhile.
    pub(crate) fn take_beside(&self) -> Result<Connection, StoreError> {
        let mut state = self.state.lock();
        while let Some(connection) = state.idle.pop() {
            state.n_open -= 1;
            if !connection.client.is_closed() {
                return Ok(connection);
            }
        }
        drop(state);
        self.open()
    }

    /// Keeps a connection that did not count, if there is room.
    fn give_beside(&self, connection: Connection) {
        let mut state = self.state.lock();
        if state.n_open < self.config.max_connections {
            state.n_open += 1;
            state.idle.push(connection);
            self.freed.notify_one();
        }
    }

    /// Drops connections that nobody uses: after one was lost, the others are too.
    pub(crate) fn forget_idle(&self) {
        let mut state = self.state.lock();
        state.n_open -= state.idle.len();
        state.idle.clear();
    }

    /// A connection beside the pool's own.
    pub(crate) fn open(&self) -> Result<Connection, StoreError> {
        let begin = || {
            let client = self.config.client.connect(self.tls.clone())?;
            let mut connection = Connection { client, prepared: HashMap::new() };
            connection.query(BEGIN_SESSION, &[&self.config.tenant])?;
            Ok(connection)
        };
        begin().map_err(|error| failure::error(&self.config.name, "connect", error))
    }

    /// The present moment, for how long a call takes.
    #[expect(clippy::disallowed_methods, reason = "how long a caller waits is real time")]
    pub(crate) fn moment() -> Instant {
        Instant::now()
    }

    /// Pauses between two attempts.
    pub(crate) fn pause() {
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// A connection in whose transaction a lock is held.
pub(crate) struct Held {
    pool: Arc<Pool>,
    connection: Option<Connection>,
}

impl Held {
    pub(crate) fn new(pool: &Arc<Pool>, connection: Connection) -> Self {
        Self { pool: Arc::clone(pool), connection: Some(connection) }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        if let Some(mut connection) = self.connection.take()
            && connection.client.batch_execute("ROLLBACK").is_ok()
        {
            self.pool.give_beside(connection);
        }
    }
}
