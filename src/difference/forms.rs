//! Normal forms of words, for the merge guard: spelling, inflection, contractions, numbers, units, abbreviations, and
//! interchangeable function words.

use std::cell::RefCell;
use std::collections::HashMap;

use super::token::{Kind, Token};
use crate::lexical::stem;

/// Unambiguous abbreviations and their expansions.
const ABBREVIATIONS: [(&str, &str); 39] = [
    ("config", "configuration"),
    ("conf", "configuration"),
    ("cfg", "configuration"),
    ("repo", "repository"),
    ("db", "database"),
    ("env", "environment"),
    ("docs", "documentation"),
    ("doc", "documentation"),
    ("app", "application"),
    ("param", "parameter"),
    ("arg", "argument"),
    ("dir", "directory"),
    ("dev", "development"),
    ("prod", "production"),
    ("info", "information"),
    ("spec", "specification"),
    ("admin", "administrator"),
    ("approx", "approximately"),
    ("approximately", "about"),
    ("roughly", "about"),
    ("pr", "pullrequest"),
    ("min", "minimum"),
    ("max", "maximum"),
    ("e.g", "forexample"),
    ("i.e", "thatis"),
    ("vs", "versus"),
    ("msg", "message"),
    ("pkg", "package"),
    ("lib", "library"),
    ("var", "variable"),
    ("func", "function"),
    ("attr", "attribute"),
    ("tz", "timezone"),
    ("k8s", "kubernetes"),
    ("js", "javascript"),
    ("postgresql", "postgres"),
    ("mail", "email"),
    ("sec", "second"),
    ("img", "image"),
];

/// Pairs of words that form one word.
const PAIRS: [(&str, &str, &str); 27] = [
    ("pull", "request", "pullrequest"),
    ("for", "example", "forexample"),
    ("for", "instance", "forexample"),
    ("that", "is", "thatis"),
    ("with", "no", "without"),
    ("without", "any", "without"),
    ("has", "to", "must"),
    ("have", "to", "must"),
    ("need", "to", "must"),
    ("needs", "to", "must"),
    ("rather", "than", "not"),
    ("instead", "of", "not"),
    ("due", "to", "because"),
    ("owing", "to", "because"),
    ("because", "of", "because"),
    ("in", "order", ""),
    ("so", "that", "sothat"),
    ("no", "one", "nobody"),
    ("some", "one", "somebody"),
    ("every", "one", "everybody"),
    ("any", "one", "anybody"),
    ("each", "time", "whenever"),
    ("as", "well", "too"),
    ("code", "base", "codebase"),
    ("turn", "off", "disable"),
    ("turn", "on", "enable"),
    ("make", "sure", "ensure"),
];

/// Interchangeable function words, represented by the first one.
const ALIKE: [(&str, &[&str]); 18] = [
    ("because", &["since", "as"]),
    ("if", &["when", "whether", "whenever"]),
    ("that", &["which", "who"]),
    ("each", &["every", "all"]),
    ("after", &["following"]),
    ("must", &["shall", "ought"]),
    ("until", &["till"]),
    ("while", &["whilst", "during"]),
    ("although", &["though"]),
    ("nobody", &["noone"]),
    ("somebody", &["someone"]),
    ("everybody", &["everyone"]),
    ("anybody", &["anyone"]),
    ("too", &["also"]),
    ("on", &["upon"]),
    ("among", &["amongst"]),
    ("using", &["via"]),
    ("other", &["another", "different"]),
];

/// Stems of general synonyms, represented by the first one.
const SYNONYMS: [(&str, &[&str]); 12] = [
    ("big", &["larg"]),
    ("whole", &["entir"]),
    ("choos", &["pick", "select"]),
    ("begin", &["start"]),
    ("show", &["display"]),
    ("need", &["requir"]),
    ("make", &["produc", "creat"]),
    ("turn", &["switch"]),
    ("answer", &["respond", "repli"]),
    ("lack", &["miss"]),
    ("chang", &["alter"]),
    ("fast", &["quick", "rapid"]),
];

