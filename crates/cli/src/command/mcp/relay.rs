//! `waylore mcp` as a relay: the daemon is the server, and this process copies the lines of both sides. It opens
//! no project and loads no model, so that many agents share one engine.
//!
//! Threads read the two sides and send events to the loop of [`Relay::run`]. If the daemon goes away (it was
//! stopped, replaced or idle), the relay connects again as soon as there is something to send, and starts a
//! daemon if a hook would. If none can be had, this process serves the client itself from then on.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::Shutdown;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::thread;
use std::time::Duration;

use serve::DaemonAddress;
use serve::client::{self, ClientStream};
use serve::wire::McpRequest;

use super::client_session::{ClientMessage, ClientSession};
use crate::command::handover::{DaemonState, daemon_state, patience};
use crate::command::serve::start_daemon_if_wanted;
use crate::environment::Environment;

/// Attempts to reach a daemon that is starting, and the pause before each.
const START_ATTEMPTS: u32 = 100;
const START_PAUSE: Duration = Duration::from_millis(20);
/// Lines of either side that wait for the loop.
const MAX_QUEUED_EVENTS: usize = 64;
/// Longest line that is read as a whole. Parts of a longer one are passed on as they come: the server
/// refuses it.
const MAX_LINE_BYTES: u64 = 8 << 20;

/// The address of the daemon, and the request that makes it the server of this client.
pub(super) struct RelayConfig {
    pub(super) environment: Environment,
    pub(super) request: McpRequest,
}

/// The lines that are left when this process serves the client itself.
pub(super) struct Takeover {
    /// Lines for the new server, before those of the client.
    pending: VecDeque<Vec<u8>>,
    session: ClientSession,
    events: Receiver<RelayEvent>,
    is_client_closed: bool,
}

enum RelayEvent {
    ClientLine(Vec<u8>),
    ClientClosed,
    /// `connection` tells the lines of an earlier connection from those of the current one.
    DaemonLine {
        connection: u32,
        line: Vec<u8>,
    },
    DaemonClosed {
        connection: u32,
    },
}

/// A running relay.
pub(super) struct Relay {
    config: RelayConfig,
    session: ClientSession,
    events: Receiver<RelayEvent>,
    event_sender: SyncSender<RelayEvent>,
    /// `None` while no daemon is connected.
    daemon: Option<ClientStream>,
    /// Number of the current connection.
    connection: u32,
    /// The current daemon has sent something. One that is gone before that is no help.
    has_answered: bool,
    is_client_closed: bool,
}

impl Relay {
    /// Connects to the daemon; `None` if this process must serve the client itself.
    pub(super) fn connect(config: RelayConfig) -> Option<Self> {
        let daemon = connect_daemon(&config)?;
        let (event_sender, events) = mpsc::sync_channel(MAX_QUEUED_EVENTS);
        let mut relay = Self {
            config,
            session: ClientSession::default(),
            events,
            event_sender,
            daemon: None,
            connection: 0,
            has_answered: false,
            is_client_closed: false,
        };
        relay.use_daemon(daemon).ok()?;
        let sender = relay.event_sender.clone();
        thread::spawn(move || {
            read_lines(std::io::stdin().lock(), |line| {
                sender.send(RelayEvent::ClientLine(line)).is_ok()
            });
            // Fails only if the relay has ended.
            let _ = sender.send(RelayEvent::ClientClosed);
        });
        Some(relay)
    }

    /// Copies lines until both sides have closed. Returns what is left if no daemon can be had any more.
    pub(super) fn run(mut self) -> Option<Takeover> {
        // The relay keeps a sender itself, so the channel stays open.
        while let Ok(event) = self.events.recv() {
            let is_served = match event {
                RelayEvent::ClientLine(line) => self.send_to_daemon(&line),
                RelayEvent::ClientClosed => {
                    self.is_client_closed = true;
                    match &self.daemon {
                        // The server answers what it has read and closes its end.
                        Some(daemon) => _ = daemon.shutdown(Shutdown::Write),
                        None => return None,
                    }
                    true
                }
                RelayEvent::DaemonLine { connection, line } => {
                    if connection == self.connection {
                        self.has_answered = true;
                        self.send_to_client(&line);
                    }
                    true
                }
                RelayEvent::DaemonClosed { connection } if connection == self.connection => {
                    self.daemon = None;
                    if self.session.has_outstanding() {
                        self.has_answered && self.reconnect()
                    } else if self.is_client_closed {
                        return None;
                    } else {
                        true
                    }
                }
                RelayEvent::DaemonClosed { .. } => true,
            };
            if !is_served {
                return Some(self.into_takeover());
            }
        }
        None
    }

    /// Sends a line of the client; false if no daemon can be had.
    fn send_to_daemon(&mut self, line: &[u8]) -> bool {
        let kind = self.session.read_client_line(line);
        if let Some(daemon) = &mut self.daemon {
            // If the daemon has closed its end, the first write fails and nothing was sent.
            let first = daemon.write(line);
            if first.is_ok() && kind == ClientMessage::Request {
                self.session.mark_sent();
            }
            if first.and_then(|it| daemon.write_all(&line[it..])).is_ok() {
                return true;
            }
            self.daemon = None;
        }
        match kind {
            ClientMessage::Request => self.reconnect(),
            // The next request repeats the handshake.
            ClientMessage::Handshake => true,
            ClientMessage::Other => self.reconnect() && self.write_to_daemon(line),
        }
    }

