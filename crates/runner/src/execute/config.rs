//! Agents as operators describe them in the settings, and the adapters built from them.

use super::{
    adapter::Adapter,
    chat::{Budget, ChatAdapter, Model, ModelAddress, Pause, Prices, Secret, Wire},
    command::{ApiAccess, CommandAdapter, Format},
    limit,
    tool::{Http, Named, Tool, Toolbox},
};
use domain::slug::is_slug;
use outbound::{Client, Hosts};
use serde::Deserialize;
use std::{ffi::OsString, sync::Arc};

/// Most sessions of one agent at a time.
pub const CONCURRENCY_MAX: u32 = 256;

/// Kind of an adapter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A program that is started once per session.
    Command,
    /// A chat model with tools.
    Chat,
}

/// The table `[agents.SLUG]` of the settings. Unknown keys are refused, and known ones that the adapter does not use.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentConfig {
    /// Kind of the adapter.
    pub adapter: Kind,
    /// Slug of the workspace whose sessions the agent gets. The server refuses an agent without one.
    pub workspace: Option<String>,
    /// Sessions at a time, 1 to [`CONCURRENCY_MAX`]; 1 if absent.
    pub concurrency: Option<u32>,
    /// System prompt of every session, before the task's own instructions.
    pub instructions: Option<String>,
    /// The program and its arguments.
    pub command: Option<Vec<String>>,
    /// Output format of the program.
    pub format: Option<Format>,
    /// Wire format of the model's service.
    pub wire: Option<Wire>,
    /// Base URL of the model's service; `Wire::default_base_url` if absent.
    pub base_url: Option<String>,
    /// Name of the model at its service.
    pub model: Option<String>,
    /// Name of the environment variable that holds the API key. A program inherits it.
    pub api_key_env: Option<String>,
    /// Longest reply of the model, tokens.
    pub max_tokens: Option<u32>,
    /// Tools that the model may call: the executor's own by name, and published tools of the workspace by slug.
    pub tools: Option<Vec<Named>>,
    /// Tools whose calls a person has to approve; none that ask people themselves.
    pub confirm: Option<Vec<Named>>,
    /// Hosts that `http_request` may call.
    pub hosts: Option<Vec<String>>,
    /// Slugs of the actions that `start_session` may start.
    pub actions: Option<Vec<String>>,
    /// Limits on what one session may spend.
    pub budget: Option<Budget>,
    /// Prices of the model.
    pub prices: Option<Prices>,
    /// Whether the model's service reports the tokens of its replies. If absent, it is known only of the service at the
    /// default base URL, which does.
    pub reports_tokens: Option<bool>,
}

/// What an adapter is built with besides its settings.
#[derive(Clone)]
pub struct BuildEnvironment<'a> {
    /// Looks up an environment variable.
    pub variable: &'a dyn Fn(&str) -> Option<String>,
    /// Whether a program exists and can be run.
    pub is_program: &'a dyn Fn(&OsString) -> bool,
    /// Address and token of the API, passed to programs.
    pub api_access: ApiAccess,
    /// HTTP client of `http_request`.
    pub outbound: Client,
    /// Waits between requests to a model.
    pub pause: Pause,
    /// Names of the variables that hold secrets. A program inherits only the one that its own settings name.
    pub secret_variables: Vec<String>,
}

impl AgentConfig {
    /// Checks the settings without looking at the environment.
    ///
    /// # Errors
    /// The first problem, with its key.
    pub fn check(&self) -> Result<(), String> {
        let of_commands = [("command", self.command.is_some()), ("format", self.format.is_some())];
        let of_models = [
            ("wire", self.wire.is_some()),
            ("base_url", self.base_url.is_some()),
            ("model", self.model.is_some()),
            ("max_tokens", self.max_tokens.is_some()),
            ("tools", self.tools.is_some()),
            ("confirm", self.confirm.is_some()),
            ("hosts", self.hosts.is_some()),
            ("actions", self.actions.is_some()),
            ("prices", self.prices.is_some()),
            ("reports_tokens", self.reports_tokens.is_some()),
        ];
        let (name, foreign): (_, &[_]) = match self.adapter {
            Kind::Command => ("command", &of_models),
            Kind::Chat => ("chat", &of_commands),
        };
        if let Some((key, _)) = foreign.iter().find(|(_, given)| *given) {
            return Err(format!("`{key}` has no meaning with adapter = \"{name}\""));
        }
        if !(1..=CONCURRENCY_MAX).contains(&self.concurrency.unwrap_or(1)) {
            return Err(format!("`concurrency` is 1 to {CONCURRENCY_MAX}"));
        }
        match self.adapter {
            Kind::Command => self.check_command(),
            Kind::Chat => self.check_chat(),
        }
    }

