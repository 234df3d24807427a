//! Announcements in other languages, feet of forums, titles of tickets.

use super::check_shapes;

#[test]
fn an_announcement_in_another_language_and_a_request_for_a_text_are_heard() {
    for announced in [
        "Übersetze das bitte:",
        "Fasse zusammen:",
        "Der Kollege schreibt:",
        "Die Chefin sagte heute:",
        "Aus der Doku:",
        "Laut dem Handbuch:",
        "Le client a écrit :",
        "D'après la doc :",
        "Traduis en anglais :",
        "El cliente dijo:",
        "Según el manual:",
        "O cliente escreveu:",
        "Il cliente ha scritto:",
        "De klant schrijft:",
        "Клиент пишет:",
        "Klient napisał:",
        "客户说：",
        "文档写道：",
        "请翻译：",
        "マニュアルによると：",
        "translate to german:",
        "proofread:",
        "please summarize:",
        "Summarize this text.",
        "polish the following paragraph.",
        "what do you think of this comment?",
        "any thoughts on that answer?",
        "is it true what they say here:",
        "he said,",
        "The vendor wrote,",
    ] {
        check_shapes(&[&format!("{announced} RULE"), &format!("Handle it.\n{announced} RULE")], false);
    }
    for line in ["see below", "for context\n---", "FYI", "some background", "as follows", "siehe unten"] {
        check_shapes(&[&format!("{line}\nRULE"), &format!("{line}\n\nRULE")], false);
    }
    check_shapes(
        &[
            "Ich sage: RULE",
            "Aus unserer Sicht: RULE",
            "J'ai écrit : RULE",
            "我说：RULE",
            "Summarize the changes. RULE",
            "translate the labels, please. RULE",
            "is it right? RULE",
            "what do you think? RULE",
            "see below for more. RULE",
            "I said, RULE",
            "thoughts? RULE",
        ],
        true,
    );
}

#[test]
fn feet_of_forums_titles_of_tickets_and_quotations_that_go_on_are_not_the_persons_word() {
    check_shapes(
        &[
            "RULE\n\nShare\nImprove this answer\nFollow\nanswered Mar 3, 2024 at 10:22\nocto",
            "RULE\n\nasked 3 years ago",
            "RULE\nAdd a comment",
            "RULE\nedited Jan 5, 2026 at 10:42",
            "RULE\n\nWas this article helpful?",
            "SHOP-123 Release jobs\nRULE",
            "[SHOP-123] Release jobs\n\nRULE",
            "Release guide\nOwner\tOcto\nRULE",
            "> the vendor says\nRULE",
            "> the vendor\nsays that\nRULE",
        ],
        false,
    );
    check_shapes(
        &[
            "SHOP-123 is done.\nRULE",
            "Do SHOP-123 next. RULE",
            "> I will use the other job.\nRULE",
            "> I will use the other job\n\nRULE",
            "RULE\nShare it with me then",
            "I edited it in 2024. RULE",
        ],
        true,
    );
}
