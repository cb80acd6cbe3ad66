//! The checks of a claim, in order; the first that fails refuses it.

use std::collections::BTreeSet;

use model::{AnswerRefusal, AnsweredScope, MemoryKind, MemoryType, ProjectPath, QuoteSource};

use super::claim_words::{
    backticked_spans, code_names, content_stems, digit_runs, fold_text, shared_words_per_mille,
};
use super::{AnsweredClaim, CheckedClaim, ClaimVerdict, DossierLine};
use crate::novelty::{MemoryStatement, StatementRelation, compare_statements};
use crate::safety::detect_instruction;

/// Claims of one session that are kept; the prompt says the same.
const MAX_KEPT_CLAIMS: usize = 5;
/// The shortest and the longest text, in characters. The prompt asks for less than the maximum.
const MIN_CLAIM_CHARS: usize = 30;
const MAX_CLAIM_CHARS: usize = 420;
/// The least that the model must say of itself, per mille. Readers found nine of ten claims from this worth on
/// useful, and fewer below; a higher limit loses what they had noted themselves.
const MIN_SURE: u16 = 700;
const MIN_WORTH: u16 = 350;
/// The shortest quote, in characters; a shorter one is in any line.
const MIN_QUOTE_CHARS: usize = 8;
/// The share of a claim's words that its quoted lines must contain, per mille.
const MIN_SUPPORT: usize = 250;
/// The share of a claim's words in the person's quoted lines from which these carry it alone, per mille.
const MIN_OWN_SUPPORT: usize = 400;
/// The share of a claim's words in one rule or memory from which it is known, per mille.
const KNOWN_SHARE: usize = 700;
/// Words of a claim from which that share says something.
const MIN_WORDS_TO_COMPARE: usize = 4;

/// Everything that claims are checked against.
pub struct AnswerFacts<'a> {
    /// The quotable lines of the dossier.
    pub lines: &'a [DossierLine],
    /// The part of the dossier that cannot come from outside the project, as text.
    pub trusted_text: &'a str,
    /// Rules of the repository.
    pub rules: &'a [String],
    /// Stored memories that are told to agents, or were shown to the model.
    pub known: &'a [KnownMemory],
    /// Commands that succeeded in the session after all quoted lines were said.
    pub later_commands: &'a [String],
    /// Returns whether the repository has a file or an identifier of this name now.
    pub exists: &'a dyn Fn(&str) -> bool,
    pub has_secret: &'a dyn Fn(&str) -> bool,
}

impl AnswerFacts<'_> {
    /// Returns whether a text is in the trusted part of the dossier or in a stored memory.
    fn has_trusted_text(&self, text: &str) -> bool {
        self.trusted_text.contains(text) || self.known.iter().any(|it| it.text.contains(text))
    }
}

/// A stored memory that claims are compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownMemory {
    /// The short id, by which a claim can replace it.
    pub id: String,
    pub text: String,
}

/// The refusal of a claim, with a detail for people.
type Refusal = (AnswerRefusal, String);

