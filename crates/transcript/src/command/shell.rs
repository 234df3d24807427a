//! Shell grammar: parses a command line into simple commands. The parser is a library; this module walks its tree.

use std::thread;

use rable::{ListItem, ListOperator, Node, NodeKind};

use super::simple_command::{Context, Form, Input, SimpleCommand, StatusUse, Word};

/// Longer lines are split by words only: they are scripts, and parsing takes more than linear time.
const MAX_BYTES: usize = 32 * 1024;
/// The parser's time grows steeply with nested `$(…)` and `<(…)`: 50 levels take a tenth of a second.
const MAX_SUBSTITUTIONS: usize = 40;
const MAX_BLOCKS: usize = 120;
/// The parser recurses: without optimisation, 28 nested `<(…)` fill the 2 MiB stack of a thread.
const MAX_NESTED_HERE: usize = 10;
/// The stack of the thread that parses what may be nested deeper: twice what the limits need without optimisation.
const STACK_BYTES: usize = 16 * 1024 * 1024;

/// The simple commands of a line, in order. A line that does not fit the grammar, or exceeds a limit, is split by words.
pub(super) fn split(text: &str) -> Vec<SimpleCommand> {
    let (substitutions, blocks) = (n_substitutions(text), n_blocks(text));
    let parsed = if text.len() > MAX_BYTES || substitutions > MAX_SUBSTITUTIONS || blocks > MAX_BLOCKS {
        None
    } else if substitutions + blocks <= MAX_NESTED_HERE {
        parse(text)
    } else {
        thread::scope(|scope| {
            let parser = thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, || parse(text));
            parser.ok()?.join().ok()?
        })
    };
    parsed.unwrap_or_else(|| split_by_words(text))
}

fn parse(text: &str) -> Option<Vec<SimpleCommand>> {
    let nodes = rable::parse(text, false).ok()?;
    let mut walk = Walk::default();
    for node in &nodes {
        walk.node(node, Input::Own, Runs::Once);
    }
    Some(walk.parts)
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

/// How often a node of the line runs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Runs {
    Once,
    /// Never, once or several times.
    Unknown,
}

/// A walk over the tree of a line, in order.
#[derive(Default)]
struct Walk {
    parts: Vec<SimpleCommand>,
    folder: Folder,
    /// The functions that the line has defined so far.
    functions: Vec<String>,
}

/// The current folder of the line.
#[derive(Default)]
enum Folder {
    #[default]
    Unchanged,
    Named(String),
    /// Changed to the value of an expansion.
    Unknown,
}

impl Walk {
    fn node(&mut self, node: &Node, input: Input, runs: Runs) {
        match &node.kind {
            NodeKind::Command { words, redirects, assignments } => {
                let words = words.iter().filter_map(word).collect();
                if let Some(mut part) = SimpleCommand::new(words, input) {
                    part.outputs = redirects.iter().filter_map(output_file).collect();
                    part.lead = assignments.iter().filter_map(word).collect();
                    self.command(part, redirects, runs);
                }
            }
            NodeKind::Pipeline { commands, .. } => self.pipeline(commands, input, runs),
            NodeKind::List { items } => self.list(items, runs),
            NodeKind::If { condition, then_body, else_body, .. } => {
                self.branches([&**condition, &**then_body].into_iter().chain(else_body.as_deref()));
            }
            NodeKind::While { condition, body, .. } | NodeKind::Until { condition, body, .. } => {
                self.branches([&**condition, &**body]);
            }
            NodeKind::Case { patterns, .. } => {
                self.branches(patterns.iter().filter_map(|pattern| pattern.body.as_ref()));
            }
            NodeKind::For { body, .. }
            | NodeKind::ForArith { body, .. }
            | NodeKind::Select { body, .. }
            | NodeKind::Subshell { body, .. }
            | NodeKind::BraceGroup { body, .. }
            | NodeKind::Coproc { command: body, .. }
            | NodeKind::Negation { pipeline: body } => self.node(body, input, Runs::Unknown),
            NodeKind::Time { pipeline, .. } => self.node(pipeline, input, runs),
            // A function is defined, not run.
            NodeKind::Function { name, .. } => self.functions.push(name.clone()),
            // Other nodes contain no command.
            _ => {}
        }
        // What is redirected is the output of all its commands; the last one stands for them.
        if let Some(last) = self.parts.last_mut() {
            last.outputs.extend(redirects_of(&node.kind).iter().filter_map(output_file));
        }
    }

    fn command(&mut self, mut part: SimpleCommand, redirects: &[Node], runs: Runs) {
        let is_function = self.functions.iter().any(|name| name == part.original());
        let reads_redirect = redirects.iter().any(|redirect| !is_output(redirect));
        if !is_function && !reads_redirect && runs == Runs::Once && part.input == Input::Own {
            part.context = self.context();
        }
        if part.program() == "cd" && runs == Runs::Once {
            self.change_folder(&part);
        }
        self.parts.push(part);
    }

