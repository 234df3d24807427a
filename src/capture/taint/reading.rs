//! What programs that read are given: their paths, their options, and where names of files come from.

use adage_transcript::CommandLine;

use super::paths::is_of_others;

/// Programs whose first argument is a pattern or a script, if no option gives one, with the options that take a value.
const PATTERN_FIRST: [(&str, &[&str]); 9] = [
    ("grep", GREP_VALUES),
    ("egrep", GREP_VALUES),
    ("fgrep", GREP_VALUES),
    ("rg", SEARCH_VALUES),
    ("ag", SEARCH_VALUES),
    ("fd", SEARCH_VALUES),
    ("sed", &["-l", "--line-length"]),
    ("awk", &["-F", "-v"]),
    ("jq", &["--arg", "--argjson", "--indent"]),
];

const GREP_VALUES: &[&str] =
    &["-A", "-B", "-C", "-m", "-D", "-d", "--include", "--exclude", "--exclude-dir", "--max-count", "--context"];

const SEARCH_VALUES: &[&str] = &[
    "-A",
    "-B",
    "-C",
    "-m",
    "-t",
    "-T",
    "-g",
    "-M",
    "-j",
    "-d",
    "-r",
    "-E",
    "-e",
    "-G",
    "--type",
    "--type-not",
    "--glob",
    "--iglob",
    "--max-depth",
    "--max-count",
    "--sort",
    "--exclude",
    "--extension",
    "--ignore",
    "--ignore-dir",
    "--context",
    "--color",
    "--colors",
];

/// Options that give the pattern or the script, so that every argument is a path.
const GIVES_PATTERN: [&str; 7] = ["-e", "--regexp", "--expression", "-f", "--file", "--from-file", "--files"];

/// Options by which names are left out, for programs whose arguments are otherwise paths.
const LEAVES_OUT: [&str; 4] = ["--exclude", "--exclude-dir", "--ignore", "-I"];

/// Programs that read no path from their arguments.
const READS_NOTHING: [&str; 14] = [
    "echo", "printf", "tr", "seq", "test", "[", "date", "sleep", "basename", "dirname", "realpath", "which", "type",
    "pwd",
];

/// Programs that print names of files which the project has, or which they were given.
const LISTS: [&str; 10] = ["git", "rg", "fd", "ls", "find", "grep", "echo", "printf", "basename", "dirname"];

/// Programs whose output is not the text of a file.
const PRINTS_NO_TEXT: [&str; 7] = ["pwd", "date", "seq", "nproc", "mktemp", "realpath", "wc"];

/// Programs that read their standard input if they are given no file.
const FILTERS: [&str; 13] =
    ["cat", "head", "tail", "sort", "uniq", "nl", "less", "column", "paste", "tee", "tr", "cut", "wc"];

/// Programs that print the text of the files that they are given.
const PRINTS_FILES: [&str; 22] = [
    "cat", "head", "tail", "less", "nl", "sed", "awk", "grep", "egrep", "fgrep", "rg", "ag", "sort", "uniq", "cut",
    "diff", "comm", "paste", "column", "jq", "yq", "xargs",
];

/// True when a program that reads is given a folder of others or of what was made.
pub(super) fn reads_of_others(program: &str, arguments: &[&str], project: &str) -> bool {
    let below = |word: &str| is_of_others(word.strip_prefix(project).unwrap_or(word).trim_start_matches('/'));
    !READS_NOTHING.contains(&program) && operands(program, arguments).into_iter().any(below)
}

/// The arguments that are paths.
fn operands<'a>(program: &str, arguments: &[&'a str]) -> Vec<&'a str> {
    if program == "find" {
        return arguments
            .iter()
            .copied()
            .skip_while(|word| matches!(*word, "-L" | "-H" | "-P"))
            .take_while(|word| !word.starts_with(['-', '(', '!']))
            .collect();
    }
    let pattern = PATTERN_FIRST.iter().find(|(name, _)| *name == program);
    let mut operands = Vec::new();
    let mut has_pattern = pattern.is_none();
    let mut is_value = false;
    for word in arguments {
        if std::mem::take(&mut is_value) {
            continue;
        }
        if word.len() > 1 && word.starts_with('-') {
            has_pattern |= GIVES_PATTERN.contains(word);
            is_value = pattern.map_or(&LEAVES_OUT[..], |(_, options)| options).contains(word)
                || matches!(*word, "-e" | "--regexp" | "--expression");
        } else {
            operands.push(*word);
        }
    }
    if !has_pattern && !operands.is_empty() {
        operands.remove(0);
    }
    operands
}

/// True for an option that lifts what keeps a search within the files that are tracked.
pub(super) fn lifts_ignore(program: &str, arguments: &[&str]) -> bool {
    let (lifts, hidden): (&[char], &[char]) = match program {
        "rg" => (&['u'], &['.']),
        "fd" => (&['u', 'I'], &['H']),
        "ag" => (&['u', 'U', 'a'], &[]),
        _ => return false,
    };
    let leaves_git_out = arguments.iter().any(|word| word.contains("!.git") || word.contains("exclude=.git"));
    arguments.iter().any(|word| {
        let is_hidden = *word == "--hidden" || has_letter(word, hidden);
        word.starts_with("--no-ignore")
            || matches!(*word, "--unrestricted" | "--all-types" | "--skip-vcs-ignores")
            || (is_hidden && !leaves_git_out)
            || has_letter(word, lifts)
    })
}

