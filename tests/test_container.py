"""The image and compose.yaml, as far as they need no engine; `tests.test_wheel` starts the command of the image."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.serving import ROOT
from tests.test_wheel import LEFT_OUT, instructions, uv_command


def test_the_image_runs_as_a_user_and_is_left_as_it_is() -> None:
    last = instructions()[-1]
    assert last["USER"] == "10001"
    assert "--uid 10001" in last["RUN"]
    assert last["WORKDIR"] == last["VOLUME"] == "/state"
    kept = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
    services = kept["services"]
    assert {name: service.get("ports") for name, service in services.items()} == {
        "proxy": ["80:80", "443:443"], "layoutscope": None, "database": None,
    }  # fmt: skip
    app = services["layoutscope"]
    assert (app["read_only"], app["cap_drop"], app["network_mode"]) == (True, ["ALL"], "service:proxy")
    assert "no-new-privileges:true" in app["security_opt"]
    assert {volume.split(":", 1)[1].rsplit("}")[-1] for volume in app["volumes"]} >= {"/state"}
    assert services["database"]["networks"] == ["inside"]
    assert kept["networks"]["inside"] == {"internal": True}


def test_the_proxy_is_that_of_the_documentation() -> None:
    """That one is started for real."""
    compose = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
    text = compose["configs"]["caddyfile"]["content"].replace("$$", "$")
    for name, value in {"HOST": "layout.example.org", "READER": "anna", "PASSWORD_HASH": "HASH"}.items():
        assert name in compose["services"]["proxy"]["environment"]
        text = text.replace(f"{{${name}}}", value)
    block = re.search(
        r"^```caddy\n(.*?)^```$", (ROOT / "docs" / "deploy.md").read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
    assert block is not None
    assert text == block[1]


@pytest.mark.skipif(uv_command() is None, reason="needs uv")
def test_the_steps_of_the_image_install_the_project_with_its_extras(tmp_path: Path) -> None:
    """As far as which packages at which versions: all but those of this project are locked."""
    source = shutil.copytree(ROOT, tmp_path / "source", ignore=LEFT_OUT)
    uv = str(uv_command())
    for step in [step for step in instructions()[0]["RUN"].splitlines() if step.startswith("uv ")]:
        words = [uv, *shlex.split(step.replace("/opt/layoutscope", str(tmp_path / "env")))[1:]]
        words += ["--dry-run"] if "pip" in words else []
        done = subprocess.run(
            [word for word in words if word not in ("-q", "--no-cache")], cwd=source, capture_output=True, text=True,
            check=False, timeout=240,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
    planned = {line.split()[1] for line in done.stderr.splitlines() if line.startswith(" + ") and "==" in line}
    locked = set(re.findall(r"^[\w.-]+==[^ ;]+", (ROOT / "requirements-dev.txt").read_text("utf-8"), re.MULTILINE))
    assert {each.split("==")[0] for each in planned} >= {"psycopg", "psycopg-binary", "authlib", "streamlit"}
    assert planned <= locked
