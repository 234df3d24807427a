//! What git reads from others.

use super::*;

#[test]
fn a_branch_is_own_where_the_session_made_it_from_its_own_work() {
    let check = |commands: &[&str], expected: Option<usize>| {
        let turn = |command: &&str| {
            let input = json!({ "command": command });
            Turn::ToolCall(ToolCall { tool: "Bash".into(), input, result: None, status: Status::Succeeded })
        };
        let turns = commands.iter().map(turn).collect();
        let transcript = Transcript { project: "/home/me/project".into(), turns, ..Transcript::default() };
        assert_eq!(first_untrusted(&transcript, &CaptureConfig::default()), expected, "{commands:?}");
    };
    check(&["git checkout -b fix", "git checkout main", "git switch fix", "git diff main fix"], None);
    check(&["git branch fix HEAD~1", "git checkout fix"], None);
    check(&["git checkout main", "git switch fix"], Some(1));
    check(&["git branch fix somebody", "git switch fix"], Some(1));
}

#[test]
fn refs_of_git_that_are_not_understood_are_foreign() {
    for foreign in [
        "...PR",
        "..PR",
        "main...PR",
        "main..PR",
        "PR...",
        "PR..main",
        "^main PR",
        "PR^",
        "PR~2",
        "PR^{tree}",
        "PR:README.md",
        "main:a.md PR:a.md",
        ":/text",
        "main^{/text}",
        "main^2",
        "HEAD@{1}",
        "HEAD@{1}..HEAD",
        "main@{yesterday}",
        "@{-1}",
        "@{push}",
        ":1:README.md",
        ":3:src/a.rs",
        "HEAD:node_modules/a.js",
        "HEAD:../a",
        "main...PR -- src",
        "--stat ...PR",
        "stash^3",
    ] {
        for branch in ["pr", "pr/4", "docs/typo", "release-1.x", "dependabot/npm/a-1.2.3", "test/flaky"] {
            check_command(&format!("git diff {}", foreign.replace("PR", branch)), true);
        }
    }
    for own in [
        "...main",
        "main...",
        "main..HEAD",
        "HEAD~2..HEAD",
        "@",
        "HEAD^",
        "HEAD^^",
        "HEAD~3^",
        "main^{tree}",
        "HEAD:README.md",
        ":src/a.rs",
        ":0",
        "HEAD^!",
        "^main HEAD",
        "notes/guide.md",
        "src/capture",
        "README.md",
        ".gitignore",
        "docs/",
        "4851915^..4851915",
        "HEAD ':!Cargo.lock'",
        "tests/it/red/shown.rs",
        "crates/cli/tests",
    ] {
        check_command(&format!("git diff {own}"), false);
    }
    for (command, expected) in [
        ("git commit -C pr", true),
        ("git commit --fixup=pr", true),
        ("git commit --fixup HEAD~1", false),
        ("git worktree add wt/pr", true),
        ("git worktree add wt/main", false),
        ("git worktree add -b mine wt", false),
    ] {
        check_command(command, expected);
    }
}
