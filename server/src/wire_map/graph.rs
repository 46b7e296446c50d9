//! Converts dependencies between sessions.

use super::json;
use crate::problem::Problem;
use domain::{id::SessionId, session::IfDependencyFails};
use ledger::session::{DependsOn, Neighbour, Related, RelatedSession};
use wire::Code;

/// Converts the sessions that must end before another one starts. All have the same rule for failures.
pub fn depends_on(ids: Vec<SessionId>, if_fails: Option<IfDependencyFails>) -> Result<Vec<DependsOn>, Problem> {
    if ids.is_empty() && if_fails.is_some() {
        return Err(Problem::field(Code::InvalidRequest, "ifDependencyFails", "goes with dependsOn"));
    }
    let on = |session_id| DependsOn { session_id, if_fails: if_fails.unwrap_or_default() };
    Ok(ids.into_iter().map(on).collect())
}

/// Converts the result of a session that is related to the claimed one.
pub fn related_session(related: RelatedSession) -> wire::worker::Related {
    let code = related.error_code;
    wire::worker::Related {
        session_id: related.id,
        action_slug: related.action_slug,
        agent_slug: related.agent_slug,
        title: related.title,
        status: related.status,
        end_reason: related.end_reason,
        output: related.output.map(json),
        output_left_out: related.output_left_out,
        error: related.error_message.map(|message| wire::session::SessionError { message, code }),
    }
}

fn neighbour(neighbour: Neighbour) -> wire::session::Neighbour {
    wire::session::Neighbour {
        session_id: neighbour.id,
        action_slug: neighbour.action_slug,
        agent_slug: neighbour.agent_slug,
        title: neighbour.title,
        status: neighbour.status,
        end_reason: neighbour.end_reason,
        if_dependency_fails: neighbour.if_fails,
    }
}

/// Converts the sessions that a session depends on, and those that depend on it.
pub fn dependencies(related: Related) -> wire::session::Dependencies {
    wire::session::Dependencies {
        dependencies: related.dependencies.into_iter().map(neighbour).collect(),
        dependents: related.dependents.into_iter().map(neighbour).collect(),
    }
}
