"""Texts in old encodings are read as the language they are written in."""

import pytest

from sourcebook.parsing.text.decode import decode

# Article 1 of the Universal Declaration of Human Rights.
GERMAN = (
    "Alle Menschen sind frei und gleich an Würde und Rechten geboren. Sie sind mit Vernunft und Gewissen begabt und "
    "sollen einander im Geist der Brüderlichkeit begegnen."
)
FRENCH = (
    "Tous les êtres humains naissent libres et égaux en dignité et en droits. Ils sont doués de raison et de "
    "conscience et doivent agir les uns envers les autres dans un esprit de fraternité."
)
POLISH = (
    "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw. Są oni obdarzeni rozumem i "
    "sumieniem i powinni postępować wobec innych w duchu braterstwa."
)
CZECH = (
    "Všichni lidé rodí se svobodní a sobě rovní co do důstojnosti a práv. Jsou nadáni rozumem a svědomím a mají "
    "spolu jednat v duchu bratrství."
)
HUNGARIAN = (
    "Minden emberi lény szabadon születik és egyenlő méltósága és joga van. Az emberek, ésszel és lelkiismerettel "
    "bírván, egymással szemben testvéri szellemben kell hogy viseltessenek."
)
TURKISH = (
    "Bütün insanlar hür, haysiyet ve haklar bakımından eşit doğarlar. Akıl ve vicdana sahiptirler ve birbirlerine "
    "karşı kardeşlik zihniyeti ile hareket etmelidirler."
)
GREEK = (
    "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. Είναι προικισμένοι με "
    "λογική και συνείδηση, και οφείλουν να συμπεριφέρονται μεταξύ τους με πνεύμα αδελφοσύνης."
)
RUSSIAN = (
    "Все люди рождаются свободными и равными в своем достоинстве и правах. Они наделены разумом и совестью и должны "
    "поступать в отношении друг друга в духе братства."
)
UKRAINIAN = (
    "Всі люди народжуються вільними і рівними у своїй гідності та правах. Вони наділені розумом і совістю і повинні "
    "діяти у відношенні один до одного в дусі братерства."
)
HEBREW = (
    "כל בני האדם נולדו בני חורין ושווים בערכם ובזכויותיהם. כולם חוננו בתבונה ובמצפון, לפיכך חובה עליהם לנהוג איש "
    "ברעהו ברוח של אחווה."
)
ARABIC = (
    "يولد جميع الناس أحرارا متساوين في الكرامة والحقوق. وقد وهبوا عقلا وضميرا وعليهم أن يعامل بعضهم بعضا بروح الإخاء."
)
JAPANESE = (
    "すべての人間は、生まれながらにして自由であり、かつ、尊厳と権利とについて平等である。人間は、理性と良心とを授けられており、"
    "互いに同胞の精神をもって行動しなければならない。"
)
SIMPLIFIED = "人人生而自由,在尊严和权利上一律平等。他们赋有理性和良心,并应以兄弟关系的精神相对待。"
TRADITIONAL = "人人生而自由,在尊嚴和權利上一律平等。他們賦有理性和良心,並應以兄弟關係的精神相對待。"
KOREAN = (
    "모든 인간은 태어날 때부터 자유로우며 그 존엄과 권리에 있어 동등하다. "
    "인간은 천부적으로 이성과 양심을 부여받았으며 서로 형제애의 정신으로 행동하여야 한다."
)


@pytest.mark.parametrize("length", [24, 70, 10_000])
@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (GERMAN, "cp1252"),
        (GERMAN, "iso8859-15"),
        (FRENCH, "cp1252"),
        (POLISH, "cp1250"),
        (POLISH, "iso8859-2"),
        (CZECH, "cp1250"),
        (CZECH, "iso8859-2"),
        (HUNGARIAN, "cp1250"),
        (HUNGARIAN, "iso8859-2"),
        (TURKISH, "cp1254"),
        (TURKISH, "iso8859-9"),
        (GREEK, "cp1253"),
        (GREEK, "iso8859-7"),
        (RUSSIAN, "cp1251"),
        (RUSSIAN, "koi8-r"),
        (RUSSIAN, "iso8859-5"),
        (UKRAINIAN, "cp1251"),
        (UKRAINIAN, "koi8-u"),
        (HEBREW, "cp1255"),
        (ARABIC, "cp1256"),
        (ARABIC, "iso8859-6"),
        (JAPANESE, "cp932"),
        (JAPANESE, "euc_jp"),
        (JAPANESE, "iso2022_jp"),
        (SIMPLIFIED, "gb18030"),
        (TRADITIONAL, "big5"),
        (KOREAN, "euc_kr"),
    ],
)
def test_the_language_tells_the_encoding(text: str, encoding: str, length: int) -> None:
    """A line, a sentence and a long text in each encoding come back as they were written."""
    written = (text * (1 + length // len(text)))[-length:]
    assert decode(written.encode(encoding)).text == written


@pytest.mark.parametrize(
    ("table", "encoding"),
    [
        ("Artikel;Größe;Preis\r\nHemd;XL;19,90\r\nMütze;M;9,50\r\n", "cp1252"),
        ("Nr;Größe\r\n1;klein\r\n", "cp1252"),
        ("Ürün;Fiyat;Şehir\r\nGömlek;19,90;İstanbul\r\nŞapka;9,50;Muğla\r\n", "cp1254"),
        ("Towar;Ilość;Cena\r\nŻarówka;5;9,50\r\nŁóżko;1;499\r\n", "cp1250"),
        ("Zboží;Množství;Cena\r\nKošile;5;199\r\nŽárovka;1;49\r\n", "iso8859-2"),
    ],
)
def test_tables_with_few_words(table: str, encoding: str) -> None:
    """Excel's CSV files keep their letters, though they hold few of them."""
    assert decode(table.encode(encoding)).text == table.replace("\r\n", "\n")


def test_the_euro_sign_of_latin_9() -> None:
    """A text in ISO-8859-15 with letters that ISO-8859-1 lacks keeps them, where they stand in words."""
    text = "Le cœur de l'œuvre : une sœur et son bœuf, à l'été. " * 4
    assert decode(text.encode("iso8859-15")).text == text


@pytest.mark.parametrize(
    ("text", "encoding"),
    [("เรียนลูกค้าทุกท่าน ร", "cp874"), ("Уважаемые жильцы! Я", "cp1251"), ("לקוחות יקרים ה", "cp1255")],
)
def test_a_short_line_with_a_letter_alone_is_not_latin(text: str, encoding: str) -> None:
    """A letter between two spaces is no reason to read the words beside it in Latin letters."""
    assert decode(text.encode(encoding)).text == text


@pytest.mark.parametrize("encoding", ["cp850", "cp852"])
def test_dos_needs_evidence(encoding: str) -> None:
    """A code page of DOS is chosen where bytes within words are no letters in Windows's encodings."""
    text = "Größe und Höhe müssen für die Prüfung der Brücke erklärt werden. " * 3
    assert decode(text.encode(encoding)).text == text


def test_german_of_the_old_mac() -> None:
    """Its letters within words are those of other languages in Windows's encodings, or a section sign."""
    text = f"{GERMAN} Die Straße führt über die Brücke zur schönen Mühle. "
    assert decode(text.encode("mac-roman")).text == text


def test_a_cut_character_costs_one_character() -> None:
    """A file that ends within a character of two bytes keeps the rest of its text."""
    assert decode(JAPANESE.encode("cp932")[:-1]).text == JAPANESE[:-1] + "\ufffd"
