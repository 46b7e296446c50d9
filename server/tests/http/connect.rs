//! `shiftbook connect`: the files of each coding host, and what `--check` says.

use crate::app::{App, Who};
use serde_json::Value;
use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::Output,
};

/// Each host, its program, and the files that connect it. The first is one that its person has already.
const HOSTS: [(&str, &str, &[&str]); 6] = [
    ("claude-code", "claude", &[".claude/settings.json", ".claude.json"]),
    ("codex", "codex", &[".codex/config.toml", ".codex/hooks.json"]),
    ("gemini", "gemini", &[".gemini/settings.json"]),
    ("opencode", "opencode", &[".config/opencode/plugin/shiftbook.ts", ".config/opencode/plugin/shiftbook/forward.ts"]),
    ("pi", "pi", &[".pi/agent/extensions/shiftbook/index.ts", ".pi/agent/extensions/shiftbook/forward.ts"]),
    ("openclaw", "openclaw", &[".openclaw/openclaw.json", ".openclaw/extensions/shiftbook/openclaw.plugin.json"]),
];

/// Runs `shiftbook connect` for a person with this home, and with the programs in its `bin` on PATH.
fn connect(app: &App, home: &Path, args: &[&str]) -> (Option<i32>, String) {
    let mut command = app.cli();
    let token = app.token(Who::Member).unwrap();
    let path = format!("{}:{}", home.join("bin").display(), std::env::var("PATH").unwrap());
    command.arg("connect").args(args).env("HOME", home).env("PATH", path);
    for other in ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "PI_CODING_AGENT_DIR", "OPENCLAW_STATE_DIR"] {
        command.env_remove(other);
    }
    command.env("SHIFTBOOK_URL", &app.url).env("SHIFTBOOK_TOKEN", token).env("SHIFTBOOK_STATE_DIR", home.join("state"));
    let Output { status, stdout, stderr } = command.output().unwrap();
    (status.code(), String::from_utf8(stdout).unwrap() + &String::from_utf8(stderr).unwrap())
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_host_is_connected_on_request_checked_and_left_as_it_was() {
    let app = App::start();
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    let own = [
        (".claude/settings.json", "{\n  \"permissions\": { \"allow\": [\"Bash(ls)\"] }\n}\n"),
        (".codex/config.toml", "# mine\nmodel = \"gpt-5.5\"\n"),
        (".gemini/settings.json", "{ \"general\": { \"enableAutoUpdate\": false } }\n"),
        (".openclaw/openclaw.json", "{ \"plugins\": { \"allow\": [\"mine\"] } }\n"),
    ];
    for (file, text) in own {
        write(&home.join(file), text);
    }
    for (host, program, files) in HOSTS {
        write(&home.join("bin").join(program), "");
        let (code, shown) = connect(&app, home, &[host]);
        assert_eq!(code, Some(2), "nobody was there to agree: {shown}");
        assert!(shown.contains("shiftbook"), "the change is shown: {shown}");
        let (code, shown) = connect(&app, home, &[host, "--check"]);
        assert!(
            code == Some(1) && shown.contains(&format!("FAIL  {}", home.join(files[1 % files.len()]).display())),
            "{shown}"
        );

        let (code, shown) = connect(&app, home, &[host, "--yes"]);
        assert_eq!(code, Some(0), "{shown}");
        let (code, shown) = connect(&app, home, &[host, "--yes"]);
        assert!(code == Some(0) && shown.contains("nothing to change"), "{shown}");
        for file in files {
            let text = fs::read_to_string(home.join(file)).unwrap();
            assert!(text.contains("shiftbook"), "{host} {file}: {text}");
        }
        let (code, shown) = connect(&app, home, &[host, "--check"]);
        assert!(code == Some(0) && shown.contains("accepts the token"), "{shown}");
    }
    let (code, shown) = connect(&app, home, &["--check"]);
    assert!(code == Some(0) && HOSTS.iter().all(|(_, program, _)| shown.contains(program)), "{shown}");
    assert!(shown.contains("without context so far: 0"), "{shown}");

    let read = |file: &str| fs::read_to_string(home.join(file)).unwrap();
    let settings: Value = serde_json::from_str(&read(".claude/settings.json")).unwrap();
    assert_eq!(settings["permissions"]["allow"].as_array().unwrap().len(), 2);
    let servers: Value = serde_json::from_str(&read(".claude.json")).unwrap();
    assert_eq!(servers["mcpServers"]["shiftbook"]["alwaysLoad"], true);
    let mode = |file: &str| fs::metadata(home.join(file)).unwrap().permissions();
    assert_eq!(mode(".claude.json").mode() & 0o777, Permissions::from_mode(0o600).mode());

    for (host, _, files) in HOSTS {
        let (code, shown) = connect(&app, home, &[host, "--undo", "--yes"]);
        assert_eq!(code, Some(0), "{shown}");
        for file in files {
            let left = fs::read_to_string(home.join(file)).unwrap_or_default();
            assert!(!left.contains("shiftbook"), "{host} {file}: {left}");
        }
    }
    for (file, text) in own {
        let same = |text: &str| text.split_whitespace().collect::<String>();
        assert_eq!(same(&read(file)), same(text), "{file}");
    }
    assert!(!home.join(".pi/agent/extensions/shiftbook").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_changed_safely_is_left_alone() {
    let app = App::start();
    let home = tempfile::tempdir().unwrap();
    let home = home.path();
    for (host, file, text) in [
        ("claude-code", ".claude.json", "{ broken"),
        ("codex", ".codex/config.toml", "[mcp_servers.shiftbook]\nurl = \"http://other\"\n"),
        ("opencode", ".config/opencode/plugin/shiftbook.ts", "export const mine = 1;\n"),
    ] {
        write(&home.join(file), text);
        let (code, shown) = connect(&app, home, &[host, "--yes"]);
        assert!(code == Some(1) && shown.contains("nothing was changed"), "{shown}");
        assert_eq!(fs::read_to_string(home.join(file)).unwrap(), text);
    }
    assert!(!home.join(".claude/settings.json").exists(), "all files of a host are read before one is written");
    let (code, shown) = connect(&app, home, &["emacs"]);
    assert!(code == Some(2) && shown.contains("claude-code, codex, gemini, opencode, pi or openclaw"), "{shown}");
}
