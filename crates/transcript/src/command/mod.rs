//! Command lines: program, subcommand, purpose, and the difference between two lines.

mod invocation;
mod normal;
mod procedure;
mod program;
mod related;
mod shell;
mod simple_command;
mod step;
mod word_diff;

pub use invocation::Invocation;
pub use procedure::{are_alike, normal_forms};
pub use program::Purpose;
pub use related::Relation;
pub use step::{ChangedFiles, Step};
pub use word_diff::WordChange;

use simple_command::{SimpleCommand, StatusUse};

/// A command line, parsed by shell grammar. It is never run.
///
/// ```
/// let line = adage_transcript::CommandLine::parse("cd /srv && sudo docker build -t myapp:v1 . | tail -5");
/// assert_eq!(line.topic(), "docker");
/// assert_eq!(line.normal_form(), "docker build");
/// assert_eq!(adage_transcript::CommandLine::parse("").topic(), "unknown");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine {
    text: String,
    /// Every simple command, in order, without wrappers such as `sudo`.
    parts: Vec<SimpleCommand>,
}

/// Whether a command line changes anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It only lists, prints or searches.
    Looks,
    /// It builds, tests, installs or writes; also any unknown program.
    Acts,
}

impl CommandLine {
    /// Parses a command line. A line that does not fit the grammar is split by words and operators only; an empty one has no
    /// parts.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let parts = shell::split(text).into_iter().flat_map(program::unwrap).collect();
        Self { text: text.trim().to_owned(), parts }
    }

    /// The line as written, without surrounding white space.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The program of the first command that is not preparation (`cd`, `export`, `echo`, …): its base name, without
    /// `VAR=value`, `sudo`, `time` and quotes. None if there is no command.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        self.main_parts().first().map(|part| part.program())
    }

    /// Every program that the line runs, including preparation and filters.
    pub fn programs(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().map(SimpleCommand::program)
    }

    /// Every simple command of the line, in order: the program's base name and its arguments, without quotes. Commands in
    /// substitutions are not included.
    ///
    /// ```
    /// let line = adage_transcript::CommandLine::parse("sudo git log -1 | head");
    /// let commands: Vec<_> = line.commands().collect();
    /// assert_eq!(commands, [("git", vec!["log", "-1"]), ("head", vec![])]);
    /// ```
    pub fn commands(&self) -> impl Iterator<Item = (&str, Vec<&str>)> {
        self.parts.iter().map(|part| (part.program(), part.words().skip(1).collect()))
    }

    /// Every simple command of the line, in order, with how it was written.
    pub fn invocations(&self) -> impl Iterator<Item = Invocation<'_>> {
        self.parts.iter().map(Invocation::of)
    }

    /// The variables that the shell puts into the arguments of a command, with the base name of its program. What is in single
    /// quotes is not expanded.
    ///
    /// ```
    /// let line = adage_transcript::CommandLine::parse("cat \"$HOME/a\" '$x' && ls ${dir}/b");
    /// assert_eq!(line.variables().collect::<Vec<_>>(), [("cat", "HOME"), ("ls", "dir")]);
    /// ```
    pub fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        self.parts.iter().flat_map(|part| {
            let words = part.arguments.iter().flat_map(|word| simple_command::variables(&word.raw));
            words.map(move |name| (part.program(), name))
        })
    }

    /// The paths among the arguments of the main commands.
    pub fn operands(&self) -> impl Iterator<Item = &str> {
        let words = self.main_parts().into_iter().flat_map(|part| &part.arguments);
        words.map(|word| word.text.as_str()).filter(|word| !word.starts_with('-') && word.contains(['/', '.']))
    }

    /// The program in lower case; `unknown` if there is none.
    #[must_use]
    pub fn topic(&self) -> String {
        self.program().map(str::to_lowercase).filter(|topic| !topic.is_empty()).unwrap_or_else(|| "unknown".to_owned())
    }

    /// A normalised form of the line for comparisons: it keeps programs and subcommands, and omits flags, values, paths,
    /// versions and quoted text. URLs become `<url>`. Several commands are joined by ` && `.
    #[must_use]
    pub fn normal_form(&self) -> String {
        let mut forms: Vec<String> = self.main_parts().into_iter().map(normal::form).collect();
        forms.dedup();
        forms.join(" && ")
    }

    /// [`normal_form`](Self::normal_form) as a name: lower-case letters, digits and single hyphens, at most 60 characters.
    #[must_use]
    pub fn slug(&self) -> String {
        slug(&self.normal_form())
    }

    /// How a later command line relates to this one, which failed; none if they are unrelated.
    #[must_use]
    pub fn relation_to(&self, later: &Self) -> Option<Relation> {
        related::relation(self, later)
    }

    /// True if a later line runs another program on an operand of this one, as when a program is not installed.
    #[must_use]
    pub fn is_replaced_by(&self, later: &Self) -> bool {
        related::is_replaced(self, later)
    }

    /// The word changes that turn this line into the other one; empty if they have the same words.
    #[must_use]
    pub fn word_changes(&self, other: &Self) -> Vec<WordChange> {
        word_diff::changes(&self.text, &other.text)
    }

    /// True if the status of the line is not that of its main command: it is before a pipe, another command or an "or".
    ///
    /// ```
    /// use adage_transcript::CommandLine;
    ///
    /// assert!(CommandLine::parse("go build ./... 2>&1 | head -30").hides_status());
    /// assert!(CommandLine::parse("make; echo done").hides_status());
    /// assert!(!CommandLine::parse("cd web && npm test").hides_status());
    /// assert!(!CommandLine::parse("git commit -m 'fix; done | tested'").hides_status());
    /// ```
    #[must_use]
    pub fn hides_status(&self) -> bool {
        self.parts.iter().any(|part| part.status == StatusUse::Replaced)
    }

    /// Whether the line changes anything.
    #[must_use]
    pub fn effect(&self) -> Effect {
        let acts = self.main_parts().iter().any(|part| program::effect(part) == Effect::Acts);
        if acts { Effect::Acts } else { Effect::Looks }
    }

    /// The commands of the line that can be run again as written, in order. Excluded are errands, checks narrowed to one test,
    /// and commands in a temporary folder. These files and their folders are replaced by placeholders.
    #[must_use]
    pub fn steps(&self, files: &ChangedFiles) -> Vec<Step> {
        let steps = self.parts.iter().filter_map(Step::of).map(|step| step.without_changed(files));
        steps.filter(Step::is_lasting).collect()
    }

    /// True for a line that only changes where and how the next ones run: `cd web`, `export X=1`, `source .venv/bin/activate`.
    #[must_use]
    pub fn sets_the_scene(&self) -> bool {
        let sets = |part: &SimpleCommand| program::sets_the_scene(part.program());
        !self.parts.is_empty() && self.parts.iter().all(sets)
    }

    /// True for a line that commits to version control.
    #[must_use]
    pub fn commits(&self) -> bool {
        self.parts.iter().any(|part| matches!(normal::form(part).as_str(), "git commit" | "hg commit" | "svn commit"))
    }

    /// True if every command of the line concerns version control or its host, as the lines after a commit do.
    #[must_use]
    pub fn publishes(&self) -> bool {
        self.main_parts().iter().all(|part| program::is_version_control(part.program()))
    }

    /// True for a line that closes an issue, a task or a ticket.
    #[must_use]
    pub fn closes(&self) -> bool {
        let closes = |part: &SimpleCommand| {
            let form = normal::form(part);
            form.split(' ').skip(1).any(|word| matches!(word, "close" | "done" | "finish" | "complete" | "resolve"))
        };
        self.parts.iter().any(closes)
    }

    /// The purpose of the line's commands, if they share one.
    #[must_use]
    pub fn purpose(&self) -> Purpose {
        let mut purposes = self.main_parts().into_iter().map(program::purpose);
        let first = purposes.next().unwrap_or(Purpose::Other);
        if purposes.all(|purpose| purpose == first) { first } else { Purpose::Other }
    }

    /// The line without filters of its output and comments, if the rest can be run as written; otherwise the whole line.
    #[must_use]
    pub fn plain_text(&self) -> String {
        let acting = self.main_parts();
        let steps: Vec<Step> = acting.iter().filter_map(|part| Step::of(part)).collect();
        if steps.is_empty() || steps.len() < acting.len() {
            return self.text.clone();
        }
        let folder = steps.first().and_then(|step| step.folder.clone()).map(|folder| format!("cd {folder}"));
        folder.into_iter().chain(steps.iter().map(Step::text)).collect::<Vec<_>>().join(" && ")
    }

    /// The main commands: without preparation and without filters at the end of a pipe. If any of them acts, only those that
    /// act: an `ls` next to a build says nothing about the build.
    fn main_parts(&self) -> Vec<&SimpleCommand> {
        let main: Vec<&SimpleCommand> = self.parts.iter().filter(|part| program::is_main(part)).collect();
        let acting: Vec<&SimpleCommand> =
            main.iter().copied().filter(|part| program::effect(part) == Effect::Acts).collect();
        match (acting.is_empty(), main.is_empty()) {
            (false, _) => acting,
            (true, false) => main,
            // The line has only preparation.
            (true, true) => self.parts.iter().take(1).collect(),
        }
    }
}

