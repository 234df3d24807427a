//! Several processes of the real program on one folder, one of them killed: nothing acknowledged is lost.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use serde_json::Value;

use super::home::rounds;
use super::schemas::object;

/// How many operations each process makes. The victim of a round is killed at a random one.
const LEARNS_EACH: usize = 50;
const RECALLS: usize = 30;
const REMOVALS: usize = 16;

/// A generator with a fixed seed (`SplitMix64`, Steele et al., OOPSLA 2014).
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % n as u64) as usize
    }
}

fn adage(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_adage"));
    command
        .args(["--json", "--embedder", "hashing", "--capacity", "60", "--dir"])
        .arg(folder)
        .env("ADAGE_TRUST", "all");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn objects(output: &Output) -> Vec<Value> {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    text.lines().map(object).collect()
}

fn run(folder: &Path, arguments: &[&str]) -> Vec<Value> {
    let output = adage(folder).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    objects(&output)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// What the processes acknowledged.
#[derive(Default)]
struct Acknowledged {
    /// Lessons that a learner said it stored, by id.
    learned: BTreeMap<String, String>,
    /// How often each lesson was shown, and credited, by contexts and outcomes that ended well.
    shown: BTreeMap<String, u64>,
    helpful: BTreeMap<String, u64>,
    /// The receipts of those contexts, with what they said.
    receipts: Vec<String>,
    /// Lessons that a context which was killed may have counted.
    perhaps_shown: u64,
    removed: BTreeSet<String>,
}

struct Round {
    folder: PathBuf,
    done: Mutex<Acknowledged>,
    /// 0 and 1 are the learners, 2 is the recaller, 3 the pruner.
    victim: usize,
    /// The operation at which the victim is killed.
    dies_at: usize,
    was_killed: AtomicBool,
}

impl Round {
    /// True if this process is to be killed at this operation.
    fn dies(&self, who: usize, number: usize) -> bool {
        who == self.victim && number == self.dies_at
    }

    fn kill(&self, child: &mut Child) {
        child.kill().unwrap();
        self.was_killed.store(true, Ordering::SeqCst);
    }

    fn learner(&self, who: usize, seed: u64) {
        let mut random = Random(seed);
        let mut child: Child = adage(&self.folder).arg("learn").stdin(Stdio::piped()).spawn().unwrap();
        let (mut input, mut output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        for number in 0..LEARNS_EACH {
            let words: Vec<String> = (0..4).map(|_| format!("w{}x", random.below(5_000))).collect();
            let trigger = format!("{} {}", ["parse", "merge"][who], words.join(" "));
            let row = format!("{{\"trigger\": {trigger:?}, \"solution\": \"rule {number} of {who}\"}}\n");
            let dies = self.dies(who, number);
            if input.write_all(row.as_bytes()).and_then(|()| input.flush()).is_err() {
                break;
            }
            if dies {
                // While it processes that line.
                thread::yield_now();
                self.kill(&mut child);
            }
            let mut line = String::new();
            if output.read_line(&mut line).unwrap() == 0 || !line.ends_with('\n') {
                break;
            }
            let learned: Value = serde_json::from_str(&line).unwrap();
            let id = learned["id"].as_str().unwrap_or_else(|| panic!("{line}")).to_owned();
            self.done.lock().unwrap().learned.insert(id, trigger);
        }
        drop(input);
        child.wait().unwrap();
    }

    fn recaller(&self, seed: u64) {
        let mut random = Random(seed);
        for number in 0..RECALLS {
            let known: Vec<String> = self.done.lock().unwrap().learned.values().cloned().collect();
            let query = if known.is_empty() { "parse".to_owned() } else { known[random.below(known.len())].clone() };
            let dies = self.dies(2, number);
            let mut child = adage(&self.folder).args(["context", &query, "--limit", "2"]).spawn().unwrap();
            if dies {
                self.kill(&mut child);
            }
            let output = child.wait_with_output().unwrap();
            if !output.status.success() {
                assert!(dies, "{}", String::from_utf8_lossy(&output.stderr));
                self.done.lock().unwrap().perhaps_shown += 2;
                continue;
            }
            let context = objects(&output).remove(0);
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert!(!stderr.contains("counted"), "{stderr}");
            let ids: Vec<String> =
                context["lessons"].as_array().unwrap().iter().map(|lesson| text(&lesson["id"])).collect();
            let mut done = self.done.lock().unwrap();
            match context["receipt"].as_str() {
                Some(receipt) => done.receipts.push(format!("{receipt} {stderr}")),
                None => assert!(ids.is_empty(), "shown without a receipt: {stderr}"),
            }
            for id in &ids {
                *done.shown.entry(id.clone()).or_default() += 1;
            }
            drop(done);
            if let (Some(receipt), 0) = (context["receipt"].as_str(), random.below(3)) {
                let settled = run(&self.folder, &["outcome", receipt, "helpful"]).remove(0);
                let mut done = self.done.lock().unwrap();
                for id in settled["lessons"].as_array().unwrap() {
                    *done.helpful.entry(text(id)).or_default() += 1;
                }
            }
        }
    }

    fn pruner(&self, seed: u64) {
        let mut random = Random(seed);
        for number in 0..REMOVALS {
            if self.dies(3, number) {
                self.kill(&mut adage(&self.folder).args(["remove", "--prune"]).spawn().unwrap());
                continue;
            }
            if number % 4 != 0 {
                run(&self.folder, &["remove", "--prune"]);
                continue;
            }
            let known: Vec<String> = self.done.lock().unwrap().learned.keys().cloned().collect();
            let Some(id) = known.get(random.below(known.len().max(1))) else { continue };
            let output = adage(&self.folder).args(["remove", id]).output().unwrap();
            if output.status.success() {
                self.done.lock().unwrap().removed.insert(id.clone());
            } else {
                let message = String::from_utf8_lossy(&output.stderr).into_owned();
                assert!(message.contains("no lesson with id"), "{message}");
            }
        }
    }

    fn check(&self, context: &str) {
        let done = self.done.lock().unwrap();
        let lessons = run(&self.folder, &["list", "--limit", "100000"]);
        let live: BTreeMap<String, &Value> = lessons.iter().map(|lesson| (text(&lesson["id"]), lesson)).collect();
        let archive = fs::read_to_string(self.folder.join("archive.jsonl")).unwrap_or_default();
        for (id, trigger) in &done.learned {
            assert!(live.contains_key(id) || archive.contains(id), "{context}: {id} ({trigger}) is lost");
        }
        for id in &done.removed {
            assert!(!live.contains_key(id), "{context}: {id} came back");
        }
        let usage = fs::read_to_string(self.folder.join("usage.jsonl")).unwrap_or_default();
        for receipt in &done.receipts {
            let id = receipt.split(' ').next().unwrap_or_default();
            assert!(usage.contains(id), "{context}: nobody has receipt {receipt}");
        }
        let mut surplus = 0;
        for (id, lesson) in &live {
            let (shown, helpful) =
                (done.shown.get(id).copied().unwrap_or(0), done.helpful.get(id).copied().unwrap_or(0));
            let counted = lesson["retrievals"].as_u64().unwrap();
            assert!(counted >= shown, "{context}: {id} was shown {shown} times, {counted} counted");
            surplus += counted - shown;
            assert_eq!(lesson["helpful_retrievals"].as_u64().unwrap(), helpful, "{context}: outcomes of {id}");
        }
        assert!(surplus <= done.perhaps_shown, "{context}: {surplus} retrievals too many");
        assert!(live.len() <= 60, "{context}: {} lessons", live.len());
        assert!(
            !fs::read_dir(&self.folder).unwrap().any(|entry| entry.unwrap().file_name() == "quarantine"),
            "{context}"
        );
        drop(done);
        run(&self.folder, &["learn", "--trigger", "afterwards", "--solution", "it goes on"]);
        let check = run(&self.folder, &["doctor", "--check"]).remove(0);
        assert_eq!(check["findings"].as_array().unwrap().len(), 0, "{context}: {check}");
    }
}

#[test]
fn nothing_acknowledged_is_lost_when_one_of_several_processes_is_killed() {
    for round in 0..rounds(4) {
        let folder = tempfile::tempdir().unwrap();
        let mut random = Random(round);
        // Each of the four is killed in turn.
        let victim = usize::try_from(round % 4).unwrap();
        let state = Round {
            folder: folder.path().join("memory"),
            done: Mutex::default(),
            victim,
            dies_at: random.below([LEARNS_EACH, LEARNS_EACH, RECALLS, REMOVALS][victim]),
            was_killed: AtomicBool::new(false),
        };
        run(&state.folder, &["init"]);
        thread::scope(|scope| {
            let (state, seed) = (&state, round * 100);
            scope.spawn(move || state.learner(0, seed + 1));
            scope.spawn(move || state.learner(1, seed + 2));
            scope.spawn(move || state.recaller(seed + 3));
            scope.spawn(move || state.pruner(seed + 4));
        });
        assert!(state.was_killed.load(Ordering::SeqCst), "round {round}: nobody was killed");
        state.check(&format!("round {round}, victim {} at {}", state.victim, state.dies_at));
    }
}
