//! A model behind the OpenAI-compatible interface: the only part of the crate that uses the network, built only with the feature
//! `http-llm`.

use std::time::Duration;

use adage_redact::{Redactor, one_line, strip_invisible};
use serde::Deserialize;
use serde_json::{Value, json};
use ureq::http::{HeaderMap, HeaderValue, Uri, header};
use ureq::tls::TlsConfig;
use ureq::{Agent, Timeout};

use super::{Completion, LanguageModel, ModelError};
use crate::error::config;
use crate::setters::setters;

/// A refusal's body is read up to this length.
const MAX_REFUSAL_BYTES: u64 = 16 * 1024;

/// Characters of a server's message that are kept.
const MAX_MESSAGE_CHARS: usize = 300;

/// Asks `POST <base URL>/chat/completions`.
///
/// Every call has a connection of its own, to that host alone: redirects are not followed, no proxy is used, and no
/// setting of the environment is read. Certificates are checked against Mozilla's roots, which are linked in.
///
/// ```no_run
/// let model = adage::model::HttpModel::new("http://localhost:11434/v1", "qwen3:8b")?;
/// # Ok::<(), adage::Error>(())
/// ```
#[derive(Debug)]
pub struct HttpModel {
    endpoint: Uri,
    model: String,
    /// The header. Marked as sensitive, it shows in no debug output, neither here nor in what the client logs.
    key: Option<HeaderValue>,
    connect_timeout: Duration,
    max_reply_bytes: usize,
}

impl HttpModel {
    /// A model by its name, on a server by its base URL: `https://host/v1`, or `http://` for a local one. The time limit for
    /// connecting is 10 s, and the maximum size of a reply 1 MiB.
    ///
    /// # Errors
    /// [`config::Error::Invalid`] when the base URL is none, has another scheme, or carries a name, a password, a query or a
    /// fragment.
    pub fn new(base_url: &str, model: impl Into<String>) -> Result<Self, config::Error> {
        Ok(Self {
            endpoint: endpoint(base_url)?,
            model: model.into(),
            key: None,
            connect_timeout: Duration::from_secs(10),
            max_reply_bytes: 1024 * 1024,
        })
    }

    /// Sends a key with every call (`Authorization: Bearer`).
    ///
    /// # Errors
    /// [`config::Error::Invalid`] when the key is not valid in a header, or would be sent unencrypted: with `http://`, keys are
    /// sent only to this machine.
    pub fn with_key(mut self, key: &str) -> Result<Self, config::Error> {
        let bad =
            |expected| config::Error::Invalid { setting: "the model's key", value: "[REDACTED]".to_owned(), expected };
        let key = key.trim();
        if key.is_empty() {
            return Err(bad("not empty"));
        }
        let host = self.endpoint.host().unwrap_or_default();
        if self.endpoint.scheme_str() != Some("https") && !is_loopback(host) {
            return Err(bad("sent by https, or to this machine"));
        }
        let mut header =
            HeaderValue::from_str(&format!("Bearer {key}")).map_err(|_| bad("made of visible ASCII characters"))?;
        header.set_sensitive(true);
        self.key = Some(header);
        Ok(self)
    }

    setters! {
        /// Changes how long connecting may take, name resolution and TLS included.
        with_connect_timeout(timeout: Duration) => connect_timeout = timeout;
        /// Changes the longest reply that is read, in bytes of the response's body.
        with_max_reply_bytes(max: usize) => max_reply_bytes = max;
    }

    fn agent(&self, time_limit: Duration) -> Agent {
        Agent::config_builder()
            // By default it reads a proxy from the environment.
            .proxy(None)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .http_status_as_error(false)
            .timeout_global(Some(time_limit))
            .timeout_connect(Some(self.connect_timeout))
            .user_agent(concat!("adage/", env!("CARGO_PKG_VERSION")))
            .tls_config(TlsConfig::default())
            .build()
            .new_agent()
    }