/// True for `-nu`; not for `-tjunit`, a value behind its option.
fn has_letter(word: &str, letters: &[char]) -> bool {
    let has_value = ["-t", "-T", "-g", "-e", "-E", "-r", "-f"].iter().any(|option| word.starts_with(option));
    word.starts_with('-') && !word.starts_with("--") && !has_value && word.contains(letters)
}

/// True when a program at the head of a pipe reads from where the session itself is fed: `cat`, `sort -`, `grep x`, `jq -n input`.
pub(super) fn reads_own_input(command: &str) -> bool {
    command.split([';', '\n', '(', '&']).any(|list| {
        let first = list.split('|').next().unwrap_or_default();
        let mut words = first.split_whitespace();
        let reads = words.next().is_some_and(|program| FILTERS.contains(&program));
        let is_redirected = first.contains(['<', '>']);
        (reads && !is_redirected && (words.clone().all(|word| word.starts_with('-')) || words.any(|word| word == "-")))
            || (!is_redirected && first.trim_start().starts_with("xargs"))
    }) || reads_input_by_pattern(command)
}

/// True for `grep x`, `sed s/a/b/` or `jq .` at the head of a line, and for `jq -n input`.
fn reads_input_by_pattern(command: &str) -> bool {
    let is_first = |program: &str| {
        let line = command.trim_start();
        line.strip_prefix(program).is_some_and(|rest| rest.starts_with(' '))
            && !line.split('|').next().unwrap_or_default().contains('<')
    };
    let line = CommandLine::parse(command);
    let Some((program, arguments)) = line.commands().next() else { return false };
    let lists = |word: &&str| word.starts_with('-') && !word.starts_with("--") && word.contains(['r', 'R']);
    match program {
        "jq" if arguments.iter().any(|word| matches!(*word, "-n" | "--null-input")) => {
            is_first("jq")
                && arguments.iter().any(|word| word.contains("input"))
                && operands("jq", &arguments).is_empty()
        }
        "grep" | "egrep" | "fgrep" if arguments.iter().any(|word| lists(word) || word.starts_with("--recursive")) => {
            false
        }
        "grep" | "egrep" | "fgrep" | "sed" | "jq" | "awk" => {
            is_first(program)
                && !arguments.iter().any(|word| matches!(*word, "--version" | "--help"))
                && !arguments.iter().any(|word| word.contains("BEGIN"))
                && operands(program, &arguments).is_empty()
        }
        _ => false,
    }
}

/// True when names of files come from a file or from what is not a list of the project's files: `xargs -a list cat`,
/// `cat names | xargs cat`, `cat $(cat names)`.
pub(super) fn takes_foreign_names(command: &str) -> bool {
    let mut lists = command.split([';', '\n', '&']);
    lists.any(is_fed_foreign_names)
        || substituted(command).into_iter().any(|(program, inner)| {
            let is_text = READS_NOTHING.contains(&program.as_str());
            !is_text && PRINTS_FILES.contains(&program.as_str()) && !prints_own_names(&inner)
        })
}

/// True for `xargs` that reads names which no list of the project's files gave.
fn is_fed_foreign_names(list: &str) -> bool {
    let mut stages = list.split('|').map(str::trim);
    let first = stages.next().unwrap_or_default();
    let fed = |stage: &str| stage.split_whitespace().next() == Some("xargs");
    let xargs = std::iter::once(first).chain(stages).find(|stage| fed(stage));
    let Some(xargs) = xargs else { return false };
    let is_from_file = xargs.contains('<')
        || xargs.split_whitespace().any(|word| word.starts_with("-a") || word.starts_with("--arg-file"));
    is_from_file || !prints_own_names(first)
}

/// True for a command that prints names of the project's files.
fn prints_own_names(command: &str) -> bool {
    let line = CommandLine::parse(command);
    let Some((program, arguments)) = line.commands().next() else { return false };
    let has = |options: &[&str]| arguments.iter().any(|word| options.contains(word));
    match program {
        "git" => has(&["ls-files", "--name-only", "rev-parse", "merge-base"]),
        "grep" | "rg" => arguments.iter().any(|word| {
            word.starts_with("--files")
                || (word.starts_with('-') && !word.starts_with("--") && word.contains(['l', 'L']))
        }),
        // `find .` names what is fetched and built as well.
        "find" => {
            let folders = operands("find", &arguments);
            has(&["-prune", "-not", "!"])
                || (!folders.is_empty() && !folders.iter().any(|folder| matches!(*folder, "." | "./" | "*")))
        }
        _ => LISTS.contains(&program) || PRINTS_NO_TEXT.contains(&program),
    }
}

/// The commands in substitutions, each with the program that gets its output.
fn substituted(command: &str) -> Vec<(String, String)> {
    let line = CommandLine::parse(command);
    let mut found = Vec::new();
    for (program, arguments) in line.commands() {
        for word in arguments {
            let quoted =
                word.split("$(").nth(1).map(|inner| inner.trim_end_matches(')')).or_else(|| word.split('`').nth(1));
            found.extend(quoted.map(|inner| (program.to_owned(), inner.to_owned())));
        }
    }
    found
}
