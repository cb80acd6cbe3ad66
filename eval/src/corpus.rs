//! The public corpora as what a user would have: memories with a date and a session, and questions
//! with a moment they are asked at.

use std::collections::HashMap;
use std::path::Path;

use model::Timestamp;
use serde_json::Value;

use crate::data;

/// Something that was said, written or done, with the id it is scored by.
#[derive(Clone, Debug)]
pub(crate) struct Doc {
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) at: Timestamp,
    /// Whether an agent wrote it rather than the person.
    pub(crate) by_agent: bool,
    /// Documents with the same number belong to one session, in order.
    pub(crate) session: Option<u64>,
    pub(crate) files: Vec<String>,
}

/// The tests that the tasks of Django changed, found in its history: `task commit file`, by tabs.
const DJANGO_TESTS: &str = include_str!("../django-tests.tsv");

#[derive(Clone, Debug, Default)]
pub(crate) struct Query {
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) at: Timestamp,
    /// The first file that the task will change, which may be at hand when it is asked.
    pub(crate) file: Option<String>,
    /// The first test that it will change.
    pub(crate) test: Option<String>,
    /// The documents that count, with what each is worth; empty where only the scorer knows.
    pub(crate) gold: HashMap<String, f64>,
    /// It may be answered with this many documents, from the first: nothing that came later.
    pub(crate) known: usize,
}

/// One notebook's worth of documents and the questions put to it.
#[derive(Clone, Debug)]
pub(crate) struct Corpus {
    pub(crate) docs: Vec<Doc>,
    pub(crate) queries: Vec<Query>,
}

/// A task as the scorer names it, and how its data is read.
pub(crate) struct Task {
    pub(crate) name: &'static str,
    pub(crate) file: &'static str,
    pub(crate) read: fn(&Path) -> anyhow::Result<Vec<Corpus>>,
    /// The numbers that are reported, and what they should be.
    pub(crate) goals: &'static [(&'static str, f64)],
}

#[rustfmt::skip]
pub(crate) const TASKS: &[Task] = &[
    Task { name: "locomo",      file: "memory_qa/locomo.jsonl.gz",              read: locomo,      goals: &[("recall@10", 78.0), ("ndcg@10", 58.0)] },
    Task { name: "beam",        file: "memory_qa/beam_100k.jsonl.gz",           read: beam,        goals: &[("recall@10", 62.0)] },
    Task { name: "cosqa",       file: "code_retrieval/cosqa_codebase.jsonl.gz", read: cosqa,       goals: &[("mrr", 62.0)] },
    Task { name: "experience:entireio__cli", file: "experience/entireio__cli.jsonl.gz", read: entireio, goals: &[("ndcg@10", 38.0)] },
    Task { name: "experience:FSM1__cipher-box", file: "experience/FSM1__cipher-box.jsonl.gz", read: cipher_box, goals: &[("ndcg@10", 38.0)] },
    Task { name: "experience:swebench_django", file: "experience/swebench_django.jsonl.gz", read: django, goals: &[("ndcg@10", 38.0)] },
    Task { name: "longmemeval", file: "memory_qa/longmemeval_s.jsonl.gz",       read: longmemeval, goals: &[("all@5", 85.0), ("hit@5", 97.0)] },
];

fn locomo(folder: &Path) -> anyhow::Result<Vec<Corpus>> {
    let rows = data::rows(&folder.join("memory_qa/locomo.jsonl.gz"))?;
    Ok(rows.iter().map(of_locomo).collect())
}

fn of_locomo(row: &Value) -> Corpus {
    let doc = |it: &Value| Doc {
        id: text(&it["id"]),
        text: text(&it["text"]),
        at: moment(&text(&it["date"])),
        by_agent: false,
        session: it["session"].as_u64(),
        files: Vec::new(),
    };
    let docs: Vec<Doc> = array(&row["turns"]).iter().map(doc).collect();
    let last = docs.iter().map(|it| it.at).max().unwrap_or(Timestamp(0));
    let query = |it: &Value| Query {
        id: text(&it["qid"]),
        text: text(&it["question"]),
        at: last,
        known: usize::MAX,
        ..Query::default()
    };
    let queries = array(&row["questions"]).iter().map(query).collect();
    Corpus { docs, queries }
}

fn beam(folder: &Path) -> anyhow::Result<Vec<Corpus>> {
    let rows = data::rows(&folder.join("memory_qa/beam_100k.jsonl.gz"))?;
    Ok(rows.iter().map(of_beam).collect())
}

fn of_beam(row: &Value) -> Corpus {
    let mut at = Timestamp(0);
    let mut docs = Vec::new();
    for it in array(&row["messages"]) {
        // Only some messages are dated; the others came right after.
        if let Some(date) = it["date"].as_str() {
            at = moment(date);
        }
        docs.push(Doc {
            id: text(&it["id"]),
            text: text(&it["text"]),
            at,
            by_agent: it["role"] == "assistant",
            session: it["batch"].as_u64(),
            files: Vec::new(),
        });
    }
    let query = |it: &Value| Query {
        id: text(&it["qid"]),
        text: text(&it["question"]),
        at,
        known: usize::MAX,
        ..Query::default()
    };
    let queries = array(&row["questions"]).iter().map(query).collect();
    Corpus { docs, queries }
}

