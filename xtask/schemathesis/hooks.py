"""What the OpenAPI document cannot say, by name; and what a run must not do."""

import atexit
import json
import os
import re
from collections import Counter

import schemathesis

# Fields that are valid by the schema and refused all the same, and why. An index counts as `[]`.
RULES = {
    "actionId": "an action that is not archived; its output is one entity where a response becomes one, and "
    "fields where a canvas that began with an entity is written to it",
    "answers": "answers fit the fields of the form",
    "agent": "at most 64 characters after the prefix",
    "agentSlugs": "each has at most 64 characters after the prefix",
    "addMembers[]": "somebody who comes in is a member of the workspace",
    "assignedTo": "a member of the workspace; `me` is nobody where a token calls",
    "audience": "a group that exists, with the gate `member`",
    "beforeSequence": "not together with afterSequence",
    "card": "fields of a card have the types that the specification gives them",
    "cursor": "only what this list answered is a cursor of it",
    "dependsOn": "no session that waits for the parent",
    "dependsOn[]": "a session is named once",
    "dimensions[]": "optionStyles names options that there are",
    "dimensions[].max": "a scale has both ends; texts and selects have none",
    "dimensions[].min": "a scale has both ends; texts and selects have none",
    "dimensions[].options": "a select has options, nothing else has",
    "dimensions[].options[].value": "no two options of one value",
    "dimensions[].slug": "no two dimensions of one slug",
    "done": "at most the total",
    "eventTypes": "each type has at most 100 bytes",
    "evidence": "events that are in the log, for lines that the text has",
    "expiresAt": "an instant in the next 366 days",
    "fields[].criteriaSet": "a criteria set of the workspace",
    "fields[].default": "an answer that the field itself accepts",
    "fields[].entityType": "an entity type of the workspace",
    "fields[].key": "no two fields of one key, and none that JavaScript gives a meaning of its own",
    "fields[].lowLabel": "one line that is not all spaces, or nothing",
    "fields[].highLabel": "one line that is not all spaces, or nothing",
    "fields[].maxItems": "at most as many as there are options",
    "fields[].maximum": "at least the minimum; a scale has a bounded number of steps",
    "fields[].minItems": "at most maxItems",
    "fields[].minLength": "at most maxLength",
    "fields[].minimum": "at most the maximum",
    "fields[].options": "a select has options, nothing else has",
    "fields[].options[].label": "one line that is not all spaces",
    "fields[].options[].value": "no two options of one value",
    "fields[].prefill": "a link must not consent or judge for a person",
    "fields[].type": "a reference to an entity goes with the gate `member`",
    "fields[].required": "a hidden field that is required needs a default or comes from the link",
    "fields[].showIf": "a value that the earlier field can have",
    "fields[].showIf.field": "the key of an earlier field",
    "fields[].showIf.in": "values that the earlier field can have",
    "fields[].options[]": "no option twice",
    "fields[].relationType": "a relation leads to an entity type that exists, nothing else does",
    "fields[].slug": "no two fields of one slug, and none is called `title`",
    "file": "text that holds a bundle, or a table",
    "ifDependencyFails": "goes with dependsOn",
    "mapping": "columns of the file and fields of the type",
    "members[]": "a member of the workspace",
    "results[].toolCallId": "a call that waits for its result, named once",
    "modifiedArgs": "goes with a tool call, and not together with modifiedOutput",
    "modifiedOutput": "goes with an output",
    "onExpiry": "`fail` goes with a blocking request that expires",
    "channel": "no channel for an incognito conversation",
    "output": "goes with a run of a published version that is no test",
    "outputConfig.entityType": "results of this type become entities of a type that exists",
    "outputConfig.relationField": "a relation of that type, which leads to the task's own entity",
    "author.platform": "another platform than shiftbook",
    "memory_feedback": "an object",
    "newPath": "a folder of a memory and a name",
    "person": "the platform and the id of a person",
    "pausedToolCall": "goes with status awaiting_tool",
    "q": "fields that exist with values that they take; a search for events names a word",
    "kind": "a record is searched for without conditions",
    "publishConfig.audience": "a group of the workspace, for a form for members",
    "publishConfig.closesAt": "later than opensAt",
    "publishConfig.embedOrigins[]": "https, or this machine by http; a name and a port that exist",
    "publishConfig.redirectUrl": "a host that the operator allows",
    "transport": "an MCP server that answers",
    "question": "goes with status waiting_human",
    "question.schema": "a JSON Schema that compiles",
    "requestedSchema": "the subset of JSON Schema that MCP has; one form at most",
    "schema": "not together with fields",
    "typeId": "either this or actionId, where a response becomes an entity",
    "targetEntityId": "an entity of the workspace",
    "timezone": "a zone that exists",
    "viewId": "a published view that is open",
    "waitFor": "goes with status idle",
}

