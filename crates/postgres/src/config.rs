//! How to connect, and to which playbook.

use std::path::PathBuf;
use std::time::Duration;

use postgres::config::{Host, SslMode};

/// How to connect, and to which playbook of the database.
#[derive(Clone)]
pub struct Config {
    pub(crate) client: postgres::Config,
    pub(crate) name: String,
    pub(crate) playbook: String,
    pub(crate) tenant: String,
    pub(crate) root_certificates: Option<PathBuf>,
    pub(crate) is_read_only: bool,
    pub(crate) max_connections: usize,
    pub(crate) patience: Duration,
}

/// Why an address cannot be used. The message does not repeat the address: it may have a password.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// It is not an address of a PostgreSQL server.
    #[error("this is not postgres://USER@HOST/DATABASE?playbook=NAME: {reason}")]
    Address {
        /// What is wrong with it.
        reason: String,
    },
    /// A name is too long, or has characters that may not be in it.
    #[error("{setting} has {found:?}; 1 to 100 letters, digits, `-`, `_`, `.` and `/` are possible")]
    Name {
        /// The setting.
        setting: &'static str,
        /// The name.
        found: String,
    },
}

/// The playbook of an address that names none.
const DEFAULT_PLAYBOOK: &str = "default";

impl Config {
    /// Reads `postgres://USER@HOST/DATABASE?playbook=NAME&tenant=NAME&sslmode=MODE&sslrootcert=FILE`, and what else libpq reads in an
    /// address. The playbook is `default` and the tenant empty if they are not named. Without `sslmode`, a server on another machine
    /// has to speak TLS with a valid certificate; `disable` is without TLS. `sslrootcert` is a file of PEM certificates to trust instead of
    /// the public authorities.
    ///
    /// # Errors
    /// [`ConfigError`].
    pub fn parse(address: &str) -> Result<Self, ConfigError> {
        let (place, query) = address.split_once('?').unwrap_or((address, ""));
        let (mut playbook, mut tenant, mut root_certificates) = (DEFAULT_PLAYBOOK.to_owned(), String::new(), None);
        let mut rest = Vec::new();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("playbook", name)) => playbook = checked("playbook", name)?,
                Some(("tenant", name)) => tenant = checked("tenant", name)?,
                Some(("sslrootcert", file)) => root_certificates = Some(PathBuf::from(file)),
                Some(("sslmode", "verify-full" | "verify-ca")) => rest.push("sslmode=require"),
                _ => rest.push(pair),
            }
        }
        let has_mode = rest.iter().any(|pair| pair.starts_with("sslmode="));
        let address = [place, &rest.join("&")].join("?");
        let parsed = address.trim_end_matches('?').parse::<postgres::Config>();
        let mut client = parsed.map_err(|error| ConfigError::Address { reason: error.to_string() })?;
        if !has_mode {
            client.ssl_mode(if is_local(&client) { SslMode::Disable } else { SslMode::Require });
        }
        if client.get_connect_timeout().is_none() {
            client.connect_timeout(Duration::from_secs(3));
        }
        client.application_name("adage").keepalives_idle(Duration::from_secs(10));
        client.tcp_user_timeout(Duration::from_secs(20));
        let name = name_of(&client, &playbook);
        let (is_read_only, max_connections, patience) = (false, 8, Duration::from_secs(10));
        Ok(Self { client, name, playbook, tenant, root_certificates, is_read_only, max_connections, patience })
    }

    /// Uses this password, if the address has none.
    #[must_use]
    pub fn password(mut self, password: &str) -> Self {
        if self.client.get_password().is_none() {
            self.client.password(password);
        }
        self
    }

    /// Uses the password of the first line of a password file (`HOST:PORT:DATABASE:USER:PASSWORD`, `*` for any, `\\` before `:` and `\\`)
    /// that is meant for this server, if the address has none.
    #[must_use]
    pub fn password_of(self, file: &str) -> Self {
        let host = match self.client.get_hosts().first() {
            Some(Host::Tcp(host)) => host.clone(),
            _ => "localhost".to_owned(),
        };
        let port = self.client.get_ports().first().copied().unwrap_or(5432).to_string();
        let user = self.client.get_user().unwrap_or_default();
        let asked = [&host, &port, self.client.get_dbname().unwrap_or(user), user];
        let password = file.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
            let [before @ .., password] = &fields(line)[..] else { return None };
            let is_meant =
                before.len() == asked.len() && before.iter().zip(asked).all(|(said, it)| said == "*" || said == it);
            is_meant.then(|| password.clone())
        });
        password.into_iter().fold(self, |config, password| config.password(&password))
    }

    /// Writes nothing, and makes no tables.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.is_read_only = true;
        self
    }

    /// How many connections are open at most; at least 1. 8; chosen.
    #[must_use]
    pub fn max_connections(mut self, max: usize) -> Self {
        self.max_connections = max.max(1);
        self
    }

    /// How long a call waits for a connection, and for a server that was lost during a write to come back and say whether the write took
    /// effect. 10 s; chosen.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// The address for messages, without user and password.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

