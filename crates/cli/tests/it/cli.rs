//! The command line: output, streams and exit codes.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::schemas::object;

/// The result of one call.
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Said {
    pub(crate) fn objects(&self) -> Vec<Value> {
        self.out.lines().map(object).collect()
    }

    /// An answer in an agent's format.
    pub(crate) fn answer(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{}: {error}", self.out))
    }

    pub(crate) fn object(&self) -> Value {
        let mut objects = self.objects();
        assert_eq!(objects.len(), 1, "{}", self.out);
        objects.remove(0)
    }
}

pub(crate) struct Shell {
    folder: tempfile::TempDir,
    memory: &'static str,
    pub(crate) now: &'static str,
}

impl Shell {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), memory: "memory", now: "2026-03-01T12:00:00Z" }
    }

    /// With another memory of the same user.
    pub(crate) fn at_memory(self, memory: &'static str) -> Self {
        Self { memory, ..self }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The program, as this user calls it.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_adage"));
        // As if the person running the tests had not set it.
        command.env_remove("ORT_DYLIB_PATH").env("XDG_STATE_HOME", self.path().join("state"));
        command.env("XDG_CONFIG_HOME", self.path().join("config")).env("ADAGE_TRUST", "all");
        command
    }

    pub(crate) fn run(&self, arguments: &[&str], input: &str) -> Said {
        let mut command = self.command();
        command.arg("--dir").arg(self.path().join(self.memory)).args(["--now", self.now]);
        if !arguments.contains(&"--embedder") {
            command.args(["--embedder", "hashing"]);
        }
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Said { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
    }

    pub(crate) fn call(&self, arguments: &[&str]) -> Said {
        self.run(arguments, "")
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let said = self.call(&[arguments, &["--json"]].concat());
        assert_eq!(said.code, 0, "{arguments:?}: {}{}", said.out, said.err);
        said.object()
    }

    pub(crate) fn learn(&self, trigger: &str, solution: &str) -> Value {
        self.json(&["learn", "--trigger", trigger, "--solution", solution])
    }
}

#[test]
fn learn_prints_the_outcome() {
    let shell = Shell::new();
    let first = shell.learn("parse a csv export", "use the csv module");
    assert_eq!(first["outcome"], "inserted");
    let id = first["id"].as_str().unwrap().to_owned();
    assert_eq!(
        first,
        json!({"outcome": "inserted", "id": id, "into": null, "near": null, "old": null, "distance": null, "why": null, "evicted": [], "change": null})
    );
    let again = shell.learn("Parse a CSV export!", "use the csv module of the library");
    assert_eq!((again["outcome"].as_str(), again["into"].as_str()), (Some("merged"), Some(id.as_str())));
    let input = "{\"trigger\": \"pin numpy\", \"solution\": \"pin numpy below 2.0\"}\n\n\
                 {\"trigger\": \"pin numpy\", \"solution\": \"pin numpy above 2.0\"}\n{\"trigger\": \"t\"}\nnot json\n";
    let said = shell.run(&["learn", "--json"], input);
    let outcomes: Vec<Value> = said.objects().iter().map(|object| object["outcome"].clone()).collect();
    assert_eq!(outcomes, ["inserted", "kept_apart", "refused"]);
    assert!(said.objects()[1]["why"].as_str().unwrap().contains("above against below"));
    assert_eq!(said.code, 1);
    let error = object(said.err.trim_end());
    assert!(error["error"].as_str().unwrap().starts_with("line 5: "), "{error}");
}

