//! placeholder
/// placeholder
#[derive(Debug)]
pub struct Redactor;
impl Redactor {
    pub(crate) fn shared() -> &'static Self { &Self }
    pub(crate) fn redact<'a>(&self, text: &'a str) -> std::borrow::Cow<'a, str> { text.into() }
}
