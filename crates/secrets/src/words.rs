//! Words in a name that suggest its value is a secret.
//!
//! The tables are read by `keyword_index`, which searches for the words, and by `find::assignment`,
//! which judges the value beside them.

/// Strength of a word as evidence. The weaker the word, the more random the value must look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WordStrength {
    /// People choose the value, so it need not look random.
    Password,
    /// The value is mostly generated, sometimes chosen by people.
    Secret,
    /// The value is always generated.
    Key,
    /// The word names many harmless things, too; the value must be long and random.
    Weak,
    /// The name of a service whose keys have no shape of their own. Like `Weak`, but the value must
    /// be long after every kind of link.
    Service,
}

/// The part of a longer word that a secret word may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WordEnd {
    /// The next byte must not continue the word: `PASS=` but not `passed=`.
    Whole,
    /// Anything may follow: `passwords`.
    Open,
}

/// A word and the kind of secret it suggests.
#[derive(Debug)]
pub(crate) struct SecretWord {
    /// In lower case; found in any case.
    pub(crate) text: &'static str,
    pub(crate) strength: WordStrength,
    pub(crate) end: WordEnd,
    pub(crate) kind: &'static str,
}

/// The order has no meaning: of two words in one name the kind of the smaller rank wins (see
/// `kind`).
#[rustfmt::skip]
pub(crate) const SECRET_WORDS: &[SecretWord] = {
    use WordEnd::{Open, Whole};
    use WordStrength::{Key, Password, Secret, Weak};
    &[
        //   text             strength  end    kind
        word("password",      Password, Open,  "password"),
        word("passwd",        Password, Open,  "password"),
        word("passwort",      Password, Open,  "password"),
        word("passphrase",    Password, Open,  "password"),
        word("passcode",      Password, Open,  "password"),
        word("pwd",           Password, Whole, "password"),
        word("pass",          Password, Whole, "password"),
        word("secret",        Secret,   Open,  "secret"),
        word("credential",    Secret,   Open,  "secret"),
        word("apikey",        Key,      Open,  "api-key"),
        word("api_key",       Key,      Open,  "api-key"),
        word("api-key",       Key,      Open,  "api-key"),
        word("api key",       Key,      Open,  "api-key"),
        word("access_key",    Key,      Open,  "api-key"),
        word("accesskey",     Key,      Open,  "api-key"),
        word("access-key",    Key,      Open,  "api-key"),
        word("private_key",   Key,      Open,  "private-key"),
        word("privatekey",    Key,      Open,  "private-key"),
        word("private-key",   Key,      Open,  "private-key"),
        word("authorization", Key,      Open,  "authorization"),
        word("bearer",        Key,      Whole, "authorization"),
        word("token",         Key,      Whole, "token"),
        word("_pat",          Key,      Whole, "token"),
        word("key",           Weak,     Whole, "key"),
        word("auth",          Weak,     Whole, "key"),
        word("access",        Weak,     Whole, "key"),
        word("private",       Weak,     Whole, "key"),
        word("crumb",         Weak,     Whole, "key"),
    ]
};

/// Services whose keys are recognised only by the name beside them. Names are left out that are
/// common words, or that hashes of commits and files often follow.
#[rustfmt::skip]
pub(crate) const SERVICE_NAMES: &[&str] = &[
    "algolia", "amplitude", "assemblyai", "auth0", "blazemeter", "bugsnag", "chartmogul", "clarifai",
    "codacy", "codeclimate", "coinbase", "coveralls", "datadog", "deepgram", "digitalocean",
    "fastly", "flickr", "heroku", "intercom", "ipinfo", "ipstack", "jenkins", "jotform", "kraken",
    "lastfm", "logdna", "loggly", "mailchimp", "mailerlite", "mandrill", "messagebird", "mixpanel",
    "newrelic", "ngrok", "okta", "opsgenie", "pagerduty",
    "papertrail", "pingdom", "pipedrive", "pixabay", "postmark", "pusher", "rollbar",
    "salesforce", "scrapingbee", "sendgrid", "shodan", "sparkpost",
    "splunk", "spotify", "statuspage", "sumologic", "todoist", "travis", "trello",
    "twilio", "twitch", "typeform", "uptimerobot", "virustotal", "wandb", "wakatime", "webex",
    "yelp", "zapier", "zendesk",
];

/// Parts of a name, in lower case, that show that its value is no secret although the name contains
/// a word from above: the public half of a pair, a label, a digest, a key in a table.
#[rustfmt::skip]
pub(crate) const HARMLESS_NAME_PARTS: &[&str] = &[
    "public", "pubkey", "primary", "foreign", "cache", "partition", "sort_key", "sortkey", "idempotency", "routing",
    "dedup", "i18n", "locale", "storage_key", "storagekey", "object_key", "objectkey", "s3_key", "s3key",
    "key_id", "keyid", "keyname", "key_name", "key-name", "fingerprint", "checksum", "csrf", "xsrf",
    "authenticity", "turbo", "keyframe", "keyboard", "shortcut", "hotkey",
    "tokenizer", "token_type", "tokentype", "token_count", "key_type", "keytype", "digest",
    "map_key", "mapkey", "group_key", "groupkey", "row_key", "rowkey", "commit", "continuation",
    "bypass", "getpass", "askpass", "compass",
    "page_token", "pagetoken", "next_token", "nexttoken", "lock_key", "host_key", "hostkey",
];

/// Last words of a name, in lower case, that name a property of a secret and not the secret.
#[rustfmt::skip]
pub(crate) const HARMLESS_LAST_WORDS: &[&str] = &[
    "id", "ids", "name", "names", "url", "uri", "host", "length", "len", "size", "chars", "charset", "alphabet",
    "path", "file", "filename", "dir", "folder", "count", "type", "prefix", "suffix", "format", "label", "version",
    "index", "field", "param", "header", "variable", "ttl", "expiry", "expires", "arn", "issuer", "algorithm",
    "alg", "scope", "scopes", "hint", "policy", "provider", "vault", "pattern", "regex", "email", "username", "region",
];

const fn word(
    text: &'static str,
    strength: WordStrength,
    end: WordEnd,
    kind: &'static str,
) -> SecretWord {
    SecretWord { text, strength, end, kind }
}
