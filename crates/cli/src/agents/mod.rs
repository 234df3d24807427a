//! What coding agents need: set-up, hooks, the MCP server, their sessions, and what waits for review.

pub(crate) mod hook;
pub(crate) mod inbox;
pub(crate) mod init;
pub(crate) mod mcp;
pub(crate) mod mine;
pub(crate) mod review;
pub(crate) mod session_source;
pub(crate) mod sessions;
