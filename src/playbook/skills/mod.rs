//! Listing, promoting, checking and counting skills (docs/spec/skills.md, 1.3 to 1.5).

pub(crate) mod curation;
mod drafts;
pub(crate) mod exchange;
pub(crate) mod listing;
pub(crate) mod matching;
pub(crate) mod saving;

use std::sync::Arc;

use crate::error::{FolderError, Result, skills};
use crate::learn::Verification;
use crate::lesson::TextHash;
use crate::playbook::skills::listing::{
    ListedSkill, ShadowedSkill, SkillListing, SkillPlace, check_of, listed, promotion_of, shadowed_by, withdrawal_of,
};
use crate::playbook::{OpenPlaybook, Playbook};
use crate::skill::SkillName;
use crate::store::FolderStore;
use crate::store::skills::files::SkillFiles;
use crate::store::skills::state::{Checked, Note, SkillStateFile, SkillUse};

/// The skills of a memory, of its project and of other folders; from [`Playbook::skills`].
///
/// ```
/// use adage::{Playbook, build_lesson};
///
/// # let (folder, project) = (tempfile::tempdir()?, tempfile::tempdir()?);
/// let playbook = Playbook::builder(folder.path()).without_embedder().with_project_skills(project.path()).open()?;
/// playbook.learn_lesson(build_lesson("parsing CSV exports", "Use the csv module."))?;
/// let exported = playbook.export_skill(["parsing CSV exports"], project.path())?;
/// assert_eq!(exported.path, project.path().join("parsing-csv-exports").join("SKILL.md"));
///
/// // Whoever can write to the project can write its skills, so each awaits promotion by a person.
/// let skills = playbook.skills();
/// assert!(skills.list()?.skills[0].needs_review);
/// assert!(!skills.promote("parsing-csv-exports")?.needs_review);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Skills {
    pub(in crate::playbook) shared: Arc<OpenPlaybook>,
}

impl Playbook {
    /// The skills of the memory and of the folders that the builder was given.
    #[must_use]
    pub fn skills(&self) -> Skills {
        Skills { shared: Arc::clone(&self.shared) }
    }
}

