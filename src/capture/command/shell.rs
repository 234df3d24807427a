//! Shell grammar: a command line as simple commands. The parser is a library's; this file walks its tree.

use rable::{Node, NodeKind};

/// One word of a command, quotes removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    pub(super) text: String,
    pub(super) form: Form,
}

/// How a word was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// As it stands.
    Plain,
    /// With quotes or an expansion in it.
    Quoted,
}

/// Where a command reads from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Input {
    /// From wherever.
    Own,
    /// From the command before it in a pipe.
    Pipe,
}

/// Where a command writes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Output {
    /// To the terminal, a pipe, or nowhere.
    Shown,
    /// Into a file.
    File,
}

/// A simple command; it has at least one word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// The program as it was written, quotes removed.
    original: String,
    /// Its base name.
    program: String,
    /// Its arguments.
    pub(super) arguments: Vec<Word>,
    pub(super) input: Input,
    pub(super) output: Output,
}

impl Part {
    /// None without a word that names a program.
    pub(super) fn new(words: Vec<Word>, input: Input, output: Output) -> Option<Self> {
        let mut words = words.into_iter();
        let original = words.next()?.text;
        let program = Some(base_name(&original)).filter(|name| !name.is_empty())?.to_owned();
        Some(Self { original, program, arguments: words.collect(), input, output })
    }

    pub(super) fn program(&self) -> &str {
        &self.program
    }

    pub(super) fn original(&self) -> &str {
        &self.original
    }

    pub(super) fn originals(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.original.as_str()).chain(self.arguments.iter().map(|word| word.text.as_str()))
    }

    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.program.as_str()).chain(self.arguments.iter().map(|word| word.text.as_str()))
    }
}

/// The last component of a path, also of a Windows one; without the suffix of a Windows program.
pub(super) fn base_name(path: &str) -> &str {
    let name = path.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or_default();
    name.strip_suffix(".exe").unwrap_or(name)
}

/// Longer lines are split by words alone: they are scripts, and the time the parser needs grows faster than they do.
const MAX_BYTES: usize = 32 * 1024;
/// The parser descends into `$(…)` and `<(…)` again and again: 50 levels take it a tenth of a second, 300 the whole stack.
const MAX_SUBSTITUTIONS: usize = 40;
/// Blocks cost it stack: 900 nested ones are too many.
const MAX_BLOCKS: usize = 120;

pub(super) fn split(text: &str) -> Vec<Part> {
    let is_tame = text.len() <= MAX_BYTES && n_substitutions(text) <= MAX_SUBSTITUTIONS && n_blocks(text) <= MAX_BLOCKS;
    let parsed = if is_tame { rable::parse(text, false).ok() } else { None };
    match parsed {
        Some(nodes) => {
            let mut parts = Vec::new();
            for node in &nodes {
                walk(node, Input::Own, &mut parts);
            }
            parts
        }
        None => split_by_words(text),
    }
}

fn n_substitutions(text: &str) -> usize {
    ["$(", "<(", ">(", "`"].iter().map(|opener| text.matches(opener).count()).sum()
}

fn n_blocks(text: &str) -> usize {
    const OPENERS: [&str; 11] = ["case", "if", "while", "until", "for", "select", "{", "(", "!", "time", "coproc"];
    let words = text.split(|c: char| c.is_whitespace() || c == ';').filter(|word| OPENERS.contains(word)).count();
    let nested: usize = ["((", "{{", "${"].iter().map(|opener| text.matches(opener).count()).sum();
    words + nested
}

