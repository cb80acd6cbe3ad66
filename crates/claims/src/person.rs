//! Claims of people: what was typed in a session, sentence by sentence, with its place and what followed.

use model::UserMessageKind;
use observe::{LoggedMessage, code_words, pad_words, split_sentences};

use crate::cut::{points_back, strip_lead_in};
use crate::feature::{ClaimFeature, FeatureSet};
use crate::session_view::SessionView;
use crate::surface::{add_surface_features, name_parts};
use crate::{Claim, ClaimMoment};

/// Messages up to this length are one claim; longer ones are cut into sentences, in bytes.
const MAX_WHOLE_MESSAGE: usize = 260;
/// Longer messages are descriptions of tasks, of which only sentences with a rule or a cause count.
const LONG_MESSAGE: usize = 600;
const MIN_PERSON_BYTES: usize = 20;
const MAX_PERSON_BYTES: usize = 420;
/// The longest quoted question, in bytes.
const MAX_QUESTION_BYTES: usize = 160;
/// Lines of a message that are searched; the rest is pasted text.
const MAX_MESSAGE_LINES: usize = 200;

/// The purpose of a sentence of a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SpeechAct {
    /// States a rule, a fact or an objection.
    Rule,
    /// Asks in order to correct: "why not …", "shouldn't this …".
    CorrectiveQuestion,
    Task,
    Question,
    /// Reports what is seen: "I still get the error".
    Report,
    Other,
}

/// Words of rules and objections, between blanks.
#[rustfmt::skip]
const RULE_PHRASES: &[&str] = &[
    " always ", " never ", " don't ", " dont ", " do not ", " doesn't ", " does not ", " should ", " shouldn't ", " must ", " instead ", " rather ", " prefer ", " only ", " wrong ", " because ", " since ",
    " given ", " no longer ", " anymore ", " otherwise ", " why not ", " can't we ", " make sure ", " keep ", " not correct ", " not right ", " not enough ", " not needed ", " unless ", " we use ", " we have ",
    " we don't ", " we never ", " we always ", " by default ", " won't ", " can't ", " cannot ", " too much ", " too many ", " every ", " each ", " actually ", " repeated ", " duplicate ", " duplicated ",
];

/// Words that make a question a correction.
#[rustfmt::skip]
const CORRECTIVE_PHRASES: &[&str] = &[
    " instead ", " rather ", " can't we ", " why not ", " should ", " shouldn't ", " repeated ", " duplicate ", " duplicated ", " only ", " better ", " we don't ", " we never ", " we always ",
];

/// First words of a task, after lead-ins.
#[rustfmt::skip]
const TASK_VERBS: &[&str] = &[
    "add", "brainstorm", "change", "check", "close", "commit", "confirm", "continue", "create", "cut", "delete", "do", "document", "evaluate", "explain", "extract", "find", "fix", "get", "give", "go", "handle",
    "help", "implement", "improve", "include", "investigate", "list", "look", "make", "merge", "move", "open", "plan", "proceed", "push", "put", "read", "rebase", "redo", "refactor", "remove", "rename", "reply",
    "rerun", "review", "run", "save", "see", "set", "show", "simplify", "start", "stop", "submit", "tell", "test", "try", "update", "verify", "wait", "write",
];

/// Words before the verb of a task.
const TASK_OPENINGS: &[&str] = &[
    "please",
    "pls",
    "can you",
    "could you",
    "would you",
    "can we",
    "could we",
    "let's",
    "lets",
    "go ahead and",
    "i want you to",
    "i'd like you to",
    "we need to",
    "we have to",
    "you can",
    "also",
    "now",
    "then",
    "just",
    "maybe",
    "next",
];

/// First words of a question.
const QUESTION_WORDS: &[&str] = &[
    "am", "any", "are", "can", "could", "did", "do", "does", "has", "have", "how", "is", "was",
    "were", "what", "when", "where", "which", "who", "why", "will", "would",
];

/// Openings of a report.
const REPORT_OPENINGS: &[&str] = &[
    "something",
    "seems",
    "getting",
    "i get",
    "i'm getting",
    "i am getting",
    "i still",
    "i see",
    "still",
    "it's still",
    "it is still",
    "it fails",
    "it says",
    "there is an error",
    "there's an error",
    "now i get",
    "now i see",
    "same error",
    "same issue",
    "nope",
];

