//! Model providers.

use super::{TokenRule, marked, token};

/// The columns are the arguments of `token` and `marked` in `rules.rs`. An entropy of 1 only
/// excludes placeholders.
#[rustfmt::skip]
pub(super) const MODEL_RULES: &[TokenRule] = &[
    //    kind                  keywords                      entropy pattern
    token("anthropic-key",      &["sk-ant-"],                  3500,  r"sk-ant-[a-z]{2,8}[0-9]{2,4}-[A-Za-z0-9_-]{60,140}", "Anthropic key"),
    marked("openai-key",        &["T3BlbkFJ"], 110,            3500,  r"sk-[A-Za-z0-9_-]{16,110}T3BlbkFJ[A-Za-z0-9_-]{16,110}", "OpenAI key"),
    token("openrouter-key",     &["sk-or-v1-"],                2500,  r"sk-or-v1-[0-9a-f]{64}", "OpenRouter key"),
    token("deepseek-key",       &["sk-"],                      2800,  r"sk-[0-9a-f]{32}", "DeepSeek key"),
    token("model-provider-key", &["sk-"],                      3800,  r"sk-(?:proj-|svcacct-|admin-|lf-)?[A-Za-z0-9]{32,64}", "Model provider key of the sk- family"),
    token("huggingface-token",  &["hf_", "api_org_"],          3000,  r"(?:hf|api_org)_[A-Za-z0-9]{34,40}", "Hugging Face token"),
    token("groq-key",           &["gsk_"],                     3000,  r"gsk_[A-Za-z0-9]{48,60}", "Groq API key"),
    token("xai-key",            &["xai-"],                     3000,  r"xai-[A-Za-z0-9_]{70,90}", "xAI API key"),
    token("perplexity-key",     &["pplx-"],                    3500,  r"pplx-[A-Za-z0-9]{40,64}", "Perplexity API key"),
    token("replicate-token",    &["r8_"],                      3000,  r"r8_[A-Za-z0-9_-]{37,48}", "Replicate API token"),
    token("nvidia-key",         &["nvapi-"],                   3000,  r"nvapi-[A-Za-z0-9_-]{60,70}", "NVIDIA API key"),
    token("elevenlabs-key",     &["sk_"],                      2500,  r"sk_[0-9a-f]{48}", "ElevenLabs API key"),
    token("langsmith-key",      &["lsv2_"],                    2500,  r"lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}", "LangSmith API key"),
    token("pinecone-key",       &["pcsk_"],                    3000,  r"pcsk_[A-Za-z0-9]{4,8}_[A-Za-z0-9]{50,70}", "Pinecone API key"),
    token("fireworks-key",      &["fw_"],                      3000,  r"fw_[A-Za-z0-9]{22,24}", "Fireworks AI key"),
    token("cerebras-key",       &["csk-"],                     3000,  r"csk-[a-z0-9]{48}", "Cerebras API key"),
    token("tavily-key",         &["tvly-"],                    3000,  r"tvly-(?:dev-|prod-)?[A-Za-z0-9]{28,40}", "Tavily API key"),
    token("voyage-key",         &["pa-"],                      3500,  r"pa-[A-Za-z0-9_-]{43}", "Voyage AI key"),
    token("langfuse-key",       &["sk-lf-"],                   2500,  r"sk-lf-[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", "Langfuse secret key"),
];
