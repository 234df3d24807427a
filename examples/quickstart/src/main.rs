//! A tour of the playbook with the bundled model: learn, merge, retrieve, record outcomes, evict, undo, remove.
//!
//! ```text
//! cargo run -p quickstart [FOLDER]
//! ```
//!
//! The playbook is created in FOLDER, which must not hold one, or in a temporary folder. Everything printed is asserted too.
#![allow(clippy::print_stdout, reason = "an example shows what it does")]
#![allow(clippy::disallowed_methods, reason = "it measures with the real clock")]

mod lessons;

use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use adage::embed::{Engine, Model, Role};
use adage::lesson::Refusal;
use adage::{
    Config, Context, Credited, Embedder, Feedback, LearnOutcome, Lesson, LessonDraft, LessonId, NoMatchReason,
    OnnxEmbedder, Playbook, Request, Tier, Verification, build_lesson,
};

use lessons::{LESSONS, NEWCOMERS, OTHER_VERSION, OUTCOMES, RELATED, REMOVED, REWORDED, Row, UNRELATED, VERIFIED};

type Result<T = ()> = std::result::Result<T, Box<dyn Error>>;

fn main() -> Result {
    let temporary = tempfile::tempdir()?;
    let given = std::env::args_os().nth(1).map(PathBuf::from);
    let folder = given.clone().unwrap_or_else(|| temporary.path().join("playbook"));
    // `Playbook::open(folder)` does the same; the embedder is named here because it is asked for timings later.
    let embedder = Arc::new(OnnxEmbedder::new(Model::bundled(), Engine::BuiltIn));
    let open = |config| Playbook::builder(&folder).with_embedder(embedder.clone()).with_config(config).open();

    let playbook = open(Config::default())?;
    if playbook.stats()?.n_lessons > 0 {
        return Err(format!("{} holds a playbook already; name another folder", folder.display()).into());
    }
    let learning = learn(&playbook)?;
    let recalls = retrieve(&playbook)?;
    stay_silent(&playbook)?;
    cold_start(&playbook)?;
    credit(&playbook)?;

    let mut full = Config::default();
    full.retention.capacity = playbook.stats()?.n_lessons;
    drop(playbook);
    let playbook = open(full)?;
    overflow(&playbook)?;
    remove(&playbook)?;
    sum_up(&playbook, embedder.as_ref(), learning, recalls)?;
    if let Some(folder) = given {
        println!("  folder       {}", folder.display());
    }
    Ok(())
}

fn learn(playbook: &Playbook) -> Result<Duration> {
    heading("LEARN", "new lessons are inserted, rewordings merge, another version is another lesson");
    let rows = || LESSONS.iter().chain(REWORDED.iter().map(|(row, _)| row)).chain([&OTHER_VERSION.0]);
    let start = Instant::now();
    let learned = playbook.learn_lessons(rows().map(draft))?;
    let elapsed = start.elapsed();

    for (number, (row, learned)) in (1..).zip(rows().zip(&learned)) {
        print_outcome(playbook, number, row, learned)?;
    }
    check_outcomes(playbook, &learned)?;
    println!(
        "  {} lessons are stored, in {:.1} s, loading the model included\n",
        LESSONS.len() + 1,
        elapsed.as_secs_f64()
    );
    Ok(elapsed)
}

fn print_outcome(playbook: &Playbook, number: usize, [_, trigger, ..]: &Row, learned: &LearnOutcome) -> Result {
    let outcome = match learned {
        LearnOutcome::Inserted { .. } => "inserted",
        LearnOutcome::Superseded { .. } => "superseded",
        LearnOutcome::Merged { .. } => "merged",
        LearnOutcome::Distinct { .. } => "distinct",
        LearnOutcome::Review { .. } => "in review",
        LearnOutcome::Refused { .. } => "refused",
        _ => "other",
    };
    println!("  {number:2}  {outcome:10}  {trigger}");
    match learned {
        LearnOutcome::Merged { into, distance: Some(distance), .. } => {
            println!("                  into \"{}\", distance {distance:.3}", playbook.find(*into)?.trigger);
        }
        LearnOutcome::Distinct { distance: Some(distance), why, .. } => {
            println!("                  distance {distance:.3}, but {why}");
        }
        _ => {}
    }
    Ok(())
}