fn cosqa(folder: &Path) -> anyhow::Result<Vec<Corpus>> {
    let at = moment("2020-01-01");
    let codes = data::rows(&folder.join("code_retrieval/cosqa_codebase.jsonl.gz"))?;
    let doc = |it: &Value| {
        let (by_agent, session, files) = (false, None, Vec::new());
        Doc { id: text(&it["id"]), text: text(&it["code"]), at, by_agent, session, files }
    };
    let queries = data::rows(&folder.join("code_retrieval/cosqa_queries.jsonl.gz"))?;
    let query = |it: &Value| Query {
        id: text(&it["qid"]),
        text: text(&it["question"]),
        at,
        known: usize::MAX,
        ..Query::default()
    };
    let docs = codes.iter().map(doc).collect();
    Ok(vec![Corpus { docs, queries: queries.iter().map(query).collect() }])
}

fn django(folder: &Path) -> anyhow::Result<Vec<Corpus>> {
    experience(folder, "swebench_django", "query", "files")
}

fn entireio(folder: &Path) -> anyhow::Result<Vec<Corpus>> {
    experience(folder, "entireio__cli", "doc", "edited_files")
}

fn cipher_box(folder: &Path) -> anyhow::Result<Vec<Corpus>> {
    experience(folder, "FSM1__cipher-box", "doc", "edited_files")
}

/// Every task is asked about before it is remembered, with the files it changed.
fn experience(folder: &Path, name: &str, said: &str, files: &str) -> anyhow::Result<Vec<Corpus>> {
    let mut rows = data::rows(&folder.join(format!("experience/{name}.jsonl.gz")))?;
    rows.sort_by_key(|it| text(&it["start"]));
    let doc = |it: &Value| Doc {
        id: text(&it["id"]),
        text: text(&it[said]),
        at: moment(&text(&it["start"])),
        by_agent: false,
        session: None,
        files: array(&it[files]).iter().map(text).collect(),
    };
    let docs: Vec<Doc> = rows.iter().map(doc).collect();
    let asked = rows.iter().enumerate().filter(|it| it.1["scored"] == true);
    let query = |(known, it): (usize, &Value)| Query {
        id: text(&it["id"]),
        text: text(&it["query"]),
        at: moment(&text(&it["start"])),
        file: array(&it[files]).first().map(text),
        test: test_of(&text(&it["id"])),
        gold: worth(&it["gold"]),
        known,
    };
    let queries = asked.map(query).collect();
    Ok(vec![Corpus { docs, queries }])
}

/// The test that a task changed, where it is known.
fn test_of(task: &str) -> Option<String> {
    let mut rows = DJANGO_TESTS.lines().map(|it| it.split('\t'));
    rows.find_map(|mut it| (it.next() == Some(task)).then(|| it.nth(1).map(str::to_owned))?)
}

fn worth(gold: &Value) -> HashMap<String, f64> {
    let gold = gold.as_object().into_iter().flatten();
    gold.map(|(id, worth)| (id.clone(), worth.as_f64().unwrap_or_default())).collect()
}

fn longmemeval(folder: &Path) -> anyhow::Result<Vec<Corpus>> {
    let rows = data::rows(&folder.join("memory_qa/longmemeval_s.jsonl.gz"))?;
    Ok(rows.iter().map(of_longmemeval).collect())
}

/// A memory per turn; a session is found by its best one.
fn of_longmemeval(row: &Value) -> Corpus {
    let mut docs = Vec::new();
    for (number, session) in (0_u64..).zip(array(&row["sessions"])) {
        for turn in array(&session["turns"]) {
            docs.push(Doc {
                id: text(&session["id"]),
                text: format!("{}: {}", text(&turn["role"]), text(&turn["content"])),
                at: moment(&text(&session["date"])),
                by_agent: turn["role"] == "assistant",
                session: Some(number),
                files: Vec::new(),
            });
        }
    }
    let query = Query {
        id: text(&row["question_id"]),
        text: text(&row["question"]),
        at: moment(&text(&row["question_date"])),
        known: usize::MAX,
        ..Query::default()
    };
    Corpus { docs, queries: vec![query] }
}

fn array(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

const MONTHS: &[&str] =
    &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// The day in a date of any of the forms the corpora have: `1:56 pm on 8 May, 2023`,
/// `2023/06/06 (Tue) 08:19`, `2023-04-25T04:07:00`, `March-15-2024`. Hours do not matter here.
fn moment(date: &str) -> Timestamp {
    let (mut year, mut month, mut day) = (None, None, None);
    let words = date.split(|it: char| !it.is_ascii_alphanumeric()).filter(|it| !it.is_empty());
    let date = date.split_once(" on ").map_or(date, |it| it.1);
    for word in date
        .split(|it: char| !it.is_ascii_alphanumeric())
        .filter(|it| !it.is_empty())
        .take(words.count())
    {
        let named = word.get(..3).map(str::to_ascii_lowercase);
        let named = named.and_then(|it| MONTHS.iter().position(|month| *month == it));
        let number = word.trim_end_matches(char::is_alphabetic).split('T').next();
        let number: Option<i64> = number.and_then(|it| it.parse().ok());
        match (named, number) {
            (Some(named), _) => month = month.or(i64::try_from(named + 1).ok()),
            (None, Some(number)) if number > 1_000 => year = year.or(Some(number)),
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
    fn dates_of_every_form_are_read() {
        for (date, day) in [
            ("1:56 pm on 8 May, 2023", "2023-05-08"),
            ("2023/06/06 (Tue) 08:19", "2023-06-06"),
            ("2023-04-25T04:07:00", "2023-04-25"),
            ("2016-11-08T17:27:19Z", "2016-11-08"),
            ("March-15-2024", "2024-03-15"),
        ] {
            assert_eq!(moment(date).date(), day, "{date}");
        }
    }
}
