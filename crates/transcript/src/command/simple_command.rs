//! A simple command of a line: its words, and what surrounds it.

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

impl Word {
    /// True if the shell expands the word.
    pub(super) fn expands(&self) -> bool {
        let is_literal = self.raw.len() > 1 && self.raw.starts_with('\'') && self.raw.ends_with('\'');
        !is_literal && self.raw.contains(['$', '`'])
    }
}

/// The source of a command's input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Input {
    /// Its own input.
    Own,
    /// The command before it in a pipe.
    Pipe,
}

/// What becomes of a command's status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StatusUse {
    /// The line can end with it.
    Kept,
    /// A later command of the line replaces it: after `;`, an "or" or a pipe.
    Replaced,
}

/// Whether a command can be run without the rest of its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Context {
    /// It can, in the folder to which the line changed before; none if it did not.
    Independent { folder: Option<String> },
    /// It cannot: it is in a loop, after a pipe or an "or", in the background, or reads a here-document.
    Dependent,
}

/// A simple command; it has at least one word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SimpleCommand {
    /// The program as written, without quotes.
    original: String,
    /// Its base name.
    program: String,
    /// Its arguments.
    pub(super) arguments: Vec<Word>,
    pub(super) input: Input,
    /// The files into which its output is redirected.
    pub(super) outputs: Vec<String>,
    pub(super) context: Context,
    pub(super) status: StatusUse,
    /// The words before the program as typed: assignments, `sudo`.
    pub(super) lead: Vec<Word>,
}

impl SimpleCommand {
    /// A [dependent](Context::Dependent) command. None if no word names a program.
    pub(super) fn new(words: Vec<Word>, input: Input) -> Option<Self> {
        let mut words = words.into_iter();
        let first = words.next()?;
        let program = Some(base_name(&first.text)).filter(|name| !name.is_empty())?.to_owned();
        let (original, arguments, lead) = (first.text, words.collect(), Vec::new());
        let outputs = Vec::new();
        let (context, status) = (Context::Dependent, StatusUse::Kept);
        Some(Self { original, program, arguments, input, outputs, context, status, lead })
    }

    pub(super) fn program(&self) -> &str {
        &self.program
    }

    pub(super) fn original(&self) -> &str {
        &self.original
    }

    /// The program as written and the arguments.
    pub(super) fn originals(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.original.as_str()).chain(self.arguments.iter().map(|word| word.text.as_str()))
    }

    /// The program's base name and the arguments.
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.program.as_str()).chain(self.arguments.iter().map(|word| word.text.as_str()))
    }
}

/// The last component of a path, also of a Windows one; without the suffix of a Windows program.
pub(super) fn base_name(path: &str) -> &str {
    let name = path.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or_default();
    name.strip_suffix(".exe").unwrap_or(name)
}

/// The names of the variables that the shell expands in a word as typed.
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
