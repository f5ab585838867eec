"""What a knowledge base does: one function an operation, which imports what does it when it is called."""
