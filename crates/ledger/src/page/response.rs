//! The page /views/{slug}/responses: a page of responses, and counts of the answers.

use super::names::{People, people_on};
use crate::{
    Error, Ledger, ListPage, Listed, ResponseCounts, ResponseRecord, Result, ViewRecord,
    cursor::{List, encode},
    guard::require,
    response::{Leads, ListResponses, hide_lead, leads},
    view,
};
use domain::{
    Scope,
    id::{SessionId, TenantId, ViewId},
    limit::{RESPONSE_COLUMNS_MAX, RESPONSE_SUMMARY_MAX, RESPONSE_VERSIONS_MAX},
    response_chart::{Chart, add_charts},
    response_table::{Column, add_columns},
    role::Permission,
    slug::is_slug,
    view::Field,
};
use std::collections::BTreeMap;
use store::{Conn, ResponseState, response::Filter};

/// Number of responses on a page.
const ROWS: u32 = 50;
/// Responses that are read at once to count answers.
const COUNTED_AT_ONCE: u32 = 500;

/// The page of a view's responses.
#[derive(Debug)]
pub struct Page {
    /// What was answered, with its working copy.
    pub view: ViewRecord,
    /// Numbers of all its responses.
    pub counts: ResponseCounts,
    /// Versions with responses, newest first, whatever the filter.
    pub versions: Vec<u64>,
    /// Columns of the filtered responses.
    pub columns: Vec<Column>,
    /// Fields of the versions of the filtered responses.
    pub fields: BTreeMap<u64, Vec<Field>>,
    /// The responses of this page.
    pub responses: Listed<ResponseRecord>,
    /// Who their leads are, if the caller may read that.
    pub leads: Leads,
    /// Counts of the answers to questions with a few possible answers, over the submitted responses of the filter.
    pub charts: Vec<Chart>,
    /// Number of responses that the charts count.
    pub counted: u64,
    /// Whether there are older ones that the charts do not count.
    pub is_partial: bool,
    /// Everyone who may have answered.
    pub people: People,
}

/// What was found for a page.
#[derive(Debug)]
pub enum Found {
    /// Everything that the page shows.
    Page(Box<Page>),
    /// The responses are for too many versions or have too many columns for one table, and the query names no version.
    /// The responses for this version, the newest of the view, are fewer.
    NewestOnly(u64),
}

/// Reads the page of the view with this slug. `query.view_id` and the size of its page are ignored.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no view with this slug, also for a text that is no slug;
/// [`Error::InvalidCursor`] for a cursor of another list; [`Error::LimitReached`] if the responses for the version of
/// the query, or for a view that has no version, have too many columns.
pub async fn read(ledger: &Ledger, scope: &Scope, slug: String, query: ListResponses) -> Result<Found> {
    if !is_slug(&slug) {
        return Err(Error::NotFound("view"));
    }
    require(scope, Permission::Read)?;
    let (tenant_id, caller) = (scope.tenant_id, *scope);
    let found = ledger.snapshot(scope, async move |conn| {
        let view = view::get_by_slug_on(conn, tenant_id, &slug).await?;
        let page = ListPage { limit: ROWS, cursor: query.page.cursor.clone() };
        let (before, limit) = page.before_id(List::Responses)?;
        let filter = ListResponses { view_id: Some(view.id), ..query }.filter(&caller);
        let newest = view.version.filter(|_| filter.version.is_none());
        let table = match (table(conn, tenant_id, view.id, filter).await, newest) {
            (Err(Error::LimitReached(_)), Some(newest)) => return Ok(Found::NewestOnly(newest)),
            (table, _) => table?,
        };
        let before = before.map(SessionId);
        let listed = store::response::list(conn, tenant_id, filter, before, limit).await?;
        let mut responses = Listed::of(listed, |response| encode(List::Responses, response.session_id.0));
        responses.items.iter_mut().for_each(|response| hide_lead(&caller, response));
        let counts = store::response::counts(conn, tenant_id, &[view.id]).await?;
        let all = Filter { view_id: Some(view.id), reader: filter.reader, ..Filter::default() };
        let place = (tenant_id, view.id);
        let versions = store::response::versions_of_view(conn, place, all, RESPONSE_VERSIONS_MAX).await?;
        let mut charts = table.charts;
        let (counted, is_partial) = count(conn, tenant_id, filter, &mut charts).await?;
        Ok(Found::Page(Box::new(Page {
            counts: counts.first().map(|(_, counts)| *counts).unwrap_or_default(),
            view,
            versions,
            columns: table.columns,
            fields: table.fields,
            responses,
            leads: Leads::new(),
            charts,
            counted,
            is_partial,
            people: people_on(conn, tenant_id).await?,
        })))
    });
    let mut found = found.await?;
    if let Found::Page(page) = &mut found {
        page.leads = leads(ledger, scope, &page.responses.items).await?;
    }
    Ok(found)
}

struct Table {
    columns: Vec<Column>,
    charts: Vec<Chart>,
    fields: BTreeMap<u64, Vec<Field>>,
}

async fn table(conn: &mut Conn<'_>, tenant_id: TenantId, view_id: ViewId, filter: Filter) -> Result<Table> {
    let mut table = Table { columns: Vec::new(), charts: Vec::new(), fields: BTreeMap::new() };
    let used = store::response::versions_of_view(conn, (tenant_id, view_id), filter, RESPONSE_VERSIONS_MAX + 1).await?;
    for number in &used {
        if let Some(version) = store::view::version_of(conn, tenant_id, view_id, *number).await? {
            add_columns(&mut table.columns, &version.fields);
            add_charts(&mut table.charts, &version.fields);
            table.fields.insert(*number, version.fields);
        }
    }
    if used.len() > RESPONSE_VERSIONS_MAX as usize || table.columns.len() > RESPONSE_COLUMNS_MAX {
        return Err(Error::LimitReached("these responses have too many different questions; filter by version".into()));
    }
    Ok(table)
}

/// Counts the answers of the newest submitted responses. Returns how many, and whether there are more.
async fn count(conn: &mut Conn<'_>, tenant_id: TenantId, filter: Filter, charts: &mut [Chart]) -> Result<(u64, bool)> {
    let is_submitted = filter.state.is_none_or(|state| state == ResponseState::Submitted);
    if charts.is_empty() || !is_submitted {
        return Ok((0, false));
    }
    let filter = Filter { state: Some(ResponseState::Submitted), ..filter };
    let (mut before, mut counted) = (None, 0);
    loop {
        let page = store::response::list(conn, tenant_id, filter, before, COUNTED_AT_ONCE).await?;
        for response in &page.items {
            charts.iter_mut().for_each(|chart| chart.count(&response.answers));
        }
        counted += page.items.len() as u64;
        before = page.items.last().map(|response| response.session_id);
        if !page.has_more || counted >= u64::from(RESPONSE_SUMMARY_MAX) {
            return Ok((counted, page.has_more));
        }
    }
}
