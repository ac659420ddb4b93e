"""`DATA/house.db`: teams, bots, versions, seasons, and what people asked the daemon for.

The one way in which processes tell each other what is wanted: whoever wants something changed
writes it here, and the coordinator sees that the data has another version. So everything survives
a kill, and commands work whether the daemon runs or not.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from referee.store.house.books import Books as Books
from referee.store.house.books import Now, make_private, open_books, wall_clock
from referee.store.house.bots import Bots
from referee.store.house.journal import Journal
from referee.store.house.mistakes import Conflict
from referee.store.house.ratings import Ratings
from referee.store.house.rulings import Rulings
from referee.store.house.seasons import Seasons
from referee.store.house.settings import Settings
from referee.store.house.submissions import Submissions
from referee.store.house.teams import Teams
from referee.store.house.tournaments import Tournaments
from referee.store.house.versions import Versions
from referee.store.lock import Lock
from referee.store.trouble import BadStore, StoreRefused


class House:
    """The house's database, open; several processes and threads may have it so at once.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder, House.open(folder) as house:
    ...     token = house.teams.add("Reds", by="me").token
    ...     house.teams.of_token(token).name
    'Reds'
    """

    def __init__(self, books: Books) -> None:
        self._books = books
        self._charge: Lock | None = None
        self.data = books.data
        self.settings = Settings(books)
        self.journal = Journal(books)
        self.teams = Teams(books)
        self.bots = Bots(books)
        self.versions = Versions(books, self.bots, self.settings)
        self.submissions = Submissions(books, self.bots, self.versions, self.settings)
        self.seasons = Seasons(books)
        self.ratings = Ratings(books)
        self.rulings = Rulings(books)
        self.tournaments = Tournaments(books)

    @classmethod
    def open(cls, data: str | Path, *, create: bool = True, now: Now = wall_clock) -> House:
        """Open the database of a data folder, which is made if it is not there. Raises BadHouse."""
        return cls(open_books(Path(data), create=create, now=now))

    def close(self) -> None:
        self._books.close()
        if self._charge is not None:
            self._charge.release()
            self._charge = None

    def __enter__(self) -> House:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def changing(self) -> AbstractContextManager[None]:
        """Several changes as one, whole or undone."""
        return self._books.changing()

    def version_of_data(self) -> int:
        """Another number after every change, whoever made it."""
        return self._books.version_of_data()

    def take_charge(self) -> int:
        """Be the daemon of this data folder until the house is closed, or the process ends.

        Submissions and tournaments that a daemon had in hand when it was killed go back into their
        queues; how many there were is returned. The folder is made private. Raises Conflict
        where another daemon runs, HouseRefused where everybody can read it and that has to stay so.
        """
        if self._charge is None:
            try:
                self._charge = Lock(self.data)
            except StoreRefused:
                raise
            except BadStore as taken:
                raise Conflict(f"a daemon runs already: {taken}") from None
        make_private(self.data)
        self.submissions.clear_uploads()
        return self.put_all_back()

    def put_all_back(self) -> int:
        """What nobody has in hand any more goes back into its queue; how many there were."""
        with self.changing():
            return self.submissions.put_all_back() + self.tournaments.put_all_back()

    def give_charge_back(self) -> None:
        """Let another daemon take charge."""
        if self._charge is not None:
            self._charge.release()
            self._charge = None

    def backup(self, path: Path) -> None:
        """Copy the database to a new file, while others go on writing."""
        self._books.backup(path)
