//! What must come out byte for byte.

use crate::common::untouched;

#[test]
fn hashes_and_lock_files() {
    untouched("commit 5a248a8f0e1d2c3b4a5968778695a4b3c2d1e0f9\nindex 1a2b3c4..5d6e7f8 100644\n");
    untouched("sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08  app:latest\n");
    untouched("checksum = \"8e7f0bcbf1b3f1a3e1f1f5b1b3ff8b5b9d2c0f3a7e6d5c4b3a29181706f5e4d3\"\n");
    untouched(
        "\"integrity\": \"sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==\",\n",
    );
    untouched("github.com/pkg/errors v0.9.1 h1:FEBLx1zS214owpjy7qsBeixbURkuhQAwrK5UwLGTwt4=\n");
    untouched(
        "d41d8cd98f00b204e9800998ecf8427e  empty.txt\nETag: \"33a64df551425fcc55e4d42a148795d9f25f89d4\"\n",
    );
    untouched(
        "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n",
    );
    untouched("/nix/store/q2wh2kvbhpqzd3sz0vd5xnz7a0s6sqnn-bash-5.2-p15/bin/bash\n");
}

#[test]
fn ids() {
    untouched("request_id=123e4567-e89b-12d3-a456-426614174000 trace 4bf92f3577b34da6a3ce929d0e0e4736\n");
    untouched(
        "01ARZ3NDEKTSV4RRFFQ69G5FAV arn:aws:secretsmanager:eu-west-1:123456789012:secret:app/db-AbCdEf\n",
    );
    untouched("pod/web-7d4b9c6f5d-x2k9p _ZN4core3fmt9Formatter9write_str17h0123456789abcdefE\n");
    untouched("0x742d35Cc6634C0532925a3b844Bc454e4438f44e QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG\n");
}

#[test]
fn blobs() {
    let image = crate::plant::Rng::new(4)
        .text("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", 4000);
    untouched(&format!("<img src=\"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAA{image}==\">\n"));
    untouched(&format!("-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n", &image[..64]));
    untouched(&format!("ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQ{} me@host\n", &image[..300]));
    untouched("SHA256:nThbg6kXUpJWGl7E1IGOCspRomTxdCARLviKw6E5SY8 me@host (ED25519)\n");
    untouched("00000000: 7f45 4c46 0201 0100 0000 0000 0000 0000  .ELF............\n");
}

#[test]
fn code() {
    for text in [
        "const token = await getToken(userId, { refresh: true });\n",
        "if (password.length < 8) throw new Error(\"Password too short\");\n",
        "export type TokenKind = 'access' | 'refresh';\nenum Secret { ApiKey, Token2 }\n",
        "pub struct Config { pub api_key: Option<String>, pub secret_key_path: PathBuf }\n",
        "password = getpass.getpass(\"Password: \")\nsecret = hashlib.sha256(data).hexdigest()\n",
        "token: ${{ secrets.GITHUB_TOKEN }}\nAPI_KEY: ${API_KEY:?must be set}\n",
        "POSTGRES_PASSWORD_FILE: /run/secrets/db_password\n",
        "access_key_id = var.access_key_id\nsecret_arn = aws_secretsmanager_secret.db.arn\n",
        "grep -rn 'token' src/ | wc -l\nssh-keygen -t ed25519\n",
        "import { useToken, TokenProvider } from '@acme/token-provider-2';\n",
        "  tokenizer: &'a Tokenizer<'a>, // next_token = lexer.next()\n",
        "secretKeyRef:\n  name: app-secrets\n  key: db-password\n",
    ] {
        untouched(text);
    }
}

#[test]
fn text_of_all_scripts_and_terminals() {
    for text in [
        "👩‍👩‍👧‍👦 🏴󠁧󠁢󠁥󠁮󠁧󠁿 ﬁne x² Ｆｕｌｌ　ｗｉｄｔｈ \u{202e}abc\u{202c} می‌خواهم \u{feff}\n",
        "\u{feff}first line with a mark\n",
        "パスワード：ありません 密码 пароль كلمة السر\n",
        "\x1b[1;32mok\x1b[0m \x1b[2K\rprogress 42%\r\x1b[Kdone \x1b]8;;https://e.org/a?b=c\x1b\\link\x1b]8;;\x1b\\\n",
        "a\x08ab\x08b bold by overstrike\n",
    ] {
        untouched(text);
    }
}
