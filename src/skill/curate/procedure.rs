//! Detects skills that describe the same procedure in variations of different sessions.

use std::collections::BTreeSet;

use adage_transcript::command::{are_alike, normal_forms};

use super::outline::{MarkedLine, STEPS, sections};
use crate::skill::Skill;
use crate::skill::code::code;

/// True if the same rule made both about the same program, and they share at least half of the commands, in normal form, of the
/// one with more. Skills without commands are never the same.
pub(crate) fn is_same_procedure(one: &Skill, other: &Skill) -> bool {
    let (mine, theirs) = (commands(&one.body), commands(&other.body));
    // A model may have renamed one of them: then all commands must be equal.
    let is_named_alike = base_name(one) == base_name(other);
    is_named_alike && are_alike(&mine, &theirs) || mine.len() > 1 && mine == theirs
}

fn commands(body: &str) -> BTreeSet<String> {
    let sections = sections(body);
    let lines = sections.iter().filter(|section| section.is(STEPS)).flat_map(|section| &section.lines);
    let commands = lines.flat_map(|line| match line {
        MarkedLine::Text(line) => code(line),
        // The steps of a labelled session are quoted in a fence.
        MarkedLine::Code(line) if line.contains('`') => code(line),
        MarkedLine::Code(line) => vec![*line],
        MarkedLine::Fence(_) => Vec::new(),
    });
    normal_forms(commands)
}

/// The name without the number added to make it unique.
fn base_name(skill: &Skill) -> &str {
    let name = skill.name.as_str();
    let is_number = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
    name.rsplit_once('-').filter(|(_, number)| is_number(number)).map_or(name, |(base, _)| base)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skill(name: &str, steps: &str) -> Skill {
        let body =
            format!("## Overview\n\nThis is for `x y`.\n\n## Step-by-Step\n\n{steps}\n\n## Evidence\n\nIt ran `a b`.");
        Skill { body, ..Skill::new(name.parse().unwrap(), "d") }
    }

    #[test]
    fn procedures_are_the_same_by_rule_program_and_half_of_the_commands() {
        let release = skill("procedure-cargo", "1. `cargo fmt`\n2. `cargo build --release`\n3. `cargo publish`");
        for (name, steps, is_same) in [
            ("procedure-cargo-2", "1. `cargo build`\n2. `cargo publish --dry-run`", true),
            ("procedure-cargo", "```sh\ncargo build\ncargo publish\n```", true),
            ("procedure-cargo", "1. `cargo publish`", false),
            ("procedure-npm", "1. `cargo build`\n2. `cargo publish`", false),
            ("ship-the-crate", "1. `cargo fmt`\n2. `cargo build`\n3. `cargo publish`", true),
            ("procedure-cargo", "Publish it.", false),
        ] {
            let other = skill(name, steps);
            assert_eq!(is_same_procedure(&release, &other), is_same, "{name}: {steps}");
            assert_eq!(is_same_procedure(&other, &release), is_same, "{name}: {steps}");
        }
    }
}