/// Units and their other spellings.
const UNITS: [(&str, &[&str]); 19] = [
    ("ms", &["millisecond", "milliseconds", "msec"]),
    ("s", &["sec", "secs", "second", "seconds"]),
    ("min", &["mins", "minute", "minutes"]),
    ("h", &["hr", "hrs", "hour", "hours"]),
    ("d", &["day", "days"]),
    ("wk", &["week", "weeks"]),
    ("mo", &["month", "months"]),
    ("y", &["yr", "year", "years"]),
    ("b", &["byte", "bytes"]),
    ("kb", &["kilobyte", "kilobytes"]),
    ("mb", &["megabyte", "megabytes"]),
    ("gb", &["gigabyte", "gigabytes"]),
    ("tb", &["terabyte", "terabytes"]),
    ("px", &["pixel", "pixels"]),
    ("%", &["percent"]),
    ("x", &["time", "times"]),
    ("m", &["metre", "metres", "meter", "meters"]),
    ("kg", &["kilogram", "kilograms"]),
    ("eur", &["euro", "euros"]),
];

/// Irregular verbs: the base, followed by forms that the stemmer does not map to it.
const IRREGULAR: [&[&str]; 40] = [
    &["forget", "forgot", "forgotten"],
    &["write", "wrote", "written"],
    &["overwrite", "overwrote", "overwritten"],
    &["rewrite", "rewrote", "rewritten"],
    &["go", "went", "gone", "goes"],
    &["run", "ran"],
    &["keep", "kept"],
    &["send", "sent"],
    &["build", "built"],
    &["rebuild", "rebuilt"],
    &["lose", "lost", "losing"],
    &["make", "made", "making"],
    &["break", "broke", "broken"],
    &["take", "took", "taken"],
    &["give", "gave", "given"],
    &["choose", "chose", "chosen"],
    &["find", "found"],
    &["hold", "held"],
    &["leave", "left"],
    &["throw", "threw", "thrown"],
    &["catch", "caught"],
    &["bring", "brought"],
    &["tell", "told"],
    &["say", "said"],
    &["see", "saw", "seen"],
    &["sell", "sold"],
    &["spend", "spent"],
    &["fall", "fell", "fallen"],
    &["begin", "began", "begun"],
    &["draw", "drew", "drawn"],
    &["hide", "hid", "hidden"],
    &["know", "knew", "known"],
    &["grow", "grew", "grown"],
    &["show", "shown"],
    &["pay", "paid"],
    &["lead", "led"],
    &["mean", "meant"],
    &["become", "became"],
    &["freeze", "froze", "frozen"],
    &["stick", "stuck"],
];

/// The tokens in normal form: contractions expanded, numbers with their units, pairs joined, one spelling.
pub(super) fn canonical(tokens: Vec<Token>) -> Vec<Token> {
    let mut found: Vec<Token> = Vec::with_capacity(tokens.len());
    for token in tokens.into_iter().flat_map(expanded) {
        if !found.last_mut().is_some_and(|last| last.joins(&token)) {
            found.push(token);
        }
    }
    found.retain(|token| !token.normal.is_empty());
    found
}

/// How a word is compared.
#[derive(Clone)]
struct WordForm {
    /// The stem of its usual spelling, with abbreviations expanded.
    normal: String,
    /// The ending that makes it another word.
    ending: &'static str,
}

impl WordForm {
    /// The form of a word in lower case. Lessons that are compared share most of their words, so each thread keeps those of the last ones.
    fn of(lower: &str) -> Self {
        /// Words that are kept, more than those of any one comparison.
        const MAX_KEPT: usize = 10_000;
        thread_local! {
            static KEPT: RefCell<HashMap<String, WordForm>> = RefCell::default();
        }
        if let Some(form) = KEPT.with_borrow(|kept| kept.get(lower).cloned()) {
            return form;
        }
        let word = written_out(lower);
        let form = Self { normal: normal(&word), ending: new_word(&word) };
        KEPT.with_borrow_mut(|kept| {
            if kept.len() >= MAX_KEPT {
                kept.clear();
            }
            kept.insert(lower.to_owned(), form.clone());
        });
        form
    }
}

/// The normal form of a word: the stem of its usual spelling, with abbreviations expanded.
pub(super) fn normal_word(lower: &str) -> String {
    WordForm::of(lower).normal
}

/// The stem of a word that is written out.
fn normal(word: &str) -> String {
    // Its stem is that of a "product".
    const WHOLE: [&str; 1] = ["production"];
    if WHOLE.contains(&word) {
        return word.to_owned();
    }
    let stem = stem(word);
    match SYNONYMS.iter().find(|(_, others)| others.contains(&stem.as_str())) {
        Some((first, _)) => (*first).to_owned(),
        None => stem,
    }
}

