"""The manifests: what each overlay makes is valid, strictly and without a cluster, and strict."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from services.settings import Settings, variable

ROOT = Path(__file__).parents[2]
OWNERS = {"croupier-migrate", "croupier-migrate-after", "croupier-partitions"}
OURS = {"croupier-api", "croupier-worker", *OWNERS}


@pytest.fixture(scope="module", params=["trial", "production"])
def manifests(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What kustomize makes of an overlay, as a file."""
    if not shutil.which("kubectl"):
        pytest.skip("There is no kubectl here; before 13, Debian has none that knows `patches`.")
    deploy = tmp_path_factory.mktemp("clone") / "deploy"
    shutil.copytree(ROOT / "deploy", deploy)
    overlay = deploy / "kubernetes" / "overlays" / request.param
    (overlay / "secrets").mkdir(exist_ok=True)
    subprocess.run(["sh", deploy / "secrets.sh", overlay / "secrets"], check=True)
    made = subprocess.run(
        ["kubectl", "kustomize", overlay], capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stderr
    file = deploy / f"{request.param}.yaml"
    file.write_text(made.stdout)
    return file


@pytest.fixture(scope="module")
def found(manifests: Path) -> dict[tuple[str, str], Any]:
    """By kind and name."""
    documents = yaml.safe_load_all(manifests.read_text())
    return {(each["kind"], each["metadata"]["name"]): each for each in documents}


def test_every_manifest_is_valid(manifests: Path) -> None:
    validate = Path(sys.executable).with_name("kubernetes-validate")
    judged = subprocess.run(
        [validate, "--strict", manifests], capture_output=True, text=True, check=False
    )

    assert judged.returncode == 0, judged.stdout + judged.stderr


def test_everything_that_operation_asks_for_is_there(found: Any) -> None:
    assert {
        ("Deployment", "croupier-api"),
        ("Deployment", "croupier-worker"),
        ("Job", "croupier-migrate"),
        ("CronJob", "croupier-partitions"),
        ("PodDisruptionBudget", "croupier-api"),
        ("PodDisruptionBudget", "croupier-worker"),
        ("HorizontalPodAutoscaler", "croupier-api"),
        ("NetworkPolicy", "croupier"),
        ("Service", "croupier"),
    } <= set(found)


def pods(found: Any) -> Iterator[tuple[str, Any]]:
    for (_, name), each in found.items():
        spec = each.get("spec", {}).get("jobTemplate", each).get("spec", {})
        if "template" in spec:
            yield name, spec["template"]


def test_every_pod_is_as_strict_as_it_can_be(found: Any) -> None:
    for name, pod in pods(found):
        spec = pod["spec"]
        assert spec["automountServiceAccountToken"] is False
        assert spec["securityContext"]["runAsNonRoot"] is True
        assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        for container in spec["containers"]:
            allowed = container["securityContext"]
            assert allowed["allowPrivilegeEscalation"] is False
            assert allowed["capabilities"] == {"drop": ["ALL"]}
            assert allowed.get("readOnlyRootFilesystem", name not in OURS) is True
            assert container["resources"]["requests"].keys() == {"cpu", "memory"}
            assert "memory" in container["resources"]["limits"]


def test_every_selector_finds_its_pods(found: Any) -> None:
    labels = [pod["metadata"]["labels"].items() for _, pod in pods(found)]
    for (kind, _), each in found.items():
        spec = each.get("spec", {})
        selector = spec.get("podSelector") or spec.get("selector") or {}
        wanted = selector.get("matchLabels", selector if kind == "Service" else {})
        if kind in ("Service", "PodDisruptionBudget", "NetworkPolicy", "Deployment"):
            assert any(wanted.items() <= has for has in labels), (kind, wanted)


def test_only_what_changes_the_schema_sees_the_secret_of_the_owner(found: Any) -> None:
    seen = {
        name
        for name, pod in pods(found)
        for volume in pod["spec"].get("volumes", ())
        if volume.get("secret", {}).get("secretName") == "croupier-owner"
    }

    assert seen & OURS == OWNERS


def test_what_takes_away_waits_until_somebody_has_looked(found: Any) -> None:
    assert found["Job", "croupier-migrate-after"]["spec"]["suspend"] is True
    assert "suspend" not in found["Job", "croupier-migrate"]["spec"]


def test_only_workers_have_the_key_that_seals(found: Any) -> None:
    seen = {
        name
        for name, pod in pods(found)
        for volume in pod["spec"].get("volumes", ())
        if volume.get("secret", {}).get("secretName") == "croupier-sealing"
    }

    assert seen == {"croupier-worker"}


def test_every_variable_is_a_setting(found: Any) -> None:
    known = {variable(field) for field in Settings.model_fields}
    told = set(found["ConfigMap", "croupier"]["data"])
    for name, pod in pods(found):
        if name in OURS:
            told |= {each["name"] for each in pod["spec"]["containers"][0].get("env", ())}

    assert {name.removesuffix("_FILE") for name in told} <= known


def test_a_process_has_time_to_end_in_peace(found: Any) -> None:
    drain = float(found["ConfigMap", "croupier"]["data"]["CROUPIER_DRAIN_SECONDS"])
    spec = found["Deployment", "croupier-api"]["spec"]["template"]["spec"]

    assert spec["terminationGracePeriodSeconds"] >= drain + 30 + 10
