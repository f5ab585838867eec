"""Media types, and the file name extensions that stand for them."""

MARKDOWN = "text/markdown"
PLAIN_TEXT = "text/plain"
HTML = "text/html"
CSV = "text/csv"
PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
PPTX = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
JSON = "application/json"
JSON_LINES = "application/jsonl"
YAML = "application/yaml"
TOML = "application/toml"
EPUB = "application/epub+zip"
EMAIL = "message/rfc822"
CALENDAR = "text/calendar"
CONTACTS = "text/vcard"
MBOX = "application/mbox"
MHTML = "multipart/related"
OUTLOOK = "application/vnd.ms-outlook"
MESSAGES = frozenset({EMAIL, OUTLOOK, MBOX})
"""Media types of messages and mailboxes, which may have attachments."""
ASCIIDOC = "text/asciidoc"
LATEX = "text/x-tex"
RST = "text/x-rst"
ORG = "text/x-org"
XML = "text/x-xml"
DOCBOOK = "application/docbook+xml"
FICTIONBOOK = "application/x-fictionbook+xml"
NOTEBOOK = "application/x-ipynb+json"
SUBRIP = "application/x-subrip"
WEBVTT = "text/vtt"
DOC = "application/msword"
PPT = "application/vnd.ms-powerpoint"
XLS = "application/vnd.ms-excel"
RTF = "application/rtf"
ODT = "application/vnd.oasis.opendocument.text"
ODP = "application/vnd.oasis.opendocument.presentation"
ODS = "application/vnd.oasis.opendocument.spreadsheet"
OLE = "application/x-ole-storage"
SQLITE = "application/vnd.sqlite3"
PARQUET = "application/vnd.apache.parquet"
SVG = "image/svg+xml"
RECORD = "application/x-record+json"
"""Media type of a record in a data file, which is a document of its own."""
SOURCE_RECORD = "application/x-source-record+json"
"""Media type of a record of a table or program: its text, and what its fields say of it."""
ZIP = "application/zip"
TAR = "application/x-tar"
ARCHIVES = frozenset({ZIP, TAR})
"""Media types of archives, whose files are documents; a compressed TAR archive is one, too."""
XLSB = "application/vnd.ms-excel.sheet.binary"
ABIWORD = "application/x-abiword"
GNUMERIC = "application/x-gnumeric"
COMPRESSED = frozenset({"application/gzip", "application/x-bzip2", "application/x-xz"})
"""Media types of compressed files, which have another one where their name says what was compressed."""
BINARY = "application/octet-stream"

CODE_LANGUAGES = {
    "abap": ("abap",),
    "ada": ("adb", "ads"),
    "asm": ("asm", "s"),
    "bash": ("sh", "bash", "zsh", "fish"),
    "batch": ("bat", "cmd"),
    "c": ("c", "h"),
    "clojure": ("clj", "cljs"),
    "cmake": ("cmake",),
    "cobol": ("cbl", "cob", "cobol", "cpy"),
    "cpp": ("cpp", "cc", "cu", "cuh", "cxx", "hpp", "hh", "hxx"),
    "csharp": ("cs",),
    "css": ("css", "scss", "sass", "less"),
    "dart": ("dart",),
    "dockerfile": ("dockerfile",),
    "elixir": ("ex", "exs"),
    "elm": ("elm",),
    "erlang": ("erl",),
    "fortran": ("f", "f03", "f08", "f77", "f90", "f95", "for", "ftn"),
    "fsharp": ("fs",),
    "go": ("go",),
    "graphql": ("graphql", "gql"),
    "groovy": ("groovy", "gradle"),
    "haskell": ("hs",),
    "hcl": ("tf", "hcl"),
    "ini": ("ini", "cfg", "conf", "properties", "env", "editorconfig"),
    "java": ("java",),
    "javascript": ("js", "mjs", "cjs"),
    "jsx": ("jsx",),
    "julia": ("jl",),
    "kotlin": ("kt", "kts"),
    "lisp": ("el", "lisp", "lsp", "rkt", "scm"),
    "lua": ("lua",),
    "makefile": ("mk", "makefile"),
    "matlab": ("m",),
    "nim": ("nim",),
    "nix": ("nix",),
    "ocaml": ("ml", "mli"),
    "pascal": ("dpr", "lpr", "pas"),
    "perl": ("pl", "pm"),
    "php": ("php",),
    "powershell": ("ps1", "psd1", "psm1"),
    "proto": ("proto",),
    "python": ("py", "pyi"),
    "r": ("r",),
    "ruby": ("rb",),
    "rust": ("rs",),
    "sas": ("sas",),
    "scala": ("scala",),
    "solidity": ("sol",),
    "sparql": ("rq", "sparql"),
    "sql": ("pkb", "pks", "plsql", "sql"),
    "starlark": ("bzl",),
    "svelte": ("svelte",),
    "swift": ("swift",),
    "tcl": ("tcl",),
    "thrift": ("thrift",),
    "tsx": ("tsx",),
    "typescript": ("ts", "mts", "cts"),
    "verilog": ("sv", "svh", "v", "vh"),
    "vhdl": ("vhd", "vhdl"),
    "visualbasic": ("bas", "vb", "vbs"),
    "vue": ("vue",),
    "xml": ("xml", "xsd", "xsl", "xslt", "wsdl"),
    "zig": ("zig",),
}
"""Programming languages by their name in a Markdown fence, each with its extensions; media types are `text/x-NAME`."""

