//! Retrieval at its defaults: by all evidence, with a probability, and lessons for files and commands.

use std::sync::Arc;

use adage::embed::{Engine, Model};
use adage::lesson::{CommandRecovery, RecoveryStep, Refusal};
use adage::retrieve::TierChoice;
use adage::{
    Config, Embedder, HashingEmbedder, LearnOutcome, NoMatchReason, OnnxEmbedder, Playbook, Request, Scored, Tier,
    build_lesson,
};

use crate::bench::{Bench, learn, shown, three};

fn bundled(bench: &Bench) -> Playbook {
    with(bench, Arc::new(OnnxEmbedder::new(Model::bundled(), Engine::BuiltIn)))
}

fn with(bench: &Bench, embedder: Arc<dyn Embedder>) -> Playbook {
    let mut config = Config::default();
    config.learn.dedup = adage::config::DedupPolicy::Off;
    bench.builder().with_config(config).with_embedder(embedder).open().unwrap()
}

fn stock(bench: &Bench, playbook: &Playbook) {
    for draft in three() {
        bench.advance(1);
        learn(playbook, draft);
    }
}

fn ask(playbook: &Playbook, request: impl Into<Request>) -> adage::Context {
    playbook.get_playbook_context(request).unwrap()
}

#[test]
fn a_task_finds_its_lesson_by_any_kind_of_evidence_and_other_queries_find_none() {
    let bench = Bench::new();
    for playbook in [bundled(&bench), with(&bench, Arc::new(HashingEmbedder)), bench.open()] {
        if playbook.stats().unwrap().n_lessons == 0 {
            stock(&bench, &playbook);
        }
        let context = ask(&playbook, "parsing the CSV exports of a shop");
        assert_eq!(shown(&context), ["parsing CSV exports"], "{context:?}");
        let probability = context.lessons[0].probability.unwrap();
        assert!(probability > 0.6 && probability <= 1.0, "{probability}");
        for unrelated in ["What is the capital of France?", "the of and is", "zzz qqq"] {
            let context = ask(&playbook, unrelated);
            let Some(NoMatchReason::Unlikely { best, probability, answer_from }) = context.none_because else {
                panic!("{context:?}")
            };
            assert!(probability <= answer_from && playbook.find(best).is_ok(), "{probability}");
        }
    }
}

/// Words of every conversation, none of which is a subject.
const COMMON: &str = "after again age answer area arm ask back bad ball bank bed begin best big bird blue boat body book bottom box boy bread \
     bring brother build call car carry cat center change child church city class clean clear close cold color come cook corner country \
     course cover cry cut dark daughter day dead deal dinner dog door dream drink drive early earth east eat egg end evening eye face fact \
     fall family farm fast father feel field find fire fish floor food foot friend game garden girl give glass gold good green ground \
     group grow hair hand happy head hear heart help high hill history hold home horse hot hour house island keep king know land language \
     large last laugh law lead learn leave letter life light line list live long love low make map market meat meet milk minute money \
     month moon morning mother mountain mouth move music name near new night north number ocean office oil old open order page paint \
     paper park part party people person picture place plan plant play point poor power price queen question rain read red rest rich \
     ride right river road rock room run school sea season seat see send shop short show sing sister sit sleep small snow song south \
     speak stand star start state stone stop story street strong study summer sun table talk teach tell thing think time town trade \
     train travel tree turn use village visit voice wait walk wall war watch water way weather week well west wife wind window winter \
     woman wood word work world write year young";

const QUESTIONS: [&str; 12] = [
    "Which river is the longest in the world?",
    "Who was the first king of the north country?",
    "How many hours of sleep does a young child need at night?",
    "In what year did people first walk on the moon?",
    "What is a good place to travel to in the winter season?",
    "Which bird is on the picture in the dining room?",
    "Tell me a short story about a horse and a dog on a farm",
    "Why is the water of the ocean blue in the morning light?",
    "What should I cook for dinner with fish, egg and bread?",
    "Which mountain is near the village where the queen was born?",
    "How do I teach my daughter to ride and to paint?",
    "Name the large island south of the old town",
];

#[test]
fn a_trigger_of_many_words_is_refused_from_a_program() {
    let bench = Bench::new();
    let refused = bench.open().learn_lesson(build_lesson(COMMON, "Do as it says.").source("agent")).unwrap();
    let LearnOutcome::Refused { reason: Refusal::Unspecific { field: "trigger", max: 40, .. } } = refused else {
        panic!("{refused}")
    };
    // A person may.
    learn(&bench.open(), build_lesson(COMMON, "Do as it says."));
}

