"""Requests to S3: the signature is that of Amazon's example, and of its own library."""

from datetime import UTC, datetime

import pytest

from predictions.s3 import Account, address_of, headers_to_get

# "Example: GET Object" of https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html
EXAMPLE = Account(key="AKIAIOSFODNN7EXAMPLE", secret="wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")
THEN = datetime(2013, 5, 24, tzinfo=UTC)


def test_a_request_is_signed_as_in_amazons_example() -> None:
    address = "https://examplebucket.s3.amazonaws.com/test.txt"
    assert headers_to_get(address, EXAMPLE, THEN, {"Range": "bytes=0-9"})["Authorization"] == (
        "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
        "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date,"
        "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
    )


@pytest.mark.parametrize(
    ("account", "bucket", "name", "signature"),
    [
        (
            Account("AK", "se/cr+et", session="tok=/+en", region="eu-west-1"),
            "birds",
            f"media/images/ab/{'ab' * 32}",
            "7f49a42a0da221a6bec92ae43123506c15995d8cd06d144839575a5deca61aa3",
        ),
        (
            Account("AK", "s", region="us-west-2", endpoint="http://127.0.0.1:9000"),
            "b.x",
            "a b+c~d/1(é).jpg",
            "405d870c912179cf00c833d05e8b9dfb7e7956ced8de9c8d7352b5482dffd80b",
        ),
    ],
)
def test_a_request_is_signed_as_amazons_library_does(account: Account, bucket: str, name: str, signature: str) -> None:
    """By S3SigV4Auth of botocore 1.44.5."""
    now = datetime(2026, 11, 22, 10, 11, 12, tzinfo=UTC)
    headers = headers_to_get(address_of(bucket, name, account), account, now)
    assert headers["Authorization"].endswith(f",Signature={signature}")
    # A passing session is named and signed too, and without a key nothing is.
    assert headers.get("x-amz-security-token", "") == account.session
    signed = "SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,"
    assert (signed in headers["Authorization"]) == bool(account.session)
    assert headers_to_get("https://public.s3.us-east-1.amazonaws.com/a", Account(), now) == {}


@pytest.mark.parametrize(
    ("bucket", "endpoint", "address"),
    [
        ("birds", "", "https://birds.s3.eu-west-1.amazonaws.com/media/a%20b%2Bc/1.jpg"),
        ("birds.example", "", "https://s3.eu-west-1.amazonaws.com/birds.example/media/a%20b%2Bc/1.jpg"),
        ("birds", "http://127.0.0.1:9000/", "http://127.0.0.1:9000/birds/media/a%20b%2Bc/1.jpg"),
    ],
)
def test_where_an_object_is(bucket: str, endpoint: str, address: str) -> None:
    assert address_of(bucket, "media/a b+c/1.jpg", Account(region="eu-west-1", endpoint=endpoint)) == address
