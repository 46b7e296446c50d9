//! Which columns the list of sessions shows, how dense its rows are, and the form in which a person chooses both.

use super::filter::Filter;
use crate::{
    render::static_html,
    ui::{
        button::{Button, Look},
        field::{Choice, Many},
        popover::Popover,
        table::Order,
        tabs::{Tab, Tabs},
    },
};
use domain::session::Sort;
use leptos::{prelude::*, tachys::html::InertElement};

/// A column of the list. The title is always shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListColumn {
    /// Status of the session.
    Status,
    /// Slug of its agent.
    Agent,
    /// Kind of its work: agent, response, tool or mixed.
    Type,
    /// The person, token or agent that created it.
    Creator,
    /// When it was created.
    Created,
    /// From the first claim to the end, or until now.
    Duration,
    /// When its latest event was recorded.
    Activity,
    /// Number of events.
    Events,
    /// Numbers of tokens that its agent reported.
    Tokens,
    /// Cost that its agent reported.
    Cost,
    /// The words by which people sorted it.
    Tags,
    /// The member who looks after it.
    Assignee,
}

impl ListColumn {
    /// All of them, in the order of the table.
    pub const ALL: [Self; 12] = [
        Self::Status,
        Self::Agent,
        Self::Type,
        Self::Creator,
        Self::Created,
        Self::Duration,
        Self::Activity,
        Self::Events,
        Self::Tokens,
        Self::Cost,
        Self::Tags,
        Self::Assignee,
    ];

    /// Those that are shown to people who chose none.
    const AT_FIRST: [Self; 7] =
        [Self::Status, Self::Agent, Self::Type, Self::Created, Self::Duration, Self::Events, Self::Cost];

    /// Name in cookies, addresses and forms.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Status => "status",
            Self::Agent => "agent",
            Self::Type => "type",
            Self::Creator => "creator",
            Self::Created => "created",
            Self::Duration => "duration",
            Self::Activity => "activity",
            Self::Events => "events",
            Self::Tokens => "tokens",
            Self::Cost => "cost",
            Self::Tags => "tags",
            Self::Assignee => "assignee",
        }
    }

    /// Heading of the column.
    pub(super) const fn heading(self) -> &'static str {
        match self {
            Self::Status => "Status",
            Self::Agent => "Agent",
            Self::Type => "Type",
            Self::Creator => "Started by",
            Self::Created => "Created",
            Self::Duration => "Duration",
            Self::Activity => "Last activity",
            Self::Events => "Events",
            Self::Tokens => "Tokens",
            Self::Cost => "Cost",
            Self::Tags => "Tags",
            Self::Assignee => "Assigned to",
        }
    }

    /// Whether its cells are figures.
    pub(super) const fn is_number(self) -> bool {
        match self {
            Self::Duration | Self::Events | Self::Tokens | Self::Cost => true,
            Self::Status
            | Self::Agent
            | Self::Type
            | Self::Creator
            | Self::Created
            | Self::Activity
            | Self::Tags
            | Self::Assignee => false,
        }
    }

    /// The order to which its heading leads from a list in this order, and the present order if it is by this column.
    /// `None` for a column that the list cannot be sorted by.
    pub(super) const fn sorts(self, present: Sort) -> Option<(Sort, Option<Order>)> {
        match (self, present) {
            (Self::Created, Sort::Newest) => Some((Sort::Oldest, Some(Order::Descending))),
            (Self::Created, Sort::Oldest) => Some((Sort::Newest, Some(Order::Ascending))),
            (Self::Created, _) => Some((Sort::Newest, None)),
            (Self::Duration, Sort::Duration) | (Self::Cost, Sort::Cost) | (Self::Activity, Sort::Activity) => {
                Some((Sort::Newest, Some(Order::Descending)))
            }
            (Self::Duration, _) => Some((Sort::Duration, None)),
            (Self::Cost, _) => Some((Sort::Cost, None)),
            (Self::Activity, _) => Some((Sort::Activity, None)),
            (
                Self::Status
                | Self::Agent
                | Self::Type
                | Self::Creator
                | Self::Events
                | Self::Tokens
                | Self::Tags
                | Self::Assignee,
                _,
            ) => None,
        }
    }
}

/// The title, in a text of [`Columns`]. With it the text is never empty.
const TITLE: &str = "title";
/// Dense rows, in a text of [`Columns`] and in the form.
pub const COMPACT: &str = "compact";

/// The columns that are shown, and how dense the rows are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Columns {
    shown: Vec<ListColumn>,
    is_compact: bool,
}

impl Default for Columns {
    fn default() -> Self {
        Self { shown: ListColumn::AT_FIRST.to_vec(), is_compact: false }
    }
}

impl Columns {
    /// The columns for which `is_shown` is true.
    pub fn of(is_shown: impl Fn(ListColumn) -> bool, is_compact: bool) -> Self {
        Self { shown: ListColumn::ALL.into_iter().filter(|column| is_shown(*column)).collect(), is_compact }
    }

