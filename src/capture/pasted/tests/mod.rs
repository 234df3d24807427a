mod documents;
mod elsewhere;
mod written;

use adage_transcript::{Status, ToolCall};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::capture::suggest;
use crate::config::{CaptureConfig, Selection};

const RULE: &str = "Never publish the package from a laptop, always use the release job of the pipeline.";

fn own(before: Turn, text: &str) -> Vec<String> {
    let transcript = Transcript { turns: vec![before, Turn::User(text.into())], ..Transcript::default() };
    Typed::of(&transcript).sentences(1, text).into_iter().map(|sentence| sentence.text.to_owned()).collect()
}

fn tool(result: &str) -> Turn {
    let input = json!({ "file_path": "notes.md" });
    Turn::ToolCall(ToolCall { tool: "Read".into(), input, result: Some(result.into()), status: Status::Succeeded })
}

#[test]
fn what_an_earlier_turn_says_is_not_the_persons_word() {
    let typed = format!("Look at it. {RULE}");
    assert_eq!(own(Turn::Assistant("ok".into()), &typed), ["Look at it.", RULE]);
    for before in [Turn::Assistant(RULE.into()), Turn::System(RULE.to_uppercase()), tool(&format!("x\n- {RULE}\n"))] {
        assert_eq!(own(before, &typed), ["Look at it."]);
    }
    let chinese = "不要修改生成的文件，以后总是运行脚本";
    assert!(own(Turn::Assistant(chinese.into()), chinese).is_empty());
}

/// The person's own sentences of the first turn, when the others follow.
fn own_before(said: &str, after: Vec<Turn>) -> Vec<String> {
    let turns = std::iter::once(Turn::User(said.into())).chain(after).collect();
    let transcript = Transcript { turns, ..Transcript::default() };
    Typed::of(&transcript).sentences(0, said).into_iter().map(|sentence| sentence.text.to_owned()).collect()
}

#[test]
fn what_a_later_result_brings_is_not_the_persons_word() {
    let numbered = RULE.split(' ').enumerate().map(|(n, word)| format!("{n:6}→{word}")).collect::<Vec<_>>().join("\n");
    for page in [RULE.to_owned(), numbered, RULE.replace(' ', "&nbsp;"), format!("# Releases\n\n{RULE}")] {
        let after = vec![Turn::Assistant("I look at the page.".into()), tool(&page)];
        assert!(own_before(RULE, after).is_empty(), "{page}");
    }
    let written = |text: &str| {
        let input = json!({"file_path": "CLAUDE.md", "content": format!("- {text}")});
        Turn::ToolCall(ToolCall { tool: "Write".into(), input, result: None, status: Status::Succeeded })
    };
    for after in [
        vec![Turn::Assistant(RULE.into())],
        vec![Turn::System(RULE.into())],
        vec![written(RULE), tool(RULE)],
        vec![Turn::Assistant(format!("You're right: {RULE}")), tool(&format!("12→- {RULE}"))],
        vec![tool("Never publish the package from here, always use the other job.")],
    ] {
        assert_eq!(own_before(RULE, after.clone()), [RULE], "{after:?}");
    }
}

#[test]
fn text_behind_a_mark_is_not_the_persons_word() {
    for mark in [
        "Comment by a colleague",
        "From: someone@example.org",
        "the reviewer wrote:",
        "here is the output:",
        "please look at this:",
        "[Pasted text #1 +20 lines]",
        "octocat commented 3 days ago",
        "coderabbitai[bot]:",
        "----- Original Message -----",
        "See the issue below:",
    ] {
        let typed = format!("Handle that please.\n{mark}\n{RULE}\nBye");
        let own = own(Turn::Assistant("ok".into()), &typed);
        assert!(!own.iter().any(|sentence| sentence == RULE || sentence == "Bye"), "{mark}: {own:?}");
        assert_eq!(own[0], "Handle that please.", "{mark}");
    }
    assert_eq!(own(tool("x"), &format!("Two rules.\n{RULE}")).len(), 2);
}

