//! Values that are not secrets: placeholders, examples, digests, and values with a public name.

use std::borrow::Cow;

use super::{base64, check, random, redact};
use crate::Redactor;

#[test]
fn ordinary_text_is_borrowed_unchanged() {
    let sum = "3f9a0c7be15d2468".repeat(4);
    let uuid = "123e4567-e89b-12d3-a456-426614174000";
    for text in [
        "The secret token is kept in a vault; rotate the password.".to_owned(),
        "api_key = \"YOUR_API_KEY\", token: <token>, secret: ${SECRET_2}".to_owned(),
        "token = xxxxxxxxxxxxxxxx; key: aaaaaaaaaaaaaaaaaaaa; let t = tokens.next();".to_owned(),
        format!("commit {sum} id {uuid} sha256:{sum}"),
        format!("data:image/png;base64,iVBORw0KGgo{sum} src/auth/token2.rs"),
    ] {
        assert!(matches!(Redactor::shared().redact(&text), Cow::Borrowed(_)), "{}", redact(&text));
    }
}

#[test]
fn placeholders_with_a_secret_name_are_not_secrets() {
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
fn the_name_of_a_random_value_decides_whether_it_is_a_secret() {
    let (value, sum) = (random(), "3f9a0c7be15d2468".repeat(4));
    let commit = &sum[..40];
    check(&[
        (format!("api_key = {value}"), Some("generic-secret")),
        (format!("session_secret: {value}"), Some("generic-secret")),
        (format!("public_key = {value}"), None),
        (format!("token_id = {value}"), None),
        (format!("secret_name = {value}"), None),
        (format!("credentials_url = {value}"), None),
        (format!("checksum = \"sha256:{sum}\""), None),
        (format!("commit {commit} of the key rotation"), None),
        (format!("source = \"git+ssh://git@host.test/a/b?rev={commit}#{commit}\""), None),
        (format!("integrity: sha512-{}", base64(&value)), None),
        ("id = 123e4567-e89b-12d3-a456-426614174000".to_owned(), None),
    ]);
}

#[test]
fn a_credential_in_base64_is_a_secret_and_a_name_is_not() {
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
fn examples_references_and_public_values_are_not_secrets() {
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
            format!("s3_key = \"uploads/2024/{value}.jpg\""),
            format!("PublicKeyToken={}", &sum[..16]),
            format!("authenticity_token={value}"),
            format!("ssh-ed25519 AAAA{}5AAAAI{value} me", "C3NzaC1lZDI1NTE"),
            format!("thread_{value} org-{value}"),
        ]
        .map(|text| (text, None)),
    );
}

#[test]
fn digests_and_names_of_resources_are_not_secrets() {
    let (value, sum) = (random(), "3f9a0c7be15d2468".repeat(4));
    let commit = &sum[..40];
    check(
        &[
            format!("Merge key-rotation at {commit}"),
            format!("--- a/password.rs ({commit})"),
            format!("auth-service:{commit}"),
            format!("\"key\": \"v1-deps-{commit}\""),
            format!("verification key: {sum}"),
            format!("secrecy v0.8.0 h1:{value}="),
            format!("google-site-verification={value}"),
            format!("\"x5t\": \"{value}\""),
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

#[test]
fn an_issuers_prefix_with_words_is_not_a_secret_and_with_random_letters_is() {
    let letters = ["cYfJAwnBfGcKRKxGwy", "GItlQlRSFYCLphGg"].concat();
    check(&[
        ("- (id)hf_requiredTypesForDisplayMetadataOf;".to_owned(), None),
        (format!("{}_{}", "ghp", "AcceptanceServicePriorityComponentCo"), None),
        (format!("{}_{}", "github_pat", "debugging_build_time_service_display_timeout"), None),
        (format!("{}_{letters}", "hf"), Some("huggingface-token")),
    ]);
}

#[test]
fn the_start_of_a_value_before_three_dots_is_not_a_secret() {
    let start = "q7RtZ2mW";
    check(&[
        (format!("token = \"{}_{start}...\"", "ghu"), None),
        (format!("Authorization: Bearer {}_{start}…", "hf"), None),
        (format!("api_key = \"{}\"", random()), Some("generic-secret")),
    ]);
}

#[test]
fn a_value_that_says_it_is_fake_or_refers_to_another_is_not_a_secret() {
    check(&[
        ("secret: *externalAuthorization".to_owned(), None),
        (format!("Authorization: Basic {}", base64("admin:Cedar74!lamp")), Some("authorization")),
        ("Secret: &v1.SecretVolumeSource{".to_owned(), None),
    ]);
}

#[test]
fn examples_of_specifications_stay() {
    check(
        &[
            "otpauth://totp/a?secret=JBSWY3DPEHPK3PXP&issuer=b",
            "code_verifier=dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
            "Authorization: Bearer mF_9.B5f-4.1JqM",
            "{\"access_token\":\"2YotnFZFEjr1zCsicMWpAA\"}",
            "the secret 12345678901234567890 of RFC 4226",
        ]
        .map(|text| (text.to_owned(), None)),
    );
    let near = format!("{}3PXQ", "JBSWY3DPEHPK");
    assert!(!redact(&format!("otpauth://totp/a?secret={near}&issuer=b")).contains(&near));
}

#[test]
fn an_empty_password_has_no_value_on_the_next_line() {
    check(&[("DB_PASSWORD=\nDB_HOST=auth.acme.test\n".to_owned(), None)]);
    let found = redact("DB_HOST=\nDB_PASSWORD=Kestrel74!lamp\n");
    assert!(!found.contains("Kestrel"), "{found}");
}
