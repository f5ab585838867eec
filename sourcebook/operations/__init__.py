"""Operations of a knowledge base: one function each, which imports what does the work when it is called."""
