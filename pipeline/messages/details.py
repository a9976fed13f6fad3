"""The program's own words about an outcome, in Chinese.

They are kept in the ledger as they were found, in English, beside the carrier's own words, which stay
what they are.
"""

import re

_CHINESE = {
    # pipeline/carrier/client.py
    "the carrier's name could not be resolved": "无法解析承运人域名",
    "the carrier's certificate is not trusted": "承运人证书不受信任",
    "the secure connection failed": "安全连接失败",
    "the proxy could not be reached": "无法连接代理服务器",
    "the proxy refused": "代理服务器拒绝连接",
    "the connection was not made in time": "未能在时限内建立连接",
    "the connection was refused or could not be made": "连接被拒绝或无法建立",
    "the carrier closed the connection without an answer": "承运人未答复即关闭连接",
    "an answer came that nobody had asked for": "收到一个无人请求的答复",
    "no answer in time": "未在时限内收到答复",
    "the answer broke off": "答复中断",
    "the answer is not HTTP": "答复不是 HTTP",
    "the connection broke": "连接中断",
    # pipeline/carrier/replies.py
    "though the answer says success": "但答复称已成功",
    "the address is wrong; check base_url in the profile": "地址有误，请检查配置中的 base_url",
    "the key or the agency is refused; check VOUCHER_API_KEY, and agency in the profile": "密钥或代理人代码被拒绝，请检查 VOUCHER_API_KEY 和配置中的 agency",
    "though key and address were accepted before in this run: something on the way may have said it": "但本次运行中密钥和地址此前已被接受：可能是途中的设备作出的答复",
    "nothing was accepted in this run before): check VOUCHER_ENCRYPTION_KEY": "本次运行此前没有请求被接受)：请检查 VOUCHER_ENCRYPTION_KEY",
    "the answer is not JSON": "答复不是 JSON",
    "the answer is not a JSON object": "答复不是 JSON 对象",
    "the envelope has no numeric code": "答复中没有数字代码",
    "the envelope holds no data": "答复中没有数据",
    "the data can't be decrypted with our key": "数据无法用我方密钥解密",
    "the decrypted data is not JSON": "解密后的数据不是 JSON",
    "the decrypted data is not a JSON object": "解密后的数据不是 JSON 对象",
    "the result says neither yes nor no, or both": "结果既非成功也非失败，或自相矛盾",
    "though the answer says success or brings a number": "但答复称已成功或带有号码",
    "though the result says success": "但结果称已成功",
    "the answer is about another ticket": "答复针对另一张客票",
    "success without a number": "称已成功但没有号码",
    "the carrier refused it": "承运人拒绝",
    "and an earlier attempt is unknown: it may be issued already": "且此前一次尝试结果未知，可能已经开具",
    "but an earlier attempt is unknown: it may be issued already": "但此前一次尝试结果未知，可能已经开具",  # in older ledgers
    # pipeline/submission/sender.py, pipeline/ledger
    "the run was interrupted while it waited for the answer": "等待答复时运行被中断",
    "that run was killed": "该次运行被强行终止",
    "that run is still on, or was killed": "该次运行仍在进行，或已被强行终止",
    "the ledger failed before it was sent": "发送前台账出错",
    ", which the carrier has reversed": "，该号码已被承运人红冲",
    ", which a statement showed for ticket": "，该号码在账单中属于客票",
    "the answer brings number": "答复中的号码",
    "which request": "已属于请求",
    "interrupted": "被中断",
}
_KNOWN = re.compile("|".join(re.escape(words) for words in sorted(_CHINESE, key=len, reverse=True)))


_OURS = re.compile(rf"(HTTP [0-9]{{3}}|code -?[0-9]+|{_KNOWN.pattern})")
_WORDS = re.compile(r"\w(?:.*\w)?[.!。！]?", re.DOTALL)  # with the full stop that ends them


def own_words(detail: str) -> str:
    """A detail with “…” for the carrier's words, which may name people.

    >>> own_words("code 500: ZHANG/WEI is unknown, though the result says success"), own_words("HTTP 503")
    ('code 500: …, though the result says success', 'HTTP 503')
    """
    parts = _OURS.split(detail)  # ours are every second
    return "".join(part if at % 2 else _WORDS.sub("…", part) for at, part in enumerate(parts))


def in_chinese(detail: str) -> str:
    """A detail with the program's own words in Chinese.

    >>> in_chinese("HTTP 503, though the answer says success")
    'HTTP 503, 但答复称已成功'
    """
    return _KNOWN.sub(lambda found: _CHINESE[found[0]], detail)
