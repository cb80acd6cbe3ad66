//! Code hosting, package registries, builds and developer tools.

use super::{TokenRule, token};

/// The columns are the arguments of `token` in `rules.rs`. An entropy of 1 only excludes
/// placeholders.
#[rustfmt::skip]
pub(super) const CODE_RULES: &[TokenRule] = &[
    //    kind                  keywords                                      entropy pattern
    token("github-token",       &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],     2500,  r"gh[pousr]_(?:[A-Za-z0-9]{36,255}|(?:[A-Za-z0-9]{1,20}_)?eyJ[A-Za-z0-9_-]{10,2000}\.[A-Za-z0-9_-]{10,2000}\.[A-Za-z0-9_-]{10,1000})", "GitHub token"),
    token("github-pat",         &["github_pat_"],                              3000,  r"github_pat_[A-Za-z0-9_]{36,255}", "GitHub fine-grained personal access token"),
    token("gitlab-token",       &["glpat-", "gldt-", "glft-", "glsoat-", "glrt-", "glptt-", "gloas-", "glcbt-", "glimt-", "glffct-", "glagent-"], 2500, r"gl(?:pat|dt|ft|soat|rt|ptt|oas|cbt|imt|ffct|agent)-(?:[a-z0-9_]{1,6}_)?[A-Za-z0-9_.-]{20,110}", "GitLab token"),
    token("gitlab-runner",      &["GR1348941"],                                2800,  r"GR1348941[A-Za-z0-9_-]{20,24}", "GitLab runner registration token"),
    token("atlassian-token",    &["ATATT3", "ATCTT3"],                         3500,  r"AT[AC]TT3[A-Za-z0-9_=-]{60,300}", "Atlassian API token"),
    token("bitbucket-password", &["ATBB"],                                     3000,  r"ATBB[A-Za-z0-9]{32}", "Bitbucket app password"),
    token("npm-token",          &["npm_"],                                     2500,  r"npm_[A-Za-z0-9]{36}", "npm access token"),
    token("npm-auth",           &["_authToken"],                               2500,  r#"_authToken["']?[ \t]{0,3}[=:][ \t]{0,3}["']?([A-Za-z0-9_-]{20,80})"#, "npm registry credential"),
    token("pypi-token",         &["pypi-AgE", "pypi-AgN"],                     3500,  r"pypi-Ag[EN][A-Za-z0-9_-]{50,1000}", "PyPI upload token"),
    token("rubygems-key",       &["rubygems_"],                                2500,  r"rubygems_[0-9a-f]{48}", "RubyGems API key"),
    token("crates-io-token",    &["cio"],                                      3500,  r"cio[A-Za-z0-9]{32}", "crates.io token"),
    token("nuget-key",          &["oy2"],                                      3500,  r"oy2[a-z0-9]{43}", "NuGet API key"),
    token("docker-token",       &["dckr_pat_", "dckr_oat_"],                   3000,  r"dckr_[po]at_[A-Za-z0-9_-]{20,40}", "Docker Hub access token"),
    token("clojars-token",      &["CLOJARS_"],                                 3000,  r"CLOJARS_[A-Za-z0-9]{60}", "Clojars deploy token"),
    token("jfrog-key",          &["AKCp", "cmVmd"],                            3500,  r"(?:AKCp[A-Za-z0-9]{69}|cmVmd[A-Za-z0-9]{59})", "JFrog API key or reference token"),
    token("circleci-token",     &["CCIPAT_", "CCIPRJ_"],                       3000,  r"CCIP(?:AT|RJ)_[A-Za-z0-9]{20,24}_[0-9a-f]{40}", "CircleCI token"),
    token("buildkite-token",    &["bkua_"],                                    2500,  r"bkua_[0-9a-f]{40}", "Buildkite user token"),
    token("sonar-token",        &["sqa_", "sqp_", "squ_"],                     2500,  r"sq[apu]_[0-9a-f]{40}", "SonarQube token"),
    token("sourcegraph-token",  &["sgp_", "slk_"],                             2500,  r"(?:slk_[0-9a-f]{64}|sgp_(?:[0-9A-Fa-f]{16}_|local_|[0-9A-Fa-f]{16}_local_)?[0-9A-Fa-f]{40}(?:[0-9A-Fa-f]{24})?)", "Sourcegraph or Segment token"),
    token("sentry-token",       &["sntrys_", "sntryu_"],                       3000,  r"(?:sntryu_[0-9a-f]{64}|sntrys_[A-Za-z0-9+/=_]{40,400})", "Sentry token"),
    token("postman-key",        &["PMAK-", "PMAT-"],                           2500,  r"(?:PMAK-[0-9a-f]{24}-[0-9a-f]{34}|PMAT-[A-Z0-9]{26})", "Postman key"),
    token("linear-key",         &["lin_api_", "lin_oauth_"],                   3000,  r"lin_(?:api|oauth)_[A-Za-z0-9]{32,64}", "Linear API key"),
    token("stackhawk-key",      &["hawk."],                                    3000,  r"hawk\.[A-Za-z0-9_-]{20}\.[A-Za-z0-9_-]{20}", "StackHawk API key"),
    token("clickup-token",      &["pk_"],                                      2500,  r"pk_[0-9]{6,9}_[A-Z0-9]{28,40}", "ClickUp API token"),
    token("nightfall-key",      &["NF-"],                                      2500,  r"NF-[A-Za-z0-9]{32}", "Nightfall API key"),
    token("snyk-token",         &["snyk_"],                                    2500,  r"snyk_(?:uat|sat)\.[a-z0-9]{8}\.[A-Za-z0-9_.-]{40,400}", "Snyk token"),
    token("deno-token",         &["ddp_", "ddo_"],                             3000,  r"dd[po]_[A-Za-z0-9]{36}", "Deno Deploy token"),
];
