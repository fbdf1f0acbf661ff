"""Sign requests to S3 and compatible storage with AWS Signature Version 4. Pure.

https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html. Only reading an object is implemented: a
client library would bring a hundred times as much code to the worker.
"""

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import quote, urlsplit

_ALGORITHM = "AWS4-HMAC-SHA256"
_NOTHING = hashlib.sha256(b"").hexdigest()


@dataclass(frozen=True, slots=True)
class Account:
    """Credentials and endpoint. Without a key requests are not signed, as for a public bucket.

    `endpoint`: the address of a service other than Amazon's.
    """

    key: str = ""
    secret: str = ""
    session: str = ""
    region: str = "us-east-1"
    endpoint: str = ""


def address_of(bucket: str, name: str, account: Account) -> str:
    """Return the URL of an object.

    A bucket with a dot in its name goes into the path, because no certificate covers it as part of the host.
    """
    path = quote(name, safe="/-_.~")
    if account.endpoint:
        return f"{account.endpoint.rstrip('/')}/{bucket}/{path}"
    host = f"s3.{account.region}.amazonaws.com"
    return f"https://{host}/{bucket}/{path}" if "." in bucket else f"https://{bucket}.{host}/{path}"


def headers_to_get(
    address: str, account: Account, now: datetime, headers: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the headers of a signed GET of `address`, without a query, at `now`; `headers` are signed, too."""
    if not account.key:
        return dict(headers or {})
    parts = urlsplit(address)
    at = now.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
    sent = {**(headers or {}), "x-amz-content-sha256": _NOTHING, "x-amz-date": at}
    if account.session:
        sent["x-amz-security-token"] = account.session
    signed = {"host": parts.netloc} | {name.lower(): value.strip() for name, value in sent.items()}
    names = ";".join(sorted(signed))
    lines = "".join(f"{name}:{signed[name]}\n" for name in sorted(signed))
    request = f"GET\n{parts.path}\n\n{lines}\n{names}\n{_NOTHING}"
    scope = f"{at[:8]}/{account.region}/s3/aws4_request"
    text = f"{_ALGORITHM}\n{at}\n{scope}\n{hashlib.sha256(request.encode()).hexdigest()}"
    signature = _mac(_signing_key(account, at[:8]), text).hex()
    sent["Authorization"] = f"{_ALGORITHM} Credential={account.key}/{scope},SignedHeaders={names},Signature={signature}"
    return sent


def _signing_key(account: Account, day: str) -> bytes:
    key = f"AWS4{account.secret}".encode()
    for part in (day, account.region, "s3", "aws4_request"):
        key = _mac(key, part)
    return key


def _mac(key: bytes, text: str) -> bytes:
    return hmac.new(key, text.encode(), hashlib.sha256).digest()
