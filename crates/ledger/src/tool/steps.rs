//! The tools that a composite tool runs. Publishing it names a version of each, so a run does what was published.

use crate::{Error, Result, ToolRecord, ToolVersionRecord, guard::Fields};
use domain::{
    id::TenantId,
    limit::{TOOL_COMPOSITE_DEPTH_MAX, TOOL_COMPOSITE_RUNS_MAX},
    tool::{
        Composite, Definition, Implementation, State, Step,
        composition::{exposed, unfilled, unfilled_result},
    },
};
use std::collections::BTreeMap;
use store::Conn;

/// A version of a tool: its slug and its number.
type Named = (String, u64);
/// Versions by their names.
type Versions = BTreeMap<Named, ToolVersionRecord>;

/// Names of the versions that a published definition runs itself.
fn named(definition: &Definition) -> impl Iterator<Item = Named> + '_ {
    let steps = definition.composite().map(|composite| composite.steps.as_slice()).unwrap_or_default();
    steps.iter().filter_map(|step| Some((step.tool.clone(), step.version?)))
}

/// Returns the version that a step of a published composite tool runs.
///
/// # Errors
/// [`Error::Internal`] if it is not there: versions are never deleted.
pub(crate) async fn version_of_step(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    step: &Step,
) -> Result<ToolVersionRecord> {
    let named = (step.tool.clone(), step.version.unwrap_or_default());
    version(conn, tenant_id, &named).await
}

async fn version(conn: &mut Conn<'_>, tenant_id: TenantId, (slug, number): &Named) -> Result<ToolVersionRecord> {
    let found = match store::tool::find_by_slug(conn, tenant_id, slug).await? {
        Some(tool) => store::tool::version_of(conn, tenant_id, tool.id, *number).await?,
        None => None,
    };
    found.ok_or_else(|| Error::Internal(format!("the tool {slug} of a step has no version {number}")))
}

/// Every version that a published definition runs, those that its composite steps run included. It stops when there are
/// more than [`TOOL_COMPOSITE_RUNS_MAX`].
pub(crate) async fn versions_used(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    definition: &Definition,
) -> Result<Versions> {
    let mut open: Vec<Named> = named(definition).collect();
    let mut found = Versions::new();
    while let Some(next) = open.pop() {
        if found.contains_key(&next) || found.len() > TOOL_COMPOSITE_RUNS_MAX {
            continue;
        }
        let version = version(conn, tenant_id, &next).await?;
        open.extend(named(&version.definition));
        found.insert(next, version);
    }
    Ok(found)
}

/// How far a definition reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Reach {
    /// Levels of composite tools; 0 for a tool of another kind.
    depth: usize,
    /// Sessions that one run starts if no step is tried again.
    runs: usize,
}

fn reach(definition: &Definition, versions: &Versions, known: &mut BTreeMap<Named, Reach>) -> Reach {
    if definition.composite().is_none() {
        return Reach::default();
    }
    let mut whole = Reach { depth: 1, runs: 0 };
    for step in named(definition) {
        let below = match (known.get(&step), versions.get(&step)) {
            (Some(below), _) => *below,
            (None, Some(version)) => reach(&version.definition, versions, known),
            (None, None) => Reach::default(),
        };
        known.insert(step, below);
        whole.depth = whole.depth.max(below.depth.saturating_add(1));
        whole.runs = whole.runs.saturating_add(below.runs).saturating_add(1);
    }
    whole
}

