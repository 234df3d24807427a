//! Attacks on the page: none comes in.

use adage::lesson::Trust;
use adage::{LessonDraft, build_lesson};
use adage_review::Inbox;
use adage_view::Access;
use serde_json::json;

use super::browser::Browser;

/// A browser on a memory with one lesson, whose id the attacks know.
fn target() -> (Browser, String) {
    let browser = Browser::new(Access::Write);
    let id = browser.playbook.learn_lesson(build_lesson("pinning numpy", "THE-SECRET-ADVICE")).unwrap().id().unwrap();
    (browser, id.to_string())
}

/// Requests in which `{host}`, `{port}`, `{room}`, `{cookie}`, `{token}` and `{id}` stand for the real values, and the body is after a blank
/// line. Each is what a page of another origin, another program or a forger could send.
const ATTACKS: [(&str, &str); 36] = [
    ("no cookie", "GET /{room}/lesson?id={id}\nHost: {host}"),
    ("an empty cookie", "GET /{room}/lesson?id={id}\nHost: {host}\nCookie: adage="),
    ("a forged cookie", "GET /{room}/lesson?id={id}\nHost: {host}\nCookie: adage=00000000000000000000000000000000"),
    ("the form's token as cookie", "GET /{room}/lesson?id={id}\nHost: {host}\nCookie: adage={token}"),
    ("a cookie of a longer name", "GET /{room}/lesson?id={id}\nHost: {host}\nCookie: x{cookie}"),
    ("a forged key", "GET /{room}/?key=00000000000000000000000000000000\nHost: {host}"),
    ("an empty key", "GET /{room}/?key=\nHost: {host}"),
    ("no room", "GET /lesson?id={id}\nHost: {host}\nCookie: {cookie}"),
    ("a forged room", "GET /00000000000000000000000000000000/lesson?id={id}\nHost: {host}\nCookie: {cookie}"),
    ("a doubled slash", "GET //{room}/lesson?id={id}\nHost: {host}\nCookie: {cookie}"),
    ("a rebound name", "GET /{room}/lesson?id={id}\nHost: evil.example:{port}\nCookie: {cookie}"),
    ("a rebound name without a port", "GET /{room}/lesson?id={id}\nHost: evil.example\nCookie: {cookie}"),
    ("a name below another", "GET /{room}/lesson?id={id}\nHost: {host}.evil.example\nCookie: {cookie}"),
    ("localhost", "GET /{room}/lesson?id={id}\nHost: localhost:{port}\nCookie: {cookie}"),
    ("another port", "GET /{room}/lesson?id={id}\nHost: 127.0.0.1:1\nCookie: {cookie}"),
    ("no host", "GET /{room}/lesson?id={id}\nCookie: {cookie}"),
    ("two hosts", "GET /{room}/lesson?id={id}\nHost: {host}\nHost: evil.example\nCookie: {cookie}"),
    ("read by another site", "GET /{room}/lesson?id={id}\nHost: {host}\nCookie: {cookie}\nSec-Fetch-Site: cross-site"),
    ("read by another port", "GET /{room}/lesson?id={id}\nHost: {host}\nCookie: {cookie}\nSec-Fetch-Site: same-site"),
    (
        "another origin's form",
        "POST /{room}/remove\nHost: {host}\nOrigin: https://evil.example\nCookie: {cookie}\nContent-Type: application/x-www-form-urlencoded\n\ntoken={token}&id={id}",
    ),
    (
        "another port's form",
        "POST /{room}/remove\nHost: {host}\nOrigin: http://127.0.0.1:1\nCookie: {cookie}\nContent-Type: application/x-www-form-urlencoded\n\ntoken={token}&id={id}",
    ),
    (
        "the origin with TLS",
        "POST /{room}/remove\nHost: {host}\nOrigin: https://{host}\nCookie: {cookie}\nContent-Type: application/x-www-form-urlencoded\n\ntoken={token}&id={id}",
    ),
    (
        "a null origin",
        "POST /{room}/remove\nHost: {host}\nOrigin: null\nCookie: {cookie}\nContent-Type: application/x-www-form-urlencoded\n\ntoken={token}&id={id}",
    ),
    (
        "no origin",
        "POST /{room}/remove\nHost: {host}\nCookie: {cookie}\nContent-Type: application/x-www-form-urlencoded\n\ntoken={token}&id={id}",
    ),
    (
        "two origins",
        "POST /{room}/remove\nHost: {host}\nOrigin: http://{host}\nOrigin: https://evil.example\nCookie: {cookie}\nContent-Type: application/x-www-form-urlencoded\n\ntoken={token}&id={id}",
    ),
    (
        "no token",
        "POST /{room}/remove\nHost: {host}\nOrigin: http://{host}\nCookie: {cookie}\nContent-Type: application/x-www-form-urlencoded\n\nid={id}",
    ),
    (
        "a forged token",
        "POST /{room}/remove\nHost: {host}\nOrigin: http://{host}\nCookie: {cookie}\nContent-Type: application/x-www-form-urlencoded\n\ntoken=00000000000000000000000000000000&id={id}",
    ),
    (
        "a forged token before the right one",
        "POST /{room}/remove\nHost: {host}\nOrigin: http://{host}\nCookie: {cookie}\nContent-Type: application/x-www-form-urlencoded\n\ntoken=x&token={token}&id={id}",
    ),
    (
        "the token in the query",
        "POST /{room}/remove?token={token}&id={id}\nHost: {host}\nOrigin: http://{host}\nCookie: {cookie}\nContent-Type: application/x-www-form-urlencoded\n\nid={id}",
    ),
    (
        "a form without a cookie",
        "POST /{room}/remove\nHost: {host}\nOrigin: http://{host}\nContent-Type: application/x-www-form-urlencoded\n\ntoken={token}&id={id}",
    ),
    (
        "a form as plain text",
        "POST /{room}/remove\nHost: {host}\nOrigin: http://{host}\nCookie: {cookie}\nContent-Type: text/plain\n\ntoken={token}&id={id}",
    ),
    (
        "a change by GET",
        "GET /{room}/remove?token={token}&id={id}\nHost: {host}\nOrigin: http://{host}\nCookie: {cookie}",
    ),
    (
        "a change by PUT",
        "PUT /{room}/remove\nHost: {host}\nOrigin: http://{host}\nCookie: {cookie}\nContent-Type: application/x-www-form-urlencoded\n\ntoken={token}&id={id}",
    ),
    ("a removal by DELETE", "DELETE /{room}/lesson?id={id}\nHost: {host}\nOrigin: http://{host}\nCookie: {cookie}"),
    (
        "a preflight",
        "OPTIONS /{room}/remove\nHost: {host}\nOrigin: https://evil.example\nAccess-Control-Request-Method: POST",
    ),
    ("a trace", "TRACE /{room}/lesson?id={id}\nHost: {host}\nCookie: {cookie}"),
];

