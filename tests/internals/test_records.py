"""Every record that Python packs has the layout of its C++ struct."""

import pytest

from cuaug import _native as native
from cuaug._program import records

LAYOUT = native.record_layout()
RECORDS = {
    value.name.replace("cuaug::", ""): value
    for found in vars(records).values()
    for value in (found.values() if isinstance(found, dict) else [found])
    if isinstance(value, records.Record)
}


def test_records_of_python_are_structs_of_the_extension():
    assert set(RECORDS) <= set(LAYOUT)


@pytest.mark.parametrize("name", sorted(RECORDS))
def test_record_fields_have_the_offsets_and_sizes_of_the_struct(name):
    assert RECORDS[name].offsets == LAYOUT[name]
