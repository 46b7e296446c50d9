//! What the inbox's page shows at first.

use super::{api::UndoOffer, item::Item};

/// The list and the item beside it. The server provides it for the island; the browser reads it from the page, so that
/// nothing of it is sent twice and no parser of arguments is loaded.
#[derive(Debug, Clone, Default)]
pub struct Content {
    /// Query with which the list is read.
    pub query: String,
    /// Whether the address is that of an item. A narrow screen then shows the item, else the list.
    pub is_opened: bool,
    /// The rows of the list.
    pub rows: Vec<Item>,
    /// What the viewer can undo.
    pub offer: Option<UndoOffer>,
    /// Why a form without scripts was refused.
    pub refused: String,
    /// Address of this list, where a refused form continues.
    pub page: String,
    /// The button that leads to the selected items.
    pub review: String,
    /// What an empty list says.
    pub empty: String,
    /// The links to the next and first page.
    pub pager: String,
    /// The button that asks for notifications.
    pub notify: String,
    /// Sessions that wait for an answer in a terminal.
    pub terminal: String,
    /// The item beside the list.
    pub detail: String,
}

impl Content {
    /// What was provided for this page.
    #[cfg(not(feature = "hydrate"))]
    pub fn of_page() -> Self {
        leptos::prelude::use_context().unwrap_or_default()
    }

    /// What the page was rendered with.
    #[cfg(feature = "hydrate")]
    pub fn of_page() -> Self {
        use crate::browser::dom;
        let Some(inbox) = dom::root().and_then(|root| dom::find(&root, "[data-keys=inbox]")) else {
            return Self::default();
        };
        Self { is_opened: inbox.has_attribute("data-opened"), ..Self::read(&inbox) }
    }
}

#[cfg(feature = "hydrate")]
mod reading {
    use super::{Content, Item, UndoOffer};
    use crate::{
        browser::dom::{self, HtmlElement},
        server_function::Answer as _,
    };

    impl Content {
        /// Reads a list as the server renders it.
        pub fn read(list: &HtmlElement) -> Self {
            let rows = dom::find_all(list, "li[data-row]:not([data-terminal])").iter().map(Item::read).collect();
            let offer = dom::find(list, "[data-offer]").and_then(|held| held.get_attribute("data-offer"));
            let query = dom::find(list, "[data-query]").or_else(|| Some(list.clone()));
            Self {
                query: query.and_then(|list| list.get_attribute("data-query")).unwrap_or_default(),
                rows,
                offer: offer.and_then(|offer| UndoOffer::read(&js_sys::JSON::parse(&offer).ok()?)),
                ..Self::default()
            }
        }
    }
}
