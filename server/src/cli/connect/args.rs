//! The command line of `shiftbook connect`.

use domain::hook::Source;
use std::path::PathBuf;

/// Options of `connect`.
#[derive(Debug, clap::Args)]
pub struct ConnectArgs {
    /// claude-code, codex, gemini, opencode, pi or openclaw; with --check all that are found if it is left out
    #[arg(value_parser = host, required_unless_present = "check")]
    pub host: Option<Source>,
    /// Do not ask
    #[arg(long, conflicts_with = "check")]
    pub yes: bool,
    /// Remove what this command has written
    #[arg(long, conflicts_with = "check")]
    pub undo: bool,
    /// Change nothing, and say what works; exits with 1 if something does not
    #[arg(long)]
    pub check: bool,
    #[command(flatten)]
    pub server: ServerArgs,
}

/// The server to which the host will report. It is not written into the host's settings.
#[derive(Debug, clap::Args)]
pub struct ServerArgs {
    /// Address of the server
    #[arg(long, env = "SHIFTBOOK_URL", default_value = "http://127.0.0.1:4210")]
    pub url: String,
    /// API token; set it in the environment, because other users of this machine can read command lines
    #[arg(long, env = "SHIFTBOOK_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// Folder that stores hooks while the server cannot be reached [default: $XDG_STATE_HOME/shiftbook or
    /// ~/.local/state/shiftbook]
    #[arg(long, env = "SHIFTBOOK_STATE_DIR", value_name = "DIR")]
    pub state_dir: Option<PathBuf>,
}

impl ServerArgs {
    /// The token, if one is set.
    pub fn token(&self) -> Option<&str> {
        self.token.as_deref().filter(|token| !token.trim().is_empty())
    }
}

fn host(text: &str) -> Result<Source, String> {
    Source::parse(text).ok_or_else(|| "claude-code, codex, gemini, opencode, pi or openclaw".to_owned())
}
