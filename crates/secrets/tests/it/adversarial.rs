//! Adversarial input of one megabyte: these tests would not end if a finder looked back or ahead
//! without a limit. The evaluation measures times.

use crate::notation::expand;

const MEGABYTE: usize = 1 << 20;

#[test]
fn a_megabyte_of_any_unit_is_redacted_completely() {
    let units = [
        "A",
        "=",
        "\"",
        "'",
        ":",
        "://",
        "@",
        "key=",
        "key-",
        "key=a1B2",
        "password=",
        "\"password\":\"",
        "token ",
        "eyJ",
        "eyJ.",
        "-----BEGIN PRIVATE KEY-----",
        "LS0tLS1CRUdJTi",
        "Private-Lines: ",
        "a1B2c3D4e5",
        "curl ",
        "machine a login b ",
        "T3BlbkFJ",
        "AZDO",
        ".atlasv1.",
        "sk-",
        ".abcdef.",
        "[REDACTED: ",
        "[REDACTED: jwt]",
        "\\",
        "<password>",
        "secret-a1b2c3d4e5f6",
    ];
    for unit in units {
        let text = unit.repeat(MEGABYTE / unit.len());
        let redacted = waylore_secrets::redact(&text).text;
        assert_eq!(waylore_secrets::scan(&redacted), [], "{unit}");
    }
}

#[test]
fn a_hundred_thousand_secrets_are_found_one_by_one() {
    let text = expand("AK|IA{U16}\n").repeat(100_000);
    assert_eq!(waylore_secrets::scan(&text).len(), 100_000);
}
