//! The server: a socket on 127.0.0.1, a thread for each request, an end after an idle hour.

use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tiny_http::{Header, Method, Request, Response, Server};

use crate::answer::{Answer, Frame, Notice, Tab};
use crate::entrance::{Entrance, Refused, Visitor};
use crate::form::Form;
use crate::layout::{self, SCRIPT, STYLE};
use crate::memory::{Access, Memory};
use crate::{ask, change, history, lesson, lessons, review, time};

/// The most that a form may have: a lesson of every field at its limit takes a tenth of it. Chosen.
const MAX_FORM_BYTES: u64 = 1 << 20;
/// Requests that are answered at the same time. Chosen.
const MAX_AT_ONCE: usize = 16;
/// The server ends when nothing was asked for so long.
const IDLE: Duration = Duration::from_hours(1);
const TICK: Duration = Duration::from_millis(250);

const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Why a page cannot be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// No port of 127.0.0.1 could be opened.
    #[error("no port of 127.0.0.1 could be opened")]
    Bind(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The socket failed.
    #[error("the page cannot be served any more")]
    Receive(#[source] io::Error),
}

/// A page that is being served. It listens on a free port of 127.0.0.1.
pub struct PageServer {
    server: Server,
    desk: Arc<Desk>,
    is_stopped: Arc<AtomicBool>,
}

/// Ends a [`PageServer`] from another thread.
#[derive(Clone, Debug)]
pub struct StopHandle(Arc<AtomicBool>);

impl StopHandle {
    /// The server returns within a quarter of a second.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What all requests share.
struct Desk {
    memory: Memory,
    entrance: Mutex<Entrance>,
    form_token: String,
    notice: Mutex<Option<Notice>>,
    n_busy: AtomicUsize,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PageServer {
    /// Opens a free port. Nothing is answered before [`run`](Self::run).
    ///
    /// # Errors
    /// [`ServeError::Bind`].
    pub fn bind(memory: Memory) -> Result<Self, ServeError> {
        let server = Server::http("127.0.0.1:0").map_err(ServeError::Bind)?;
        let port = server.server_addr().to_ip().map(|address| address.port()).unwrap_or_default();
        let entrance = Entrance::new(port);
        let form_token = entrance.form_token().to_owned();
        let desk = Desk {
            memory,
            entrance: Mutex::new(entrance),
            form_token,
            notice: Mutex::default(),
            n_busy: AtomicUsize::new(0),
        };
        Ok(Self { server, desk: Arc::new(desk), is_stopped: Arc::default() })
    }

    /// The link that lets one browser in. It works once; then there is another.
    #[must_use]
    pub fn link(&self) -> String {
        locked(&self.desk.entrance).link()
    }

    /// Stops the server from another thread, such as that of a signal.
    #[must_use]
    pub fn stop_handle(&self) -> StopHandle {
        StopHandle(Arc::clone(&self.is_stopped))
    }

    /// Answers requests until it is stopped, or nothing was asked for an hour. When a link was used, `on_new_link` gets the next one.
    ///
    /// # Errors
    /// [`ServeError::Receive`].
    pub fn run(&self, on_new_link: &mut dyn FnMut(String)) -> Result<(), ServeError> {
        let (mut idle, mut link) = (Duration::ZERO, self.link());
        while idle < IDLE && !self.is_stopped.load(Ordering::Relaxed) {
            let newest = self.link();
            if newest != link {
                link.clone_from(&newest);
                on_new_link(newest);
            }
            let Some(request) = self.server.recv_timeout(TICK).map_err(ServeError::Receive)? else {
                idle += TICK;
                continue;
            };
            idle = Duration::ZERO;
            let desk = Arc::clone(&self.desk);
            if desk.n_busy.fetch_add(1, Ordering::AcqRel) >= MAX_AT_ONCE {
                desk.n_busy.fetch_sub(1, Ordering::AcqRel);
                drop(request.respond(Response::from_string("busy").with_status_code(503)));
                continue;
            }
            std::thread::spawn(move || {
                let _busy = Busy(&desk.n_busy);
                desk.serve(request);
            });
        }
        Ok(())
    }
}

/// Counts a request as answered, also if answering it panics.
struct Busy<'a>(&'a AtomicUsize);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// An answer as it is sent.
struct Reply {
    status: u16,
    kind: &'static str,
    body: Vec<u8>,
    more: Vec<(&'static str, String)>,
}

impl Reply {
    fn new(status: u16, kind: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self { status, kind, body: body.into(), more: Vec::new() }
    }

    fn page(status: u16, body: String) -> Self {
        Self::new(status, "text/html; charset=utf-8", body)
    }

    fn go_to(path: &str) -> Self {
        Self { more: vec![("Location", path.to_owned())], ..Self::new(303, "text/plain; charset=utf-8", "") }
    }

    fn refused(why: Refused) -> Self {
        let (status, title, text) = match why {
            Refused::Host => (421, "Another host", "This page answers at 127.0.0.1 only."),
            Refused::Origin => (403, "Another page", "Another page sent this request, so nothing was done."),
            Refused::Session => {
                (403, "Not let in", "Open the link that `adage view` printed last; each link works once.")
            }
            Refused::Path => (404, "Nothing here", "There is no such page."),
        };
        Self::page(status, layout::bare(title, text))
    }
}

impl Desk {
    fn serve(&self, mut request: Request) {
        let reply = self.reply(&mut request);
        let mut response = Response::from_data(reply.body).with_status_code(reply.status);
        let fixed = [
            ("Content-Type", reply.kind),
            ("Content-Security-Policy", POLICY),
            ("X-Content-Type-Options", "nosniff"),
            ("X-Frame-Options", "DENY"),
            ("Referrer-Policy", "same-origin"),
            ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Cross-Origin-Resource-Policy", "same-origin"),
            ("Cache-Control", "no-store"),
        ];
        let more = reply.more.iter().map(|(name, value)| (*name, value.as_str()));
        for (name, value) in fixed.into_iter().chain(more) {
            if let Ok(header) = Header::from_bytes(name, value) {
                response.add_header(header);
            }
        }
        if let Err(error) = request.respond(response) {
            tracing::debug!(%error, "a browser went away");
        }
    }

    fn reply(&self, request: &mut Request) -> Reply {
        let url = request.url().to_owned();
        let (path, query) = url.split_once('?').unwrap_or((&url, ""));
        let query = Form::parse(query.as_bytes());
        let headers: Vec<Header> = request.headers().to_vec();
        let header = |name: &'static str| {
            let mut found = headers.iter().filter(|header| header.field.equiv(name));
            // A header that is given twice is read in different ways by different programs.
            let value = found.next().map(|header| header.value.as_str());
            if found.next().is_some() { Some("") } else { value }
        };
        let visitor = Visitor {
            host: header("Host"),
            origin: header("Origin"),
            cookie: header("Cookie"),
            from_site: header("Sec-Fetch-Site"),
        };
        let page = match locked(&self.entrance).page(visitor, path) {
            Ok(page) => page,
            Err(why) => return Reply::refused(why),
        };
        match request.method() {
            Method::Get | Method::Head if page.is_empty() && query.has("key") => self.enter(query.get("key")),
            Method::Get | Method::Head => match locked(&self.entrance).check_read(visitor) {
                Ok(()) => self.read(page, &query),
                Err(why) => Reply::refused(why),
            },
            Method::Post => self.post(page, visitor, header("Content-Type").unwrap_or_default(), request),
            _ => Reply::page(405, layout::bare("Not possible", "Pages are read, and forms are sent.")),
        }
    }

    fn enter(&self, key: &str) -> Reply {
        let mut entrance = locked(&self.entrance);
        if !entrance.take_key(key) {
            return Reply::refused(Refused::Session);
        }
        tracing::info!("a browser was let in");
        let mut reply = Reply::go_to("ask");
        reply.more.push(("Set-Cookie", entrance.cookie()));
        reply
    }

    /// A page, or one of the two files that pages refer to.
    fn read(&self, page: &str, query: &Form) -> Reply {
        let frame = self.frame();
        let answer = match page {
            "" => return Reply::go_to("ask"),
            "style.css" => return Reply::new(200, "text/css; charset=utf-8", STYLE),
            "script.js" => return Reply::new(200, "text/javascript; charset=utf-8", SCRIPT),
            "ask" => ask::page(&frame, query),
            "lessons" => lessons::page(&frame, query),
            "lesson" => lesson::page(&frame, query),
            "review" => review::page(&frame, query),
            "history" => history::page(&frame),
            "time" => time::page(&frame),
            _ => return Reply::refused(Refused::Path),
        };
        self.written(answer.unwrap_or_else(|error| failed(&error)))
    }

    fn post(&self, page: &str, visitor: Visitor<'_>, kind: &str, request: &mut Request) -> Reply {
        let let_in = locked(&self.entrance).check_read(visitor);
        if let Err(why) = let_in {
            return Reply::refused(why);
        }
        let is_form = kind.split(';').next().is_some_and(|kind| kind.trim() == "application/x-www-form-urlencoded");
        let mut body = Vec::new();
        let read = request.as_reader().take(MAX_FORM_BYTES + 1).read_to_end(&mut body);
        if !is_form || read.is_err() || body.len() as u64 > MAX_FORM_BYTES {
            return Reply::page(
                413,
                layout::bare("Too much", "This form cannot be read: it is too long, or none of this page."),
            );
        }
        let form = Form::parse(&body);
        if let Err(why) = locked(&self.entrance).check_write(visitor, form.get("token")) {
            return Reply::refused(why);
        }
        if self.memory.access == Access::ReadOnly {
            return Reply::page(403, layout::bare("Read-only", "This page only shows the memory."));
        }
        match change::carry_out(&self.memory, page, &form) {
            Some(answer) => self.written(answer),
            None => Reply::refused(Refused::Path),
        }
    }

    fn frame(&self) -> Frame<'_> {
        Frame { memory: &self.memory, form_token: Some(&self.form_token) }
    }

    fn written(&self, answer: Answer) -> Reply {
        match answer {
            Answer::Done { next, notice } => {
                *locked(&self.notice) = Some(notice);
                Reply::go_to(&next)
            }
            Answer::Page { status, title, tab, body } => {
                let notice = locked(&self.notice).take();
                Reply::page(status, layout::page(&self.frame(), &title, tab, notice.as_ref(), &body))
            }
        }
    }
}

fn failed(error: &adage_review::Error) -> Answer {
    let status =
        if matches!(error, adage_review::Error::Memory(adage::Error::NoSuchLesson { .. })) { 404 } else { 500 };
    let body = maud::html! { h1 { "Not possible" } p { (crate::text::chain(error)) } };
    Answer::Page { status, title: "Not possible".to_owned(), tab: Tab::Lessons, body }
}
