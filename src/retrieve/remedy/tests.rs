//! Command lines before which a recovery comes back, and near ones before which it does not.

use adage_transcript::CommandLine;

use super::Remedy;
use crate::lesson::{Lesson, Origin};
use crate::retrieve::work_tree::{Upstream, WorkTree};

/// A mined recovery, as `error_recovery` words it.
fn recovery(before: &str, after: &str, error: &str, patterns: &[&str]) -> Lesson {
    let mut lesson = crate::testing::lesson(&format!("`{before}` fails: {error}"), &format!("Run `{after}`."));
    lesson.mistake = format!("`{before}`");
    lesson.code_example = format!("| before | after |\n|---|---|\n| `{before}` | `{after}` |\n\n{error}");
    lesson.commands = patterns.iter().map(|pattern| (*pattern).to_owned()).collect();
    lesson.provenance.origin = Origin::Mined;
    lesson
}

/// A mined recovery by a step that has to come first.
fn prepared(first: &str, then: &str, pattern: &str) -> Lesson {
    let mut lesson = recovery(then, then, "exit status 1", &[pattern]);
    lesson.solution = format!("First run {first}; then `{then}` passes.");
    lesson.correct_pattern.clone_from(&lesson.solution);
    lesson.code_example.clear();
    lesson
}

#[track_caller]
fn check(lesson: &Lesson, needed: &[&str], others: &[&str]) {
    let remedy = Remedy::of(lesson).expect("the lesson says what was run and what helped");
    let is_needed = |line: &str| remedy.is_needed_at(&CommandLine::parse(line), lesson, None);
    for line in needed {
        assert!(is_needed(line), "{}: {line} is not one", lesson.mistake);
    }
    for line in others {
        assert!(!is_needed(line), "{}: {line} is one", lesson.mistake);
    }
}

#[test]
fn a_program_called_by_its_path_needs_no_path() {
    let lesson = recovery("python3", "/usr/bin/python3", "command not found: python3", &["python3*"]);
    let needed =
        ["python3 x.py", "cd a && python3 -m json.tool b", "cat a | python3 -c 'print(1)'", "sudo python3 x.py"];
    let others =
        ["/usr/bin/python3 x.py", "cd a && /usr/bin/python3 x.py", ".venv/bin/python3 -m pytest", "grep -rn python3 ."];
    check(&lesson, &needed, &others);
    let needed = ["source ./env.sh && python3 x.py", "conda list && python3 x.py"];
    let others = [
        "source .venv/bin/activate && python3 x.py",
        ". venv/bin/activate; python3 -m pytest",
        "conda activate plots && python3 plot.py",
    ];
    check(&lesson, &needed, &others);
    let lesson = recovery("psql -l", "/opt/homebrew/bin/psql -l", "command not found: psql", &["psql*"]);
    check(&lesson, &["psql shop", "psql -c 'select 1'"], &["/opt/homebrew/bin/psql shop", "/usr/local/bin/psql -l"]);
}

#[test]
fn a_flag_that_the_call_has_need_not_be_added() {
    let lesson = recovery("npm install", "npm install --legacy-peer-deps", "npm ERR! code ERESOLVE", &["npm install*"]);
    check(
        &lesson,
        &["npm install", "npm install react"],
        &["npm install react --legacy-peer-deps", "cd w && npm install --legacy-peer-deps"],
    );
    let lesson = recovery(
        "pip install flask",
        "pip install --break-system-packages flask",
        "error: externally-managed-environment",
        &["pip install*"],
    );
    check(
        &lesson,
        &["pip install requests", "pip install -r r.txt"],
        &["pip install --break-system-packages requests", ".venv/bin/pip install -q --break-system-packages x"],
    );
    let lesson = recovery(
        "kubectl get pods",
        "kubectl get pods -n staging",
        "No resources found in default",
        &["kubectl get pods*"],
    );
    check(
        &lesson,
        &["kubectl get pods", "kubectl get pods -o wide", "kubectl get pods --no-headers"],
        &["kubectl get pods -n prod", "kubectl get pods --namespace prod", "kubectl get pods --namespace=prod"],
    );
    let lesson = recovery(
        "terraform plan",
        "terraform plan -var-file=prod.tfvars",
        "No value for required variable",
        &["terraform plan*"],
    );
    check(&lesson, &["terraform plan", "terraform plan -out=p"], &["terraform plan -var-file=dev.tfvars"]);
    let lesson =
        recovery("psql shop", "psql -h localhost -U app shop", "connection to server on socket failed", &["psql*"]);
    check(
        &lesson,
        &["psql shop -c 'select 1'", "psql -U app shop"],
        &["psql -h db -U app shop", "psql --host=db --username=app shop"],
    );
    let lesson = recovery("sed -i s/a/b/ x", "sed -i '' s/a/b/ x", "sed: 1: extra characters", &["sed* -i*"]);
    check(&lesson, &["sed -i s/x/y/ z", "sed -i 's/x/y/' z"], &["sed -i '' s/x/y/ z"]);
    let lesson =
        recovery("docker build .", "docker build --platform linux/amd64 .", "exec format error", &["docker build*"]);
    check(
        &lesson,
        &["docker build .", "docker build -t x ."],
        &["docker build --platform=linux/arm64 .", "docker build -t x --platform linux/amd64 ."],
    );
}

