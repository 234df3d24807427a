//! Tests that indexes updated from state to state equal indexes built from the last state alone.

use std::sync::Arc;

use adage_index::{IndexConfig, IndexKind};
use chrono::TimeDelta;
use proptest::prelude::*;
use serde_json::Value;

use super::{Playbook, View};
use crate::embed::HashingEmbedder;
use crate::lesson::{LessonId, Origin, Provenance, Trust};
use crate::retrieve::TierChoice;
use crate::state::{DedupIndex, RecallIndex};
use crate::store::PlaybookFile;
use crate::testing::at;
use crate::{Config, Feedback, Listing, ManualClock, Request, Verification, build_lesson};

impl Playbook {
    /// Compares every index and ranking of the view with one built from scratch.
    pub(crate) fn check_indexes(&self) {
        let view: Arc<View> = Arc::clone(&self.shared.view.read());
        let vector_of = |text: &str| self.shared.vector(text);
        let lessons = &view.snapshot.book().lessons;
        assert!(Arc::ptr_eq(&view.recall.book, view.snapshot.book()));
        let fresh = RecallIndex::new(Arc::clone(view.snapshot.book()));
        view.recall.check_against(&fresh, &self.shared.config.index, &vector_of);
        if let Some(dedup) = view.dedup.get() {
            let mut fresh = DedupIndex::new(&self.shared.config);
            fresh.follow(lessons, &vector_of);
            dedup.check_against(&fresh, lessons, &vector_of);
        }
    }

    /// Compares this handle's counts with those from reading the usage file again.
    fn check_counted(&self) {
        let (counted, fresh) = (self.shared.recount().unwrap(), self.shared.kept.reload().unwrap());
        assert_same(&counted.snapshot.file, &fresh.file);
    }
}

fn assert_same(found: &PlaybookFile, expected: &PlaybookFile) {
    let lines = |file: &PlaybookFile| format!("{file:#?}").lines().map(str::to_owned).collect::<Vec<_>>();
    let differing = lines(found).into_iter().zip(lines(expected)).find(|(one, other)| one != other);
    assert!(found == expected, "{differing:?}");
}

#[derive(Clone, Debug)]
enum Op {
    Learn {
        words: usize,
        ending: usize,
        project: usize,
        kind: usize,
    },
    Batch {
        n: usize,
    },
    Recall {
        words: usize,
        project: usize,
    },
    RecallByWords {
        words: usize,
    },
    Credit {
        pick: usize,
        helped: bool,
    },
    Outcome {
        words: usize,
    },
    Verify {
        pick: usize,
        passed: bool,
    },
    Prune,
    Remove {
        pick: usize,
    },
    Undo {
        pick: usize,
    },
    /// A person edits the file: changes a trigger, a mark or a realm, or removes a row.
    Edit {
        pick: usize,
        what: usize,
    },
    /// Another handle learns, as another process would.
    Elsewhere {
        words: usize,
        project: usize,
    },
    Look,
}

fn op() -> impl Strategy<Value = Op> {
    let (words, project, pick) = (0..14_usize, 0..3_usize, 0..100_usize);
    prop_oneof![
        8 => (words.clone(), 0..3_usize, project.clone(), 0..8_usize)
            .prop_map(|(words, ending, project, kind)| Op::Learn { words, ending, project, kind }),
        1 => (2..9_usize).prop_map(|n| Op::Batch { n }),
        3 => (words.clone(), project.clone()).prop_map(|(words, project)| Op::Recall { words, project }),
        1 => words.clone().prop_map(|words| Op::RecallByWords { words }),
        2 => (pick.clone(), any::<bool>()).prop_map(|(pick, helped)| Op::Credit { pick, helped }),
        1 => words.clone().prop_map(|words| Op::Outcome { words }),
        1 => (pick.clone(), any::<bool>()).prop_map(|(pick, passed)| Op::Verify { pick, passed }),
        1 => Just(Op::Prune),
        1 => pick.clone().prop_map(|pick| Op::Remove { pick }),
        2 => pick.clone().prop_map(|pick| Op::Undo { pick }),
        2 => (pick, 0..4_usize).prop_map(|(pick, what)| Op::Edit { pick, what }),
        1 => (words, project).prop_map(|(words, project)| Op::Elsewhere { words, project }),
        1 => Just(Op::Look),
    ]
}

const WORDS: [&str; 14] = [
    "amber kettle",
    "brass lantern",
    "copper anvil",
    "denim apron",
    "ebony flute",
    "felt slipper",
    "granite mortar",
    "hemp rope",
    "ivory comb",
    "jade buckle",
    "kelp basket",
    "linen sail",
    "marble bust",
    "nickel coin",
];
const PROJECTS: [&str; 3] = ["", "shop", "bank"];

struct Fixture {
    folder: tempfile::TempDir,
    clock: Arc<ManualClock>,
    config: Config,
}

impl Fixture {
    fn open(&self) -> Playbook {
        let clock: Arc<ManualClock> = Arc::clone(&self.clock);
        let builder = Playbook::builder(self.folder.path()).with_embedder(Arc::new(HashingEmbedder));
        builder.with_clock(clock).with_config(self.config.clone()).open().unwrap()
    }

