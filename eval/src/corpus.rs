//! Public retrieval corpora in the form of a notebook: documents with a date and a session, and
//! queries with the time at which they are asked.

use std::collections::HashMap;
use std::path::Path;

use model::Timestamp;
use serde_json::Value;

use crate::data;

/// A message, a snippet or a finished task, with the id by which the scorer knows it.
#[derive(Clone, Debug)]
pub(crate) struct CorpusDocument {
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) written_at: Timestamp,
    /// Written by the agent, not by the user.
    pub(crate) is_by_agent: bool,
    /// Number of its session; the documents of a session are in order.
    pub(crate) session: Option<u64>,
    pub(crate) files: Vec<String>,
}

/// The test files that the Django tasks changed, found in its history: task, commit, file.
const DJANGO_TESTS: &str = include_str!("../django-tests.tsv");

/// A question put to the corpus.
#[derive(Clone, Debug, Default)]
pub(crate) struct CorpusQuery {
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) at: Timestamp,
    /// The first file that the task will change.
    pub(crate) file: Option<String>,
    /// The first test file that it will change.
    pub(crate) test_file: Option<String>,
    /// Graded relevance by document id; empty where only the scorer knows it.
    pub(crate) relevance: HashMap<String, f64>,
    /// Number of documents, from the first, that exist when it is asked; later ones may not be
    /// used.
    pub(crate) n_visible_docs: usize,
}

/// The documents of one notebook and the queries put to it.
#[derive(Clone, Debug)]
pub(crate) struct RetrievalCorpus {
    pub(crate) docs: Vec<CorpusDocument>,
    pub(crate) queries: Vec<CorpusQuery>,
}

/// A task under the name the scorer knows, with the reader of its data.
pub(crate) struct RetrievalTask {
    pub(crate) name: &'static str,
    pub(crate) file: &'static str,
    pub(crate) read: fn(&Path) -> anyhow::Result<Vec<RetrievalCorpus>>,
    /// Reported metrics with their goals.
    pub(crate) goals: &'static [(&'static str, f64)],
}

#[rustfmt::skip]
pub(crate) const RETRIEVAL_TASKS: &[RetrievalTask] = &[
    RetrievalTask { name: "locomo",      file: "memory_qa/locomo.jsonl.gz",              read: read_locomo,      goals: &[("recall@10", 78.0), ("ndcg@10", 58.0)] },
    RetrievalTask { name: "beam",        file: "memory_qa/beam_100k.jsonl.gz",           read: read_beam,        goals: &[("recall@10", 62.0)] },
    RetrievalTask { name: "cosqa",       file: "code_retrieval/cosqa_codebase.jsonl.gz", read: read_cosqa,       goals: &[("mrr", 62.0)] },
    RetrievalTask { name: "experience:entireio__cli", file: "experience/entireio__cli.jsonl.gz", read: read_entireio, goals: &[("ndcg@10", 38.0)] },
    RetrievalTask { name: "experience:FSM1__cipher-box", file: "experience/FSM1__cipher-box.jsonl.gz", read: read_cipher_box, goals: &[("ndcg@10", 38.0)] },
    RetrievalTask { name: "experience:swebench_django", file: "experience/swebench_django.jsonl.gz", read: read_django, goals: &[("ndcg@10", 38.0)] },
    RetrievalTask { name: "longmemeval", file: "memory_qa/longmemeval_s.jsonl.gz",       read: read_longmemeval, goals: &[("all@5", 85.0), ("hit@5", 97.0)] },
];

fn read_locomo(folder: &Path) -> anyhow::Result<Vec<RetrievalCorpus>> {
    let rows = data::read_json_lines(&folder.join("memory_qa/locomo.jsonl.gz"))?;
    Ok(rows.iter().map(parse_locomo).collect())
}

fn parse_locomo(row: &Value) -> RetrievalCorpus {
    let doc = |it: &Value| CorpusDocument {
        id: to_text(&it["id"]),
        text: to_text(&it["text"]),
        written_at: parse_day(&to_text(&it["date"])),
        is_by_agent: false,
        session: it["session"].as_u64(),
        files: Vec::new(),
    };
    let docs: Vec<CorpusDocument> = as_array(&row["turns"]).iter().map(doc).collect();
    // LoCoMo has no dates for its questions: they are asked after the last turn.
    let last = docs.iter().map(|it| it.written_at).max().unwrap_or(Timestamp(0));
    let query = |it: &Value| CorpusQuery {
        id: to_text(&it["qid"]),
        text: to_text(&it["question"]),
        at: last,
        n_visible_docs: usize::MAX,
        ..CorpusQuery::default()
    };
    let queries = as_array(&row["questions"]).iter().map(query).collect();
    RetrievalCorpus { docs, queries }
}