    fn call(&self, agent: &Agent, completion: &Completion) -> Result<String, ModelError> {
        let body = json!({
            "model": self.model,
            "messages": [
                {"role": "system", "content": completion.system},
                {"role": "user", "content": completion.user},
            ],
            "max_tokens": completion.max_tokens,
            "temperature": completion.temperature,
            "stream": false,
        });
        let mut request = agent.post(&self.endpoint).header(header::CONTENT_TYPE, "application/json");
        if let Some(key) = &self.key {
            request = request.header(header::AUTHORIZATION, key);
        }
        let failed = |error: ureq::Error| self.failure(&error, completion.time_limit);
        let response = request.send(body.to_string()).map_err(failed)?;
        let status = response.status();
        let headers = response.headers().clone();
        let mut body = response.into_body();
        if !status.is_success() {
            // The status is sufficient if the rest of the body does not arrive.
            let said = body.with_config().limit(MAX_REFUSAL_BYTES).read_to_vec().unwrap_or_default();
            return Err(self.refusal(status.as_u16(), &headers, &said));
        }
        // One byte more, to detect a reply that is too long.
        let limit = u64::try_from(self.max_reply_bytes).unwrap_or(u64::MAX).saturating_add(1);
        let reply = body.with_config().limit(limit).read_to_vec().map_err(failed)?;
        content(&reply)
    }

    fn failure(&self, error: &ureq::Error, limit: Duration) -> ModelError {
        match error {
            ureq::Error::Timeout(Timeout::Connect | Timeout::Resolve) => {
                ModelError::Unreachable { reason: format!("no connection within {:?}", self.connect_timeout) }
            }
            ureq::Error::Timeout(_) => ModelError::OutOfTime { limit },
            ureq::Error::BodyExceedsLimit(_) => ModelError::TooLong { max_bytes: self.max_reply_bytes },
            ureq::Error::Http(_) | ureq::Error::Protocol(_) | ureq::Error::LargeResponseHeader(..) => {
                ModelError::BadAnswer { reason: self.safe(&error.to_string()) }
            }
            other => ModelError::Unreachable { reason: self.safe(&other.to_string()) },
        }
    }

