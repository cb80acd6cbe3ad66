//! Nesting depth of a JSON line, computed without parsing it.

/// The deepest nesting that is accepted.
pub const MAX_DEPTH: usize = 128;

pub(super) fn nesting_depth(line: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut in_string, mut escaped) = (false, false);
    for byte in line.bytes() {
        if in_string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => in_string = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => in_string = true,
            b'[' | b'{' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::nesting_depth;

    #[test]
    fn only_brackets_outside_of_texts_count() {
        assert_eq!(nesting_depth(r#"{"a":["[[[",{"b\"[":1}],"c":[]}"#), 3);
        assert_eq!(nesting_depth("]]]["), 1);
    }
}
