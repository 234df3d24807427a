//! Who may come in: the checks that every request passes before anything is read.

use uuid::Uuid;

/// The parts of a request that the checks look at.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Visitor<'a> {
    pub(crate) host: Option<&'a str>,
    pub(crate) origin: Option<&'a str>,
    pub(crate) cookie: Option<&'a str>,
    /// `Sec-Fetch-Site`: where a browser says that the request comes from.
    pub(crate) from_site: Option<&'a str>,
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// It names another host: a name that was made to resolve to this machine.
    Host,
    /// Another page sent it.
    Origin,
    /// It has no valid session.
    Session,
    /// There is nothing at this path.
    Path,
}

/// The secrets of one server. All are random and live as long as the process.
#[derive(Debug)]
pub(crate) struct Entrance {
    host: String,
    /// The first segment of every path. Cookies are shared by all ports of a host, so the cookie is bound to this path.
    room: String,
    /// In the link that the program prints; it works once, and is then replaced.
    key: String,
    /// The value of the cookie.
    session: String,
    /// In every form, in addition to the cookie.
    form_token: String,
}

fn secret() -> String {
    Uuid::new_v4().simple().to_string()
}

/// Compares without a hint, by the time it takes, of how much was right.
fn is_same(given: &str, secret: &str) -> bool {
    given.len() == secret.len() && given.bytes().zip(secret.bytes()).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

impl Entrance {
    pub(crate) fn new(port: u16) -> Self {
        let host = format!("127.0.0.1:{port}");
        Self { host, room: secret(), key: secret(), session: secret(), form_token: secret() }
    }

    pub(crate) fn link(&self) -> String {
        format!("http://{}/{}/?key={}", self.host, self.room, self.key)
    }

    pub(crate) fn form_token(&self) -> &str {
        &self.form_token
    }

    /// The header that a browser keeps.
    pub(crate) fn cookie(&self) -> String {
        format!("adage={}; Path=/{}/; HttpOnly; SameSite=Strict", self.session, self.room)
    }

    /// True once for the key of the printed link. A new key replaces it.
    pub(crate) fn take_key(&mut self, given: &str) -> bool {
        let is_right = is_same(given, &self.key);
        if is_right {
            self.key = secret();
        }
        is_right
    }

    /// The path of a page within the room, for a visitor who asks this host.
    pub(crate) fn page<'p>(&self, visitor: Visitor<'_>, path: &'p str) -> Result<&'p str, Refused> {
        if visitor.host != Some(self.host.as_str()) {
            return Err(Refused::Host);
        }
        let (room, page) = path.strip_prefix('/').and_then(|path| path.split_once('/')).ok_or(Refused::Path)?;
        if is_same(room, &self.room) { Ok(page) } else { Err(Refused::Path) }
    }

    /// Whether a visitor may read.
    pub(crate) fn check_read(&self, visitor: Visitor<'_>) -> Result<(), Refused> {
        if !matches!(visitor.from_site, None | Some("same-origin" | "none")) {
            return Err(Refused::Origin);
        }
        let cookies = visitor.cookie.unwrap_or_default().split(';').map(str::trim);
        let mut sessions = cookies.filter_map(|cookie| cookie.strip_prefix("adage="));
        if sessions.any(|session| is_same(session, &self.session)) { Ok(()) } else { Err(Refused::Session) }
    }

    /// Whether a visitor may send this form.
    pub(crate) fn check_write(&self, visitor: Visitor<'_>, token: &str) -> Result<(), Refused> {
        self.check_read(visitor)?;
        let own = visitor.origin.and_then(|origin| origin.strip_prefix("http://"));
        if own != Some(self.host.as_str()) {
            return Err(Refused::Origin);
        }
        if is_same(token, &self.form_token) { Ok(()) } else { Err(Refused::Session) }
    }
}