/// A text as a name: lower-case letters, digits and single hyphens, at most 60 characters; `unknown` if nothing is left.
#[must_use]
pub fn slug(text: &str) -> String {
    const MAX_CHARS: usize = 60;
    let cut: String = hyphenated(text, char::is_alphanumeric).chars().take(MAX_CHARS).collect();
    let cut = cut.trim_end_matches('-');
    if cut.is_empty() { "unknown".to_owned() } else { cut.to_owned() }
}

/// A text in lower case, with each run of other characters replaced by one hyphen. There is none at its start; there may be one
/// at its end.
#[must_use]
pub fn hyphenated(text: &str, is_kept: fn(char) -> bool) -> String {
    let mut out = String::new();
    for c in text.chars().flat_map(char::to_lowercase) {
        if is_kept(c) {
            out.push(c);
        } else if !out.is_empty() && !out.ends_with('-') {
            out.push('-');
        }
    }
    out
}

/// The words of `MultiEdit`, `apply_patch`, `write-file` or a line, in lower case.
#[must_use]
pub fn name_words(name: &str) -> Vec<String> {
    let mut spaced = String::new();
    let mut was_lower = false;
    for c in name.chars() {
        if was_lower && c.is_uppercase() {
            spaced.push(' ');
        }
        was_lower = c.is_lowercase();
        spaced.extend(c.to_lowercase());
    }
    spaced.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests;
