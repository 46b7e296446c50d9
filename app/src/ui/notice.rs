//! Notices: short messages about what happened.

pub use super::tone::Tone;
use super::{content::Content, notice_frame::NoticeFrame};
use crate::render::static_html;
use leptos::prelude::*;

/// The text of a `?notice=` code. An unknown code has none, because anyone can write an address.
pub fn text(code: &str) -> Option<&'static str> {
    Some(match code {
        "setup_done" => "Your workspace is ready.",
        "signed_out" => "You are signed out.",
        "session_ended" => "Your session has ended. Sign in again.",
        "action_created" => "Task created.",
        "action_saved" => "Changes saved.",
        "working_started" => "Started. Pages you open from now on are recorded.",
        "working_stopped" => "Stopped. Nothing is recorded from now on.",
        "entity_created" => "Entity created.",
        "entity_erased" => "Erased. Who wrote its versions, and when, is kept.",
        "entities_erased" => "Erased. Who wrote the versions, and when, is kept.",
        "entities_refused" => {
            "Done, except for entities that were changed after they were shown, or that are no longer there."
        }
        "entity_saved" => "Saved as a new version.",
        "card_given" => "The agent has the card.",
        "forget_asked" => "An admin is told that you ask to be forgotten.",
        "forget_withdrawn" => "Your request is withdrawn.",
        "memory_saved" => "Saved as a new version.",
        "memory_reverted" => "Reverted. Earlier versions are kept.",
        "memory_deleted" => "Deleted. Its history is kept.",
        "memory_run_asked" => "Asked. The run begins within seconds.",
        "memory_run_waits" => "The request is kept, but the run cannot begin yet. The reason is below.",
        "memory_erased" => "Erased. The digests of its texts are kept.",
        "entity_type_created" => "Entity type created. Add its fields below.",
        "entity_type_saved" => "Changes saved.",
        "criteria_set_created" => "Criteria set created.",
        "criteria_set_saved" => "Saved as a new version.",
        "view_saved" => "Form saved. People answer the published version until you publish again.",
        "view_published" => "Form published.",
        "view_unpublished" => "Form unpublished. Its versions and responses are kept.",
        "view_link_revoked" => "Link revoked. Browsers that opened it cannot answer any more.",
        "tool_link_revoked" => "Link revoked. No one runs the tool by it any more.",
        "share_link_revoked" => "Link revoked. No one reads the session by it any more.",
        "view_deleted" => "Draft deleted.",
        "tool_saved" => "Tool saved. Runs use the published version until you publish again.",
        "tool_published" => "Tool published.",
        "tool_unpublished" => "Tool unpublished. Its versions and runs are kept.",
        "tool_deleted" => "Draft deleted.",
        "tool_secret_set" => "Secret set. Calls use it from now on.",
        "mcp_server_saved" => "MCP server saved.",
        "mcp_server_asked" => "Its tools are listed below.",
        "mcp_server_deleted" => "MCP server deleted.",
        "mcp_tools_imported" => "Imported. Tools that are new are drafts until you publish them.",
        "canvas_suggested" => "Suggested. An editor of the canvas accepts or declines it.",
        "rule_saved" => "Rule saved.",
        "rule_suspended" => "Rule suspended. People decide until it is resumed.",
        "rule_resumed" => "Rule resumed.",
        "rule_deleted" => "Rule deleted. Its decisions are kept.",
        "tool_secret_deleted" => "Secret deleted.",
        "newest_version_only" => {
            "These responses have too many different questions for one table. Only the newest version of the form is \
             shown. The filter has the others."
        }
        "approvals_saved" => "Approvals saved.",
        "telemetry_saved" => "Telemetry saved.",
        "group_created" => "Group created.",
        "group_saved" => "Group saved.",
        "triggered_unclaimed" => {
            "This task names no agent. Only a worker that takes sessions without an agent name can start the session."
        }
        "labels_saved" => "Tags and assignee saved.",
        "cancelled" => "Cancelled. The log is kept.",
        "message_sent" => "Sent. The session is queued and continues with your message.",
        "results_sent" => "Recorded. The session continues when it has all results that it waits for.",
        "acknowledged" => "Marked as seen. The failure is still in the log.",
        "search_saved" => "Saved. It is shown above the list of sessions.",
        "search_renamed" => "Renamed.",
        "search_deleted" => "Saved search deleted.",
        "cause_seen" => "Marked as seen. Further failures of this cause change nothing.",
        "cause_snoozed" => "Snoozed. The cause opens again by itself.",
        "cause_resolved" => "Resolved. The next failure opens the cause again.",
        "cause_reopened" => "The cause is open again.",
        "causes_decided" => "Done. The causes are in the list of their new state, where each can be opened again.",
        "causes_missing" => "Done, except for causes that are no longer there.",
        "tasks_archived" => "Archived. The tasks cannot be run, and keep their sessions.",
        "tasks_restored" => "Restored. The tasks can be run again.",
        "tasks_refused" => {
            "Done, except for tasks that are no longer there or not valid any more. Open those to see why."
        }
        "retried" => "This is a new session like an earlier one.",
        "response_promoted" => "Done. What the response became, or what it is waiting for, is shown below.",
        "token_created" => "Token created. Copy it now. It is not shown again.",
        "token_revoked" => "Token revoked. It no longer works.",
        "webhook_removed" => "Webhook removed. Nothing is sent to it from now on.",
        "webhook_tested" => "A test message is being sent. The result is shown under Messages.",
        "joined" => "Welcome. You are a member of this workspace now.",
        "name_saved" => "Name saved.",
        "password_changed" => "Password changed. Your other sign-ins have ended.",
        "sign_in_ended" => "Ended. That browser has to sign in again.",
        "sign_ins_ended" => "Ended. Every other browser has to sign in again.",
        "invitation_withdrawn" => "Invitation withdrawn. Its link does not work any more.",
        "role_saved" => "Role saved. It applies from now on.",
        "member_deactivated" => "Deactivated. You can activate them again here.",
        "member_activated" => "Activated. They can sign in again.",
        "member_removed" => "Removed. What they did is kept in the log.",
        "decided" => "Decision recorded.",
        "decision_undone" => "Undone. The item is waiting for a decision again.",
        "snoozed" => "Snoozed. The item comes back when the time is up.",
        "handed_over" => "Handed over. The item is under Snoozed for a week, unless it is decided before.",
        "unsnoozed" => "The item is back in the list.",
        "notifications_saved" => "Notifications saved.",
        "appearance_saved" => "Appearance saved.",
        "workspace_switched" => "You switched to another workspace.",
        _ => return None,
    })
}

