//! Names of the members and tokens of the workspace, who may have written something.

use app::entity::People;
use ledger::page;

/// Returns the names by actor.
pub fn people_of(found: page::People) -> People {
    let members =
        found.members.into_iter().map(|member| (format!("user:{}", member.user_id), member.display_name().to_owned()));
    let tokens = found.tokens.into_iter().map(|(id, name)| (format!("token:{id}"), format!("{name} (token)")));
    People(members.chain(tokens).collect())
}
