//! Hosted products with an API: documents, tables, design, maps, customers.

use super::{TokenRule, token};

/// The columns are the arguments of `token` in `rules.rs`. An entropy of 1 only excludes
/// placeholders.
#[rustfmt::skip]
pub(super) const PRODUCT_RULES: &[TokenRule] = &[
    //    kind                  keywords                 entropy pattern
    token("notion-token",       &["secret_", "ntn_"],     3500,  r"(?:secret_[A-Za-z0-9]{43}|ntn_[A-Za-z0-9]{40,50})", "Notion integration token"),
    token("airtable-token",     &["pat"],                 3000,  r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}", "Airtable personal access token"),
    token("figma-token",        &["figd_", "figo_", "figu_"], 3000, r"fig[dou]_[A-Za-z0-9_-]{36,60}", "Figma token"),
    token("hubspot-token",      &["pat-na1-", "pat-na2-", "pat-eu1-", "pat-ap1-"], 1800, r"pat-(?:na|eu|ap)[0-9]-[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}", "HubSpot private app token"),
    token("contentful-token",   &["CFPAT-"],              3500,  r"CFPAT-[A-Za-z0-9_-]{43,70}", "Contentful token"),
    token("typeform-token",     &["tfp_"],                3000,  r"tfp_[A-Za-z0-9_.=-]{40,60}", "Typeform token"),
    token("frameio-token",      &["fio-u-"],              3500,  r"fio-u-[A-Za-z0-9_=-]{64}", "Frame.io token"),
    token("adafruit-key",       &["aio_"],                3000,  r"aio_[A-Za-z0-9]{28}", "Adafruit IO key"),
    token("mapbox-token",       &["sk.eyJ", "tk.eyJ", "pk.eyJ"], 3500, r"[spt]k\.eyJ[A-Za-z0-9_-]{40,200}\.[A-Za-z0-9_-]{20,24}", "Mapbox token"),
    token("atlas-secret",       &["mdb_sa_sk_"],          3000,  r"mdb_sa_sk_[A-Za-z0-9_-]{40}", "MongoDB Atlas service account secret"),
    token("salesforce-token",   &["00D"],                 3500,  r"00D[A-Za-z0-9]{12,15}![A-Za-z0-9_.]{80,120}", "Salesforce session token"),
    token("facebook-token",     &["EAA"],                 3500,  r"EAA[A-Z][A-Za-z0-9]{60,300}", "Facebook access token"),
    token("twitter-bearer",     &["AAAAAAAAAA"],          3000,  r"A{20,25}[A-Za-z0-9%]{60,120}", "X bearer token"),
    token("teamwork-token",     &["tkn.v1_"],             3500,  r"tkn\.v1_[A-Za-z0-9+/]{60,100}={0,2}", "Teamwork token"),
    token("dfuse-key",          &["web_"],                2800,  r"web_[0-9a-f]{32}", "dfuse API key"),
    token("fullstory-key",      &["na1.", "eu1."],        4000,  r"(?:na|eu)1\.[A-Za-z0-9+/]{95,105}={0,2}", "FullStory API key"),
    token("scrapfly-key",       &["scp-live-", "scp-test-"], 2500, r"scp-(?:live|test)-[0-9a-f]{32}", "Scrapfly key"),
    token("refiner-key",        &["refiner-"],            2500,  r"refiner-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "Refiner key"),
    token("blynk-client",       &["oa2-client-id_"],      3000,  r"oa2-client-id_[A-Za-z0-9_-]{20,40}:([A-Za-z0-9_-]{30,50})", "Blynk client secret"),
    token("thingsboard-token",  &["thingsboard.cloud/api/v1/"], 3000, r"thingsboard\.cloud/api/v1/([a-z0-9]{20})", "ThingsBoard device token"),
    token("readme-key",         &["rdme_"],               3000,  r"rdme_[a-z0-9]{70}", "ReadMe API key"),
    token("duffel-token",       &["duffel_live_", "duffel_test_"], 3000, r"duffel_(?:live|test)_[A-Za-z0-9_-]{43}", "Duffel token"),
    token("apify-token",        &["apify_api_"],          3000,  r"apify_api_[A-Za-z0-9]{34,40}", "Apify token"),
    token("close-key",          &["api_"],                3500,  r"api_[A-Za-z0-9]{22}\.[A-Za-z0-9]{22}", "Close API key"),
    token("prefixed-secret",    &["sk_"],                        2800,  r"sk_[A-Za-z0-9]{32,64}", "Secret key of the sk_ family"),
];
