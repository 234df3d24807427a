//! Every setting with its default, unit, range and origin.
//!
//! ```
//! use adage::{Config, Playbook};
//!
//! # let folder = tempfile::tempdir()?;
//! let mut config = Config::default();
//! config.retention.capacity = 200; // lessons per realm; 50 by default
//! config.retrieval.distance_threshold = 0.5;
//! let playbook = Playbook::builder(folder.path()).with_config(config).without_embedder().open()?;
//! assert_eq!(playbook.config().retention.capacity, 200);
//!
//! let mut wrong = Config::default();
//! wrong.retrieval.distance_threshold = 2.5;
//! let error = wrong.validate().unwrap_err().to_string();
//! assert!(error.starts_with("retrieval.distance_threshold is 2.5"), "{error}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Settings are checked once, when a playbook is opened.

use std::time::Duration;

use adage_index::IndexConfig;

use crate::lesson::Lesson;

pub use crate::error::config::Error;

/// All settings. `Config::default()` is what the documentation describes.
#[derive(Clone, Debug)]
pub struct Config {
    /// Learning and duplicates.
    pub learn: LearnConfig,
    /// What is kept.
    pub retention: RetentionConfig,
    /// What is shown.
    pub retrieval: RetrievalConfig,
    /// What feedback does.
    pub feedback: FeedbackConfig,
    /// How vectors are searched. A playbook's graph is made anew at every open, at about 240 µs a lesson, where a scan of
    /// 100,000 takes a millisecond: `index.graph_from` is 200,000 here.
    pub index: IndexConfig,
    /// What is found in transcripts.
    pub capture: CaptureConfig,
    /// Which sessions are read, and how often.
    pub sessions: SessionsConfig,
    /// What a language model is asked.
    pub extract: ExtractConfig,
    /// What an agent that looks through past sessions may do.
    pub agent: AgentConfig,
    /// Which skills a task is given.
    pub matching: MatchConfig,
    /// Which skills are saved without a person.
    pub auto_save: AutoSaveConfig,
    /// What becomes of saved skills.
    pub curation: CurationConfig,
    /// Which skills come with every context.
    pub skills: SkillsConfig,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            learn: LearnConfig::default(),
            retention: RetentionConfig::default(),
            retrieval: RetrievalConfig::default(),
            feedback: FeedbackConfig::default(),
            index: IndexConfig { graph_from: 200_000, ..IndexConfig::default() },
            capture: CaptureConfig::default(),
            sessions: SessionsConfig::default(),
            extract: ExtractConfig::default(),
            agent: AgentConfig::default(),
            matching: MatchConfig::default(),
            auto_save: AutoSaveConfig::default(),
            curation: CurationConfig::default(),
            skills: SkillsConfig::default(),
        }
    }
}

/// How duplicates are told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DedupPolicy {
    /// Near lessons merge unless their values conflict (docs/spec/playbook.md, 3.3).
    #[default]
    Guarded,
    /// Near lessons merge, whatever else.
    Plain,
    /// Nothing merges; whole texts are not embedded. For measuring retrieval.
    Off,
}

/// Learning and duplicates (docs/spec/playbook.md, 3).
#[derive(Clone, Debug)]
pub struct LearnConfig {
    /// Whole texts strictly below this cosine distance are duplicates. 0.15, in [0, 2]; the earlier system's number, which
    /// there was a squared L2 distance (cosine 0.075): hence the guard.
    pub duplicate_distance: f32,
    /// What happens to duplicates.
    pub dedup: DedupPolicy,
    /// A draft with a longer field is refused. 32 KiB, in bytes; chosen.
    pub max_field_bytes: usize,
    /// Added to the confidence of a lesson that becomes verified, up to 1. 0.2, in [0, 1]; the earlier system's.
    pub verified_bonus: f64,
    /// Lessons that one session teaches by itself. 3; chosen (docs/spec/capture.md, 5.4).
    pub max_of_session: usize,
}

impl Default for LearnConfig {
    fn default() -> Self {
        Self {
            duplicate_distance: 0.15,
            dedup: DedupPolicy::Guarded,
            max_field_bytes: 32 * 1024,
            verified_bonus: 0.2,
            max_of_session: 3,
        }
    }
}

/// The default capacity of a realm, in lessons; the earlier system's.
pub const PLAYBOOK_MAX: usize = 50;

/// What a lesson is worth; of two, the one worth more stays.
///
/// The head of a trim, verified lessons and the capacity hold under every policy.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub enum UtilityPolicy {
    /// The formula of [`utility`](crate::utility).
    #[default]
    Standard,
    /// The host's own: a pure function; NaN counts as worthless.
    Custom(fn(&Lesson) -> f64),
}

