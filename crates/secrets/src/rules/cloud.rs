//! Cloud platforms and hosting.

use super::{TokenRule, marked, token};

/// The columns are the arguments of `token` and `marked` in `rules.rs`: kind, keywords, least
/// entropy in thousandths of a bit per byte (1 only excludes placeholders), pattern, description.
/// The pattern of a `token` begins with a keyword. In a `marked` one the keyword comes later; the
/// number after the keywords is the most bytes before it.
#[rustfmt::skip]
pub(super) const CLOUD_RULES: &[TokenRule] = &[
    //    kind                     keywords                                   entropy pattern
    token("aws-access-key-id",     &["AKIA", "ASIA", "ABIA", "ACCA", "A3T"],    1,    r"(?:AKIA|ASIA|ABIA|ACCA|A3T[A-Z0-9])[A-Z0-9]{16}", "AWS access key id"),
    token("aws-secret-access-key", &["secret_access_key", "secretaccesskey"],  3500,  r#"(?i)secret_?access_?key["'\\]{0,3}[ \t]{0,8}(?:=>|[=:,])[ \t]{0,8}["'\\]{0,3}([a-z0-9/+]{40})"#, "AWS secret access key"),
    token("aws-session-token",     &["session_token", "sessiontoken"],         3500,  r#"(?i)session_?token["'\\]{0,3}[ \t]{0,8}(?:=>|[=:,])[ \t]{0,8}["'\\]{0,3}([a-z0-9/+_.-]{80,2000}={0,2})"#, "AWS session token"),
    token("aws-bedrock-key",       &["ABSK", "bedrock-api-key-"],              3500,  r"(?:ABSK[A-Za-z0-9+/]{80,400}|bedrock-api-key-[A-Za-z0-9+/]{40,2000})={0,2}", "Amazon Bedrock API key"),
    token("gcp-api-key",           &["AIza"],                                  3000,  r"AIzaSy[0-9A-Za-z_-]{33}", "Google API key"),
    token("gcp-oauth-secret",      &["GOCSPX-"],                               2500,  r"GOCSPX-[0-9A-Za-z_-]{20,40}", "Google OAuth client secret"),
    token("gcp-access-token",      &["ya29."],                                 3000,  r"ya29\.[0-9A-Za-z_-]{20,1000}", "Google OAuth access token"),
    token("gcp-refresh-token",     &["1//0"],                                  3000,  r"1//0[0-9A-Za-z_-]{40,200}", "Google OAuth refresh token"),
    token("azure-storage-key",     &["AccountKey="],                           3000,  r"AccountKey=([A-Za-z0-9+/]{60,100}={0,2})", "Azure storage account key"),
    token("azure-shared-key",      &["SharedAccessKey="],                      3000,  r"SharedAccessKey=([A-Za-z0-9+/]{30,100}={0,2})", "Azure shared access key"),
    token("azure-sas-signature",   &["sig="],                                  3500,  r"sig=((?:[A-Za-z0-9+/_-]|%2[BFbf]){40,90}(?:%3[Dd]|=){0,2})", "Azure shared access signature"),
    token("azure-app-config",      &[".azconfig.io;"],                         3000,  r"\.azconfig\.io;Id=[^;\s]{4,64};Secret=([A-Za-z0-9+/]{36,90}={0,2})", "Azure App Configuration secret"),
    marked("azure-client-secret",  &["7Q~", "8Q~"], 3,                         3500,  r"[A-Za-z0-9_~.-]{3}[78]Q~[A-Za-z0-9_~.-]{31,34}", "Azure client secret"),
    marked("azure-devops-token",   &["AZDO"], 76,                              3000,  r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}", "Azure DevOps personal access token"),
    marked("azure-service-key",    &["JQQJ99"], 52,                            3000,  r"[A-Za-z0-9]{52}JQQJ99[A-Za-z0-9]{26,34}", "Azure service key"),
    marked("azure-function-key",   &["AzFu"], 44,                              3000,  r"[A-Za-z0-9_-]{44}AzFu[A-Za-z0-9_-]{5}[AQgw]==", "Azure Functions key"),
    token("alibaba-key-id",        &["LTAI"],                                  2500,  r"LTAI[A-Za-z0-9]{12,26}", "Alibaba Cloud access key id"),
    token("tencent-key-id",        &["AKID"],                                  3000,  r"AKID[A-Za-z0-9]{32}", "Tencent Cloud secret id"),
    token("yandex-key",            &["AQVN", "YCA"],                           3000,  r"(?:AQVN[A-Za-z0-9_-]{35,38}|YCA[A-Za-z0-9_-]{37})", "Yandex Cloud key"),
    token("digitalocean-token",    &["dop_v1_", "doo_v1_", "dor_v1_"],         2500,  r"do[opr]_v1_[0-9a-f]{64}", "DigitalOcean token"),
    token("heroku-key",            &["HRKU-"],                                 3000,  r"HRKU-[0-9A-Za-z_-]{30,70}", "Heroku API key"),
    token("cloudflare-token",      &["cfat_", "cfut_", "cfk_"],                3000,  r"cf(?:at|ut|k)_[A-Za-z0-9]{40}[0-9a-f]{8}", "Cloudflare API token"),
    token("cloudflare-origin-key", &["v1.0-"],                                 2500,  r"v1\.0-[0-9a-f]{20,64}-[0-9a-f]{60,200}", "Cloudflare origin or service key"),
    token("fly-token",             &["fo1_", "fm1_", "fm1a_", "fm1r_", "fm2_"], 3000, r"(?:fo1_[A-Za-z0-9_-]{43}|fm(?:1[ar]?|2)_[A-Za-z0-9+/]{60,1500}={0,3})", "Fly.io token"),
    token("vercel-token",          &["vcp_", "vci_", "vca_", "vcr_", "vck_"],  3000,  r"vc[piark]_[A-Za-z0-9]{24,64}", "Vercel token"),
    token("netlify-token",         &["nfp_", "nfo_", "nfc_"],                  3000,  r"nf[poc]_[A-Za-z0-9]{36,48}", "Netlify token"),
    token("planetscale-token",     &["pscale_"],                               3000,  r"pscale_(?:tkn|oauth|pw)_[A-Za-z0-9_.=-]{32,64}", "PlanetScale token or password"),
    token("supabase-key",          &["sbp_", "sb_secret_"],                    2500,  r"(?:sbp_(?:v0_)?[0-9a-f]{40}|sb_secret_[A-Za-z0-9_-]{20,60})", "Supabase secret key"),
    token("neon-key",              &["napi_"],                                 3000,  r"napi_[a-z0-9]{40,80}", "Neon API key"),
    token("render-key",            &["rnd_"],                                  3000,  r"rnd_[A-Za-z0-9]{28,40}", "Render API key"),
    token("scaleway-key-id",       &["SCW"],                                   2500,  r"SCW[A-Z0-9]{17}", "Scaleway access key id"),
    token("databricks-token",      &["dapi", "dose", "dkea"],                  2500,  r"d(?:api|ose|kea)[0-9a-f]{32}(?:-[0-9])?", "Databricks token"),
];
