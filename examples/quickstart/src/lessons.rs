//! The lessons and queries of the tour.

use adage::Feedback;

/// Topics, trigger, mistake, solution.
pub(crate) type Row = [&'static str; 4];

pub(crate) const LESSONS: [Row; 24] = [
    [
        "git",
        "Pushing a branch after a rebase",
        "git push --force overwrote a colleague's commits.",
        "Use git push --force-with-lease, which refuses when the remote has commits that you have not fetched.",
    ],
    [
        "git security",
        "A secret was committed by accident",
        "Deleted the key in a new commit, although it stays readable in the history.",
        "Revoke the key at once, then rewrite the history with git filter-repo.",
    ],
    [
        "rust cargo",
        "A dependency has Cargo features on that the crate never asked for",
        "Built the whole workspace, where cargo unifies the features that its members ask for.",
        "Build the one package with cargo build -p NAME; cargo tree -e features shows who asks for what.",
    ],
    [
        "rust async",
        "Holding a std Mutex guard across an await in Rust",
        "The future was not Send, and two tasks could deadlock.",
        "Drop the guard before the await, or use tokio::sync::Mutex.",
    ],
    [
        "python packaging",
        "Data files are missing from an installed Python wheel",
        "Expected data files to be packed without being named.",
        "List them under [tool.setuptools.package-data] and look into the wheel with unzip -l.",
    ],
    [
        "python",
        "The default argument of a Python function is a list",
        "The list is made once, so that all calls share it.",
        "Use None as the default and make the list in the body.",
    ],
    [
        "sql",
        "Filtering rows with NOT IN and a subquery in SQL",
        "The subquery returned a NULL, so the whole result was empty.",
        "Use NOT EXISTS, or exclude NULLs in the subquery.",
    ],
    [
        "sql postgres",
        "Creating an index on a busy PostgreSQL table",
        "A plain CREATE INDEX blocked all writes until it was finished.",
        "Use CREATE INDEX CONCURRENTLY, outside a transaction block.",
    ],
    [
        "docker",
        "Docker reinstalls everything after a code change",
        "COPY . . came before the install step and invalidated its layer.",
        "Copy the lock file alone, install, then copy the source.",
    ],
    [
        "docker",
        "A container ignores docker stop and is killed after ten seconds",
        "The shell form of CMD ran the program under sh, which did not pass SIGTERM on.",
        "Use the exec form, CMD [\"app\"], or exec in the entrypoint script.",
    ],
    [
        "shell",
        "Looping over file names in bash",
        "Left $f unquoted, so that names with spaces came apart.",
        "Write \"$f\" in double quotes; between programs use find -print0 and xargs -0.",
    ],
    [
        "shell ci",
        "A failing command in a pipe does not fail the shell script",
        "Trusted set -e, which looks at the last command of a pipe only.",
        "Put set -o pipefail at the top of the bash script.",
    ],
    [
        "time",
        "Scheduling a daily job at 02:30 local time",
        "The job ran twice, or not at all, in the nights of the clock change.",
        "Schedule in UTC, or choose an hour that the clock change leaves alone.",
    ],
    [
        "python time",
        "Python cannot compare offset-naive and offset-aware datetimes",
        "Mixed datetime.utcnow() with values that carry a time zone.",
        "Use datetime.now(timezone.utc) everywhere.",
    ],
    [
        "unicode",
        "Two strings look the same but compare unequal",
        "One had a combining accent, the other a composed letter.",
        "Normalise both to NFC before comparing or storing.",
    ],
    [
        "unicode",
        "Cutting a UTF-8 string to a maximum byte length",
        "Cut in the middle of a character, which left invalid text.",
        "Move back to the last character boundary before cutting.",
    ],
    [
        "javascript async",
        "Awaiting many requests one by one in JavaScript",
        "await inside the for loop made them run in sequence.",
        "Start them all and await Promise.all.",
    ],
    [
        "ci",
        "GitHub Actions restores a stale cache",
        "Used a fixed cache key, which is never overwritten once it is saved.",
        "Put hashFiles of the lock file into the key.",
    ],
    [
        "javascript ci",
        "Choosing the pnpm version for the frontend build",
        "Let CI take the newest pnpm, which rewrote the lock file.",
        "Set \"packageManager\": \"pnpm@8.15.9\" in package.json and enable corepack.",
    ],
    [
        "k8s",
        "Pods keep old settings after a ConfigMap changed",
        "Environment variables are only read when a container starts.",
        "Run kubectl rollout restart on the deployment.",
    ],
    [
        "money",
        "Storing prices as floating point numbers",
        "Sums were off by a cent, because 0.1 has no exact binary form.",
        "Store integer cents, or use a decimal type.",
    ],
    [
        "javascript react",
        "An effect of a React component runs again on every render",
        "Passed an object literal in the dependency list, which is a new one each time.",
        "Depend on primitive values, or memoise the object with useMemo.",
    ],
    [
        "http",
        "A URL with a long list of ids in its query fails",
        "The URL exceeded the server's limit, which answered 414.",
        "Send the ids in the body of a POST request.",
    ],
    [
        "parsing",
        "Parsing HTML with a regular expression",
        "The pattern broke on nested tags and on attributes in another order.",
        "Use a real parser such as BeautifulSoup or lxml.",
    ],
];

/// Rewordings, each with the trigger of the lesson that it rewords.
pub(crate) const REWORDED: [(Row, &str); 2] = [
    (
        [
            "sql postgres",
            "Creating an index on a PostgreSQL table in heavy use",
            "A plain CREATE INDEX blocked every write until it had finished.",
            "Create it with CREATE INDEX CONCURRENTLY, outside a transaction block.",
        ],
        "Creating an index on a busy PostgreSQL table",
    ),
    (
        [
            "k8s",
            "Pods still use the old settings after a ConfigMap update",
            "A container reads its environment variables only when it starts.",
            "Restart the deployment with kubectl rollout restart.",
        ],
        "Pods keep old settings after a ConfigMap changed",
    ),
];

/// A lesson that differs from an earlier one only in a version, and the trigger of that one.
pub(crate) const OTHER_VERSION: (Row, &str) = (
    [
        "javascript ci",
        "Choosing the pnpm version for the frontend build",
        "Let CI take the newest pnpm, which rewrote the lock file.",
        "Set \"packageManager\": \"pnpm@9.15.0\" in package.json and enable corepack.",
    ],
    "Choosing the pnpm version for the frontend build",
);

/// Queries, and the trigger of the lesson that answers each.
pub(crate) const RELATED: [(&str, &str); 6] = [
    ("bash loop breaks on filenames with spaces", "Looping over file names in bash"),
    ("docker build runs npm install after every edit", "Docker reinstalls everything after a code change"),
    ("strings that look identical are not equal", "Two strings look the same but compare unequal"),
    ("NOT IN subquery returns no rows", "Filtering rows with NOT IN and a subquery in SQL"),
    ("nightly job in local time ran twice in October", "Scheduling a daily job at 02:30 local time"),
    ("my pods ignore the new environment variables", "Pods keep old settings after a ConfigMap changed"),
];

/// Queries that no lesson answers.
pub(crate) const UNRELATED: [&str; 4] = [
    "How do I bake sourdough bread with a crisp crust?",
    "Which football team won the world cup in 1974?",
    "Writing a birthday poem for my grandmother",
    "Symptoms of iron deficiency in cats",
];

/// Queries, the trigger of the lesson that answers each, and how the task went.
pub(crate) const OUTCOMES: [(&str, &str, Feedback); 3] = [
    ("git push was rejected after I rebased", "Pushing a branch after a rebase", Feedback::Helpful),
    // All of them at once overloaded the server.
    ("fetch 5000 URLs with await in JavaScript", "Awaiting many requests one by one in JavaScript", Feedback::Harmful),
    // Neither parser exists in JavaScript.
    (
        "get the links of an HTML page by a regular expression",
        "Parsing HTML with a regular expression",
        Feedback::Harmful,
    ),
];

/// The trigger of the lesson that is marked as verified.
pub(crate) const VERIFIED: &str = "A URL with a long list of ids in its query fails";

/// Lessons that are learned into a full playbook.
pub(crate) const NEWCOMERS: [Row; 2] = [
    [
        "python",
        "Removing items from a list while looping over it in Python",
        "Every removal made the loop skip the next item.",
        "Build a new list with a comprehension.",
    ],
    [
        "http",
        "Retrying a failed HTTP request in a tight loop",
        "All clients came back at once and kept the server down.",
        "Wait longer after each failure, with random jitter, and give up after some tries.",
    ],
];

/// The trigger of the lesson that is removed.
pub(crate) const REMOVED: &str = "GitHub Actions restores a stale cache";
