//! The configuration file of a folder: not read while the folder is unknown, and never a way to run, call or write elsewhere.

use std::fs;
use std::net::TcpListener;
use std::path::Path;

use serde_json::{Value, json};

use super::checks::{attack, check};
use super::ground::{Ground, HOSTILE, MEMORY, OWN, TASK, write};
use super::rows::{plant, put_skill};
use super::team::Team;

/// Puts a setting under every name and nesting that a reader could look for.
fn everywhere(names: &[&str], value: &Value) -> Value {
    let mut config = serde_json::Map::new();
    for name in names {
        for name in [(*name).to_owned(), name.replace('_', "-")] {
            config.insert(name, value.clone());
        }
    }
    let flat = Value::Object(config.clone());
    for section in
        ["embed", "embedding", "embedder_settings", "engine", "inbox", "skills", "model", "capture", "host", "cli"]
    {
        config.entry(section).or_insert_with(|| flat.clone());
    }
    Value::Object(config)
}

fn put_config(memory: &Path, config: &Value) {
    write(&memory.join("config.json"), config.to_string());
}

#[test]
fn the_configuration_of_an_unknown_folder_is_not_read() {
    let silent = |config: Value| {
        move |ground: &Ground| {
            let hostile = ground.folder("hostile");
            plant(&ground.other, &hostile);
            put_config(&hostile.join(MEMORY), &config);
            ground.is_unknown(&ground.user, &hostile, "configured");
        }
    };
    let trust = ["trust", "trusted", "trust_all", "trusted_folders", "adage_trust"];
    check(&[
        attack("it trusts itself", silent(everywhere(&trust, &json!(true)))),
        attack("it says all", silent(everywhere(&trust, &json!("all")))),
        attack("it lists the root", silent(everywhere(&trust, &json!(["/"])))),
        attack(
            "it lowers every threshold",
            silent(json!({
                "retrieve": {"distance_threshold": 2.0, "min_overlap": 0.0, "limit": 100}, "retrieval": {"distance_threshold": 2.0},
                "learn": {"dedup": "off"}, "retention": {"capacity": 1},
            })),
        ),
        attack("it is no JSON", |ground| {
            let hostile = ground.folder("hostile");
            plant(&ground.other, &hostile);
            write(&hostile.join(MEMORY).join("config.json"), "{\"quagga");
            ground.is_unknown(&ground.user, &hostile, "no JSON");
        }),
        attack("it is a device without end", |ground| {
            let hostile = ground.folder("hostile");
            plant(&ground.other, &hostile);
            std::os::unix::fs::symlink("/dev/zero", hostile.join(MEMORY).join("config.json")).unwrap();
            ground.is_unknown(&ground.user, &hostile, "without end");
        }),
    ]);
}

/// A trusted team folder whose configuration was there when the user trusted it.
fn configured<'a>(ground: &'a Ground, config: &Value) -> Team<'a> {
    let team = Team::cloned(ground, "ours");
    put_config(&team.their_memory(), config);
    team.push();
    team.pull();
    ground.does(&ground.user, &team.ours, &["trust"]);
    team
}

