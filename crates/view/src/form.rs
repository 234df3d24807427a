//! The fields of a query or a form.

/// Fields in the order in which they were sent; a name may occur several times.
#[derive(Debug, Default)]
pub(crate) struct Form(Vec<(String, String)>);

impl Form {
    pub(crate) fn parse(encoded: &[u8]) -> Self {
        Self(form_urlencoded::parse(encoded).map(|(name, value)| (name.into_owned(), lines_as_sent(&value))).collect())
    }

    /// The first value of a field; empty if it is missing.
    pub(crate) fn get(&self, name: &str) -> &str {
        self.0.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(known, _)| known == name)
    }

    pub(crate) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// Browsers send line ends as `\r\n`.
fn lines_as_sent(value: &str) -> String {
    value.replace("\r\n", "\n")
}

/// A path with a query of these fields; those with an empty value are left out.
pub(crate) fn link(path: &str, fields: &[(&str, &str)]) -> String {
    let given = fields.iter().filter(|(_, value)| !value.is_empty());
    let query = form_urlencoded::Serializer::new(String::new()).extend_pairs(given).finish();
    if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_reads_back_as_its_fields() {
        let link = link("lessons", &[("q", "a & b=ü"), ("state", ""), ("page", "2")]);
        let (path, query) = link.split_once('?').unwrap();
        let form = Form::parse(query.as_bytes());
        assert_eq!((path, form.get("q"), form.get("state"), form.get("page")), ("lessons", "a & b=ü", "", "2"));
        assert!(!form.has("state"));
        let lines = Form::parse(b"line=1&line=3&t=a%0D%0Ab");
        assert_eq!((lines.all("line").collect::<Vec<_>>(), lines.get("t")), (vec!["1", "3"], "a\nb"));
    }
}
