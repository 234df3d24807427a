//! The same action run in another way: by another program, in another folder, from another path.

use super::*;

#[track_caller]
fn solution(lines: &[&str], expected: &str) {
    assert_eq!(lesson(Heuristic::ErrorRecovery, lines)["correct_pattern"], expected, "{lines:?}");
}

#[test]
fn a_program_is_run_by_another_one() {
    let absent = "! pytest # zsh: command not found: pytest";
    solution(&[absent, "$ python3 -m pytest"], "Run `python3 -m pytest`.");
    let absent = "! npx vite build # sh: vite: command not found";
    solution(&[absent, "$ pnpm exec vite build"], "Run `pnpm exec vite build`.");
    let denied = "! ./seed.sh -f # zsh: permission denied: ./seed.sh";
    solution(&[denied, "$ bash seed.sh -f"], "Run `bash seed.sh -f`.");
    let absent = "! python load.py # ModuleNotFoundError: No module named 'flask'";
    solution(&[absent, "$ uv run load.py"], "Run `uv run load.py`.");
    // Tests that fail are the code's fault, whoever runs them.
    let fails = "! pytest # FAILED tests/test_load.py::test_empty";
    check(Heuristic::ErrorRecovery, &[fails, "$ uv run python -m pytest"], &[]);
}

#[test]
fn a_program_called_by_path_keeps_the_command_before_it() {
    let managed = "! pip install flask # error: externally-managed-environment";
    let lines = [managed, "$ python3 -m venv .venv", "$ .venv/bin/pip install flask"];
    solution(&lines, "First run `python3 -m venv .venv`; then `.venv/bin/pip install flask` passes.");
    solution(&[managed, "$ .venv/bin/pip install flask"], "Run `.venv/bin/pip install flask`.");
}

#[test]
fn a_command_is_run_in_another_folder() {
    let lines = ["! go vet ./... # go: cannot find main module", "$ cd web && go vet ./..."];
    solution(&lines, "Run `cd web && go vet ./...`.");
    let absent = "! npm test # npm error enoent Could not read package.json";
    solution(&[absent, "$ cd web", "$ npm test"], "First run `cd web`; then `npm test` passes.");
    let absent = "! python load.py # ModuleNotFoundError: No module named 'flask'";
    let lines = [absent, "$ source .venv/bin/activate", "$ python load.py"];
    solution(&lines, "First run `source .venv/bin/activate`; then `python load.py` passes.");
    let lines = [absent, "~ pyproject.toml: [] => [\"flask\"]", "$ cd /srv/app", "$ python load.py"];
    solution(&lines, "First replace `[]` by `[\"flask\"]` in pyproject.toml; then `python load.py` passes.");
    // Looking there is not going there.
    check(Heuristic::ErrorRecovery, &[absent, "$ cd web && ls", "$ python load.py"], &[]);
}

#[test]
fn a_parse_error_of_the_shell_blames_the_command() {
    let lines = [
        "! ls web | head -3; echo ===; ls app # index.ts\n(eval):1: == not found",
        "$ ls web; echo \"=== app ===\"; ls app",
    ];
    let found = lesson(Heuristic::ErrorRecovery, &lines);
    assert_eq!(found["trigger"], "`echo ===` fails: (eval):1: == not found");
    assert_eq!(found["correct_pattern"], "Run `echo \"=== app ===\"`.");
}

#[test]
fn a_lesson_shows_only_the_changed_command_of_a_line() {
    let lines = [
        "$ cd /srv/app\n./tool sync web --trace 2>&1 | tail -30 # \n  ERROR\n\n  `Trace` requires a `file` to be specified.\n",
        "$ ./tool sync --help 2>&1 | grep -i trace",
        "$ cd /srv/app\ntime ./tool sync web --trace --file out 2>&1 | grep -iE 'spans|total|slow' | tail -40",
    ];
    let found = lesson(Heuristic::ErrorRecovery, &lines);
    assert_eq!(found["trigger"], "`./tool sync web --trace` fails: `Trace` requires a `file` to be specified.");
    assert_eq!(found["correct_pattern"], "Run `./tool sync web --trace --file out`.");
}

#[test]
fn an_empty_exit_code_is_ignored() {
    let lines = [
        "$ go build -o app ./... 2>&1 | head; echo \"EXIT=${PIPESTATUS[0]}\" # go: cannot write multiple packages to non-directory app\nEXIT=",
        "$ go build -o app . 2>&1 | head; echo \"EXIT=${PIPESTATUS[0]}\" # EXIT=",
    ];
    solution(&lines, "Run `go build -o app .`.");
}

#[test]
fn sudo_is_a_remedy_for_a_denied_read() {
    let denied = "! docker ps # permission denied while trying to connect to the docker socket";
    solution(&[denied, "$ sudo docker ps"], "Run `sudo docker ps`.");
    check(Heuristic::ErrorRecovery, &["! docker ps # error: no daemon", "$ sudo docker ps"], &[]);
}

#[test]
fn a_line_that_leaves_out_what_failed_is_not_a_success() {
    let failed =
        "! curl -s http://localhost:3001/api/state | python3 -m json.tool # Expecting value: line 1 column 1 (char 0)";
    let bare = "$ curl -s http://localhost:3001/api/state # <!DOCTYPE html>";
    check(Heuristic::ErrorRecovery, &[failed, bare], &[]);
    // A form of the command that only shows more is an attempt, not a remedy.
    let lines = [failed, bare, "$ curl -s http://localhost:3001/state | python3 -m json.tool # {}"];
    let solution = lesson(Heuristic::ErrorRecovery, &lines)["correct_pattern"].as_str().unwrap().to_owned();
    assert!(solution.starts_with("Run `curl -s http://localhost:3001/state | python3 -m json.tool`"), "{solution}");
}

#[test]
fn a_command_that_the_record_cut_is_not_shown() {
    check(
        Heuristic::ErrorRecovery,
        &["! docker exec web-1 room s… # error: unknown flag: --x", "$ docker exec web-1 room l…"],
        &[],
    );
}

#[test]
fn a_listing_a_help_text_and_a_refused_call_are_no_remedy() {
    let none = |lines: &[&str]| {
        assert!(names(&sketch(lines), &CaptureConfig::default(), Heuristic::ErrorRecovery).is_empty(), "{lines:?}");
    };
    let unknown = "! stripe trigger paid --endpoint=x # unknown flag: --endpoint";
    none(&[unknown, "$ stripe webhook_endpoints list"]);
    none(&[
        "! gcloud run map create --region=eu # ERROR: unrecognized arguments: --region=eu",
        "$ gcloud run map create --help",
    ]);
    none(&[
        "! cd api && ./gradlew build # no such file or directory: api",
        "$ ./gradlew build # No (tell Claude what to do differently)",
    ]);
}
