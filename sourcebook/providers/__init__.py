"""Providers: servers of others that are asked for vectors and scores over HTTP. Nothing that they answer is trusted."""
