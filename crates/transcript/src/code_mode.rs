//! The commands in the JavaScript of Codex' code mode, whose tool `exec` runs a program that calls other tools:
//! `await tools.exec_command({cmd: "cargo test"})`. Only what the text itself says is a command: a value that another call computes is
//! not known before the program runs.

mod tokens;

use std::collections::HashMap;

use tokens::{ScriptToken, TextPart, tokens};

/// The tools that run a command, and the one that applies a patch.
const SHELLS: [&str; 4] = ["exec_command", "shell_command", "shell", "local_shell"];
const PATCHER: &str = "apply_patch";
/// The keys of a command in the arguments of such a tool.
const KEYS: [&str; 2] = ["cmd", "command"];

/// What a program runs, as far as its text says.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct ScriptCalls {
    pub(crate) commands: Vec<Vec<String>>,
    pub(crate) patches: Vec<String>,
}

/// A longer program is not read.
const MAX_CODE: usize = 1 << 18;

/// True for a text that calls tools as a program of code mode does.
pub(crate) fn is_script(text: &str) -> bool {
    text.contains("tools.")
}

/// The calls in a program. A command that is given as a list is that list.
pub(crate) fn calls_in(code: &str) -> ScriptCalls {
    let tokens = if code.len() > MAX_CODE { Vec::new() } else { tokens(code) };
    let known = variables(&tokens);
    let mut calls = ScriptCalls::default();
    for at in 0..tokens.len() {
        let rest = tokens.get(at..).unwrap_or_default();
        match rest {
            [
                ScriptToken::Word(tools),
                ScriptToken::Mark('.'),
                ScriptToken::Word(name),
                ScriptToken::Mark('('),
                arguments @ ..,
            ] if tools == "tools" => {
                if SHELLS.contains(&name.as_str()) {
                    calls.commands.extend(command_in(arguments, &known));
                } else if name == PATCHER {
                    calls.patches.extend(patch_in(arguments, &known));
                }
            }
            _ => {}
        }
    }
    calls
}

type Variables = HashMap<String, String>;

/// The texts that are given a name once and for all.
fn variables(tokens: &[ScriptToken]) -> Variables {
    let mut known = Variables::new();
    let mut n_given: HashMap<&str, usize> = HashMap::new();
    for at in 0..tokens.len() {
        let [ScriptToken::Word(name), ScriptToken::Mark('='), rest @ ..] = tokens.get(at..).unwrap_or_default() else {
            continue;
        };
        // `==` and `=>` give no name.
        if matches!(rest, [ScriptToken::Mark('=' | '>'), ..]) {
            continue;
        }
        *n_given.entry(name).or_default() += 1;
        let is_ended =
            |after: &[ScriptToken]| !matches!(after, [ScriptToken::Mark('.' | '(' | '[' | '?' | '+' | '|'), ..]);
        if let Some((text, _)) = text_in(rest, &known).filter(|(_, after)| is_ended(after)) {
            known.insert(name.clone(), text);
        }
    }
    known.retain(|name, _| n_given.get(name.as_str()) == Some(&1));
    known
}

/// The text at the beginning of tokens: literals and known names, joined by `+`; and the tokens after it.
fn text_in<'t>(tokens: &'t [ScriptToken], known: &Variables) -> Option<(String, &'t [ScriptToken])> {
    let (mut text, mut rest) = one_text(tokens, known)?;
    while let [ScriptToken::Mark('+'), after @ ..] = rest {
        let (more, after) = one_text(after, known)?;
        text.push_str(&more);
        rest = after;
    }
    Some((text, rest))
}

fn one_text<'t>(tokens: &'t [ScriptToken], known: &Variables) -> Option<(String, &'t [ScriptToken])> {
    match tokens {
        [ScriptToken::Word(string), ScriptToken::Mark('.'), ScriptToken::Word(raw), rest @ ..]
            if string == "String" && raw == "raw" =>
        {
            one_text(rest, known)
        }
        [ScriptToken::Text(parts), rest @ ..] => Some((joined(parts, known)?, rest)),
        [ScriptToken::Word(name), rest @ ..] => Some((known.get(name)?.clone(), rest)),
        _ => None,
    }
}

fn joined(parts: &[TextPart], known: &Variables) -> Option<String> {
    let text = |part: &TextPart| match part {
        TextPart::Literal(text) => Some(text.clone()),
        TextPart::Variable(name) => known.get(name).cloned(),
        TextPart::Unknown => None,
    };
    parts.iter().map(text).collect()
}

/// The command in the arguments of a call: `{cmd: "…"}`, `{command: ["…"]}` or `{cmd}`.
fn command_in(arguments: &[ScriptToken], known: &Variables) -> Option<Vec<String>> {
    let value = value_of(arguments, &KEYS)?;
    if let [ScriptToken::Mark('['), items @ ..] = value {
        return list_in(items, known);
    }
    let (text, rest) = text_in(value, known)?;
    ends_value(rest).then(|| vec![text])
}

