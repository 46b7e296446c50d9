//! Names of members and tokens of the workspace, to show who wrote something.

use super::shell::PageRejection;
use crate::state::AppState;
use app::entity::People;
use ledger::{Scope, page};

/// Returns the names of everyone that a page may have to name.
pub async fn people(state: &AppState, scope: &Scope) -> Result<People, PageRejection> {
    Ok(people_of(page::people(&state.ledger, scope).await?))
}

/// Converts names to a map from actors.
pub fn people_of(found: page::People) -> People {
    let members =
        found.members.into_iter().map(|member| (format!("user:{}", member.user_id), member.display_name().to_owned()));
    let tokens = found.tokens.into_iter().map(|(id, name)| (format!("token:{id}"), format!("{name} (token)")));
    People(members.chain(tokens).collect())
}