/// Expands abbreviations, maps synonyms to one word and irregular verbs to their base, in one spelling.
fn written_out(lower: &str) -> String {
    let full = |word: &str| ABBREVIATIONS.iter().find(|(short, _)| *short == word).map(|(_, full)| *full);
    let long = full(lower).or_else(|| full(lower.strip_suffix('s')?)).unwrap_or(lower);
    let long = full(long).unwrap_or(long);
    let alike = ALIKE.iter().find(|(_, others)| others.contains(&long)).map_or(long, |(first, _)| *first);
    let base = IRREGULAR.iter().find(|forms| forms.contains(&alike)).and_then(|forms| forms.first());
    spelling(base.map_or(alike, |base| *base))
}

pub(super) fn is_abbreviation(lower: &str) -> bool {
    ABBREVIATIONS.iter().any(|(short, _)| *short == lower)
}

/// The key for aligning a token: its stem, with the ending if that makes it a different word.
pub(super) fn form(token: &Token) -> String {
    let ending = if token.kind == Kind::Word { WordForm::of(&token.text.to_lowercase()).ending } else { "" };
    format!("{}{ending}", token.key())
}

/// The derivational ending that makes a different word of a stem: a container is not what is contained, and a serializable
/// value need not be serialized. Nouns of actions (`deployment`) count as their verbs.
fn new_word(lower: &str) -> &'static str {
    const ENDINGS: [&str; 10] = ["er", "or", "ive", "ity", "ist", "ism", "ee", "ous", "ant", "ent"];
    const INFIXES: [&str; 6] = ["abl", "abil", "ibl", "ibil", "less", "ful"];
    let stem = stem(lower);
    let Some(cut) = lower.strip_prefix(stem.as_str()) else { return "" };
    if stem.ends_with("ion") && cut.starts_with("al") {
        return "al";
    }
    if cut.starts_with("iz") {
        return "iz";
    }
    let singular = cut.strip_suffix('s').unwrap_or(cut);
    let infix = INFIXES.into_iter().find(|infix| cut.contains(infix));
    infix.or_else(|| ENDINGS.into_iter().find(|ending| *ending == singular)).unwrap_or_default()
}

/// True if the two runs are the same word, written in one piece and in several.
pub(super) fn is_joined(a: &[&Token], b: &[&Token]) -> bool {
    let joined = |run: &[&Token]| {
        let word = spelling(&run.iter().map(|token| token.text.to_lowercase()).collect::<String>());
        word.strip_suffix('s').map_or_else(|| word.clone(), str::to_owned)
    };
    let is_of_words = |run: &[&Token]| run.iter().all(|token| token.kind == Kind::Word);
    a.len() != b.len() && is_of_words(a) && is_of_words(b) && joined(a) == joined(b)
}

/// American spelling, by endings: `colour`, `organise`, `dialogue`, `labelled`.
fn spelling(lower: &str) -> String {
    const ENDINGS: [&str; 8] = ["", "s", "ed", "ing", "d", "r", "rs", "able"];
    let mut word = lower.replace("isation", "ization").replace("grey", "gray").replace("adviser", "advisor");
    for ending in ENDINGS {
        let Some(base) = word.strip_suffix(ending) else { continue };
        let changed = [("our", "or"), ("ogue", "og"), ("tre", "ter"), ("lysi", "lyzi"), ("ence", "ense")]
            .into_iter()
            .find_map(|(british, american)| Some(format!("{}{american}", base.strip_suffix(british)?)));
        if let Some(changed) = changed.filter(|_| base.len() > 4) {
            word = format!("{changed}{ending}");
            break;
        }
    }
    for (british, american) in [
        ("ise", "ize"),
        ("ised", "ized"),
        ("ises", "izes"),
        ("ising", "izing"),
        ("yse", "yze"),
        ("ysed", "yzed"),
        ("lled", "led"),
        ("lling", "ling"),
        ("ller", "ler"),
        ("lment", "llment"),
        ("gramme", "gram"),
    ] {
        if let Some(base) = word.strip_suffix(british).filter(|base| base.len() > 2) {
            return format!("{base}{american}");
        }
    }
    word
}

