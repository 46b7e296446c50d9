//! The sentence of an entry: who did what to what.

use crate::{settings::role_word, text::number::counted};
use domain::{
    audit::{Kind, TargetKind},
    role::Role,
    rule::SuspendedWhy,
};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use wire::audit::AuditEntry;

/// What something is called, and where its page is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// Its name now.
    pub name: String,
    /// The address of its page; absent if it has none.
    pub href: Option<String>,
}

/// What the ids in entries are called now. What is not in it has no name any more.
#[derive(Debug, Clone, Default)]
pub struct Names {
    /// Names of members and tokens, by actor.
    pub actors: BTreeMap<String, String>,
    /// What acts were done to, by id.
    pub targets: HashMap<String, Known>,
}

/// An entry as a reader sees it: `who`, then `before`, the target, and `after`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sentence {
    pub(super) who: String,
    pub(super) before: String,
    pub(super) target: Option<Known>,
    pub(super) after: String,
}

/// The label of a kind in the filter.
pub(super) const fn kind_word(kind: Kind) -> &'static str {
    match kind {
        Kind::SignInAccepted => "Signed in",
        Kind::SignInRefused => "Sign-in refused",
        Kind::SignInBlocked => "Sign-ins blocked for a time",
        Kind::SignInEnded => "Signed out",
        Kind::MemberInvited => "Member invited",
        Kind::InvitationWithdrawn => "Invitation withdrawn",
        Kind::MemberJoined => "Member joined",
        Kind::MemberAdded => "Member added by the operator",
        Kind::MemberRoleChanged => "Role changed",
        Kind::MemberDeactivated => "Member deactivated",
        Kind::MemberActivated => "Member activated",
        Kind::MemberRemoved => "Member removed",
        Kind::PasswordLinkCreated => "Reset link created",
        Kind::PasswordChanged => "Password changed",
        Kind::PasswordReset => "Password reset",
        Kind::TokenCreated => "Token created",
        Kind::TokenRevoked => "Token revoked",
        Kind::GroupCreated => "Group created",
        Kind::GroupChanged => "Group changed",
        Kind::WebhookCreated => "Webhook added",
        Kind::WebhookDeleted => "Webhook removed",
        Kind::WorkspaceChanged => "Settings changed",
        Kind::ExportStarted => "Export started",
        Kind::ExportDownloaded => "Export downloaded",
        Kind::ResponsesDownloaded => "Responses downloaded",
        Kind::PersonForgotten => "Person forgotten",
        Kind::PersonRemembered => "Person remembered again",
        Kind::SessionForgotten => "Training data of a session deleted",
        Kind::DocumentErased => "Memory document erased",
        Kind::EntityErased => "Entity erased",
        Kind::LinkCreated => "Link to a form created",
        Kind::LinkRevoked => "Link to a form revoked",
        Kind::ShareCreated => "Session shared",
        Kind::ShareRevoked => "Link to a session revoked",
        Kind::ToolLinkCreated => "Link to a tool created",
        Kind::ToolLinkRevoked => "Link to a tool revoked",
        Kind::ToolPublished => "Tool published",
        Kind::ToolUnpublished => "Tool unpublished",
        Kind::ToolTested => "Tool tested",
        Kind::ToolSecretSet => "Secret of a tool set",
        Kind::ToolSecretDeleted => "Secret of a tool deleted",
        Kind::McpServerCreated => "MCP server added",
        Kind::McpServerChanged => "MCP server changed",
        Kind::McpServerDeleted => "MCP server deleted",
        Kind::RuleCreated => "Rule created",
        Kind::RuleChanged => "Rule changed",
        Kind::RuleSuspended => "Rule suspended",
        Kind::RuleResumed => "Rule resumed",
        Kind::RuleDeleted => "Rule deleted",
        Kind::CanvasParticipantSet => "Participant of a canvas set",
        Kind::CanvasParticipantRemoved => "Participant of a canvas removed",
        Kind::CanvasSuggestionDeclined => "Suggestion declined",
        Kind::CanvasSuggestionReopened => "Suggestion waits again",
        Kind::CanvasTemplateAdded => "Template of canvases added",
        Kind::CanvasTemplateRemoved => "Template of canvases removed",
        Kind::RetentionRun => "Old sessions erased",
        Kind::RankerSwitched => "Order of memories changed",
    }
}

