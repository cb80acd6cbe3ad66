//! Secrets recognised by their structure: key blocks, web tokens, URLs.
//!
//! `check` expands holes such as `{A64}` to fixed noise of that length and drops `|` (see
//! `notation`), redacts the text and compares.

use expect_test::expect;

use crate::notation::check;

#[test]
fn a_private_key_block_is_redacted_as_a_whole() {
    check(
        "a\n-----BE|GIN RSA PRIVATE KEY-----\n{A64}\n{A64}\n-----END RSA PRIVATE KEY-----\nb",
        expect![[r#"
            a
            [REDACTED: private-key-block]
            b"#]],
    );
    check(
        r"key: -----BE|GIN PRIVATE KEY-----\n{A64}\n-----END PRIVATE KEY-----\n",
        expect![[r#"key: [REDACTED: private-key-block]\n"#]],
    );
}

#[test]
fn a_truncated_private_key_is_redacted_as_far_as_it_goes() {
    check(
        "-----BE|GIN EC PRIVATE KEY-----\n{A64}\n{A30}",
        expect!["[REDACTED: private-key-block]"],
    );
    check(
        "-----BE|GIN OPENSSH PRIVATE KEY-----\n{A64}\n{A30}\n[truncated]",
        expect![[r#"
            [REDACTED: private-key-block]
            [truncated]"#]],
    );
}

#[test]
fn a_mention_of_a_key_header_stays() {
    check(
        r#"if text.contains("-----BE|GIN RSA PRIVATE KEY-----") {"#,
        expect![[r#"if text.contains("-----BEGIN RSA PRIVATE KEY-----") {"#]],
    );
    check(
        "-----BE|GIN PUBLIC KEY-----\n{A64}\n-----END PUBLIC KEY-----",
        expect![[r#"
        -----BEGIN PUBLIC KEY-----
        XGLQsbj8TQ0Ik8emXsk7GUVunelTBedKjSbc0Cjawr3ZSUNsydj8utdXCDmGyRyd
        -----END PUBLIC KEY-----"#]],
    );
    check(
        "-----BE|GIN CERTIFICATE-----\n{A64}\n-----END CERTIFICATE-----",
        expect![[r#"
        -----BEGIN CERTIFICATE-----
        XGLQsbj8TQ0Ik8emXsk7GUVunelTBedKjSbc0Cjawr3ZSUNsydj8utdXCDmGyRyd
        -----END CERTIFICATE-----"#]],
    );
}

#[test]
fn a_key_block_in_base64_is_a_key_block() {
    check(
        "key: LS|0tLS1CRUdJTiBSU0EgUFJJVkFURSBLRVktLS0tLQp{A80}==",
        expect!["key: [REDACTED: private-key-block]"],
    );
}

#[test]
fn the_private_lines_of_a_putty_file_go() {
    check(
        "Public-Lines: 1\n{A64}\nPrivate-Lines: 2\n{A64}\n{A32}\nPrivate-MAC: 12\n",
        expect![[r#"
            Public-Lines: 1
            XGLQsbj8TQ0Ik8emXsk7GUVunelTBedKjSbc0Cjawr3ZSUNsydj8utdXCDmGyRyd
            Private-Lines: 2
            [REDACTED: private-key-block]
            Private-MAC: 12
        "#]],
    );
}

#[test]
fn a_web_token_goes_with_and_without_signature() {
    check(
        "see ey|JhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.{A43} ok",
        expect!["see [REDACTED: jwt] ok"],
    );
    check(
        "see ey|JhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0 ok",
        expect!["see [REDACTED: jwt] ok"],
    );
}

#[test]
fn what_only_looks_like_a_web_token_stays() {
    check("ey|JhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9", expect!["eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9"]);
    check("ey|JBB.eyJCC.eyJDDDD", expect!["eyJBB.eyJCC.eyJDDDD"]);
    check(
        "ey|JhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ.eyJzdWIiOiIxMjM0NTY3ODkwIn0",
        expect!["eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ.eyJzdWIiOiIxMjM0NTY3ODkwIn0"],
    );
}

#[test]
fn a_bot_token_of_three_parts_goes() {
    check("MT|k4NjIyNDgzNDcxOTI1MjQ4.Cl2F|MQ.{A27}", expect!["[REDACTED: discord-token]"]);
    check(
        "com.example.module.Class.method1.call",
        expect!["com.example.module.Class.method1.call"],
    );
}

#[test]
fn only_the_password_of_a_url_goes() {
    check(
        "postgres://ada:{A8}@db.example.org:5432/shop",
        expect!["postgres://ada:[REDACTED: url-password]@db.example.org:5432/shop"],
    );
    check(
        "redis://:{A8}@cache.example.org",
        expect!["redis://:[REDACTED: url-password]@cache.example.org"],
    );
    check(
        "amqp://ada:p@ss{A4}@mq.example.org/",
        expect!["amqp://ada:[REDACTED: url-password]@mq.example.org/"],
    );
    check(
        "このhttps://ada:{A8}@example.comは",
        expect!["このhttps://ada:[REDACTED: url-password]@example.comは"],
    );
}

#[test]
fn urls_without_a_password_of_their_own_stay() {
    for it in [
        "https://example.org:8080/a@b",
        "https://ada@example.org/",
        "https://${USER}:${PASS}@example.org",
        "https://ada:<password>@example.org",
        "https://ada:****@example.org",
        "postgres://postgres:postgres@localhost:5432/app",
        "postgres://$(PGUSER):$(PGPASSWORD)@$(PGHOST)/app",
    ] {
        assert_eq!(waylore_secrets::scan(it), [], "{it}");
    }
}

#[test]
fn tokens_with_segments_of_any_usual_length_go() {
    check("xo|xs-{d10}-{d10}-{d10}-{h10}", expect!["[REDACTED: slack-token]"]);
    check("xo|xb-{d11}-{d13}u", expect!["[REDACTED: slack-bot-token]"]);
    check(
        "https://hooks.sl|ack.com/services/T{U6}/B{U6}/{A16}",
        expect!["https://hooks.slack.com/services/[REDACTED: slack-webhook]"],
    );
    check(
        "gh|s_1234567_eyJ|hbGciOiJIUzI1NiJ9.eyJ|zdWIiOiIxMjM0NTY3ODkwIn0.{A43}",
        expect!["[REDACTED: github-token]"],
    );
}
