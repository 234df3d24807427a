//! Servers that are away, and what is known of one that is there.

use std::sync::Arc;
use std::thread;

use adage::extend::{Commit, Known, Store};
use adage::{Error, Listing, StoreError, build_lesson};
use adage_postgres::{Config, PostgresStore};

use crate::{connect, fresh, on, server};

#[test]
fn a_server_that_is_away_is_an_error_that_names_it_without_the_password() {
    let config = Config::parse("postgres://me:secret@127.0.0.1:1/memory").unwrap();
    let Err(error) = PostgresStore::connect(&config) else { panic!("connected") };
    assert!(matches!(error, StoreError::Unreachable { .. }), "{error:?}");
    assert!(!format!("{error} {error:?}").contains("secret"), "{error:?}");
    assert!(
        error.to_string().starts_with("postgres://127.0.0.1:1/memory?playbook=default cannot be reached"),
        "{error}"
    );
}

#[test]
fn the_tables_are_made_once_by_those_who_come_at_once() {
    const N: usize = 8;
    let Some(address) = server() else { return };
    let mut client = postgres::Client::connect(&address, postgres::NoTls).unwrap();
    for round in 0..5 {
        let name = format!("made_at_once_{}_{round}", std::process::id());
        client.batch_execute(&format!("CREATE DATABASE {name}")).unwrap();
        let place = address.rsplit_once('/').unwrap().0;
        let config = Config::parse(&format!("{place}/{name}")).unwrap();
        let connect = || PostgresStore::connect(&config).map(|_| ()).map_err(|error| error.to_string());
        let made: Vec<_> = thread::scope(|scope| {
            let threads: Vec<_> = (0..N).map(|_| scope.spawn(connect)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(made, vec![Ok(()); N]);
        client.batch_execute(&format!("DROP DATABASE {name} WITH (FORCE)")).unwrap();
    }
}

#[test]
fn a_commit_takes_effect_once_and_only_on_the_state_that_it_was_decided_on() {
    let Some(address) = server() else { return };
    let store = connect(&fresh(&address));
    let commit = |id, known| Commit { id, known, generation: known + 1, ..Commit::default() };
    assert!(store.commit(&commit(1, 0)).unwrap());
    assert!(store.commit(&commit(1, 0)).unwrap(), "the same commit again, as after a lost connection");
    assert!(!store.commit(&commit(2, 0)).unwrap(), "another one on the state before");
    assert!(store.commit(&commit(2, 1)).unwrap());
    assert_eq!(store.read(Known::default()).unwrap().generation, 2);
}

#[test]
fn what_many_threads_and_stores_learn_at_once_is_there_once() {
    const N: usize = 8;
    let Some(address) = server() else { return };
    let config = fresh(&address);
    let threads: Vec<_> = (0..N)
        .map(|number| {
            let playbook = on(&config).without_embedder().open().unwrap();
            thread::spawn(move || {
                for round in 0..6 {
                    playbook.learn_lesson(build_lesson("all learn this", "The same advice.")).unwrap();
                    playbook
                        .learn_lesson(build_lesson(
                            format!("own {number} {round}"),
                            format!("Advice {number} {round}."),
                        ))
                        .unwrap();
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let lessons = on(&config).without_embedder().open().unwrap().list_lessons(&Listing::everything()).unwrap();
    let shared: Vec<_> = lessons.iter().filter(|lesson| lesson.trigger == "all learn this").collect();
    assert_eq!((shared.len(), shared[0].frequency), (1, 6 * N as u64));
    assert_eq!(lessons.iter().filter(|lesson| lesson.trigger.starts_with("own")).count(), 6 * N);
}

#[test]
fn a_read_only_store_writes_nothing_and_says_so() {
    let Some(address) = server() else { return };
    let config = fresh(&address);
    on(&config).open().unwrap().learn_lesson(build_lesson("pinning numpy", "Pin it below 2.0.")).unwrap();
    let playbook = on(&config.clone().read_only()).open().unwrap();
    assert_eq!(playbook.list_lessons(&Listing::everything()).unwrap().len(), 1);
    let error = playbook.learn_lesson(build_lesson("t", "s")).unwrap_err();
    assert!(matches!(error, Error::Store(StoreError::ReadOnly { .. })), "{error:?}");
}

#[test]
fn hostile_text_in_every_field_is_only_text() {
    let Some(address) = server() else { return };
    let config = fresh(&address);
    let playbook = on(&config).open().unwrap();
    let attack = "'; DROP SCHEMA adage CASCADE; -- $1 \\ \" {} % $$";
    let draft = build_lesson(format!("t {attack}"), format!("s {attack}")).mistake(attack).domains([attack]);
    playbook.learn_lesson(draft.situations([attack]).signs([attack])).unwrap();
    playbook.get_playbook_context(format!("t {attack}").as_str()).unwrap();
    assert_eq!(on(&config).open().unwrap().list_lessons(&Listing::everything()).unwrap().len(), 1);
}

#[test]
fn the_server_says_what_it_is() {
    let Some(address) = server() else { return };
    let store: Arc<PostgresStore> = connect(&fresh(&address));
    let found = store.diagnose().unwrap();
    assert!(
        found.has_row_security && !found.is_standby && found.server.starts_with(|c: char| c.is_ascii_digit()),
        "{found:?}"
    );
}
