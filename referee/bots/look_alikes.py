"""What a name looks like: letters of other alphabets that are drawn as Latin ones count as these.

Two names that look the same could pass for each other in a table. The list is small: letters of
Greek, Cyrillic and some other alphabets that usual fonts draw like one of a to z, and the digits
that are drawn like letters.
"""

from __future__ import annotations

import unicodedata

_DRAWN_LIKE = {
    "A": "ΑАᎪ",
    "B": "ΒВᏴ",
    "C": "СϹᏟ",
    "E": "ΕЕᎬ",
    "F": "Ϝ",
    "G": "ԌᏀ",
    "H": "ΗНᎻ",
    "I": "ΙІӀ",
    "J": "ЈᎫͿ",
    "K": "ΚКᏦ",
    "M": "ΜМϺᎷ",
    "N": "Ν",
    "O": "ΟОՕ",
    "P": "ΡРᏢ",
    "Q": "Ԛ",
    "S": "ЅՏᏚ",
    "T": "ΤТᎢ",
    "U": "Ս",
    "V": "ѴᏙ",
    "W": "ԜᎳ",
    "X": "ΧХ",
    "Y": "ΥУҮ",
    "Z": "ΖᏃ",
    "a": "αаɑ",
    "b": "вьЬ",
    "c": "сϲ",
    "d": "ԁ",
    "e": "еҽ",
    "g": "ɡց",
    "h": "һհн",
    "i": "іıιɩ",
    "j": "јϳ",
    "k": "κкĸ",
    "l": "ӏ",
    "m": "м",
    "n": "ոп",
    "o": "οоօσ",
    "p": "ρр",
    "q": "ԛգ",
    "r": "гᴦ",
    "s": "ѕꜱ",
    "t": "τт",
    "u": "υսʋ",
    "v": "νѵ",
    "w": "ԝѡωա",
    "x": "χх",
    "y": "уүγყ",
    "z": "ᴢ",
}
_LATIN = str.maketrans(
    {letter: latin for latin, letters in _DRAWN_LIKE.items() for letter in letters}
)
_ALIKE = str.maketrans("I10", "llo")
"""Of what everybody has on a keyboard."""
_INVISIBLE = str.maketrans(dict.fromkeys("\u115f\u1160\u17b4\u17b5\u3164\uffa0"))
"""Letters that are drawn as nothing; what is no letter is in no name."""


def look(name: str) -> str:
    """What two names that look the same have in common.

    >>> look("Rеd  Теam") == look("red team")
    True
    """
    return latin(name).translate(_ALIKE).casefold()


def latin(name: str) -> str:
    """A name in Latin letters and digits, as far as its own are drawn like these."""
    text = unicodedata.normalize("NFKC", name).translate(_INVISIBLE)
    return " ".join("".join(_digit(each) for each in text).translate(_LATIN).split())


def _digit(character: str) -> str:
    """The digits of every alphabet as 0 to 9."""
    number = unicodedata.decimal(character, None)
    return character if number is None else str(number)
