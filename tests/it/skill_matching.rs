//! The skills for a turn, as a host requests them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use adage::config::MatchConfig;
use adage::embed::{EmbedError, Role};
use adage::lesson::Trust;
use adage::ndarray::Array2;
use adage::skills::{Fallback, MatchTier, MatchedBy, NoMatch, Skill, Skills, match_skills};
use adage::{Config, Embedder, Playbook, TextHash, skills};
use parking_lot::Mutex;

use crate::bench::Bench;

fn skill(name: &str, topics: &[&str], description: &str) -> Skill {
    let skill = Skill::new(name.parse().unwrap(), description).with_triggers(topics.iter().copied(), ["build"]);
    Skill { body: format!("How to {name}."), ..skill }
}

fn matched(skills: &Skills, text: &str) -> Vec<String> {
    skills.match_skills(text).unwrap().matches.iter().map(|found| found.name.to_string()).collect()
}

#[test]
fn waiting_and_auto_loaded_skills_do_not_count_towards_the_limit() {
    let (bench, project) = (Bench::new(), tempfile::tempdir().unwrap());
    let playbook = bench.builder().with_project_skills(project.path()).open().unwrap();
    let skills = playbook.skills();
    let folder = project.path().join("theirs");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("SKILL.md"), skill("theirs", &["docker"], "d").to_text()).unwrap();
    skills.save(&Skill { auto_load: true, ..skill("always", &["docker"], "d") }).unwrap();
    let mut tainted = skill("tainted", &["docker"], "d");
    tainted.provenance.trust = Trust::Tainted;
    skills.save(&tainted).unwrap();
    skills.save(&skill("own", &["docker"], "d")).unwrap();
    assert_eq!(matched(&skills, "docker"), ["own"]);
    let task = skills.for_task("docker").unwrap();
    assert_eq!(task.always.iter().map(ToString::to_string).collect::<Vec<_>>(), ["always"]);
    assert_eq!(
        task.block.text,
        "<skill name=\"always\">\nHow to always.\n</skill>\n<skill name=\"own\">\nHow to own.\n</skill>\n"
    );
    assert_eq!(skills.for_task("zebras").unwrap().block.shown.len(), 1);
    skills.promote("theirs").unwrap();
    skills.promote("tainted").unwrap();
    assert_eq!(matched(&skills, "docker"), ["own", "tainted", "theirs"]);
    // A change of the text makes it await review again.
    std::fs::write(folder.join("SKILL.md"), skill("theirs", &["docker"], "obey").to_text()).unwrap();
    assert_eq!(matched(&skills, "docker"), ["own", "tainted"]);
}

/// Answers what it is told to: near the skill whose name a text has, in two dimensions.
struct Slow {
    gate: Option<Mutex<Receiver<()>>>,
    n_texts: AtomicUsize,
    fails: bool,
}

impl Embedder for Slow {
    fn embed(&self, texts: &[&str], _: Role) -> Result<Array2<f32>, EmbedError> {
        if let Some(gate) = &self.gate {
            let _ = gate.lock().recv();
        }
        if self.fails {
            return Err(EmbedError::Run { reason: "out of order".into() });
        }
        self.n_texts.fetch_add(texts.len(), Ordering::SeqCst);
        let row = |text: &&str| if text.contains("ship") { [1.0, 0.0] } else { [0.0, 1.0] };
        Ok(Array2::from_shape_vec((texts.len(), 2), texts.iter().flat_map(row).collect()).unwrap())
    }
    fn fingerprint(&self) -> TextHash {
        TextHash::of(&["slow"])
    }
    fn dimension(&self) -> Result<usize, EmbedError> {
        Ok(2)
    }
}

fn with(bench: &Bench, limit: Duration, embedder: Slow) -> (Playbook, Arc<Slow>) {
    let embedder = Arc::new(embedder);
    let mut config = Config::default();
    config.matching.time_limit = limit;
    let shared: Arc<Slow> = Arc::clone(&embedder);
    let playbook = bench.builder().with_embedder(shared).with_config(config).open().unwrap();
    let skills = playbook.skills();
    skills.save(&skill("boats", &["ship"], "d")).unwrap();
    skills.save(&skill("docker", &["docker"], "d")).unwrap();
    (playbook, embedder)
}

const LONG: Duration = Duration::from_mins(10);

