//! Comparison with a naive model.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Op {
    Add(u8, u8, u8),
    Batch(Vec<(u8, u8)>),
    Update(u8, u8, u8),
    Put(u8, u8, u8),
    Remove(u8),
    RemoveAll(u8),
    Query(u8, u8, usize),
    Compact,
    Snapshot,
    Reopen,
}

fn operations() -> impl Strategy<Value = Vec<Op>> {
    let (id, text, kind) = (0_u8..8, 0_u8..6, 0_u8..3);
    let document = (id.clone(), text.clone(), kind.clone());
    let operation = prop_oneof![
        4 => document.clone().prop_map(|(id, text, kind)| Op::Add(id, text, kind)),
        2 => prop::collection::vec((id.clone(), text.clone()), 0..4).prop_map(Op::Batch),
        2 => document.clone().prop_map(|(id, text, kind)| Op::Update(id, text, kind)),
        2 => document.prop_map(|(id, text, kind)| Op::Put(id, text, kind)),
        2 => id.prop_map(Op::Remove),
        1 => kind.clone().prop_map(Op::RemoveAll),
        4 => (text, kind, 0_usize..5).prop_map(|(text, kind, limit)| Op::Query(text, kind, limit)),
        1 => Just(Op::Compact),
        1 => Just(Op::Snapshot),
        1 => Just(Op::Reopen),
    ];
    prop::collection::vec(operation, 1..30)
}

const TEXTS: [&str; 6] =
    ["parse a csv export", "parse csv exports", "rotate the ssh keys", "rotate logs", "\"quoted\"\n\u{1}", "grün"];

fn document((id, text, kind): (u8, u8, u8)) -> Document {
    Document::new(format!("d{id}"), TEXTS[usize::from(text)]).with("kind", kind.to_string())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    #[test]
    fn agrees_with_a_naive_model(operations in operations()) {
        let folder = tempfile::tempdir().unwrap();
        let mut memory = open(folder.path());
        let other = open(folder.path());
        let mut model: BTreeMap<String, Document> = BTreeMap::new();
        for operation in operations {
            match operation {
                Op::Add(id, text, kind) => {
                    let document = document((id, text, kind));
                    let is_new = !model.contains_key(&document.id);
                    prop_assert_eq!(memory.add(document.clone()).is_ok(), is_new);
                    model.entry(document.id.clone()).or_insert(document);
                }
                Op::Batch(batch) => {
                    let documents: Vec<Document> = batch.into_iter().map(|(id, text)| document((id, text, 0))).collect();
                    let mut ids: Vec<&String> = documents.iter().map(|document| &document.id).collect();
                    ids.sort_unstable();
                    ids.dedup();
                    let is_taken = ids.len() == documents.len() && ids.iter().all(|id| !model.contains_key(*id));
                    prop_assert_eq!(memory.add_all(documents.clone()).is_ok(), is_taken);
                    if is_taken {
                        model.extend(documents.into_iter().map(|document| (document.id.clone(), document)));
                    }
                }
                Op::Update(id, text, kind) => {
                    let document = document((id, text, kind));
                    prop_assert_eq!(other.update(document.clone()).is_ok(), model.contains_key(&document.id));
                    model.entry(document.id.clone()).and_modify(|present| *present = document);
                }
                Op::Put(id, text, kind) => {
                    let document = document((id, text, kind));
                    memory.put_all([document.clone()]).unwrap();
                    model.insert(document.id.clone(), document);
                }
                Op::Remove(id) => {
                    let id = format!("d{id}");
                    prop_assert_eq!(memory.remove(&id).is_ok(), model.remove(&id).is_some());
                }
                Op::RemoveAll(kind) => {
                    let before = model.len();
                    model.retain(|_, document| document.metadata["kind"] != kind.to_string());
                    let n_removed = memory.remove_all(&Filter::is("kind", kind.to_string())).unwrap();
                    prop_assert_eq!(n_removed, before - model.len());
                }
                Op::Query(text, kind, limit) => {
                    let filter = Filter::is("kind", kind.to_string()).not();
                    let lookup = Lookup::text(TEXTS[usize::from(text)]).vectors_only().limit(limit).filtered(filter);
                    let found = memory.query(&lookup).unwrap().hits;
                    let unit = |text: &str| embed_units(&HashingEmbedder, &[text], Role::Query).unwrap().remove(0);
                    let asked = unit(TEXTS[usize::from(text)]);
                    let distance = |vector: &UnitVector| {
                        1.0 - asked.as_slice().iter().zip(vector.as_slice()).map(|(a, b)| a * b).sum::<f32>()
                    };
                    let meant = model.values().filter(|document| document.metadata["kind"] != kind.to_string());
                    let mut expected: Vec<f32> = meant.map(|document| distance(&unit(&document.text))).collect();
                    expected.sort_by(f32::total_cmp);
                    expected.truncate(limit);
                    // Equal texts are equally near, so distances are compared, and the distance of each document is checked.
                    prop_assert_eq!(found.len(), expected.len());
                    for (hit, expected) in found.iter().zip(expected) {
                        prop_assert!((hit.distance.unwrap() - expected).abs() < 1e-4);
                        prop_assert!((hit.distance.unwrap() - distance(&unit(&hit.document.text))).abs() < 1e-4);
                        prop_assert_eq!(Some(hit.document.as_ref()), model.get(&hit.document.id));
                    }
                }
                Op::Compact => memory.compact().unwrap(),
                Op::Snapshot => memory.snapshot().unwrap(),
                Op::Reopen => memory = open(folder.path()),
            }
            for handle in [&memory, &other] {
                let documents = handle.documents(&Filter::all()).unwrap();
                prop_assert!(documents.iter().map(AsRef::as_ref).eq(model.values()), "{:?} {:?}", documents, model);
                for kind in 0..3 {
                    let n_meant = model.values().filter(|document| document.metadata["kind"] == kind.to_string()).count();
                    prop_assert_eq!(handle.count(&Filter::is("kind", kind.to_string())).unwrap(), n_meant);
                }
            }
        }
    }
}
