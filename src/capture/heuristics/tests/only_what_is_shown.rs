//! What a recovery has to show of the failure that it is about.

use super::*;

#[track_caller]
fn none(lines: &[&str]) {
    check(Heuristic::ErrorRecovery, lines, &[]);
}

#[track_caller]
fn found(lines: &[&str]) {
    assert_eq!(names(&sketch(lines), &CaptureConfig::default(), Heuristic::ErrorRecovery).len(), 1, "{lines:?}");
}

#[test]
fn the_error_of_another_failure_in_between_ends_the_first() {
    let failed = "! npx lint . # 0:0 error Parsing error: a.js was not found by the service";
    let said = "< `config` is deprecated in a.js, so the service must use `defineConfig` there.";
    let other = "! npx lint . # a.js\n  5:25  error  `config` is deprecated";
    found(&[failed, said, "~ a.js", "$ npx lint ."]);
    none(&[failed, "~ b.js", other, said, "~ a.js", "$ npx lint ."]);
}

#[test]
fn nothing_is_done_between_cause_and_remedy() {
    let (denied, edit) = ("! ./gen.sh # bash: ./gen.sh: Permission denied", "~ /srv/app/gen.sh");
    let (cause, remedy) = ("`gen.sh` isn't executable.", "`gen.sh` should use the Python of the venv.");
    found(&[denied, &format!("< {cause} {remedy}"), edit, "$ ./gen.sh"]);
    let parts = |between| [denied.to_owned(), format!("< {cause}"), String::from(between), format!("< {remedy}")];
    let lines = |between| parts(between).into_iter().chain([edit.to_owned(), "$ ./gen.sh".to_owned()]);
    let check = |between, n: usize| {
        let lines: Vec<String> = lines(between).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        assert_eq!(names(&sketch(&lines), &CaptureConfig::default(), Heuristic::ErrorRecovery).len(), n, "{between}");
    };
    check("- a", 1);
    check("$ npm ci", 0);
}

#[test]
fn the_words_must_be_about_the_error_or_the_change() {
    let failed = "! npm run pack-theme # error TS2307: no declarations";
    none(&[
        failed,
        "< `pack-theme` needs the docs. They must be in the release.",
        "~ /srv/app/a.ts",
        "$ npm run pack-theme",
    ]);
    none(&[
        failed,
        "< My TS2307 typo: the declarations must be in `types`.",
        "~ /srv/app/a.ts",
        "$ npm run pack-theme",
    ]);
    none(&[
        failed,
        "< The declarations aren't there yet (TS2307). They must be in `types`.",
        "~ /srv/app/a.ts",
        "$ npm run pack-theme",
    ]);
    // What "it" is was not said.
    none(&[
        failed,
        "< The folder may be wrong. It must have the declarations of TS2307 in `types`.",
        "~ /srv/app/a.ts",
        "$ npm run pack-theme",
    ]);
    found(&[
        failed,
        "< The declarations are missing (TS2307). They must be in `types`.",
        "~ /srv/app/a.ts",
        "$ npm run pack-theme",
    ]);
}

#[test]
fn what_is_done_to_this_one_tree_is_no_remedy() {
    let import = "! pytest -q # ImportError: attempted relative import with no known parent package";
    none(&[import, "$ touch tests/__init__.py && pytest -q"]);
    none(&[import, "$ touch tests/__init__.py", "$ pytest -q"]);
    none(&["! node bench.js # Error: Cannot find module 'cache'", "$ ln -s ../modules old && node bench.js"]);
    none(&[
        "! python3 -c 'import db' # No module named 'db'",
        "$ git init -q && pip install db && python3 -c 'import db'",
    ]);
    let transport = "! cd a && git submodule update # fatal: transport 'file' not allowed";
    none(&[transport, "$ for w in a b; do (cd $w && git -c file.allow=always submodule update); done"]);
    found(&[transport, "$ cd a && git -c file.allow=always submodule update"]);
    // The failure names what it is done to.
    found(&["! ./seed.sh -f # bash: ./seed.sh: Permission denied", "$ chmod +x ./seed.sh && ./seed.sh -f"]);
    found(&["! python3 load.py # No module named 'yaml'", "$ pip install pyyaml && python3 load.py"]);
}

#[test]
fn a_command_that_writes_is_not_one_that_reads() {
    none(&["! sed -n s/a/b/p bin/stats # error: bin/stats is broken", "$ sed -i s/a/b/ bin/stats"]);
    none(&["! sed -n 2p bin/stats; make check # error: bin/stats is broken", "$ sed -i 2d bin/run; make check"]);
}

#[test]
fn a_script_that_the_session_wrote_is_on_trial() {
    let said = "< A name can't be written as latin-1. The names must use utf-8.";
    let names_of = |lines: &[&str], file: &str| {
        let mut transcript = sketch(lines);
        let input = json!({ "file_path": file, "content": "print('latin-1')" });
        let status = Status::Succeeded;
        let write = ToolCall { tool: "Write".into(), input, result: Some("File created".into()), status };
        transcript.turns.insert(0, Turn::ToolCall(write));
        names(&transcript, &CaptureConfig::default(), Heuristic::ErrorRecovery).len()
    };
    let script = ["! python3 gen.py # UnicodeEncodeError: latin-1", said, "~ /srv/app/gen.py", "$ python3 gen.py"];
    assert_eq!((names_of(&script, "/srv/app/gen.py"), names_of(&script, "/srv/app/other.py")), (0, 1));
    // Settings too, unless the agent says why.
    let make = ["! make # error: no folder `build`", "~ /srv/app/Makefile: all: => all: | build", "$ make"];
    assert_eq!((names_of(&make, "/srv/app/Makefile"), names_of(&make, "/srv/app/other.mk")), (0, 1));
}

#[test]
fn a_comment_and_a_heading_are_no_errors() {
    for output in
        ["# json.decoder.JSONDecodeError: Invalid escape", "The following tests FAILED:\n  1 - unit (SEGFAULT)"]
    {
        assert_eq!(error_line::error_line(output), None, "{output}");
    }
}
