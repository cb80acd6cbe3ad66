//! Output of `waylore context file`: the warnings (gotchas, error patterns, dead ends) that a hook would inject when
//! an agent touches files, as text or JSON. The injection has the text and the memories it was made of.

use engine::{Injection, RatedMemory, SilenceReason, WarningSelection};
use serde_json::{Value, json};

use super::print_silence_reason;
use crate::command::CommandContext;
use crate::output::{DIM_STYLE, escape_controls};
use crate::reader::readable_summary;
use crate::wire::{MemoryWire, OutputDetail};

/// Prints warnings about files; with `--explain` also the excluded ones with their reasons. Exit code 1 if
/// there are none.
pub(super) fn print_warnings(
    injection: &Injection,
    detail: OutputDetail,
    command: &CommandContext<'_>,
) -> u8 {
    let out = command.output;
    // The hook would not even look, for example because of the trust level.
    let Some(warnings) = &injection.warnings else {
        return print_silence_reason(injection, command);
    };
    let code = u8::from(injection.text.is_empty());
    if out.json {
        out.print_json("context", warnings_json(injection, warnings, detail));
        return code;
    }
    if !injection.text.is_empty() {
        out.print_line(injection.text.trim_end());
    }
    let format_line = |it: &RatedMemory| {
        let (id, confidence) = (it.memory.id.short(), it.current_confidence);
        format!("#{id}  {confidence}  {}", escape_controls(&readable_summary(&it.memory)))
    };
    if detail == OutputDetail::Explained {
        out.say(match injection.silence {
            Some(silence) => silence.description(),
            None => "injected, with confidence:",
        });
        for rated in &warnings.selected {
            out.say(&format_line(rated));
        }
        for (rated, why) in &warnings.excluded {
            let line = format_line(rated);
            out.say(&format!("{DIM_STYLE}{line}  {}{DIM_STYLE:#}", why.description()));
        }
    } else if injection.text.is_empty() {
        out.say("nothing relevant");
        if !warnings.excluded.is_empty() {
            out.hint("--explain shows what was left out, and why");
        }
    }
    code
}

fn warnings_json(
    injection: &Injection,
    warnings: &WarningSelection,
    detail: OutputDetail,
) -> Value {
    let warning_json = |it: &RatedMemory| {
        let current = it.current_confidence.as_fraction();
        json!({ "memory": MemoryWire::from(&it.memory), "current": current })
    };
    let mut res = json!({
        "text": injection.text,
        "silence": injection.silence.map(SilenceReason::slug),
        "selected": warnings.selected.iter().map(warning_json).collect::<Vec<_>>(),
    });
    if detail == OutputDetail::Explained {
        let omitted = warnings.excluded.iter().map(|(rated, why)| {
            let mut omitted_warning = warning_json(rated);
            omitted_warning["why"] = json!(why.slug());
            omitted_warning
        });
        res["omitted"] = omitted.collect();
    }
    res
}