impl Skills {
    /// All skills, in the order project, user, extra; within a folder, by name. Among skills of the same name, the first that
    /// does not need review is used; if all need it, the first.
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io) when the records of promotions cannot be read. A folder that cannot be read
    /// is listed as refused.
    pub fn list(&self) -> Result<SkillListing> {
        let shared = &self.shared;
        let FolderStore { folder, guard, .. } = shared.store.as_ref();
        guard.check(folder)?;
        let mut state = shared.skills.state.lock();
        let known = self.state().read_unless_known(&mut state.records)?;
        let (mut listing, mut all) = (SkillListing::default(), Vec::new());
        for (whose, root) in self.roots() {
            let scanned = root.scan();
            listing.refused.extend(scanned.left_out);
            if whose == SkillPlace::User && state.has_changed(&scanned.found) {
                guard.judge(folder)?;
                state.note_reviewed(&scanned.found);
            }
            all.extend(scanned.found.into_iter().map(|found| listed(found, whose, &known, guard)));
        }
        drop(state);
        self.withhold_drafts(&mut all, &known)?;
        let shadowed_by = shadowed_by(&all);
        for (skill, by) in all.into_iter().zip(shadowed_by) {
            match by {
                Some(hidden_by) => listing.shadowed.push(ShadowedSkill { skill, hidden_by }),
                None => listing.skills.push(skill),
            }
        }
        Ok(listing)
    }

    /// The skill of this name.
    ///
    /// # Errors
    /// [`skills::Error::NoSuch`], [`FolderError::Io`](crate::FolderError::Io).
    pub fn get(&self, name: &str) -> Result<ListedSkill> {
        let has_name = |listed: &ListedSkill| listed.skill.name.as_str() == name.trim();
        let found = self.list()?.skills.into_iter().find(has_name);
        Ok(found.ok_or_else(|| skills::Error::NoSuch { name: name.to_owned() })?)
    }

    /// The skills that are part of every context: those with `auto_load` that do not await review. At most three by default, in
    /// the order of the listing.
    ///
    /// # Errors
    /// [`FolderError::Io`](crate::FolderError::Io).
    pub fn auto_load(&self) -> Result<Vec<ListedSkill>> {
        let mut skills = self.list()?.skills;
        let always = self.always(&skills);
        skills.retain(|listed| always.contains(&listed.skill.name));
        Ok(skills)
    }

    /// Promotes a skill, which lets models see it: a person has looked at exactly this text and these files. A change of its
    /// name, description, tools, body or a supporting file revokes the promotion.
    ///
    /// # Errors
    /// [`skills::Error::NoSuch`], [`skills::Error::NotCovered`]; the errors of a write.
    pub fn promote(&self, name: &str) -> Result<ListedSkill> {
        self.promote_text(name, self.get(name)?.text_hash)
    }

    /// [`promote`](Self::promote), only if the text still has the hash that was shown to the person.
    ///
    /// # Errors
    /// As [`promote`](Self::promote), and [`skills::Error::Changed`].
    pub fn promote_text(&self, name: &str, text_hash: TextHash) -> Result<ListedSkill> {
        let listed = self.get(name)?;
        if listed.text_hash != text_hash {
            let (name, found) = (listed.skill.name.to_string(), listed.text_hash);
            return Err(skills::Error::Changed { name, expected: text_hash, found }.into());
        }
        if let Some(reason) = &listed.not_covered {
            let (name, reason) = (listed.skill.name.to_string(), reason.to_string());
            return Err(skills::Error::NotCovered { name, reason }.into());
        }
        if listed.needs_review {
            let note = self.note(&listed);
            let guard = &self.shared.store.guard;
            guard.change(&[text_hash, promotion_of(text_hash)], &[withdrawal_of(text_hash)])?;
            self.state().change(|state| state.promoted.insert(listed.text_hash, note))?;
        }
        Ok(ListedSkill { needs_review: false, is_withdrawn: false, ..listed })
    }

    /// Withdraws a skill: it is not shown any more, whoever promoted or wrote it, until a person promotes it again. That holds for
    /// exactly this text with these files, also if its folder is deleted and a pull brings it back.
    ///
    /// # Errors
    /// [`skills::Error::NoSuch`]; [`FolderError::NoTrustStore`](crate::FolderError::NoTrustStore) for a handle without one; the errors
    /// of a write.
    pub fn withdraw(&self, name: &str) -> Result<ListedSkill> {
        let listed = self.get(name)?;
        let guard = &self.shared.store.guard;
        if !guard.is_recording() {
            return Err(FolderError::NoTrustStore { path: self.shared.store.folder.path().to_owned() }.into());
        }
        let text = listed.text_hash;
        guard.change(&[withdrawal_of(text)], &[text, promotion_of(text)])?;
        self.state().change(|state| state.promoted.remove(&listed.text_hash))?;
        Ok(ListedSkill { needs_review: true, is_withdrawn: true, ..listed })
    }

    /// Records a check of a skill. After a passed check, the skill is verified until its text changes. A failed check removes
    /// that and hides the skill from tasks until a check passes or its text changes. Where others write too, only the user's own
    /// checks count.
    ///
    /// # Errors
    /// [`skills::Error::NoSuch`]; the errors of a write.
    pub fn verify(&self, name: &str, verification: Verification) -> Result<ListedSkill> {
        let listed = self.get(name)?;
        let checked = Checked { note: self.note(&listed), passed: verification == Verification::Passed };
        let opposite = match verification {
            Verification::Passed => Verification::Failed,
            Verification::Failed => Verification::Passed,
        };
        let check = |result| check_of(listed.text_hash, result);
        self.shared.store.guard.change(&[check(verification)], &[check(opposite)])?;
        self.state().change(|state| state.checked.insert(listed.text_hash, checked))?;
        self.get(name)
    }

    /// Counts one use of a skill, and returns its total use.
    ///
    /// # Errors
    /// [`skills::Error::NoSuch`] for a text that is not a valid name; the errors of a write.
    pub fn used(&self, name: &str) -> Result<SkillUse> {
        let now = self.shared.clock.now();
        let name = name.parse::<SkillName>().map_err(|_| skills::Error::NoSuch { name: name.to_owned() })?;
        Ok(self.state().change(|state| state.use_of(name.as_str(), now))?)
    }

    fn note(&self, listed: &ListedSkill) -> Note {
        Note { name: listed.skill.name.to_string(), at: self.shared.clock.now() }
    }

    pub(in crate::playbook) fn state(&self) -> SkillStateFile<'_> {
        SkillStateFile::new(&self.shared.store.folder)
    }

    fn roots(&self) -> Vec<(SkillPlace, SkillFiles<'_>)> {
        let shared = &self.shared;
        let folder = &shared.store.folder;
        let named = shared.skills.roots.iter().map(|(place, path)| (*place, SkillFiles::in_folder(folder, path)));
        let mut roots: Vec<_> = named.chain([(SkillPlace::User, SkillFiles::own(folder))]).collect();
        // The sort is stable: folders of the same kind stay in the order in which they were named.
        roots.sort_by_key(|(place, _)| *place);
        roots
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests change files by themselves")]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::folder::disk::{Disk, RealDisk};
    use crate::lesson::Trust;
    use crate::skill::Skill;
    use crate::store::skills::files::NotListed;
    use crate::testing::at;
    use crate::testing::faults::{Fault, FaultyDisk};
    use crate::{Listing, ManualClock, build_lesson};

    fn open(folder: &Path, disk: Box<dyn Disk>) -> Result<Playbook> {
        let clock = Arc::new(ManualClock::new(at(0)));
        Playbook::builder(folder).without_embedder().with_clock(clock).with_disk(disk).open()
    }

    fn skill(body: &str) -> Skill {
        let mut skill = Skill::new("one".parse().unwrap(), "the one");
        skill.body = body.to_owned();
        skill.provenance.trust = Trust::Tainted;
        skill
    }

    /// The steps that were acknowledged.
    fn scenario(folder: &Path, target: &Path, disk: Box<dyn Disk>, done: &mut Vec<&'static str>) -> Result<()> {
        let playbook = open(folder, disk)?;
        let skills = playbook.skills();
        skills.save(&skill("first"))?;
        done.push("saved");
        skills.promote("one")?;
        done.push("promoted");
        skills.used("one")?;
        done.push("used");
        skills.replace(&skill("second"))?;
        done.push("replaced");
        playbook.learn_lesson(build_lesson("parsing CSV", "Use csv."))?;
        playbook.export_skill(["parsing CSV"], target)?;
        done.push("exported");
        Ok(())
    }

    #[test]
    fn after_any_disk_failure_skills_are_whole_and_acknowledged_steps_hold() {
        for fault in [Fault::Once, Fault::Freeze] {
            for number in 1.. {
                let temp = tempfile::tempdir().unwrap();
                let (memory, target) = (temp.path().join("memory"), temp.path().join("target"));
                let count = Arc::new(AtomicUsize::new(0));
                let disk = FaultyDisk { fault, at: number, done: Arc::clone(&count) };
                let mut done = Vec::new();
                let ended = scenario(&memory, &target, Box::new(disk), &mut done);
                let is_over = count.load(Ordering::SeqCst) < number;
                let context = format!("{fault:?} {number}, {done:?}, {ended:?}");
                assert!(!is_over || ended.is_ok(), "{context}");

                let playbook = open(&memory, Box::new(RealDisk)).unwrap();
                let listing = playbook.skills().list().unwrap();
                assert!(listing.refused.is_empty() && listing.skills.len() <= 1, "{context}: {listing:?}");
                assert!(!memory.join("quarantine").exists(), "{context}");
                let has = |step: &str| done.contains(&step);
                if let Some(listed) = listing.skills.first() {
                    let body = listed.skill.body.as_str();
                    assert!(body == "second" || (body == "first" && !has("replaced")), "{context}: {body}");
                    assert!(!has("promoted") || body == "second" || !listed.needs_review, "{context}");
                    assert!(listed.used.count >= u64::from(has("used")), "{context}");
                } else {
                    assert!(!has("saved"), "{context}");
                }
                let file = target.join("parsing-csv").join("SKILL.md");
                if file.exists() {
                    assert!(Skill::read(&fs::read(&file).unwrap(), Some("parsing-csv")).is_ok(), "{context}");
                }
                if has("exported") {
                    let lessons = playbook.list_lessons(&Listing::everything()).unwrap();
                    assert!(file.exists() && lessons[0].graduated, "{context}");
                }
                // The folder remains usable: the same steps succeed.
                scenario(&memory, &target, Box::new(RealDisk), &mut done).ok();
                playbook.skills().replace(&skill("third")).unwrap();
                let swept = fs::read_dir(&memory).unwrap().filter(|entry| {
                    entry.as_ref().unwrap().file_name().to_string_lossy().starts_with(crate::folder::TEMPORARY)
                });
                assert_eq!(swept.count(), 0, "{context}");
                assert_eq!(playbook.skills().get("one").unwrap().skill.body, "third", "{context}");
                if is_over {
                    assert!(number > 40, "only {number} operations were made to fail");
                    break;
                }
            }
        }
    }

    fn names(playbook: &Playbook) -> Vec<String> {
        let skills = playbook.skills().list().unwrap().skills;
        skills.iter().map(|listed| format!("{}: {}", listed.skill.name, listed.skill.body.trim())).collect()
    }

    #[test]
    fn every_change_of_a_skill_is_seen() {
        const N: usize = 30;
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path().join("skills");
        let playbook = open(temp.path(), Box::new(RealDisk)).unwrap();
        for n in 0..N {
            let skill = Skill { auto_load: n == 0, ..Skill::new(format!("s{n:02}").parse().unwrap(), "d") };
            playbook.skills().save(&Skill { body: format!("body {n}"), ..skill }).unwrap();
        }
        fs::create_dir_all(root.join("empty")).unwrap();
        let file = |name: &str| root.join(name).join("SKILL.md");
        let listed = |name: &str| names(&playbook).into_iter().find(|listed| listed.starts_with(&format!("{name}: ")));
        // Edited: the root does not change.
        fs::write(file("s01"), "---\nname: s01\n---\nedited").unwrap();
        assert_eq!(listed("s01").as_deref(), Some("s01: edited"));
        // Replaced within one tick of the clock by a text of the same length, with the same time and inode.
        let time = fs::metadata(file("s01")).unwrap().modified().unwrap();
        fs::write(file("s01"), "---\nname: s01\n---\nEDITED").unwrap();
        fs::File::open(file("s01")).unwrap().set_modified(time).unwrap();
        assert_eq!(listed("s01").as_deref(), Some("s01: EDITED"));
        // Added, also in a folder that had none; removed; renamed.
        fs::create_dir_all(root.join("new")).unwrap();
        fs::write(file("new"), "new").unwrap();
        fs::write(file("empty"), "no longer").unwrap();
        assert_eq!(
            (listed("new").as_deref(), listed("empty").as_deref()),
            (Some("new: new"), Some("empty: no longer"))
        );
        fs::remove_dir_all(root.join("s02")).unwrap();
        fs::remove_file(file("s03")).unwrap();
        fs::rename(root.join("new"), root.join("newer")).unwrap();
        let all = names(&playbook);
        assert_eq!((listed("s02"), listed("s03"), listed("new"), all.len()), (None, None, None, N));
        assert_eq!(listed("newer").as_deref(), Some("newer: new"));
        // The next recall sees a change of an auto-loaded skill.
        let text = || playbook.get_playbook_context("rotate the ssh host keys").unwrap().text;
        assert!(text().contains("body 0"));
        let edited = fs::read_to_string(file("s00")).unwrap().replace("body 0", "body X");
        fs::write(file("s00"), edited).unwrap();
        assert!(text().contains("body X"));
    }

    #[test]
    #[cfg(unix)]
    fn a_known_skill_that_becomes_a_link_out_is_refused() {
        let temp = tempfile::tempdir().unwrap();
        let (root, outside) = (temp.path().join("memory").join("skills"), temp.path().join("outside.md"));
        let playbook = open(&temp.path().join("memory"), Box::new(RealDisk)).unwrap();
        playbook.skills().save(&skill("first")).unwrap();
        assert_eq!(names(&playbook), ["one: first"]);
        // The same file by its inode, length and time.
        fs::rename(root.join("one").join("SKILL.md"), &outside).unwrap();
        std::os::unix::fs::symlink(&outside, root.join("one").join("SKILL.md")).unwrap();
        let listing = playbook.skills().list().unwrap();
        assert!(listing.skills.is_empty());
        assert_eq!(listing.refused[0].reason, NotListed::LeadsOut);
    }
}
