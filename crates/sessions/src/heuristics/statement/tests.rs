use adage_transcript::{Status, ToolCall};

use super::*;

fn edit() -> Turn {
    let input = serde_json::json!({ "file_path": "src/parse.rs" });
    Turn::ToolCall(ToolCall { tool: "Edit".into(), input, result: Some("done".into()), status: Status::Succeeded })
}

/// How likely a turn tells something when it follows an edit and the agent answers it.
fn heard(text: &str, answer: &str) -> f64 {
    let turns = vec![
        Turn::User("Add a parser for the header.".into()),
        edit(),
        Turn::Assistant("The parser is in place.".into()),
        Turn::User(text.into()),
        Turn::Assistant(answer.into()),
    ];
    statements(&Transcript { turns, ..Transcript::default() }).last().unwrap().probability
}

#[test]
fn rules_and_corrections_have_a_high_probability() {
    for text in [
        "Never put a parser into main.rs, it belongs into its own module.",
        "no, don't use a regex here, use the tokenizer that we have",
        "From now on make sure that every public function has a test.",
        "We don't want a second cache, our store already has one.",
        "Nein, bitte nie die generierten Dateien von Hand ändern.",
        "No, nunca uses npm aquí, usa pnpm en vez de npm.",
        "不要手动修改生成的文件，以后总是运行生成脚本",
    ] {
        let heard = heard(text, "You're right, I will change that.");
        assert!(heard >= 0.5, "{text}: {heard}");
    }
}

#[test]
fn tasks_and_questions_have_a_low_probability() {
    for text in [
        "Now add the footer as well.",
        "What does the second branch do?",
        "thanks, looks good, commit it",
        "go ahead",
        "Can you run the tests again and show me the output?",
    ] {
        let heard = heard(text, "Sure, let me do that.");
        assert!(heard < 0.35, "{text}: {heard}");
    }
}

#[test]
fn an_agreeing_reply_raises_the_probability() {
    let text = "the header has two fields here";
    assert!(heard(text, "You're right, my mistake.") > heard(text, "Let me look.") + 0.1);
}

#[test]
fn an_interruption_raises_the_probability() {
    let turns = |mark: &str| {
        let turns = vec![edit(), Turn::System(mark.into()), Turn::User("the header has two fields".into())];
        statements(&Transcript { turns, ..Transcript::default() }).remove(0)
    };
    let (stopped, not) = (turns("[Request interrupted by user]"), turns("a reminder"));
    let interrupted = "interrupted".to_owned();
    assert!(stopped.cues.contains(&interrupted) && !not.cues.contains(&interrupted));
    assert!(stopped.probability > not.probability);
}

#[test]
fn of_very_many_typed_turns_the_last_ones_are_read() {
    let turns = (0..MAX_READ + 3).map(|n| Turn::User(format!("step {n}"))).collect();
    let statements = statements(&Transcript { turns, ..Transcript::default() });
    assert_eq!((statements.len(), statements[0].turn), (MAX_READ, 3));
}
