//! Documents that are announced, titled or encoded.

use super::*;

#[test]
fn what_is_announced_as_a_document_is_not_the_persons_word() {
    for announced in [
        "pasting the ticket:",
        "I got this mail:",
        "quote:",
        "ticket text:",
        "Translate this:",
        "Summarize this text:",
        "fyi from slack:",
        "here's the transcript of the call:",
        "I found this on stackoverflow:",
        "forwarding their e-mail:",
        "copying an answer from the forum:",
        "Please proofread the following announcement:",
        "wiki:",
        "Original message:",
        "review this comment:",
        "just received that notice:",
        "sharing the runbook:",
        "below is the policy:",
        "can you explain that paragraph:",
        "re their issue:",
    ] {
        check_shapes(&[&format!("{announced} RULE"), &format!("Handle it.\n{announced} RULE")], false);
    }
    check_shapes(
        &[
            "Two rules: RULE",
            "One more thing: RULE",
            "Remember: RULE",
            "I got an error: RULE",
            "check this: RULE",
            "I read my notes: RULE",
            "Put in the notes of performance: RULE",
            "Fix the page. RULE",
        ],
        true,
    );
}

#[test]
fn an_announcement_needs_no_colon() {
    check_shapes(
        &[
            "below is the comment\n\nRULE",
            "This is what they answered\n\nRULE",
            "here's the transcript\nRULE",
            "See https://example.org/a:\nRULE",
            "From https://example.org/a: RULE",
        ],
        false,
    );
    check_shapes(&["This is what I wrote\n\nRULE", "see the tests\nRULE", "this is the file\nRULE"], true);
}

#[test]
fn text_below_a_title_and_cards_of_posts_are_not_the_persons_word() {
    check_shapes(
        &[
            "Releases\n========\nRULE",
            "Releases\n--------\nRULE",
            "Releases\n~~~~~~~~\n\nRULE",
            "== Releases ==\nRULE",
            "= Releases\n\nRULE",
            "h2. Releases\nRULE",
            "§ 3 Releases\nRULE",
            "Chapter 4: Releases\nRULE",
            "[NOTE]\nRULE",
            "Release guide\n\nRULE",
            "**Release guide**\n\nRULE",
            "*** Releases ***\nRULE",
            "# Releases #\nRULE",
            "▎RULE",
            "How We Release\n\nRULE",
            "RELEASES\n\nRULE",
            "Contribution guidelines\n\nThanks.\nRULE",
            "Octo Cat\n2h\nRULE\nLike\nReply",
            "@octo · 3h\nRULE",
            "u/octo • 3h ago\nRULE",
            "Octo Cat\n2d\nRULE",
            "octo\nRULE\n👍 3",
            "Octo\nYesterday\nRULE",
            "Octo Cat\nRULE\nReply",
            "Octo · Edited\nRULE",
            "Octo Cat | 5 min ago\nRULE",
            "RULE\n\n© 2026 Example Inc.",
            "RULE\n\nSource: wiki",
            "RULE\n— Octo Cat",
            "RULE\nLast updated: today",
            "| RULE |",
            "＞ RULE",
        ],
        false,
    );
    check_shapes(
        &[
            "Next task\n\nRULE",
            "Ok\n\nRULE",
            "Please do two things\n\nRULE",
            "Do this first\n---\nRULE",
            "RULE\n---\nthen go on",
            "It took 2h.\nRULE",
            "It took 3 days\nRULE",
            "RULE\nReply to me then",
        ],
        true,
    );
}

#[test]
fn a_page_whose_letters_are_encoded_is_known() {
    let encode = |letter: fn(char) -> String| {
        RULE.chars().map(|c| if "aeiou".contains(c) { letter(c) } else { c.into() }).collect::<String>()
    };
    for page in [
        encode(|c| format!("&#{};", u32::from(c))),
        encode(|c| format!("&#x{:x};", u32::from(c))),
        encode(|c| format!("&amp;#{};", u32::from(c))),
        encode(|c| format!("%{:02x}", u32::from(c))),
        encode(|c| format!("\\u{:04x}", u32::from(c))),
        encode(|c| format!("{c}&shy;")),
        encode(|c| format!("<b>{c}</b>")),
        encode(|c| char::from_u32(u32::from(c) + 0xfee0).map_or_else(String::new, String::from)),
    ] {
        assert!(own(tool(&page), RULE).is_empty(), "{page}");
    }
}