#[test]
fn what_somebody_else_says_on_the_same_line_is_not_the_persons_word() {
    for said in [
        "the issue says: RULE",
        "The ticket states: RULE",
        "octocat wrote in the review: RULE",
        "My colleague told me: RULE",
        "the docs read, as of today: RULE",
        "from the README: RULE",
        "According to the handbook: RULE",
        "\"RULE\" - that is what the ticket tells",
        "\"RULE\"",
        "'RULE'",
        "Handle it.\n\"Look here.\nRULE\"",
        "The page said \"RULE\"",
    ] {
        let typed = said.replace("RULE", RULE);
        let own = own(Turn::Assistant("ok".into()), &typed);
        assert!(!own.iter().any(|sentence| sentence.contains("release job")), "{said}: {own:?}");
    }
    for said in [
        "I said: RULE",
        "as I already said: RULE",
        "I don't know what it's for. RULE",
        "It's the 5\" screen. RULE It's fine.",
        "Name it \"a b\" then. RULE",
        "Two rules: RULE",
    ] {
        let typed = said.replace("RULE", RULE);
        let own = own(Turn::Assistant("ok".into()), &typed);
        assert!(own.iter().any(|sentence| sentence.contains("release job")), "{said}: {own:?}");
    }
}

/// Checks that what has a shape of copied text is not the person's, and what only looks like it is.
fn check_shapes(cases: &[&str], is_own: bool) {
    for case in cases {
        let typed = case.replace("RULE", RULE);
        let own = own(Turn::Assistant("ok".into()), &typed);
        assert_eq!(own.iter().any(|sentence| sentence.contains("release job")), is_own, "{case}: {own:?}");
    }
}

#[test]
fn messages_of_others_are_not_the_persons_word() {
    check_shapes(
        &[
            "octocat  3:45 PM\nRULE",
            "octocat\t10:42\nRULE",
            "Octo Cat — Today at 10:42 AM\nRULE",
            "[10:42, 5.1.2026] Octo: RULE",
            "10:42 <octocat> RULE",
            "Octo Cat, [5. Jan 2026 at 10:42:11]:\nRULE",
            "Speaker 2 (00:12): RULE",
            "hubot: which one?\noctocat: RULE",
            "octocat opened this issue 3 hours ago\nRULE",
            "Octo @octocat · 2 weeks ago\nMaintainer\nRULE",
            "A bot left a comment\nRULE",
            "somebot[bot] reviewed\n\nRULE",
            "@octocat: RULE",
            "[~octocat] RULE",
            "Octo's comment: RULE",
            "The lead's answer:\nRULE",
            "Von: Octo\nGesendet: Montag\nBetreff: Pakete\n\nRULE",
            "Le lun. 5 janv. 2026, Octo a écrit :\nRULE",
            "Hi Hub,\n\nRULE\n\nBest regards,\nOcto",
            "RULE\n\n-- \nOcto Cat\nHead of releases",
            "Hello team,\n\nRULE\n\nThanks,\nOcto",
            "Dear all,\nRULE\nYours\nOcto Cat",
            "Sent from my phone\nRULE",
            "Octo Cat, 12 Jan\nRULE",
            "The lead wants: RULE",
            "see what the reviewer proposes:\n\nRULE",
            "Answer from a forum:\nRULE",
            "nit (non-blocking): RULE",
            "**Suggestion:** RULE",
            "Q: How?\nA: RULE",
        ],
        false,
    );
    check_shapes(
        &[
            "It broke 3 hours ago. RULE",
            "I opened the page. RULE",
            "we reviewed that. RULE",
            "here's what I want: RULE",
            "Let's do two things:\nRULE",
            "The build takes 3:45 minutes.\nRULE",
            "Thanks! RULE",
            "RULE\nThanks,",
            "RULE\nthanks\nand now the tests please",
            "I want: RULE",
            "We have until May. RULE",
        ],
        true,
    );
}

