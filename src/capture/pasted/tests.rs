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
