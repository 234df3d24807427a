//! A served memory, and a client that sends exactly the bytes that a test gives.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::thread::JoinHandle;

use adage::{Playbook, Playbooks, Realm};
use adage_view::{Access, Memory, PageServer, StopHandle};
use tempfile::TempDir;

/// An answer: its status, its headers as they came, its body.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

/// A browser that was let in.
pub(crate) struct Browser {
    pub(crate) folder: TempDir,
    pub(crate) playbook: Playbook,
    pub(crate) host: String,
    pub(crate) room: String,
    pub(crate) cookie: String,
    pub(crate) token: String,
    stop: StopHandle,
    running: Option<JoinHandle<()>>,
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.stop.stop();
        self.running.take().unwrap().join().unwrap();
    }
}

impl Browser {
    pub(crate) fn new(access: Access) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let playbook = Playbook::builder(folder.path()).without_embedder().open().unwrap();
        Self::on(folder, playbook, access)
    }

    pub(crate) fn on(folder: TempDir, playbook: Playbook, access: Access) -> Self {
        let memory = Memory::new(Playbooks::new([playbook.clone()]), Realm::default(), access);
        let server = Arc::new(PageServer::bind(memory).unwrap());
        let (stop, link) = (server.stop_handle(), server.link());
        let running = std::thread::spawn(move || server.run(&mut |_| ()).unwrap());
        let rest = link.strip_prefix("http://").unwrap();
        let (host, rest) = rest.split_once('/').unwrap();
        let (room, key) = rest.split_once('/').unwrap();
        let mut browser = Self {
            folder,
            playbook,
            host: host.to_owned(),
            room: room.to_owned(),
            cookie: String::new(),
            token: String::new(),
            stop,
            running: Some(running),
        };
        let entered = browser.send(&format!("GET /{room}/{key} HTTP/1.1\r\nHost: {host}\r\n\r\n"));
        assert_eq!((entered.status, entered.header("Location")), (303, Some("ask")), "{}", entered.head);
        let cookie = entered.header("Set-Cookie").unwrap().split(';').next().unwrap();
        cookie.clone_into(&mut browser.cookie);
        // The link works once.
        assert_eq!(browser.send(&format!("GET /{room}/{key} HTTP/1.1\r\nHost: {host}\r\n\r\n")).status, 403);
        browser.learn_token();
        browser
    }

    /// The token of the forms, from a page that has one.
    fn learn_token(&mut self) {
        let id =
            self.playbook.learn_lesson(adage::build_lesson("finding the token", "Look at a form.")).map(|o| o.id());
        if let Ok(Some(id)) = id {
            let page = self.get(&format!("lesson?id={id}")).body;
            if let Some((_, rest)) = page.split_once(r#"name="token" value=""#) {
                rest.split('"').next().unwrap().clone_into(&mut self.token);
            }
            self.playbook.forget(id).unwrap();
        }
    }

    /// Sends these bytes, and reads until the server closes.
    pub(crate) fn send(&self, request: &str) -> Reply {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        let request = request.replacen("\r\n", "\r\nConnection: close\r\n", 1);
        // A server that has refused may close before all was sent.
        drop(stream.write_all(request.as_bytes()));
        let mut answer = Vec::new();
        drop(stream.read_to_end(&mut answer));
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Reply { status, head: head.to_owned(), body: body.to_owned() }
    }

    pub(crate) fn get(&self, page: &str) -> Reply {
        let Self { host, room, cookie, .. } = self;
        self.send(&format!("GET /{room}/{page} HTTP/1.1\r\nHost: {host}\r\nCookie: {cookie}\r\n\r\n"))
    }

    /// The page after a form was sent, as a browser that follows the redirect gets it.
    pub(crate) fn submit(&self, page: &str, fields: &[(&str, &str)]) -> Reply {
        let sent = self.post(page, fields);
        assert_eq!(sent.status, 303, "{}{}", sent.head, sent.body);
        self.get(sent.header("Location").unwrap())
    }

    pub(crate) fn post(&self, page: &str, fields: &[(&str, &str)]) -> Reply {
        let Self { host, room, cookie, token, .. } = self;
        let body =
            form_urlencoded::Serializer::new(String::new()).append_pair("token", token).extend_pairs(fields).finish();
        self.send(&format!(
            "POST /{room}/{page} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nCookie: {cookie}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ))
    }
}
