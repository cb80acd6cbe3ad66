//! The JSON of claims: parses the answer of a model.

use model::{AnswerRefusal, AnsweredScope, MemoryKind, QuoteSource};
use serde_json::Value;

use super::{AnsweredClaim, CheckedClaim, ClaimVerdict, LineQuote};

/// Claims of one answer that are read; the prompt asks for fewer.
const MAX_CLAIMS: usize = 8;
/// Quotes and files of one claim that are read.
const MAX_QUOTES: usize = 4;
const MAX_FILES: usize = 8;
/// Closing braces at which a cut answer may end; a claim has one per quote and one of its own.
const MAX_CUT_TRIES: usize = 8;
/// The types that the prompt offers. Other types need data beside the text.
pub(super) const CLAIM_KINDS: &[MemoryKind] = &[
    MemoryKind::Gotcha,
    MemoryKind::ErrorPattern,
    MemoryKind::DeadEnd,
    MemoryKind::Preference,
    MemoryKind::Decision,
    MemoryKind::ModuleInsight,
    MemoryKind::WorkflowRecipe,
    MemoryKind::Requirement,
];

/// Parses the answer of a model: a JSON array, bare or in a code fence. The whole answer is an error if it
/// is anything else; a claim of another form is returned as refused.
#[expect(clippy::result_large_err, reason = "a few claims per session, each moved once")]
pub fn parse_answer(answer: &str) -> Result<Vec<Result<AnsweredClaim, CheckedClaim>>, String> {
    let json = strip_fence(answer);
    let rows = match serde_json::from_str(json) {
        Ok(Value::Array(rows)) => rows,
        Ok(_) => return Err("the answer is JSON, but not an array of claims".to_owned()),
        Err(error) => match complete_rows(json).filter(|_| error.is_eof()) {
            Some(rows) => rows,
            None => return Err(format!("the answer is not JSON ({error})")),
        },
    };
    let parse = |it: &Value| parse_claim(it).map_err(|why| malformed_claim(it, why));
    Ok(rows.iter().take(MAX_CLAIMS).map(parse).collect())
}

/// The complete claims of an answer that reached the limit of its length in the middle of one.
fn complete_rows(json: &str) -> Option<Vec<Value>> {
    let ends = json.rmatch_indices('}').map(|it| it.0 + 1);
    for end in ends.filter(|_| json.starts_with('[')).take(MAX_CUT_TRIES) {
        if let Ok(Value::Array(rows)) = serde_json::from_str(&format!("{}]", &json[..end])) {
            return Some(rows);
        }
    }
    None
}

/// The JSON in a code fence; models fence it even if they are told not to. Text before a fence is ignored.
fn strip_fence(answer: &str) -> &str {
    let answer = answer.trim();
    let Some((_, fenced)) = answer.split_once("```") else { return answer };
    let fenced = fenced.strip_prefix("json").unwrap_or(fenced);
    fenced.rsplit_once("```").map_or(fenced, |it| it.0).trim()
}

fn parse_claim(row: &Value) -> Result<AnsweredClaim, &'static str> {
    let kind = row["type"].as_str().and_then(MemoryKind::from_slug);
    let kind = kind.filter(|it| CLAIM_KINDS.contains(it)).ok_or("no type of the list")?;
    let text = row["text"].as_str().map(str::trim).filter(|it| !it.is_empty()).ok_or("no text")?;
    let scope = row["scope"].as_str().and_then(AnsweredScope::from_slug).ok_or("no scope")?;
    let quotes = row["quotes"].as_array().ok_or("no quotes")?;
    let quotes: Option<Vec<LineQuote>> = quotes.iter().take(MAX_QUOTES).map(parse_quote).collect();
    let files = row["files"].as_array().map(Vec::as_slice).unwrap_or_default();
    let file = |it: &Value| it.as_str().map(|it| it.trim().trim_start_matches("./").to_owned());
    Ok(AnsweredClaim {
        kind,
        text: text.to_owned(),
        quotes: quotes.ok_or("a quote without number or text")?,
        files: files.iter().take(MAX_FILES).filter_map(file).collect(),
        when: row["when"].as_str().unwrap_or_default().trim().to_owned(),
        scope,
        replaces: row["replaces"].as_str().map(|it| it.trim().trim_start_matches('#').to_owned()),
        sure: per_mille(&row["sure"]).ok_or("no number for `sure`")?,
        worth: per_mille(&row["worth"]).ok_or("no number for `worth`")?,
    })
}

fn parse_quote(row: &Value) -> Option<LineQuote> {
    let n = u32::try_from(row["n"].as_u64()?).ok()?;
    let source = row["source"].as_str().and_then(QuoteSource::from_slug);
    Some(LineQuote { n, text: row["text"].as_str()?.trim().to_owned(), source })
}

/// A number from 0 to 1, in per mille.
fn per_mille(value: &Value) -> Option<u16> {
    let number = value.as_f64().filter(|it| (0.0..=1.0).contains(it))?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1000")]
    Some((number * 1000.0).round() as u16)
}

/// A refused claim of another form, with the text that can be shown.
fn malformed_claim(row: &Value, why: &str) -> CheckedClaim {
    let claim = AnsweredClaim {
        kind: MemoryKind::Gotcha,
        text: row["text"].as_str().unwrap_or_default().chars().take(300).collect(),
        quotes: Vec::new(),
        files: Vec::new(),
        when: String::new(),
        scope: AnsweredScope::Repository,
        replaces: None,
        sure: 0,
        worth: 0,
    };
    let verdict = ClaimVerdict::Refused { why: AnswerRefusal::Form, detail: why.to_owned() };
    CheckedClaim { claim, verdict }
}