fn check_outcomes(playbook: &Playbook, learned: &[LearnOutcome]) -> Result {
    let (new, others) = learned.split_at(LESSONS.len());
    assert!(
        new.iter().all(|learned| matches!(learned, LearnOutcome::Inserted { .. })),
        "each of these is a lesson of its own"
    );
    for (([_, trigger, ..], of), learned) in REWORDED.iter().zip(others) {
        let LearnOutcome::Merged { into, .. } = learned else { return Err(format!("not merged: {trigger}").into()) };
        let merged = playbook.find(*into)?;
        assert_eq!(merged.trigger, *of, "a rewording merges into the lesson that it rewords");
        assert_eq!(merged.frequency, 2, "a merge counts");
    }
    let (_, of) = &OTHER_VERSION;
    let Some(LearnOutcome::Distinct { id, near, .. }) = others.last() else {
        return Err("versions were merged".into());
    };
    let [ours, theirs] = [playbook.find(*id)?, playbook.find(*near)?];
    assert_eq!(theirs.trigger, *of, "the variant is distinct from the lesson that it contradicts");
    assert_ne!(ours.correct_pattern, theirs.correct_pattern, "both versions stay as they were written");
    assert_eq!(playbook.stats()?.n_lessons, LESSONS.len() + 1, "27 were learned, 2 of them merged");
    Ok(())
}

fn retrieve(playbook: &Playbook) -> Result<Vec<Duration>> {
    heading("RETRIEVE", "by meaning: distance, query, nearest lesson");
    let mut times = Vec::new();
    let mut block = String::new();
    for (query, trigger) in RELATED {
        let start = Instant::now();
        let context = playbook.get_playbook_context(Request::about(query).limit(1))?;
        times.push(start.elapsed());
        let Some((first, distance)) = context.lessons.first().and_then(|first| Some((first, first.distance?))) else {
            return Err(format!("nothing was found for {query:?}").into());
        };
        assert_eq!(context.tier, Tier::Vector);
        assert_eq!(first.trigger, trigger, "the first lesson for {query:?}");
        println!("  {distance:.3}  {query:46}  {trigger}");
        if block.is_empty() {
            block = context.text;
        }
    }
    println!("\n  What goes into the prompt for the first of them:\n");
    for line in block.lines() {
        println!("    {line}");
    }
    println!();
    Ok(times)
}

fn stay_silent(playbook: &Playbook) -> Result {
    heading("STAY SILENT", "if nothing is likely enough: no text, and the reason");
    let mut reasons = Vec::new();
    for query in UNRELATED {
        let context = playbook.get_playbook_context(Request::about(query).limit(1))?;
        let Some(reason @ NoMatchReason::Unlikely { probability, answer_from, .. }) = context.none_because else {
            return Err(format!("{query:?} was answered: {context}").into());
        };
        assert!(probability <= answer_from, "{reason}");
        assert_eq!((context.text.as_str(), context.lessons.len(), context.receipt), ("", 0, None));
        println!("  {probability:.3}  {query}");
        reasons.push(reason.to_string());
    }
    println!("\n  The reason for the first of them:\n\n    {}\n", reasons.first().ok_or("no query was asked")?);
    Ok(())
}

fn cold_start(playbook: &Playbook) -> Result {
    heading("COLD START", "without a query, the newest lessons");
    let Context { tier, lessons, .. } = playbook.get_playbook_context(Request::cold_start().limit(3).peek())?;
    assert_eq!((tier, lessons.len()), (Tier::Recency, 3));
    assert_eq!(lessons.first().map(|newest| newest.trigger.as_str()), Some(OTHER_VERSION.1));
    for lesson in lessons {
        println!("  {}", lesson.trigger);
    }
    println!();
    Ok(())
}