/// One check. Order is the order of the report.
type Check = fn(&AnsweredClaim, &[&DossierLine], &AnswerFacts<'_>) -> Option<Refusal>;

const CHECKS: &[Check] = &[
    check_form,
    check_opinion,
    check_support,
    check_names,
    check_confirmed,
    check_contradiction,
    check_secret,
    check_instruction,
    check_machine,
    check_novelty,
];

/// Checks all claims of an answer, the most worthwhile first.
pub fn check_claims(
    answer: Vec<Result<AnsweredClaim, CheckedClaim>>,
    facts: &AnswerFacts<'_>,
) -> Vec<CheckedClaim> {
    let (mut claims, mut acc) = (Vec::new(), Vec::new());
    for claim in answer {
        match claim {
            Ok(claim) => claims.push(claim),
            Err(malformed) => acc.push(malformed),
        }
    }
    claims.sort_by_key(|it| std::cmp::Reverse((it.worth, it.sure)));
    let mut kept: Vec<String> = Vec::new();
    for mut claim in claims {
        let verdict = match judge_claim(&mut claim, facts, &kept) {
            Ok(verdict) => {
                kept.push(claim.text.clone());
                verdict
            }
            Err((why, detail)) => ClaimVerdict::Refused { why, detail },
        };
        acc.push(CheckedClaim { claim, verdict });
    }
    acc
}

fn judge_claim(
    claim: &mut AnsweredClaim,
    facts: &AnswerFacts<'_>,
    kept: &[String],
) -> Result<ClaimVerdict, Refusal> {
    let quoted = find_quotes(claim, facts.lines)?;
    if let Some(refusal) = CHECKS.iter().find_map(|check| check(claim, &quoted, facts)) {
        return Err(refusal);
    }
    if kept.iter().any(|it| states_the_same(it, claim)) {
        return Err((AnswerRefusal::Known, "another claim of the answer says so".to_owned()));
    }
    if kept.len() >= MAX_KEPT_CLAIMS {
        return Err((AnswerRefusal::Budget, String::new()));
    }
    // A name that only external text has would carry that text past the quotes. The repository vouches for
    // files and identifiers; the words of a command or an option are in every project.
    let is_plain = |it: &str| !it.contains(' ') && !it.starts_with('-');
    let in_trusted_text = |it: &str| facts.has_trusted_text(it);
    let is_trusted_name = |it: &&str| {
        in_trusted_text(it)
            || has_known_parts(it, &in_trusted_text)
            || (is_plain(it) && (facts.exists)(it))
    };
    let launders = !code_names(&claim.text).iter().all(is_trusted_name);
    let rests_on_external =
        quoted.iter().any(|it| it.tainted) && !is_carried_by_person(claim, &quoted);
    let is_tainted = launders || rests_on_external;
    // Work that was moved or thrown away since, or that is on another branch: a person can tell.
    let names_gone_file = code_names(&claim.text).iter().any(|it| is_gone_file(it, facts));
    let is_doubtful = is_tainted || names_gone_file;
    Ok(if is_doubtful { ClaimVerdict::Review } else { ClaimVerdict::Live })
}

/// Returns whether the quoted words of a person carry a claim alone; other quotes then only illustrate it.
fn is_carried_by_person(claim: &AnsweredClaim, quoted: &[&DossierLine]) -> bool {
    let own = quoted.iter().filter(|it| it.source == QuoteSource::Person && !it.tainted);
    let own: Vec<&str> = own.map(|it| it.text.as_str()).collect();
    shared_words_per_mille(&content_stems(&claim.text), &content_stems(&own.join(" ")))
        >= MIN_OWN_SUPPORT
}

/// Returns whether a name is a path in a folder of the repository at which there is no file now.
fn is_gone_file(name: &str, facts: &AnswerFacts<'_>) -> bool {
    let is_pattern = name.contains(['*', '<', '…', ' ', ':']);
    let folder = name.split_once('/').map(|it| it.0).filter(|it| !it.is_empty());
    !is_pattern
        && model::words::file_extension(name).is_some()
        && folder.is_some_and(|it| (facts.exists)(it))
        && !(facts.exists)(name)
}

/// Finds every quote word for word, and sets the number and the source of the line it is in. The number
/// that the model gave is tried first.
fn find_quotes<'a>(
    claim: &mut AnsweredClaim,
    lines: &'a [DossierLine],
) -> Result<Vec<&'a DossierLine>, Refusal> {
    let mut acc: Vec<&DossierLine> = Vec::new();
    for quote in &mut claim.quotes {
        let wanted = fold_text(&quote.text);
        let is_long_enough = wanted.chars().count() >= MIN_QUOTE_CHARS;
        // A whole line may be shorter: a command such as `make`.
        let is_in = |it: &DossierLine| {
            let line = fold_text(&it.text);
            line == wanted || (is_long_enough && line.contains(&wanted))
        };
        let named = lines.iter().find(|it| it.n == quote.n && is_in(it));
        // If several lines have it, one from outside the project is assumed.
        let any = || lines.iter().filter(|it| is_in(it)).max_by_key(|it| it.tainted);
        let Some(line) = named.or_else(any) else {
            return Err((AnswerRefusal::Quote, format!("“{}”", quote.text)));
        };
        (quote.n, quote.source) = (line.n, Some(line.source));
        acc.push(line);
    }
    if acc.is_empty() {
        return Err((AnswerRefusal::Quote, "it has none".to_owned()));
    }
    Ok(acc)
}

fn check_form(claim: &AnsweredClaim, _: &[&DossierLine], _: &AnswerFacts<'_>) -> Option<Refusal> {
    let n_chars = claim.text.chars().count();
    if !(MIN_CLAIM_CHARS..=MAX_CLAIM_CHARS).contains(&n_chars) {
        return Some((AnswerRefusal::Form, format!("{n_chars} characters")));
    }
    let is_plain = !claim.text.chars().any(|it| it.is_control() || model::is_invisible(it));
    let has_pairs = claim.text.matches('`').count().is_multiple_of(2);
    let is_well_formed = is_plain && has_pairs;
    (!is_well_formed)
        .then(|| (AnswerRefusal::Form, "hidden characters or an open backtick".to_owned()))
}

fn check_opinion(
    claim: &AnsweredClaim,
    _: &[&DossierLine],
    _: &AnswerFacts<'_>,
) -> Option<Refusal> {
    let percent = |it: u16| format!("{} %", it / 10);
    if claim.sure < MIN_SURE {
        return Some((AnswerRefusal::Unsure, percent(claim.sure)));
    }
    (claim.worth < MIN_WORTH).then(|| (AnswerRefusal::Worthless, percent(claim.worth)))
}

