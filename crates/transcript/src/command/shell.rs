//! Shell grammar: parses a command line into simple commands. The parser is a library; this module walks its tree.

use rable::{ListOperator, Node, NodeKind};

/// One word of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// Without quotes.
    pub(super) text: String,
    /// As typed.
    pub(super) raw: String,
    pub(super) form: Form,
}

/// How a word was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Without quotes or expansions.
    Plain,
    /// With a quote or an expansion.
    Quoted,
}

/// The source of a command's input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Input {
    /// Its own input.
    Own,
    /// The command before it in a pipe.
    Pipe,
}

/// The target of a command's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Output {
    /// The terminal, a pipe, or none.
    Shown,
    /// A file.
    File,
}

/// Whether a command can be run on its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It can, in the folder to which the line changed before; none if it did not.
    Alone { folder: Option<String> },
    /// It cannot: it is in a loop, after a pipe or an "or", in the background, or reads a here-document.
    Within,
}

/// A simple command; it has at least one word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Part {
    /// The program as written, without quotes.
    original: String,
    /// Its base name.
    program: String,
    /// Its arguments.
    pub(super) arguments: Vec<Word>,
    pub(super) input: Input,
    pub(super) output: Output,
    pub(super) standing: Standing,
    /// The words before the program as typed: assignments, `sudo`.
    pub(super) lead: Vec<Word>,
}

impl Part {
    /// A command that is [`Within`](Standing::Within) its line. None if no word names a program.
    pub(super) fn new(words: Vec<Word>, input: Input, output: Output) -> Option<Self> {
        let mut words = words.into_iter();
        let first = words.next()?;
        let program = Some(base_name(&first.text)).filter(|name| !name.is_empty())?.to_owned();
        let (original, arguments, lead) = (first.text, words.collect(), Vec::new());
        Some(Self { original, program, arguments, input, output, standing: Standing::Within, lead })
    }

    pub(super) fn program(&self) -> &str {
        &self.program
    }

    pub(super) fn original(&self) -> &str {
        &self.original
    }

    /// As typed, without redirections of the output.
    pub(super) fn written(&self) -> String {
        let lead = self.lead.iter().map(|word| word.raw.as_str());
        let arguments = self.arguments.iter().map(|word| word.raw.as_str());
        lead.chain([self.original.as_str()]).chain(arguments).collect::<Vec<_>>().join(" ")
    }

