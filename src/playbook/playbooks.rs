//! Several playbooks queried as one: for example a project's own and the user's global one (docs/spec/playbook.md, 5.10).

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use adage_redact::strip_invisible;
use parking_lot::RwLock;
use serde::Serialize;

use super::recall::pool::Pool;
use super::{Credited, Listing, OpenPlaybook, Playbook, View};
use crate::error::{Error, Result};
use crate::learn::Feedback;
use crate::lesson::{Lesson, LessonId, LessonRef, Realm, ReceiptId, TextHash};
use crate::retrieve::{Context, NoMatchReason, Request, recent_failures};
use crate::state::{Book, RecallIndex};
use crate::trust::Standing;

/// Several playbooks, queried as one.
///
/// Their lessons are ranked together: document frequencies and the number of lessons are counted over all playbooks, as if they
/// were in one folder. Ties are broken in favour of the earlier playbook. A lesson in several playbooks (same id or same
/// advice) is shown once, in the version of the first. The embedder and the configuration are those of the first playbook.
///
/// ```
/// use adage::{Feedback, Playbook, Playbooks, build_lesson};
///
/// # let (project, user) = (tempfile::tempdir()?, tempfile::tempdir()?);
/// let project = Playbook::builder(project.path()).without_embedder().open()?;
/// let user = Playbook::builder(user.path()).without_embedder().open()?;
/// project.learn_lesson(build_lesson("parsing CSV exports", "Use the csv module."))?;
/// user.learn_lesson(build_lesson("rotating SSH keys", "Keep the old key for a day."))?;
///
/// let both = Playbooks::new([project, user.clone()]);
/// let context = both.get_playbook_context("rotate the SSH keys")?;
/// assert!(context.text.contains("Keep the old key"));
/// assert_eq!(context.lessons[0].folder, user.folder());
/// let receipt = context.receipt.ok_or("nothing was shown")?;
/// let credited = both.record_outcome(receipt, Feedback::Helpful)?;
/// assert_eq!(credited[0].folder, user.folder());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Playbooks {
    members: Vec<Playbook>,
    /// True if some of the given playbooks are in folders that are not trusted.
    has_untrusted: bool,
    /// The root folders of the project that requests are about; the first one is used as its name.
    roots: Vec<String>,
    union: Arc<RwLock<Option<Arc<Union>>>>,
}

/// The result of feedback in one folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct FolderCredit {
    /// The folder.
    #[serde(serialize_with = "crate::path_text::shown")]
    pub folder: PathBuf,
    /// The result there.
    pub credited: Credited,
}

/// A lesson of one of several playbooks.
#[derive(Clone)]
#[non_exhaustive]
pub struct PlaybookLesson {
    /// The playbook that has it.
    pub playbook: Playbook,
    /// The lesson.
    pub lesson: Arc<Lesson>,
}

/// The lessons of all playbooks that a realm sees, without duplicates.
struct Union {
    realm: Realm,
    views: Vec<Arc<View>>,
    recall: RecallIndex,
    /// The index of the playbook that a lesson belongs to; lessons of the first playbook are omitted.
    member_of: BTreeMap<LessonId, usize>,
    /// The lessons that do not belong to the first playbook.
    later: BTreeSet<LessonId>,
}

impl Playbooks {
    /// Combines playbooks; name the most specific one first. Playbooks in folders that are not trusted are ignored.
    pub fn new(playbooks: impl IntoIterator<Item = Playbook>) -> Self {
        let is_known = |playbook: &Playbook| playbook.shared.store.guard.standing() != Standing::Unknown;
        let (members, silent): (Vec<_>, Vec<_>) = playbooks.into_iter().partition(is_known);
        Self { members, has_untrusted: !silent.is_empty(), roots: Vec::new(), union: Arc::default() }
    }

    /// Sets the root folders of the project that requests are about, such as a repository's root and those of its worktrees. A
    /// lesson whose project is one of them, or a folder below one, belongs to this project. Requests name the project by the
    /// first root.
    #[must_use]
    pub fn with_project_roots<T: Into<String>>(mut self, roots: impl IntoIterator<Item = T>) -> Self {
        self.roots = roots.into_iter().map(Into::into).collect();
        self.union = Arc::default();
        self
    }

    /// The playbooks that are used, in their order.
    #[must_use]
    pub fn as_slice(&self) -> &[Playbook] {
        &self.members
    }

