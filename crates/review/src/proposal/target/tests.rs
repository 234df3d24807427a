//! Spellings of targets and what is on disk there, case by case.

use super::*;
use crate::proposal::Patch;

fn root(spelled: &str, resolved: &str) -> AllowedRoot {
    AllowedRoot { spelled: spelled.into(), resolved: resolved.into() }
}

fn allowed_roots() -> AllowedRoots {
    AllowedRoots {
        memory: root("/link/memory", "/home/me/memory"),
        global: Some(root("/home/me/.agent/NOTES.md", "/data/.agent/NOTES.md")),
        skills: vec![root("/home/me/skills", "/home/me/skills")],
    }
}

const FILE: Entry = Entry::File { n_links: 1, n_bytes: 9, is_writable: true };

fn patch(name: &str, effect: Effect) -> Patch {
    let text = match effect {
        Effect::Makes => format!("--- /dev/null\n+++ {name}\n@@ -0,0 +1 @@\n+a\n"),
        Effect::Changes => format!("--- {name}\n+++ {name}\n@@ -1 +1 @@\n-a\n+b\n"),
    };
    Patch::parse(text.as_bytes()).unwrap()
}

fn kind(word: &str) -> PatchKind {
    match word {
        "private" => PatchKind::Private,
        "global" => PatchKind::Global,
        name => PatchKind::Skill(name.parse().unwrap()),
    }
}

/// Where a name leads, or the end of the refusal.
fn check(word: &str, name: &str, effect: Effect, expected: Result<&str, &str>) {
    let patch = patch(name, effect);
    match (locate(&kind(word), &patch.files()[0], &allowed_roots()), expected) {
        (Ok(located), Ok(expected)) => assert_eq!(located.path, Path::new(expected)),
        (Err(error), Err(expected)) => assert!(error.to_string().ends_with(expected), "{name}: {error}"),
        (found, _) => panic!("{name:?}: {found:?} but expected {expected:?}"),
    }
}

#[test]
fn private_patches_lead_to_markdown_files_of_the_folder() {
    use Effect::{Changes, Makes};
    for name in ["MEMORY.md", "debugging-notes.md", "caf\u{e9}.md", "v1.2 notes.md", "日本語.md"] {
        let path = format!("/home/me/memory/{name}");
        check("private", &path, Makes, Ok(&path));
        check("private", &format!("/link/memory/{name}"), Changes, Ok(&path));
    }
    let other = "is not a Markdown file directly in the memory folder";
    for (name, expected) in [
        ("notes.txt", other),
        ("notes", other),
        ("notes.MD", other),
        ("notes.md.sh", other),
        ("nested/topic.md", other),
        ("skills/x/SKILL.md", other),
        (".hidden.md", "is hidden"),
        (".md", "is hidden"),
        (".inbox/private/x.md", other),
        ("skills_playbook.json", other),
        (" .md", "at the edge of a part"),
        ("..md", "is hidden"),
        ("a.md.", "at the edge of a part"),
        ("a.md ", "at the edge of a part"),
        (" a.md", "at the edge of a part"),
        ("a/../b.md", "has a part `.` or `..`"),
        ("./b.md", "has a part `.` or `..`"),
        ("/b.md", "has an empty part"),
        ("b.md/", "has an empty part"),
        ("cafe\u{301}.md", "normal form C"),
        ("a\u{200b}.md", "invisible or a bidirectional character"),
        ("a\u{200d}.md", "invisible or a bidirectional character"),
        ("a\u{202e}dm.md", "invisible or a bidirectional character"),
        ("\u{feff}a.md", "invisible or a bidirectional character"),
        ("a\u{7}.md", "invisible or a bidirectional character"),
        ("a\tb.md", "invisible or a bidirectional character"),
        ("a\u{ad}.md", "invisible or a bidirectional character"),
        ("a\\b.md", "backslash or a colon"),
        ("a.md:stream.md", "backslash or a colon"),
        ("NUL.md", "device on some systems"),
        ("com7.notes.md", "device on some systems"),
        ("AGENTS.md", "instructions of a project"),
        ("claude.md", "instructions of a project"),
        ("Gemini.md", "instructions of a project"),
        ("\u{ff21}GENTS.md", "instructions of a project"),
        ("\u{410}GENTS.md", "instructions of a project"),
        ("CL\u{410}UDE.md", "instructions of a project"),
        ("AGENT\u{405}.md", "instructions of a project"),
        ("\u{262}EMINI.md", "may be taken for another"),
        ("n\u{43e}tes.md", "may be taken for another"),
    ] {
        check("private", &format!("/home/me/memory/{name}"), Makes, Err(expected));
    }
    check("private", &format!("/home/me/memory/{}.md", "x".repeat(260)), Makes, Err("is too long"));
    check("private", &format!("/home/me/memory/{}.md", "x/".repeat(3_000)), Makes, Err("is too long"));
    for (name, expected) in [
        ("a.md", "is not an absolute path"),
        ("a/home/me/memory/a.md", "is not an absolute path"),
        ("~/memory/a.md", "is not an absolute path"),
        ("\"/home/me/memory/a.md\"", "is not an absolute path"),
        ("file:///home/me/memory/a.md", "is not an absolute path"),
        ("/home/me/memory", other),
        ("/home/me/memory2/a.md", other),
        ("/home/me/Memory/a.md", other),
        ("/home/me/a.md", other),
        ("/etc/passwd", other),
        ("/data/.agent/NOTES.md", other),
    ] {
        check("private", name, Changes, Err(expected));
    }
}

