"""Definitions and their names in tree-sitter's grammars."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, cast

from sourcebook.model.media_types import CODE_LANGUAGES

if TYPE_CHECKING:
    from tree_sitter import Node, Parser
    from tree_sitter_language_pack import SupportedLanguage


def _words(names: str) -> frozenset[str]:
    return frozenset(names.split())


_GRAMMARS = {"jsx": "javascript", "makefile": "make", "svelte": "vue"}
"""Grammars whose name differs from their language."""
AT_BLANK_LINES = frozenset({"css", "dockerfile", "groovy"})
"""Languages cut at blank lines: Groovy's grammar has no definitions; style sheets and Dockerfiles read best so."""
_BY_LINES = _words(
    """abap ada asm batch cmake cobol elm fortran lisp matlab nim nix pascal sas solidity sparql starlark tcl thrift
    verilog vhdl visualbasic"""
)
"""Languages without a grammar, or with one whose definitions nobody has listed here."""

CONTAINERS = _words(
    """abstract_class_declaration annotation_type_declaration class class_declaration class_definition
    class_specifier class_statement companion_object element enum_declaration enum_item extension_declaration
    impl_item interface_declaration internal_module message mixin_declaration mod_item module module_defn
    module_definition named_module namespace_declaration namespace_definition object_declaration
    object_definition protocol_declaration record_declaration service singleton_class struct_declaration
    struct_specifier trait_declaration trait_definition trait_item union_specifier"""
)
"""Node types of definitions whose members are definitions: classes, modules, namespaces."""
_DEFINITIONS = CONTAINERS | _words(
    """concept_definition constructor_declaration data_type define_directive deinit_declaration
    delegate_declaration destructor_declaration enum enum_definition enum_specifier fun_decl function
    function_declaration function_definition function_item function_signature function_statement
    generator_function_declaration init_declaration instance local_function_statement macro_definition method
    method_declaration method_definition method_signature newtype function_signature_item operator_declaration
    protocol_function_declaration rpc rule script_element section singleton_method struct_definition struct_item
    style_element subroutine_declaration_statement template_element type_alias type_alias_declaration
    type_definition type_item type_spec type_synomym union_item value_definition class_method_definition
    function_or_value_defn FnProto TestDecl"""
)
_WRAPPERS = _words(
    """Decl ambient_declaration declaration_expression decorated_definition export_statement expression_statement
    lexical_declaration statement template_declaration type_declaration variable_declaration"""
)
"""Node types that may contain a single definition."""
_NAMED_VALUES = _words(
    """assignment_expression assignment_statement binary_operator field_definition public_field_definition
    variable_declarator"""
)
"""Node types that are definitions where their value is a function."""
_FUNCTIONS = _words("""arrow_function function function_definition function_expression generator_function""")
_OWN = {
    "elixir": frozenset({"call"}),
    "clojure": frozenset({"list_lit"}),
    "graphql": frozenset({"definition"}),
    "hcl": frozenset({"block"}),
    "zig": frozenset({"VarDecl"}),
}
CLAUSES = frozenset({"function", "fun_decl", "call"})
"""Node types of definitions in several parts that stay together: Haskell's equations, Erlang's and Elixir's clauses."""
CONTINUATIONS = frozenset({"function_body", "empty_statement"})
"""Node types behind a definition that are still a part of it."""
_TRANSPARENT = _words(
    """ERROR body declarations document forms linkage_specification preproc_else preproc_if preproc_ifdef
    statement_list"""
)
_BODIES = _words(
    """block body_statement class_body content declaration_list do_block message_body statement_block structure"""
)
_ABOVE = re.compile(r"(?i)comment|^(?:decorator|attribute_item|attribute_list|annotation|haddock|signature)$")
_ABOVE_IN = {"elixir": "unary_operator", "julia": "string_literal"}
MODIFIERS = frozenset({"pub", "export", "extern", "inline"})
"""Keywords that some grammars leave outside their definition."""

_DEEPEST = 32
"""Depth to which groups of nodes are replaced by their children."""
_NAME = re.compile(
    r"(?:identifier|name|object_reference|targets|constant|constructor|sym_lit|alias|STRINGLITERALSINGLE)$",
    re.IGNORECASE,
)
_ELIXIR_MODULES = ("defmodule", "defprotocol", "defimpl")
_NAMES_IN_TEXT = {
    ("elixir", "call"): re.compile(r"def\w*\s+([^\s(,]+)"),
    ("clojure", "list_lit"): re.compile(r"\(def[\w-]*\s+(?:\^\S+\s+)*([^\s()\[\]{}\"]+)"),
    ("erlang", "fun_decl"): re.compile(r"([a-z]\w*|'[^'\n]*')\s*\("),
    ("julia", "function_definition"): re.compile(r"function\s+([^\s({]+)"),
    ("julia", "macro_definition"): re.compile(r"macro\s+([^\s({]+)"),
    ("zig", "VarDecl"): re.compile(r"const\s+(\w+)\s*=\s*(?:extern\s+|packed\s+)?(?:struct|enum|union)\b"),
}
"""Patterns of names for grammars without a field for them; a node of `_OWN` that does not match defines nothing."""
_GO_RECEIVER = re.compile(r"(\w+)(?:\[[^\]]*\])?\s*\)$")
_LONGEST_NAME = 100


