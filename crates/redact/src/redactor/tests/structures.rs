//! Public values by their structure, and secrets in the same places.

use super::{base64, check, random, redact};
use crate::Redactor;

/// URL-safe base64 of so many random bytes.
fn key(n_bytes: usize) -> String {
    let bytes: Vec<u8> =
        random().bytes().cycle().zip(0_u8..).map(|(a, b)| a.wrapping_mul(37) ^ b).take(n_bytes).collect();
    data_encoding::BASE64URL_NOPAD.encode(&bytes)
}

fn hex() -> String {
    "3f9a0c7be15d2468".repeat(4)
}

/// Asserts that a text stays as it is, and that the secret of another one is removed.
fn check_pair(public: &str, with_secret: &str, secret: &str) {
    assert_eq!(redact(public), public);
    assert!(with_secret.contains(secret) && !redact(with_secret).contains(secret), "{with_secret}");
}

#[test]
fn a_public_web_key_stays_and_the_private_member_of_one_is_removed() {
    let (x, y) = (key(32), key(48));
    check_pair(
        &format!(r#"{{"kty":"EC","crv":"P-256","kid":"login-key","x":"{x}","y":"{y}"}}"#),
        &format!(r#"{{"kty":"EC","crv":"P-256","x":"{y}","y":"{y}","d":"{x}"}}"#),
        &x,
    );
    check_pair(&format!(r#""cnf": {{"jkt": "{x}"}}"#), &format!(r#"{{"kty":"oct","k":"{x}"}}"#), &x);
}

#[test]
fn entries_of_nixs_public_list_stay_and_its_secret_key_is_removed() {
    let standard = |text: String| text.replace('-', "+").replace('_', "/");
    let (public, secret) = (standard(key(32)), standard(key(64)));
    check_pair(
        &format!("trusted-public-keys = cache.test-1:{public}="),
        &format!("trusted-public-keys = see above\nsecret-key: cache.test-1:{secret}=="),
        &secret,
    );
}

#[test]
fn keys_of_lookups_stay_and_keys_of_services_are_removed() {
    let digest = &hex()[..40];
    check_pair(
        &format!("Cache restored from key: {digest}"),
        &format!("the cache restored its api key: {digest}"),
        digest,
    );
    check_pair(&format!("dedup key {digest} seen"), &format!("api key {digest} seen"), digest);
    check_pair(&format!("pagination_token={}", random()), &format!("deploy_token={}", random()), &random());
}

#[test]
fn ids_that_a_command_prints_stay_and_what_is_assigned_below_it_is_removed() {
    let commit = &hex()[..40];
    check_pair(
        &format!("git rev-parse HEAD:src/auth/password.go\n{commit}"),
        &format!("git rev-parse HEAD\nexport API_KEY={commit}"),
        commit,
    );
    let upper = commit.to_uppercase();
    check_pair(
        &format!("[user]\n\tsigningkey = {upper}\n[commit]\n\tgpgsign = true"),
        &format!("jwt:\n  signing_key: {commit}"),
        commit,
    );
}

#[test]
fn text_that_is_decoded_stays_and_a_credential_is_removed() {
    let (text, credential) = (base64("the quick brown fox jumps"), base64("Cedar-lantern74!x"));
    check_pair(&format!("echo '{text}' | base64 -d"), &format!("echo '{credential}' | base64 -d"), &credential);
}

#[test]
fn titles_of_pages_stay_and_values_in_their_queries_are_removed() {
    let id = &hex()[..32];
    check_pair(
        &format!("[doc](https://www.notion.so/acme/API-keys-{id})"),
        &format!("https://www.notion.so/acme/API-keys?api_key={id}"),
        id,
    );
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
    let found = Redactor::shared().redact("DB_HOST=\nDB_PASSWORD=Kestrel74!lamp\n").into_owned();
    assert!(!found.contains("Kestrel"), "{found}");
}

/// Each line has the mark of a public structure; the name right before the value promises a secret.
#[test]
fn a_name_that_promises_a_secret_outweighs_the_structures_of_its_line() {
    let (hex, uuid) = ("3f9a0c7be15d2468".repeat(2), "1a652f10-a47e-449f-ab74-68de3b744220");
    let (commit, upper) = (format!("{hex}3f9a0c7b"), hex.to_uppercase());
    for (line, value) in [
        ("the thumbprint changed and the shared key is §", &hex),
        ("md5 7 checked, apikey: §", &hex),
        ("cherry-picked; the service credentials are §", &commit),
        ("bisect done, deploy key: §", &commit),
        ("volume 7, auth token §", &hex),
        ("job_id=7 client_secret=§", &hex),
        ("cache saved, session key: §", &hex),
        ("sccache warmed with access key §", &hex),
        ("after the pagination, secret: §", &hex),
        ("event key 7 was dropped, private key: §", &commit),
        ("gpg ok, apiKey = §", &upper),
        ("./build/out: token = §", &commit),
        ("bundle.js, apiKey: '§'", &hex),
        ("query 7 took 3 ms, accessToken: §", &hex),
    ] {
        let found = redact(&line.replace('§', value));
        assert!(!found.contains(value.as_str()), "{found}");
    }
    let found = redact(&format!("idempotent; api key {uuid}"));
    assert!(!found.contains(uuid), "{found}");
}
