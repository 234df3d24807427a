//! The operations of a run, drawn at random.

use adage::Feedback;
use proptest::prelude::*;

use super::{PROJECTS, TRIGGERS};

/// The style of a lesson's text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style {
    /// Longer solutions contain the shorter ones.
    pub(super) length: usize,
    /// With other case and punctuation.
    pub(super) is_loud: bool,
    pub(super) is_verified: bool,
    pub(super) is_imported: bool,
}

#[derive(Clone, Debug)]
pub(super) enum Op {
    Learn {
        slot: usize,
        project: usize,
        style: Style,
    },
    /// The task and the trigger of an existing lesson.
    LearnTwin {
        pick: usize,
        style: Style,
    },
    /// The exact text of a removed lesson.
    LearnRemoved {
        pick: usize,
        is_imported: bool,
    },
    Recall {
        about: Option<usize>,
        project: usize,
        times: usize,
    },
    Peek {
        project: usize,
    },
    Outcome {
        pick: usize,
        outcome: Feedback,
    },
    CreditWindow,
    Credit {
        pick: usize,
        by_name: bool,
        helped: bool,
    },
    Verify {
        pick: usize,
        by_name: bool,
        passed: bool,
    },
    Prune,
    Remove {
        pick: usize,
        by_name: bool,
    },
    Undo {
        pick: usize,
    },
    Reopen,
    Advance {
        seconds: i64,
    },
}

pub(super) fn style() -> impl Strategy<Value = Style> {
    (0..3_usize, any::<bool>(), 0..8_u8, 0..4_u8).prop_map(|(length, is_loud, verified, by_hand)| Style {
        length,
        is_loud,
        is_verified: verified == 0,
        is_imported: by_hand != 0,
    })
}

pub(super) fn op() -> impl Strategy<Value = Op> {
    let (slot, project, pick) = (0..TRIGGERS.len(), 0..PROJECTS.len(), 0..1_000_usize);
    let outcome = prop_oneof![Just(Feedback::Helpful), Just(Feedback::Neutral), Just(Feedback::Harmful)];
    prop_oneof![
        8 => (slot.clone(), project.clone(), style()).prop_map(|(slot, project, style)| Op::Learn { slot, project, style }),
        3 => (pick.clone(), style()).prop_map(|(pick, style)| Op::LearnTwin { pick, style }),
        2 => (pick.clone(), any::<bool>()).prop_map(|(pick, is_imported)| Op::LearnRemoved { pick, is_imported }),
        6 => (proptest::option::of(slot), project.clone(), 1..7_usize)
            .prop_map(|(about, project, times)| Op::Recall { about, project, times }),
        1 => project.prop_map(|project| Op::Peek { project }),
        4 => (pick.clone(), outcome).prop_map(|(pick, outcome)| Op::Outcome { pick, outcome }),
        2 => Just(Op::CreditWindow),
        2 => (pick.clone(), any::<bool>(), any::<bool>())
            .prop_map(|(pick, by_name, helped)| Op::Credit { pick, by_name, helped }),
        2 => (pick.clone(), any::<bool>(), any::<bool>())
            .prop_map(|(pick, by_name, passed)| Op::Verify { pick, by_name, passed }),
        3 => Just(Op::Prune),
        2 => (pick.clone(), any::<bool>()).prop_map(|(pick, by_name)| Op::Remove { pick, by_name }),
        4 => pick.prop_map(|pick| Op::Undo { pick }),
        1 => Just(Op::Reopen),
        3 => (1..400_i64).prop_map(|seconds| Op::Advance { seconds }),
    ]
}
