//! A tour of the playbook with the bundled model: learn, retrieve, credit, overflow, remove.
//!
//! ```text
//! cargo run --example quickstart [FOLDER]
//! ```
//!
//! The playbook is made in FOLDER, which must not hold one yet, or in a temporary folder that is gone afterwards. Everything
//! printed is asserted too: a claim that does not hold ends the program.
#![allow(clippy::print_stdout, reason = "an example shows what it does")]
#![allow(clippy::disallowed_methods, reason = "an example takes the time it needs")]

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
    start_cold(&playbook)?;
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

    for (number, ([_, trigger, ..], learned)) in (1..).zip(rows().zip(&learned)) {
        let fate = match learned {
            LearnOutcome::Inserted { .. } => "inserted",
            LearnOutcome::Superseded { .. } => "superseded",
            LearnOutcome::Merged { .. } => "merged",
            LearnOutcome::Distinct { .. } => "kept apart",
            LearnOutcome::Review { .. } => "in review",
            LearnOutcome::Refused { .. } => "refused",
            _ => "other",
        };
        println!("  {number:2}  {fate:10}  {trigger}");
        match learned {
            LearnOutcome::Merged { into, distance: Some(distance), .. } => {
                println!("                  into \"{}\", distance {distance:.3}", playbook.find(*into)?.trigger);
            }
            LearnOutcome::Distinct { distance: Some(distance), why, .. } => {
                println!("                  distance {distance:.3}, but {why}");
            }
            _ => {}
        }
    }

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
    assert_eq!(theirs.trigger, *of, "the variant is kept apart from the lesson that it contradicts");
    assert_ne!(ours.correct_pattern, theirs.correct_pattern, "both versions stay as they were written");
    assert_eq!(playbook.stats()?.n_lessons, LESSONS.len() + 1, "27 were learned, 2 of them merged");
    println!(
        "  {} lessons are stored, in {:.1} s, loading the model included\n",
        LESSONS.len() + 1,
        elapsed.as_secs_f64()
    );
    Ok(elapsed)
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
    heading("STAY SILENT", "where nothing is likely enough: no filler, but the reason");
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

fn start_cold(playbook: &Playbook) -> Result {
    heading("START COLD", "without a task, the newest lessons");
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
    heading("CREDIT", "an outcome counts for exactly what its receipt showed, once");
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
    heading("OVERFLOW", &format!("capacity {capacity}: a new lesson pushes out the one of least utility"));
    // Six showings that do harm make it the lesson of least utility. It stays all the same: it is verified.
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
        for gone in learned.evicted() {
            let gone = before.iter().find(|lesson| lesson.id == *gone).ok_or("a newcomer was evicted")?;
            println!("  out    {:.3}  {}", playbook.utility(gone), gone.trigger);
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
        return Err("an undone eviction brings one lesson back and takes one away".into());
    };
    assert_eq!(evicted.last(), Some(back), "the lesson that left last is back");
    assert!(playbook.find(*gone).is_err(), "and the one that pushed it out is gone");
    let back = playbook.find(*back)?;
    println!("  undo   {:.3}  {}: back again\n", playbook.utility(&back), back.trigger);
    Ok(())
}

fn remove(playbook: &Playbook) -> Result {
    heading("REMOVE", "for good: no import brings the text back");
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
        // As a document: the vectors of the last queries are kept, and would cost nothing.
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
        "  learning     {:8.2} ms a lesson, loading the model included",
        millis(learning) / (LESSONS.len() + REWORDED.len() + 1) as f64
    );
    println!("  embedding    {:8.2} ms a text that was not asked before", millis(median(embeddings)));
    println!("  recall       {:8.2} ms, embedding the query included", millis(median(recalls)));
    println!("  search       {:8.2} ms of that", millis(median(searches)));
    Ok(())
}

