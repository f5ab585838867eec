# ruff: noqa: E501, ISC004 - samples of code, a language each, are read best unbroken
"""Code of many languages is cut at its definitions, and whatever calls itself code is read."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sourcebook.model.media_types import CODE_LANGUAGES
from sourcebook.parsing.parse import parse
from sourcebook.parsing.text.code_cuts import code_cuts
from tests.unit.parsing.covering import assert_blocks_cover

LONG = "x" * 1600

SAMPLES = {
    "bash": ("# doc\nf() {\n echo 1\n}\nfunction g {\n echo\n}\nx=1\n", ["f", "g", ""]),
    "c": (
        "#include <a.h>\n/* doc */\nstatic int *f(int a)\n{\n return 0;\n}\nstruct S { int a; };\n"
        "typedef struct { int b; } T;\nint x;\n#ifdef A\nint g(void) { return 1; }\n#endif\n",
        ["f", "S", "T", "", "g"],
    ),
    "clojure": ("(ns a.b)\n;; doc\n(defn f [x] x)\n(def y 2)\n", ["f", "y"]),
    "cpp": ("// doc\ntemplate<class T>\nclass A {\n};\nvoid A::g(int x) { }\nint main() { }\n", ["A", "A::g", "main"]),
    "csharp": ("using System;\n/// doc\n[Attr]\npublic class A { }\nenum E { X }\n", ["A", "E"]),
    "dart": ("/// doc\nclass A {\n}\nvoid main() { }\n", ["A", "main"]),
    "elixir": ("defmodule A.B do\n  def f(x), do: x\nend\n", ["A.B"]),
    "erlang": ("-module(a).\n%% doc\nf(1) -> 2;\nf(2) -> 3.\ng() -> ok.\n", ["f", "g"]),
    "fsharp": ("module A\n/// doc\nlet f x = x + 1\n", ["A"]),
    "go": (
        "package m\n// doc\nfunc F(a int) {}\nfunc (s *Server) Start() error { return nil }\n"
        "func (l *List[T]) Len() int { return 0 }\ntype S struct { a int }\nvar x = 1\n",
        ["F", "Server.Start", "List.Len", "S", ""],
    ),
    "graphql": ('"doc"\ntype A { x: Int }\nenum E { A }\n', ["A", "E"]),
    "haskell": ("module A where\nimport B\nf :: Int -> Int\nf 0 = 1\nf x = x\ndata T = A | B\n", ["f", "T"]),
    "hcl": ('resource "aws" "b" {\n a = 1\n}\nlocals {}\n', ["resource.aws.b", "locals"]),
    "ini": ("; c\n[sec]\na=1\n[two]\nb=2\n", ["sec", "two"]),
    "java": ("package a;\nimport b.C;\n/** doc */\n@Ann\npublic class A {\n}\nrecord R(int a) {}\n", ["A", "R"]),
    "javascript": (
        "import a from 'b';\n/** doc */\nexport function f() {}\nexport default class A {}\nconst h = (a) => { return a };\n"
        "module.exports.q = function() {};\nlet x = 1;\n",
        ["f", "A", "h", "module.exports.q", ""],
    ),
    "jsx": ("export const C = () => <div/>;\nfunction D() { return <a/> }\n", ["C", "D"]),
    "julia": ('"""doc"""\nfunction f(x)\n x\nend\nstruct S\n a\nend\n', ["f", "S"]),
    "kotlin": ("/** doc */\nclass A(val x: Int) {\n}\nfun top(): Int = 1\nobject O {}\n", ["A", "top", "O"]),
    "lua": ("-- doc\nfunction f() end\nfunction M.h() end\nM.q = function() end\nlocal x = 1\n", ["f", "M.h", "M.q", ""]),
    "makefile": ("# doc\nall: a b\n\techo\nx := 1\n", ["all", ""]),
    "ocaml": ("(** doc *)\nlet f x = x\ntype t = A | B\nmodule M = struct\n let q = 1\nend\n", ["f", "t", "M"]),
    "perl": ("use strict;\n# doc\nsub f { 1 }\n", ["f"]),
    "php": ("<?php\n/** doc */\nclass B extends C {\n}\nfunction g() {}\n", ["B", "g"]),
    "powershell": ("# doc\nfunction Get-A { param($x) }\n", ["Get-A"]),
    "proto": ('syntax = "proto3";\n// doc\nmessage A { int32 x = 1; }\nservice S { rpc F(A) returns (A); }\n', ["A", "S"]),
    "python": ("import a\n# c\n@d\ndef f(): pass\nasync def g(): pass\nclass A:\n  x = 1\nY = 1\n", ["f", "g", "A", ""]),
    "r": ("#' doc\nf <- function(x) x\ny <- 2\n", ["f", ""]),
    "ruby": ("# doc\nmodule M\nend\nclass A < B\nend\ndef top; end\n", ["M", "A", "top"]),
    "rust": (
        "use a;\n/// doc\n#[derive(D)]\npub struct S { a: u8 }\nimpl<T> Tr for S<T> {\n}\npub fn h() {}\nmod m { }\n",
        ["S", "S", "h", "m"],
    ),
    "scala": ("/** doc */\nclass A(x: Int)\nobject O { val x = 1 }\ndef top(x: Int) = x\n", ["A", "O", "top"]),
    "sql": ("-- doc\nCREATE TABLE a.b (x int);\nSELECT * FROM b;\nCREATE INDEX i ON b (x);\n", ["a.b", "", "i"]),
    "svelte": ("<script>\nlet a = 1;\n</script>\n<div>\n</div>\n", ["script", "div"]),
    "swift": ("import A\n/// doc\nclass A: B {\n}\nextension A { }\nfunc top() {}\n", ["A", "A", "top"]),
    "tsx": ("export const C = () => <div/>;\n", ["C"]),
    "typescript": (
        "import a from 'b';\n/** doc */\n@Dec()\nexport class A {\n}\nexport interface I { a: string }\n"
        "type T = string;\nnamespace N { }\nexport const h = async () => {};\n",
        ["A", "I", "T", "N", "h"],
    ),
    "vue": ("<template>\n<div/>\n</template>\n<script>\nexport default {}\n</script>\n", ["template", "script"]),
    "zig": ('const std = 1;\n/// doc\npub fn f(a: u8) void {}\ntest "t" {}\n', ["f", "t"]),
    "abap": ("* doc\nFORM count USING x.\nENDFORM.\nCLASS a DEFINITION.\nMETHOD run.\n", ["count", "a", "run"]),
    "ada": ("-- doc\nprocedure Hello is\nend Hello;\npackage body A is\nend A;\n", ["Hello", "A"]),
    "cmake": ("# doc\nfunction(foo a)\nendfunction()\nmacro(bar)\n", ["foo", "bar"]),
    "cobol": (
        "      * doc\n       IDENTIFICATION DIVISION.\n       PROGRAM-ID. PAYROLL.\n000300 PROCEDURE DIVISION.\n"
        "000400 MAIN-PARA.\n           STOP RUN.\n       PAY SECTION.\n",
        ["IDENTIFICATION DIVISION", "PAYROLL", "PROCEDURE DIVISION", "MAIN-PARA", "PAY SECTION"],
    ),
    "fortran": (
        "! doc\nmodule tide\nuse waves\ncontains\npure real(8) function f(x)\nend function f\n"
        "  recursive subroutine g\n  call f(subroutine)\nend\n",
        ["tide", "f", "g"],
    ),
    "lisp": (";; doc\n(defun foo (x) x)\n(define (bar y) y)\n", ["foo", "bar"]),
    "matlab": ("% doc\nfunction d = damp(k)\nend\nfunction [a, b] = two(x)\nfunction go\n", ["damp", "two", "go"]),
    "nim": ("# doc\nproc foo*(a: int): int =\n  a\n", ["foo"]),
    "pascal": ("// doc\nprocedure TForm.Click(x: T);\nbegin\nend;\nfunction f: integer;\n", ["TForm.Click", "f"]),
    "sas": ("* doc;\ndata sea.herring;\n set x;\nrun;\nproc sort data=a;\n%macro m(a);\n", ["sea.herring", "sort", "m"]),
    "solidity": ("/// doc\ncontract A is B {\n  function f() public {}\n}\n", ["A", "f"]),
    "starlark": ("# doc\ndef foo(x):\n  pass\n", ["foo"]),
    "tcl": ("# doc\nproc foo {a} {\n}\n", ["foo"]),
    "thrift": ("// doc\nstruct A {\n}\nservice B {\n}\n", ["A", "B"]),
    "verilog": ("// doc\nmodule a(input b);\nendmodule\n", ["a"]),
    "vhdl": ("-- doc\nentity valve is\nend valve;\narchitecture rtl of valve is\nbegin\nend;\n", ["valve", "rtl"]),
    "visualbasic": ("' doc\nPublic Sub Foo(x)\nEnd Sub\nPrivate Shared Function Bar()\n", ["Foo", "Bar"]),
}  # fmt: skip
AT_BLANK_LINES = {"asm", "batch", "css", "dockerfile", "elm", "groovy", "nix", "sparql"}


def titles(source: str, language: str) -> list[str]:
    return [title for _, title in code_cuts(source, language=language)]


@pytest.mark.parametrize("language", sorted(SAMPLES))
def test_definitions_are_found_and_named(language: str) -> None:
    """Each begins with the comments, attributes and decorators above it."""
    source, expected = SAMPLES[language]
    found = code_cuts(source, language=language)
    assert [title for _, title in found] == expected
    if "doc" in source and language != "fsharp":  # there it stands within the module
        assert "doc" in source[found[0][0] :].splitlines()[0]


def test_every_language_is_cut() -> None:
    """Every language has a sample here, except XML and the languages that are cut at blank lines."""
    assert SAMPLES.keys() | AT_BLANK_LINES | {"xml"} == CODE_LANGUAGES.keys()


@pytest.mark.parametrize("language", [*sorted(AT_BLANK_LINES), "klingon", ""])
def test_other_code_is_cut_at_the_left_margin_behind_blank_lines(language: str) -> None:
    """Where no grammar tells what is defined, the author's blank lines do."""
    source = "first {\n  a\n\n  b\n}\n\nsecond {\n}\n"
    assert code_cuts(source, language=language) == [(source.index("second"), "")]


