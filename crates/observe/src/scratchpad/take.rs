//! What each kind of event adds to the scratchpad.

use model::{External, SessionStart, Timestamp, Tool, ToolCall, ToolKind, ToolResult, UserMessage};

use super::{
    Call, Does, FailureAt, Listing, MAX_CALLS, MAX_FAILURES, MAX_LISTINGS, MAX_MESSAGES,
    MAX_REMARKS, Message, Remark, RemarkKind, Scratchpad, State, Stumble, Touch, Undone, mark,
};
use crate::fingerprint::failure;
use crate::imports;
use crate::outlook;
use crate::said;
use crate::sentence::{MAX_SENTENCE, sentences};
use crate::shell::{self, Deed};
use crate::used;

/// The longest message of a person kept, in bytes.
const MAX_MESSAGE: usize = 2048;
/// Files that one call may touch.
const MAX_TOUCHED: usize = 50;
/// How many calls after a read one of its imports may be read.
const CHASE: u32 = 4;

impl Scratchpad {
    pub(super) fn start(&mut self, start: &SessionStart) {
        // A resumed session starts again; what was said first stands.
        if self.agent.is_empty() {
            start.agent.clone_into(&mut self.agent);
            start.project_root.trim_end_matches('/').clone_into(&mut self.root);
            self.parent = start.parent;
            self.work_unit.clone_from(&start.work_unit);
            self.host_session.clone_from(&start.host_session);
        }
        self.said_type = self.said_type.or(start.session_type);
        self.planned_steps = self.planned_steps.or(start.planned_steps);
        if let Some(task) = start.task.as_ref().filter(|_| self.task.is_empty()) {
            self.task = cut(task, MAX_MESSAGE);
        }
    }

    pub(super) fn hear(&mut self, event: &str, said: &UserMessage) {
        if self.task.is_empty() && !said.interrupts {
            self.task = cut(&said.text, MAX_MESSAGE);
        }
        for wish in said::wish(&said.text) {
            self.remark(RemarkKind::Wish, event, wish, ["", ""]);
        }
        if self.messages.len() < MAX_MESSAGES {
            self.messages.push(Message {
                call: self.n_calls,
                event: event.to_owned(),
                interrupts: said.interrupts,
                corrects: self.n_calls > 0 && said::corrects(&said.text),
                text: cut(&said.text, MAX_MESSAGE),
            });
        }
    }

    pub(super) fn listen(&mut self, event: &str, text: &str) {
        if let Some(last) = self.failures.last_mut()
            && last.reply.is_empty()
            && self.n_calls.saturating_sub(last.call) <= 3
        {
            last.reply = cut(explanation(text).unwrap_or_default(), MAX_SENTENCE);
        }
        let text = &text[..text.floor_char_boundary(said::MAX_TEXT)];
        let room = used::MAX_CITED.saturating_sub(self.cited.len());
        self.cited.extend(used::citations(text).take(room).map(str::to_owned));
        let all = sentences(text);
        for (nth, sentence) in all.iter().enumerate().filter(|it| said::revises(it.1)) {
            let next = |by: usize| all.get(nth + by).copied().unwrap_or_default();
            self.remark(RemarkKind::Correction, event, sentence, [next(1), next(2)]);
        }
        for [before, sentence, after] in said::gives_up(text) {
            self.remark(RemarkKind::DeadEnd, event, sentence, [before, after]);
        }
        for (sentence, from, to) in said::causal(text) {
            self.remark(RemarkKind::Causal, event, sentence, [from, to]);
        }
        self.last_said = cut(all.last().copied().unwrap_or_default(), MAX_SENTENCE);
    }

    fn remark(&mut self, kind: RemarkKind, event: &str, text: &str, context: [&str; 2]) {
        if self.remarks.len() < MAX_REMARKS {
            self.remarks.push(Remark {
                kind,
                call: self.n_calls,
                order: self.n_events,
                event: event.to_owned(),
                text: cut(text, MAX_SENTENCE),
                context: context.map(|it| cut(it, MAX_SENTENCE)),
            });
        }
    }

