//! Errors of the server, as errors of a store.

use std::error::Error;
use std::io;

use adage::StoreError;
use postgres::error::SqlState;

/// What is known after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The connection is gone, or the server is about to stop: what was sent may have taken effect.
    Lost,
    /// The server undid the statement because of others; it may be sent again.
    Undone,
    /// The server refuses, and did nothing.
    Refused,
}

pub(crate) fn kind(error: &postgres::Error) -> Failure {
    let Some(state) = error.code() else {
        let is_io = || error.source().is_some_and(<dyn Error>::is::<io::Error>);
        // Otherwise this side refused: a value does not fit, or the server speaks no TLS.
        return if error.is_closed() || is_io() { Failure::Lost } else { Failure::Refused };
    };
    let is_stopping = [
        &SqlState::ADMIN_SHUTDOWN,
        &SqlState::CRASH_SHUTDOWN,
        &SqlState::CANNOT_CONNECT_NOW,
        &SqlState::CONNECTION_FAILURE,
        &SqlState::CONNECTION_EXCEPTION,
        &SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
    ];
    let is_undone = [&SqlState::T_R_SERIALIZATION_FAILURE, &SqlState::T_R_DEADLOCK_DETECTED];
    if is_stopping.contains(&state) {
        Failure::Lost
    } else if is_undone.contains(&state) {
        Failure::Undone
    } else {
        Failure::Refused
    }
}

/// The error of a store for an error of the server.
pub(crate) fn error(store: &str, action: &'static str, source: postgres::Error) -> StoreError {
    let store = store.to_owned();
    if kind(&source) != Failure::Refused {
        return StoreError::Unreachable { store, source: source.into() };
    }
    let Some(state) = source.code() else {
        let advice = "nothing was written; a server without TLS needs sslmode=disable";
        return StoreError::Refused { store, action, advice, source: source.into() };
    };
    let advice = match state {
        state if *state == SqlState::INSUFFICIENT_PRIVILEGE => {
            "let the owner of the schema `adage` grant the rights that docs/postgres.md lists"
        }
        state if *state == SqlState::READ_ONLY_SQL_TRANSACTION => {
            "it is a standby or read-only: name the primary, or open it for reading"
        }
        state if *state == SqlState::DISK_FULL => "free space on its disk",
        state if *state == SqlState::TOO_MANY_CONNECTIONS => {
            "raise max_connections of the server, or put a pooler before it"
        }
        state if *state == SqlState::INVALID_PASSWORD || *state == SqlState::INVALID_AUTHORIZATION_SPECIFICATION => {
            "check user and password: PGPASSWORD, PGPASSFILE or the address"
        }
        state if *state == SqlState::INVALID_CATALOG_NAME => "create the database first",
        state if *state == SqlState::QUERY_CANCELED => "it took longer than the time limit; try again",
        _ => "nothing was written",
    };
    StoreError::Refused { store, action, advice, source: source.into() }
}
