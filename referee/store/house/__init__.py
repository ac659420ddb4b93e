"""The house: what the daemon keeps beside the games, in `DATA/house.db`."""

from referee.store.house.house import House as House
