use proptest::prelude::*;

use super::*;

fn check(command: &str, topic: &str, form: &str) {
    let line = CommandLine::parse(command);
    assert_eq!((line.topic().as_str(), line.normal_form().as_str()), (topic, form), "{command}");
}

#[test]
fn commands_have_a_topic_and_a_normal_form() {
    for (command, topic, form) in [
        ("", "unknown", ""),
        ("   \n", "unknown", ""),
        ("# only a comment", "unknown", ""),
        ("FOO=bar", "unknown", ""),
        ("go test ./pkg/auth/...", "go", "go test"),
        ("go test -v -count=1 ./...", "go", "go test"),
        ("go mod tidy", "go", "go mod tidy"),
        ("go vet ./...", "go", "go vet"),
        ("docker build -t myapp:v1 .", "docker", "docker build"),
        ("docker compose -f prod.yml up -d", "docker", "docker compose up"),
        ("docker compose down", "docker", "docker compose down"),
        ("docker exec -it web ls", "docker", "docker exec"),
        ("curl -H \"Auth: xxx\" https://example.com/x", "curl", "curl <url>"),
        ("curl \"http://localhost:8080/health?x=1\"", "curl", "curl <url>"),
        ("curl --version", "curl", "curl"),
        ("git clone git+ssh://host/x.git", "git", "git clone <url>"),
        ("git commit -m 'fix: no more && in text'", "git", "git commit"),
        ("git -C /srv/x status", "git", "git status"),
        ("git -c user.name=x commit", "git", "git commit"),
        ("git stash pop", "git", "git stash pop"),
        ("git checkout main", "git", "git checkout"),
        ("cargo test --lib parse", "cargo", "cargo test"),
        ("cargo +nightly build --release", "cargo", "cargo build"),
        ("npm install express@4.18.2", "npm", "npm install"),
        ("npm run build -- --watch", "npm", "npm run build"),
        ("npm run test", "npm", "npm run test"),
        ("npm --prefix web test", "npm", "npm test"),
        ("pip install request", "pip", "pip install"),
        ("pip3 install 'requests>=2'", "pip3", "pip install"),
        ("kubectl -n prod get pods", "kubectl", "kubectl get pods"),
        ("kubectl delete pod web-7f", "kubectl", "kubectl delete pod"),
        ("kubectl apply -f k8s/app.yaml", "kubectl", "kubectl apply"),
        ("python -m pytest tests/test_x.py", "python", "python -m pytest"),
        ("python3 -m pip install x", "python3", "python -m pip install"),
        ("python3.11 scripts/eval.py --n 5", "python3.11", "python eval.py"),
        ("python -c 'print(1)'", "python", "python -c"),
        ("make -j8 -C build test", "make", "make test"),
        ("make", "make", "make"),
        ("MIX_ENV=test mix ecto.migrate", "mix", "mix ecto.migrate"),
        ("./scripts/build.sh --fast", "build.sh", "build.sh"),
        ("/usr/local/bin/node server.js", "node", "node server.js"),
        ("ls -la /tmp/x", "ls", "ls"),
        ("grep -rn needle src", "grep", "grep"),
        ("'quoted' command", "quoted", "quoted command"),
        ("terraform plan -out=x", "terraform", "terraform plan"),
        ("frobnicate deploy now", "frobnicate", "frobnicate deploy"),
        ("cd /srv && FOO=\"a b\" sudo -u www env -i X=1 time npm test 2>&1 | tail -20", "npm", "npm test"),
        ("cd /srv/app", "cd", "cd"),
        ("echo hi", "echo", "echo"),
        ("echo start; go build ./... && go test ./...", "go", "go build && go test"),
        ("timeout -k 5 60 go test ./...", "go", "go test"),
        ("bash -lc 'cd x && cargo clippy --all'", "cargo", "cargo clippy"),
        ("bash script.sh", "bash", "bash script.sh"),
        ("find . -name '*.rs' | xargs wc -l", "find", "find && wc"),
        ("echo \"$TOKEN\" | docker login -u me --password-stdin", "docker", "docker login"),
        ("cat > x.txt <<'EOF'\nrm -rf / && git push\nEOF", "cat", "cat"),
        ("for f in *.go; do gofmt -l $f; done", "gofmt", "gofmt"),
        ("if [ -f x ]; then make install; fi", "make", "make install"),
        ("git add -A &&\n  git commit -m x &&\n  git push", "git", "git add && git commit && git push"),
        ("(cd sub && yarn lint) || true", "yarn", "yarn lint"),
        ("time make", "make", "make"),
    ] {
        check(command, topic, form);
    }
}

