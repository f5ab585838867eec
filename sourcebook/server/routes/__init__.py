"""The routes of the REST API, a module for each kind of resource."""

from sourcebook.server import path_numbers as path_numbers  # routes name its convertor
