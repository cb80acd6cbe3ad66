//! `waylore config test-provider`: sends a real request to each configured provider (a service with models) and
//! reports latency and, for embeddings and reranking, whether related texts score higher than unrelated ones.
//! If they do not, the model is called doubtful. The probes that measure this are in the engine.

use std::time::Duration;

use engine::{EmbeddingProbe, ProviderError, RerankProbe, TextProbe};
use serde_json::{Value, json};

use crate::command::CommandContext;
use crate::failure::usage_error;
use crate::models::{self, ModelRole};
use crate::output::{BAD_STYLE, BOLD_STYLE, DIM_STYLE, GOOD_STYLE, WARN_STYLE};

/// Result of one live test.
struct ProviderTest {
    role: ModelRole,
    provider: String,
    result: Result<ProviderTestResult, ProviderError>,
}

/// The measurements of a provider that answered.
enum ProviderTestResult {
    Vectors(EmbeddingProbe),
    Scores(RerankProbe),
    Text(TextProbe),
}

pub(super) async fn run(
    role: Option<ModelRole>,
    command: &CommandContext<'_>,
) -> anyhow::Result<u8> {
    // Conflicting settings were tolerated to get here; report them now.
    models::plan_models(&command.settings)?;
    let roles = match role {
        Some(role) => vec![role],
        None => ModelRole::ALL.to_vec(),
    };
    let mut tests = Vec::new();
    for role in roles {
        tests.extend(test_provider(role, command).await);
    }
    // Only possible for a role other than embeddings, which has the built-in model.
    if let Some(role) = role
        && tests.is_empty()
    {
        let setting = format!("{}.provider", role.slug());
        return Err(usage_error(
            format!("nothing to test: `{setting}` is `none`"),
            format!("waylore config set {setting} NAME"),
        ));
    }
    // A user of the built-in model may not know that a better one is at hand.
    let could_use_ollama = role.is_none_or(|it| it == ModelRole::Embeddings)
        && command.project.config.models.is_built_in();
    let ollama = if could_use_ollama { models::unused_ollama_version() } else { None };
    let out = command.output;
    if out.json {
        let providers: Vec<Value> = tests.iter().map(to_json).collect();
        out.print_json("providers", json!({ "providers": providers, "idle_ollama": ollama }));
        return Ok(exit_code(&tests));
    }
    for test in &tests {
        render(test, command);
    }
    if let Some(version) = ollama {
        out.hint(&format!("Ollama {version} runs on this machine; `waylore config set embeddings.provider ollama` uses it"));
    }
    Ok(exit_code(&tests))
}

/// Tests the provider of a role; `None` if it has none.
async fn test_provider(role: ModelRole, command: &CommandContext<'_>) -> Option<ProviderTest> {
    let models = &command.project.config.models;
    let found = match role {
        ModelRole::Embeddings => models.probe_embeddings().await.map(ProviderTestResult::Vectors),
        ModelRole::Rerank => models.probe_reranker().await?.map(ProviderTestResult::Scores),
        ModelRole::Text => models.probe_text().await?.map(ProviderTestResult::Text),
    };
    let provider = command.settings.get(&format!("{}.provider", role.slug())).to_owned();
    Some(ProviderTest { role, provider, result: found })
}

impl ProviderTestResult {
    /// True if related texts score higher than unrelated ones.
    fn is_sane(&self) -> bool {
        match self {
            Self::Vectors(it) => it.is_sane(),
            Self::Scores(it) => it.is_sane(),
            Self::Text(_) => true,
        }
    }
}

/// The worst result: 3 for a failure, 1 for a doubtful model.
fn exit_code(tests: &[ProviderTest]) -> u8 {
    let code = |it: &ProviderTest| match &it.result {
        Err(_) => 3,
        Ok(result) => u8::from(!result.is_sane()),
    };
    tests.iter().map(code).max().unwrap_or_default()
}

/// A hint for a failed test.
fn failure_hint(test: &ProviderTest, error: &ProviderError) -> Option<String> {
    let role = test.role.slug();
    match error {
        ProviderError::Unreachable { .. } if test.provider == "ollama" => {
            Some(format!("start it with `ollama serve`, or check `{role}.url`"))
        }
        ProviderError::Unreachable { .. } | ProviderError::Slow { .. } => {
            Some(format!("check that the server runs, and `{role}.url`"))
        }
        ProviderError::Missing { .. } => Some(format!("check `{role}.model` and `{role}.url`")),
        ProviderError::Denied { .. } => Some(format!(
            "check {}, or keep the key with `waylore config key {role}`",
            test.role.key_variable()
        )),
        // The message of the provider says it all.
        _ => None,
    }
}