# The same of names that many operations have: how the paths begin for which the reason holds, and why.
RULES_OF = {
    "add": (("/api/sessions/{id}/tags",), "a tag to add or to remove, and at most 10 of a session"),
    "userId": (("/api/sessions/{id}/assignee",), "an active member of the workspace"),
    "tag": (("/api/sessions/bulk",), "goes with the verbs `tag` and `untag`"),
    "assigneeId": (("/api/sessions/bulk",), "a member, with the verb `assign`"),
    "content": (
        ("/api/feedback-requests/{id}/answer", "/api/sessions/{id}/elicitation-reply", "/api/sessions/{id}/events"),
        "an answer that is accepted needs content that fits its question",
    ),
    "decision": (
        ("/api/approvals", "/api/actions/{id}/tool-approval", "/api/sessions/{id}/elicitation-reply"),
        "a decision that the kind of the approval takes",
    ),
    "enabled": (("/api/telemetry",), "a token says no yes for a workspace that declined, or that may not"),
    "id": (
        (
            "/api/actions/{id}/tool-approval",
            "/api/responses/{id}/promote",
            "/api/sessions/{id}/retry",
            "/api/tool-sessions/{id}/promote",
            "/api/webhooks/{id}/test",
        ),
        "one session of the action waits; the response is submitted, the session no conversation, the tool completed, "
        "the webhook enabled",
    ),
    "kind": (("/api/actions/{id}/tool-approval", "/api/tools"), "the kind of the approval that waits, or of a tool"),
    "note": (
        (
            "/api/actions/{id}/tool-approval",
            "/api/approvals",
            "/api/feedback-requests/{id}/answer",
            "/api/sessions/{id}/progress",
            "/api/views/{id}/links",
        ),
        "one line; a denial has one where the agent goes on with it",
    ),
    "path": (("/api/agents/{slug}/memory", "/api/memory"), "a folder of a memory and a name"),
    "slug": (
        ("/api/actions", "/api/criteria-sets", "/api/entity-types", "/api/groups", "/api/mcp-servers", "/api/tools",
         "/api/views"),
        "made from the name where it is not said, which has to have letters; no view is called `new`",
    ),
    "text": (
        ("/api/agents/{slug}/memory", "/api/memory", "/api/sessions/{id}/deltas", "/api/sessions/{id}/messages",
         "/api/threads"),
        "no tag characters, which no one sees; deltas are counted in bytes",
    ),
    "input": (("/api/tools", "/api/tool-sessions"), "an input fits the schema of its tool"),
    "fields": (
        ("/api/tools", "/api/tool-sessions", "/api/views/{id}/publish"),
        "at most 200 fields with names of 1 to 200 characters, and 64 KiB for a saved input; a result is written to as "
        "many as a type has, each with a part of it; a view has a question before it is published",
    ),
    "requiresConfirmation": (("/api/tools",), "a person can only allow calls that the server makes"),
    "conditions": (("/api/rules",), "a value that is a number needs a condition with one value"),
    "composite": (("/api/tools",), "a tool of the kind `composite` has steps, and no other has them"),
    "http": (("/api/tools",), "a tool of the kind `http` has a call, and no other has one"),
    "mcp": (("/api/tools",), "a tool of the kind `mcp` names a server, and no other does"),
    "tools[]": (("/api/mcp-servers",), "a tool that the server lists, named once"),
    "to": (("/api/approvals",), "someone else of the workspace who may see and decide the approval"),
    "sessionIds": (
        ("/api/failure-causes", "/api/paced-runs", "/api/sessions/bulk"),
        "sessions, or a time range or a search line, and not both; of a paced run at least one can be run again",
    ),
    "since": (("/api/failure-causes",), "before `until`"),
    "startAt": (("/api/paced-runs",), "at most 30 days from now"),
    "until": (
        ("/api/approvals", "/api/failure-causes"),
        "later than `since`, which it needs; the end of a snooze is in the future, and not together with `seconds`",
    ),
    "window": (("/api/failure-causes",), "not together with `since`"),
    "base": (("/api/canvases",), "a version of the canvas"),
    "block": (("/api/canvases",), "at most 200 bytes"),
    "document": (("/api/canvases",), "one beginning, without keys that JavaScript gives a meaning of its own"),
    "fromSession": (("/api/canvases",), "a session with a result that everyone in the workspace can see"),
    "ops": (("/api/canvases",), "operations that change something"),
    "selection": (("/api/canvases",), "does not end before it begins"),
    "participant": (("/api/canvases",), "a member or token of the workspace, or an agent"),
    "version": (("/api/canvases",), "a version of the canvas"),
    "value": (
        ("/api/approvals", "/api/actions/{id}/tool-approval", "/api/tools"),
        "an answer goes with `respond`, and values with `approve`; a secret has one line",
    ),
}

