//! Resolves a path through imports, globs and the re-exports of the root.

use std::collections::BTreeSet;

use super::source::{Absolute, Module, Sources, Written};

impl Sources {
    /// The top-level module that a path names; `lib` for what is the root's own, for all of the root, and for a name that the
    /// root does not have. None for what is in no module of this crate.
    pub(super) fn top_level(&self, module: &[String], written: &Written) -> Option<String> {
        let finder = Finder { sources: self };
        let absolute = finder.locate(module, &written.segments, &mut BTreeSet::new())?;
        Some(finder.through_root(absolute).first().cloned().unwrap_or_else(|| "lib".to_owned()))
    }
}

struct Finder<'a> {
    sources: &'a Sources,
}

/// Names that are being looked up, so that cyclic imports terminate.
type Visited = BTreeSet<(Absolute, String)>;

impl Finder<'_> {
    fn locate(&self, module: &[String], segments: &[String], visited: &mut Visited) -> Option<Absolute> {
        let (first, mut rest) = segments.split_first()?;
        let mut absolute = match first.as_str() {
            "crate" => Absolute::new(),
            "self" => module.to_vec(),
            "super" => parent(module),
            name => self.lookup(module, name, visited)?,
        };
        while let Some((next, after)) = rest.split_first() {
            match next.as_str() {
                "super" => absolute = parent(&absolute),
                "self" => {}
                _ => break,
            }
            rest = after;
        }
        absolute.extend(rest.iter().cloned());
        Some(absolute)
    }

    /// The meaning of a name in a module.
    fn lookup(&self, module: &[String], name: &str, visited: &mut Visited) -> Option<Absolute> {
        if !visited.insert((module.to_vec(), name.to_owned())) {
            return None;
        }
        let found = self.sources.modules.get(module).and_then(|known| self.in_module(module, known, name, visited));
        visited.remove(&(module.to_vec(), name.to_owned()));
        found
    }

    fn in_module(&self, module: &[String], known: &Module, name: &str, visited: &mut Visited) -> Option<Absolute> {
        if known.items.contains(name) {
            return Some([module, &[name.to_owned()]].concat());
        }
        let imported = known.imports.iter().filter(|(local, _)| local == name);
        let mut imported = imported.filter_map(|(_, written)| self.locate(module, &written.segments, visited));
        if let Some(found) = imported.next() {
            return Some(found);
        }
        let globs: Vec<Absolute> =
            known.globs.iter().filter_map(|glob| self.locate(module, &glob.segments, visited)).collect();
        globs.into_iter().find_map(|glob| self.lookup(&glob, name, visited))
    }

    /// A path through names and modules of the root's file, as the module that it comes from.
    fn through_root(&self, absolute: Absolute) -> Absolute {
        // The longest beginning that is a module in the root's file: at least the root itself.
        let is_root = |length: &usize| {
            let module = absolute.get(..*length).and_then(|path| self.sources.modules.get(path));
            module.is_some_and(|module| module.file == self.sources.root)
        };
        let n_root = (0..=absolute.len()).rev().find(is_root).unwrap_or(0);
        let (module, rest) = absolute.split_at(n_root);
        let Some((name, rest)) = rest.split_first() else { return Absolute::new() };
        match self.lookup(module, name, &mut BTreeSet::new()) {
            Some(found) if found != [module, std::slice::from_ref(name)].concat() => {
                self.through_root([found, rest.to_vec()].concat())
            }
            Some(found) if self.sources.modules.contains_key(&found) => absolute,
            _ => Absolute::new(),
        }
    }
}

fn parent(module: &[String]) -> Absolute {
    module.split_last().map(|(_, parent)| parent.to_vec()).unwrap_or_default()
}