fn patch_in(arguments: &[ScriptToken], known: &Variables) -> Option<String> {
    let value = value_of(arguments, &["input", "patch"]).unwrap_or(arguments);
    text_in(value, known).map(|(text, _)| text)
}

fn list_in(mut items: &[ScriptToken], known: &Variables) -> Option<Vec<String>> {
    let mut list = Vec::new();
    loop {
        match items {
            [ScriptToken::Mark(']'), ..] => return Some(list),
            [ScriptToken::Mark(','), rest @ ..] => items = rest,
            _ => {
                let (text, rest) = text_in(items, known)?;
                list.push(text);
                items = rest;
            }
        }
    }
}

fn ends_value(rest: &[ScriptToken]) -> bool {
    matches!(rest, [] | [ScriptToken::Mark(',' | '}'), ..])
}

/// The tokens of the value of the first of these keys in an object; of a short form `{cmd}`, its name.
fn value_of<'t>(arguments: &'t [ScriptToken], keys: &[&str]) -> Option<&'t [ScriptToken]> {
    let [ScriptToken::Mark('{'), fields @ ..] = arguments else { return None };
    let mut depth = 0_usize;
    for at in 0..fields.len() {
        let rest = fields.get(at..).unwrap_or_default();
        match rest {
            [ScriptToken::Mark('{' | '[' | '('), ..] => depth += 1,
            [ScriptToken::Mark('}' | ']' | ')'), ..] if depth == 0 => return None,
            [ScriptToken::Mark('}' | ']' | ')'), ..] => depth -= 1,
            [key, ScriptToken::Mark(':'), value @ ..] if depth == 0 && key.is_one_of(keys) => return Some(value),
            [ScriptToken::Word(name), ScriptToken::Mark(',' | '}'), ..]
                if depth == 0 && keys.contains(&name.as_str()) && is_key(fields, at) =>
            {
                return Some(rest);
            }
            _ => {}
        }
    }
    None
}

/// True if a token begins a field, and is not the value of another one.
fn is_key(fields: &[ScriptToken], at: usize) -> bool {
    at.checked_sub(1)
        .and_then(|before| fields.get(before))
        .is_none_or(|before| matches!(before, ScriptToken::Mark(',')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(code: &str, expected: &[&[&str]]) {
        assert_eq!(calls_in(code).commands, expected, "{code}");
    }

    #[test]
    fn commands_are_those_that_the_text_says() {
        check(
            r#"const r = await tools.exec_command({cmd: "cargo test", workdir: "/srv"}); text(r.output);"#,
            &[&["cargo test"]],
        );
        check(r#"await tools.exec_command({"workdir": "/a", "cmd": 'ls -l "b c"'})"#, &[&["ls -l \"b c\""]]);
        check(
            "await Promise.all([tools.exec_command({cmd: `a`}), tools.shell({command: [\"bash\", '-lc', \"b\"]})])",
            &[&["a"], &["bash", "-lc", "b"]],
        );
        check(
            "const dir = 'web'; const cmd = `npm test --prefix ${dir}`\nawait tools.exec_command({ cmd, workdir })",
            &[&["npm test --prefix web"]],
        );
        check(r#"const a = "x"; tools.exec_command({cmd: "make " + a + "\n"})"#, &[&["make x\n"]]);
        check("text(`${(await tools.exec_command({cmd: 'pwd'})).output}`)", &[&["pwd"]]);
    }

    #[test]
    fn what_is_computed_quoted_or_commented_is_no_command() {
        check("for (const cmd of list) await tools.exec_command({cmd})", &[]);
        check("tools.exec_command({cmd: `rm ${name()}`}); tools.exec_command({cmd: build(\"x\")})", &[]);
        check("let c = 'a'; c = 'b'; tools.exec_command({cmd: c}); tools.exec_command({cmd: f ? 'a' : 'b'})", &[]);
        check(
            "// tools.exec_command({cmd: 'a'})\n/* tools.exec_command({cmd: 'b'}) */ text(\"tools.exec_command({cmd: 'c'})\")",
            &[],
        );
        check("tools.write_stdin({chars: 'ls'}); tools.exec_command({env: {cmd: 'a'}, workdir: cmd})", &[]);
        check("tools.exec_command({cmd: \"a", &[]);
        check("tools.exec_command({cmd: `a ${", &[]);
    }

    #[test]
    fn patches_are_no_commands() {
        let calls = calls_in(
            "await tools.apply_patch(`*** Begin Patch\n*** Add File: a.sh\n+tools.exec_command({cmd: 'x'})\n*** End Patch`)",
        );
        assert_eq!((calls.patches.len(), calls.commands.len()), (1, 0));
        assert_eq!(calls_in("const patch = String.raw`a\\n`; tools.apply_patch(patch)").patches, ["a\\n"]);
    }
}
