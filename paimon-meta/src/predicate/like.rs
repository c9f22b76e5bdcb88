//! `LIKE` patterns: `%` stands for any characters, `_` for one character, and an escape takes either literally.
//!
//! Matching never backtracks over a `%`: the text between two `%` is found as far left as it can be, what stands
//! before the first and after the last is anchored. The cost is one pass over the text, times the longest piece that
//! holds `_` in the worst case.

use crate::error::{Error, Result};
use crate::predicate::{LikePattern, LikeToken};

impl LikePattern {
    /// Reads a pattern. With an `escape`, it must be followed by `%`, `_` or itself, as in the reference.
    ///
    /// # Errors
    /// `InvalidInput` for an escape before anything else or at the end.
    pub fn parse(text: &str, escape: Option<char>) -> Result<Self> {
        let mut tokens = Vec::new();
        let mut literal = String::new();
        let mut chars = text.chars();
        while let Some(char) = chars.next() {
            let wildcard = match char {
                _ if Some(char) == escape => {
                    literal.push(escaped(text, char, chars.next())?);
                    continue;
                }
                '%' => LikeToken::AnyMany,
                '_' => LikeToken::AnyOne,
                _ => {
                    literal.push(char);
                    continue;
                }
            };
            if !literal.is_empty() {
                tokens.push(LikeToken::Literal(std::mem::take(&mut literal)));
            }
            tokens.push(wildcard);
        }
        if !literal.is_empty() {
            tokens.push(LikeToken::Literal(literal));
        }
        Ok(Self(tokens))
    }

    /// Whether the whole text fits the pattern.
    pub fn matches(&self, text: &str) -> bool {
        let mut pieces = self.0.split(|token| matches!(token, LikeToken::AnyMany));
        let first = pieces.next().unwrap_or_default();
        let Some(mut rest) = strip_front(first, text) else {
            return false;
        };
        let Some(last) = pieces.next_back() else {
            return rest.is_empty();
        };
        match strip_back(last, rest) {
            Some(middle) => rest = middle,
            None => return false,
        }
        for piece in pieces {
            match find(piece, rest) {
                Some(after) => rest = after,
                None => return false,
            }
        }
        true
    }

    /// The prefix, if the pattern asks for one and nothing else: `abc%`.
    pub fn as_prefix(&self) -> Option<&str> {
        match self.0.as_slice() {
            [LikeToken::Literal(prefix), LikeToken::AnyMany] => Some(prefix),
            _ => None,
        }
    }

    /// Characters that every match begins with, perhaps none.
    pub fn leading_literal(&self) -> &str {
        match self.0.first() {
            Some(LikeToken::Literal(prefix)) => prefix,
            _ => "",
        }
    }
}

fn escaped(text: &str, escape: char, next: Option<char>) -> Result<char> {
    match next {
        Some(next) if next == '%' || next == '_' || next == escape => Ok(next),
        found => Err(Error::invalid_input(format!(
            "escape {escape:?} in LIKE pattern {text:?} is followed by {}, expected '%', '_' or {escape:?}",
            found.map_or_else(|| "nothing".to_owned(), |char| format!("{char:?}")),
        ))),
    }
}

/// The text after a match of `piece` at its start.
fn strip_front<'a>(piece: &[LikeToken], mut text: &'a str) -> Option<&'a str> {
    for token in piece {
        match token {
            LikeToken::Literal(literal) => text = text.strip_prefix(literal.as_str())?,
            LikeToken::AnyOne | LikeToken::AnyMany => {
                let mut chars = text.chars();
                chars.next()?;
                text = chars.as_str();
            }
        }
    }
    Some(text)
}

/// The text before a match of `piece` at its end.
fn strip_back<'a>(piece: &[LikeToken], mut text: &'a str) -> Option<&'a str> {
    for token in piece.iter().rev() {
        match token {
            LikeToken::Literal(literal) => text = text.strip_suffix(literal.as_str())?,
            LikeToken::AnyOne | LikeToken::AnyMany => {
                let mut chars = text.chars();
                chars.next_back()?;
                text = chars.as_str();
            }
        }
    }
    Some(text)
}

/// The text after the leftmost match of `piece`.
fn find<'a>(piece: &[LikeToken], mut text: &'a str) -> Option<&'a str> {
    loop {
        if let Some(LikeToken::Literal(literal)) = piece.first() {
            let at = text.find(literal.as_str())?;
            text = text.get(at..)?;
        }
        if let Some(after) = strip_front(piece, text) {
            return Some(after);
        }
        let mut chars = text.chars();
        chars.next()?;
        text = chars.as_str();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::predicate::testing::{like_pattern, text};

    fn oracle(tokens: &[LikeToken], text: &str) -> bool {
        let Some((token, rest)) = tokens.split_first() else {
            return text.is_empty();
        };
        let mut chars = text.chars();
        match token {
            LikeToken::Literal(literal) => text
                .strip_prefix(literal.as_str())
                .is_some_and(|after| oracle(rest, after)),
            LikeToken::AnyOne => chars.next().is_some() && oracle(rest, chars.as_str()),
            LikeToken::AnyMany => {
                oracle(rest, text) || (chars.next().is_some() && oracle(tokens, chars.as_str()))
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(5000))]

        #[test]
        fn matching_agrees_with_backtracking(pattern in like_pattern(), text in text()) {
            prop_assert_eq!(pattern.matches(&text), oracle(&pattern.0, &text));
        }

        #[test]
        fn what_is_printed_reads_back(pattern in like_pattern()) {
            let sql = pattern.to_string();
            let text = sql.strip_prefix('\'').and_then(|sql| sql.strip_suffix('\'')).unwrap();
            let read = LikePattern::parse(&text.replace("''", "'"), Some('\\')).unwrap();
            prop_assert_eq!(read.to_string(), pattern.to_string());
        }
    }

    #[test]
    fn one_character_is_one_whatever_its_bytes() {
        let pattern = LikePattern::parse("_", None).unwrap();
        assert!(pattern.matches("😀") && pattern.matches("\n"));
        assert!(!pattern.matches("") && !pattern.matches("ab"));
    }

    #[test]
    fn escapes_take_wildcards_literally() {
        let pattern = LikePattern::parse(r"10\%%", Some('\\')).unwrap();
        assert_eq!(pattern.as_prefix(), Some("10%"));
        assert!(pattern.matches("10% off") && !pattern.matches("100"));
        assert!(LikePattern::parse(r"\a", None).unwrap().matches(r"\a"));
    }

    #[test]
    fn a_stray_escape_is_refused() {
        for (text, found) in [("a#", "nothing"), ("#a", "'a'")] {
            let error = LikePattern::parse(text, Some('#')).unwrap_err();
            assert!(
                error.message().contains(&format!("followed by {found}")),
                "{error}"
            );
        }
    }

    #[test]
    fn many_wildcards_stay_fast() {
        let pattern = LikePattern::parse(&"a%".repeat(2000), None).unwrap();
        assert!(!pattern.matches(&format!("{}b", "a".repeat(1999))));
    }
}
