//! Going through what waits, one by one, at a terminal.

use std::error::Error;
use std::fs::{self, OpenOptions};
use std::io::{self, BufRead, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use adage::{Inbox, Proposal};

use crate::args::Global;
use crate::inbox::{Access, Places, coloured, list};
use crate::{Done, Output, chain, say};

/// What was decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tally {
    applied: usize,
    dismissed: usize,
    left: usize,
}

pub(crate) fn review(global: &Global, places: &Places, out: &mut Output) -> Done {
    let is_terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
    if out.json || !is_terminal {
        let playbook = places.playbook(global, Access::Look)?;
        let done = list(&playbook, out)?;
        if playbook.inbox().notice()?.is_none() {
            return Ok(done);
        }
        say("nothing was decided: `review` asks at a terminal; `inbox apply` and `inbox dismiss` do not ask");
        return Ok(ExitCode::from(1));
    }
    let inbox = places.playbook(global, Access::Change)?.inbox();
    let tally = ask(&inbox, &mut io::stdin().lock(), &mut out.stream, &mut in_editor)?;
    out.line(&format!("{} applied, {} dismissed, {} left", tally.applied, tally.dismissed, tally.left))?;
    Ok(ExitCode::SUCCESS)
}

/// What a person answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Yes,
    NotNow,
    Skip,
    Edit,
    Quit,
}

const HELP: &str = "\
y  apply it
n  not now: it goes on waiting
s  skip it for good
e  edit it first
q  quit: the rest goes on waiting
";

/// Changes a text by hand; none when nothing came of it.
type Edit<'a> = dyn FnMut(&[u8], &Proposal) -> Result<Option<Vec<u8>>, Box<dyn Error>> + 'a;

/// Shows one proposal after the other and does with each what the answer says. An error leaves the proposal waiting.
fn ask(
    inbox: &Inbox,
    input: &mut dyn BufRead,
    out: &mut dyn Write,
    edit: &mut Edit<'_>,
) -> Result<Tally, Box<dyn Error>> {
    let mut tally = Tally::default();
    let proposals = inbox.list()?;
    let n_proposals = proposals.len();
    let mut is_over = false;
    for (n, mut proposal) in proposals.into_iter().enumerate() {
        if is_over {
            tally.left += 1;
            continue;
        }
        loop {
            match inbox.show(&proposal) {
                Ok(shown) => {
                    write!(
                        out,
                        "\n({}/{n_proposals}) {}: {}\n\n{}",
                        n + 1,
                        proposal.name,
                        proposal.summary,
                        coloured(&shown)
                    )?;
                }
                Err(error) => {
                    writeln!(out, "{}: {}", proposal.name, chain(&error))?;
                    tally.left += 1;
                    break;
                }
            }
            let one = std::slice::from_ref(&proposal);
            let done = match answer(input, out)? {
                Answer::Yes => inbox.apply(one).map(|applied| {
                    tally.applied += 1;
                    applied.change
                }),
                Answer::Skip => inbox.dismiss(one).map(|dismissed| {
                    tally.dismissed += 1;
                    dismissed.change
                }),
                Answer::Edit => {
                    match edited(inbox, &proposal, edit) {
                        Ok(Some(changed)) => proposal = changed,
                        Ok(None) => writeln!(out, "nothing was edited")?,
                        Err(error) => writeln!(out, "the edited one was not taken: {}", chain(error.as_ref()))?,
                    }
                    continue;
                }
                answer @ (Answer::NotNow | Answer::Quit) => {
                    is_over = answer == Answer::Quit;
                    tally.left += 1;
                    break;
                }
            };
            match done {
                Ok(Some(change)) => writeln!(out, "done; undo with: adage inbox undo {change}")?,
                Ok(None) => writeln!(out, "done")?,
                Err(error) => {
                    writeln!(out, "not done: {}", chain(&error))?;
                    tally.left += 1;
                }
            }
            break;
        }
    }
    Ok(tally)
}

