//! Text from daily work that contains no secret.

/// Texts that must stay unchanged.
#[rustfmt::skip]
const CLEAN: &[&str] = &[
    // Placeholders and references.
    "password = changeme", "API_KEY=<your-token>", "token: ${TOKEN}", "token = $TOKEN",
    "api_key = process.env.API_KEY", "api_key = os.environ['API_KEY']", "SECRET=xxxxxxxxxxxxxxxx",
    "password: ********", "api_key: your_api_key_here", "token = \"[REDACTED: token]\"",
    "password = \"%s\"", "secret: {{ .Values.secret }}", "PASSWORD=$(cat file)", "token: 'example-token-1234'",
    // Types, calls and names of code.
    "fn login(password: &str, token: String) -> Result<Token, Error>", "def f(token: str = None):",
    "password = None", "let token = get_token2(user)?;", "private key: Uint8Array", "password = self.password1",
    "secret = hashlib.sha256(data).hexdigest()", "const apiKey = config.get('apiKey1')",
    "password.encode(\"utf-8\")", "token_type = \"bearer2\"", "if token == other_token2:", "pass `force=true` to it",
    "    --- PASS: TestParse/10KB_line (0.00s)", "bypass_hosts = AllHosts", "tokenizer = AutoTokenizer.v2",
    "key: Web3AuthNoModalOptions", "max_tokens: 4096", "access: read_only_2", "author: ada99lovelace1815",
    // Digests, ids and versions.
    "commit 3f786850e387550fdab836ed7e6dc881de23001b", "id: 123e4567-e89b-12d3-a456-426614174000",
    "\"integrity\": \"sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==\"",
    "checksum = \"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\"",
    "github.com/ada/go-token v1.2.3 h1:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0=",
    "cache_key: 3f786850e387550fdab836ed7e6dc881de23001b", "public_key = 3f786850e387550fdab836ed7e6dc881de23001b",
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
    "model: claude-3-opus-20240229", "at 2026-01-15T10:22:33Z the token expired", "https://example.org/a?page=2&sort=key",
    // Properties of a secret, and characters in order.
    "credentialsId: 'ff083f76-7804-4ef1-80e4-fe975bb9141b'", "secret_name = \"db-prod-7f3a91c2d4e6\"",
    "credentials.url=lb1.api.example9x7.com:5215", "secret_length = X25519.secret_length",
    "const keyStr = \"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789\"",
    "license_key=a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6", "AIzaSyabcdefghijklmnopqrstuvwxyz1234567",
    // Prose.
    "Reset your password within 24 hours.", "The secret of getting ahead is getting started.",
    "This pull request adds a token bucket and a key map.", "Authorization: see RFC 7235",
];

#[test]
fn text_without_secrets_stays_unchanged() {
    for text in CLEAN {
        assert_eq!(waylore_secrets::redact(text).text, *text);
    }
}
