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
    "but an earlier attempt is unknown: it may be issued already": "但此前一次尝试结果未知，可能已经开具",
    # pipeline/submission.py, pipeline/ledger
    "the run was interrupted while it waited for the answer": "等待答复时运行被中断",
    "that run was killed": "该次运行被强行终止",
    "that run is still on, or was killed": "该次运行仍在进行，或已被强行终止",
    "the ledger failed before it was sent": "发送前台账出错",
    "the answer brings number": "答复中的号码",
    "which request": "已属于请求",
    "interrupted": "被中断",
}
_KNOWN = re.compile("|".join(re.escape(words) for words in sorted(_CHINESE, key=len, reverse=True)))


def in_chinese(detail: str) -> str:
    """A detail with the program's own words in Chinese.

    >>> in_chinese("HTTP 503, though the answer says success")
    'HTTP 503, 但答复称已成功'
    """
    return _KNOWN.sub(lambda found: _CHINESE[found[0]], detail)
