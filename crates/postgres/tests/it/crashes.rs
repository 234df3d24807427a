//! A server that is stopped at once, as by a power cut, while many write to it.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use adage::{Listing, build_lesson};

use crate::{fresh, on, server};

/// It ends the connections of every other test, so it needs a server of its own: `ADAGE_POSTGRES_FOLDER` is the folder that it was started
/// in, and this test is run alone.
#[test]
fn what_was_acknowledged_before_a_crash_is_there_once() {
    const N: usize = 8;
    let (Some(address), Ok(folder)) = (server(), std::env::var("ADAGE_POSTGRES_FOLDER")) else {
        eprintln!("NOT TESTED: ADAGE_POSTGRES_FOLDER names no server to crash");
        return;
    };
    let mut settings = adage::Config::default();
    settings.retention.capacity = 10_000;
    let config = fresh(&address).patience(Duration::from_secs(30));
    let n_done = Arc::new(AtomicUsize::new(0));
    let threads: Vec<_> = (0..N)
        .map(|number| {
            let playbook = on(&config).without_embedder().with_config(settings.clone()).open().unwrap();
            let n_done = Arc::clone(&n_done);
            thread::spawn(move || {
                let learn = |round: usize| {
                    let own = build_lesson(format!("own {number} {round}"), format!("Advice {number} {round}."));
                    let both = [
                        playbook.learn_lesson(own),
                        playbook.learn_lesson(build_lesson("all learn this", "The same.")),
                    ];
                    n_done.fetch_add(1, Ordering::SeqCst);
                    both.map(|learned| learned.is_ok())
                };
                (0..60).map(learn).collect::<Vec<_>>()
            })
        })
        .collect();
    for at in [60, 160, 280] {
        while n_done.load(Ordering::SeqCst) < at {
            thread::sleep(Duration::from_millis(5));
        }
        let crash = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/postgres"))
            .args(["crash", &folder])
            .status();
        assert!(crash.unwrap().success());
    }
    let (mut own, mut shared) = (Vec::new(), 0);
    for (number, thread) in threads.into_iter().enumerate() {
        for (round, [is_own, is_shared]) in thread.join().unwrap().into_iter().enumerate() {
            own.extend(is_own.then(|| format!("own {number} {round}")));
            shared += u64::from(is_shared);
        }
    }
    let playbook = on(&config).without_embedder().with_config(settings).open().unwrap();
    let lessons = playbook.list_lessons(&Listing::everything()).unwrap();
    let count = |trigger: &str| lessons.iter().filter(|lesson| lesson.trigger == trigger).count();
    assert!(own.iter().all(|trigger| count(trigger) == 1), "{} acknowledged", own.len());
    // One that was not acknowledged took effect only if its error says that this is not known; none of these errors is expected here.
    assert_eq!(lessons.len(), own.len() + 1);
    assert_eq!(lessons.iter().find(|lesson| lesson.trigger == "all learn this").unwrap().frequency, shared);
    eprintln!("{} of {} lessons and {shared} merges were acknowledged during 3 crashes", own.len(), N * 60);
}
