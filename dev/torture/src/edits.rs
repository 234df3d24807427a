//! Edits of the playbook file, as editors, merges and sync tools leave them.

use std::fs;

use serde_json::Value;

use crate::Tally;
use crate::memory::{Failure, Program};

const PLAYBOOK: &str = "skills_playbook.json";

/// A name, and what a program makes of the text of the playbook file.
type Edit = (&'static str, fn(&str) -> Vec<u8>);

const EDITS: [Edit; 40] = [
    ("byte order mark", |text| [b"\xef\xbb\xbf", text.as_bytes()].concat()),
    ("UTF-16, little-endian", |text| {
        text.encode_utf16().fold(vec![0xff, 0xfe], |mut bytes, unit| {
            bytes.extend(unit.to_le_bytes());
            bytes
        })
    }),
    ("UTF-16, big-endian", |text| {
        text.encode_utf16().fold(vec![0xfe, 0xff], |mut bytes, unit| {
            bytes.extend(unit.to_be_bytes());
            bytes
        })
    }),
    ("CRLF line ends", |text| text.replace('\n', "\r\n").into_bytes()),
    ("trailing comma", |text| text.replacen("    }\n  ]", "    },\n  ]", 1).into_bytes()),
    ("a missing comma", |text| text.replacen("    },\n", "    }\n", 1).into_bytes()),
    ("NaN", |text| text.replacen("\"confidence\": 0.5", "\"confidence\": NaN", 1).into_bytes()),
    ("a comment", |text| text.replacen("  \"lessons\"", "  // mine\n  \"lessons\"", 1).into_bytes()),
    ("conflict markers", |text| format!("<<<<<<< HEAD\n{text}=======\n>>>>>>> theirs\n").into_bytes()),
    ("the first half", |text| text.get(..text.len() / 2).unwrap_or_default().as_bytes().to_vec()),
    ("the last byte is missing", |text| text.trim_end().trim_end_matches('}').as_bytes().to_vec()),
    ("nothing", |_| Vec::new()),
    ("zeros", |text| vec![0; text.len()]),
    ("zeros in the second half", |text| {
        let half = text.len() / 2;
        [text.get(..half).unwrap_or_default().as_bytes(), &vec![0; text.len() - half]].concat()
    }),
    ("a byte that is not UTF-8", |text| {
        text.replacen("campaign", "camp\u{1}aign", 1).bytes().map(|byte| if byte == 1 { 0xff } else { byte }).collect()
    }),
    ("a missing quote", |text| text.replacen("\"lessons\":", "\"lessons:", 1).into_bytes()),
    ("one line", |text| serde_json::from_str::<Value>(text).unwrap_or_default().to_string().into_bytes()),
    ("the same text twice", |text| text.repeat(2).into_bytes()),
    // Editors.
    ("tabs for spaces", |text| text.replace("  ", "\t").into_bytes()),
    ("spaces at the ends of lines", |text| text.replace('\n', "   \n").into_bytes()),
    ("empty lines", |text| text.replace('\n', "\n\n").into_bytes()),
    ("no newline at the end", |text| text.trim_end().as_bytes().to_vec()),
    ("carriage returns without line feeds", |text| text.replace('\n', "\r").into_bytes()),
    ("letters as escapes", |text| text.replace("campaign", "c\\u0061mpaign").into_bytes()),
    ("keys in another order", |text| sorted(text).into_bytes()),
    ("curly quotes", |text| text.replacen("\"trigger\"", "\u{201c}trigger\u{201d}", 1).into_bytes()),
    ("single quotes", |text| text.replace('"', "'").into_bytes()),
    ("a byte order mark and CRLF line ends", |text| format!("\u{feff}{}", text.replace('\n', "\r\n")).into_bytes()),
    ("Latin-1", |text| text.replacen("task number 1", "t\u{e4}sk number 1", 1).chars().map(latin_1).collect()),
    ("a swap file's text", |_| b"b0VIM 9.1\0\0\0\0".to_vec()),
    // Version control.
    ("markers within a lesson", |text| {
        text.replacen("    },\n", "<<<<<<< ours\n    },\n=======\n    },\n>>>>>>> theirs\n", 1).into_bytes()
    }),
    ("a Git LFS pointer", |_| b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n".to_vec()),
    ("a patch that did not apply", |text| lines(text.lines().map(|line| format!("+{line}")))),
    ("both sides after a merge", |text| text.replacen("\n  ]", ",\n    {}\n  ]", 1).into_bytes()),
    // Sync tools and programs.
    ("an HTML error page", |_| b"<!DOCTYPE html><html><body>503 Service Unavailable</body></html>".to_vec()),
    ("JSON lines", |text| lines(rows_of(text).iter().map(ToString::to_string))),
    ("the list of lessons alone", |text| Value::from(rows_of(text)).to_string().into_bytes()),
    ("null", |_| b"null\n".to_vec()),
    ("two files joined in the middle", |text| {
        let (one, other) = text.split_at(text.len() / 2);
        format!("{one}{text}{other}").into_bytes()
    }),
    ("the last block twice", |text| format!("{text}{}", text.get(text.len() / 2..).unwrap_or_default()).into_bytes()),
];

/// The text with its keys sorted, as `jq -S` leaves it.
fn sorted(text: &str) -> String {
    let value: Value = serde_json::from_str(text).unwrap_or_default();
    serde_json::to_string_pretty(&value).unwrap_or_default()
}

fn lines(lines: impl Iterator<Item = String>) -> Vec<u8> {
    let mut text = lines.collect::<Vec<_>>().join("\n");
    text.push('\n');
    text.into_bytes()
}

fn latin_1(c: char) -> u8 {
    u8::try_from(u32::from(c)).unwrap_or(b'?')
}

fn rows_of(text: &str) -> Vec<Value> {
    let value: Value = serde_json::from_str(text).unwrap_or_default();
    value.get("lessons").and_then(Value::as_array).cloned().unwrap_or_default()
}

/// Saves each edit and compares the state, before and after the next learn.
pub(crate) fn edits(program: &Program, _: usize) -> Result<Tally, Failure> {
    let mut tally = Tally::default();
    for (name, edit) in EDITS {
        let home = tempfile::tempdir()?;
        let folder = home.path().join("memory");
        program.fill(&folder)?;
        let (known, _) = program.state(&folder)?;
        let path = folder.join(PLAYBOOK);
        let text = fs::read_to_string(&path)?;
        fs::write(&path, edit(&text))?;
        let (read, is_reported) = program.state(&folder)?;
        tally.count(&format!("read after: {name}"), read == known, is_reported);
        let learned = program.run(&folder, &["learn", "--trigger", "after the edit", "--solution", "it goes on"])?;
        let (after, _) = program.state(&folder)?;
        let is_right =
            known.equals_except(&after, "after the edit") && (after.has("after the edit") || !learned.status.success());
        tally.count(&format!("learned after: {name}"), is_right, is_reported && known.is_within(&after));
    }
    Ok(tally)
}
