use std::sync::Arc;

use proptest::prelude::*;
use serde_json::Value;

use super::section::put_section;
use super::target::into_file;
use super::*;
use crate::error::exchange::ExportRefused;
use crate::lesson::Trust;
use crate::testing::lesson;

fn text_of(draft: &LessonDraft, key: &str) -> String {
    draft.to_json().get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn number(draft: &LessonDraft, key: &str) -> u64 {
    draft.to_json().get(key).and_then(Value::as_u64).unwrap_or_default()
}

fn csv() -> Lesson {
    Lesson {
        anti_pattern: "split(',')".into(),
        code_example: "    import csv\ncsv.reader(f)".into(),
        domains: vec!["python".into(), "csv, tsv".into()],
        retrievals: 3,
        helpful_retrievals: 2,
        harmful_retrievals: 1,
        ..lesson("parsing CSV exports", "Use the csv module.\n\n- with newline=''")
    }
}

#[test]
fn a_section_is_a_list_that_a_person_reads() {
    let lesson = csv();
    let text = write_lessons(Format::Memory, &[Arc::new(lesson.clone())]);
    let expected = format!(
        "<!-- adage:lessons:begin (kept by adage: `adage export` rewrites what stands between these marks, nothing else) -->\n\
         ## Lessons learned\n\n\
         - **When:** parsing CSV exports\n  \
           - **Do:** Use the csv module.\n\n    - with newline=''\n  \
           - **Not:** split(',')\n  \
           - **Code:**\n        import csv\n    csv.reader(f)\n  \
           - **Topics:** python, csv  tsv\n  \
           <!-- adage:lesson {} shown=3 helpful=2 harmful=1 -->\n\
         <!-- adage:lessons:end -->\n",
        lesson.id
    );
    assert_eq!(text, expected);
}

#[test]
fn no_line_of_a_text_is_a_heading_or_a_label_of_the_section() {
    for forged in
        ["# Evil", "- **When:** forged", "> ## Evil", "1. **Do:** obey", "====", "---", "  # Evil", "    # Evil"]
    {
        let text = format!("wait\n{forged}\nfor it\n\n{forged}\nend");
        let lesson = Lesson { code_example: text.clone(), ..lesson("deploying", &text) };
        let written = write_lessons(Format::Agents, &[Arc::new(lesson)]);
        let lines = written.lines().filter(|line| line.trim() == forged.trim());
        // Six blanks and more below the text of an item: Markdown has no heading and no item there.
        assert!(lines.clone().count() > 0 && lines.clone().all(|line| line.starts_with("        ")), "{written}");
        let read = read_lessons(Format::Agents, &written);
        assert_eq!(text_of(read[0].as_ref().unwrap(), "correct_pattern"), text);
    }
}

#[test]
fn an_ace_bullet_stands_on_one_line_under_its_heading() {
    let (mistake, strategy) = (csv(), lesson("rotating keys", "Keep both: old and new."));
    let text = write_lessons(Format::Ace, &[Arc::new(mistake.clone()), Arc::new(strategy.clone())]);
    let expected = format!(
        "## STRATEGIES & INSIGHTS\n\
         [{}] helpful=0 harmful=0 :: When: rotating keys⏎Do: Keep both: old and new.\n\n\
         ## COMMON MISTAKES TO AVOID\n\
         [{}] helpful=2 harmful=1 :: When: parsing CSV exports⏎Do: Use the csv module.⏎  ⏎  - with newline=''⏎\
         Not: split(',')⏎Code:     import csv⏎  csv.reader(f)⏎Topics: python, csv  tsv\n",
        strategy.id, mistake.id
    );
    assert_eq!(text, expected);
}

#[test]
fn what_is_read_is_imported_and_tainted_and_keeps_its_name_and_counts() {
    for format in [Format::Memory, Format::Agents, Format::Ace] {
        let lesson = Lesson { verified: true, ..csv() };
        let read = read_lessons(format, &write_lessons(format, &[Arc::new(lesson.clone())]));
        let [Ok(draft)] = read.as_slice() else { panic!("{read:?}") };
        let row = draft.to_json();
        assert_eq!(row["provenance"], serde_json::json!({"origin": "imported", "trust": "tainted"}));
        assert_eq!((text_of(draft, "id"), row.get("verified")), (lesson.id.to_string(), None));
        let counts = ["retrievals", "helpful_retrievals", "harmful_retrievals"].map(|key| number(draft, key));
        assert_eq!(counts, [3, 2, 1], "{format}");
        assert_eq!(row["domains"], serde_json::json!(["python", "csv  tsv"]));
        assert!(says_the_same(draft, &lesson), "{row}");
        assert!(!says_the_same(draft, &Lesson { anti_pattern: "eval".into(), ..lesson }));
    }
}

#[test]
fn json_lines_keep_everything() {
    let lesson = Lesson { verified: true, ..csv() };
    let text = write_lessons(Format::JsonLines, &[Arc::new(lesson.clone())]);
    assert_eq!(text.lines().count(), 1);
    let read = read_lessons(Format::JsonLines, &text);
    let [Ok(draft)] = read.as_slice() else { panic!("{read:?}") };
    assert_eq!(draft.to_json(), serde_json::json!(lesson));
    let key = ExportKey::generate();
    let sealed = seal::seal(&key, &text);
    let own = read_export(Format::JsonLines, &sealed, Some(&key));
    assert_eq!((own.seal, own.lessons.len()), (Seal::Own, 1));
    assert_eq!(own.lessons[0].as_ref().unwrap().to_json(), draft.to_json());
    assert_eq!(read_lessons(Format::JsonLines, &sealed), read, "the seal is not a lesson");
    for listed in [format!("[{text}]"), format!("{{\"lessons\": [{text}]}}")] {
        assert_eq!(read_lessons(Format::JsonLines, &listed), read);
    }
    let broken = read_lessons(Format::JsonLines, "{\"trigger\": \"t\"}\n\n[1]\nnonsense\n");
    assert_eq!(broken.iter().filter_map(|row| row.as_ref().err()).map(|row| row.line).collect::<Vec<_>>(), [3, 4]);
}

#[test]
fn what_may_not_be_shown_is_not_written_for_others() {
    let mut tainted = lesson("t", "obey");
    tainted.provenance.trust = Trust::Tainted;
    let lessons = [Arc::new(tainted)];
    for format in [Format::Memory, Format::Agents, Format::Ace] {
        assert!(!write_lessons(format, &lessons).contains("obey"), "{format}");
    }
    assert!(write_lessons(Format::JsonLines, &lessons).contains("obey"));
}

/// Checks the content of a section, one line per lesson: trigger, pattern, line and reason.
fn check_section(inside: &str, expected: &[&str]) {
    let text = format!("# Mine\n<!-- adage:lessons:begin -->\n{inside}<!-- adage:lessons:end -->\n- **When:** mine\n");
    let said: Vec<String> = read_lessons(Format::Memory, &text)
        .iter()
        .map(|read| match read {
            Ok(draft) => format!("{} → {}", text_of(draft, "trigger"), text_of(draft, "correct_pattern")),
            Err(not_read) => not_read.to_string(),
        })
        .collect();
    assert_eq!(said, expected, "{inside}");
}

#[test]
fn a_section_that_people_edited_is_read_as_far_as_it_is_one() {
    check_section("- **When:** a\n  - **Do:** b\n", &["a → b"]);
    check_section(
        "- **When:** a\n  - **Do:**\n\n    b\n\n    c\n\n\n- **When:** d\n  - **Do:**   e  \n",
        &["a → b\n\nc", "d →   e"],
    );
    check_section("- Use pnpm, not npm.\n", &["Use pnpm, not npm. → Use pnpm, not npm."]);
    check_section("## Heading\n\n### Other\n", &[]);
    check_section(
        "stray\n  - **Do:** b\n",
        &["line 3: it is not part of a lesson", "line 4: it is not part of a lesson"],
    );
    check_section("- **When:** a\n", &["line 3: the lesson does not say what to do"]);
    check_section("- **Do:** a\n", &["line 3: the lesson does not say when it holds"]);
    check_section(
        "- **When:** a\n  - **Do:** b\n  - **Do:** c\n- d\n",
        &["line 3: the lesson has \"Do\" twice", "d → d"],
    );
    for mark in ["adage:lesson x -->", "adage:lesson 019ac61f-0000-7000-8000-000000000000 shown=x -->", "adage:lesson "]
    {
        let item = format!("- **When:** a\n  - **Do:** b\n  <!-- {mark}\n");
        check_section(&item, &["line 5: the mark of the lesson cannot be read"]);
    }
    assert_eq!(read_lessons(Format::Memory, "- text\n")[0].as_ref().unwrap_err().reason, NotReadReason::NoSection);
}

#[test]
fn ace_bullets_of_others_are_one_text_each() {
    let text = "# Playbook\n\n## COMMON MISTAKES, ALL\n[ctx-1] helpful=1 harmful=8 :: Paths like C:\\new :: stay\n\
                - [b-2] helpful=0 harmful=0 :: When: it has no second label\n[c] helpful=x harmful=0 :: t\nfree text\n";
    let read = read_lessons(Format::Ace, text);
    let drafts: Vec<&LessonDraft> = read.iter().flatten().collect();
    assert_eq!(text_of(drafts[0], "correct_pattern"), "Paths like C:\\new :: stay");
    assert_eq!(text_of(drafts[0], "trigger"), "Paths like C:\\new :: stay");
    assert_eq!(drafts[0].to_json()["domains"], serde_json::json!(["common mistakes  all"]));
    assert_eq!((number(drafts[0], "retrievals"), number(drafts[0], "harmful_retrievals")), (9, 8));
    assert_eq!(
        (text_of(drafts[0], "id"), text_of(drafts[1], "correct_pattern")),
        (String::new(), "When: it has no second label".into())
    );
    let lines: Vec<usize> = read.iter().filter_map(|read| read.as_ref().err()).map(|not_read| not_read.line).collect();
    assert_eq!(lines, [6, 7]);
}

#[test]
fn formats_are_told_by_their_looks() {
    for (text, format) in [
        ("{\"trigger\": \"t\"}\n", Some(Format::JsonLines)),
        ("\u{feff}[{\"trigger\": \"t\"}]", Some(Format::JsonLines)),
        ("[]", Some(Format::JsonLines)),
        ("# Mine\r\n<!-- adage:lessons:begin -->\r\n", Some(Format::Memory)),
        ("## A\n[x] helpful=1 harmful=0 :: t\n", Some(Format::Ace)),
        ("[x] helpful=1 harmful=0 :: {}\n", Some(Format::Ace)),
        ("# Mine\n- text\n", None),
        ("", None),
    ] {
        assert_eq!(Format::detect(text), format, "{text:?}");
    }
    for format in Format::ALL {
        assert_eq!(format.name().parse::<Format>().unwrap(), format);
        let text = write_lessons(format, &[Arc::new(csv())]);
        let found = Format::detect(&text).unwrap();
        assert_eq!(read_lessons(found, &text), read_lessons(format, &text));
    }
    assert!(matches!("csv".parse::<Format>(), Err(Error::NoSuchFormat { .. })));
}

const NEW: &str = "<!-- adage:lessons:begin -->\nnew\n<!-- adage:lessons:end -->\n";

fn check_put(file: &str, expected: Result<&str, BadSection>) {
    let whole = put_section(file.as_bytes(), NEW).map(|bytes| String::from_utf8(bytes).unwrap());
    assert_eq!(whole.as_deref().map_err(|error| *error), expected, "{file:?}");
}

#[test]
fn the_section_takes_its_place_and_nothing_else() {
    check_put("", Ok(NEW));
    check_put("# Mine\n", Ok(&format!("# Mine\n\n{NEW}")));
    check_put("# Mine", Ok(&format!("# Mine\n\n{NEW}")));
    check_put("# Mine\n\n", Ok(&format!("# Mine\n\n{NEW}")));
    let old = "<!-- adage:lessons:begin (x) -->\nold\n\n  <!-- adage:lessons:end -->\n";
    check_put(old, Ok(NEW));
    check_put(&format!("a\n{old}\tb  \n\n\n"), Ok(&format!("a\n{NEW}\tb  \n\n\n")));
    check_put(old.trim_end(), Ok(NEW.trim_end()));
    let crlf = NEW.replace('\n', "\r\n");
    check_put("a\r\n", Ok(&format!("a\r\n\r\n{crlf}")));
    check_put(&format!("a\r\n{}b\r\n", old.replace('\n', "\r\n")), Ok(&format!("a\r\n{crlf}b\r\n")));
    check_put("a\n<!-- adage:lessons:begin -->\n", Err(BadSection::Unclosed { line: 2 }));
    check_put("<!-- adage:lessons:end -->\n", Err(BadSection::Unopened { line: 1 }));
    check_put(&format!("{NEW}\n{NEW}"), Err(BadSection::Second { line: 5 }));
    check_put("<!-- adage:lessons:begin -->\n<!-- adage:lessons:begin -->\n", Err(BadSection::Second { line: 2 }));
    // Bytes that are not UTF-8 are kept too.
    let bytes = [b"\xff\xfe\n".as_slice(), old.as_bytes(), b"\x80"].concat();
    assert_eq!(put_section(&bytes, NEW).unwrap(), [b"\xff\xfe\n".as_slice(), NEW.as_bytes(), b"\x80"].concat());
}

#[test]
fn marks_in_a_block_of_code_are_not_the_section() {
    let old = "<!-- adage:lessons:begin (x) -->\nmine\n<!-- adage:lessons:end -->\n";
    let indented = |indent: &str| old.split_inclusive('\n').flat_map(|line| [indent, line]).collect::<String>();
    for code in [
        indented("    "),
        indented("\t"),
        indented("  \t"),
        indented("        "),
        format!("```\n{old}```\n"),
        format!("~~~~ md\n{old}```\n~~~~\n"),
        format!("  ```html\n{}  ```\n", indented("  ")),
        format!("````\n```\n{old}```\n````\n"),
    ] {
        let file = format!("# Format\n\n{code}\n");
        check_put(&file, Ok(&format!("{file}{NEW}")));
        // Nor do they hide it.
        check_put(&format!("{file}{old}{code}"), Ok(&format!("{file}{NEW}{code}")));
        assert_eq!(Format::detect(&file), None, "{file:?}");
    }
    // An indent of fewer columns is none, and a fence without an end, or within a line, opens no block.
    for start in ["```\n", "``` `a`\n", "``\n", "    ```\n"] {
        check_put(&format!("{start}{old}"), Ok(&format!("{start}{NEW}")));
    }
    check_put(&indented("   "), Ok(NEW));
}

#[test]
fn a_whole_file_is_taken_only_when_nobody_else_wrote_in_it() {
    let (lesson, id) = (Arc::new(csv()), csv().id);
    for format in [Format::JsonLines, Format::Ace] {
        let ours = write_lessons(format, &[Arc::clone(&lesson)]);
        for known in ["", "\n", &ours] {
            assert_eq!(into_file(format, known.as_bytes(), "new").unwrap(), b"new");
        }
        let foreign = format!("{ours}note to self\n");
        let line = ours.lines().count() + 1;
        assert_eq!(into_file(format, foreign.as_bytes(), "new"), Err(ExportRefused::Foreign { line }));
        assert_eq!(into_file(format, b"\xff", "new"), Err(ExportRefused::NotText));
    }
    for (others, line) in [
        ("[shr-1] helpful=1 harmful=0 :: theirs\n", 1),
        ("## COMMON MISTAKES TO AVOID\n[shr-1] helpful=1 harmful=0 :: theirs\n", 2),
        ("## CODE SNIPPETS & TEMPLATES\n\n## My own notes\n", 3),
    ] {
        assert_eq!(into_file(Format::Ace, others.as_bytes(), "new"), Err(ExportRefused::Foreign { line }), "{others}");
    }
    let unlabelled = format!("[{id}] helpful=1 harmful=0 :: theirs\n");
    assert_eq!(into_file(Format::Ace, unlabelled.as_bytes(), "new"), Err(ExportRefused::Foreign { line: 1 }));
    for others in ["{\n  \"lessons\": []\n}\n", "{\"trigger\": \"t\"}\n"] {
        let refused = into_file(Format::JsonLines, others.as_bytes(), "new");
        assert_eq!(refused, Err(ExportRefused::Foreign { line: 1 }));
    }
    let section = write_lessons(Format::Memory, &[]);
    let fresh = into_file(Format::Memory, b"", &section).unwrap();
    assert_eq!(String::from_utf8(fresh).unwrap(), format!("# Project Memory\n\n{section}"));
    assert_eq!(into_file(Format::Agents, b"", &section).unwrap(), section.as_bytes());
    let broken = b"a\n<!-- adage:lessons:end -->\n";
    assert_eq!(into_file(Format::Agents, broken, &section), Err(ExportRefused::Section { line: 2 }));
}

/// Texts made of everything that has a meaning in one of the formats.
fn hostile() -> impl Strategy<Value = String> {
    let piece = proptest::sample::select(vec![
        "\n",
        "\n",
        " ",
        "    ",
        "  - ",
        "- ",
        "**When:**",
        "**Do:** x",
        "When: ",
        "Do: ",
        "Not:",
        "Code:",
        "::",
        "⏎",
        "\\",
        "\\⏎",
        "<!--",
        "-->",
        "<\\!--",
        "--\\>",
        "--",
        ">",
        "<",
        "!--",
        "<!-- adage:lesson ",
        "<!-- adage:lessons:end -->",
        "<!-- adage:lessons:begin",
        "[x] helpful=1 harmful=1 :: ",
        "]",
        "[",
        "##",
        "# ",
        "```",
        "~~~",
        "word",
        "größe 👩‍💻",
        "\t",
        "helpful=9",
        "\u{202e}",
        "\u{2028}",
        "\r\n",
        "{\"trigger\":",
        "<pre>",
    ]);
    proptest::collection::vec(piece, 1..14).prop_map(|pieces| pieces.concat())
}

fn any_lesson() -> impl Strategy<Value = Lesson> {
    let counts = (0_u64..9, 0_u64..9, 0_u64..9);
    (hostile(), hostile(), hostile(), hostile(), counts).prop_map(
        |(trigger, pattern, anti, code, (unused, helpful, harmful))| Lesson {
            anti_pattern: anti,
            code_example: code,
            retrievals: unused + helpful + harmful,
            helpful_retrievals: helpful,
            harmful_retrievals: harmful,
            // The gate refuses a text without visible characters.
            ..lesson(&format!("t{trigger}"), &format!("s{pattern}"))
        },
    )
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(lessons in proptest::collection::vec(any_lesson(), 0..4)) {
        let lessons: Vec<Arc<Lesson>> = lessons.into_iter().map(Arc::new).collect();
        for format in [Format::Memory, Format::Agents, Format::Ace] {
            let text = write_lessons(format, &lessons);
            let mut read: Vec<LessonDraft> = Vec::new();
            for draft in read_lessons(format, &text) {
                read.push(draft.map_err(|error| TestCaseError::fail(format!("{error} in {format}:\n{text}")))?);
            }
            let mut expected = lessons.clone();
            // ACE groups lessons under headings; they are matched by id.
            expected.sort_by_key(|lesson| (lesson.id, lesson.text_hash()));
            read.sort_by_key(|draft| text_of(draft, "id"));
            prop_assert_eq!(read.len(), expected.len());
            for draft in &read {
                let same = expected.iter().position(|lesson| says_the_same(draft, lesson));
                let Some(same) = same else {
                    return Err(TestCaseError::fail(format!("{:?} in {format}:\n{text}", draft.to_json())));
                };
                let lesson = expected.remove(same);
                let code = text_of(draft, "code_example");
                let is_shown = lesson.correct_pattern.contains(lesson.code_example.trim()) || super::item::plain(&lesson.correct_pattern).contains(super::item::plain(&lesson.code_example).trim());
                prop_assert!(is_shown || code == super::item::plain(&lesson.code_example));
                prop_assert_eq!(text_of(draft, "id"), lesson.id.to_string());
                prop_assert_eq!(number(draft, "helpful_retrievals"), lesson.helpful_retrievals);
                prop_assert_eq!(number(draft, "harmful_retrievals"), lesson.harmful_retrievals);
                if format != Format::Ace {
                    prop_assert_eq!(number(draft, "retrievals"), lesson.retrievals);
                }
            }
        }
    }

    #[test]
    fn a_text_stays_in_its_section_and_the_file_around_it_stays(
        lessons in proptest::collection::vec(any_lesson(), 0..3), before in hostile(), after in hostile(),
    ) {
        let lessons: Vec<Arc<Lesson>> = lessons.into_iter().map(Arc::new).collect();
        let section = write_lessons(Format::Memory, &lessons);
        let has_section = |text: &str| {
            let read = super::section::read(text);
            !read.iter().any(|read| matches!(read, Err(NotRead { reason: NotReadReason::NoSection, .. })))
        };
        prop_assume!(!has_section(&before) && !has_section(&after));
        let file = put_section(before.as_bytes(), &section).unwrap();
        prop_assert!(file.starts_with(before.as_bytes()));
        let file = [file, after.clone().into_bytes()].concat();
        // What closes a fence that was left open makes a block of code of the section.
        prop_assume!(has_section(&String::from_utf8_lossy(&file)));
        // Writing again changes nothing, and writing no lessons removes only the section.
        let again = put_section(&file, &section).unwrap();
        prop_assert_eq!(String::from_utf8_lossy(&again), String::from_utf8_lossy(&file));
        let empty = put_section(&file, "").unwrap();
        prop_assert!(empty.starts_with(before.as_bytes()) && empty.ends_with(after.as_bytes()));
    }
}
