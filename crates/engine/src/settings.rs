//! Settings: the table of all keys with their defaults, forms and meanings. `waylore config` prints
//! it; the command line merges the values from the configuration file, the project and the
//! environment. A key that is not in the table is an error.

use infer::ProviderEndpoint;

/// Places where a setting can be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingScope {
    /// Only for the user, in the configuration file.
    User,
    /// For the user or for one project.
    Any,
}

/// The values that a setting accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingForm {
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// An integer of at least 1.
    Number,
    /// The address of a server. An address with a password is refused, because settings are stored
    /// in plain text.
    Address,
    /// Any text without blanks.
    Word,
    /// Words without blanks, separated by commas.
    Words,
}

/// One setting.
#[derive(Clone, Copy, Debug)]
pub struct SettingSpec {
    pub key: &'static str,
    /// Accepted whatever the form. Empty means not set.
    pub default: &'static str,
    pub form: SettingForm,
    pub scope: SettingScope,
    pub meaning: &'static str,
}

const YES_OR_NO: SettingForm = SettingForm::OneOf(&["true", "false"]);
const LEVELS: SettingForm =
    SettingForm::OneOf(&["cautious", "standard", "confident", "autonomous"]);
const KEY_PLACES: SettingForm = SettingForm::OneOf(&["none", "keychain", "file", "passphrase"]);
const VECTORS: SettingForm =
    SettingForm::OneOf(&["built-in", "ollama", "openai", "compatible", "voyage"]);
const RERANKERS: SettingForm =
    SettingForm::OneOf(&["none", "cohere", "tei", "compatible", "ollama"]);
const ASKED_MODELS: SettingForm =
    SettingForm::OneOf(&["off", "provider", "claude", "codex", "gemini", "copilot", "opencode"]);
const WRITERS: SettingForm =
    SettingForm::OneOf(&["none", "ollama", "openai", "compatible", "anthropic"]);

