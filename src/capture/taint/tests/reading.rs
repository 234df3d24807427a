//! What programs that read are given.

use super::*;

#[test]
fn folders_of_others_are_foreign_for_every_program_that_reads() {
    let folders = [
        "node_modules",
        ".git",
        "vendor",
        "dist",
        "build",
        "out",
        "obj",
        "coverage",
        ".next",
        ".terraform",
        "sub/build",
    ];
    for folder in folders {
        for reader in [
            "ls F",
            "cat F/a",
            "head -5 F/a",
            "rg x F",
            "rg -n -C 3 x F",
            "rg -e x F",
            "grep -r x F",
            "grep -rn --include '*.md' x F",
            "find F -name a",
            "fd x F",
            "tree F",
            "wc -l F/a",
            "sed -n 1p F/a",
            "jq . F/a.json",
            "sort F/a",
            "cd F && cat a",
            "diff F/a a",
            "cat < F/a",
            "F=F/a; cat $F",
            "for f in F/*; do cat $f; done",
            "ag x F",
        ] {
            check_command(
                &reader
                    .replace("F ", &format!("{folder} "))
                    .replace("F/", &format!("{folder}/"))
                    .replace(" F", &format!(" {folder}")),
                true,
            );
        }
    }
    for own in [
        "rg node_modules src",
        "rg -n build src",
        "grep -rn vendor src",
        "grep -n 'out' a.rs",
        "rg -t rust target src",
        "rg -C 3 build",
        "fd build",
        "find . -name node_modules -prune -o -name '*.rs'",
        "tree -I node_modules",
        "rg x -g '!dist'",
        "rm -rf build",
        "rm -rf build/x",
        "mkdir -p out/a",
        "cmake --build build",
        "cmake -S . -B build/debug",
        "make -C build/",
        "cat src/build/mod.rs",
        "cat crates/a/src/out/b.rs",
        "echo build",
        "test -d dist",
        "ls -I dist",
    ] {
        check_command(own, false);
    }
    let input = |key: &str, path: &str| json!({ key: path });
    for (tool, key, path, expected) in [
        ("Read", "file_path", "/home/me/project/build/a.txt", true),
        ("Read", "file_path", "/home/me/project/src/build/a.rs", false),
        ("Grep", "path", "/home/me/project/out/a", true),
    ] {
        let call = ToolCall { tool: tool.into(), input: input(key, path), result: None, status: Status::Unknown };
        let found = is_untrusted(&call, "/home/me/project", &Branches::default(), &CaptureConfig::default());
        assert_eq!(found, expected, "{path}");
    }
}

#[test]
fn names_of_files_from_files_and_searches_without_ignore_rules_are_foreign() {
    for foreign in [
        "rg -u x",
        "rg -uu x",
        "rg -uuu x",
        "rg -nu x src",
        "rg --no-ignore x",
        "rg --no-ignore-vcs x",
        "rg --unrestricted x",
        "rg --hidden x",
        "rg -. x",
        "fd -I x",
        "fd -H x",
        "fd -u",
        "fd --no-ignore x",
        "ag -U x",
        "ag -u x",
        "ag --skip-vcs-ignores x",
        "ls; rg -uu x",
        "xargs cat < l",
        "xargs -a l cat",
        "xargs --arg-file=l cat",
        "cat l | xargs cat",
        "sort l | xargs -n1 head",
        "xargs cat",
        "find . -name a | xargs cat",
        "cat \"${PWD%/*}\"/x",
        "cat $(dirname $PWD)/x",
        "cat $(cat l)",
        "cat \"$(cat l)\"",
        "wc -l a; head `cat l`",
        "cat $(find . -name '*.md')",
        "jq -n input",
        "jq -n '[inputs]'",
        "jq .",
        "grep x",
        "sed s/a/b/",
        "awk '{print}'",
        "cat a - b",
        "unzip -p x.zip",
        "tar xOf x.tar",
        "tar -xO -f x.tar",
        "gunzip -c a.gz",
    ] {
        check_command(foreign, true);
    }
    for own in [
        "rg --hidden -g '!.git' x",
        "rg -t ruby x",
        "rg -n x src",
        "rg -l x | xargs sed -n 1p",
        "find src -name '*.rs' | xargs wc -l",
        "git ls-files | xargs wc -l",
        "git ls-files '*.rs' | sort | xargs head -3",
        "cat $(git ls-files '*.toml')",
        "wc -l $(git diff --name-only)",
        "fd -e rs | xargs cat",
        "jq -n '{a: 1}'",
        "jq . a.json",
        "cat a | jq .",
        "ls | grep x",
        "echo \"$(cat a)\"",
        "grep x a",
        "sed -n 1,5p a",
        "awk 'BEGIN{print 1}'",
        "tar xf a.tar",
        "unzip a.zip",
        "tail -n \"$(wc -l < a)\" a",
    ] {
        check_command(own, false);
    }
}
