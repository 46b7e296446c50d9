//! The secrets of a tool, for admins. Setting posts `do=set-secret`, `name` and `password` to /tools/{slug}; deleting
//! posts `do=delete-secret` and `name`.

use crate::{
    FormState,
    entity::People,
    render::static_html,
    ui::{
        button::{Button, Look},
        field::{Field, Input},
        notice::{Notice, Refused, Tone},
        popover::Sheet,
        section::Section,
        table::{Column, Table},
        time::moment,
    },
};
use leptos::{prelude::*, tachys::html::InertElement};
use wire::tool::ToolSecret;

/// The list and its forms.
pub(super) fn secrets_section(
    slug: &str,
    secrets: &[ToolSecret],
    missing: &[String],
    people: &People,
    form: &FormState,
) -> InertElement {
    let target = format!("/tools/{slug}");
    let rows = secrets
        .iter()
        .map(|secret| {
            let name = secret.name.clone();
            view! {
                <tr>
                    <td class="table-main"><code>{name.clone()}</code></td>
                    <td class="meta">{moment(secret.set_at)}</td>
                    <td class="meta">{people.word(&secret.set_by)}</td>
                    <td>
                        <form method="post" action=target.clone()>
                            <input type="hidden" name="name" value=name.clone()/>
                            <Button small=true look=Look::Danger name="do" value="delete-secret" about=name.clone()>"Delete"</Button>
                        </form>
                    </td>
                </tr>
            }
        })
        .collect::<Vec<_>>();
    let list = (!rows.is_empty()).then(|| {
        view! {
            <Table caption="Secrets" columns=vec![Column::text("Name"), Column::text("Set"), Column::text("By"), Column::hidden("Delete")]>{rows}</Table>
        }
    });
    let lacks = (!missing.is_empty()).then(|| {
        let sentence =
            format!("The call needs secrets that are not set: {}. Runs fail until they are.", missing.join(", "));
        view! { <Notice tone=Tone::Wait><p>{sentence}</p></Notice> }
    });
    let start = missing.first().cloned().unwrap_or_default();
    static_html(view! {
        <Section name="secrets" id="secrets" title="Secrets">
            <p class="meta">"Headers of the call refer to a secret by its name. Values are encrypted and are never shown again."</p>
            {lacks}
            {list}
            <Sheet summary="Set a secret" open=form.is_refused()>
                <form class="form" method="post" action=format!("{target}#secrets")>
                    <Refused messages=form.general(&["name", "password"])/>
                    <div class="form-row">
                        <Input scope="secret" field=Field::new("name", "Name").required().hint("Letters, digits and underscores. An earlier value is replaced.") value=start form=form/>
                        <Input scope="secret" kind="password" autocomplete="new-password" field=Field::new("password", "Value").required() form=form/>
                    </div>
                    <div class="form-actions"><Button name="do" value="set-secret" look=Look::Primary>"Set secret"</Button></div>
                </form>
            </Sheet>
        </Section>
    })
}