# The same of everything below a name.
RULES_BELOW = {
    "answers.": "answers fit the fields of the form",
    "content.": "answers fit the fields of the form",
    "publishConfig.": "the audience is a group that exists, with the gate `member`",
    "requestedSchema.": "the subset of JSON Schema that MCP has",
    "fields.": "values of an entity fit the fields of its type",
    "value.": "values of an edit fit what was staged",
    "schema.": "a flat object of texts, numbers, yes or no, and choices, with consistent bounds",
    "input/": "an input fits the schema of its tool",
    "inputSchema": "a JSON Schema of an object that compiles",
    "outputSchema": "a JSON Schema that compiles",
    "privateFields": "fields of the input, none twice",
    "audience.": "groups of the workspace and roles, none twice",
    "composite.": "steps are published tools, in order, and placeholders name the input or earlier steps",
    "subject.": "a kind that rules decide, with the name of a tool for the kind `tool`",
    "conditions[]": "a value that the subject names, with values or bounds",
    "ops[]": "operations with a JSON Pointer and the members that go with them",
    "document/": "a document that matches the schema of its canvas",
    "limits.": "an instant within the bound, and an amount that the subject names",
    "transport.": "an address without placeholders, and headers that may be set",
    "secretHeaders": "headers that may be set, of a server over HTTP",
    "http.": "placeholders name fields of the input, and headers may be set",
    "mcpServers[].": "a server of a bundle has an address, or a program that the operator allows",
    "output.": "a task and an entity that exist, and fields of its type",
    "tools[].": "what a bundle names exists in the workspace, no slug is there twice, and a tool is valid",
    "groups[].": "what a bundle names exists in the workspace, and no slug is there twice",
    "criteriaSets[].": "what a bundle names exists in the workspace, and no slug is there twice",
    "entityTypes[].": "what a bundle names exists in the workspace, and no slug is there twice",
    "views[].": "what a bundle names exists in the workspace, no slug is there twice, and a form is valid",
    "actions[].": "what a bundle names exists in the workspace, and no slug is there twice",
}

# `7.0` is an integer to a schema. Here it is none, and the document says so.
WITH_A_FRACTION = "invalid type: floating point "

# Refusals that depend on what the workspace holds.
CODES = {"limit_reached", "hard_block", "output_invalid"}


