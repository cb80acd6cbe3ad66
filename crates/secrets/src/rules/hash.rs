//! Password hashes: not the password, but enough to attack it offline.

use super::{TokenRule, token};

/// The columns are the arguments of `token` in `rules.rs`. An entropy of 1 only excludes
/// placeholders.
#[rustfmt::skip]
pub(super) const HASH_RULES: &[TokenRule] = &[
    //    kind             keywords                             entropy pattern
    token("bcrypt-hash",   &["$2a$", "$2b$", "$2y$", "$2x$"],    3000,  r"\$2[abxy]\$[0-9]{2}\$[./A-Za-z0-9]{53}", "bcrypt password hash"),
    token("crypt-hash",    &["$1$", "$5$", "$6$", "$apr1$", "$y$"], 3000, r"\$(?:1|5|6|apr1|y)\$(?:rounds=[0-9]{1,9}\$|j[0-9A-Za-z]{2}\$)?[./A-Za-z0-9]{2,32}\$[./A-Za-z0-9]{22,86}", "crypt password hash"),
    token("argon2-hash",   &["$argon2"],                         3000,  r"\$argon2(?:id|i|d)\$v=[0-9]{1,3}\$[a-z0-9=,]{5,40}\$[A-Za-z0-9+/]{8,64}\$[A-Za-z0-9+/]{16,128}", "Argon2 password hash"),
    token("kerberos-hash", &["$krb5asrep$", "$krb5tgs$", "$krb5pa$"], 2500, r"\$krb5(?:asrep|tgs|pa)\$[0-9]{1,2}\$[^\s$]{1,200}(?:\$[^\s$]{1,200}){0,3}\$[0-9a-fA-F]{32,4000}", "Kerberos ticket hash"),
    token("pbkdf2-hash",   &["pbkdf2_sha"],                      3000,  r"pbkdf2_sha(?:1|256|512)\$[0-9]{4,8}\$[A-Za-z0-9]{6,64}\$[A-Za-z0-9+/]{27,100}={0,2}", "Django password hash"),
];
