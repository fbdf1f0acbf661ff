import re
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
ONCE = {"migrate"}
FILES = ("Dockerfile", "Dockerfile.models")


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text(encoding="utf-8"))
    return content


def test_the_production_shape_is_complete_and_all_that_runs_on_says_whether_it_is_well(compose: dict[str, Any]) -> None:
    assert set(compose["services"]) - ONCE == {"web", "worker", "gpu-worker", "beat", "postgres", "redis"}
    assert {name for name, service in compose["services"].items() if "healthcheck" not in service} == ONCE


def test_no_secret_stands_in_the_file(compose: dict[str, Any]) -> None:
    for service in compose["services"].values():
        for name, value in service["environment"].items() if "environment" in service else ():
            if re.search("KEY|PASSWORD|DATABASE_URL|BROKER_URL|CACHE_URL", name):
                assert name.endswith("_FILE")
                assert value.startswith("/run/secrets/")


def test_every_secret_that_is_mounted_is_one_that_the_operator_is_told_to_make(compose: dict[str, Any]) -> None:
    manual = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
    mounted = {name for service in compose["services"].values() for name in service.get("secrets", ())}
    assert mounted == set(compose["secrets"])
    assert {name for name in mounted if f"> secrets/{name}" not in manual} == set()


def test_nothing_that_runs_has_more_rights_room_or_processes_than_it_needs(compose: dict[str, Any]) -> None:
    for name, service in compose["services"].items():
        assert service["cap_drop"] == ["ALL"], name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        assert service["read_only"] is True, name
        assert service["pids_limit"] > 0, name
        assert service["mem_limit"].endswith("g"), name


def test_images_of_others_are_pinned_to_a_release(compose: dict[str, Any]) -> None:
    ours = {"lineup", "lineup-models"}
    images = [service["image"] for service in compose["services"].values() if service["image"] not in ours]
    for name in FILES:
        lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
        images += [line.split()[1] for line in lines if line.startswith("FROM ")]
    assert len(images) == 6
    assert [image for image in images if not re.fullmatch(r"[a-z]+:\d+\.\d+(\.\d+)?-[a-z-]+", image)] == []


def test_every_setting_in_it_is_one_of_the_readme(compose: dict[str, Any]) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    settings = {name.removesuffix("_FILE") for name in compose["services"]["web"]["environment"]}
    assert settings
    assert {name for name in settings if f"`{name}`" not in readme} == set()


def test_the_worker_with_models_is_given_no_database_and_no_key(compose: dict[str, Any]) -> None:
    worker = compose["services"]["gpu-worker"]
    assert set(worker["environment"]) == {"CELERY_BROKER_URL_FILE", "LINEUP_IMAGES", "LINEUP_TRAINED"}
    assert worker["secrets"] == ["broker_url"]
    assert "data:/data:ro" in worker["volumes"]


@pytest.mark.parametrize("file", FILES)
def test_the_image_runs_as_nobody_special(file: str) -> None:
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if line.startswith("USER ")] == ["USER lineup"]
    assert lines.index("USER lineup") < next(number for number, line in enumerate(lines) if line.startswith("CMD "))