#[test]
fn malformed_lines_have_a_topic() {
    for (command, topic) in [
        ("git commit -m \"oops", "git"),
        ("cd x && go test $(", "go"),
        ("for f in; do", "for"),
        ("ls | | wc", "ls"),
        (")", ")"),
    ] {
        assert_eq!(CommandLine::parse(command).topic(), topic, "{command}");
    }
    let deep = format!("{}echo{}", "$(".repeat(3_000), ")".repeat(3_000));
    assert_eq!(CommandLine::parse(&format!("go test {deep}")).topic(), "go");
}

#[test]
fn slugs_are_names() {
    assert_eq!(CommandLine::parse("go test ./...").slug(), "go-test");
    assert_eq!(CommandLine::parse("curl https://x.y").slug(), "curl-url");
    assert_eq!(CommandLine::parse("go build && go test").slug(), "go-build-go-test");
    assert_eq!(slug("  --Äpfel & Birnen--  "), "äpfel-birnen");
    assert_eq!(slug("../.."), "unknown");
    assert_eq!(slug(&"ab ".repeat(40)).len(), 59);
}

#[test]
fn word_changes_show_what_to_type() {
    let changes = |before: &str, after: &str| -> Vec<String> {
        CommandLine::parse(before).word_changes(&CommandLine::parse(after)).iter().map(ToString::to_string).collect()
    };
    assert_eq!(changes("pip install request", "pip install requests"), ["request → requests"]);
    assert_eq!(changes("rm x", "sudo rm -r x"), ["+ sudo", "+ -r"]);
    assert_eq!(changes("ls -A x", "ls x"), ["− -A"]);
    assert_eq!(changes("git commit -m 'a b'", "git commit -m \"a c\""), ["'a b' → 'a c'"]);
    assert!(changes("a  b", "a b ").is_empty());
}

#[test]
fn what_sets_the_scene() {
    for (line, expected) in [
        ("cd web", true),
        ("export PORT=1 && cd web", true),
        (". .venv/bin/activate", true),
        ("cd web && ls", false),
        ("echo $PORT", false),
        ("", false),
    ] {
        assert_eq!(CommandLine::parse(line).sets_the_scene(), expected, "{line}");
    }
}

#[test]
fn relations() {
    for (failed, later, expected) in [
        ("go test ./...", "go  test ./...", Some(Relation::Rerun)),
        ("go test ./...", "cd sub && go test ./... 2>&1 | tail -3", Some(Relation::Prepared)),
        ("touch a/b", "mkdir -p a && touch a/b", Some(Relation::Prepared)),
        ("apt-get install vim", "sudo apt-get install vim", Some(Relation::Prepared)),
        ("pip install request", "pip install requests", Some(Relation::SameAction)),
        ("git push", "git push -u origin main", Some(Relation::SameAction)),
        ("bin/rails db:migrate", "bin/rails db:drop db:create db:migrate", Some(Relation::SameAction)),
        ("make test", "make clean test", Some(Relation::SameAction)),
        ("php artisan migrate", "php artisan migrate --force", Some(Relation::SameAction)),
        ("php artisan migrate", "php artisan serve", Some(Relation::SameProgram)),
        ("gti status", "git status", Some(Relation::Respelled)),
        ("git brnch -a", "git branch -a", Some(Relation::Respelled)),
        ("apt-get search foo", "apt-cache search foo", Some(Relation::Respelled)),
        ("cd..", "cd ..", Some(Relation::Respelled)),
        ("https://x.y/z.git", "git clone https://x.y/z.git", Some(Relation::Prepared)),
        ("$ make all", "make all", Some(Relation::Respelled)),
        ("pytest", "python3 -m pytest", Some(Relation::Respelled)),
        ("npx vite build", "pnpm exec vite build", Some(Relation::Respelled)),
        ("npm run build", "yarn build", Some(Relation::Respelled)),
        ("eslint", "npx --yes eslint", Some(Relation::Respelled)),
        ("./tools/seed.sh -f", "bash tools/seed.sh -f", Some(Relation::Respelled)),
        ("python load.py", "uv run load.py", Some(Relation::Respelled)),
        ("powershell -Command Get-Item", "pwsh -Command Get-Item", Some(Relation::Respelled)),
        ("npm run build", "npm install", Some(Relation::SameProgram)),
        ("pytest", "python3 -m mypy", None),
        ("npm install", "yarn install", None),
        ("bash seed.sh", "bash -c date", None),
        ("make", "git commit -m make", None),
        ("git push", "git status", Some(Relation::SameProgram)),
        ("git push", "ls", None),
        ("cargo build", "go build", None),
        ("cd x && make", "cd x && ls", None),
        ("", "ls", None),
        ("ls", "", None),
    ] {
        assert_eq!(CommandLine::parse(failed).relation_to(&CommandLine::parse(later)), expected, "{failed} / {later}");
    }
}

