//! Recognises command lines that check the work: tests, builds and linters.

/// Prefixes of such command lines, after wrappers are removed.
const CHECKS: [&str; 30] = [
    "cargo test",
    "cargo nextest",
    "cargo check",
    "cargo clippy",
    "cargo build",
    "npm test",
    "npm run test",
    "npm run build",
    "npm run lint",
    "pnpm test",
    "pnpm run test",
    "yarn test",
    "npx jest",
    "npx vitest",
    "npx tsc",
    "pytest",
    "python -m pytest",
    "python3 -m pytest",
    "uv run pytest",
    "go test",
    "go vet",
    "go build",
    "make test",
    "make check",
    "just test",
    "just check",
    "mvn test",
    "gradle test",
    "./gradlew test",
    "ctest",
];

/// Marks by which a line hides the status of its last command, or ends before the command does: pipes, sequences, substitutions.
const HIDING: [&str; 6] = ["|", ";", "\n", "`", "$(", "<("];

/// Redirections that have the mark of a background command in them.
const REDIRECTIONS: [&str; 5] = ["&>>", "&>", ">&", "<&", "&&"];

/// Words in the names of options with which a program says something or plans, and checks nothing.
const NO_RUN: [&str; 14] = [
    "help",
    "version",
    "dry",
    "norun",
    "list",
    "collectonly",
    "explain",
    "plan",
    "fixtures",
    "markers",
    "question",
    "touch",
    "present",
    "showonly",
];

/// Single letters of the same meaning, by program.
const NO_RUN_LETTERS: [(&str, &str); 16] = [
    ("cargo", "hV"),
    ("npm", "hv"),
    ("pnpm", "hv"),
    ("yarn", "h"),
    ("npx", "h"),
    ("pytest", "hV"),
    ("python", "hV"),
    ("python3", "hV"),
    ("uv", "hV"),
    ("go", "hn"),
    ("make", "hinpqtv"),
    ("just", "ehlnsV"),
    ("mvn", "hv"),
    ("gradle", "hmvx"),
    ("./gradlew", "hmvx"),
    ("ctest", "hN"),
];

/// Bare words after a check that make another command of it, or leave nothing to check.
const NO_RUN_WORDS: [&str; 5] = ["help", "list", "version", "^$", "SHELL"];

/// True for a command line whose exit status is that of a check that ran. One that hides the status, such as `… || true`, a pipe or a
/// command in the background, is not; nor is one that only lists, plans or explains.
pub(super) fn is_check(command: &str) -> bool {
    let line = command.replace("\\\n", " ");
    let line = line.trim();
    let last = line.rsplit("&&").next().unwrap_or_default().trim();
    let after = |check: &str| last.strip_prefix(check).filter(|rest| rest.is_empty() || rest.starts_with(' '));
    !hides_its_end(line) && CHECKS.iter().any(|check| after(check).is_some_and(|rest| runs(check, rest)))
}

fn hides_its_end(line: &str) -> bool {
    let without = REDIRECTIONS.iter().fold(line.to_owned(), |line, mark| line.replace(mark, " "));
    HIDING.iter().any(|mark| line.contains(mark)) || line.contains(">(") || without.contains('&')
}

/// True unless an argument of a check says that nothing is run.
fn runs(check: &str, arguments: &str) -> bool {
    let program = check.split(' ').next().unwrap_or_default();
    let letters = NO_RUN_LETTERS.iter().find(|(known, _)| *known == program).map_or("h", |(_, letters)| letters);
    let words = arguments.split_whitespace().map(|word| word.trim_matches(['"', '\'']));
    !words.into_iter().any(|word| is_no_run(program, letters, word))
}

fn is_no_run(program: &str, letters: &str, word: &str) -> bool {
    let name = word.trim_start_matches('-').split('=').next().unwrap_or_default();
    let n_dashes = word.len() - word.trim_start_matches('-').len();
    // Maven's and Gradle's `-DskipTests` sets `skipTests`.
    let words = words_of(name.strip_prefix('D').filter(|rest| n_dashes == 1 && !rest.is_empty()).unwrap_or(name));
    let is = |word: &str| words.iter().any(|known| known == word);
    let is_pair = |pair: &[String]| NO_RUN.contains(&pair.concat().as_str());
    let is_named = || NO_RUN.iter().any(|word| is(word)) || words.windows(2).any(is_pair) || words == ["co"];
    let skips_tests = || (is("skip") && (is("test") || is("tests"))) || is("skiptests");
    match n_dashes {
        0 => NO_RUN_WORDS.contains(&name) || (program == "make" && name == "MAKEFLAGS"),
        // Letters of `make` can be joined: `-kn`.
        1 if program == "make" => name.chars().any(|letter| letters.contains(letter)),
        1 if name.chars().count() == 1 => name.chars().all(|letter| letters.contains(letter)),
        _ => is_named() || skips_tests(),
    }
}

/// The words of an option's name, in lower case: `listenAddress` and `listen-address` have two.
fn words_of(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for letter in name.chars() {
        if !letter.is_ascii_alphanumeric() || (was_lower && letter.is_ascii_uppercase()) {
            words.push(String::new());
        }
        was_lower = letter.is_ascii_lowercase();
        if let Some(word) = words.last_mut().filter(|_| letter.is_ascii_alphanumeric()) {
            word.push(letter.to_ascii_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_is_the_last_command_and_its_status_is_not_hidden() {
        for command in [
            "cargo test",
            "cargo test -p x --release -- --nocapture",
            "cd a && cargo test",
            "cargo test > log.txt 2>&1",
            "cargo test &> log.txt",
            "cargo build --verbose \\\n  --release",
            "pytest -q -n 4 -m slow -k 'not net' -v",
            "npm test -- --coverage",
            "go test -run TestPush ./...",
            "make check -j4",
            "ctest -V -j 2",
            "mvn test -Dtest=PushTest",
            "npm test -- --listenAddress 127.0.0.1",
            "npm test -- --planets --versioned",
        ] {
            assert!(is_check(command), "{command}");
        }
        for command in [
            "cargo test || true",
            "cargo test | tail",
            "cargo tests",
            "ls",
            "cargo test && rm x",
            "cargo test &",
            "cargo test & wait",
            "cargo test & sleep 9",
            "cargo test & disown",
            "nohup true& cargo test",
            "cargo test -q\nrm x",
            "cargo test > >(tail -3)",
            "cargo test -p $(false)",
            "echo pytest",
            "",
        ] {
            assert!(!is_check(command), "{command}");
        }
    }

    #[test]
    fn what_only_lists_plans_or_explains_is_no_check() {
        for command in [
            "cargo test --help",
            "cargo check -V",
            "cargo build --version",
            "cargo test --no-run --workspace",
            "cargo test -- --list",
            "cargo nextest list",
            "cargo clippy --explain lint",
            "pytest --collect-only -q",
            "pytest --co",
            "pytest --fixtures",
            "python -m pytest -h",
            "npm test --dry-run",
            "npm test -- --listTests",
            "npx vitest list",
            "go test -list . ./...",
            "go test -run '^$' ./...",
            "go vet -n",
            "make check -n",
            "make check -kn",
            "make test --question",
            "make check SHELL=/bin/true",
            "just test --dry-run",
            "mvn test -DskipTests",
            "mvn test -Dmaven.test.skip=true",
            "gradle test -m",
            "./gradlew test -x test",
            "ctest -N",
            "ctest --show-only",
        ] {
            assert!(!is_check(command), "{command}");
        }
    }
}