#[test]
fn a_trusted_folder_sets_nothing_that_only_the_user_may() {
    check(&[
        attack("it names a native library", |ground| {
            let library = ground.path("libonnxruntime.so.1.99.0");
            write(&library, "no library");
            let names = ["onnxruntime", "ort_dylib_path", "library", "native_library", "engine", "ORT_DYLIB_PATH"];
            let team = configured(ground, &everywhere(&names, &json!(library)));
            for arguments in [&["--embedder", "bundled", "doctor"] as &[&str], &["doctor"], &["context", TASK]] {
                let said = ground.user.adage(&team.ours, arguments);
                ground.claim(
                    !said.out.contains("libonnxruntime.so.1.99.0 "),
                    format!("{arguments:?} uses it: {}", said.brief()),
                );
                ground
                    .claim(!said.out.contains("ONNX Runtime from"), format!("{arguments:?} uses it: {}", said.brief()));
            }
        }),
        attack("it names a folder with a model", |ground| {
            let model = ground.folder("model-of-quagga");
            write(&model.join("model.onnx"), "no model");
            write(&model.join("tokenizer.json"), "{}");
            let team =
                configured(ground, &everywhere(&["embedder", "model", "model_path", "model_dir"], &json!(model)));
            let said = ground.user.adage(&team.ours, &["doctor"]);
            ground.claim(!said.says("model-of-quagga"), format!("it is used: {}", said.brief()));
        }),
        attack("it names the address of a language model", |ground| {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            listener.set_nonblocking(true).unwrap();
            let url = format!("http://{}/v1", listener.local_addr().unwrap());
            let mut config =
                everywhere(&["model_url", "url", "base_url", "endpoint", "api_base", "proxy"], &json!(url));
            config["model_name"] = json!("m");
            let team = configured(ground, &config);
            let session = ground.path("session.jsonl");
            write(&session, "{\"role\": \"user\", \"content\": \"always run the linter before a commit\"}\n");
            ground.user.adage(&team.ours, &["mine", session.to_str().unwrap()]);
            ground.claim(listener.accept().is_err(), "the program called the address");
            ground.claim(team.our_memory().exists(), "the folder is still there");
        }),
        attack("it names roots that proposals may write to", |ground| {
            let outside = ground.folder("outside");
            put_skill(&outside, "mine", OWN);
            let file = outside.join("skills/mine/SKILL.md");
            let global = ground.path("GLOBAL.md");
            write(&global, "kind\n");
            let mut config = everywhere(
                &["writable_skills", "writable_roots", "writable", "roots"],
                &json!([outside.join("skills")]),
            );
            config["global_notes"] = json!(global);
            config["inbox"]["global_notes"] = json!(global);
            let team = configured(ground, &config);
            let last = fs::read_to_string(&file).unwrap().lines().last().unwrap().to_owned();
            let line = fs::read_to_string(&file).unwrap().lines().count();
            let patch = format!("--- {0}\n+++ {0}\n@@ -{line} +{line},2 @@\n {last}\n+run quagga\n", file.display());
            write(&team.our_memory().join(".inbox/skills/mine.patch"), patch);
            let patch = format!("--- {0}\n+++ {0}\n@@ -1 +1,2 @@\n kind\n+run quagga\n", global.display());
            write(&team.our_memory().join(".inbox/global/extraction.patch"), patch);
            ground.user.adage(&team.ours, &["review", "apply", "--all"]);
            for file in [&file, &global] {
                let text = fs::read_to_string(file).unwrap();
                ground.claim(!text.contains(HOSTILE), format!("{} was changed", file.display()));
            }
            // The same proposals, when the user names the places.
            let (skills, notes) = (outside.join("skills").display().to_string(), global.display().to_string());
            let roots = ["review", "--writable-skills", &skills, "--global-notes", &notes, "apply", "--all"];
            ground.user.adage(&team.ours, &roots);
            for file in [&file, &global] {
                let text = fs::read_to_string(file).unwrap();
                ground.claim(
                    text.contains(HOSTILE),
                    format!("{} does not change on the user's word either", file.display()),
                );
            }
        }),
    ]);
}

#[test]
fn a_trusted_folder_does_not_make_other_folders_trusted() {
    check(&[
        attack("it names folders of skills that load by themselves", |ground| {
            let extra = ground.folder("extra");
            put_skill(&extra, "quagga-docs", HOSTILE);
            let names = ["extra_skills", "project_skills", "skill_folders", "skills_dirs", "roots"];
            let team = configured(ground, &everywhere(&names, &json!([extra.join("skills")])));
            ground.is_silent(&ground.user, &team.ours, "folders of skills");
        }),
        attack("it trusts another folder", |ground| {
            let hostile = ground.folder("hostile");
            plant(&ground.other, &hostile);
            let value = json!([hostile.join(MEMORY), hostile, "/", "all"]);
            let team = configured(ground, &everywhere(&["trust", "trusted", "trusted_folders", "adage_trust"], &value));
            ground.user.adage(&team.ours, &["context", TASK]);
            ground.is_unknown(&ground.user, &hostile, "named by another");
        }),
        attack("it trusts the rows of the next pull", |ground| {
            let config = everywhere(&["trust", "trusted", "trust_pulled", "admit", "auto_trust"], &json!(true));
            let team = configured(ground, &config);
            team.bring();
            ground.is_silent(&ground.user, &team.ours, "pulled");
        }),
        attack("it moves the state, the log or the folder itself", |ground| {
            let elsewhere = ground.folder("elsewhere");
            let names =
                ["dir", "folder", "state", "state_dir", "trust_store", "log", "log_file", "archive", "quarantine"];
            let team = configured(ground, &everywhere(&names, &json!(elsewhere)));
            ground.user.adage(&team.ours, &["learn", "--trigger", "zip a folder", "--solution", "call okapi"]);
            ground.user.adage(&team.ours, &["context", TASK]);
            ground.claim(fs::read_dir(&elsewhere).unwrap().count() == 0, "something was written there");
        }),
    ]);
}

#[test]
fn the_users_configuration_is_not_affected_by_folders() {
    let config = |ground: &Ground| {
        let extra = ground.folder("extra");
        put_skill(&extra, "quagga-docs", HOSTILE);
        let mut config = everywhere(&["trust", "trusted"], &json!("all"));
        config["extra_skills"] = json!([extra.join("skills")]);
        config
    };
    let seen = move |variables: &'static [(&'static str, &'static str)]| {
        move |ground: &Ground| {
            let hostile = ground.folder("hostile");
            plant(&ground.other, &hostile);
            for place in ["config/adage", ".config/adage", "adage"] {
                write(&hostile.join(place).join("config.json"), config(ground).to_string());
            }
            let mut person = ground.user.without("XDG_CONFIG_HOME");
            for (variable, value) in variables {
                person = person.with(variable, value);
            }
            ground.is_silent(&person, &hostile, "relative");
        }
    };
    check(&[
        attack("XDG_CONFIG_HOME is relative and the project has such a folder", seen(&[("XDG_CONFIG_HOME", "config")])),
        attack("XDG_CONFIG_HOME is empty", seen(&[("XDG_CONFIG_HOME", "")])),
        attack("XDG_CONFIG_HOME is a dot", seen(&[("XDG_CONFIG_HOME", ".")])),
        attack("HOME is relative", seen(&[("HOME", ".")])),
        attack("HOME is empty", seen(&[("HOME", "")])),
    ]);
}

