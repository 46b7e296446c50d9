//! The command line of `shiftbook hook`.

use domain::hook::Source;
use std::path::PathBuf;

/// Commands for coding agents' hooks.
#[derive(Debug, clap::Subcommand)]
pub enum HookCommand {
    /// Forward a hook of Claude Code: its JSON on stdin, the response on stdout
    ClaudeCode(ForwardArgs),
    /// Forward a hook of Codex: its JSON on stdin, the response on stdout
    Codex(ForwardArgs),
    /// Forward a hook of Gemini CLI: its JSON on stdin, the response on stdout
    Gemini(ForwardArgs),
    /// Forward an event of OpenCode, as Shiftbook's plugin sends it
    #[command(name = "opencode")]
    OpenCode(ForwardArgs),
    /// Forward an event of pi, as Shiftbook's extension sends it
    Pi(ForwardArgs),
    /// Forward an event of OpenClaw, as Shiftbook's plugin sends it
    #[command(name = "openclaw")]
    OpenClaw(ForwardArgs),
    /// Add the hooks to an agent's settings, after showing the change
    Install(InstallArgs),
    /// Remove the hooks from an agent's settings, after showing the change
    Uninstall(InstallArgs),
}

/// Options of a forwarded hook. All are optional: a hook must not stop its agent.
#[derive(Debug, clap::Args)]
pub struct ForwardArgs {
    /// The hook's name, e.g. PreToolUse
    pub event: Option<String>,
    /// Address of the server
    #[arg(long, env = "SHIFTBOOK_URL", default_value = "http://127.0.0.1:4210")]
    pub url: String,
    /// API token; set it in the environment, because other users of this machine can read command lines
    #[arg(long, env = "SHIFTBOOK_TOKEN", hide_env_values = true)]
    pub token: Option<String>,
    /// Folder that stores hooks while the server cannot be reached [default: $XDG_STATE_HOME/shiftbook or
    /// ~/.local/state/shiftbook]
    #[arg(long, env = "SHIFTBOOK_STATE_DIR", value_name = "DIR")]
    pub state_dir: Option<PathBuf>,
}

/// Options of `install` and `uninstall`.
#[derive(Debug, clap::Args)]
pub struct InstallArgs {
    /// claude-code, codex or gemini
    #[arg(value_parser = source)]
    pub source: Source,
    /// The settings file [default: ~/.claude/settings.json, ~/.codex/hooks.json,
    /// ~/.gemini/settings.json]
    #[arg(long, value_name = "FILE")]
    pub settings: Option<PathBuf>,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
}

fn source(text: &str) -> Result<Source, String> {
    let known = Source::parse(text).filter(|source| !super::settings::events(*source).is_empty());
    known.ok_or_else(|| "claude-code, codex or gemini".to_owned())
}