#[test]
fn a_lesson_of_many_common_words_answers_few_unrelated_questions() {
    let few: Vec<&str> = COMMON.split_whitespace().step_by(7).take(40).collect();
    for field in ["trigger", "mistake", "solution"] {
        let bench = Bench::new();
        for playbook in [bundled(&bench), bench.open()] {
            if playbook.stats().unwrap().n_lessons == 0 {
                stock(&bench, &playbook);
                let lesson = build_lesson("keeping the list", "Do as it says.").source("agent");
                let lesson = match field {
                    "trigger" => lesson.trigger(few.join(" ")),
                    "mistake" => lesson.mistake(COMMON),
                    _ => lesson.correct_pattern(COMMON),
                };
                learn(&playbook, lesson);
            }
            let answered: Vec<&str> =
                QUESTIONS.into_iter().filter(|question| !ask(&playbook, *question).lessons.is_empty()).collect();
            // Forty words of a trigger, the most that a program may give, include those of a question now and then.
            let max = if field == "trigger" { 2 } else { 0 };
            assert!(answered.len() <= max, "{field}: {answered:?}");
            assert_eq!(shown(&ask(&playbook, "parsing the CSV exports of a shop")), ["parsing CSV exports"], "{field}");
        }
    }
}

#[test]
fn words_alone_work_in_a_book_of_one() {
    let bench = Bench::new();
    let playbook = bench.open();
    learn(&playbook, three()[1].clone());
    let context = ask(&playbook, "how do we rotate the ssh keys of all hosts");
    assert_eq!((context.tier, shown(&context)), (Tier::Lexical, vec!["rotating ssh keys"]), "{context:?}");
    assert!(ask(&playbook, "What is the capital of France?").lessons.is_empty());
}

#[test]
fn copies_of_a_lesson_do_not_raise_the_probability_of_an_answer() {
    let bench = Bench::new();
    let playbook = bundled(&bench);
    stock(&bench, &playbook);
    let queries = ["ssh hosts are slow", "exporting a photograph", "parsing dates", "keys of a piano"];
    // The first value is that of the copies, the second that of all lessons together.
    let probability = |query: &str, tier: TierChoice| {
        let context = ask(&playbook, Request::about(query).tier(tier).peek().explain().limit(100));
        let sum = |of: &dyn Fn(&Scored) -> bool| -> f32 {
            context.considered.iter().filter(|scored| of(scored)).filter_map(|scored| scored.probability).sum()
        };
        [sum(&|scored| scored.trigger == "rotating ssh keys"), sum(&|_| true)]
    };
    let tiers = [TierChoice::Vector, TierChoice::Lexical];
    let all = || queries.map(|query| tiers.map(|tier| probability(query, tier)));
    let alone = all();
    for number in 0..20 {
        let copy = build_lesson("rotating ssh keys", "Keep both until every host took the new one.");
        learn(&playbook, copy.mistake("locked out").task(format!("copy {number}")));
    }
    for ((query, alone), among) in queries.iter().zip(alone).zip(all()) {
        for ([copied_before, before], [copied, after]) in alone.into_iter().zip(among) {
            assert!(copied <= copied_before + 0.02, "{query}: {copied} after the copies, {copied_before} before");
            // In a larger book the words of the others are rarer by comparison, but no other query is answered.
            assert!(before > 0.5 || after < 0.5, "{query}: {after} after the copies, {before} before");
        }
    }
    assert!(!ask(&playbook, "rotate the ssh keys of a host").lessons.is_empty(), "the copies push each other out");
}

#[test]
fn an_explicit_threshold_and_the_classic_settings_apply_the_classic_rule() {
    let bench = Bench::new();
    let playbook = with(&bench, Arc::new(HashingEmbedder));
    stock(&bench, &playbook);
    let one_call = ask(&playbook, Request::about("parsing CSV exports").distance_threshold(0.45).peek());
    drop(playbook);
    let builder = bench.builder().with_config(Config::classic()).with_embedder(Arc::new(HashingEmbedder));
    let classic = ask(&builder.open().unwrap(), Request::about("parsing CSV exports").peek());
    assert_eq!(one_call, classic);
    assert_eq!((classic.lessons.len(), classic.lessons[0].probability), (1, None));
}

