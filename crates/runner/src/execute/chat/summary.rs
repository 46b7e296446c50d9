//! Asks a model to summarize its conversation: one request outside of any turn. Nothing is recorded.

use super::{
    super::{
        adapter::{ConversationSummary, Failure},
        limit::SUMMARY_TOKENS_MAX,
        log::LogSource,
    },
    ChatAdapter,
    conversation::Conversation,
    message::ModelRequest,
};

/// The request, sent as the last message of the person.
const REQUEST: &str = "The conversation ends here. Sum it up for the person in at most four short sentences of plain text, in \
     their language: what they wanted, what came of it, what is still open. Call no tools. Ask nothing, neither for a rating \
     nor whether it helped.";

/// Reads the conversation and asks for a summary within the agent's budget.
pub(super) async fn summarize(chat: &ChatAdapter, log: LogSource<'_>) -> ConversationSummary {
    let missing = |failure| ConversationSummary { text: Err(failure), usage: None };
    let mut conversation = match Conversation::read(log, true, None).await {
        Ok(conversation) => conversation,
        Err(failure) => return missing(failure),
    };
    conversation.add_user_message(REQUEST.to_owned());
    if let Err(spent) = chat.budget.check(&conversation.spent_in_turn(), chat.prices.as_ref()) {
        return missing(spent);
    }
    let question = ModelRequest {
        system: chat.instructions.clone().unwrap_or_default(),
        messages: conversation.thread_messages(None),
        // Declared although they must not be called: services refuse a conversation with calls of undeclared tools.
        tools: chat.tools.declared(true, &chat.tools.offers_by_name()),
        reply_schema: None,
    };
    let reply = match chat.model.ask_once(&question, SUMMARY_TOKENS_MAX).await {
        Ok(reply) => reply,
        Err(failure) => return missing(failure),
    };
    conversation.spent.add(reply.tokens);
    let text = reply.text.trim();
    let summary = match (text.is_empty(), reply.is_cut) {
        _ if reply.declined.is_some() => Err(reply.failure().unwrap_or_else(silent)),
        (true, _) => Err(silent()),
        (false, true) => Ok(format!("{text}…")),
        (false, false) => Ok(text.to_owned()),
    };
    ConversationSummary { text: summary, usage: chat.usage(&conversation.spent) }
}

