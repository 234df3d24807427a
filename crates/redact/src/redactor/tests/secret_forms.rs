//! Secrets by their form: web tokens, headers, seeds, codes, wallets, common passwords.

use super::{base64, check, random};

fn web_token(payload: &str) -> String {
    let part = |text: &str| base64(text).trim_end_matches('=').to_owned();
    [part(r#"{"alg":"HS256","typ":"JWT"}"#), part(payload), random()].join(".")
}

#[test]
fn a_web_token_is_a_secret_if_it_claims_something() {
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
    // In a header it is a credential, even without claims.
    check(&[(format!("Authorization: Bearer {}", web_token(r#"{"score":0.25}"#)), Some("authorization"))]);
}

#[test]
fn an_authorization_header_is_a_secret_if_it_has_a_value() {
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
fn a_weak_password_is_found_as_a_whole_word_only() {
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
fn seeds_codes_and_wallet_keys_are_found_and_their_look_alikes_are_not() {
    let seed = ["T4KL", "T5E2", "UF2U", "3BZV", "P7BR", "YLGR", "ZXJK", "7USD"];
    let phrase = "area acid also army away baby bean bird blue boat bone book";
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
fn of_armoured_blocks_in_base64_only_private_keys_are_secrets() {
    let block = |label: &str| {
        let lines = [random(), random(), random()].concat();
        data_encoding::BASE64.encode(format!("-----BEGIN {label}-----\n{lines}\n-----END {label}-----\n").as_bytes())
    };
    for label in ["PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY", "OPENSSH PRIVATE KEY", "ENCRYPTED PRIVATE KEY"] {
        check(&[(format!("client-key-data: {}", block(label)), Some("private-key-base64"))]);
    }
    for label in ["CERTIFICATE", "CERTIFICATE REQUEST", "X509 CRL"] {
        check(&[(format!("certificate-authority-data: {}", block(label)), None)]);
    }
}

#[test]
fn repeated_groups_are_made_up_except_in_uuids() {
    let hex = "4ddbc191d40ee098";
    check(&[
        (format!("token: \"xoxz-1234-1234-1234-{hex}\""), None),
        (format!("token: \"xoxz-1234-5678-9013-{hex}\""), Some("generic-secret")),
        ("api_token = 5f4dcc3b-abcd-abcd-abcd-5f4dcc3b5aa7".to_owned(), Some("generic-secret")),
    ]);
}

#[test]
fn seed_phrases_and_cells_of_secret_columns_are_found() {
    let phrase = "orbit velvet canyon mule oxygen tiny lumber gadget spice hidden rival acid";
    let hex = "3f9a0c7be15d2468".repeat(2);
    let bytes = "64, 231, 7, 118, 92, 205, 33, 150, 177, 18, 249, 86, 61, 142, 5, 223";
    check(&[
        (format!("put {phrase} into the wallet"), Some("wallet-phrase")),
        (format!("restore the list: {}", phrase.replace("mule", "of")), None),
        (format!("name,api_key\nnorth,{hex}\n"), Some("generic-secret")),
        ("name,api_key\nnorth,none\n".to_owned(), None),
        (format!("name,api_key_hash\nnorth,{hex}\n"), None),
        ("| user | password |\n|---|---|\n| ann | lampion-krokus-tandem |".to_owned(), Some("password")),
        ("| setting | password |\n|---|---|\n| minimum | twelve |".to_owned(), None),
        (format!("zigbee_key: [{bytes}]"), Some("byte-array-key")),
    ]);
}
