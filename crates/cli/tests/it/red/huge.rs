//! Files, folders and imports that are far larger than anything honest: the program says so, and neither hangs nor reads them.

use std::fs::{self, OpenOptions};

use super::program::{World, report};

/// The length of a file that takes no space on the disk.
const HUGE: u64 = 20 << 30;

#[test]
fn a_huge_file_of_a_folder_is_named_and_not_read() {
    let calls: [&[&str]; 5] = [
        &["trust", "--show"],
        &["list"],
        &["context", "baking bread"],
        &["learn", "--trigger", "a b", "--solution", "c d e"],
        &["doctor", "--check"],
    ];
    let (mut succeeded, mut n_attacks) = (Vec::new(), 0);
    for name in [
        "skills_playbook.json",
        "skills_playbook.json.bak",
        "playbook.log",
        "archive.jsonl",
        "usage.jsonl",
        "receipts.jsonl",
        "vectors.bin",
        "mining.json",
        "skills.json",
        "NOTES.md",
        ".gitignore",
        "config.json",
    ] {
        let world = World::new();
        world.must(&["learn", "--trigger", "baking bread", "--solution", "Use rye flour."]);
        let file = world.memory().join(name);
        OpenOptions::new().create(true).append(true).open(&file).unwrap().set_len(HUGE).unwrap();
        for call in calls {
            n_attacks += 1;
            let ended = world.run(call);
            let says = ["at most", "not one that adage writes"].iter().any(|words| ended.all().contains(words));
            let is_named = ended.code == Some(0) || (ended.all().contains(name) && says);
            if ended.code.is_none() || ended.all().contains("panicked") || !is_named {
                succeeded.push(format!("{name}: {call:?}: {}", ended.all()));
            }
        }
        // The playbook is never half read, and nothing takes its place.
        let decides = name == "skills_playbook.json" || name == "playbook.log";
        let shown = world.run(&["trust", "--show"]);
        if decides && (shown.code == Some(0) || !shown.all().contains(&HUGE.to_string())) {
            succeeded.push(format!("{name}: {}", shown.all()));
        }
    }
    report(&succeeded, n_attacks);
}

#[test]
fn of_a_long_import_only_what_can_wait_is_looked_at() {
    let world = World::new();
    let rows: Vec<String> = (0..20_000)
        .map(|n| format!("{{\"trigger\":\"flood {n} x{}\",\"solution\":\"Do {n} twice.\"}}", n * 7))
        .collect();
    let file = world.put("flood.jsonl", rows.join("\n"));
    let ended = world.run(&["import", file.to_str().unwrap()]);
    assert_eq!(ended.code, Some(1), "{}", ended.err);
    assert!(ended.out.contains("200 for review, 19800 refused"), "{}", ended.out);
    let again = world.run(&["import", file.to_str().unwrap()]);
    assert!(again.out.contains("0 for review, 20000 refused"), "{}", again.out);
}

#[test]
fn a_check_of_the_inbox_moves_a_limited_number_of_files() {
    let world = World::new();
    world.must(&["learn", "--trigger", "baking bread", "--solution", "Use rye flour."]);
    for n in 0..450 {
        world.put(format!("memory/.inbox/skills/s{n}.patch"), "junk\n");
    }
    let left = || fs::read_dir(world.memory().join(".inbox/skills")).unwrap().count();
    for (expected, message) in [(250, "250 files not checked yet"), (50, "50 files not checked yet"), (0, "")] {
        let said = world.must(&["review", "check"]);
        assert!(said.contains(message), "{said}");
        assert_eq!(left(), expected);
    }
    let kept = fs::read_dir(world.memory().join(".inbox/aside")).unwrap().count();
    assert_eq!(kept, 900, "each with its reason");
}