fn silent() -> Failure {
    Failure::new("model_silent", "the model said nothing")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execute::{
        Adapter,
        chat::{Budget, Model, ModelAddress, Pause, Prices, Secret, Wire},
        fake::{Fake, SESSION_ID},
        tool::{Named, Tool, Toolbox},
    };
    use serde_json::{Value, json};
    use std::sync::Arc;
    use testkit::model::{ScriptedModel, ScriptedReply};
    use tokio::task::yield_now;

    fn chat(model: &ScriptedModel, wire: Wire) -> ChatAdapter {
        let http = client::http_client(&model.base_url).unwrap();
        // A pause would be a second try.
        let pause: Pause = Arc::new(|_| Box::pin(std::future::pending()));
        let at = ModelAddress { wire, base_url: &model.base_url, name: "m-1" };
        ChatAdapter {
            model: Model::new(http, at, Secret::new("k".into()), Some(9_000), pause).unwrap(),
            instructions: Some("You are a clerk.".into()),
            tools: Toolbox::new(&[Named::Own(Tool::Note)], Vec::new(), None, Vec::new()).unwrap(),
            budget: Budget::default(),
            prices: Some(Prices { input: 10.0, cached_input: Some(1.0), cache_write: None, output: 50.0 }),
        }
    }

    /// A conversation of one turn, which the person stopped in the middle of a call.
    async fn talked() -> Fake {
        let fake = Fake::start().await;
        let event = |sequence: u64, kind: &str, part: Value, metadata: Value| {
            json!({
                "id": format!("0193b0a0-0000-7000-8000-{sequence:012}"), "sequence": sequence, "type": kind, "role": "agent",
                "content": [part], "metadata": metadata, "actor": "system", "at": "2026-11-21T08:00:00Z",
                "recordedAt": "2026-11-21T08:00:00Z", "digest": ""
            })
        };
        let text = |text: &str| json!({"type": "text", "text": text});
        let call = json!({"type": "tool-call", "toolCallId": "c1", "toolName": "note", "input": {"text": "x"}});
        let cost = json!({"step": {"inputTokens": 10, "cachedInputTokens": 0, "outputTokens": 2}});
        fake.with(|m| {
            m.events = vec![
                event(1, "user.message", text("Who comes today?"), json!({})),
                event(2, "agent.message", text("Acme does."), json!({})),
                event(3, "agent.tool_call", call, cost),
            ];
        });
        fake
    }

    async fn closed(fake: &Fake, chat: &ChatAdapter) -> ConversationSummary {
        let api = fake.client();
        Adapter::summarize(chat, &api, SESSION_ID.parse().unwrap()).unwrap().await
    }

    #[tokio::test]
    async fn a_model_sums_a_conversation_up_once_briefly_and_its_cost_is_known_on_both_wires() {
        for wire in [Wire::OpenAi, Wire::Anthropic] {
            let model = ScriptedModel::start([ScriptedReply::Text(" You asked who comes: Acme. ")]).await;
            let fake = talked().await;
            let closed_with = closed(&fake, &chat(&model, wire)).await;
            assert_eq!(closed_with.text.unwrap(), "You asked who comes: Acme.");
            let usage: Value = serde_json::from_str(closed_with.usage.unwrap().get()).unwrap();
            assert_eq!(
                (&usage["steps"], &usage["inputTokens"], &usage["outputTokens"]),
                (&json!(2), &json!(110), &json!(22))
            );
            assert!(usage["costUsd"].as_f64().unwrap() > 0.0);
            let requests = model.requests();
            assert_eq!(requests.len(), 1);
            let body = requests[0].body.to_string();
            for part in ["You are a clerk.", "Who comes today?", "Acme does.", "Sum it up", "interrupted before"] {
                assert!(body.contains(part), "{part} in {body}");
            }
            let tokens = [&requests[0].body["max_tokens"], &requests[0].body["max_completion_tokens"]];
            assert!(tokens.contains(&&json!(SUMMARY_TOKENS_MAX)), "{body}");
            assert_eq!(fake.with(|m| m.events.len()), 3, "nothing is recorded");
        }
    }

    #[tokio::test]
    async fn an_answer_that_is_cut_counts_and_an_empty_or_refused_one_says_why() {
        let model = ScriptedModel::start([
            ScriptedReply::Truncated("You asked"),
            ScriptedReply::Text(""),
            ScriptedReply::Status(500, None, "out of order"),
            ScriptedReply::ConnectionLost,
        ])
        .await;
        let (fake, chat) = (talked().await, chat(&model, Wire::OpenAi));
        assert_eq!(closed(&fake, &chat).await.text.unwrap(), "You asked…");
        let silent = closed(&fake, &chat).await;
        assert_eq!(silent.text.unwrap_err().code, "model_silent");
        assert!(silent.usage.is_some(), "it was paid for");
        let broken = closed(&fake, &chat).await;
        let why = broken.text.unwrap_err().message;
        assert!(why.contains("500") && why.contains("out of order"), "{why}");
        assert_eq!(closed(&fake, &chat).await.text.unwrap_err().code, "model_unavailable");
        assert_eq!(model.requests().len(), 4, "none is asked twice");
    }

    #[tokio::test]
    async fn a_stalled_model_is_left_alone_and_a_spent_budget_asks_none() {
        let model = ScriptedModel::start([ScriptedReply::NoAnswer]).await;
        let (fake, mut chat) = (talked().await, chat(&model, Wire::Anthropic));
        let is_asked = async {
            while model.requests().is_empty() {
                yield_now().await;
            }
        };
        tokio::select! {
            closed_with = closed(&fake, &chat) => panic!("it never answers: {closed_with:?}"),
            () = is_asked => {}
        }
        chat.budget = Budget { output_tokens: Some(2), ..Budget::default() };
        assert_eq!(closed(&fake, &chat).await.text.unwrap_err().code, "budget_output_tokens");
        assert_eq!(model.requests().len(), 1);
    }
}