proptest! {
    #[test]
    fn nothing_panics(text in r#"([a-z./ =-]|\$\(|<\(|`|"|'|\\|<<E|\n|\{|\}|\[\[|\]\]|\(|\)|&&|\|\||\||;|case |esac|if |fi|for |do |done|#|é|>){0,60}"#, other in ".{0,40}") {
        let (line, other) = (CommandLine::parse(&text), CommandLine::parse(&other));
        prop_assert!(!line.topic().is_empty());
        prop_assert!(line.slug().chars().count() <= 60);
        let _ = (line.relation_to(&other), other.word_changes(&line), line.effect(), line.plain_text());
        prop_assert!(line.steps(&ChangedFiles::default()).iter().all(|step| !step.text().is_empty() && !step.text().contains('\n')));
    }

    #[test]
    fn a_line_is_related_to_itself(text in "[a-z]{1,8}( [a-z./-]{1,8}){0,4}") {
        prop_assert_eq!(CommandLine::parse(&text).relation_to(&CommandLine::parse(&text)), Some(Relation::Rerun));
    }
}

#[test]
fn steps_are_what_can_be_run_again() {
    for (line, expected) in [
        ("go build ./... 2>&1 | tail -3 && echo built", &["go build ./..."][..]),
        ("cd web\nnpm run build\nnpm test | head", &["npm run build", "npm test"]),
        ("sudo apt-get install vim", &["sudo apt-get install vim"]),
        ("CI=1 npm test", &["CI=1 npm test"]),
        ("git commit -m \"the whole of\nthe message\"", &["git commit -m \"<text>\""]),
        ("issue close a-1 --reason=\"all done\"", &["issue close a-1 --reason=\"<text>\""]),
        // Commands without effect, preparation and output.
        ("ls; git status; git remote -v; pods list", &[]),
        // In a loop, after a pipe or an "or", in the background, with a here-document, a call of a function, with a variable.
        ("for f in a b; do make $f; done", &[]),
        ("cat x | load", &[]),
        ("make || make again", &["make"]),
        ("serve & ", &[]),
        ("load <<'EOF'\ntext\nEOF", &[]),
        ("show() { cat $1; }; show x", &[]),
        ("F=/x; tool \"$F\"", &[]),
        ("cd $HOME/x && make", &[]),
        // For one object, one test, one occasion.
        ("mkdir -p out && rm -rf old", &[]),
        ("python3 -c 'print(1)'", &[]),
        ("go test -run TestRead ./...", &[]),
        ("make -C /tmp/try", &[]),
    ] {
        let found: Vec<String> =
            CommandLine::parse(line).steps(&ChangedFiles::default()).iter().map(Step::text).collect();
        assert_eq!(found, expected, "{line}");
    }
    let steps = CommandLine::parse("cd web && npm test").steps(&ChangedFiles::default());
    assert_eq!(steps[0].folder.as_deref(), Some("web"));
    let files: ChangedFiles = ["/srv/x/b.go", "/srv/x/in/a.go"].into_iter().collect();
    let step = &CommandLine::parse("gofmt -w x/a.go x/b.go y.go").steps(&files)[0];
    assert_eq!(step.text(), "gofmt -w <changed-files> y.go");
    let step = &CommandLine::parse("go test -v ./x/in/... ./x/... x/in ./y/in").steps(&files)[0];
    assert_eq!(step.text(), "go test -v <changed-folders> ./x/... ./y/in");
    let long = format!("git add {}", "some/folder/a.go ".repeat(20));
    assert_eq!(CommandLine::parse(&long).steps(&ChangedFiles::default()), []);
    assert_eq!(CommandLine::parse(&long).steps(&files)[0].text(), "git add <changed-files>");
}

