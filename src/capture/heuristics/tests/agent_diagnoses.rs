//! Failures whose cause and remedy the agent states, and repeated attempts.

use super::*;

const FAILED: &str = "! npm run build # error TS2307: Cannot find module '@app/theme' or its type declarations";
const SAID: &str = "< The `@app/theme` alias is only defined in `vite.config.ts`, so the type checker doesn't know it. I need to add it to the `paths` of tsconfig.json as well.";

#[track_caller]
fn solution(lines: &[&str], expected: &str) {
    assert_eq!(lesson(Heuristic::ErrorRecovery, lines)["correct_pattern"], expected, "{lines:?}");
}

#[track_caller]
fn none(lines: &[&str]) {
    check(Heuristic::ErrorRecovery, lines, &[]);
}

#[test]
fn an_unrecorded_edit_is_described_in_the_words_of_the_agent() {
    let found = lesson(Heuristic::ErrorRecovery, &[FAILED, SAID, "~ /srv/app/tsconfig.json", "$ npm run build"]);
    assert_eq!(
        found["trigger"],
        "`npm run build` fails: error TS2307: Cannot find module '@app/theme' or its type declarations"
    );
    let expected = "The `@app/theme` alias is only defined in `vite.config.ts`, so the type checker doesn't know it. Add it to the \
                    `paths` of tsconfig.json as well. To do so, change tsconfig.json; then `npm run build` passes.";
    assert_eq!(found["correct_pattern"], expected);
    // Without words nobody knows what was changed, and words that it may be something say as little.
    none(&[FAILED, "~ tsconfig.json", "$ npm run build"]);
    let guess = "< The `@app/theme` alias is probably missing from the `paths`. Let me add it to tsconfig.json.";
    none(&[FAILED, guess, "~ tsconfig.json", "$ npm run build"]);
    // Nor does what was going to be looked at, or that it is going to be fixed.
    for said in ["Let me check the `@app/theme` alias first.", "The `@app/theme` import is broken. Let me fix it."] {
        none(&[FAILED, &format!("< {said}"), "~ tsconfig.json", "$ npm run build"]);
    }
    // Nor what is not about it.
    let aside = "< The `@app/theme` alias is a pre-existing issue of the build. I need to add it to tsconfig.json.";
    none(&[FAILED, aside, "~ tsconfig.json", "$ npm run build"]);
    // Something else was meant.
    none(&[FAILED, "< The docs are missing a chapter. I need to add the chapter now.", "~ a.md", "$ npm run build"]);
    // The build still fails.
    none(&[FAILED, SAID, "~ tsconfig.json", FAILED]);
    // In too many places, for one sentence.
    none(&[FAILED, SAID, "~ a.ts", "~ b.ts", "~ c.ts", "~ d.ts", "$ npm run build"]);
}

