//! Changes entries in JSON settings, with comments if the agent allows them. The rest of the file is unchanged.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode};
use serde_json::Value;

use super::entries::Entries;

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
    let key_of_servers = entries.server.as_ref().map(|(key, _)| *key);
    ["version", "hooks"].into_iter().chain(key_of_servers).try_for_each(|key| refuse_twice(&object, key))?;
    if !entries.hooks.is_empty() {
        let hooks = object.object_value_or_create("hooks").ok_or("its `hooks` are not an object")?;
        for (event, entry) in &entries.hooks {
            refuse_twice(&hooks, event)?;
            let list =
                hooks.array_value_or_create(event).ok_or_else(|| format!("its hooks of {event} are not a list"))?;
            put(&list, entry, entries);
        }
    }
    if let Some((key, server)) = &entries.server {
        let servers = object.object_value_or_create(key).ok_or_else(|| format!("its `{key}` are not an object"))?;
        match servers.get("adage") {
            None => {
                servers.append("adage", input(server));
            }
            Some(known) => {
                let present = known.value().and_then(|value| value.to_serde_value());
                let is_alone = servers.properties().iter().filter(|known| is_named(known, "adage")).count() == 1;
                if is_alone && present.is_some_and(|present| present != *server && entries.wrote(&present)) {
                    known.set_value(input(server));
                }
            }
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
            let n_ours = remove_written(&list, entries);
            n_removed += n_ours;
            if n_ours > 0 && list.elements().is_empty() {
                remove_key(&hooks, event);
            }
        }
        if n_removed > 0 && hooks.properties().is_empty() {
            remove_key(&object, "hooks");
        }
    }
    if let Some((key, _)) = &entries.server
        && let Some(servers) = object.object_value(key)
    {
        let known = servers.get("adage").and_then(|known| known.value()?.to_serde_value());
        if known.as_ref().is_some_and(|known| entries.wrote(known)) {
            remove_key(&servers, "adage");
            if servers.properties().is_empty() {
                remove_key(&object, key);
            }
        }
    }
    Ok(root.to_string())
}

fn parse(text: &str) -> Result<CstRootNode, Fault> {
    CstRootNode::parse(text, &ParseOptions::default()).map_err(|error| format!("it cannot be read: {error}"))
}

/// Entries under adage's name that adage did not write, as JSON.
pub(super) fn foreign(text: &str, entries: &Entries) -> Result<Foreign, Fault> {
    let root = parse(text)?;
    let Some(object) = root.object_value() else { return Ok(Foreign::default()) };
    let mut found = Foreign::default();
    if let Some(hooks) = object.object_value("hooks").filter(|_| !entries.hooks.is_empty()) {
        let lists = hooks.properties().into_iter().filter_map(|event| event.array_value());
        let all = lists.flat_map(|list| list.elements()).filter_map(|hook| hook.to_serde_value());
        found.hooks.extend(all.filter(|hook| entries.is_foreign(hook)).map(|hook| hook.to_string()));
    }
    if let Some(servers) = entries.server.as_ref().and_then(|(key, _)| object.object_value(key)) {
        let named = servers.properties().into_iter().filter(|server| is_named(server, "adage"));
        let all = named.filter_map(|server| server.value()?.to_serde_value());
        found.servers.extend(all.filter(|server| !entries.wrote(server)).map(|server| server.to_string()));
    }
    Ok(found)
}

/// Entries of somebody else under adage's name.
#[derive(Debug, Default)]
pub(super) struct Foreign {
    pub(super) hooks: Vec<String>,
    /// Where there is one, adage's server cannot be written.
    pub(super) servers: Vec<String>,
}

fn is_named(property: &CstObjectProp, key: &str) -> bool {
    property.name().and_then(|name| name.decoded_value().ok()).is_some_and(|name| name == key)
}

/// Refuses an object that has a key twice: readers disagree about which of them counts.
fn refuse_twice(object: &CstObject, key: &str) -> Result<(), Fault> {
    let n_times = object.properties().iter().filter(|property| is_named(property, key)).count();
    if n_times > 1 { Err(format!("it has `{key}` twice")) } else { Ok(()) }
}

/// Adds an entry to a list, or replaces adage's entry in it.
fn put(list: &CstArray, entry: &Value, entries: &Entries) {
    let has_it = list.elements().iter().any(|element| element.to_serde_value().as_ref() == Some(entry));
    if !has_it {
        remove_written(list, entries);
        list.append(input(entry));
    }
}

fn remove_written(list: &CstArray, entries: &Entries) -> usize {
    let is_ours = |element: &CstNode| element.to_serde_value().is_some_and(|value| entries.wrote(&value));
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
