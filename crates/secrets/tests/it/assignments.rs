//! Secrets that only the name beside them reveals, such as the value of `DB_PASSWORD=…`.
//!
//! `check` expands holes such as `{A12}` (12 letters and digits of fixed noise, see `notation`),
//! redacts the text and compares.

use expect_test::expect;

use crate::notation::check;

#[test]
fn assignments_of_configuration_and_code() {
    check(
        "DB_PASSWORD={A12}\nDEBUG=1",
        expect![[r#"
        DB_PASSWORD=[REDACTED: password]
        DEBUG=1"#]],
    );
    check(
        r#"{"client_secret": "{A24}", "id": 7}"#,
        expect![[r#"{"client_secret": "[REDACTED: secret]", "id": 7}"#]],
    );
    check(
        "api:\n  api_key: {h32}\n",
        expect![[r#"
        api:
          api_key: [REDACTED: api-key]
    "#]],
    );
    check("const token = '{A24}';", expect!["const token = '[REDACTED: token]';"]);
    check(r#"secret_key := "{A24}""#, expect![[r#"secret_key := "[REDACTED: secret]""#]]);
    check("password = Sommer2024!", expect!["password = [REDACTED: password]"]);
    check("AUTH_PASS=whiteduke # note", expect!["AUTH_PASS=[REDACTED: password] # note"]);
}

#[test]
fn headers_and_flags() {
    check(
        r#"curl -H "Authorization: Bearer {A30}" https://example.org"#,
        expect![[
            r#"curl -H "Authorization: Bearer [REDACTED: authorization]" https://example.org"#
        ]],
    );
    check(
        "Authorization: Basic YWRhOmxvdmVsYWNlMTIz",
        expect!["Authorization: Basic [REDACTED: authorization]"],
    );
    check("X-Api-Key: {h32}", expect!["X-Api-Key: [REDACTED: api-key]"]);
    check(
        "deploy --password {A10} --verbose",
        expect!["deploy --password [REDACTED: password] --verbose"],
    );
    check(
        "GET /v1/me?access_token={A32}&page=2",
        expect!["GET /v1/me?access_token=[REDACTED: token]&page=2"],
    );
}

#[test]
fn connection_strings_and_markup() {
    check(
        "Server=db;User Id=ada;Password=open1sesame;Timeout=3",
        expect!["Server=db;User Id=ada;Password=[REDACTED: password];Timeout=3"],
    );
    check("<password>{A10}</password>", expect!["<password>[REDACTED: password]</password>"]);
    check(
        r#"<add key="MailPassword" value="{A10}"/>"#,
        expect![[r#"<add key="MailPassword" value="[REDACTED: password]"/>"#]],
    );
    check("The password is 'Secret{d3}'.", expect!["The password is '[REDACTED: password]'."]);
}

#[test]
fn values_beside_the_name_of_a_service() {
    check("wandb {h40}", expect!["wandb [REDACTED: service-key]"]);
    check("pusher-secret-{h8}-{h4}-{h4}-{h4}-{h12}", expect!["pusher-secret-[REDACTED: secret]"]);
    // `okta` is a service, but not inside of another word.
    check("rookTable = {A42}", expect!["rookTable = XGLQsbj8TQ0Ik8emXsk7GUVunelTBedKjSbc0Cjawr"]);
}

#[test]
fn notes_tables_and_elements() {
    check("mail token - '{A24}'", expect!["mail token - '[REDACTED: token]'"]);
    check("| apiKey | {h40} |", expect![" apiKey  [REDACTED: api-key] "]);
    check("token = ' {A43} '", expect!["token = ' [REDACTED: token] '"]);
    check("<secret>{mail {A40}}</secret>", expect!["<secret>{mail [REDACTED: secret]}</secret>"]);
    // Half of a login, although its name ends like an identifier.
    check("secret_id: {h32}", expect!["secret_id: [REDACTED: secret]"]);
}
