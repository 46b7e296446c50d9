//! Groups of people. Creating posts `name` and `slug` to /settings/groups; changing posts `name`, `add` or `remove`
//! (a user id) to /settings/groups/{id}.

use crate::{
    FormState,
    ui::{
        button::{Button, Look},
        field::{Field, Input, Select},
        notice::Refused,
        popover::Sheet,
        section::Section,
        table::{Column, Table},
    },
};
use domain::member::MemberStatus;
use leptos::prelude::*;
use wire::{access::Member, group::Group};

/// The list and its forms. `form` is the state of a refused `group` (create) or `group-ID` (change).
pub fn groups_section(groups: &[Group], members: &[Member], manages: bool, form: &FormState) -> impl IntoView + use<> {
    let none = groups.is_empty();
    let rows = groups.iter().map(|group| row(group, members, manages, form)).collect::<Vec<_>>();
    let list = (!none).then(|| {
        view! {
            <Table caption="Groups" columns=vec![Column::text("Name"), Column::text("Slug"), Column::text("Members")] focusable=true>{rows}</Table>
        }
    });
    let new = form.of("group");
    let create = manages.then(|| {
        view! {
            <Sheet summary="New group" open=new.is_refused()>
                <form class="form" method="post" action="/settings/groups">
                    <Refused messages=new.general(&["name", "slug"])/>
                    <div class="form-row">
                        <Input scope="group" field=Field::new("name", "Name").required() form=&new/>
                        <Input scope="group" field=Field::new("slug", "Slug").hint("Tasks refer to the group by its slug. Created from the name if left empty.") form=&new/>
                    </div>
                    <div class="form-actions"><Button look=Look::Primary>"Create group"</Button></div>
                </form>
            </Sheet>
        }
    });
    view! {
        <Section name="groups" id="groups" title="Groups">
            <p class="meta">"A group of people who can be asked to review."</p>
            {none.then(|| view! { <p class="meta">"There are no groups yet."</p> })}
            {list}
            {create}
        </Section>
    }
}

fn row(group: &Group, members: &[Member], manages: bool, form: &FormState) -> impl IntoView + use<> {
    let target = format!("/settings/groups/{}", group.id);
    let people = group
        .members
        .iter()
        .map(|member| {
            let about = format!("{} from {}", member.email, group.name);
            let remove = manages.then(|| {
                view! {
                    <form method="post" action=target.clone()>
                        <input type="hidden" name="remove" value=member.id.to_string()/>
                        <Button small=true about=about>"Remove"</Button>
                    </form>
                }
            });
            view! { <li><span>{member.email.clone()}</span>{remove}</li> }
        })
        .collect::<Vec<_>>();
    let scope = format!("group-{}", group.id);
    let own = form.of(&scope);
    let others: Vec<(String, String)> = members
        .iter()
        .filter(|member| !group.members.iter().any(|m| m.id == member.id))
        .filter(|member| member.status == MemberStatus::Active)
        .map(|member| (member.id.to_string(), member.email.clone()))
        .collect();
    let add = (manages && !others.is_empty()).then(|| {
        let label = format!("Add to {}", group.name);
        view! {
            <form class="group-add" method="post" action=target.clone()>
                <Refused messages=own.general(&["add"])/>
                <Select scope=&scope field=Field::new("add", &label) options=others form=&own/>
                <Button small=true about=format!("to {}", group.name)>"Add"</Button>
            </form>
        }
    });
    let empty = group.members.is_empty().then(|| view! { <span class="meta">"No members yet"</span> });
    view! {
        <tr>
            <td class="table-main" dir="auto">{group.name.clone()}</td>
            <td class="meta"><code>{group.slug.clone()}</code></td>
            <td>{empty}<ul class="group-members">{people}</ul>{add}</td>
        </tr>
    }
}
