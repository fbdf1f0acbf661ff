"""Licence names: Hugging Face hub ids and SPDX ids."""

from urllib.parse import urlsplit

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression

# The id on the Hugging Face hub -> the id in the list of SPDX.
KNOWN = {
    "apache-2.0": "Apache-2.0",
    "cc-by-2.0": "CC-BY-2.0",
    "cc-by-3.0": "CC-BY-3.0",
    "cc-by-4.0": "CC-BY-4.0",
    "cc-by-nc-3.0": "CC-BY-NC-3.0",
    "cc-by-nc-4.0": "CC-BY-NC-4.0",
    "cc-by-nc-nd-4.0": "CC-BY-NC-ND-4.0",
    "cc-by-nc-sa-4.0": "CC-BY-NC-SA-4.0",
    "cc-by-nd-4.0": "CC-BY-ND-4.0",
    "cc-by-sa-3.0": "CC-BY-SA-3.0",
    "cc-by-sa-4.0": "CC-BY-SA-4.0",
    "cc0-1.0": "CC0-1.0",
    "mit": "MIT",
    "odbl": "ODbL-1.0",
    "odc-by": "ODC-By-1.0",
    "pddl": "PDDL-1.0",
}


def hub_id(licence: str) -> str:
    """Return the id on the Hugging Face hub, "" for a licence without one.

    Example: "CC BY 4.0" is "cc-by-4.0".
    """
    name = licence.strip().lower().replace(" ", "-")
    spdx = {spdx.lower(): hub for hub, spdx in KNOWN.items()}
    return name if name in KNOWN else spdx.get(name, "")


def is_recognised(licence: str) -> bool:
    """Whether a licence is an SPDX name or expression, a name on the Hugging Face hub, or an address.

    Example: "CC BY 4.0", "MIT OR Apache-2.0" and "https://example.org/terms" are; "banana licence" is not.
    """
    if hub_id(licence) or _is_address(licence):
        return True
    try:
        canonicalize_license_expression(licence)
    except InvalidLicenseExpression:
        return False
    return True


def _is_address(text: str) -> bool:
    try:
        parts = urlsplit(text)
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.netloc)


def address(licence: str) -> str:
    """Return the licence's SPDX page, or the given text if unknown.

    Example: "cc-by-4.0" is "https://spdx.org/licenses/CC-BY-4.0.html".
    """
    known = hub_id(licence)
    return f"https://spdx.org/licenses/{KNOWN[known]}.html" if known else licence
