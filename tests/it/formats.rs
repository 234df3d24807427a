//! Folders of every earlier version: each opens, contains what was written, and is not changed by reading.
//!
//! `tests/fixtures/formats/README.md` says how they were made.

mod folder;

use std::collections::BTreeSet;
use std::sync::Arc;

use adage::chrono::DateTime;
use adage::learn::ReviewReason;
use adage::lesson::{Origin, Provenance, Refusal};
use adage::skills::Quality;
use adage::vector_memory::VectorMemoryBuilder;
use adage::{
    ChangeId, Credited, Error, Feedback, Filter, HashingEmbedder, LearnOutcome, Lookup, ManualClock, Playbook,
    PlaybookBuilder, Realm, Request, VectorMemory, build_lesson,
};
use adage_review::{Inbox, Proposal, ProposalName};
use adage_sessions::{ReadState, RunEnd, SessionResult, Sessions};

use super::bench::{lessons, shown, triggers};
use folder::{Home, QueriesOnly};

/// Newest first.
const TRIGGERS: [&str; 9] = [
    "testing a payment",
    "pricing a basket",
    "opening the staging port",
    "opening the staging port",
    "parsing CSV exports",
    "naming a git branch",
    "renaming a database column",
    "compressing photographs",
    "rotating ssh keys",
];
const MERGE: &str = "019b9288-d680-7b9d-adc2-ea3cdaf33156";
const PRUNE: &str = "019b9cd5-8e80-7afe-bbfa-a1b4463d6e34";
const REMOVAL: &str = "019b9cde-b640-7c6e-a058-8ea3b91c2866";
const EVICTION: &str = "019b9cf1-05c0-7d46-ab5f-4bce02407228";
const RECEIPT_WITH_OUTCOME: &str = "019ba1fb-ea80-7885-82fa-c1d427613396";
const RECEIPT_WITHOUT_OUTCOME: &str = "019ba205-1240-709c-b412-c8c9184c91d1";
const CURATION: &str = "019c1d94-8a80-76cb-a00a-ab80bd9b022c";
const APPLIED: &str = "019c22ba-e680-7bda-a234-586b81628c30";
const DISMISSED: &str = "019c22f1-d500-7cf8-a0b8-eb2134480c2c";

fn change(id: &str) -> ChangeId {
    id.parse().unwrap()
}

fn at(now: &str) -> Arc<ManualClock> {
    Arc::new(ManualClock::new(DateTime::parse_from_rfc3339(now).unwrap()))
}

fn playbook(home: &Home) -> PlaybookBuilder {
    let clock = at("2026-01-10T00:00:00+00:00");
    Playbook::builder(home.path("playbook")).with_embedder(Arc::new(HashingEmbedder)).with_clock(clock)
}

fn review(home: &Home) -> PlaybookBuilder {
    Playbook::builder(home.path("memory")).without_embedder().with_clock(at("2026-02-05T00:00:00+00:00"))
}

fn documents(home: &Home) -> VectorMemoryBuilder {
    VectorMemory::builder(home.path("documents")).with_embedder(Arc::new(QueriesOnly))
}

#[test]
fn a_playbook_holds_its_lessons_and_the_counts_that_were_not_folded_in() {
    let home = Home::of("playbook");
    let before = home.files();
    let playbook = playbook(&home).read_only().open().unwrap();
    assert_eq!((playbook.recovery(), triggers(&playbook)), (None, TRIGGERS.map(str::to_owned).to_vec()));
    let lesson = |trigger: &str| playbook.find_by_trigger(trigger).unwrap();
    let csv = lesson("parsing CSV exports");
    assert_eq!((csv.frequency, csv.correct_pattern.as_str()), (2, "Use the csv module, with newline=''."));
    assert_eq!((csv.mistake.as_str(), csv.domains.join("|")), ("split cut quoted commas", "csv|python".to_owned()));
    assert!((csv.confidence - 0.8).abs() < 1e-12 && csv.timestamp.to_rfc3339() == "2026-01-06T09:00:00+00:00");
    assert_eq!(csv.id.to_string(), "019b8d62-7a80-7000-8000-b6caab07baa7");
    let keys = lesson("rotating ssh keys");
    assert_eq!((keys.retrievals, keys.helpful_retrievals, keys.harmful_retrievals), (1, 1, 0));
    let column = lesson("renaming a database column");
    assert_eq!((column.verified, column.retrievals, column.helpful_retrievals), (true, 1, 0));
    assert_eq!(lesson("pricing a basket").realm, Realm::new("shop", ""));
    assert_eq!(lesson("naming a git branch").realm, Realm::new("", "reviewer"));

    let waiting = playbook.waiting_lessons().unwrap();
    assert_eq!((waiting.len(), waiting[0].reason), (1, ReviewReason::Tainted));
    assert_eq!((waiting[0].lesson.trigger.as_str(), waiting[0].lesson.provenance.session.as_str()), WAITING);
    let stats = playbook.stats().unwrap();
    assert_eq!((stats.n_lessons, stats.n_waiting, stats.n_removed, stats.n_changes), (9, 1, 1, 4));
    assert_eq!((stats.generation, stats.retrievals, stats.helpful_retrievals), (16, 2, 1));
    let check = playbook.check().unwrap();
    assert_eq!((check.n_lessons, check.n_vectors, check.findings), (9, 21, vec![]));
    drop(playbook);
    assert_eq!(home.files(), before, "reading changed a file");
}