#[test]
fn lessons_for_a_file_or_a_command_come_first() {
    let bench = Bench::new();
    let playbook = bench.open();
    stock(&bench, &playbook);
    let drafts = [
        build_lesson("any query", "Use parameters.").paths(["*.sql"]),
        build_lesson("a migration", "Write the way back too.").paths(["db/migrations/*.sql"]),
        build_lesson("old migrations", "Leave them as they are.").paths(["migrations/**"]),
        build_lesson("pushing", "Never force.").commands(["git push *"]),
        build_lesson("another project's", "Ask.").commands(["git push *"]).project("other"),
    ];
    for draft in drafts {
        bench.advance(1);
        learn(&playbook, draft);
    }
    let touching = || Request::about("parsing CSV exports").touching("/srv/shop/db/migrations/7.sql").peek();
    // At most two, the longer pattern first; then the other results.
    assert_eq!(shown(&ask(&playbook, touching())), ["a migration", "old migrations", "parsing CSV exports"]);
    assert_eq!(shown(&ask(&playbook, touching().limit(1))), ["a migration"]);
    let context = ask(&playbook, Request::about("zzz").running(" git push -f origin").peek());
    assert_eq!((shown(&context), context.none_because), (vec!["pushing"], None));
    let first = &context.lessons[0];
    assert_eq!((first.matched.as_deref(), first.probability), (Some("git push *"), None));
    // A lesson for another command shares words with the request.
    let worded = Request::about("pushing").running("git pull").peek();
    assert_eq!(shown(&ask(&playbook, worded)), ["pushing"]);
    // A pattern matches each command of a line, and a script in any folder.
    learn(&playbook, build_lesson("drawing charts", "Use SVG.").commands(["python plot.py*"]));
    for line in ["python tools/plot.py --all", "cd web && python plot.py"] {
        assert_eq!(shown(&ask(&playbook, Request::about("zzz").running(line).peek())), ["drawing charts"], "{line}");
    }
    // A lesson that is no recovery does not wait for its command.
    assert_eq!(shown(&ask(&playbook, Request::about("pushing").without_recoveries().peek())), ["pushing"]);
    let cold = ask(&playbook, Request::cold_start().running("git push x").limit(2).peek());
    assert_eq!(shown(&cold)[0], "pushing");
    assert!(ask(&playbook, Request::about("zzz").touching("a.rs").running("git pull").peek()).lessons.is_empty());
    let refused = playbook.learn_lesson(build_lesson("everything", "s").commands(["*"])).unwrap();
    let LearnOutcome::Refused { reason: Refusal::MatchesEverything { glob } } = refused else { panic!("{refused:?}") };
    assert_eq!(glob, "*");
}

#[test]
fn a_recovery_comes_before_its_command_unless_the_line_has_the_remedy() {
    let bench = Bench::new();
    let playbook = bench.open();
    let recovery = |step: RecoveryStep| CommandRecovery {
        failed: "npm install".into(),
        error: "code ERESOLVE".into(),
        steps: vec![step, RecoveryStep::Passed("npm install --legacy-peer-deps".into())],
    };
    let trigger = "`npm install` fails: code ERESOLVE";
    let draft = |solution: &str| build_lesson(trigger, solution).mistake("`npm install`").commands(["npm install*"]);
    let first = "First run `npm cache clean`; then `npm install --legacy-peer-deps` passes.";
    learn(&playbook, draft(first).recovery(&recovery(RecoveryStep::Run("npm cache clean".into()))));
    let comes = |request: Request| !ask(&playbook, request.peek()).lessons.is_empty();
    assert!(comes(Request::about("zzz").running("cd web && npm install")));
    assert!(comes(Request::about("zzz").running("npm install --legacy-peer-deps")));
    assert!(!comes(Request::about(trigger).running("npm cache clean && npm install --legacy-peer-deps")));
    // By words it comes with the task, not with another command.
    assert!(comes(Request::about(trigger)));
    assert!(!comes(Request::about(trigger).without_recoveries()) && !comes(Request::about(trigger).running("npm ls")));
    // After an edit, a command does not say whether it fails again.
    let edited = "First change .npmrc; then `npm install --legacy-peer-deps` passes.";
    playbook.edit(trigger, draft(edited).recovery(&recovery(RecoveryStep::Edit("change .npmrc".into())))).unwrap();
    assert!(!comes(Request::about("zzz").running("npm install")));
    assert!(comes(Request::about(trigger).without_recoveries()));
}

#[test]
fn of_lessons_for_one_command_that_with_the_likest_mistake_comes_first() {
    let bench = Bench::new();
    let playbook = bench.open();
    for (trigger, mistake) in
        [("a package of tests", "`go test -race ./billing`"), ("another", "`go test ./orders`"), ("checks", "")]
    {
        bench.advance(1);
        learn(&playbook, build_lesson(trigger, trigger).mistake(mistake).commands(["go test*"]));
    }
    let before = |command: &str| {
        let context = ask(&playbook, Request::about("zzz").running(command).peek());
        shown(&context).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(before("go test -v ./billing"), ["a package of tests", "another"]);
    assert_eq!(before("go test -v ./orders"), ["another", "a package of tests"]);
}

#[test]
fn a_pattern_in_the_file_that_matches_everything_is_ignored() {
    let row =
        serde_json::json!([{"trigger": "amber kettle", "solution": "s", "paths": ["**", "*.tea"], "commands": "*"}]);
    let bench = Bench::with_playbook_file(row.to_string());
    let playbook = bench.open();
    let asked = |request: Request| ask(&playbook, request.peek()).lessons.len();
    assert_eq!(asked(Request::about("zzz").touching("a.rs").running("ls")), 0);
    assert_eq!(asked(Request::about("zzz").touching("pot.tea")), 1);
}