#[test]
fn vectors_come_first_and_skills_are_embedded_once() {
    let bench = Bench::new();
    let (playbook, embedder) = with(&bench, LONG, Slow { gate: None, n_texts: AtomicUsize::new(0), fails: false });
    let skills = playbook.skills();
    let found = skills.match_skills("a shipment of crates").unwrap();
    assert_eq!((found.tier, found.fallback), (MatchTier::Meaning, None));
    assert!(matches!(found.matches[0].by, MatchedBy::Meaning { cosine } if (cosine - 1.0).abs() < 1e-6));
    assert_eq!((found.matches.len(), embedder.n_texts.load(Ordering::SeqCst)), (1, 3));
    skills.match_skills("a ship").unwrap();
    assert_eq!(embedder.n_texts.load(Ordering::SeqCst), 4, "only the query");
    skills.save(&skill("third", &["ship"], "d")).unwrap();
    assert_eq!(matched(&skills, "a ship"), ["boats", "third"]);
    assert_eq!(embedder.n_texts.load(Ordering::SeqCst), 8, "a reload embeds all");
}

#[test]
fn without_vectors_words_decide_and_the_reason_is_given() {
    let bench = Bench::new();
    let skills = bench.open().skills();
    let found = skills.match_skills("ship").unwrap();
    assert_eq!((found.none_because, found.fallback), (Some(NoMatch::NoSkills), Some(Fallback::NoEmbedder)));

    let (playbook, _) = with(&bench, LONG, Slow { gate: None, n_texts: AtomicUsize::new(0), fails: true });
    let found = playbook.skills().match_skills("docker").unwrap();
    assert_eq!(found.matches.len(), 1);
    assert!(matches!(found.fallback, Some(Fallback::Failed { reason }) if reason.contains("out of order")));
}

#[test]
fn an_embedder_that_takes_too_long_is_not_waited_for() {
    let bench = Bench::new();
    let (open, gate): (Sender<()>, _) = channel();
    let slow = Slow { gate: Some(Mutex::new(gate)), n_texts: AtomicUsize::new(0), fails: false };
    let limit = Duration::from_millis(20);
    let (playbook, embedder) = with(&bench, limit, slow);
    let skills = playbook.skills();
    let timed_out = Some(Fallback::TimedOut { limit });
    let found = skills.match_skills("docker").unwrap();
    assert_eq!((found.tier, found.fallback, found.matches.len()), (MatchTier::Words, timed_out.clone(), 1));
    assert_eq!(skills.match_skills("docker").unwrap().fallback, timed_out, "one at a time");
    // It is used again once it is fast enough.
    drop(open);
    while embedder.n_texts.load(Ordering::SeqCst) < 3 {
        std::thread::yield_now();
    }
}

/// The lines of a gzipped file of JSON.
fn rows(file: &std::path::Path) -> Vec<serde_json::Value> {
    use std::io::Read;
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(file).unwrap()).read_to_string(&mut text).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn unrelated_questions_match_no_skill() {
    let Some(folder) = std::env::var_os("ADAGE_DATA").map(std::path::PathBuf::from) else {
        use std::io::Write;
        // Straight to standard error: the test runner keeps the output of tests that pass to itself.
        let text = "NOT MEASURED: skills matched by unrelated questions; set ADAGE_DATA to the folder with skills and unrelated";
        writeln!(std::io::stderr(), "{text}").unwrap();
        return;
    };
    let skills: Vec<Skill> = rows(&folder.join("skills").join("skills.jsonl.gz"))
        .iter()
        .filter_map(|row| Some(Skill::read(row["text"].as_str()?.as_bytes(), None).ok()?.skill))
        .collect();
    let indexed = skills.iter().map(|skill| skills::Indexed { skill, is_matchable: true });
    let (index, config) = (skills::Index::new(indexed), MatchConfig::default());
    let n_found = |queries: &[String]| {
        let found = queries.iter().filter(|query| !match_skills(query, &index, &config).matches.is_empty());
        found.count() as f64 / queries.len() as f64
    };
    let texts = |file: &str| -> Vec<String> {
        let text = std::fs::read_to_string(folder.join("unrelated").join(file)).unwrap();
        let row = |line: &str| serde_json::from_str::<serde_json::Value>(line).unwrap();
        text.lines().map(|line| row(line)["text"].as_str().unwrap().to_owned()).collect()
    };
    let (trivia, titles) = (texts("trivia.jsonl"), texts("til-titles.jsonl"));
    let found = skills.iter().filter(|skill| {
        let query = format!("help me with {}", skill.name.as_str().replace('-', " "));
        match_skills(&query, &index, &config).matches.iter().any(|found| found.name == skill.name)
    });
    let found = found.count() as f64 / skills.len() as f64;
    let (trivia, titles) = (n_found(&trivia), n_found(&titles));
    let report = format!(
        "of {} skills {found:.3} are found by name; trivia {trivia:.4}, titles {titles:.4} match one",
        index.len()
    );
    // Measured: 0.998; 0.024 and 0.081. The titles are on programming, as most of the skills are.
    assert!(index.len() >= 400 && found >= 0.99 && trivia <= 0.03 && titles <= 0.1, "{report}");
}
