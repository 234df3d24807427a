//! A simple command of a line, as it is compared with another one.

use super::normal;
use super::program::{Purpose, purpose};
use super::simple_command::SimpleCommand;

/// A simple command of a line, without a wrapper such as `sudo`.
///
/// ```
/// use adage_transcript::{CommandLine, command::Invocation};
///
/// let line = CommandLine::parse("cd web && CI=1 /usr/bin/git push -u origin main");
/// let push: Invocation<'_> = line.invocations().last().unwrap();
/// assert_eq!((push.program, push.name), ("/usr/bin/git", "git"));
/// assert_eq!((push.form.as_str(), push.lead.as_slice()), ("git push", &["CI=1"][..]));
/// assert_eq!(push.arguments(), ["-u", "origin", "main"]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Invocation<'l> {
    /// The program as written, with its folder if one is named.
    pub program: &'l str,
    /// Its base name.
    pub name: &'l str,
    /// Program and subcommand.
    pub form: String,
    /// What it is for.
    pub purpose: Purpose,
    /// The words before the program: assignments, `sudo`.
    pub lead: Vec<&'l str>,
    /// The words after the program, without quotes.
    pub words: Vec<&'l str>,
}

impl<'l> Invocation<'l> {
    pub(super) fn of(part: &'l SimpleCommand) -> Self {
        Self {
            program: part.original(),
            name: part.program(),
            form: normal::form(part),
            purpose: purpose(part),
            lead: part.lead.iter().map(|word| word.text.as_str()).collect(),
            words: part.arguments.iter().map(|word| word.text.as_str()).collect(),
        }
    }

    /// The words after the program and the subcommand.
    #[must_use]
    pub fn arguments(&self) -> Vec<&'l str> {
        let mut named: Vec<&str> = self.form.split(' ').skip(1).collect();
        let mut is_argument = |word: &&str| match named.iter().position(|name| name == word) {
            Some(at) => {
                named.remove(at);
                false
            }
            None => true,
        };
        self.words.iter().copied().filter(|word| is_argument(word)).collect()
    }
}
