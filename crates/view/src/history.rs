//! What was changed, newest first, and can be undone.

use adage::playbook::ChangeRecord;
use adage_review::Result;
use maud::html;

use crate::answer::{Answer, Frame, Tab, Undo};
use crate::layout::undo_button;
use crate::lesson::changes_table;
use crate::text::{brief, minute};

const MAX_CHANGES: usize = 100;

pub(crate) fn page(frame: &Frame<'_>) -> Result<Answer> {
    let mut changes: Vec<ChangeRecord> = Vec::new();
    for playbook in frame.memory.books.as_slice() {
        changes.extend(playbook.changes()?);
    }
    changes.sort_by_key(|change| std::cmp::Reverse(change.at));
    changes.truncate(MAX_CHANGES);
    let mut files = frame.memory.inbox().map(adage_review::Inbox::changes).transpose()?.unwrap_or_default();
    files.reverse();
    let body = html! {
        h1 { "History" }
        p.lead { "Each change replaced a text or removed a lesson. It can be undone for 30 days." }
        @if changes.is_empty() { p.empty { "Nothing was changed." } } @else { (changes_table(frame, &changes)) }
        @if !files.is_empty() {
            h2 { "Files from review" }
            table.changes {
                thead { tr { th scope="col" { "When" } th scope="col" { "What" } th scope="col" { span.hidden { "Undo" } } } }
                tbody { @for change in &files { tr {
                    td { (minute(change.at)) } td dir="auto" { (brief(&change.what, 160)) }
                    td { (undo_button(frame, &Undo::Files(change.id.to_string()), "Undo")) }
                } } }
            }
        }
    };
    Ok(Answer::Page { status: 200, title: "History".to_owned(), tab: Tab::History, body })
}