#[test]
fn plain_lines_are_without_filters() {
    for (line, expected) in [
        ("make all 2>&1 | tail -5; echo \"EXIT=$?\"", "make all"),
        ("cd web && npm test | grep -v ok && npm run lint", "cd web && npm test && npm run lint"),
        // If a part cannot be run on its own, the line is unchanged.
        ("make $X | tail -5", "make $X | tail -5"),
        ("ls | head", "ls | head"),
    ] {
        assert_eq!(CommandLine::parse(line).plain_text(), expected);
    }
}

#[test]
fn commands_have_a_purpose() {
    for (line, expected) in [
        ("go test ./...", Purpose::Checks),
        ("npm run build && npm test", Purpose::Checks),
        ("gofmt -w .", Purpose::Formats),
        ("mkdir out", Purpose::Errand),
        ("python3 -c 'print(1)'", Purpose::Errand),
        ("git push", Purpose::Other),
        ("npm test && git push", Purpose::Other),
        ("php artisan test --filter AuthTest", Purpose::Checks),
        ("python manage.py check", Purpose::Checks),
        ("python train.py test", Purpose::Other),
    ] {
        assert_eq!(CommandLine::parse(line).purpose(), expected, "{line}");
    }
    assert!(CommandLine::parse("git add -A && git commit -m x").commits());
    assert!(CommandLine::parse("issue close a-1").closes() && !CommandLine::parse("closer x").closes());
    assert!(CommandLine::parse("git push && gh pr create").publishes() && !CommandLine::parse("make").publishes());
}

/// The parser recurses: whatever a line nests, it fits the 2 MiB stack of the thread that asks.
#[test]
fn nesting_fits_the_stack() {
    for (opener, closer, count) in [
        ("$(", ")", 40),
        ("<(", ")", 40),
        ("case a in b) ", " ;; esac", 60),
        ("if a; then ", "; fi", 60),
        ("while a; do ", "; done", 60),
        ("( ", " )", 60),
        ("{ ", "; }", 60),
        ("case a in b) x $(", ") ;; esac", 40),
        ("if a; then x $(", "); fi", 40),
        ("{ x <(", "); }", 40),
        ("(", ")", 20_000),
        ("${a:-", "}", 5_000),
    ] {
        let line = format!("git push; {}go test{}", opener.repeat(count), closer.repeat(count));
        assert_eq!(CommandLine::parse(&line).topic(), "git", "{opener}");
    }
}

#[test]
fn what_asks_for_help_or_lists_objects_only_looks() {
    let check = |line: &str, expected: Effect| assert_eq!(CommandLine::parse(line).effect(), expected, "{line}");
    check("gcloud run domain-mappings create --service=web --help", Effect::Looks);
    check("stripe webhook_endpoints list 2>&1 | head -40", Effect::Looks);
    check("aws s3 ls", Effect::Looks);
    check("stripe webhook_endpoints create --url x", Effect::Acts);
    check("psql -h db -f a.sql", Effect::Acts);
    check("rm a list", Effect::Acts);
    check("git add list", Effect::Acts);
}

#[test]
fn a_status_is_hidden_by_what_runs_after_the_command() {
    for (line, hides) in [
        ("make", false),
        ("make;", false),
        ("make && echo done", false),
        ("git commit -m 'fix; done || later'", false),
        ("grep 'a|b' src/lib.rs", false),
        ("grep \"; \" notes.txt", false),
        ("make | tail -5", true),
        ("make || true", true),
        ("make; echo done", true),
        ("cd web && (make; date)", true),
        ("bash -c 'make; echo done'", true),
        ("make 2>&1 |& tee log", true),
        ("echo 'open; make | tail", true),
    ] {
        assert_eq!(CommandLine::parse(line).hides_status(), hides, "{line}");
    }
}
