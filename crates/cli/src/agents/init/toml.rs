//! The entry in Codex's settings, which are TOML.

use toml_edit::{Array, DocumentMut, Item, Table, value};

use super::entries::{SERVER_ARGUMENTS, is_server};
use super::json::Fault;

/// The file with the server; unchanged if it has another one of this name.
pub(super) fn with_server(text: &str, command: &str) -> Result<String, Fault> {
    let mut document = parse(text)?;
    let servers = document.entry("mcp_servers").or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let servers = servers.as_table_like_mut().ok_or("its `mcp_servers` are not a table")?;
    if let Some(known) = servers.get_mut("adage") {
        if !is_written(known) || known.get("command").and_then(Item::as_str) == Some(command) {
            return Ok(text.to_owned());
        }
        known["command"] = value(command);
        return Ok(document.to_string());
    }
    let mut server = Table::new();
    server.insert("command", value(command));
    server.insert("args", value(SERVER_ARGUMENTS.into_iter().collect::<Array>()));
    servers.insert("adage", Item::Table(server));
    Ok(document.to_string())
}

/// True for a server as adage writes it, from whatever place its program ran.
fn is_written(server: &Item) -> bool {
    let Some(table) = server.as_table_like() else { return false };
    let command = table.get("command").and_then(Item::as_str);
    let arguments = table.get("args").and_then(Item::as_array);
    let arguments = arguments.map(|list| list.iter().map(toml_edit::Value::as_str).collect::<Vec<_>>());
    table.len() == 2
        && command.is_some_and(is_server)
        && arguments.is_some_and(|arguments| arguments == SERVER_ARGUMENTS.map(Some))
}

/// A server under adage's name that adage did not write, as its lines.
pub(super) fn foreign_server(text: &str) -> Result<Option<String>, Fault> {
    let document = parse(text)?;
    let servers = document.get("mcp_servers").and_then(Item::as_table_like);
    let server = servers.and_then(|servers| servers.get("adage")).filter(|server| !is_written(server));
    Ok(server.map(|server| server.to_string().trim().replace('\n', "; ")))
}

/// The file without the server, if adage wrote it.
pub(super) fn without_server(text: &str) -> Result<String, Fault> {
    let mut document = parse(text)?;
    let Some(servers) = document.get_mut("mcp_servers").and_then(Item::as_table_like_mut) else {
        return Ok(text.to_owned());
    };
    if !servers.get("adage").is_some_and(is_written) {
        return Ok(text.to_owned());
    }
    servers.remove("adage");
    if servers.is_empty() {
        document.remove("mcp_servers");
    }
    Ok(document.to_string())
}

fn parse(text: &str) -> Result<DocumentMut, Fault> {
    text.parse().map_err(|error: toml_edit::TomlError| format!("it cannot be read: {}", error.message()))
}