    /// Reads a text of [`Self::text`]. What it does not know is left out. No text means the default.
    pub fn parse(text: Option<&str>) -> Self {
        let Some(text) = text.filter(|text| !text.is_empty()) else { return Self::default() };
        let has = |name: &str| text.split('.').any(|part| part == name);
        Self::of(|column| has(column.as_str()), has(COMPACT))
    }

    /// The columns as one text of letters and dots, for a cookie and an address.
    pub fn text(&self) -> String {
        let density = self.is_compact.then_some(COMPACT);
        let columns = self.shown.iter().map(|column| column.as_str());
        [TITLE].into_iter().chain(density).chain(columns).collect::<Vec<_>>().join(".")
    }

    /// Whether a column that names people is shown.
    pub fn has_people(&self) -> bool {
        self.has(ListColumn::Creator) || self.has(ListColumn::Assignee)
    }

    /// Whether a column is shown.
    pub fn has(&self, column: ListColumn) -> bool {
        self.shown.contains(&column)
    }

    /// The columns after the title, in the order of the table.
    pub(super) fn after_title(&self) -> impl Iterator<Item = ListColumn> {
        self.shown.iter().copied().filter(|column| *column != ListColumn::Status)
    }

    /// Whether a row is one line with little space around it.
    pub(super) const fn is_compact(&self) -> bool {
        self.is_compact
    }
}

/// Name of an order, as a link.
const fn sort_label(sort: Sort) -> &'static str {
    match sort {
        Sort::Newest => "Newest",
        Sort::Oldest => "Oldest",
        Sort::Duration => "Longest",
        Sort::Cost => "Highest cost",
        Sort::Activity => "Last activity",
    }
}

/// The button that opens the orders, the columns and the density. Orders are links; the rest is posted.
pub(super) fn view_form(filter: &Filter, columns: &Columns) -> InertElement {
    let order = |sort: Sort| Tab::new(sort_label(sort), filter.sorted(sort).href(None), sort == filter.sort);
    let orders = Sort::ALL.map(order).to_vec();
    let boxes = ListColumn::ALL.into_iter().map(|column| {
        let name = format!("column.{}", column.as_str());
        view! { <Choice name=name checked=columns.has(column)>{column.heading()}</Choice> }
    });
    let boxes = boxes.collect::<Vec<_>>();
    let densities = [("comfortable", "Comfortable", false), (COMPACT, "Compact", true)].into_iter();
    let densities = densities.map(|(value, label, is_compact)| {
        let checked = columns.is_compact == is_compact;
        view! { <Choice many=Many::One name="density" value=value checked=checked>{label}</Choice> }
    });
    let densities = densities.collect::<Vec<_>>();
    static_html(view! {
        <Popover label="View" look=Look::Quiet action="/sessions/columns">
            <Tabs label="Order" tabs=orders/>
            <fieldset class="field">
                <legend class="field-label">"Columns"</legend>
                <div class="choices">{boxes}</div>
            </fieldset>
            <fieldset class="field">
                <legend class="field-label">"Rows"</legend>
                <div class="choices">{densities}</div>
            </fieldset>
            <input type="hidden" name="next" value=filter.href(None)/>
            <div class="form-actions"><Button>"Show"</Button></div>
        </Popover>
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::to_html;

    #[test]
    fn the_choice_of_columns_survives_as_a_text() {
        let chosen = Columns::of(|column| matches!(column, ListColumn::Cost | ListColumn::Agent), true);
        assert_eq!(chosen.text(), "title.compact.agent.cost");
        assert_eq!(Columns::parse(Some("cost.agent.compact.<b>.title")), chosen);
        let none = Columns::of(|_| false, false);
        assert_eq!((none.text().as_str(), Columns::parse(Some("title"))), ("title", none));
        assert_eq!((Columns::parse(None), Columns::parse(Some(""))), (Columns::default(), Columns::default()));
    }

    #[test]
    fn each_heading_leads_to_another_order_and_says_the_present_one() {
        for sort in Sort::ALL {
            let all = ListColumn::ALL.into_iter().filter_map(|column| column.sorts(sort));
            let (to, present): (Vec<_>, Vec<_>) = all.unzip();
            assert!(!to.contains(&sort), "{sort}");
            assert_eq!(present.into_iter().flatten().count(), 1, "{sort}");
        }
    }

    #[test]
    fn the_form_shows_what_is_chosen() {
        let filter = Filter { sort: Sort::Cost, ..Filter::default() };
        let html = to_html(view_form(&filter, &Columns::parse(Some("compact.agent"))));
        for part in [
            "name=\"column.agent\" value=\"on\" checked",
            "name=\"density\" value=\"compact\" checked",
            "href=\"/sessions?sort=duration\"",
            "href=\"/sessions?sort=cost\" aria-current=\"true\"",
            "name=\"next\" value=\"/sessions?sort=cost\"",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert_eq!(html.matches(" checked").count(), 2, "{html}");
    }
}
