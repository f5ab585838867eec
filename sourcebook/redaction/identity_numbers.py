"""Numbers of persons: their checksums by python-stdnum, and the words beside those that look like any other number."""

import re
from functools import partial
from importlib import import_module
from types import MappingProxyType
from typing import Final, Protocol, cast

from sourcebook.redaction.context import Candidate


class _Numbers(Protocol):
    def is_valid(self, number: str) -> bool: ...


_WORDS: Final = MappingProxyType(
    {
        "se.personnummer": r"personnummer|personal number",
        "dk.cpr": r"cpr",
        "cz.rc": r"rodné číslo|rodne cislo|birth number",
        "no.fodselsnummer": r"fødselsnummer|fodselsnummer|national identity",
        "be.nn": r"rijksregister\w*|registre national|national register|nrn",
        "gb.nhs": r"nhs",
        "gb.utr": r"utr",
        "nl.bsn": r"bsn|burgerservicenummer|sofi",
        "pl.pesel": r"pesel",
        "de.idnr": r"steuer-?id\w*|steueridentifikationsnummer|idnr|tin|tax id",
        "at.vnr": r"sozialversicherungsnummer|svnr|versicherungsnummer",
        "tr.tckimlik": r"kimlik|tc no|t\.c\.",
        "ro.cnp": r"cnp|cod numeric personal",
        "bg.egn": r"egn|егн",
        "hr.oib": r"oib",
        "ee.ik": r"isikukood|personal code",
        "lt.asmens": r"asmens kodas|personal code",
        "lv.pk": r"personas kods|personal code",
        "pt.nif": r"nif|contribuinte",
        "br.cpf": r"cpf",
        "ca.sin": r"sin|social insurance",
        "in_.aadhaar": r"aadhaar|aadhar|uidai",
        "za.idnr": r"id number|identity number|rsa id",
        "il.idnr": r"teudat zehut|id number|ת\.ז",
        "au.tfn": r"tfn|tax file",
        "nz.ird": r"ird",
        "fr.nif": r"numéro fiscal|spi|numero fiscal",
        "us.itin": r"itin|taxpayer",
    }
)
"""Words before a number by stdnum's module for it: the digits alone could be anything."""
_COMPILED: Final = MappingProxyType(
    {name: re.compile(rf"(?i)(?<!\w)(?:{words})(?!\w)") for name, words in _WORDS.items()}
)
_LONGEST: Final = 20
"""Bytes of such a number with its separators."""
_ANY: Final = re.compile(rf"(?i)(?<!\w)(?:{'|'.join(_WORDS.values())})(?!\w)")


def _is_valid(module: str, number: str) -> bool:
    return cast("_Numbers", import_module(f"stdnum.{module}")).is_valid(number)


def _whole(candidate: Candidate, module: str) -> int:
    return len(candidate.value) if _is_valid(module, candidate.value) else 0


us_ssn = partial(_whole, module="us.ssn")
"""Takes a social security number of the United States: no area, group or serial that is never given."""
it_codicefiscale = partial(_whole, module="it.codicefiscale")
"""Takes an Italian tax code with a right check letter."""
ch_ssn = partial(_whole, module="ch.ssn")
"""Takes a Swiss social security number with a right check digit."""
fi_hetu = partial(_whole, module="fi.hetu")
"""Takes a Finnish personal identity code with a right check character."""
br_cpf = partial(_whole, module="br.cpf")
"""Takes a Brazilian CPF with right check digits."""
fr_nir = partial(_whole, module="fr.nir")
"""Takes a French social security number with a right key."""


def by_its_word(candidate: Candidate) -> int:
    """Take a number whose checksum is right by the rules of the country that a word before it names."""
    if candidate.end - candidate.start > _LONGEST:
        return 0
    before = candidate.before()
    if not _ANY.search(before):
        return 0
    named = [module for module, words in _COMPILED.items() if words.search(before)]
    value = candidate.value
    return len(value) if any(_is_valid(module, value) for module in named) else 0


def es_dni(candidate: Candidate) -> int:
    """Take a Spanish identity number with a right check letter."""
    value = candidate.value.replace("-", "")
    module = "es.nie" if value[0].isalpha() else "es.dni"
    return (
        len(candidate.value)
        if value[-1].isupper() == value[0].isupper() | value[0].isdigit() and _is_valid(module, value)
        else 0
    )


def kr_or_cn(candidate: Candidate) -> int:
    """Take a resident's number of Korea or China with a right check digit."""
    return _whole(candidate, "kr.rrn" if "-" in candidate.value else "cn.ric")


def gb_nino(candidate: Candidate) -> int:
    """Take a British National Insurance number: no prefix that is never given (it has no checksum)."""
    value = candidate.value
    never = value[:2] in {"BG", "GB", "KN", "NK", "NT", "TN", "ZZ"}
    return 0 if never else len(value)
