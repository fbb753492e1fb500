"""One-to-one matching at the least total cost, exact, on sets held as bits of whole numbers.

The primal-dual method (Kuhn 1955, Munkres 1957) for small whole costs. Each row's columns are grouped by
cost, each group a bit set, so that a step looks at a whole group at once instead of at each pair.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Costs = Mapping[int, int]
"""One row: cost ≥ 0 → bit set of the columns that cost so much. Every column is in exactly one set."""


def assign(rows: Sequence[Costs], columns: int) -> list[int]:
    """The column of each row, all different, with the least sum of costs. Needs len(rows) ≤ columns."""
    return _Assignment(rows, columns).solve()


class _Assignment:
    """Duals u (rows) and v (columns, ≤ 0) with cost - u - v ≥ 0 everywhere; only pairs where it is 0 are ever matched."""

    def __init__(self, rows: Sequence[Costs], columns: int) -> None:
        self.rows = [{cost: mask for cost, mask in row.items() if mask} for row in rows]
        self.u = [min(row) for row in self.rows]
        self.by_v = {0: (1 << columns) - 1}
        self.free = (1 << columns) - 1
        self.column_of = [-1] * len(rows)
        self.row_of = [-1] * columns

    def solve(self) -> list[int]:
        """Match what is tight, loosen the duals where the search is stuck, until every row has its column."""
        while unmatched := [row for row, column in enumerate(self.column_of) if column < 0]:
            reached, seen = self._augment_all(unmatched)
            if all(self.column_of[row] < 0 for row in unmatched):
                self._loosen(reached, seen)
        return self.column_of

    def _tight(self, row: int) -> int:
        dual, found = self.u[row], 0
        for cost, mask in self.rows[row].items():
            found |= mask & self.by_v.get(cost - dual, 0)
        return found

    def _augment_all(self, unmatched: Sequence[int]) -> tuple[list[int], int]:
        """Augment along disjoint tight paths; gives the rows reached and the bit set of columns seen."""
        reached: list[int] = []
        seen = 0
        for start in unmatched:
            seen = self._augment(start, reached, seen)
        return reached, seen

    def _augment(self, start: int, reached: list[int], seen: int) -> int:
        """Depth first from one free row: a path to a free column flips it."""
        path = [start]
        reached.append(start)
        choice: dict[int, int] = {}
        while path:
            row = path[-1]
            open_columns = self._tight(row) & ~seen
            if not open_columns:
                path.pop()
                continue
            pick = open_columns & self.free or open_columns
            low = pick & -pick
            seen |= low
            choice[row] = low.bit_length() - 1
            if low & self.free:
                self.free ^= low
                self._flip(path, choice)
                return seen
            path.append(self.row_of[choice[row]])
            reached.append(path[-1])
        return seen

    def _flip(self, path: Sequence[int], choice: Mapping[int, int]) -> None:
        for row in path:
            self.column_of[row], self.row_of[choice[row]] = choice[row], row

    def _loosen(self, reached: Sequence[int], seen: int) -> None:
        """Raise the reached rows and lower the seen columns by the least amount that makes another pair tight."""
        step = min(self._slack(row, seen) for row in reached)
        for row in reached:
            self.u[row] += step
        lowered: dict[int, int] = {}
        for value, mask in self.by_v.items():
            if mask & seen:
                lowered[value - step] = lowered.get(value - step, 0) | mask & seen
            if mask & ~seen:
                lowered[value] = lowered.get(value, 0) | mask & ~seen
        self.by_v = lowered

    def _slack(self, row: int, seen: int) -> int:
        dual = self.u[row]
        return min(cost - dual - value for cost, mask in self.rows[row].items() for value, group in self.by_v.items() if mask & group & ~seen)
