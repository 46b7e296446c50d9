//! Adds the hooks to an agent's settings, as a text, or removes them. All other text stays as it is.

use super::limit::{INSTALLED_QUIT_TIMEOUT_SECONDS, INSTALLED_TIMEOUT_SECONDS};
use domain::hook::Source;
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::{Value, value::RawValue};
use std::fmt;

/// Claude Code's hooks that are forwarded: those that change a status or appear in a transcript. Claude Code has all of
/// them since version 2.1.78.
const CLAUDE_CODE: [&str; 16] = [
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "PostToolUseFailure",
    "Notification",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "Elicitation",
    "ElicitationResult",
    "Stop",
    "StopFailure",
    "SessionEnd",
];
/// Codex's hooks, all of them.
const CODEX: [&str; 12] = [
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "Stop",
    "Interrupt",
    "SessionEnd",
];

/// A JSON object that keeps the order and the text of its members.
struct Object(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> de::Visitor<'de> for Members {
            type Value = Object;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: de::MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Object(members))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

impl Object {
    fn get(&self, name: &str) -> Option<&RawValue> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| &**value)
    }

    fn set(&mut self, name: &str, value: Box<RawValue>) {
        match self.0.iter_mut().find(|(key, _)| key == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name.to_owned(), value)),
        }
    }

    fn remove(&mut self, name: &str) {
        self.0.retain(|(key, _)| key != name);
    }

    fn write(&self, level: usize) -> String {
        let members = self.0.iter().map(|(name, value)| format!("{}: {}", Value::from(name.as_str()), value.get()));
        block(('{', '}'), members, level)
    }
}

/// Items between brackets, one per line.
fn block((open, close): (char, char), items: impl Iterator<Item = String>, level: usize) -> String {
    let inner = "  ".repeat(level + 1);
    let lines: Vec<_> = items.map(|item| format!("{inner}{item}")).collect();
    if lines.is_empty() {
        return format!("{open}{close}");
    }
    format!("{open}\n{}\n{}{close}", lines.join(",\n"), "  ".repeat(level))
}

fn raw(text: String) -> Result<Box<RawValue>, String> {
    RawValue::from_string(text).map_err(|error| error.to_string())
}

/// One hook of Shiftbook, in the agents' documented format.
#[derive(Serialize)]
struct Handler {
    #[serde(rename = "type")]
    kind: &'static str,
    command: String,
    timeout: u32,
}

#[derive(Serialize)]
struct Group {
    hooks: [Handler; 1],
}

/// The settings with the hooks added; unchanged if they are there.
pub fn install(text: &str, source: Source, program: &str) -> Result<String, String> {
    let events: &[&str] = match source {
        Source::ClaudeCode => &CLAUDE_CODE,
        Source::Codex => &CODEX,
    };
    change(text, source, events, program)
}

/// The settings without the hooks.
pub fn uninstall(text: &str, source: Source) -> Result<String, String> {
    change(text, source, &[], "")
}

fn change(text: &str, source: Source, events: &[&str], program: &str) -> Result<String, String> {
    let is_new = text.trim().is_empty();
    let parsed = serde_json::from_str::<Object>(if is_new { "{}" } else { text });
    let mut settings = parsed.map_err(|error| format!("it is not a JSON object ({error}); nothing was changed"))?;
    let had_hooks = settings.get("hooks").is_some();
    let mut hooks: Object = match settings.get("hooks") {
        None => Object(Vec::new()),
        Some(hooks) => {
            serde_json::from_str(hooks.get()).map_err(|_| "`hooks` is not an object; nothing was changed")?
        }
    };
    let mut changed = false;
    let mut names: Vec<String> = hooks.0.iter().map(|(name, _)| name.clone()).collect();
    names.extend(events.iter().filter(|event| hooks.get(event).is_none()).map(|event| (*event).to_owned()));
    for name in names {
        let wanted = events.contains(&name.as_str()).then(|| handler(source, &name, program));
        changed |= change_event(&mut hooks, source, &name, wanted)?;
    }
    if !changed {
        return Ok(text.to_owned());
    }
    if hooks.0.is_empty() && had_hooks {
        settings.remove("hooks");
    } else {
        settings.set("hooks", raw(hooks.write(1))?);
    }
    let end = if is_new || text.ends_with('\n') { "\n" } else { "" };
    Ok(format!("{}{end}", settings.write(0)))
}

