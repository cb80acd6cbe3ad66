//! The state of an MCP client that outlives its server: the handshake, and the requests without a response. A
//! relay that loses its server continues with another one from here.
//!
//! ```text
//! {"jsonrpc":"2.0","id":7,"method":"tools/call","params":{…}}   a request: outstanding until `"id":7` comes back
//! {"jsonrpc":"2.0","method":"notifications/initialized"}        a notification: no response
//! {"jsonrpc":"2.0","id":0,"result":{…}}                         a response to a request of the server
//! ```

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

/// The message for a call whose effect is not known, for the model of the client.
const INTERRUPTED_CALL: &str = "the memory daemon ended during this call, so it was carried out or not; search first, then call again if it is missing";

/// A request of the client without a response.
struct OutstandingRequest {
    /// The id as JSON.
    id: String,
    line: Vec<u8>,
    /// Sending it once more does no harm.
    is_repeatable: bool,
    /// It was sent to the current or an earlier server.
    is_sent: bool,
}

/// The part of a message that a relay reads.
#[derive(Deserialize)]
struct MessageHead<'a> {
    #[serde(default, borrow)]
    id: Option<&'a RawValue>,
    #[serde(default, borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    params: Option<&'a RawValue>,
}

/// Fields of the parameters that matter: the tool of a call, and the request of a cancellation.
#[derive(Deserialize)]
struct ParamsHead<'a> {
    #[serde(default, borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(default, borrow, rename = "requestId")]
    request_id: Option<&'a RawValue>,
}

/// Kinds of lines of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClientMessage {
    Request,
    /// A notification, a response, or a line that is no message: sent once, to the server that is there.
    Other,
    /// A notification that belongs to the handshake, which [`ClientSession::resume`] repeats.
    Handshake,
}

/// The lines with which a new server takes over.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ResumptionLines {
    pub(super) to_server: Vec<Vec<u8>>,
    pub(super) to_client: Vec<String>,
}

/// See the header of this file.
#[derive(Default)]
pub(super) struct ClientSession {
    /// The last `initialize` request: its id and the line. Newer revisions have none.
    initialize: Option<(String, Vec<u8>)>,
    initialized: Option<Vec<u8>>,
    outstanding: Vec<OutstandingRequest>,
    /// The id of an `initialize` request that was repeated: its response is not for the client.
    hidden_response: Option<String>,
}

impl ClientSession {
    /// Reads a line of the client, which is sent afterwards.
    pub(super) fn read_client_line(&mut self, line: &[u8]) -> ClientMessage {
        let Ok(head) = serde_json::from_slice::<MessageHead<'_>>(line) else {
            return ClientMessage::Other;
        };
        let Some(method) = head.method.as_deref() else { return ClientMessage::Other };
        let params = head.params.and_then(|it| serde_json::from_str(it.get()).ok());
        let params: ParamsHead<'_> = params.unwrap_or(ParamsHead { name: None, request_id: None });
        let Some(id) = head.id.map(|it| it.get().to_owned()) else {
            match method {
                "notifications/initialized" => {
                    self.initialized = Some(line.to_owned());
                    return ClientMessage::Handshake;
                }
                // No response may follow.
                "notifications/cancelled" => {
                    let cancelled = params.request_id.map(RawValue::get);
                    self.outstanding.retain(|it| Some(it.id.as_str()) != cancelled);
                }
                _ => {}
            }
            return ClientMessage::Other;
        };
        if method == "initialize" {
            self.initialize = Some((id.clone(), line.to_owned()));
            self.initialized = None;
        }
        let writes = |it: &str| mcp::tool_rows().iter().any(|row| row.name == it && row.writes);
        let is_repeatable = method != "tools/call" || !params.name.as_deref().is_some_and(writes);
        let line = line.to_owned();
        self.outstanding.push(OutstandingRequest { id, line, is_repeatable, is_sent: false });
        ClientMessage::Request
    }

    /// Notes that the last request of the client was sent.
    pub(super) fn mark_sent(&mut self) {
        if let Some(last) = self.outstanding.last_mut() {
            last.is_sent = true;
        }
    }

    /// Reads a line of the server; true if it is for the client.
    pub(super) fn read_server_line(&mut self, line: &[u8]) -> bool {
        let Ok(head) = serde_json::from_slice::<MessageHead<'_>>(line) else { return true };
        let (Some(id), None) = (head.id, head.method) else { return true };
        if self.hidden_response.as_deref() == Some(id.get()) {
            self.hidden_response = None;
            return false;
        }
        self.outstanding.retain(|it| it.id != id.get());
        true
    }

    pub(super) fn has_outstanding(&self) -> bool {
        !self.outstanding.is_empty()
    }

    /// Continues with another server: repeats the handshake and the requests, except those that may have
    /// changed something. These get a response that asks the model to look first.
    pub(super) fn resume(&mut self) -> ResumptionLines {
        let mut lines = ResumptionLines::default();
        self.hidden_response = None;
        if let Some((id, line)) = &self.initialize {
            // Without a response yet, it is among the requests below.
            if !self.outstanding.iter().any(|it| it.id == *id && it.line == *line) {
                self.hidden_response = Some(id.clone());
                lines.to_server.push(line.clone());
                lines.to_server.extend(self.initialized.clone());
            }
        }
        self.outstanding.retain_mut(|it| {
            if it.is_sent && !it.is_repeatable {
                lines.to_client.push(interrupted_response(&it.id));
                return false;
            }
            it.is_sent = true;
            lines.to_server.push(it.line.clone());
            true
        });
        lines
    }
}

