//! A server on the loopback interface that answers like that of a language model.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

/// A server that hands each connection's request to `answer`, until the test is over.
pub(crate) struct Server {
    pub(crate) address: String,
    pub(crate) requests: Receiver<String>,
}

impl Server {
    pub(crate) fn start(answer: impl Fn(&str, &mut TcpStream) + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (sender, requests) = channel();
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let request = read_request(&mut stream);
                if sender.send(request.clone()).is_err() {
                    return;
                }
                answer(&request, &mut stream);
                let _ = stream.shutdown(Shutdown::Write);
            }
        });
        Self { address, requests }
    }

    pub(crate) fn saying(response: impl Into<String>) -> Self {
        let response = response.into();
        Self::start(move |_, stream| {
            let _ = stream.write_all(response.as_bytes());
        })
    }
}

fn read_request(stream: &mut TcpStream) -> String {
    let mut request = Vec::new();
    let mut buffer = [0; 4_096];
    loop {
        let n = stream.read(&mut buffer).unwrap_or(0);
        request.extend_from_slice(&buffer[..n]);
        let text = String::from_utf8_lossy(&request).into_owned();
        let is_whole = text.split_once("\r\n\r\n").is_some_and(|(head, body)| {
            let length =
                head.lines().find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
            body.len() >= length.unwrap_or(0)
        });
        // The first byte of a TLS handshake: there will be no head.
        let is_tls = request.first() == Some(&0x16);
        if n == 0 || is_whole || is_tls {
            return text;
        }
    }
}

pub(crate) fn response(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n{headers}Connection: close\r\n\r\n{body}", body.len())
}
