//! Calls server functions with the browser's `fetch`.
//!
//! Unlike Leptos's own client it sends with `keepalive`, so that a call survives the page that made it: the recorder
//! sends its last events when the page is hidden. It also brings no second library for requests into the WASM.

use super::Refusal;
use crate::browser::fetch;
use bytes::Bytes;
use futures_util::{Sink, Stream, sink::Drain, stream::Empty};
use http::Method;
use leptos::{
    serde_json,
    server_fn::{
        client::Client,
        error::{FromServerFnError as _, ServerFnErrorErr},
        request::ClientReq,
        response::ClientRes,
    },
};
use send_wrapper::SendWrapper;
use serde::de::DeserializeOwned;
use std::future::Future;
use web_sys::{FormData, Request, Response};

/// The browser's `fetch` as a client of server functions.
pub struct FetchClient;

/// A request that was built and not sent.
pub struct FetchRequest(SendWrapper<Request>);

/// A response whose body was not read.
pub struct FetchResponse(SendWrapper<Response>);

/// Media type of a form's fields.
const FORM: &str = "application/x-www-form-urlencoded";

/// Sends the encoded fields of a form to the server function to which the form posts, and returns the function's
/// result. Unlike a call of the function this needs no code of its own for each function's arguments.
///
/// # Errors
/// Why the function was refused, or that the server could not be reached.
pub async fn submit<T: DeserializeOwned>(path: &str, fields: &str) -> Result<T, Refusal> {
    let result = submitted(path, fields).await?;
    serde_json::from_str(&result).map_err(|_| Refusal::unreadable())
}

async fn submitted(path: &str, fields: &str) -> Result<String, Refusal> {
    let request = fetch::build("POST", path, Some(fields), FORM, "application/json").ok_or_else(unreachable)?;
    let response = fetch::send(&request).await.map_err(|_| unreachable())?;
    let body = fetch::text(&response).await.map_err(|_| unreachable())?;
    if response.ok() { Ok(body) } else { Err(serde_json::from_str(&body).unwrap_or_else(|_| Refusal::unreadable())) }
}

fn unreachable() -> Refusal {
    Refusal::from_server_fn_error(ServerFnErrorErr::Request(String::new()))
}

/// No function of this product streams or uploads.
fn unsupported() -> Refusal {
    Refusal::internal("this kind of request is not supported")
}

impl Client<Refusal> for FetchClient {
    type Request = FetchRequest;
    type Response = FetchResponse;

    fn send(request: FetchRequest) -> impl Future<Output = Result<FetchResponse, Refusal>> + Send {
        SendWrapper::new(async move {
            let response = fetch::send(&request.0).await.map_err(|_| unreachable())?;
            Ok(FetchResponse(SendWrapper::new(response)))
        })
    }

    async fn open_websocket(
        _: &str,
    ) -> Result<(impl Stream<Item = Result<Bytes, Bytes>> + Send + 'static, impl Sink<Bytes> + Send + 'static), Refusal>
    {
        Err::<(Empty<Result<Bytes, Bytes>>, Drain<Bytes>), _>(unsupported())
    }

    fn spawn(future: impl Future<Output = ()> + Send + 'static) {
        wasm_bindgen_futures::spawn_local(future);
    }
}

impl ClientReq<Refusal> for FetchRequest {
    type FormData = FormData;

    fn try_new_req_query(path: &str, _: &str, accepts: &str, query: &str, method: Method) -> Result<Self, Refusal> {
        let url = [path, "?", query].concat();
        fetch::build(method.as_str(), &url, None, "", accepts).map(Self::new).ok_or_else(unreachable)
    }

    fn try_new_req_text(
        path: &str,
        content_type: &str,
        accepts: &str,
        body: String,
        method: Method,
    ) -> Result<Self, Refusal> {
        fetch::build(method.as_str(), path, Some(&body), content_type, accepts).map(Self::new).ok_or_else(unreachable)
    }

    fn try_new_req_bytes(
        path: &str,
        content_type: &str,
        accepts: &str,
        body: Bytes,
        method: Method,
    ) -> Result<Self, Refusal> {
        // JSON, the one encoding that makes bytes here.
        let body = String::from_utf8(body.into()).map_err(|_| unsupported())?;
        Self::try_new_req_text(path, content_type, accepts, body, method)
    }

    fn try_new_req_form_data(_: &str, _: &str, _: &str, _: FormData, _: Method) -> Result<Self, Refusal> {
        Err(unsupported())
    }

    fn try_new_req_multipart(_: &str, _: &str, _: FormData, _: Method) -> Result<Self, Refusal> {
        Err(unsupported())
    }

    fn try_new_req_streaming(
        _: &str,
        _: &str,
        _: &str,
        _: impl Stream<Item = Result<Bytes, Refusal>> + Send + 'static,
        _: Method,
    ) -> Result<Self, Refusal> {
        Err(unsupported())
    }
}

impl FetchRequest {
    fn new(request: Request) -> Self {
        Self(SendWrapper::new(request))
    }
}

impl ClientRes<Refusal> for FetchResponse {
    fn try_into_string(self) -> impl Future<Output = Result<String, Refusal>> + Send {
        SendWrapper::new(async move { fetch::text(&self.0).await.map_err(|_| unreachable()) })
    }

    fn try_into_bytes(self) -> impl Future<Output = Result<Bytes, Refusal>> + Send {
        SendWrapper::new(async move { fetch::text(&self.0).await.map(Bytes::from).map_err(|_| unreachable()) })
    }

    fn try_into_stream(self) -> Result<impl Stream<Item = Result<Bytes, Bytes>> + Send + Sync + 'static, Refusal> {
        Err::<Empty<Result<Bytes, Bytes>>, _>(unsupported())
    }

    fn status(&self) -> u16 {
        self.0.status()
    }

    fn status_text(&self) -> String {
        self.0.status_text()
    }

    fn location(&self) -> String {
        String::new()
    }

    fn has_redirect(&self) -> bool {
        false
    }
}