/// The quoted lines speak of what the claim says.
fn check_support(
    claim: &AnsweredClaim,
    quoted: &[&DossierLine],
    _: &AnswerFacts<'_>,
) -> Option<Refusal> {
    let words = content_stems(&claim.text);
    let texts: Vec<&str> = quoted.iter().map(|it| it.text.as_str()).collect();
    let share = shared_words_per_mille(&words, &content_stems(&texts.join(" ")));
    (share < MIN_SUPPORT).then(|| {
        (
            AnswerRefusal::Unsupported,
            format!("{} % of its words are in the quoted lines", share / 10),
        )
    })
}

/// Every name and number is in the session or in the repository.
fn check_names(
    claim: &AnsweredClaim,
    quoted: &[&DossierLine],
    facts: &AnswerFacts<'_>,
) -> Option<Refusal> {
    let in_lines = |name: &str| facts.lines.iter().any(|it| it.text.contains(name));
    let is_known = |it: &str| facts.has_trusted_text(it) || in_lines(it) || (facts.exists)(it);
    let mut names = code_names(&claim.text);
    names.extend(claim.files.iter().map(String::as_str));
    if let Some(name) = names.iter().find(|it| !is_known(it) && !has_known_parts(it, &is_known)) {
        return Some((AnswerRefusal::UnknownName, format!("`{name}`")));
    }
    let quoted_text: Vec<&str> = quoted.iter().map(|it| it.text.as_str()).collect();
    let quoted_text = quoted_text.join(" ");
    let known: BTreeSet<&str> =
        digit_runs(facts.trusted_text).into_iter().chain(digit_runs(&quoted_text)).collect();
    let number = digit_runs(&claim.text).into_iter().find(|it| !known.contains(it))?;
    Some((AnswerRefusal::UnknownName, format!("the number {number}")))
}

/// Returns whether a name that is in no text as it stands is put together from known ones: a command with a
/// flag less (`go test ./x`), a pattern (`todos/*.md`), a placeholder (`send <worker>`), two names (`A/B`).
fn has_known_parts(name: &str, is_known: &dyn Fn(&str) -> bool) -> bool {
    let is_pattern = name.contains(['*', '<', '…', ' ']);
    // A single path is a file, which is there or not.
    if !is_pattern && model::words::file_extension(name).is_some() {
        return false;
    }
    let is_placeholder = |it: &&str| it.starts_with('<') && it.ends_with('>');
    let words = name.split_whitespace().filter(|it| !is_placeholder(it));
    let mut parts =
        words.flat_map(|it| it.split(['/', '*', '=', '…'])).filter(|it| !it.is_empty()).peekable();
    parts.peek().is_some() && parts.all(is_known)
}

/// A quoted line was borne out. A failure is its own evidence where the claim tells what fails: the program
/// printed it, whatever ended it.
fn check_confirmed(
    claim: &AnsweredClaim,
    quoted: &[&DossierLine],
    _: &AnswerFacts<'_>,
) -> Option<Refusal> {
    let tells_failure =
        matches!(claim.kind, MemoryKind::DeadEnd | MemoryKind::ErrorPattern | MemoryKind::Gotcha);
    let bears_out =
        |it: &&DossierLine| it.confirmed || (tells_failure && it.source == QuoteSource::Failure);
    let is_confirmed = quoted.iter().any(bears_out);
    // A wish is confirmed by the person alone.
    let is_wish = matches!(claim.kind, MemoryKind::Preference | MemoryKind::Requirement);
    let has_person = quoted.iter().any(|it| it.source == QuoteSource::Person);
    if is_wish && !has_person && !quoted.iter().any(|it| it.source == QuoteSource::Plan) {
        return Some((AnswerRefusal::Unconfirmed, "no person said it".to_owned()));
    }
    (!is_confirmed).then(|| (AnswerRefusal::Unconfirmed, String::new()))
}

/// A prohibition that the session itself broke with success is none, unless a person said it.
fn check_contradiction(
    claim: &AnsweredClaim,
    quoted: &[&DossierLine],
    facts: &AnswerFacts<'_>,
) -> Option<Refusal> {
    const PROHIBITIONS: &[&str] = &["never ", "do not ", "don't ", "must not ", "avoid "];
    if quoted.iter().any(|it| it.source == QuoteSource::Person) {
        return None;
    }
    let lower = claim.text.to_lowercase();
    for prohibition in PROHIBITIONS {
        let Some(start) = lower.find(prohibition) else { continue };
        let rest = claim.text.get(start..).unwrap_or_default();
        // The first command after the word is the forbidden one, if it follows closely.
        let Some(name) = backticked_spans(rest).next() else { continue };
        let is_near = rest.find(name).is_some_and(|it| it < prohibition.len() + 16);
        let is_command = name.contains(' ');
        if is_near && is_command && facts.later_commands.iter().any(|it| it.starts_with(name)) {
            return Some((AnswerRefusal::Contradicted, format!("`{name}` worked afterwards")));
        }
    }
    None
}

