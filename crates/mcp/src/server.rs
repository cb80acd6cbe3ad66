//! Who answers: lists from the tables, calls through the desk.

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

use crate::desk::Desk;
use crate::tools::Call;
use crate::{guide, prompts, resources, tools};

/// How long a client may take to say where it works.
const PATIENCE: Duration = Duration::from_secs(2);

#[derive(Clone)]
pub(crate) struct Server {
    desk: Desk,
}

impl Server {
    pub(crate) fn new(desk: Desk) -> Self {
        Self { desk }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let can = ServerCapabilities::builder();
        let can = can.enable_tools().enable_resources().enable_prompts().build();
        let us = Implementation::new("waylore", env!("CARGO_PKG_VERSION")).with_title("Waylore");
        ServerConfig::new(can)
            .with_server_info(us)
            .with_protocol_version(ProtocolVersion::LATEST)
            .with_instructions(guide::INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools::list()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools::get(name)
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
        let session = self.desk.session(client(&context));
        let mut turn = match self.desk.turn(self.folder(&context)).await {
            Ok(turn) => turn,
            Err(what) => return Ok(refusal(what)),
        };
        let note = if row.writes { self.desk.next_note() } else { String::new() };
        let arguments = request.arguments.unwrap_or_default();
        let call = Call { engine: turn.engine(), session, note, arguments };
        Ok(tools::call(row, call).await.into())
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(resources::list()))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let internal = |what: String| ErrorData::internal_error(what, None);
        let mut turn = self.desk.turn(self.folder(&context)).await.map_err(internal)?;
        let read = resources::read(turn.engine(), &request.uri).await;
        let Some(text) = read.map_err(|it| internal(it.to_string()))? else {
            let what = format!(
                "there is nothing at `{}`; memory://module-map, memory://memory/{{id}} and memory://session/{{id}} are known",
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
        Ok(ListPromptsResult::with_all_items(prompts::list()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let res = prompts::get(&request.name, request.arguments.as_ref());
        res.map(Into::into).map_err(|what| ErrorData::invalid_params(what, None))
    }
}

impl Server {
    /// Where the client works, if it says so in time. Roots are gone from newer revisions, so only
    /// those who declare them are asked.
    #[expect(deprecated, reason = "older clients say where they work in no other way")]
    async fn folder(&self, context: &RequestContext<RoleServer>) -> Option<PathBuf> {
        let declares = context.client_capabilities().is_some_and(|it| it.roots.is_some());
        if !self.desk.wants_folder() || !declares {
            return None;
        }
        let roots = tokio::time::timeout(PATIENCE, context.peer.list_roots()).await.ok()?.ok()?;
        let path = roots.roots.first()?.uri.strip_prefix("file://")?.to_owned();
        Some(PathBuf::from(decoded(&path))).filter(|it| it.is_dir())
    }
}

fn refusal(what: String) -> CallToolResponse {
    let content = vec![rmcp::model::ContentBlock::text(what)];
    rmcp::model::CallToolResult::error(content).into()
}

/// What the client calls itself.
fn client(context: &RequestContext<RoleServer>) -> String {
    let name = context.client_info().map(|it| it.name.clone());
    name.filter(|it| !it.trim().is_empty()).unwrap_or_else(|| "mcp".to_owned())
}

/// An address without its percent signs.
fn decoded(path: &str) -> String {
    let (mut res, mut rest) = (Vec::new(), path.as_bytes());
    while let Some((first, behind)) = rest.split_first() {
        let hex = behind.get(..2).and_then(|it| std::str::from_utf8(it).ok());
        let byte = hex.and_then(|it| u8::from_str_radix(it, 16).ok()).filter(|_| *first == b'%');
        match byte {
            Some(byte) => (res.push(byte), rest = &behind[2..]),
            None => (res.push(*first), rest = behind),
        };
    }
    String::from_utf8_lossy(&res).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_as_a_path() {
        for (given, path) in [("/a%20b/%C3%A9", "/a b/é"), ("/a%2", "/a%2"), ("/%zz%", "/%zz%")] {
            assert_eq!(decoded(given), path);
        }
    }
}
