//! The store: statements for what the library asks of one.

use std::sync::Arc;
use std::time::Duration;

use adage::StoreError;
use adage::extend::{Changes, Commit, Known, List, Lock, Store, StoredEvent, StoredVector, UsageEvent};
use adage::lesson::TextHash;
use postgres::error::SqlState;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::failure::{self, Failure};
use crate::pool::{Connection, Held, Parameters, Pool};
use crate::{Config, schema, tls};

/// A playbook in PostgreSQL.
pub struct PostgresStore {
    pub(crate) pool: Arc<Pool>,
    /// The playbook; 0 if there is none and the store is read-only.
    playbook: i64,
}

/// What changed since a generation ($2), and events after a number ($3) if they are wanted ($4). The kinds of its rows: 0 the playbook,
/// 1 a row, 2 an event, 3 the last feedback. Without changes, only the first part is run.
const READ: &str = "WITH p AS MATERIALIZED (
    SELECT id, tenant, generation, folded, $2::int8 = 0 OR generation < $2::int8 OR $2::int8 < oldest AS whole,
        generation <> $2::int8 AS changed, generation <> $2::int8 OR $4::bool AS more
    FROM adage.playbooks WHERE tenant = adage.tenant() AND id = $1::int8)
SELECT 0, generation, folded, CASE WHEN whole THEN 1::int8 ELSE 0 END, NULL::text, NULL::jsonb FROM p
UNION ALL SELECT 1, r.list::int8, 0, 0, r.key, r.value FROM p JOIN adage.rows r ON r.tenant = p.tenant AND r.playbook = p.id
    AND r.value IS NOT NULL WHERE p.changed AND p.whole
UNION ALL SELECT 1, r.list::int8, 0, 0, r.key, r.value FROM p JOIN adage.rows r ON r.tenant = p.tenant AND r.playbook = p.id
    AND r.generation > $2::int8 WHERE p.changed AND NOT p.whole
UNION ALL SELECT 2, u.id, 0, 0, NULL, u.event FROM p JOIN adage.usage u ON u.tenant = p.tenant AND u.playbook = p.id
    AND u.number IS NULL WHERE p.more
UNION ALL SELECT 2, u.id, u.number, 0, NULL, u.event FROM p JOIN adage.usage u ON u.tenant = p.tenant AND u.playbook = p.id
    AND u.number > $3::int8 AND u.at > now() - interval '8 days' WHERE p.more
UNION ALL SELECT 3, (SELECT max(u.id) FROM adage.usage u WHERE u.tenant = p.tenant AND u.playbook = p.id AND u.is_feedback),
    0, 0, NULL, NULL FROM p WHERE p.more";
const COMMIT: &str = "SELECT adage.commit($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)";
const APPEND: &str = "INSERT INTO adage.usage (playbook, key, event, is_feedback, line) \
     SELECT $1::int8, e->>0, e->1, false, e->>2 FROM jsonb_array_elements($2) AS e ON CONFLICT (tenant, playbook, key) DO NOTHING";
const APPEND_FEEDBACK: &str = "SELECT adage.append_feedback($1, $2, $3, $4, $5)";
const HISTORY: &str = "SELECT line FROM adage.history WHERE tenant = adage.tenant() AND playbook = $1 ORDER BY number";
const LOGGED: &str =
    "SELECT line FROM adage.usage WHERE tenant = adage.tenant() AND playbook = $1 AND line IS NOT NULL ORDER BY id";
const VECTORS: &str = "SELECT number, text, components FROM adage.vectors \
     WHERE tenant = adage.tenant() AND playbook = $1 AND model = $2 AND number > $3 ORDER BY number";
const SAVE_VECTORS: &str = "SELECT adage.save_vectors($1, $2, $3, $4, $5)";
const RECORD: &str = "SELECT value FROM adage.records WHERE tenant = adage.tenant() AND playbook = $1 AND name = $2";
const MAKE_RECORD: &str =
    "INSERT INTO adage.records (playbook, name) VALUES ($1, $2) ON CONFLICT (tenant, playbook, name) DO NOTHING";