const WAITING: (&str, &str) = ("installing the internal tool", "monday");

#[test]
fn a_playbook_answers_from_the_vectors_that_are_in_its_folder() {
    let home = Home::of("playbook");
    let playbook = playbook(&home).with_embedder(Arc::new(QueriesOnly)).read_only().open().unwrap();
    // By triggers only: the folder is older than the comparison with other texts.
    let request = Request::about("rotate the ssh keys").distance_threshold(0.45).peek();
    let context = playbook.get_playbook_context(request).unwrap();
    assert_eq!(shown(&context), ["rotating ssh keys"]);
    let distance = context.lessons[0].distance.unwrap();
    assert!((distance - 0.381_397).abs() < 1e-5, "{distance}");
}

#[test]
fn the_history_of_a_playbook_names_every_change() {
    let home = Home::of("playbook");
    let changes = playbook(&home).read_only().open().unwrap().changes().unwrap();
    let lines = changes.iter().map(|change| {
        let lessons: Vec<String> =
            change.lessons.iter().map(|lesson| format!("{} {}", lesson.what, lesson.trigger)).collect();
        format!("{} {}: {}", change.id, change.action, lessons.join(", "))
    });
    let expected = [
        format!("{MERGE} learn: merged parsing CSV exports"),
        format!("{PRUNE} prune: pruned estimating disk usage"),
        format!("{REMOVAL} remove: removed deploying on a Friday"),
        format!("{EVICTION} learn: inserted testing a payment, evicted writing a release note"),
    ];
    assert_eq!(lines.collect::<Vec<_>>(), expected);
    assert!(changes.iter().all(|change| !change.is_undone));
}

#[test]
fn outcomes_count_for_the_receipts_of_a_playbook_once() {
    let home = Home::of("playbook");
    let playbook = playbook(&home).open().unwrap();
    let record = |receipt: &str| playbook.record_outcome(receipt.parse().unwrap(), Feedback::Harmful).unwrap();
    assert_eq!(record(RECEIPT_WITH_OUTCOME), Credited::AlreadyRecorded { outcome: Feedback::Helpful });
    let id = playbook.find_by_trigger("renaming a database column").unwrap().id;
    assert_eq!(record(RECEIPT_WITHOUT_OUTCOME), Credited::Recorded { lessons: vec![id] });
    let column = playbook.find(id).unwrap();
    assert_eq!((column.retrievals, column.harmful_retrievals), (1, 1));
}

#[test]
fn removed_lessons_of_a_playbook_stay_removed() {
    let home = Home::of("playbook");
    let playbook = playbook(&home).open().unwrap();
    let draft = build_lesson("deploying on a Friday", "Just do it.");
    let imported = draft.provenance(&Provenance { origin: Origin::Imported, ..Provenance::default() });
    assert_eq!(playbook.learn_lesson(imported).unwrap(), LearnOutcome::Refused { reason: Refusal::Removed });
    assert_eq!(triggers(&playbook), TRIGGERS);
}