/// Asks until there is an answer; the end of the input is one.
fn answer(input: &mut dyn BufRead, out: &mut dyn Write) -> io::Result<Answer> {
    loop {
        write!(out, "\napply? [y,n,s,e,q,?] ")?;
        out.flush()?;
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            writeln!(out)?;
            return Ok(Answer::Quit);
        }
        match line.trim().to_lowercase().as_str() {
            "y" | "yes" => return Ok(Answer::Yes),
            "n" | "no" => return Ok(Answer::NotNow),
            "s" | "skip" => return Ok(Answer::Skip),
            "e" | "edit" => return Ok(Answer::Edit),
            "q" | "quit" => return Ok(Answer::Quit),
            _ => write!(out, "{HELP}")?,
        }
    }
}

fn edited(inbox: &Inbox, proposal: &Proposal, edit: &mut Edit<'_>) -> Result<Option<Proposal>, Box<dyn Error>> {
    if matches!(proposal.name, adage::ProposalName::Lesson(_)) {
        return Err("a lesson is not edited here: skip it, and learn the better one".into());
    }
    let text = inbox.text(proposal)?;
    match edit(&text, proposal)? {
        Some(changed) if changed != text => Ok(Some(inbox.replace(proposal, &changed)?)),
        _ => Ok(None),
    }
}

/// Opens the person's editor on a text.
fn in_editor(text: &[u8], proposal: &Proposal) -> Result<Option<Vec<u8>>, Box<dyn Error>> {
    #[expect(clippy::disallowed_methods, reason = "the program's own setting; the library reads no environment")]
    let setting = |name: &str| std::env::var(name).ok().filter(|command| !command.trim().is_empty());
    let command = setting("VISUAL").or_else(|| setting("EDITOR")).unwrap_or_else(|| "vi".to_owned());
    let words = shlex::split(&command).ok_or_else(|| format!("{command:?} is no command"))?;
    let (program, arguments) = words.split_first().ok_or("there is no editor; set VISUAL or EDITOR")?;
    let ending = if matches!(proposal.name, adage::ProposalName::Skill(_)) { "md" } else { "patch" };
    let file = Scratch::new(text, ending)?;
    let status = Command::new(program).args(arguments).arg(&file.path).status();
    let status = status.map_err(|error| format!("{program} could not be started: {error}"))?;
    if !status.success() {
        return Ok(None);
    }
    let mut changed = Vec::new();
    fs::File::open(&file.path)?.read_to_end(&mut changed)?;
    Ok(Some(changed))
}

/// A file that only this person can read and that goes when it is done with.
struct Scratch {
    path: PathBuf,
}

