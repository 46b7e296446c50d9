//! The hosts: how each is configured for a scripted model, and started for one session.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::Result;
use serde_json::{Value, json};

use super::model::Tools;

/// A coding host.
pub struct Host {
    /// Name for `shiftbook connect`, and of its agent in Shiftbook.
    pub slug: &'static str,
    /// Name of its executable file.
    pub program: &'static str,
    pub tools: Tools,
    /// Status of its session after one prompt.
    pub rests_in: &'static str,
    /// Writes the settings that are not of Shiftbook into the home, for a model at this address.
    pub configure: fn(&Path, &str) -> Result<()>,
    /// Adds the arguments and the environment of one session, for a model at this address. The prompt comes last.
    pub start: fn(&mut Command, &str),
}

const fn tools(shell: (&'static str, &'static str), rate: &'static str) -> Tools {
    Tools { shell, rate, namespace: None }
}

pub const HOSTS: [Host; 6] = [
    Host {
        slug: "claude-code",
        program: "claude",
        tools: tools(("Bash", "command"), "mcp__shiftbook__rate_memories"),
        rests_in: "completed",
        configure: |_, _| Ok(()),
        start: claude_code,
    },
    Host {
        slug: "codex",
        program: "codex",
        tools: Tools { shell: ("exec_command", "cmd"), rate: "rate_memories", namespace: Some("mcp__shiftbook") },
        rests_in: "completed",
        configure: configure_codex,
        start: codex,
    },
    Host {
        slug: "gemini",
        program: "gemini",
        tools: tools(("run_shell_command", "command"), "mcp_shiftbook_rate_memories"),
        rests_in: "completed",
        configure: configure_gemini,
        start: gemini,
    },
    Host {
        slug: "opencode",
        program: "opencode",
        tools: tools(("bash", "command"), "shiftbook_rate_memories"),
        rests_in: "completed",
        configure: configure_opencode,
        start: opencode,
    },
    Host {
        slug: "pi",
        program: "pi",
        tools: tools(("bash", "command"), "rate_memories"),
        rests_in: "completed",
        configure: configure_pi,
        start: pi,
    },
    Host {
        slug: "openclaw",
        program: "openclaw",
        tools: tools(("exec", "command"), "rate_memories"),
        // `agent --local` reports no end of a session.
        rests_in: "idle",
        configure: configure_openclaw,
        start: openclaw,
    },
];

fn write(home: &Path, file: &str, text: &str) -> Result<()> {
    let path = home.join(file);
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    Ok(fs::write(path, text)?)
}

fn claude_code(command: &mut Command, model: &str) {
    // The option for tools takes several values: it must not be the last one before the prompt.
    command.args(["-p", "--allowedTools", "Bash", "--model", "claude-sonnet-4-5"]);
    command.args(["--output-format", "stream-json", "--verbose"]);
    command.env("ANTHROPIC_BASE_URL", model).env("ANTHROPIC_API_KEY", "dummy");
    for name in [
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
        "DISABLE_AUTOUPDATER",
        "DISABLE_TELEMETRY",
        "DISABLE_ERROR_REPORTING",
    ] {
        command.env(name, "1");
    }
}

fn configure_codex(home: &Path, model: &str) -> Result<()> {
    let settings = format!(
        "model = \"gpt-5.5\"\nmodel_provider = \"scripted\"\ncheck_for_update_on_startup = false\n\n\
         [model_providers.scripted]\nname = \"scripted\"\nbase_url = \"{model}/v1\"\nwire_api = \"responses\"\n\
         env_key = \"SCRIPTED_KEY\"\nrequest_max_retries = 0\nstream_max_retries = 0\n\n[analytics]\nenabled = false\n"
    );
    write(home, ".codex/config.toml", &settings)
}