    fn write_to_daemon(&mut self, line: &[u8]) -> bool {
        self.daemon.as_mut().is_some_and(|it| it.write_all(line).is_ok())
    }

    fn send_to_client(&mut self, line: &[u8]) {
        if self.session.read_server_line(line) {
            // Fails only if the client is gone; then its input ends, too.
            let mut stdout = std::io::stdout().lock();
            let _ = stdout.write_all(line).and_then(|()| stdout.flush());
        }
    }

    /// Connects to a daemon and continues the session there; false if there is none.
    fn reconnect(&mut self) -> bool {
        let Some(daemon) = connect_daemon(&self.config) else { return false };
        if self.use_daemon(daemon).is_err() {
            return false;
        }
        let lines = self.session.resume();
        for line in lines.to_client {
            self.send_to_client(line.as_bytes());
        }
        let is_written = lines.to_server.iter().all(|it| self.write_to_daemon(it));
        if self.is_client_closed
            && let Some(daemon) = &self.daemon
        {
            _ = daemon.shutdown(Shutdown::Write);
        }
        is_written
    }

    /// Reads the lines of a new connection from now on.
    fn use_daemon(&mut self, daemon: ClientStream) -> std::io::Result<()> {
        self.connection += 1;
        self.has_answered = false;
        let (connection, sender) = (self.connection, self.event_sender.clone());
        let reader = BufReader::new(daemon.try_clone()?);
        thread::spawn(move || {
            read_lines(reader, |line| {
                sender.send(RelayEvent::DaemonLine { connection, line }).is_ok()
            });
            let _ = sender.send(RelayEvent::DaemonClosed { connection });
        });
        self.daemon = Some(daemon);
        Ok(())
    }

    fn into_takeover(mut self) -> Takeover {
        let lines = self.session.resume();
        for line in lines.to_client {
            self.send_to_client(line.as_bytes());
        }
        Takeover {
            pending: lines.to_server.into(),
            session: self.session,
            events: self.events,
            is_client_closed: self.is_client_closed,
        }
    }
}

impl Takeover {
    /// Input and output for a server in this process.
    pub(super) fn into_streams(self) -> (mcp::LineReader, mcp::LineWriter) {
        let reader = RemainingLines {
            pending: self.pending,
            events: self.events,
            is_client_closed: self.is_client_closed,
        };
        (Box::new(BufReader::new(reader)), Box::new(SessionWriter(self.session)))
    }
}

/// The lines of the client that no server has got.
struct RemainingLines {
    pending: VecDeque<Vec<u8>>,
    events: Receiver<RelayEvent>,
    is_client_closed: bool,
}

impl Read for RemainingLines {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        while self.pending.is_empty() {
            if self.is_client_closed {
                return Ok(0);
            }
            match self.events.recv() {
                Ok(RelayEvent::ClientLine(line)) => self.pending.push_back(line),
                Ok(RelayEvent::DaemonLine { .. } | RelayEvent::DaemonClosed { .. }) => {}
                Ok(RelayEvent::ClientClosed) | Err(_) => self.is_client_closed = true,
            }
        }
        let Some(line) = self.pending.front_mut() else { return Ok(0) };
        let n_read = line.len().min(buffer.len());
        buffer[..n_read].copy_from_slice(&line[..n_read]);
        line.drain(..n_read);
        if line.is_empty() {
            self.pending.pop_front();
        }
        Ok(n_read)
    }
}

/// Standard output without the response to the repeated handshake. Each call of `write` has one line.
struct SessionWriter(ClientSession);

impl Write for SessionWriter {
    fn write(&mut self, line: &[u8]) -> std::io::Result<usize> {
        if self.0.read_server_line(line) {
            std::io::stdout().write_all(line)?;
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stdout().flush()
    }
}

/// Passes lines on, with their line breaks, until the end or until `accept` returns false.
fn read_lines(mut input: impl BufRead, mut accept: impl FnMut(Vec<u8>) -> bool) {
    loop {
        let mut line = Vec::new();
        match (&mut input).take(MAX_LINE_BYTES).read_until(b'\n', &mut line) {
            Ok(0) => return,
            Ok(_) if accept(line) => {}
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Ok(_) | Err(_) => return,
        }
    }
}

/// A connection to the daemon. If none runs, or an older one, it is started if a hook would start it.
fn connect_daemon(config: &RelayConfig) -> Option<ClientStream> {
    let address = DaemonAddress::for_data_dir(&config.environment.data);
    let connect = || client::connect_mcp(&address, &config.request, patience());
    let error = match connect() {
        Ok(stream) => return Some(stream),
        Err(error) => error,
    };
    let is_wanted = daemon_state(&address, &error) == DaemonState::Wanted;
    if !is_wanted || !start_daemon_if_wanted(&config.environment) {
        return None;
    }
    for _ in 0..START_ATTEMPTS {
        #[expect(
            clippy::disallowed_methods,
            reason = "a starting daemon cannot notify this process"
        )]
        thread::sleep(START_PAUSE);
        if let Ok(stream) = connect() {
            return Some(stream);
        }
    }
    None
}
