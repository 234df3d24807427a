//! `ADAGE_TRUST`: all, or exactly the folders that it lists.

use super::checks::{Attack, attack, check};
use super::ground::{Ground, HOSTILE, MEMORY};
use super::rows::plant;

/// A hostile project at `place`, seen with `ADAGE_TRUST` set; `{}` is the ground.
fn with_trust(value: &'static str, place: &'static str) -> Attack {
    attack(format!("ADAGE_TRUST={value:?}, and the folder is {place}/{MEMORY}"), move |ground| {
        let hostile = ground.folder(place);
        plant(&ground.other, &hostile);
        let person = ground.user.with("ADAGE_TRUST", filled(ground, value));
        ground.is_unknown(&person, &hostile, "not listed");
    })
}

fn filled(ground: &Ground, value: &str) -> String {
    value.replace("{}", ground.path("").to_str().unwrap().trim_end_matches('/'))
}

#[test]
fn a_list_trusts_exactly_what_it_names() {
    check(&[
        with_trust("{}/a/b/.adage", "a/bc"),
        with_trust("{}/a/b/.adage", "a/b/c"),
        with_trust("{}/a/b/.adage", "a/b/.adage/c"),
        with_trust("{}/a/b/.ada", "a/b"),
        with_trust("{}/a/b/.adage2", "a/b"),
        with_trust("{}/A/B/.ADAGE", "a/b"),
        with_trust("{}/a/b/.adage/skills", "a/b"),
        with_trust("{}", "a/b"),
        with_trust("/", "a/b"),
        with_trust("{}/*/b/.adage", "a/b"),
        with_trust("{}/a/**", "a/b"),
        with_trust("~/.adage", "home-of-user"),
        with_trust("$HOME/.adage", "home-of-user"),
        with_trust("{}/x/../a/b/.adage2:{}/y", "a/b"),
        with_trust("{}/a/b/.adage;{}/x", "a/b"),
        with_trust("{}/a/b/.adage,{}/x", "a/b"),
        with_trust("\"{}/a/b/.adage\"", "a/b"),
        with_trust("{}/a/b/.adage\n", "a/b"),
    ]);
}

#[test]
fn empty_and_relative_entries_trust_nothing() {
    check(&[
        with_trust("", "a"),
        with_trust(":", "a"),
        with_trust("::", "a"),
        with_trust("{}/x:", "a"),
        with_trust(":{}/x", "a"),
        with_trust(".adage", "a"),
        with_trust("./.adage", "a"),
        with_trust(".", "a"),
        with_trust("..", "a"),
        with_trust("../a/.adage", "a"),
        with_trust("{}/x:.adage:{}/y", "a"),
    ]);
}

#[test]
fn only_the_exact_word_all_trusts_all_folders() {
    check(&[
        with_trust("all:", "a"),
        with_trust("{}/x:all", "a"),
        with_trust("all:{}/x", "a"),
        with_trust("{}/all", "a"),
        with_trust("{}/all", "all"),
        with_trust("./all", "all"),
        with_trust("allx", "a"),
        with_trust("al", "a"),
        with_trust("*", "a"),
        with_trust("1", "a"),
        with_trust("true", "a"),
        with_trust("yes", "a"),
        attack("the project is named all and called from above", |ground| {
            let hostile = ground.folder("all");
            plant(&ground.other, &hostile);
            let person = ground.user.with("ADAGE_TRUST", ground.path("x"));
            ground.is_silent_in(&person, &ground.path(""), &["--dir", "all/.adage"], "named all");
        }),
        attack("a file .env and a file adage.env in the project set it", |ground| {
            let hostile = ground.folder("hostile");
            plant(&ground.other, &hostile);
            for name in [".env", "adage.env", ".envrc", ".adage/env"] {
                super::ground::write(&hostile.join(name), "ADAGE_TRUST=all\nexport ADAGE_TRUST=all\n");
            }
            ground.is_unknown(&ground.user, &hostile, "files of settings");
        }),
    ]);
}

#[test]
fn trust_from_the_environment_lasts_for_the_call() {
    let speaks = |name: &str, value: &'static str| {
        attack(name, move |ground| {
            let hostile = ground.folder("a/b");
            plant(&ground.other, &hostile);
            let person = ground.user.with("ADAGE_TRUST", filled(ground, value));
            ground.speaks(&person, &hostile, HOSTILE, value);
            ground.is_unknown(&ground.user, &hostile, "without the variable");
        })
    };
    check(&[
        speaks("all folders", "all"),
        speaks("one folder", "{}/a/b/.adage"),
        speaks("the second of two folders", "{}/x:{}/a/b/.adage"),
        speaks("a folder with a slash behind it", "{}/a/b/.adage/"),
    ]);
}
