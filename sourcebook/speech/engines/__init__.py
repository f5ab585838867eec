"""The speech engines, each behind `sourcebook.speech.engine.Engine`. Imported only in the child process."""
