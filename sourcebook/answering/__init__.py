"""Answers to questions by a language model, from passages that are searched for, with citations that are checked."""
