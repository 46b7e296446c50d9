//! Every component of `app::ui` in its states, on one page.

use super::{
    props::{refused, stranger},
    sample::now,
};
use app::{
    FormState, render,
    ui::{
        badge::StatusBadge,
        button::{Button, ButtonLink, CopyLine, IconButton, Look, Press},
        chart_frame::{ChartFrame, Key},
        chip::Chip,
        dialog::Dialog,
        diff::Diff,
        empty::{Connect, ConnectAgent, Connection, Empty},
        field::{CheckBox, CheckBoxes, Choice, Field, FileInput, GroupedSelect, Input, Many, Select, TextArea},
        icon::Icon,
        notice::{Notice, Refused, Tone},
        page_head::PageHead,
        pager::Pager,
        popover::{Opens, Popover, Sheet},
        progress::Progress,
        section::Section,
        skeleton,
        table::{Column, Table},
        tabs::{Tab, Tabs},
        time::moment,
        toast::Toast,
        tooltip::Tooltip,
    },
};
use domain::session::Status;
use leptos::prelude::*;

/// A small drawing. Real ones come from the charts of the insights.
const DRAWING: &str = r#"<svg class="chart" viewBox="0 0 560 80" aria-hidden="true"><rect x="20" y="30" width="40" height="50" fill="var(--chart-positive)"/><rect x="80" y="10" width="40" height="70" fill="var(--chart-negative)"/></svg>"#;

/// A name that does not fit on one line of a narrow screen.
const LONG: &str = "Find duplicates in the customer list and propose merges for everything above 95 % similarity";

/// The HTML of all components.
pub fn page() -> String {
    let shell = stranger();
    render(&shell, "Components", || {
        view! {
            <link rel="stylesheet" href=shell.pages_css_href.clone()/>
            <main class="page" id="main">
                <div class="page-inner">
                    <PageHead title="Components" crumbs=vec![("Gallery".to_owned(), "#main".to_owned())]>
                        <ButtonLink href="#fields">"Fields"</ButtonLink>
                    </PageHead>
                    {buttons()}
                    {fields()}
                    {overlays()}
                    {messages()}
                    {values()}
                </div>
            </main>
        }
    })
}

fn buttons() -> impl IntoView {
    let looks = [("Primary", Look::Primary), ("Plain", Look::Plain), ("Quiet", Look::Quiet), ("Danger", Look::Danger)];
    let rows = looks
        .map(|(label, look)| {
            view! {
                <div class="form-actions">
                    <Button look=look>{label}</Button>
                    <Button look=look picture=Icon::Flag title="With a key (k)">"With an icon"</Button>
                    <Button look=look small=true about=label>"Small"</Button>
                    <Button look=look disabled=true>"Disabled"</Button>
                    <Button look=look busy=true>"Working"</Button>
                    <ButtonLink look=look href="#main" about=label>"A link"</ButtonLink>
                </div>
            }
        })
        .into_iter()
        .collect::<Vec<_>>();
    view! {
        <Section name="buttons" title="Button">
            {rows}
            <div class="form-actions">
                <IconButton picture=Icon::Search label="Search" title="Search (/)" press=Press::Script/>
                <IconButton picture=Icon::Close label="Dismiss" press=Press::Script disabled=true/>
                <Button small=true look=Look::Quiet press=Press::Script>{LONG}</Button>
            </div>
            <CopyLine text="export SHIFTBOOK_URL=https://shiftbook.northwind.example".to_owned() what="the address"/>
        </Section>
    }
}

fn fields() -> impl IntoView {
    let none = FormState::default();
    let wrong = refused(
        "",
        &[("quorum", "many"), ("reviewers", "ada@")],
        &[
            (Some("quorum"), "Enter a whole number from 1 to 20."),
            (Some("reviewers"), "ada@ is not an e-mail address."),
            (Some("set"), "Choose one of the sets."),
            (Some("to"), "Choose an entity type or a task."),
            (Some("csv"), "The file has no header row."),
            (Some("regions"), "Choose at most 1."),
        ],
    );
    let options = || vec![(String::new(), "None".to_owned()), ("a".to_owned(), LONG.to_owned())];
    let boxes = || {
        let box_of = |value: &str, label: &str, is_ticked| CheckBox {
            value: value.to_owned(),
            label: label.to_owned(),
            is_ticked,
        };
        vec![box_of("e", "Europe", true), box_of("l", LONG, false)]
    };
    let groups = || vec![("At once, as", options()), ("By a task", vec![("b".to_owned(), "Take over".to_owned())])];
    let state = |scope: &'static str, form: &FormState| {
        view! {
            <form class="form">
                <Input scope=scope field=Field::new("quorum", "Approvals needed").hint("Each by a different person.").required() value="2" form=form/>
                <TextArea scope=scope field=Field::new("reviewers", "Reviewers").hint("One per line.") value="ada@northwind.example" form=form/>
                <Select scope=scope field=Field::new("set", "Criteria set") options=options() form=form/>
                <GroupedSelect scope=scope field=Field::new("to", "Created as").required() groups=groups() form=form/>
                <FileInput scope=scope field=Field::new("csv", "CSV file") accept=".csv" form=form/>
                <CheckBoxes scope=scope field=Field::new("regions", "Regions").hint("Choose at most 1.") options=boxes() form=form/>
            </form>
        }
    };
    let (usual, failed) = (state("usual", &none), state("failed", &wrong));
    let more = view! {
        <form class="form">
            <Input scope="more" field=Field::new("email", "E-mail") kind="email" value="ada@northwind.example" readonly=true form=&none/>
            <TextArea scope="more" field=Field::new("metadata", "Metadata") json=true value="{\"weekly\": true}" form=&none/>
        </form>
    };
    view! {
        <Section name="fields" id="fields" title="Field, select and choice">
            <div class="split">{usual}{failed}</div>
            {more}
            <div class="choices">
                <Choice name="one" checked=true>"Chosen"</Choice>
                <Choice name="two" checked=false>"Not chosen"</Choice>
            </div>
            <fieldset>
                <legend class="field-label">"Theme"</legend>
                <div class="choices">
                    <Choice many=Many::One name="theme" value="light" checked=true>"Light"</Choice>
                    <Choice many=Many::One name="theme" value="dark" checked=false>"Dark"</Choice>
                </div>
            </fieldset>
        </Section>
    }
}

fn overlays() -> impl IntoView {
    let none = FormState::default();
    let inner = view! { <TextArea scope="deny" field=Field::new("note", "Reason").required() form=&none/> };
    view! {
        <Section name="overlays" title="Dialog, menu, popover and sheet">
            <div class="session-actions">
                <Button press=Press::Script attr:data-open="about">"Open the dialog"</Button>
                <Popover label="End" group="gallery-below" action="/end">
                    <p class="meta">"The log is kept."</p>
                    <div class="form-actions"><Button look=Look::Danger>"End now"</Button></div>
                </Popover>
            </div>
            <Dialog id="about" title="About this entry"><p>"Written on 21 November 2026."</p></Dialog>
            <div><div class="gate-bar">
                <Button look=Look::Primary>"Approve"</Button>
                <Popover label="Deny…" title="Deny, with a reason (r)" shortcut="deny" group="gallery-bar" opens=Opens::AboveBar action="/deny">
                    {inner}
                    <Button look=Look::Danger>"Deny"</Button>
                </Popover>
                <Popover label="Snooze…" title="Snooze (h)" shortcut="snooze" group="gallery-bar" opens=Opens::AboveBar action="/snooze">
                    <ul class="menu">
                        <li><Button name="until" value="later">"1 hour"</Button></li>
                        <li><Button name="until" value="tomorrow">"Until tomorrow"</Button></li>
                    </ul>
                </Popover>
            </div></div>
            <Sheet summary="A closed sheet"><p>"Its content."</p></Sheet>
            <Sheet summary="An open sheet" open=true><p>"Its content."</p></Sheet>
        </Section>
    }
}

fn messages() -> impl IntoView {
    let connect = Connect {
        base_url: "https://shiftbook.example.org".to_owned(),
        token: None,
        may_create_token: true,
        agent_slug: "clerk".to_owned(),
        connection: Some(Connection::Waiting),
    };
    view! {
        <Section name="messages" title="Notice, toast, empty state, skeleton and progress">
            <Notice tone=Tone::Good><p>"Changes saved."</p></Notice>
            <Notice tone=Tone::Wait><p>"Deactivated: nothing can be done with this account here."</p></Notice>
            <Refused messages=vec!["The slug is taken.".to_owned(), "Enter a name.".to_owned()]/>
            <div role="status">
                <Toast tone=Tone::Good message=format!("Approved: {LONG}") action="/fn/inbox/undo">
                    <Button small=true title="Undo (z)">"Undo"</Button>
                </Toast>
            </div>
            <Empty sentence="No session matches the filter." link=Some(("Show all", "#main".to_owned()))/>
            <Empty sentence="Nothing is waiting." small=true/>
            <Empty sentence="There are no sessions yet."><ConnectAgent connect=connect/></Empty>
            <div class="skeleton" aria-busy="true">
                <span class="hidden-text">"Reading the tasks"</span>
                <div class="fragment" inner_html=skeleton::ROWS></div>
            </div>
            <Progress label="Rows processed" of=|| (37, Some(100))/>
            <Progress label="Rows found" of=|| (37, None)/>
        </Section>
    }
}

fn values() -> impl IntoView {
    let tabs = vec![Tab::new("Waiting for me", "#main", true), Tab::new("Snoozed", "#main", false)];
    let badges = Status::ALL.into_iter().map(|status| view! { <StatusBadge status=status/> }).collect::<Vec<_>>();
    let columns = vec![Column::text("Title"), Column::text("Changed"), Column::number("Events"), Column::hidden("Do")];
    let row = |title: &'static str, events: u32| {
        view! {
            <tr>
                <td class="table-main">{title}</td>
                <td class="meta">{moment(now())}</td>
                <td class="table-number">{events}</td>
                <td><Button small=true about=title>"Run again"</Button></td>
            </tr>
        }
    };
    let rows = vec![row("Daily cash position", 1_204), row(LONG, 3), row("راجع صندوق الوارد 📬 اليوم", 0)];
    let figures = view! { <tr><td>"Helpful"</td><td class="table-number">"5"</td></tr> };
    view! {
        <Section name="values" title="Tabs, chip, badge, table, diff, tooltip and chart">
            <Tabs label="Which items" tabs=tabs/>
            <div class="chips"><Chip href="#main" is_here=true>"Messages"</Chip><Chip href="#main">{LONG}</Chip></div>
            <div class="form-actions">{badges}<StatusBadge status=Status::Completed large=true/></div>
            <Table caption="Sessions" columns=columns>{rows}</Table>
            <Pager newest=Some("#main".to_owned()) older=Some("#main".to_owned())/>
            <p><Diff before=Some("Lead".to_owned()) after=Some("Won".to_owned())/></p>
            <p><Diff before=Some(LONG.to_owned()) after=None/></p>
            <p><Diff before=None after=Some("راجع".to_owned())/></p>
            <p><Tooltip id="not-a-field" word="—" text="Not a field of the entity"/></p>
            <ChartFrame title="Ratings" svg=DRAWING.to_owned() keys=vec![Key { label: "Helpful", color: "positive" }, Key { label: "Not helpful", color: "negative" }]>
                <Table caption="Ratings, by answer" columns=vec![Column::text("Answer"), Column::number("Sessions")] focusable=true>{figures}</Table>
            </ChartFrame>
        </Section>
    }
}
