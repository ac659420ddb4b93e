"""The pages for people."""

from __future__ import annotations

from referee.web.pages.table import PAGES as PAGES