impl Names {
    /// What an actor is called.
    fn actor(&self, actor: Option<&str>) -> String {
        match actor {
            None => "Someone".to_owned(),
            Some("system") => "The operator of the server".to_owned(),
            Some(actor) => self.actors.get(actor).cloned().unwrap_or_else(|| actor.to_owned()),
        }
    }

    /// The name of the target. `other` replaces a missing name.
    fn target(&self, entry: &AuditEntry, other: &str) -> Option<Known> {
        let target = entry.target?;
        let id = target.id.to_string();
        let known = self.targets.get(&id).cloned().or_else(|| {
            let href = match target.kind {
                TargetKind::Session => format!("/sessions/{id}"),
                TargetKind::Entity => format!("/entities/{id}"),
                TargetKind::Export => format!("/exports/{id}"),
                TargetKind::Rule => format!("/rules/{id}"),
                _ => return None,
            };
            Some(Known { name: other.to_owned(), href: Some(href) })
        });
        known.or_else(|| Some(Known { name: other.to_owned(), href: None }))
    }
}

fn text<'a>(detail: &'a Value, key: &str) -> &'a str {
    detail[key].as_str().unwrap_or_default()
}

/// A role as sentences have it.
fn role(detail: &Value, key: &str) -> String {
    let word = Role::parse(text(detail, key)).map_or("another role", role_word);
    word.to_lowercase()
}

/// The sentence of an entry.
pub(super) fn describe(entry: &AuditEntry, names: &Names) -> Sentence {
    let detail: Value = serde_json::from_str(entry.detail.get()).unwrap_or_default();
    let (before, other, after) = words(entry, &detail, names);
    Sentence {
        who: names.actor(entry.actor.as_deref()),
        before: before.to_owned(),
        target: if other.is_empty() { None } else { names.target(entry, other) },
        after,
    }
}

