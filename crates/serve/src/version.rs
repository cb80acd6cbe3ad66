//! Comparison of program versions.

/// True if `one` is newer than `other`; false if they cannot be compared.
pub fn is_newer(one: &str, other: &str) -> bool {
    matches!((version_numbers(one), version_numbers(other)), (Some(one), Some(other)) if one > other)
}

/// The numbers of `1.2.3`; suffixes (`-beta`, `+build`) are ignored.
fn version_numbers(version: &str) -> Option<[u64; 3]> {
    let bare = version.split(['-', '+']).next()?;
    let numbers: Vec<u64> = bare.split('.').map(|it| it.parse().ok()).collect::<Option<_>>()?;
    numbers.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_as_numbers() {
        assert!(is_newer("0.10.0", "0.9.9"));
        assert!(!is_newer("0.1.0", "0.1.0") && !is_newer("0.1.0", "0.2.0"));
        assert!(
            !is_newer("0.1.0+b", "0.1.0-a")
                && !is_newer("next", "0.1.0")
                && !is_newer("1", "0.1.0")
        );
    }
}