#[test]
fn a_lesson_is_replaced_by_a_later_one_and_by_an_edit() {
    let shell = Shell::new();
    let old = shell.learn("pin numpy", "pin numpy below 2.0")["id"].as_str().unwrap().to_owned();
    let said = shell.call(&["learn", "--trigger", "pin numpy", "--solution", "pin numpy above 2.0"]);
    assert!(
        said.out.contains(&format!("if it replaces {old}, learn it again with: --supersedes {old}")),
        "{}",
        said.out
    );
    let context = shell.json(&["context", "pin numpy", "--peek"]);
    assert_eq!(context["lessons"][1]["contradicted_by"], context["lessons"][0]["id"]);
    assert!(context["text"].as_str().unwrap().contains("CONTRADICTED: by the newer lesson"), "{context}");

    let again = ["learn", "--trigger", "pin numpy", "--solution", "pin numpy above 2.0", "--supersedes", &old];
    let learned = shell.json(&again);
    assert_eq!((&learned["outcome"], &learned["old"]), (&json!("superseded"), &json!(old)));
    let edited = shell.json(&["edit", "pin numpy", "--correct-pattern", "pin numpy above 3.0"]);
    assert_eq!(edited["old"], learned["id"]);
    assert_eq!(shell.json(&["show", "pin numpy"])["solution"], "pin numpy above 3.0");
    shell.json(&["undo", edited["change"].as_str().unwrap()]);
    assert_eq!(shell.json(&["show", "pin numpy"])["solution"], "pin numpy above 2.0");
    assert_eq!(shell.call(&["edit", "pin numpy"]).code, 2, "no flags and no terminal");
}

#[test]
fn context_prints_the_block_and_sends_messages_elsewhere() {
    let shell = Shell::new();
    shell.learn("parse a csv export", "use the csv module");
    let said = shell.call(&["context", "parse a csv export"]);
    assert!(
        said.out.starts_with("## RELEVANT LESSONS LEARNED") && said.out.contains("use the csv module"),
        "{}",
        said.out
    );
    assert!(said.err.contains("adage: receipt "), "{}", said.err);
    let nothing = shell.call(&["context", "What is the capital of France?"]);
    assert_eq!((nothing.code, nothing.out.as_str()), (0, ""));
    assert!(nothing.err.contains("no lesson: "), "{}", nothing.err);

    let context = shell.json(&["context", "parse a csv export", "--peek"]);
    assert_eq!(
        (&context["tier"], &context["receipt"], &context["none_because"]),
        (&json!("vector"), &json!(null), &json!(null))
    );
    assert_eq!(context["lessons"][0]["trigger"], "parse a csv export");
    assert!(context["lessons"][0]["distance"].as_f64().unwrap() < 1e-3);
    let words = shell.json(&["context", "csv export", "--tier", "lexical", "--peek", "--explain"]);
    assert_eq!((&words["tier"], &words["considered"][0]["passed"]), (&json!("lexical"), &json!(true)));
    let cold = shell.json(&["context", "--peek"]);
    assert_eq!(cold["tier"], "recency");
    let none = shell.json(&["context", "zebras", "--peek"]);
    assert!(none["none_because"].is_string() && none["text"] == "", "{none}");
}

#[test]
fn feedback_changes_the_output_of_list_and_show() {
    let shell = Shell::new();
    let id = shell.learn("parse a csv export", "use the csv module")["id"].as_str().unwrap().to_owned();
    let receipt = shell.json(&["context", "parse a csv export"])["receipt"].as_str().unwrap().to_owned();
    let settled = shell.json(&["outcome", &receipt, "helpful"]);
    assert_eq!((&settled["settled"], &settled["lessons"][0]), (&json!(true), &json!(id)));
    assert_eq!(shell.json(&["outcome", &receipt, "harmful"])["settled"], false);
    shell.json(&["context", "parse a csv export"]);
    assert_eq!(shell.json(&["outcome", "--window"])["credited"], 1);
    assert_eq!(shell.json(&["outcome", "--window"])["credited"], 0);
    assert_eq!(shell.json(&["edit", &id, "--verified", "yes"])["verified"], true);
    assert_eq!(shell.json(&["edit", &id, "--graduated", "yes"])["graduated"], true);
    assert_eq!(shell.json(&["edit", &id, "--graduated", "no"])["graduated"], false);
    let shown = shell.json(&["show", "PARSE a csv export"]);
    assert_eq!(
        (&shown["retrievals"], &shown["helpful_retrievals"], &shown["verified"]),
        (&json!(2), &json!(2), &json!(true))
    );
    // (1/√1 + 2·2/(√1 + √3))·σ(2·2): just shown, and learned two recalls ago.
    assert!((shown["utility"].as_f64().unwrap() - 2.419_781_8).abs() < 1e-6, "{}", shown["utility"]);
    let listed = shell.json(&["list"]);
    assert_eq!((&listed["id"], &listed["utility"]), (&json!(id), &shown["utility"]));
    assert!(shell.call(&["list"]).out.contains("parse a csv export"));
    let stats = shell.json(&["list", "--stats"]);
    assert_eq!(
        (&stats["n_lessons"], &stats["retrievals"], &stats["helpful_retrievals"]),
        (&json!(1), &json!(2), &json!(2))
    );
}