const LOCK_RECORD: &str =
    "SELECT value FROM adage.records WHERE tenant = adage.tenant() AND playbook = $1 AND name = $2 FOR UPDATE";
const SET_RECORD: &str =
    "UPDATE adage.records SET value = $3 WHERE tenant = adage.tenant() AND playbook = $1 AND name = $2";
const FIND: &str = "SELECT id FROM adage.playbooks WHERE tenant = adage.tenant() AND name = $1";
const MAKE: &str = "INSERT INTO adage.playbooks (name) VALUES ($1) ON CONFLICT (tenant, name) DO NOTHING";

impl PostgresStore {
    /// Connects, makes the tables if there are none, and finds or makes the playbook. A read-only store makes nothing.
    ///
    /// # Errors
    /// `Unreachable`, `Refused`, `Version`.
    pub fn connect(config: &Config) -> Result<Self, StoreError> {
        let pool = Arc::new(Pool::new(config.clone(), tls::connector(config)?));
        schema::migrate(&pool)?;
        let playbook = pool.with("find the playbook", |connection| {
            let find = |connection: &mut Connection| {
                let rows = connection.query(FIND, &[&config.playbook])?;
                rows.first().map(|row| row.try_get::<_, i64>(0)).transpose()
            };
            let found = find(connection)?;
            if found.is_some() || config.is_read_only {
                return Ok(found.unwrap_or_default());
            }
            connection.query(MAKE, &[&config.playbook])?;
            Ok(find(connection)?.unwrap_or_default())
        })?;
        Ok(Self { pool, playbook })
    }

    /// Runs a statement that may be run twice: again on a new connection if the first one was lost.
    fn query(
        &self,
        action: &'static str,
        sql: &'static str,
        values: Parameters<'_>,
    ) -> Result<Vec<postgres::Row>, StoreError> {
        let first = self.pool.attempt(|connection| connection.query(sql, values))?;
        match first {
            Err(error) if failure::kind(&error) != Failure::Refused => {
                self.pool.forget_idle();
                self.pool.with(action, |connection| connection.query(sql, values))
            }
            done => done.map_err(|error| failure::error(self.name(), action, error)),
        }
    }

    /// Runs a statement whose effect an id in it makes happen once: until it is known, for as long as the patience.
    fn resolve(&self, action: &'static str, sql: &'static str, values: Parameters<'_>) -> Result<bool, StoreError> {
        let begun = Pool::moment();
        let mut lost: Option<postgres::Error> = None;
        loop {
            match self.pool.attempt(|connection| connection.query(sql, values)) {
                Ok(Ok(rows)) => return Ok(rows.first().and_then(|row| row.try_get(0).ok()).unwrap_or_default()),
                Ok(Err(error)) => match failure::kind(&error) {
                    Failure::Undone => return Ok(false),
                    Failure::Lost => lost = Some(error),
                    Failure::Refused if lost.is_none() => return Err(failure::error(self.name(), action, error)),
                    Failure::Refused => {}
                },
                // Nothing was ever sent.
                Err(error) if lost.is_none() => return Err(error),
                Err(_) => {}
            }
            self.pool.forget_idle();
            if begun.elapsed() > self.pool.config.patience
                && let Some(source) = lost
            {
                return Err(StoreError::Unresolved { store: self.name().to_owned(), source: source.into() });
            }
            Pool::pause();
        }
    }

    fn refuse_read_only(&self) -> Result<(), StoreError> {
        if self.may_write() { Ok(()) } else { Err(StoreError::ReadOnly { store: self.name().to_owned() }) }
    }

    fn unreadable(&self, what: &'static str) -> impl Fn(postgres::Error) -> StoreError {
        move |error| {
            let (store, reason) = (self.pool.config.name.clone(), error.to_string());
            StoreError::Unreadable { store, what: what.to_owned(), reason }
        }
    }