#[test]
fn global_patches_lead_to_one_file() {
    for name in ["/home/me/.agent/NOTES.md", "/data/.agent/NOTES.md"] {
        check("global", name, Effect::Changes, Ok("/data/.agent/NOTES.md"));
    }
    for name in ["/home/me/.agent/notes.md", "/home/me/.agent/NOTES.md/x.md", "/home/me/.agent", "/home/me/memory/a.md"]
    {
        check("global", name, Effect::Makes, Err("that the host named"));
    }
    check("global", "/home/me/.agent/./NOTES.md", Effect::Changes, Err("has a part `.` or `..`"));
    let none = AllowedRoots { global: None, skills: Vec::new(), ..allowed_roots() };
    for word in ["global", "a-skill"] {
        let refused = locate(&kind(word), &patch("/a", Effect::Changes).files()[0], &none);
        assert!(matches!(refused, Err(TargetError::NoAllowedRoot { .. })), "{refused:?}");
    }
}

#[test]
fn skill_patches_lead_to_skill_files() {
    for name in ["/home/me/skills/deploy/SKILL.md", "/home/me/skills/group/deploy/SKILL.md"] {
        check("deploy", name, Effect::Changes, Ok(name));
        check("deploy", name, Effect::Makes, Err("does not exist"));
    }
    for (name, expected) in [
        ("/home/me/skills/SKILL.md", "as writable"),
        ("/home/me/skills/deploy/skill.md", "as writable"),
        ("/home/me/skills/deploy/run.sh", "as writable"),
        ("/home/me/skills/.system/SKILL.md", "is hidden"),
        ("/home/me/skills/deploy/../../x/SKILL.md", "has a part `.` or `..`"),
        ("/usr/share/skills/deploy/SKILL.md", "as writable"),
    ] {
        check("deploy", name, Effect::Changes, Err(expected));
    }
}

#[test]
fn both_names_are_the_same() {
    let text = "--- /home/me/memory/a.md\n+++ /home/me/memory/b.md\n@@ -1 +1 @@\n-a\n+b\n";
    let patch = Patch::parse(text.as_bytes()).unwrap();
    let refused = locate(&PatchKind::Private, &patch.files()[0], &allowed_roots());
    assert!(matches!(refused, Err(TargetError::NamesDiffer { .. })), "{refused:?}");
}

