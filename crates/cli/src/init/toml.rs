//! The entry in Codex's settings, which are TOML.

use toml_edit::{Array, DocumentMut, Item, Table, value};

use super::json::Fault;

/// The file with the server; unchanged if it has one of this name.
pub(super) fn with_server(text: &str, command: &str, arguments: &[&str]) -> Result<String, Fault> {
    let mut document = parse(text)?;
    let servers = document.entry("mcp_servers").or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let servers = servers.as_table_like_mut().ok_or("its `mcp_servers` are not a table")?;
    if servers.contains_key("adage") {
        return Ok(text.to_owned());
    }
    let mut server = Table::new();
    server.insert("command", value(command));
    server.insert("args", value(arguments.iter().copied().collect::<Array>()));
    servers.insert("adage", Item::Table(server));
    Ok(document.to_string())
}

/// The file without the server.
pub(super) fn without_server(text: &str) -> Result<String, Fault> {
    let mut document = parse(text)?;
    let Some(servers) = document.get_mut("mcp_servers").and_then(Item::as_table_like_mut) else {
        return Ok(text.to_owned());
    };
    if servers.remove("adage").is_none() {
        return Ok(text.to_owned());
    }
    if servers.is_empty() {
        document.remove("mcp_servers");
    }
    Ok(document.to_string())
}

fn parse(text: &str) -> Result<DocumentMut, Fault> {
    text.parse().map_err(|error: toml_edit::TomlError| format!("it cannot be read: {}", error.message()))
}