    fn run(&self, playbook: &Playbook, op: &Op) {
        self.clock.advance(TimeDelta::seconds(1));
        match op {
            Op::Learn { words, ending, project, kind } => {
                let endings = ["carefully", "with version 2", "with version 3, and slowly"];
                let solution = format!("polish it {}", endings[*ending]);
                let mut draft = build_lesson(WORDS[*words], solution).project(PROJECTS[*project]);
                let mined = Provenance { origin: Origin::Mined, ..Provenance::default() };
                draft = match kind {
                    0 => draft.verified(),
                    1 | 2 => draft.provenance(&mined),
                    3 => draft.provenance(&Provenance { trust: Trust::Tainted, ..mined }),
                    4 => draft.confidence(0.9),
                    _ => draft,
                };
                playbook.learn_lesson(draft).unwrap();
            }
            Op::Batch { n } => {
                let draft = |number: usize| build_lesson(format!("{} {number}", WORDS[number]), "wash it");
                playbook.learn_lessons((0..*n).map(draft)).unwrap();
            }
            Op::Recall { words, project } => {
                playbook.get_playbook_context(Request::about(WORDS[*words]).project(PROJECTS[*project])).unwrap();
            }
            Op::RecallByWords { words } => {
                let request = Request::about(WORDS[*words]).tier(TierChoice::Lexical);
                playbook.get_playbook_context(request).unwrap();
            }
            Op::Credit { pick, helped } => {
                let Some(id) = Self::pick(playbook, *pick) else { return };
                if *helped {
                    playbook.record_helpful_retrieval(id).unwrap();
                } else {
                    playbook.record_harmful_retrieval(id).unwrap();
                }
            }
            Op::Outcome { words } => {
                let context = playbook.get_playbook_context(WORDS[*words]).unwrap();
                if let Some(receipt) = context.receipt {
                    playbook.record_outcome(receipt, Feedback::Helpful).unwrap();
                }
            }
            Op::Verify { pick, passed } => {
                let Some(id) = Self::pick(playbook, *pick) else { return };
                let verification = if *passed { Verification::Passed } else { Verification::Failed };
                playbook.mark_verified(id, verification).unwrap();
            }
            Op::Prune => drop(playbook.prune_low_utility().unwrap()),
            Op::Remove { pick } => {
                let Some(id) = Self::pick(playbook, *pick) else { return };
                playbook.remove(id).unwrap();
            }
            Op::Undo { pick } => {
                let changes = playbook.changes().unwrap();
                if let Some(change) = changes.get(pick % changes.len().max(1)) {
                    // The undo may be refused; only the state afterwards is checked.
                    let _ = playbook.undo(change.id);
                }
            }
            Op::Edit { pick, what } => self.edit(*pick, *what),
            Op::Elsewhere { words, project } => {
                let draft = build_lesson(format!("{} elsewhere", WORDS[*words]), "wrap it").project(PROJECTS[*project]);
                self.open().learn_lesson(draft).unwrap();
            }
            Op::Look => drop(playbook.stats().unwrap()),
        }
    }

    fn pick(playbook: &Playbook, pick: usize) -> Option<LessonId> {
        let lessons = playbook.list_lessons(&Listing::everything()).unwrap();
        lessons.get(pick % lessons.len().max(1)).map(|lesson| lesson.id)
    }

    #[allow(clippy::disallowed_methods, reason = "what a person's editor does")]
    fn edit(&self, pick: usize, what: usize) {
        let path = self.folder.path().join("skills_playbook.json");
        let Ok(bytes) = std::fs::read(&path) else { return };
        let mut file: Value = serde_json::from_slice(&bytes).unwrap();
        let rows = file["lessons"].as_array_mut().unwrap();
        if rows.is_empty() {
            return;
        }
        let pick = pick % rows.len();
        match what {
            0 => rows[pick]["trigger"] = "onyx pawn".into(),
            1 => rows[pick]["verified"] = true.into(),
            2 => rows[pick]["project"] = "bank".into(),
            _ => drop(rows.remove(pick)),
        }
        std::fs::write(&path, serde_json::to_vec_pretty(&file).unwrap()).unwrap();
    }
}

fn check(ops: &[Op], config: Config) {
    let clock = Arc::new(ManualClock::new(at(0)));
    let fixture = Fixture { folder: tempfile::tempdir().unwrap(), clock, config };
    let playbook = fixture.open();
    for op in ops {
        fixture.run(&playbook, op);
        playbook.check_indexes();
        playbook.check_counted();
    }
    // Both indexes, whatever was recalled before; then what a new handle reads from the folder.
    fixture.run(&playbook, &Op::Recall { words: 0, project: 1 });
    fixture.run(&playbook, &Op::RecallByWords { words: 0 });
    playbook.check_indexes();
    let fresh = fixture.open();
    for words in WORDS {
        for request in [Request::about(words), Request::about(words).tier(TierChoice::Lexical)] {
            let ask = |playbook: &Playbook| playbook.get_playbook_context(request.clone().peek().explain()).unwrap();
            assert_eq!(ask(&playbook), ask(&fresh), "{words}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn after_any_operations_the_view_equals_one_built_from_scratch(ops in prop::collection::vec(op(), 1..50)) {
        let mut config = Config::default();
        config.retention.capacity = 6;
        config.retention.prune_min_retrievals = 1;
        check(&ops, config);
    }
}

#[test]
fn removed_rows_are_swept_out_of_a_graph_too() {
    let mut config = Config::default();
    config.retention.capacity = 30;
    config.index = IndexConfig { kind: Some(IndexKind::Graph), ..IndexConfig::default() };
    let learns = (0..120).map(|number| Op::Learn { words: number % 14, ending: number % 3, project: 0, kind: 4 });
    check(&learns.collect::<Vec<_>>(), config);
}