_DOCUMENTS = {
    MARKDOWN: ("md", "markdown", "mdown", "mkd", "mdx"),
    PLAIN_TEXT: ("txt", "text", "log"),
    HTML: ("html", "htm", "xhtml"),
    CSV: ("csv", "tsv"),
    PDF: ("pdf",),
    DOCX: ("docx", "docm", "dotx", "dotm"),
    PPTX: ("pptx", "pptm", "ppsx", "potx"),
    XLSX: ("xlsx", "xlsm", "xltx"),
    JSON: ("json", "geojson", "webmanifest"),
    NOTEBOOK: ("ipynb",),
    SUBRIP: ("srt",),
    WEBVTT: ("vtt",),
    JSON_LINES: ("jsonl", "ndjson"),
    YAML: ("yaml", "yml"),
    TOML: ("toml",),
    ASCIIDOC: ("adoc", "asciidoc", "asc"),
    LATEX: ("tex", "latex", "ltx"),
    RST: ("rst", "rest"),
    ORG: ("org",),
    DOCBOOK: ("dbk", "docbook"),
    EPUB: ("epub",),
    FICTIONBOOK: ("fb2",),
    EMAIL: ("eml",),
    MBOX: ("mbox", "mbx"),
    CALENDAR: ("ics", "ical"),
    CONTACTS: ("vcf", "vcard"),
    MHTML: ("mhtml", "mht"),
    OUTLOOK: ("msg",),
    DOC: ("doc", "dot"),
    PPT: ("ppt", "pps"),
    XLS: ("xls", "xlt"),
    RTF: ("rtf",),
    ODT: ("odt", "ott", "fodt"),
    ODP: ("odp", "otp", "fodp"),
    ODS: ("ods", "ots", "fods"),
    ZIP: ("zip",),
    TAR: ("tar", "tgz", "tbz2", "txz"),
    SQLITE: ("sqlite", "sqlite3", "db"),
    PARQUET: ("parquet",),
    SVG: ("svg", "svgz"),
    "image/png": ("png",),
    "image/jpeg": ("jpg", "jpeg"),
    "image/gif": ("gif",),
    "image/webp": ("webp",),
    "image/tiff": ("tif", "tiff"),
    "image/bmp": ("bmp",),
    "image/heic": ("heic", "heif"),
    "image/avif": ("avif",),
}
_NOT_READ = {
    XLSB: ("xlsb",),
    "application/gzip": ("gz",),
    "application/x-bzip2": ("bz2",),
    "application/x-xz": ("xz",),
    "application/zstd": ("zst",),
    "application/x-7z-compressed": ("7z",),
    "application/vnd.rar": ("rar",),
    "application/java-archive": ("jar", "whl"),
    "application/vnd.oasis.opendocument.graphics": ("odg", "otg"),
    "image/vnd.adobe.photoshop": ("psd",),
    "image/vnd.djvu": ("djvu", "djv"),
    "image/vnd.dwg": ("dwg",),
    "application/postscript": ("ps", "eps"),
    "application/vnd.apple.keynote": ("key",),
    "application/vnd.apple.numbers": ("numbers",),
    "application/vnd.apple.pages": ("pages",),
    "application/vnd.ms-access": ("mdb", "accdb"),
    "application/vnd.ms-htmlhelp": ("chm",),
    "application/vnd.ms-outlook-pst": ("pst", "ost"),
    "application/vnd.ms-publisher": ("pub",),
    "application/vnd.ms-visio": ("vsdx", "vsd"),
    "application/vnd.ms-works": ("wps",),
    "application/vnd.openoffice": ("sxw", "sxc", "sxi", "stw", "sdw"),
    "application/vnd.wordperfect": ("wpd",),
    ABIWORD: ("abw", "zabw"),
    "application/x-dbf": ("dbf",),
    GNUMERIC: ("gnumeric",),
    "application/x-hwp": ("hwp", "hwpx"),
    "application/x-mswrite": ("wri",),
    "application/vnd.ms-xpsdocument": ("xps", "oxps"),
    "application/x-mobipocket-ebook": ("mobi", "azw", "azw3"),
    "application/x-onenote": ("one",),
    "image/x-icon": ("ico",),
    "font/ttf": ("ttf",),
    "font/otf": ("otf",),
    "font/woff2": ("woff2",),
    "application/x-executable": ("exe", "dll", "so", "dylib", "o", "a"),
    "application/wasm": ("wasm",),
    "application/x-python-bytecode": ("pyc",),
    "application/java-vm": ("class",),
}
_RECORDINGS = {
    "audio/mpeg": ("mp3", "mp2", "mpga"),
    "audio/wav": ("wav", "wave"),
    "audio/flac": ("flac",),
    "audio/ogg": ("ogg", "oga", "opus", "spx"),
    "audio/mp4": ("m4a", "m4b", "m4p", "mp4a"),
    "audio/aac": ("aac", "adts"),
    "audio/ac3": ("ac3",),
    "audio/aiff": ("aif", "aiff", "aifc"),
    "audio/amr": ("amr",),
    "audio/webm": ("weba",),
    "audio/x-caf": ("caf",),
    "audio/x-matroska": ("mka",),
    "audio/x-ms-wma": ("wma",),
    "audio/x-wavpack": ("wv",),
    "video/mp4": ("mp4", "m4v"),
    "video/quicktime": ("mov", "qt"),
    "video/webm": ("webm",),
    "video/x-matroska": ("mkv",),
    "video/x-msvideo": ("avi",),
    "video/x-ms-asf": ("asf",),
    "video/x-ms-wmv": ("wmv",),
    "video/x-flv": ("flv",),
    "video/ogg": ("ogv",),
    "video/mpeg": ("mpg", "mpeg"),
    "video/mp2t": ("m2ts",),  # .ts and .mts are TypeScript
    "video/3gpp": ("3gp",),
}
_MEDIA_TYPES = {
    extension: media_type
    for group in (
        _DOCUMENTS,
        {f"text/x-{name}": endings for name, endings in CODE_LANGUAGES.items()},
        _RECORDINGS,
        _NOT_READ,
    )
    for media_type, extensions in group.items()
    for extension in extensions
}
_BY_WHOLE_NAMES = frozenset({JSON, JSON_LINES, YAML, TOML, *(f"text/x-{language}" for language in CODE_LANGUAGES)})
_COMPRESSED_TAR = (".tar.gz", ".tar.bz2", ".tar.xz")
_WHOLE_NAMES = {
    "cmakelists.txt": "text/x-cmake",
    "dockerfile": "text/x-dockerfile",
    "gnumakefile": "text/x-makefile",
    "makefile": "text/x-makefile",
}


