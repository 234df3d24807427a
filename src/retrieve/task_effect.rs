//! Whether a task's sentence asks for a change (docs/spec/playbook.md, 5.1).

use super::file_kind::is_document_file;

/// Whether a task changes the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TaskEffect {
    /// It may change something.
    MayChange,
    /// It only asks, or says that nothing is to be changed.
    ChangesNothing,
}

/// Words with which a question begins, wherever it is.
const ASKING: &str = "what whats what's which who whose why where how welche welcher welches wer wo warum wieso weshalb woran qué que cuál \
                      cual dónde cómo quién pourquoi quel quelle où";
/// Words before them.
const BEFORE_ASKING: &str = "and but so from in on at by for to with of since until also just btw und aber oder aus von seit y pero por de en et mais";
/// Verbs with which a sentence orders a change or a run.
const ORDERS: &str = "add apply bring build bump change clean close commit continue convert create delete deploy disable do drop enable extract \
                      finish fix format generate get give implement improve install land let lint make merge migrate move open pull push put \
                      publish rebase rebuild refactor release remove rename replace rerun restart revert rewrite run send set ship split squash \
                      start submit swap switch tag test try turn undo update upgrade use write \
                      baue behebe benenne committe entferne ergänze ersetze erstelle füge korrigiere lösche mach mache pushe repariere schreib \
                      schreibe starte teste ändere añade agrega arregla arréglalo borra cambia corrige crea ejecuta escribe haz quita sube súbelo \
                      ajoute change corrige crée lance supprime";
/// Words after which an order may begin.
const BEFORE_ORDERS: &str = "and then so please pls bitte und dann y luego et puis";
const NEGATIONS: &str = "dont don't not no without never";
/// What a person says is not to be done.
const CHANGES: &str =
    "change changes changing edit edits editing fix fixes fixing modify modifying touch touching write writing code";
/// What comes after these words, if they are meant of everything.
const EVERYTHING: &str = "it this that them anything something any code files yet please pls here now";
/// The same in other words.
const ONLY: &str = "just tell me|only tell me|just explain|only explain|just describe|just answer|just asking|just curious|just wondering|\
                    just want to know|only want to know|just an explanation|just a question|read only|read-only|write no code|change nothing|\
                    touch nothing|edit nothing|nichts ändern|ändere nichts|ändere noch nichts|nichts anfassen|nur erklären|nur erklär|erklär nur|\
                    erkläre nur|sag mir nur|sag nur|nur eine frage|ohne etwas zu ändern|nicht ändern|nicht fixen|no cambies nada|no toques nada|\
                    no modifiques nada|no lo arregles|no lo cambies|sin cambiar nada|solo explica|sólo explica|solo dime|sólo dime|solo explícame|\
                    no hagas cambios|ne change rien|ne touche à rien|ne modifie rien|explique seulement|dis-moi juste|sans rien changer|\
                    não mude nada|só explica";
/// Words that limit what is not to be changed.
const LIMITS: &str = "else other others sonst andere anderes más otra autre";
/// Words of a task that is not about documents alone.
const OF_CODE: &str = "code test tests bug crash feature refactor implement function endpoint handler parser script";

impl TaskEffect {
    /// The effect of a task by its sentence; in English, with frequent phrases of a few other languages.
    pub(super) fn of(sentence: &str) -> Self {
        let clauses = clauses_of(sentence);
        let declines = clauses.iter().any(Clause::declines_changes);
        let only_asks = clauses.iter().any(Clause::asks) && !clauses.iter().any(Clause::orders);
        if declines || only_asks { Self::ChangesNothing } else { Self::MayChange }
    }
}

/// True if a task names documents, and no file or part of code.
pub(super) fn is_about_documents(sentence: &str) -> bool {
    let is_mark = |c: char| c.is_whitespace() || ",;:!?()\"'`".contains(c);
    let words: Vec<String> = sentence
        .split(is_mark)
        .map(|word| word.trim_end_matches('.').to_lowercase())
        .filter(|word| !word.is_empty())
        .collect();
    let is_other_file = |word: &String| {
        let ending = word.rsplit_once('.').filter(|(name, _)| name.len() > 1).map(|(_, ending)| ending);
        let is_ending = |ending: &str| (1..6).contains(&ending.len()) && ending.chars().all(char::is_alphabetic);
        ending.is_some_and(is_ending) && !is_document_file(word)
    };
    let names = |word: &String| is_document_file(word) || matches!(word.as_str(), "readme" | "changelog" | "docs");
    words.iter().any(names) && !words.iter().any(|word| is_other_file(word) || lists(OF_CODE, word))
}

/// A part of a sentence up to a mark.
struct Clause {
    /// In lower case.
    words: Vec<String>,
    /// The mark before it; a full stop for the first.
    after: char,
    /// The mark that ends it.
    end: char,
}

fn clauses_of(sentence: &str) -> Vec<Clause> {
    let mut clauses = Vec::new();
    let (mut text, mut after) = (String::new(), '.');
    let mut chars = sentence.chars().chain(['\n']).peekable();
    while let Some(c) = chars.next() {
        // A mark within a word belongs to it: `main.go`, `v0.4`.
        let is_end = c == '\n' || (".,;:!?–—".contains(c) && chars.peek().is_none_or(|next| next.is_whitespace()));
        if !is_end {
            text.push(c);
            continue;
        }
        let is_mark = |c: char| c.is_whitespace() || "()\"`*¿¡".contains(c);
        let words = std::mem::take(&mut text).to_lowercase().replace('’', "'");
        let words: Vec<String> = words.split(is_mark).filter(|word| !word.is_empty()).map(str::to_owned).collect();
        if !words.is_empty() {
            clauses.push(Clause { words, after, end: c });
        }
        after = c;
    }
    clauses
}