/// What is kept (docs/spec/playbook.md, 3.6, 4, 6.6).
#[derive(Clone, Debug)]
pub struct RetentionConfig {
    /// Lessons a realm holds. 50, at least 1; the earlier system's.
    pub capacity: usize,
    /// What a lesson is worth.
    pub utility: UtilityPolicy,
    /// Pruning looks at lessons shown at least this often. 5; the earlier system's.
    pub prune_min_retrievals: u64,
    /// Pruning never takes a larger share of the lessons. 0.25, in [0, 1]; the earlier system's.
    pub prune_max_fraction: f64,
    /// Lessons that wait for review; of more, the oldest are archived. 200; chosen.
    pub max_waiting: usize,
}

impl Default for RetentionConfig {
    fn default() -> Self {
        Self {
            capacity: PLAYBOOK_MAX,
            utility: UtilityPolicy::Standard,
            prune_min_retrievals: 5,
            prune_max_fraction: 0.25,
            max_waiting: 200,
        }
    }
}

/// What is shown (docs/spec/playbook.md, 5).
#[derive(Clone, Debug)]
pub struct RetrievalConfig {
    /// Triggers strictly below this cosine distance are shown. 0.45, in [0, 2]; the earlier system's number, there squared L2.
    pub distance_threshold: f32,
    /// Weight of the word overlap beside `1 − distance`. 0.4; the earlier system's.
    pub overlap_weight: f32,
    /// Lessons shown. 5; the earlier system's.
    pub limit: usize,
    /// Neighbours looked at: `max(2·limit, this)`. 10; the earlier system's.
    pub min_neighbours: usize,
    /// Size of the rendered block. 1,200, in estimated tokens of 4 characters; specified.
    pub max_tokens: usize,
    /// Share of the query, by idf, that a lexical hit must cover: the mean of what its trigger and what the whole of it
    /// match, or the latter from one half on. 0.30, in [0, 1]; specified for the whole alone, which is more talkative.
    pub lexical_floor: f32,
}

impl Default for RetrievalConfig {
    fn default() -> Self {
        Self {
            distance_threshold: 0.45,
            overlap_weight: 0.4,
            limit: 5,
            min_neighbours: 10,
            max_tokens: 1_200,
            lexical_floor: 0.30,
        }
    }
}

/// What feedback does (docs/spec/playbook.md, 6).
#[derive(Clone, Debug)]
pub struct FeedbackConfig {
    /// Added to the confidence by a helpful retrieval, up to 1. 0.05; the earlier system's.
    pub helpful_step: f64,
    /// Taken from the confidence by a harmful retrieval, down to 0. 0.1; specified.
    pub harmful_step: f64,
    /// How far back `credit_recent_retrievals` looks by default. 300 s; the earlier system's.
    pub credit_window: Duration,
}

impl Default for FeedbackConfig {
    fn default() -> Self {
        Self { helpful_step: 0.05, harmful_step: 0.1, credit_window: Duration::from_mins(5) }
    }
}

/// Which of the candidates found in a transcript are suggested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Selection {
    /// The best of each rule: the longest, the most repeated, the clearest; the earliest of equals.
    #[default]
    Best,
    /// Every one.
    All,
}

/// What is found in transcripts (docs/spec/capture.md, 2).
#[derive(Clone, Debug)]
pub struct CaptureConfig {
    /// Terminal calls that succeed in a row before they are a procedure. 4, at least 2; the earlier system's.
    pub min_run: usize,
    /// Terminal calls after a failure among which its recovery is looked for. 5, at least 1; the earlier system's, which
    /// counted calls of every tool.
    pub recovery_window: usize,
    /// Terminal calls of a session before repetitions in it count. 6; the earlier system's, which counted calls of every tool.
    pub min_calls: usize,
    /// Successes of one command before it is repeated. 2, at least 2; the earlier system's.
    pub min_repeats: usize,
    /// Suggestions of one transcript. 5; the earlier system's.
    pub max_candidates: usize,
    /// Which candidates are suggested. The limit above holds for the best only.
    pub selection: Selection,
    /// Parts of the names of tools that read what nobody vouches for, in lower case. Tools of other servers, `server__tool`,
    /// always do.
    pub untrusted_tools: Vec<String>,
    /// Programs that do.
    pub untrusted_programs: Vec<String>,
    /// For how long a suggestion that was skipped is not made again. 30 days; the earlier system's, which never forgot.
    pub skip_for: Duration,
    /// How often a suggestion has to be skipped for that. 1, at least 1; chosen.
    pub skip_threshold: u64,
}

