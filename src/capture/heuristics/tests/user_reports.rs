//! Failures that the user reports.

use super::*;

const TOLD: &str = "> The map is fine on the tablet. But the legend does not show up there.";
const WHY: &str = "< `legend.css` hides the panel below 900px, because the tablet reports 820px. I need to lower the breakpoint to 700px.";
const EDIT: &str = "~ /srv/app/web/legend.css";

#[track_caller]
fn none(lines: &[&str]) {
    check(Heuristic::ErrorRecovery, lines, &[]);
}

#[test]
fn a_failure_that_the_user_reports_and_confirms_as_fixed_makes_a_recovery() {
    let found = lesson(
        Heuristic::ErrorRecovery,
        &[TOLD, WHY, EDIT, "< Done.", "> Great, the legend works now. Next: the scale."],
    );
    assert_eq!(found["trigger"], "The map is fine on the tablet. But the legend does not show up there.");
    assert_eq!(
        found["correct_pattern"],
        "`legend.css` hides the panel below 900px, because the tablet reports 820px. Lower the breakpoint to 700px. To do so, change \
         legend.css; then it works."
    );
    // Nobody says that it works, it only half does, it is a question, or somebody wants it to.
    for last in [
        "> Now draw the scale.",
        "> It works on the phone but not on the tablet.",
        "> Does it work now?",
        "> Make sure that it works on the phone.",
        "> It only works for large screens.",
    ] {
        none(&[TOLD, WHY, EDIT, last]);
    }
    none(&[TOLD, WHY, EDIT]);
    // Nothing was changed; nobody knows what, or why.
    none(&[TOLD, WHY, "> It works now."]);
    none(&[TOLD, EDIT, "> It works now."]);
    // Nothing was reported: a question, what the agent did, what is not wanted.
    for first in ["Should the legend not be on the left?", "You did not run the tests.", "This file isn't needed."] {
        none(&[&format!("> {first}"), WHY, EDIT, "> It works now."]);
    }
    // Something else came between.
    none(&[TOLD, "> Now draw the scale.", "> And the north arrow.", WHY, EDIT, "> It works now."]);
}

#[test]
fn a_repeated_report_yields_the_last_diagnosis_and_all_changed_files() {
    let first = "< `legend.css` hides it, because the panel is too wide. I need to narrow the panel to 200px.";
    let lines = [
        TOLD,
        first,
        "~ /srv/app/web/panel.css",
        "> nope, still the same",
        "< Is it a new tablet?",
        "> It is the one from last year.",
        WHY,
        EDIT,
        "> Perfect!",
    ];
    let found = lesson(Heuristic::ErrorRecovery, &lines);
    let solution = found["correct_pattern"].as_str().unwrap();
    assert!(solution.starts_with("`legend.css` hides the panel below 900px"), "{solution}");
    assert!(solution.ends_with("To do so, change panel.css and legend.css; then it works."), "{solution}");
}

#[test]
fn a_summary_after_the_edit_counts_as_a_diagnosis() {
    let report = "< The legend was hidden, because `legend.css` treats 820px as a phone. I checked that on two tablets.\n\n- The breakpoint of `legend.css` is now 700px — see the comment there.\n\nTry it again.";
    let found = lesson(Heuristic::ErrorRecovery, &[TOLD, "< Let me look.", EDIT, report, "> It works!"]);
    let solution = found["correct_pattern"].as_str().unwrap();
    assert!(solution.starts_with("The legend was hidden, because `legend.css` treats 820px as a phone."), "{solution}");
    assert!(solution.contains("The breakpoint of `legend.css` is now 700px"), "{solution}");
}

#[test]
fn a_pasted_error_fixed_in_settings_needs_no_confirmation() {
    let pasted = "> I get this from the nightly run:\nUpload report failed: artifact name web-report is not unique\nCan you have a look?";
    let why = "< `upload-artifact` expects a unique name, and both jobs of the matrix use `web-report`. I need to add the job's index to the artifact name.";
    let edit = "~ /srv/app/.github/workflows/nightly.yml";
    let found = lesson(Heuristic::ErrorRecovery, &[pasted, why, edit, "< Done."]);
    assert_eq!(found["trigger"], "Upload report failed: artifact name web-report is not unique");
    assert!(found["correct_pattern"].as_str().unwrap().ends_with("To do so, change nightly.yml."), "{found}");
    let typed = "> error[E0463]: can't find crate for `core`, on the small board only";
    let why = "< You're right, lamp pulls core in by default. I'm turning the default features off.";
    let lines = [typed, why, "~ /srv/app/boards/small/Cargo.toml", "$ cargo build", "> And the big board?"];
    let solution = "lamp pulls core in by default. Turning the default features off. To do so, change Cargo.toml.";
    assert_eq!(lesson(Heuristic::ErrorRecovery, &lines)["correct_pattern"], solution);
    // It still fails; it is code.
    none(&[pasted, why, edit, "> It still says that.", "< Hm."]);
    none(&[pasted, why, "~ /srv/app/web/report.ts", "< Done."]);
}