#[test]
fn removing_and_undoing() {
    let shell = Shell::new();
    let id = shell.learn("parse a csv export", "use the csv module")["id"].as_str().unwrap().to_owned();
    let exported = shell.call(&["export"]).out;
    let change = shell.json(&["remove", &id])["change"].as_str().unwrap().to_owned();
    assert_eq!(shell.run(&["import", "-", "--json"], &exported).object()["refused"], 1);
    assert_eq!(shell.json(&["history"])["action"], "remove");
    assert_eq!(shell.json(&["undo", &change])["restored"][0], json!(id));
    assert_eq!(shell.run(&["import", "-", "--json"], &exported).object()["refused"], 1);
    assert_eq!(shell.json(&["list", "--stats"])["n_lessons"], 1);
    let again = shell.call(&["undo", &change]);
    assert!(again.code == 1 && again.err.contains("undone already"), "{}", again.err);

    shell.learn("parse a csv export", "use the csv module of the library");
    assert_eq!(shell.json(&["undo", &id])["restored"][0], json!(id));
    assert_eq!(shell.json(&["show", &id])["solution"], "use the csv module");
}

#[test]
fn learning_in_a_full_realm_prints_the_evicted_lesson() {
    let shell = Shell::new();
    for trigger in ["alpha beaver", "gamma dolphin", "epsilon falcon"] {
        shell.json(&["learn", "--trigger", trigger, "--solution", "s", "--capacity", "2"]);
    }
    let learned = shell.json(&["learn", "--trigger", "eta hamster", "--solution", "s", "--capacity", "2"]);
    assert_eq!(learned["evicted"].as_array().unwrap().len(), 1);
    assert!(learned["change"].is_string());
    assert_eq!(shell.json(&["list", "--stats"])["n_lessons"], 2);
}

#[test]
fn values_may_begin_with_a_hyphen() {
    let shell = Shell::new();
    let learned = shell.learn("pushing after a rebase", "--force-with-lease, never --force");
    assert_eq!(learned["outcome"], "inserted");
    let context = shell.json(&["context", "--force after a rebase", "--peek", "--limit", "1"]);
    assert_eq!(context["lessons"].as_array().unwrap().len(), 1, "{context}");
}

#[test]
fn one_bad_line_does_not_end_a_batch() {
    let shell = Shell::new();
    let mut child = Command::new(env!("CARGO_BIN_EXE_adage"))
        .arg("--dir")
        .arg(shell.path().join("memory"))
        .args(["--embedder", "none", "--json", "learn"])
        .env("ADAGE_TRUST", "all")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = b"{\"trigger\": \"a\", \"solution\": \"s\"}\n\xff\xfe\n{\"trigger\": \"b\", \"solution\": \"s\"}\n";
    child.stdin.take().unwrap().write_all(lines).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 2);
}

#[test]
fn a_failing_model_is_reported() {
    let shell = Shell::new();
    let model = shell.path().join("model");
    std::fs::create_dir(&model).unwrap();
    std::fs::write(model.join("model.onnx"), "no graph").unwrap();
    std::fs::write(model.join("tokenizer.json"), "{}").unwrap();
    let words = ["--embedder", model.to_str().unwrap(), "learn", "--trigger", "t", "--solution", "s"];
    let none = shell.call(&words);
    assert!(none.code == 2 && none.err.contains("name its library with --onnxruntime"), "{}", none.err);
    let graph = model.join("model.onnx");
    let said = shell.call(&[&["--onnxruntime", graph.to_str().unwrap()], &words[..]].concat());
    assert_eq!(said.code, 0);
    assert!(said.err.contains("learning without vectors"), "{}", said.err);
}

