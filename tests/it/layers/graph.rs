//! The imports between top-level modules, and violations of the layers.

use std::collections::{BTreeMap, BTreeSet};

use super::source::Sources;

/// Two top-level modules, the first of which names the second, with one position where it does.
pub(super) type Edges = BTreeMap<(String, String), String>;

/// The imports of a crate between its top-level modules. The root names them all; it is left out, but `lib` for who imports it.
pub(super) fn edges(sources: &Sources) -> Edges {
    let mut edges = Edges::new();
    for (path, module) in sources.modules.iter().filter(|(_, module)| module.file != sources.root) {
        let Some(from) = path.first() else { continue };
        for written in &module.paths {
            let Some(to) = sources.top_level(path, written) else { continue };
            if to != *from {
                let place = format!("{}:{}: {}", module.file.display(), written.line, written.segments.join("::"));
                edges.entry((from.clone(), to)).or_insert(place);
            }
        }
    }
    edges
}

/// The edges that lead to a later layer, and the modules that have none.
pub(super) fn upward(edges: &Edges, modules: &BTreeSet<String>, layers: &[&[&str]]) -> Vec<String> {
    let layer = |module: &String| layers.iter().position(|layer| layer.contains(&module.as_str()));
    let homeless =
        modules.iter().filter(|module| layer(module).is_none()).map(|module| format!("{module} has no layer"));
    let leads_up = |(from, to): &(String, String)| matches!((layer(from), layer(to)), (Some(a), Some(b)) if b > a);
    let upward = edges.iter().filter(|(edge, _)| leads_up(edge));
    homeless.chain(upward.map(|((from, to), place)| format!("{from} → {to} leads up, {place}"))).collect()
}

/// The shortest cycle through each module that is on one, each cycle once, an edge a line.
pub(super) fn cycles(edges: &Edges) -> Vec<String> {
    let mut found: BTreeMap<BTreeSet<&str>, Vec<&str>> = BTreeMap::new();
    let starts: BTreeSet<&str> = edges.keys().map(|(from, _)| from.as_str()).collect();
    for start in starts {
        if let Some(cycle) = shortest_cycle(edges, start) {
            found.entry(cycle.iter().copied().collect()).or_insert(cycle);
        }
    }
    found.into_values().map(|cycle| describe(edges, &cycle)).collect()
}

/// Breadth first, from a module back to itself.
fn shortest_cycle<'a>(edges: &'a Edges, start: &'a str) -> Option<Vec<&'a str>> {
    let mut came_from: BTreeMap<&str, &str> = BTreeMap::new();
    let mut level = vec![start];
    while !level.is_empty() {
        let mut next = Vec::new();
        for module in level {
            let targets = edges.keys().filter(|(from, _)| from == module).map(|(_, to)| to.as_str());
            for target in targets {
                if target == start {
                    let mut cycle = vec![module];
                    while let Some(previous) = cycle.last().and_then(|last| came_from.get(last)) {
                        cycle.push(previous);
                    }
                    cycle.reverse();
                    return Some(cycle);
                }
                if !came_from.contains_key(target) {
                    came_from.insert(target, module);
                    next.push(target);
                }
            }
        }
        level = next;
    }
    None
}

fn describe(edges: &Edges, cycle: &[&str]) -> String {
    let targets = cycle.iter().cycle().skip(1);
    let steps = cycle.iter().zip(targets).map(|(from, to)| {
        let place = &edges[&((*from).to_owned(), (*to).to_owned())];
        format!("  {from} → {to}, {place}\n")
    });
    format!("a cycle:\n{}", steps.collect::<String>())
}
