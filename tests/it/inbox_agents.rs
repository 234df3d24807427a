//! Files that agents leave in the inbox, by mistake or on purpose: they never take effect by themselves and change nothing
//! else.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use adage::TextHash;
use adage_review::{CannotApply, PatchKind, Proposal, ProposalName};
use proptest::prelude::*;

use crate::inbox::{CHANGE, Home, skill};

/// Content that agents may write in place of a patch.
#[derive(Clone, Debug)]
enum Scrap {
    Good(&'static str),
    Half(&'static str, usize),
    Prose(String),
    Forbidden(&'static str),
    Badly(&'static str),
    Folder,
    Link(&'static str),
}

fn scrap() -> impl Strategy<Value = Scrap> {
    let file = prop::sample::select(vec!["memory/n1.md", "memory/n2.md", "memory/n3.md"]);
    let target = prop::sample::select(vec![
        "project/AGENTS.md",
        "memory/AGENTS.md",
        "memory/x.txt",
        "memory/.hidden.md",
        "memory/sub/x.md",
        "../x.md",
        "memory/skills_playbook.json",
    ]);
    let broken =
        prop::sample::select(vec!["--- a/x.md\n+++ b/x.md\n@@ -1 +1 @@\n-a\n+b\n", "--- /x\n", "@@ -1 +1 @@\n", ""]);
    prop_oneof![
        3 => file.clone().prop_map(Scrap::Good),
        2 => (file, 1_usize..60).prop_map(|(file, cut)| Scrap::Half(file, cut)),
        1 => "[ -~\n]{0,60}".prop_map(Scrap::Prose),
        2 => target.prop_map(Scrap::Forbidden),
        1 => broken.prop_map(Scrap::Badly),
        1 => Just(Scrap::Folder),
        1 => prop::sample::select(vec!["project/AGENTS.md", "nowhere", "memory"]).prop_map(Scrap::Link),
    ]
}

fn place() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "private/extraction.patch",
        "private/more.patch",
        "private/zzz.patch",
        "private/notes.txt",
        "private/.hidden",
        "global/extraction.patch",
        "skills/deploy.patch",
        "skills/..patch",
        "skills/a skill/SKILL.md",
        "skills/fresh/SKILL.md",
        "skills/fresh/run.sh",
        "skills/loose.md",
        "loose.patch",
        "other/extraction.patch",
    ])
}

fn scatter(home: &Home, at: &str, scrap: &Scrap) {
    let name = format!("memory/.inbox/{at}");
    let path = home.path(&name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    if fs::symlink_metadata(&path).is_ok() {
        return;
    }
    match scrap {
        Scrap::Good(file) => home.write(&name, &home.makes(file, &format!("from {at}"))),
        Scrap::Half(file, cut) => {
            let text = home.makes(file, "text");
            home.write(&name, &text[..text.len().saturating_sub(*cut)]);
        }
        Scrap::Prose(text) => home.write(&name, text),
        Scrap::Forbidden(target) => home.write(&name, &home.makes(target, "x")),
        Scrap::Badly(text) => home.write(&name, text),
        Scrap::Folder => fs::create_dir_all(path.join("inner")).unwrap(),
        Scrap::Link(to) => {
            #[cfg(unix)]
            std::os::unix::fs::symlink(home.path(to), &path).unwrap();
            #[cfg(not(unix))]
            home.write(&name, to);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    /// For any content: listed proposals can be applied, the rest is quarantined with its reason, and nothing else changes.
    #[test]
    fn the_inbox_lists_exactly_what_can_be_applied(scraps in prop::collection::vec((place(), scrap()), 0..8)) {
        let home = Home::new();
        for (at, scrap) in &scraps {
            scatter(&home, at, scrap);
        }
        let before = home.snapshot("");
        let inbox = home.inbox();
        let n_listed = inbox.list().unwrap().len();
        let checked = inbox.check_written().unwrap();
        prop_assert!(inbox.inapplicable().unwrap().is_empty());
        let proposals = inbox.list().unwrap();
        prop_assert!(proposals.len() >= n_listed);
        let notice = inbox.notice().unwrap().unwrap_or_default();
        prop_assert_eq!(notice.n_patches + notice.n_skills + notice.n_lessons, proposals.len());
        for aside in &checked.aside {
            prop_assert!(fs::symlink_metadata(&aside.kept_at).is_ok());
            let told = fs::read_to_string(format!("{}.reason", aside.kept_at.display())).unwrap();
            prop_assert_eq!(told.trim_end(), aside.reason.to_string());
        }
        // A second check finds nothing more.
        prop_assert_eq!(inbox.check_written().unwrap(), adage_review::CheckedInbox::default());
        let after = home.snapshot("");
        let is_inbox = |path: &Path| path.starts_with(home.path("memory/.inbox")) || path == home.path("memory/lock");
        for (path, content) in before.iter().filter(|(path, _)| !is_inbox(path)) {
            prop_assert_eq!(after.get(path), Some(content));
        }
        for proposal in &proposals {
            inbox.show(proposal).unwrap();
            inbox.apply(std::slice::from_ref(proposal)).unwrap();
        }
        prop_assert!(inbox.list().unwrap().is_empty());
        prop_assert_eq!(home.text("project/AGENTS.md"), "instructions\n");
    }
}

/// Canary files next to and inside the memory folder, with links and other traps.
#[cfg(unix)]
fn canaries(home: &Home) {
    use std::os::unix::fs::{PermissionsExt, symlink};
    for name in [
        "outside/a.md",
        "outside/deep/SKILL.md",
        "memory/skills_playbook.json.bak",
        "memory/quarantine/q.md",
        "memory2/a.md",
    ] {
        home.write(name, "canary\n");
    }
    home.write("memory/fixed.md", "canary\n");
    fs::set_permissions(home.path("memory/fixed.md"), fs::Permissions::from_mode(0o444)).unwrap();
    home.write("project/.git/HEAD", "ref: refs/heads/main\n");
    home.write("skills/deploy/run.sh", "canary\n");
    fs::create_dir_all(home.path("memory/folder.md")).unwrap();
    symlink(home.path("outside/a.md"), home.path("memory/link.md")).unwrap();
    symlink(home.path("outside"), home.path("memory/way")).unwrap();
    symlink(home.path("outside/new.md"), home.path("memory/dangling.md")).unwrap();
    symlink(home.path("outside/deep"), home.path("skills/linked")).unwrap();
    symlink(home.path("memory"), home.path("way-in")).unwrap();
    fs::hard_link(home.path("outside/a.md"), home.path("memory/hard.md")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(home.path("memory/pipe.md")).status().unwrap();
    assert!(made.success());
}

/// Names in the home folder that no patch may change.
#[cfg(unix)]
const BELOW: &[&str] = &[
    "outside/a.md",
    "outside/new.md",
    "memory2/a.md",
    "memory2/new.md",
    "project/AGENTS.md",
    "project/GEMINI.md",
    "project/CLAUDE.md",
    "project/new.md",
    "memory/AGENTS.md",
    "memory/agents.md",
    "memory/Claude.md",
    "memory/GEMINI.md",
    "memory/link.md",
    "memory/dangling.md",
    "memory/way/a.md",
    "memory/way/new.md",
    "memory/hard.md",
    "memory/pipe.md",
    "memory/fixed.md",
    "memory/folder.md",
    "memory/folder.md/x.md",
    "memory/.hidden.md",
    "memory/.inbox/private/x.md",
    "memory/.inbox/private/extraction.patch",
    "memory/edits/x.md",
    "memory/skills/x/SKILL.md",
    "memory/quarantine/q.md",
    "memory/skills_playbook.json",
    "memory/skills_playbook.json.bak",
    "memory/lock",
    "memory/archive.jsonl",
    "memory/notes.txt",
    "memory/notes.MD",
    "memory/NOTES.md",
    "memory/Notes.md",
    "memory/notes.md ",
    "memory/notes.md.",
    "memory/ notes.md",
    "memory/notes",
    "memory/sub/new.md",
    "memory/../outside/a.md",
    "memory/../outside/new.md",
    "memory/./notes.md",
    "memory//notes.md",
    "memory/notes.md/",
    "memory/notes.md/.",
    "memory/notes.md/..",
    "memory/x/../notes.md",
    "memory",
    "memory/",
    "",
    "/",
    "way-in/notes.md",
    "way-in/new.md",
    "memory/no\u{200b}tes.md",
    "memory/notes\u{202e}.md",
    "memory/\u{feff}new.md",
    "memory/cafe\u{301}.md",
    "memory/new\u{0}.md",
    "memory/new\u{1b}.md",
    "memory/ne\\w.md",
    "memory\\new.md",
    "memory/C:new.md",
    "memory/nul.md",
    "memory/COM1.md",
    "memory/a\tb.md",
    "skills/deploy/run.sh",
    "skills/deploy/new.md",
    "skills/linked/SKILL.md",
    "skills/SKILL.md",
    "skills/new/SKILL.md",
    ".agent/NOTES.md",
    ".agent/notes.md",
    ".agent/other.md",
    ".agent/NOTES.md/x.md",
];

/// Those, and hostile spellings of good ones.
#[cfg(unix)]
fn hostile_names(home: &Home) -> Vec<String> {
    let root = home.path("").display().to_string();
    let root = root.trim_end_matches('/');
    let mut names: Vec<String> = BELOW.iter().map(|name| format!("{root}/{name}")).collect();
    let good = format!("{root}/memory/new.md");
    names.extend([
        "memory/new.md".to_owned(),
        "new.md".to_owned(),
        "./new.md".to_owned(),
        "../new.md".to_owned(),
        "~/new.md".to_owned(),
        "/etc/passwd".to_owned(),
        "/dev/stdout".to_owned(),
        "/dev/full".to_owned(),
        "/proc/self/environ".to_owned(),
        "/dev/fd/1".to_owned(),
        "//etc/passwd".to_owned(),
        format!("a{good}"),
        format!("a/{good}"),
        format!("b{good}"),
        format!("\"{good}\""),
        format!("'{good}'"),
        format!("{good}\t2026-01-01"),
        format!("file://{good}"),
        format!(" {good}"),
        format!("{}.md", "x".repeat(300)),
        format!("{root}/memory/{}.md", "x".repeat(300)),
        format!("{root}/{}new.md", "memory/../".repeat(500)),
        good.to_uppercase(),
        format!("{good}\u{2028}"),
        "C:\\memory\\new.md".to_owned(),
        "\\\\host\\share\\new.md".to_owned(),
        "-".to_owned(),
        "$HOME/new.md".to_owned(),
        "%USERPROFILE%/new.md".to_owned(),
        format!("{root}/memory/$(touch x).md\u{7}"),
    ]);
    names
}

#[cfg(unix)]
#[test]
fn hostile_patches_touch_nothing() {
    let home = Home::new();
    canaries(&home);
    let root = home.path("");
    let inbox = home.inbox();
    let mut n_tried = 0;
    let mut attempt = |kind: &PatchKind, patch: &str| {
        let before = home.snapshot("");
        let refused = inbox.propose(kind, patch.as_bytes());
        assert!(refused.is_err(), "{patch}");
        // And directly in the inbox.
        let at = match kind {
            PatchKind::Private => "private/extraction.patch",
            PatchKind::Global => "global/extraction.patch",
            PatchKind::Skill(_) => "skills/x.patch",
        };
        home.write(&format!("memory/.inbox/{at}"), patch);
        assert!(inbox.list().unwrap().is_empty(), "{patch}");
        let (name, text) = (ProposalName::Patch(kind.clone()), TextHash::of(&[patch]));
        assert!(inbox.find(&name).is_err(), "{patch}");
        let forged =
            Proposal { name, text, files: Vec::new(), summary: String::new(), lines: Vec::new(), lessons: Vec::new() };
        assert!(inbox.apply(&[forged]).is_err(), "{patch}");
        // Quarantining syncs to disk, so not every one is.
        if n_tried % 20 == 0 {
            assert_eq!(inbox.check_written().unwrap().aside.len(), 1, "{patch}");
        }
        fs::remove_dir_all(home.path("memory/.inbox")).unwrap();
        let is_ours = |path: &Path| {
            let ours = [".inbox", "edits", "lock"].iter();
            ours.into_iter().any(|name| path.starts_with(root.join("memory").join(name)))
        };
        let of_others = |mut snapshot: BTreeMap<PathBuf, String>| {
            snapshot.retain(|path, _| !is_ours(path));
            snapshot
        };
        assert_eq!(of_others(before), of_others(home.snapshot("")), "{patch}");
        n_tried += 1;
    };
    let is_the_file = |kind: &PatchKind, name: &str| {
        *kind == PatchKind::Global && home.path(".agent/NOTES.md").to_str() == Some(name)
    };
    fs::create_dir_all(home.path("memory/.inbox")).unwrap();
    for name in hostile_names(&home) {
        for kind in [PatchKind::Private, PatchKind::Global, skill("x")] {
            if is_the_file(&kind, &name) {
                continue;
            }
            let exists = format!("--- {name}\n+++ {name}\n@@ -1 +1,2 @@\n canary\n+hostile\n");
            let makes = format!("--- /dev/null\n+++ {name}\n@@ -0,0 +1 @@\n+hostile\n");
            attempt(&kind, &exists);
            attempt(&kind, &makes);
        }
    }
    // A valid first diff does not admit an invalid second one.
    let good = home.makes("memory/new.md", "x");
    for name in hostile_names(&home).iter().take(40) {
        attempt(&PatchKind::Private, &format!("{good}--- /dev/null\n+++ {name}\n@@ -0,0 +1 @@\n+hostile\n"));
    }
    let notes = home.path("memory/notes.md").display().to_string();
    for patch in [
        format!("--- {notes}\n+++ /dev/null\n@@ -1,3 +0,0 @@\n-one\n-two\n-three\n"),
        format!("diff --git {notes} {notes}\ndeleted file mode 100644\n"),
        format!("diff --git {notes} {notes}\nrename from {notes}\nrename to /etc/x.md\n"),
        format!("diff --git {notes} {notes}\nold mode 100644\nnew mode 100755\n"),
        format!(
            "diff --git {notes} {notes}\nnew file mode 120000\n--- /dev/null\n+++ {notes}2.md\n@@ -0,0 +1 @@\n+/etc/passwd\n"
        ),
        format!("diff --git {notes} {notes}\nGIT binary patch\nliteral 3\nKcmZQzU|?i`\n"),
        format!("--- {notes}\n+++ {}\n{CHANGE}", home.path("memory/other.md").display()),
        format!("--- {}\n+++ {notes}\n{CHANGE}", home.path("outside/a.md").display()),
        format!("--- {notes}\n+++ {notes}\n@@ -4294967295,3 +1,3 @@\n one\n-two\n+2\n three\n"),
        format!("--- {notes}\n+++ {notes}\n@@ -1,99999999 +1,99999999 @@\n one\n"),
        format!("--- {notes}\n+++ {notes}\n@@ -2,3 +2,3 @@\n one\n-two\n+2\n three\n"),
        format!("--- {notes}\n+++ {notes}\n@@ -2 +2 @@\n-two\n+2\n"),
        format!("junk\n--- {notes}\n+++ {notes}\n{CHANGE}"),
        format!("--- {notes}\n+++ {notes}\n{CHANGE}junk\n--- {notes}\n+++ {notes}\n{CHANGE}"),
    ] {
        attempt(&PatchKind::Private, &patch);
    }
    assert!(n_tried >= 600, "only {n_tried} patches");
}

/// A patch in another place is not the one that is shown: whoever can write there could change it in between.
#[cfg(unix)]
#[test]
fn a_misplaced_patch_is_quarantined_unread() {
    let home = Home::new();
    let good = home.makes("memory/new.md", "x");
    home.write("project/elsewhere.patch", &good);
    fs::create_dir_all(home.path("memory/.inbox/private")).unwrap();
    let lies = home.path("memory/.inbox/private/extraction.patch");
    for is_link in [true, false] {
        if is_link {
            std::os::unix::fs::symlink(home.path("project/elsewhere.patch"), &lies).unwrap();
        } else {
            fs::hard_link(home.path("project/elsewhere.patch"), &lies).unwrap();
        }
        let inbox = home.inbox();
        assert!(inbox.list().unwrap().is_empty());
        let aside = inbox.check_written().unwrap().aside.remove(0);
        assert_eq!(
            (aside.name.as_str(), aside.reason),
            ("private/extraction.patch", CannotApply::NotAFile { path: ".inbox/private/extraction.patch".into() })
        );
        assert_eq!(fs::symlink_metadata(&aside.kept_at).unwrap().is_symlink(), is_link);
        assert_eq!(home.text("project/elsewhere.patch"), good);
    }
    // Nothing is quarantined through a link either.
    fs::remove_dir_all(home.path("memory/.inbox/aside")).unwrap();
    std::os::unix::fs::symlink(home.path("project"), home.path("memory/.inbox/aside")).unwrap();
    home.write("memory/.inbox/private/extraction.patch", "no patch");
    let before = home.snapshot("project");
    let checked = home.inbox().check_written().unwrap();
    assert_eq!(checked.aside.len(), 2);
    assert_eq!(home.snapshot("project"), before);
}