    /// Without what only measures it or keeps it in the background.
    pub(super) fn untimed(&self) -> Self {
        let measures = |word: &Word| matches!(base_name(&word.text), "time" | "nice" | "ionice" | "nohup" | "stdbuf");
        let mut part = self.clone();
        if part.lead.first().is_some_and(measures) {
            part.lead.clear();
        }
        part
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

/// Longer lines are split by words only: they are scripts, and parsing takes more than linear time.
const MAX_BYTES: usize = 32 * 1024;
/// The parser's time grows steeply with nested `$(…)` and `<(…)`: 50 levels take a tenth of a second, 300 overflow the stack.
const MAX_SUBSTITUTIONS: usize = 40;
/// The parser recurses into blocks: 900 nested ones overflow the stack.
const MAX_BLOCKS: usize = 120;

pub(super) fn split(text: &str) -> Vec<Part> {
    let is_tame = text.len() <= MAX_BYTES && n_substitutions(text) <= MAX_SUBSTITUTIONS && n_blocks(text) <= MAX_BLOCKS;
    let parsed = if is_tame { rable::parse(text, false).ok() } else { None };
    match parsed {
        Some(nodes) => {
            let mut walk = Walk::default();
            for node in &nodes {
                walk.node(node, Input::Own, Place::Top);
            }
            walk.parts
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

/// The position of a node in the line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// It runs exactly once.
    Top,
    /// It may run never or more than once.
    Inside,
}

/// A walk over the tree of a line, in order.
#[derive(Default)]
struct Walk {
    parts: Vec<Part>,
    /// The current folder of the line.
    folder: Folder,
    /// The functions that it has defined.
    functions: Vec<String>,
}

#[derive(Default)]
enum Folder {
    /// Unchanged so far.
    #[default]
    Own,
    Named(String),
    /// Changed to the value of an expansion.
    Lost,
}

impl Walk {
    fn node(&mut self, node: &Node, input: Input, place: Place) {
        match &node.kind {
            NodeKind::Command { words, redirects, assignments } => {
                let words: Vec<Word> = words.iter().filter_map(word).collect();
                let writes = redirects.iter().any(is_file_output);
                let Some(mut part) = Part::new(words, input, if writes { Output::File } else { Output::Shown }) else {
                    return;
                };
                part.lead = assignments.iter().filter_map(word).collect();
                part.standing = self.standing(place, input, redirects);
                if self.functions.iter().any(|name| name == part.original()) {
                    part.standing = Standing::Within;
                }
                if part.program() == "cd" && place == Place::Top {
                    self.go(&part);
                }
                self.parts.push(part);
            }
            NodeKind::Pipeline { commands, .. } => {
                let inputs = std::iter::once(input).chain(std::iter::repeat(Input::Pipe));
                commands.iter().zip(inputs).for_each(|(command, input)| self.node(command, input, place));
            }
            NodeKind::List { items } => {
                let mut before = None;
                for item in items {
                    let is_sure = before != Some(ListOperator::Or) && item.operator != Some(ListOperator::Background);
                    self.node(&item.command, Input::Own, if is_sure { place } else { Place::Inside });
                    before = item.operator;
                }
            }
            NodeKind::If { condition, then_body, else_body, .. } => {
                self.node(condition, Input::Own, Place::Inside);
                self.node(then_body, Input::Own, Place::Inside);
                if let Some(body) = else_body {
                    self.node(body, Input::Own, Place::Inside);
                }
            }
            NodeKind::While { condition, body, .. } | NodeKind::Until { condition, body, .. } => {
                self.node(condition, Input::Own, Place::Inside);
                self.node(body, Input::Own, Place::Inside);
            }
            NodeKind::For { body, .. }
            | NodeKind::ForArith { body, .. }
            | NodeKind::Select { body, .. }
            | NodeKind::Subshell { body, .. }
            | NodeKind::BraceGroup { body, .. } => self.node(body, input, Place::Inside),
            NodeKind::Case { patterns, .. } => {
                let bodies = patterns.iter().filter_map(|pattern| pattern.body.as_ref());
                bodies.for_each(|body| self.node(body, Input::Own, Place::Inside));
            }
            NodeKind::Coproc { command, .. } => self.node(command, input, Place::Inside),
            NodeKind::Negation { pipeline } => self.node(pipeline, input, Place::Inside),
            NodeKind::Time { pipeline, .. } => self.node(pipeline, input, place),
            // A function is defined, not run.
            NodeKind::Function { name, .. } => self.functions.push(name.clone()),
            // Other nodes contain no command.
            _ => {}
        }
    }

    fn standing(&self, place: Place, input: Input, redirects: &[Node]) -> Standing {
        let reads = redirects.iter().any(|redirect| !is_output(redirect));
        match &self.folder {
            _ if reads || place == Place::Inside || input == Input::Pipe => Standing::Within,
            Folder::Own => Standing::Alone { folder: None },
            Folder::Named(folder) => Standing::Alone { folder: Some(folder.clone()) },
            Folder::Lost => Standing::Within,
        }
    }

    fn go(&mut self, cd: &Part) {
        self.folder = match (&cd.arguments[..], &self.folder) {
            ([word], folder) if !word.expands() && (word.text.starts_with('/') || matches!(folder, Folder::Own)) => {
                Folder::Named(word.raw.clone())
            }
            _ => Folder::Lost,
        };
    }
}

fn is_output(redirect: &Node) -> bool {
    matches!(&redirect.kind, NodeKind::Redirect { op, .. } if op.contains('>'))
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
    Some(Word { text, raw: value.clone(), form: if is_quoted { Form::Quoted } else { Form::Plain } })
}

impl Word {
    /// True if the shell expands the word.
    pub(super) fn expands(&self) -> bool {
        let is_literal = self.raw.len() > 1 && self.raw.starts_with('\'') && self.raw.ends_with('\'');
        !is_literal && self.raw.contains(['$', '`'])
    }
}

/// The names of the variables that are expanded in a word as it was typed.
pub(super) fn variables(raw: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut is_literal, mut is_quoted) = (false, false);
    let mut chars = raw.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\'' if !is_quoted => is_literal = !is_literal,
            '"' if !is_literal => is_quoted = !is_quoted,
            '\\' if !is_literal => _ = chars.next(),
            '$' if !is_literal => {
                let rest = raw.get(at + 1..).unwrap_or_default();
                let rest = rest.strip_prefix('{').unwrap_or(rest).trim_start_matches(['!', '#']);
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
                found.extend(rest.get(..end).filter(|name| !name.is_empty()));
            }
            _ => {}
        }
    }
    found
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
fn split_by_words(text: &str) -> Vec<Part> {
    // Only the first lines certainly contain programs: a here-document may follow.
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
                let unquoted = bare.trim_matches(['"', '\'', '`']).to_owned();
                words.push(Word { text: unquoted, raw: bare.to_owned(), form });
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
