//! Which command of a failed line corresponds to which command of a later line, when both lines have several.
//!
//! Each method returns the command of this line and its counterpart, as lines of their own. The other commands of both lines say
//! nothing about the failure.

use super::simple_command::{Form, SimpleCommand, Word};
use super::{CommandLine, normal};

impl CommandLine {
    /// The command of this line whose program's name begins the error, and the corresponding command of a later line. For `sed
    /// -n 2p f | cat -A` and `sed -n 2p f | cat -v` these are `cat -A` and `cat -v`. None if both lines consist of one command,
    /// or if the command is ambiguous.
    #[must_use]
    pub fn blamed_by(&self, error: &str, later: &Self) -> Option<(Self, Self)> {
        let name = error.split(':').next().map(str::trim)?;
        let is_named = |part: &SimpleCommand| part.program() == name;
        let own = self.only(is_named)?;
        let form = normal::form(own);
        let does_the_same = |part: &SimpleCommand| is_named(part) && normal::form(part) == form;
        let other = later.only(does_the_same).or_else(|| later.only(is_named))?;
        (self.has_rest_beside(later) && own.as_typed() != other.as_typed()).then(|| pair(own.clone(), other.clone()))
    }

    /// The command of this line whose operand an output names, and the corresponding command of a later line, both with only
    /// the named operands. For `git add a out/b && git commit -m x` after "ignored: out", it is `git add out/b`. None if the
    /// output names operands of several commands, or if the line has only one command.
    #[must_use]
    pub fn named_in(&self, output: &str, later: &Self) -> Option<(Self, Self)> {
        let said: Vec<&str> =
            output.split_whitespace().map(|word| word.trim_matches(['\'', '"', ':', ',', '.'])).collect();
        let is_named = |word: &Word| said.iter().any(|said| names(said, &word.text));
        let own = self.only(|part| part.arguments.iter().any(is_named)).filter(|_| self.parts.len() > 1)?;
        let operands: Vec<Word> = own.arguments.iter().filter(|word| is_named(word)).cloned().collect();
        let form = normal::form(own);
        let other = later
            .only(|part| normal::form(part) == form && operands.iter().any(|word| part.arguments.contains(word)))?;
        let is_kept = |word: &Word| {
            word.text.starts_with('-') || operands.contains(word) || form.split(' ').any(|own| own == word.text)
        };
        let (own, other) = (with_only(own, is_kept), with_only(other, is_kept));
        (own != other).then(|| pair(own, other))
    }

    /// The command of this line with an unquoted word, and the same program's command in a later line that quotes it, both with
    /// only this word. For `ls x; grep --include=*.c y`, it is `grep --include=*.c`. None if the line consists of nothing else.
    #[must_use]
    pub fn quoted_in(&self, word: &str, later: &Self) -> Option<(Self, Self)> {
        let is_unquoted = |argument: &Word| argument.form == Form::Plain && argument.text == word;
        let is_quoted = |argument: &Word| argument.form == Form::Quoted && argument.text.contains(word);
        let own = self.parts.iter().find(|part| part.arguments.iter().any(is_unquoted));
        let own = own.filter(|_| self.parts.len() > 1)?;
        let is_same_program = |part: &&SimpleCommand| part.program() == own.program();
        let other = later.parts.iter().filter(is_same_program).find(|part| part.arguments.iter().any(is_quoted))?;
        let with_first = |part: &SimpleCommand, is_kept: &dyn Fn(&Word) -> bool| {
            let mut part = with_only(part, is_kept);
            part.arguments.truncate(1);
            part
        };
        Some(pair(with_first(own, &is_unquoted), with_first(other, &is_quoted)))
    }

    /// The only command of this line with a flag, and the only one of a later line that does the same. None if this line
    /// consists of nothing else, or if the command is ambiguous.
    #[must_use]
    pub fn flagged_by(&self, flag: &str, later: &Self) -> Option<(Self, Self)> {
        let own = self.only(|part| part.arguments.iter().any(|word| word.text == flag))?;
        let form = normal::form(own);
        let other = later.only(|part| normal::form(part) == form)?;
        (self.parts.len() > 1 && own != other).then(|| pair(own.clone(), other.clone()))
    }

    /// The only command of this line with the same program and subcommand as a command of a later line, and that one. None if
    /// both lines consist of nothing else.
    #[must_use]
    pub fn counterparts(&self, later: &Self) -> Option<(Self, Self)> {
        let (own, others) = (self.main_parts(), later.main_parts());
        let pairs = own.iter().flat_map(|own| others.iter().map(move |other| (*own, *other)));
        let mut alike = pairs.filter(|(own, other)| normal::form(own) == normal::form(other));
        let (own, other) = alike.next().filter(|_| alike.next().is_none())?;
        (self.has_rest_beside(later) && own.as_typed() != other.as_typed())
            .then(|| pair(own.untimed(), other.untimed()))
    }

    /// The only command that `is_wanted` accepts; none if there are several.
    fn only(&self, is_wanted: impl Fn(&SimpleCommand) -> bool) -> Option<&SimpleCommand> {
        let mut parts = self.parts.iter().filter(|part| is_wanted(part));
        parts.next().filter(|_| parts.next().is_none())
    }

    /// False if this line and the later one both consist of one command.
    fn has_rest_beside(&self, later: &Self) -> bool {
        self.parts.len() > 1 || later.parts.len() > 1
    }
}

fn pair(own: SimpleCommand, other: SimpleCommand) -> (CommandLine, CommandLine) {
    let line = |part: SimpleCommand| CommandLine { text: part.as_typed(), parts: vec![part] };
    (line(own), line(other))
}

/// The command with those of its arguments that `is_kept` accepts.
fn with_only(part: &SimpleCommand, is_kept: impl Fn(&Word) -> bool) -> SimpleCommand {
    let mut part = part.clone();
    part.arguments.retain(is_kept);
    part
}

/// True if a word of an output is a path operand, or a folder of it.
fn names(said: &str, operand: &str) -> bool {
    let path = operand.trim_start_matches("./");
    let is_below = || path.strip_prefix(said).is_some_and(|rest| said.contains('/') && rest.starts_with('/'));
    path.contains(['/', '.']) && path.len() > 2 && (path == said || is_below())
}