#[test]
fn short_confirmations_count_in_several_languages() {
    for last in ["ok gone. next one", "Good, now the numbers agree.", "looks good now", "🎉", "可以了", "funktioniert"]
    {
        let lines = [TOLD, WHY, EDIT, &format!("> {last}")];
        check(Heuristic::ErrorRecovery, &lines, &["error-legend"]);
    }
    for last in ["good. now do the scale", "is it gone?", "the old one is gone but the new one is not there", "thanks"]
    {
        none(&[TOLD, WHY, EDIT, &format!("> {last}")]);
    }
}

#[test]
fn advice_that_helped_the_user_keeps_every_step() {
    let failed = "> On my laptop the build stops with this:\nld: error: library 'System' not found in the SDK";
    let advice = "< `ld` looks for the SDK of the command line tools, because `xcode-select` still points there.\n\n1. Run `sudo xcode-select --reset`.\n2. Then restart `Simulator`.";
    let found = lesson(Heuristic::ErrorRecovery, &[failed, advice, "> That fixed it, thanks!"]);
    assert_eq!(found["trigger"], "ld: error: library 'System' not found in the SDK");
    assert_eq!(
        found["correct_pattern"],
        "`ld` looks for the SDK of the command line tools, because `xcode-select` still points there. Run `sudo xcode-select --reset`. \
         Then restart `Simulator`."
    );
    none(&[failed, advice, "> Thanks, I will try that tomorrow."]);
    none(&[failed, "< Let me look at it.", "> It works now."]);
    // The agent did something too.
    none(&[failed, "$ brew install llvm", advice, "> That fixed it, thanks!"]);
}

#[test]
fn a_command_that_the_user_ran_is_the_remedy() {
    let failed = "! npx vitest run # Error: Cannot find package 'happy-dom' imported from setup.js";
    let passed = "$ npx vitest run";
    for said in ["Try the tests again... I ran `npm install`", "I just ran npm install. Please go on."] {
        let found =
            lesson(Heuristic::ErrorRecovery, &[failed, "~ a.ts", "$ npm pkg fix", &format!("> {said}"), passed]);
        assert_eq!(found["correct_pattern"], "First run `npm install`; then `npx vitest run` passes.", "{said}");
    }
    for said in
        ["I ran the tests and now they pass.", "I ran `npm install` and it still fails.", "I changed something."]
    {
        none(&[failed, &format!("> {said}"), passed]);
    }
    // Something else was done after it.
    none(&[failed, "> I ran `npm install`", "~ a.ts", passed]);
}

#[test]
fn an_objection_to_changed_settings_rejects_the_recovery() {
    let pasted = "> I get this from the nightly run:\nUpload report failed: artifact name web-report is not unique";
    let why = "< `upload-artifact` expects a unique name, and both jobs use `web-report`. I need to add the job's index to the artifact name.";
    let edit = "~ /srv/app/.github/workflows/nightly.yml";
    check(Heuristic::ErrorRecovery, &[pasted, why, edit, "> Now the weekly run."], &["error-nightly"]);
    for last in
        ["> No, that name is used elsewhere.", "> what's wrong with a random name", "> Use the commit instead", "> why"]
    {
        none(&[pasted, why, edit, last]);
    }
}

#[test]
fn a_report_of_another_failure_closes_the_one_before() {
    let told = "> i have error Missing partial posts/_row";
    let why =
        "< The partial is in `posts/partials/_row`, but the job renders `posts/row` instead of `posts/partials/row`.";
    let edit = "~ /srv/app/app/jobs/post_job.rb";
    let next = "> it seems that the content is not saved";
    let found = lesson(Heuristic::ErrorRecovery, &[told, why, edit, next]);
    assert_eq!(found["trigger"], "i have error Missing partial posts/_row");
    assert!(found["correct_pattern"].as_str().unwrap().ends_with("To do so, change post_job.rb."), "{found}");
    // It is the same one, or the agent did not explain it.
    none(&[told, why, edit, "> still not there"]);
    none(&[told, why, edit, "> now it does not find posts/_row in the mail"]);
    none(&[told, "< Let me fix it.", edit, next]);
    // It has no name that would distinguish the two.
    none(&[TOLD, WHY, EDIT, next]);
}
