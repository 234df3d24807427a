//! The memory that a page shows.

use adage::playbook::PlaybookLesson;
use adage::{Listing, Playbook, Playbooks, Realm};
use adage_review::{Inbox, Proposal, Result};

/// Whether a page offers changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Every form is left out, and every change is refused.
    ReadOnly,
    /// What the playbooks allow.
    Write,
}

/// The playbooks of a page, and for whom it asks them.
#[derive(Clone)]
pub struct Memory {
    pub(crate) books: Playbooks,
    /// The realm of the requests that the page makes unless a person names another.
    pub(crate) realm: Realm,
    pub(crate) access: Access,
    inbox: Option<Inbox>,
}

impl Memory {
    /// A memory whose review is that of the first playbook. Requests are of this realm. Playbooks that were opened to be read
    /// refuse changes whatever the access is.
    #[must_use]
    pub fn new(books: Playbooks, realm: Realm, access: Access) -> Self {
        let inbox = books.as_slice().first().map(Inbox::of);
        Self { books, realm, access, inbox }
    }

    /// The same memory with this inbox, such as one [within](Inbox::within) a realm.
    #[must_use]
    pub fn with_inbox(self, inbox: Inbox) -> Self {
        Self { inbox: Some(inbox), ..self }
    }

    /// The playbook whose inbox is reviewed; none if no folder is trusted.
    #[must_use]
    pub fn first(&self) -> Option<&Playbook> {
        self.books.as_slice().first()
    }

    pub(crate) fn inbox(&self) -> Option<&Inbox> {
        self.inbox.as_ref()
    }

    pub(crate) fn waiting(&self) -> Result<Vec<Proposal>> {
        self.inbox.as_ref().map_or_else(|| Ok(Vec::new()), Inbox::list)
    }

    pub(crate) fn lessons(&self) -> Result<Vec<PlaybookLesson>> {
        Ok(self.books.list_lessons(&Listing::everything())?)
    }
}