    fn lines(&self, action: &'static str, sql: &'static str) -> Result<Vec<String>, StoreError> {
        let rows = self.query(action, sql, &[&self.playbook])?;
        rows.iter().map(|row| row.try_get(0)).collect::<Result<_, _>>().map_err(self.unreadable("a line"))
    }
}

impl Store for PostgresStore {
    fn name(&self) -> &str {
        &self.pool.config.name
    }

    fn may_write(&self) -> bool {
        !self.pool.config.is_read_only
    }

    fn read(&self, known: Known) -> Result<Changes, StoreError> {
        let (generation, usage) = (number(known.generation), number(known.usage));
        let rows = self.query("read", READ, &[&self.playbook, &generation, &usage, &known.wants_usage])?;
        let mut changes = Changes::default();
        for row in &rows {
            add(&mut changes, row).map_err(self.unreadable("a row"))?;
        }
        changes.events.sort_by_key(|event| (event.number.unwrap_or(u64::MAX), event.id));
        Ok(changes)
    }

    fn commit(&self, commit: &Commit) -> Result<bool, StoreError> {
        self.refuse_read_only()?;
        let rows = commit.rows.iter().map(|row| json!([code(row.list), row.key, row.value]));
        let rows = Value::Array(rows.collect());
        let none = Vec::new();
        let (model, vectors) = match &commit.vectors {
            Some((model, vectors)) => (model.to_string(), vectors),
            None => (String::new(), &none),
        };
        let (texts, dimension, components) = columns(vectors);
        let kept: Option<Vec<String>> =
            commit.kept_texts.as_ref().map(|kept| kept.iter().map(ToString::to_string).collect());
        let (known, generation) = (number(commit.known), number(commit.generation));
        self.resolve(
            "commit",
            COMMIT,
            &[
                &self.playbook,
                &Uuid::from_u128(commit.id),
                &known,
                &generation,
                &rows,
                &commit.history,
                &commit.replaces_history,
                &commit.folded,
                &model,
                &texts,
                &dimension,
                &components,
                &kept,
                &commit.has_lock,
            ],
        )
    }

    fn append(&self, retrievals: &[UsageEvent]) -> Result<(), StoreError> {
        self.refuse_read_only()?;
        let events = retrievals.iter().map(|event| json!([event.key, event.event, event.line]));
        self.query("append usage", APPEND, &[&self.playbook, &Value::Array(events.collect())]).map(drop)
    }

    fn append_feedback(&self, feedback: &UsageEvent, known: i64) -> Result<bool, StoreError> {
        self.refuse_read_only()?;
        let UsageEvent { key, event, line } = feedback;
        self.resolve("append feedback", APPEND_FEEDBACK, &[&self.playbook, key, event, line, &known])
    }

    fn history(&self) -> Result<Vec<String>, StoreError> {
        self.lines("read the history", HISTORY)
    }

    fn logged(&self) -> Result<Vec<String>, StoreError> {
        self.lines("read the log", LOGGED)
    }

    fn vectors(&self, model: TextHash, after: u64) -> Result<Vec<StoredVector>, StoreError> {
        let rows = self.query("read vectors", VECTORS, &[&self.playbook, &model.to_string(), &number(after)])?;
        let vector = |row: &postgres::Row| {
            let number = u64::try_from(row.try_get::<_, i64>(0)?).unwrap_or_default();
            let text = row.try_get::<_, &str>(1)?.parse().unwrap_or_else(|_| TextHash::of(&[""]));
            Ok(StoredVector { number, text, components: row.try_get(2)? })
        };
        rows.iter().map(vector).collect::<Result<_, _>>().map_err(self.unreadable("a vector"))
    }

    fn save_vectors(&self, model: TextHash, vectors: &[StoredVector]) -> Result<(), StoreError> {
        self.refuse_read_only()?;
        let (texts, dimension, components) = columns(vectors);
        let values: Parameters<'_> = &[&self.playbook, &model.to_string(), &texts, &dimension, &components];
        self.query("write vectors", SAVE_VECTORS, values).map(drop)
    }

