//! Power loss: the states that a disk may be in if only synced data is certain, and the result of an open.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "the tests write images of disks by themselves, and count them"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use crate::embed::HashingEmbedder;
use crate::folder::disk::{Disk, RealDisk};
use crate::testing::at;
use crate::testing::faults::{Change, RecordingDisk};
use crate::testing::random::{Random, n_cases};
use crate::{Config, Listing, ManualClock, Playbook, Request, build_lesson};

/// A file, independent of its names.
#[derive(Clone, Debug, Default)]
struct Inode {
    content: Vec<u8>,
    /// The content that certainly survives.
    synced: Vec<u8>,
    modified: Option<SystemTime>,
}

/// A change of names that is not synced.
#[derive(Clone, Debug)]
struct Naming {
    set: Option<(PathBuf, usize)>,
    unset: Option<PathBuf>,
}

/// The synced state of the disk, and the changes that are not synced.
#[derive(Clone, Debug, Default)]
struct Model {
    inodes: Vec<Inode>,
    names: BTreeMap<PathBuf, usize>,
    synced_names: BTreeMap<PathBuf, usize>,
    pending: Vec<Naming>,
}

/// The files of a disk image, with their times.
type Image = BTreeMap<PathBuf, (Vec<u8>, Option<SystemTime>)>;

impl Model {
    /// A disk with everything synced.
    fn all_synced(image: &Image) -> Self {
        let mut model = Self::default();
        for (path, (bytes, modified)) in image {
            model.names.insert(path.clone(), model.inodes.len());
            model.inodes.push(Inode { content: bytes.clone(), synced: bytes.clone(), modified: *modified });
        }
        model.synced_names.clone_from(&model.names);
        model
    }

    fn inode(&mut self, path: &Path) -> &mut Inode {
        if !self.names.contains_key(path) {
            self.name(Some((path.to_owned(), self.inodes.len())), None);
            self.inodes.push(Inode::default());
        }
        &mut self.inodes[self.names[path]]
    }

    fn name(&mut self, set: Option<(PathBuf, usize)>, unset: Option<PathBuf>) {
        let naming = Naming { set, unset };
        naming.apply(&mut self.names);
        self.pending.push(naming);
    }

    fn happens(&mut self, change: &Change) {
        match change {
            Change::Create(path, bytes) => {
                self.names.remove(path);
                self.inode(path).content.clone_from(bytes);
            }
            Change::Append(path, bytes) => self.inode(path).content.extend(bytes),
            Change::Truncate(path, length) => self.inode(path).content.truncate(usize::try_from(*length).unwrap()),
            Change::Modified(path, time) => self.inode(path).modified = Some(*time),
            Change::Rename(from, to) => {
                let inode = self.names[from];
                self.name(Some((to.clone(), inode)), Some(from.clone()));
            }
            Change::Link(from, to) => {
                let inode = self.names[from];
                self.name(Some((to.clone(), inode)), None);
            }
            Change::Remove(path) => self.name(None, Some(path.clone())),
            Change::Sync(path) => {
                let inode = self.inode(path);
                inode.synced.clone_from(&inode.content);
            }
            Change::SyncFolder(_) => {
                self.synced_names.clone_from(&self.names);
                self.pending.clear();
            }
        }
    }

    /// A possible state of the disk after a power loss.
    fn image(&self, random: &mut Random) -> Image {
        let mut names = self.synced_names.clone();
        match random.below(3) {
            // The first changes in order, as journaling file systems do.
            0 => {
                let n = random.below(self.pending.len() + 1);
                self.pending[..n].iter().for_each(|naming| naming.apply(&mut names));
            }
            1 => self.pending.iter().for_each(|naming| naming.apply(&mut names)),
            // Any subset of the changes.
            _ => self.pending.iter().filter(|_| random.below(2) == 0).for_each(|naming| naming.apply(&mut names)),
        }
        let content = |inode: &Inode, random: &mut Random| {
            let Inode { content, synced, .. } = inode;
            let n_same = content.iter().zip(synced).take_while(|(one, other)| one == other).count();
            match random.below(5) {
                0 | 1 => content.clone(),
                2 => synced.clone(),
                // A part of the new content, or its full length with zeros.
                3 => content[..n_same + random.below(content.len() - n_same + 1)].to_vec(),
                _ => content.iter().enumerate().map(|(place, byte)| if place < n_same { *byte } else { 0 }).collect(),
            }
        };
        let read = |(path, inode): (PathBuf, usize)| {
            let inode = &self.inodes[inode];
            (path, (content(inode, random), inode.modified))
        };
        names.into_iter().map(read).collect()
    }
}

impl Naming {
    fn apply(&self, names: &mut BTreeMap<PathBuf, usize>) {
        if let Some(path) = &self.unset {
            names.remove(path);
        }
        if let Some((path, inode)) = &self.set {
            names.insert(path.clone(), *inode);
        }
    }
}

fn write(image: &Image, folder: &Path) {
    for (path, (bytes, modified)) in image {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        if let Some(modified) = modified {
            File::options().write(true).open(&path).unwrap().set_modified(*modified).unwrap();
        }
    }
}