fn credit(playbook: &Playbook) -> Result {
    heading("CREDIT", "an outcome counts once, for exactly the lessons that were shown");
    println!("  {:9}{:50}{:14}utility", "outcome", "lesson", "confidence");
    for (query, trigger, outcome) in OUTCOMES {
        let context = playbook.get_playbook_context(Request::about(query).limit(1))?;
        let receipt = context.receipt.ok_or("a showing has a receipt")?;
        let before = playbook.find_by_trigger(trigger)?;
        let settled = playbook.record_outcome(receipt, outcome)?;
        let after = playbook.find_by_trigger(trigger)?;
        assert_eq!(
            settled,
            Credited::Recorded { lessons: vec![before.id] },
            "credit goes to what was shown for {query:?}"
        );
        assert_eq!(
            playbook.record_outcome(receipt, Feedback::Harmful)?,
            Credited::AlreadyRecorded { outcome },
            "the first one counts"
        );
        let [was, is] = [&before, &after].map(|lesson| playbook.utility(lesson));
        let word = match outcome {
            Feedback::Helpful => {
                assert!(after.confidence > before.confidence && is > was, "help raises confidence and utility");
                "helpful"
            }
            Feedback::Neutral => "neutral",
            Feedback::Harmful => {
                assert!(after.confidence < before.confidence && is < was, "harm lowers confidence and utility");
                "harmful"
            }
        };
        println!("  {word:9}{trigger:50}{:.2} → {:.2}   {was:.3} → {is:.3}", before.confidence, after.confidence);
    }
    let n_credited = playbook.credit_recent_retrievals(playbook.config().feedback.credit_window)?;
    assert_eq!(n_credited, RELATED.len(), "the retrievals above were still open");
    assert_eq!(playbook.credit_recent_retrievals(Duration::from_mins(5))?, 0, "no retrieval is credited twice");
    println!("  helpful  {n_credited} more lessons that were shown in the last 5 minutes\n");
    Ok(())
}

fn overflow(playbook: &Playbook) -> Result {
    let capacity = playbook.config().retention.capacity;
    heading("OVERFLOW", &format!("capacity {capacity}: a new lesson evicts the one of least utility"));
    // Six harmful retrievals make it the lesson of least utility. It stays, because it is verified.
    let verified = playbook.mark_verified(VERIFIED, Verification::Passed)?;
    for _ in 0..6 {
        playbook.record_retrieval(verified)?;
        playbook.record_harmful_retrieval(verified)?;
    }
    let before: Vec<Arc<Lesson>> = by_utility(playbook)?;
    assert_eq!((before.len(), before.first().map(|least| least.id)), (capacity, Some(verified)));

    let learned = playbook.learn_lessons(NEWCOMERS.iter().map(draft))?;
    for ([_, trigger, ..], learned) in NEWCOMERS.iter().zip(&learned) {
        println!("  in            {trigger}");
        for evicted in learned.evicted() {
            let evicted = before.iter().find(|lesson| lesson.id == *evicted).ok_or("a newcomer was evicted")?;
            println!("  out    {:.3}  {}", playbook.utility(evicted), evicted.trigger);
        }
    }
    let evicted: Vec<LessonId> = learned.iter().flat_map(|learned| learned.evicted().iter().copied()).collect();
    let least: Vec<LessonId> = before.iter().map(|lesson| lesson.id).filter(|id| *id != verified).take(2).collect();
    assert_eq!(evicted, least, "the unverified lessons of least utility left, one for each newcomer");
    assert_eq!(playbook.stats()?.n_lessons, capacity, "the playbook is as full as before");
    let kept = playbook.find(verified)?;
    println!("  stays  {:.3}  {}: worth least, yet verified", playbook.utility(&kept), kept.trigger);

    let change = learned.last().and_then(LearnOutcome::change).ok_or("an eviction is a change")?;
    let undone = playbook.undo(change)?;
    let (Some(back), Some(gone)) = (undone.restored.first(), undone.withdrawn.first()) else {
        return Err("undoing an eviction restores one lesson and removes one".into());
    };
    assert_eq!(evicted.last(), Some(back), "the lesson that left last is back");
    assert!(playbook.find(*gone).is_err(), "and the one that pushed it out is gone");
    let back = playbook.find(*back)?;
    println!("  undo   {:.3}  {}: back again\n", playbook.utility(&back), back.trigger);
    Ok(())
}

