"""The words of a drawing."""

import gzip

import pytest

from sourcebook.errors import ParseError
from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.media_type import detect_media_type
from sourcebook.parsing.parse import parse
from tests.unit.parsing.covering import assert_blocks_cover, texts

DRAWING = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
<svg xmlns="http://www.w3.org/2000/svg" width="100" height="60">
  <!-- drawn by hand -->
  <title>The lock</title><desc>A lock with two gates &amp; a keeper.</desc>
  <style>text { fill: black }</style><defs><text>a stencil</text></defs>
  <g><title>Upper gate</title><path d="M0 0h9"/><text><tspan>opens</tspan><tspan dy="1em">upstream</tspan></text></g>
  <script>alert("x")</script>
</svg>
"""


def read(content: str, name: str = "lock.svg") -> ParsedDocument:
    document = parse(content.encode(), name=name, media_type=detect_media_type(name, content.encode()[:4096]))
    assert_blocks_cover(document)
    return document


def test_a_drawing_is_its_words() -> None:
    """Titles, descriptions and texts in their order; styles, scripts and stencils are not shown."""
    document = read(DRAWING)
    assert document.title == "The lock"
    assert texts(document) == ["The lock", "A lock with two gates & a keeper.", "Upper gate", "opens upstream"]


def test_a_drawing_without_words_is_empty() -> None:
    """Such as most icons: the file is listed as skipped, because it holds no text."""
    assert not read('<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0h9"/></svg>').markdown


def test_entities_are_not_resolved() -> None:
    """Neither those that grow, nor those that name a file."""
    entities = '<!DOCTYPE svg [<!ENTITY a "boom"><!ENTITY b "&a;&a;"><!ENTITY c SYSTEM "file:///etc/hostname">]>'
    document = read(f'{entities}<svg xmlns="http://www.w3.org/2000/svg"><text>one &b; &c; two</text></svg>')
    assert texts(document) == ["one two"]


def test_lines_are_parted_and_words_are_whole() -> None:
    """A new position is a new line; another color inside a word, a comment or an entity loses nothing."""
    word = '<text>Hyd<tspan fill="red">ro</tspan>gen <!-- a gas --> and <a><tspan>oxy</tspan></a>gen</text>'
    lines = '<text><tspan x="0" y="10">first line</tspan><tspan x="0" dy="1.2em">second line</tspan></text>'
    entity = "<!DOCTYPE svg [<!ENTITY gas 'x'>]>"
    document = read(f"{entity}<svg>{word}{lines}<text>before &gas; behind</text></svg>")
    assert texts(document) == ["Hydrogen and oxygen", "first line second line", "before behind"]


def test_html_inside_a_drawing_is_read_instead_of_its_fallback() -> None:
    """Drawing programs write a label as HTML and once more as text for viewers that know no HTML."""
    label = '<foreignObject><div xmlns="http://www.w3.org/1999/xhtml"><div>Order</div><b>ship</b>ped<br/>today</div></foreignObject>'
    warning = "<switch><g/><a><text>Text is not SVG - cannot display</text></a></switch>"
    languages = '<switch><text systemLanguage="de">Schleuse</text><text>Lock</text></switch>'
    document = read(f"<svg><g><switch>{label}<text>Order ship...</text></switch></g>{languages}{warning}</svg>")
    assert texts(document) == ["Order shipped today", "Lock"]


def test_the_names_of_nodes_are_left_out() -> None:
    """Graphviz writes them as titles beside the labels; the title of an edge says which nodes it connects."""
    nodes = "".join(f'<g class="node"><title>{name}</title><text>Gate {name}</text></g>' for name in ("n1", "n2"))
    edge = '<g class="edge"><title>n1-&gt;n2</title><path d="M0 0h9"/></g>'
    document = read(f'<svg><g class="graph"><title>%3</title>{nodes}{edge}</g><g><title>Legend</title></g></svg>')
    assert texts(document) == ["Gate n1", "Gate n2", "n1->n2", "Legend"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be", "iso-8859-1"])
def test_the_declared_encoding_counts(encoding: str) -> None:
    """With a byte order mark or without, and with a line break at the end."""
    declared = encoding.removesuffix("-sig").removesuffix("-be")
    drawing = f'<?xml version="1.0" encoding="{declared}"?>\n<svg><text>Untere Schleuse für Kähne</text></svg>\n'
    assert texts(parse(drawing.encode(encoding), name="lock.svg", media_type="image/svg+xml")) == [
        "Untere Schleuse für Kähne"
    ]


def test_namespaces_may_be_entities() -> None:
    """Illustrator declares them so, and keeps its own data in an alternative that asks for an extension."""
    entities = '<!DOCTYPE svg [<!ENTITY svg "http://www.w3.org/2000/svg"><!ENTITY ai "http://ns.adobe.com/ai/">]>'
    own = '<foreignObject requiredExtensions="&ai;">eJzNvWmTI0eOJfhdRP4H</foreignObject>'
    document = read(f'{entities}<svg xmlns="&svg;"><switch>{own}<g><text>Lock</text></g></switch></svg>')
    assert texts(document) == ["Lock"]


def test_hidden_layers_are_left_out() -> None:
    """Whether an attribute or a style hides them."""
    hidden = '<g style="fill:none; display:none"><text>draft</text></g><text display="none">note</text>'
    assert texts(read(f"<svg>{hidden}<text>shown</text></svg>")) == ["shown"]


def test_large_pictures_and_deep_groups_are_no_damage() -> None:
    """An embedded picture of 11 MB, and groups 2,000 deep."""
    picture = f'<image href="data:image/png;base64,{"A" * 11_000_000}"/>'
    document = read(f"<svg>{picture}{'<g>' * 2_000}<text>inside</text>{'</g>' * 2_000}</svg>")
    assert texts(document) == ["inside"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le", "utf-7"])
def test_entities_that_grow_in_an_attribute_are_refused(encoding: str) -> None:
    """An expansion to a terabyte ends at once, in whichever encoding it is written."""
    laughs = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(12))
    bomb = f'<!DOCTYPE svg [<!ENTITY e0 "ha">{laughs}]><svg><text id="&e12;">x</text></svg>'
    content = f'<?xml version="1.0" encoding="{encoding}"?>{bomb}'.encode(encoding)
    with pytest.raises(ParseError, match="damaged or cut off"):
        parse(content, name="lock.svg", media_type="image/svg+xml")


@pytest.mark.parametrize("content", [DRAWING[:400], "<html><body>x</body></html>", "no drawing"])
def test_what_is_no_drawing_has_a_reason(content: str) -> None:
    """A file that is cut off, or only has the ending."""
    with pytest.raises(ParseError, match=r"damaged or cut off|no SVG drawing"):
        parse(content.encode(), name="lock.svg", media_type="image/svg+xml")


def test_a_compressed_drawing_is_read() -> None:
    """A damaged one fails, and so does one that unpacks to gigabytes."""
    packed = gzip.compress(DRAWING.encode())

    def parsed(content: bytes) -> ParsedDocument:
        return parse(content, name="lock.svgz", media_type=detect_media_type("lock.svgz", content[:4096]))

    assert parsed(packed).markdown == read(DRAWING).markdown
    with pytest.raises(ParseError, match="damaged"):
        parsed(packed[:20] + b"?" + packed[21:])
    with pytest.raises(ParseError, match="unpacks to more than 64 MiB"):
        parsed(gzip.compress(b"<svg>" + bytes(65 << 20)))
