//! Random changes on two branches, against a model: after each merge both clones have what the branches made of each lesson.

use std::collections::{BTreeMap, BTreeSet};

use super::merges::{Member, team};

/// What a branch has of a lesson.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    solution: String,
    is_verified: bool,
    is_graduated: bool,
    n_harmful: u64,
}

impl Row {
    fn new(solution: String) -> Self {
        Self { solution, is_verified: false, is_graduated: false, n_harmful: 0 }
    }
}

/// The lessons in use, by a number that a change of the text in the file keeps.
type Rows = BTreeMap<usize, Row>;

#[derive(Default)]
struct Model {
    rows: Rows,
    /// Texts that await review: both branches changed them.
    second: BTreeSet<String>,
}

impl Model {
    /// The result of a merge in `ours` of what two branches made of the rows.
    fn merge(&mut self, ours: &Rows, theirs: &Rows, adds: Adds) {
        let before = std::mem::take(&mut self.rows);
        let numbers: BTreeSet<usize> = ours.keys().chain(theirs.keys()).copied().collect();
        for number in numbers {
            let old = before.get(&number);
            match (ours.get(&number), theirs.get(&number)) {
                (Some(own), Some(other)) => {
                    let row = self.unite(old, own, other, adds);
                    self.rows.insert(number, row);
                }
                // Removed by the other branch.
                (Some(row), None) | (None, Some(row)) if old.is_some() => {
                    let is_rewritten = old.is_some_and(|old| old.solution != row.solution);
                    self.second.extend(is_rewritten.then(|| row.solution.clone()));
                }
                (Some(row), None) | (None, Some(row)) => drop(self.rows.insert(number, row.clone())),
                (None, None) => {}
            }
        }
    }

    fn unite(&mut self, old: Option<&Row>, own: &Row, other: &Row, adds: Adds) -> Row {
        let old = old.unwrap();
        let is_changed = |row: &Row| row.solution != old.solution;
        let kept = if is_changed(other) && !is_changed(own) { other } else { own };
        if is_changed(own) && is_changed(other) {
            self.second.insert(other.solution.clone());
        }
        let is_one_text = own.solution == other.solution;
        let is_verified = if is_one_text { own.is_verified || other.is_verified } else { kept.is_verified };
        let n_harmful = match adds {
            Adds::Both => own.n_harmful + other.n_harmful - old.n_harmful,
            Adds::Larger => own.n_harmful.max(other.n_harmful),
        };
        let is_graduated = own.is_graduated || other.is_graduated;
        Row { solution: kept.solution.clone(), is_verified, is_graduated, n_harmful }
    }

    fn assert_is(&self, member: &Member, context: &str) {
        let mut expected: Vec<&String> = self.rows.values().map(|row| &row.solution).collect();
        expected.sort();
        assert_eq!(member.stored().iter().collect::<Vec<_>>(), expected, "{context}");
        for row in self.rows.values() {
            let found = member.row(&row.solution).unwrap();
            let found = Row {
                solution: row.solution.clone(),
                is_verified: found["verified"] == true,
                is_graduated: found["graduated"] == true,
                n_harmful: found["harmful_retrievals"].as_u64().unwrap(),
            };
            assert_eq!(found, *row, "{context}");
        }
        for text in &self.second {
            assert!(member.row(text).is_some(), "{context}: {text}");
        }
        member.assert_in_order();
    }
}

/// What becomes of the counts of both branches.
#[derive(Clone, Copy, Debug)]
enum Adds {
    /// The conflict shows the ancestor.
    Both,
    Larger,
}