/// A message in the page.
#[component]
pub fn Notice(
    /// What kind of message it is.
    tone: Tone,
    /// The message, as paragraphs.
    children: Content,
) -> impl IntoView {
    view! { <NoticeFrame tone>{children.view()}</NoticeFrame> }
}

/// The errors of a whole form; nothing if there are none. They have the focus when the page is shown, which would be at
/// the top of the page again.
#[component]
pub fn Refused(
    /// The errors.
    messages: Vec<String>,
) -> impl IntoView {
    (!messages.is_empty()).then(|| {
        let messages = messages.into_iter().map(|message| view! { <p>{message}</p> }).collect::<Vec<_>>();
        static_html(view! { <div tabindex="-1" autofocus=""><Notice tone=Tone::Bad>{messages}</Notice></div> })
    })
}

/// The notice of a `?notice=` code; `None` for an unknown code.
pub fn of(code: &str) -> Option<AnyView> {
    let text = text(code)?;
    let tone = match code {
        "triggered_unclaimed" | "newest_version_only" | "memory_run_waits" => Tone::Wait,
        _ => Tone::Good,
    };
    Some(static_html(view! { <Notice tone=tone><p>{text}</p></Notice> }).into_any())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::to_html;

    #[test]
    fn errors_of_a_form_have_the_focus() {
        let html = |messages: Vec<String>| to_html(view! { <Refused messages=messages/> });
        let refused = html(vec!["Choose another name.".to_owned()]);
        assert!(refused.contains("tabindex=\"-1\" autofocus") && refused.contains("role=\"alert\""), "{refused}");
        assert!(!html(Vec::new()).contains("autofocus"));
    }
}