/// Returns the definition to publish: with the version of each step. Tools of other kinds stay as they are.
///
/// # Errors
/// [`Error::Invalid`] for a step whose tool is not published, runs this tool, may not be repeated, or would show a
/// private value; for a part of an input or of the result that can never have a value; for more levels than
/// [`TOOL_COMPOSITE_DEPTH_MAX`], and for more sessions than [`TOOL_COMPOSITE_RUNS_MAX`].
pub(crate) async fn with_versions(conn: &mut Conn<'_>, tenant_id: TenantId, tool: &ToolRecord) -> Result<Definition> {
    let Some(composite) = tool.definition.composite() else { return Ok(tool.definition.clone()) };
    let mut fields = Fields::default();
    let mut steps = Vec::with_capacity(composite.steps.len());
    let mut tools: BTreeMap<&str, Definition> = BTreeMap::new();
    for (index, step) in composite.steps.iter().enumerate() {
        let at = format!("composite.steps[{index}]");
        if step.tool == tool.slug {
            fields.refuse(&format!("{at}.tool"), "a tool cannot run itself, which would be a circle");
            continue;
        }
        match step_version(conn, tenant_id, step).await? {
            Ok(version) => {
                let definition = &version.definition;
                if step.retries > 0 && !definition.repeatable {
                    let why = format!("0, because the tool `{}` is not repeatable", step.tool);
                    fields.refuse(&format!("{at}.retries"), why);
                }
                let never = unfilled(&tool.definition, step, definition, &|name| tools.get(name));
                for issue in exposed(&tool.definition, step, definition).into_iter().chain(never) {
                    fields.refuse(&format!("{at}.{}", issue.field), issue.message);
                }
                steps.push(Step { version: Some(version.version), ..step.clone() });
                tools.insert(&step.name, version.definition);
            }
            Err((field, why)) => fields.refuse(&format!("{at}.{field}"), why),
        }
    }
    for issue in unfilled_result(&tool.definition, &|name| tools.get(name)) {
        fields.refuse(&format!("composite.{}", issue.field), issue.message);
    }
    fields.check()?;
    let composite = Composite { steps, ..composite.clone() };
    let definition = Definition { implementation: Implementation::Composite { composite }, ..tool.definition.clone() };
    check_reach(conn, tenant_id, &tool.slug, &definition).await?;
    Ok(definition)
}

/// The version that a step names, or that is published now. Otherwise the field that is wrong, and why.
async fn step_version(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    step: &Step,
) -> Result<std::result::Result<ToolVersionRecord, (&'static str, String)>> {
    let Some(tool) = store::tool::find_by_slug(conn, tenant_id, &step.tool).await? else {
        return Ok(Err(("tool", format!("there is no tool `{}`", step.tool))));
    };
    let Some(published) = tool.version.filter(|_| tool.state == State::Published) else {
        return Ok(Err(("tool", format!("the tool `{}` is not published", step.tool))));
    };
    let number = step.version.unwrap_or(published);
    let found = store::tool::version_of(conn, tenant_id, tool.id, number).await?;
    Ok(found.ok_or_else(|| ("version", format!("the tool `{}` has no version {number}", step.tool))))
}

/// Refuses circles, and what is too deep or too much.
async fn check_reach(conn: &mut Conn<'_>, tenant_id: TenantId, slug: &str, definition: &Definition) -> Result<()> {
    let mut fields = Fields::default();
    let versions = versions_used(conn, tenant_id, definition).await?;
    let mut known = BTreeMap::new();
    let whole = reach(definition, &versions, &mut known);
    for (index, step) in named(definition).enumerate() {
        let at = format!("composite.steps[{index}].tool");
        let below = versions.get(&step).map(|version| &version.definition);
        let runs_this = match below {
            Some(below) => versions_used(conn, tenant_id, below).await?.keys().any(|(used, _)| used == slug),
            None => false,
        };
        if runs_this {
            fields.refuse(&at, format!("the tool `{}` runs this tool, which would be a circle", step.0));
        } else if known.get(&step).is_some_and(|below| below.depth >= TOOL_COMPOSITE_DEPTH_MAX) {
            let why = format!("composite tools are at most {TOOL_COMPOSITE_DEPTH_MAX} levels deep");
            fields.refuse(&at, why);
        }
    }
    if whole.runs > TOOL_COMPOSITE_RUNS_MAX || versions.len() > TOOL_COMPOSITE_RUNS_MAX {
        let why =
            format!("one run starts at most {TOOL_COMPOSITE_RUNS_MAX} sessions, those of composite steps included");
        fields.refuse("composite.steps", why);
    }
    fields.check()
}
