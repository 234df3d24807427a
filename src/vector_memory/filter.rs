//! Filters of documents by their metadata.

use std::sync::Arc;

use adage_index::KeySet;

use super::document_table::DocumentTable;

/// Selects documents by their metadata. It is evaluated on posting lists of every field and value: no document is read.
///
/// ```
/// use adage::Filter;
/// let filter = Filter::is("type", "note").and(Filter::has("draft").not());
/// # let _ = filter;
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter(Node);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Node {
    #[default]
    All,
    OneOf(String, Vec<String>),
    Has(String),
    Not(Box<Node>),
    And(Vec<Node>),
    Or(Vec<Node>),
}

impl Filter {
    /// Every document.
    #[must_use]
    pub fn all() -> Self {
        Self(Node::All)
    }

    /// Documents with this value in this field.
    pub fn is(field: impl Into<String>, value: impl Into<String>) -> Self {
        Self(Node::OneOf(field.into(), vec![value.into()]))
    }

    /// Documents with one of these values in this field; without values, no document matches.
    pub fn one_of<V: Into<String>>(field: impl Into<String>, values: impl IntoIterator<Item = V>) -> Self {
        Self(Node::OneOf(field.into(), values.into_iter().map(Into::into).collect()))
    }

    /// Documents that have this field, whatever its value.
    pub fn has(field: impl Into<String>) -> Self {
        Self(Node::Has(field.into()))
    }

    /// Documents that do not match this filter.
    #[must_use]
    #[expect(clippy::should_implement_trait, reason = "it reads as the others do: `has(…).not()`, `is(…).and(…)`")]
    pub fn not(self) -> Self {
        Self(match self.0 {
            Node::Not(node) => *node,
            node => Node::Not(Box::new(node)),
        })
    }

    /// Documents that match both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self(match (self.0, other.0) {
            (Node::All, node) | (node, Node::All) => node,
            (Node::And(mut nodes), node) => {
                nodes.push(node);
                Node::And(nodes)
            }
            (node, other) => Node::And(vec![node, other]),
        })
    }

    /// Documents that match either.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self(match (self.0, other.0) {
            (Node::All, _) | (_, Node::All) => Node::All,
            (Node::Or(mut nodes), node) => {
                nodes.push(node);
                Node::Or(nodes)
            }
            (node, other) => Node::Or(vec![node, other]),
        })
    }

    /// The keys of the matching documents; none if all match.
    pub(super) fn keys(&self, documents: &DocumentTable) -> Option<Arc<KeySet>> {
        (self.0 != Node::All).then(|| keys(&self.0, documents))
    }
}

fn keys(node: &Node, documents: &DocumentTable) -> Arc<KeySet> {
    match node {
        Node::All => Arc::new(documents.live.clone()),
        Node::Has(field) => documents.with_field(field).unwrap_or_default(),
        Node::OneOf(field, values) => match values.as_slice() {
            [value] => documents.with_value(field, value).unwrap_or_default(),
            values => {
                let sets = values.iter().filter_map(|value| documents.with_value(field, value));
                Arc::new(sets.fold(KeySet::default(), |all, keys| all.union(&keys)))
            }
        },
        Node::Not(node) => Arc::new(documents.live.minus(&keys(node, documents))),
        Node::Or(nodes) => {
            Arc::new(nodes.iter().fold(KeySet::default(), |all, node| all.union(&keys(node, documents))))
        }
        Node::And(nodes) => {
            // The smallest set first: its size bounds the work with the others.
            let mut sets: Vec<Arc<KeySet>> = nodes.iter().map(|node| keys(node, documents)).collect();
            sets.sort_by_key(|keys| keys.len());
            let sets = sets.into_iter().reduce(|all, keys| Arc::new(all.intersect(&keys)));
            sets.unwrap_or_else(|| Arc::new(documents.live.clone()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Document;

    #[test]
    fn filters_select_the_expected_documents() {
        let mut documents = DocumentTable::default();
        let a = Document::new("a", "t").with("type", "note").with("lang", "de");
        let b = Document::new("b", "t").with("type", "note");
        let c = Document::new("c", "t").with("type", "skill").with("lang", "en");
        for document in [a, b, c, Document::new("d", "t"), Document::new("gone", "t").with("type", "note")] {
            documents.put(Arc::new(document), 1);
        }
        documents.remove("gone");
        let check = |filter: Filter, expected: &[u32]| {
            let keys = filter
                .keys(&documents)
                .map_or_else(|| documents.live.iter().collect(), |keys| keys.iter().collect::<Vec<_>>());
            assert_eq!(keys, expected, "{filter:?}");
        };
        let note = || Filter::is("type", "note");
        check(Filter::all(), &[0, 1, 2, 3]);
        check(Filter::default().not(), &[]);
        check(note(), &[0, 1]);
        check(Filter::is("typ", "enote"), &[]);
        check(Filter::one_of("type", ["note", "skill", "none"]), &[0, 1, 2]);
        check(Filter::one_of("type", Vec::<String>::new()), &[]);
        check(Filter::has("lang"), &[0, 2]);
        check(Filter::has("lang").not(), &[1, 3]);
        check(Filter::has("lang").not().not(), &[0, 2]);
        check(note().and(Filter::has("lang")), &[0]);
        check(note().and(Filter::has("lang")).and(Filter::is("lang", "en")), &[]);
        check(note().or(Filter::is("lang", "en")).or(Filter::has("nothing")), &[0, 1, 2]);
        check(note().and(Filter::all()), &[0, 1]);
        check(note().or(Filter::all()), &[0, 1, 2, 3]);
        check(note().or(Filter::has("lang")).not(), &[3]);
    }
}