@cache
def parser_of(language: str) -> Parser | None:
    """Return the parser of one of `CODE_LANGUAGES`, or None where no grammar has definitions."""
    from tree_sitter_language_pack import get_parser

    if language in AT_BLANK_LINES | _BY_LINES or language not in CODE_LANGUAGES:
        return None
    try:
        return get_parser(cast("SupportedLanguage", _GRAMMARS.get(language, language)))
    except LookupError:
        return None


def child_nodes(node: Node, depth: int = 0) -> Iterator[Node]:
    """Yield the children of a node; groups and unreadable parts are replaced by their own children."""
    for child in node.children:
        if child.type in _TRANSPARENT and depth < _DEEPEST:
            yield from child_nodes(child, depth + 1)
        else:
            yield child


def members(node: Node) -> Iterator[Node]:
    """Yield the members of a class, module or namespace."""
    body = node.child_by_field_name("body")
    if body is None:
        body = next((child for child in _near(node, depth=2) if child.type in _BODIES), None)
    return child_nodes(node if body is None else body)


def is_above(node: Node, language: str) -> bool:
    """Tell whether a node is a comment, decorator or attribute, which belongs to the definition below it."""
    return _ABOVE.search(node.type) is not None or node.type == _ABOVE_IN.get(language)


def definition_in(node: Node, language: str, depth: int = 0) -> Node | None:
    """Return the definition that a node is or contains, or None."""
    kind = node.type
    if kind in _OWN.get(language, ()):
        return node if _name_in_text(node, language) else None
    if kind in _DEFINITIONS or (language == "sql" and kind.startswith("create_")):
        return node if node.is_named else None
    if kind in _NAMED_VALUES:
        return node if any(child.type in _FUNCTIONS for child in _near(node, depth=2)) else None
    if kind in _WRAPPERS and depth < 4:
        found = (definition_in(child, language, depth + 1) for child in node.named_children)
        return next((definition for definition in found if definition is not None), None)
    return None


def is_container(node: Node, language: str) -> bool:
    """Tell whether the members of a definition may be definitions."""
    if language == "elixir":
        return _text(node, 40).startswith(_ELIXIR_MODULES)
    return node.type in CONTAINERS


def name_of(node: Node, language: str) -> str:
    """Return the name of a definition, or "" where it has none."""
    name = _name_in_text(node, language) or _named(node, language)
    return " ".join(name.strip("\"'[] \n").split())[:_LONGEST_NAME]


def _named(node: Node, language: str) -> str:
    for field in ("name", "left", "lhs", "type" if node.type == "impl_item" else "function"):
        named = node.child_by_field_name(field)
        if named is not None:
            name = _text(named).partition("<")[0] if field == "type" else _text(named)
            receiver = node.child_by_field_name("receiver") if language == "go" else None
            owner = _GO_RECEIVER.search(_text(receiver)) if receiver is not None else None
            return f"{owner[1]}.{name}" if owner else name
    declarator = node.child_by_field_name("declarator")
    while declarator is not None:
        inner = declarator.child_by_field_name("declarator")
        if inner is None:
            return _text(declarator)
        declarator = inner
    children = () if language == "sql" else node.named_children[:4]  # SQL names both schema and table
    inside = [child.child_by_field_name("name") for child in children]
    near = [child for child in _near(node, depth=2) if _NAME.search(child.type)]
    return next((_text(found) for found in (*inside, *near) if found is not None), "")


def _name_in_text(node: Node, language: str) -> str:
    match language:
        case "hcl":
            labels = [child for child in node.named_children[:6] if child.type in {"identifier", "string_lit"}]
            return ".".join(_text(label).strip('"') for label in labels)
        case "graphql":
            return next((_text(child) for child in _near(node, depth=4) if child.type == "name"), "")
        case _:
            pattern = _NAMES_IN_TEXT.get((language, node.type))
            found = pattern.match(_text(node)) if pattern else None
            return found[1] if found else ""


def _near(node: Node, *, depth: int) -> Iterator[Node]:
    """Yield the first descendants of a node, level by level."""
    level = [node]
    for _ in range(depth):
        level = [child for parent in level for child in parent.named_children[:20]]
        yield from level


def _text(node: Node, most: int = 200) -> str:
    return (node.text or b"")[:most].decode("utf-8", "ignore")
