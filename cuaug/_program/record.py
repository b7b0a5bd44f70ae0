"""The layout of a C++ struct that Python packs."""

from __future__ import annotations

import struct
from collections.abc import Mapping


class Record:
    """A C++ struct that Python packs.

    A field is a format of the module `struct` ("P", "4d"), a record, or (record, count) for an array.

    Attributes:
        name: The struct in namespace cuaug, with its template arguments.
        offsets: Offset and size of each field in bytes. "in.data" is field `data` of the record `in`; an array is one
            field.
        call_value_offsets: Offsets of the fields that may differ between calls of a recorded launch: pointers, and the
            fields that the argument `call_values` names. Each has 8 bytes.
    """

    def __init__(
        self,
        name: str,
        fields: Mapping[str, str | Record | tuple[Record, int]],
        base: Record | None = None,
        call_values: tuple[str, ...] = (),
    ) -> None:
        self.name = name
        self.offsets: dict[str, tuple[int, int]] = dict(base.offsets) if base else {}
        self.call_value_offsets: tuple[int, ...] = base.call_value_offsets if base else ()
        self._format: str = base._format if base else ""
        self._field_formats: dict[str, str] = dict(base._field_formats) if base else {}
        for field, kind in fields.items():
            if isinstance(kind, tuple):
                begin = struct.calcsize(self._format)
                for _ in range(kind[1]):
                    self._append("", kind[0], call_values)
                self.offsets[field] = begin, kind[0].size * kind[1]
                self._field_formats[field] = kind[0]._format * kind[1]
            else:
                self._append(field, kind, call_values)
        packer = struct.Struct(self._format + "0q")  # C++ pads a struct's end to its alignment
        self.pack = packer.pack
        self.size: int = packer.size
        # Packs the fields after those of the base.
        self.pack_derived = struct.Struct(self._format[len(base._format) :] + "0q").pack if base else self.pack

    def _append(self, field: str, kind: str | Record, call_values: tuple[str, ...]) -> None:
        field_format = kind._format if isinstance(kind, Record) else kind
        end = struct.calcsize(self._format + field_format)
        begin = end - struct.calcsize(field_format)
        if isinstance(kind, Record):
            for inner, (offset, size) in kind.offsets.items() if field else ():
                self.offsets[f"{field}.{inner}"] = begin + offset, size
                self._field_formats[f"{field}.{inner}"] = kind._field_formats[inner]
            self.call_value_offsets += tuple(begin + offset for offset in kind.call_value_offsets)
        else:
            self.offsets[field] = begin, end - begin
            self._field_formats[field] = kind
            if kind.endswith("P"):
                self.call_value_offsets += tuple(range(begin, end, 8))
            elif field in call_values:
                self.call_value_offsets += (begin,)
        self._format += field_format

    def span_packer(self, first: str, last: str) -> struct.Struct:
        """A packer of only the adjacent fields from `first` to `last`."""
        names = list(self._field_formats)
        fields = names[names.index(first) : names.index(last) + 1]
        return struct.Struct("".join(self._field_formats[name] for name in fields))

    def packer(self, *spans: tuple[str, str]) -> struct.Struct:
        """A packer of the record that takes the fields of each span, (first, last), as bytes of its `span_packer`."""
        formats, names = dict(self._field_formats), list(self._field_formats)
        for first, last in spans:
            for name in names[names.index(first) : names.index(last) + 1]:
                del formats[name]
            formats[first] = f"{self.span_packer(first, last).size}s"
        order = sorted(formats, key=names.index)
        packer = struct.Struct("".join(formats[name] for name in order) + "0q")
        assert packer.size == self.size, (self.name, packer.size, self.size)
        return packer
