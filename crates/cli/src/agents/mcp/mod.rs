//! `adage mcp`: the memory as a server of the Model Context Protocol, over standard input and output (docs/mcp.md).

mod arguments;
mod batches;
mod lines;
mod memory;
mod message;
mod tools;

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;

use adage::redact::{mask, one_line, printable_line};
use adage::transcript::without_harness_tags;
use clap::Args;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest, CustomResult, ErrorCode,
    Implementation, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, ServerInitializeError};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::Value;

use crate::global::Global;
use crate::result::{Done, chain};
use lines::Lines;
use memory::Memory;
use tools::Tool;

/// The instructions that a client gets with the tools.
const INSTRUCTIONS: &str = "A memory of lessons learned in this repository. Recall before a task, before a risky command and when something \
     fails; learn after a mistake whose remedy worked; report the outcome with the receipt of the recall.";

#[derive(Args)]
pub(crate) struct Mcp {
    /// Offer the tool `apply` too: an agent may apply what awaits review
    #[arg(long)]
    allow_apply: bool,
}

/// Serves until standard input ends.
pub(crate) fn serve(global: Global, asked: &Mcp) -> Done {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let server = Server { memory: Arc::new(Memory::new(global)), may_apply: asked.allow_apply };
    runtime.block_on(async {
        let (input, output) = rmcp::transport::stdio();
        let (lines, writer) = Lines::new(input, output);
        let outcome = match server.serve(lines).await {
            Ok(running) => running.waiting().await.map(|_| ()).map_err(|error| chain(&error)),
            // A client that never began.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(chain(&error)),
        };
        // What has been answered is written, however the service ended.
        writer.await.map_err(|error| chain(&error))?;
        outcome
    })?;
    // A thread that still waits for input would keep the process alive.
    runtime.shutdown_background();
    Ok(ExitCode::SUCCESS)
}

struct Server {
    memory: Arc<Memory>,
    may_apply: bool,
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let mut info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
        info.server_info = Implementation::new("adage", env!("CARGO_PKG_VERSION"));
        info.instructions = Some(INSTRUCTIONS.to_owned());
        info
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(Tool::offered(self.may_apply).map(Tool::described).collect()))
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = one_line(&mask(&request.method).text, 60);
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("no method {}", Value::from(method)), None))
    }

    /// Runs a tool on a blocking thread. An error that a caller can correct is a result; only an unknown tool is an error of
    /// the protocol.
    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = Tool::offered(self.may_apply).find(|tool| tool.name() == request.name);
        let unknown = || {
            let names: Vec<&str> = Tool::offered(self.may_apply).map(Tool::name).collect();
            let name = one_line(&mask(&request.name).text, 60);
            ErrorData::invalid_params(format!("no tool {}; there are {}", Value::from(name), names.join(", ")), None)
        };
        let tool = tool.ok_or_else(unknown)?;
        let memory = Arc::clone(&self.memory);
        let run = move || {
            tool.run(&memory, request.arguments.unwrap_or_default()).map_err(|error| error_text(error.as_ref()))
        };
        let answer = tokio::task::spawn_blocking(run).await;
        let answer = answer.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        Ok(match answer {
            Ok(answer) => {
                let mut result = CallToolResult::structured(without_tags(answer.object));
                result.content = vec![ContentBlock::text(without_harness_tags(&answer.text))];
                result.into()
            }
            Err(message) => CallToolResult::error(vec![ContentBlock::text(without_harness_tags(&message))]).into(),
        })
    }
}

/// The object with all its texts as in a prompt: what became of a lesson may quote another one.
fn without_tags(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(without_harness_tags(&text)),
        Value::Array(list) => list.into_iter().map(without_tags).collect(),
        Value::Object(fields) => fields.into_iter().map(|(key, value)| (key, without_tags(value))).collect(),
        other => other,
    }
}

/// The text of an error with its causes, safe for terminals and prompts: it may quote what was given.
fn error_text(error: &(dyn Error + 'static)) -> String {
    printable_line(&mask(&chain(error)).text)
}