@pytest.mark.parametrize(
    ("language", "source", "expected"),
    [
        ("java", f"class A {{\n  // {LONG}\n  int x;\n  /** d */\n  void f() {{}}\n  int y;\n}}\n", ["A", "A.f", "A"]),
        ("typescript", f"export class A {{\n  m() {{ /* {LONG} */ }}\n  g = () => 1;\n}}\n", ["A", "A.m", "A.g"]),
        ("rust", f"impl S {{\n  fn f() {{ /* {LONG} */ }}\n  fn g() {{}}\n}}\n", ["S", "S.f", "S.g"]),
        ("ruby", f"module M\n  class A\n    # {LONG}\n    def f; end\n  end\nend\n", ["M", "M.A", "M.A.f"]),
        ("cpp", f"namespace n {{\nclass A {{\n int f() {{ /* {LONG} */ }}\n}};\n}}\n", ["n", "n.A", "n.A.f"]),
        ("csharp", f"namespace N {{\nclass A {{\n void F() {{ /* {LONG} */ }}\n}}\n}}\n", ["N", "N.A", "N.A.F"]),
        ("elixir", f"defmodule A do\n  @doc \"{LONG}\"\n  def f(x), do: x\n  def g(x), do: x\nend\n", ["A", "A.f", "A.g"]),
        ("xml", f"<r>\n <a>{LONG}</a>\n <b/>\n</r>\n", ["r", "r.a", "r", "r.b", "r"]),
    ],
)  # fmt: skip
def test_long_classes_are_cut_at_their_members(language: str, source: str, expected: list[str]) -> None:
    """Members are named after what they are in; what stands between them has the outer name."""
    assert titles(source, language) == expected
    assert titles(source.replace(LONG, "short"), language) == expected[:1]