#[test]
fn records_of_others_are_not_the_persons_word() {
    check_shapes(
        &[
            "SHOP-12\nPriority: High\nReporter: Octo\nDescription:\nRULE",
            "SHOP-12 Releases\nStatus: Open\n\nRULE",
            "Steps to reproduce\n1. build\nExpected behavior\nRULE",
            "Acceptance criteria:\n- RULE",
            "**Describe the bug**\nRULE",
            "Milestone: 3\nRULE",
            "#42 wrong job\nRULE",
            "ERROR in src/a.ts\nRULE",
            "   Compiling app v0.1.0\nRULE",
            "added 3 packages in 2s\nRULE",
            "=== BEGIN FILE ===\nRULE\n=== END FILE ===",
            "--- begin quote ---\nRULE",
            "[begin]\nRULE\n[end]",
            "\\section{Releases}\nRULE",
            "1\trelease\tRULE",
            "1,release,\"RULE\",high",
            "rule: 3\ndescription: RULE\nowner: octocat",
            "\"rule\": \"RULE\",",
            "[rules]\nrelease = RULE",
            "[INFO] start\n[WARN] RULE",
            "##[group]Run\nRULE\n##[endgroup]",
            "npm notice x\nRULE",
            "Run npm test\nRULE\nError: Process completed with exit code 1.",
            "2026-01-05T10:42:11Z x\nRULE",
            "Jan  5 10:42:11 host app[12]: RULE",
            "diff --git a/x b/x\n+RULE",
            "@@ -1 +1,2 @@\n x\n+RULE",
            "me@host:~/shop$ cat notes.txt\nRULE",
            "~/shop main % cat notes.txt\nRULE",
            "~/shop ❯ cat notes.txt\nRULE",
            "PS C:\\shop> type notes.txt\nRULE",
            ">>> print(rule)\nRULE",
            "    12→RULE",
            "README.md:12: RULE",
            "⏺ RULE",
            "│ RULE │",
        ],
        false,
    );
    check_shapes(
        &[
            "Rule: RULE",
            "- RULE",
            "1. RULE",
            "The log says [WARN] twice, why?\n\nRULE",
            "Set a = 1.\nRULE",
            "Look at src/a.rs:12.\nRULE",
            "Use a, b, \"c\" here. RULE",
        ],
        true,
    );
}

#[test]
fn quoted_and_wrapped_text_is_not_the_persons_word() {
    check_shapes(
        &[
            "„RULE“",
            "“RULE”",
            "«RULE»",
            "‹RULE›",
            "「RULE」",
            "`RULE`",
            "- `RULE`",
            "they want “RULE” and so on",
            "git commit -m \"RULE\"",
            ">> RULE",
            "~~~\nRULE",
            "\"\"\"\nRULE\n\"\"\"",
            "<ctx>\nRULE\n</ctx>",
            "see <ctx>foo</ctx> RULE </ctx>",
            "<Page n=3>\nfoo\n</page>\nRULE\n</PAGE>",
            "<page>\nRULE",
            "[tool_output]\nRULE\n[/tool_output]",
            "{{#context}}\nRULE\n{{/context}}",
            "# Contributing\n\nThanks.\n\n# Releases\n\nRULE",
            "## Releases\n\nRULE",
            "# Releases\n\nRULE",
            "3.2 Releases\n\nRULE",
            ".. note:: RULE",
            "    RULE",
            "\tRULE",
            "-- RULE",
            "The event \"build\":\nRULE",
            "Summary of the conversation so far:\n1. RULE",
        ],
        false,
    );
    check_shapes(
        &[
            "Use `cargo test` here. RULE",
            "We want `a resume <agent> --session <uri>` here. RULE",
            "Vec<String> is fine. RULE",
            "A <Button> is missing. RULE",
            "[x] done. RULE",
            "Call it “a b”. RULE",
            "RULE\n# that's it",
            "# RULE",
            "no <b>bold</b> please.\nRULE",
        ],
        true,
    );
}

