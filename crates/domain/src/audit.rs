//! Audit entries: what the list of administrators' acts and sign-ins of a workspace records.
//!
//! An entry names people, tokens and other things by their ids. It has no secrets, no names and no texts of people.

use crate::{limit::SLUG_CHARS_MAX, names::names};
use serde::{Deserialize, Serialize};
use std::fmt;

/// What was done. The stored and wire names are append-only: recorded entries have them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Kind {
    /// A person signed in, or switched to the workspace in a browser that was signed in.
    #[serde(rename = "sign_in.accepted")]
    SignInAccepted,
    /// A sign-in to the account of a member was refused, because the password was wrong.
    #[serde(rename = "sign_in.refused")]
    SignInRefused,
    /// Wrong passwords have blocked sign-ins to the account of a member for a time.
    #[serde(rename = "sign_in.blocked")]
    SignInBlocked,
    /// A person signed out, or ended sign-ins of other browsers.
    #[serde(rename = "sign_in.ended")]
    SignInEnded,
    /// A person was invited.
    #[serde(rename = "member.invited")]
    MemberInvited,
    /// An invitation was withdrawn.
    #[serde(rename = "member.invitation_withdrawn")]
    InvitationWithdrawn,
    /// A person accepted an invitation, or set the server up.
    #[serde(rename = "member.joined")]
    MemberJoined,
    /// The operator of the server added a person, who may have been a member before.
    #[serde(rename = "member.added")]
    MemberAdded,
    /// A member got another role.
    #[serde(rename = "member.role_changed")]
    MemberRoleChanged,
    /// A member was deactivated.
    #[serde(rename = "member.deactivated")]
    MemberDeactivated,
    /// A deactivated member was activated.
    #[serde(rename = "member.activated")]
    MemberActivated,
    /// A member was removed.
    #[serde(rename = "member.removed")]
    MemberRemoved,
    /// A link for a new password was created.
    #[serde(rename = "password.link_created")]
    PasswordLinkCreated,
    /// A password was changed.
    #[serde(rename = "password.changed")]
    PasswordChanged,
    /// A password was reset by a link.
    #[serde(rename = "password.reset")]
    PasswordReset,
    /// A token was created.
    #[serde(rename = "token.created")]
    TokenCreated,
    /// A token was revoked.
    #[serde(rename = "token.revoked")]
    TokenRevoked,
    /// A group was created.
    #[serde(rename = "group.created")]
    GroupCreated,
    /// The name or the members of a group changed.
    #[serde(rename = "group.changed")]
    GroupChanged,
    /// A webhook was added.
    #[serde(rename = "webhook.created")]
    WebhookCreated,
    /// A webhook was removed.
    #[serde(rename = "webhook.deleted")]
    WebhookDeleted,
    /// Settings of the workspace changed.
    #[serde(rename = "workspace.changed")]
    WorkspaceChanged,
    /// An export of training data began.
    #[serde(rename = "export.started")]
    ExportStarted,
    /// A file of an export of training data was downloaded.
    #[serde(rename = "export.downloaded")]
    ExportDownloaded,
    /// The responses to a view were downloaded as CSV.
    #[serde(rename = "responses.downloaded")]
    ResponsesDownloaded,
    /// Forgetting a person began.
    #[serde(rename = "person.forgotten")]
    PersonForgotten,
    /// A forgotten person may be remembered again.
    #[serde(rename = "person.remembered")]
    PersonRemembered,
    /// The training data of a session was deleted.
    #[serde(rename = "session.forgotten")]
    SessionForgotten,
    /// A memory document was erased.
    #[serde(rename = "document.erased")]
    DocumentErased,
    /// An entity was erased.
    #[serde(rename = "entity.erased")]
    EntityErased,
    /// A link to a form was created.
    #[serde(rename = "link.created")]
    LinkCreated,
    /// A link to a form was revoked.
    #[serde(rename = "link.revoked")]
    LinkRevoked,
    /// A link with which people without an account read a session was created.
    #[serde(rename = "share.created")]
    ShareCreated,
    /// A link with which people without an account read a session was revoked.
    #[serde(rename = "share.revoked")]
    ShareRevoked,
    /// A link with which people without an account run a tool was created.
    #[serde(rename = "tool.link_created")]
    ToolLinkCreated,
    /// A link with which people without an account run a tool was revoked.
    #[serde(rename = "tool.link_revoked")]
    ToolLinkRevoked,
    /// A tool was published.
    #[serde(rename = "tool.published")]
    ToolPublished,
    /// A tool was withdrawn.
    #[serde(rename = "tool.unpublished")]
    ToolUnpublished,
    /// The working copy of a tool was tested.
    #[serde(rename = "tool.tested")]
    ToolTested,
    /// A secret of a tool was set.
    #[serde(rename = "tool.secret_set")]
    ToolSecretSet,
    /// A secret of a tool was deleted.
    #[serde(rename = "tool.secret_deleted")]
    ToolSecretDeleted,
    /// An MCP server was added.
    #[serde(rename = "mcp_server.created")]
    McpServerCreated,
    /// How an MCP server is reached changed.
    #[serde(rename = "mcp_server.changed")]
    McpServerChanged,
    /// An MCP server was deleted.
    #[serde(rename = "mcp_server.deleted")]
    McpServerDeleted,
    /// A rule that decides gates was made.
    #[serde(rename = "rule.created")]
    RuleCreated,
    /// A rule got a new version.
    #[serde(rename = "rule.changed")]
    RuleChanged,
    /// A rule was suspended, by an admin or by a decision that differs.
    #[serde(rename = "rule.suspended")]
    RuleSuspended,
    /// A suspended rule decides again.
    #[serde(rename = "rule.resumed")]
    RuleResumed,
    /// A rule was deleted.
    #[serde(rename = "rule.deleted")]
    RuleDeleted,
    /// A participant was added to a canvas, or got another role in it.
    #[serde(rename = "canvas.participant_set")]
    CanvasParticipantSet,
    /// A participant was removed from a canvas.
    #[serde(rename = "canvas.participant_removed")]
    CanvasParticipantRemoved,
    /// An editor declined a suggestion for a canvas. The log has those that were accepted.
    #[serde(rename = "canvas.suggestion_declined")]
    CanvasSuggestionDeclined,
    /// An editor undid the decline of a suggestion, which waits again.
    #[serde(rename = "canvas.suggestion_reopened")]
    CanvasSuggestionReopened,
    /// An admin made a canvas a template of the workspace.
    #[serde(rename = "canvas.template_added")]
    CanvasTemplateAdded,
    /// A canvas is no template any more.
    #[serde(rename = "canvas.template_removed")]
    CanvasTemplateRemoved,
    /// Retention began to erase old sessions of the workspace.
    #[serde(rename = "retention.run")]
    RetentionRun,
    /// Another model orders the memories of the workspace, or the formula alone.
    #[serde(rename = "ranker.switched")]
    RankerSwitched,
}

