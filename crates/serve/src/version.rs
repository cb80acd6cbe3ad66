//! Comparison of program versions. A newer daemon replaces an older one, and a hook starts a new
//! daemon if it is newer than the one that answered.

/// True if `one` is newer than `other`; false if they cannot be compared.
pub fn is_newer(one: &str, other: &str) -> bool {
    match (version_numbers(one), version_numbers(other)) {
        // Arrays compare from the first element on: major, minor, patch.
        (Some(one), Some(other)) => one > other,
        (None, _) | (_, None) => false,
    }
}

/// The numbers of `1.2.3`; suffixes (`-beta`, `+build`) are ignored. `None` unless there are three.
fn version_numbers(version: &str) -> Option<[u64; 3]> {
    let without_suffix = version.split(['-', '+']).next()?;
    let numbers: Vec<u64> =
        without_suffix.split('.').map(|it| it.parse().ok()).collect::<Option<_>>()?;
    numbers.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_number_by_number() {
        assert!(is_newer("0.10.0", "0.9.9"));
        assert!(!is_newer("0.1.0", "0.1.0"));
        assert!(!is_newer("0.1.0", "0.2.0"));
    }

    #[test]
    fn suffixes_are_ignored_and_an_invalid_version_is_never_newer() {
        assert!(!is_newer("0.1.0+b", "0.1.0-a"));
        assert!(!is_newer("next", "0.1.0"));
        assert!(!is_newer("1", "0.1.0"));
    }
}