impl Default for CaptureConfig {
    fn default() -> Self {
        Self {
            min_run: 4,
            recovery_window: 5,
            min_calls: 6,
            min_repeats: 2,
            max_candidates: 5,
            selection: Selection::Best,
            untrusted_tools: ["web", "fetch", "browser", "search_engine", "http"].map(str::to_owned).to_vec(),
            untrusted_programs: ["curl", "wget", "lynx", "w3m", "http", "https", "aria2c"].map(str::to_owned).to_vec(),
            skip_for: Duration::from_hours(30 * 24),
            skip_threshold: 1,
        }
    }
}

/// Which sessions are read, and how often (docs/spec/capture.md, 4).
#[derive(Clone, Debug)]
pub struct SessionsConfig {
    /// A session written to more recently may go on. 3 hours; specified.
    pub min_idle: Duration,
    /// User turns of a session worth reading. 10; specified.
    pub min_user_turns: usize,
    /// Between the starts of two runs. 30 minutes; specified.
    pub min_gap: Duration,
    /// Sessions read in one run. 10, at least 1; specified.
    pub max_per_run: usize,
    /// Lines of an index. 50, at least 1; specified.
    pub max_lines: usize,
    /// Attempts to read one version of a session before it is given up. 3, at least 1; chosen.
    pub max_attempts: u32,
    /// Runs on record; of more, the oldest are forgotten. 50, at least 1; chosen.
    pub max_runs: usize,
    /// Folders below the named one that are looked into. 8; chosen.
    pub max_depth: usize,
    /// A larger file is left out, and said so. 256 MiB, in bytes; chosen.
    pub max_file_bytes: u64,
}

impl Default for SessionsConfig {
    fn default() -> Self {
        Self {
            min_idle: Duration::from_hours(3),
            min_user_turns: 10,
            min_gap: Duration::from_mins(30),
            max_per_run: 10,
            max_lines: 50,
            max_attempts: 3,
            max_runs: 50,
            max_depth: 8,
            max_file_bytes: 256 << 20,
        }
    }
}

/// What a language model is asked about a session (docs/spec/capture.md, 3).
#[derive(Clone, Debug)]
pub struct ExtractConfig {
    /// Proposals of one answer that are looked at. 3, at least 1; specified.
    pub max_lessons: usize,
    /// Known lessons that the model is shown. 20; specified.
    pub max_existing: usize,
    /// A longer user turn keeps its head, its tail and what corrects. 2,000, in characters; chosen.
    pub max_user_turn_chars: usize,
    /// Any other longer text (the assistant's, a call's input or result) keeps its head and its tail. 500, in characters; chosen.
    pub max_other_turn_chars: usize,
    /// Of a longer session, what the user said last and what stands beside it goes first. 48,000, in characters (about
    /// 12,000 tokens), at least four times a user turn's; chosen. Corrections within one turn take up to a quarter of it.
    pub max_session_chars: usize,
    /// The longest answer. 4,096, in the model's tokens; specified.
    pub max_tokens: u32,
    /// The longest answer that is read. 256 KiB, in bytes; chosen.
    pub max_reply_bytes: usize,
    /// The model's sampling temperature. 0.3, in [0, 2]; specified.
    pub temperature: f64,
    /// How long one call may take. 2 min; chosen.
    pub time_limit: Duration,
    /// How long to wait before the second attempt, unless the server says. 2 s; chosen.
    pub retry_delay: Duration,
    /// A server that asks for more time than this is not asked again. 30 s; chosen.
    pub max_retry_delay: Duration,
}

impl Default for ExtractConfig {
    fn default() -> Self {
        Self {
            max_lessons: 3,
            max_existing: 20,
            max_user_turn_chars: 2_000,
            max_other_turn_chars: 500,
            max_session_chars: 48_000,
            max_tokens: 4_096,
            max_reply_bytes: 256 * 1024,
            temperature: 0.3,
            time_limit: Duration::from_mins(2),
            retry_delay: Duration::from_secs(2),
            max_retry_delay: Duration::from_secs(30),
        }
    }
}

/// What an agent that the host runs over past sessions may do (docs/spec/skills.md, 5).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentConfig {
    /// Its turns. 30, at least 1; specified.
    pub max_turns: usize,
    /// How long it may take. 30 min; specified.
    pub time_limit: Duration,
    /// Skills that it may propose. 2; specified.
    pub max_skills: usize,
    /// Changes to notes that it may propose. 5; specified.
    pub max_patches: usize,
    /// Sessions that a new skill has to be seen in. 2, at least 1; specified.
    pub min_sessions: usize,
}

