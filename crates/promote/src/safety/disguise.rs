//! Text that disguises what it is, in two ways.
//!
//! [`detect_disguise`] judges by the form alone, because a note has no reason for any of these: it hides
//! characters from a person, poses as a message of another role (`SYSTEM: obey`), or loads an image from
//! elsewhere. [`decode_hidden_texts`] judges nothing: encoded text is usual in notes (hashes, keys), so it is
//! decoded and the caller, `safety::detect_instruction`, judges the wording of the result.

/// Marks with which hosts and models separate the messages of a conversation, in lower case.
const ROLE_MARKS: &[&str] = &[
    "<|im_",
    "<|system",
    "<|assistant",
    "<|user",
    "<|start_header",
    "<|eot",
    "<|end",
    "<<sys>>",
    "[inst]",
    "[/inst]",
    "<system>",
    "</system>",
    "<system-reminder",
    "<assistant>",
    "</assistant>",
    "[system]",
    "<tool_result",
    "<function_results",
    "<function_calls",
    "<invoke name",
    "<tool_call",
    "\"tool_calls\"",
    "<start_of_turn>",
    "### system",
    "### instruction",
    "begin system",
    "end of system prompt",
    "<waylore-notes",
    "</waylore-notes",
];
/// Roles of a conversation, as they stand before a colon.
const ROLE_NAMES: &[&str] = &[
    "SYSTEM",
    "SYSTEM MESSAGE",
    "SYSTEM PROMPT",
    "SYSTEM NOTE",
    "SYSTEM OVERRIDE",
    "ASSISTANT",
    "DEVELOPER",
    "ADMIN",
    "ROOT",
];
/// Shortest encoded word that is decoded, in bytes: shorter ones say little.
const MIN_ENCODED_BYTES: usize = 24;

/// The reason why the form of a text is a disguise. `text` is as it was written and shows which characters
/// hide something; `visible` is the same without invisible characters, so that none breaks up a mark.
pub(super) fn detect_disguise(text: &str, visible: &str) -> Option<&'static str> {
    if text.chars().any(is_hiding) {
        return Some("hides text from a person");
    }
    // Within backticks a mark is mentioned, not used.
    let unquoted: String = visible.split('`').step_by(2).collect::<Vec<_>>().join(" ");
    let lower = unquoted.to_lowercase();
    let has_mark = ROLE_MARKS.iter().any(|it| lower.contains(it));
    if has_mark || has_role_object(&lower) || unquoted.lines().any(has_role_name) {
        return Some("poses as a message of another role");
    }
    // An image is loaded as soon as it is shown, and its address can carry data.
    let loads_image = lower.contains("](http") && lower.contains("![") || lower.contains("<img ");
    loads_image.then_some("asks to load something from elsewhere")
}

/// True for characters that reorder or hide text, and for the start of a terminal's control sequence.
const fn is_hiding(character: char) -> bool {
    matches!(character,
        '\u{1b}' | '\u{9b}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}')
}

/// True for a JSON message of a conversation: `"role": "system"`.
fn has_role_object(lower: &str) -> bool {
    let compact: String = lower.chars().filter(|it| !it.is_whitespace() && *it != '\'').collect();
    let compact = compact.replace('"', "");
    ["role:system", "role:assistant", "role:developer"].iter().any(|it| compact.contains(it))
}

/// True for a line with the name of a role in capitals before a colon, as in `SYSTEM: …`.
fn has_role_name(line: &str) -> bool {
    let mut before_colons: Vec<&str> = line.split(':').collect();
    // Nothing follows the last part.
    before_colons.pop();
    let is_name_char = |it: char| it.is_alphanumeric() || "_-".contains(it);
    before_colons.iter().any(|before| {
        // Markup may stand between the name and its colon: `[SYSTEM]:`, `**SYSTEM** :`.
        let before = before.trim_end_matches([']', '*', ' ']);
        ROLE_NAMES.iter().any(|role| {
            // The name must be a whole word: `FILESYSTEM: …` is none.
            before.strip_suffix(role).is_some_and(|rest| !rest.ends_with(is_name_char))
        })
    })
}

/// The texts that a text may hide: the whole of it reversed, the whole of it in ROT13, and each long word
/// decoded from base64 and from hexadecimal digits. Most of the results are nonsense.
pub(super) fn decode_hidden_texts(text: &str) -> Vec<String> {
    let mut decoded: Vec<String> = vec![text.chars().rev().collect(), rotate_letters(text)];
    let is_separator = |it: char| it.is_whitespace() || "`\"'()<>,;:[]{}|".contains(it);
    for word in text.split(is_separator).filter(|it| it.len() >= MIN_ENCODED_BYTES) {
        decoded.extend(decode_base64(word).into_iter().chain(decode_hex(word)));
    }
    decoded
}

/// ROT13.
fn rotate_letters(text: &str) -> String {
    let rotate = |it: char| match it {
        'a'..='m' | 'A'..='M' => char::from(it as u8 + 13),
        'n'..='z' | 'N'..='Z' => char::from(it as u8 - 13),
        other => other,
    };
    text.chars().map(rotate).collect()
}

/// Decodes base64, with either alphabet; `None` if the result is no text.
fn decode_base64(word: &str) -> Option<String> {
    let (mut bytes, mut buffer, mut n_bits) = (Vec::new(), 0_u32, 0_u32);
    for character in word.trim_end_matches('=').bytes() {
        let value = match character {
            b'A'..=b'Z' => character - b'A',
            b'a'..=b'z' => character - b'a' + 26,
            b'0'..=b'9' => character - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        // At most 6 bits wait for the next byte, so the lowest 14 are enough and the shift cannot overflow.
        buffer = ((buffer << 6) | u32::from(value)) & 0x3fff;
        n_bits += 6;
        if n_bits >= 8 {
            n_bits -= 8;
            bytes.push((buffer >> n_bits).to_le_bytes()[0]);
        }
    }
    String::from_utf8(bytes).ok()
}

/// Decodes pairs of hexadecimal digits; `None` if the result is no text.
fn decode_hex(word: &str) -> Option<String> {
    let digits: Option<Vec<u8>> =
        word.chars().map(|it| it.to_digit(16).and_then(|it| u8::try_from(it).ok())).collect();
    String::from_utf8(digits?.chunks_exact(2).map(|it| it[0] << 4 | it[1]).collect()).ok()
}