@schemathesis.check
def refused_for_a_named_reason(ctx, response, case):
    """Valid data is refused for what the schema cannot say, and for nothing else."""
    if case.meta is None or not case.meta.generation.mode.is_positive or response.status_code not in (400, 422):
        return
    problem = response.json()
    if problem["code"] in CODES:
        return
    errors = problem.get("errors", [])
    if case.body == 0 and [error["field"] for error in errors] == ["body"]:
        # Where no body can be generated for the schema, a case has 0 in its place.
        return
    rules = [rule_of(error, case.operation.path) for error in errors]
    NEEDED.update(rule for rule in rules if rule)
    assert errors and all(rules), f"valid data was refused: {problem['code']} {problem.get('detail')}"


def rule_of(error, path):
    """The name of the rule that an error is of; `None` if no rule names it."""
    field = re.sub(r"\[\d+\]", "[]", error["field"])
    paths, _ = RULES_OF.get(field, ((), ""))
    if field in RULES or path.startswith(paths):
        return field
    if error["message"].startswith(WITH_A_FRACTION):
        return WITH_A_FRACTION
    return next((name for name in RULES_BELOW if field.startswith(name)), None)


# The rules that errors of this run were of.
NEEDED = set()

# How many requests of this run were answered with 2xx, by operation.
SUCCEEDED = Counter()


@schemathesis.hook
def after_call(ctx, case, response):
    if 200 <= response.status_code < 300:
        SUCCEEDED[case.operation.label] += 1


@atexit.register
def say_what_this_run_needed_and_did():
    """For `cargo xtask test`, which names the rules that no run needed, and fails if no request succeeded."""
    path = os.environ.get("SHIFTBOOK_RULES_FILE")
    if path:
        rules = [*RULES, *RULES_OF, *RULES_BELOW, WITH_A_FRACTION]
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"rules": rules, "needed": sorted(NEEDED), "succeeded": SUCCEEDED}, file)


# Of a caller who is signed in: the name of the cookie, and the id of the sign-in.
COOKIE = os.environ.get("SHIFTBOOK_COOKIE_NAME")
SIGN_IN = os.environ.get("SHIFTBOOK_SIGN_IN")


@schemathesis.hook
def before_call(ctx, case, kwargs):
    if COOKIE and case.cookies:
        # A generated value would take the place of the real one, which is a header.
        case.cookies.pop(COOKIE, None)
    if SIGN_IN and case.operation.path == "/api/sign-ins/{id}" and case.path_parameters.get("id") == SIGN_IN:
        # Ending the caller's own sign-in would leave nothing to examine.
        case.path_parameters["id"] = "00000000-0000-7000-8000-000000000000"
    if case.operation.path == "/api/sessions/{id}/events.jsonl":
        # A followed log ends with its session. Until then its heartbeats keep the request from ever timing out.
        follow = (case.query or {}).get("follow")
        if follow in (True, "true", ["true"], [True]):
            case.query["follow"] = "false"
    if case.operation.path == "/api/canvases/{id}/patches" and case.query:
        # As for a claim below: a wait within its bounds is shortened, every other value is tried as it is.
        wait = str(case.query.get("waitSeconds"))
        if wait.isdecimal() and 1 < int(wait) <= 60:
            case.query["waitSeconds"] = 1
    if not isinstance(case.body, dict):
        return
    if case.operation.path == "/api/webhooks" and isinstance(case.body.get("url"), str):
        # Messages go to nobody: names below .invalid never resolve.
        case.body["url"] = re.sub(r"^(https?://).*$", r"\1hooks.invalid/", case.body["url"], flags=re.S)
    if case.operation.path in ("/api/sessions/claim", "/api/tools/{slug}/run", "/api/tools/{slug}/test",
                               "/api/tool-sessions/{id}/run"):
        # A claim waits for work, and a run for its end, for as long as it is told to. Bounds are tried as they are, and
        # refused at once. The longest wait of a run is 30 s, so a longer one stays refused.
        wait = case.body.get("waitSeconds")
        longest = 60 if case.operation.path == "/api/sessions/claim" else 30
        if isinstance(wait, int) and 1 < wait <= longest:
            case.body["waitSeconds"] = 1


@schemathesis.hook
def filter_failure(ctx, failure, case, response):
    # HTTP ignores headers that it does not know, and so does every proxy in between.
    return "in header - object with unexpected properties" not in str(failure.message)