#[test]
fn a_variable_or_folder_that_the_line_sets_need_not_be_set() {
    let lesson = recovery("mix test", "MIX_ENV=test mix test", "the database does not exist", &["mix test*"]);
    check(
        &lesson,
        &["mix test", "cd a && mix test b"],
        &["MIX_ENV=test mix test b", "export MIX_ENV=test && mix test"],
    );
    let lesson = recovery("npm test", "cd web && npm test", "npm ERR! Missing script: \"test\"", &["npm test*"]);
    check(
        &lesson,
        &["npm test", "cd /srv/shop && npm test"],
        &["cd web && npm test", "cd /srv/shop/web && npm test -- a"],
    );
    let lesson = recovery("make migrate", "source .env && make migrate", "DB_URL is not set", &["make migrate*"]);
    check(&lesson, &["make migrate"], &["source .env && make migrate"]);
}

#[test]
fn a_call_with_operands_is_not_the_bare_one() {
    let error = "fatal: The current branch a has no upstream branch.";
    let lesson = recovery("git push", "git push --set-upstream origin <branch>", error, &["git push*"]);
    let needed = ["git push", "git add -A && git commit -m x && git push", "git push -q", "git fetch && git push"];
    let others = [
        "git push origin v0.4.0",
        "git push origin --delete b",
        "git push --delete origin b",
        "git push -u origin b",
        "git push --set-upstream origin b",
        "git push origin HEAD",
        "git push --tags",
        "git -C web push origin main",
        "git push origin main && git push origin v2",
    ];
    check(&lesson, &needed, &others);
    let lesson =
        recovery("docker build", "docker build .", "\"docker build\" requires exactly 1 argument", &["docker build*"]);
    check(
        &lesson,
        &["docker build", "docker build -t x"],
        &["docker build .", "docker build -t x .", "docker build web"],
    );
    let lesson = recovery("git pull", "git pull origin main", "There is no tracking information", &["git pull*"]);
    check(&lesson, &["git pull", "git pull --rebase"], &["git pull origin dev", "git pull --ff-only origin main"]);
    let lesson = recovery("kubectl logs", "kubectl logs <pod>", "error: expected POD", &["kubectl logs*"]);
    check(&lesson, &["kubectl logs", "kubectl logs -f"], &["kubectl logs web-1", "kubectl logs -n x web-1"]);
    let lesson = recovery(
        "terraform import",
        "terraform import aws_s3_bucket.a b",
        "expects two arguments",
        &["terraform import*"],
    );
    check(&lesson, &["terraform import"], &["terraform import aws_instance.x i-1"]);
}

#[test]
fn a_line_that_runs_the_first_step_needs_not_be_told() {
    check(
        &prepared("`mix format`", "git add -A && git commit -m \"<text>\"", "git commit*"),
        &["git add -A && git commit -m x", "git commit -m 'mix format'", "git commit -am x && mix format"],
        &["mix format && git add -A && git commit -m x", "mix format lib/a.ex && git commit -am x"],
    );
    check(
        &prepared("`gofmt -w <file>`", "golangci-lint run", "golangci-lint run*"),
        &["golangci-lint run", "go test ./... && golangci-lint run"],
        &["gofmt -w . && golangci-lint run", "gofmt -w a.go; golangci-lint run ./..."],
    );
    check(
        &prepared("`npm ci` and `npm run build`", "npm test", "npm test*"),
        &["npm test", "npm ci && npm test"],
        &["npm ci && npm run build && npm test"],
    );
    check(
        &prepared("`docker compose up -d db`", "cargo test", "cargo test*"),
        &["cargo test", "cargo test --lib"],
        &["docker compose up -d db && cargo test"],
    );
    check(
        &prepared("`terraform init`", "terraform plan", "terraform plan*"),
        &["terraform plan -out x"],
        &["terraform init -upgrade && terraform plan"],
    );
}

