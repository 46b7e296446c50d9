//! The command line of `shiftbook work`.

use clap::{Args, builder::NonEmptyStringValueParser};
use domain::{
    limit::{LEASE_SECONDS_DEFAULT, LEASE_SECONDS_MAX, LEASE_SECONDS_MIN},
    tool::{Kind, run::agent_of},
};
use runner::execute::{command::Format, config::CONCURRENCY_MAX};
use std::{ffi::OsString, path::PathBuf};

const PROTOCOL: &str = "\
What the command gets:
  The session's input as one line of JSON on stdin (null when there is none), and in its environment
  SHIFTBOOK_SESSION_ID, SHIFTBOOK_ATTEMPT, SHIFTBOOK_URL, SHIFTBOOK_TOKEN, SHIFTBOOK_ACTION_SLUG, SHIFTBOOK_AGENT_SLUG.
  Also in its environment, where there is something to pass:
  SHIFTBOOK_OUTPUT_ERRORS   why the previous result was refused
  SHIFTBOOK_RESUME          the decision or answer with which the session continues
  SHIFTBOOK_MESSAGES        messages with which an idle session continues
  SHIFTBOOK_TOOL_RESULTS    results of custom tools with which the session continues
  SHIFTBOOK_ANSWERS         answers of people for which the session did not wait
  SHIFTBOOK_CONTEXT         what the person was doing, for the end of the prompt
  SHIFTBOOK_DEPENDENCIES    results of the sessions that this one depends on
  SHIFTBOOK_CHILDREN        results of the sessions that this one has started

What its output means:
  stdout  {\"type\":\"agent.tool_call\",…}   that event
          {\"type\":\"result\",…}            the session's result; `usage` in it is kept apart
          {\"type\":\"request_feedback\",…}  a question to people; the session waits, and the command runs again
          any other line               an agent.message
  stderr  any line                     an external.event
  Exit code 0 completes the session; anything else fails it with the end of stderr.
  The first result that is refused runs the command again; the second one fails the session.

Tools (--tool) print their result: JSON if all of stdout is JSON, otherwise a text.

Coding agents get the task as their prompt on stdin, and what they print is understood:
  --format claude-code -- claude -p --output-format stream-json --verbose
  --format codex       -- codex exec --json -";

/// How to work, and for whom.
#[derive(Debug, Clone, Args)]
#[command(after_help = PROTOCOL)]
pub struct WorkArgs {
    /// Claim sessions of this agent; can be repeated
    #[arg(long = "agent", value_name = "SLUG", required_unless_present = "tools", value_parser = slug)]
    pub agents: Vec<String>,

    /// Run this tool; can be repeated. The command gets the input on stdin, and its whole output is the result
    #[arg(long = "tool", value_name = "SLUG", requires = "command", conflicts_with = "agents", value_parser = slug)]
    pub tools: Vec<String>,

    /// Number of sessions to run at the same time [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(CONCURRENCY_MAX)))]
    pub concurrency: Option<u32>,

    /// Address of the server
    #[arg(long, env = "SHIFTBOOK_URL", default_value = "http://127.0.0.1:4210", value_parser = NonEmptyStringValueParser::new())]
    pub url: String,

    /// API token; set it in the environment, because other users of this machine can read command lines
    #[arg(long, env = "SHIFTBOOK_TOKEN", hide_env_values = true, value_parser = NonEmptyStringValueParser::new())]
    pub token: String,

    /// After this time without a sign of life from the worker, a session goes to another worker
    #[arg(long, value_name = "SECONDS", default_value_t = LEASE_SECONDS_DEFAULT,
          value_parser = clap::value_parser!(u32).range(i64::from(LEASE_SECONDS_MIN)..=i64::from(LEASE_SECONDS_MAX)))]
    pub lease: u32,

    /// After SIGTERM or SIGINT, the worker ends within this time. Running commands can continue for most of it (all but
    /// 10 s, or two thirds if it is short), then they are stopped and their sessions released. A second signal stops
    /// them immediately
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    pub drain_seconds: u64,

    /// Wait for one session, run it, and exit: 0 if it completed, 1 if not
    #[arg(long, conflicts_with = "concurrency")]
    pub once: bool,

    /// What the command prints: lines, claude-code, codex or result [default: lines; result with --tool]
    #[arg(long, value_name = "FORMAT", value_parser = format)]
    pub format: Option<Format>,

    /// Settings file (TOML) that describes the agent, if no command is given
    #[arg(long, env = "SHIFTBOOK_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,

    /// The command and its arguments; without a command, the agent runs as the settings file describes it
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

impl WorkArgs {
    /// The agents whose sessions are claimed.
    pub fn claimed_agents(&self) -> Vec<String> {
        let tools = self.tools.iter().map(|slug| agent_of(Kind::Worker, slug));
        self.agents.iter().cloned().chain(tools).collect()
    }

    /// What the command prints.
    pub fn output_format(&self) -> Format {
        self.format.unwrap_or(if self.tools.is_empty() { Format::Lines } else { Format::Result })
    }
}

fn slug(text: &str) -> Result<String, String> {
    if domain::slug::is_slug(text) {
        Ok(text.to_owned())
    } else {
        Err("the name of an agent or a tool has only lower-case letters, digits and single hyphens".into())
    }
}

fn format(text: &str) -> Result<Format, String> {
    let known = Format::ALL.into_iter().find(|(name, _)| *name == text);
    known.map(|(_, format)| format).ok_or_else(|| "lines, claude-code, codex or result".to_owned())
}
