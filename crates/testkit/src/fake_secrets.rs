//! Fake secrets for test texts. They are assembled at run time, so that no source file contains one.

/// Names of the secrets; a script writes them in braces.
pub const SECRET_NAMES: &[&str] = &["token", "key", "password"];

/// Returns the secret of that name.
pub fn fake_secret(name: &str) -> String {
    match name {
        "token" => format!("gh{}_{}", 'p', "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"),
        "key" => format!("AK{}{}", "IA", "QYLPMN5HHHFPZ3XK"),
        _ => format!("hun{}Kx9vQ2{}", "ter", "zLw8Rt"),
    }
}

/// Replaces the names in braces by the secrets.
pub(crate) fn insert_secrets(text: &str) -> String {
    SECRET_NAMES
        .iter()
        .fold(text.to_owned(), |acc, it| acc.replace(&format!("{{{it}}}"), &fake_secret(it)))
}

/// Replaces secrets by their names, so that a leak is visible in the output without containing it.
pub(crate) fn mask_secrets(text: &str) -> String {
    SECRET_NAMES
        .iter()
        .fold(text.to_owned(), |acc, it| acc.replace(&fake_secret(it), &format!("{{{it}}}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fake_secret_is_detected() {
        for text in ["{token}", "{key}", "password = \"{password}\""] {
            assert!(!secrets::scan(&insert_secrets(text)).is_empty(), "{text}");
            assert_eq!(mask_secrets(&insert_secrets(text)), text);
        }
    }
}
