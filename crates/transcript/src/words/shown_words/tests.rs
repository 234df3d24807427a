use std::fmt::Write as _;

use super::*;
use crate::words::SaidWords;

const RULE: &str = "Before a release, always call the billing team and run `shipzap --all` twice in staging.";

#[track_caller]
fn check(shown: &str, sentence: &str, expected: bool) {
    let mut words = ShownWords::default();
    words.push("Nothing in this line has to do with it.");
    words.push(shown);
    words.push("And something after it, about the weather of today.");
    assert_eq!(words.has(sentence), expected, "{sentence} in {shown}");
}

/// The rule with marks around some of its words.
fn marked(mark: fn(&str) -> String) -> String {
    let words = ["always", "billing team", "shipzap", "staging"];
    words.iter().fold(RULE.to_owned(), |text, word| text.replace(word, &mark(word)))
}

/// How a page marks a word.
type Markup = fn(&str) -> String;

#[test]
fn a_sentence_is_found_however_its_page_is_written() {
    let forms: [(&str, Markup); 22] = [
        ("Markdown", |word| format!("[{word}](https://docs.example.com/en/latest/guide/page.html?ref=nav#part)")),
        ("a title", |word| format!("[{word}](/x \"What the others of your company say about it, and why\")")),
        ("references", |word| format!("[{word}][see the list below]")),
        ("footnotes", |word| format!("{word}[^12] ")),
        ("images", |word| format!("![a picture of it](x.png) {word}")),
        ("emphasis", |word| format!("**_{word}_**{{.wide .red}}")),
        ("MediaWiki", |word| format!("[[Page of the day (old)|{word}]]{{{{cite web|url=x|title=Y}}}}")),
        ("Jira", |word| format!("[{word}|https://example.com/x/y] {{color:red}}*{{color}}")),
        ("AsciiDoc", |word| format!("link:https://example.com/a/b.html[{word},window=_blank]")),
        ("Org", |word| format!("[[file:notes/of/mine.org::*Heading][{word}]]")),
        ("Slack", |word| format!("<https://example.com/x?y=z&a=b|{word}>")),
        ("reStructuredText", |word| format!(":doc:`{word} <../guides/of/the/team>`")),
        ("Textile", |word| format!("\"{word}\":http://example.com/some/page")),
        ("BBCode", |word| format!("[url=http://example.com/some/page][b]{word}[/b][/url]")),
        ("TeX", |word| format!("\\href{{https://example.com}}{{\\textsc{{{word}}}}}\\footnote{{See there.}}")),
        ("roff", |word| format!("\n.IR {word} ,\n.br\n")),
        ("HTML over lines", |word| format!("<a\n  class=\"link link--wide\"\n  href=\"/x/y\"\n>{word}</a\n>")),
        ("a sign in an attribute", |word| format!("<span title=\"a > b, c < d\" data-x='>'>{word}</span>")),
        ("scripts", |word| {
            format!("<script>let x = 1; if (x > 2) {{ ads.show(x, 'top'); }}</script>{word}<style>a{{b:c}}</style>")
        }),
        ("drawings", |word| {
            format!("{word}<svg viewBox=\"0 0 1 1\"><title>opens in a new window</title><path d=\"M0 0h1\"/></svg>")
        }),
        ("CDATA", |word| format!("<![CDATA[{word}]]><?php echo \"x\"; ?><!-- a > b -->")),
        ("a snapshot", |word| {
            format!("\n  - link \"{word}\" [ref=s2e12] [cursor=pointer]:\n    - /url: /some/where\n  - text: ")
        }),
    ];
    for (name, form) in forms {
        let page = marked(form);
        assert_ne!(page, RULE, "{name}");
        check(&page, RULE, true);
    }
}

#[test]
fn a_sentence_is_found_behind_what_is_printed_before_lines_and_words() {
    let words: Vec<&str> = RULE.split(' ').collect();
    let prefixes = [
        "2026-01-02T03:04:05.678901+01:00 ",
        "2026/01/02 03:04:05 ",
        "[02/Jan/2026:03:04:05 +0000] ",
        "01/02/2026 3:04 PM ",
        "Fri Jan  2 03:04:05 2026 host app[123]: ",
        "I0102 03:04:05.678901       1 main.go:12] ",
        "level=info ts=1767322800.123 msg=",
        "<00:00:01.100><c.yellow>",
        "web-1  | ",
        "a1b2c3d4 (Octo Cat 2026-01-02 03:04:05 +0100 12) ",
    ];
    for prefix in prefixes {
        for n_words in 1..5 {
            let mut page = String::new();
            for line in words.chunks(n_words) {
                writeln!(page, "{prefix}{}", line.join(" ")).unwrap();
            }
            check(&page, RULE, true);
        }
    }
    let events: Vec<String> = words
        .chunks(2)
        .map(|some| format!("{{\"start\": 12, \"parts\": [{{\"text\": \"{}\"}}]}}", some.join(" ")))
        .collect();
    check(&events.join(","), RULE, true);
    check(&RULE.replace("billing", "bil<wbr>ling").replace("run", "[run](x y)"), RULE, true);
    check(&RULE.replace("billing", "b*ill*ing").replace("run", "[run](x y)"), RULE, true);
    check(&RULE.replace("staging", "sta-\n  ging").replace("run", "[run](x y)"), RULE, true);
}

