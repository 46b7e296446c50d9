//! Tools: the list, the page of a tool with its definition, secrets and versions, the editor, and the page that writes
//! a result to an entity.

mod definition;
mod editor;
mod input;
mod list_page;
mod offered;
mod page;
mod promote_page;
mod run;
mod run_form;
mod secrets;
mod start;
mod steps;
mod versions;

pub use editor::{Draft, editor_page};
pub use list_page::{ListProps, list_page};
pub use offered::Offered;
pub use page::{Props, page};
pub use promote_page::{PromoteField, PromoteProps, PromoteTarget, promote_page};
pub use run::Run;
pub use start::{Continued, Start};
pub use versions::Comparison;

use crate::settings::role_word;
use domain::tool::{Audience, Kind};

/// The label of a kind of tool.
const fn kind_word(kind: Kind) -> &'static str {
    match kind {
        Kind::Http => "HTTP call",
        Kind::Worker => "Worker",
        Kind::Composite => "Composite",
        Kind::Mcp => "MCP server",
    }
}

/// Who may run a tool, in words.
fn audience_words(audience: &Audience) -> String {
    if audience.is_everyone() {
        return "Everyone".to_owned();
    }
    let roles = audience.roles.iter().map(|role| role_word(*role).to_owned());
    let groups = audience.groups.iter().map(|slug| format!("group {slug}"));
    roles.chain(groups).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::role::Role;

    #[test]
    fn an_audience_is_named_by_its_roles_and_groups() {
        assert_eq!(audience_words(&Audience::default()), "Everyone");
        let some = Audience { roles: vec![Role::Admin, Role::Operator], groups: vec!["leads".to_owned()] };
        assert_eq!(audience_words(&some), "Admin, Operator, group leads");
    }
}
