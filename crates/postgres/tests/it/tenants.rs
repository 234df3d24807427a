//! Row security: a tenant sees and changes its own rows only, also by statements of its own.

use adage::{Listing, build_lesson};
use postgres::{Client, NoTls};

use crate::{fresh, on, server};

const TABLES: [&str; 7] = ["playbooks", "rows", "history", "commits", "usage", "vectors", "records"];

/// A role that row security holds for: the one that the server starts with is a superuser.
fn application(address: &str) -> String {
    let mut owner = Client::connect(address, NoTls).unwrap();
    owner
        .batch_execute(
            "DO $$ BEGIN CREATE ROLE application LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
             GRANT USAGE ON SCHEMA adage TO application;
             GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA adage TO application;",
        )
        .unwrap();
    address.replacen("adage@", "application@", 1)
}

#[test]
fn no_statement_of_one_tenant_reaches_the_rows_of_another() {
    let Some(address) = server() else { return };
    let name = fresh(&address).name().split_once("playbook=").unwrap().1.to_owned();
    // The tables exist before rights on them are granted.
    drop(on(&fresh(&address)).open().unwrap());
    let address = application(&address);
    let open = |tenant: &str| {
        let config = adage_postgres::Config::parse(&format!("{address}?playbook={name}&tenant={tenant}")).unwrap();
        on(&config).open().unwrap()
    };
    let (one, other) = (open("one"), open("other"));
    one.learn_lesson(build_lesson("pinning numpy", "Pin it below 2.0.")).unwrap();
    one.get_playbook_context("pinning numpy").unwrap();
    assert!(other.list_lessons(&Listing::everything()).unwrap().is_empty());

    let mut attacker = Client::connect(&address, NoTls).unwrap();
    attacker.execute("SELECT set_config('adage.tenant', 'other', false)", &[]).unwrap();
    let mut n_attacks = 0;
    for table in TABLES {
        let seen: i64 = attacker
            .query_one(&format!("SELECT count(*) FROM adage.{table} WHERE tenant = 'one'"), &[])
            .unwrap()
            .get(0);
        let moved =
            attacker.execute(&format!("UPDATE adage.{table} SET tenant = 'other' WHERE tenant = 'one'"), &[]).unwrap();
        let gone = attacker.execute(&format!("DELETE FROM adage.{table} WHERE tenant = 'one'"), &[]).unwrap();
        assert_eq!((seen, moved, gone), (0, 0, 0), "{table}");
        n_attacks += 3;
    }
    let refused = [
        "INSERT INTO adage.playbooks (tenant, name) VALUES ('one', 'x')",
        "UPDATE adage.playbooks SET tenant = 'one'",
        "INSERT INTO adage.records (tenant, playbook, name) SELECT 'one', id, 'x' FROM adage.playbooks",
        "INSERT INTO adage.records (playbook, name) SELECT id + 1000000, 'x' FROM adage.playbooks",
        "TRUNCATE adage.rows",
        "ALTER TABLE adage.rows DISABLE ROW LEVEL SECURITY",
        "DROP POLICY tenant ON adage.rows",
        "SET row_security = off; SELECT * FROM adage.rows",
    ];
    for attack in refused {
        assert!(attacker.batch_execute(attack).is_err(), "{attack}");
        n_attacks += 1;
    }
    for view in ["lessons", "removals"] {
        let seen: i64 = attacker.query_one(&format!("SELECT count(*) FROM adage.{view}"), &[]).unwrap().get(0);
        assert_eq!(seen, 0, "{view}");
        n_attacks += 1;
    }
    assert!(n_attacks >= 30, "{n_attacks}");
    assert_eq!(one.list_lessons(&Listing::everything()).unwrap().len(), 1);
}