/// The capacity; the last lessons evict others.
const CAPACITY: usize = 4;
fn open(folder: &Path, disk: Box<dyn Disk>) -> Playbook {
    let mut config = Config::default();
    config.retention.capacity = CAPACITY;
    let clock = Arc::new(ManualClock::new(at(0)));
    let builder = Playbook::builder(folder).with_disk(disk).with_clock(clock).with_config(config);
    builder.with_embedder(Arc::new(HashingEmbedder)).open().unwrap()
}

/// What is acknowledged: the lessons' texts and marks, the removals, and the number of changes that can be undone.
type State = (BTreeSet<String>, u64, usize);

fn state(playbook: &Playbook) -> State {
    let lessons = playbook.list_lessons(&Listing { limit: 100, ..Listing::default() }).unwrap();
    let text = |lesson: &Arc<crate::Lesson>| {
        let advice: String = lesson.correct_pattern.chars().take(40).collect();
        format!("{} {advice} {}", lesson.id, lesson.verified)
    };
    let n_removed = playbook.stats().unwrap().n_removed;
    (lessons.iter().map(text).collect(), n_removed as u64, playbook.changes().unwrap().len())
}

/// Learns, marks, merges, evicts, removes, edits by hand and recalls. Returns the changes of the disk, and for each
/// acknowledged state the number of changes before it.
fn trace(folder: &Path) -> (Vec<Change>, Vec<(usize, State)>) {
    let disk = RecordingDisk::default();
    let playbook = open(folder, Box::new(disk.clone()));
    let mut states = vec![(0, state(&playbook))];
    let mut done = |playbook: &Playbook| states.push((disk.0.lock().len(), state(playbook)));
    let topics = ["amber kettle", "brass lantern", "copper anvil", "denim apron", "elm mallet", "felt hat"];
    for (number, topic) in topics.into_iter().enumerate() {
        playbook.learn_lesson(build_lesson(topic, format!("the way of {topic}"))).unwrap();
        done(&playbook);
        let _ = playbook.get_playbook_context(Request::about(topic)).unwrap();
        if number == 1 {
            playbook.mark_verified(topic, crate::Verification::Passed).unwrap();
            done(&playbook);
        }
        if number == 2 {
            playbook.remove(topic).unwrap();
            done(&playbook);
        }
    }
    playbook.edit("felt hat", build_lesson("", "another way of felt hat")).unwrap();
    done(&playbook);
    let changes = disk.0.lock().clone();
    (changes, states)
}

fn relative(change: &Change, folder: &Path) -> Option<Change> {
    let name = |path: &PathBuf| path.strip_prefix(folder).ok().map(Path::to_owned);
    Some(match change {
        Change::Create(path, bytes) => Change::Create(name(path)?, bytes.clone()),
        Change::Append(path, bytes) => Change::Append(name(path)?, bytes.clone()),
        Change::Truncate(path, length) => Change::Truncate(name(path)?, *length),
        Change::Modified(path, time) => Change::Modified(name(path)?, *time),
        Change::Rename(from, to) => Change::Rename(name(from)?, name(to)?),
        Change::Link(from, to) => Change::Link(name(from)?, name(to)?),
        Change::Remove(path) => Change::Remove(name(path)?),
        Change::Sync(path) => Change::Sync(name(path)?),
        Change::SyncFolder(path) => Change::SyncFolder(name(path)?),
    })
}

/// `ADAGE_POWER_IMAGES` sets the number of images.
#[test]
fn after_a_power_loss_the_state_is_the_one_before_or_after() {
    let n_images = n_cases("ADAGE_POWER_IMAGES", 1_000);
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let (changes, states) = trace(&root);
    let changes: Vec<Change> = changes.iter().filter_map(|change| relative(change, &root)).collect();
    let (mut random, mut n_recovered) = (Random(7), 0);
    for number in 0..n_images {
        let n_happened = random.below(changes.len() + 1);
        let mut model = Model::default();
        changes[..n_happened].iter().for_each(|change| model.happens(change));
        let mut image = model.image(&mut random);
        let place = states.iter().rposition(|(n, _)| *n <= n_happened).unwrap();
        let expected = &states[place..states.len().min(place + 2)];
        // Every third image has a second power loss during the next open.
        for is_again in [number % 3 == 0, false] {
            let there = tempfile::tempdir().unwrap();
            let path = there.path().canonicalize().unwrap();
            write(&image, &path);
            let disk = RecordingDisk::default();
            let playbook = open(&path, Box::new(disk.clone()));
            let found = state(&playbook);
            let context = || {
                format!(
                    "image {number} after {n_happened} changes, {:?}: {found:#?}\n{expected:#?}",
                    playbook.recovery()
                )
            };
            assert!(expected.iter().any(|(_, state)| *state == found), "{}", context());
            n_recovered += usize::from(playbook.recovery().is_some());
            if is_again {
                let changes: Vec<Change> = disk.0.lock().iter().filter_map(|change| relative(change, &path)).collect();
                let mut model = Model::all_synced(&image);
                changes[..random.below(changes.len() + 1)].iter().for_each(|change| model.happens(change));
                image = model.image(&mut random);
                continue;
            }
            drop(playbook);
            let playbook = open(&path, Box::new(RealDisk));
            playbook.learn_lesson(build_lesson("gilt frame", "after the power came back")).unwrap();
            assert!(state(&open(&path, Box::new(RealDisk))) == state(&playbook), "image {number}");
            break;
        }
    }
    println!("{n_images} images, {n_recovered} opens had something to restore");
}
