//! The optional quality gate, which refuses texts that are not lessons (docs/spec/playbook.md, 3.1).

use crate::lesson::{Lesson, Refusal};

/// Values of the mistake that mean that there is none.
const NO_MISTAKE: [&str; 6] = ["", "none", "n/a", "na", "unknown", "-"];

/// Filler words of conversations: a trigger of only these words does not say when the lesson applies.
const FILLER: &str = "a again ahead also alright and another any better but can check continue correct could do done exactly \
    fine finish fix for further go going good great hello help hey hi how i in is it just keep know let lets like look make \
    me more move much my need nice no not now of oh ok okay on once one onto perfect please proceed really redo retry right \
    same see so sorry step still stop sure task thank thanks that the then there these thing things think this those time to \
    too try trying undo up us want was way we well what whatever why will with works would wrong yeah yep yes yet you your";

/// Verbs that begin a rule.
const IMPERATIVES: &str = "accept add allow always annotate append apply ask assert assign assume attach authenticate avoid \
    await back batch begin bind block bound break bring build bump cache call cap capture cast catch change check choose clean \
    clear clone close collect combine commit compare compile compute configure confirm connect consider convert copy count \
    create cut debug declare decode default defer define delete deploy derive describe detect disable do document don't \
    double-check download drop edit embed enable encode end enforce ensure escape evaluate exclude expect explicitly export \
    expose extract fail fall fetch fill filter find first fix flush follow force format freeze generate get give grant grep \
    group guard handle hash hold identify ignore implement import include increase index inherit initialise initialize inject \
    insert inspect install instead invalidate invoke isolate join keep kill label leave let limit link lint list load lock \
    log look loop lower make map mark match measure merge migrate mind mock mount move name never normalise normalize note \
    obtain omit only open order override pad paginate parse pass patch pause perform pick pin place plan poll prefer prefix \
    preserve prevent print probe profile provide publish pull push put query quote raise re-run read rebase rebuild receive \
    recreate redirect reduce refer refresh refuse register reject release reload remember remove rename render repeat replace \
    report request require rerun reset resolve respect restart restore restrict retry return reuse revert review rewrite \
    rotate round run sanitise sanitize save scan schedule scope search seed select send separate serialise serialize serve \
    set share ship show sign skip sort specify split stage start state stay stop store stream strip sync tag take target tell \
    terminate test throw tokenise tokenize track translate treat trim truncate trust try turn type unset unwrap update \
    upgrade upload use validate verify wait walk warn watch whitelist wire wrap write";

/// Words that begin a condition.
const OPENERS: [&str; 21] = [
    "after", "although", "as", "at", "before", "because", "by", "during", "for", "from", "if", "in", "on", "once",
    "since", "to", "unless", "until", "when", "whenever", "while",
];

/// Words that make a sentence a rule.
const MODALS: [&str; 10] = ["must", "should", "shall", "always", "never", "cannot", "needs", "need", "has", "have"];

/// Words that begin a description.
const DESCRIBED: [&str; 12] =
    ["user", "users", "person", "assistant", "agent", "model", "i", "we", "you", "they", "he", "she"];

/// The length of a rule in characters.
const RULE_CHARS: std::ops::RangeInclusive<usize> = 12..=600;

/// Words that advice may consist of, besides a name, without saying anything about it.
const MAPPING: &str = "a an and call command for function invoke is it run the then this tool use using via with";

