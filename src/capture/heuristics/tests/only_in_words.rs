//! Failures and fixes that only words report, not the status of a call.

use super::*;

#[test]
fn an_error_in_the_output_of_a_success_counts_if_the_agent_confirms_it() {
    let failed = "$ cloud deploy web # Error: region eu-west-9 is unknown";
    let fixed = "$ cloud deploy web --region eu-west-1";
    let check = |said: &str, expected: &[&str]| {
        check(Heuristic::ErrorRecovery, &["> Deploy the pages.", failed, said, fixed], expected);
    };
    check("< The deploy failed: eu-west-9 does not exist.", &["error-cloud"]);
    check("< Deployed.", &[]);
    check("< The tests of the parser failed.", &[]);
    // The line printed its exit code itself.
    let printed = "$ cloud deploy web; echo \"exit: $?\" # Error: region eu-west-9 is unknown\nexit: 1";
    super::check(
        Heuristic::ErrorRecovery,
        &[printed, "$ cloud deploy web --region eu-west-1; echo \"exit: $?\" # exit: 0"],
        &["error-cloud"],
    );
}

#[test]
fn words_alone_do_not_say_what_changed_in_a_command() {
    let script = |driver: &str| format!("go run - <<'EOF'\npackage main\nimport _ \"{driver}\"\nEOF");
    let failed = format!("! {} # error: no such module: fts5", script("example.org/sqlite3"));
    let fixed = format!("$ {}", script("example.org/sqlite"));
    let said = "< `fts5` needs a build tag in that driver. Use `example.org/sqlite`, which has it built in.";
    check(Heuristic::ErrorRecovery, &[&failed, said, &fixed], &[]);
    let summary = "< Version 2 is out: `make` must be given the new soname, which is `libstr.so.2`.";
    check(Heuristic::ErrorRecovery, &["! make stage # Segmentation fault", summary, "$ make stage"], &[]);
}

#[test]
fn a_long_repair_needs_a_diagnosis_and_the_same_check() {
    let failed = "! npm run build # error: cannot resolve `@app/theme`";
    let said = "< The alias `@app/theme` is missing in the bundler. It must be set in `vite.config.ts`.";
    let others = ["$ npm ci", "$ npm dedupe", "$ node a.js", "$ node b.js", "$ npx tsc", "$ node c.js"];
    let session = |said: &'static str, last: &'static str| {
        [&[failed, said, "~ /srv/app/src/vite.config.ts"][..], &others, &[last]].concat()
    };
    let found = lesson(Heuristic::ErrorRecovery, &session(said, "$ npm run build"));
    let solution = "The alias `@app/theme` is missing in the bundler. It must be set in `vite.config.ts`. \
                    To do so, change vite.config.ts; then `npm run build` passes.";
    assert_eq!(found["correct_pattern"], solution);
    check(Heuristic::ErrorRecovery, &session("< Let me look.", "$ npm run build"), &[]);
    check(Heuristic::ErrorRecovery, &session(said, "$ npm run start"), &[]);
    let mut asked = session(said, "$ npm run build");
    asked.insert(5, "> And add a page about it.");
    check(Heuristic::ErrorRecovery, &asked, &[]);
}

#[test]
fn a_remedy_that_the_user_named_is_accepted() {
    let check = |said: &str, expected: &[&str]| {
        let lines = ["! npm test # npm ERR! missing script: test", said, "$ npm run spec"];
        check(Heuristic::ErrorRecovery, &lines, expected);
    };
    check("> it is called spec here", &["error-npm"]);
    check("> are you sure that you are in the right place", &[]);
}

#[test]
fn an_action_of_the_user_is_the_remedy_if_the_agent_did_nothing() {
    let failed = "! git push origin web # remote: error: GH013: Repository rule violations found for refs/heads/web.";
    let said = "> ok I allowed the secret at that address. can you try again to push";
    let found = lesson(Heuristic::ErrorRecovery, &[failed, "< It is blocked.", said, "$ git push origin web"]);
    let solution = "The user did this: \"ok I allowed the secret at that address\". Then `git push origin web` passes.";
    assert_eq!(found["correct_pattern"], solution);
    let check = |lines: &[&str]| check(Heuristic::ErrorRecovery, lines, &[]);
    check(&[failed, said, "$ git config x y", "$ git push origin web"]);
    check(&[failed, "> I wanted you to ask me first.", "$ git push origin web"]);
    check(&[failed, "> I set it up, but it still fails for me.", "$ git push origin web"]);
}

#[test]
fn installing_the_missing_module_by_name_is_a_remedy() {
    let check = |remedy: &str, expected: &[&str]| {
        let lines = ["! python load.py # ModuleNotFoundError: No module named 'yaml'", remedy, "$ python check.py"];
        check(Heuristic::ErrorRecovery, &lines, expected);
    };
    check("$ pip install pyyaml", &["error-python"]);
    check("$ pip install requests", &[]);
}

#[test]
fn an_edit_without_diagnosis_must_share_a_name_with_the_error_or_change_settings() {
    let check = |change: &str, expected: &[&str]| {
        let lines = ["! cargo build # error: cannot find function `open_pool`", change, "$ cargo build"];
        check(Heuristic::ErrorRecovery, &lines, expected);
    };
    check("~ a.rs: open_pool(3) => pool::open_pool(3)", &["error-cargo"]);
    check("~ a.rs: let x = 3; => let x = 4;", &[]);
    check("~ Cargo.toml: x = 1 => x = 2", &["error-cargo"]);
}

#[test]
fn praise_or_a_request_to_commit_confirms_a_fix() {
    let session = |said: &'static str| {
        [
            "> The sidebar does not show the sessions of other folders.",
            "< The sidebar reads `folder` only, because the query is missing the parent. It must use `root`.",
            "~ /srv/app/src/sidebar.ts",
            said,
        ]
    };
    for (said, expected) in [
        ("> ok, commit and push", &["error-sidebar"][..]),
        ("> Nice!", &["error-sidebar"]),
        ("> Thanks, I will have a look.", &[]),
        ("> no, still the same, do not commit", &[]),
        ("> and what about the header?", &[]),
    ] {
        check(Heuristic::ErrorRecovery, &session(said), expected);
    }
}
