use super::*;
use crate::testing::lesson;

/// Checks the difference of two solutions with the same trigger, in both directions.
fn check(a: &str, b: &str, expected: Option<&str>) {
    for (a, b) in [(a, b), (b, a)] {
        let found = difference(&lesson("one trigger", a), &lesson("one trigger", b));
        let kind = found.as_ref().map(|found| match found {
            Difference::Value { kind, .. } => kind.to_string(),
            Difference::Polarity { .. } => "polarity".to_owned(),
            Difference::Order { .. } => "order".to_owned(),
            Difference::Exchange { .. } => "exchange".to_owned(),
            Difference::Mistake => "mistake".to_owned(),
            Difference::Contradiction => "contradiction".to_owned(),
            Difference::Beyond => "beyond".to_owned(),
            Difference::Advice => "advice".to_owned(),
        });
        assert_eq!(kind.as_deref(), expected, "{a:?} and {b:?}: {found:?}");
    }
}

#[test]
fn other_values_in_one_field_keep_apart() {
    check("wait 5 seconds between retries", "wait 30 seconds between retries", Some("number"));
    check("wait five seconds between retries", "wait 5 seconds between retries", None);
    check("use tokio 1.0 for the runtime", "use tokio 1 for the runtime", None);
    check("pass timeout=5 to every call", "give each call timeout=30", Some("number"));
    check("pin it with numpy<2 in the file", "pin it with numpy>=2 in the file", Some("comparison"));
    check("require numpy >=2.0 here", "require numpy <2.0 here", Some("comparison"));
    check("export HTTP_PROXY before curl", "export http_proxy before curl", Some("identifier"));
    check("copy from bucket-a to bucket-b", "copy from bucket-b to bucket-a", Some("order"));
    check("read `userId` there", "read `userID` there", Some("identifier"));
    check("edit Main.kt by hand", "edit main.kt by hand", Some("identifier"));
    check("parse it as CSV", "parse it as csv", None);
    check("set the rule to \"error\" there", "there the rule has to be \"off\"", Some("identifier"));
    check("run it at \"0 3 * * *\".", "run it at \"0 3 * * 0\".", Some("exchange"));
    check("restart node-a at night", "restart node-b at night", Some("identifier"));
    check("run git push --force then", "run git push --force-with-lease then", Some("flag"));
    check("mount it at /var/lib/data here", "mount it at /srv/data here", Some("path"));
    check("edit Cargo.toml by hand", "edit Cargo.lock by hand", Some("path"));
    check("export DATABASE_URL before tests", "export TEST_DATABASE_URL before tests", Some("identifier"));
    check("call `fetch_all` at the end", "call `fetch_one` at the end", Some("identifier"));
    check("store times in UTC there", "store times in CET there", Some("identifier"));
}

#[test]
fn values_are_shown_as_they_are_written() {
    for (ours, theirs, expected) in [
        ("pin numpy=2.0 in the lock file", "pin numpy=2.1 in the lock file", "2.0 against 2.1"),
        ("pin numpy =2.0 in the lock file", "pin numpy ==2.0 in the lock file", "=2.0 against ==2.0"),
        ("pin numpy =2.0 in the lock file", "pin numpy == 2.0 in the lock file", "=2.0 against == 2.0"),
        ("read it as left-to-right text there", "read it as bottom-up text there", "left-to-right against bottom-up"),
    ] {
        let found = difference(&lesson("one trigger", ours), &lesson("one trigger", theirs)).unwrap().to_string();
        assert!(found.ends_with(expected), "{ours:?} and {theirs:?}: {found}");
    }
}

#[test]
fn what_only_one_side_has_is_no_conflict() {
    check("retry with a delay", "retry with a delay of 5 seconds", None);
}

#[test]
fn opposites_in_the_same_company_keep_apart() {
    check("pin numpy below 2.0", "pin numpy above 2.0", Some("polarity"));
    check("always commit the lock file", "never commit the lock file", Some("polarity"));
    check("run migrations before the rollout", "run migrations after the rollout", Some("polarity"));
    check("enable proxy buffering for events", "for events, disable proxy buffering", Some("polarity"));
    check("commit the generated files", "do not commit the generated files", Some("polarity"));
    check("vacía la caché antes del despliegue", "vacía la caché después del despliegue", Some("polarity"));
    check("vide le cache avant le déploiement", "vide le cache après le déploiement", Some("polarity"));
    check("den Cache leeren, bevor umgeschaltet wird", "den Cache leeren, nachdem umgeschaltet wird", Some("polarity"));
}