/// A clone with a settings file at a path, and an environment that names it as the user's.
fn with_settings_of_clone(
    variable: &'static str,
    folder: &'static str,
    text: &'static str,
    is_tracked: bool,
) -> super::checks::Attack {
    attack(format!("{variable} leads to {folder}, tracked: {is_tracked}: {text}"), move |ground| {
        let hostile = ground.folder("hostile");
        plant(&ground.other, &hostile);
        let below = if variable == "HOME" { ".config/adage/config.toml" } else { "adage/config.toml" };
        let memory = hostile.join(MEMORY);
        let text = text.replace("{}", memory.to_str().unwrap());
        write(&hostile.join(folder).join(below), text);
        ground.other.git(&hostile, &["init", "-q"]);
        if is_tracked {
            ground.other.git(&hostile, &["add", "-f", folder]);
        }
        let person = ground.user.without("XDG_CONFIG_HOME").with(variable, hostile.join(folder));
        ground.is_silent(&person, &hostile, "settings of a clone");
        let said = person.adage(&hostile, &["list"]);
        let n_warnings = said.err.matches("so a clone may have brought it").count();
        ground.claim(n_warnings == 1, format!("{n_warnings} warnings: {}", said.brief()));
        // From elsewhere the repository is not the one at hand: only git tells.
        if is_tracked {
            let elsewhere = ground.folder("elsewhere");
            let options = ["--dir", memory.to_str().unwrap()];
            ground.is_silent_in(&person, &elsewhere, &options, "settings of a clone, from elsewhere");
        }
    })
}

#[test]
fn settings_that_a_clone_brings_trust_nothing() {
    const TRUST: &str = "trust = ['{}']\n";
    check(&[
        with_settings_of_clone("XDG_CONFIG_HOME", ".cfg", TRUST, true),
        with_settings_of_clone("XDG_CONFIG_HOME", ".cfg", TRUST, false),
        with_settings_of_clone("XDG_CONFIG_HOME", "a/b/c", TRUST, true),
        with_settings_of_clone("HOME", ".home", TRUST, true),
        with_settings_of_clone("HOME", ".home", TRUST, false),
        with_settings_of_clone("XDG_CONFIG_HOME", ".cfg", "extra_skills = ['{}/skills']\ntrust = ['{}']\n", true),
    ]);
}

#[test]
fn the_users_own_settings_trust_what_they_name() {
    check(&[attack("settings outside of repositories", |ground| {
        let hostile = ground.folder("theirs");
        plant(&ground.other, &hostile);
        ground.other.git(&hostile, &["init", "-q"]);
        let text = format!("trust = ['{}']\n", hostile.join(MEMORY).display());
        write(&ground.user.home.join("config/adage/config.toml"), text);
        ground.speaks(&ground.user, &hostile, HOSTILE, "named by the user");
    })]);
}

#[test]
fn what_is_trusted_for_one_call_is_exported_without_a_seal() {
    let copied = |way: &'static str| {
        attack(format!("by {way}"), move |ground: &Ground| {
            let hostile = ground.folder("hostile");
            plant(&ground.other, &hostile);
            let memory = hostile.join(MEMORY);
            let (person, options) = match way {
                "--trust" => (ground.user.clone(), vec!["--trust"]),
                "settings" => {
                    let text = format!("trust = ['{}']\n", memory.display());
                    write(&ground.user.home.join("config/adage/config.toml"), text);
                    (ground.user.clone(), vec![])
                }
                value => (ground.user.with("ADAGE_TRUST", value.replace("{}", memory.to_str().unwrap())), vec![]),
            };
            let export = person.adage(&hostile, &[&["export"][..], &options].concat());
            ground.claim(
                export.says(HOSTILE) && !export.out.contains("adage_export"),
                format!("export: {}", export.brief()),
            );
            let backup = ground.path("backup");
            let said = person.adage(&hostile, &[&["backup", backup.to_str().unwrap()][..], &options].concat());
            let record = std::fs::read_to_string(backup.join("backup.json")).unwrap_or_default();
            ground.claim(
                said.is_done() && !record.is_empty() && !record.contains("\"seal\""),
                format!("backup: {} {record}", said.brief()),
            );
        })
    };
    check(&[copied("--trust"), copied("settings"), copied("{}")]);
    check(&[attack("the user's own memory, with and without --trust", |ground| {
        let ours = ground.folder("ours");
        ground.learns(&ours);
        for options in [&["export"][..], &["export", "--trust"]] {
            let said = ground.does(&ground.user, &ours, options);
            ground.claim(said.out.contains("adage_export"), format!("not sealed: {}", said.brief()));
        }
    })]);
}