#[test]
fn what_was_wrong_together_has_to_be_together() {
    let error = "go: cannot write multiple packages to non-directory specstory";
    let (before, dropped, narrowed) = ("go build -o specstory ./...", "go build ./...", "go build -o specstory .");
    let needed = [
        "go build -o specstory ./...",
        "cd a && go build -o specstory ./... && ./specstory check",
        "go build -o app ./...",
    ];
    let others = [
        "go build -o /tmp/x .",
        "go build -o specstory .",
        "go build ./...",
        "go build ./pkg/spi/...",
        "go build -o bin/ ./...",
        "go build -o x . && go vet ./...",
        "go vet ./...",
    ];
    check(&recovery(before, dropped, error, &["go build* -o*"]), &needed, &others);
    check(&recovery(before, dropped, error, &["go build* -o*"]), &["go build -o app ./cmd/..."], &[]);
    check(&recovery(before, narrowed, error, &["go build* ./...*"]), &needed, &others);

    let error = "error: the argument '--lib' cannot be used with '--test <NAME>'";
    let lesson = recovery("cargo test --lib --test api", "cargo test --test api", error, &["cargo test* --lib*"]);
    check(
        &lesson,
        &["cargo test --lib --test db", "cargo test --test=db --lib"],
        &["cargo test --lib", "cargo test --test db"],
    );

    let error = "error: setting 'all' cannot be combined with a pod name: -l given";
    let lesson = recovery(
        "kubectl delete pod web-1 -l app=web",
        "kubectl delete pod web-1",
        error,
        &["kubectl delete pod* -l*"],
    );
    check(&lesson, &["kubectl delete pod x -l app=y"], &["kubectl delete pod x"]);

    let error = "error: no library targets found in package `shop-cli`";
    let lesson = recovery("cargo test -p shop-cli --lib", "cargo test -p shop-cli", error, &["cargo test* --lib*"]);
    check(
        &lesson,
        &["cargo test -p shop-cli --lib", "cargo test --lib -p shop-cli parse"],
        &["cargo test --lib", "cargo test -p shop-cli"],
    );

    let error = "cp: target 'out' is not a directory";
    let lesson = recovery("cp src/*.js out", "mkdir -p out && cp src/*.js out", error, &["cp*"]);
    check(&lesson, &["cp src/*.js out"], &["mkdir -p out && cp src/*.js out"]);
}

