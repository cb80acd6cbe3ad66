//! The MCP request handler: `rmcp` calls one method of [`McpServer`] per request. Lists come from the
//! tables of `tools`, `resources` and `prompts`; a call locks the project and runs one of them.

use std::path::PathBuf;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorData, GetPromptRequestParams, GetPromptResponse,
    Implementation, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, ResourceContents, ServerCapabilities, ServerConfig,
    Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};

use crate::project_slot::ProjectSlot;
use crate::tools::ToolCallContext;
use crate::{instructions, prompts, resources, tools};

/// Time that a client has to report its roots, the folders that its user has opened.
const ROOTS_TIMEOUT: Duration = Duration::from_secs(2);

/// The handler of one client. Clones share the project.
#[derive(Clone)]
pub(crate) struct McpServer {
    slot: ProjectSlot,
}

impl McpServer {
    pub(crate) fn new(slot: ProjectSlot) -> Self {
        Self { slot }
    }
}

impl ServerHandler for McpServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder();
        let capabilities = capabilities.enable_tools().enable_resources().enable_prompts().build();
        let server =
            Implementation::new("waylore", env!("CARGO_PKG_VERSION")).with_title("Waylore");
        ServerConfig::new(capabilities)
            .with_server_info(server)
            .with_protocol_version(ProtocolVersion::LATEST)
            .with_instructions(instructions::SERVER_INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::list_tools()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::find_tool(name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(row) = tools::tool_rows().iter().find(|it| it.name == request.name) else {
            let names: Vec<&str> = tools::tool_rows().iter().map(|it| it.name).collect();
            let what =
                format!("there is no tool `{}`; there are: {}", request.name, names.join(", "));
            return Err(ErrorData::invalid_params(what, None));
        };
        let session = self.slot.agent_session(client_name(&context));
        let mut guard = match self.slot.lock_project(self.client_folder(&context)).await {
            Ok(guard) => guard,
            // A tool result and not a protocol error, so that the model sees the message.
            Err(what) => return Ok(error_response(what)),
        };
        // At its end the server closes the session of notes if an id was taken, so tools that only
        // read take none.
        let note_id = if row.writes { self.slot.next_note_id() } else { String::new() };
        let arguments = request.arguments.unwrap_or_default();
        let call = ToolCallContext { project: guard.project(), session, note_id, arguments };
        let response = tools::call_tool(row, call).await;
        let project = guard.project().clone();
        guard.give_back().await;
        // After the answer, because it reads or writes a whole file. A failure costs only time later.
        tokio::spawn(async move {
            let _ = project.embedding_indexer().save_index_snapshots().await;
        });
        Ok(response.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(resources::list_resources()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::list_templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let internal = |what: String| ErrorData::internal_error(what, None);
        let mut guard =
            self.slot.lock_project(self.client_folder(&context)).await.map_err(internal)?;
        let read = resources::read_resource(guard.project(), &request.uri).await;
        guard.give_back().await;
        let Some(text) = read.map_err(|it| internal(it.to_string()))? else {
            let what = format!(
                "no resource at `{}`; memory://module-map, memory://memory/{{id}} and memory://session/{{id}} are known",
                request.uri
            );
            let uri = serde_json::json!({ "uri": request.uri });
            return Err(ErrorData::resource_not_found(what, Some(uri)));
        };
        let contents = vec![ResourceContents::text(text, request.uri)];
        Ok(ReadResourceResult::new(contents).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::with_all_items(prompts::list_prompts()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let res = prompts::render_prompt(&request.name, request.arguments.as_ref());
        res.map(Into::into).map_err(|what| ErrorData::invalid_params(what, None))
    }
}

impl McpServer {
    /// The first root of the client, if it reports one in time. Newer protocol revisions have no roots,
    /// so only clients that declare them are asked. [`ProjectSlot::lock_project`] awaits this future only
    /// if the configuration names no folder.
    #[expect(deprecated, reason = "older clients report their folder in no other way")]
    async fn client_folder(&self, context: &RequestContext<RoleServer>) -> Option<PathBuf> {
        let has_roots = context.client_capabilities().is_some_and(|it| it.roots.is_some());
        if !has_roots {
            return None;
        }
        // The client may not answer in time, or answer with an error.
        let answer = tokio::time::timeout(ROOTS_TIMEOUT, context.peer.list_roots()).await;
        let roots = answer.ok()?.ok()?;
        let path = roots.roots.first()?.uri.strip_prefix("file://")?.to_owned();
        Some(PathBuf::from(percent_decode(&path))).filter(|it| it.is_dir())
    }
}

/// A tool result with an error message, which the model sees.
fn error_response(what: String) -> CallToolResponse {
    let content = vec![rmcp::model::ContentBlock::text(what)];
    rmcp::model::CallToolResult::error(content).into()
}

/// The name of the client, which is recorded as the agent of a note.
fn client_name(context: &RequestContext<RoleServer>) -> String {
    let name = context.client_info().map(|it| it.name.clone());
    name.filter(|it| !it.trim().is_empty()).unwrap_or_else(|| "mcp".to_owned())
}

/// Decodes percent escapes (`%20`) of a URI path; an invalid escape stays as it is.
fn percent_decode(path: &str) -> String {
    let (mut decoded, mut rest) = (Vec::new(), path.as_bytes());
    while let Some((first, after_first)) = rest.split_first() {
        let escaped = if *first == b'%' { parse_hex_byte(after_first) } else { None };
        if let Some(byte) = escaped {
            decoded.push(byte);
            rest = &after_first[2..];
        } else {
            decoded.push(*first);
            rest = after_first;
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

/// The byte that the first two characters spell in hexadecimal: `20…` is a space.
fn parse_hex_byte(text: &[u8]) -> Option<u8> {
    let digits = std::str::from_utf8(text.get(..2)?).ok()?;
    u8::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_escapes_are_decoded_and_invalid_ones_kept() {
        for (uri_path, path) in [
            ("/a%20b/%C3%A9", "/a b/é"),
            // One digit, no hexadecimal digits, nothing after the sign.
            ("/a%2", "/a%2"),
            ("/%zz%", "/%zz%"),
        ] {
            assert_eq!(percent_decode(uri_path), path);
        }
    }
}
