//! The inbox: lists, shows, applies and dismisses what awaits review.

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use adage::redact::{one_line, path_line, path_text};
use adage::{ChangeId, Playbook, TextHash};
use adage_review::{Inbox as ReviewInbox, Proposal, ProposalKind, ProposalName};
use clap::{Args, Subcommand};
use serde_json::{Value, json};

use crate::agents::review;
use crate::choice::{choice, id};
use crate::global::{Access, Global};
use crate::output::{Output, counted, say, say_failure, with};
use crate::result::{Done, Failure, chain, exit_code};

#[derive(Args)]
pub(crate) struct Review {
    #[command(flatten)]
    roots: Roots,
    /// Mask nothing in what is shown, and apply what is masked otherwise
    #[arg(long, global = true)]
    reveal: bool,
    #[command(subcommand)]
    command: Option<What>,
}

/// Files outside the memory's folder that proposals may change.
#[derive(Args)]
pub(crate) struct Roots {
    /// The only file that proposals for global notes may change
    #[arg(long, global = true, value_name = "FILE")]
    global_notes: Option<PathBuf>,
    /// Folder below which proposals may change existing skills; repeatable
    #[arg(long, global = true, value_name = "DIR")]
    writable_skills: Vec<PathBuf>,
}

#[derive(Subcommand)]
enum What {
    /// List the proposals that can be applied
    List,
    /// Show everything that applying would change; what looks like a secret is masked, unless --reveal is given
    Show { name: ProposalName },
    /// Apply a proposal, or all of them
    Apply {
        #[command(flatten)]
        which: Which,
        /// Learn only these candidates of a session, by number: 1,3; the others are dismissed
        #[arg(long, value_delimiter = ',', conflicts_with = "all")]
        lines: Vec<usize>,
    },
    /// Dismiss a proposal, or all of them
    Dismiss(Which),
    /// Quarantine what cannot be applied, with the reason
    Check,
    /// List what was applied or dismissed and can be undone, newest first
    History,
    /// Undo what was applied or dismissed, by its id
    Undo {
        #[arg(value_parser = id::<ChangeId>("a change"))]
        id: ChangeId,
    },
}

#[derive(Args)]
#[group(id = "which")]
struct Which {
    /// private, global, skills/NAME.patch, skills/NAME, sessions/ID, files/NAME, or a lesson's id
    #[arg(required_unless_present = "all", conflicts_with = "all")]
    name: Option<ProposalName>,
    /// Only if it still has this hash, as printed by `show`
    #[arg(long, conflicts_with = "all")]
    hash: Option<TextHash>,
    /// Everything that `list` shows
    #[arg(long)]
    all: bool,
    /// With --all: only this kind
    #[arg(long, requires = "all", value_parser = choice(ProposalKind::ALL.map(|kind| (kind.name(), kind))))]
    kind: Option<ProposalKind>,
}

/// The decision about the chosen proposals.
enum Verdict<'a> {
    /// With lines: only these of a session.
    Apply {
        lines: &'a [usize],
    },
    Dismiss,
}

impl Roots {
    /// The playbook with these roots, for writing or reading.
    pub(crate) fn playbook(&self, global: &Global, access: Access) -> Result<Playbook, Box<dyn Error>> {
        let mut builder = global.builder()?;
        if let Some(file) = &self.global_notes {
            builder = builder.with_global_notes(file);
        }
        for root in &self.writable_skills {
            builder = builder.with_writable_skills(root);
        }
        global.open_with(builder, access)
    }
}

