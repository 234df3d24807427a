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

/// True for a command line whose exit status is that of a check. One that hides the status, such as `… || true` or a pipe, is
/// not.
pub(super) fn is_check(command: &str) -> bool {
    let hides_its_end =
        ["|", ";", "&\n"].iter().any(|mark| command.contains(mark)) || command.trim_end().ends_with('&');
    let last = command.rsplit("&&").next().unwrap_or_default().trim();
    let is_one = |check: &&str| last.strip_prefix(*check).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
    !hides_its_end && CHECKS.iter().any(is_one)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_is_the_last_command_and_its_status_is_not_hidden() {
        for command in ["cargo test", "cargo test -p x", "cd a && cargo test", "pytest -q", "make check"] {
            assert!(is_check(command), "{command}");
        }
        for command in [
            "cargo test || true",
            "cargo test | tail",
            "cargo tests",
            "ls",
            "cargo test && rm x",
            "cargo test &",
            "echo pytest",
            "",
        ] {
            assert!(!is_check(command), "{command}");
        }
    }
}
