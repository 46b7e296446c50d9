//! The table of links. Each that works has a form, which posts `do=revoke` and `link`.

use crate::{
    entity::People,
    render::static_html,
    text::number::counted,
    ui::{
        button::{Button, Look},
        table::{Column, Table},
        time::{moment, stamp},
    },
};
use domain::Timestamp;
use leptos::{prelude::*, tachys::html::InertElement};

/// What the table shows of a link.
#[derive(Debug, Clone, Copy)]
pub struct Link<'a> {
    /// Id of the link. It gives no access.
    pub id: &'a str,
    /// First characters of the secret.
    pub hint: &'a str,
    /// Creator: `user:…` or `token:…`.
    pub created_by: &'a str,
    /// Time of creation (UTC).
    pub created_at: Timestamp,
    /// Time from which it does not work (UTC).
    pub expires_at: Timestamp,
    /// How often it was used.
    pub uses: u64,
    /// Time of the last use (UTC).
    pub last_used_at: Option<Timestamp>,
    /// Time it was revoked (UTC).
    pub revoked_at: Option<Timestamp>,
}

/// The table with these rows. `used` is the heading of how often a link was used.
pub fn links_table(used: &'static str, rows: Vec<InertElement>) -> InertElement {
    let columns = vec![
        Column::text("Link"),
        Column::text("Created"),
        Column::text(used),
        Column::text("Works until"),
        Column::hidden("Revoke"),
    ];
    static_html(view! { <Table caption="Links, newest first" columns=columns focusable=true>{rows}</Table> })
}

/// A row, with `main` in its first cell. `used` is the heading of how often a link was used; the form of the row posts
/// to `action`.
pub fn link_row(
    link: Link<'_>,
    main: InertElement,
    (used, action): (&'static str, &str),
    people: &People,
    now: Timestamp,
) -> InertElement {
    let last = link.last_used_at.map(|at| view! { <span class="meta">", last "{moment(at)}</span> });
    let uses = if link.uses == 0 { "never".to_owned() } else { counted(link.uses, "time") };
    let until = match link.revoked_at {
        Some(at) => view! { "revoked "{moment(at)} }.into_any(),
        None if link.expires_at <= now => view! { "expired "{moment(link.expires_at)} }.into_any(),
        None => stamp(link.expires_at).into_any(),
    };
    let works = link.revoked_at.is_none() && link.expires_at > now;
    let about = format!("link {}", link.hint);
    let revoke = works.then(|| {
        view! {
            <form method="post" action=action.to_owned()>
                <input type="hidden" name="link" value=link.id.to_owned()/>
                <Button small=true name="do" value="revoke" look=Look::Danger about=about>"Revoke"</Button>
            </form>
        }
    });
    static_html(view! {
        <tr>
            <td class="table-main">{main}</td>
            <td class="meta" data-label="Created">{moment(link.created_at)}" by "{people.word(link.created_by)}</td>
            <td class="meta" data-label=used>{uses}{last}</td>
            <td class="meta" data-label="Works until">{until}</td>
            <td class="table-number">{revoke}</td>
        </tr>
    })
}
