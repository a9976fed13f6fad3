"""What pages load, and whether the server is alive."""

from aiohttp import web

from pipeline.page.html import STATIC, static_text, static_version

_DAY = 24 * 60 * 60


async def static(request: web.Request) -> web.StreamResponse:
    """The sheet or the script, kept by the browser for as long as it stays the same."""
    name, version = request.match_info["name"], request.match_info["version"]
    if name not in STATIC or version != static_version(name):
        raise web.HTTPNotFound
    return web.Response(
        text=static_text(name),
        content_type=STATIC[name],
        charset="utf-8",
        headers={"Cache-Control": f"private, max-age={_DAY * 365}, immutable"},
    )


async def healthz(_request: web.Request) -> web.StreamResponse:
    """Whether the server answers."""
    return web.Response(text="ok\n")
