//! How many tokens a text takes, without a tokenizer.

/// Four characters a token, rounded up: the usual estimate for English text and byte-pair vocabularies.
pub(crate) fn estimated_tokens(text: &str) -> usize {
    text.chars().count().div_ceil(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_four_characters() {
        assert_eq!([estimated_tokens(""), estimated_tokens("abcd"), estimated_tokens("abcde")], [0, 1, 2]);
    }
}