/// All settings, in the order in which `config` prints them. A setting that decides where texts are
/// sent or whose text is trusted has the scope `User`, so that a cloned project cannot redirect the
/// user's memories or vouch for its own server.
#[rustfmt::skip]
pub const SETTINGS: &[SettingSpec] = &[
    //      key                           default     form                                             scope               meaning
    setting("memory.enabled",             "true",     YES_OR_NO,                                       SettingScope::Any,  "whether memory is on in this project"),
    setting("remember.on_secret",         "refuse",   SettingForm::OneOf(&["refuse", "redact"]),       SettingScope::Any,  "refuse a text that holds a secret, or redact the secret"),
    setting("remember.on_duplicate",      "resolve",  SettingForm::OneOf(&["resolve", "keep"]),        SettingScope::Any,  "merge a repeated statement and supersede a contradicted one, or keep both"),
    setting("trust.level",                "standard", LEVELS,                                          SettingScope::Any,  "how much is injected without being asked for; see the trust levels"),
    setting("trust.mcp_servers",          "",         SettingForm::Words,                              SettingScope::User, "MCP servers whose results are trusted like the project's own text, by name: `github,docs`; what an agent learns after any other is held for review"),
    setting("trial.enabled",              "false",    YES_OR_NO,                                       SettingScope::Any,  "run a trial: one session in 20 gets no notes, one in 10 only at its start; `stats` compares"),
    setting("list.limit",                 "20",       SettingForm::Number,                             SettingScope::Any,  "number of memories in a list"),
    setting("backup.every_days",          "1",        SettingForm::Number,                             SettingScope::Any,  "largest age of the newest backup before `maintain` makes another"),
    setting("encryption.key",             "none",     KEY_PLACES,                                      SettingScope::User, "source of the encryption key"),
    setting("embeddings.provider",        "built-in", VECTORS,                                         SettingScope::User, "provider of the vectors for search by meaning; all but `built-in` are sent every memory and query"),
    setting("embeddings.at_once",         "true",     YES_OR_NO,                                       SettingScope::User, "whether a command computes the vectors of what it wrote; otherwise the next search does"),
    setting("embeddings.url",             "",         SettingForm::Address,                            SettingScope::User, "address of that provider; unset, its usual one"),
    setting("embeddings.model",           "",         SettingForm::Word,                               SettingScope::User, "model of that provider; unset, its recommended one if there is one"),
    setting("embeddings.dimensions",      "",         SettingForm::Number,                             SettingScope::User, "dimensions of its vectors; unset, those of the model"),
    setting("rerank.provider",            "none",     RERANKERS,                                       SettingScope::User, "provider that reranks the best hits of a search; is sent the query and those hits"),
    setting("rerank.url",                 "",         SettingForm::Address,                            SettingScope::User, "address of that provider; unset, its usual one"),
    setting("rerank.model",               "",         SettingForm::Word,                               SettingScope::User, "model of that provider"),
    setting("text.provider",              "none",     WRITERS,                                         SettingScope::User, "provider that writes text when a search finds little or an answer is wanted; is sent the query and the hits"),
    setting("text.url",                   "",         SettingForm::Address,                            SettingScope::User, "address of that provider; unset, its usual one"),
    setting("text.model",                 "",         SettingForm::Word,                               SettingScope::User, "model of that provider"),
    setting("learn.ask_model",            "false",    YES_OR_NO,                                       SettingScope::User, "whether `learn` lets the text provider reword what it learned and study modules; is sent the findings, at most one request per session"),
    setting("learn.model",                "off",      ASKED_MODELS,                                    SettingScope::User, "the model that `learn --ask` asks what a session taught, once per session: the text provider, or an agent program run without tools; is sent a dossier of the session, about 5000 tokens"),
    setting("learn.model_name",           "",         SettingForm::Word,                               SettingScope::User, "model of that agent program; unset, a small one"),
    setting("learn.daily_calls",          "20",       SettingForm::Number,                             SettingScope::User, "most of these calls in one day and project"),
    setting("learn.daily_tokens",         "200000",   SettingForm::Number,                             SettingScope::User, "most tokens of these calls in one day and project"),
    setting("serve.start",                "true",     YES_OR_NO,                                       SettingScope::User, "whether hooks, commands and MCP servers start the daemon if none runs"),
    setting("serve.idle_minutes",         "30",       SettingForm::Number,                             SettingScope::User, "minutes without a request after which the daemon ends"),
    setting("providers.allow_plain_http", "false",    YES_OR_NO,                                       SettingScope::User, "whether texts and keys may be sent unencrypted to another machine"),
];

const fn setting(
    key: &'static str,
    default: &'static str,
    form: SettingForm,
    scope: SettingScope,
    meaning: &'static str,
) -> SettingSpec {
    SettingSpec { key, default, form, scope, meaning }
}

/// Longest word, in bytes. No model has a longer name.
const MAX_WORD_BYTES: usize = 200;

impl SettingForm {
    /// The values that are accepted, for people: `true or false`.
    pub fn describe_values(self) -> String {
        match self {
            Self::OneOf(choices) => choices.join(" | "),
            Self::Number => "a number from 1 on".to_owned(),
            Self::Address => "an address".to_owned(),
            Self::Word => "a name".to_owned(),
            Self::Words => "names, separated by commas".to_owned(),
        }
    }

    /// Describes the problem of a value; `None` if it is valid.
    fn find_problem(self, key: &str, value: &str) -> Option<String> {
        let (fits, wanted) = match self {
            Self::OneOf(choices) => (choices.contains(&value), choices.join(" or ")),
            Self::Number => {
                (value.parse::<u32>().is_ok_and(|it| it > 0), "a whole number from 1 on".to_owned())
            }
            // Has its own message: it must not repeat the value, which may contain a password.
            Self::Address => {
                // Plain HTTP passes here; `providers.allow_plain_http` decides when it is used.
                let url = value.to_owned();
                let endpoint = ProviderEndpoint { url, key: None, allow_plain_http: true };
                return endpoint.check().err().map(|it| format!("`{key}`: {it}"));
            }
            Self::Word => (is_word(value), "a name without blanks".to_owned()),
            Self::Words => (
                value.split(',').all(is_word),
                "names without blanks, separated by commas".to_owned(),
            ),
        };
        (!fits).then(|| format!("`{key}` takes {wanted}, not `{value}`"))
    }
}