/// Collects the claims in the messages of a session.
pub(crate) fn collect(view: &SessionView<'_>) -> Vec<Claim> {
    let mut acc = Vec::new();
    // The messages to a subagent are written by the agent that started it.
    if view.pad.parent.is_some() {
        return acc;
    }
    let mut is_first = true;
    for message in &view.pad.messages {
        let moment = match message.kind {
            UserMessageKind::AcceptedPlan => continue,
            UserMessageKind::Answer => ClaimMoment::Answer,
            UserMessageKind::Refusal => ClaimMoment::Refusal,
            UserMessageKind::Prompt if is_first => ClaimMoment::FirstPrompt,
            UserMessageKind::Prompt | UserMessageKind::Queued => ClaimMoment::Remark,
        };
        is_first &= message.kind != UserMessageKind::Prompt;
        add_message(&mut acc, view, message, moment);
    }
    acc
}

fn add_message(
    acc: &mut Vec<Claim>,
    view: &SessionView<'_>,
    message: &LoggedMessage,
    moment: ClaimMoment,
) {
    let prose = strip_pasted(&message.text);
    let sentences: Vec<&str> = prose.iter().flat_map(|it| split_sentences(it)).collect();
    let whole = sentences.join(" ");
    if whole.len() < MIN_PERSON_BYTES {
        return;
    }
    let units: Vec<&str> = if whole.len() <= MAX_WHOLE_MESSAGE { vec![&whole] } else { sentences };
    let place = if moment == ClaimMoment::FirstPrompt { None } else { view.place_at(message.call) };
    let reply = view.pad.agent_replies.iter().find(|it| it.message_call == message.call);
    for unit in units {
        let words = pad_words(unit);
        let has_rule = contains_any(&words, RULE_PHRASES);
        let is_long = whole.len() > LONG_MESSAGE;
        if !(MIN_PERSON_BYTES..=MAX_PERSON_BYTES).contains(&unit.len()) || (is_long && !has_rule) {
            continue;
        }
        let names = name_parts(unit);
        let mut features = FeatureSet::default();
        features.insert(moment_feature(moment));
        match speech_act(unit) {
            SpeechAct::Rule => features.insert(ClaimFeature::ActRule),
            SpeechAct::CorrectiveQuestion => features.insert(ClaimFeature::ActCorrectiveQuestion),
            SpeechAct::Task => features.insert(ClaimFeature::ActTask),
            SpeechAct::Question => features.insert(ClaimFeature::ActQuestion),
            SpeechAct::Report => features.insert(ClaimFeature::ActReport),
            SpeechAct::Other => {}
        }
        features.insert_if(ClaimFeature::LongMessage, is_long);
        features.insert_if(ClaimFeature::PersonEditsFollow, view.is_followed_by_edit(message.call));
        features.insert_if(ClaimFeature::PersonNamesEdited, view.edits_touch(message.call, &names));
        features.insert_if(ClaimFeature::AgentConcedes, reply.is_some_and(|it| it.concedes));
        features.insert_if(ClaimFeature::Interrupts, message.is_interrupt);
        let text = place_text(unit, message, moment, place);
        features.insert_if(ClaimFeature::PointsBack, points_back(strip_lead_in(unit)));
        add_surface_features(&mut features, unit, &text);
        let is_first = moment == ClaimMoment::FirstPrompt;
        acc.push(Claim {
            moment,
            files: view.files_of(unit, place),
            text,
            quote: unit.to_owned(),
            restatement: reply
                .filter(|_| !is_first)
                .map(|it| it.restatement.clone())
                .unwrap_or_default(),
            call: message.call,
            order: 0,
            features,
            outcome: String::new(),
        });
    }
}

/// The words of a person as they can be told later: with the question, or with the place if they point to it.
fn place_text(
    unit: &str,
    message: &LoggedMessage,
    moment: ClaimMoment,
    place: Option<&str>,
) -> String {
    let body = strip_lead_in(unit);
    if let (ClaimMoment::Answer, Some(question)) = (moment, &message.reply_to) {
        let question = &question[..question.floor_char_boundary(MAX_QUESTION_BYTES)];
        return format!("{question} — {body}");
    }
    match place {
        Some(place) if points_back(body) || code_words(body).is_empty() => {
            format!("{place}: {body}")
        }
        _ => body.to_owned(),
    }
}

/// The feature of a moment; each moment has its own.
pub(crate) const fn moment_feature(moment: ClaimMoment) -> ClaimFeature {
    match moment {
        ClaimMoment::FirstPrompt => ClaimFeature::FirstPrompt,
        ClaimMoment::Remark => ClaimFeature::Remark,
        ClaimMoment::Refusal => ClaimFeature::Refusal,
        ClaimMoment::Answer => ClaimFeature::Answer,
        ClaimMoment::Plan => ClaimFeature::Plan,
        ClaimMoment::Diagnosis => ClaimFeature::Diagnosis,
        ClaimMoment::Summary => ClaimFeature::Summary,
        ClaimMoment::Conclusion => ClaimFeature::Conclusion,
    }
}