#[test]
fn realms_are_taken_from_the_command_line() {
    let shell = Shell::new();
    shell.json(&["learn", "--trigger", "parse a csv export", "--solution", "s", "--project", "shop"]);
    let seen = |project: &str| {
        shell.json(&["context", "parse a csv export", "--peek", "--project", project])["lessons"]
            .as_array()
            .unwrap()
            .len()
    };
    assert_eq!((seen("shop"), seen("bank"), seen("")), (1, 0, 0));
}

#[test]
fn prune_says_which_harmful_lessons_it_keeps() {
    let shell = Shell::new();
    let learned = shell.learn("deploying", "restart twice");
    for _ in 0..5 {
        shell.json(&["outcome", "--harmful", "deploying"]);
    }
    assert_eq!(shell.json(&["remove", "--prune"])["kept"], json!([{"id": learned["id"], "because": "by_hand"}]));
    assert!(shell.call(&["remove", "--prune"]).out.contains("it was written by hand; `adage remove` removes it"));
    assert!(shell.call(&["context", "deploying"]).out.contains("DID HARM: in 5 of 5 reported uses."));
}

#[test]
fn a_refusal_in_json_is_an_object_alone_and_a_byte_order_mark_is_no_error() {
    let shell = Shell::new();
    let row = "\u{feff}{\"trigger\": \"deploying\", \"solution\": \"restart once\"}\n";
    assert!(shell.run(&["learn"], row).out.starts_with("inserted"));
    let said = shell.call(&["learn", "--trigger", "deploying", "--json"]);
    assert_eq!((said.code, said.err.as_str(), said.objects().len()), (1, "", 1), "{}", said.out);
    let long = json!({"trigger": "x", "solution": "y".repeat(40_000)}).to_string();
    let said = shell.run(&["learn"], &long);
    assert!(said.code == 1 && !said.err.contains("has the fields"), "{}", said.err);
}

#[test]
fn failures_prune_check_and_doctor_report() {
    let shell = Shell::new();
    shell.json(&["learn", "--task", "dates", "--mistake", "guessed", "--solution", "ask"]);
    assert_eq!(shell.call(&["list", "--mistakes"]).out, "## RECENT MISTAKES:\n- TASK: dates\n  MISTAKE: guessed\n");
    assert_eq!(shell.json(&["remove", "--prune", "--dry-run"])["pruned"], json!([]));
    let check = shell.call(&["doctor", "--check"]);
    assert!(check.code == 0 && check.out.starts_with("in order: 1 lesson,"), "{}", check.out);
    let doctor = shell.call(&["doctor"]);
    assert!(doctor.code == 0 && doctor.out.contains("embedder   ok"), "{}{}", doctor.out, doctor.err);
    // A dead writer's partial line is reported, and truncated at the next commit.
    std::fs::write(shell.path().join("memory/archive.jsonl"), "half a li").unwrap();
    assert_eq!(shell.call(&["doctor", "--check"]).code, 1);
    shell.learn("another", "thing");
    assert_eq!(shell.call(&["doctor", "--check"]).code, 0);
}

