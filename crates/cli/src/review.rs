//! Reviewing the inbox at a terminal, one proposal at a time.

use std::error::Error;
use std::io::{self, BufRead, Write};
use std::process::ExitCode;

use adage::inbox::{Inbox, Proposal};

use crate::editor;
use crate::global::{Access, Global};
use crate::inbox::{Roots, list};
use crate::output::{Output, is_terminal, say};
use crate::result::{Done, chain};

/// Counts of what was decided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tally {
    applied: usize,
    dismissed: usize,
    left: usize,
}

pub(crate) fn review(global: &Global, roots: &Roots, out: &mut Output) -> Done {
    if out.json || !is_terminal() {
        let playbook = roots.playbook(global, Access::Read)?;
        let inbox = global.inbox(&playbook);
        let done = list(&playbook, &inbox, out)?;
        if inbox.notice()?.is_none() {
            return Ok(done);
        }
        say("nothing was decided: `review` asks at a terminal; `inbox apply` and `inbox dismiss` do not ask");
        return Ok(ExitCode::from(1));
    }
    let inbox = global.inbox(&roots.playbook(global, Access::Write)?);
    let tally = ask(&inbox, &mut io::stdin().lock(), out, &mut open_editor)?;
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
n  not now: it stays in the inbox
s  dismiss it
e  edit it first
q  quit: the rest stays in the inbox";

/// Changes a text by hand; `None` when nothing was changed.
type Edit<'a> = dyn FnMut(&[u8], &Proposal) -> Result<Option<Vec<u8>>, Box<dyn Error>> + 'a;

/// Shows one proposal after the other and carries out the answers. An error leaves the proposal in the inbox.
fn ask<W: Write>(
    inbox: &Inbox,
    input: &mut dyn BufRead,
    out: &mut Output<W>,
    edit: &mut Edit<'_>,
) -> Result<Tally, Box<dyn Error>> {
    let mut tally = Tally::default();
    let proposals = inbox.list()?;
    let n_proposals = proposals.len();
    for (n, proposal) in proposals.into_iter().enumerate() {
        let number = format!("{}/{n_proposals}", n + 1);
        match ask_about(inbox, proposal, &number, input, out, edit)? {
            Answer::Yes => tally.applied += 1,
            Answer::Skip => tally.dismissed += 1,
            Answer::NotNow | Answer::Edit => tally.left += 1,
            Answer::Quit => {
                tally.left += n_proposals - n;
                break;
            }
        }
    }
    Ok(tally)
}

/// Shows one proposal, again after each edit, until it is decided: the answer that was carried out.
fn ask_about<W: Write>(
    inbox: &Inbox,
    mut proposal: Proposal,
    number: &str,
    input: &mut dyn BufRead,
    out: &mut Output<W>,
    edit: &mut Edit<'_>,
) -> Result<Answer, Box<dyn Error>> {
    loop {
        let (name, summary) = (&proposal.name, &proposal.summary);
        let shown = match inbox.show(&proposal) {
            Ok(shown) => shown,
            Err(error) => {
                out.line(&format!("{name}: {}", chain(&error)))?;
                return Ok(Answer::NotNow);
            }
        };
        out.text("")?;
        out.line(&format!("({number}) {name}: {summary}"))?;
        out.text("")?;
        out.diff(&shown)?;
        let one = std::slice::from_ref(&proposal);
        let answer = answer(input, out)?;
        let change = match answer {
            Answer::Yes => inbox.apply(one).map(|applied| applied.change),
            Answer::Skip => inbox.dismiss(one).map(|dismissed| dismissed.change),
            Answer::NotNow | Answer::Quit => return Ok(answer),
            Answer::Edit => {
                match edited(inbox, &proposal, edit) {
                    Ok(Some(changed)) => proposal = changed,
                    Ok(None) => out.line("nothing was edited")?,
                    Err(error) => out.line(&format!("the edited text was rejected: {}", chain(error.as_ref())))?,
                }
                continue;
            }
        };
        match change {
            Ok(Some(change)) => out.line(&format!("done; undo with: adage inbox undo {change}"))?,
            Ok(None) => out.line("done")?,
            Err(error) => {
                out.line(&format!("not done: {}", chain(&error)))?;
                return Ok(Answer::NotNow);
            }
        }
        return Ok(answer);
    }
}

/// Asks until there is an answer; the end of the input means to quit.
fn answer<W: Write>(input: &mut dyn BufRead, out: &mut Output<W>) -> io::Result<Answer> {
    loop {
        out.text("")?;
        out.prompt("apply? [y,n,s,e,q,?] ")?;
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            out.text("")?;
            return Ok(Answer::Quit);
        }
        match line.trim().to_lowercase().as_str() {
            "y" | "yes" => return Ok(Answer::Yes),
            "n" | "no" => return Ok(Answer::NotNow),
            "s" | "skip" => return Ok(Answer::Skip),
            "e" | "edit" => return Ok(Answer::Edit),
            "q" | "quit" => return Ok(Answer::Quit),
            _ => out.text(HELP)?,
        }
    }
}

fn edited(inbox: &Inbox, proposal: &Proposal, edit: &mut Edit<'_>) -> Result<Option<Proposal>, Box<dyn Error>> {
    if matches!(proposal.name, adage::inbox::ProposalName::Lesson(_)) {
        return Err("a lesson is not edited here: dismiss it, and learn a better one".into());
    }
    let text = inbox.text(proposal)?;
    match edit(&text, proposal)? {
        Some(changed) if changed != text => Ok(Some(inbox.replace(proposal, &changed)?)),
        _ => Ok(None),
    }
}

fn open_editor(text: &[u8], proposal: &Proposal) -> Result<Option<Vec<u8>>, Box<dyn Error>> {
    let is_skill = matches!(proposal.name, adage::inbox::ProposalName::Skill(_));
    editor::edit(text, if is_skill { ".md" } else { ".patch" })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use adage::inbox::PatchKind;
    use adage::lesson::Trust;
    use adage::{Playbook, build_lesson};

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
        let mut out = Output::into(Vec::new());
        let tally = ask(inbox, &mut answers.as_bytes(), &mut out, edit).unwrap();
        (tally, out.printed())
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
            said.contains("(1/4) private: ") && said.contains("+first") && said.contains("s  dismiss it"),
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
        assert!(said.contains("nothing was edited") && said.contains("the edited text was rejected: "), "{said}");
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
}