impl std::fmt::Debug for Config {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

/// The fields of a line of a password file.
fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut chars) = (vec![String::new()], line.chars());
    while let Some(c) = chars.next() {
        match (c, fields.last_mut()) {
            (':', _) => fields.push(String::new()),
            ('\\', Some(field)) => field.extend(chars.next()),
            (c, Some(field)) => field.push(c),
            (_, None) => {}
        }
    }
    fields
}

fn checked(setting: &'static str, name: &str) -> Result<String, ConfigError> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    if (1..=100).contains(&name.len()) && name.chars().all(is_plain) {
        Ok(name.to_owned())
    } else {
        Err(ConfigError::Name { setting, found: name.chars().take(100).collect() })
    }
}

fn is_local(client: &postgres::Config) -> bool {
    client.get_hosts().iter().all(|host| match host {
        Host::Tcp(host) => host == "localhost" || host.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback()),
        #[cfg(unix)]
        Host::Unix(_) => true,
    })
}

fn name_of(client: &postgres::Config, playbook: &str) -> String {
    let host = match client.get_hosts().first() {
        Some(Host::Tcp(host)) => host.clone(),
        _ => "local".to_owned(),
    };
    let port = client.get_ports().first().map(|port| format!(":{port}")).unwrap_or_default();
    format!("postgres://{host}{port}/{}?playbook={playbook}", client.get_dbname().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_the_playbook_and_its_name_has_no_password() {
        let config = Config::parse("postgres://me:secret@db.example:6543/memory?playbook=team/a&tenant=t1").unwrap();
        assert_eq!((config.playbook.as_str(), config.tenant.as_str()), ("team/a", "t1"));
        assert_eq!(config.name(), "postgres://db.example:6543/memory?playbook=team/a");
        assert_eq!(format!("{config:?}"), config.name());
        assert_eq!(config.client.get_ssl_mode(), SslMode::Require);
    }

    #[test]
    fn only_a_local_server_needs_no_tls() {
        let check = |address: &str, expected| {
            assert_eq!(Config::parse(address).unwrap().client.get_ssl_mode(), expected, "{address}");
        };
        check("postgres://me@127.0.0.1/memory", SslMode::Disable);
        check("postgres://me@localhost/memory", SslMode::Disable);
        check("postgres://me@10.0.0.1/memory", SslMode::Require);
        check("postgres://me@db/memory?sslmode=disable", SslMode::Disable);
        check("postgres://me@db/memory?sslmode=verify-full", SslMode::Require);
    }

    #[test]
    fn the_password_is_that_of_the_first_line_that_is_meant() {
        let file = "# others\ndb.example:*:memory:you:first\n*:5432:memory:me:sec\\:ond\nlocalhost:*:*:*:third\n";
        let check = |address: &str, expected: Option<&str>| {
            let config = Config::parse(address).unwrap().password_of(file);
            assert_eq!(config.client.get_password(), expected.map(str::as_bytes), "{address}");
        };
        check("postgres://me@db.example/memory", Some("sec:ond"));
        check("postgres://me@localhost:6000", Some("third"));
        check("postgres://me@db.example:6000/memory", None);
        check("postgres://me:own@db.example/memory", Some("own"));
    }

    #[test]
    fn a_wrong_address_is_refused_without_repeating_it() {
        for address in [
            "postgres://me:secret@h/d?playbook=a'b",
            "postgres://me:secret@h/d?tenant=",
            "postgres://me:secret@h:port/d",
        ] {
            let error = Config::parse(address).unwrap_err().to_string();
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