impl Default for AgentConfig {
    fn default() -> Self {
        Self { max_turns: 30, time_limit: Duration::from_mins(30), max_skills: 2, max_patches: 5, min_sessions: 2 }
    }
}

/// Which skills a task is given (docs/spec/skills.md, 2).
#[derive(Clone, Debug)]
pub struct MatchConfig {
    /// Skills shown beside those that are always loaded. 5; the earlier system's. 0 shows none.
    pub max_slots: usize,
    /// Points by words that a skill needs. 3, at least 1; the earlier system's.
    pub threshold: u32,
    /// Cosine similarity that a skill needs, by an embedder. 0.35, in [-1, 1]; the earlier system's.
    pub cosine_floor: f32,
    /// How long an embedder may take before words decide. 2 s; the earlier system's.
    pub time_limit: Duration,
    /// Size of the rendered block. 6,000, at least 1, in estimated tokens of 4 characters; chosen.
    pub max_tokens: usize,
}

impl Default for MatchConfig {
    fn default() -> Self {
        Self { max_slots: 5, threshold: 3, cosine_floor: 0.35, time_limit: Duration::from_secs(2), max_tokens: 6_000 }
    }
}

/// Which of the skills that sessions suggest are saved without a person (docs/spec/skills.md, 3.1). Tainted ones never are.
#[derive(Clone, Debug)]
pub struct AutoSaveConfig {
    /// Whether any is. True; the earlier system's.
    pub enabled: bool,
    /// Skills saved of one session. 3; the earlier system's, where a run of the agent is a session.
    pub max_per_run: usize,
    /// Only skills that a language model worded are saved. False; chosen, as no model comes with the crate.
    pub require_llm: bool,
}

impl Default for AutoSaveConfig {
    fn default() -> Self {
        Self { enabled: true, max_per_run: 3, require_llm: false }
    }
}

/// What becomes of saved skills that nobody stands behind (docs/spec/skills.md, 3.2, 3.3). When a suggestion counts as
/// skipped is said by
/// `capture.skip_threshold` and `capture.skip_for`.
#[derive(Clone, Debug)]
pub struct CurationConfig {
    /// Whether a run that saved skills is followed by a curation. True; the earlier system's.
    pub auto_curate: bool,
    /// For how long a draft is not used before it is stale, in whole days. 90 days, at least 1; the earlier system's.
    pub staleness: Duration,
    /// Whether stale drafts are taken out and archived, instead of only marked. False; the earlier system's.
    pub auto_prune: bool,
    /// Topics that two drafts share before their steps are compared. 2, at least 1; the earlier system's.
    pub min_shared_topics: usize,
}

impl Default for CurationConfig {
    fn default() -> Self {
        Self { auto_curate: true, staleness: Duration::from_hours(90 * 24), auto_prune: false, min_shared_topics: 2 }
    }
}

/// Skills (docs/spec/skills.md, 1).
#[derive(Clone, Debug)]
pub struct SkillsConfig {
    /// Skills that come with every context. 3; the earlier system's. 0 shows none.
    pub max_auto_load: usize,
}

impl Default for SkillsConfig {
    fn default() -> Self {
        Self { max_auto_load: 3 }
    }
}