/// What becomes of `/home/me/skills/deploy/SKILL.md` or `/home/me/memory/a.md` under a view.
fn check_view(effect: Effect, steps: &[Entry], folder: Option<&str>, siblings: &[&str], expected: Option<&str>) {
    let (word, name) = if steps.len() == 2 {
        ("deploy", "/home/me/skills/deploy/SKILL.md")
    } else {
        ("private", "/home/me/memory/a.md")
    };
    let located = locate(&kind(word), &patch(name, effect).files()[0], &allowed_roots()).unwrap();
    let siblings = siblings.iter().map(|name| (*name).to_owned()).collect();
    let view = View { steps: steps.to_vec(), folder: folder.map(PathBuf::from), siblings };
    let refused = judge(&located, &view).err().map(|error| error.to_string());
    assert_eq!(refused.as_deref(), expected, "{view:?}");
}

#[test]
fn what_stands_there_decides() {
    use Effect::{Changes, Makes};
    let (memory, deploy) = (Some("/home/me/memory"), Some("/home/me/skills/deploy"));
    let is = |text: &'static str| Some(text);
    check_view(Changes, &[FILE], memory, &["a.md"], None);
    check_view(Makes, &[Entry::Missing], memory, &["b.md"], None);
    check_view(Makes, &[FILE], memory, &["a.md"], is("/home/me/memory/a.md exists already"));
    check_view(Changes, &[Entry::Missing], memory, &[], is("/home/me/memory/a.md does not exist"));
    check_view(Changes, &[Entry::Link], memory, &["a.md"], is("/home/me/memory/a.md leads elsewhere"));
    check_view(Makes, &[Entry::Link], memory, &["a.md"], is("/home/me/memory/a.md leads elsewhere"));
    for entry in [Entry::Folder, Entry::Other] {
        for effect in [Makes, Changes] {
            check_view(effect, &[entry], memory, &["a.md"], is("/home/me/memory/a.md is not a regular file"));
        }
    }
    let linked = Entry::File { n_links: 2, n_bytes: 9, is_writable: true };
    check_view(Changes, &[linked], memory, &["a.md"], is("/home/me/memory/a.md has 2 hard links"));
    let fixed = Entry::File { n_links: 1, n_bytes: 9, is_writable: false };
    check_view(Changes, &[fixed], memory, &["a.md"], is("/home/me/memory/a.md may not be written"));
    check_view(Changes, &[FILE], Some("/elsewhere"), &["a.md"], is("/home/me/memory leads elsewhere"));
    let alike = is(
        "/home/me/memory/a.md would be in the same folder as \"A.md\", which some systems or readers take for the same name",
    );
    check_view(Makes, &[Entry::Missing], memory, &["A.md"], alike);
    check_view(Changes, &[FILE], memory, &["A.md"], alike);

    check_view(Changes, &[Entry::Folder, FILE], deploy, &["SKILL.md"], None);
    check_view(Changes, &[Entry::Link, FILE], deploy, &["SKILL.md"], is("/home/me/skills/deploy leads elsewhere"));
    check_view(Changes, &[FILE, Entry::Missing], None, &[], is("/home/me/skills/deploy is not a folder"));
    check_view(
        Changes,
        &[Entry::Missing, Entry::Missing],
        None,
        &[],
        is("/home/me/skills/deploy/SKILL.md does not exist"),
    );
}

#[test]
fn a_projects_instructions_are_no_global_notes() {
    let roots = AllowedRoots { global: Some(root("/p/GEMINI.md", "/p/GEMINI.md")), ..allowed_roots() };
    let located = locate(&PatchKind::Global, &patch("/p/GEMINI.md", Effect::Changes).files()[0], &roots).unwrap();
    let view = |siblings: &[&str]| View {
        steps: vec![FILE],
        folder: Some("/p".into()),
        siblings: siblings.iter().map(|name| (*name).to_owned()).collect(),
    };
    assert_eq!(judge(&located, &view(&["GEMINI.md"])), Ok(()));
    let refused = judge(&located, &view(&[".git", "GEMINI.md"]));
    assert_eq!(refused, Err(TargetError::Instructions { path: "/p/GEMINI.md".into() }));
}
