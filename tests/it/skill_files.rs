//! SKILL.md files: reading those of other authors, and writing files that other programs accept.
//!
//! `ADAGE_DATA` names the folder that holds `skills/skills.jsonl.gz` (`path`, `text`), skills of several collections;
//! `ADAGE_AGENTSKILLS` names the program `agentskills` of the Python package skills-ref, the specification's own validator,
//! in a virtual environment. Neither is part of the repository.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use adage::lesson::Trust;
use adage::skills::{Quality, Skill};
use adage::{Lesson, Listing, Playbook, build_lesson, skills};
use serde_json::Value;

/// The folder of each collected skill and its text.
fn collected() -> Option<Vec<(String, String)>> {
    let Some(data) = std::env::var_os("ADAGE_DATA").map(PathBuf::from) else {
        // Straight to standard error: the test runner keeps the output of tests that pass to itself.
        let text = "NOT MEASURED: collected skills; set ADAGE_DATA to the folder with skills/skills.jsonl.gz\n";
        std::io::stderr().write_all(text.as_bytes()).unwrap();
        return None;
    };
    let file = fs::File::open(data.join("skills/skills.jsonl.gz")).unwrap();
    let lines = BufReader::new(flate2::read::GzDecoder::new(file)).lines();
    let rows = lines.map(|line| {
        let row: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let folder = Path::new(row["path"].as_str().unwrap()).parent().and_then(Path::file_name);
        (folder.unwrap_or_default().to_str().unwrap().to_owned(), row["text"].as_str().unwrap().to_owned())
    });
    Some(rows.collect())
}

/// Skills with content that is hard to store in a file.
fn nasty() -> Vec<Skill> {
    let long = "x".repeat(1_000);
    let texts = [
        "a: b: c",
        "\"quoted\" and 'single' \\ back",
        "--- \n---\n--- a ---- b",
        "first\nsecond\r\nthird\tfourth",
        "\u{0}\u{7}\u{1b}[31mred\u{7f}\u{9b}",
        "next\u{85}line\u{2028}separator\u{2029}feff\u{feff}",
        "👩‍💻 größe 😀 \u{202e}reversed",
        "- item\n- item: [a, {b: c}]",
        "&anchor *alias !tag %directive @at `tick`",
        "# no comment",
        "null",
        "~",
        "yes",
        "1.10",
        "{\"json\": [1, 2]}",
        "| block\n  text",
        "? key\n: value",
        "\u{ffff}\u{fdd0}\u{e0041}",
        "<!-- comment --> <b>",
        long.as_str(),
    ];
    texts
        .into_iter()
        .map(|text| {
            let name = text.parse().ok().or_else(|| skills::Name::slug(text)).unwrap_or("nameless".parse().unwrap());
            let mut skill = Skill::new(name, format!("{text} {text}"));
            skill.license = Some(text.to_owned());
            skill.compatibility = Some(text.to_owned());
            skill.allowed_tools = Some(text.to_owned());
            text.clone_into(&mut skill.version);
            text.clone_into(&mut skill.author);
            skill.topics = vec![text.to_owned(), "docker".to_owned()];
            skill.actions = vec!["build".to_owned()];
            skill.auto_load = true;
            skill.quality = Quality::Draft;
            skill.provenance.trust = Trust::Tainted;
            skill.provenance.sources = vec![text.to_owned()];
            skill.metadata =
                BTreeMap::from([(text.to_owned(), text.to_owned()), ("plain".to_owned(), text.to_owned())]);
            skill.body = format!("---\n{text}\n---\n\n# {text}");
            skill.standardised()
        })
        .collect()
}

/// Skills made from lessons with the same content.
fn from_nasty_lessons() -> Vec<Skill> {
    let folder = tempfile::tempdir().unwrap();
    let playbook = Playbook::builder(folder.path()).without_embedder().open().unwrap();
    for (place, skill) in nasty().into_iter().enumerate() {
        let text = skill.description;
        let draft = build_lesson(text.as_str(), format!("{text}\n```\n{text}"))
            .mistake(text.as_str())
            .code_example(text.as_str())
            .domains([format!("nasty{place}"), text.clone()]);
        playbook.learn_lesson(draft).unwrap();
    }
    let lessons: Vec<Lesson> =
        playbook.list_lessons(&Listing::everything()).unwrap().iter().map(|lesson| Lesson::clone(lesson)).collect();
    assert!(lessons.len() >= 15, "{}", lessons.len());
    let tainted = lessons.iter().cloned().map(|mut lesson| {
        lesson.provenance.trust = Trust::Tainted;
        lesson
    });
    let each = lessons.iter().cloned().chain(tainted).map(|lesson| Skill::from_lessons([&lesson]).unwrap());
    each.chain(Skill::from_lessons(&lessons)).collect()
}