def test_indentation_and_characters_count() -> None:
    """Cuts are characters of the text, at the beginning of the line; within a line, at the definition."""
    source = f"x = 'äöü日😄'\nclass A:\n    '{LONG}'\n\n    def f(self): pass\n"
    assert [source[position:].split("\n")[0] for position, _ in code_cuts(source, language="python")] == [
        "class A:",
        "    def f(self): pass",
    ]
    assert code_cuts("a=1;function b(){}function c(){}", language="javascript") == [(4, "b"), (18, "c")]


def test_a_comment_belongs_to_the_line_it_ends_and_to_what_follows_directly() -> None:
    """A comment behind a statement, or with a blank line below, is not the definition's."""
    source = "x = 1  # of x\ndef f(): pass\n# alone\n\ndef g(): pass\n"
    cuts = code_cuts(source, language="python")
    assert [source[position : position + 5] for position, _ in cuts] == ["def f", "def g"]


@pytest.mark.parametrize(
    ("language", "source", "expected"),
    [
        ("python", "def f(:\n    pass\n\ndef g():\n    pass\n", "g"),
        ("python", "print 'two'\n\ndef g():\n    print 1\n", "g"),
        ("javascript", "function f( {\n\nfunction g() { return 1 }\n", "g"),
        ("go", "func f( {\n}\n\nfunc g() {\n}\n", "g"),
    ],
)
def test_broken_code_is_cut_as_far_as_it_can_be_read(language: str, source: str, expected: str) -> None:
    """A syntax error costs what it touches."""
    assert any(title.endswith(expected) for title in titles(source, language))


