//! Text from outside never reaches the terminal as a control sequence or as invisible text. All output passes through one module, whose own
//! tests are the border; here are the lessons of a file, as every command prints them.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fmt::Debug;

use serde_json::{Value, json};

use super::program::{Ended, World, report, run};

/// Sequences and characters that a terminal obeys or that hide text, between letters that stay.
pub(super) const HOSTILE: &str = "a\u{1b}[8mb\u{1b}]52;c;aGk=\u{7}c\u{1b}]8;;x:y\u{1b}\\d\u{1b}Pq\u{1b}\\e\u{1b}cf\u{9b}5mg\u{9d}0;t\u{9c}h\u{90}i\
    \u{7}j\u{8}k\rl\u{7f}m\u{85}n\u{202e}o\u{2066}p\u{200f}q\u{61c}r\u{e0041}s\u{200b}t\u{2060}u\u{feff}v\u{b}w\u{c}x\u{e}y\u{e01ef}z";

/// The colour sequences that the program itself prints.
const OWN_COLOURS: [&str; 10] = ["0", "1", "2", "4", "31", "32", "33", "34", "35", "36"];

/// True for characters that must not reach a terminal unescaped.
fn is_forbidden(c: char) -> bool {
    let is_hidden = matches!(
        c,
        '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{2060}'..='\u{2064}'
        | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}' | '\u{e0000}'..='\u{e0fff}'
    );
    is_hidden || (c.is_control() && !matches!(c, '\n' | '\t'))
}

/// The places where hostile text was put, and which of them reached the terminal.
#[derive(Default)]
pub(super) struct Places {
    names: Vec<String>,
    leaks: BTreeMap<String, BTreeSet<String>>,
}

impl Places {
    /// A hostile text that says where it was put.
    pub(super) fn plant(&mut self, place: impl Into<String>) -> String {
        self.names.push(place.into());
        format!("Q{:03}{HOSTILE}", self.names.len() - 1)
    }

    /// Runs a command three times: as a pipe gets it, as a coloured terminal gets it, and as JSON.
    pub(super) fn look<A: AsRef<OsStr> + Debug>(&mut self, world: &World, arguments: &[A]) {
        self.scan(&world.run(arguments), &format!("{:?}", arguments[0]));
        let mut coloured = world.command(arguments);
        coloured.env_remove("NO_COLOR").env("CLICOLOR_FORCE", "1");
        self.scan(&run(coloured), &format!("{:?} on a terminal", arguments[0]));
        let mut json = world.command(arguments);
        json.arg("--json");
        self.scan(&run(json), &format!("{:?} --json", arguments[0]));
    }

    pub(super) fn scan(&mut self, ended: &Ended, command: &str) {
        for (stream, text) in [("stdout", &ended.out), ("stderr", &ended.err)] {
            let text = OWN_COLOURS.iter().fold(text.clone(), |text, n| text.replace(&format!("\u{1b}[{n}m"), ""));
            for (at, c) in text.char_indices().filter(|(_, c)| is_forbidden(*c)) {
                let place = self.place_before(&text[..at]);
                let leak = format!("U+{:04X} by {command} on {stream}", u32::from(c));
                self.leaks.entry(place).or_default().insert(leak);
            }
        }
        if ended.code.is_none() {
            self.leaks.entry(command.to_owned()).or_default().insert("it hangs".to_owned());
        }
    }

    /// The place whose text began last.
    fn place_before(&self, text: &str) -> String {
        let number =
            text.rmatch_indices(['Q', 'q']).find_map(|(at, _)| text.get(at + 1..at + 4)?.parse::<usize>().ok());
        number.and_then(|number| self.names.get(number)).map_or_else(|| "an unknown place".to_owned(), Clone::clone)
    }

    pub(super) fn report(&self) {
        let line = |(place, leaks): (&String, &BTreeSet<String>)| {
            let few: Vec<&str> = leaks.iter().map(String::as_str).take(6).collect();
            format!("{place}: {} leaks, such as {}", leaks.len(), few.join("; "))
        };
        report(&self.leaks.iter().map(line).collect::<Vec<_>>(), self.names.len());
    }
}

fn id(number: usize) -> String {
    format!("019c2818-3100-7000-8000-{number:012}")
}

const TEXTS: [&str; 12] = [
    "/task",
    "/trigger",
    "/mistake",
    "/anti_pattern",
    "/solution",
    "/correct_pattern",
    "/code_example",
    "/source",
    "/source_challenge_hash",
    "/role",
    "/provenance/session",
    "/provenance/origin",
];