/// Refuses a piece of conversation and, if no mistake is named, advice that is not a rule.
pub(super) fn check(lesson: &Lesson) -> Result<(), Refusal> {
    if is_filler(&lesson.trigger) {
        return Err(Refusal::SmallTalk { trigger: lesson.trigger.clone() });
    }
    let names_no_mistake = |text: &str| NO_MISTAKE.contains(&text.trim().to_lowercase().as_str());
    if !(names_no_mistake(&lesson.mistake) && names_no_mistake(&lesson.anti_pattern)) {
        return Ok(());
    }
    let advice = lesson.correct_pattern.trim();
    if RULE_CHARS.contains(&advice.chars().count()) && is_rule(advice) && !is_bare_name(advice) {
        Ok(())
    } else {
        Err(Refusal::NoRule { advice: advice.chars().take(80).collect() })
    }
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let is_inner = |symbol: char| symbol.is_alphanumeric() || matches!(symbol, '\'' | '-' | '_' | '’');
    let words = text.split(move |symbol: char| !is_inner(symbol)).map(|word| word.trim_matches(['\'', '-', '’']));
    words.filter(|word| !word.is_empty()).map(|word| word.to_lowercase().replace('’', "'"))
}

fn has(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|known| known == word)
}

fn is_filler(trigger: &str) -> bool {
    let is_filler = |word: &str| has(FILLER, word) || word.chars().count() == 1;
    words(trigger).all(|word| is_filler(word.split('\'').next().unwrap_or_default()))
}

/// Whether the first sentence is an instruction: an imperative at its beginning or after a condition, or a word such as `must`.
fn is_rule(advice: &str) -> bool {
    let sentence = advice.split_once(['\n', ';']).map_or(advice, |(first, _)| first);
    let mut found = words(sentence);
    let Some(mut first) = found.next() else { return false };
    if matches!(first.as_str(), "the" | "a" | "an" | "this" | "that")
        && let Some(next) = found.next()
    {
        first = next;
    }
    if DESCRIBED.contains(&first.as_str()) {
        return false;
    }
    let is_condition = OPENERS.contains(&first.as_str());
    let after_comma = || sentence.split_once([',', ':']).and_then(|(_, rest)| words(rest).next());
    has(IMPERATIVES, &first)
        || words(sentence).any(|word| MODALS.contains(&word.as_str()))
        || (is_condition && after_comma().is_some_and(|word| has(IMPERATIVES, &word)))
}

/// Whether the advice is only the name of a tool.
fn is_bare_name(advice: &str) -> bool {
    words(advice).filter(|word| !has(MAPPING, word)).count() <= 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::lesson;

    fn check_advice(trigger: &str, mistake: &str, advice: &str) -> Result<(), Refusal> {
        check(&Lesson { mistake: mistake.into(), anti_pattern: mistake.into(), ..lesson(trigger, advice) })
    }

    #[test]
    fn a_trigger_of_filler_is_refused_even_with_a_mistake() {
        for trigger in
            ["continue", "ok now try again", "Yes, please go ahead!", "fix it", "that's wrong, do it again", "..."]
        {
            let refused = check_advice(trigger, "the cache was stale", "Clear the cache before the build.");
            assert!(matches!(refused, Err(Refusal::SmallTalk { .. })), "{trigger}");
        }
        for trigger in
            ["No module named yaml", "still failing with ECONNRESET", "continue after a merge conflict", "部署之前"]
        {
            check_advice(trigger, "the cache was stale", "Clear the cache before the build.").unwrap();
        }
    }

    #[test]
    fn without_a_mistake_the_advice_has_to_be_a_rule() {
        for advice in [
            "Pin numpy below 2.0.",
            "When the schema changes, run the migration first.",
            "Migrations must run before the tests.",
            "If the port is taken, the old server has to be stopped.",
            "The lock file should be committed.",
            "Don't edit generated files.",
        ] {
            check_advice("a task of the project", "None", advice).unwrap();
        }
        for advice in [
            "The user likes short answers.",
            "We looked at the logs and it was fine.",
            "Use rg.",
            "use the search_web tool",
            "numpy 2.0 and torch 2.1",
            "It works now.",
        ] {
            let refused = check_advice("a task of the project", "", advice);
            assert!(matches!(refused, Err(Refusal::NoRule { .. })), "{advice}");
            check_advice("a task of the project", "the wrong one was taken", advice).unwrap();
        }
        assert!(check_advice("a task of the project", "", &format!("Use {}", "more ".repeat(130))).is_err());
    }
}