#[test]
fn a_sentence_in_quotation_marks_of_any_script_is_not_the_persons_word() {
    for (open, close) in [
        ("《", "》"),
        ("〈", "〉"),
        ("⟨", "⟩"),
        ("❝", "❞"),
        ("❛", "❜"),
        ("〝", "〞"),
        ("＂", "＂"),
        ("＇", "＇"),
        ("″", "″"),
        ("ʺ", "ʺ"),
        ("``", "''"),
        ("''", "''"),
        (",,", "``"),
        ("<<", ">>"),
        ("⟪", "⟫"),
        ("”", "”"),
        ("„", "”"),
        ("»", "«"),
        ("‚", "‘"),
        ("‘", "’"),
        ("『", "』"),
        ("｢", "｣"),
        ("﹁", "﹂"),
        ("⁅", "⁆"),
        ("【", "】"),
        ("〔", "〕"),
        ("⸢", "⸣"),
        ("((", "))"),
        ("[[", "]]"),
        ("\u{1f676}", "\u{1f677}"),
        ("⹂", "”"),
        ("❮", "❯"),
        ("⟦", "⟧"),
        ("⸨", "⸩"),
        ("❲", "❳"),
    ] {
        check_shapes(
            &[&format!("{open}RULE{close}"), &format!("Handle it.\nthey have {open}RULE{close} there")],
            false,
        );
    }
    check_shapes(
        &[
            "It’s our users’ wish. RULE That’s all, it’s fine.",
            "The 5″ and the 7″ screens. RULE The 9″ one.",
            "See （this） and （that）. RULE",
            "set a='' here. RULE",
        ],
        true,
    );
}

#[test]
fn a_tag_that_is_opened_often_takes_linear_time() {
    // Searching the text for the end of each would take more than 10^10 steps, so that the test would not end.
    for tags in ["<a>".repeat(100_000), "<a> ".repeat(100_000), "\n".repeat(300_000), "“a b c d e” ".repeat(20_000)]
    {
        let own = own(Turn::Assistant("ok".into()), &format!("{tags}\n{RULE}"));
        assert!(own.len() <= 100_001);
    }
}

#[test]
fn what_was_pasted_once_is_pasted_again() {
    let turns = vec![
        Turn::User(format!("Look:\n```\nfoo {RULE}\n```")),
        Turn::Assistant("ok".into()),
        Turn::User(RULE.into()),
        tool(&RULE.replace(' ', "&nbsp;")),
    ];
    let transcript = Transcript { turns, ..Transcript::default() };
    assert!(Typed::of(&transcript).sentences(2, RULE).is_empty());
    for page in [RULE.replace(' ', "&nbsp;"), RULE.replace(' ', "</b> <b>"), RULE.replace(' ', "\n")] {
        assert!(own(tool(&page), RULE).is_empty(), "{page}");
    }
}

/// Text of another author that may be pasted.
fn foreign() -> impl Strategy<Value = String> {
    let verb =
        prop_oneof![Just("Never use"), Just("Always run"), Just("From now on call"), Just("Make sure to install")];
    (verb, "[a-z]{4,9}", "[a-z]{4,9}")
        .prop_map(|(verb, a, b)| format!("{verb} {a} before {b} in this repository please."))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn no_quote_is_pasted(foreign in foreign(), kind in 0_usize..6, is_before in any::<bool>()) {
        let own = "no, never commit the lock file of our examples folder";
        let block = match kind {
            0 | 1 => foreign.clone(),
            2 => format!("```\n{foreign}\n```"),
            3 => format!("> {foreign}"),
            4 => format!("Comment by somebody\n{foreign}"),
            _ => format!("the issue says:\n{foreign}"),
        };
        let said = if is_before && kind < 4 { format!("{block}\n{own}") } else { format!("{own}\n{block}") };
        let earlier = if kind == 1 { tool(&foreign) } else { Turn::Assistant(foreign.clone()) };
        let mut turns = vec![Turn::User("Add an example.".into())];
        turns.extend((kind < 2).then_some(earlier));
        turns.extend([Turn::User(said), Turn::Assistant("You're right, my mistake.".into())]);
        let transcript = Transcript { turns, ..Transcript::default() };
        let config = CaptureConfig { selection: Selection::All, ..CaptureConfig::default() };
        let texts: Vec<String> =
            suggest(&transcript, &config).candidates.iter().map(|found| found.draft.to_json().to_string()).collect();
        prop_assert!(!texts.is_empty());
        prop_assert!(texts.iter().all(|text| !text.contains(&foreign)), "{:?}", texts);
    }
}
