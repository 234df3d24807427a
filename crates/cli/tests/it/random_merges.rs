//! Random changes on two branches, which git merges: nothing that a person wrote is lost, and nothing that they removed comes back.

use std::collections::{BTreeMap, BTreeSet};

use super::home::rounds;
use super::merges::{Member, team};

/// What a branch has of a lesson: its solution, and how often it did harm.
type Row = (String, u64);

/// The lessons in use, by a number that a change of the text in the file keeps.
type Rows = BTreeMap<usize, Row>;

#[derive(Default)]
struct Model {
    rows: Rows,
    /// Texts that await review: both branches changed the lesson.
    second: BTreeSet<String>,
}

impl Model {
    /// What a merge has to give. Of two new texts, the one in use is the one that is stored.
    fn merge(&mut self, ours: &Rows, theirs: &Rows, stored: &[String]) {
        let before = std::mem::take(&mut self.rows);
        let numbers: BTreeSet<usize> = ours.keys().chain(theirs.keys()).copied().collect();
        for number in numbers {
            let is_new = |row: &Row| before.get(&number).is_none_or(|old| old.0 != row.0);
            match (ours.get(&number), theirs.get(&number)) {
                (Some(own), Some(other)) => {
                    let takes_own = if is_new(own) && is_new(other) { stored.contains(&own.0) } else { is_new(own) };
                    let (kept, second) = if takes_own { (own, other) } else { (other, own) };
                    self.second.extend((second.0 != kept.0 && is_new(second)).then(|| second.0.clone()));
                    self.rows.insert(number, (kept.0.clone(), own.1.max(other.1)));
                }
                // Removed by the other branch.
                (Some(row), None) | (None, Some(row)) if before.contains_key(&number) => {
                    self.second.extend(is_new(row).then(|| row.0.clone()));
                }
                (Some(row), None) | (None, Some(row)) => drop(self.rows.insert(number, row.clone())),
                (None, None) => {}
            }
        }
    }

    fn assert_is(&self, member: &Member, context: &str) {
        let mut expected: Vec<&String> = self.rows.values().map(|(solution, _)| solution).collect();
        expected.sort();
        assert_eq!(member.stored().iter().collect::<Vec<_>>(), expected, "{context}");
        for (solution, n_harmful) in self.rows.values() {
            assert_eq!(member.row(solution).unwrap()["harmful_retrievals"], *n_harmful, "{context}: {solution}");
        }
        for text in &self.second {
            assert!(member.row(text).is_some(), "{context}: {text}");
        }
        member.assert_in_order();
    }
}

#[test]
fn random_branches_lose_and_revive_nothing_when_they_are_merged() {
    for seed in 0..rounds(3) {
        let (mut dice, mut words) = (Dice(seed), Words::default());
        let base: Vec<String> = (0..5).map(|_| words.next()).collect();
        let lessons: Vec<(&str, &str)> = base.iter().map(|word| (word.as_str(), word.as_str())).collect();
        let members = team(&lessons);
        for member in &members {
            let style = ["merge", "diff3", "zdiff3"][dice.roll(3)];
            member.git(&["config", "merge.conflictStyle", style]);
        }
        let rows = base.into_iter().map(|text| (text, 0)).enumerate().collect();
        let mut model = Model { rows, ..Model::default() };
        let mut branch = Branch { dice: &mut dice, words: &mut words };
        for round in 0..3 {
            let [theirs, ours] = members.each_ref().map(|member| branch.change(member, model.rows.clone()));
            let [a, b] = &members;
            a.push();
            b.commit();
            b.merge();
            a.merge();
            model.merge(&ours, &theirs, &b.stored());
            for member in &members {
                model.assert_is(member, &format!("seed {seed}, round {round}"));
            }
        }
    }
}

struct Branch<'d> {
    dice: &'d mut Dice,
    words: &'d mut Words,
}

impl Branch<'_> {
    /// Some changes of a branch. The last one is committed by the program, so that all changes before it are in the file.
    fn change(&mut self, member: &Member, mut rows: Rows) -> Rows {
        self.learn(member, &mut rows);
        for _ in 0..=self.dice.roll(4) {
            let number = rows.keys().nth(self.dice.roll(rows.len())).copied().unwrap();
            let solution = rows[&number].0.clone();
            let id = id_of_row(member, &solution);
            match self.dice.roll(6) {
                0 => {
                    member.done(&["remove", &id]);
                    rows.remove(&number);
                }
                1 => {
                    let new = self.words.next();
                    member.edit(&id, &new);
                    rows.remove(&number);
                    rows.insert(self.words.0 * 10, (new, 0));
                }
                2 => drop(member.done(&["context", &solution])),
                3 => {
                    let new = self.words.next();
                    member.edit_by_hand(&solution, &new);
                    rows.get_mut(&number).unwrap().0 = new;
                }
                4 => {
                    member.done(&["outcome", "--harmful", &id]);
                    rows.get_mut(&number).unwrap().1 += 1;
                }
                _ => {
                    member.delete_by_hand(&format!("\"{solution}\""));
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
        rows.insert(self.words.0 * 10, (new, 0));
    }
}

fn id_of_row(member: &Member, solution: &str) -> String {
    member.row(solution).unwrap()["id"].as_str().unwrap().to_owned()
}

/// The same numbers for the same seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, n_sides: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n_sides
    }
}

/// Texts that have no word in common.
#[derive(Default)]
struct Words(usize);

impl Words {
    fn next(&mut self) -> String {
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