/// The text before the target, the text for a target without a name (empty if the sentence has no target), and
/// the text after it.
fn words(entry: &AuditEntry, detail: &Value, names: &Names) -> (&'static str, &'static str, String) {
    const PERSON: &str = "a former member";
    let is_own = entry.target.is_some_and(|target| entry.actor == Some(format!("user:{}", target.id)));
    match entry.kind {
        Kind::SignInAccepted if detail["switched"] == true => ("switched to this workspace", "", String::new()),
        Kind::SignInAccepted => ("signed in", "", String::new()),
        Kind::SignInRefused => ("was refused a sign-in as", PERSON, refused(detail)),
        Kind::SignInBlocked => ("blocked sign-ins as", PERSON, blocked(detail)),
        Kind::SignInEnded if detail["others"] == true => ("signed out other browsers", "", String::new()),
        Kind::SignInEnded => ("signed out", "", String::new()),
        Kind::MemberInvited => ("invited", "a person", format!("as {}", role(detail, "role"))),
        Kind::InvitationWithdrawn => ("withdrew the invitation of", "a person", String::new()),
        Kind::MemberJoined => ("joined", "", joined(detail, names)),
        Kind::MemberAdded => ("added", PERSON, format!("as {}", role(detail, "role"))),
        Kind::MemberRoleChanged => {
            ("changed the role of", PERSON, format!("from {} to {}", role(detail, "from"), role(detail, "to")))
        }
        Kind::MemberDeactivated => ("deactivated", PERSON, String::new()),
        Kind::MemberActivated => ("activated", PERSON, String::new()),
        Kind::MemberRemoved => ("removed", PERSON, "from the workspace".to_owned()),
        Kind::PasswordLinkCreated => ("created a link for a new password of", PERSON, String::new()),
        Kind::PasswordChanged if is_own => ("changed their password", "", String::new()),
        Kind::PasswordChanged => ("changed the password of", PERSON, String::new()),
        Kind::PasswordReset => ("set a new password by a link", "", made_by(detail, "linkBy", names)),
        Kind::TokenCreated => ("created the token", "without a name", token(detail, names)),
        Kind::TokenRevoked => ("revoked the token", "without a name", String::new()),
        Kind::GroupCreated => ("created the group", "that is gone", moves(detail)),
        Kind::GroupChanged => ("changed the group", "that is gone", moves(detail)),
        Kind::WebhookCreated => ("added", "a webhook", String::new()),
        Kind::WebhookDeleted => ("removed", "a webhook", String::new()),
        Kind::WorkspaceChanged => ("changed a setting:", "", setting(detail)),
        Kind::ExportStarted if text(detail, "what") == "raw" => {
            ("exported captured prompts and answers", "", into_folder(detail))
        }
        Kind::ExportStarted if text(detail, "what") == "labels" => {
            ("exported labels of memories", "", into_folder(detail))
        }
        Kind::ExportStarted if entry.target.is_none() => ("exported training data", "", into_folder(detail)),
        Kind::ExportStarted => ("started", "an export of training data", String::new()),
        Kind::ExportDownloaded => ("downloaded a file of", "an export of training data", String::new()),
        Kind::ResponsesDownloaded => ("downloaded the responses to", "a form", String::new()),
        Kind::PersonForgotten => ("forgot a person", "", String::new()),
        Kind::PersonRemembered => ("allowed a forgotten person to be remembered again", "", String::new()),
        Kind::SessionForgotten => ("deleted the training data of", "a session", String::new()),
        Kind::DocumentErased => ("erased a memory document", "", String::new()),
        Kind::EntityErased => ("erased", "an entity", String::new()),
        Kind::LinkCreated => ("created a link to the form", "that is gone", days(detail)),
        Kind::LinkRevoked => ("revoked a link to a form", "", String::new()),
        Kind::ShareCreated => ("created a link to", "a session", days(detail)),
        Kind::ShareRevoked => ("revoked a link to", "a session", String::new()),
        Kind::ToolLinkCreated => ("created a link to the tool", "that is gone", days(detail)),
        Kind::ToolLinkRevoked => ("revoked a link to the tool", "that is gone", String::new()),
        Kind::ToolPublished => ("published the tool", "that is gone", tool_version(detail)),
        Kind::ToolUnpublished => ("unpublished the tool", "that is gone", String::new()),
        Kind::ToolTested => ("tested the tool", "that is gone", revision(detail)),
        Kind::ToolSecretSet => ("set a secret of the tool", "that is gone", secret(detail)),
        Kind::ToolSecretDeleted => ("deleted a secret of the tool", "that is gone", secret(detail)),
        Kind::McpServerCreated => ("added", "an MCP server", String::new()),
        Kind::McpServerChanged => ("changed", "an MCP server", String::new()),
        Kind::McpServerDeleted => ("deleted", "an MCP server", String::new()),
        Kind::RuleCreated => ("created", "a rule", String::new()),
        Kind::RuleChanged => ("changed", "a rule", tool_version(detail)),
        Kind::RuleSuspended => ("suspended", "a rule", suspended(detail).to_owned()),
        Kind::RuleResumed => ("resumed", "a rule", String::new()),
        Kind::RuleDeleted => ("deleted", "a rule", String::new()),
        Kind::CanvasParticipantSet => ("changed who takes part in", "a canvas", participant(detail, names)),
        Kind::CanvasParticipantRemoved => ("removed from", "a canvas", participant(detail, names)),
        Kind::CanvasSuggestionDeclined => ("declined a suggestion for", "a canvas", suggested_by(detail, names)),
        Kind::CanvasSuggestionReopened => {
            ("took back the decline of a suggestion for", "a canvas", suggested_by(detail, names))
        }
        Kind::CanvasTemplateAdded => ("made a template of", "a canvas", String::new()),
        Kind::CanvasTemplateRemoved => ("removed from the templates", "a canvas", String::new()),
        Kind::RetentionRun => ("erased sessions that ended before", "", day(detail)),
        Kind::RankerSwitched => ("changed what orders memories", "", ranker(detail)),
    }
}

fn refused(detail: &Value) -> String {
    let from = format!("from {}", text(detail, "address"));
    match detail["unlistedBefore"].as_u64() {
        None => from,
        Some(more) => format!("{from}; before it {} more {} not listed", more, if more == 1 { "is" } else { "are" }),
    }
}

