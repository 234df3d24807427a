//! What a page answers, and what it needs to be written.

use maud::Markup;

use crate::memory::{Access, Memory};

/// The answer to a request that was let in.
pub(crate) enum Answer {
    Page {
        status: u16,
        title: String,
        tab: Tab,
        body: Markup,
    },
    /// After a change: the page to look at next, and what to say there.
    Done {
        next: String,
        notice: Notice,
    },
}

/// The pages of the menu.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tab {
    Ask,
    Lessons,
    Review,
    History,
    Time,
}

impl Tab {
    pub(crate) const ALL: [Self; 5] = [Self::Ask, Self::Lessons, Self::Review, Self::History, Self::Time];

    pub(crate) fn path(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Lessons => "lessons",
            Self::Review => "review",
            Self::History => "history",
            Self::Time => "time",
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ask => "Ask",
            Self::Lessons => "Lessons",
            Self::Review => "Review",
            Self::History => "History",
            Self::Time => "Over time",
        }
    }
}

/// What became of a change; shown once, on the next page.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notice {
    pub(crate) text: String,
    pub(crate) is_failure: bool,
    pub(crate) undo: Option<Undo>,
}

/// How a change is taken back.
#[derive(Clone, Debug)]
pub(crate) enum Undo {
    /// A change of lessons.
    Change(String),
    /// A change of files from the inbox.
    Files(String),
}

impl Notice {
    pub(crate) fn done(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    pub(crate) fn failed(text: impl Into<String>) -> Self {
        Self { text: text.into(), is_failure: true, undo: None }
    }
}

/// What the templates need to know of the request.
#[derive(Clone, Copy)]
pub(crate) struct Frame<'a> {
    pub(crate) memory: &'a Memory,
    /// In every form; none in a file.
    pub(crate) form_token: Option<&'a str>,
}

impl<'a> Frame<'a> {
    /// Whether the page is a file, which has no other pages to link to.
    pub(crate) fn is_file(&self) -> bool {
        self.form_token.is_none()
    }

    /// The token for forms, if the page may offer changes.
    pub(crate) fn writable(&self) -> Option<&'a str> {
        self.form_token.filter(|_| self.memory.access == Access::Write)
    }
}