names!(Kind {
    SignInAccepted = "sign_in.accepted",
    SignInRefused = "sign_in.refused",
    SignInBlocked = "sign_in.blocked",
    SignInEnded = "sign_in.ended",
    MemberInvited = "member.invited",
    InvitationWithdrawn = "member.invitation_withdrawn",
    MemberJoined = "member.joined",
    MemberAdded = "member.added",
    MemberRoleChanged = "member.role_changed",
    MemberDeactivated = "member.deactivated",
    MemberActivated = "member.activated",
    MemberRemoved = "member.removed",
    PasswordLinkCreated = "password.link_created",
    PasswordChanged = "password.changed",
    PasswordReset = "password.reset",
    TokenCreated = "token.created",
    TokenRevoked = "token.revoked",
    GroupCreated = "group.created",
    GroupChanged = "group.changed",
    WebhookCreated = "webhook.created",
    WebhookDeleted = "webhook.deleted",
    WorkspaceChanged = "workspace.changed",
    ExportStarted = "export.started",
    ExportDownloaded = "export.downloaded",
    ResponsesDownloaded = "responses.downloaded",
    PersonForgotten = "person.forgotten",
    PersonRemembered = "person.remembered",
    SessionForgotten = "session.forgotten",
    DocumentErased = "document.erased",
    EntityErased = "entity.erased",
    LinkCreated = "link.created",
    LinkRevoked = "link.revoked",
    ShareCreated = "share.created",
    ShareRevoked = "share.revoked",
    ToolLinkCreated = "tool.link_created",
    ToolLinkRevoked = "tool.link_revoked",
    ToolPublished = "tool.published",
    ToolUnpublished = "tool.unpublished",
    ToolTested = "tool.tested",
    ToolSecretSet = "tool.secret_set",
    ToolSecretDeleted = "tool.secret_deleted",
    McpServerCreated = "mcp_server.created",
    McpServerChanged = "mcp_server.changed",
    McpServerDeleted = "mcp_server.deleted",
    RuleCreated = "rule.created",
    RuleChanged = "rule.changed",
    RuleSuspended = "rule.suspended",
    RuleResumed = "rule.resumed",
    RuleDeleted = "rule.deleted",
    CanvasParticipantSet = "canvas.participant_set",
    CanvasParticipantRemoved = "canvas.participant_removed",
    CanvasSuggestionDeclined = "canvas.suggestion_declined",
    CanvasSuggestionReopened = "canvas.suggestion_reopened",
    CanvasTemplateAdded = "canvas.template_added",
    CanvasTemplateRemoved = "canvas.template_removed",
    RetentionRun = "retention.run",
    RankerSwitched = "ranker.switched",
});

