//! The command line of `shiftbook chat`.

use clap::{Args, builder::NonEmptyStringValueParser};

const TYPING: &str = "\
What can be typed:
  any line          a message to the agent
  /end              rate the conversation, see its summary, say goodbye
  /exit             the same, but first asks whether a summary is to be saved; without one nothing is asked
  /memory status    what is kept of the conversation
  /help             this
  Ctrl-C            while the agent works: stop this turn; the conversation goes on
  Ctrl-D            leave; the conversation rests and goes on with --thread";

/// With whom to talk, and where.
#[derive(Debug, Clone, Args)]
#[command(after_help = TYPING)]
pub struct ChatArgs {
    /// The agent [default: the only one that the workspace's actions name]
    #[arg(long, value_name = "SLUG", value_parser = slug)]
    pub agent: Option<String>,

    /// Keep nobody's name on the conversation, and its rating in the server's memory alone
    #[arg(long)]
    pub incognito: bool,

    /// Go on with a conversation that rests
    #[arg(long, value_name = "ID", conflicts_with_all = ["agent", "incognito"])]
    pub thread: Option<String>,

    /// Address of the server
    #[arg(long, env = "SHIFTBOOK_URL", default_value = "http://127.0.0.1:4210", value_parser = NonEmptyStringValueParser::new())]
    pub url: String,

    /// API token; better given in the environment, because others on this machine can read command lines
    #[arg(long, env = "SHIFTBOOK_TOKEN", hide_env_values = true, value_parser = NonEmptyStringValueParser::new())]
    pub token: String,
}

fn slug(text: &str) -> Result<String, String> {
    if domain::slug::is_slug(text) {
        Ok(text.to_owned())
    } else {
        Err("an agent's name is lower-case letters, digits and single hyphens".into())
    }
}