#[test]
fn random_branches_merge_into_what_both_made_of_each_lesson() {
    for seed in 0..9 {
        let (style, adds) = match seed % 3 {
            0 => ("merge", Adds::Larger),
            1 => ("diff3", Adds::Both),
            _ => ("zdiff3", Adds::Both),
        };
        let mut dice = Dice(seed);
        let mut words = Words::default();
        let base: Vec<String> = (0..5).map(|_| words.next()).collect();
        let lessons: Vec<(&str, &str)> = base.iter().map(|word| (word.as_str(), word.as_str())).collect();
        let members = team(&lessons);
        for member in &members {
            member.git(&["config", "merge.conflictStyle", style]);
        }
        let mut model = Model { rows: base.into_iter().map(Row::new).enumerate().collect(), ..Model::default() };
        let mut branch = Branch { dice: &mut dice, words: &mut words };
        for round in 0..3 {
            let [theirs, ours] = members.each_ref().map(|member| branch.change(member, model.rows.clone()));
            model.merge(&ours, &theirs, adds);
            let [a, b] = &members;
            a.push();
            b.commit();
            b.merge();
            a.merge();
            for member in &members {
                model.assert_is(member, &format!("{style}, seed {seed}, round {round}"));
            }
        }
    }
}

struct Branch<'d> {
    dice: &'d mut Dice,
    words: &'d mut Words,
}

impl Branch<'_> {
    /// Some changes of a branch. The last one is committed by the program, so that all uses before it are in the file.
    fn change(&mut self, member: &Member, mut rows: Rows) -> Rows {
        self.learn(member, &mut rows);
        for _ in 0..=self.dice.roll(4) {
            let number = rows.keys().nth(self.dice.roll(rows.len())).copied().unwrap();
            let id = id_of_row(member, &rows[&number].solution);
            match self.dice.roll(8) {
                0 => {
                    member.done(&["remove", &id]);
                    rows.remove(&number);
                }
                1 => {
                    let new = self.words.next();
                    member.edit(&id, &new);
                    rows.remove(&number);
                    rows.insert(self.words.0 * 10, Row::new(new));
                }
                2 => drop(member.done(&["context", &rows[&number].solution])),
                3 => self.rewrite(member, rows.get_mut(&number).unwrap()),
                4 => {
                    member.done(&["verify", &id, "passed"]);
                    rows.get_mut(&number).unwrap().is_verified = true;
                }
                5 => {
                    member.done(&["graduate", &id]);
                    rows.get_mut(&number).unwrap().is_graduated = true;
                }
                6 => {
                    member.done(&["harmful", &id]);
                    rows.get_mut(&number).unwrap().n_harmful += 1;
                }
                _ => {
                    member.delete_by_hand(&format!("\"{}\"", rows[&number].solution));
                    rows.remove(&number);
                    self.learn(member, &mut rows);
                }
            }
        }
        self.learn(member, &mut rows);
        rows
    }

    fn learn(&mut self, member: &Member, rows: &mut Rows) {
        let new = self.words.next();
        member.learn(&new, &new);
        rows.insert(self.words.0 * 10, Row::new(new));
    }

    /// Changes the text in the file.
    fn rewrite(&mut self, member: &Member, row: &mut Row) {
        let new = self.words.next();
        member.edit_by_hand(&row.solution, &new);
        row.solution = new;
    }
}

fn id_of_row(member: &Member, solution: &str) -> String {
    member.row(solution).unwrap()["id"].as_str().unwrap().to_owned()
}

/// The same numbers for the same seed.
pub(super) struct Dice(pub(super) u64);

impl Dice {
    pub(super) fn roll(&mut self, n_sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n_sides
    }
}

/// Texts that have no word in common.
#[derive(Default)]
pub(super) struct Words(usize);

impl Words {
    pub(super) fn next(&mut self) -> String {
        self.0 += 1;
        let syllables = ["ba", "ke", "di", "fo", "gu", "la", "me", "ni", "po", "ru"];
        let word = |mut number: usize| {
            let mut word = String::new();
            for _ in 0..4 {
                word.push_str(syllables[number % 10]);
                number /= 10;
            }
            word
        };
        (0..4).map(|place| word(self.0 * 4 + place)).collect::<Vec<_>>().join(" ")
    }
}
