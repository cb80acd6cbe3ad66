//! `waylore config test-provider`.

use std::time::Duration;

use engine::{EmbeddingProbe, ProviderError, RerankProbe, TextProbe};
use serde_json::{Value, json};

use crate::command::CommandSession;
use crate::failure::usage_error;
use crate::models::{self, ModelRole};
use crate::output::{BAD_STYLE, BOLD_STYLE, DIM_STYLE, GOOD_STYLE, WARN_STYLE};

/// Result of one live test.
struct ProviderTest {
    role: ModelRole,
    provider: String,
    found: Result<ProviderTestResult, ProviderError>,
}

enum ProviderTestResult {
    Vectors(EmbeddingProbe),
    Scores(RerankProbe),
    Text(TextProbe),
}

pub(super) async fn run(
    role: Option<ModelRole>,
    session: &CommandSession<'_>,
) -> anyhow::Result<u8> {
    // Conflicting settings were tolerated to get here; report them now.
    models::plan_models(&session.settings)?;
    let mut tried = Vec::new();
    for role in ModelRole::ALL.into_iter().filter(|it| role.is_none_or(|role| role == *it)) {
        tried.extend(try_out(role, session).await);
    }
    if let (Some(role), true) = (role, tried.is_empty()) {
        let setting = format!("{}.provider", role.slug());
        return Err(usage_error(
            format!("nothing to test: `{setting}` is `none`"),
            format!("waylore config set {setting} NAME"),
        ));
    }
    let wants_ollama = role.is_none_or(|it| it == ModelRole::Embeddings)
        && session.project.config.models.is_built_in();
    let ollama = if wants_ollama { models::idle_ollama() } else { None };
    let out = session.output;
    if out.json {
        let providers: Vec<Value> = tried.iter().map(to_json).collect();
        out.data_json("providers", json!({ "providers": providers, "idle_ollama": ollama }));
        return Ok(exit_code(&tried));
    }
    for it in &tried {
        render(it, session);
    }
    if let Some(version) = ollama {
        out.hint(&format!("Ollama {version} runs on this machine; `waylore config set embeddings.provider ollama` uses it"));
    }
    Ok(exit_code(&tried))
}

async fn try_out(role: ModelRole, session: &CommandSession<'_>) -> Option<ProviderTest> {
    let models = &session.project.config.models;
    let found = match role {
        ModelRole::Embeddings => models.probe_embeddings().await.map(ProviderTestResult::Vectors),
        ModelRole::Rerank => models.probe_reranker().await?.map(ProviderTestResult::Scores),
        ModelRole::Text => models.probe_text().await?.map(ProviderTestResult::Text),
    };
    let provider = session.settings.get(&format!("{}.provider", role.slug())).to_owned();
    Some(ProviderTest { role, provider, found })
}

impl ProviderTestResult {
    fn is_sane(&self) -> bool {
        match self {
            Self::Vectors(it) => it.is_sane(),
            Self::Scores(it) => it.is_sane(),
            Self::Text(_) => true,
        }
    }
}

fn exit_code(tried: &[ProviderTest]) -> u8 {
    let worst = |it: &ProviderTest| match &it.found {
        Err(_) => 3,
        Ok(found) => u8::from(!found.is_sane()),
    };
    tried.iter().map(worst).max().unwrap_or_default()
}

/// Further hints for a failed test.
fn way_out(tried: &ProviderTest, error: &ProviderError) -> Option<String> {
    let role = tried.role.slug();
    match error {
        ProviderError::Unreachable { .. } if tried.provider == "ollama" => {
            Some(format!("start it with `ollama serve`, or check `{role}.url`"))
        }
        ProviderError::Unreachable { .. } | ProviderError::Slow { .. } => {
            Some(format!("check that the server runs, and `{role}.url`"))
        }
        ProviderError::Missing { .. } => Some(format!("check `{role}.model` and `{role}.url`")),
        ProviderError::Denied { .. } => Some(format!(
            "check {}, or keep the key with `waylore config key {role}`",
            tried.role.key_variable()
        )),
        _ => None,
    }
}

fn to_json(tried: &ProviderTest) -> Value {
    let mut res = json!({ "role": tried.role.slug(), "provider": tried.provider });
    let (works, more) = match &tried.found {
        Err(error) => (false, json!({ "error": error.to_string(), "hint": way_out(tried, error) })),
        Ok(found) => {
            let more = match found {
                ProviderTestResult::Vectors(it) => json!({
                    "model": it.id,
                    "dimensions": it.dims,
                    "first_ms": to_millis(it.first_request_time),
                    "latency_ms": to_millis(it.warm_query_time),
                    "related": f64::from(it.related) / 1000.0,
                    "unrelated": f64::from(it.unrelated) / 1000.0,
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
            (found.is_sane(), more)
        }
    };
    res["works"] = json!(works);
    if let (Some(res), Value::Object(more)) = (res.as_object_mut(), more) {
        res.extend(more);
    }
    res
}

fn render(tried: &ProviderTest, session: &CommandSession<'_>) {
    let out = session.output;
    let (role, provider) = (tried.role.slug(), &tried.provider);
    let found = match &tried.found {
        Ok(found) => found,
        Err(error) => {
            out.print_line(&format!("{BAD_STYLE}fails   {BAD_STYLE:#} {BOLD_STYLE}{role}{BOLD_STYLE:#} ({provider}): {error}"));
            if let Some(hint) = way_out(tried, error) {
                out.print_line(&format!("         {DIM_STYLE}→ {hint}{DIM_STYLE:#}"));
            }
            return;
        }
    };
    let (style, word) =
        if found.is_sane() { (GOOD_STYLE, "works") } else { (WARN_STYLE, "doubtful") };
    let about = match found {
        ProviderTestResult::Vectors(it) => format!("{}, {} dimensions", it.id, it.dims),
        ProviderTestResult::Scores(it) => it.model.clone(),
        ProviderTestResult::Text(it) => it.model.clone(),
    };
    out.print_line(&format!(
        "{style}{word:<8}{style:#} {BOLD_STYLE}{role}{BOLD_STYLE:#} ({provider}): {about}"
    ));
    let detail = match found {
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
    out.print_line(&format!("         {DIM_STYLE}{detail}{DIM_STYLE:#}"));
    let likeness = match found {
        ProviderTestResult::Vectors(it) => {
            Some((f64::from(it.related) / 1e3, f64::from(it.unrelated) / 1e3))
        }
        ProviderTestResult::Scores(it) => Some((f64::from(it.related), f64::from(it.unrelated))),
        ProviderTestResult::Text(_) => None,
    };
    if let Some((related, unrelated)) = likeness {
        let verdict = if found.is_sane() {
            "related texts are closer than unrelated ones"
        } else {
            "related texts are not closer than unrelated ones; choose another model"
        };
        out.print_line(&format!(
            "         {DIM_STYLE}related {related:.2}, unrelated {unrelated:.2}: {verdict}{DIM_STYLE:#}"
        ));
    }
}

fn to_millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
