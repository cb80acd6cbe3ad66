//! Licence expressions of crates: `MIT OR Apache-2.0`, `(A OR B) AND C`, and `A/B` from before SPDX.
//!
//! A recursive descent parser that evaluates while it parses. Each function takes its part from the
//! front of the remaining tokens:
//!
//! ```text
//! any_of  = all_of  { "OR" all_of }
//! all_of  = term    { "AND" term }
//! term    = "(" any_of ")"  |  name [ "WITH" name ]
//! ```

/// Returns whether these licences satisfy `expression`; `None` if it is not a valid expression.
pub(super) fn is_met(expression: &str, allowed: &[String]) -> Option<bool> {
    let tokens = split_tokens(expression);
    let mut rest = tokens.as_slice();
    let is_met = eval_any_of(&mut rest, allowed)?;
    rest.is_empty().then_some(is_met)
}

/// `(A/B) AND C` as `(`, `A`, `OR`, `B`, `)`, `AND`, `C`.
fn split_tokens(expression: &str) -> Vec<String> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    spaced.split_whitespace().map(str::to_owned).collect()
}

/// Both sides are always parsed, whatever the first one is: an error on either is an error.
fn eval_any_of(rest: &mut &[String], allowed: &[String]) -> Option<bool> {
    let mut is_met = eval_all_of(rest, allowed)?;
    while take_token(rest, "OR") {
        is_met |= eval_all_of(rest, allowed)?;
    }
    Some(is_met)
}

fn eval_all_of(rest: &mut &[String], allowed: &[String]) -> Option<bool> {
    let mut is_met = eval_term(rest, allowed)?;
    while take_token(rest, "AND") {
        is_met &= eval_term(rest, allowed)?;
    }
    Some(is_met)
}

fn eval_term(rest: &mut &[String], allowed: &[String]) -> Option<bool> {
    if take_token(rest, "(") {
        let is_met = eval_any_of(rest, allowed)?;
        return take_token(rest, ")").then_some(is_met);
    }
    let mut name = take_name(rest)?;
    // An exception belongs to the name: `GPL-2.0 WITH Classpath-exception-2.0` is allowed as a whole.
    if take_token(rest, "WITH") {
        name = format!("{name} WITH {}", take_name(rest)?);
    }
    Some(allowed.contains(&name))
}

/// Takes the next token if it is the wanted one.
fn take_token(rest: &mut &[String], wanted: &str) -> bool {
    let is_next = rest.first().is_some_and(|it| it == wanted);
    if is_next {
        *rest = &rest[1..];
    }
    is_next
}

/// Takes the next token as a name; `None` if it is an operator.
fn take_name(rest: &mut &[String]) -> Option<String> {
    let (first, others) = rest.split_first()?;
    *rest = others;
    let is_operator = matches!(first.as_str(), "AND" | "OR" | "WITH" | "(" | ")");
    if is_operator { None } else { Some(first.clone()) }
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
            // Not valid.
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