#[test]
fn exit_codes_distinguish_refusals_from_usage_errors() {
    let shell = Shell::new();
    let codes = [
        (vec!["--help"], 0),
        (vec!["--version"], 0),
        (vec![], 2),
        (vec!["fly"], 2),
        (vec!["learn", "--confidence", "high"], 2),
        (vec!["learn", "--trigger", "t"], 1),
        (vec!["show", "nothing"], 1),
        (vec!["undo", "not an id"], 2),
        (vec!["undo", "018f0000-0000-7000-8000-000000000001"], 1),
        (vec!["outcome", "018f0000-0000-7000-8000-000000000001", "helpful"], 1),
        (vec!["context", "q", "--threshold", "7"], 2),
        (vec!["--embedder", "/no/such/model", "list"], 1),
        (vec!["--onnxruntime", "/no/such/library", "list"], 1),
        (vec!["import", "/no/such/file"], 1),
    ];
    for (arguments, code) in codes {
        let said = Command::new(env!("CARGO_BIN_EXE_adage"))
            .arg("--dir")
            .arg(shell.path().join("m"))
            .args(&arguments)
            .env("ADAGE_TRUST", "all")
            .output()
            .unwrap();
        assert_eq!(said.status.code(), Some(code), "{arguments:?}: {}", String::from_utf8_lossy(&said.stderr));
        assert_eq!(said.stdout.is_empty(), code != 0, "{arguments:?}");
    }
}

#[test]
fn reading_commands_create_nothing() {
    let shell = Shell::new();
    for command in ["list", "list --stats", "doctor --check", "list --mistakes", "history", "export"] {
        let words: Vec<&str> = command.split(' ').collect();
        assert_eq!(shell.call(&words).code, 1, "{command}");
    }
    assert_eq!(shell.call(&["doctor"]).code, 0);
    shell.call(&["context", "q", "--peek"]);
    assert!(!shell.path().join("memory").exists());
}

#[cfg(feature = "ort")]
#[test]
fn the_engine_is_chosen_by_flag_or_variable_and_reported_by_doctor() {
    let shell = Shell::new();
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models");
    let doctor = |arguments: &[&str], variable: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_adage"));
        command.arg("--dir").arg(shell.path().join("memory")).args(["doctor", "--json"]).args(arguments);
        command.env("ADAGE_TRUST", "all");
        let output = command.env("ORT_DYLIB_PATH", variable).output().unwrap();
        let said = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let said = Said { code: output.status.code().unwrap(), out: said(output.stdout), err: said(output.stderr) };
        let part = |name: &str| said.objects().into_iter().find(|object| object["part"] == name).unwrap_or_default();
        let detail = |name: &str| part(name)["detail"].as_str().unwrap_or_default().to_owned();
        (said.code, detail("engine"), detail("onnx"), detail("embedder"))
    };
    let (_, engine, advice, _) = doctor(&["--embedder", "none"], "");
    assert_eq!(engine, "none is needed");
    assert!(advice.contains("--onnxruntime") || advice.contains("none in an installed"), "{advice}");
    let (code, engine, ..) = doctor(&["--onnxruntime", "/no/such/library"], "");
    assert_eq!((code, engine.starts_with("there is no file /no/such/library; ")), (1, true), "{engine}");
    let (code, engine, ..) = doctor(&[], "/no/such/library");
    assert_eq!((code, engine.starts_with("there is no file /no/such/library; ")), (1, true), "{engine}");
    let text = shell.path().join("text.so");
    std::fs::write(&text, "not a library").unwrap();
    let (code, _, _, embedder) =
        doctor(&["--embedder", model, "--onnxruntime", text.to_str().unwrap()], "/no/such/library");
    assert_eq!(code, 1);
    assert!(embedder.ends_with("text.so: it is not a shared library of this system"), "{embedder}");
    if let Ok(library) = std::env::var("ADAGE_ONNXRUNTIME") {
        assert_eq!(doctor(&[], &library).1, "built in");
        let (code, engine, _, embedder) = doctor(&["--embedder", model], &library);
        assert_eq!((code, engine), (0, format!("ONNX Runtime from {library}")));
        assert!(embedder.contains("a recall takes"), "{embedder}");
        // ONNX Runtime would write an id and a database below the home folder.
        let home = shell.path().join("home");
        std::fs::create_dir(&home).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_adage"));
        command.arg("--dir").arg(shell.path().join("memory")).args([
            "--embedder",
            model,
            "--onnxruntime",
            &library,
            "doctor",
        ]);
        command.env("HOME", &home).env_remove("XDG_CACHE_HOME").env_remove("ORT_DISABLE_TELEMETRY");
        assert!(command.output().unwrap().status.success());
        assert_eq!(std::fs::read_dir(&home).unwrap().count(), 0, "nothing below the home folder");
    } else {
        std::io::stderr()
            .write_all(b"NOT RUN: ONNX Runtime writes nothing below the home folder; set ADAGE_ONNXRUNTIME\n")
            .unwrap();
    }
}

