"""An identity provider on this machine: OpenID Connect as far as a login with a code needs it.

Discovery document, public keys, an authorization endpoint that asks nothing and redirects at once with a code, a token
endpoint that checks the client, the code and its PKCE verifier and signs an identity token with RS256, and the end of
a session. Everybody is logged in as `claims`. It keeps what it was asked, so that a test can look.
"""

import base64
import contextlib
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa

CLIENT_ID, CLIENT_SECRET = "layoutscope-tests", "a-secret-of-the-tests"
KEY_ID = "key-1"


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _number(value: int) -> str:
    return _base64(value.to_bytes((value.bit_length() + 7) // 8, "big"))


@dataclass
class IdentityProvider:
    """A running provider: its address, whom it logs in, and what it was asked."""

    url: str = ""
    claims: dict[str, Any] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    key: rsa.RSAPrivateKey = field(default_factory=lambda: rsa.generate_private_key(65537, 2048))

    def secrets_toml(self) -> str:
        """The file that makes LayoutScope use this provider."""
        auth = {
            "redirect_uri": "http://127.0.0.1:{port}/oauth2callback",
            "cookie_secret": "only for tests, " * 3,
            "client_id": CLIENT_ID,
            "client_secret": CLIENT_SECRET,
            "server_metadata_url": f"{self.url}/.well-known/openid-configuration",
        }
        return "[auth]\n" + "".join(f"{name} = {json.dumps(text)}\n" for name, text in auth.items())

    def discovery(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
            "jwks_uri": f"{self.url}/keys",
            "end_session_endpoint": f"{self.url}/end",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "code_challenge_methods_supported": ["S256"],
        }

    def keys(self) -> dict[str, Any]:
        numbers = self.key.public_key().public_numbers()
        key = {"kty": "RSA", "use": "sig", "alg": "RS256", "kid": KEY_ID}
        return {"keys": [{**key, "n": _number(numbers.n), "e": _number(numbers.e)}]}

    def redirect(self, query: dict[str, str]) -> str:
        """Where the authorization endpoint sends the browser: back, with a code."""
        assert query["client_id"] == CLIENT_ID, query
        assert query["response_type"] == "code", query
        assert "openid" in query["scope"].split(), query
        assert query["code_challenge_method"] == "S256", query
        code = secrets.token_urlsafe()
        self.codes[code] = query
        return f"{query['redirect_uri']}?{urlencode({'code': code, 'state': query['state']})}"

    def token(self, form: dict[str, str], authorization: str) -> dict[str, Any]:
        """The answer of the token endpoint; a code is good for once."""
        told = base64.b64decode(authorization.removeprefix("Basic ")).decode()
        assert told == f"{CLIENT_ID}:{CLIENT_SECRET}", told
        asked = self.codes.pop(form["code"])
        assert form["grant_type"] == "authorization_code", form
        assert form["redirect_uri"] == asked["redirect_uri"], form
        assert _base64(hashlib.sha256(form["code_verifier"].encode()).digest()) == asked["code_challenge"], form
        now = int(time.time())
        claims = {"iss": self.url, "aud": CLIENT_ID, "iat": now, "exp": now + 300, "nonce": asked["nonce"]}
        return {
            "access_token": secrets.token_urlsafe(),
            "token_type": "Bearer",
            "expires_in": 300,
            "id_token": self._signed(claims | self.claims),
        }

    def _signed(self, claims: dict[str, Any]) -> str:
        head = _base64(json.dumps({"alg": "RS256", "typ": "JWT", "kid": KEY_ID}).encode())
        text = f"{head}.{_base64(json.dumps(claims).encode())}"
        return f"{text}.{_base64(self.key.sign(text.encode(), padding.PKCS1v15(), hashes.SHA256()))}"


def _handler(provider: IdentityProvider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            address = urlsplit(self.path)
            query = {name: texts[0] for name, texts in parse_qs(address.query).items()}
            provider.asked.append(address.path)
            if address.path == "/.well-known/openid-configuration":
                self._answer(provider.discovery())
            elif address.path == "/keys":
                self._answer(provider.keys())
            elif address.path == "/authorize":
                self._go(provider.redirect(query))
            elif address.path == "/end":
                self._go(query["post_logout_redirect_uri"])
            else:
                self.send_error(404)

        def do_POST(self) -> None:
            provider.asked.append(self.path)
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            form = {name: texts[0] for name, texts in parse_qs(body).items()}
            self._answer(provider.token(form, self.headers.get("Authorization", "")))

        def _answer(self, value: dict[str, Any]) -> None:
            body = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def _go(self, url: str) -> None:
            self.send_response(302)
            self.send_header("Location", url)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            """Nothing on standard error."""

    return Handler


@contextlib.contextmanager
def identity_provider(**claims: Any) -> Iterator[IdentityProvider]:
    """A provider on a free port of this machine that logs everybody in with these claims."""
    provider = IdentityProvider(claims=claims)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(provider))
    provider.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