pub(crate) fn inbox(global: &Global, asked: &Review, out: &mut Output) -> Done {
    let open = |access| {
        let inbox = asked.roots.playbook(global, access).map(|playbook| global.inbox(&playbook));
        inbox.map(|inbox| if asked.reveal { inbox.revealing() } else { inbox })
    };
    let Some(command) = &asked.command else { return review::review(global, &asked.roots, out) };
    match command {
        What::List => {
            let playbook = asked.roots.playbook(global, Access::Read)?;
            list(&playbook, &global.inbox(&playbook), out)
        }
        What::Show { name } => show(&open(Access::Read)?, name, out),
        What::Apply { which, lines } => decide(&open(Access::Write)?, which, &Verdict::Apply { lines }, out),
        What::Dismiss(which) => decide(&open(Access::Write)?, which, &Verdict::Dismiss, out),
        What::Check => check(&open(Access::Write)?, out),
        What::History => history(&open(Access::Read)?, out),
        What::Undo { id } => undo(&open(Access::Write)?, *id, out),
    }
}

pub(crate) fn list(playbook: &Playbook, inbox: &ReviewInbox, out: &mut Output) -> Done {
    let proposals = inbox.list()?;
    let waiting = playbook.waiting_lessons()?;
    let mut rows = Vec::new();
    for proposal in &proposals {
        let mut object = object(proposal);
        let lesson = waiting.iter().find(|waiting| proposal.name == ProposalName::Lesson(waiting.lesson.id));
        if let Some(waiting) = lesson {
            object = with(object, json!({ "reason": waiting.reason.to_string(), "lesson": *waiting.lesson }));
        }
        out.object(&object)?;
        rows.push(vec![proposal.name.to_string(), one_line(&proposal.summary, 90)]);
    }
    if rows.is_empty() {
        out.line("nothing awaits review")?;
    } else {
        out.table(&["name", "what"], rows)?;
    }
    for inapplicable in inbox.inapplicable()? {
        say(&format!("{} cannot be applied: {}", inapplicable.name, inapplicable.reason));
    }
    Ok(ExitCode::SUCCESS)
}

fn object(proposal: &Proposal) -> Value {
    let object = json!({
        "name": proposal.name.to_string(), "kind": proposal.name.kind().name(), "text": proposal.text,
        "files": proposal.files.iter().map(path_text).collect::<Vec<_>>(), "summary": proposal.summary,
    });
    if proposal.lines.is_empty() {
        object
    } else {
        with(object, json!({ "lines": proposal.lines, "lessons": proposal.lessons }))
    }
}

fn show(inbox: &ReviewInbox, name: &ProposalName, out: &mut Output) -> Done {
    let proposal = inbox.find(name)?;
    let shown = inbox.show(&proposal)?;
    out.object(&with(object(&proposal), json!({ "shown": shown })))?;
    out.diff(shown.trim_end())?;
    out.message(&format!("{} has hash {}", proposal.name, proposal.text));
    Ok(ExitCode::SUCCESS)
}

fn decide(inbox: &ReviewInbox, which: &Which, verdict: &Verdict<'_>, out: &mut Output) -> Done {
    if let Some(name) = &which.name {
        let found = inbox.find(name)?;
        let proposal = Proposal { text: which.hash.unwrap_or(found.text), ..found };
        carry_out(inbox, &[proposal], verdict, out)?;
        return Ok(ExitCode::SUCCESS);
    }
    let proposals = inbox.list()?;
    let (mut n_done, mut is_done) = (0, true);
    // Each kind is one transaction: a proposal that cannot be applied does not block the other kinds.
    for kind in ProposalKind::ALL.into_iter().filter(|kind| which.kind.is_none_or(|wanted| wanted == *kind)) {
        let chosen: Vec<Proposal> = proposals.iter().filter(|proposal| proposal.name.kind() == kind).cloned().collect();
        if chosen.is_empty() {
            continue;
        }
        match carry_out(inbox, &chosen, verdict, out) {
            Ok(()) => n_done += chosen.len(),
            Err(error) => {
                let error = format!("{} proposals of kind {}: {}", chosen.len(), kind.name(), chain(error.as_ref()));
                say_failure(&Failure::of_item(error));
                is_done = false;
            }
        }
    }
    if n_done == 0 && is_done {
        out.line("nothing awaits review")?;
    }
    Ok(exit_code(is_done))
}

