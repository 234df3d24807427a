//! The usual form of a command that a session wrote in several forms, as a lesson recommends it.

use std::ops::Range;

use adage_transcript::command::{Purpose, Step};

use super::session::Session;

/// The usual form of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UsualForm {
    /// The command line, possibly with a placeholder.
    pub(super) text: String,
    /// The folder it was run in, relative to the project. None for the project's folder, and if the uses do not agree.
    pub(super) folder: Option<String>,
    /// The number of uses in this form. A placeholder matches any operand.
    pub(super) times: usize,
}

/// The form that was used most often, the widest of equals. If the uses differ in one operand and few repeat it, a placeholder
/// replaces the operand. None for no uses.
pub(super) fn usual_form<'a>(session: &Session<'_>, uses: &[&'a Step]) -> Option<UsualForm> {
    let exact = most_frequent(uses.iter().map(|step| Variant::of(step)).collect());
    let with_place = most_frequent(uses.iter().flat_map(|step| Variant::with_placeholders(step)).collect());
    // One of many different operands is only an example.
    let with_place =
        with_place.filter(|(_, times)| exact.as_ref().is_none_or(|(_, n_exact)| *n_exact < 2 || n_exact * 2 < *times));
    let is_placed = with_place.is_some();
    let (way, times) = with_place.or(exact)?;
    let mut same = uses.iter().filter(|step| if is_placed { way.fits(step) } else { way == Variant::of(step) });
    let folder = same.next().and_then(|step| step.folder.as_deref());
    let folder = folder.filter(|folder| same.all(|step| step.folder.as_deref() == Some(*folder)));
    // The project's folder differs between machines.
    let project = session.transcript.project.trim_end_matches('/');
    let within = |folder: &'a str| match folder.strip_prefix(project).filter(|_| project.len() > 1) {
        Some(below) if below.starts_with('/') || below.is_empty() => below.trim_matches('/'),
        _ => folder,
    };
    let folder = folder.map(within).filter(|folder| !folder.is_empty());
    Some(UsualForm { text: way.words.join(" "), folder: folder.map(str::to_owned), times })
}

impl UsualForm {
    /// True if it has an operand besides program, subcommand and flags, and no placeholder.
    pub(super) fn is_specific(&self, form: &str) -> bool {
        let mut operands = self.text.split(' ').filter(|word| !form.split(' ').any(|own| own == *word));
        !self.text.contains('<') && operands.any(|word| !word.starts_with('-'))
    }

    /// True for a command of this form. A placeholder matches any word.
    pub(super) fn fits(&self, step: &Step) -> bool {
        let words: Vec<&str> = self.text.split(' ').collect();
        let own = step.text();
        let own: Vec<&str> = own.split(' ').collect();
        words.len() == own.len() && words.iter().zip(own).all(|(word, own)| *word == own || word.starts_with('<'))
    }

    /// The command line, preceded by `cd` to its folder if it has one.
    pub(super) fn whole(&self) -> String {
        self.folder.as_ref().map_or_else(|| self.text.clone(), |folder| format!("cd {folder} && {}", self.text))
    }
}

/// One form of a command: its words, one of them possibly a placeholder.
#[derive(Clone, PartialEq, Eq)]
struct Variant {
    words: Vec<String>,
    /// The index of the placeholder.
    place: Option<usize>,
    /// The operand that the placeholder replaces, to detect placeholders for operands that never differ. Empty without one.
    operand: String,
}

impl Variant {
    /// The command as it was run.
    fn of(step: &Step) -> Self {
        Self { words: step.words.clone(), place: None, operand: String::new() }
    }

    /// The command with each of its operands replaced by a placeholder in turn. Empty without operands.
    fn with_placeholders(step: &Step) -> Vec<Self> {
        let is_open = |word: &str| !word.starts_with(['-', '<', '"']) && !step.form.split(' ').any(|own| own == word);
        let places = step.words.iter().enumerate().skip(1).filter(|(_, word)| is_open(word));
        let way = |(place, word): (usize, &String)| {
            let mut words = step.words.clone();
            if let Some(open) = words.get_mut(place) {
                (if word.contains(['/', '.']) && !word.contains(|c: char| c.is_ascii_digit()) {
                    "<path>"
                } else {
                    "<id>"
                })
                .clone_into(open);
            }
            Self { words, place: Some(place), operand: word.clone() }
        };
        places.map(way).collect()
    }

