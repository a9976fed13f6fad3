"""The page's certificate (what is of no use is tried with the whole program: tests/acceptance/page/test_serving.py)."""

import asyncio
import contextlib
import ssl
from pathlib import Path

from pipeline.page.certificate import certificate_of, keep_fresh
from tests.acceptance.page.visiting import made_certificate


def _shown(context: ssl.SSLContext) -> bytes:
    """The certificate that whoever connects is shown."""
    client = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    client.check_hostname, client.verify_mode = False, ssl.CERT_NONE
    up, down = ssl.MemoryBIO(), ssl.MemoryBIO()
    here, there = context.wrap_bio(up, down, server_side=True), client.wrap_bio(down, up)
    for _ in range(4):
        for side in (there, here):
            with contextlib.suppress(ssl.SSLWantReadError):
                side.do_handshake()
    return there.getpeercert(binary_form=True) or b""


def test_its_names_are_known(tmp_path: Path) -> None:
    pem, key = made_certificate(tmp_path, "a", names="DNS:Pay.Office,DNS:*.office,IP:127.0.0.1,IP:::1")
    assert certificate_of(pem, key).names == ("pay.office", "*.office", "127.0.0.1", "0:0:0:0:0:0:0:1")


def test_one_that_is_renewed_in_its_place_is_shown(tmp_path: Path) -> None:
    pem, key = made_certificate(tmp_path, "page")
    (other := tmp_path / "other").mkdir()
    new, new_key = made_certificate(other, "page")
    shown = certificate_of(pem, key)
    before = _shown(shown.context)
    told: list[object] = []

    async def renewed() -> None:
        task = asyncio.create_task(keep_fresh(shown, pem, key, told.append, every=0.02))
        await asyncio.sleep(0.1)
        assert not told
        new.replace(pem)
        await _until(1)
        assert "goes on being shown" in str(told[0])
        assert _shown(shown.context) == before
        new_key.replace(key)
        await _until(2)
        task.cancel()

    async def _until(count: int) -> None:
        for _ in range(200):
            if len(told) >= count:
                return
            await asyncio.sleep(0.02)

    asyncio.run(renewed())
    assert [str(each) for each in told[1:]] == [f"{pem} was renewed, and is shown from now on"]
    assert _shown(shown.context) not in (before, b"")
