//! The changes that forms make: what the command line does for `edit`, `remove`, `undo`, `outcome` and `review`.

use adage::{ChangeId, Error, LearnOutcome, Lesson, LessonDraft, Playbook, TextHash, Verification};
use adage_review::{Inbox, Proposal, ProposalName};
use serde_json::{Map, Value};

use crate::answer::{Answer, Notice, Undo};
use crate::form::{Form, link};
use crate::lesson::{FIELDS, edited_text, reference};
use crate::memory::Memory;
use crate::review::{has_lines, waiting_lesson};
use crate::text::chain;

type Outcome = Result<(String, Notice), Box<dyn std::error::Error>>;

/// Carries out what a form asks for; none if there is no such form. A failure is told on the page that the form was on.
pub(crate) fn carry_out(memory: &Memory, page: &str, form: &Form) -> Option<Answer> {
    let here = || link("lesson", &[("id", form.get("id"))]);
    let (outcome, back) = match page {
        "edit" => (edit(memory, form), link("lesson", &[("id", form.get("id")), ("edit", "1")])),
        "verify" => (verify(memory, form), here()),
        "credit" => (credit(memory, form), here()),
        "remove" => (remove(memory, form), here()),
        "missed" => (missed(memory, form), link("ask", &[("q", form.get("request"))])),
        "undo" => (undo(memory, form), "history".to_owned()),
        "undo-files" => (undo_files(memory, form), "history".to_owned()),
        "decide" => (decide(memory, form), link("review", &[("name", form.get("name"))])),
        "rewrite" => (rewrite(memory, form), link("review", &[("name", form.get("name")), ("edit", "1")])),
        _ => return None,
    };
    let (next, notice) =
        outcome.unwrap_or_else(|error| (back, Notice::failed(format!("Not done: {}", chain(error.as_ref())))));
    Some(Answer::Done { next, notice })
}

/// What became of a lesson, and how it is taken back.
fn learned(outcome: &LearnOutcome, word: &str) -> Outcome {
    if let LearnOutcome::Refused { reason } = outcome {
        return Err(reason.to_string().into());
    }
    let id = outcome.id().map(|id| id.to_string()).unwrap_or_default();
    let next = if matches!(outcome, LearnOutcome::Review { .. }) {
        "review".to_owned()
    } else {
        link("lesson", &[("id", &id)])
    };
    let undo = outcome.change().map(|change| Undo::Change(change.to_string()));
    Ok((next, Notice { undo, ..Notice::done(format!("{word} {outcome}.")) }))
}

/// The fields of a form that differ from those of a lesson.
fn changed(lesson: &Lesson, form: &Form) -> Map<String, Value> {
    let differs = |key: &str| form.has(key) && form.get(key).trim() != edited_text(lesson, key).trim();
    FIELDS
        .iter()
        .filter(|(key, ..)| differs(key))
        .map(|(key, _, is_list)| (*key, value(form.get(key), *is_list)))
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
}

fn value(text: &str, is_list: bool) -> Value {
    if is_list { text.lines().map(str::trim).filter(|line| !line.is_empty()).collect() } else { text.into() }
}

fn edit(memory: &Memory, form: &Form) -> Outcome {
    let found = memory.books.find(reference(form.get("id")))?;
    if form.get("as") == "new" {
        let given = FIELDS.iter().filter(|(key, ..)| !form.get(key).trim().is_empty());
        let row = given.map(|(key, _, is_list)| ((*key).to_owned(), value(form.get(key), *is_list))).collect();
        let draft = LessonDraft::from_json(row).in_realm(&found.lesson.realm).supersedes(found.lesson.id);
        return learned(&found.playbook.learn_lesson(draft)?, "Replaced:");
    }
    let changes = changed(&found.lesson, form);
    if changes.is_empty() {
        return Err("nothing was edited".into());
    }
    learned(&found.playbook.edit(found.lesson.id, LessonDraft::from_json(changes))?, "Saved:")
}

fn verify(memory: &Memory, form: &Form) -> Outcome {
    let found = memory.books.find(reference(form.get("id")))?;
    let is_verified = form.get("as") == "yes";
    let verification = if is_verified { Verification::Passed } else { Verification::Failed };
    let id = found.playbook.mark_verified(found.lesson.id, verification)?.to_string();
    let text = if is_verified { "It is verified." } else { "It is not verified." };
    Ok((link("lesson", &[("id", &id)]), Notice::done(text)))
}

fn credit(memory: &Memory, form: &Form) -> Outcome {
    let found = memory.books.find(reference(form.get("id")))?;
    let text = match form.get("as") {
        "harmful" => found.playbook.record_harmful_retrieval(found.lesson.id).map(|_| "Counted: it did harm.")?,
        "helpful" => found.playbook.record_helpful_retrieval(found.lesson.id).map(|_| "Counted: it helped.")?,
        _ => return Err("a lesson helped, or it did harm".into()),
    };
    Ok((link("lesson", &[("id", form.get("id"))]), Notice::done(text)))
}

