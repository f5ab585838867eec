"""Exports of chats as documents: messages by day, with the names of those who wrote them."""