    fn record(&self, name: &str) -> Result<Option<Value>, StoreError> {
        let rows = self.query("read a record", RECORD, &[&self.playbook, &name])?;
        let Some(row) = rows.first() else { return Ok(None) };
        row.try_get(0).map_err(self.unreadable("a record"))
    }

    fn change_record(
        &self,
        name: &str,
        change: &mut dyn FnMut(Option<Value>) -> Result<Option<Value>, StoreError>,
    ) -> Result<(), StoreError> {
        self.refuse_read_only()?;
        let mut refused = None;
        let done = self.pool.attempt(|connection| {
            let mut transaction = connection.client.transaction()?;
            transaction.execute(MAKE_RECORD, &[&self.playbook, &name])?;
            let found = transaction.query_one(LOCK_RECORD, &[&self.playbook, &name])?.try_get(0)?;
            match change(found) {
                Ok(Some(value)) => {
                    transaction.execute(SET_RECORD, &[&self.playbook, &name, &value])?;
                }
                Ok(None) => {}
                Err(error) => refused = Some(error),
            }
            transaction.commit()
        })?;
        done.map_err(|error| failure::error(self.name(), "write a record", error))?;
        refused.map_or(Ok(()), Err)
    }

    fn lock(&self, name: &str, patience: Duration) -> Result<Option<Lock>, StoreError> {
        self.refuse_read_only()?;
        let mut connection = self.pool.take_beside()?;
        let key = format!("adage {} {name}", self.playbook);
        let limit = format!("{}ms", patience.as_millis().max(1));
        let mut take = || {
            connection.client.batch_execute("BEGIN")?;
            connection.query("SELECT set_config('lock_timeout', $1, true)", &[&limit])?;
            connection.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", &[&key])
        };
        match take() {
            Ok(_) => Ok(Some(Box::new(Held::new(&self.pool, connection)))),
            Err(error) if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) => Ok(None),
            Err(error) => Err(failure::error(self.name(), "lock", error)),
        }
    }
}

/// Numbers of a playbook are far below the limit of either type.
fn number(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn code(list: List) -> i16 {
    match list {
        List::Lessons => 0,
        List::Waiting => 1,
        List::Removed => 2,
        _ => 3,
    }
}

fn list(code: i64) -> List {
    match code {
        0 => List::Lessons,
        1 => List::Waiting,
        2 => List::Removed,
        _ => List::Others,
    }
}

/// The texts, the dimension and all components one after the other, of vectors of one dimension.
fn columns(vectors: &[StoredVector]) -> (Vec<String>, i32, Vec<f32>) {
    let dimension = vectors.first().map_or(0, |vector| vector.components.len());
    let texts = vectors.iter().map(|vector| vector.text.to_string()).collect();
    let components = vectors.iter().flat_map(|vector| vector.components.iter().copied()).collect();
    (texts, i32::try_from(dimension).unwrap_or_default(), components)
}

/// Adds a row of [`READ`].
fn add(changes: &mut Changes, row: &postgres::Row) -> Result<(), postgres::Error> {
    let (kind, first): (i32, Option<i64>) = (row.try_get(0)?, row.try_get(1)?);
    let (first, second) = (first.unwrap_or_default(), row.try_get::<_, i64>(2)?);
    match kind {
        0 => {
            changes.generation = u64::try_from(first).unwrap_or_default();
            changes.folded = u64::try_from(second).unwrap_or_default();
            changes.is_whole = row.try_get::<_, i64>(3)? == 1;
        }
        1 => {
            let (key, value) = (row.try_get(4)?, row.try_get(5)?);
            changes.rows.push(adage::extend::Row { list: list(first), key, value });
        }
        2 => {
            let number = u64::try_from(second).ok().filter(|number| *number > 0);
            changes.events.push(StoredEvent { id: first, number, event: row.try_get(5)? });
        }
        _ => changes.last_feedback = first,
    }
    Ok(())
}
