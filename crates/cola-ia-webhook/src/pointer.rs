//! JSON pointers (RFC 6901), with `*` for every element or member.

use crate::json::{Json, Kind};

/// A parsed pointer; with no tokens it is the value itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pointer {
    tokens: Vec<String>,
}

impl Pointer {
    /// Reads `/a/b~1c/0`, or nothing; `None` where the form is wrong.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text.is_empty() {
            return Some(Self { tokens: Vec::new() });
        }
        let tokens = text.strip_prefix('/')?.split('/').map(token).collect::<Option<_>>()?;
        Some(Self { tokens })
    }

    pub(crate) fn tokens(&self) -> &[String] {
        &self.tokens
    }

    /// What is left of this path for one who stands where `path` leads.
    pub(crate) fn below(&self, path: &Self) -> Option<Self> {
        let tokens = self.tokens.strip_prefix(path.tokens.as_slice())?.to_vec();
        (!tokens.is_empty()).then_some(Self { tokens })
    }

    /// Whether it can lead to several values.
    pub(crate) fn has_star(&self) -> bool {
        self.tokens.iter().any(|token| token == "*")
    }

    /// The one value that it leads to: the first, where it can lead to several.
    pub(crate) fn find<'a>(&self, json: Json<'a>) -> Option<Json<'a>> {
        if self.has_star() {
            let mut first = None;
            collect(json, &self.tokens, &mut |found| {
                first = Some(found);
                false
            });
            return first;
        }
        self.tokens.iter().try_fold(json, |json, token| json.child(token))
    }

    /// All values that it leads to, in the order of the text, until `take` says no more.
    pub(crate) fn each<'a>(&self, json: Json<'a>, take: &mut dyn FnMut(Json<'a>) -> bool) {
        collect(json, &self.tokens, take);
    }
}

fn token(text: &str) -> Option<String> {
    let mut token = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        token.push(match character {
            '~' => match rest.next()? {
                '0' => '~',
                '1' => '/',
                _ => return None,
            },
            other => other,
        });
    }
    Some(token)
}

fn collect<'a>(json: Json<'a>, tokens: &[String], take: &mut dyn FnMut(Json<'a>) -> bool) -> bool {
    let Some((token, rest)) = tokens.split_first() else {
        return take(json);
    };
    if token != "*" {
        return json.child(token).is_none_or(|child| collect(child, rest, take));
    }
    match json.kind() {
        Kind::Array => json.elements().all(|element| collect(element, rest, take)),
        Kind::Object => json.members().all(|(_, value)| collect(value, rest, take)),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::check;

    #[test]
    fn pointers_lead_where_rfc_6901_says() {
        let json = check(br#"{"foo":["bar","baz"],"":0,"a/b":1,"m~n":8,"x":[{"y":1},{"z":2},{"y":3}]}"#).unwrap();
        let at = |text: &str| Pointer::parse(text).unwrap().find(json).map(Json::raw);
        assert_eq!(at("/foo/0"), Some("\"bar\""));
        assert_eq!(at("/"), Some("0"));
        assert_eq!(at("/a~1b"), Some("1"));
        assert_eq!(at("/m~0n"), Some("8"));
        assert_eq!(at("/foo/2"), None);
        assert_eq!(at("").map(|raw| &raw[..1]), Some("{"));
        assert_eq!(at("/x/*/z"), Some("2"));
        let mut all = Vec::new();
        Pointer::parse("/x/*/y").unwrap().each(json, &mut |found| {
            all.push(found.raw());
            true
        });
        assert_eq!(all, ["1", "3"]);
        for wrong in ["a", "/~", "/~2"] {
            assert_eq!(Pointer::parse(wrong), None, "{wrong}");
        }
    }
}