    /// The sort key of forms that were used equally often, the widest first: the shortest form for the whole project, else the longest
    /// list of paths.
    fn narrowness(&self) -> (bool, usize) {
        let is_path = |word: &&String| word.contains('/') && !word.starts_with('-');
        let n_paths = self.words.iter().skip(1).filter(is_path).count();
        let is_all = (n_paths == 0 && !self.words.iter().any(|word| word.contains('<')))
            || self.words.iter().any(|word| word.contains("..."));
        let length: usize = self.words.iter().map(String::len).sum();
        (!is_all, if is_all { length } else { usize::MAX - length })
    }

    /// True for a command with the same words, except at the placeholder.
    fn fits(&self, step: &Step) -> bool {
        self.words.len() == step.words.len()
            && self.words.iter().zip(&step.words).enumerate().all(|(n, (a, b))| Some(n) == self.place || a == b)
    }
}

/// The most frequent form and its count. The widest of equals wins, then the earliest. Forms with a placeholder count only if its
/// operands differ. None for no forms.
fn most_frequent(ways: Vec<Variant>) -> Option<(Variant, usize)> {
    let mut counts: Vec<(Variant, usize, bool)> = Vec::new();
    for way in ways {
        let known = counts.iter_mut().find(|(known, ..)| known.words == way.words && known.place == way.place);
        match known {
            Some((known, count, differs)) => {
                *count += 1;
                *differs |= known.operand != way.operand;
            }
            None => counts.push((way, 1, false)),
        }
    }
    let counted = counts.into_iter().filter(|(way, _, differs)| way.place.is_none() || *differs);
    let found = counted.min_by(|(a, n, _), (b, m, _)| m.cmp(n).then(a.narrowness().cmp(&b.narrowness())));
    found.map(|(way, times, _)| (way, times))
}

/// When to run these commands, as a phrase for a trigger: "after changing .rs files" for checks and formatters after edits in the
/// given spans of turns, "changing .rs files" if at least half of the commands are such, "checking the code" for checks without edits.
/// None for other commands.
pub(super) fn occasion(session: &Session<'_>, steps: &[&Step], spans: &[Range<usize>]) -> Option<String> {
    let follows_changes = |step: &&&Step| matches!(step.purpose, Purpose::Checks | Purpose::Formats);
    let n_following = steps.iter().filter(follows_changes).count();
    let spans: Vec<&Range<usize>> =
        spans.iter().filter(|span| !session.edits(span.start, span.end).is_empty()).collect();
    if spans.is_empty() && n_following == steps.len() {
        return Some("checking the code".to_owned());
    }
    if spans.is_empty() || n_following * 2 < steps.len() {
        return None;
    }
    let when = if n_following == steps.len() { "after changing" } else { "changing" };
    let (mut kinds, mut n_named): (Vec<(String, usize)>, usize) = (Vec::new(), 0);
    for span in spans {
        let files = session.edited_files(span.start, span.end);
        n_named += files.len();
        let mut own: Vec<&str> = files.iter().filter_map(|file| kind(file)).collect();
        own.sort_unstable();
        own.dedup();
        for kind in own {
            match kinds.iter_mut().find(|(known, _)| *known == kind) {
                Some((_, count)) => *count += 1,
                None => kinds.push((kind.to_owned(), 1)),
            }
        }
    }
    kinds.sort_by(|(a, n), (b, m)| m.cmp(n).then(a.cmp(b)));
    match kinds.as_slice() {
        [] if n_named == 0 => Some(format!("{when} files")),
        // Only text files were changed.
        [] => (n_following == steps.len()).then(|| "checking the code".to_owned()),
        [(kind, n), (second, m), ..] if m * 2 > *n => Some(format!("{when} .{kind} and .{second} files")),
        [(kind, _), ..] => Some(format!("{when} .{kind} files")),
    }
}

/// The suffix of a code file. None for text files, which checks of code ignore.
fn kind(file: &str) -> Option<&str> {
    let (_, kind) = file.rsplit_once('.')?;
    let is_text = matches!(kind, "md" | "txt" | "rst" | "adoc" | "log");
    (!is_text && kind.len() <= 5 && kind.chars().all(char::is_alphanumeric)).then_some(kind)
}
