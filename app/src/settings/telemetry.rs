//! Training telemetry of the workspace. Posts `enabled` to /settings/telemetry.

use crate::{
    FormState,
    ui::{button::Button, field::Choice, notice::Refused, section::Section},
};
use leptos::prelude::*;

/// Whether the workspace shares numbers for training.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TelemetryChoice {
    /// The operator of the installation does not allow it.
    #[default]
    Forbidden,
    /// No one has answered yet.
    Unanswered,
    /// Someone answered, or seven days have passed.
    Answered {
        /// Whether numbers are shared.
        enabled: bool,
    },
}

/// The section for admins.
pub fn telemetry_section(choice: TelemetryChoice, form: &FormState) -> impl IntoView + use<> {
    let (now, offered) = match choice {
        TelemetryChoice::Forbidden => ("The operator of this installation does not allow it.", None),
        TelemetryChoice::Unanswered => ("No one has answered yet. Nothing is shared.", Some(false)),
        TelemetryChoice::Answered { enabled: true } => ("Numbers are shared.", Some(true)),
        TelemetryChoice::Answered { enabled: false } => ("Nothing is shared.", Some(false)),
    };
    let change = offered.map(|enabled| {
        view! {
            <form class="form" method="post" action="/settings/telemetry">
                <Refused messages=form.general(&[])/>
                <Choice name="enabled" value="yes" checked=enabled>
                    "Share numbers about the usefulness of memories for training"
                </Choice>
                <div class="form-actions"><Button>"Save telemetry"</Button></div>
            </form>
        }
    });
    view! {
        <Section name="telemetry" id="telemetry" title="Training telemetry">
            <p class="meta">
                "Shared are rounded features and ratings of memories: no text, names, paths, ids or times. They stay on this \
                 server until its operator exports them. "
                {now}
            </p>
            {change}
        </Section>
    }
}