#[test]
fn another_sentence_is_not_found() {
    let far = |n_words: usize| RULE.replace("team", &format!("team {}", "lorem ipsum ".repeat(n_words)));
    check(&far(20), RULE, true);
    check(&far(40), RULE, false);
    // Every word of it, but not in order, with too much in between, or with another word in the place of one.
    let mut words: Vec<&str> = RULE.split(' ').collect();
    words.reverse();
    check(&words.join(" "), RULE, false);
    check(&RULE.replace(' ', " lorem ipsum dolor sit amet consectetur adipiscing elit sed "), RULE, false);
    for (word, other) in [("twice", "once"), ("Before", "After"), ("staging", "production"), ("always", "never")] {
        check(&RULE.replace(word, other), RULE, false);
    }
    check("Use port 3000 for the server of the tests.", "Use port 3001 for the server of the tests.", false);
    check("run the [tests](x) of this", "run the tests", false);
    check("", RULE, false);
    check(RULE, "", false);
    // Characters of a script without blanks are found in any long text.
    check("以 a 后 b 总 c 是 d 运 e 行", "以后总是运行", false);
    check(
        "从现在起，请始终运行 [工具](https://example.com/x) 然后再提交代码",
        "从现在起，请始终运行工具然后再提交代码",
        true,
    );
}

#[test]
fn texts_are_apart_and_the_oldest_words_are_dropped() {
    let (first, rest) = RULE.split_at(40);
    let mut words = ShownWords::default();
    words.push(first);
    words.push(rest);
    assert!(!words.has(RULE));
    words.push(&marked(|word| format!("[{word}](x/y)")));
    assert!(words.has(RULE));
    let n_words = words.recent.words.len();
    words.push(&"the same line\n".repeat(10_000));
    assert_eq!(words.recent.words.len(), n_words + 4);
    for n in 0..60 {
        let lines: Vec<String> = (0..10_000).map(|line| format!("w{n}x{line}\n")).collect();
        words.push(&lines.concat());
        assert!(words.recent.words.len() <= MAX_WORDS && words.older.words.len() <= MAX_WORDS);
    }
    assert!(!words.has(RULE));
    words.push(RULE);
    assert!(words.has(RULE));
}

#[test]
fn comparing_ends_after_a_while_however_often_words_come_again() {
    let mut words = ShownWords::default();
    let lines: Vec<String> =
        (0..5_000).map(|n| format!("before a release always {n} call the billing team\n")).collect();
    words.push(&lines.concat());
    let sentence = "before a release always call the billing people";
    assert!(!words.has(sentence));
    words.push("people");
    let n_before = words.work.n_compared();
    assert!(!words.has(sentence));
    let n_compared = words.work.n_compared() - n_before;
    assert!((1..100_000).contains(&n_compared), "{n_compared}");
    words.work.exhaust();
    assert!(words.has(sentence));
}

#[test]
fn what_comes_later_in_another_form_was_brought_unless_the_agent_wrote_it() {
    let page = marked(|word| format!("[{word}](https://example.com/some/page)"));
    let said = |later: &[(&str, bool)]| {
        let mut said = SaidWords::default();
        said.push("Fix the build of the pages first, please.");
        said.push(RULE);
        for (text, is_result) in later {
            if *is_result { said.brought(text) } else { said.written(text) }
        }
        said.was_brought(RULE)
    };
    assert!(said(&[(&page, true)]));
    assert!(said(&[("Noted.", false), ("x", true), (&page, true), (&page, false)]));
    assert!(!said(&[(&page, false), (&page, true)]));
    let longer = RULE.replace("team", "team (its number is on the door)");
    assert!(!said(&[(&longer, false), (&longer, true)]));
    assert!(!said(&[(&RULE.replace("twice", "once"), true)]));
    assert!(!said(&[]));
}
