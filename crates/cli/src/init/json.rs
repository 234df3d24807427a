//! Changes entries in JSON settings, with comments if the agent allows them. The rest of the file is unchanged.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};
use serde_json::Value;

use super::entries::{Entries, is_ours};

/// Why a file cannot be changed.
pub(super) type Fault = String;

/// The file with the entries; unchanged if it has them already.
pub(super) fn with_entries(text: &str, entries: &Entries) -> Result<String, Fault> {
    let root = parse(if text.trim().is_empty() { "{}\n" } else { text })?;
    let object = root.object_value_or_create().ok_or("it is not an object")?;
    if let Some(version) = entries.version
        && object.get("version").is_none()
    {
        object.append("version", input(&Value::from(version)));
    }
    if !entries.hooks.is_empty() {
        let hooks = object.object_value_or_create("hooks").ok_or("its `hooks` are not an object")?;
        for (event, entry) in &entries.hooks {
            let list =
                hooks.array_value_or_create(event).ok_or_else(|| format!("its hooks of {event} are not a list"))?;
            put(&list, entry);
        }
    }
    if let Some(server) = &entries.server {
        let servers = object.object_value_or_create("mcpServers").ok_or("its `mcpServers` are not an object")?;
        if servers.get("adage").is_none() {
            servers.append("adage", input(server));
        }
    }
    Ok(root.to_string())
}

/// The file without the entries, and without objects and lists that became empty.
pub(super) fn without_entries(text: &str, entries: &Entries) -> Result<String, Fault> {
    let root = parse(text)?;
    let Some(object) = root.object_value() else { return Ok(text.to_owned()) };
    if let Some(hooks) = object.object_value("hooks") {
        let mut n_removed = 0;
        for (event, _) in &entries.hooks {
            let Some(list) = hooks.array_value(event) else { continue };
            let n_ours = remove_ours(&list);
            n_removed += n_ours;
            if n_ours > 0 && list.elements().is_empty() {
                remove_key(&hooks, event);
            }
        }
        if n_removed > 0 && hooks.properties().is_empty() {
            remove_key(&object, "hooks");
        }
    }
    if let Some(server) = &entries.server
        && let Some(servers) = object.object_value("mcpServers")
    {
        let known = servers.get("adage").and_then(|known| known.value()?.to_serde_value());
        if known.as_ref().is_some_and(|known| known.get("args") == server.get("args")) {
            remove_key(&servers, "adage");
            if servers.properties().is_empty() {
                remove_key(&object, "mcpServers");
            }
        }
    }
    Ok(root.to_string())
}

fn parse(text: &str) -> Result<CstRootNode, Fault> {
    CstRootNode::parse(text, &ParseOptions::default()).map_err(|error| format!("it cannot be read: {error}"))
}

/// Adds an entry to a list, or replaces adage's entry in it.
fn put(list: &CstArray, entry: &Value) {
    let has_it = list.elements().iter().any(|element| element.to_serde_value().as_ref() == Some(entry));
    if !has_it {
        remove_ours(list);
        list.append(input(entry));
    }
}

fn remove_ours(list: &CstArray) -> usize {
    let is_ours = |element: &CstNode| element.to_serde_value().is_some_and(|value| is_ours(&value));
    let ours: Vec<CstNode> = list.elements().into_iter().filter(is_ours).collect();
    let n_ours = ours.len();
    ours.into_iter().for_each(CstNode::remove);
    n_ours
}

fn remove_key(object: &CstObject, key: &str) {
    if let Some(property) = object.get(key) {
        property.remove();
    }
}

/// A value in the type of the editor.
fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(value) => CstInputValue::Bool(*value),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(values) => CstInputValue::Array(values.iter().map(input).collect()),
        Value::Object(fields) => {
            CstInputValue::Object(fields.iter().map(|(key, value)| (key.clone(), input(value))).collect())
        }
    }
}