fn remove(playbook: &Playbook) -> Result {
    heading("REMOVE", "a removed lesson stays removed: an import does not bring it back");
    let lesson = playbook.find_by_trigger(REMOVED)?;
    let n_before = playbook.stats()?.n_lessons;
    playbook.remove(lesson.id)?;
    let serde_json::Value::Object(row) = serde_json::to_value(&*lesson)? else {
        return Err("a lesson is an object".into());
    };
    let learned = playbook.learn_lesson(LessonDraft::from_row(row))?;
    let LearnOutcome::Refused { reason } = learned else { return Err(format!("it came back: {learned:?}").into()) };
    assert_eq!(reason, Refusal::Removed);
    assert_eq!(playbook.stats()?.n_lessons, n_before - 1);
    println!("  removed  {REMOVED}");
    println!("  import   refused: {reason}\n");
    Ok(())
}

fn sum_up(playbook: &Playbook, embedder: &OnnxEmbedder, learning: Duration, recalls: Vec<Duration>) -> Result {
    let mut embeddings = Vec::new();
    let mut searches = Vec::new();
    for (query, _) in RELATED.iter().cycle().take(20) {
        let start = Instant::now();
        // As a document: vectors of recent queries are cached.
        let vector = embedder.embed(&[query], Role::Document)?;
        embeddings.push(start.elapsed());
        let request = Request::about(*query).with_vector(vector.into_iter().collect()).peek();
        let start = Instant::now();
        playbook.get_playbook_context(request)?;
        searches.push(start.elapsed());
    }
    let (stats, check) = (playbook.stats()?, playbook.check()?);
    assert!(check.findings.is_empty(), "everything is in order: {:?}", check.findings);
    heading("SUMMARY", "everything above was asserted");
    println!("  lessons      {} ({} verified, {} removed)", stats.n_lessons, stats.n_verified, stats.n_removed);
    println!("  check        {} lessons and {} vectors, nothing to report", check.n_lessons, check.n_vectors);
    println!(
        "  learning     {:8.2} ms per lesson, loading the model included",
        millis(learning) / (LESSONS.len() + REWORDED.len() + 1) as f64
    );
    println!("  embedding    {:8.2} ms per text that is not cached", millis(median(embeddings)));
    println!("  recall       {:8.2} ms, embedding the query included", millis(median(recalls)));
    println!("  search       {:8.2} ms of that", millis(median(searches)));
    Ok(())
}

/// All lessons, least useful first.
fn by_utility(playbook: &Playbook) -> Result<Vec<Arc<Lesson>>> {
    let mut lessons = playbook.list_lessons(&adage::Listing::everything())?;
    // Of equal ones the older first: the order in which they are evicted.
    lessons.sort_by(|a, b| playbook.utility(a).total_cmp(&playbook.utility(b)).then(a.id.cmp(&b.id)));
    Ok(lessons)
}

fn draft([topics, trigger, mistake, solution]: &Row) -> LessonDraft {
    build_lesson(*trigger, *solution).mistake(*mistake).domains(topics.split(' '))
}

fn heading(title: &str, what: &str) {
    println!("{title}  {what}");
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
