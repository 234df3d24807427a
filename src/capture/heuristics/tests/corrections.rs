//! What users object to.

use super::*;

#[test]
fn user_correction() {
    let check = |lines: &[&str], expected: &[&str]| check(Heuristic::UserCorrection, lines, expected);
    check(&["> build it", "$ npm run build", "> no, use make instead", "$ make"], &["user-correction-make"]);
    check(
        &["> do it", "~ src/a.rs", "> don't use unwrap in the parser, return the error", "~ src/a.rs"],
        &["user-correction-a-rs"],
    );
    // That something is wrong may point at what was done; what to do instead may not.
    check(
        &["> build it", "$ npm ci", "> No, that is wrong. Use pnpm for the packages in here.", "$ pnpm install"],
        &["user-correction-pnpm"],
    );
    // A call that the user refused is what was done.
    check(
        &["> do it", "n src/a.rs", "> no, keep the old name of the function here", "~ src/a.rs"],
        &["user-correction-a-rs"],
    );
    // They ask whether it is so.
    check(&["> do it", "~ a.rs", "> We don't want two parsers in here, use the first. Is it so?", "~ a.rs"], &[]);
    // Only a check was run, which the words do not mean; the files they name were not what was changed.
    check(&["> do it", "$ go build", "> We don't want a limit on the number of retries.", "~ a.rs"], &[]);
    check(&["> do it", "~ a.rs", "> no, put the helper into the other one, c.rs, please", "~ c.rs"], &[]);
    // Nobody knows what they mean: few words, a word that points, a number of a list, nothing but "things".
    check(&["> do it", "~ a.rs", "> I don't want that test.", "~ a.rs"], &[]);
    check(&["> do it", "~ a.rs", "> no, put it where all of the others are already", "~ a.rs"], &[]);
    check(&["> do it", "~ a.rs", "> No, let's use twelve characters for issues 17 and the rest", "~ a.rs"], &[]);
    check(&["> do it", "~ a.rs", "> We can make a new one rather than restore all of the things.", "~ a.rs"], &[]);
    // The words are words.
    check(&["> build it", "$ npm run build", "> I know, run another one", "$ make"], &[]);
    // Nothing had been done, or only read.
    check(&["> no, use make instead", "$ make"], &[]);
    check(&["> build it", "- f", "< I would use npm.", "> no, use make instead", "$ make"], &[]);
    check(&["$ npm run build", "> build it", "< ok", "> no, use make instead", "$ make"], &[]);
    // Nothing was done after it, it failed, or its end is not known.
    check(&["> build it", "$ npm run build", "> no, use make instead", "< I see"], &[]);
    check(&["> build it", "$ npm run build", "> no, use make instead", "< ok", "> go on", "$ make"], &[]);
    check(&["> build it", "$ npm run build", "> no, use make instead", "! make"], &[]);
    check(&["> build it", "$ npm run build", "> no, use make instead", "? make"], &[]);
    check(&["> do it", "~ a.rs", "> no, use a plain loop in a.rs instead", "x a.rs"], &[]);
    check(
        &["> build it", "$ npm run build", "> no, use make instead", "! make", "$ make all"],
        &["user-correction-make"],
    );
    // The user was not content with it.
    check(&["> build it", "$ npm ci", "> no, use make", "$ make", "> no, that's wrong", "$ ls"], &[]);
}

#[test]
fn corrections_keep_the_words_of_the_user() {
    let said = "> Älteres steht oben.\nLooks fine. No! Use make instead. The rest is good.";
    let found =
        lesson(Heuristic::UserCorrection, &["> Build the docs, please.", "$ npm run docs", said, "$ make docs"]);
    let evidence = &found["provenance"]["evidence"][0];
    assert_eq!(evidence["quote"], "Use make instead.");
    assert_eq!((evidence["turn"].as_u64(), evidence["range"].clone()), (Some(2), json!([36, 53])));
    assert_eq!(found["trigger"], "running `npm run docs`");
    assert_eq!(found["correct_pattern"], "Use make instead. Then: `make docs`");
    assert_eq!(found["mistake"], "the user objected to `npm run docs`");
}

#[test]
fn corrections_are_told_so_that_they_hold_outside() {
    // Few words take the sentence beside them along; a command that they do not name is not theirs.
    let said = "> The retry loop hides the timeout. I don't want that.";
    let lines = ["> 2. go on with 4", "~ src/net.rs", said, "~ src/net.rs", "$ cargo test"];
    let found = lesson(Heuristic::UserCorrection, &lines);
    assert_eq!(found["provenance"]["evidence"][0]["quote"], "The retry loop hides the timeout. I don't want that.");
    assert_eq!(found["trigger"], "changing src/net.rs");
    assert_eq!(found["mistake"], "the user objected to a change of src/net.rs");
    assert_eq!(found["correct_pattern"], "The retry loop hides the timeout. I don't want that.");
    let lines =
        ["> Add a retry to the upload.", "n src/net.rs", "> no, use the backoff of the client library", "~ src/net.rs"];
    let found = lesson(Heuristic::UserCorrection, &lines);
    assert_eq!(found["trigger"], "Add a retry to the upload. (net.rs)");
    assert_eq!(found["mistake"], "the user refused a change of net.rs");
}
