"""`unswayed serve` as a process: address, ports, signals, exit codes."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import threading
import time
from html import unescape
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("uvicorn", reason="the companion needs the extra 'web'")

from unswayed.core.processes import child_environment
from unswayed.model.formats.files import write_network
from unswayed.model.zoo import random_bounded_treewidth
from web.served import serving


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "unswayed", "serve", "--no-browser", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, env=child_environment(), timeout=60, check=False
    )


def test_the_printed_address_lets_in_and_shows_the_network():
    with serving("review") as served:
        cookie = served.log_in()
        page = served.ask("GET", "/case/review", headers={"Cookie": cookie})
        assert page.status == 200
        assert "R1" in page.text
        assert served.token not in page.text
        assert served.ask("GET", "/case/review").status == 403


def test_options_say_what_is_decided():
    with serving(
        "sprinkler", "--target", "WetGrass=yes", "--threshold", "0.7", "--features", "Cloudy"
    ) as served:
        page = served.ask("GET", "/case/sprinkler", headers={"Cookie": served.log_in()})
        assert page.status == 200
        assert "WetGrass" in page.text
        assert "0 of 1" in page.text, "one feature may be observed"
        assert 'name="threshold" min="0.01" max="0.99" step="0.01" value="0.7"' in page.text


def test_options_open_the_page_at_a_case(tmp_path):
    """The first page that a person sees has the findings and prices of the command line."""
    (tmp_path / "prices.toml").write_text(
        'mandatory = ["Ping"]\ndefault = 3\n[groups.look]\nfeatures = ["Light"]\ncost = 2\n'
    )
    asked = ("--evidence", "Light=red", "--evidence", "Age=new:0.9|old:0.3")
    with serving("printer", *asked, "--costs", str(tmp_path / "prices.toml")) as served:
        entered = served.ask("GET", served.url.removeprefix(served.origin))
        place, cookie = entered.headers["location"], entered.headers["set-cookie"].partition(";")[0]
        assert served.token not in place
        page = served.ask("GET", place, headers={"Cookie": cookie})
        assert "1 of 3" in page.text
        assert "Known from the start: Age = new:0.9|old:0.3" in page.text
        costs = served.ask("GET", place.replace("?", "/panel/costs?"), headers={"Cookie": cookie})
        assert re.search(r">2</span> spent · <span[^>]+>6</span> for 2 more", costs.text)
        start = served.ask("GET", "/", headers={"Cookie": cookie})
        assert f'href="{place}"' in unescape(start.text)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_it_at_once_with_nothing_to_complain(number):
    with serving() as served:
        served.log_in()
        started = time.monotonic()
        served.process.send_signal(number)
        _, err = served.process.communicate(timeout=10)
        assert time.monotonic() - started < 2.0
        assert (served.process.returncode, err) == (0, "")


@pytest.mark.parametrize(
    ("number", "n_servers", "times"),
    [
        (signal.SIGTERM, 40, "once"),
        (signal.SIGINT, 40, "twice"),
        pytest.param(signal.SIGTERM, 400, "twice", marks=pytest.mark.slow),
        pytest.param(signal.SIGINT, 400, "once", marks=pytest.mark.slow),
        pytest.param(signal.SIGHUP, 400, "once", marks=pytest.mark.slow),
    ],
)
def test_a_signal_ends_it_at_every_moment_of_its_start(number, n_servers, times):
    """By the signal itself, or in order: none is lost between Python's handlers and those of the server."""
    program = Path(__file__).with_name("ended_servers.py")
    done = subprocess.run(
        [sys.executable, str(program), number.name, str(n_servers), times],
        capture_output=True,
        text=True,
        env=child_environment(),
        timeout=240 if n_servers < 100 else 1200,
        check=False,
    )
    ends = [line.split() for line in done.stdout.splitlines()]
    assert len(ends) == n_servers, done.stderr
    by_signal = "130" if number is signal.SIGINT else str(-number)
    assert {code for _, code in ends} <= {by_signal, "0"}, ends


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_comes_with_the_address_ends_it(number):
    """In the background of a script (`nohup`, `&`) SIGINT is ignored, and SIGTERM ends it all the same."""

    def ignore() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL if number == signal.SIGINT else signal.SIG_IGN)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)

    with serving(prepare=ignore) as served:
        served.process.send_signal(number)
        assert served.process.wait(timeout=60) in (0, -number, 130)


def test_nohup_outlives_its_terminal():
    with serving(prepare=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)) as served:
        served.log_in()
        served.process.send_signal(signal.SIGHUP)
        served.log_in()
        served.process.send_signal(signal.SIGTERM)
        assert served.process.wait(timeout=60) == 0