/// All lessons, least useful first.
fn by_utility(playbook: &Playbook) -> Result<Vec<Arc<Lesson>>> {
    let mut lessons = playbook.list_lessons(&adage::Listing::everything())?;
    // Of equal ones the older first: in this order they leave.
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

/// Topics, trigger, mistake, solution.
type Row = [&'static str; 4];

const LESSONS: [Row; 24] = [
    [
        "git",
        "Pushing a branch after a rebase",
        "git push --force overwrote a colleague's commits.",
        "Use git push --force-with-lease, which refuses when the remote has commits that you have not fetched.",
    ],
    [
        "git security",
        "A secret was committed by accident",
        "Deleted the key in a new commit, although it stays readable in the history.",
        "Revoke the key at once, then rewrite the history with git filter-repo.",
    ],
    [
        "rust cargo",
        "A dependency has Cargo features on that the crate never asked for",
        "Built the whole workspace, where cargo unifies the features that its members ask for.",
        "Build the one package with cargo build -p NAME; cargo tree -e features shows who asks for what.",
    ],
    [
        "rust async",
        "Holding a std Mutex guard across an await in Rust",
        "The future was not Send, and two tasks could deadlock.",
        "Drop the guard before the await, or use tokio::sync::Mutex.",
    ],
    [
        "python packaging",
        "Data files are missing from an installed Python wheel",
        "Expected data files to be packed without being named.",
        "List them under [tool.setuptools.package-data] and look into the wheel with unzip -l.",
    ],
    [
        "python",
        "The default argument of a Python function is a list",
        "The list is made once, so that all calls share it.",
        "Use None as the default and make the list in the body.",
    ],
    [
        "sql",
        "Filtering rows with NOT IN and a subquery in SQL",
        "The subquery returned a NULL, so the whole result was empty.",
        "Use NOT EXISTS, or exclude NULLs in the subquery.",
    ],
    [
        "sql postgres",
        "Creating an index on a busy PostgreSQL table",
        "A plain CREATE INDEX blocked all writes until it was finished.",
        "Use CREATE INDEX CONCURRENTLY, outside a transaction block.",
    ],
    [
        "docker",
        "Docker reinstalls everything after a code change",
        "COPY . . came before the install step and invalidated its layer.",
        "Copy the lock file alone, install, then copy the source.",
    ],
    [
        "docker",
        "A container ignores docker stop and is killed after ten seconds",
        "The shell form of CMD ran the program under sh, which did not pass SIGTERM on.",
        "Use the exec form, CMD [\"app\"], or exec in the entrypoint script.",
    ],
    [
        "shell",
        "Looping over file names in bash",
        "Left $f unquoted, so that names with spaces came apart.",
        "Write \"$f\" in double quotes; between programs use find -print0 and xargs -0.",
    ],
    [
        "shell ci",
        "A failing command in a pipe does not fail the shell script",
        "Trusted set -e, which looks at the last command of a pipe only.",
        "Put set -o pipefail at the top of the bash script.",
    ],
    [
        "time",
        "Scheduling a daily job at 02:30 local time",
        "The job ran twice, or not at all, in the nights of the clock change.",
        "Schedule in UTC, or choose an hour that the clock change leaves alone.",
    ],
    [
        "python time",
        "Python cannot compare offset-naive and offset-aware datetimes",
        "Mixed datetime.utcnow() with values that carry a time zone.",
        "Use datetime.now(timezone.utc) everywhere.",
    ],
    [
        "unicode",
        "Two strings look the same but compare unequal",
        "One had a combining accent, the other a composed letter.",
        "Normalise both to NFC before comparing or storing.",
    ],
    [
        "unicode",
        "Cutting a UTF-8 string to a maximum byte length",
        "Cut in the middle of a character, which left invalid text.",
        "Move back to the last character boundary before cutting.",
    ],
    [
        "javascript async",
        "Awaiting many requests one by one in JavaScript",
        "await inside the for loop made them run in sequence.",
        "Start them all and await Promise.all.",
    ],
    [
        "ci",
        "GitHub Actions restores a stale cache",
        "Used a fixed cache key, which is never overwritten once it is saved.",
        "Put hashFiles of the lock file into the key.",
    ],
    [
        "javascript ci",
        "Choosing the pnpm version for the frontend build",
        "Let CI take the newest pnpm, which rewrote the lock file.",
        "Set \"packageManager\": \"pnpm@8.15.9\" in package.json and enable corepack.",
    ],
    [
        "k8s",
        "Pods keep old settings after a ConfigMap changed",
        "Environment variables are only read when a container starts.",
        "Run kubectl rollout restart on the deployment.",
    ],
    [
        "money",
        "Storing prices as floating point numbers",
        "Sums were off by a cent, because 0.1 has no exact binary form.",
        "Store integer cents, or use a decimal type.",
    ],
    [
        "javascript react",
        "An effect of a React component runs again on every render",
        "Passed an object literal in the dependency list, which is a new one each time.",
        "Depend on primitive values, or memoise the object with useMemo.",
    ],
    [
        "http",
        "A URL with a long list of ids in its query fails",
        "The URL exceeded the server's limit, which answered 414.",
        "Send the ids in the body of a POST request.",
    ],
    [
        "parsing",
        "Parsing HTML with a regular expression",
        "The pattern broke on nested tags and on attributes in another order.",
        "Use a real parser such as BeautifulSoup or lxml.",
    ],
];

/// Lessons in other words, each with the trigger of the one that says the same.
const REWORDED: [(Row, &str); 2] = [
    (
        [
            "sql postgres",
            "Creating an index on a PostgreSQL table in heavy use",
            "A plain CREATE INDEX blocked every write until it had finished.",
            "Create it with CREATE INDEX CONCURRENTLY, and not inside a transaction block.",
        ],
        "Creating an index on a busy PostgreSQL table",
    ),
    (
        [
            "k8s",
            "Pods still use the old settings after a ConfigMap update",
            "A container reads its environment variables only when it starts.",
            "Restart the deployment with kubectl rollout restart.",
        ],
        "Pods keep old settings after a ConfigMap changed",
    ),
];

/// The same words but for the version, and the trigger of the lesson with the other one.
const OTHER_VERSION: (Row, &str) = (
    [
        "javascript ci",
        "Choosing the pnpm version for the frontend build",
        "Let CI take the newest pnpm, which rewrote the lock file.",
        "Set \"packageManager\": \"pnpm@9.15.0\" in package.json and enable corepack.",
    ],
    "Choosing the pnpm version for the frontend build",
);

/// Queries, and the trigger of the lesson that answers each.
const RELATED: [(&str, &str); 6] = [
    ("bash loop breaks on filenames with spaces", "Looping over file names in bash"),
    ("docker build runs npm install after every edit", "Docker reinstalls everything after a code change"),
    ("strings that look identical are not equal", "Two strings look the same but compare unequal"),
    ("NOT IN subquery returns no rows", "Filtering rows with NOT IN and a subquery in SQL"),
    ("nightly job in local time ran twice in October", "Scheduling a daily job at 02:30 local time"),
    ("my pods ignore the new environment variables", "Pods keep old settings after a ConfigMap changed"),
];

const UNRELATED: [&str; 4] = [
    "How do I bake sourdough bread with a crisp crust?",
    "Which football team won the world cup in 1974?",
    "Writing a birthday poem for my grandmother",
    "Symptoms of iron deficiency in cats",
];

/// Queries, the lesson that each is answered by, and how the task went with it.
const OUTCOMES: [(&str, &str, Feedback); 3] = [
    ("git push was rejected after I rebased", "Pushing a branch after a rebase", Feedback::Helpful),
    // All of them at once was too much for the server.
    ("fetch 5000 URLs with await in JavaScript", "Awaiting many requests one by one in JavaScript", Feedback::Harmful),
    // Neither parser is there in JavaScript.
    (
        "get the links of an HTML page by a regular expression",
        "Parsing HTML with a regular expression",
        Feedback::Harmful,
    ),
];

const VERIFIED: &str = "A URL with a long list of ids in its query fails";

const NEWCOMERS: [Row; 2] = [
    [
        "python",
        "Removing items from a list while looping over it in Python",
        "Every removal made the loop skip the next item.",
        "Build a new list with a comprehension.",
    ],
    [
        "http",
        "Retrying a failed HTTP request in a tight loop",
        "All clients came back at once and kept the server down.",
        "Wait longer after each failure, with random jitter, and give up after some tries.",
    ],
];

const REMOVED: &str = "GitHub Actions restores a stale cache";
