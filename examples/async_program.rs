//! Calls the playbook from an async program: the calls block, so each runs on a blocking thread of tokio.
//!
//! ```text
//! cargo run --example async_program
//! ```
#![allow(clippy::print_stdout, reason = "an example shows what it does")]

use std::error::Error as StdError;

use adage::{Context, Error, Feedback, Playbook, Request, build_lesson};
use tokio::task::{JoinError, spawn_blocking};

/// The error of a call: that of the playbook, or that of the runtime.
#[derive(Debug, thiserror::Error)]
enum CallError {
    #[error(transparent)]
    Playbook(#[from] Error),
    #[error(transparent)]
    Runtime(#[from] JoinError),
}

/// One playbook for the whole program; a clone is another handle to it.
#[derive(Clone)]
struct Lessons(Playbook);

impl Lessons {
    /// Runs a call to its end, even if its future is dropped: a commit is always completed.
    async fn call<T: Send + 'static>(
        &self,
        call: impl FnOnce(&Playbook) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, CallError> {
        let Self(playbook) = self.clone();
        Ok(spawn_blocking(move || call(&playbook)).await??)
    }

    async fn before(&self, task: &str) -> Result<Context, CallError> {
        let request = Request::about(task).limit(3);
        self.call(move |playbook| playbook.get_playbook_context(request)).await
    }
}

async fn run(lessons: Lessons) -> Result<(), CallError> {
    let draft = build_lesson("pushing a rebased branch", "Use --force-with-lease, never --force.");
    let learned = lessons.call(move |playbook| playbook.learn_lesson(draft)).await?;
    println!("{learned}");

    let context = lessons.before("push a rebased branch").await?;
    println!("{context}");
    assert!(context.text.contains("--force-with-lease"));
    assert_eq!(lessons.before("boil an egg").await?.text, "");

    if let Some(receipt) = context.receipt {
        lessons.call(move |playbook| playbook.record_outcome(receipt, Feedback::Helpful)).await?;
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn StdError>> {
    let folder = tempfile::tempdir()?;
    let playbook = Playbook::open(folder.path())?; // cheap: no model is loaded before the first embedding
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    Ok(runtime.block_on(run(Lessons(playbook)))?)
}