    fn check_command(&self) -> Result<(), String> {
        if self.command.as_ref().is_none_or(|command| command.first().is_none_or(String::is_empty)) {
            return Err("`command` is missing: a list of the program and its arguments".into());
        }
        if self.format.unwrap_or_default().takes_input() && self.instructions.is_some() {
            return Err("`instructions` have no meaning with this format: the program is given the input alone".into());
        }
        let budget = self.budget.clone().unwrap_or_default();
        if (Budget { seconds: None, ..budget }) != Budget::default() {
            return Err("a command's budget has only `seconds`: what it costs is known when it has ended".into());
        }
        Ok(())
    }

    fn check_chat(&self) -> Result<(), String> {
        if self.wire.is_none() {
            return Err("`wire` is missing: \"openai\" or \"anthropic\"".into());
        }
        if self.model.as_ref().is_none_or(|model| model.trim().is_empty()) {
            return Err("`model` is missing".into());
        }
        let tools = self.tools.clone().unwrap_or_default();
        if let Some((_, tool)) = tools.iter().enumerate().find(|(at, tool)| tools[..*at].contains(tool)) {
            return Err(format!("`tools` names {} twice", tool.name()));
        }
        if tools.iter().filter(|tool| matches!(tool, Named::OfWorkspace(_))).count() > limit::WORKSPACE_TOOLS_MAX {
            let most = limit::WORKSPACE_TOOLS_MAX;
            return Err(format!("`tools` names at most {most} tools of the workspace"));
        }
        if let Some(tool) = self.confirm.iter().flatten().find(|tool| !tools.contains(tool)) {
            return Err(format!("`confirm` names {}, which is not among `tools`", tool.name()));
        }
        let asks_people = |tool: &&Named| matches!(tool, Named::Own(own) if own.asks_people());
        if let Some(tool) = self.confirm.iter().flatten().find(asks_people) {
            let name = tool.name();
            return Err(format!("`confirm` names {name}, which asks people itself: its calls need no approval"));
        }
        match (tools.contains(&Named::Own(Tool::HttpRequest)), &self.hosts) {
            (true, None) => return Err("`hosts` is missing: the hosts that http_request may call".into()),
            (false, Some(_)) => return Err("`hosts` has no meaning without http_request among `tools`".into()),
            (_, hosts) => {
                drop(Hosts::only(hosts.as_deref().unwrap_or_default()).map_err(|error| format!("`hosts`: {error}"))?)
            }
        }
        match (tools.contains(&Named::Own(Tool::StartSession)), &self.actions) {
            (true, None) => return Err("`actions` is missing: the actions that start_session may start".into()),
            (false, Some(_)) => return Err("`actions` has no meaning without start_session among `tools`".into()),
            (_, actions) => {
                if let Some(wrong) = actions.iter().flatten().find(|slug| !is_slug(slug)) {
                    return Err(format!("`actions`: `{wrong}` is not the slug of an action"));
                }
            }
        }
        let budget = self.budget.clone().unwrap_or_default();
        let mut amounts = self.prices.unwrap_or_default().amounts().chain(budget.cost_usd);
        if amounts.any(|amount| !amount.is_finite() || amount < 0.0) {
            return Err("`prices` and `budget.cost_usd` are numbers from 0".into());
        }
        if budget.cost_usd.is_some() && self.prices.is_none() {
            return Err("`budget.cost_usd` needs `prices`: dollars for a million tokens".into());
        }
        self.check_budget_of_usage(&budget)
    }

