//! A repository that tracks its memory folder, and two people who push and pull.

use std::fs;
use std::path::{Path, PathBuf};

use super::ground::{Ground, MEMORY, TEAM};
use super::rows::{edit_rows, row};

/// What a team that shares its lessons leaves out of a commit.
const NOT_SHARED: [&str; 6] = [
    ":(exclude).adage/lock",
    ":(exclude).adage/vectors.bin",
    ":(exclude).adage/.gitignore",
    ":(exclude,glob).adage/usage.*",
    ":(exclude,glob).adage/*.bak",
    ":(exclude,glob).adage/.adage-*",
];

pub(super) struct Team<'a> {
    ground: &'a Ground,
    upstream: PathBuf,
    /// The clone of the team mate, who turns out to be hostile.
    pub(super) theirs: PathBuf,
    /// The clone of the user.
    pub(super) ours: PathBuf,
}

impl<'a> Team<'a> {
    /// A repository with one lesson of the team, cloned; the user has looked at it and trusts it.
    pub(super) fn trusted(ground: &'a Ground) -> Self {
        let team = Self::cloned(ground, "ours");
        ground.does(&ground.user, &team.ours, &["trust"]);
        team
    }

    /// The same, before the user has trusted it.
    pub(super) fn cloned(ground: &'a Ground, ours: &str) -> Self {
        let team = Self {
            ground,
            upstream: ground.folder("upstream"),
            theirs: ground.path("theirs"),
            ours: ground.path(ours),
        };
        ground.other.git(&team.upstream, &["init", "-q", "--bare", "."]);
        ground.other.git(&ground.folder("."), &["clone", "-q", "upstream", "theirs"]);
        let lesson = [
            "learn",
            "--trigger",
            "deploy the docs together",
            "--solution",
            "ask bongo before",
            "--mistake",
            "bongo was not asked",
        ];
        assert!(ground.other.adage(&team.theirs, &lesson).is_done());
        team.push();
        ground
            .user
            .git(&ground.folder("."), &["clone", "-q", team.upstream.to_str().unwrap(), team.ours.to_str().unwrap()]);
        team
    }

    pub(super) fn our_memory(&self) -> PathBuf {
        self.ours.join(MEMORY)
    }

    pub(super) fn their_memory(&self) -> PathBuf {
        self.theirs.join(MEMORY)
    }

    /// Commits and pushes what the team mate has.
    pub(super) fn push(&self) {
        let other = &self.ground.other;
        other.git(&self.theirs, &["add", "-A", "."]);
        if self.their_memory().exists() {
            other.git(&self.theirs, &[&["add", "-A", "-f", "--", MEMORY], NOT_SHARED.as_slice()].concat());
        }
        self.push_staged();
    }

    /// The same, with files of the memory that a team would leave out.
    pub(super) fn push_with(&self, files: &[&str]) {
        for file in files {
            self.ground.other.git(&self.theirs, &["add", "-f", "--", &format!("{MEMORY}/{file}")]);
        }
        self.push();
    }

    fn push_staged(&self) {
        self.ground.other.git(&self.theirs, &["commit", "-q", "--allow-empty", "-m", "more"]);
        self.ground.other.git(&self.theirs, &["push", "-q", "origin", "HEAD:main"]);
    }

    /// The user takes what was pushed; files that git does not track stay.
    pub(super) fn pull(&self) {
        self.pull_into(&self.ours);
    }

    pub(super) fn pull_into(&self, clone: &Path) {
        self.ground.user.git(clone, &["fetch", "-q", "origin"]);
        self.ground.user.git(clone, &["reset", "-q", "--hard", "origin/main"]);
    }

    /// The user commits and pushes, and the team mate takes it.
    pub(super) fn share_ours(&self) {
        let user = &self.ground.user;
        user.git(&self.ours, &[&["add", "-A", "-f", "--", MEMORY], NOT_SHARED.as_slice()].concat());
        user.git(&self.ours, &["commit", "-q", "--allow-empty", "-m", "ours"]);
        user.git(&self.ours, &["push", "-q", "origin", "HEAD:main"]);
        self.ground.other.git(&self.theirs, &["fetch", "-q", "origin"]);
        self.ground.other.git(&self.theirs, &["reset", "-q", "--hard", "origin/main"]);
    }

    /// The team mate adds the hostile row, the user pulls it.
    pub(super) fn bring(&self) {
        self.bring_rows(|rows| rows.insert(0, super::rows::hostile_row()));
    }

    /// The team mate edits the rows, the user pulls them.
    pub(super) fn bring_rows(&self, change: impl FnOnce(&mut Vec<serde_json::Value>)) {
        edit_rows(&self.their_memory(), change);
        self.push();
        self.pull();
    }

    /// The team's lesson is shown, the hostile row is not.
    pub(super) fn only_the_team_speaks(&self, case: &str) {
        self.ground.speaks(&self.ground.user, &self.ours, TEAM, case);
        self.ground.is_silent(&self.ground.user, &self.ours, case);
    }

    /// A second row of the team, for rows that look alike.
    pub(super) fn second_row() -> serde_json::Value {
        row(22, "publish the docs of a release", "tell bongo the version")
    }

    pub(super) fn remove_ours(&self) {
        fs::remove_dir_all(&self.ours).unwrap();
    }

    pub(super) fn upstream(&self) -> &str {
        self.upstream.to_str().unwrap()
    }
}