fn read_beam(folder: &Path) -> anyhow::Result<Vec<RetrievalCorpus>> {
    let rows = data::read_json_lines(&folder.join("memory_qa/beam_100k.jsonl.gz"))?;
    Ok(rows.iter().map(parse_beam).collect())
}

fn parse_beam(row: &Value) -> RetrievalCorpus {
    let mut at = Timestamp(0);
    let mut docs = Vec::new();
    for it in as_array(&row["messages"]) {
        // Only some messages have a date; the others follow immediately.
        if let Some(date) = it["date"].as_str() {
            at = parse_day(date);
        }
        docs.push(CorpusDocument {
            id: to_text(&it["id"]),
            text: to_text(&it["text"]),
            written_at: at,
            is_by_agent: it["role"] == "assistant",
            session: it["batch"].as_u64(),
            files: Vec::new(),
        });
    }
    let query = |it: &Value| CorpusQuery {
        id: to_text(&it["qid"]),
        text: to_text(&it["question"]),
        at,
        n_visible_docs: usize::MAX,
        ..CorpusQuery::default()
    };
    let queries = as_array(&row["questions"]).iter().map(query).collect();
    RetrievalCorpus { docs, queries }
}

fn read_cosqa(folder: &Path) -> anyhow::Result<Vec<RetrievalCorpus>> {
    // CoSQA has no dates; one day for all switches recency off.
    let at = parse_day("2020-01-01");
    let codes = data::read_json_lines(&folder.join("code_retrieval/cosqa_codebase.jsonl.gz"))?;
    let doc = |it: &Value| {
        let (by_agent, session, files) = (false, None, Vec::new());
        CorpusDocument {
            id: to_text(&it["id"]),
            text: to_text(&it["code"]),
            written_at: at,
            is_by_agent: by_agent,
            session,
            files,
        }
    };
    let queries = data::read_json_lines(&folder.join("code_retrieval/cosqa_queries.jsonl.gz"))?;
    let query = |it: &Value| CorpusQuery {
        id: to_text(&it["qid"]),
        text: to_text(&it["question"]),
        at,
        n_visible_docs: usize::MAX,
        ..CorpusQuery::default()
    };
    let docs = codes.iter().map(doc).collect();
    Ok(vec![RetrievalCorpus { docs, queries: queries.iter().map(query).collect() }])
}

fn read_django(folder: &Path) -> anyhow::Result<Vec<RetrievalCorpus>> {
    read_experience(folder, "swebench_django", "query", "files")
}

fn read_entireio(folder: &Path) -> anyhow::Result<Vec<RetrievalCorpus>> {
    read_experience(folder, "entireio__cli", "doc", "edited_files")
}

fn read_cipher_box(folder: &Path) -> anyhow::Result<Vec<RetrievalCorpus>> {
    read_experience(folder, "FSM1__cipher-box", "doc", "edited_files")
}

/// A corpus of tasks in order. Each is queried before it becomes a document with the files it
/// changed; `text_field` and `files_field` name the fields that hold text and files.
fn read_experience(
    folder: &Path,
    name: &str,
    text_field: &str,
    files_field: &str,
) -> anyhow::Result<Vec<RetrievalCorpus>> {
    let mut rows = data::read_json_lines(&folder.join(format!("experience/{name}.jsonl.gz")))?;
    // ISO dates sort as text.
    rows.sort_by_key(|it| to_text(&it["start"]));
    let doc = |it: &Value| CorpusDocument {
        id: to_text(&it["id"]),
        text: to_text(&it[text_field]),
        written_at: parse_day(&to_text(&it["start"])),
        is_by_agent: false,
        session: None,
        files: as_array(&it[files_field]).iter().map(to_text).collect(),
    };
    let docs: Vec<CorpusDocument> = rows.iter().map(doc).collect();
    let scored = rows.iter().enumerate().filter(|it| it.1["scored"] == true);
    let query = |(known, it): (usize, &Value)| CorpusQuery {
        id: to_text(&it["id"]),
        text: to_text(&it["query"]),
        at: parse_day(&to_text(&it["start"])),
        file: as_array(&it[files_field]).first().map(to_text),
        test_file: django_test_file(&to_text(&it["id"])),
        relevance: parse_relevance(&it["gold"]),
        n_visible_docs: known,
    };
    let queries = scored.map(query).collect();
    Ok(vec![RetrievalCorpus { docs, queries }])
}