@pytest.mark.parametrize("language", sorted(CODE_LANGUAGES))
def test_time_grows_with_length_alone(language: str) -> None:
    """Brackets that are never closed, and prose in place of code, take no longer than code; most take milliseconds."""
    sources = ["{" * 10_000, "(" * 10_000, "word " * 2_000, "if x then " * 1_000, "<a " * 2_500, '"' * 5_001]
    begun = time.process_time()
    for source in sources:
        code_cuts(source, language=language)
    assert time.process_time() - begun < 4


def test_a_minified_megabyte_is_cut_in_seconds() -> None:
    """One line of 900,000 characters; a file above the limit is cut at the lines that begin definitions."""
    source = "".join(f"function a{n}(b){{return b+{n}}};" for n in range(28_000))
    begun = time.process_time()
    assert len(code_cuts(source, language="javascript")) == 28_000
    assert time.process_time() - begun < 15
    assert code_cuts(source * 2, language="javascript") == [(0, "a0")]


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from(sorted(CODE_LANGUAGES)),
    st.lists(st.sampled_from([sample for sample, _ in SAMPLES.values()]) | st.text(max_size=30), max_size=4).map("".join),
)  # fmt: skip
def test_any_text_is_covered(language: str, source: str) -> None:
    """Whatever the text and whatever it calls itself, blocks leave out only white space, and cuts ascend."""
    positions = [position for position, _ in code_cuts(source, language=language)]
    assert positions == sorted(positions)
    content = source.encode("utf-8", "ignore")
    document = parse(content, name="x", media_type=f"text/x-{language}")
    if document.blocks:
        opening = document.markdown.index("\n") + 1
        assert_blocks_cover(document, start=opening, end=document.markdown.rstrip("\n").rindex("\n"))