/// New hooks are trusted without a review, because the home is made for this session.
fn codex(command: &mut Command, _: &str) {
    command.args(["exec", "--json", "--skip-git-repo-check", "-s", "danger-full-access"]);
    command.arg("--dangerously-bypass-hook-trust").env("SCRIPTED_KEY", "dummy");
}

fn configure_gemini(home: &Path, _: &str) -> Result<()> {
    let settings = json!({
        "security": { "auth": { "selectedType": "gemini-api-key" } }, "telemetry": { "enabled": false },
        "privacy": { "usageStatisticsEnabled": false },
        "general": { "enableAutoUpdate": false, "enableAutoUpdateNotification": false },
    });
    write(home, ".gemini/settings.json", &settings.to_string())
}

fn gemini(command: &mut Command, model: &str) {
    command.args(["-m", "gemini-2.5-flash", "-o", "stream-json", "-y", "-p"]);
    command.env("GEMINI_API_KEY", "dummy").env("GOOGLE_GEMINI_BASE_URL", model);
    command.env("GEMINI_CLI_NO_RELAUNCH", "true").env("GEMINI_CLI_TRUST_WORKSPACE", "true");
}

fn configure_opencode(home: &Path, model: &str) -> Result<()> {
    let options = json!({ "baseURL": format!("{model}/v1"), "apiKey": "dummy" });
    let limit = json!({ "context": 128_000, "output": 8_000 });
    let models = json!({ "scripted": { "name": "Scripted", "tool_call": true, "limit": limit } });
    let provider =
        json!({ "npm": "@ai-sdk/openai-compatible", "name": "Scripted", "options": options, "models": models });
    let settings = json!({
        "autoupdate": false, "share": "disabled", "model": "scripted/scripted", "small_model": "scripted/scripted",
        "enabled_providers": ["scripted"], "provider": { "scripted": provider },
    });
    write(home, ".config/opencode/opencode.json", &settings.to_string())
}

fn opencode(command: &mut Command, _: &str) {
    command.args(["run", "--format", "json", "--title", "t"]);
    // It installs its plugin's types from npm first, and must fail fast.
    command.env("npm_config_registry", "http://127.0.0.1:1/").env("npm_config_fetch_retries", "0");
    for part in ["AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS"] {
        command.env(format!("OPENCODE_DISABLE_{part}"), "1");
    }
}

/// The model as pi and OpenClaw describe one.
fn provider(model: &str) -> Value {
    let scripted = json!({ "id": "scripted", "name": "Scripted", "contextWindow": 128_000, "maxTokens": 8_000 });
    let base = format!("{model}/v1");
    json!({ "scripted": { "baseUrl": base, "apiKey": "dummy", "api": "openai-completions", "models": [scripted] } })
}

fn configure_pi(home: &Path, model: &str) -> Result<()> {
    write(home, ".pi/agent/models.json", &json!({ "providers": provider(model) }).to_string())
}

fn pi(command: &mut Command, _: &str) {
    command.args(["-p", "--mode", "json", "--model", "scripted/scripted"]);
    command.env("PI_OFFLINE", "1").env("PI_SKIP_VERSION_CHECK", "1").env("PI_TELEMETRY", "0");
}

fn configure_openclaw(home: &Path, model: &str) -> Result<()> {
    let workspace = home.join("project");
    let agent = json!({
        "model": { "primary": "scripted/scripted" }, "workspace": workspace, "skipBootstrap": true,
    });
    let settings = json!({
        "models": { "mode": "replace", "providers": provider(model) }, "agents": { "defaults": agent },
        "tools": { "toolSearch": false }, "update": { "checkOnStart": false },
    });
    write(home, ".openclaw/openclaw.json", &settings.to_string())
}

fn openclaw(command: &mut Command, model: &str) {
    // Each model has a port of its own, and each session another id.
    let port = model.rsplit(':').next().unwrap_or_default();
    command.args(["agent", "--local", "--session-id", &format!("xtask-{port}"), "--json", "--message"]);
    command.env("OPENCLAW_NO_RESPAWN", "1");
}
