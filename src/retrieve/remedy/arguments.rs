//! The arguments of a command: flags with their values, and operands.

/// A word of a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Argument<'w> {
    /// A flag, without a value that is joined to it by `=`.
    Flag {
        name: &'w str,
        value: Option<&'w str>,
    },
    /// A word after a flag: its value, or an operand.
    AfterFlag(&'w str),
    Operand(&'w str),
}

/// What a word stands for, as far as a command may take it in another way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Several files or packages: `./...`, `src/*.js`.
    Several,
    /// A folder, by the slash at its end.
    Folder,
    /// A device: `/dev/null`.
    Device,
    Other,
}

/// Flags that select what operands would name otherwise.
const SELECTING: [&str; 4] = ["--all", "--tags", "--mirror", "--branches"];

/// The arguments of a command line's words.
pub(super) fn arguments<'w>(words: &[&'w str]) -> Vec<Argument<'w>> {
    let mut found: Vec<Argument<'w>> = Vec::new();
    for (at, word) in words.iter().copied().enumerate() {
        let next = words.get(at + 1).copied().filter(|next| !is_flag(next));
        found.push(match word.split_once('=').filter(|_| is_flag(word)) {
            Some((name, value)) => Argument::Flag { name, value: Some(value) },
            None if is_flag(word) => Argument::Flag { name: word, value: next },
            None if at.checked_sub(1).and_then(|before| words.get(before)).is_some_and(|word| takes_next(word)) => {
                Argument::AfterFlag(word)
            }
            None => Argument::Operand(word),
        });
    }
    found
}

fn takes_next(word: &str) -> bool {
    is_flag(word) && !word.contains('=')
}

pub(super) fn is_flag(word: &str) -> bool {
    word.starts_with('-') && word.chars().any(char::is_alphanumeric)
}

/// True for a placeholder of a lesson.
pub(super) fn is_placeholder(word: &str) -> bool {
    word.starts_with('%') && word.ends_with('%') && word.len() > 2
}

/// The number of words that are operands, whatever the flags before them take. A flag that selects them counts as one.
pub(super) fn n_operands(arguments: &[Argument<'_>]) -> usize {
    let is_one = |argument: &&Argument<'_>| match argument {
        Argument::Operand(_) => true,
        Argument::Flag { name, .. } => SELECTING.contains(name),
        Argument::AfterFlag(_) => false,
    };
    arguments.iter().filter(is_one).count()
}

impl<'w> Argument<'w> {
    /// Another argument of the same kind: the same flag with any value of its kind, or an operand of the same kind.
    pub(super) fn is_like(self, other: Argument<'_>) -> bool {
        match (self, other) {
            (Self::Flag { name, value }, Argument::Flag { name: other, value: other_value }) => {
                is_same_flag((name, value), (other, other_value)) && value.map(kind_of) == other_value.map(kind_of)
            }
            (Self::Flag { .. }, _) | (_, Argument::Flag { .. }) => false,
            _ => kind_of(self.text()) == kind_of(other.text()),
        }
    }

    /// True if a command has the flag with any value, or the word.
    pub(super) fn is_in(self, arguments: &[Argument<'_>]) -> bool {
        arguments.iter().any(|other| match (self, *other) {
            (Self::Flag { name, value }, Argument::Flag { name: other, value: other_value }) => {
                is_same_flag((name, value), (other, other_value))
            }
            (Self::Flag { .. }, _) => false,
            (_, Argument::Flag { value, .. }) => value == Some(self.text()),
            _ => is_placeholder(self.text()) || other.text() == self.text(),
        })
    }

    pub(super) fn is_flag(self) -> bool {
        matches!(self, Self::Flag { .. })
    }

    /// True for an operand that stands for several files or packages.
    pub(super) fn is_of_several(self) -> bool {
        !self.is_flag() && kind_of(self.text()) == Kind::Several
    }

    pub(super) fn value(self) -> Option<&'w str> {
        match self {
            Self::Flag { value, .. } => value,
            Self::AfterFlag(_) | Self::Operand(_) => None,
        }
    }

    /// The flag's name, or the word.
    pub(super) fn text(self) -> &'w str {
        match self {
            Self::Flag { name, .. } => name,
            Self::AfterFlag(word) | Self::Operand(word) => word,
        }
    }
}

/// True for the same name, or a letter and a long name that begins with it, of which both or none are followed by a value.
fn is_same_flag((name, value): (&str, Option<&str>), (other, other_value): (&str, Option<&str>)) -> bool {
    let is_letter = |name: &str| name.len() == 2 && !name.starts_with("--");
    let initial = |name: &str| name.trim_start_matches('-').chars().next().map(|c| c.to_ascii_lowercase());
    let is_letter_of = is_letter(name) != is_letter(other)
        && initial(name) == initial(other)
        && value.is_some() == other_value.is_some();
    name == other || is_letter_of
}

fn kind_of(word: &str) -> Kind {
    if word.contains("...") || word.contains('*') {
        Kind::Several
    } else if word.starts_with("/dev/") {
        Kind::Device
    } else if word.ends_with('/') {
        Kind::Folder
    } else {
        Kind::Other
    }
}
