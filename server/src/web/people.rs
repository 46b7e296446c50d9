//! Who wrote something, by name: members and tokens of the workspace.

use super::shell::Turned;
use crate::state::AppState;
use app::entity::People;
use ledger::{Scope, member, token};

/// Everybody that a page may have to name.
pub async fn people(state: &AppState, scope: &Scope) -> Result<People, Turned> {
    let members = member::everybody(&state.ledger, scope).await?;
    let tokens = token::names(&state.ledger, scope).await?;
    let members = members.into_iter().map(|member| (format!("user:{}", member.user_id), member.called().to_owned()));
    let tokens = tokens.into_iter().map(|(id, name)| (format!("token:{id}"), format!("{name} (token)")));
    Ok(People(members.chain(tokens).collect()))
}