    fn pipeline(&mut self, commands: &[Node], input: Input, runs: Runs) {
        let inputs = std::iter::once(input).chain(std::iter::repeat(Input::Pipe));
        for (number, (command, input)) in commands.iter().zip(inputs).enumerate() {
            let first = self.parts.len();
            self.node(command, input, runs);
            if number + 1 < commands.len() {
                replace_status(self.parts.iter_mut().skip(first));
            }
        }
    }

    fn list(&mut self, items: &[ListItem], runs: Runs) {
        let mut before = None;
        for (number, item) in items.iter().enumerate() {
            let is_sure = before != Some(ListOperator::Or) && item.operator != Some(ListOperator::Background);
            let first = self.parts.len();
            self.node(&item.command, Input::Own, if is_sure { runs } else { Runs::Unknown });
            let is_last = number + 1 == items.len();
            if !is_last && matches!(item.operator, Some(ListOperator::Semi | ListOperator::Or)) {
                replace_status(self.parts.iter_mut().skip(first));
            }
            before = item.operator;
        }
    }

    fn branches<'n>(&mut self, nodes: impl IntoIterator<Item = &'n Node>) {
        nodes.into_iter().for_each(|node| self.node(node, Input::Own, Runs::Unknown));
    }

    /// The context of a command that needs nothing else of the line.
    fn context(&self) -> Context {
        match &self.folder {
            Folder::Unchanged => Context::Independent { folder: None },
            Folder::Named(folder) => Context::Independent { folder: Some(folder.clone()) },
            Folder::Unknown => Context::Dependent,
        }
    }

    fn change_folder(&mut self, cd: &SimpleCommand) {
        self.folder = match (&cd.arguments[..], &self.folder) {
            ([word], folder)
                if !word.expands() && (word.text.starts_with('/') || matches!(folder, Folder::Unchanged)) =>
            {
                Folder::Named(word.raw.clone())
            }
            _ => Folder::Unknown,
        };
    }
}

fn replace_status<'p>(parts: impl Iterator<Item = &'p mut SimpleCommand>) {
    for part in parts {
        part.status = StatusUse::Replaced;
    }
}

fn is_output(redirect: &Node) -> bool {
    matches!(&redirect.kind, NodeKind::Redirect { op, .. } if op.contains('>'))
}

/// The file that a redirection writes.
fn output_file(redirect: &Node) -> Option<String> {
    let NodeKind::Redirect { op, target, .. } = &redirect.kind else { return None };
    let is_written = matches!(op.as_str(), ">" | ">>" | ">|" | "&>" | "&>>");
    word(target).map(|word| word.text).filter(|file| is_written && file != "/dev/null")
}

/// The redirections of a group, a subshell or a loop.
fn redirects_of(kind: &NodeKind) -> &[Node] {
    match kind {
        NodeKind::For { redirects, .. }
        | NodeKind::While { redirects, .. }
        | NodeKind::Until { redirects, .. }
        | NodeKind::If { redirects, .. }
        | NodeKind::Subshell { redirects, .. }
        | NodeKind::BraceGroup { redirects, .. } => redirects,
        _ => &[],
    }
}

fn word(node: &Node) -> Option<Word> {
    let NodeKind::Word { value, .. } = &node.kind else { return None };
    let is_quoted = value.contains(['"', '\'', '`', '$', '\\', '\n']);
    let text = if is_quoted { unquote(value) } else { value.clone() };
    Some(Word { text, raw: value.clone(), form: if is_quoted { Form::Quoted } else { Form::Plain } })
}

/// A word without its quotes. A text that quoting rules do not make one word is unchanged.
fn unquote(raw: &str) -> String {
    match shlex::split(raw).as_deref() {
        Some([word]) => word.clone(),
        Some([]) => String::new(),
        _ => raw.to_owned(),
    }
}

/// The fallback if the grammar does not fit: words, and operators that are words of their own or end a word.
fn split_by_words(text: &str) -> Vec<SimpleCommand> {
    // Only the first lines certainly contain programs: a here-document may follow.
    const MAX_LINES: usize = 3;
    text.lines().filter(|line| !line.trim_start().starts_with('#')).take(MAX_LINES).flat_map(split_line).collect()
}

fn split_line(line: &str) -> Vec<SimpleCommand> {
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
                let unquoted = bare.trim_matches(['"', '\'', '`']).to_owned();
                words.push(Word { text: unquoted, raw: bare.to_owned(), form });
            }
        }
        if is_operator || bare.len() < text.len() {
            parts.extend(SimpleCommand::new(std::mem::take(&mut words), input));
            if text != "&&" && text != "&" {
                replace_status(parts.iter_mut());
            }
            input = if text.starts_with('|') && text != "||" { Input::Pipe } else { Input::Own };
        }
    }
    parts.extend(SimpleCommand::new(words, input));
    parts
}