#[test]
fn sessions_are_listed_and_nothing_is_created() {
    let shell = Shell::new();
    let folder = shell.path().join("sessions");
    std::fs::create_dir(&folder).unwrap();
    let turn = |n: usize| json!({"role": "user", "content": format!("Please add page {n} to the manual.")}).to_string();
    let write = |name: &str, n: usize| {
        let head = json!({"sessionId": name, "startTime": "2026-02-01T10:00:00Z", "messages": []});
        let message = |n: usize| {
            json!({
                "type": "user", "id": n.to_string(), "timestamp": "2026-02-01T10:00:00Z",
                "content": format!("Please add page {n} to the manual.")
            })
        };
        let mut document = head;
        document["messages"] = (0..n).map(message).collect();
        std::fs::write(folder.join(format!("{name}.json")), document.to_string()).unwrap();
    };
    write("long", 11);
    write("short", 2);
    std::fs::write(folder.join("a.jsonl"), turn(0)).unwrap();
    std::fs::write(folder.join("b.json"), "{}").unwrap();
    let folder = folder.to_str().unwrap();
    let said = shell.call(&["mine", "--list", folder]);
    assert_eq!((said.code, said.out.lines().count()), (0, 1), "{}{}", said.out, said.err);
    assert!(said.out.starts_with("[NEW] Please add page 0 to the manual. (11 user msgs) — "), "{}", said.out);
    assert!(!shell.path().join("memory").exists());
    let all = shell.call(&["mine", "--list", folder, "--all"]);
    assert!(
        all.out.contains("; not read: 2 user messages and 0 tool calls, none of which failed: too little happened"),
        "{}",
        all.out
    );
    assert!(all.out.contains("left out: ") && all.out.lines().count() == 4, "{}", all.out);
    let row = shell.json(&["mine", "--list", folder]);
    assert_eq!((row["id"].as_str(), row["standing"].as_str()), (Some("long"), Some("new")));
    assert_eq!(row["n_user_turns"], 11);
    assert_eq!(shell.call(&["mine", "--list", "/nowhere"]).code, 1);
}

#[test]
fn a_lesson_is_found_by_its_ways_in_and_by_a_request_that_missed_it() {
    let shell = Shell::new();
    shell.json(&[
        "learn",
        "--trigger",
        "restoring the document store",
        "--solution",
        "Stop the writers first.",
        "--name",
        "mongod",
        "--situation",
        "bring back the backup of last night",
        "--sign",
        "E11000 duplicate key error collection",
    ]);
    let found = |query: &str| shell.json(&["context", query, "--peek"])["lessons"].as_array().unwrap().len();
    assert_eq!([found("is mongod up"), found("bring back last night's backup"), found("tune the cello")], [1, 1, 0]);

    let request = "undo what the intern deleted this morning";
    assert_eq!(found(request), 0);
    let said = shell.json(&["outcome", "--missed", "restoring the document store", "--request", request]);
    assert!(said["missed"].is_string(), "{said}");
    assert_eq!((found(request), found("tune the cello")), (1, 0));
    let row = shell.json(&["show", "restoring the document store"]);
    assert_eq!((&row["names"], &row["situations"][1]), (&json!(["mongod"]), &json!(request)));

    assert_eq!(shell.call(&["outcome", "--missed", "restoring the document store"]).code, 2, "without what was asked");
    let common = shell.call(&["learn", "--trigger", "t", "--solution", "do x", "--name", "the"]);
    assert!(common.code == 1 && common.err.contains("fits everything"), "{}", common.err);
}
