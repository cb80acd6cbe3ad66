//! Monitoring, logging and incident tools.

use super::{TokenRule, marked, token};

/// The columns are the arguments of `token` and `marked` in `rules.rs`. An entropy of 1 only
/// excludes placeholders.
#[rustfmt::skip]
pub(super) const MONITORING_RULES: &[TokenRule] = &[
    //    kind                   keywords                                  entropy pattern
    token("newrelic-key",        &["NRAK-", "NRII-", "NRIQ-", "NRAA-", "NRRA-"], 2500, r"NR(?:AK|II|IQ|AA|RA)-[A-Za-z0-9_-]{25,42}", "New Relic key"),
    marked("newrelic-license",   &["NRAL"], 36,                             1,     r"(?:[0-9a-f]{36}|(?:eu|gov)[0-9]{2}xx[0-9a-f]{30})NRAL", "New Relic license key"),
    token("pixie-key",           &["px-api-", "px-dep-"],                   2500,  r"px-(?:api|dep)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "Pixie key"),
    token("grafana-token",       &["glc_", "glsa_"],                        3000,  r"(?:glsa_[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}|glc_[A-Za-z0-9+/]{32,400}={0,2})", "Grafana token"),
    token("grafana-key",         &["eyJrIjoi"],                             3500,  r"eyJrIjoi[A-Za-z0-9+/]{60,400}={0,2}", "Grafana API key"),
    token("dynatrace-token",     &["dt0c01.", "dt0s01.", "dt0s16."],        3500,  r"dt0[cs][0-9]{2}\.[A-Z0-9]{8,24}\.[A-Z0-9]{64}", "Dynatrace token"),
    token("honeycomb-key",       &["hcaik_", "hcxik_"],                     3000,  r"hc[a-z]ik_[A-Za-z0-9]{40,64}", "Honeycomb ingest key"),
    token("posthog-key",         &["phx_"],                                 3000,  r"phx_[A-Za-z0-9]{40,60}", "PostHog personal API key"),
    token("logfire-token",       &["pylf_v"],                               3000,  r"pylf_v[0-9]_[a-z]{2}_[A-Za-z0-9]{40,50}", "Logfire token"),
    token("rootly-key",          &["rootly_"],                              2500,  r"rootly_[0-9a-f]{64}", "Rootly API key"),
    token("incident-io-key",     &["inc_"],                                 3000,  r"inc_[0-9a-f]{64}", "incident.io API key"),
];