/// One lesson for each key, with a hostile text there.
fn lessons(places: &mut Places, first: usize, what: &str, trust: &str) -> Vec<Value> {
    let row = |number: usize| {
        json!({
            "schema_version": 2, "id": id(number), "timestamp": "2026-02-04T10:00:00Z", "trigger": format!("case {number}"),
            "mistake": "m", "correct_pattern": "do it", "provenance": {"origin": "hand", "trust": trust},
        })
    };
    let mut rows = Vec::new();
    for at in TEXTS {
        let (above, key) = at.rsplit_once('/').unwrap();
        let mut row = row(first + rows.len());
        row.pointer_mut(above).unwrap()[key] = json!(places.plant(format!("{what}: {at}")));
        rows.push(row);
    }
    let mut more = |place: &str, change: &dyn Fn(&mut Value, String)| {
        let mut row = row(first + rows.len());
        change(&mut row, places.plant(format!("{what}: {place}")));
        rows.push(row);
    };
    more("a domain", &|row, text| row["domains"] = json!([text]));
    more("domains as text", &|row, text| row["domains"] = json!(text));
    more("a time that cannot be read", &|row, text| row["timestamp"] = json!(text));
    more("nearby ids that cannot be read", &|row, text| row["near"] = json!([text]));
    more("an unknown key", &|row, text| row["mood"] = json!(text));
    more("the name of an unknown key", &|row, text| row[text.as_str()] = json!(1));
    more("deep in an unknown key", &|row, text| row["mood"] = json!({"a": [{ text.as_str(): text }]}));
    more("the evidence", &|row, text| {
        row["provenance"]["evidence"] = json!([{"quote": text, "turn": 1, "range": [0, 1]}]);
    });
    more("an unknown key of the provenance", &|row, text| row["provenance"]["by"] = json!(text));
    more("a plain row", &|row, text| {
        *row =
            json!({"id": row["id"], "task": text, "mistake": text, "solution": text, "provenance": row["provenance"]});
    });
    rows
}

/// Every command that shows lessons.
fn look_at_lessons(places: &mut Places, world: &World) {
    for arguments in [
        &["list", "--limit", "200"][..],
        &["context", "--peek", "--limit", "200", "--max-tokens", "90000"],
        &["context", "case do it", "--peek", "--explain", "--tier", "lexical", "--limit", "200"],
        &["list", "--mistakes", "--limit", "200"],
        &["export"],
        &["export", "--format", "agents"],
        &["export", "--format", "memory"],
        &["export", "--format", "ace"],
        &["review", "list"],
        &["review", "check"],
        &["review"],
        &["history"],
        &["doctor", "--check"],
        &["list", "--stats"],
        &["doctor"],
        &["remove", "--prune", "--dry-run"],
    ] {
        places.look(world, arguments);
    }
}

#[test]
fn lessons_in_the_playbook_file_print_no_terminal_controls() {
    let (world, mut places) = (World::new(), Places::default());
    let mut rows = lessons(&mut places, 0, "a lesson", "trusted");
    let n_rows = rows.len();
    rows.push(json!({"neither": places.plant("a row that is not a lesson")}));
    rows.push(json!({"id": places.plant("an id that cannot be read"), "trigger": "t", "solution": "s"}));
    rows.push(json!({"schema_version": places.plant("a version of a row"), "trigger": "u", "solution": "s"}));
    world.put_playbook(&rows, &[]);
    look_at_lessons(&mut places, &world);
    for number in 0..n_rows {
        places.look(&world, &["show", &id(number)]);
    }
    for command in [&["edit", &id(1), "--verified", "yes"][..], &["remove", &id(1)], &["history", "--limit", "50"]] {
        places.look(&world, command);
    }
    places.report();
}

#[test]
fn ordinary_text_of_any_language_is_printed_unchanged() {
    let world = World::new();
    let text = "größe 日本語 ไทย עברית 👩‍🔧 café";
    world.put_playbook(&[json!({"trigger": text, "solution": text, "mistake": text, "mood": text})], &[]);
    assert_eq!(world.playbook()["lessons"][0]["mood"], text);
    for command in [&["list"][..], &["context", "--peek"], &["list", "--mistakes"], &["export"], &["show", text]] {
        let out = world.must(command);
        assert!(out.contains(text), "{command:?}: {out}");
        // What `--json` prints means the same.
        let json = world.run(&[command, &["--json"]].concat()).out;
        let is_same = |line: &str| serde_json::from_str::<Value>(line).is_ok_and(|row| row.to_string().contains(text));
        assert!(json.lines().any(is_same), "{command:?}: {json}");
    }
}