/// The result of a tool call that may have been carried out. A result, because clients hide protocol errors
/// from the model.
fn interrupted_response(id: &str) -> String {
    let content = json!([{ "type": "text", "text": INTERRUPTED_CALL }]);
    let result = json!({ "content": content, "isError": true });
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(id: u32, method: &str, tool: &str) -> Vec<u8> {
        let params = json!({ "name": tool });
        let line = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        format!("{line}\n").into_bytes()
    }

    fn response(id: u32) -> Vec<u8> {
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}\n").into_bytes()
    }

    /// Reads a request and notes that it was sent.
    fn send(session: &mut ClientSession, line: &[u8]) {
        session.read_client_line(line);
        session.mark_sent();
    }

    #[test]
    fn another_server_gets_the_handshake_and_the_open_questions() {
        let mut session = ClientSession::default();
        let initialize = request(0, "initialize", "");
        let initialized = b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";
        send(&mut session, &initialize);
        assert!(session.read_server_line(&response(0)), "the first handshake is the client's");
        assert_eq!(session.read_client_line(initialized), ClientMessage::Handshake);
        let search = request(1, "tools/call", "search_memory");
        send(&mut session, &search);
        send(&mut session, &request(2, "tools/list", ""));
        assert!(session.read_server_line(&response(2)));

        let lines = session.resume();
        assert_eq!(lines.to_server, [initialize, initialized.to_vec(), search]);
        assert_eq!(lines.to_client, Vec::<String>::new());
        assert!(!session.read_server_line(&response(0)), "the client has this response already");
        assert!(session.read_server_line(&response(1)));
        assert!(!session.has_outstanding());
    }

    #[test]
    fn a_change_is_sent_to_one_server_only() {
        let mut session = ClientSession::default();
        send(&mut session, &request(1, "tools/call", "record_memory"));
        // Read, but no server was there to take it.
        let later = request(2, "tools/call", "record_memory");
        session.read_client_line(&later);
        let lines = session.resume();
        assert_eq!(lines.to_server, [later]);
        assert!(lines.to_client[0].contains("\"id\":1") && lines.to_client[0].contains("isError"));
        assert_eq!(session.resume().to_client.len(), 1, "now it was sent, too");
    }

    #[test]
    fn a_handshake_without_response_is_repeated_once_and_answered() {
        let mut session = ClientSession::default();
        let initialize = request(0, "initialize", "");
        send(&mut session, &initialize);
        assert_eq!(session.resume().to_server, [initialize]);
        assert!(session.read_server_line(&response(0)));
    }

    #[test]
    fn a_cancelled_request_is_not_repeated() {
        let mut session = ClientSession::default();
        send(&mut session, &request(7, "tools/call", "search_memory"));
        let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 7 } });
        assert_eq!(session.read_client_line(cancel.to_string().as_bytes()), ClientMessage::Other);
        assert!(!session.has_outstanding());
        // Lines that are no messages change nothing.
        assert_eq!(session.read_client_line(b"{"), ClientMessage::Other);
        assert!(session.read_server_line(b"[]"));
    }
}