#[test]
fn a_word_of_doubt_within_a_name_is_none() {
    let said = |name: &str| {
        format!(
            "< The `@app/theme` alias is only defined in {name}, so it isn't found. I need to add it to the `paths` of tsconfig.json as well."
        )
    };
    let lines =
        |said: &str| [FAILED.to_owned(), said.to_owned(), "~ tsconfig.json".to_owned(), "$ npm run build".to_owned()];
    for name in ["`my.cnf`", "my-app", "/srv/my/vite.ts", "`yet-another.ts`", "`maybe.ts`"] {
        let lines = lines(&said(name));
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        lesson(Heuristic::ErrorRecovery, &lines);
    }
    for name in ["my last edit", "nothing yet", "what may be `a.ts`"] {
        let lines = lines(&said(name));
        none(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    }
}

#[test]
fn the_last_diagnosis_before_the_edit_wins() {
    let wrong = "< The `@app/theme` package is missing. I need to install it from the registry.";
    let lines = [FAILED, wrong, "- package.json", SAID, "~ tsconfig.json", "$ npm run build", "< Done."];
    let found = lesson(Heuristic::ErrorRecovery, &lines);
    assert!(
        found["correct_pattern"].as_str().unwrap().starts_with("The `@app/theme` alias is only defined in"),
        "{found}"
    );
    // What was thought is not said.
    let thought =
        format!("< <think>The `@app/theme` module must be gone. I need to restore `@app/theme`.</think>{}", &SAID[2..]);
    solution(
        &[FAILED, &thought, "~ tsconfig.json", "$ npm run build"],
        "The `@app/theme` alias is only defined in `vite.config.ts`, so the type checker doesn't know it. Add it to the `paths` of \
         tsconfig.json as well. To do so, change tsconfig.json; then `npm run build` passes.",
    );
}

#[test]
fn a_short_edit_is_shown_with_the_diagnosis() {
    let lines = [
        "! make",
        "< `make` needs `CFLAGS` to be set. Let me set `CFLAGS` in the Makefile.",
        "~ Makefile: CFLAGS= => CFLAGS=-O2",
        "$ make",
    ];
    solution(
        &lines,
        "`make` needs `CFLAGS` to be set. Set `CFLAGS` in the Makefile. To do so, replace `CFLAGS=` by `CFLAGS=-O2` in Makefile; then \
         `make` passes.",
    );
}

#[test]
fn a_wider_check_that_covers_the_failure_ends_it() {
    let failed = "! go test ./reader ./writer # --- FAIL: TestRead (0.01s)\n    read_test.go:7: want 3, got 4\nFAIL\tmod/reader\t0.1s";
    let said = "< `TestRead` expects the limit of the old format. I need to raise `limit` to 4 in read.go.";
    let check = |last: &str, expected: &[&str]| {
        check(Heuristic::ErrorRecovery, &[failed, said, "~ read.go", last], expected);
    };
    check("$ go test ./reader", &["error-go"]);
    check("$ go test ./writer ./reader", &["error-go"]);
    check("$ go test ./...", &["error-go"]);
    check("$ go test -run TestRead ./reader", &["error-go"]);
    check("$ go test -run TestWrite ./reader ./writer", &[]);
    check("$ go test ./writer", &[]);
    let found = lesson(Heuristic::ErrorRecovery, &[failed, said, "~ read.go", "$ go test ./..."]);
    assert_eq!(found["trigger"], "`go test ./reader ./writer` fails: --- FAIL: TestRead (0.01s): want 3, got 4");
}

#[test]
fn a_lesson_shows_only_the_checks_of_a_long_line() {
    let long = "echo \"=== what has been checked so far, and what is going to be checked in the next step ===\"";
    let failed = format!("! {long}; make lint; {long} # src/a.c:3:7: error: no semicolon");
    let passed = format!("$ {long}; make lint; {long}");
    let said = "< `src/a.c` needs a semicolon after the macro. I need to add one to `LIMIT` in limits.h.";
    let found = lesson(Heuristic::ErrorRecovery, &[&failed, said, "~ limits.h", &passed]);
    assert_eq!(found["trigger"], "`make lint` fails: <file>: error: no semicolon");
}

#[test]
fn an_unknown_flag_identifies_its_command() {
    let lines = [
        "! cd /srv/app\n./tool sync web -u 7 | tail -8\nls out # Error: unknown shorthand flag: 'u' in -u",
        "$ ./tool sync --help",
        "$ cd /srv/app\n./tool sync web -s 7 | tail -6\nls out",
    ];
    let found = lesson(Heuristic::ErrorRecovery, &lines);
    assert_eq!(found["trigger"], "`./tool sync web -u 7` fails: Error: unknown shorthand flag: 'u' in -u");
    assert_eq!(found["correct_pattern"], "Run `./tool sync web -s 7`.");
}

#[test]
fn a_command_announced_to_fail_makes_no_recovery() {
    let edit = "~ Makefile: x => y";
    none(&["< Now run it without the fix to confirm that the test fails:", "! make", edit, "$ make"]);
    none(&["< Let me verify the error path.", "! make", edit, "$ make"]);
    check(Heuristic::ErrorRecovery, &["< Let me build it.", "! make", edit, "$ make"], &["error-make"]);
}

#[test]
fn a_lesson_names_attempts_that_did_not_help() {
    let error = "# npm error ERESOLVE unable to resolve dependency tree";
    let lines = [
        &format!("! npm install left {error}"),
        &format!("! npm install left --force {error}"),
        "$ npm install left --legacy-peer-deps",
    ];
    let found = lesson(Heuristic::ErrorRecovery, &lines.map(|line| line as &str));
    assert_eq!(found["trigger"], "`npm install left` fails: npm error ERESOLVE unable to resolve dependency tree");
    assert_eq!(
        found["correct_pattern"],
        "Run `npm install left --legacy-peer-deps`. `npm install left --force` alone does not help."
    );
    let lines = ["! make # error: no rule 1", "$ autoreconf", "! make # error: no rule 2", "$ ./configure", "$ make"];
    solution(&lines, "First run `./configure`; then `make` passes. `autoreconf` alone does not help.");
    // Another error: the first was mended.
    let lines = ["! make # error: no rule", "! make -k # error: no file", "$ ./configure", "$ make -k"];
    solution(&lines, "First run `./configure`; then `make -k` passes.");
}

#[test]
fn a_diagnosis_has_the_agent_as_its_author() {
    let lines = [FAILED, SAID, "~ tsconfig.json", "$ npm run build"];
    let found = suggest(&sketch(&lines), &CaptureConfig::default());
    let candidate = found.candidates.iter().find(|one| one.heuristic == Heuristic::ErrorRecovery).unwrap();
    assert_eq!((candidate.author, candidate.turns.as_slice()), (Author::Agent, &[0, 3][..]));
}

#[test]
fn a_reverted_edit_makes_no_recovery() {
    let fails = "! npm test # error: the balance is 3";
    let (broken, put_back) =
        ("~ add.js: balance = a + b => balance = a - b", "~ add.js: balance = a - b => balance = a + b");
    none(&[broken, fails, put_back, "$ npm test"]);
    // Another change mends it.
    let found = lesson(
        Heuristic::ErrorRecovery,
        &[broken, fails, "~ add.js: balance = a - b => balance = b + a", "$ npm test"],
    );
    assert!(found["correct_pattern"].as_str().unwrap().contains("b + a"), "{found}");
    // Nothing is taken back that was not done before.
    let found = lesson(Heuristic::ErrorRecovery, &[fails, put_back, "$ npm test"]);
    assert!(found["correct_pattern"].as_str().unwrap().contains("a + b"), "{found}");
}

#[test]
fn lines_that_a_terminal_wrapped_are_one_sentence() {
    let failed = "! npm test # AssertionError: the second call of `logout` returns 200";
    let said = "< `logout` returns 200 because the guard keeps the user and that cache\nsurvives within one test. I need to forget the guard between the two\nrequests of the test.";
    solution(
        &[failed, said, "~ tests/auth.test.ts", "$ npm test"],
        "`logout` returns 200 because the guard keeps the user and that cache survives within one test. Forget the guard between the \
         two requests of the test. To do so, change auth.test.ts; then `npm test` passes.",
    );
}

#[test]
fn a_report_after_the_success_is_no_diagnosis() {
    let failed =
        "! alembic upgrade head # sqlalchemy.exc.ProgrammingError: foreign key tags_task_id cannot be implemented";
    let report = "< **Problem:** Migration 001 created Integer ids, and `tags_task_id` is a UUID.\n\n**Solution:** Updated `001_tables.py`.";
    none(&[failed, "~ alembic/001_tables.py", "$ alembic upgrade head", report]);
}
