//! What `search`, `ask` and `context` share: how one asks, and how an answer explains itself.

use engine::{Answer, Filter, Hit, Path, Purpose, Question, Reach, Stage, Verdict, Without};
use model::Phase;

use super::Session;
use crate::output::DIM;

/// How one asks.
#[derive(clap::Args, Debug)]
pub(crate) struct AskingArgs {
    /// What you are doing: define, implement, validate, refine, explore, reflect
    #[arg(long, value_name = "PHASE")]
    pub(crate) phase: Option<String>,
    /// Show every factor of every place, and what was passed over
    #[arg(long)]
    pub(crate) explain: bool,
    #[arg(long, value_name = "STAGE", value_delimiter = ',', help = stages())]
    without: Vec<String>,
}

impl AskingArgs {
    /// Whether everything is as usual.
    pub(crate) fn is_plain(&self) -> bool {
        self.phase.is_none() && self.without.is_empty()
    }

    pub(crate) fn question(
        &self,
        text: String,
        filter: Filter,
        reach: Option<Reach>,
    ) -> Result<Question, engine::Error> {
        let (phase, without) = (self.phase()?, self.without()?);
        let files = Vec::new();
        Ok(Question { text, files, filter, reach, phase, purpose: Purpose::Search, without })
    }

    pub(crate) fn phase(&self) -> Result<Option<Phase>, engine::Error> {
        Ok(self.phase.as_deref().map(Phase::parse).transpose()?)
    }

    pub(crate) fn without(&self) -> Result<Without, engine::Error> {
        let stages: Result<Vec<Stage>, _> =
            self.without.iter().map(|it| Stage::parse(it)).collect();
        Ok(Without(stages?))
    }
}

/// The help of `--without`: the stages there are, from the table of them.
fn stages() -> String {
    let slugs: Vec<&str> = Stage::ALL.iter().map(|it| it.slug()).collect();
    format!("Leave stages out: {}", slugs.join(", "))
}

/// Why a hit is there, in a few words.
pub(crate) fn reasons(hit: &Hit) -> String {
    let because = &hit.because;
    if let Some(by) = because.pulled_by {
        return format!("belongs to #{}", by.short());
    }
    let mut res = Vec::new();
    for trace in &because.traces {
        match trace.path {
            Path::Dense => res.push(format!("meaning {:.2}", trace.score)),
            Path::Keyword if because.words.is_empty() => res.push("words".to_owned()),
            Path::Keyword => res.push(format!("words {}", because.words.join(" "))),
            Path::Graph => res.push("nearby files".to_owned()),
        }
    }
    if because.neighbours > 0.0 {
        res.push("what was learned beside it".to_owned());
    }
    if because.boost > 0.0 {
        res.push("next to the files of better ones".to_owned());
    }
    res.extend(because.doubts.iter().cloned());
    res.join(" · ")
}

/// Prints every factor, for the hits and for what was passed over.
pub(crate) fn explain(answer: &Answer, session: &Session<'_>) {
    let out = session.output;
    out.say("");
    out.say(&format!("a question of the class `{}`", answer.class));
    say_verdict(answer.verdict, session);
    say_columns(session);
    for hit in &answer.hits {
        out.say(&row(hit));
    }
    for (hit, why) in &answer.passed_over {
        out.say(&format!("{DIM}{}  {}{DIM:#}", row(hit), why.reading()));
    }
}

/// Says whether anything was relevant, with the numbers that decided it.
pub(crate) fn say_verdict(verdict: Verdict, session: &Session<'_>) {
    session.output.say(&match verdict {
        Verdict::Answered { strength, needed } => {
            format!("answered: strength {strength:.2}, {needed:.2} is needed here")
        }
        Verdict::Nothing { strength, needed } => {
            format!("nothing relevant: strength {strength:.2}, {needed:.2} is needed here")
        }
        Verdict::Open => "relevance was not judged".to_owned(),
    });
}

/// The head of the table that [`row`] fills.
pub(crate) fn say_columns(session: &Session<'_>) {
    session.output.say("id         score   rel   rec  freq phase trust  conf  paths");
}

/// Every factor of a place, in one line.
pub(crate) fn row(hit: &Hit) -> String {
    let factors = hit.because.factors;
    let mut paths: Vec<String> = hit
        .because
        .traces
        .iter()
        .map(|it| format!("{} {:.3} (rank {}, brings {:.2})", it.path, it.score, it.rank, it.share))
        .collect();
    if hit.because.neighbours > 0.0 {
        paths.push(format!("neighbours bring {:.2}", hit.because.neighbours));
    }
    if hit.because.boost > 0.0 {
        paths.push(format!("boost brings {:.2}", hit.because.boost));
    }
    if let Some(score) = hit.because.reranked {
        paths.push(format!("reranked {score:.2}"));
    }
    paths.extend(hit.because.doubts.iter().cloned());
    format!(
        "#{}  {:>5.3} {:>5.2} {:>5.2} {:>5.2} {:>5.2} {:>5.2} {:>5.2}  {}",
        hit.shown.memory.id.short(),
        hit.score,
        factors.relevance,
        factors.recency,
        factors.frequency,
        factors.phase,
        factors.trust,
        factors.confidence,
        paths.join(", ")
    )
}
