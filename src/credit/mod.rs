//! Credit that rests on random withholding: the log of receipts, the effect of a lesson, and replay of the log under other gates. A
//! pure stage (docs/spec/playbook.md, 6.7 and 6.8).
//!
//! The hit rate of a lesson says how the tasks went for which it was shown. Lessons about hard matters are shown for hard tasks, so
//! the rate says more about the tasks than about the lesson. If a lesson is withheld at random now and then, the tasks with it and
//! those without it differ in nothing else.
//!
//! ```
//! use adage::credit::Effect;
//! use adage::{Config, Feedback, Playbook, build_lesson};
//!
//! # let folder = tempfile::tempdir()?;
//! let mut config = Config::default();
//! config.credit.log_receipts = true;
//! config.credit.dropout = 0.5;
//! config.credit.seed = Some(1); // as in a test; without one it is by chance
//! let playbook = Playbook::builder(folder.path()).with_config(config).without_embedder().open()?;
//! playbook.learn_lesson(build_lesson("parsing CSV exports", "Use the csv module."))?;
//!
//! for _ in 0..60 {
//!     let context = playbook.get_playbook_context("parse a CSV export")?;
//!     // The tasks of this host go well with the lesson, and fail without it.
//!     let outcome = if context.lessons.is_empty() { Feedback::Neutral } else { Feedback::Helpful };
//!     playbook.record_outcome(context.receipt.ok_or("not counted")?, outcome)?;
//! }
//! match playbook.effect("parsing CSV exports")? {
//!     Effect::Measured { uplift, .. } => assert!(uplift.low > 0.5),
//!     other => panic!("{other:?}"),
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod chance;
mod effect;
mod interval;
mod log;
mod replay;
#[cfg(test)]
mod testing;

pub(crate) use chance::{Chance, Draw};
pub use effect::{Claim, Effect, Side};
pub use interval::Estimate;
pub(crate) use log::outcome_line;
pub use log::{LoggedLesson, LoggedOutcome, LoggedReceipt, ReceiptLog};
pub use replay::{Gate, NotAGate, Replay};