fn to_json(test: &ProviderTest) -> Value {
    let mut res = json!({ "role": test.role.slug(), "provider": test.provider });
    let (works, details) = match &test.result {
        Err(error) => {
            let hint = failure_hint(test, error);
            (false, json!({ "error": error.to_string(), "hint": hint }))
        }
        Ok(result) => {
            let details = match result {
                ProviderTestResult::Vectors(it) => json!({
                    "model": it.id,
                    "dimensions": it.dims,
                    "first_ms": to_millis(it.first_request_time),
                    "latency_ms": to_millis(it.warm_query_time),
                    "related": from_per_mille(it.related),
                    "unrelated": from_per_mille(it.unrelated),
                }),
                ProviderTestResult::Scores(it) => json!({
                    "model": it.model,
                    "latency_ms": to_millis(it.latency),
                    "related": it.related,
                    "unrelated": it.unrelated,
                }),
                ProviderTestResult::Text(it) => json!({
                    "model": it.model,
                    "latency_ms": to_millis(it.latency),
                    "answer": it.said,
                }),
            };
            (result.is_sane(), details)
        }
    };
    res["works"] = json!(works);
    if let (Some(res), Value::Object(details)) = (res.as_object_mut(), details) {
        res.extend(details);
    }
    res
}

/// Prints the verdict, the measurements, and the scores of related and unrelated texts.
fn render(test: &ProviderTest, command: &CommandContext<'_>) {
    let out = command.output;
    let (role, provider) = (test.role.slug(), &test.provider);
    let result = match &test.result {
        Ok(result) => result,
        Err(error) => {
            out.print_line(&format!("{BAD_STYLE}fails   {BAD_STYLE:#} {BOLD_STYLE}{role}{BOLD_STYLE:#} ({provider}): {error}"));
            if let Some(hint) = failure_hint(test, error) {
                out.print_line(&format!("         {DIM_STYLE}→ {hint}{DIM_STYLE:#}"));
            }
            return;
        }
    };
    let (style, word) =
        if result.is_sane() { (GOOD_STYLE, "works") } else { (WARN_STYLE, "doubtful") };
    let model = match result {
        ProviderTestResult::Vectors(it) => format!("{}, {} dimensions", it.id, it.dims),
        ProviderTestResult::Scores(it) => it.model.clone(),
        ProviderTestResult::Text(it) => it.model.clone(),
    };
    out.print_line(&format!(
        "{style}{word:<8}{style:#} {BOLD_STYLE}{role}{BOLD_STYLE:#} ({provider}): {model}"
    ));
    let timing = match result {
        ProviderTestResult::Vectors(it) => format!(
            "{} ms for the first request, {} ms for a question",
            to_millis(it.first_request_time),
            to_millis(it.warm_query_time)
        ),
        ProviderTestResult::Scores(it) => format!("{} ms for two texts", to_millis(it.latency)),
        ProviderTestResult::Text(it) => {
            format!("{} ms; answer: {}", to_millis(it.latency), it.said)
        }
    };
    out.print_line(&format!("         {DIM_STYLE}{timing}{DIM_STYLE:#}"));
    let scores = match result {
        ProviderTestResult::Vectors(it) => {
            Some((from_per_mille(it.related), from_per_mille(it.unrelated)))
        }
        ProviderTestResult::Scores(it) => Some((f64::from(it.related), f64::from(it.unrelated))),
        ProviderTestResult::Text(_) => None,
    };
    if let Some((related, unrelated)) = scores {
        let verdict = if result.is_sane() {
            "related texts are closer than unrelated ones"
        } else {
            "related texts are not closer than unrelated ones; choose another model"
        };
        out.print_line(&format!(
            "         {DIM_STYLE}related {related:.2}, unrelated {unrelated:.2}: {verdict}{DIM_STYLE:#}"
        ));
    }
}

/// A cosine, which the probe of embeddings reports per mille.
fn from_per_mille(cosine: i32) -> f64 {
    f64::from(cosine) / 1000.0
}

fn to_millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
