//! The filter of the responses to a form, as a form and as a query.

use crate::{
    FormState,
    render::static_html,
    text::escape::query,
    ui::{
        button::{Button, ButtonLink, Look},
        field::{Field, Input, Select},
    },
};
use chrono::{Days, NaiveDate};
use domain::{id::ViewId, response::ResponseStatus};
use leptos::{prelude::*, tachys::html::InertElement};

/// Which responses are shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ResponseFilter {
    /// `?status=`
    pub status: Option<ResponseStatus>,
    /// `?version=`
    pub version: Option<u64>,
    /// `?from=`: the first day (UTC) on which a response was begun.
    pub from: Option<NaiveDate>,
    /// `?to=`: the last day (UTC).
    pub to: Option<NaiveDate>,
}

impl ResponseFilter {
    /// Whether nothing is filtered.
    pub fn is_open(&self) -> bool {
        *self == Self::default()
    }

    /// The day after the last one.
    pub fn before(&self) -> Option<NaiveDate> {
        self.to?.checked_add_days(Days::new(1))
    }

    /// The address of the filtered page, from a cursor on. `path` is that of the form.
    pub fn href(&self, path: &str, cursor: Option<&str>) -> String {
        let pairs = [
            ("status", self.status.map(|status| status.as_str().to_owned())),
            ("version", self.version.map(|version| version.to_string())),
            ("from", self.from.map(|day| day.to_string())),
            ("to", self.to.map(|day| day.to_string())),
            ("cursor", cursor.map(query)),
        ];
        address(&format!("{path}/responses"), pairs)
    }

    /// The address of the same responses as CSV. With `bom` the file has the byte order mark that spreadsheet programs
    /// need.
    pub fn csv_href(&self, view_id: ViewId, bom: bool) -> String {
        let pairs = [
            ("status", self.status.map(|status| status.as_str().to_owned())),
            ("version", self.version.map(|version| version.to_string())),
            ("createdFrom", self.from.map(|day| format!("{day}T00:00:00Z"))),
            ("createdBefore", self.before().map(|day| format!("{day}T00:00:00Z"))),
            ("bom", bom.then(|| "true".to_owned())),
        ];
        address(&format!("/api/views/{view_id}/responses.csv"), pairs)
    }
}

fn address<const N: usize>(path: &str, pairs: [(&str, Option<String>); N]) -> String {
    let given = pairs.into_iter().filter_map(|(name, value)| Some(format!("{name}={}", value?)));
    let query = given.collect::<Vec<_>>().join("&");
    if query.is_empty() { path.to_owned() } else { format!("{path}?{query}") }
}

/// The filter form. Empty fields are sent too; the server treats them as absent.
pub fn filter_form(path: &str, filter: &ResponseFilter, versions: &[u64]) -> InertElement {
    let none = FormState::default();
    let mut statuses = vec![(String::new(), "Any status".to_owned())];
    let words = [
        (ResponseStatus::Submitted, "Submitted"),
        (ResponseStatus::Promoted, "Promoted"),
        (ResponseStatus::Draft, "Draft"),
        (ResponseStatus::Abandoned, "Abandoned"),
    ];
    statuses.extend(words.map(|(status, word)| (status.as_str().to_owned(), word.to_owned())));
    let mut numbers = vec![(String::new(), "Any version".to_owned())];
    numbers.extend(versions.iter().map(|version| (version.to_string(), format!("Version {version}"))));
    let text = |day: Option<NaiveDate>| day.map(|day| day.to_string()).unwrap_or_default();
    let (target, version) = (format!("{path}/responses"), filter.version.map(|of| of.to_string()).unwrap_or_default());
    let clear = (!filter.is_open()).then(|| {
        view! { <ButtonLink look=Look::Quiet href=target.clone()>"Clear"</ButtonLink> }
    });
    static_html(view! {
        <form class="filter" method="get" action=target.clone() role="search">
            <Select scope="filter" field=Field::new("status", "Status") options=statuses value=filter.status.map_or("", ResponseStatus::as_str) form=&none/>
            <Select scope="filter" field=Field::new("version", "Version") options=numbers value=version.as_str() form=&none/>
            <Input scope="filter" field=Field::new("from", "From day (UTC)") kind="date" value=text(filter.from) form=&none/>
            <Input scope="filter" field=Field::new("to", "To day (UTC)") kind="date" value=text(filter.to) form=&none/>
            <Button>"Filter"</Button>
            {clear}
        </form>
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_addresses_carry_the_filter_and_the_last_day_is_included() {
        let open = ResponseFilter::default();
        assert_eq!((open.is_open(), open.href("/views/a", None)), (true, "/views/a/responses".to_owned()));
        let day = NaiveDate::from_ymd_opt(2026, 12, 31);
        let filter = ResponseFilter { status: Some(ResponseStatus::Submitted), version: Some(2), from: day, to: day };
        assert_eq!(
            filter.href("/views/a", Some("x=")),
            "/views/a/responses?status=submitted&version=2&from=2026-12-31&to=2026-12-31&cursor=x%3D"
        );
        assert_eq!(
            filter.csv_href("01935f00-0000-7000-8000-000000000007".parse().unwrap(), true),
            "/api/views/01935f00-0000-7000-8000-000000000007/responses.csv?status=submitted&version=2\
             &createdFrom=2026-12-31T00:00:00Z&createdBefore=2027-01-01T00:00:00Z&bom=true"
        );
    }
}