fn check_secret(
    claim: &AnsweredClaim,
    _: &[&DossierLine],
    facts: &AnswerFacts<'_>,
) -> Option<Refusal> {
    let has_secret = (facts.has_secret)(&claim.text) || (facts.has_secret)(&claim.when);
    has_secret.then(|| (AnswerRefusal::Secret, String::new()))
}

fn check_instruction(
    claim: &AnsweredClaim,
    quoted: &[&DossierLine],
    _: &AnswerFacts<'_>,
) -> Option<Refusal> {
    let why = detect_instruction(&claim.text).or_else(|| detect_instruction(&claim.when))?;
    let is_own_word = quoted.iter().all(|it| it.source == QuoteSource::Person);
    (!is_own_word).then(|| (AnswerRefusal::Instruction, why.to_owned()))
}

/// A claim names nothing that only this machine has, unless it says that it holds there only.
fn check_machine(
    claim: &AnsweredClaim,
    quoted: &[&DossierLine],
    _: &AnswerFacts<'_>,
) -> Option<Refusal> {
    const LOCAL_PREFIXES: &[&str] = &["/home/", "/Users/", "/tmp/", "/var/folders/", "C:\\Users"];
    let refuse = |detail: &str| Some((AnswerRefusal::MachineBound, detail.to_owned()));
    if claim.scope == AnsweredScope::Machine {
        return None;
    }
    if let Some(prefix) = LOCAL_PREFIXES.iter().find(|it| claim.text.contains(**it)) {
        return refuse(prefix);
    }
    if let Some(address) = claim.text.split_whitespace().find(|it| is_host_address(it)) {
        return refuse(address);
    }
    // A person's habit is theirs only if they said so.
    let is_own_word = quoted.iter().all(|it| it.source == QuoteSource::Person);
    if claim.scope == AnsweredScope::Person && !is_own_word {
        return Some((AnswerRefusal::Unconfirmed, "not in the person's own words".to_owned()));
    }
    None
}

/// An IPv4 address other than those that every machine has.
fn is_host_address(word: &str) -> bool {
    let word = word.trim_matches(|it: char| !it.is_ascii_digit());
    let host = word.split([':', '/']).next().unwrap_or(word);
    let parts: Vec<&str> = host.split('.').collect();
    let is_address = parts.len() == 4 && parts.iter().all(|it| it.parse::<u8>().is_ok());
    is_address && !matches!(host, "127.0.0.1" | "0.0.0.0")
}

fn check_novelty(
    claim: &AnsweredClaim,
    _: &[&DossierLine],
    facts: &AnswerFacts<'_>,
) -> Option<Refusal> {
    for rule in facts.rules {
        if contradicts(rule, claim) {
            return Some((AnswerRefusal::Contradicted, format!("by a rule: {rule}")));
        }
        if states_the_same(rule, claim) {
            return Some((AnswerRefusal::Known, format!("a rule says so: {rule}")));
        }
    }
    // What a claim replaces is about the same, in other words.
    let is_replaced = |it: &&KnownMemory| claim.replaces.as_ref() == Some(&it.id);
    let mut others = facts.known.iter().filter(|it| !is_replaced(it));
    let same = others.find(|it| states_the_same(&it.text, claim))?;
    Some((AnswerRefusal::Known, format!("a memory says so: {}", same.text)))
}

fn relation_to(text: &str, claim: &AnsweredClaim) -> StatementRelation {
    let kind = MemoryType::Core(claim.kind);
    let files: &[ProjectPath] = &[];
    let statement = |text| MemoryStatement { text, files, kind: &kind };
    compare_statements(&statement(text), &statement(&claim.text))
}

fn contradicts(text: &str, claim: &AnsweredClaim) -> bool {
    matches!(relation_to(text, claim), StatementRelation::Contradicts { .. })
}

/// Returns whether a text says what a claim says, in the same or nearly the same words.
fn states_the_same(text: &str, claim: &AnsweredClaim) -> bool {
    if matches!(relation_to(text, claim), StatementRelation::Same | StatementRelation::Near { .. })
    {
        return true;
    }
    let words = content_stems(&claim.text);
    words.len() >= MIN_WORDS_TO_COMPARE
        && shared_words_per_mille(&words, &content_stems(text)) >= KNOWN_SHARE
}
