"""Linear algebra for thousands of players, of whom few have met.

The matrices of the model are graph Laplacians: a number for each two players that met, and nothing
else. What needs one solution gets it by conjugate gradients, from the pairs alone. Errors need the
whole inverse, which has no zeros: it is made in place, and products with it block by block, so
that no more than two squares are in memory, and by symmetry only half of each is computed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MANY = 1000
"""Up to so many unknowns the plain routines are as quick, and exact in every case."""
_BLOCK = 512
_SOLVED = 1e-13
"""The residual, as a share of what it was."""
_TURNS = 3000
"""Well connected players take some thirty; beyond this a chain is solved sooner by elimination."""
_SPARSE = 16
"""Up to one number in so many, rows are multiplied by those that are there."""


def solve(times: Callable[[Floats], Floats], diagonal: Floats, force: Floats) -> Floats | None:
    """x of times(x) = force, for a positive definite matrix with this diagonal.

    Conjugate gradients, preconditioned by the diagonal; None where they do not get there.
    """
    found = np.zeros_like(force)
    left = force.copy()
    direction = eased = left / diagonal
    size = float(left @ eased)
    enough = size * _SOLVED * _SOLVED
    for _ in range(_TURNS):
        if not size > enough:
            return found if np.isfinite(found).all() else None
        moved = times(direction)
        curve = float(direction @ moved)
        if not curve > 0:
            return None
        share = size / curve
        found += share * direction
        left -= share * moved
        eased = left / diagonal
        before, size = size, float(left @ eased)
        direction = eased + size / before * direction
    return None


class Sparse(NamedTuple):
    """A symmetric matrix by its rows."""

    starts: NDArray[np.intp]
    """Where each row starts; one more at the end."""
    columns: NDArray[np.intp]
    values: Floats

    @classmethod
    def of(
        cls, size: int, rows: NDArray[np.intp], columns: NDArray[np.intp], values: Floats
    ) -> Sparse:
        order = np.argsort(rows, kind="stable")
        starts = np.append(0, np.cumsum(np.bincount(rows, minlength=size)))
        return cls(starts.astype(np.intp), columns[order], values[order])

    @property
    def size(self) -> int:
        return len(self.starts) - 1

    def whole(self) -> Floats:
        found = np.zeros((self.size, self.size))
        found[np.repeat(np.arange(self.size), np.diff(self.starts)), self.columns] = self.values
        return found

    def times(self, block: Floats) -> Floats:
        """The product with a block of columns."""
        found = np.empty_like(block)
        ends = self.starts.tolist()
        for row in range(self.size):
            part = slice(ends[row], ends[row + 1])
            np.matmul(self.values[part], block[self.columns[part]], out=found[row])
        return found


def invert(matrix: Floats) -> None:
    """A symmetric positive definite matrix, in place: every block of players is swept out in turn.

    Sweeping all of them leaves −A⁻¹. The lower half is kept, and mirrored at the end.
    """
    size = len(matrix)
    for start in range(0, size, _BLOCK):
        end = min(start + _BLOCK, size)
        here = slice(start, end)
        column = np.concatenate([matrix[here, :start].T, matrix[start:, here]])
        inverse = np.linalg.inv(matrix[here, here])
        eased = column @ inverse
        for top in range(0, size, _BLOCK):
            bottom = min(top + _BLOCK, size)
            if top != start:
                matrix[top:bottom, :bottom] -= eased[top:bottom] @ column[:bottom].T
        matrix[here, :start] = eased[:start].T
        matrix[end:, here] = eased[end:]
        matrix[here, here] = -(inverse + inverse.T) / 2
    np.negative(matrix, out=matrix)
    mirror(matrix)


def sandwich(outer: Floats, inner: Sparse) -> Floats:
    """outer · inner · outer of symmetric matrices."""
    size = len(outer)
    found = np.empty_like(outer)
    whole = inner.whole() if len(inner.values) * _SPARSE > size * size else None
    for start in range(0, size, _BLOCK):
        end = min(start + _BLOCK, size)
        block = np.ascontiguousarray(outer[:, start:end])
        rows = inner.times(block) if whole is None else whole @ block
        np.matmul(rows.T, outer[:, :end], out=found[start:end, :end])
    mirror(found)
    return found


def mirror(matrix: Floats) -> None:
    """The lower half becomes the upper one too."""
    size = len(matrix)
    for start in range(0, size, _BLOCK):
        end = min(start + _BLOCK, size)
        matrix[:start, start:end] = matrix[start:end, :start].T
        inside = matrix[start:end, start:end]
        matrix[start:end, start:end] = np.tril(inside) + np.tril(inside, -1).T
