//! Links to a form on its page: the list, a form that creates one, and the address of one that was just created.
//! Creating posts `do=link`, `days` and `note`; revoking posts `do=revoke` and `link`.

use crate::{
    FormState,
    entity::People,
    render::static_html,
    secret_link::{Link, link_row, links_table, new_link},
    text::shorten::one_line,
    ui::{
        button::{Button, CopyLine, Look},
        field::{Field, Input},
        notice::Refused,
        popover::Sheet,
        section::Section,
    },
};
use domain::{
    Timestamp,
    limit::{VIEW_LINK_DAYS_MAX, VIEW_LINK_NOTE_CHARS_MAX},
    view::Gate,
};
use leptos::{prelude::*, tachys::html::InertElement};
use wire::{response::ViewLink, view::View};

/// Heading of how often a link was used.
const USED: &str = "Used";

/// A link that was just created. It is shown once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewFormLink {
    /// Address of the form.
    pub url: String,
    /// HTML with a frame of the form, to copy into another page.
    pub snippet: String,
}

/// Data of the section.
#[derive(Debug, Clone, Default)]
pub struct LinksProps {
    /// The newest links, whether they work or not.
    pub links: Vec<ViewLink>,
    /// The link that this request shows once.
    pub new_link: Option<NewFormLink>,
    /// State of the form that creates a link.
    pub form: FormState,
    /// Time at which the links were read (UTC).
    pub now: Timestamp,
}

/// The section. A form that was never published has no links.
pub fn links_section(form: &View, props: &LinksProps, people: &People) -> InertElement {
    let LinksProps { links, new_link, form: state, now } = props;
    let path = format!("/views/{}", form.slug);
    if form.version.is_none() {
        let text = "Links can be created once the form is published.";
        return static_html(
            view! { <Section name="links" title="Links" id="links"><p class="meta">{text}</p></Section> },
        );
    }
    let gate = match form.publish_config.gate {
        Gate::None => "Anyone with a link can answer, without an account.",
        Gate::Lead => "Anyone with a link can answer after giving a name and an e-mail address.",
        Gate::Member => "A link leads to the sign-in: only members of this workspace answer this form.",
    };
    let rows: Vec<_> = links.iter().map(|link| row(link, &path, people, *now)).collect();
    let list = (!rows.is_empty()).then(|| links_table(USED, rows));
    let none = links.is_empty().then(|| view! { <p class="meta">"There are no links yet."</p> });
    let made = new_link
        .as_ref()
        .map(|made| created(made, (!form.publish_config.embed_origins.is_empty()).then_some(form.publish_config.gate)));
    let days = format!("1 to {VIEW_LINK_DAYS_MAX}.");
    let note =
        format!("Who or what it is for. At most {VIEW_LINK_NOTE_CHARS_MAX} characters; respondents do not see it.");
    let is_open = links.is_empty() || state.is_refused();
    static_html(view! {
        <Section name="links" title="Links" id="links">
            <p class="meta">{gate}</p>
            {made}
            {none}
            {list}
            <Sheet summary="New link" open=is_open>
                <form class="form" method="post" action=path.clone()>
                    <Refused messages=state.general(&["days", "note"])/>
                    <div class="form-row">
                        <Input scope="link" field=Field::new("days", "Days that it works").hint(&days) kind="number" value="30" form=state/>
                        <Input scope="link" field=Field::new("note", "Note").hint(&note) form=state/>
                    </div>
                    <div class="form-actions"><Button name="do" value="link" look=Look::Primary>"Create link"</Button></div>
                </form>
            </Sheet>
        </Section>
    })
}

/// The address of a new link, and the HTML that shows its form in another page. `embedded` is the gate of a form that
/// other pages may show.
fn created(made: &NewFormLink, embedded: Option<Gate>) -> InertElement {
    let NewFormLink { url, snippet } = made.clone();
    let snippet = embedded.map(|gate| {
        let in_tab = (gate != Gate::None).then(|| {
            view! { <p class="meta">"There, a link opens the form in a new tab, because it asks who answers."</p> }
        });
        static_html(view! {
            <p>"To show the form in another page, copy this HTML into it:"</p>
            <CopyLine text=snippet what="the HTML"/>
            {in_tab}
        })
    });
    new_link(&url, snippet)
}

fn row(link: &ViewLink, path: &str, people: &People, now: Timestamp) -> InertElement {
    let note =
        (!link.note.is_empty()).then(|| view! { <div class="meta" dir="auto">{one_line(&link.note, 200)}</div> });
    let main = static_html(view! { <code>{link.hint.clone()}"…"</code>{note} });
    let id = link.id.to_string();
    let shown = Link {
        id: &id,
        hint: &link.hint,
        created_by: &link.created_by,
        created_at: link.created_at,
        expires_at: link.expires_at,
        uses: link.uses,
        last_used_at: link.last_used_at,
        revoked_at: link.revoked_at,
    };
    link_row(shown, main, (USED, path), people, now)
}