/// The first test file that a Django task changed, if the table has it.
fn django_test_file(task: &str) -> Option<String> {
    let mut rows = DJANGO_TESTS.lines().map(|it| it.split('\t'));
    rows.find_map(|mut it| (it.next() == Some(task)).then(|| it.nth(1).map(str::to_owned))?)
}

fn parse_relevance(gold: &Value) -> HashMap<String, f64> {
    let gold = gold.as_object().into_iter().flatten();
    gold.map(|(id, worth)| (id.clone(), worth.as_f64().unwrap_or_default())).collect()
}

fn read_longmemeval(folder: &Path) -> anyhow::Result<Vec<RetrievalCorpus>> {
    let rows = data::read_json_lines(&folder.join("memory_qa/longmemeval_s.jsonl.gz"))?;
    Ok(rows.iter().map(parse_longmemeval).collect())
}

/// One document per turn, all turns of a session under its id: a session ranks with its best turn.
fn parse_longmemeval(row: &Value) -> RetrievalCorpus {
    let mut docs = Vec::new();
    for (number, session) in (0_u64..).zip(as_array(&row["sessions"])) {
        for turn in as_array(&session["turns"]) {
            docs.push(CorpusDocument {
                id: to_text(&session["id"]),
                // The role stays in the text: some questions ask for the assistant's words.
                text: format!("{}: {}", to_text(&turn["role"]), to_text(&turn["content"])),
                written_at: parse_day(&to_text(&session["date"])),
                is_by_agent: turn["role"] == "assistant",
                session: Some(number),
                files: Vec::new(),
            });
        }
    }
    let query = CorpusQuery {
        id: to_text(&row["question_id"]),
        text: to_text(&row["question"]),
        at: parse_day(&to_text(&row["question_date"])),
        n_visible_docs: usize::MAX,
        ..CorpusQuery::default()
    };
    RetrievalCorpus { docs, queries: vec![query] }
}

fn as_array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn to_text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

const MONTH_PREFIXES: &[&str] =
    &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// The day of a date in any form that occurs in the corpora: `1:56 pm on 8 May, 2023`,
/// `2023/06/06 (Tue) 08:19`, `2023-04-25T04:07:00`, `March-15-2024`. Times of day are ignored.
fn parse_day(date: &str) -> Timestamp {
    let (mut year, mut month, mut day) = (None, None, None);
    let words = date.split(|it: char| !it.is_ascii_alphanumeric()).filter(|it| !it.is_empty());
    // `1:56 pm on 8 May, 2023`: the time comes first and would be taken for a day.
    let date = date.split_once(" on ").map_or(date, |it| it.1);
    for word in date
        .split(|it: char| !it.is_ascii_alphanumeric())
        .filter(|it| !it.is_empty())
        .take(words.count())
    {
        let named = word.get(..3).map(str::to_ascii_lowercase);
        let named = named.and_then(|it| MONTH_PREFIXES.iter().position(|month| *month == it));
        // `25T04` is a day, `8th` as well.
        let number = word.trim_end_matches(char::is_alphabetic).split('T').next();
        let number: Option<i64> = number.and_then(|it| it.parse().ok());
        match (named, number) {
            (Some(named), _) => month = month.or(i64::try_from(named + 1).ok()),
            (None, Some(number)) if number > 1_000 => year = year.or(Some(number)),
            // After a year the month comes, before it the day.
            (None, Some(number)) if month.is_none() && year.is_some() => month = Some(number),
            (None, Some(number)) => day = day.or(Some(number)),
            (None, None) => {}
        }
    }
    Timestamp::of_day(year.unwrap_or(1970), month.unwrap_or(1), day.unwrap_or(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_of_every_form_are_parsed() {
        for (date, day) in [
            ("1:56 pm on 8 May, 2023", "2023-05-08"),
            ("2023/06/06 (Tue) 08:19", "2023-06-06"),
            ("2023-04-25T04:07:00", "2023-04-25"),
            ("2016-11-08T17:27:19Z", "2016-11-08"),
            ("March-15-2024", "2024-03-15"),
        ] {
            assert_eq!(parse_day(date).format_date(), day, "{date}");
        }
    }
}
