//! `init --for`: entries added to the settings of agents, and removed to the byte.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::home::Home;

const AGENTS: [&str; 8] =
    ["claude-code", "codex", "gemini-cli", "cursor", "copilot-cli", "opencode", "windsurf", "zed"];

/// The files of an agent, with what may be in them.
fn files(home: &Home, root: &Path, agent: &str) -> Vec<(PathBuf, &'static str)> {
    let hooks = "{\n  // The team's own.\n  \"hooks\": {\n    \"PreToolUse\": [\n      { \"matcher\": \"Bash\", \"hooks\": [{ \"type\": \"command\", \"command\": \"./guard.sh\" }] }, // first\n    ],\n  },\n  \"theme\": \"dark\"\n}\n";
    let servers = "{\n\t\"mcpServers\": {\n\t\t\"other\": {\"command\": \"other\", \"args\": []}\n\t}\n}";
    let toml = "# Mine.\nmodel = \"gpt-5\"   # the best\n\n[mcp_servers.other]\ncommand = \"other\"\n\n[tui]\ntheme = \"dark\"\n";
    let codex = home.path("home/.codex");
    match agent {
        "claude-code" => vec![(root.join(".claude/settings.json"), hooks), (root.join(".mcp.json"), servers)],
        "codex" => vec![(codex.join("hooks.json"), "{\"hooks\": {}}"), (codex.join("config.toml"), toml)],
        "gemini-cli" => vec![(root.join(".gemini/settings.json"), servers)],
        "copilot-cli" => vec![
            (
                root.join(".github/hooks/adage.json"),
                "{\n  \"version\": 1,\n  \"hooks\": {\"agentStop\": [{\"type\": \"command\", \"bash\": \"./s\"}]}\n}\n",
            ),
            (home.path("home/.copilot/mcp-config.json"), servers),
        ],
        "opencode" => vec![(root.join("opencode.json"), "{\n  // Mine.\n  \"theme\": \"dark\"\n}\n")],
        "windsurf" => vec![(home.path("home/.codeium/windsurf/mcp_config.json"), servers)],
        "zed" => vec![(root.join(".zed/settings.json"), "{\n  \"tab_size\": 2\n}\n")],
        _ => vec![
            (
                root.join(".cursor/hooks.json"),
                "{\n  \"version\": 1,\n  \"hooks\": {\"stop\": [{\"command\": \"./s\"}]}\n}\n",
            ),
            (root.join(".cursor/mcp.json"), servers),
        ],
    }
}

