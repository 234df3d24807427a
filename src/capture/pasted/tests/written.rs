//! A page as its author wrote it, and the person's paste of what a browser, a terminal or a player shows of it.

use adage_transcript::Turn;

use super::{RULE, own, own_before, tool};

/// The rule, as it is written.
fn pages() -> Vec<String> {
    let linked = |form: fn(&str) -> String| {
        let words = ["package", "laptop", "release job", "pipeline"];
        words.iter().fold(RULE.to_owned(), |text, word| text.replace(word, &form(word)))
    };
    let printed = |prefix: &str| {
        let words: Vec<&str> = RULE.split(' ').collect();
        words.chunks(3).map(|words| format!("{prefix}{}\n", words.join(" "))).collect::<Vec<_>>().concat()
    };
    vec![
        linked(|word| format!("[{word}](https://docs.example.com/en/stable/howto/x.html#y)")),
        linked(|word| format!("[[Help:Of the day|{word}]]<ref name=\"x\">Octo, p. 12</ref>")),
        linked(|word| format!("<{word}|https://example.com/x/y/z>")),
        linked(|word| format!("`{word} <https://example.com/x>`__")),
        linked(|word| format!("<a\n  href=\"/a>b\"\n  title='c > d'\n>{word}</a>")),
        linked(|word| format!("{word}<sup>[citation needed]</sup><script>push({{a: 1}})</script>")),
        linked(|word| format!("\n  - button \"{word}\" [ref=e7] [disabled]\n  - generic: ")),
        printed("2026-01-02T03:04:05.6Z stdout F "),
        printed("1/2/2026, 3:04:05 PM - Octo: "),
        printed("NOTE x\n00:00:01.000 --> 00:00:02.500 align:start position:0%\n<c.yellow>"),
    ]
}

#[test]
fn what_a_browser_shows_of_a_page_is_not_the_persons_word() {
    for page in pages() {
        for before in [tool(&page), Turn::System(page.clone()), Turn::Assistant(page.clone())] {
            assert!(own(before, RULE).is_empty(), "{page}");
        }
        let after = vec![Turn::Assistant("I look at it.".into()), tool(&page)];
        assert!(own_before(RULE, after).is_empty(), "{page}");
        let written = vec![Turn::Assistant(format!("Noted: {page}")), tool(&page)];
        assert_eq!(own_before(RULE, written), [RULE], "{page}");
    }
}

#[test]
fn what_a_person_says_of_a_page_is_theirs() {
    for page in pages() {
        for said in [
            "Never publish the crate from this machine, always use the nightly task of the queue.",
            "The release job of the pipeline may publish a package, a laptop never may.",
            "Use that one job.",
        ] {
            assert_eq!(own(tool(&page), said), [said], "{page}");
        }
    }
    let said = "Use port 3001 for the server.";
    assert_eq!(own(Turn::Assistant("I use port 3000 for the server.".into()), said), [said]);
}
