//! Joins the fragments of tool calls.
//!
//! OpenAI numbers the calls of a reply with `index` and gives `id` and `name` with the first fragment of each. Ollama,
//! vLLM, llama.cpp and others differ: all calls have index 0 and their own ids, there is no index, no id, each fragment
//! has another id, the arguments are an object, empty or missing, or the last frame repeats all of them.

use domain::decoding::read_json;
use serde_json::{Map, Value, json};

/// The calls of one reply, in the order in which they began.
#[derive(Debug, Default)]
pub(super) struct Calls(Vec<Begun>);

#[derive(Debug, Default)]
struct Begun {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    /// Whether the present frame has a fragment of this call.
    is_in_frame: bool,
}

/// One element of `tool_calls`.
struct Fragment<'a> {
    index: Option<u64>,
    id: &'a str,
    name: &'a str,
    arguments: &'a Value,
}

impl Calls {
    /// Takes the field `tool_calls` of a frame.
    pub fn take(&mut self, tool_calls: &Value) {
        self.0.iter_mut().for_each(|call| call.is_in_frame = false);
        let fragments = match tool_calls {
            Value::Array(fragments) => fragments.as_slice(),
            Value::Object(_) => std::slice::from_ref(tool_calls),
            _ => return,
        };
        for fragment in fragments {
            // Some services leave out the object `function` around name and arguments.
            let function = if fragment["function"].is_object() { &fragment["function"] } else { fragment };
            self.add(&Fragment {
                index: fragment["index"].as_u64(),
                id: fragment["id"].as_str().unwrap_or_default(),
                name: function["name"].as_str().unwrap_or_default(),
                arguments: &function["arguments"],
            });
        }
    }

    /// Begins a call. `input` is its whole input if no more follows.
    pub fn begin(&mut self, index: Option<u64>, id: &Value, name: &Value, input: &Value) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let mut call = Begun { index, id: text(id), name: text(name), ..Begun::default() };
        call.add_arguments(input, false);
        self.0.push(call);
    }

    /// Adds arguments to the call with this index, or to the last one.
    pub fn go_on(&mut self, index: Option<u64>, arguments: &Value) {
        let last = self.0.len().checked_sub(1);
        let at = self.0.iter().rposition(|call| index.is_some() && call.index == index).or(last);
        if let Some(call) = at.and_then(|at| self.0.get_mut(at)) {
            call.add_arguments(arguments, false);
        }
    }

    /// Bytes of the arguments of all calls.
    pub fn size(&self) -> usize {
        self.0.iter().map(|call| call.arguments.len()).sum()
    }

    fn add(&mut self, fragment: &Fragment<'_>) {
        let at = self.position(fragment).unwrap_or_else(|| {
            self.0.push(Begun::default());
            self.0.len() - 1
        });
        let Some(call) = self.0.get_mut(at) else { return };
        call.is_in_frame = true;
        call.index = call.index.or(fragment.index);
        if call.id.is_empty() {
            fragment.id.clone_into(&mut call.id);
        }
        if call.name.is_empty() {
            fragment.name.clone_into(&mut call.name);
        }
        call.add_arguments(fragment.arguments, !fragment.name.is_empty());
    }

    /// The call that a fragment belongs to; `None` if it begins one. A fragment without a name never begins a call
    /// where there is one that it can belong to.
    fn position(&self, fragment: &Fragment<'_>) -> Option<usize> {
        let (index, id) = (fragment.index, fragment.id);
        let last = self.0.len().checked_sub(1);
        let of_index = || self.0.iter().rposition(|call| call.index == index);
        let of_id = || self.0.iter().rposition(|call| !id.is_empty() && call.id == id && call.index == index);
        let at = match (index, id.is_empty()) {
            (Some(_), _) => of_id().or_else(of_index)?,
            (None, false) if fragment.name.is_empty() => of_id().or(last)?,
            (None, false) => of_id()?,
            (None, true) => last?,
        };
        let call = self.0.get(at)?;
        if fragment.name.is_empty() {
            return Some(at);
        }
        let belongs = if id.is_empty() || call.id.is_empty() {
            // Without ids a name that comes again begins a call, unless the arguments before it are not complete.
            call.name == fragment.name && !call.is_in_frame && !call.is_complete()
        } else {
            call.id == id
        };
        belongs.then_some(at)
    }

    /// Ids, names and inputs.
    pub fn finish(self) -> Vec<(String, String, Value)> {
        let unnamed = |name: String| if name.trim().is_empty() { "unnamed".to_owned() } else { name };
        self.0.into_iter().map(|call| (call.id, unnamed(call.name), input(&call.arguments))).collect()
    }
}

impl Begun {
    /// Adds arguments: text continues where the text before ended, an object is all of them. `is_named` says that the
    /// fragment has the name of the tool: then it can repeat what is complete.
    fn add_arguments(&mut self, arguments: &Value, is_named: bool) {
        match arguments {
            Value::Null => {}
            Value::String(text) => {
                // Some services begin with an empty object, and send the arguments after it.
                if self.arguments.trim() == "{}" && text.trim_start().starts_with('{') {
                    self.arguments.clear();
                }
                // The whole is parsed last, so that a long one that arrives in parts is not parsed with each of them.
                let is_repeated = is_named && (text.trim().is_empty() || *text == self.arguments) && self.is_complete();
                if !is_repeated {
                    self.arguments.push_str(text);
                }
            }
            whole => self.arguments = whole.to_string(),
        }
    }

    fn is_complete(&self) -> bool {
        self.arguments.trim_end().ends_with('}') && serde_json::from_str::<Map<String, Value>>(&self.arguments).is_ok()
    }
}

/// The input in the arguments of a call. A tool without parameters is called without arguments, with an empty text,
/// `null` or an empty list. Arguments that are not JSON stay text, which no tool takes.
fn input(arguments: &str) -> Value {
    match arguments.trim() {
        "" | "null" | "[]" | "\"\"" => return json!({}),
        _ => {}
    }
    match read_json::<Value>(arguments) {
        // Some services encode the arguments twice.
        Ok((Value::String(inner), _)) => match read_json::<Map<String, Value>>(&inner) {
            Ok((object, _)) => Value::Object(object),
            Err(_) => Value::String(inner),
        },
        Ok((value, _)) => value,
        Err(_) => Value::from(arguments),
    }
}