impl Scratch {
    fn new(text: &[u8], ending: &str) -> io::Result<Self> {
        let folder: &Path = &std::env::temp_dir();
        for n in 0..100 {
            let path = folder.join(format!("adage-review-{}-{n}.{ending}", std::process::id()));
            let mut options = OpenOptions::new();
            options.write(true).create_new(true);
            #[cfg(unix)]
            {
                use std::os::unix::fs::OpenOptionsExt;
                options.mode(0o600);
            }
            match options.open(&path) {
                Ok(mut file) => {
                    file.write_all(text)?;
                    return Ok(Self { path });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::new(io::ErrorKind::AlreadyExists, "no free name for a temporary file"))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        #[expect(clippy::disallowed_methods, reason = "a file of the program, not of the store")]
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use adage::{PatchKind, Playbook, Trust, build_lesson};

    fn inbox(folder: &Path) -> Inbox {
        let playbook = Playbook::builder(folder).without_embedder().open().unwrap();
        let notes = folder.canonicalize().unwrap().join("new.md");
        let patch = format!("--- /dev/null\n+++ {}\n@@ -0,0 +1 @@\n+first\n", notes.display());
        playbook.inbox().propose(&PatchKind::Private, patch.as_bytes()).unwrap();
        playbook.inbox().propose_skill(&"release".parse().unwrap(), "# Release\n").unwrap();
        for trigger in ["parse dates", "pin numpy"] {
            playbook.learn_lesson(build_lesson(trigger, "so").trust(Trust::Tainted)).unwrap();
        }
        playbook.inbox()
    }

    /// What comes of these answers, and what was printed.
    fn check(inbox: &Inbox, answers: &str, edit: &mut Edit<'_>) -> (Tally, String) {
        let mut out = Vec::new();
        let tally = ask(inbox, &mut answers.as_bytes(), &mut out, edit).unwrap();
        (tally, String::from_utf8(out).unwrap())
    }

    fn no_editor(_: &[u8], _: &Proposal) -> Result<Option<Vec<u8>>, Box<dyn Error>> {
        Err("there is no editor".into())
    }

    #[test]
    fn each_answer_does_what_it_says() {
        let folder = tempfile::tempdir().unwrap();
        let inbox = inbox(folder.path());
        let (tally, said) = check(&inbox, "what?\nY\nn\ns\nyes\n", &mut no_editor);
        assert_eq!(tally, Tally { applied: 2, dismissed: 1, left: 1 });
        assert!(
            said.contains("(1/4) private: ") && said.contains("+first") && said.contains("s  skip it for good"),
            "{said}"
        );
        assert!(folder.path().join("new.md").exists());
        let left: Vec<String> = inbox.list().unwrap().iter().map(|left| left.name.to_string()).collect();
        assert_eq!(left, ["skills/release"]);
    }

    #[test]
    fn the_end_of_the_input_leaves_the_rest() {
        for answers in ["", "q\n", "nonsense\n"] {
            let folder = tempfile::tempdir().unwrap();
            let inbox = inbox(folder.path());
            let (tally, _) = check(&inbox, answers, &mut no_editor);
            assert_eq!(tally, Tally { left: 4, ..Tally::default() });
            assert_eq!(inbox.list().unwrap().len(), 4);
        }
    }

    #[test]
    fn what_is_edited_is_shown_again_before_it_is_applied() {
        let folder = tempfile::tempdir().unwrap();
        let inbox = inbox(folder.path());
        let mut n_edits = 0;
        let mut edit = |text: &[u8], _: &Proposal| {
            n_edits += 1;
            let text = String::from_utf8(text.to_vec())?;
            Ok(match n_edits {
                1 => None,
                2 => Some(text.replace("+first", "first").into_bytes()),
                3 => Some(text.replace("+first\n", "+first\n+second\n").into_bytes()),
                _ => Some(b"# Release\n\nTwice.\n".to_vec()),
            })
        };
        let (tally, said) = check(&inbox, "e\ne\ne\ny\ne\ny\ne\nq\n", &mut edit);
        assert_eq!(tally, Tally { applied: 2, dismissed: 0, left: 2 });
        assert!(said.contains("nothing was edited") && said.contains("the edited one was not taken: "), "{said}");
        assert!(said.contains("+second") && said.contains("a lesson is not edited here"), "{said}");
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(read("new.md"), "first\nsecond\n");
        assert_eq!(read("skills/release/SKILL.md"), "# Release\n\nTwice.\n");
    }

    #[test]
    fn what_changed_meanwhile_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let inbox = inbox(folder.path());
        let patch = folder.path().join(".inbox/private/extraction.patch");
        let mut edit = |text: &[u8], _: &Proposal| {
            // An agent writes at the same time.
            let mut file = fs::File::create(&patch)?;
            file.write_all(&[text, b"\n"].concat())?;
            Ok(Some(text.to_vec()))
        };
        let (tally, said) = check(&inbox, "e\nq\n", &mut edit);
        assert_eq!(tally, Tally { left: 4, ..Tally::default() });
        assert!(said.contains("private changed: "), "{said}");
        assert!(!folder.path().join("new.md").exists());
    }

    #[test]
    fn scratch_files_go() {
        let path = {
            let file = Scratch::new(b"x", "patch").unwrap();
            assert_eq!(fs::read(&file.path).unwrap(), b"x");
            file.path.clone()
        };
        assert!(!path.exists());
    }
}