fn blocked(detail: &Value) -> String {
    let count = |key: &str, what: &str| counted(detail[key].as_u64().unwrap_or_default(), what);
    let (attempts, seconds) = (count("attempts", "wrong password"), count("seconds", "second"));
    format!("for {seconds} by {attempts}, the last from {}", text(detail, "address"))
}

fn joined(detail: &Value, names: &Names) -> String {
    let by = text(detail, "invitedBy");
    let role = format!("as {}", role(detail, "role"));
    if by.is_empty() { role } else { format!("{role}, invited by {}", names.actor(Some(by))) }
}

fn made_by(detail: &Value, key: &str, names: &Names) -> String {
    let by = text(detail, key);
    if by.is_empty() { String::new() } else { format!("that was created by {}", names.actor(Some(by))) }
}

fn token(detail: &Value, names: &Names) -> String {
    let role = format!("with the role {}", role(detail, "role"));
    let scope = if text(detail, "scope").is_empty() { String::new() } else { ", limited to workers".to_owned() };
    let user = text(detail, "user");
    let whose =
        if user.is_empty() { String::new() } else { format!(", for {}", names.actor(Some(&format!("user:{user}")))) };
    format!("{role}{scope}{whose}")
}

fn moves(detail: &Value) -> String {
    let count = |key: &str| detail[key].as_u64().unwrap_or_default();
    let people = |count: u64| counted(count, "member");
    match (count("addedCount"), count("removedCount")) {
        (0, 0) => String::new(),
        (added, 0) => format!("and added {}", people(added)),
        (0, removed) => format!("and removed {}", people(removed)),
        (added, removed) => format!("and added {} and removed {}", people(added), people(removed)),
    }
}

fn setting(detail: &Value) -> String {
    if text(detail, "setting") == "telemetry" {
        let to = if detail["to"] == true { "on" } else { "off" };
        return format!("training telemetry, to {to}");
    }
    let seconds = |key: &str| counted(detail[key].as_u64().unwrap_or_default(), "second");
    format!("time to undo a decision, from {} to {}", seconds("from"), seconds("to"))
}

/// The folder that `shiftbook export` wrote into.
fn into_folder(detail: &Value) -> String {
    let folder = text(detail, "folder");
    if folder.is_empty() { String::new() } else { format!("into {folder}") }
}

fn days(detail: &Value) -> String {
    detail["days"].as_u64().map(|days| format!("for {}", counted(days, "day"))).unwrap_or_default()
}

fn tool_version(detail: &Value) -> String {
    detail["version"].as_u64().map(|version| format!("as version {version}")).unwrap_or_default()
}

fn revision(detail: &Value) -> String {
    detail["revision"].as_u64().map(|revision| format!("at revision {revision}")).unwrap_or_default()
}

fn secret(detail: &Value) -> String {
    format!("with the name {}", text(detail, "secret"))
}

/// How a rule came to be suspended.
fn suspended(detail: &Value) -> &'static str {
    match SuspendedWhy::parse(text(detail, "why")) {
        Some(SuspendedWhy::Differed) => "by a decision that differs",
        Some(SuspendedWhy::Undone) => "by undoing its decision",
        Some(SuspendedWhy::Admin) | None => "",
    }
}

/// A participant of a canvas, and their role in it if it was set.
fn participant(detail: &Value, names: &Names) -> String {
    let who = text(detail, "participant");
    let role = text(detail, "role");
    match (who.is_empty(), role.is_empty()) {
        (true, _) => String::new(),
        (false, true) => format!("the participant {}", names.actor(Some(who))),
        (false, false) => format!("by giving {} the role {role}", names.actor(Some(who))),
    }
}

fn suggested_by(detail: &Value, names: &Names) -> String {
    let author = text(detail, "author");
    if author.is_empty() { String::new() } else { format!("by {}", names.actor(Some(author))) }
}

/// What orders memories since, and before.
fn ranker(detail: &Value) -> String {
    let name = |key: &str| match detail[key].as_u64() {
        Some(version) => format!("model {version}"),
        None => "the formula alone".to_owned(),
    };
    format!("from {} to {}", name("from"), name("to"))
}

