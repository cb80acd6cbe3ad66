//! Nesting depth of a JSON line, computed without parsing it: the JSON parser recurses, so a line
//! that is nested too deep must be rejected before it is parsed.

/// The deepest nesting that is accepted.
pub const MAX_DEPTH: usize = 128;

/// The deepest nesting of arrays and objects. The line need not be valid JSON.
pub(super) fn nesting_depth(line: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let (mut in_string, mut is_escaped) = (false, false);
    for byte in line.bytes() {
        // Brackets inside a string do not count. A string ends at a quote without a backslash.
        if in_string {
            if is_escaped {
                is_escaped = false;
            } else if byte == b'\\' {
                is_escaped = true;
            } else if byte == b'"' {
                in_string = false;
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
    fn only_brackets_outside_of_strings_count() {
        assert_eq!(nesting_depth(r#"{"a":["[[[",{"b\"[":1}],"c":[]}"#), 3);
        assert_eq!(nesting_depth("]]]["), 1);
    }
}