    /// [`Playbook::get_playbook_context`] over all playbooks. The receipt is recorded in each folder that contains a shown
    /// lesson.
    ///
    /// # Errors
    /// As [`Playbook::get_playbook_context`].
    pub fn get_playbook_context(&self, request: impl Into<Request>) -> Result<Context> {
        let request = request.into();
        let Some(lead) = self.members.first() else {
            let reason = if self.has_untrusted { NoMatchReason::NotTrusted } else { NoMatchReason::NoLessons };
            return Ok(Context::nothing(reason));
        };
        let union = self.union(&request.realm)?;
        let members: Vec<(&OpenPlaybook, &View)> =
            self.members.iter().zip(&union.views).map(|(playbook, view)| (&*playbook.shared, &**view)).collect();
        let pool = Pool { recall: &union.recall, members: &members, later: &union.later };
        let member_index = |id: LessonId| union.member_of.get(&id).copied().unwrap_or_default();
        let answer = lead.shared.answer_counted(pool, &request, &member_index)?;
        Ok(answer.into_context(&request, &self.members, &member_index))
    }

    /// Records the outcome of a task in every folder that has the receipt. Returns the result of each.
    ///
    /// # Errors
    /// [`Error::NoSuchReceipt`] when no folder has it; the errors of an append.
    pub fn record_outcome(&self, receipt: ReceiptId, outcome: Feedback) -> Result<Vec<FolderCredit>> {
        let mut credits = Vec::new();
        for playbook in &self.members {
            match playbook.record_outcome(receipt, outcome) {
                Ok(credited) => credits.push(FolderCredit { folder: playbook.folder().to_owned(), credited }),
                Err(Error::NoSuchReceipt { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        if credits.is_empty() { Err(Error::NoSuchReceipt { receipt }) } else { Ok(credits) }
    }

    /// [`Playbook::credit_recent_retrievals`] in all playbooks. Returns the total number of lessons credited.
    ///
    /// # Errors
    /// The errors of an append.
    pub fn credit_recent_retrievals(&self, window: Duration) -> Result<usize> {
        self.members.iter().map(|playbook| playbook.credit_recent_retrievals(window)).sum()
    }

    /// The lessons of all playbooks, newest first, each with its playbook. Nothing is counted. The listing's realm may name the
    /// project by any of its root folders.
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io).
    pub fn list_lessons(&self, listing: &Listing) -> Result<Vec<PlaybookLesson>> {
        let everywhere = Listing { realm: None, limit: usize::MAX, ..listing.clone() };
        let mut met = SeenLessons::default();
        let mut lessons = Vec::new();
        for playbook in &self.members {
            let mut own = playbook.list_lessons(&everywhere)?;
            own.retain(|lesson| listing.realm.as_ref().is_none_or(|realm| self.seen_by(realm, lesson).is_some()));
            let own = met.take_new(own, |lesson| self.plain_realm(lesson));
            lessons.extend(own.into_iter().map(|lesson| PlaybookLesson { playbook: playbook.clone(), lesson }));
        }
        lessons.sort_by(|one: &PlaybookLesson, other| one.lesson.newest_first(&other.lesson));
        lessons.truncate(listing.limit);
        Ok(lessons)
    }

    /// The lesson, in the first playbook that has it.
    ///
    /// # Errors
    /// [`Error::NoSuchLesson`], [`Error::Ambiguous`] within one playbook.
    pub fn find(&self, lesson: impl Into<LessonRef>) -> Result<PlaybookLesson> {
        let reference = lesson.into();
        for playbook in &self.members {
            match playbook.find(reference.clone()) {
                Ok(lesson) => return Ok(PlaybookLesson { playbook: playbook.clone(), lesson }),
                Err(Error::NoSuchLesson { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Err(Error::NoSuchLesson { lesson: reference })
    }

    /// The most recent mistakes that this realm sees, as a block for a prompt.
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io).
    pub fn get_recent_failures(&self, realm: &Realm, limit: usize) -> Result<String> {
        let union = self.union(realm)?;
        let failed = union.recall.visible(realm).filter(|lesson| !strip_invisible(&lesson.mistake).trim().is_empty());
        Ok(recent_failures(failed.take(limit)))
    }

    /// Writes the retrieval counts that are still in memory because a folder was busy. Returns true when nothing is left.
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io); the counts stay in memory.
    pub fn flush(&self) -> Result<bool> {
        let mut is_done = true;
        for playbook in &self.members {
            is_done &= playbook.flush()?;
        }
        Ok(is_done)
    }

    /// The lessons of all playbooks that a realm sees now.
    fn union(&self, realm: &Realm) -> Result<Arc<Union>> {
        let views: Vec<Arc<View>> =
            self.members.iter().map(|playbook| playbook.shared.view()).collect::<Result<_>>()?;
        let known = self.union.read().clone().filter(|known| known.realm == *realm);
        let is_same = |known: &Arc<Union>| known.views.iter().zip(&views).all(|(one, other)| Arc::ptr_eq(one, other));
        if let Some(known) = known.clone().filter(is_same) {
            return Ok(known);
        }
        let union = Arc::new(self.unite(realm, views, known.as_deref()));
        *self.union.write() = Some(Arc::clone(&union));
        Ok(union)
    }

    /// The union of these states. Its indexes are those of an earlier union, updated by the difference.
    fn unite(&self, realm: &Realm, views: Vec<Arc<View>>, known: Option<&Union>) -> Union {
        let (mut met, mut book, mut member_of) = (SeenLessons::default(), Book::default(), BTreeMap::new());
        for (member_index, view) in views.iter().enumerate() {
            let admitted = view.recall.book.lessons.iter().filter(|lesson| lesson.is_admitted());
            let seen: Vec<Arc<Lesson>> = admitted.filter_map(|lesson| self.seen_by(realm, lesson)).collect();
            for lesson in met.take_new(seen, |lesson| Realm::new("", &lesson.realm.role)) {
                if member_index > 0 {
                    member_of.insert(lesson.id, member_index);
                }
                book.lessons.put(lesson);
            }
        }
        let vector_of = |text: &str| self.members.iter().find_map(|playbook| playbook.shared.vector(text));
        let book = Arc::new(book);
        // Without an earlier union, the indexes of the largest memory are reused: most of the union is the same.
        let largest = views.iter().max_by_key(|view| view.recall.book.lessons.len()).map(|view| &view.recall);
        let recall = known
            .map(|known| &known.recall)
            .or(largest)
            .map_or_else(|| RecallIndex::new(Arc::clone(&book)), |recall| recall.follow(Arc::clone(&book), &vector_of));
        let later = member_of.keys().copied().collect();
        Union { realm: realm.clone(), views, recall, member_of, later }
    }

    /// The lesson as a request of this realm sees it: if its project is the request's under another root, the project's name is
    /// replaced.
    fn seen_by(&self, realm: &Realm, lesson: &Arc<Lesson>) -> Option<Arc<Lesson>> {
        if realm.sees(&lesson.realm) {
            return Some(Arc::clone(lesson));
        }
        let named = Realm { project: realm.project.clone(), role: lesson.realm.role.clone() };
        let is_this_project = realm.is_project_of(&self.roots) && lesson.realm.is_project_of(&self.roots);
        (is_this_project && realm.sees(&named)).then(|| Arc::new(Lesson { realm: named, ..Lesson::clone(lesson) }))
    }

    /// The realm of a lesson, with this project's roots replaced by its name.
    fn plain_realm(&self, lesson: &Lesson) -> Realm {
        let Realm { project, role } = &lesson.realm;
        Realm::new(if lesson.realm.is_project_of(&self.roots) { "" } else { project }, role)
    }
}

/// The lessons of earlier playbooks, to detect duplicates.
#[derive(Default)]
struct SeenLessons {
    ids: BTreeSet<LessonId>,
    /// Their advice and realms.
    texts: BTreeSet<(TextHash, Realm)>,
}

impl SeenLessons {
    /// The lessons of one playbook that no earlier one has.
    fn take_new(&mut self, mut lessons: Vec<Arc<Lesson>>, realm: impl Fn(&Lesson) -> Realm) -> Vec<Arc<Lesson>> {
        lessons.retain(|lesson| {
            !self.ids.contains(&lesson.id) && !self.texts.contains(&(lesson.text_hash(), realm(lesson)))
        });
        self.ids.extend(lessons.iter().map(|lesson| lesson.id));
        self.texts.extend(lessons.iter().map(|lesson| (lesson.text_hash(), realm(lesson))));
        lessons
    }
}
