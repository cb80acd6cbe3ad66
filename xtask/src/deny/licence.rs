//! Licence expressions of crates: `MIT OR Apache-2.0`, `(A OR B) AND C`, and `A/B` from before SPDX.

/// Returns whether these licences satisfy `expression`; `None` if it is not a valid expression.
pub(super) fn is_met(expression: &str, allowed: &[String]) -> Option<bool> {
    let tokens = tokens(expression);
    let mut rest = tokens.as_slice();
    let res = either(&mut rest, allowed)?;
    rest.is_empty().then_some(res)
}

fn tokens(expression: &str) -> Vec<String> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    spaced.split_whitespace().map(str::to_owned).collect()
}

/// `OR` binds weaker than `AND`. Both sides are always read: an error on either is an error.
fn either(rest: &mut &[String], allowed: &[String]) -> Option<bool> {
    let mut res = both(rest, allowed)?;
    while take(rest, "OR") {
        res |= both(rest, allowed)?;
    }
    Some(res)
}

fn both(rest: &mut &[String], allowed: &[String]) -> Option<bool> {
    let mut res = one(rest, allowed)?;
    while take(rest, "AND") {
        res &= one(rest, allowed)?;
    }
    Some(res)
}

fn one(rest: &mut &[String], allowed: &[String]) -> Option<bool> {
    if take(rest, "(") {
        let res = either(rest, allowed)?;
        return take(rest, ")").then_some(res);
    }
    let mut name = word(rest)?;
    if take(rest, "WITH") {
        name = format!("{name} WITH {}", word(rest)?);
    }
    Some(allowed.contains(&name))
}

fn take(rest: &mut &[String], wanted: &str) -> bool {
    let found = rest.first().is_some_and(|it| it == wanted);
    if found {
        *rest = &rest[1..];
    }
    found
}

fn word(rest: &mut &[String]) -> Option<String> {
    let (first, others) = rest.split_first()?;
    *rest = others;
    let plain = !matches!(first.as_str(), "AND" | "OR" | "WITH" | "(" | ")");
    plain.then(|| first.clone())
}

#[cfg(test)]
mod tests {
    use super::is_met;

    #[test]
    fn an_expression_is_met_by_what_is_allowed() {
        let allowed = ["MIT".to_owned(), "Unicode-3.0".to_owned(), "A WITH B".to_owned()];
        for (expression, expected) in [
            ("MIT", Some(true)),
            ("GPL-3.0", Some(false)),
            ("MIT OR GPL-3.0", Some(true)),
            ("GPL-3.0/MIT", Some(true)),
            ("MIT AND GPL-3.0", Some(false)),
            ("(MIT OR Apache-2.0) AND Unicode-3.0", Some(true)),
            ("GPL-3.0 AND GPL-3.0 OR MIT", Some(true)),
            ("GPL-3.0 AND (GPL-3.0 OR MIT)", Some(false)),
            ("A WITH B", Some(true)),
            ("A", Some(false)),
            ("", None),
            ("MIT OR", None),
            ("(MIT", None),
            ("MIT MIT", None),
            ("MIT OR )", None),
        ] {
            assert_eq!(is_met(expression, &allowed), expected, "{expression}");
        }
    }
}
