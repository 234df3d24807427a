//! The JSON output of the program conforms to the schemas in `docs/schemas`: checked by every test that reads an object.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use jsonschema::Validator;
use serde_json::{Map, Value, json};

use super::cli::Shell;

/// By what the objects say in `schema`.
static SCHEMAS: LazyLock<HashMap<String, Validator>> = LazyLock::new(|| {
    let of_file = |path: &Path| {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let mut schema = read(path);
        assert_eq!(schema["$id"], format!("urn:adage:{name}:1"));
        close(&mut schema);
        let validator = jsonschema::validator_for(&schema).unwrap_or_else(|error| panic!("{name}: {error}"));
        (format!("adage/{name}/1"), validator)
    };
    files().iter().map(|path| of_file(path)).collect()
});

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schemas")
}

fn files() -> Vec<PathBuf> {
    let paths = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "json")).collect()
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// A field that the schema does not name is one that nobody wrote down; and other files are put where they are named.
fn close(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if let Some(name) = fields.get("$ref").and_then(Value::as_str) {
                let name = name.split(':').nth(2).unwrap();
                *schema = read(&folder().join(format!("{name}.json")));
                return close(schema);
            }
            if fields.contains_key("properties") && !fields.contains_key("additionalProperties") {
                fields.insert("additionalProperties".to_owned(), json!(false));
            }
            fields.values_mut().for_each(close);
        }
        Value::Array(values) => values.iter_mut().for_each(close),
        _ => {}
    }
}

/// An object that the program printed, which has the form of the schema that it names; without that name.
pub(crate) fn object(line: &str) -> Value {
    let mut object: Value = serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}"));
    let name = object["schema"].as_str().unwrap_or_else(|| panic!("it names no schema: {line}")).to_owned();
    let schema = SCHEMAS.get(&name).unwrap_or_else(|| panic!("docs/schemas has none for {name}"));
    if let Err(error) = schema.validate(&object) {
        panic!("{name}, at {:?}: {error}\n{line}", error.instance_path().to_string());
    }
    object.as_object_mut().map(|fields: &mut Map<String, Value>| fields.remove("schema"));
    object
}

#[test]
fn an_undocumented_field_is_detected() {
    let fails = |line: &Value| std::panic::catch_unwind(|| object(&line.to_string())).is_err();
    let right = json!({"schema": "adage/remove/1", "removed": "a", "change": "b"});
    assert_eq!(object(&right.to_string()), json!({"removed": "a", "change": "b"}));
    assert!(fails(&json!({"schema": "adage/remove/1", "removed": "a", "change": "b", "more": 1})));
    assert!(fails(&json!({"schema": "adage/remove/1", "removed": "a"})));
    assert!(fails(&json!({"schema": "adage/nothing/1"})) && fails(&json!({"removed": "a", "change": "b"})));
}

#[test]
fn commands_that_print_objects_and_schemas_correspond() {
    let shell = Shell::new();
    for path in files() {
        let name = path.file_stem().unwrap().to_str().unwrap();
        // Parts of others, and what is not a command.
        if ["error", "lesson", "message", "skill"].contains(&name) {
            continue;
        }
        let title = read(&path)["title"].as_str().unwrap().split('`').nth(1).unwrap().to_owned();
        let words: Vec<&str> = title.split(' ').skip(1).filter(|word| !word.starts_with("--")).collect();
        let said = shell.call(&[&words[..], &["--help"]].concat());
        let flag = title.split(' ').find(|word| word.starts_with("--"));
        assert!(said.code == 0 && flag.is_none_or(|flag| said.out.contains(flag)), "{name}: {}", said.err);
        assert!(said.out.contains("Usage"), "{name}");
    }
}