    pub(super) fn call(&mut self, call: &ToolCall, at: Timestamp) {
        let number = self.n_calls;
        self.n_calls += 1;
        let deeds = match (&call.tool, &call.args.command) {
            (Tool::Shell, Some(command)) => shell::deeds(command),
            _ => Vec::new(),
        };
        let does = Does(deeds.iter().fold(0, |acc, it| acc | bit(it)));
        self.note_external(call, does);
        if self.calls.len() >= MAX_CALLS {
            self.trouble.over += 1;
            return;
        }
        let first_touch = u32::try_from(self.touches.len()).unwrap_or(u32::MAX);
        self.touch_named(call, number);
        self.touch_by_command(&deeds, number);
        let searched = deeds.iter().find_map(|it| match it {
            Deed::Search(query) => Some(query.as_str()),
            _ => None,
        });
        let query = call.args.query.as_deref().or(searched);
        let n_touches = self.touches.len() - first_touch as usize;
        self.calls.push(Call {
            at,
            order: self.n_events,
            command: call.args.command.as_deref().map(|it| self.names.keep(&shell::normalised(it))),
            query: query.map(|it| self.names.keep(it)),
            hit: None,
            matches: None,
            took_ms: 0,
            size: 0,
            first_touch,
            n_touches: u16::try_from(n_touches).unwrap_or(0),
            tool: call.tool.kind(),
            state: State::Pending,
            does,
            planning: call.planning,
            hidden: false,
        });
        // An id that comes again before its answer names the later call.
        self.open.insert(call.call_id.clone(), number);
        if self.open.len() > 4096 {
            self.open.clear();
        }
    }

    fn note_external(&mut self, call: &ToolCall, does: Does) {
        let foreign = match call.tool.kind().row().external {
            External::Never => false,
            External::Always | External::UnlessTrusted => true,
            External::ByCommand => does.any(Does::FETCH),
        };
        if foreign && self.external.is_none() {
            let what = call.args.url.as_deref().or(call.args.command.as_deref());
            let what = what.map_or_else(|| call.tool.to_string(), |it| cut(it, 120));
            // From the call on: what is fetched and cited within one step is already foreign.
            self.external = Some((self.n_events.saturating_sub(1), what));
        }
    }

    fn touch_named(&mut self, call: &ToolCall, number: u32) {
        let writes = match call.tool {
            Tool::Read => false,
            Tool::Edit | Tool::Write => true,
            _ => return,
        };
        for path in call.args.paths.iter().take(MAX_TOUCHED) {
            let file = self.names.keep(path.as_str());
            if let (Some(removed), Some(added)) = (&call.args.removed, &call.args.added) {
                let (removed, added) = (mark(removed), mark(added));
                let undoes = self.edits.contains_key(&(file, added, removed));
                if undoes && self.undone.len() < MAX_LISTINGS {
                    let (order, reason) = (self.n_events, self.last_said.clone());
                    self.undone.push(Undone { call: number, order, file, reason });
                }
                if self.edits.len() < MAX_CALLS / 8 {
                    self.edits.insert((file, removed, added), number);
                }
            }
            self.touches.push(Touch { call: number, file, writes });
        }
    }

    fn touch_by_command(&mut self, deeds: &[Deed], number: u32) {
        for deed in deeds.iter().take(MAX_TOUCHED) {
            let (path, writes) = match deed {
                Deed::Read(path) => (path, false),
                Deed::Edit(path) => (path, true),
                Deed::Restore(path) => {
                    let Some(path) = inside(&self.root, path) else { continue };
                    let file = self.names.keep(&path);
                    let edited = self
                        .touches
                        .iter()
                        .rev()
                        .take(2_000)
                        .any(|it| it.writes && it.file == file);
                    if edited && self.undone.len() < MAX_LISTINGS {
                        let (order, reason) = (self.n_events, self.last_said.clone());
                        self.undone.push(Undone { call: number, order, file, reason });
                    }
                    continue;
                }
                _ => continue,
            };
            if let Some(path) = inside(&self.root, path) {
                let file = self.names.keep(&path);
                self.touches.push(Touch { call: number, file, writes });
            }
        }
    }

