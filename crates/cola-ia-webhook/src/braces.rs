//! Templates: literal text with names in braces.

/// A piece of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece<'t> {
    Literal(String),
    /// What stands between braces.
    Name(&'t str),
}

/// Cuts a template into its pieces; `{{` and `}}` are braces of the text. `None` where a brace has no partner.
pub(crate) fn pieces(template: &str) -> Option<Vec<Piece<'_>>> {
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut rest = template;
    while let Some(at) = rest.find(['{', '}']) {
        literal.push_str(&rest[..at]);
        let brace = &rest[at..=at];
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix(brace) {
            literal.push_str(brace);
            rest = after;
            continue;
        }
        if brace == "}" {
            return None;
        }
        let end = rest.find('}')?;
        if !literal.is_empty() {
            pieces.push(Piece::Literal(std::mem::take(&mut literal)));
        }
        pieces.push(Piece::Name(&rest[..end]));
        rest = &rest[end + 1..];
    }
    literal.push_str(rest);
    if !literal.is_empty() {
        pieces.push(Piece::Literal(literal));
    }
    Some(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_cut_at_its_braces() {
        let literal = |text: &str| Piece::Literal(text.into());
        assert_eq!(pieces("a{b}{c}d"), Some(vec![literal("a"), Piece::Name("b"), Piece::Name("c"), literal("d")]));
        assert_eq!(pieces("{{x}}"), Some(vec![literal("{x}")]));
        assert_eq!(pieces(""), Some(vec![]));
        assert_eq!(pieces("{a"), None);
        assert_eq!(pieces("a}"), None);
    }
}