#[test]
fn collected_skills_are_read_and_written_again() {
    let Some(files) = collected() else { return };
    let (mut refused, mut n_mended, mut n_changed) = (Vec::new(), 0, 0);
    for (folder, text) in &files {
        match Skill::read(text.as_bytes(), Some(folder)) {
            Ok(reading) => {
                n_mended += usize::from(!reading.notes.is_empty());
                let standard = reading.skill.standardised();
                n_changed += usize::from(standard != reading.skill);
                let written = standard.to_text();
                let again = Skill::read(written.as_bytes(), None).unwrap();
                assert_eq!((&again.skill, again.notes.len()), (&standard, 0), "{folder}");
                assert_eq!(again.skill.standardised().to_text(), written, "{folder}");
                assert_eq!(again.skill.text_hash(), standard.text_hash());
            }
            Err(reason) => refused.push(format!("{folder}: {reason}")),
        }
    }
    let n_read = files.len() - refused.len();
    let report = format!(
        "{n_read} of {} files read, {n_mended} with a note, {n_changed} not in standard form; refused:\n{}",
        files.len(),
        refused.join("\n")
    );
    assert!(files.len() >= 400 && n_read * 100 >= files.len() * 97, "{report}");
}

#[test]
fn damage_is_repaired_or_refused_with_a_reason() {
    let Some(files) = collected() else { return };
    let mut n_read = 0;
    for (place, (folder, text)) in files.iter().enumerate() {
        let text = &text.replace('\r', "");
        let (head, body) = text.trim_start_matches("---\n").split_once("\n---").unwrap_or((text, ""));
        let damaged = match place % 5 {
            // An unquoted colon, tabs, another system's line ends, a cut, a missing front matter.
            0 => format!("---\nhint: use when: always\n{head}\n---{body}"),
            1 => text.replace("\n  ", "\n\t"),
            2 => format!("\u{feff}{}", text.replace('\n', "\r\n")),
            3 => text.chars().take(text.chars().count() / 3).collect(),
            _ => body.trim_start_matches(['-', '\n']).to_owned(),
        };
        match Skill::read(damaged.as_bytes(), Some(folder)) {
            Ok(reading) => {
                n_read += 1;
                let standard = reading.skill.standardised();
                assert_eq!(Skill::read(standard.to_text().as_bytes(), None).unwrap().skill, standard, "{folder}");
                if place % 5 == 0 {
                    let whole = Skill::read(text.as_bytes(), Some(folder)).unwrap().skill;
                    assert!((&reading.skill.name, &reading.skill.body) == (&whole.name, &whole.body), "{folder}");
                    assert_eq!(reading.skill.metadata["hint"], "use when: always");
                }
            }
            Err(skills::Refused::Unclosed | skills::Refused::NoBody) if place % 5 == 3 => {}
            Err(reason) => panic!("{folder}, damage {}: {reason}", place % 5),
        }
    }
    assert!(n_read * 100 >= files.len() * 97, "{n_read} of {}", files.len());
}

/// Runs the validator's own library over all folders of a folder, in one process; the complaints.
const VALIDATE: &str = "
import pathlib, sys
from skills_ref.validator import validate
for folder in sorted(pathlib.Path(sys.argv[1]).iterdir()):
    for complaint in validate(folder):
        print(f'{folder.name}: {complaint}')
print('validated', len(list(pathlib.Path(sys.argv[1]).iterdir())))
";

#[test]
fn the_specifications_validator_accepts_what_we_write() {
    let Some(program) = std::env::var_os("ADAGE_AGENTSKILLS").map(PathBuf::from) else {
        let text =
            "NOT MEASURED: skills before the outside validator; set ADAGE_AGENTSKILLS to the program agentskills\n";
        std::io::stderr().write_all(text.as_bytes()).unwrap();
        return;
    };
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("skill-files");
    let _ = fs::remove_dir_all(&root);
    let mut skills = nasty();
    skills.extend(from_nasty_lessons());
    for (folder, text) in collected().unwrap_or_default() {
        skills.extend(Skill::read(text.as_bytes(), Some(&folder)).map(|reading| reading.skill.standardised()));
    }
    let mut taken = BTreeSet::new();
    for mut skill in skills {
        let name = skill.name.clone();
        let mut number = 2;
        while !taken.insert(skill.name.clone()) {
            skill.name = name.numbered(number);
            number += 1;
        }
        let folder = root.join(skill.name.as_str());
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("SKILL.md"), skill.to_text()).unwrap();
    }
    // A few through the program, all through its library.
    for name in taken.iter().step_by(100) {
        let said = Command::new(&program).arg("validate").arg(root.join(name.as_str())).output().unwrap();
        let text = [said.stdout, said.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        assert!(said.status.success() && text.starts_with("Valid skill"), "{name}: {text}");
    }
    let python = program.with_file_name("python3");
    let said = Command::new(&python).args(["-c", VALIDATE]).arg(&root).output().unwrap();
    let text = [said.stdout, said.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
    assert_eq!(text.trim(), format!("validated {}", taken.len()));
    assert!(taken.len() >= 20);
}
