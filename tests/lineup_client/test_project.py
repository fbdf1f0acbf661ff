"""How what is in a project is named."""

from tests.lineup_client.site import Site, answer


def test_a_name_with_any_sign_stays_one_part_of_the_address() -> None:
    site = Site(answer({}, 200))
    site.client().project("birds").change_role("ann/../ben", "viewer")
    assert str(site.asked[0].url).endswith("/projects/birds/members/ann%2F..%2Fben/")
