//! The pages and their forms.

use adage::lesson::{Origin, Provenance, Trust};
use adage::{Feedback, Listing, build_lesson};
use adage_review::{Inbox, PatchKind};
use adage_view::{Access, Memory, export};

use super::browser::Browser;

/// The value of the first field of this name on a page.
fn field(page: &str, name: &str) -> String {
    let (_, rest) = page.split_once(&format!(r#"name="{name}" value=""#)).unwrap();
    rest.split('"').next().unwrap().to_owned()
}

#[test]
fn every_page_of_an_empty_memory_says_so() {
    let browser = Browser::new(Access::Write);
    for (page, text) in [
        ("ask", "No lesson has been learned yet."),
        ("ask?q=push+a+branch", "no lesson is visible here"),
        ("lessons", "No lesson has been learned yet."),
        ("review", "Nothing awaits review."),
        ("time", "No receipts are logged"),
    ] {
        let reply = browser.get(page);
        assert!(reply.status == 200 && reply.body.contains(text), "{page}: {}", reply.body);
    }
    assert_eq!(browser.get("lesson?id=gone").status, 404);
    assert_eq!(browser.get("nothing").status, 404);
}

#[test]
fn a_sentence_shows_what_an_agent_gets_and_a_missed_lesson_learns_it() {
    let browser = Browser::new(Access::Write);
    let push = build_lesson("pushing a rebased branch", "Use --force-with-lease.").mistake("it overwrote commits");
    let id = browser.playbook.learn_lesson(push).unwrap().id().unwrap();
    browser.playbook.learn_lesson(build_lesson("pinning numpy", "Pin numpy below 2.0.")).unwrap();
    let page = browser.get("ask?q=pushing+a+rebased+branch").body;
    assert!(page.contains("Use --force-with-lease.") && page.contains("it would show what is marked"), "{page}");
    assert!(page.contains("<dt>in both</dt>") && page.contains("pushing, rebased, branch"), "{page}");
    let strict = browser.get("ask?q=pushing+a+rebased+branch&threshold=1").body;
    assert!(strict.contains("it would be silent"), "{strict}");
    let silent = browser.get("ask?q=what+is+the+capital+of+France").body;
    assert!(silent.contains("Nothing. "), "{silent}");
    assert_eq!(browser.playbook.find(id).unwrap().retrievals, 0);

    let said = browser.submit("missed", &[("id", &id.to_string()), ("request", "update my pull request")]).body;
    assert!(said.contains("is a situation of that lesson now"), "{said}");
    assert_eq!(browser.playbook.find(id).unwrap().ways_in.situations, ["update my pull request"]);
}

#[test]
fn a_lesson_is_edited_replaced_verified_credited_removed_and_brought_back() {
    let browser = Browser::new(Access::Write);
    let playbook = &browser.playbook;
    playbook.learn_lesson(build_lesson("pinning numpy", "Pin numpy below 2.0.").domains(["python"])).unwrap();
    let id = || playbook.find("pinning numpy").unwrap().id.to_string();
    let page = browser
        .submit(
            "edit",
            &[
                ("id", &id()),
                ("as", "edit"),
                ("trigger", "pinning numpy"),
                ("correct_pattern", "Pin it below 3.0."),
                ("situations", "choose a version\r\nupgrade numpy"),
            ],
        )
        .body;
    assert!(page.contains("Saved: ") && page.contains("Pin it below 3.0.") && page.contains("superseded"), "{page}");
    let lesson = playbook.find("pinning numpy").unwrap();
    assert_eq!((lesson.ways_in.situations.len(), lesson.domains.len()), (2, 1));
    // The button of the notice.
    let page = browser.submit("undo", &[("change", &field(&page, "change"))]).body;
    assert!(page.contains("Undone.") && page.contains("Pin numpy below 2.0."), "{page}");

    let page = browser.submit("edit", &[("id", &id()), ("as", "edit"), ("trigger", "pinning numpy")]).body;
    assert!(page.contains("Not done: nothing was edited"), "{page}");
    assert!(browser.submit("verify", &[("id", &id()), ("as", "yes")]).body.contains("It is verified."));
    assert!(playbook.find("pinning numpy").unwrap().verified);
    browser.submit("credit", &[("id", &id()), ("as", "harmful")]);
    assert_eq!(playbook.find("pinning numpy").unwrap().harmful_retrievals, 1);
    let harmed = browser.get("lessons?state=harmed&sort=harm").body;
    assert!(harmed.contains("pinning numpy") && harmed.contains("1 lesson"), "{harmed}");

    browser.submit(
        "edit",
        &[("id", &id()), ("as", "new"), ("trigger", "choosing numpy"), ("correct_pattern", "Take the newest.")],
    );
    assert!(playbook.find("pinning numpy").is_err());
    let newer = playbook.find("choosing numpy").unwrap().id.to_string();
    let page = browser.submit("remove", &[("id", &newer)]).body;
    assert!(page.contains("Removed."), "{page}");
    assert!(playbook.find("choosing numpy").is_err());
    browser.submit("undo", &[("change", &field(&page, "change"))]);
    assert_eq!(playbook.find("choosing numpy").unwrap().correct_pattern, "Take the newest.");
    assert!(browser.get("history").body.contains("choosing numpy"));
}

/// A lesson that was mined from a session and waits.
fn mined(trigger: &str) -> adage::LessonDraft {
    let mut provenance = Provenance::default();
    (provenance.origin, provenance.session, provenance.trust) = (Origin::Mined, "s1".to_owned(), Trust::Tainted);
    build_lesson(trigger, format!("do what {trigger} needs")).provenance(&provenance)
}

#[test]
fn what_waits_is_applied_by_line_dismissed_rewritten_and_undone() {
    let browser = Browser::new(Access::Write);
    let playbook = &browser.playbook;
    let notes = browser.folder.path().canonicalize().unwrap().join("notes.md");
    let patch = format!("--- /dev/null\n+++ {}\n@@ -0,0 +1 @@\n+Deploy on Mondays.\n", notes.display());
    Inbox::of(playbook).propose(&PatchKind::Private, patch.as_bytes()).unwrap();
    let page = browser.get("review?name=private").body;
    assert!(page.contains(r#"<span class="added" dir="auto">+Deploy on Mondays."#), "{page}");
    let decide = |page: &str, more: &[(&str, &str)]| {
        let (name, text) = (field(page, "name"), field(page, "text"));
        browser.submit("decide", &[&[("name", name.as_str()), ("text", text.as_str())], more].concat()).body
    };
    let done = decide(&page, &[("as", "apply")]);
    assert!(done.contains("Applied.") && notes.exists(), "{done}");
    browser.submit("undo-files", &[("change", &field(&done, "change"))]);
    assert!(!notes.exists());
    decide(&browser.get("review?name=private").body, &[("as", "dismiss")]);

    for trigger in ["parsing dates", "rotating logs", "caching wheels"] {
        playbook.learn_lesson(mined(trigger)).unwrap();
    }
    let page = browser.get("review").body;
    assert!(page.contains("3. ") && page.contains("parsing dates"), "{page}");
    let unchecked = decide(&page, &[("as", "apply")]);
    assert!(unchecked.contains("Not done: check a candidate"), "{unchecked}");
    let candidate = Inbox::of(playbook).list().unwrap()[0].lessons[2].to_string();
    let form = browser.get(&format!("review?name={candidate}&edit=1")).body;
    let (name, text) = (field(&form, "name"), field(&form, "text"));
    let fields = [
        ("name", name.as_str()),
        ("text", &text),
        ("trigger", "caching wheels"),
        ("correct_pattern", "Use a wheel house."),
    ];
    assert!(browser.submit("rewrite", &fields).body.contains("Learned as you wrote it:"));
    decide(&browser.get("review").body, &[("as", "apply"), ("line", "1")]);
    let mut known: Vec<String> =
        playbook.list_lessons(&Listing::default()).unwrap().iter().map(|lesson| lesson.trigger.clone()).collect();
    known.sort();
    assert_eq!(known.len(), 2, "{known:?}");
    assert!(Inbox::of(playbook).list().unwrap().is_empty());
}

#[test]
fn a_proposal_that_changed_since_it_was_shown_is_refused() {
    let browser = Browser::new(Access::Write);
    browser.playbook.learn_lesson(mined("parsing dates")).unwrap();
    let page = browser.get("review").body;
    browser.playbook.learn_lesson(mined("rotating logs")).unwrap();
    let (name, text) = (field(&page, "name"), field(&page, "text"));
    let said = browser.submit("decide", &[("name", &name), ("text", &text), ("as", "apply"), ("line", "1")]).body;
    assert!(said.contains("Not done: "), "{said}");
    assert!(browser.playbook.list_lessons(&Listing::default()).unwrap().is_empty());
}

#[test]
fn outcomes_are_counted_by_week_when_receipts_are_logged() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = adage::Config::default();
    config.credit.log_receipts = true;
    let builder = adage::Playbook::builder(folder.path()).without_embedder().with_config(config);
    let browser = Browser::on(folder, builder.open().unwrap(), Access::Write);
    let playbook = &browser.playbook;
    playbook.learn_lesson(build_lesson("pinning numpy", "Pin numpy below 2.0.")).unwrap();
    playbook.learn_lesson(build_lesson("rotating logs", "Keep a week.")).unwrap();
    let receipt = playbook.get_playbook_context("pinning numpy").unwrap().receipt.unwrap();
    playbook.record_outcome(receipt, Feedback::Helpful).unwrap();
    let page = browser.get("time").body;
    assert!(page.contains("Answers by week, chart") && page.contains("1 lesson</a> never shown"), "{page}");
}

#[test]
fn a_page_that_is_only_read_has_no_form_that_changes_anything() {
    let browser = Browser::new(Access::ReadOnly);
    let id = browser.playbook.learn_lesson(build_lesson("pinning numpy", "Pin it.")).unwrap().id().unwrap();
    browser.playbook.learn_lesson(mined("parsing dates")).unwrap();
    for page in ["ask?q=pinning+numpy", "lessons", &format!("lesson?id={id}&edit=1"), "review", "history", "time"] {
        let body = browser.get(page).body;
        assert!(body.contains("read-only") && !body.contains(r#"method="post""#), "{page}: {body}");
    }
}

#[test]
fn an_exported_page_has_everything_and_no_form_or_script() {
    let browser = Browser::new(Access::Write);
    browser.playbook.learn_lesson(build_lesson("pinning numpy", "<script>alert(1)</script>")).unwrap();
    browser.playbook.learn_lesson(mined("parsing dates")).unwrap();
    let memory =
        Memory::new(adage::Playbooks::new([browser.playbook.clone()]), adage::Realm::default(), Access::ReadOnly);
    let page = export(&memory).unwrap();
    assert!(page.contains("&lt;script&gt;alert(1)") && page.contains("parsing dates"), "{page}");
    for absent in ["<script", "<form", "<link", "http://", "src="] {
        assert!(!page.contains(absent), "{absent}");
    }
    // Links that lead nowhere in a file.
    assert!(!page.contains(r#"href="lesson"#), "{page}");
}