def test_a_signal_before_anything_is_printed_ends_it():
    command = [sys.executable, "-m", "unswayed", "serve", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, env=child_environment()) as process:
        process.terminate()
        assert process.wait(timeout=60) == -signal.SIGTERM


def test_no_command_line_shows_the_token(tmp_path):
    """The browser gets a file that only its owner may read, which leads to the address."""
    script, seen = tmp_path / "browser", tmp_path / "seen"
    script.write_text(
        "#!/bin/sh\nfile=${1#file://}\n"
        f'{{ echo "$@"; ls -l "$file" | cut -c 1-10; cat "$file"; }} > {seen}.part; mv {seen}.part {seen}\n'
    )
    script.chmod(0o700)
    with serving("review", browser=f"{script} %s") as served:
        deadline = time.monotonic() + 60
        while not seen.exists():
            assert time.monotonic() < deadline, "the browser is not called"
            time.sleep(0.02)
        arguments, mode, page = seen.read_text().split("\n", 2)
        assert re.fullmatch(r"file:///\S+\.html", arguments)
        assert served.token not in arguments
        assert mode == "-rw-------"
        assert f'href="{served.url}"' in unescape(page)
        served.process.send_signal(signal.SIGTERM)
        assert served.process.wait(timeout=60) == 0
    assert not Path(arguments.removeprefix("file://")).exists()


def test_a_computation_does_not_hold_up_the_end(tmp_path):
    """A plan over many tests takes its seconds; a signal does not wait for them."""
    network = random_bounded_treewidth(60, 4, np.random.default_rng(5), max_states=4)
    write_network(network, tmp_path / "large.bif")
    with serving(str(tmp_path / "large.bif"), "--target", network.names[-1], "--features", "all") as served:
        cookie = served.log_in()
        path = served.url.partition("?")[0].removeprefix(served.origin) + "/panel/plan/now"
        asking = threading.Thread(target=lambda: _ask_quietly(served, path, {"Cookie": cookie}), daemon=True)
        asking.start()
        time.sleep(1.0)
        started = time.monotonic()
        served.process.send_signal(signal.SIGTERM)
        served.process.wait(timeout=15)
        assert time.monotonic() - started < 3.0
        assert served.process.returncode == 0


def _ask_quietly(served, path, headers):
    try:
        served.ask("GET", path, headers=headers)
    except OSError:
        return


def test_a_named_port_that_is_taken_is_said():
    with socket.create_server(("127.0.0.1", 0)) as holder:
        port = holder.getsockname()[1]
        done = run("--port", str(port))
    assert done.returncode == 2
    assert done.stderr.startswith(f"error: port {port} of 127.0.0.1 is taken")
    assert "Traceback" not in done.stderr


def test_without_a_port_two_servers_find_one_each():
    with serving() as first, serving() as second:
        assert first.port != second.port
        assert second.ask("GET", "/", headers={"Cookie": first.log_in()}).status == 403


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--port", "0"], "--port"),
        (["--host", "no.such.host.invalid"], "cannot listen on 'no.such.host.invalid'"),
        (["--host", "203.0.113.7"], "cannot listen on '203.0.113.7'"),
        (["--allow-host", "http://x"], "no name of a host"),
        (["--target", "D=+"], "need one; name it"),
        (["-e", "D=+"], "need one; name it"),
        (["review", "-e", "R1=maybe"], "unknown state"),
        (["review", "-e", "D=+"], "so it cannot be a finding"),
        (["review", "--cost", "R9=1"], "R9"),
        (["nosuchnetwork"], "no network that comes with unswayed"),
        (["review", "--target", "Nobody"], "Nobody"),
    ],
)
def test_wrong_words_end_with_2_and_one_line(arguments, message):
    done = run(*arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


def test_other_machines_need_a_host_and_get_a_warning():
    with serving("--host", "0.0.0.0", "--allow-host", "lab.example") as served:
        cookie = served.log_in()
        assert served.ask("GET", "/", headers={"Cookie": cookie}).status == 200
        named = {"Host": f"lab.example:{served.port}"}
        assert served.ask("GET", f"/?token={served.token}", headers=named).status == 303
        served.process.send_signal(signal.SIGTERM)
        _, err = served.process.communicate(timeout=10)
    assert "other machines can reach this page" in err


def test_a_missing_extra_is_named():
    program = "import sys; sys.modules['uvicorn'] = None; from unswayed.cli.main import run; run(['serve'])"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env=child_environment(),
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "the extra 'web'" in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr
