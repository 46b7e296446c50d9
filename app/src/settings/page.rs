//! The page /settings.

use super::{
    SaveTheme,
    account::account_section,
    approvals::approvals_section,
    groups::groups_section,
    members::{Inviting, members_section},
    notifications::{EmailChoice, notifications_section},
    telemetry::{TelemetryChoice, telemetry_section},
    tokens::tokens_section,
    webhooks::{WebhookEntry, webhooks_section},
};
use crate::{
    FormState,
    document::render,
    palette::BindingsEditor,
    render::{static_html, static_island},
    server_function::page_fields,
    shell::{RailEntry, Shell, Theme, frame},
    ui::{
        button::Button,
        chip::Chip,
        field::{Choice, Many},
        notice::Refused,
        page_head::PageHead,
        section::Section,
    },
};
use domain::role::Permission;
use leptos::{prelude::*, server_fn::ServerFn as _};
use std::{collections::HashMap, sync::OnceLock};
use wire::{
    access::{Member, SignIn},
    group::Group,
    settings::Token,
};

static BINDINGS_EDITOR: OnceLock<String> = OnceLock::new();

/// Data of the page /settings.
#[derive(Debug, Clone, Default)]
pub struct Props {
    /// The reader's sign-ins; empty for API tokens.
    pub sign_ins: Vec<SignIn>,
    /// Members of the workspace who have not been removed.
    pub members: Vec<Member>,
    /// Invitations, for admins.
    pub inviting: Inviting,
    /// Names of all current and former members by id, for the owners of tokens.
    pub people: HashMap<String, String>,
    /// Groups of people.
    pub groups: Vec<Group>,
    /// How long a decision can be undone, seconds.
    pub undo_seconds: u32,
    /// Tokens: all of the workspace for admins, otherwise the reader's own.
    pub tokens: Vec<Token>,
    /// The secret of a token that was just created. It cannot be shown again.
    pub new_token: Option<String>,
    /// Webhooks of the workspace, for admins.
    pub webhooks: Vec<WebhookEntry>,
    /// The secret of a webhook that was just created. It cannot be shown again.
    pub new_webhook: Option<String>,
    /// Whether the reader gets e-mail.
    pub email: EmailChoice,
    /// Whether numbers are shared for training.
    pub telemetry: TelemetryChoice,
    /// State of a refused form, named after its path below /settings: `token`, `invitation`, `name`, `password`,
    /// `webhook`, `group`, `group-ID`, `approvals` or `telemetry`.
    pub form: FormState,
    /// Base URL of this server, for the commands that connect an agent.
    pub base_url: String,
}

/// Renders the page.
pub fn page(shell: &Shell, props: Props) -> String {
    render(shell, "Settings", || {
        let Props { sign_ins, members, inviting, people, groups, undo_seconds, tokens, new_token, .. } = props;
        let Props { webhooks, new_webhook, email, telemetry, form, base_url, .. } = props;
        let administers = shell.may(Permission::Administer);
        let own = shell.viewer.as_ref().map(|me| me.role);
        let manages_groups = shell.may(Permission::ManageGroups);
        let installs = shell.may(Permission::ManageActions);
        let groups = static_html(groups_section(&groups, &members, manages_groups, &form));
        let me = shell.viewer.as_ref().and_then(|me| me.user.as_ref());
        let account = me.map(|me| static_html(account_section(me, sign_ins, &form)));
        let inviting = administers.then_some(inviting);
        let page = view! {
            <PageHead title="Settings"/>
            <nav class="side-nav" aria-label="Settings">
                {me.map(|_| view! { <Chip href="#account">"Your account"</Chip> })}
                <Chip href="#members">"Members"</Chip>
                <Chip href="#groups">"Groups"</Chip>
                <Chip href="#approvals">"Approvals"</Chip>
                {own.map(|_| view! { <Chip href="#tokens">"Tokens"</Chip> })}
                {administers.then(|| view! { <Chip href="#webhooks">"Webhooks"</Chip> })}
                {administers.then(|| view! { <Chip href="#telemetry">"Training telemetry"</Chip> })}
                {administers.then(|| view! { <Chip href="/settings/audit">"Audit list"</Chip> })}
                {me.map(|_| view! { <Chip href="/settings/share-links">"Shared links"</Chip> })}
                <Chip href="#notifications">"Notifications"</Chip>
                <Chip href="#appearance">"Appearance"</Chip>
                <Chip href="#keyboard">"Keyboard"</Chip>
                <Chip href="/criteria-sets">"Criteria sets"</Chip>
                {installs.then(|| view! { <Chip href="/bundles">"Install a bundle"</Chip> })}
            </nav>
            <div class="settings">
                {account}
                {static_html(members_section(members, inviting, &form.of("invitation")))}
                {groups}
                {static_html(approvals_section(undo_seconds, administers, &form.of("approvals")))}
                {own.map(|own| static_html(tokens_section(tokens, &people, own, new_token, base_url, &form.of("token"))))}
                {administers.then(|| static_html(webhooks_section(webhooks, new_webhook, &form.of("webhook"))))}
                {administers.then(|| static_html(telemetry_section(telemetry, &form.of("telemetry"))))}
                {static_html(notifications_section(email))}
                {static_html(appearance(shell.theme, &form.of(SaveTheme::PATH)))}
                {static_html(keyboard())}
            </div>
        };
        frame(shell, RailEntry::Settings, page)
    })
}

fn appearance(theme: Theme, form: &FormState) -> impl IntoView + use<> {
    let choices = [(Theme::System, "Same as the system"), (Theme::Light, "Light"), (Theme::Dark, "Dark")]
        .into_iter()
        .map(|(choice, label)| {
            view! {
                <Choice many=Many::One name="theme" value=choice.as_str() checked=choice == theme>{label}</Choice>
            }
        })
        .collect::<Vec<_>>();
    view! {
        <Section name="appearance" id="appearance" title="Appearance">
            <form class="form" method="post" action=SaveTheme::PATH>
                {page_fields("/settings?notice=appearance_saved", "/settings")}
                <Refused messages=form.general(&[])/>
                <fieldset>
                    <legend class="field-label">"Theme"</legend>
                    <div class="choices">{choices}</div>
                </fieldset>
                <div class="form-actions"><Button>"Save appearance"</Button></div>
            </form>
        </Section>
    }
}

fn keyboard() -> impl IntoView {
    view! {
        <Section name="keyboard" id="keyboard" title="Keyboard">
            <p class="meta">"Letter shortcuts work only outside text fields. Your changes are stored in this browser."</p>
            {static_island(&BINDINGS_EDITOR, || view! { <BindingsEditor/> })}
        </Section>
    }
}