#[test]
fn every_change_of_a_playbook_can_be_undone() {
    let home = Home::of("playbook");
    let open = || playbook(&home).open().unwrap();
    open().undo(change(EVICTION)).unwrap();
    open().undo(change(REMOVAL)).unwrap();
    open().undo(change(PRUNE)).unwrap();
    open().undo_merge("parsing CSV exports").unwrap();
    let playbook = open();
    let back: BTreeSet<String> = triggers(&playbook).into_iter().collect();
    let expected = TRIGGERS.into_iter().filter(|trigger| *trigger != "testing a payment");
    let restored = ["writing a release note", "deploying on a Friday", "estimating disk usage"];
    assert_eq!(back, expected.chain(restored).map(str::to_owned).collect());
    assert_eq!(playbook.find_by_trigger("parsing CSV exports").unwrap().correct_pattern, "Use the csv module.");
    let pruned = playbook.find_by_trigger("estimating disk usage").unwrap();
    assert_eq!((pruned.retrievals, pruned.harmful_retrievals), (6, 6));
    assert!(playbook.changes().unwrap()[..4].iter().all(|change| change.is_undone));
}

#[test]
fn the_next_commit_keeps_the_counts_of_a_playbook() {
    let home = Home::of("playbook");
    let learned = playbook(&home).open().unwrap().learn_lesson(build_lesson("felt slipper", "dry it slowly"));
    assert!(matches!(learned.unwrap(), LearnOutcome::Inserted { .. }));
    let playbook = playbook(&home).read_only().open().unwrap();
    assert_eq!((lessons(&playbook).len(), playbook.stats().unwrap().generation), (10, 17));
    let keys = playbook.find_by_trigger("rotating ssh keys").unwrap();
    assert_eq!((keys.retrievals, keys.helpful_retrievals), (1, 1));
}

#[test]
fn usage_in_several_files_counts_once_and_its_receipts_stay_known() {
    let [first, second, spilled] = [
        "019b9288-d680-75a6-96b6-6fff6376e32c",
        "019b9291-fe40-77e1-9dff-dc3e27388915",
        "019b97c1-8200-7d5a-815a-2248be9d9cd2",
    ];
    let home = Home::of("usage_segments");
    let before = home.files();
    let builder = || {
        let builder = Playbook::builder(home.path("usage_segments")).without_embedder();
        builder.with_clock(at("2026-01-08T00:00:00+00:00"))
    };
    let counts = |playbook: &Playbook| {
        ["parsing CSV exports", "rotating ssh keys", "compressing photographs"].map(|trigger| {
            let lesson = playbook.find_by_trigger(trigger).unwrap();
            (lesson.retrievals, lesson.helpful_retrievals, lesson.harmful_retrievals)
        })
    };
    let reader = builder().read_only().open().unwrap();
    assert_eq!(counts(&reader), [(2, 1, 0), (1, 0, 0), (1, 0, 0)]);
    assert_eq!(reader.check().unwrap().findings, []);
    assert_eq!(home.files(), before, "reading changed a file");

    let playbook = builder().open().unwrap();
    let record = |receipt: &str| playbook.record_outcome(receipt.parse().unwrap(), Feedback::Harmful).unwrap();
    assert_eq!(record(first), Credited::AlreadyRecorded { outcome: Feedback::Helpful });
    for (receipt, trigger) in [(second, "rotating ssh keys"), (spilled, "parsing CSV exports")] {
        let id = playbook.find_by_trigger(trigger).unwrap().id;
        assert_eq!(record(receipt), Credited::Recorded { lessons: vec![id] });
    }
    let expected = [(2, 1, 1), (1, 0, 1), (1, 0, 0)];
    assert_eq!((counts(&playbook), counts(&reader)), (expected, expected));
    let is_usage = |name: &&String| name.contains("usage.") || name.contains("spilled");
    assert_eq!(
        home.files().keys().filter(is_usage).collect::<Vec<_>>(),
        ["usage_segments/usage.jsonl", "usage_segments/usage.lock"]
    );
    playbook.learn_lesson(build_lesson("felt slipper", "dry it slowly")).unwrap();
    let again = builder().open().unwrap();
    assert_eq!((counts(&again), again.check().unwrap().findings), (expected, vec![]));
}

fn kinds(proposals: &[Proposal]) -> Vec<String> {
    let word = |proposal: &Proposal| match &proposal.name {
        ProposalName::Lesson(_) => proposal.summary.split(" (").next().unwrap().to_owned(),
        name => name.to_string(),
    };
    proposals.iter().map(word).collect()
}

const PIP: &str = "`pip install request` fails: ERROR: No matching distribution found for request";
const TOOL: &str = "installing the internal tool";