    fn refusal(&self, status: u16, headers: &HeaderMap, body: &[u8]) -> ModelError {
        let text = String::from_utf8_lossy(body);
        let parsed: Option<Value> = serde_json::from_str(&text).ok();
        let told = parsed.as_ref().and_then(|body| {
            let error = body.get("error").unwrap_or(body);
            error.get("message").unwrap_or(error).as_str()
        });
        let message = match headers.get(header::LOCATION) {
            Some(_) if (300..400).contains(&status) => "it redirects, which is not followed".to_owned(),
            _ => self.safe(told.unwrap_or(&text)),
        };
        let seconds = headers.get(header::RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
        ModelError::Refused { status, message, retry_after: seconds.map(Duration::from_secs) }
    }

    /// A text of the server on one line, without the key (servers repeat it) and other secrets.
    fn safe(&self, text: &str) -> String {
        let key = self.key.as_ref().and_then(|key| key.to_str().ok()?.strip_prefix("Bearer "));
        let keyless = match key {
            Some(key) => text.replace(key, "[REDACTED]"),
            None => text.to_owned(),
        };
        let line = one_line(&strip_invisible(&keyless), usize::MAX);
        one_line(&Redactor::shared().redact(&line), MAX_MESSAGE_CHARS)
    }
}

impl LanguageModel for HttpModel {
    fn complete(&self, completion: &Completion) -> Result<String, ModelError> {
        if completion.cancel.is_cancelled() {
            return Err(ModelError::Cancelled);
        }
        let agent = self.agent(completion.time_limit);
        let hook = completion.cancel.on_cancel({
            let agent = agent.clone();
            // Closes the connection that the call is blocked on.
            || agent.shutdown()
        });
        let result = self.call(&agent, completion);
        drop(hook);
        if completion.cancel.is_cancelled() { Err(ModelError::Cancelled) } else { result }
    }
}

/// The part of the reply that matters.
#[derive(Deserialize)]
struct Reply {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
}

#[derive(Deserialize)]
struct Message {
    content: Option<String>,
}

fn content(reply: &[u8]) -> Result<String, ModelError> {
    let bad = |reason: String| ModelError::BadAnswer { reason };
    let reply: Reply = serde_json::from_slice(reply).map_err(|error| bad(error.to_string()))?;
    let choice = reply.choices.into_iter().next().ok_or_else(|| bad("it has no choices".to_owned()))?;
    choice.message.content.ok_or_else(|| bad("its first choice has no content".to_owned()))
}

fn endpoint(base_url: &str) -> Result<Uri, config::Error> {
    const EXPECTED: &str = "http://host or https://host, with a path at most";
    // Not shown completely, because it may contain a password.
    let shown = base_url.split(['@', '?', '#']).next().unwrap_or_default();
    let shown = if shown.len() < base_url.len() { "a URL with a name, a query or a fragment" } else { shown };
    let bad =
        || config::Error::Invalid { setting: "the model's base URL", value: shown.to_owned(), expected: EXPECTED };
    if base_url.contains(['@', '?', '#']) {
        return Err(bad());
    }
    let url = format!("{}/chat/completions", base_url.trim().trim_end_matches('/'));
    let uri: Uri = url.parse().map_err(|_| bad())?;
    let is_known = matches!(uri.scheme_str(), Some("http" | "https"));
    if is_known && uri.host().is_some_and(|host| !host.is_empty()) { Ok(uri) } else { Err(bad()) }
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost") || bare.parse().is_ok_and(|address: std::net::IpAddr| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_endpoint_is_made_of_the_base_url() {
        let url = |base| HttpModel::new(base, "m").map(|model| model.endpoint.to_string());
        assert_eq!(url("http://localhost:11434/v1").unwrap(), "http://localhost:11434/v1/chat/completions");
        assert_eq!(url("https://example.org/v1/").unwrap(), "https://example.org/v1/chat/completions");
        for bad in ["", "localhost:80", "ftp://example.org", "http://", "/v1", "http://a b/"] {
            assert!(url(bad).is_err(), "{bad}");
        }
        let hidden = ["https://me:", "hunter2", "@example.org/v1"].concat();
        let error = url(hidden.as_str()).unwrap_err().to_string();
        assert!(!error.contains("hunter2") && error.contains("the model's base URL"), "{error}");
    }

    #[test]
    fn a_key_does_not_travel_in_clear_and_does_not_show() {
        let key = "s3cret-value";
        let model = |base| HttpModel::new(base, "m").unwrap().with_key(key);
        for base in ["https://example.org/v1", "http://localhost/v1", "http://127.0.0.1:1/v1", "http://[::1]:1/v1"] {
            let shown = format!("{:?}", model(base).unwrap());
            assert!(!shown.contains(key), "{shown}");
        }
        for base in ["http://example.org/v1", "http://192.168.0.2/v1", "http://localhost.example.org/v1"] {
            let error = model(base).unwrap_err().to_string();
            assert!(error.contains("by https") && !error.contains(key), "{error}");
        }
        let local = || HttpModel::new("http://localhost/v1", "m").unwrap();
        assert!(local().with_key(" ").is_err() && local().with_key("a\nb").is_err());
    }

    #[test]
    fn the_content_of_the_first_choice_counts() {
        let read = |reply: &str| content(reply.as_bytes());
        assert_eq!(read(r#"{"id": 1, "choices": [{"message": {"content": "a"}}, {"message": {}}]}"#).unwrap(), "a");
        for (reply, reason) in [
            (r#"{"choices": []}"#, "it has no choices"),
            (r#"{"choices": [{"message": {"content": null}}]}"#, "its first choice has no content"),
            ("{}", "missing field `choices` at line 1 column 2"),
        ] {
            assert_eq!(read(reply), Err(ModelError::BadAnswer { reason: reason.into() }));
        }
    }
}
