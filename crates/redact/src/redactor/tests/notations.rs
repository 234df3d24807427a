//! Secrets by their surroundings, in the notations of languages, configurations, commands and protocols.

use super::{check_places, random, redact};
use crate::Redactor;

#[test]
fn credentials_are_found_in_urls_flags_assignments_and_headers() {
    let pass = ["hun", "ter", "2xQ"].concat();
    let hex = "3f9a0c7be15d2468".repeat(2);
    for (text, rule, secret) in [
        (format!("postgres://me:{pass}@db/x"), "url-password", &pass),
        (format!("curl -u me:{pass} http://x"), "curl-user", &pass),
        (format!("DB_PASSWORD={pass}"), "password", &pass),
        (format!("Authorization: Bearer {hex}"), "authorization", &hex),
        (format!("\"acmeApiKey\": \"{hex}\""), "generic-secret", &hex),
        (format!("acme_key = {hex}"), "generic-key", &hex),
        (format!("cloudsmith {hex}"), "vendor-key", &hex),
    ] {
        assert_eq!(redact(&text), text.replace(secret, &format!("[REDACTED:{rule}]")));
    }
}

#[test]
fn secrets_are_found_in_many_notations_without_the_rules_of_providers() {
    let (pass, value) = (["hun", "ter", "2xQ"].concat(), random());
    for notation in [
        "setPassword(\"PASS\")",
        "auth: { user: \"me\", pass: \"PASS\" }",
        "login(\"me\", \"PASS\")",
        "requests.get(url, auth=('me', 'PASS'))",
        "echo PASS | sudo -S ls",
        "gpg --passphrase PASS x",
        "the password is PASS",
        "https://host.test/x?access_token=VALUE",
        "https://host.test/x?a=1&sig=VALUE",
        "https://host.test/webhook/VALUE",
        "Cookie: lang=en; sessionid=VALUE",
        "- name: ACME_TOKEN\n  value: VALUE",
        "here is the token: VALUE",
        "body=token%3DVALUE",
        "ACME_TOKEN: \"Scheme VALUE\"",
        "//registry.test/:_authToken=VALUE",
    ] {
        let text = notation.replace("PASS", &pass).replace("VALUE", &value);
        let found = Redactor::shapes().redact(&text).into_owned();
        assert!(!found.contains(&pass) && !found.contains(&value), "{found}");
        assert_eq!(redact(&found), found);
    }
}

#[test]
fn passwords_assigned_in_programming_languages_are_found() {
    check_places(&[
        "let password = \"§\".to_string();",
        "const DB_PASSWORD: &str = \"§\";",
        "password: String::from(\"§\"),",
        "var dbPassword string = \"§\"",
        "password: str = '§'",
        "char pass[] = \"§\";",
        "#define WIFI_PASSWORD \"§\"",
        "password ||= '§'",
        "x: process.env.DB_PASS ?? '§'",
        "os.environ.setdefault(\"PGPASSWORD\", \"§\")",
        "properties.setProperty(\"db.password\", \"§\");",
        "password: { type: String, default: \"§\" }",
        "cy.get('input[name=password]').type('§')",
        "password <- \"§\"",
        "pw: §",
        "dbPass = \"§\"",
    ]);
}

#[test]
fn passwords_in_configurations_are_found() {
    check_places(&[
        "ENV REGISTRY_PASSWORD=§",
        "set -x PGPASSWORD §",
        "requirepass §",
        "SSH_PASSPHRASE=§",
        "variable \"db_password\" {\n  type = string\n  default = \"§\"\n}",
        "{\"name\":\"DB_PASSWORD\",\"value\":\"§\"}",
        "<property name=\"hibernate.connection.password\">§</property>",
        "<key>Password</key>\n<string>§</string>",
        "password: >-\n  §",
        "  psk=\"§\"",
        "user=app pass=§ host=db",
    ]);
}

#[test]
fn credentials_in_calls_are_found() {
    check_places(&[
        ".basic_auth(\"svc\", Some(\"§\"))",
        "DriverManager.getConnection(url, \"app\", \"§\");",
        "new NetworkCredential(\"svc\", \"§\")",
        "jwt.sign(claims, '¶')",
        "crypto.createHmac('sha256', \"¶\")",
        "process.env.ADMIN_TOKEN ||= \"¶\";",
        "const API_TOKEN: &str = \"¶\";",
        "axios.defaults.headers.common['Authorization'] = '¶';",
    ]);
}

#[test]
fn credentials_in_arguments_of_commands_are_found() {
    check_places(&[
        "zip -P '§' a.zip b",
        "7z x -p§ a.7z",
        "ldapsearch -D cn=admin -w § -b dc=x",
        "sqlcmd -S db -U sa -P '§'",
        "http -a svc:§ GET x.internal",
        "smbclient //fs/share -U 'corp/svc%§'",
        "xfreerdp /u:ann /p:'§' /v:host",
        "net user svc § /add",
        "rabbitmqctl change_password app §",
        "wpa_passphrase office '§'",
        "echo '§' | docker login -u bot --password-stdin r.io",
        "echo '§' | passwd --stdin app",
        "vault login ¶",
        "gh auth login --with-token <<< ¶",
        "doctl auth init -t ¶",
    ]);
}