fn walk(node: &Node, input: Input, parts: &mut Vec<Part>) {
    match &node.kind {
        NodeKind::Command { words, redirects, .. } => {
            let words = words.iter().filter_map(word).collect();
            let writes = redirects.iter().any(is_file_output);
            parts.extend(Part::new(words, input, if writes { Output::File } else { Output::Shown }));
        }
        NodeKind::Pipeline { commands, .. } => {
            let inputs = std::iter::once(input).chain(std::iter::repeat(Input::Pipe));
            commands.iter().zip(inputs).for_each(|(command, input)| walk(command, input, parts));
        }
        NodeKind::List { items } => items.iter().for_each(|item| walk(&item.command, Input::Own, parts)),
        NodeKind::If { condition, then_body, else_body, .. } => {
            walk(condition, Input::Own, parts);
            walk(then_body, Input::Own, parts);
            if let Some(body) = else_body {
                walk(body, Input::Own, parts);
            }
        }
        NodeKind::While { condition, body, .. } | NodeKind::Until { condition, body, .. } => {
            walk(condition, Input::Own, parts);
            walk(body, Input::Own, parts);
        }
        NodeKind::For { body, .. }
        | NodeKind::ForArith { body, .. }
        | NodeKind::Select { body, .. }
        | NodeKind::Subshell { body, .. }
        | NodeKind::BraceGroup { body, .. } => walk(body, input, parts),
        NodeKind::Case { patterns, .. } => {
            patterns.iter().filter_map(|pattern| pattern.body.as_ref()).for_each(|body| walk(body, Input::Own, parts));
        }
        NodeKind::Coproc { command, .. } => walk(command, input, parts),
        NodeKind::Negation { pipeline } | NodeKind::Time { pipeline, .. } => walk(pipeline, input, parts),
        // A function is defined, not run; the rest holds no command.
        _ => {}
    }
}

fn is_file_output(redirect: &Node) -> bool {
    let NodeKind::Redirect { op, target, .. } = &redirect.kind else { return false };
    let NodeKind::Word { value, .. } = &target.kind else { return false };
    matches!(op.as_str(), ">" | ">>" | ">|" | "&>" | "&>>") && value != "/dev/null"
}

fn word(node: &Node) -> Option<Word> {
    let NodeKind::Word { value, .. } = &node.kind else { return None };
    let is_quoted = value.contains(['"', '\'', '`', '$', '\\', '\n']);
    let text = if is_quoted { unquote(value) } else { value.clone() };
    Some(Word { text, form: if is_quoted { Form::Quoted } else { Form::Plain } })
}

/// A word without its quotes. What is not one word by the rules of quoting stays as it is.
fn unquote(raw: &str) -> String {
    match shlex::split(raw).as_deref() {
        Some([word]) => word.clone(),
        Some([]) => String::new(),
        _ => raw.to_owned(),
    }
}

/// What is left when the grammar does not fit: words, and the operators that stand alone or end a word.
fn split_by_words(text: &str) -> Vec<Part> {
    // Only the first lines can name programs for certain: what follows may be a document.
    const MAX_LINES: usize = 3;
    text.lines().filter(|line| !line.trim_start().starts_with('#')).take(MAX_LINES).flat_map(split_line).collect()
}

fn split_line(line: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let (mut words, mut input) = (Vec::new(), Input::Own);
    let raw: Vec<String> = shlex::split(line).unwrap_or_else(|| line.split_whitespace().map(str::to_owned).collect());
    for text in raw {
        let is_operator = matches!(text.as_str(), "&&" | "||" | ";" | "|" | "|&" | "&");
        let bare = text.trim_end_matches(';');
        if !is_operator && !bare.is_empty() {
            let is_assignment = words.is_empty() && super::program::is_assignment(bare);
            let form = if bare.contains(char::is_whitespace) { Form::Quoted } else { Form::Plain };
            if !is_assignment {
                words.push(Word { text: bare.trim_matches(['"', '\'', '`']).to_owned(), form });
            }
        }
        if is_operator || bare.len() < text.len() {
            parts.extend(Part::new(std::mem::take(&mut words), input, Output::Shown));
            input = if text.starts_with('|') && text != "||" { Input::Pipe } else { Input::Own };
        }
    }
    parts.extend(Part::new(words, input, Output::Shown));
    parts
}