    pub(super) fn result(&mut self, result: &ToolResult, at: Timestamp) {
        let Some(number) = self.open.remove(&result.call_id) else {
            self.trouble.orphans += 1;
            return;
        };
        let Some(call) = self.calls.get_mut(number as usize) else { return };
        let checks = call.does.any(Does::TEST | Does::CHECK);
        call.hidden = result.ok && checks && shell::reports_failure(result.excerpt.as_str());
        call.state = match (result.ok, result.rejected) {
            (true, _) => State::Ok,
            (false, true) => State::Rejected,
            (false, false) => State::Failed,
        };
        let took = result.duration_ms.unwrap_or(u64::try_from(at.since(call.at)).unwrap_or(0));
        call.took_ms = u32::try_from(took).unwrap_or(u32::MAX);
        call.size = u32::try_from(result.size.unwrap_or(0)).unwrap_or(u32::MAX);
        call.matches = result.matches;
        let hits = matches!(call.tool, ToolKind::Search);
        // Only an answer that names one file says where something is.
        let only = result.paths.first().filter(|first| result.paths.iter().all(|it| it == *first));
        call.hit = only.filter(|_| hits).map(|it| self.names.keep(it.as_str()));
        let call = *call;
        match call.state {
            State::Rejected if self.messages.len() < MAX_MESSAGES => self.messages.push(Message {
                call: self.n_calls,
                event: result.call_id.clone(),
                interrupts: false,
                corrects: true,
                // Hosts put the person's reason, if any, behind words of their own.
                text: String::new(),
            }),
            State::Ok if call.hidden => self.fail(number, call, result),
            State::Failed => self.fail(number, call, result),
            State::Ok if call.tool == ToolKind::List && self.listings.len() < MAX_LISTINGS => {
                let files = result.paths.iter().map(|it| self.names.keep(it.as_str())).collect();
                if let Some(pattern) = call.query {
                    self.listings.push(Listing { call: number, pattern, files });
                }
            }
            State::Ok if call.tool == ToolKind::Read => self.chase(number, call, result),
            _ => {}
        }
    }

    fn fail(&mut self, number: u32, call: Call, result: &ToolResult) {
        if self.failures.len() >= MAX_FAILURES || self.stumbles.len() >= MAX_FAILURES {
            return;
        }
        let class = call
            .command
            .map_or_else(|| result.tool.slug().into_owned(), |it| shell::head(self.names.text(it)));
        let (at, beginning) = (call.at, outlook::beginning(result.excerpt.as_str()));
        self.stumbles.push(Stumble { at, head: class.clone(), beginning });
        if let Some(failure) = failure(&class, result.excerpt.as_str()) {
            self.failures.push(FailureAt {
                call: number,
                order: self.n_events,
                fingerprint: failure.fingerprint,
                message: failure.message,
                shown: failure.shown,
                reply: String::new(),
            });
        }
    }

    fn chase(&mut self, number: u32, call: Call, result: &ToolResult) {
        let Some(file) = self.touches_of(&call).first().map(|it| it.file) else { return };
        let path = self.names.text(file);
        let chased = self.imports.iter().find(|it| {
            number.abs_diff(it.0) <= CHASE && it.1 != file && imports::names(&it.2, path)
        });
        if let Some(from) = chased.map(|it| it.1)
            && self.chases.len() < MAX_FAILURES
        {
            self.chases.push((from, file));
        }
        let imported = imports::imported(result.excerpt.as_str());
        self.imports.push_back((number, file, imported));
        if self.imports.len() > CHASE as usize {
            self.imports.pop_front();
        }
    }
}

/// The sentence in which an agent says what an error means.
fn explanation(text: &str) -> Option<&str> {
    const SAYS: &[&str] = &[
        "need",
        "because",
        "missing",
        "must",
        "should",
        "expects",
        "requires",
        "instead",
        "is not",
        "isn't",
        "doesn't",
        "wrong",
        "unused",
        "undefined",
        "the issue",
        "the problem",
        "the error",
        "fails",
        "caused",
    ];
    let all = sentences(&text[..text.floor_char_boundary(4096)]);
    let says = |it: &&str| {
        let lower = it.to_ascii_lowercase();
        it.len() > 25 && SAYS.iter().any(|word| lower.contains(word))
    };
    all.iter().copied().find(says)
}

const fn bit(deed: &Deed) -> u8 {
    match deed {
        Deed::Test => Does::TEST,
        Deed::Check => Does::CHECK,
        Deed::Commit => Does::COMMIT,
        Deed::Review => Does::REVIEW,
        Deed::Fetch => Does::FETCH,
        Deed::Restore(_) => Does::RESTORE,
        Deed::Search(_) => Does::SEARCH,
        Deed::List(_) => Does::LIST,
        Deed::Read(_) | Deed::Edit(_) | Deed::Other => 0,
    }
}

/// A path in a command as a path of the project.
fn inside(root: &str, path: &str) -> Option<String> {
    let below = if root.is_empty() {
        path
    } else {
        path.strip_prefix(root).and_then(|it| it.strip_prefix('/')).unwrap_or(path)
    };
    model::ProjectPath::parse(below).ok().map(|it| it.as_str().to_owned())
}

fn cut(text: &str, limit: usize) -> String {
    text[..text.floor_char_boundary(limit)].to_owned()
}