fn remove(memory: &Memory, form: &Form) -> Outcome {
    let found = memory.books.find(reference(form.get("id")))?;
    let removed = found.playbook.remove(found.lesson.id)?;
    let undo = Some(Undo::Change(removed.change.to_string()));
    Ok((
        "lessons".to_owned(),
        Notice { undo, ..Notice::done("Removed. It stays removed; for 30 days this can be undone.") },
    ))
}

fn missed(memory: &Memory, form: &Form) -> Outcome {
    let found = memory.books.find(reference(form.get("id")))?;
    found.playbook.record_missed(found.lesson.id, form.get("request"))?;
    Ok((link("ask", &[("q", form.get("request"))]), Notice::done("The sentence is a situation of that lesson now.")))
}

fn undo(memory: &Memory, form: &Form) -> Outcome {
    let change: ChangeId = form.get("change").parse().map_err(|_| "this is not the id of a change")?;
    for playbook in memory.books.as_slice() {
        match playbook.undo(change) {
            Err(Error::NoSuchChange { .. }) => {}
            undone => {
                let undone = undone?;
                let next = undone
                    .restored
                    .first()
                    .map_or_else(|| "history".to_owned(), |id| link("lesson", &[("id", &id.to_string())]));
                let is_there = undone.restored.first().is_some_and(|id| memory.books.find(*id).is_ok());
                let next = if is_there { next } else { "history".to_owned() };
                return Ok((
                    next,
                    Notice { undo: Some(Undo::Change(undone.change.to_string())), ..Notice::done("Undone.") },
                ));
            }
        }
    }
    Err(Error::NoSuchChange { change }.into())
}

fn inbox(memory: &Memory) -> Result<&Inbox, &'static str> {
    memory.inbox().ok_or("there is no memory to review")
}

fn undo_files(memory: &Memory, form: &Form) -> Outcome {
    let change: ChangeId = form.get("change").parse().map_err(|_| "this is not the id of a change")?;
    inbox(memory)?.undo(change)?;
    Ok(("history".to_owned(), Notice::done("Undone: the files are as before.")))
}

/// The proposal as it was shown: a later text is refused by its hash.
fn proposal(inbox: &Inbox, form: &Form) -> Result<Proposal, Box<dyn std::error::Error>> {
    let name: ProposalName = form.get("name").parse().map_err(|_| "this is not the name of a proposal")?;
    let text: TextHash = form.get("text").parse().map_err(|_| "this is not the hash of a text")?;
    Ok(Proposal { text, ..inbox.find(&name)? })
}

fn after(form: &Form) -> String {
    link("review", &[("name", form.get("next"))])
}

fn decide(memory: &Memory, form: &Form) -> Outcome {
    let inbox = inbox(memory)?;
    let proposal = proposal(inbox, form)?;
    let one = std::slice::from_ref(&proposal);
    let lines: Vec<usize> = form.all("line").filter_map(|line| line.parse().ok()).collect();
    let (files, change, text) = match form.get("as") {
        "dismiss" => {
            let done = inbox.dismiss(one)?;
            (
                done.change,
                done.lessons.first().map(|removed| removed.change),
                "Dismissed. It is not suggested again.".to_owned(),
            )
        }
        "apply" if has_lines(&proposal) && lines.is_empty() => {
            return Err("check a candidate, or dismiss them all".into());
        }
        "apply" => {
            let is_part = has_lines(&proposal) && lines.len() < proposal.lines.len();
            let done = if is_part { inbox.apply_lines(&proposal, &lines)? } else { inbox.apply(one)? };
            let outcomes: Vec<String> = done.lessons.iter().map(ToString::to_string).collect();
            let change = done.lessons.iter().find_map(LearnOutcome::change);
            (done.change, change, format!("Applied. {}", outcomes.join("; ")))
        }
        _ => return Err("a proposal is applied or dismissed".into()),
    };
    let undo =
        files.map(|files| Undo::Files(files.to_string())).or(change.map(|change| Undo::Change(change.to_string())));
    Ok((after(form), Notice { undo, ..Notice::done(text) }))
}

/// Learns a waiting lesson as the person wrote it, and dismisses the original.
fn rewrite(memory: &Memory, form: &Form) -> Outcome {
    let (inbox, playbook) = (inbox(memory)?, first(memory)?);
    let proposal = proposal(inbox, form)?;
    let lesson = waiting_lesson(&playbook.waiting_lessons()?, &proposal.name).ok_or("it does not wait any more")?;
    if changed(&lesson, form).is_empty() {
        return Err("nothing was edited; apply it as it is".into());
    }
    let row = FIELDS.iter().filter(|(key, ..)| !form.get(key).trim().is_empty());
    let row = row.map(|(key, _, is_list)| ((*key).to_owned(), value(form.get(key), *is_list))).collect();
    let outcome = playbook.learn_lesson(LessonDraft::from_json(row).in_realm(&lesson.realm))?;
    let (_, notice) = learned(&outcome, "Learned as you wrote it:")?;
    inbox.dismiss(std::slice::from_ref(&proposal))?;
    Ok((after(form), notice))
}

fn first(memory: &Memory) -> Result<&Playbook, &'static str> {
    memory.books.as_slice().first().ok_or("there is no memory to review")
}
