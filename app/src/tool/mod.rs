//! Tools: the list, the page of a tool with its definition, secrets and versions, the editor, and the page that writes
//! a result to an entity.

mod definition;
mod editor;
mod links_page;
mod list_page;
mod offered;
mod page;
mod promote_page;
mod run;
mod run_form;
mod run_target;
mod secret_calls;
mod secrets;
mod start;
mod steps;
mod versions;

pub use editor::{Draft, editor_page};
pub use links_page::{LinksProps, links_page};
pub use list_page::{ListProps, list_page};
pub use offered::Offered;
pub use page::{Props, page};
pub use promote_page::{PromoteField, PromoteProps, PromoteTarget, promote_page};
pub use run::{EndedRuns, Run};
pub use run_target::{ENTITY, PART, SHOW_FIELDS, SHOWN, TASK, Targets};
pub use start::{Continued, Start};
pub use versions::Comparison;

use crate::settings::role_word;
use domain::tool::{Audience, Kind};

/// What the form of a tool without input says.
const NO_INPUT: &str = "This tool takes no input.";

/// Why there is no button that publishes or tests a tool.
const NEEDS_ADMIN: &str = "Only an admin can publish or test the working copy: the tool has secrets, which would be sent \
     with a call that differs from the published one.";

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
    let everyone = audience.is_everyone().then(|| "Everyone".to_owned());
    let roles = audience.roles.iter().map(|role| role_word(*role).to_owned());
    let groups = audience.groups.iter().map(|slug| format!("group {slug}"));
    let link = audience.link.then(|| "people with a link".to_owned());
    everyone.into_iter().chain(roles).chain(groups).chain(link).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::role::Role;

    #[test]
    fn an_audience_is_named_by_its_roles_and_groups() {
        assert_eq!(audience_words(&Audience::default()), "Everyone");
        let some = Audience { roles: vec![Role::Admin, Role::Operator], groups: vec!["leads".to_owned()], link: false };
        assert_eq!(audience_words(&some), "Admin, Operator, group leads");
        let by_link = Audience { link: true, ..Audience::default() };
        assert_eq!(audience_words(&by_link), "Everyone, people with a link");
    }
}