/// What an act was done to. The names are append-only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// A person, by the id of the account.
    User,
    /// An invitation, or a link for a new password.
    AccessLink,
    /// An API token.
    Token,
    /// People who can be asked to review together.
    Group,
    /// An address that receives messages.
    Webhook,
    /// An export of training data.
    Export,
    /// One forgetting of a person. It does not say who the person is.
    Forgetting,
    /// One execution.
    Session,
    /// A memory document.
    Document,
    /// A record of a type.
    Entity,
    /// A link to a form.
    ViewLink,
    /// A form or another view.
    View,
    /// A call that people, programs and agents make by name.
    Tool,
    /// A rule that decides gates.
    Rule,
    /// An MCP server whose tools the workspace calls.
    McpServer,
}

names!(TargetKind {
    User = "user",
    AccessLink = "access_link",
    Token = "token",
    Group = "group",
    Webhook = "webhook",
    Export = "export",
    Forgetting = "forgetting",
    Session = "session",
    Document = "document",
    Entity = "entity",
    ViewLink = "view_link",
    View = "view",
    Tool = "tool",
    Rule = "rule",
    McpServer = "mcp_server",
});

/// Whether a text has the form of an actor: `user:…`, `token:…`, `agent:…`, `respondent:…` or `system`.
pub fn is_actor(text: &str) -> bool {
    match text.split_once(':') {
        Some(("user" | "token" | "agent" | "respondent", id)) => {
            !id.is_empty()
                && id.len() <= SLUG_CHARS_MAX
                && id.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
        }
        _ => text == "system",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_has_one_name_in_the_database_and_in_json() {
        for kind in Kind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
            assert_eq!(Kind::parse(kind.as_str()), Some(kind));
        }
        for kind in TargetKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
    }

    #[test]
    fn an_actor_has_a_known_kind_and_an_id() {
        let id = "01a20a70-53e8-79de-a498-a750e904f691";
        for actor in ["system".to_owned(), "agent:scout".to_owned(), format!("user:{id}"), format!("token:{id}")] {
            assert!(is_actor(&actor), "{actor}");
        }
        for other in ["", "user:", "user:Ada", "person:ada", "agent:", "System", id] {
            assert!(!is_actor(other), "{other}");
        }
    }
}
