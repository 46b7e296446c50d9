//! Groups of people. Creating posts `name` and `slug` to /settings/groups; changing posts `name`, `add` or `remove`
//! (a user id) to /settings/groups/{id}.

use crate::{
    FormState,
    ui::{
        button::{Look, submit, submit_small},
        field::{Field, input, select},
        notice,
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
            <div class="table-frame" tabindex="0" role="group" aria-labelledby="groups-title">
                <table class="table">
                    <thead>
                        <tr>
                            <th scope="col">"Name"</th>
                            <th scope="col">"Slug"</th>
                            <th scope="col">"Members"</th>
                        </tr>
                    </thead>
                    <tbody>{rows}</tbody>
                </table>
            </div>
        }
    });
    let new = form.of("group");
    let create = manages.then(|| {
        view! {
            <details class="sheet" open=new.is_refused()>
                <summary>"New group"</summary>
                <form class="form" method="post" action="/settings/groups">
                    {notice::refused(new.general(&["name", "slug"]))}
                    <div class="form-row">
                        {input("group", Field::new("name", "Name").required(), "text", "", "off", &new)}
                        {input("group", Field::new("slug", "Slug").hint("Tasks refer to the group by its slug. Created from the name if left empty."), "text", "", "off", &new)}
                    </div>
                    <div class="form-actions">{submit("Create group", Look::Primary)}</div>
                </form>
            </details>
        }
    });
    view! {
        <section class="section" id="groups" aria-labelledby="groups-title">
            <h2 id="groups-title">"Groups"</h2>
            <p class="meta">"A group of people who can be asked to review."</p>
            {none.then(|| view! { <p class="meta">"There are no groups yet."</p> })}
            {list}
            {create}
        </section>
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
                        <input type="hidden" name="remove" value=member.id.clone()/>
                        {submit_small("Remove", about)}
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
        .map(|member| (member.id.clone(), member.email.clone()))
        .collect();
    let add = (manages && !others.is_empty()).then(|| {
        let label = format!("Add to {}", group.name);
        view! {
            <form class="group-add" method="post" action=target.clone()>
                {notice::refused(own.general(&["add"]))}
                {select(&scope, Field::new("add", &label), others, "", &own)}
                {submit_small("Add", format!("to {}", group.name))}
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
