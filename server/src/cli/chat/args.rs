//! The command line of `shiftbook chat`.

use super::text::TYPING;
use clap::{Args, builder::NonEmptyStringValueParser};
use domain::id::SessionId;

/// Options of `chat`.
#[derive(Debug, Clone, Args)]
#[command(after_help = TYPING)]
pub struct ChatArgs {
    /// The agent [default: the only one that tasks of the workspace name]
    #[arg(long, value_name = "SLUG", value_parser = slug)]
    pub agent: Option<String>,

    /// Let only this token see the conversation, and keep its rating only in the server's memory
    #[arg(long)]
    pub incognito: bool,

    /// Continue a conversation that has not ended
    #[arg(long, value_name = "ID", conflicts_with_all = ["agent", "incognito"])]
    pub thread: Option<SessionId>,

    /// Address of the server
    #[arg(long, env = "SHIFTBOOK_URL", default_value = "http://127.0.0.1:4210", value_parser = NonEmptyStringValueParser::new())]
    pub url: String,

    /// API token; set it in the environment, because other users of this machine can read command lines
    #[arg(long, env = "SHIFTBOOK_TOKEN", hide_env_values = true, value_parser = NonEmptyStringValueParser::new())]
    pub token: String,
}

fn slug(text: &str) -> Result<String, String> {
    if domain::slug::is_slug(text) {
        Ok(text.to_owned())
    } else {
        Err("an agent's name has only lower-case letters, digits and single hyphens".into())
    }
}