fn speech_act(sentence: &str) -> SpeechAct {
    let body = strip_lead_in(sentence);
    let words = pad_words(body);
    let opening = &words[1..];
    let starts_with =
        |phrase: &str| opening.strip_prefix(phrase).is_some_and(|it| it.starts_with(' '));
    let has_rule = contains_any(&words, RULE_PHRASES);
    if !has_rule && REPORT_OPENINGS.iter().any(|it| starts_with(it)) {
        return SpeechAct::Report;
    }
    let first = opening.split(' ').next().unwrap_or_default();
    let is_question = body.ends_with('?') || first == "why" || words.contains(" wondering ");
    if is_question {
        let is_plain =
            body.ends_with('?') && QUESTION_WORDS.binary_search(&first).is_ok() && !has_rule;
        let corrects = contains_any(&words, CORRECTIVE_PHRASES);
        return if corrects && !is_plain {
            SpeechAct::CorrectiveQuestion
        } else {
            SpeechAct::Question
        };
    }
    if !has_rule && is_task(opening) {
        return SpeechAct::Task;
    }
    if has_rule { SpeechAct::Rule } else { SpeechAct::Other }
}

/// Returns whether padded words begin with the verb of a task, after words such as "please".
fn is_task(opening: &str) -> bool {
    let mut rest = opening;
    loop {
        let stripped = TASK_OPENINGS.iter().find_map(|it| rest.strip_prefix(it)?.strip_prefix(' '));
        match stripped {
            Some(after) => rest = after,
            None => break,
        }
    }
    TASK_VERBS.binary_search(&rest.split(' ').next().unwrap_or_default()).is_ok()
}

/// The lines of a message that a person typed: no code, no logs, no tables, no stack traces.
fn strip_pasted(text: &str) -> Vec<&str> {
    let mut acc = Vec::new();
    let mut in_fence = false;
    for line in text.lines().take(MAX_MESSAGE_LINES) {
        let bare = line.trim();
        if bare.starts_with("```") {
            in_fence = !in_fence;
        } else if !in_fence && !is_pasted_line(line) {
            acc.push(bare);
        }
    }
    acc
}

fn is_pasted_line(line: &str) -> bool {
    let bare = line.trim_start();
    let Some(first) = bare.chars().next() else { return true };
    let is_marked = matches!(
        first,
        '|' | '│'
            | '┃'
            | '✓'
            | '✗'
            | '✖'
            | '×'
            | '●'
            | '⏺'
            | '⎿'
            | '▲'
            | '⚠'
            | '➜'
            | '{'
            | '}'
            | '['
            | ']'
            | '<'
            | ';'
            | ')'
    );
    let is_trace = [
        "at ", "$ ", "> ", "+++", "---", "@@", "File \"", "error:", "warning:", "fatal:", "hint:",
        "npm ERR!", "FAIL ",
    ]
    .iter()
    .any(|it| bare.starts_with(it));
    let is_code = bare.ends_with(['{', ';']) || (line.starts_with("    ") && !bare.contains(". "));
    let is_stamp = bare.len() > 8 && bare.as_bytes()[..4].iter().all(u8::is_ascii_digit);
    is_marked || is_trace || is_code || is_stamp
}

fn contains_any(words: &str, phrases: &[&str]) -> bool {
    phrases.iter().any(|it| words.contains(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_sorted() {
        assert!(TASK_VERBS.is_sorted() && QUESTION_WORDS.is_sorted());
    }

    #[test]
    fn sentences_are_told_apart_by_what_they_do() {
        assert_eq!(speech_act("please add a button to the page"), SpeechAct::Task);
        assert_eq!(speech_act("what is the timeout of the queue?"), SpeechAct::Question);
        assert_eq!(
            speech_act("why do we need this check, shouldn't it be in the registry?"),
            SpeechAct::CorrectiveQuestion
        );
        assert_eq!(speech_act("I still get the same error"), SpeechAct::Report);
        assert_eq!(speech_act("we never mock the database in these tests"), SpeechAct::Rule);
    }

    #[test]
    fn pasted_lines_are_not_words_of_a_person() {
        let text = "this fails:\n```\nlet x = 1;\n```\n    at foo (a.js:1)\n$ npm test\nuse the cache instead";
        assert_eq!(strip_pasted(text), ["this fails:", "use the cache instead"]);
    }
}
