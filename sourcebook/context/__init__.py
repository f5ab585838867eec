"""Context for language models: passages within a budget of tokens, cited and fenced."""
