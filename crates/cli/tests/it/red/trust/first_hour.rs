//! The first hour of an honest user: what is typed, what the program says, how often it asks or makes wait.
//!
//! `cargo test -p adage-cli --test it red::trust::first_hour -- --nocapture` prints it.

use std::path::Path;

use super::ground::{Ground, HOSTILE, OWN, TASK, TEAM};
use super::program::{Person, Said};
use super::team::Team;

/// The state of the story so far.
struct Story<'a> {
    ground: &'a Ground,
    n_commands: usize,
    /// Calls that tell the user to decide on trust.
    n_questions: usize,
    /// Lessons and skills in the folder that are not shown yet.
    n_waits: usize,
}

impl Story<'_> {
    fn chapter(&mut self, title: &str) {
        println!("\n== {title}");
        (self.n_commands, self.n_questions, self.n_waits) = (0, 0, 0);
    }

    /// Runs a command that must succeed and print `expected`; if that is none, it must tell the user to decide on trust.
    fn types(&mut self, person: &Person, directory: &Path, arguments: &[&str], expected: Option<&str>) -> Said {
        let said = person.adage(directory, arguments);
        self.n_commands += 1;
        println!("$ adage {}", arguments.join(" "));
        for line in said.out.lines().chain(said.err.lines()) {
            println!("    {line}");
        }
        self.n_questions += usize::from(said.says("adage trust") && arguments[0] != "trust");
        self.n_waits += said.out.matches(" awaits review").count();
        self.ground.claim(said.is_done(), format!("{arguments:?} is not done: {}", said.brief()));
        match expected {
            Some(word) => self.ground.claim(
                said.out.to_lowercase().contains(word),
                format!("{arguments:?} without {word}: {}", said.brief()),
            ),
            None => {
                self.ground.claim(said.says("adage trust"), format!("{arguments:?} asks nothing: {}", said.brief()));
            }
        }
        said
    }

    fn is_over(&self, max_questions: usize) {
        println!("-- {} commands, {} questions of trust, {} waits", self.n_commands, self.n_questions, self.n_waits);
        let asked = format!("{} questions, at most {max_questions} are due", self.n_questions);
        self.ground.claim(self.n_questions <= max_questions, asked);
    }
}

#[test]
fn an_honest_user_is_asked_once_per_foreign_folder_and_never_about_the_own_one() {
    let ground = Ground::new();
    let mut story = Story { ground: &ground, n_commands: 0, n_questions: 0, n_waits: 0 };
    own_folder(&mut story);
    team_folder(&mut story);
    second_machine(&mut story);
    let faults = ground.faults();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn own_folder(story: &mut Story) {
    let (ground, user) = (story.ground, &story.ground.user);
    let own = ground.folder("own");
    story.chapter("a folder of one's own");
    user.git(&own, &["init", "-q"]);
    story.types(user, &own, &["context", TASK], Some(""));
    story.types(user, &own, &["learn", "--trigger", TASK, "--solution", "call okapi first"], Some("inserted"));
    let said = story.types(user, &own, &["context", TASK, "--json"], Some(OWN));
    let context: serde_json::Value = serde_json::from_str(said.out.trim()).unwrap_or_default();
    let receipt = context["receipt"].as_str().unwrap_or_default().to_owned();
    story.types(user, &own, &["outcome", &receipt, "helpful"], Some(""));
    story.types(user, &own, &["list"], Some(TASK));
    story.types(user, &own, &["doctor"], Some("ok"));
    story.is_over(0);
}

fn team_folder(story: &mut Story) {
    let (ground, user) = (story.ground, &story.ground.user);
    let team = Team::cloned(ground, "ours");
    story.chapter("a team's folder, cloned");
    story.types(user, &team.ours, &["context", TASK], None);
    story.types(user, &team.ours, &["trust", "--show"], Some(TEAM));
    story.types(user, &team.ours, &["trust"], Some(""));
    story.types(user, &team.ours, &["context", TASK], Some(TEAM));
    story.types(
        user,
        &team.ours,
        &["learn", "--trigger", "zip the docs", "--solution", "call okapi to zip"],
        Some("inserted"),
    );
    story.types(user, &team.ours, &["context", "zip the docs"], Some(OWN));
    team.share_ours();
    team.bring();
    println!("$ git pull");
    let said = story.types(user, &team.ours, &["context", TASK], Some(TEAM));
    ground.claim(!said.says(HOSTILE), format!("what was pulled is shown: {}", said.brief()));
    story.is_over(3);
}

fn second_machine(story: &mut Story) {
    let (ground, user) = (story.ground, &story.ground.user);
    let (own, there) = (ground.folder("own"), ground.folder("there"));
    let second = Person::new(ground.path("home-of-second-machine"));
    story.chapter("an own export, imported on a second machine");
    let exported = story.types(user, &own, &["export"], Some(OWN)).out;
    super::ground::write(&there.join("rows.jsonl"), exported);
    story.types(&second, &there, &["import", "rows.jsonl"], Some("inserted"));
    if !second.adage(&there, &["context", TASK, "--peek"]).out.contains(OWN) {
        story.n_waits += 1;
        story.types(&second, &there, &["review", "list"], Some(TASK));
        story.types(&second, &there, &["review", "apply", "--all"], Some(""));
    }
    story.types(&second, &there, &["context", TASK], Some(OWN));
    story.is_over(1);

    story.chapter("the own folder, copied to a second machine");
    super::ground::copy(&own, &ground.path("copied"));
    story.types(&second, &ground.path("copied"), &["context", TASK], None);
    story.types(&second, &ground.path("copied"), &["trust"], Some(""));
    story.types(&second, &ground.path("copied"), &["context", TASK], Some(OWN));
    story.is_over(1);
}
