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

#[test]
fn what_somebody_stated_and_a_question_on_a_text_announce_it() {
    for line in [
        "Can you explain the following to me",
        "please translate the following",
        "Help me understand what follows, please",
        "details below",
        "customer feedback below",
        "The bug report follows",
        "issue text",
        "Here is what the reporter wrote.",
        "this is what my boss told me",
        "here's what the vendor answered yesterday",
        "The docs state the following.",
        "The reviewer suggests the following",
        "Our customer wrote this",
        "tl;dr this please",
        "eli5 the following",
    ] {
        check_shapes(
            &[&format!("{line}\nRULE"), &format!("{line}\n\nRULE"), &format!("Handle it.\n{line}\nRULE")],
            false,
        );
    }
    for question in [
        "what does this mean?",
        "So what does this sentence mean:",
        "how would you say this in German?",
        "How do I write the following in French:",
        "tldr of this?",
        "Was bedeutet das?",
        "Que veut dire ceci ?",
        "¿Qué significa esto?",
        "Wie sagt man das auf Englisch?",
    ] {
        check_shapes(&[&format!("{question} RULE"), &format!("{question}\n\nRULE")], false);
    }
    check_shapes(
        &[
            "Here is what I wrote.\nRULE",
            "I suggest the following\nRULE",
            "Do the following\nRULE",
            "Please fix the following\nRULE",
            "my notes below\nRULE",
            "what does that mean? RULE",
            "what does this mean? I said: RULE",
            "tl;dr: RULE",
            "How do you run this in Docker? RULE",
            "the details are in the ticket. RULE",
            "How would I do this in Rust? RULE",
            "explain it to me. RULE",
        ],
        true,
    );
}

#[test]
fn french_quotations_and_times_of_other_languages_are_not_the_persons_word() {
    for blank in [" ", "\u{a0}", "\u{202f}", "\u{2009}", ""] {
        check_shapes(&[&format!("«{blank}RULE{blank}»"), &format!("Le client : «{blank}RULE{blank}» voilà")], false);
        check_shapes(&[&format!("‹{blank}RULE{blank}›")], false);
    }
    for head in [
        "Name — Heute um 10:22 Uhr",
        "Name — Gestern um 9.05 Uhr",
        "Anna Meier, Montag 10:22 Uhr",
        "Nom — Aujourd’hui à 10:22",
        "Jean hier à 10h22",
        "Marie - mardi à 10 h 22",
        "Nombre — hoy a las 10:22 a. m.",
        "Pedro ayer a las 10:22 h",
        "Ana - ontem às 10h22",
        "Luca oggi alle 10.22",
    ] {
        check_shapes(&[&format!("{head}\nRULE")], false);
    }
    check_shapes(
        &[
            "Die Version 10.22 ist da\nRULE",
            "Heute läuft alles besser\nRULE",
            "Hier ist das Problem\nRULE",
            "1 << 2 and 3 << 4\nRULE",
            "Les « tests » passent. RULE",
            "Appelle « release job ici »",
            "a « b. RULE",
            "Hoy es martes\nRULE",
        ],
        true,
    );
}

#[test]
fn a_message_behind_a_day_and_a_time_is_not_the_persons_word() {
    for head in
        ["Mon 10:32 octo:", "Yesterday, 9:05 PM Octo Cat:", "today at 10:32 — octo:", "Thursday 10:32:07 @octo:"]
    {
        check_shapes(&[&format!("{head} RULE"), &format!("{head} how do we deploy?\nTue 8:00 ann: RULE")], false);
    }
    check_shapes(&["Today at 10:32 it failed again. RULE", "Monday 10:32 was too late\nRULE", "Monday: RULE"], true);
}