/// `didn't` as `did not`; a possessive as the noun.
fn expanded(token: Token) -> Vec<Token> {
    let lower = token.text.to_lowercase().replace('’', "'");
    if token.kind != Kind::Word || (!lower.contains('\'') && lower != "cannot") {
        return vec![token];
    }
    let base = match lower.strip_suffix("n't") {
        Some("ca") => Some("can"),
        Some("wo") => Some("will"),
        Some("sha") => Some("shall"),
        base => base.or_else(|| (lower == "cannot").then_some("can")),
    };
    let ends_sentence = token.ends_sentence;
    if let Some(base) = base {
        return vec![Token::word(base, false), Token::word("not", ends_sentence)];
    }
    let noun = lower.split('\'').next().unwrap_or_default();
    vec![Token { ends_sentence, ends_clause: token.ends_clause, ..Token::word(noun, false) }]
}

impl Token {
    fn word(text: &str, ends_sentence: bool) -> Self {
        Self { ends_sentence, ends_clause: ends_sentence, ..Self::new(Kind::Word, text) }
    }

    /// Joins the next token, if the two are one: a number and its unit, `pull request`.
    fn joins(&mut self, next: &Self) -> bool {
        if self.ends_clause {
            return false;
        }
        let lower = |token: &Self| token.text.to_lowercase();
        let (first, second) = (lower(self), lower(next));
        let joined = if self.kind == Kind::Number && next.kind == Kind::Word && is_plain_number(&self.normal) {
            unit(&second).map(|unit| with_unit(&self.normal, unit, &second))
        } else {
            let is_first = |one: &str| one == first || one == self.normal;
            let pair = PAIRS.iter().find(|(one, two, _)| is_first(one) && *two == second);
            pair.map(|(.., joined)| stem(joined))
        };
        let is_per_cent = first.ends_with("per") && second == "cent" && self.kind == Kind::Number;
        let joined = joined.or_else(|| is_per_cent.then(|| self.normal.replace("per", "%")));
        let is_half_per_cent = self.kind == Kind::Number && second == "per" && is_plain_number(&self.normal);
        let joined = joined.or_else(|| is_half_per_cent.then(|| format!("{}per", self.normal)));
        let Some(joined) = joined else { return false };
        self.text = format!("{} {}", self.text, next.text);
        self.normal = joined;
        self.ends_sentence = next.ends_sentence;
        self.ends_clause = next.ends_clause;
        true
    }
}

/// Joins a number and its unit. The number 1 of a time span is dropped, so that `1 month` equals `month`.
fn with_unit(number: &str, unit: &str, word: &str) -> String {
    const SPANS: [&str; 7] = ["s", "min", "h", "d", "wk", "mo", "y"];
    if number == "1" && SPANS.contains(&unit) { normal_word(word) } else { format!("{number}{unit}") }
}

fn is_plain_number(normal: &str) -> bool {
    normal.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

fn unit(lower: &str) -> Option<&'static str> {
    UNITS.iter().find(|(unit, others)| *unit == lower || others.contains(&lower)).map(|(unit, _)| *unit)
}

/// Number words up to ninety, versions without their `v` and a trailing `.0`, numbers with the usual sign of their unit.
pub(super) fn normal_number(lower: &str) -> String {
    const WORDS: [&str; 21] = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
        "twenty",
    ];
    const TENS: [&str; 7] = ["thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
    if let Some(number) = WORDS.iter().position(|word| *word == lower) {
        return number.to_string();
    }
    if let Some(tens) = TENS.iter().position(|word| *word == lower) {
        return (30 + 10 * tens).to_string();
    }
    if lower == "twice" {
        return "2x".to_owned();
    }
    let plain = without_thousands(lower.strip_prefix('v').unwrap_or(lower));
    let end = plain.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(plain.len());
    let (number, suffix) = plain.split_at(end);
    let number = number.strip_suffix(".0").unwrap_or(number);
    format!("{number}{}", unit(suffix).unwrap_or(suffix))
}

/// `10,000` without its comma; one that is a decimal sign stays.
fn without_thousands(number: &str) -> String {
    let mut groups = number.split(',');
    let first = groups.next().unwrap_or_default();
    let is_group = |group: &str| {
        group.get(..3).is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
            && !group.get(3..).is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    if first.len() <= 3 && groups.all(is_group) { number.replace(',', "") } else { number.to_owned() }
}
