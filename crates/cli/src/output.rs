//! Printing: stdout is data, stderr is talk. Colour is decided once, by the terminal and `NO_COLOR`.

use std::io::{IsTerminal, Write};

use anstyle::{AnsiColor, Style};
use serde_json::{Value, json};

use crate::Global;

/// The version of the JSON schema; it grows when a field changes its meaning or goes away.
pub(crate) const SCHEMA: u32 = 1;

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default();
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();

/// What our styles are written as: the only sequences that may reach a terminal.
const OURS: [&str; 6] =
    ["\u{1b}[0m", "\u{1b}[1m", "\u{1b}[2m", "\u{1b}[31m", "\u{1b}[32m", "\u{1b}[33m"];

pub(crate) struct Output {
    pub(crate) json: bool,
    pub(crate) quiet: bool,
}

#[expect(
    clippy::unused_self,
    reason = "printing goes through one value, so that nobody prints past its settings"
)]
impl Output {
    pub(crate) fn new(global: &Global) -> Self {
        Self { json: global.json, quiet: global.quiet }
    }

    /// A line of data.
    pub(crate) fn line(&self, text: &str) {
        // A reader that went away (`| head`) ends the output, not the program.
        let _ = writeln!(anstream::stdout(), "{}", styled(text));
    }

    /// A whole document as it is. Unlike a line, it is worth nothing when it is cut short by
    /// anything but its reader.
    pub(crate) fn document(&self, text: &[u8]) -> std::io::Result<()> {
        let mut out = std::io::stdout();
        match out.write_all(text).and_then(|()| out.flush()) {
            Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error),
            _ => Ok(()),
        }
    }

    /// The answer of a command as JSON: `{"v":1,"kind":…}` and the fields of `body`.
    pub(crate) fn data_json(&self, kind: &str, body: Value) {
        let mut res = json!({ "v": SCHEMA, "kind": kind });
        if let (Some(res), Value::Object(body)) = (res.as_object_mut(), body) {
            res.extend(body);
        }
        // Not through what takes styles out: it takes more out than styles, and there are none.
        let _ = writeln!(std::io::stdout(), "{res}");
    }

    /// Talk: progress, what was done on the side, what to do next.
    pub(crate) fn say(&self, text: &str) {
        if !self.quiet && !self.json {
            let _ = writeln!(anstream::stderr(), "{}", styled(text));
        }
    }

    /// Talk for somebody who waits and wonders: only on a terminal.
    pub(crate) fn progress(&self, text: &str) {
        if std::io::stderr().is_terminal() {
            self.say(&format!("{DIM}{text} …{DIM:#}"));
        }
    }

    /// A line that the next one takes the place of: only on a terminal. Empty wipes it.
    pub(crate) fn tick(&self, text: &str) {
        if std::io::stderr().is_terminal() && !self.quiet && !self.json {
            let mut err = anstream::stderr();
            let _ = write!(err, "\r{}\u{1b}[K", visible(text));
            let _ = err.flush();
        }
    }

    pub(crate) fn hint(&self, text: &str) {
        self.say(&format!("{DIM}→ {text}{DIM:#}"));
    }

    /// Something is wrong, but the command goes on. Never silenced.
    pub(crate) fn warn(&self, text: &str) {
        let _ = writeln!(anstream::stderr(), "{WARN}warning:{WARN:#} {}", visible(text));
    }

    pub(crate) fn error(&self, text: &str) {
        let _ = writeln!(anstream::stderr(), "{BAD}error:{BAD:#} {}", visible(text));
    }

    pub(crate) fn error_detail(&self, text: &str) {
        let _ = writeln!(anstream::stderr(), "  {}", visible(text));
    }
}

/// A line of ours with whatever stands in it: our own styles stay, all else is made visible.
fn styled(text: &str) -> String {
    let mut res = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\u{1b}') {
        res.push_str(&visible(&rest[..at]));
        let style = OURS.iter().find(|it| rest[at..].starts_with(**it));
        res.push_str(&style.map_or_else(|| visible("\u{1b}"), |it| (*it).to_owned()));
        rest = &rest[at + style.map_or(1, |it| it.len())..];
    }
    res + &visible(rest)
}

/// A text from anywhere as a terminal may get it: nothing in it moves the cursor, sets a title or
/// turns the direction of reading. Control characters are replaced by their pictures.
pub(crate) fn visible(text: &str) -> String {
    let picture = |it: char| match it {
        // The joiners make one sign of several and hide nothing.
        '\n' | '\t' | '\u{200c}' | '\u{200d}' => it,
        '\0'..='\u{1f}' => {
            char::from_u32(0x2400 + u32::from(it)).unwrap_or(char::REPLACEMENT_CHARACTER)
        }
        '\u{7f}' => '\u{2421}',
        it if it.is_control() || model::is_invisible(it) => char::REPLACEMENT_CHARACTER,
        it => it,
    };
    text.chars().map(picture).collect()
}

/// Whether a person sits at both ends and can be asked.
pub(crate) fn is_conversation() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Asks on the terminal; the answer without its line end.
pub(crate) fn ask(question: &str) -> std::io::Result<String> {
    let mut err = anstream::stderr();
    write!(err, "{} ", styled(question))?;
    err.flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(answer.trim().to_owned())
}

/// Bytes as a person reads them.
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        0..1024 => format!("{bytes} B"),
        1024..1_048_576 => format!("{} KiB", bytes / 1024),
        _ => format!("{}.{} MiB", bytes / 1_048_576, bytes % 1_048_576 * 10 / 1_048_576),
    }
}

/// `1 memory`, `2 memories`.
pub(crate) fn count(n: usize, one: &str, many: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{n} {many}") }
}