impl Config {
    /// Checks every range.
    ///
    /// # Errors
    /// [`Error::Invalid`] names the first setting that is out of range, its value and what it may be.
    pub fn validate(&self) -> Result<(), Error> {
        let Self {
            learn,
            retention,
            retrieval,
            feedback,
            index,
            capture,
            sessions,
            extract,
            agent,
            skills: _,
            matching,
            auto_save: _,
            curation,
        } = self;
        let distances = [
            ("learn.duplicate_distance", f64::from(learn.duplicate_distance)),
            ("retrieval.distance_threshold", f64::from(retrieval.distance_threshold)),
        ];
        let shares = [
            ("learn.verified_bonus", learn.verified_bonus),
            ("retention.prune_max_fraction", retention.prune_max_fraction),
            ("retrieval.lexical_floor", f64::from(retrieval.lexical_floor)),
            ("feedback.helpful_step", feedback.helpful_step),
            ("feedback.harmful_step", feedback.harmful_step),
        ];
        let counts = [
            ("learn.max_field_bytes", learn.max_field_bytes),
            ("retention.capacity", retention.capacity),
            ("retrieval.limit", retrieval.limit),
            ("retrieval.max_tokens", retrieval.max_tokens),
            ("capture.recovery_window", capture.recovery_window),
            ("capture.skip_threshold", usize::try_from(capture.skip_threshold).unwrap_or(usize::MAX)),
            ("sessions.max_per_run", sessions.max_per_run),
            ("sessions.max_lines", sessions.max_lines),
            ("sessions.max_attempts", sessions.max_attempts as usize),
            ("sessions.max_runs", sessions.max_runs),
            ("extract.max_lessons", extract.max_lessons),
            ("agent.max_turns", agent.max_turns),
            ("agent.min_sessions", agent.min_sessions),
            ("matching.threshold", matching.threshold as usize),
            ("matching.max_tokens", matching.max_tokens),
            ("curation.min_shared_topics", curation.min_shared_topics),
        ];
        // One command is no run, and once is no repetition.
        let plurals = [("capture.min_run", capture.min_run), ("capture.min_repeats", capture.min_repeats)];
        // Escaped in JSON, a turn at most doubles: the last correction always fits.
        let (session, turn) = (extract.max_session_chars, extract.max_user_turn_chars);
        let expected = "at least 1,000 and four times extract.max_user_turn_chars";
        check("extract.max_session_chars", &session, session >= 1_000.max(turn.saturating_mul(4)), expected)?;
        let temperature = extract.temperature;
        check("extract.temperature", &temperature, (0.0..=2.0).contains(&temperature), "in [0, 2]")?;
        for (setting, value) in distances {
            check(setting, &value, (0.0..=2.0).contains(&value), "a cosine distance in [0, 2]")?;
        }
        for (setting, value) in shares {
            check(setting, &value, (0.0..=1.0).contains(&value), "in [0, 1]")?;
        }
        for (setting, value) in counts {
            check(setting, &value, value > 0, "at least 1")?;
        }
        let staleness = curation.staleness.as_secs() / (24 * 60 * 60);
        check("curation.staleness", &format!("{staleness} days"), staleness > 0, "at least a day")?;
        let floor = matching.cosine_floor;
        check("matching.cosine_floor", &floor, (-1.0..=1.0).contains(&floor), "a cosine in [-1, 1]")?;
        index.validate()?;
        for (setting, value) in plurals {
            check(setting, &value, value > 1, "at least 2")?;
        }
        let weight = retrieval.overlap_weight;
        check("retrieval.overlap_weight", &weight, weight.is_finite() && weight >= 0.0, "finite and not negative")
    }
}

fn check<T: ToString + ?Sized>(
    setting: &'static str,
    value: &T,
    holds: bool,
    expected: &'static str,
) -> Result<(), Error> {
    if holds { Ok(()) } else { Err(Error::Invalid { setting, value: value.to_string(), expected }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Spoil = fn(&mut Config);

    #[test]
    fn the_defaults_are_valid_and_each_bad_setting_is_named() {
        assert!(Config::default().validate().is_ok());
        let bad: [(&str, Spoil); 19] = [
            ("curation.staleness", |config| config.curation.staleness = Duration::from_hours(23)),
            ("matching.threshold", |config| config.matching.threshold = 0),
            ("matching.cosine_floor", |config| config.matching.cosine_floor = f32::NAN),
            ("sessions.max_attempts", |config| config.sessions.max_attempts = 0),
            ("capture.min_run", |config| config.capture.min_run = 1),
            ("capture.recovery_window", |config| config.capture.recovery_window = 0),
            ("learn.duplicate_distance", |config| config.learn.duplicate_distance = f32::NAN),
            ("retrieval.distance_threshold", |config| config.retrieval.distance_threshold = 2.5),
            ("retention.prune_max_fraction", |config| config.retention.prune_max_fraction = -0.1),
            ("retention.capacity", |config| config.retention.capacity = 0),
            ("index.graph_from", |config| config.index.graph_from = 0),
            ("index.links", |config| config.index.links = 3),
            ("index.links", |config| config.index.links = 65),
            ("index.ef_construction", |config| config.index.ef_construction = 7),
            ("index.ef", |config| config.index.ef = 0),
            ("extract.max_lessons", |config| config.extract.max_lessons = 0),
            ("extract.max_session_chars", |config| config.extract.max_user_turn_chars = 20_000),
            ("extract.temperature", |config| config.extract.temperature = f64::NAN),
            ("retrieval.overlap_weight", |config| config.retrieval.overlap_weight = f32::INFINITY),
        ];
        for (setting, spoil) in bad {
            let mut config = Config::default();
            spoil(&mut config);
            let error = config.validate().unwrap_err().to_string();
            assert!(error.starts_with(setting), "{error}");
        }
    }
}
