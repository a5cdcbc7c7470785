"""Reads the rows that are left in the pages of a damaged SQLite file, each page by itself.

After https://www.sqlite.org/fileformat2.html, sections 1.5 to 1.6 and 2.1. SQLite itself stops at the first page that
it cannot use, and reaches no page below it.
"""

import struct
from collections.abc import Iterator

TABLE_LEAF, INDEX_LEAF, INDEX_INTERIOR = 13, 10, 2
PAGE_SIZE = 4096
"""Of the files that lrlab makes."""
WIDTHS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
"""Bytes of the whole numbers of a record, by their type."""
Value = int | float | str | bytes | None


def records(content: bytes) -> Iterator[tuple[int | None, list[Value]]]:
    """Yield all records: the number of the row, None in an index or a table without such, and the values.

    What cannot be read is left out; what can be may still be damaged.
    """
    for start in range(0, len(content), PAGE_SIZE):
        page = content[start : start + PAGE_SIZE]
        head = 100 if start == 0 else 0
        kind = page[head] if len(page) > head + 12 else 0
        if kind not in (TABLE_LEAF, INDEX_LEAF, INDEX_INTERIOR):
            continue
        first = head + (12 if kind == INDEX_INTERIOR else 8)
        for k in range(int.from_bytes(page[head + 3 : head + 5])):
            place = int.from_bytes(page[first + 2 * k : first + 2 * k + 2])
            try:
                yield _cell(content, page, place, kind)
            except (IndexError, ValueError, KeyError, struct.error):
                continue


def _cell(content: bytes, page: bytes, place: int, kind: int) -> tuple[int | None, list[Value]]:
    size, place = _varint(page, place + (4 if kind == INDEX_INTERIOR else 0))
    row = None
    if kind == TABLE_LEAF:
        row, place = _varint(page, place)
        # Its 64 bits have a sign.
        row = (row + 2**63) % 2**64 - 2**63
    least = (PAGE_SIZE - 12) * 32 // 255 - 23
    most = PAGE_SIZE - 35 if kind == TABLE_LEAF else (PAGE_SIZE - 12) * 64 // 255 - 23
    local = size
    if size > most:
        local = least + (size - least) % (PAGE_SIZE - 4)
        local = local if local <= most else least
    payload = page[place : place + local]
    following = int.from_bytes(page[place + local : place + local + 4])
    while len(payload) < min(size, len(content)):
        part = content[(following - 1) * PAGE_SIZE : following * PAGE_SIZE]
        if following < 1 or len(part) < PAGE_SIZE:
            raise ValueError("the rest is missing")
        following = int.from_bytes(part[:4])
        payload += part[4 : 4 + size - len(payload)]
    return row, _record(payload)


def _record(payload: bytes) -> list[Value]:
    place, values = 0, list[Value]()
    end, place = _varint(payload, place)
    body = end
    while place < end:
        kind, place = _varint(payload, place)
        width = WIDTHS.get(kind, 8 if kind == 7 else max(0, (kind - 12) // 2))
        part = payload[body : body + width]
        if len(part) < width or kind in (10, 11):
            raise ValueError("the record is cut")
        values.append(_value(kind, part))
        body += width
    return values


def _value(kind: int, part: bytes) -> Value:
    match kind:
        case 0:
            return None
        case 7:
            return float(struct.unpack(">d", part)[0])
        case 8 | 9:
            return kind - 8
        case _ if kind < 7:
            return int.from_bytes(part, signed=True)
        case _:
            return part.decode() if kind % 2 else part


def _varint(content: bytes, place: int) -> tuple[int, int]:
    """Return a number of variable length, and the place behind it."""
    number = 0
    for k in range(8):
        byte = content[place + k]
        number = number << 7 | byte & 127
        if byte < 128:
            return number, place + k + 1
    return number << 8 | content[place + 8], place + 9