#[test]
fn order_and_direction_keep_apart() {
    check("use HashMap, not BTreeMap", "use BTreeMap, not HashMap", Some("order"));
    check("replace old_name() with new_name()", "replace new_name() with old_name()", Some("order"));
    check("mount /data on /mnt/a", "mount /mnt/a on /data", Some("order"));
    check("copy staging onto production", "copy production onto staging", Some("order"));
    check(
        "convert the times from UTC to local time before saving",
        "before saving them, convert the times from local time to UTC",
        Some("order"),
    );
    check("merge main into the feature branch", "merge the feature branch into main", Some("order"));
    check("commit the change log; push the tag", "push the tag; commit the change log", Some("order"));
    check("only admins may delete rows", "admins may delete only rows", Some("order"));
}

#[test]
fn clauses_may_change_places() {
    check("use the lock file instead of guessing", "instead of guessing, use the lock file", None);
    check("read the log before you close it", "before you close it, read the log", None);
    check("list the origins explicitly", "explicitly list the origins", None);
}

#[test]
fn a_word_in_the_place_of_another_keeps_apart_whatever_it_is() {
    for (ours, theirs) in [
        ("daily", "weekly"),
        ("container", "contained"),
        ("serializable", "serialized"),
        ("signed", "unsigned"),
        ("pre-save", "post-save"),
        ("Anna", "Anne"),
        ("duty engineer", "account manager"),
        ("all", "some"),
        ("US", "EU"),
    ] {
        let text = |word: &str| format!("send the {word} report to the team before noon");
        let found = difference(&lesson("one trigger", &text(ours)), &lesson("one trigger", &text(theirs)));
        assert!(found.is_some(), "{ours} and {theirs}");
    }
    check("keep the copies and the log", "keep the copies or the log", Some("exchange"));
    check("copy rows if they are new", "copy rows unless they are new", Some("exchange"));
    check("copy the rows", "copy only the rows", Some("exchange"));
}

#[test]
fn forms_of_one_another_are_one_word() {
    check("the colours weren't organised in 2 files", "the colors were not organized in two files", None);
    check("at seven per cent, wait 5 seconds", "at 7%, wait 5s", None);
    check("edit the config of the repo by hand", "edit the configuration of the repository by hand", None);
    check("the script's log was overwritten", "the script overwrote the log", None);
    check("wait a month before you delete it", "wait one month before you delete it", None);
}

#[test]
fn another_mistake_in_the_same_situation_keeps_apart() {
    let with = |mistake: &str, advice: &str| crate::Lesson { anti_pattern: mistake.into(), ..lesson("t", advice) };
    let first = with("the drop waited for a long query", "set a lock timeout of two seconds");
    let second = with("a view still selected the column", "look for views that need it");
    assert_eq!(difference(&first, &second), Some(Difference::Mistake));
    let reworded = with("the drop was waiting for a long query to end", "set the lock timeout to two seconds");
    assert_eq!(difference(&first, &reworded), None);
}

#[test]
fn advice_that_shares_little_or_negates_is_not_the_same() {
    check("Start the database container first.", "Set the locale to C.", Some("advice"));
    check("run the deploy script and wait", "do not run the deploy script; run make instead", Some("polarity"));
    // Not clearly English: only the same words are the same advice.
    let french = "Videz toujours le cache du serveur principal avant chaque livraison importante";
    check(french, &format!("{french} hebdomadaire"), Some("advice"));
    check(french, &format!("{french}."), None);
}

#[test]
fn a_value_that_the_other_lesson_says_elsewhere_is_no_conflict() {
    let a = crate::Lesson { anti_pattern: "port 80 was taken".into(), ..lesson("t", "bind to port 8080") };
    let b = crate::Lesson { anti_pattern: "it bound to port 80".into(), ..lesson("t", "bind it to port 8080") };
    assert_eq!(difference(&a, &b), None);
}
