//! Starting and stopping exports of training data.

use super::Backend;
use crate::{
    problem::Problem,
    web::{
        export::found,
        export_choice::{choice_json, labels_choice, options, resolved},
    },
};
use app::{
    export::{Choice, ChoiceFields, ExportBackend, LABELS},
    server_function::{Created, Refusal},
};
use async_trait::async_trait;
use datalake::export::{FileFormat, Format, Options};
use ledger::{action, export_job::ExportContent};
use runner::export::{Busy, EXPORTS_RUNNING_MAX, ExportRequest, permit};
use wire::Code;

#[async_trait]
impl ExportBackend for Backend {
    async fn start(&self, step: String, choice: ChoiceFields) -> Result<Created, Refusal> {
        self.answer(self.start_job(&step, choice).await)
    }

    async fn stop(&self, export_id: String) -> Result<(), Refusal> {
        self.answer(found(&self.state, self.scope(), &export_id))?.stop();
        Ok(())
    }
}

impl Backend {
    async fn start_job(&self, step: &str, choice: ChoiceFields) -> Result<Created, Problem> {
        permit(self.scope())?;
        let request = match step {
            LABELS => self.label_request(&choice.into())?,
            _ => self.export_request(is_preview(step)?, choice).await?,
        };
        let state = &self.state;
        match state.exports.begin(&state.ledger, &*state.entropy, request, state.shutdown.token()) {
            Ok(job) => Ok(Created { id: job.id.to_string() }),
            Err(busy) => Err(Problem::detailed(Code::WrongStatus, busy_text(busy))),
        }
    }

    async fn export_request(&self, is_preview: bool, choice: ChoiceFields) -> Result<ExportRequest, Problem> {
        let wrong = |(field, message): (&str, String)| Problem::field(Code::InvalidRequest, field, message);
        let mut options = options(&choice.into()).map_err(wrong)?;
        self.replace_action_names(&mut options).await?;
        Ok(ExportRequest {
            scope: *self.scope(),
            workspace: self.identity.tenant.slug.clone(),
            content: ExportContent::Training,
            is_preview,
            noted: choice_json(&resolved(&options), is_preview),
            options,
        })
    }

    /// An export of labels of memories. There is no preview of it.
    fn label_request(&self, choice: &Choice) -> Result<ExportRequest, Problem> {
        let format = FileFormat::parse(&choice.file_type);
        let format = format.ok_or_else(|| Problem::field(Code::InvalidRequest, "fileType", "jsonl or parquet"))?;
        Ok(ExportRequest {
            scope: *self.scope(),
            workspace: self.identity.tenant.slug.clone(),
            content: ExportContent::Labels,
            is_preview: false,
            noted: choice_json(&labels_choice(format), false),
            options: Options::new(Format::Sft, format),
        })
    }

    /// Replaces slugs of actions by their ids.
    async fn replace_action_names(&self, options: &mut Options) -> Result<(), Problem> {
        if options.filter.actions.is_empty() {
            return Ok(());
        }
        let names = std::mem::take(&mut options.filter.actions);
        let ids = action::named(&self.state.ledger, self.scope(), "actions", names).await?;
        options.filter.actions = ids.iter().map(ToString::to_string).collect();
        Ok(())
    }
}

/// Reads which button of the form was used.
fn is_preview(step: &str) -> Result<bool, Problem> {
    match step {
        "preview" => Ok(true),
        "export" => Ok(false),
        _ => Err(Problem::field(Code::InvalidRequest, "step", "preview, export or labels")),
    }
}

fn busy_text(busy: Busy) -> String {
    match busy {
        Busy::Workspace => {
            "An export of this workspace is already running. Wait until it is done, or stop it.".to_owned()
        }
        Busy::Server => {
            format!("{EXPORTS_RUNNING_MAX} exports are already running on this server. Try again later.")
        }
    }
}
