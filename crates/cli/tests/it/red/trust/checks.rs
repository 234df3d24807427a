//! Tables of attacks: each runs in folders of its own, and a failing table lists every attack that succeeded.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::ground::Ground;

/// An attack, and the properties that must hold.
pub(super) struct Attack {
    name: String,
    run: Box<dyn Fn(&Ground)>,
}

/// An attack; its name is a sentence that describes it.
pub(super) fn attack(name: impl Into<String>, run: impl Fn(&Ground) + 'static) -> Attack {
    Attack { name: name.into(), run: Box::new(run) }
}

/// Runs all of them; the table goes to standard output, which a test that passes keeps to itself.
pub(super) fn check(attacks: &[Attack]) {
    let mut n_succeeded = 0;
    for attack in attacks {
        let ground = Ground::new();
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| (attack.run)(&ground))) {
            ground.claim(false, format!("the scene could not be set: {}", message(panic.as_ref())));
        }
        let faults = ground.faults();
        n_succeeded += usize::from(!faults.is_empty());
        println!("{} | {}", if faults.is_empty() { "holds   " } else { "SUCCEEDS" }, attack.name);
        for fault in faults {
            println!("         |   {fault}");
        }
    }
    assert_eq!(n_succeeded, 0, "of {} attacks, {n_succeeded} succeeded: see the table", attacks.len());
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_default()
}