fn is_word(value: &str) -> bool {
    let is_blank = |it: char| it.is_whitespace() || it.is_control();
    !value.is_empty() && value.len() <= MAX_WORD_BYTES && !value.contains(is_blank)
}

/// Checks a value. The error names the valid values.
pub fn check_setting(key: &str, value: &str) -> Result<&'static SettingSpec, String> {
    let Some(setting) = SETTINGS.iter().find(|it| it.key == key) else {
        let keys: Vec<&str> = SETTINGS.iter().map(|it| it.key).collect();
        let word = model::UnknownWord { what: "setting", given: key.to_owned(), known: keys };
        return Err(word.to_string());
    };
    // An empty default does not have the form, but it must be possible to set it again.
    if value == setting.default {
        return Ok(setting);
    }
    setting.form.find_problem(key, value).map_or(Ok(setting), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `check_setting` accepts a default without checking its form.
    #[test]
    fn every_default_has_its_form_or_is_empty() {
        for it in SETTINGS {
            let problem = it.form.find_problem(it.key, it.default);
            assert!(it.default.is_empty() || problem.is_none(), "{problem:?}");
        }
    }

    #[test]
    fn an_error_names_the_valid_values() {
        assert_eq!(
            check_setting("list.limits", "3").unwrap_err(),
            "unknown setting `list.limits` (did you mean `list.limit`?)"
        );
        assert_eq!(
            check_setting("list.limit", "many").unwrap_err(),
            "`list.limit` takes a whole number from 1 on, not `many`"
        );
        assert!(check_setting("list.limit", "0").is_err(), "a list of nothing");
        assert_eq!(
            check_setting("memory.enabled", "no").unwrap_err(),
            "`memory.enabled` takes true or false, not `no`"
        );
        assert!(check_setting("embeddings.model", "two words").is_err());
        assert!(check_setting("trust.mcp_servers", "github,docs").is_ok());
        assert!(check_setting("trust.mcp_servers", "github, docs").is_err());
        assert!(check_setting("trust.mcp_servers", "github,,docs").is_err());
        assert!(check_setting("embeddings.url", "gpu.lan").is_err(), "no scheme");
        assert!(check_setting("embeddings.url", "http://gpu.lan:8080/v1").is_ok());
    }

    #[test]
    fn an_address_with_a_password_is_refused_and_not_repeated() {
        for url in ["https://me:hunter2@host", "https://host/?key=hunter2"] {
            assert!(!check_setting("text.url", url).unwrap_err().contains("hunter2"));
        }
    }

    /// A cloned project must not redirect the user's memories to its author.
    #[test]
    fn settings_that_send_texts_belong_to_the_user() {
        let prefixes = ["embeddings.", "rerank.", "text.", "providers.", "trust.mcp_servers"];
        let sends_texts =
            |it: &&SettingSpec| prefixes.iter().any(|prefix| it.key.starts_with(prefix));
        for setting in SETTINGS.iter().filter(sends_texts) {
            assert_eq!(setting.scope, SettingScope::User, "{}", setting.key);
        }
    }

    /// The provider names are those of the APIs.
    #[test]
    fn every_provider_can_be_chosen() {
        let choices = |key: &str| match SETTINGS.iter().find(|it| it.key == key).unwrap().form {
            // The first choice is `none` or `built-in`, which is no provider.
            SettingForm::OneOf(choices) => choices[1..].to_vec(),
            other => panic!("`{key}` has the form {other:?}"),
        };
        let sorted = |mut names: Vec<&'static str>| {
            names.sort_unstable();
            names
        };
        for (key, all) in [
            ("embeddings.provider", infer::EmbeddingApi::ALL.iter().map(|it| it.slug()).collect()),
            ("rerank.provider", infer::RerankApi::ALL.iter().map(|it| it.slug()).collect()),
            ("text.provider", infer::TextApi::ALL.iter().map(|it| it.slug()).collect()),
        ] {
            assert_eq!(sorted(choices(key)), sorted(all), "{key}");
        }
    }
}