#[test]
fn a_review_folder_lists_skills_proposals_and_sessions_and_is_not_changed_by_that() {
    let home = Home::of("review");
    let before = home.files();
    let playbook = review(&home).read_only().open().unwrap();
    let listing = playbook.skills().list().unwrap();
    let skills: Vec<(&str, Quality, bool, u64)> = listing
        .skills
        .iter()
        .map(|listed| (listed.skill.name.as_str(), listed.skill.quality, listed.needs_review, listed.used.count))
        .collect();
    let expected = [
        ("build-image", Quality::Draft, false, 1),
        ("cut-a-release", Quality::Verified, false, 0),
        ("restore-a-backup", Quality::Imported, false, 0),
        ("rotate-logs", Quality::Imported, true, 0),
    ];
    assert_eq!(skills, expected);
    assert!(listing.shadowed.is_empty() && listing.refused.is_empty(), "{listing:?}");

    let inbox = Inbox::of(&playbook);
    let proposals = inbox.list().unwrap();
    assert_eq!(kinds(&proposals), ["private", "skills/rotate-keys", "sessions/monday", TOOL]);
    assert_eq!(proposals[0].files, ["MEMORY.md", "deploy.md", "notes.md"].map(|name| home.path("memory").join(name)));
    assert!(inbox.inapplicable().unwrap().is_empty());
    let changes: Vec<(String, String)> =
        inbox.changes().unwrap().into_iter().map(|change| (change.id.to_string(), change.what)).collect();
    let expected =
        [(CURATION, "curation: 3 files"), (APPLIED, "apply private"), (DISMISSED, "dismiss skills/nonsense")];
    let expected = expected.map(|(id, what)| (id.to_owned(), what.to_owned()));
    assert_eq!(changes, expected);

    let runs = Sessions::of(&playbook).history().unwrap();
    assert_eq!((runs.len(), runs[0].end), (1, RunEnd::Finished));
    let read: Vec<(&str, &SessionResult)> =
        runs[0].sessions.iter().map(|session| (session.id.as_str(), &session.result)).collect();
    let result = SessionResult::Read { n_candidates: 1 };
    assert_eq!(read, [("monday", &result), ("tuesday", &result)]);
    let scan = Sessions::of(&playbook).scan(&home.path("sessions")).unwrap();
    let read: Vec<(&str, ReadState)> = scan.entries.iter().map(|entry| (entry.id.as_str(), entry.read_state)).collect();
    assert_eq!(read, [("monday", ReadState::Read), ("tuesday", ReadState::Read)]);
    drop(playbook);
    assert_eq!(home.files(), before, "reading changed a file");
}

#[test]
fn the_proposals_of_a_review_folder_are_applied_and_undone() {
    let home = Home::of("review");
    let before = home.files();
    let playbook = review(&home).open().unwrap();
    let inbox = Inbox::of(&playbook);
    let applied = inbox.apply(&inbox.list().unwrap()).unwrap();
    assert_eq!(home.text("memory/notes.md"), "one\n2nd\nthree\n");
    assert_eq!(home.text("memory/deploy.md"), "Deploy on Mondays.\n");
    assert!(home.text("memory/skills/rotate-keys/SKILL.md").contains("Keep both until"));
    assert_eq!(triggers(&playbook), [TOOL, PIP]);
    assert!(inbox.list().unwrap().is_empty());

    inbox.undo(applied.change.unwrap()).unwrap();
    let after = home.files();
    for name in ["memory/notes.md", "memory/.inbox/private/extraction.patch"] {
        assert_eq!(after[name], before[name], "{name}");
    }
    assert!(!after.contains_key("memory/deploy.md") && !after.contains_key("memory/skills/rotate-keys/SKILL.md"));
    assert_eq!(kinds(&inbox.list().unwrap()), ["private", "skills/rotate-keys"]);
}

