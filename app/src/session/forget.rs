//! The page /sessions/{id}/forget: what of a session is in the training data, and the form that deletes it.

use super::title::row_title;
use crate::{
    FormState,
    document::render,
    render::static_html,
    shell::{RailEntry, Shell, frame},
    text::number::counted,
    ui::{
        button::{Button, Look},
        field::{Field, Input},
        notice::{Notice, Refused, Tone},
        page_head::PageHead,
        section::Section,
    },
};
use domain::role::Permission;
use leptos::prelude::*;
use wire::session::Session;

/// Data of the page.
#[derive(Debug, Clone)]
pub struct ForgetProps {
    /// Whose training data it is.
    pub session: Session,
    /// Number of its prompts with answers that are deleted, or would be.
    pub interactions: u64,
    /// The exports that can have them, newest first: the id of one that has a page, and what, who and when in words.
    pub exports: Vec<(Option<String>, String)>,
    /// Whether they are deleted, and if so, whether files of training data could be rewritten.
    pub done: Option<bool>,
    /// State of the refused form `forget`.
    pub form: FormState,
}

/// Renders the page.
pub fn forget_page(shell: &Shell, props: ForgetProps) -> String {
    render(shell, "Forget a session", || {
        let title = row_title(&props.session);
        let crumbs =
            vec![("Sessions".to_owned(), "/sessions".to_owned()), (title, format!("/sessions/{}", props.session.id))];
        let page = view! {
            <PageHead title="Forget a session" crumbs=crumbs/>
            {static_html(result(shell.may(Permission::ManageSessions), &props))}
        };
        frame(shell, RailEntry::Sessions, page)
    })
}

/// `may_export` says whether the viewer can open the pages of exports.
fn result(may_export: bool, props: &ForgetProps) -> impl IntoView + use<> {
    let done = props.done.map(|_| {
        let text = "Deleted. Nothing more of this session is captured.";
        static_html(view! { <Notice tone=Tone::Good><p>{text}</p></Notice> })
    });
    let left = (props.done == Some(false)).then(|| {
        let text = "Files of training data could not be rewritten. The next run of retention removes the lines.";
        static_html(view! { <Notice tone=Tone::Bad><p>{text}</p></Notice> })
    });
    let what = if props.done.is_some() { "Deleted" } else { "What would be deleted" };
    let captured = match props.interactions {
        0 => "The training data has nothing of this session.".to_owned(),
        count => format!("{} with answers in the training data, with their feedback", counted(count, "prompt")),
    };
    let confirm = props.done.is_none().then(|| static_html(confirm(props)));
    view! {
        {done}
        {left}
        <Section name="gone" title=what>
            <p>{captured}</p>
        </Section>
        <Section name="kept" title="What is kept">
            <ul class="forget-kept">
                <li>"The log of the session. Retention erases logs."</li>
                <li>"What agents remember of it. That is removed on the page of an agent's memory, or by forgetting a person."</li>
                {exports(may_export, &props.exports)}
            </ul>
        </Section>
        {confirm}
    }
}

/// The exports whose files can have the data.
fn exports(may_export: bool, exports: &[(Option<String>, String)]) -> Option<impl IntoView + use<>> {
    let listed = exports.iter().map(|(id, words)| {
        let words = words.clone();
        if let Some(id) = id.as_ref().filter(|_| may_export) {
            let href = format!("/exports/{id}");
            return view! { <li><a href=href dir="auto">{words}</a></li> }.into_any();
        }
        view! { <li dir="auto">{words}</li> }.into_any()
    });
    let listed = listed.collect::<Vec<_>>();
    (!listed.is_empty())
        .then(|| view! { <li>"Files of exports that were written before and can have it:"<ul>{listed}</ul></li> })
}

fn confirm(props: &ForgetProps) -> impl IntoView + use<> {
    let form = props.form.of("forget");
    let action = format!("/sessions/{}/forget", props.session.id);
    let word = Field::new("confirm", "Type “forget” to delete")
        .hint("Later exports do not have it, and nothing more of it is captured. This cannot be undone.");
    view! {
        <Section name="forget" title="Delete">
            <form class="form" method="post" action=action>
                <Refused messages=form.general(&["confirm"])/>
                <Input scope="forget" field=word form=&form/>
                <div class="form-actions"><Button look=Look::Danger>"Delete"</Button></div>
            </form>
        </Section>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::fixture::session;

    fn html_of(props: &ForgetProps) -> String {
        crate::render::to_html(result(true, props))
    }

    #[test]
    fn the_page_counts_what_goes_names_exports_and_asks_for_a_word() {
        let of = |interactions: u64, exports: u64| ForgetProps {
            session: session(),
            interactions,
            exports: (0..exports).map(|n| ((n % 2 == 0).then(|| n.to_string()), format!("Export {n}"))).collect(),
            done: None,
            form: FormState::default(),
        };
        for (count, words) in [(1, "1 prompt with"), (2, "2 prompts with"), (7, "7 prompts"), (40, "40 prompts")] {
            let html = html_of(&of(count, count));
            assert!(html.contains(words) && html.contains("Type “forget”"), "{html}");
            assert_eq!(html.matches(">Export ").count() as u64, count, "{html}");
        }
        let none = html_of(&of(0, 0));
        assert!(none.contains("has nothing of this session") && !none.contains("Files of exports"), "{none}");
        let done = html_of(&ForgetProps { done: Some(false), ..of(2, 0) });
        assert!(
            done.contains("Deleted.") && done.contains("could not be rewritten") && !done.contains("<form"),
            "{done}"
        );
    }
}
