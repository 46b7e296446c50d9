//! The command line of `shiftbook chat`.

use clap::{Args, builder::NonEmptyStringValueParser};

const TYPING: &str = "\
You can type:
  any line          a message to the agent
  /end              rate the conversation, see its summary, and leave
  /exit             end the conversation; asks first whether to save a summary, and asks for a rating only then
  /memory status    what is recorded of the conversation
  /help             this list
  Ctrl-C            stop this turn while the agent works; the conversation stays open
  Ctrl-D            leave; the conversation stays open, continue it with --thread";

/// With whom to talk, and where.
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
    pub thread: Option<String>,

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
