//! The words whose neighbour may be a secret.

/// How sure a word is to name a secret, and so how random the value must look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    /// People choose the value; it need not look random.
    Password,
    /// Machines mostly choose the value, people sometimes.
    Secret,
    /// Machines always choose the value.
    Key,
    /// Names many harmless things too; the value must be long and random.
    Weak,
    /// A service whose keys have no shape of their own; as weak, and the value longer.
    Service,
}

#[derive(Debug)]
pub(crate) struct Word {
    /// Lower case; met in any letter case.
    pub(crate) text: &'static str,
    pub(crate) level: Level,
    /// The next byte must not be a letter: `PASS=` but not `passed=`.
    pub(crate) whole: bool,
    pub(crate) kind: &'static str,
}

/// Order is without meaning; of two words in one name the kind of the smaller rank
/// wins; see `kind`.
#[rustfmt::skip]
pub(crate) const WORDS: &[Word] = &[
    word("password",      Level::Password, false, "password"),
    word("passwd",        Level::Password, false, "password"),
    word("passwort",      Level::Password, false, "password"),
    word("passphrase",    Level::Password, false, "password"),
    word("passcode",      Level::Password, false, "password"),
    word("pwd",           Level::Password, true,  "password"),
    word("pass",          Level::Password, true,  "password"),
    word("secret",        Level::Secret,   false, "secret"),
    word("credential",    Level::Secret,   false, "secret"),
    word("apikey",        Level::Key,      false, "api-key"),
    word("api_key",       Level::Key,      false, "api-key"),
    word("api-key",       Level::Key,      false, "api-key"),
    word("api key",       Level::Key,      false, "api-key"),
    word("access_key",    Level::Key,      false, "api-key"),
    word("accesskey",     Level::Key,      false, "api-key"),
    word("access-key",    Level::Key,      false, "api-key"),
    word("private_key",   Level::Key,      false, "private-key"),
    word("privatekey",    Level::Key,      false, "private-key"),
    word("private-key",   Level::Key,      false, "private-key"),
    word("authorization", Level::Key,      false, "authorization"),
    word("bearer",        Level::Key,      true,  "authorization"),
    word("token",         Level::Key,      true,  "token"),
    word("_pat",          Level::Key,      true,  "token"),
    word("key",           Level::Weak,     true,  "key"),
    word("auth",          Level::Weak,     true,  "key"),
    word("access",        Level::Weak,     true,  "key"),
    word("private",       Level::Weak,     true,  "key"),
    word("crumb",         Level::Weak,     true,  "key"),
];

/// Services whose keys are told only by the name beside them. Names that are common words, or that
/// hashes of commits and files follow in daily work, stay out.
#[rustfmt::skip]
pub(crate) const SERVICES: &[&str] = &[
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

/// Parts of a name, in lower case, that say its value is not a secret although a word above is in
/// it: a public half, a label, a digest, a place in a table.
#[rustfmt::skip]
pub(crate) const HARMLESS: &[&str] = &[
    "public", "pubkey", "primary", "foreign", "cache", "partition", "sort_key", "sortkey", "idempotency", "routing",
    "dedup", "i18n", "locale", "storage_key", "storagekey", "object_key", "objectkey", "s3_key", "s3key",
    "key_id", "keyid", "keyname", "key_name", "key-name", "fingerprint", "checksum", "csrf", "xsrf",
    "authenticity", "turbo", "keyframe", "keyboard", "shortcut", "hotkey",
    "tokenizer", "token_type", "tokentype", "token_count", "key_type", "keytype", "digest",
    "map_key", "mapkey", "group_key", "groupkey", "row_key", "rowkey", "commit", "continuation",
    "bypass", "getpass", "askpass", "compass",
    "page_token", "pagetoken", "next_token", "nexttoken", "lock_key", "host_key", "hostkey",
];

const fn word(text: &'static str, level: Level, whole: bool, kind: &'static str) -> Word {
    Word { text, level, whole, kind }
}
