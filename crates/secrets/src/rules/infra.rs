//! Infrastructure tools: secret stores, networks, provisioning.

use super::{TokenRule, marked, token};

/// The columns are the arguments of `token` and `marked` in `rules.rs`. An entropy of 1 only
/// excludes placeholders.
#[rustfmt::skip]
pub(super) const INFRA_RULES: &[TokenRule] = &[
    //    kind                     keywords                     entropy pattern
    token("vault-token",           &["hvs.", "hvb.", "hvr."],    3000,  r"hv[sbr]\.[A-Za-z0-9_-]{24,400}", "HashiCorp Vault token"),
    token("vault-unseal-key",      &["unseal"],                  3500,  r"(?i)unseal(?:[ _]key)?(?:[ ][0-9])?[ :=]{1,3}([a-z0-9+/]{43,44}=?)", "HashiCorp Vault unseal key"),
    marked("terraform-token",      &[".atlasv1."], 14,           3500,  r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,70}", "Terraform Cloud token"),
    token("doppler-token",         &["dp.pt.", "dp.st.", "dp.ct.", "dp.sa.", "dp.scim.", "dp.audit."], 3000, r"dp\.(?:pt|st|ct|sa|scim|audit)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}", "Doppler token"),
    token("pulumi-token",          &["pul-"],                    2500,  r"pul-[0-9a-f]{40}", "Pulumi access token"),
    token("infracost-key",         &["ico-"],                    3000,  r"ico-[A-Za-z0-9]{32}", "Infracost API key"),
    token("prefect-key",           &["pnu_", "pnb_"],            3000,  r"pn[ub]_[A-Za-z0-9]{36}", "Prefect API key"),
    token("tailscale-key",         &["tskey-"],                  2000,  r"tskey-[a-z]{3,12}-[A-Za-z0-9]{7,20}-[A-Za-z0-9]{4,40}", "Tailscale key"),
    token("one-password-token",    &["ops_eyJ"],                 4000,  r"ops_eyJ[A-Za-z0-9+/]{200,2000}={0,3}", "1Password service account token"),
    token("age-secret-key",        &["AGE-SECRET-KEY-"],         3000,  r"AGE-SECRET-KEY-1[AC-HJ-NP-Z02-9]{58}", "age secret key"),
    token("openshift-token",       &["sha256~"],                 3500,  r"sha256~[A-Za-z0-9_-]{43}", "OpenShift user token"),
    token("wireguard-key",         &["PrivateKey", "PresharedKey"], 3500, r"(?:Private|Preshared)Key[ \t]{0,4}=[ \t]{0,4}([A-Za-z0-9+/]{43}=)", "WireGuard key"),
    token("kubernetes-bootstrap",  &["bootstrap-token", "kubeadm join"], 2500, r"(?:bootstrap-token|kubeadm join)[^\n]{0,80}?\b([a-z0-9]{6}\.[a-z0-9]{16})", "Kubernetes bootstrap token"),
    token("truenas-key",           &["login_with_api_key"],      3500,  r#"login_with_api_key"[,\s]{1,12}"params"\s{0,4}:\s{0,4}\[\s{0,12}"([0-9]{1,4}-[A-Za-z0-9]{64})"#, "TrueNAS API key"),
    token("launchdarkly-key",      &["sdk-", "mob-"],            2500,  r"(?:sdk|mob)-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "LaunchDarkly SDK key"),
];