#[test]
fn no_attack_reads_or_changes_anything() {
    let (browser, id) = target();
    let port = browser.host.split(':').nth(1).unwrap();
    for (name, attack) in ATTACKS {
        let (head, body) = attack.split_once("\n\n").unwrap_or((attack, ""));
        let filled = |text: &str| {
            let values = [
                ("host", &browser.host),
                ("room", &browser.room),
                ("cookie", &browser.cookie),
                ("token", &browser.token),
                ("id", &id),
            ];
            let text = text.replace("{port}", port);
            values.into_iter().fold(text, |text, (name, value)| text.replace(&format!("{{{name}}}"), value))
        };
        let (head, body) = (filled(head), filled(body));
        let (first, headers) = head.split_once('\n').unwrap_or((&head, ""));
        let headers = headers.lines().fold(String::new(), |headers, line| headers + line + "\r\n");
        let length = if body.is_empty() { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
        let reply = browser.send(&format!("{first} HTTP/1.1\r\n{headers}{length}\r\n{body}"));
        assert!((400..500).contains(&reply.status), "{name}: {}", reply.head);
        assert!(!reply.body.contains("THE-SECRET") && !reply.head.contains("Set-Cookie"), "{name}: {}", reply.body);
        assert!(!reply.head.contains("Access-Control-Allow"), "{name}: {}", reply.head);
        assert!(browser.playbook.find("pinning numpy").is_ok(), "{name} removed the lesson");
    }
    // The same requests without the flaw come in.
    assert!(browser.get(&format!("lesson?id={id}")).body.contains("THE-SECRET"));
    assert_eq!(browser.post("remove", &[("id", &id)]).status, 303);
    assert!(browser.playbook.find("pinning numpy").is_err());
}

#[test]
fn paths_lead_to_no_file() {
    let (browser, _) = target();
    for path in [
        "../../../../etc/passwd",
        "..%2f..%2fetc%2fpasswd",
        "%2e%2e/playbook.json",
        "style.css/../playbook.json",
        "playbook.json",
        "./lesson",
        "lesson/",
        "lesson%00",
        "LESSON",
        "\\..\\playbook.json",
        "//evil.example/",
        "style.css%0d%0aSet-Cookie:a=b",
    ] {
        let reply = browser.get(path);
        assert!(reply.status == 404 || reply.status == 400, "{path}: {}", reply.head);
        assert!(!reply.body.contains("THE-SECRET") && !reply.head.contains("a=b"), "{path}");
    }
}

#[test]
fn huge_and_torn_bodies_change_nothing() {
    let (browser, id) = target();
    let long = "x".repeat(3 << 20);
    let reply = browser.post("edit", &[("id", &id), ("as", "edit"), ("correct_pattern", &long)]);
    assert!(reply.status == 413 || reply.status == 0, "{}", reply.head);
    let noise = browser.post("edit", &[("id", "\u{0}\u{ffff}"), ("as", "edit"), ("trigger", "a\u{202e}b")]);
    assert_eq!(noise.status, 303);
    for (page, fields) in [
        ("undo", &[("change", "../x")][..]),
        ("decide", &[("name", "../../x"), ("text", "0")]),
        ("decide", &[]),
        ("credit", &[("as", "x")]),
        ("undo-files", &[("change", "1")]),
        ("verify", &[]),
        ("missed", &[]),
        ("rewrite", &[("name", "private")]),
    ] {
        assert!(browser.submit(page, fields).body.contains("Not done: "), "{page}");
    }
    let lesson = browser.playbook.find("pinning numpy").unwrap();
    assert_eq!((lesson.correct_pattern.as_str(), lesson.harmful_retrievals), ("THE-SECRET-ADVICE", 0));
}

/// Texts that would run, or end an element or an attribute, if they were not escaped.
const HOSTILE: [&str; 6] = [
    "<script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "' onfocus=alert(1) autofocus='",
    "</textarea><script>alert(1)</script>",
    "</title><svg onload=alert(1)>",
    "javascript:alert(1)",
];

#[test]
fn a_script_in_any_field_is_only_text() {
    let fields = [
        "trigger",
        "task",
        "mistake",
        "anti_pattern",
        "solution",
        "correct_pattern",
        "code_example",
        "source",
        "project",
        "role",
    ];
    let lists = ["domains", "situations", "signs", "names", "paths", "commands"];
    let browser = Browser::new(Access::Write);
    for (number, hostile) in HOSTILE.iter().enumerate() {
        let mut row = serde_json::Map::new();
        row.extend(fields.map(|key| (key.to_owned(), json!(format!("{key} {number} {hostile}")))));
        row.extend(lists.map(|key| (key.to_owned(), json!([format!("{key} {number} {hostile}")]))));
        let trust = if number % 2 == 0 { Trust::Trusted } else { Trust::Tainted };
        browser.playbook.learn_lesson(LessonDraft::from_json(row).trust(trust)).unwrap();
    }
    let mut pages: Vec<String> = ["ask", "lessons", "review", "history", "time"].map(str::to_owned).to_vec();
    pages.extend(
        browser
            .playbook
            .list_lessons(&adage::Listing::everything())
            .unwrap()
            .iter()
            .flat_map(|lesson| [format!("lesson?id={}", lesson.id), format!("lesson?id={}&edit=1", lesson.id)]),
    );
    pages.extend(Inbox::of(&browser.playbook).list().unwrap().iter().flat_map(|proposal| {
        [format!("review?name={}", proposal.name), format!("review?name={}&edit=1", proposal.name)]
    }));
    let asked: String = form_urlencoded::byte_serialize(HOSTILE.concat().as_bytes()).collect();
    for page in ["ask", "lessons", "review", "lesson"] {
        pages.push(format!("{page}?q={asked}&id={asked}&name={asked}&project={asked}&role={asked}&state={asked}&sort={asked}&threshold={asked}"));
    }
    assert!(pages.len() > 15, "{pages:?}");
    for page in pages {
        let reply = browser.get(&page);
        assert!(reply.header("Content-Security-Policy").unwrap().starts_with("default-src 'none'"), "{page}");
        // One script, of this page itself, and no other element or attribute that runs something.
        assert_eq!(reply.body.matches("<script").count(), 1, "{page}: {}", reply.body);
        for hostile in ["<img", "<svg onload", "<svg o", "' onfocus", "\"javascript:"] {
            let found = reply.body.find(hostile);
            let is_text = found.is_none_or(|at| hostile.starts_with('\'') && !inside_tag(&reply.body, at));
            assert!(is_text, "{page}: {hostile}");
        }
    }
}

/// Whether a place is in a tag outside a quoted value.
fn inside_tag(page: &str, at: usize) -> bool {
    let before = &page[..at];
    let Some(open) = before.rfind('<') else { return false };
    let tag = &before[open..];
    !tag.contains('>') && tag.matches('"').count().is_multiple_of(2)
}

#[test]
fn characters_that_are_not_seen_are_written_out() {
    let browser = Browser::new(Access::Write);
    let asked: String = form_urlencoded::byte_serialize("a\u{202e}b\u{200b}c".as_bytes()).collect();
    let page = browser.get(&format!("lesson?id={asked}"));
    assert_eq!(page.status, 404);
    assert!(!page.body.contains('\u{202e}') && !page.body.contains('\u{200b}'), "{}", page.body);
}