fn handler(source: Source, event: &str, program: &str) -> Handler {
    let quits = matches!(event, "SessionEnd" | "Interrupt");
    Handler {
        kind: "command",
        command: format!("{program} hook {} {event}", source.as_str()),
        timeout: if quits { INSTALLED_QUIT_TIMEOUT_SECONDS } else { INSTALLED_TIMEOUT_SECONDS },
    }
}

/// Adds the wanted hook of one event and removes other hooks of Shiftbook from it. Returns whether anything changed.
fn change_event(hooks: &mut Object, source: Source, event: &str, wanted: Option<Handler>) -> Result<bool, String> {
    let refused = || format!("`hooks.{event}` is not a list of groups with `hooks`; nothing was changed");
    let groups: Vec<Box<RawValue>> = match hooks.get(event) {
        None => Vec::new(),
        Some(groups) => serde_json::from_str(groups.get()).map_err(|_| refused())?,
    };
    let (mut kept, mut ours, mut found) = (Vec::new(), 0, false);
    for group in groups {
        let mut parsed: Object = serde_json::from_str(group.get()).map_err(|_| refused())?;
        let handlers: Vec<Box<RawValue>> = match parsed.get("hooks") {
            None => Vec::new(),
            Some(handlers) => serde_json::from_str(handlers.get()).map_err(|_| refused())?,
        };
        let before = handlers.len();
        let others: Vec<_> = handlers
            .into_iter()
            .filter(|handler| {
                let same = wanted.as_ref().is_some_and(|wanted| !found && is_same(handler, wanted));
                found |= same;
                same || !is_ours(handler, source, event)
            })
            .collect();
        if others.len() == before {
            kept.push(group);
            continue;
        }
        ours += before - others.len();
        if !others.is_empty() {
            let items = others.iter().map(|handler| handler.get().to_owned());
            parsed.set("hooks", raw(block(('[', ']'), items, 4))?);
            kept.push(raw(parsed.write(3))?);
        }
    }
    if ours == 0 && (found || wanted.is_none()) {
        return Ok(false);
    }
    if let Some(wanted) = wanted.filter(|_| !found) {
        let group = serde_json::to_string_pretty(&Group { hooks: [wanted] }).map_err(|error| error.to_string())?;
        kept.push(raw(group.replace('\n', "\n      "))?);
    }
    if kept.is_empty() {
        hooks.remove(event);
    } else {
        hooks.set(event, raw(block(('[', ']'), kept.iter().map(|group| group.get().to_owned()), 2))?);
    }
    Ok(true)
}

fn command(handler: &RawValue) -> Option<String> {
    let handler: Value = serde_json::from_str(handler.get()).ok()?;
    Some(handler.get("command")?.as_str()?.to_owned())
}

fn is_same(handler: &RawValue, wanted: &Handler) -> bool {
    let read: Option<Value> = serde_json::from_str(handler.get()).ok();
    read.is_some() && read == serde_json::to_value(wanted).ok()
}

/// Whether an earlier `install` wrote this hook, whatever the path of the program was.
fn is_ours(handler: &RawValue, source: Source, event: &str) -> bool {
    let Some(command) = command(handler) else { return false };
    let program = command.strip_suffix(&format!(" hook {} {event}", source.as_str()));
    program.is_some_and(|program| program.trim_matches(['\'', '"']).rsplit('/').next() == Some("shiftbook"))
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
