//! `shiftbook hook`: forwards coding agents' hooks, and installs them in the agents' settings.
//!
//! [`forward`] sends a hook to the server and prints the response. It never holds up the agent: it exits with 0 within
//! a deadline, and a hook that cannot be sent is kept in the [`spool`] until the next call. [`install`] changes the
//! agents' settings files; [`settings`] computes the change.

mod args;
mod forward;
mod install;
pub mod limit;
pub mod settings;
mod spool;

pub use args::HookCommand;
pub use install::{folder_in, settings_file};
pub use spool::Spool;

use super::common::{Failure, report};
use domain::hook::Source;
use std::{ffi::OsStr, process::ExitCode};

/// Runs the command.
pub async fn run(command: HookCommand) -> ExitCode {
    let outcome: Result<(), Failure> = match command {
        HookCommand::ClaudeCode(args) => return forward::run(Source::ClaudeCode, args).await,
        HookCommand::Codex(args) => return forward::run(Source::Codex, args).await,
        HookCommand::Gemini(args) => return forward::run(Source::Gemini, args).await,
        HookCommand::OpenCode(args) => return forward::run(Source::OpenCode, args).await,
        HookCommand::Pi(args) => return forward::run(Source::Pi, args).await,
        HookCommand::OpenClaw(args) => return forward::run(Source::OpenClaw, args).await,
        HookCommand::Install(args) => install::install(&args),
        HookCommand::Uninstall(args) => install::uninstall(&args),
    };
    outcome.map_or_else(|failure| report(&failure), |()| ExitCode::SUCCESS)
}

/// Whether these arguments are the call of a coding agent. Exit code 2 tells an agent to stop, so a misspelt call must
/// not end with the usual code of misuse.
pub fn is_call<T: AsRef<OsStr>>(args: impl IntoIterator<Item = T>) -> bool {
    let mut words = args.into_iter().skip(1).skip_while(|word| word.as_ref() != "hook");
    words.next().is_some() && words.next().is_none_or(|word| word.as_ref() != "install" && word.as_ref() != "uninstall")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_of_agents_are_distinguished_from_typed_commands() {
        for (line, expected) in [
            ("shiftbook hook claude-code PreToolUse", true),
            ("shiftbook hook claude-cod PreToolUse", true),
            ("shiftbook --log x hook codex Stop --nonsense", true),
            ("shiftbook hook", true),
            ("shiftbook hook install claude-code", false),
            ("shiftbook serve", false),
            ("shiftbook", false),
        ] {
            assert_eq!(is_call(line.split(' ')), expected, "{line}");
        }
    }
}
