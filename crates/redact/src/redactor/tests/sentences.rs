//! Secrets that a sentence announces.

use super::{check, check_places, redact};

#[test]
fn passwords_in_sentences_are_found_and_other_values_are_not() {
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
fn keys_and_codes_are_found_if_the_words_around_them_name_their_kind() {
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
        "block 0x3f9a0c7be15d2468 // the public key is elsewhere",
    ] {
        assert_eq!(redact(text), text);
    }
}

#[test]
fn rare_words_after_a_word_for_a_password_are_a_passphrase() {
    for text in [
        "das Passwort vom Drucker lautet §",
        "hasło do sieci: §",
        "le mot de passe de la cave est §, merci",
        "the vault is locked, account ann / §",
        "print_secret: §",
        "enter § as the new passphrase",
        "try § to log in",
        "kinit ann <<< '§'",
        "<userPassword>§</userPassword>",
        "/msg ChanServ IDENTIFY §",
    ] {
        let found = redact(&text.replace('§', "lampion-krokus-tandem"));
        assert!(!found.contains("krokus"), "{found}");
    }
    for text in [
        "the password is checked in user-account-settings-page",
        "password: forgot-password-link",
        "login with single-sign-on-provider",
        "account: web-server-config-default",
        "Passwort: lampion",
        "enter a value as the new passphrase",
    ] {
        assert_eq!(redact(text), text);
    }
}