fn put(files: &[(PathBuf, &str)]) {
    for (path, text) in files {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

fn texts(files: &[(PathBuf, &str)]) -> Vec<Option<String>> {
    files.iter().map(|(path, _)| fs::read_to_string(path).ok()).collect()
}

/// Every line of the first text is in the second one, in its order.
fn keeps(before: &str, after: &str) -> bool {
    let mut lines = after.lines().map(|line| line.trim_end_matches(','));
    before.lines().map(|line| line.trim_end_matches(',')).all(|line| lines.any(|known| known == line))
}

#[test]
fn entries_are_added_once_and_removed_to_the_byte() {
    for agent in AGENTS {
        for has_settings in [true, false] {
            let home = Home::new();
            let root = home.repository("shop");
            let files = files(&home, &root, agent);
            if has_settings {
                put(&files);
            }
            let before = texts(&files);
            let dry = home.done(&root, &["init", "--for", agent, "--dry-run"]);
            assert!(dry.out.contains("adage"), "{agent}: {}", dry.out);
            assert_eq!(texts(&files), before, "{agent}: a dry run");
            assert!(!root.join(".adage").exists());
            home.done(&root, &["init", "--for", agent]);
            assert!(root.join(".adage").exists());
            let after = texts(&files);
            for (text, (path, _)) in after.iter().zip(&files) {
                let text = text.as_ref().unwrap();
                let is_server = text.contains("\"mcp\"");
                assert!(is_server || text.contains(&format!(" hook session-start --agent {agent}")), "{text}");
                let old =
                    before[files.iter().position(|(known, _)| known == path).unwrap()].clone().unwrap_or_default();
                let is_in_lines = old.lines().count() > 3 && !old.contains("}]}");
                assert!(!is_in_lines || keeps(&old, text), "{agent}\n{old}\n{text}");
                assert_eq!(old.matches("//").count(), text.matches("//").count(), "{agent}");
            }
            let again = home.done(&root, &["init", "--for", agent]);
            assert_eq!(
                again.out.matches("unchanged: it has the entries").count(),
                files.len(),
                "{agent}: {}",
                again.out
            );
            assert_eq!(texts(&files), after, "{agent}: twice");
            home.done(&root, &["init", "--for", agent, "--uninstall"]);
            assert_eq!(texts(&files), before, "{agent}");
            for (path, _) in &files {
                let names = fs::read_dir(path.parent().unwrap()).map_or(0, |entries| {
                    entries
                        .filter(|entry| entry.as_ref().unwrap().file_name().to_string_lossy().contains("adage"))
                        .count()
                });
                assert!(names <= 1, "nothing but the memory is left");
            }
        }
    }
}

/// Settings may hold keys: their copy is for nobody else.
#[cfg(unix)]
#[test]
fn the_backup_of_settings_has_their_permissions() {
    use std::os::unix::fs::PermissionsExt;
    for agent in AGENTS {
        for mode in [0o600, 0o640, 0o444] {
            let home = Home::new();
            let root = home.repository("shop");
            let files = files(&home, &root, agent);
            put(&files);
            for (path, _) in &files {
                fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
            }
            home.done(&root, &["init", "--for", agent]);
            for (path, _) in &files {
                let backup = PathBuf::from(format!("{}.before-adage", path.display()));
                for file in [path, &backup] {
                    let found = fs::metadata(file).unwrap().permissions().mode() & 0o777;
                    assert_eq!(found, mode, "{agent}: {} has {found:o}", file.display());
                }
            }
        }
    }
}

#[test]
fn later_changes_are_kept_when_the_entries_are_removed() {
    let home = Home::new();
    let root = home.repository("shop");
    let files = files(&home, &root, "claude-code");
    put(&files);
    home.done(&root, &["init", "--for", "claude-code"]);
    let settings = &files[0].0;
    let changed = fs::read_to_string(settings).unwrap().replace("\"dark\"", "\"light\"");
    fs::write(settings, changed).unwrap();
    home.done(&root, &["init", "--for", "claude-code", "--uninstall"]);
    let text = fs::read_to_string(settings).unwrap();
    assert!(text.contains("\"light\"") && text.contains("./guard.sh") && text.contains("// The team's own."), "{text}");
    assert!(!text.contains(" hook "), "{text}");
}

#[test]
fn the_entries_are_as_the_agents_document_them() {
    let home = Home::new();
    let root = home.repository("shop");
    for agent in AGENTS {
        home.done(&root, &["init", "--for", agent]);
    }
    let read = |path: PathBuf| -> Value { serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap() };
    let claude = read(root.join(".claude/settings.json"));
    let hook = &claude["hooks"]["PreToolUse"][0];
    assert_eq!((&hook["matcher"], &hook["hooks"][0]["type"]), (&"*".into(), &"command".into()));
    let command = hook["hooks"][0]["command"].as_str().unwrap();
    assert!(command.ends_with(" hook before-tool --agent claude-code"), "{command}");
    let names: Vec<&String> = claude["hooks"].as_object().unwrap().keys().collect();
    assert_eq!(names.len(), 7, "{names:?}");
    assert_eq!(read(root.join(".mcp.json"))["mcpServers"]["adage"]["args"][0], "mcp");
    assert_eq!(read(root.join(".cursor/hooks.json"))["version"], 1);
    assert!(read(root.join(".gemini/settings.json"))["hooks"]["BeforeAgent"].is_array());
    let toml = fs::read_to_string(home.path("home/.codex/config.toml")).unwrap();
    assert!(toml.starts_with("[mcp_servers.adage]\ncommand = ") && toml.contains("args = [\"mcp\"]"), "{toml}");
    let copilot = read(root.join(".github/hooks/adage.json"));
    assert_eq!((&copilot["version"], &copilot["hooks"]["postToolUse"][0]["type"]), (&1.into(), &"command".into()));
    assert_eq!(read(home.path("home/.copilot/mcp-config.json"))["mcpServers"]["adage"]["tools"][0], "*");
    assert_eq!(read(root.join("opencode.json"))["mcp"]["adage"]["command"][1], "mcp");
    assert_eq!(read(root.join(".zed/settings.json"))["context_servers"]["adage"]["args"][0], "mcp");
    for (agent, said) in [("goose", "goose configure"), ("pi", "AGENTS.md")] {
        assert!(home.done(&root, &["init", "--for", agent]).err.contains(said), "{agent}");
    }
    // The commands in the settings can be run.
    let payload =
        r#"{"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}}"#;
    let said = home.say(&root, &["hook", "before-tool", "--agent", "claude-code"], payload);
    assert_eq!((said.code, said.out.as_str()), (0, "{}\n"));
}

/// The plugin of the checkout has the entries that `init` writes, with the program by its name.
#[test]
fn the_plugin_has_the_entries_of_the_settings() {
    let home = Home::new();
    let root = home.repository("shop");
    home.done(&root, &["init", "--for", "claude-code"]);
    let plugin = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/claude-code");
    let read = |path: PathBuf| fs::read_to_string(path).unwrap();
    let object = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let written = object(&read(root.join(".claude/settings.json")));
    let program = written["hooks"]["SessionEnd"][0]["hooks"][0]["command"].as_str().unwrap();
    let program = program.split(" hook ").next().unwrap();
    let by_name = |file: &str| object(&read(root.join(file)).replace(program, "adage"));
    assert_eq!(object(&read(plugin.join("hooks/hooks.json")))["hooks"], by_name(".claude/settings.json")["hooks"]);
    assert_eq!(object(&read(plugin.join(".mcp.json"))), by_name(".mcp.json"));
    let manifest = object(&read(plugin.join(".claude-plugin/plugin.json")));
    assert_eq!((&manifest["name"], &manifest["version"]), (&"adage".into(), &env!("CARGO_PKG_VERSION").into()));
    assert_eq!(home.done(&root, &["skills", "import", plugin.join("skills/adage").to_str().unwrap()]).code, 0);
}

#[test]
fn settings_that_cannot_be_parsed_are_not_changed() {
    for text in [
        "{\"hooks\": 1}",
        "{\"hooks\": {\"PreToolUse\": {}}}",
        "[]",
        "{\"hooks\": ",
        "{\"hooks\": {\"SessionStart\": \"x\"}}",
    ] {
        let home = Home::new();
        let root = home.repository("shop");
        let settings = root.join(".claude/settings.json");
        put(&[(settings.clone(), text)]);
        let said = home.call(&root, &["init", "--for", "claude-code"]);
        assert_eq!(said.code, 1, "{text}: {}", said.out);
        assert!(said.err.contains("nothing was changed in it"), "{}", said.err);
        assert_eq!(fs::read_to_string(&settings).unwrap(), text);
    }
}

#[test]
#[cfg(unix)]
fn a_link_in_a_repository_is_not_followed_to_settings_elsewhere() {
    for link in [".claude", ".claude/settings.json", ".mcp.json"] {
        let home = Home::new();
        let root = home.repository("shop");
        let elsewhere = home.folder("elsewhere");
        fs::write(elsewhere.join("settings.json"), "{}").unwrap();
        let (at, to) =
            (root.join(link), if link == ".claude" { elsewhere.clone() } else { elsewhere.join("settings.json") });
        fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(to, &at).unwrap();
        let said = home.call(&root, &["init", "--for", "claude-code"]);
        assert_eq!((said.code, said.err.contains("is a link")), (1, true), "{link}: {}", said.err);
        assert_eq!(fs::read_to_string(elsewhere.join("settings.json")).unwrap(), "{}", "{link}");
    }
}

/// A clone may have an entry of this name that runs something else.
#[test]
fn an_entry_of_somebody_else_is_named_and_not_adopted() {
    let hook = |command: &str| {
        format!(
            "{{\"hooks\": {{\"UserPromptSubmit\": [{{\"hooks\": [{{\"type\": \"command\", \"command\": {command}}}]}}]}}}}"
        )
    };
    let server = |server: &str| format!("{{\"mcpServers\": {{\"adage\": {server}}}}}");
    for (file, text, is_refused) in [
        (".mcp.json", server("{\"command\": \"sh\", \"args\": [\"-c\", \"mark\"]}"), true),
        (".mcp.json", server("{\"command\": \"mark\", \"args\": [\"mcp\"]}"), true),
        (
            ".mcp.json",
            server("{\"command\": \"adage\", \"args\": [\"mcp\"], \"env\": {\"LD_PRELOAD\": \"mark\"}}"),
            true,
        ),
        (".mcp.json", server("{\"type\": \"http\", \"url\": \"https://mark\"}"), true),
        (
            ".mcp.json",
            server("{\"command\": \"adage\", \"args\": [\"mcp\"]}, \"adage\": {\"command\": \"mark\"}"),
            true,
        ),
        (".claude/settings.json", hook("\"/tmp/mark/adage hook prompt --agent claude-code\""), false),
        (".claude/settings.json", hook("\"sh -c mark # adage hook prompt\""), false),
        (".claude/settings.json", hook("\"./adage hook prompt; mark\""), false),
    ] {
        let home = Home::new();
        let root = home.repository("shop");
        put(&[(root.join(file), &text)]);
        let servers_alone = !text.contains("hooks");
        for options in [&["--dry-run"][..], &[]] {
            let said = home.call(&root, &[&["init", "--for", "claude-code"], options].concat());
            let (is_failed, all) = (said.code == 1, format!("{}{}", said.out, said.err));
            assert_eq!(is_failed, is_refused, "{text}: {all}");
            let named = all.lines().find(|line| line.contains("mark") && line.contains("did not write"));
            assert!(named.is_some_and(|line| line.contains(file)), "{text}: {all}");
            assert!(!all.contains(&format!("{file}: unchanged: it has the entries")), "{text}: {all}");
        }
        let json = home.call(&root, &["init", "--for", "claude-code", "--json"]);
        assert!(
            json.objects().iter().any(|object| object["foreign"][0].as_str().is_some_and(|it| it.contains("mark")))
        );
        let after = fs::read_to_string(root.join(file)).unwrap();
        assert!(after.contains("mark") && (!servers_alone || after == text), "{after}");
        home.call(&root, &["init", "--for", "claude-code", "--uninstall"]);
        assert!(fs::read_to_string(root.join(file)).unwrap().contains("mark"), "{text}");
    }
}

#[test]
fn only_what_adage_wrote_is_removed() {
    for (agent, file, text) in [
        ("codex", "home/.codex/config.toml", "[mcp_servers.adage]\ncommand = \"/opt/mine\"\nargs = [\"x\"]\n"),
        (
            "codex",
            "home/.codex/config.toml",
            "[mcp_servers.adage]\ncommand = \"adage\"\nargs = [\"mcp\"]\nenv = { A = \"b\" }\n",
        ),
        (
            "cursor",
            "shop/.cursor/mcp.json",
            "{\"mcpServers\": {\"adage\": {\"command\": \"/opt/mine\", \"args\": [\"mcp\"]}}}",
        ),
        ("cursor", "shop/.cursor/hooks.json", "{\"hooks\": {\"sessionEnd\": [{\"command\": \"/opt/adage hook x\"}]}}"),
    ] {
        let home = Home::new();
        let root = home.repository("shop");
        let path = if file.starts_with("shop") { root.join(&file[5..]) } else { home.path(file) };
        put(&[(path.clone(), text)]);
        home.call(&root, &["init", "--for", agent, "--uninstall"]);
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        let said = home.call(&root, &["init", "--for", agent]);
        assert!(said.err.contains("did not write"), "{}", said.err);
        home.call(&root, &["init", "--for", agent, "--uninstall"]);
        assert_eq!(fs::read_to_string(&path).unwrap(), text, "{agent}: after an install");
    }
}

#[test]
fn settings_with_a_key_twice_are_not_changed() {
    for (file, text) in [
        (".mcp.json", "{\"mcpServers\": {}, \"mcpServers\": {\"adage\": {\"command\": \"x\"}}}"),
        (".claude/settings.json", "{\"hooks\": {}, \"hooks\": {}}"),
        (".claude/settings.json", "{\"hooks\": {\"PreToolUse\": [], \"PreToolUse\": []}}"),
    ] {
        let home = Home::new();
        let root = home.repository("shop");
        put(&[(root.join(file), text)]);
        let said = home.call(&root, &["init", "--for", "claude-code"]);
        assert!(said.code == 1 && said.err.contains("twice"), "{}{}", said.out, said.err);
        assert_eq!(fs::read_to_string(root.join(file)).unwrap(), text);
    }
}

#[test]
fn entries_of_a_program_that_was_elsewhere_are_replaced_and_removed() {
    for agent in ["claude-code", "codex", "gemini-cli", "cursor"] {
        let home = Home::new();
        let root = home.repository("shop");
        let files = files(&home, &root, agent);
        home.done(&root, &["init", "--for", agent]);
        let now = texts(&files);
        let program = env!("CARGO_BIN_EXE_adage");
        for other in ["/opt/old place/adage", "/p1/adage", "./adage"] {
            for (path, _) in &files {
                let text = fs::read_to_string(path).unwrap();
                // In a command line, a blank is within quotes.
                let other =
                    if text.contains("hook") && other.contains(' ') { format!("'{other}'") } else { other.to_owned() };
                fs::write(path, text.replace(program, &other)).unwrap();
            }
            let said = home.done(&root, &["init", "--for", agent]);
            assert!(!said.err.contains("did not write"), "{agent}: {}", said.err);
            assert_eq!(texts(&files), now, "{agent}: {other}");
        }
        for (path, _) in &files {
            fs::write(path, fs::read_to_string(path).unwrap().replace(program, "/p1/adage")).unwrap();
        }
        home.done(&root, &["init", "--for", agent, "--uninstall"]);
        let left = texts(&files).into_iter().flatten().collect::<String>();
        assert!(!left.contains("adage"), "{agent}: {left}");
    }
}
