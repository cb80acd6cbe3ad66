//! Secrets to plant in texts. They are put together at run time, so that no file of ours holds one.

/// The names that stand for secrets in a script, in braces.
pub const PLANTS: &[&str] = &["token", "key", "password"];

/// The secret of that name.
pub fn plant(name: &str) -> String {
    match name {
        "token" => format!("gh{}_{}", 'p', "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"),
        "key" => format!("AK{}{}", "IA", "QYLPMN5HHHFPZ3XK"),
        _ => format!("hun{}Kx9vQ2{}", "ter", "zLw8Rt"),
    }
}

/// A text of a script with the secrets in their places.
pub(crate) fn sow(text: &str) -> String {
    PLANTS.iter().fold(text.to_owned(), |acc, it| acc.replace(&format!("{{{it}}}"), &plant(it)))
}

/// The other way round, so that a leak is seen in an answer without being one.
pub(crate) fn reap(text: &str) -> String {
    PLANTS.iter().fold(text.to_owned(), |acc, it| acc.replace(&plant(it), &format!("{{{it}}}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_plant_is_a_secret_where_it_is_used() {
        for text in ["{token}", "{key}", "password = \"{password}\""] {
            assert!(!secrets::scan(&sow(text)).is_empty(), "{text}");
            assert_eq!(reap(&sow(text)), text);
        }
    }
}
