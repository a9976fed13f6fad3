"""Words as they are compared, however they are typed: case, width, spaces, separators and traditional characters make no difference."""

import re
import unicodedata
from typing import Any

from pipeline.messages.translate import in_every_language
from pipeline.model.columns import COLUMNS
from pipeline.reading.character_width import visible

_TRADITIONAL = (
    "號電機費額價稅際國內狀態類開憑證購買備註單據業個產艙貴賓選郵話聯繫簡稱頭識別納統會碼訂標籤簽變續設場發審過務項總計"
    "結銷運時間實種動還員訊資應與較數張幣萬後準許餘單獎戶賬帳網退改製編導負責報複覆經辦財門說頁"
)
_SIMPLIFIED = (
    "号电机费额价税际国内状态类开凭证购买备注单据业个产舱贵宾选邮话联系简称头识别纳统会码订标签签变续设场发审过务项总计"
    "结销运时间实种动还员讯资应与较数张币万后准许余单奖户账账网退改制编导负责报复复经办财门说页"
)
_FOLDS = str.maketrans(_TRADITIONAL + "【】〔〕〈〉[]｜", _SIMPLIFIED + "()()()()|")


def plain(text: Any) -> str:
    """A text in one width, case and script, without invisible characters."""
    return visible(unicodedata.normalize("NFKC", str(text)).casefold().translate(_FOLDS))


def squeezed(text: str) -> str:
    """A text without spaces and separators."""
    return re.sub(r"[\s_\-.:*]+", "", text)


def folded(text: Any) -> str:
    """A word with case, width, spaces and separators taken away.

    >>> folded("Ticket Fare"), folded("refunded (no)"), folded("電子郵箱")
    ('ticketfare', 'refunded(no)', '电子邮箱')
    """
    return squeezed(plain(text))


#: Every value that means a choice.
VALUE_WORDS = {
    column.name: {
        choice.name: (*in_every_language(choice.name, "choice"), *choice.variants)
        for choice in column.choices
    }
    for column in COLUMNS
    if column.choices
}
CHOICE_WORDS = {
    column: {folded(word): choice for choice, words in choices.items() for word in words}
    for column, choices in VALUE_WORDS.items()
}