#[test]
fn what_is_wrong_by_itself_needs_nothing_else() {
    for (before, after, error, pattern, needed, others) in [
        (
            "cat -A",
            "cat -t -e",
            "cat: illegal option -- A",
            "cat* -A*",
            ["cat -A \"$(ls -t | head -1)\" | sed -n 1p", "sed -n 1,20p a.md | cat -A"],
            "cat a -t -e",
        ),
        (
            "docker run -it --rm app",
            "docker run --rm app",
            "the input device is not a TTY",
            "docker run* -it*",
            ["docker run -it postgres psql", "docker run --rm -it x sh"],
            "docker run --rm x",
        ),
        (
            "npm install left-pad --no-such",
            "npm install left-pad",
            "npm ERR! unknown option --no-such",
            "npm install* --no-such*",
            ["npm install --no-such", "npm install x --no-such"],
            "npm install x",
        ),
        (
            "docker compose up web --wait",
            "docker compose up web",
            "unknown flag: --wait",
            "docker compose up* --wait*",
            ["docker compose up --wait", "docker compose up -d --wait"],
            "docker compose up -d",
        ),
        (
            "grep -P x src/*.rs",
            "grep -E x src/*.rs",
            "grep: invalid option -- P",
            "grep* -P*",
            ["grep -P '\\d' a.rs", "grep -P x"],
            "grep -E x a.rs",
        ),
        (
            "pip install -r req.txt --user",
            "pip install -r req.txt",
            "Can not perform a '--user' install",
            "pip install* --user*",
            ["pip install --user black", "pip install --user -e ."],
            "pip install black",
        ),
        (
            "psql -d shop -c \"<text>\"",
            "psql -d app -c \"<text>\"",
            "database \"shop\" does not exist",
            "psql* shop*",
            ["psql -d shop -c 'select 1'", "psql shop"],
            "psql -d app",
        ),
        (
            "npm run lnit",
            "npm run lint",
            "npm ERR! Missing script: \"lnit\"",
            "npm run lnit*",
            ["npm run lnit", "npm run lnit -- --fix"],
            "npm run lint",
        ),
        (
            "npm ci --production",
            "npm install --production",
            "npm ERR! code EUSAGE",
            "npm ci*",
            ["npm ci", "npm ci --ignore-scripts"],
            "npm install",
        ),
        (
            "terraform apply --auto-aprove",
            "terraform apply --auto-approve",
            "flag provided but not defined: -auto-aprove",
            "terraform apply* --auto-aprove*",
            ["terraform apply --auto-aprove", "terraform apply -var x=1 --auto-aprove"],
            "terraform apply --auto-approve",
        ),
        (
            "make -j8 test",
            "make test",
            "make: *** [db] Error 1",
            "make* -j8*",
            ["make -j8 test", "make test -j8"],
            "make test",
        ),
        (
            "kubectl apply -k .",
            "kubectl apply -f .",
            "unable to find kustomization.yaml",
            "kubectl apply* -k*",
            ["kubectl apply -k .", "kubectl apply -k base"],
            "kubectl apply -f .",
        ),
    ] {
        check(&recovery(before, after, error, &[pattern]), &needed, &[others]);
    }
}

#[test]
fn a_lesson_in_other_words_says_nothing_about_what_was_run() {
    let known = recovery("git push", "git push origin main", "no upstream", &["git push*"]);
    let is_read = |change: fn(&mut Lesson)| {
        let mut lesson = known.clone();
        change(&mut lesson);
        Remedy::of(&lesson).is_some()
    };
    assert!(is_read(|_| ()));
    assert!(is_read(|lesson| lesson.code_example.clear()), "the solution says it too");
    assert!(!is_read(|lesson| {
        lesson.code_example.clear();
        lesson.solution = "Name the branch.".into();
    }));
    assert!(!is_read(|lesson| lesson.solution = "First change ci.yml; then `git push origin main` passes.".into()));
    assert!(!is_read(|lesson| lesson.provenance.origin = Origin::Hand));
}

#[test]
fn a_branch_that_has_an_upstream_needs_none() {
    let error = "fatal: The current branch a has no upstream branch.";
    let lesson = recovery("git push", "git push --set-upstream origin <branch>", error, &["git push*"]);
    let remedy = Remedy::of(&lesson).unwrap();
    let check = |earlier: &[&str], upstream: Upstream, line: &str, expected: bool| {
        let mut tree = WorkTree::default();
        tree.set_upstream(upstream);
        for line in earlier {
            tree.record_command(line);
        }
        let needed = remedy.is_needed_at(&CommandLine::parse(line), &lesson, Some(&tree));
        assert_eq!(needed, expected, "{earlier:?} {upstream:?} {line}");
    };
    for (upstream, is_needed) in [(Upstream::Unknown, true), (Upstream::Missing, true), (Upstream::Set, false)] {
        check(&[], upstream, "git push", is_needed);
        check(&[], upstream, "git add -A && git commit -m x && git push", is_needed);
        // A new branch has none, whatever the one before had.
        check(&[], upstream, "git checkout -b fix && git commit -am x && git push", true);
        check(&["git switch -c fix"], upstream, "git commit -am x && git push", true);
        // These succeed only with one.
        check(&[], upstream, "git pull --rebase && git push", false);
        check(&["git checkout main && git pull --ff-only"], upstream, "git push", false);
        check(&["git checkout -b fix", "git push -u origin HEAD"], upstream, "git push", false);
        // What is forced was pushed before, and these do not push the branch.
        for line in ["git push --force-with-lease", "git push -f", "git push --dry-run", "git push --tags"] {
            check(&[], upstream, line, false);
        }
    }
}
