//! The settings there are: a table, so that a typo is an error and `config` can explain each.

use infer::Endpoint;

/// Where a setting may be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingScope {
    /// Only for the person, in the configuration file.
    User,
    /// For the person, or for one project.
    Any,
}

/// What a value looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A whole number from 1 on.
    Number,
    /// The address of a server. Not `Word`: a password in it is refused, for settings are no place for one.
    Address,
    /// Anything without blanks.
    Word,
}

/// One setting.
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    pub key: &'static str,
    /// Always allowed, whatever the form; empty means not set.
    pub default: &'static str,
    pub form: Form,
    pub scope: SettingScope,
    pub meaning: &'static str,
}

const YES_OR_NO: Form = Form::OneOf(&["true", "false"]);
const LEVELS: Form = Form::OneOf(&["cautious", "standard", "confident", "autonomous"]);
const KEY_PLACES: Form = Form::OneOf(&["none", "keychain", "file", "passphrase"]);
const VECTORS: Form = Form::OneOf(&["built-in", "ollama", "openai", "compatible", "voyage"]);
const RERANKERS: Form = Form::OneOf(&["none", "cohere", "tei", "compatible", "ollama"]);
const WRITERS: Form = Form::OneOf(&["none", "ollama", "openai", "compatible", "anthropic"]);

/// In the order `config` shows them. Whatever sends a text elsewhere is the person's to set: a
/// project may come from a stranger.
#[rustfmt::skip]
pub const SETTINGS: &[Setting] = &[
    //      key                           default     form                               scope               meaning
    setting("memory.enabled",             "true",     YES_OR_NO,                         SettingScope::Any,  "whether anything is remembered in this project"),
    setting("remember.on_secret",         "refuse",   Form::OneOf(&["refuse", "redact"]), SettingScope::Any,  "what happens to a text that holds a secret"),
    setting("remember.on_duplicate",      "resolve",  Form::OneOf(&["resolve", "keep"]), SettingScope::Any,  "whether the same is merged and a contradiction supersedes"),
    setting("trust.level",                "standard", LEVELS,                            SettingScope::Any,  "how far memory may speak unasked; see the trust levels"),
    setting("trial.enabled",              "false",    YES_OR_NO,                         SettingScope::Any,  "whether memory is on trial: one session in 20 is told nothing, one in 10 only when it begins; `stats` compares"),
    setting("list.limit",                 "20",       Form::Number,                      SettingScope::Any,  "how many memories a list shows"),
    setting("backup.every_days",          "1",        Form::Number,                      SettingScope::Any,  "how old the newest backup may be before `maintain` makes another"),
    setting("encryption.key",             "none",     KEY_PLACES,                        SettingScope::User, "where the key of encrypted data comes from"),
    setting("embeddings.provider",        "built-in", VECTORS,                           SettingScope::User, "who makes the vectors that recall by meaning needs; all but `built-in` are sent every memory and question"),
    setting("embeddings.at_once",         "true",     YES_OR_NO,                              SettingScope::User, "whether a command makes the vectors of what it wrote; otherwise the next search does"),
    setting("embeddings.url",             "",         Form::Address,                     SettingScope::User, "where that provider is; unset, its usual address"),
    setting("embeddings.model",           "",         Form::Word,                        SettingScope::User, "which of its models; unset, a good one where there is one"),
    setting("embeddings.dimensions",      "",         Form::Number,                      SettingScope::User, "how long its vectors are; unset, as the model has them"),
    setting("rerank.provider",            "none",     RERANKERS,                         SettingScope::User, "who reads the best hits of a search again; is sent the question and those hits"),
    setting("rerank.url",                 "",         Form::Address,                     SettingScope::User, "where that provider is; unset, its usual address"),
    setting("rerank.model",               "",         Form::Word,                        SettingScope::User, "which of its models"),
    setting("text.provider",              "none",     WRITERS,                           SettingScope::User, "who writes where a search finds little or prose is wanted; is sent the question and what was found"),
    setting("text.url",                   "",         Form::Address,                     SettingScope::User, "where that provider is; unset, its usual address"),
    setting("text.model",                 "",         Form::Word,                        SettingScope::User, "which of its models"),
    setting("learn.ask_model",            "false",    YES_OR_NO,                         SettingScope::User, "whether `learn` lets the text provider word what it learned and look at modules; is sent what was seen, one question a session at most"),
    setting("serve.start",                "true",     YES_OR_NO,                         SettingScope::User, "whether a hook starts the daemon when there is none"),
    setting("serve.idle_minutes",         "30",       Form::Number,                      SettingScope::User, "after how long without a word the daemon ends"),
    setting("providers.allow_plain_http", "false",    YES_OR_NO,                         SettingScope::User, "whether texts and keys may travel unencrypted to another machine"),
];

