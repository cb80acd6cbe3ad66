//! `waylore config test-provider`.

use std::time::Duration;

use engine::{Probe, ProviderError, RerankProbe, TextProbe};
use serde_json::{Value, json};

use crate::command::Session;
use crate::failure::usage;
use crate::models::{self, Role};
use crate::output::{BAD, BOLD, DIM, GOOD, WARN};

/// What one live test came to.
struct Tried {
    role: Role,
    provider: String,
    found: Result<Found, ProviderError>,
}

enum Found {
    Vectors(Probe),
    Scores(RerankProbe),
    Text(TextProbe),
}

pub(super) async fn run(role: Option<Role>, session: &Session<'_>) -> anyhow::Result<u8> {
    // Settings that contradict one another were passed over to get here.
    models::plan(&session.settings)?;
    let mut tried = Vec::new();
    for role in Role::ALL.into_iter().filter(|it| role.is_none_or(|role| role == *it)) {
        tried.extend(try_out(role, session).await);
    }
    if let (Some(role), true) = (role, tried.is_empty()) {
        let setting = format!("{}.provider", role.slug());
        return Err(usage(
            format!("there is nothing to try: `{setting}` is `none`"),
            format!("waylore config set {setting} NAME"),
        ));
    }
    let wants_ollama =
        role.is_none_or(|it| it == Role::Embeddings) && session.engine.config.models.is_built_in();
    let ollama = if wants_ollama { models::idle_ollama() } else { None };
    let out = session.output;
    if out.json {
        let providers: Vec<Value> = tried.iter().map(to_json).collect();
        out.data_json("providers", json!({ "providers": providers, "idle_ollama": ollama }));
        return Ok(code(&tried));
    }
    for it in &tried {
        render(it, session);
    }
    if let Some(version) = ollama {
        out.hint(&format!("Ollama {version} runs on this machine; `waylore config set embeddings.provider ollama` uses it"));
    }
    Ok(code(&tried))
}

async fn try_out(role: Role, session: &Session<'_>) -> Option<Tried> {
    let models = &session.engine.config.models;
    let found = match role {
        Role::Embeddings => models.probe_embeddings().await.map(Found::Vectors),
        Role::Rerank => models.probe_reranker().await?.map(Found::Scores),
        Role::Text => models.probe_text().await?.map(Found::Text),
    };
    let provider = session.settings.get(&format!("{}.provider", role.slug())).to_owned();
    Some(Tried { role, provider, found })
}

impl Found {
    fn is_sane(&self) -> bool {
        match self {
            Self::Vectors(it) => it.is_sane(),
            Self::Scores(it) => it.is_sane(),
            Self::Text(_) => true,
        }
    }
}

fn code(tried: &[Tried]) -> u8 {
    let worst = |it: &Tried| match &it.found {
        Err(_) => 3,
        Ok(found) => u8::from(!found.is_sane()),
    };
    tried.iter().map(worst).max().unwrap_or_default()
}

/// What a person can do beyond what the message says.
fn way_out(tried: &Tried, error: &ProviderError) -> Option<String> {
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

fn to_json(tried: &Tried) -> Value {
    let mut res = json!({ "role": tried.role.slug(), "provider": tried.provider });
    let (works, more) = match &tried.found {
        Err(error) => (false, json!({ "error": error.to_string(), "hint": way_out(tried, error) })),
        Ok(found) => {
            let more = match found {
                Found::Vectors(it) => json!({
                    "model": it.id,
                    "dimensions": it.dims,
                    "first_ms": millis(it.first),
                    "latency_ms": millis(it.latency),
                    "related": f64::from(it.related) / 1000.0,
                    "unrelated": f64::from(it.unrelated) / 1000.0,
                }),
                Found::Scores(it) => json!({
                    "model": it.model,
                    "latency_ms": millis(it.latency),
                    "related": it.related,
                    "unrelated": it.unrelated,
                }),
                Found::Text(it) => json!({
                    "model": it.model,
                    "latency_ms": millis(it.latency),
                    "said": it.said,
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

fn render(tried: &Tried, session: &Session<'_>) {
    let out = session.output;
    let (role, provider) = (tried.role.slug(), &tried.provider);
    let found = match &tried.found {
        Ok(found) => found,
        Err(error) => {
            out.line(&format!("{BAD}fails   {BAD:#} {BOLD}{role}{BOLD:#} ({provider}): {error}"));
            if let Some(hint) = way_out(tried, error) {
                out.line(&format!("         {DIM}→ {hint}{DIM:#}"));
            }
            return;
        }
    };
    let (style, word) = if found.is_sane() { (GOOD, "works") } else { (WARN, "doubtful") };
    let about = match found {
        Found::Vectors(it) => format!("{}, {} dimensions", it.id, it.dims),
        Found::Scores(it) => it.model.clone(),
        Found::Text(it) => it.model.clone(),
    };
    out.line(&format!("{style}{word:<8}{style:#} {BOLD}{role}{BOLD:#} ({provider}): {about}"));
    let detail = match found {
        Found::Vectors(it) => format!(
            "{} ms for the first request, {} ms for a question",
            millis(it.first),
            millis(it.latency)
        ),
        Found::Scores(it) => format!("{} ms for two texts", millis(it.latency)),
        Found::Text(it) => format!("{} ms; it said: {}", millis(it.latency), it.said),
    };
    out.line(&format!("         {DIM}{detail}{DIM:#}"));
    let likeness = match found {
        Found::Vectors(it) => Some((f64::from(it.related) / 1e3, f64::from(it.unrelated) / 1e3)),
        Found::Scores(it) => Some((f64::from(it.related), f64::from(it.unrelated))),
        Found::Text(_) => None,
    };
    if let Some((related, unrelated)) = likeness {
        let verdict = if found.is_sane() {
            "it knows what belongs together"
        } else {
            "it does not know what belongs together; choose another model"
        };
        out.line(&format!(
            "         {DIM}an answer is at {related:.2}, something else at {unrelated:.2}: {verdict}{DIM:#}"
        ));
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