/// The day of a time, UTC.
fn day(detail: &Value) -> String {
    text(detail, "olderThan").chars().take("2026-01-31".len()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const MIA: &str = "01a20a70-53e8-79de-a498-a750e904f691";

    fn names() -> Names {
        let name = |name: &str| name.to_owned();
        let mia = Known { name: name("Mia"), href: Some(format!("/settings/members/{MIA}")) };
        Names {
            actors: [(name("user:ada"), name("Ada")), (format!("user:{MIA}"), name("Mia"))].into(),
            targets: [(name(MIA), mia)].into(),
        }
    }

    fn text_of(kind: &str, actor: Option<&str>, target: Option<&str>, detail: Value) -> String {
        let target = target.map(|kind| json!({ "kind": kind, "id": MIA }));
        let entry = json!({
            "sequence": 1, "at": "2026-11-25T10:00:00Z", "kind": kind, "actor": actor, "target": target,
            "detail": detail, "digest": "",
        });
        let Sentence { who, before, target, after } = describe(&serde_json::from_value(entry).unwrap(), &names());
        let target = target.map(|known| known.name).unwrap_or_default();
        [who, before, target, after].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn entries_are_plain_sentences_with_the_names_of_today() {
        let (ada, mia, user) = (Some("user:ada"), format!("user:{MIA}"), Some("user"));
        let cases = [
            (text_of("sign_in.accepted", ada, None, json!({})), "Ada signed in"),
            (text_of("sign_in.accepted", ada, None, json!({ "switched": true })), "Ada switched to this workspace"),
            (
                text_of("sign_in.refused", None, user, json!({ "address": "203.0.113.9", "unlistedBefore": 12 })),
                "Someone was refused a sign-in as Mia from 203.0.113.9; before it 12 more are not listed",
            ),
            (
                text_of(
                    "sign_in.blocked",
                    None,
                    user,
                    json!({ "address": "203.0.113.9", "attempts": 7, "seconds": 4 }),
                ),
                "Someone blocked sign-ins as Mia for 4 seconds by 7 wrong passwords, the last from 203.0.113.9",
            ),
            (text_of("responses.downloaded", ada, Some("view"), json!({})), "Ada downloaded the responses to Mia"),
            (
                text_of("member.role_changed", ada, user, json!({ "from": "member", "to": "reviewer" })),
                "Ada changed the role of Mia from member to reviewer",
            ),
            (
                text_of("member.joined", Some(&mia), user, json!({ "role": "member", "invitedBy": "user:ada" })),
                "Mia joined as member, invited by Ada",
            ),
            (text_of("password.changed", Some(&mia), user, json!({})), "Mia changed their password"),
            (
                text_of("password.changed", Some("system"), user, json!({})),
                "The operator of the server changed the password of Mia",
            ),
            (
                text_of(
                    "group.changed",
                    Some("token:gone"),
                    Some("group"),
                    json!({ "addedCount": 1, "removedCount": 2 }),
                ),
                "token:gone changed the group Mia and added 1 member and removed 2 members",
            ),
            (
                text_of("workspace.changed", ada, None, json!({ "setting": "undoSeconds", "from": 10, "to": 1 })),
                "Ada changed a setting: time to undo a decision, from 10 seconds to 1 second",
            ),
            (
                text_of("retention.run", Some("system"), None, json!({ "olderThan": "2026-01-31T00:00:00Z" })),
                "The operator of the server erased sessions that ended before 2026-01-31",
            ),
            (
                text_of("ranker.switched", Some("system"), None, json!({ "from": 3, "to": null })),
                "The operator of the server changed what orders memories from model 3 to the formula alone",
            ),
        ];
        for (said, wanted) in cases {
            assert_eq!(said, wanted);
        }
    }

    #[test]
    fn every_kind_has_words_and_none_needs_a_detail() {
        for kind in Kind::ALL {
            assert!(!kind_word(kind).is_empty());
            assert!(text_of(kind.as_str(), None, Some("user"), json!({})).starts_with("Someone "), "{kind}");
        }
    }
}