impl Clause {
    fn word(&self, at: usize) -> &str {
        self.words.get(at).map(String::as_str).unwrap_or_default()
    }

    /// A question by its first word. After a comma it needs its mark: "which" may also begin a part that describes.
    fn asks(&self) -> bool {
        let start = self.words.iter().position(|word| !lists(BEFORE_ASKING, word)).unwrap_or_default();
        let is_told = matches!(self.word(start + 1), "i" | "we" | "to" | "about" | "if") && self.word(start) != "why";
        let is_whole = self.after != ',' || self.end == '?';
        is_whole && lists(ASKING, self.word(start)) && !is_told && !self.asks_how_to(start)
    }

    fn asks_how_to(&self, start: usize) -> bool {
        self.word(start) == "how" && (matches!(self.word(start + 2), "i" | "we") || self.word(start + 1) == "to")
    }

    fn orders(&self) -> bool {
        let begins = |at: usize| {
            at == 0 || lists(BEFORE_ORDERS, self.word(at - 1)) || matches!(self.word(at - 1), "you" | "let's" | "+")
        };
        (0..self.words.len()).any(|at| begins(at) && lists(ORDERS, self.word(at)))
    }

    fn declines_changes(&self) -> bool {
        if self.words.iter().any(|word| lists(LIMITS, word)) {
            return false;
        }
        let text = self.words.join(" ");
        let says = |phrase: &str| {
            text.match_indices(phrase).any(|(at, _)| {
                let (before, rest) =
                    (text.get(..at).unwrap_or_default(), text.get(at + phrase.len()..).unwrap_or_default());
                (before.is_empty() || before.ends_with(' ')) && (rest.is_empty() || rest.starts_with(' '))
            })
        };
        ONLY.split('|').any(says) || (1..self.words.len()).any(|at| self.is_declined_at(at))
    }

    /// "don't fix it", "no edits pls", "do not change the code".
    fn is_declined_at(&self, at: usize) -> bool {
        let next = if self.word(at + 1) == "the" { self.word(at + 2) } else { self.word(at + 1) };
        let is_of_everything = next.is_empty() || lists(EVERYTHING, next);
        lists(NEGATIONS, self.word(at - 1)) && lists(CHANGES, self.word(at)) && is_of_everything
    }
}

fn lists(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|listed| listed == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(sentences: &[&str], expected: TaskEffect) {
        for sentence in sentences {
            assert_eq!(TaskEffect::of(sentence), expected, "{sentence}");
        }
    }

    #[test]
    fn a_question_changes_nothing_wherever_it_is() {
        let sentences = [
            "mix test prints a deprecation warning at startup, from which dep?",
            "go build takes 40s cold. where does the time go",
            "explain why the watcher debounces twice. no edits pls",
            "The terraform plan wants to replace the database. Why?",
            "docker image is 2 GB: what makes it so big?",
            "cargo test hangs on CI\nwhich test is it",
            "I see two psql roles. Who created them?",
            "npm install warns about peer deps; which package needs them?",
            "Der Build ist langsam. Woran liegt das? Warum dauert er so lange?",
            "El test falla a veces. ¿por qué? cuál es la causa",
        ];
        check(&sentences, TaskEffect::ChangesNothing);
    }

    #[test]
    fn a_task_that_declines_changes_changes_nothing() {
        let sentences = [
            "mix test prints a warning, dont fix it",
            "look at the retry loop and tell me if it is right. Don't change code yet.",
            "review the migration, no changes please",
            "just tell me where the session is read",
            "only explain the plan",
            "rough estimate for swapping oban, write no code",
            "find the leak but do not fix it",
            "check the helm chart for typos without changing anything",
            "can you look through kubectl output, read-only",
            "go through the Makefile. don't touch it",
            "Erklär mir den Watcher, bitte nichts ändern",
            "revisa el parser, no cambies nada",
            "regarde le Dockerfile, ne change rien",
        ];
        check(&sentences, TaskEffect::ChangesNothing);
    }

    #[test]
    fn an_order_may_change_something() {
        let sentences = [
            "why is it slow? make it faster",
            "the parser crashes on empty lines, which breaks sync",
            "commit it. Don't push, I want to look at it first",
            "don't change the API, only the parser",
            "fix the crash, change nothing else",
            "rename the helper, which is used in three places",
            "When it's green, commit it",
            "what I want is a new flag",
            "No behaviour change. Commit with a one line message",
            "how do I run the tests?",
            "don't fix the tests, fix the parser",
            "sync crashes when the folder is readonly. return an error instead",
            "where does it fail? then fix it",
            "squash my last 3 commits, do not push",
            "push what i have",
            "Warum ist es langsam? Mach es schneller",
            "arregla el parser y súbelo",
            "add a --json flag. where should the docs go?",
            "",
        ];
        check(&sentences, TaskEffect::MayChange);
    }

    #[test]
    fn a_task_is_about_documents_if_it_names_no_other_file() {
        for (sentence, expected) in [
            ("typo in README, 'sesions'. fix + commit", true),
            ("commit guide/architecture.md, only that file", true),
            ("add an entry to the changelog for v0.4.0", true),
            ("fix README.md and main.go", false),
            ("update the docs and add a test", false),
            ("fix the parser", false),
            ("typo in the error message", false),
        ] {
            assert_eq!(is_about_documents(sentence), expected, "{sentence}");
        }
    }
}