def endings() -> dict[str, tuple[str, ...]]:
    """Return the file name endings of each media type, without their dot."""
    found: dict[str, tuple[str, ...]] = {}
    for ending, media_type in _MEDIA_TYPES.items():
        found[media_type] = (*found.get(media_type, ()), ending)
    found[TAR] = (*found[TAR], *(ending[1:] for ending in _COMPRESSED_TAR))
    return found


def extension_of(name: str) -> str:
    """Return the extension of a file name or URI in lower case without its dot, or "" where it has none."""
    last = name.replace("\\", "/").rsplit("/", 1)[-1]
    stem, dot, extension = last.rpartition(".")
    return extension.lower() if dot and (stem or extension) else ""


def media_type_of_name(name: str) -> str | None:
    """Return the media type of a file name or URI by its extension, or None where that is unknown."""
    if name.lower().endswith(_COMPRESSED_TAR):
        return TAR
    return _WHOLE_NAMES.get(name.replace("\\", "/").rsplit("/", 1)[-1].lower()) or _MEDIA_TYPES.get(extension_of(name))


def goes_by_whole_name(name: str) -> bool:
    """Tell whether a file is known by its name with its extension: code, data, settings, and all unknown ones."""
    known = media_type_of_name(name)
    return known is None or known in _BY_WHOLE_NAMES


def is_recording(media_type: str) -> bool:
    """Tell whether files of a media type hold sound, which is transcribed and not parsed."""
    return media_type.startswith(("audio/", "video/"))


def is_text_type(media_type: str) -> bool:
    """Tell whether files of a media type are text, and therefore have no signature."""
    return media_type.startswith("text/") or media_type in _TEXTUAL


_TEXTUAL = frozenset({JSON, JSON_LINES, YAML, TOML, EMAIL, MBOX, MHTML, NOTEBOOK, SUBRIP, DOCBOOK, FICTIONBOOK, SVG})
FORMERLY_TEXT = frozenset(
    {CALENDAR, CONTACTS, DOCBOOK, FICTIONBOOK, MBOX, MHTML, NOTEBOOK, ORG, RST, SUBRIP, WEBVTT}
    | {f"text/x-{language}" for language in CODE_LANGUAGES}
)
"""Media types that earlier versions recorded as plain text or JSON."""
DATA = frozenset({JSON, JSON_LINES, YAML, CSV, XML})
"""Media types of files that may hold many records, each a document of its own."""
CONTAINERS = MESSAGES | ARCHIVES | DATA
"""Media types of files in which there are files, each a document of its own."""
MAY_HOLD_FILES = CONTAINERS | {PDF, DOCX, PPTX, XLSX, ODT, ODP, ODS}
"""Media types of containers, and of documents in which there may be files."""
