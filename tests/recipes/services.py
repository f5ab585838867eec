"""The fakes of all recipes."""

from typing import Final

from tests.recipes.confluence import Confluence
from tests.recipes.drive import Drive
from tests.recipes.feed import Feed
from tests.recipes.github import GitHub
from tests.recipes.gitlab import GitLab
from tests.recipes.jira import Jira
from tests.recipes.mail import Mailbox
from tests.recipes.notion import Notion
from tests.recipes.service import Service
from tests.recipes.sharepoint import Sharepoint
from tests.recipes.slack import Slack
from tests.recipes.sql import Notes
from tests.recipes.zendesk import ZendeskArticles, ZendeskTickets

SERVICES: Final[tuple[type[Service], ...]] = (
    Notes,
    Feed,
    GitHub,
    Slack,
    Jira,
    Confluence,
    Notion,
    GitLab,
    ZendeskTickets,
    ZendeskArticles,
    Drive,
    Sharepoint,
    Mailbox,
)
"""In the order of the drill: the collection of the last one stays, and is searched by a test."""
