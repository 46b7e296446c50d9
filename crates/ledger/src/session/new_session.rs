//! What a new session is created from.

use crate::{Result, guard::Fields};
use domain::{
    id::{ActionId, SessionId},
    limit::{DEPENDENCIES_MAX, KEY_CHARS_MAX, TITLE_CHARS_MAX},
    session::{IfDependencyFails, Type},
};
use serde_json::json;
use sha2::{Digest as _, Sha256};

/// A session on which a new session depends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DependsOn {
    /// Id of a session of the workspace.
    pub session_id: SessionId,
    /// What happens to the new session if this one does not complete.
    pub if_fails: IfDependencyFails,
}

/// The fields of a new session.
#[derive(Debug, Clone)]
pub struct NewSession {
    /// Agent or tool. Other parts of the product start response and mixed sessions.
    pub session_type: Type,
    /// Id of an action of the workspace.
    pub action_id: Option<ActionId>,
    /// Slug of the agent that may claim the session. Defaults to the agent of the action.
    pub agent_slug: Option<String>,
    /// Defaults to the action's name.
    pub title: Option<String>,
    /// Input for the worker, as JSON.
    pub input: Option<String>,
    /// A JSON object.
    pub metadata: Option<String>,
    /// Id of a session of the workspace.
    pub parent_id: Option<SessionId>,
    /// Sessions that must end before this one is queued.
    pub depends_on: Vec<DependsOn>,
    /// A repeat with the same key returns the session that the first request created.
    pub idempotency_key: Option<String>,
}

impl NewSession {
    /// Creates a session of this type without any other field.
    pub const fn of_type(session_type: Type) -> Self {
        Self {
            session_type,
            action_id: None,
            agent_slug: None,
            title: None,
            input: None,
            metadata: None,
            parent_id: None,
            depends_on: Vec::new(),
            idempotency_key: None,
        }
    }

    /// Checks the fields.
    pub(super) fn check(&self) -> Result<()> {
        let mut fields = Fields::default();
        if let Some(title) = &self.title {
            fields.title("title", title, TITLE_CHARS_MAX);
        }
        self.check_type(&mut fields);
        fields.slug("agentSlug", self.agent_slug.as_deref());
        fields.document("input", self.input.as_deref());
        fields.object("metadata", self.metadata.as_deref());
        fields.key("idempotencyKey", self.idempotency_key.as_deref(), KEY_CHARS_MAX);
        self.check_dependencies(&mut fields);
        fields.check()
    }

    /// Refuses the types whose sessions nothing could start, write and end if they were created here.
    fn check_type(&self, fields: &mut Fields) {
        match self.session_type {
            Type::Agent | Type::Tool => {}
            Type::Response => fields.refuse(
                "sessionType",
                "agent or tool: a response session begins with the answers to a form, at \
                 POST /api/views/{id}/submit-interaction",
            ),
            Type::Mixed => fields.refuse(
                "sessionType",
                "agent or tool: a mixed session begins when a person works on a task, at \
                 POST /api/sessions/human/start",
            ),
        }
    }

    fn check_dependencies(&self, fields: &mut Fields) {
        if self.depends_on.len() > DEPENDENCIES_MAX {
            fields.refuse("dependsOn", format!("at most {DEPENDENCIES_MAX} sessions"));
            return;
        }
        for (at, on) in self.depends_on.iter().enumerate() {
            if self.depends_on[..at].iter().any(|earlier| earlier.session_id == on.session_id) {
                fields.refuse(&format!("dependsOn[{at}]"), "names a session a second time");
            }
        }
    }

    /// Returns a digest of the request. Requests with the same key must have the same digest.
    pub(super) fn digest(&self) -> [u8; 32] {
        let mut fields = json!([
            self.session_type,
            self.action_id,
            self.agent_slug,
            self.title,
            self.input,
            self.metadata,
            self.parent_id
        ]);
        // Dependencies are only added if there are any. This keeps the digest of other requests as it was in
        // earlier versions.
        for on in &self.depends_on {
            if let Some(fields) = fields.as_array_mut() {
                fields.push(json!([on.session_id, on.if_fails]));
            }
        }
        Sha256::digest(fields.to_string().as_bytes()).into()
    }
}