const fn setting(
    key: &'static str,
    default: &'static str,
    form: Form,
    scope: SettingScope,
    meaning: &'static str,
) -> Setting {
    Setting { key, default, form, scope, meaning }
}

/// Longer than any name of a model.
const WORD: usize = 200;

impl Form {
    /// What is wrong with a value, if anything is.
    fn problem(self, key: &str, value: &str) -> Option<String> {
        let (fits, wanted) = match self {
            Self::OneOf(choices) => (choices.contains(&value), choices.join(" or ")),
            Self::Number => {
                (value.parse::<u32>().is_ok_and(|it| it > 0), "a whole number from 1 on".to_owned())
            }
            // The error of an address repeats nothing that may be a password.
            Self::Address => {
                let url = value.to_owned();
                let endpoint = Endpoint { url, key: None, allow_plain_http: true };
                return endpoint.check().err().map(|it| format!("`{key}`: {it}"));
            }
            Self::Word => {
                let blank = |it: char| it.is_whitespace() || it.is_control();
                let fits = !value.is_empty() && value.len() <= WORD && !value.contains(blank);
                (fits, "a name without blanks".to_owned())
            }
        };
        (!fits).then(|| format!("`{key}` takes {wanted}, not `{value}`"))
    }
}

/// Checks a value; the error says what would be right.
pub fn check_setting(key: &str, value: &str) -> Result<&'static Setting, String> {
    let Some(setting) = SETTINGS.iter().find(|it| it.key == key) else {
        let keys: Vec<&str> = SETTINGS.iter().map(|it| it.key).collect();
        let word = model::UnknownWord { what: "setting", given: key.to_owned(), known: keys };
        return Err(word.to_string());
    };
    if value == setting.default {
        return Ok(setting);
    }
    setting.form.problem(key, value).map_or(Ok(setting), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A default counts without being checked, so it must be checked here.
    #[test]
    fn every_default_is_of_its_form_or_nothing() {
        for it in SETTINGS {
            let problem = it.form.problem(it.key, it.default);
            assert!(it.default.is_empty() || problem.is_none(), "{problem:?}");
        }
    }

    #[test]
    fn a_slip_is_answered_with_what_would_be_right() {
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
        assert!(check_setting("embeddings.url", "gpu.lan").is_err(), "no scheme");
        assert!(check_setting("embeddings.url", "http://gpu.lan:8080/v1").is_ok());
    }

    #[test]
    fn an_address_with_a_password_is_refused_and_not_repeated() {
        for url in ["https://me:hunter2@host", "https://host/?key=hunter2"] {
            assert!(!check_setting("text.url", url).unwrap_err().contains("hunter2"));
        }
    }

    /// A project may come from a stranger, and must not send a person's memories to them.
    #[test]
    fn whoever_is_sent_texts_is_chosen_by_the_person() {
        let sends = ["embeddings.", "rerank.", "text.", "providers."];
        for it in SETTINGS.iter().filter(|it| sends.iter().any(|begin| it.key.starts_with(begin))) {
            assert_eq!(it.scope, SettingScope::User, "{}", it.key);
        }
    }

    /// The words of the settings are those of the interfaces.
    #[test]
    fn every_provider_can_be_chosen() {
        let words = |key: &str| match SETTINGS.iter().find(|it| it.key == key).unwrap().form {
            Form::OneOf(words) => words[1..].to_vec(),
            _ => Vec::new(),
        };
        let apis = |all: Vec<&'static str>| {
            let mut res = all;
            res.sort_unstable();
            res
        };
        for (key, all) in [
            ("embeddings.provider", infer::EmbeddingApi::ALL.iter().map(|it| it.slug()).collect()),
            ("rerank.provider", infer::RerankApi::ALL.iter().map(|it| it.slug()).collect()),
            ("text.provider", infer::TextApi::ALL.iter().map(|it| it.slug()).collect()),
        ] {
            assert_eq!(apis(words(key)), apis(all), "{key}");
        }
    }
}