#[test]
fn decisions_in_a_review_folder_can_be_undone() {
    let home = Home::of("review");
    let playbook = review(&home).open().unwrap();
    let inbox = Inbox::of(&playbook);
    inbox.undo(change(DISMISSED)).unwrap();
    assert_eq!(kinds(&inbox.list().unwrap())[..2], ["private", "skills/nonsense"]);
    assert_eq!(home.text("memory/.inbox/skills/nonsense/SKILL.md"), "# Nonsense\n\nDo nothing.\n");

    // The patch that awaits review is where the applied one was.
    assert!(matches!(inbox.undo(change(APPLIED)), Err(adage_review::Error::Memory(Error::FileChanged { .. }))));
    inbox.dismiss(&inbox.list().unwrap()[..1]).unwrap();
    inbox.undo(change(APPLIED)).unwrap();
    assert_eq!(home.text("memory/notes.md"), "one\ntwo\nthree\n");
    let proposals = inbox.list().unwrap();
    assert_eq!(
        (&kinds(&proposals)[0], &proposals[0].files),
        (&"private".to_owned(), &vec![home.path("memory/notes.md")])
    );

    let skills = playbook.skills();
    skills.undo_curation(change(CURATION)).unwrap();
    let names: Vec<String> = skills.list().unwrap().skills.iter().map(|listed| listed.skill.name.to_string()).collect();
    assert_eq!(names, ["build-image", "build-images", "cut-a-release", "restore-a-backup", "rotate-logs"]);
    assert!(skills.get("build-image").unwrap().skill.body.ends_with("1. `docker build .`"));
}

#[test]
fn the_skills_of_a_review_folder_stay_promoted_until_their_text_changes() {
    let home = Home::of("review");
    let skills = review(&home).open().unwrap().skills();
    let mut edited = adage::skills::Skill::clone(&skills.get("restore-a-backup").unwrap().skill);
    edited.body += "\nAnd then?";
    skills.replace(&edited).unwrap();
    assert!(skills.get("restore-a-backup").unwrap().needs_review);
    assert!(!skills.promote("rotate-logs").unwrap().needs_review);
}

#[test]
fn a_vector_memory_holds_its_documents_and_their_vectors() {
    let home = Home::of("documents");
    let before = home.files();
    let memory = documents(&home).read_only().open().unwrap();
    assert_eq!(memory.recovery(), None);
    assert_eq!((memory.count(&Filter::all()).unwrap(), memory.count(&Filter::is("type", "note")).unwrap()), (4, 2));
    let all = memory.documents(&Filter::all()).unwrap();
    let all: Vec<(&str, &str)> = all.iter().map(|document| (document.id.as_str(), document.text.as_str())).collect();
    let expected = [
        ("backup", "Backups are in the attic since March."),
        ("bare", "A document without metadata."),
        ("staging", "The staging database is read-only on Sundays."),
        ("ticket", "Ask for a new staging database."),
    ];
    assert_eq!(all, expected);
    let backup = memory.get("backup").unwrap().unwrap();
    assert_eq!((backup.metadata["place"].as_str(), backup.metadata["type"].as_str()), ("attic", "note"));
    assert_eq!(memory.get("printer").unwrap(), None);

    let found = |lookup: Lookup| -> Vec<(String, f32)> {
        let hits = memory.query(&lookup).unwrap().hits;
        hits.into_iter().map(|hit| (hit.document.id.clone(), hit.distance.unwrap())).collect()
    };
    let near = found(Lookup::text("a staging database").limit(2));
    let expected = [("ticket".to_owned(), 0.330_382_7), ("staging".to_owned(), 0.536_334_7)];
    let is_equal = |(a, b): (&(String, f32), &(String, f32))| a.0 == b.0 && (a.1 - b.1).abs() < 1e-5;
    assert!(near.len() == 2 && near.iter().zip(&expected).all(is_equal), "{near:?}");
    let notes = found(Lookup::text("a staging database").limit(1).filtered(Filter::is("type", "note")));
    assert_eq!(notes[0].0, "staging");
    drop(memory);
    assert_eq!(home.files(), before, "reading changed a file");
}

#[test]
fn a_vector_memory_is_written_to_again() {
    let home = Home::of("documents");
    let memory = documents(&home).with_embedder(Arc::new(HashingEmbedder)).open().unwrap();
    memory.remove("bare").unwrap();
    memory.add(adage::Document::new("printer", "The printer is new.")).unwrap();
    memory.compact().unwrap();
    let memory = documents(&home).open().unwrap();
    assert_eq!((memory.count(&Filter::all()).unwrap(), memory.get("bare").unwrap()), (4, None));
    let hits = memory.query(&Lookup::text("the new printer").limit(1)).unwrap().hits;
    assert_eq!(hits[0].document.text, "The printer is new.");
    assert!(!home.text("documents/documents.jsonl").contains("eats paper"), "compacting purges a removed text");
}