fn carry_out(
    inbox: &ReviewInbox,
    proposals: &[Proposal],
    verdict: &Verdict<'_>,
    out: &mut Output,
) -> Result<(), Box<dyn Error>> {
    let names: Vec<String> = proposals.iter().map(|proposal| proposal.name.to_string()).collect();
    let (word, change) = match verdict {
        Verdict::Apply { lines } => {
            let applied = match (proposals, lines) {
                (_, []) => inbox.apply(proposals)?,
                ([item], lines) => inbox.apply_lines(item, lines)?,
                _ => return Err("lines are of one proposal".into()),
            };
            let outcomes: Vec<String> = applied.lessons.iter().map(ToString::to_string).collect();
            out.object(&json!({
                "applied": names, "files": applied.files.iter().map(path_text).collect::<Vec<_>>(), "lessons": outcomes, "change": applied.change,
            }))?;
            for file in &applied.files {
                out.line(&format!("wrote {}", path_line(file)))?;
            }
            for outcome in &applied.lessons {
                let undo = match (outcome.change(), outcome.id()) {
                    (Some(change), _) => format!("; take it back with: adage undo {change}"),
                    (None, Some(id)) => format!("; take it back with: adage remove {id}"),
                    (None, None) => String::new(),
                };
                out.line(&format!("{outcome}{undo}"))?;
            }
            ("applied", applied.change)
        }
        Verdict::Dismiss => {
            let dismissed = inbox.dismiss(proposals)?;
            let lessons: Vec<String> = dismissed.lessons.iter().map(|removal| removal.change.to_string()).collect();
            out.object(&json!({ "dismissed": names, "change": dismissed.change, "lessons": lessons }))?;
            for change in &lessons {
                out.line(&format!("return it to review with: adage undo {change}"))?;
            }
            ("dismissed", dismissed.change)
        }
    };
    out.line(&format!("{word} {}", names.join(", ")))?;
    if let Some(change) = change {
        out.line(&format!("undo with: adage review undo {change}"))?;
    }
    Ok(())
}

fn check(inbox: &ReviewInbox, out: &mut Output) -> Done {
    let checked = inbox.check_written()?;
    for aside in &checked.aside {
        let reason = aside.reason.to_string();
        out.object(&json!({ "name": aside.name, "kept_at": path_text(&aside.kept_at), "reason": reason }))?;
        out.line(&format!("{} was moved to {}: {reason}", aside.name, path_line(&aside.kept_at)))?;
    }
    if checked.n_left > 0 {
        out.line(&format!("{} not checked yet; run it again", counted(checked.n_left, "file")))?;
    }
    if let Some(notice) = inbox.notice()? {
        out.line(&notice.to_string())?;
    } else if checked.aside.is_empty() {
        out.line("nothing awaits review")?;
    }
    Ok(ExitCode::SUCCESS)
}

fn history(inbox: &ReviewInbox, out: &mut Output) -> Done {
    let mut changes = inbox.changes()?;
    changes.reverse();
    for change in &changes {
        out.object(&json!(change))?;
    }
    let rows = changes.iter().map(|change| {
        let at = change.at.format("%Y-%m-%d %H:%M").to_string();
        vec![change.id.to_string(), at, one_line(&change.what, 90)]
    });
    if changes.is_empty() {
        out.line("nothing can be undone")?;
    } else {
        out.table(&["change", "at", "what"], rows)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn undo(inbox: &ReviewInbox, id: ChangeId, out: &mut Output) -> Done {
    let undone = inbox.undo(id)?;
    out.object(&json!({ "change": undone.change, "files": undone.files.iter().map(path_text).collect::<Vec<_>>() }))?;
    for file in &undone.files {
        out.line(&format!("restored {}", path_line(file)))?;
    }
    Ok(ExitCode::SUCCESS)
}
