"""Currencies: their codes of ISO 4217, and the signs and names that workbooks have for them."""

import re
import unicodedata
from functools import cache

_CODES = (
    "AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CLP"
    " CNH CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HRK HTG"
    " HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD"
    " MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NTD NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RMB RON RSD"
    " RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD"
    " UYU UZS VES VND VUV WST XAF XCD XOF XPF YER ZAR ZMW ZWL"
)
#: How amounts in a currency are marked, beside its code; a currency that is not here by its code alone. Under "" what says
#: only that it is another one.
_NAMES = {
    "": "外币 外幣 原币 原幣 foreigncurrency originalcurrency foreign",
    "CNY": "¥ cn¥ rmb rmb¥ 元 元整 圆 圆整 人民币 人民幣 人民币元 元人民币 本币 本位币 yuan renminbi",
    "JPY": "¥ jp¥ 円 日元 日圆 日币 日本元 yen japaneseyen",
    "USD": "$ us$ 美元 美金 美圆 美币 dollar dollars usdollar usdollars",
    "EUR": "€ 欧元 歐元 欧币 euro euros",
    "GBP": "£ 英镑 英鎊 pound pounds",
    "HKD": "$ hk$ 港元 港币 港幣 港圆 港纸 hkdollar hkdollars hongkongdollar hongkongdollars",
    "MOP": "$ mo$ mop$ 澳门元 澳门币 葡币 pataca patacas",
    "TWD": "$ nt$ ntd 新台币 新台幣 台币 台幣 台湾元",
    "SGD": "$ s$ sg$ 新加坡元 新加坡币 新元 新币 坡币 singaporedollar singaporedollars",
    "AUD": "$ a$ au$ 澳元 澳币 澳大利亚元 australiandollar australiandollars",
    "CAD": "$ c$ ca$ 加元 加币 加拿大元 canadiandollar canadiandollars",
    "NZD": "$ nz$ 新西兰元 新西兰币 纽元 纽币",
    "KRW": "₩ 韩元 韩币 韩圆 韓元 won",
    "THB": "฿ 泰铢 泰币 baht",
    "MYR": "rm 令吉 林吉特 马币 马来西亚币 ringgit",
    "VND": "₫ 越南盾 越盾 越南币",
    "IDR": "rp 印尼盾 印度尼西亚盾 印尼卢比 rupiah",
    "PHP": "₱ 菲律宾比索 菲币",
    "INR": "₹ 印度卢比 卢比 rupee rupees",
    "PKR": "巴基斯坦卢比", "LKR": "斯里兰卡卢比", "NPR": "尼泊尔卢比", "BDT": "孟加拉塔卡 塔卡", "MVR": "拉菲亚",
    "KHR": "瑞尔 柬币", "MMK": "缅元 缅币 缅甸元", "LAK": "基普 老挝基普", "BND": "文莱元 文莱币", "MNT": "图格里克", "KZT": "坚戈",
    "RUB": "₽ 卢布 俄罗斯卢布 ruble rubles rouble roubles",
    "UAH": "₴ 格里夫纳",
    "CHF": "sfr 瑞士法郎 瑞郎 法郎 franc francs",
    "SEK": "瑞典克朗 克朗", "NOK": "挪威克朗", "DKK": "丹麦克朗", "ISK": "冰岛克朗", "CZK": "捷克克朗", "PLN": "兹罗提", "HUF": "福林",
    "TRY": "₺ 里拉 土耳其里拉 lira",
    "AED": "迪拉姆 阿联酋迪拉姆 dirham dirhams", "SAR": "沙特里亚尔 里亚尔", "QAR": "卡塔尔里亚尔", "IRR": "伊朗里亚尔", "KWD": "科威特第纳尔 第纳尔",
    "ILS": "₪ 谢克尔 新谢克尔", "EGP": "埃及镑 埃镑", "ZAR": "兰特 南非兰特", "NGN": "₦ 奈拉", "KES": "肯尼亚先令 先令",
    "BRL": "r$ 雷亚尔 巴西雷亚尔", "MXN": "墨西哥比索 比索 peso pesos", "ARS": "阿根廷比索", "CLP": "智利比索", "COP": "哥伦比亚比索", "PEN": "索尔",
    "FJD": "斐济元", "ZWL": "津巴布韦元",
}  # fmt: skip


@cache
def names(currency: str) -> frozenset[str]:
    """The signs and names of a currency (its code of ISO 4217), in one width and in small letters."""
    code = _plain(currency)
    return frozenset({code, *_NAMES.get(code.upper(), "").split()})


@cache
def marks(currency: str) -> re.Pattern[str]:
    """What stands before or after an amount of this currency, in one width and in small letters."""
    either = "|".join(map(re.escape, _longest_first(names(currency))))
    return re.compile(f"^(?:{either})|(?:{either})$")


def is_own(signs: str, currency: str) -> bool:
    """Whether signs and names, with spaces between them, are all of this currency.

    >>> is_own("￥", "CNY"), is_own("CN¥ RMB", "CNY"), is_own("JP¥", "CNY"), is_own("¥", "USD")
    (True, True, False, False)
    """
    return names(currency).issuperset(_plain(signs).split())


@cache
def known_names(*but: str) -> str:
    """A pattern of every code, sign and name that is known, but for some: of Latin letters as whole words."""
    every = {
        *map(str.casefold, _CODES.split()),
        *(name for words in _NAMES.values() for name in words.split()),
    }
    longest_first = _longest_first(every - {*but})
    words = "|".join(name for name in longest_first if name.isascii() and name.isalpha())
    others = "|".join(re.escape(name) for name in longest_first if not (name.isascii() and name.isalpha()))
    return f"(?<![A-Za-z])(?:{words})(?![A-Za-z])|{others}"


def _longest_first(words: frozenset[str] | set[str]) -> list[str]:
    return sorted(words, key=lambda word: (-len(word), word))


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()
