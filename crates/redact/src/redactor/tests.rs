//! Fixtures are put together at run time, so that no scanner takes this file for a leak.

use proptest::prelude::*;

use super::surroundings::digit_from;
use super::*;

fn planted() -> Vec<(&'static str, String)> {
    let hex = "3f9a0c7be15d2468".repeat(4);
    let mixed = "q7RtZ2mWx9LkB4vNs8Yd1HcJ6pGf3TaE5uQi".to_owned();
    let begin = ["-----BEGIN RSA PRIV", "ATE KEY-----"].concat();
    let end = ["-----END RSA PRIV", "ATE KEY-----"].concat();
    vec![
        ("github-token", ["gh", "p_", &mixed].concat()),
        ("aws-access-key", ["AK", "IA", "Q7RTZ2MWX4LKB5VN"].concat()),
        ("stripe-key", ["sk_", "live_", &mixed].concat()),
        ("digitalocean-token", ["dop_", "v1_", &hex].concat()),
        ("jwt", ["eyJ", "hbGciOiJIUzI1NiJ9.eyJ", "zdWIiOiIxMjM0NTY3In0.", &mixed].concat()),
        ("private-key", format!("{begin}\n{mixed}{mixed}\n{end}")),
    ]
}

fn redact(text: &str) -> String {
    Redactor::shared().redact(text).into_owned()
}

#[test]
fn only_the_secret_goes_and_the_line_stays() {
    for (rule, secret) in planted() {
        let text = format!("früher: {secret}, später");
        assert_eq!(redact(&text), format!("früher: [REDACTED:{rule}], später"));
        let found = Redactor::shared().find(&text);
        assert_eq!(found.first().and_then(|one| text.get(one.range.clone())), Some(secret.as_str()));
    }
}

#[test]
fn redacting_twice_changes_nothing() {
    for (_, secret) in planted() {
        let once = redact(&format!("token = {secret} password: {secret}, {secret}"));
        assert!(!once.contains(&secret));
        assert_eq!(redact(&once), once);
    }
}

