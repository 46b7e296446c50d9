//! Prompts that no person typed, and texts that a host puts into a prompt.

use super::{payload::Payload, source::Source};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Where a prompt comes from that no person is known to have typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptOrigin {
    /// A subagent or a command in the background has ended.
    TaskNotification,
    /// A session was resumed without a prompt.
    Continued,
    /// A hook refused to let the turn end, and this is its reason.
    Hook,
    /// What a command of the host printed, such as `/add-dir`, or what the host says about it.
    LocalCommand,
    /// It was put into a turn that was under way: a steered or queued message.
    Steered,
}

/// Beginnings of prompts that Claude Code writes after a command of its own.
const LOCAL_COMMANDS: [&str; 3] = ["<local-command-stdout>", "<local-command-stderr>", "<local-command-caveat>"];

impl PromptOrigin {
    /// Name in the metadata of the recorded event.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TaskNotification => "task_notification",
            Self::Continued => "continued",
            Self::Hook => "hook",
            Self::LocalCommand => "local_command",
            Self::Steered => "steered",
        }
    }

    /// Returns the origin of a prompt whose text shows that its host wrote it; `None` for any other.
    pub(super) fn of_text(source: Source, prompt: &str) -> Option<Self> {
        let prompt = prompt.trim();
        match source {
            Source::ClaudeCode if prompt.starts_with("<task-notification>") => Some(Self::TaskNotification),
            Source::ClaudeCode if prompt == "Continue from where you left off." => Some(Self::Continued),
            Source::ClaudeCode if LOCAL_COMMANDS.iter().any(|begin| prompt.starts_with(begin)) => {
                Some(Self::LocalCommand)
            }
            Source::Codex if prompt.starts_with("<hook_prompt") => Some(Self::Hook),
            Source::ClaudeCode | Source::Codex | Source::Gemini | Source::OpenCode | Source::Pi | Source::OpenClaw => {
                None
            }
        }
    }
}

/// Returns the id of the turn in which a prompt was submitted.
pub(super) fn turn_of(payload: &Payload<'_>) -> Option<String> {
    payload.text("prompt_id").or_else(|| payload.text("turn_id"))
}

/// Whether an agent that was started in this turn still works, so that a stop does not end the turn. A shell that keeps
/// running has a command, and the turn ends without it.
pub(super) fn has_working_subagent(payload: &Payload<'_>) -> bool {
    #[derive(serde::Deserialize)]
    struct Task {
        #[serde(default)]
        command: Option<String>,
    }
    let tasks = payload.raw("background_tasks").map(RawValue::get);
    let tasks: Vec<Task> = tasks.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default();
    tasks.iter().any(|task| task.command.is_none())
}

/// The tags around a text that Gemini CLI puts into a prompt for a hook. It escapes `<` and `>` inside of them.
const INJECTED: (&str, &str) = ("<hook_context>", "</hook_context>");
/// Hooks of Gemini CLI whose prompt contains injected text.
const WITH_INJECTED: [&str; 2] = ["BeforeAgent", "AfterAgent"];

/// Returns a field of a payload without the texts that Gemini CLI put into the prompt: they are not the person's. A
/// field of another host's hook is returned as it is.
pub(super) fn without_injected<'a>(event: &str, field: &str, raw: &'a RawValue) -> Cow<'a, RawValue> {
    if field != "prompt" || !WITH_INJECTED.contains(&event) {
        return Cow::Borrowed(raw);
    }
    let Some(prompt) = super::payload::string(raw) else { return Cow::Borrowed(raw) };
    match serde_json::value::to_raw_value(&own_text(prompt)) {
        Ok(stripped) => Cow::Owned(stripped),
        Err(_) => Cow::Borrowed(raw),
    }
}

/// Returns a prompt of Gemini CLI without the texts that it put there for hooks.
pub(super) fn own_text(prompt: String) -> String {
    let (open, close) = INJECTED;
    let (mut kept, mut rest) = (String::with_capacity(prompt.len()), prompt.as_str());
    while let Some((before, after)) = rest.split_once(open) {
        let Some((_, after)) = after.split_once(close) else { break };
        kept.push_str(before);
        rest = after;
    }
    kept.push_str(rest);
    if kept.len() == prompt.len() { prompt } else { kept.trim().to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stripped(event: &str, prompt: &str) -> String {
        let raw = serde_json::value::to_raw_value(prompt).unwrap();
        serde_json::from_str(without_injected(event, "prompt", &raw).get()).unwrap()
    }

    #[test]
    fn a_prompt_that_its_host_wrote_is_known_by_its_text() {
        use PromptOrigin::{Continued, Hook, LocalCommand, TaskNotification};
        use Source::{ClaudeCode, Codex};
        for (source, prompt, origin) in [
            (ClaudeCode, "<task-notification>\n<task-id>a</task-id>", Some(TaskNotification)),
            (ClaudeCode, "  <task-notification>x</task-notification>", Some(TaskNotification)),
            (ClaudeCode, "What does <task-notification> mean?", None),
            (ClaudeCode, "Continue from where you left off.", Some(Continued)),
            (ClaudeCode, "Continue from where you left off. And test it.", None),
            (ClaudeCode, "<hook_prompt>", None),
            (ClaudeCode, "<local-command-stdout>Added /tmp/demo</local-command-stdout>", Some(LocalCommand)),
            (ClaudeCode, "What is <local-command-stdout>?", None),
            (Codex, "<hook_prompt hook_run_id=\"1\">go on</hook_prompt>", Some(Hook)),
            (Codex, "Continue from where you left off.", None),
        ] {
            assert_eq!(PromptOrigin::of_text(source, prompt), origin, "{source:?} {prompt}");
        }
    }

    #[test]
    fn injected_text_is_cut_out_of_geminis_prompts_and_of_no_others() {
        let prompt = "<hook_context>memory &lt;b&gt;</hook_context>\n\nFix the import.";
        for event in WITH_INJECTED {
            assert_eq!(stripped(event, prompt), "Fix the import.");
        }
        assert_eq!(stripped("BeforeAgent", "Fix it.\n<hook_context>a</hook_context>"), "Fix it.");
        let two = "<hook_context>a</hook_context>Fix<hook_context>b</hook_context> it.";
        assert_eq!(stripped("AfterAgent", two), "Fix it.");
        assert_eq!(stripped("BeforeAgent", "no <hook_context> end"), "no <hook_context> end");
        assert_eq!(stripped("UserPromptSubmit", prompt), prompt);
    }

    #[test]
    fn a_shell_in_the_background_is_no_subagent() {
        for (tasks, working) in [
            ("[]", false),
            (r#"[{"id":"b1","command":"npm run dev"}]"#, false),
            (r#"[{"id":"a1","type":"subagent","description":"look"}]"#, true),
            (r#"[{"id":"b1","command":"npm run dev"},{"id":"a1","type":"subagent"}]"#, true),
            ("7", false),
        ] {
            let text = format!(r#"{{"session_id":"s","hook_event_name":"Stop","background_tasks":{tasks}}}"#);
            assert_eq!(has_working_subagent(&Payload::parse(&text).unwrap()), working, "{tasks}");
        }
    }
}
