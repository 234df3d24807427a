//! The fuzzing bodies of texts that others write.

use std::sync::Arc;

use adage_redact::Redactor;
use adage_transcript::command::ChangedFiles;
use adage_transcript::{CommandLine, TranscriptReader};

use super::clock;
use crate::Config;
use crate::exchange::{Format, read_lessons, write_lessons};
use crate::lesson::Lesson;
use crate::skill::Skill;

fn fuzz_config(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Ok(config) = Config::from_toml(&text) else { return };
    let again = Config::from_json(&serde_json::to_string(&config).unwrap()).unwrap();
    assert_eq!(serde_json::to_value(&again).unwrap(), serde_json::to_value(&config).unwrap());
}

fn fuzz_skill(bytes: &[u8]) {
    let Ok(reading) = Skill::read(bytes, Some("a-folder")) else { return };
    let standard = reading.skill.standardised();
    let text = standard.to_text();
    assert_eq!(Skill::read(text.as_bytes(), None).unwrap().skill, standard, "{text}");
}

fn fuzz_transcript(bytes: &[u8]) {
    for format in adage_transcript::Format::ALL {
        let Ok(reading) = TranscriptReader::new().read(bytes, format) else { continue };
        assert_eq!(reading.report.n_bytes, bytes.len() as u64);
        assert!(reading.transcript.turns.len() <= bytes.len());
        let again = TranscriptReader::new().read(bytes, format).unwrap();
        assert_eq!(format!("{:?}", again.transcript), format!("{:?}", reading.transcript));
    }
}

fn fuzz_command_line(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let line = CommandLine::parse(&text);
    assert_eq!(line.text(), CommandLine::parse(line.text()).text());
    let other = CommandLine::parse("git push --force origin main");
    let _ = (line.relation_to(&other), line.word_changes(&other));
    let _ = (line.effect(), line.purpose(), line.plain_text(), line.topic(), line.slug());
    for step in line.steps(&ChangedFiles::default()) {
        let _ = (step.program(), step.built(), step.takes_all(), step.is_version_control());
        assert!(step.text().len() <= 4 * text.len() + 16);
    }
}

fn fuzz_redactor(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let redactor = Redactor::shared();
    let (found, clean) = (redactor.find(&text), redactor.redact(&text));
    assert_eq!(found.is_empty(), clean == text);
    for secret in found {
        assert!(text.get(secret.range.clone()).is_some());
    }
    assert_eq!(redactor.redact(&clean), clean, "of {text}");
}

fn fuzz_json_lines(bytes: &[u8]) {
    again(Format::JsonLines, bytes);
}

fn fuzz_markdown(bytes: &[u8]) {
    for format in [Format::Memory, Format::Agents, Format::Ace] {
        again(format, bytes);
    }
}

/// Imported texts that are exported and imported again are the same.
fn again(format: Format, bytes: &[u8]) {
    let lessons = |text: &str| -> Vec<Arc<Lesson>> {
        let drafts = read_lessons(format, text).into_iter().flatten();
        drafts.filter_map(|draft| Lesson::from_row(draft.to_json(), &clock()).ok()).map(Arc::new).collect()
    };
    let texts = |lessons: &[Arc<Lesson>]| {
        let texts = lessons.iter().map(|lesson| {
            [&lesson.trigger, &lesson.task, &lesson.mistake, &lesson.correct_pattern].map(|text| text.trim().to_owned())
        });
        texts.collect::<Vec<_>>()
    };
    let first = lessons(&write_lessons(format, &lessons(&String::from_utf8_lossy(bytes))));
    let second = lessons(&write_lessons(format, &first));
    assert_eq!(texts(&second), texts(&first));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::mutated::{check, fixture};

    fn review(name: &str) -> Vec<u8> {
        fixture(&format!("formats/review/memory/{name}"))
    }

    #[test]
    fn settings_round_trip_through_json_and_toml() {
        let text =
            "retention.capacity = 200\n[feedback]\ncredit_window = 60\n[retrieval]\nlimit = 3\nrule = 'classic'\n";
        check(&[text.into(), b"[learn]\ndedup = 'off'\n[store]\nlock_timeout = 0.5\n".to_vec()], fuzz_config);
    }

    #[test]
    fn a_skill_round_trips() {
        let skills = ["build-image", "cut-a-release", "restore-a-backup", "rotate-logs"];
        check(&skills.map(|name| review(&format!("skills/{name}/SKILL.md"))), fuzz_skill);
    }

    #[test]
    fn a_transcript_of_any_format_is_read_to_the_end() {
        let names = [
            "anthropic.json",
            "claude_code.jsonl",
            "codex.jsonl",
            "codex_bare.jsonl",
            "gemini.json",
            "gemini.jsonl",
            "openai.json",
            "openai.jsonl",
        ];
        check(&names.map(|name| fixture(&format!("transcripts/{name}"))), fuzz_transcript);
    }

    #[test]
    fn any_command_line_is_parsed() {
        let lines = [
            "cd web && FOO=1 npm run build 2>&1 | tee 'a log.txt'",
            "for f in *.rs; do rustfmt \"$f\" || exit 1; done",
            "cat <<EOF > out\n$(date) `id`\nEOF\ngit commit -am \"x; y\" # note",
            "ssh host 'sudo systemctl restart nginx' && echo ${A:-b} $((1+2)) {a,b}",
        ];
        check(&lines.map(|line| line.as_bytes().to_vec()), fuzz_command_line);
    }

    #[test]
    fn a_redacted_text_has_no_secret() {
        // Assembled here, so that secret scanners do not report the file.
        let token = format!("{}_{}", "ghp", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
        let text = format!("export GITHUB_TOKEN={token}\npassword: 'hunter2!Xq9' # of the db\nhttps://u:pw0rd9Z@h/x");
        check(&[text.into_bytes(), fixture("transcripts/openai.json")], fuzz_redactor);
    }

    #[test]
    fn an_import_round_trips_through_an_export() {
        let lessons: Vec<Arc<Lesson>> = (0..3)
            .map(|n| Arc::new(crate::testing::lesson(&format!("t{n} `x`"), &format!("## s{n}\n\n```\na\n```\n- b"))))
            .collect();
        check(&[write_lessons(Format::JsonLines, &lessons).into_bytes()], fuzz_json_lines);
        let markdown = [Format::Memory, Format::Agents, Format::Ace];
        let seeds = markdown.map(|format| write_lessons(format, &lessons).into_bytes());
        check(&[&seeds[..], &[review("notes.md")]].concat(), fuzz_markdown);
    }
}
