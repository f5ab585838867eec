"""Rules by which a page of lines becomes text: what is beside what, what is a table, what is a heading.

Each number has a tag behind its meaning, for the PDFs that were read when it was chosen. Numbers were chosen where they
mend what was seen there, and kept because the figures of those lists, which docs/figures.md has, did not fall.
`benchmarks/corpora` has the lists; of each, the half *report* was not looked at.

- [first]: docling's shared PDFs and the example library, before there was a list (decision 0010); not measured alone.
- [library]: half *work* of the sixty PDFs of `pdf_library.tsv`, and 34 more of Debian.
- [apart]: half *work* of `pdf_apart.tsv`.
- [further]: `pdf_further.tsv`, half *work* and one PDF of *report* (decision 0059).
- [0076]: half *work* of `pdf_scripts.tsv`.
- [0078]: half *work* of the lists apart, further and scripts.
- [0079]: half *work* of `pdf_world.tsv` and `pdf_letters.tsv`.
- [0080]: the same, and 42 tables printed for the purpose.
"""
