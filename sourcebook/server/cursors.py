"""Cursors of the lists that the server answers with; the client makes them, too."""

from sourcebook.model.cursors import LONGEST_CURSOR as LONGEST_CURSOR
from sourcebook.model.cursors import cursor_of as cursor_of
from sourcebook.model.cursors import place_of as place_of