#[test]
fn passwords_of_devices_databases_and_protocols_are_found() {
    check_places(&[
        "snmp-server community § RO",
        "enable secret 0 §",
        "username admin privilege 15 secret 0 §",
        "crypto isakmp key § address 0.0.0.0",
        " pre-shared-key ascii-text \"§\"",
        "rocommunity § 10.0.0.0/8",
        "rootpw --plaintext §",
        "ACL SETUSER app on >§ ~* +@all",
        "INSERT INTO users (name, password) VALUES ('ann', '§');",
        "ALTER USER app WITH PASSWORD '§';",
        "USER ann\nPASS §",
        "SASL PLAIN ann §",
        "ParameterKey=DBPassword,ParameterValue=§",
        "config loaded: DbPassword(§)",
        "<credential user=\"a\" secret=\"§\"/>",
    ]);
}

#[test]
fn passwords_in_tables_flags_and_scripts_are_found() {
    check_places(&[
        "username,password\nann,§",
        "| user | password |\n|---|---|\n| ann | § |",
        "plink -ssh h -pw §",
        "su - app <<< '§'",
        "send \"§\\r\"",
        "<password><![CDATA[§]]></password>",
        "auth = (\"ann\", \"§\")",
        "new User(\"ann\", \"a@x.internal\", \"§\")",
        "masterpass §",
        "default creds admin/§",
        "\"registrytoken\": \"¶\"",
        "client.with_token(\"¶\")",
        "Token (will be hidden): ¶",
        "SSH_KEY=¶",
        "bot.run('¶')",
    ]);
}

#[test]
fn passwords_after_users_data_sources_and_labels_are_found() {
    check_places(&[
        "java -jar cli.jar -s https://ci.internal/ -auth bot:¶ list-jobs",
        "nats sub --creds=svc:§ orders",
        "define('AUTH_KEY',         '§');",
        "define(\"SMTP_PASSWORD\", \"§\");",
        "new PDO('mysql:host=db;dbname=shop', 'shop', '§');",
        "DriverManager.getConnection(\"jdbc:sqlserver://db;encrypt=true\", \"sa\", \"§\")",
        "203.0.113.7 198.51.100.9 : PSK \"§\"",
        "carol : EAP \"§\"",
    ]);
}

#[test]
fn the_random_part_of_an_address_that_acts_by_itself_is_found() {
    let (value, uuid) = (random(), "1a652f10-a47e-449f-ab74-68de3b744220");
    for (address, secret) in [
        ("https://id.test/approve/§", value.as_str()),
        ("https://id.test/auth/email/§?next=/", &value),
        ("https://kuma.test/api/push/§?status=up", &value),
        ("https://ci.test/hooks/catch/§/", &value),
        ("https://ci.test/trigger/§", uuid),
        ("https://hc-ping.com/§/start", uuid),
        ("https://api.netlify.com/build_hooks/§", "5f0c7be15d24683f9a0c7be1"),
    ] {
        let found = redact(&address.replace('§', secret));
        assert!(!found.contains(secret), "{found}");
    }
    for text in [
        "https://shop.test/confirm/order/48213370",
        "https://shop.test/docs/verify/how-to-verify-your-address-again",
        "https://shop.test/trigger/settings-of-the-shop",
        "https://shop.test/join/our-team-of-many-people",
    ] {
        assert_eq!(redact(text), text);
    }
}

#[test]
fn sessions_and_keys_of_hashes_are_found_by_their_name() {
    let hex = "3f9a0c7be15d2468".repeat(3);
    for notation in
        ["LOGIN_PEPPER=§", "\"ORDER_HMAC\": \"§\"", "log: sid=§ user=ann", "a.test\tTRUE\t/\tTRUE\t9\tshop_session\t§"]
    {
        let found = redact(&notation.replace('§', &hex));
        assert!(!found.contains(&hex), "{found}");
    }
    let uuid = "1a652f10-a47e-449f-ab74-68de3b744220";
    for text in [format!("session_id: {uuid}"), format!("wsID: {hex}"), "LOGIN_PEPPER=$PEPPER".to_owned()] {
        assert_eq!(redact(&text), text);
    }
}

#[test]
fn a_link_that_expires_and_the_key_of_a_stream_are_found() {
    let value = random();
    for notation in [
        "https://cdn.test/a.bin?st=§&e=1798761600",
        "https://cdn.test/a.bin?exp=1798761600&ip=10.0.0.1&hash=§",
        "rtmps://live.test/ingest/§",
        "bundle config set --global gems.test §",
    ] {
        let found = redact(&notation.replace('§', &value));
        assert!(!found.contains(&value), "{found}");
    }
    for text in [
        "https://cdn.test/a.bin?hash=tag-of-the-latest-version&exp=1798761600",
        "bundle config set --global path vendor-of-the-shop",
    ] {
        assert_eq!(redact(text), text);
    }
}