    /// Refuses a budget of tokens or cost unless the model's service is known to report tokens. Whether it does would
    /// otherwise be learned from its first reply, which costs what the budget should have limited.
    fn check_budget_of_usage(&self, budget: &Budget) -> Result<(), String> {
        let Err(failure) = budget.held_without_usage() else { return Ok(()) };
        let without = "limit `budget.steps` and `budget.seconds`";
        let default_base_url = self.wire.unwrap_or(Wire::OpenAi).default_base_url();
        let bare = |url: &str| url.trim_end_matches('/').to_owned();
        let is_default = self.base_url.as_deref().is_none_or(|url| bare(url) == bare(default_base_url));
        match self.reports_tokens.or(is_default.then_some(true)) {
            Some(true) => Ok(()),
            Some(false) => Err(format!("{}; {without}", failure.message)),
            None => Err(format!(
                "a budget of tokens or cost needs a model service that reports the tokens of its replies, and it is not \
                 known whether the one at `base_url` does: set `reports_tokens = true` if it does, or {without}"
            )),
        }
    }

    /// Builds the adapter.
    ///
    /// # Errors
    /// The first problem of the settings, or what is missing in the environment: the key, the program.
    pub fn build(&self, environment: &BuildEnvironment<'_>) -> Result<Arc<dyn Adapter>, String> {
        self.check()?;
        match self.adapter {
            Kind::Command => {
                let command: Vec<OsString> = self.command.iter().flatten().map(OsString::from).collect();
                if let Some(program) = command.first().filter(|program| !(environment.is_program)(program)) {
                    return Err(format!("there is no program `{}`", program.display()));
                }
                self.key(environment)?;
                let own = self.api_key_env.as_ref();
                let withheld = environment.secret_variables.iter().filter(|name| Some(*name) != own);
                Ok(Arc::new(CommandAdapter {
                    command,
                    format: self.format.unwrap_or_default(),
                    api_access: environment.api_access.clone(),
                    instructions: self.instructions.clone(),
                    output_time: limit::OUTPUT_TIME_MAX,
                    seconds: self.budget.as_ref().and_then(|budget| budget.seconds),
                    withheld: withheld.cloned().collect(),
                }))
            }
            Kind::Chat => Ok(Arc::new(ChatAdapter {
                model: self.model(environment)?,
                instructions: self.instructions.clone(),
                tools: self.toolbox(environment)?,
                budget: self.budget.clone().unwrap_or_default(),
                prices: self.prices,
            })),
        }
    }

    /// The API key; `None` if the settings name no variable.
    fn key(&self, environment: &BuildEnvironment<'_>) -> Result<Option<String>, String> {
        let Some(name) = &self.api_key_env else { return Ok(None) };
        let key = (environment.variable)(name).filter(|key| !key.trim().is_empty());
        key.map(Some).ok_or_else(|| format!("the variable {name} of `api_key_env` is not set"))
    }

    fn model(&self, environment: &BuildEnvironment<'_>) -> Result<Model, String> {
        let wire = self.wire.unwrap_or(Wire::OpenAi);
        // A model on the same machine may need no key.
        let key = self.key(environment)?.unwrap_or_default();
        let base_url = self.base_url.as_deref().unwrap_or_else(|| wire.default_base_url());
        let http = client::http_client(base_url).map_err(|error| format!("`base_url`: {error}"))?;
        let name = self.model.as_deref().unwrap_or_default();
        let at = ModelAddress { wire, base_url, name };
        Model::new(http, at, Secret::new(key), self.max_tokens, environment.pause.clone())
    }

    fn toolbox(&self, environment: &BuildEnvironment<'_>) -> Result<Toolbox, String> {
        let tools = self.tools.clone().unwrap_or_default();
        let hosts =
            Hosts::only(self.hosts.as_deref().unwrap_or_default()).map_err(|error| format!("`hosts`: {error}"))?;
        let http = Http { client: environment.outbound.clone(), hosts };
        let actions = self.actions.clone().unwrap_or_default();
        Toolbox::new(&tools, self.confirm.clone().unwrap_or_default(), Some(http), actions)
    }
}
