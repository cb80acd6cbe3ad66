//! `waylore embed`.

use engine::{Embedded, Error, Progress};
use serde_json::json;

use super::Session;
use crate::failure::{Failure, Kind};
use crate::output::count;
use crate::ticker::Ticker;

/// Give every memory its vector by the model in use
///
/// Needed after another model was configured, or when a provider was down; new memories get theirs by
/// themselves. Can be interrupted at any time: what is done stays done, and the next run goes on. Once
/// all have one, the vectors of other models are dropped.
#[derive(clap::Args, Debug)]
pub(crate) struct EmbedArgs {}

pub(crate) async fn run(_: EmbedArgs, session: &Session<'_>) -> anyhow::Result<u8> {
    let out = session.output;
    let progress = Progress::default();
    let ticker = Ticker::start(&progress, "memories", out);
    let res = session.engine.embed_all(&progress).await;
    drop(ticker);
    let done = match res {
        Ok(done) => done,
        Err(Error::Model(error)) => return Err(broken_off(&error.to_string(), &progress)),
        Err(error) => return Err(error.into()),
    };
    let model = session.engine.coverage().await?.model;
    let code = u8::from(done.left > 0);
    if out.json {
        let Embedded { done, left, dropped } = done;
        let body = json!({ "model": model, "done": done, "left": left, "dropped": dropped });
        out.data_json("embedded", body);
        return Ok(code);
    }
    out.line(&said(&done, &model));
    if done.left > 0 {
        out.hint("they changed meanwhile; say it again");
    }
    Ok(code)
}

fn said(done: &Embedded, model: &str) -> String {
    let mut parts = vec![match done.done {
        0 => format!("no memory lacked a vector by {model}"),
        n => format!("{} a vector by {model}", count(n, "memory got", "memories got")),
    }];
    if done.left > 0 {
        parts.push(format!("{} none yet", count(done.left, "memory has", "memories have")));
    }
    if done.dropped > 0 {
        parts.push(format!("{} of other models dropped", count(done.dropped, "vector", "vectors")));
    }
    parts.join(", ")
}

/// The provider failed in the middle; what was done before that is saved.
fn broken_off(why: &str, progress: &Progress) -> anyhow::Error {
    let (done, total) = (progress.done(), progress.total());
    let message = match total {
        0 => why.to_owned(),
        _ => format!("{done} of {total} memories got a vector, then: {why}"),
    };
    let hint = "`waylore config test-provider` looks closer; `waylore embed` goes on from there";
    Failure { kind: Kind::Environment, message, hint: Some(hint.to_owned()) }.into()
}
