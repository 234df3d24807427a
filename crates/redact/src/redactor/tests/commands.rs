//! Passwords and keys as arguments of commands, where the command alone says what its argument is.

use super::redact;

/// Asserts that a passphrase of words is removed at `§`, and that a variable and a placeholder are kept there.
fn check(notations: &[&str]) {
    for notation in notations {
        let found = redact(&notation.replace('§', "lampion-krokus-tandem"));
        assert!(!found.contains("krokus"), "{found}");
        for kept in ["$DB_PW", "<password>", "${PASS}"] {
            let text = notation.replace('§', kept);
            assert_eq!(redact(&text), text);
        }
    }
}

#[test]
fn passphrases_in_the_arguments_of_commands_are_found() {
    check(&[
        "mysqldump -u root -h db -p§ shop",
        "valkey-cli -h cache -a § info",
        "ldapadd -D cn=x -w § -f a.ldif",
        "unzip -P § box.zip",
        "mongosh -u root -p § db",
        "podman login -u bot -p § quay.test",
        "openssl pkcs12 -in a.p12 -passin pass:§ -nodes",
        "cmdkey /add:srv /user:ann /pass:§",
        "rabbitmqctl -n rabbit@a add_user ann §",
        "steamcmd +login ann § +quit",
        "htpasswd -bc .htpasswd ann §",
        "rpcclient -U 'corp\\ann%§' srv",
        "mount -t cifs //srv/x /mnt -o username=ann,password=§,vers=3",
        "srcds_run -game x +rcon_password § +map y",
        "nmcli con modify home wifi-sec.psk password §",
        "kadmin -q addprinc -pw § ann",
        "type=EXECVE a0=\"mysql\" a1=\"-p\" a2=\"§\"",
        "expect \"password for ann:\"\nsend -- \"§\\r\"",
    ]);
}

#[test]
fn other_arguments_of_the_same_commands_are_kept() {
    for text in [
        "mysql -P 3306 -h db-replica-north shop",
        "redis-cli -h cache-of-the-shop -p 6379 ping",
        "zip -r box.zip some-folder-with-words",
        "docker run -p 8080:80 web-shop-front",
        "docker login -u bot --password-stdin registry-of-the-shop.test",
        "openssl req -new -key server-private-key.pem",
        "rabbitmqctl add_user takes a name",
        "expect \"password for ann:\"\nsend -- \"$password\\r\"",
        "expect \"name:\"\nsend -- \"show-running-config\\r\"",
        "type=EXECVE a0=\"git\" a1=\"-C\" a2=\"some-folder-with-words\"",
        "net user ann /active:yes",
        "signtool sign /f cert-of-the-shop.pfx /fd sha256 app.exe",
    ] {
        assert_eq!(redact(text), text);
    }
}

#[test]
fn keys_in_the_arguments_of_commands_are_found() {
    let hex = "3f9a0c7be15d2468".repeat(3);
    let uuid = "1a652f10-a47e-449f-ab74-68de3b744220";
    for (notation, secret) in [
        ("mc config host add nas http://nas:9000 ann §", hex.get(..40).unwrap()),
        ("./codecov -Z -t § -f a.xml", uuid),
        ("vault write auth/approle/login role_id=b7 secret_id=§", uuid),
        ("Secret ID  = §", uuid),
        ("tinytuya.Device('bf83c2d41e95aa7b60xkqz', '10.0.0.9', '§')", "q7RtZ2mWx9LkB4vN"),
        ("aws_secret_access_key = /§", "q7RtZ2mWx9LkB4vNs8Yd1HcJ6pGf3TaE5uQi0wK"),
        ("access_token$sandbox$q7rtz2mwx9lkb4vn$§", hex.get(..32).unwrap()),
    ] {
        let found = redact(&notation.replace('§', secret));
        assert!(!found.contains(secret), "{found}");
    }
    let text = format!("secret name: {uuid}");
    assert_eq!(redact(&text), text);
}

#[test]
fn what_a_command_generates_or_reads_is_found() {
    let hex = "3f9a0c7be15d2468".repeat(2);
    let base64 = data_encoding::BASE64.encode(&[7, 91, 200, 33, 140, 252, 18, 77].repeat(4));
    for (command, secret) in [
        ("$ dd if=/dev/urandom bs=16 count=1 | xxd -p", hex.as_str()),
        ("wg genpsk", &base64),
        ("# serf keygen", &base64),
        ("$ ruby -e 'puts SecureRandom.hex(16)'", &hex),
        ("$ kubeadm token create", "k3zdd9.q7rtz2mwx9lkb4vn"),
        ("$ pulumi config get --secret db:password", "lampion-krokus-tandem"),
        ("$ bw get password shop", "lampion-krokus-tandem"),
        ("$ sudo cat /etc/shop/admin_pw", "lampion-krokus-tandem"),
    ] {
        let found = redact(&format!("{command}\n{secret}\n"));
        assert!(!found.contains(secret), "{found}");
    }
    for text in [
        "$ openssl rand -hex 16 > key.txt\nls\n",
        "$ pass show\nPassword-Store-of-ann\n",
        "$ terraform output -raw region\neu-west-north-1\n",
    ] {
        assert_eq!(redact(text), text);
    }
}