#[test]
fn places_that_hold_a_credential() {
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
fn ordinary_text_is_borrowed_unchanged() {
    let sum = "3f9a0c7be15d2468".repeat(4);
    let uuid = "123e4567-e89b-12d3-a456-426614174000";
    for text in [
        "The secret token is kept in a vault; rotate the password.".to_owned(),
        "api_key = \"YOUR_API_KEY\", token: <token>, secret: ${SECRET_2}".to_owned(),
        "token = xxxxxxxxxxxxxxxx; key: aaaaaaaaaaaaaaaaaaaa; let t = tokens.next();".to_owned(),
        format!("commit {sum} id {uuid} sha256:{sum} cache_key: {sum} public_key = {sum}"),
        format!("git rev-parse says key {}", sum.get(..40).unwrap_or_default()),
        format!("data:image/png;base64,iVBORw0KGgo{sum} src/auth/token2.rs"),
    ] {
        assert!(matches!(Redactor::shared().redact(&text), Cow::Borrowed(_)), "{}", redact(&text));
    }
}

#[test]
fn long_repeats_of_keywords_stay_as_they_are() {
    for unit in ["key=", "secret-", "eyJ-", "password=", "[REDACTED:"] {
        let text = unit.repeat(20_000);
        assert!(redact(&text) == text, "{unit}");
    }
}

#[test]
fn long_runs_without_an_end_stay_as_they_are() {
    for unit in ["a", "=", ".", "-", &random(), "3f9a0c7be15d2468", "a://b:", "user=a;"] {
        let text = unit.repeat(1_000_000 / unit.len());
        assert!(matches!(Redactor::shared().redact(&text), Cow::Borrowed(_)), "{unit}");
    }
}

/// What is found in each text; nothing for one that has no secret.
fn check(cases: &[(String, Option<&str>)]) {
    for (text, rule) in cases {
        let found = Redactor::shared().find(text);
        assert_eq!(found.first().map(|one| one.rule), *rule, "{text}");
        assert_eq!(matches!(Redactor::shared().redact(text), Cow::Borrowed(_)), rule.is_none(), "{text}");
    }
}

/// 32 characters that nobody would take for words.
fn random() -> String {
    ["q7RtZ2mWx9LkB4v", "Ns8Yd1HcJ6pGf3TaE"].concat()
}

fn base64(text: &str) -> String {
    data_encoding::BASE64.encode(text.as_bytes())
}

fn web_token(payload: &str) -> String {
    let part = |text: &str| base64(text).trim_end_matches('=').to_owned();
    [part(r#"{"alg":"HS256","typ":"JWT"}"#), part(payload), random()].join(".")
}

#[test]
fn placeholders_under_a_secrets_name() {
    let made_up = [
        "xxxxxxxxxxxxxxxx",
        "XXXXXXXX-XXXXXXXX-XXXX",
        "your-api-key-goes-here",
        "YOUR_SECRET_KEY_42",
        "MYSERVICE-EXAMPLE-KEY-0001",
        "${API_KEY_2}",
        "{{ .Values.token }}",
        "{{secrets.deploy.token2}}",
        "<put-key-2-here>",
        "$(pass show key2)",
        "process.env.KEY2",
        "00000000000000000000",
        "sk-abc123xyz-9d8f7g6h",
        "v2-1234-1234-1234-4ddbc191",
        "vault/team/payments/token",
        "./config/token2.json",
        "2026-01-02T03:04:05Z",
        "1.22.333-beta.4",
    ];
    for name in ["api_key", "secret", "auth_token"] {
        check(&made_up.map(|value| (format!("{name} = \"{value}\""), None)));
    }
}

#[test]
fn names_around_a_random_value_decide() {
    let (value, sum) = (random(), "3f9a0c7be15d2468".repeat(4));
    let commit = &sum[..40];
    check(&[
        (format!("api_key = {value}"), Some("generic-secret")),
        (format!("session_secret: {value}"), Some("generic-secret")),
        (format!("public_key = {value}"), None),
        (format!("cache key: {value}"), None),
        (format!("token_id = {value}"), None),
        (format!("secret_name = {value}"), None),
        (format!("next_token = {value}"), None),
        (format!("credentials_url = {value}"), None),
        (format!("checksum = \"sha256:{sum}\""), None),
        (format!("commit {commit} of the key rotation"), None),
        (format!("source = \"git+ssh://git@host.test/a/b?rev={commit}#{commit}\""), None),
        (format!("integrity: sha512-{}", base64(&value)), None),
        ("id = 123e4567-e89b-12d3-a456-426614174000".to_owned(), None),
    ]);
}

#[test]
fn a_name_in_base64_is_no_secret_and_a_credential_in_base64_is() {
    let pass = ["hun", "ter", "2xQ"].concat();
    check(&[
        (format!("token = {}", base64("service.internal.example")), None),
        (format!("token = {}", base64("storage.internal.host")), None),
        (format!("token = {}", base64(&format!("robot:{pass}"))), Some("generic-secret")),
        (format!("{{\"auth\": \"{}\"}}", base64(&format!("me:{pass}{pass}"))), Some("docker-auth")),
        (format!("kind: Secret\ndata:\n  pass: {}\n", base64(&format!("{pass}-{pass}"))), Some("kubernetes-secret")),
    ]);
}

#[test]
fn groups_that_repeat_are_made_up_and_an_identifier_goes_by_its_form() {
    let hex = "4ddbc191d40ee098";
    check(&[
        (format!("token: \"xoxz-1234-1234-1234-{hex}\""), None),
        (format!("token: \"xoxz-1234-5678-9013-{hex}\""), Some("generic-secret")),
        ("api_token = 5f4dcc3b-abcd-abcd-abcd-5f4dcc3b5aa7".to_owned(), Some("generic-secret")),
    ]);
}

#[test]
fn a_web_token_claims_something() {
    for (payload, is_secret) in [
        (r#"{"sub":"me"}"#, true),
        (r#"{"uid":457427}"#, true),
        (r#"{"admin":true}"#, true),
        (r#"{"groups":["a"]}"#, true),
        (r#"{"score":0.25,"exp":1}"#, true),
        (r#"{"score":0.25}"#, false),
        (r#"{"user":null,"mail":""}"#, false),
        ("no object at all", true),
    ] {
        check(&[(format!("see {}", web_token(payload)), is_secret.then_some("jwt"))]);
    }
    // By its place it is a credential, whatever it claims.
    check(&[(format!("Authorization: Bearer {}", web_token(r#"{"score":0.25}"#)), Some("authorization"))]);
}

#[test]
fn a_basic_header_holds_base64() {
    let pair = base64(&["me:hun", "ter2xQ"].concat());
    check(&[
        (format!("Authorization: Basic {}", base64(&["me:hun", "ter2x"].concat())), Some("authorization")),
        (format!("-H \"Authorization: Basic {pair}\""), Some("authorization")),
        ("Authorization: Basic authentication, see RFC 7617".to_owned(), None),
        ("Authorization: Basic ...".to_owned(), None),
        (format!("Authorization: Token {}", random()), Some("authorization")),
        (format!("Authorization: {}", random()), Some("authorization")),
    ]);
}

#[test]
fn a_weak_password_stands_alone() {
    let weak = ["qwer", "ty123"].concat();
    check(&[
        (weak.clone(), Some("weak-password")),
        (format!("log in with '{weak}'."), Some("weak-password")),
        (format!("é{weak}"), None),
        (format!("host-{weak}-eu"), None),
        (format!("{weak}@host.test"), None),
        (format!("{weak}_backup"), None),
    ]);
}

#[test]
fn secrets_by_their_place_in_many_notations() {
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

/// Each notation with a password at `§` and a random value at `¶`: nothing of it remains, whoever issued it.
fn check_places(notations: &[&str]) {
    let (value, base) = (random(), format!("{}/{}+{}=", &random()[..14], &random()[3..20], &random()[9..19]));
    for pass in ["Cedar-lantern74!", "qU4#vb2LmR9x", "k3zdd91hqr4l"] {
        for value in [value.as_str(), base.as_str()] {
            for notation in notations {
                let text = notation.replace('§', pass).replace('¶', value);
                let found = Redactor::shapes().redact(&text).into_owned();
                assert!(!found.contains(pass) && !found.contains(value), "{notation}: {found}");
                assert_eq!(redact(&found), found);
            }
        }
    }
}

#[test]
fn passwords_assigned_in_many_languages() {
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
fn passwords_in_configurations() {
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
fn calls_that_take_a_credential() {
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
fn arguments_of_commands() {
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
fn passwords_of_devices_databases_and_protocols() {
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
fn passwords_in_tables_flags_and_scripts() {
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
fn passwords_behind_users_sources_and_kinds() {
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
fn keys_whose_kind_is_told_around_them() {
    let hex = "3f9a0c7be15d2468";
    let (key, uuid) = (hex.repeat(4), "aad9f63e-3c52-469a-bbad-015a09506fd1");
    for (text, secret) in [
        (format!("accounts: [\"0x{key}\"], // deployer private key"), key.clone()),
        (format!("SIGNER=0x{key} # the signing key"), key.clone()),
        (format!("acl {{\n  tokens {{\n    agent = \"{uuid}\"\n  }}\n}}"), uuid.to_owned()),
        (format!("K10{key}::server:{hex}{hex}"), format!("{hex}{hex}")),
        (
            format!("-----BEGIN OpenVPN Static key V1-----\n{key}\n{key}\n-----END OpenVPN Static key V1-----"),
            key.clone(),
        ),
        ("the last unused backup code is 4842 2367".to_owned(), "4842 2367".to_owned()),
        ("use the recovery code yvj4htjeq1 if the phone is gone".to_owned(), "yvj4htjeq1".to_owned()),
    ] {
        assert!(!redact(&text).contains(&secret), "{text}");
    }
    for text in [
        "the backup code lives in src/backup and is generated",
        "recovery code for the 2024 2025 season was removed from the parser",
        "Sentry event 71b29f2707cb1d1cb571e61dcd4553a6 was grouped into SHOP-4F",
        "block 0x3f9a0c7be15d2468 // the public key is elsewhere",
    ] {
        assert_eq!(redact(text), text);
    }
}

#[test]
fn passwords_in_sentences() {
    check_places(&[
        "log in as admin with password §",
        "retrying with password \"§\"",
        "credentials are deploy / §",
        "use the credentials svc:§ for now",
        "mot de passe : §",
        "contraseña: §",
        "密码：§",
        "das Passwort lautet §.",
        "panic: login failed for app:§@db:5432",
        "app:§@tcp(db:3306)/shop",
        "db.internal:5432:shop:app:§",
        "wifi: office / §",
        "§ is the password for the vault",
        "try § as the password",
        "Please use the following password:\n\n§\n",
        "密钥: ¶",
        "der Schlüssel ist ¶",
        "https://x.internal/invite?code=¶",
        "Set-Cookie: id=¶; HttpOnly",
    ]);
    check(
        &[
            "The password of ann22@corp.internal was reset at 10:15.",
            "Log in to the registry: uses: docker/login-action@v3",
            "password hashing with Argon2id, see src/auth/password2.rs",
            "Log in to bastion-prod-west-04 first.",
            "logged in to build-agent-linux-17 as root",
            "log in at https://sso2.corp.internal/?next=a1",
            "the credentials expired (Error42), try `aws2 sso login`",
        ]
        .map(|text| (text.to_owned(), None)),
    );
}

#[test]
fn examples_references_and_public_values_are_no_secrets() {
    let (value, sum) = (random(), "3f9a0c7be15d2468".repeat(4));
    check(
        &[
            "password: 'SecurePass123'".to_owned(),
            "password = \"SuperSecret123!\"".to_owned(),
            "passphrase: PURPLE-ELEPHANT-42.".to_owned(),
            "postgres://user:password@localhost/db".to_owned(),
            "password=%DB_PASS2%".to_owned(),
            "password: !vault |".to_owned(),
            "password: op://vault/item/field2".to_owned(),
            "connect(password=\"hunter2\")".to_owned(),
            "--- PASS: TestNames/cut_at_100_chars (0.00s)".to_owned(),
            "password: \"%env(resolve:DB_PASSWORD_2)%\"".to_owned(),
            format!("  \"live_api\": {{:hex, :live_api, \"1.5.1\", \"{sum}\", [:mix]}}"),
            format!("s3_key = \"uploads/2024/{value}.jpg\""),
            format!("PublicKeyToken={}", &sum[..16]),
            format!("authenticity_token={value}"),
            format!("using RSA key {}", sum[..40].to_uppercase()),
            format!("ssh-ed25519 AAAA{}5AAAAI{value} me", "C3NzaC1lZDI1NTE"),
            format!("thread_{value} org-{value}"),
        ]
        .map(|text| (text, None)),
    );
}

#[test]
fn seeds_codes_and_wallets() {
    let seed = ["T4KL", "T5E2", "UF2U", "3BZV", "P7BR", "YLGR", "ZXJK", "7USD"];
    let phrase = "acid also area army away baby bean bird blue boat bone book";
    let numbered: Vec<String> = phrase.split(' ').enumerate().map(|(at, word)| format!("{}. {word}", at + 1)).collect();
    let bytes = (0..64).map(|n| (n * 37 % 251).to_string()).collect::<Vec<_>>().join(",");
    let key = random().repeat(4);
    check(&[
        (format!("MFA_SEED={}", seed.concat()), Some("one-time-seed")),
        (format!("Enter this key in your authenticator app: {}", seed.join(" ")), Some("one-time-seed")),
        (format!("2FA secret {}", seed.join(" ").to_lowercase()), Some("one-time-seed")),
        ("recovery codes:\nbae41-dece3\n27217-473ac\n222a6-36481".to_owned(), Some("recovery-code")),
        ("Your backup codes: 83920174, 10938475, 55820193".to_owned(), Some("recovery-code")),
        ("use PIN 482193 to unlock the phone".to_owned(), Some("pin")),
        ("your verification code is 975778".to_owned(), Some("pin")),
        (format!("MNEMONIC=\"{phrase}\""), Some("wallet-phrase")),
        (format!("seed phrase:\n{}", numbered.join("\n")), Some("wallet-phrase")),
        (["xpr", "v9s21", &key[..103]].concat(), Some("wallet-key")),
        (["nse", "c1", &key.to_lowercase()[..58]].concat(), Some("wallet-key")),
        (format!("new Wallet('0x{}')", "3f9a0c7be15d2468".repeat(4)), Some("wallet-key")),
        (format!("id.json (private key): [{bytes}]"), Some("private-key")),
        (["MIIEvQI", "BADANBgkqhkiG9w0BAQEF", &key].concat(), Some("private-key-base64")),
        (format!("identity file:\n{0}\n{0}\n{0}\n", &key[..64]), Some("private-key")),
        (format!("{{\"kty\":\"EC\",\"x\":\"{key}\",\"d\":\"{key}\"}}"), Some("private-key")),
    ]);
    check(
        &[
            "PIN 13 of header J2 goes to GPIO27, pin 1234".to_owned(),
            "exit code: 137, zip code 94110, error code 50012".to_owned(),
            "The recovery codes are shown once; store them where only you can read them.".to_owned(),
            "A mnemonic is a list of words that a wallet can turn back into its seed.".to_owned(),
            "This key will open many more than just that door, says this page.".to_owned(),
            format!("-----BEGIN CERTIFICATE-----\n{0}\n{0}\n", &key[..64]),
            format!("key of the map\n{0}\n", &key[..64]),
            format!("vercel deployment dpl_{}", random()),
        ]
        .map(|text| (text, None)),
    );
}

#[test]
fn digests_and_resources_keep_their_names() {
    let (value, sum) = (random(), "3f9a0c7be15d2468".repeat(4));
    let commit = &sum[..40];
    check(
        &[
            format!("hash of the token: {sum}"),
            format!("md5 of secret.txt: {}", &sum[..32]),
            format!("Merge key-rotation at {commit}"),
            format!("--- a/password.rs ({commit})"),
            format!("auth-service:{commit}"),
            format!("gpg --recv-keys {commit}"),
            format!("restore-keys: v2-{commit}"),
            format!("\"key\": \"v1-deps-{commit}\""),
            format!("verification key: {sum}"),
            format!("secrecy v0.8.0 h1:{value}="),
            format!("google-site-verification={value}"),
            format!("\"x5t\": \"{value}\""),
            format!("arn:aws:secretsmanager:eu-west-1:123456789012:secret:shop/db-{}", &value[..6]),
            "snowflake 3539742897594090180".to_owned(),
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==".to_owned(),
            "passwords: Argon2id m=65536,t=3,p=4".to_owned(),
            "password = aws_ssm_parameter.db_pass_v2.value".to_owned(),
            "docker compose -p Project22 up".to_owned(),
        ]
        .map(|text| (text, None)),
    );
    check(&[
        (format!("acme_token: {commit}"), Some("generic-secret")),
        (format!("the key for the map service ({value}) works"), Some("named-token")),
    ]);
}

/// Pieces that rules wait for, pieces that look like values, marks, and anything.
fn piece() -> impl Strategy<Value = String> {
    let words = Rule::all().iter().flat_map(Rule::keywords).collect::<Vec<_>>();
    prop_oneof![
        prop::sample::select(words),
        prop::sample::select(vec![
            "=",
            ": ",
            " ",
            "\"",
            "'",
            "\n",
            "-",
            ".",
            ":",
            "@",
            "://",
            "/",
            "é",
            "[REDACTED:jwt]",
            "[REDACTED:"
        ])
        .prop_map(str::to_owned),
        "[A-Za-z0-9]{8,60}",
        "[0-9a-f]{32,64}",
        "[A-Za-z0-9+/_-]{20,80}={0,2}",
        any::<String>(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_the_text_twice_is_once(pieces in prop::collection::vec(piece(), 0..40)) {
        let text = pieces.concat();
        let found = Redactor::shared().find(&text);
        let once = redact(&text);
        prop_assert_eq!(found.is_empty(), once == text);
        prop_assert!(found.is_sorted_by(|a, b| a.range.end <= b.range.start));
        prop_assert!(found.iter().all(|one| text.get(one.range.clone()).is_some_and(|secret| !secret.is_empty())));
        prop_assert_eq!(redact(&once), once);
    }

    #[test]
    fn prose_is_borrowed(words in prop::collection::vec("([bdfgklmnprst][aeiou]){1,4}[nrst]?[,.;]?|token|key|secret|password|Bearer|auth|login", 0..60)) {
        let text = words.join(" ");
        prop_assert!(matches!(Redactor::shared().redact(&text), Cow::Borrowed(same) if same == text));
    }
}

#[test]
fn a_digit_is_looked_for_from_each_keyword_on() {
    for (text, at, expected) in
        [("a1b2", 0, 1), ("a1b2", 1, 1), ("a1b2", 2, 3), ("a1b", 2, usize::MAX), ("", 0, usize::MAX)]
    {
        assert_eq!(digit_from(text, at), expected, "{text} {at}");
    }
    // The digit of one keyword is not that of the next.
    let secret = ["m4ng0", "-Tr33!"].concat();
    let text = format!(
        "password of 1 user\n{}password: {secret}\n{}password: none\n",
        "words ".repeat(90),
        "words ".repeat(90)
    );
    assert_eq!(redact(&text), text.replace(&secret, "[REDACTED:password]"));
}
