"""Batched launches: independent launches of one kernel become one. Guards the results of policies with branches."""

import itertools
import random
import struct

import pytest
from helpers.fake_driver import BATCHED

from cuaug._gpu.launch_sequence import Launch
from cuaug._passes import batched_launch


def random_launches(generator, count):
    """Launches of batchable and other kernels; each names three of eight buffers. A batchable kernel writes one."""
    launches = []
    for i in range(count):
        kernel = generator.choice(
            ["cuaug::warp_image<a>", "cuaug::warp_image<b>", "cuaug::histogram_lut<a>", "cuaug::draw"]
        )
        kernel = generator.choice([kernel, "cuaug::warp_image<a, cuaug::StoreAndMean>"])
        written, *read = generator.sample(range(8), 3)
        relocations = (0, read[0], 16), (48, written, 0), (56, read[1], 8)
        launches.append(Launch(kernel, (5, 1, 1), 256, 0, struct.pack("2q48x", -1, i), relocations))
    return launches


@pytest.mark.parametrize("seed", range(40))
def test_batched_launch_waits_for_dependencies(seed):
    """Two launches that use the same buffer keep their order if one of them writes it."""
    launches = random_launches(random.Random(seed), 24)
    batchable = {"cuaug::warp_image<a>", "cuaug::warp_image<b>", "cuaug::histogram_lut<a>"}
    positions = {}
    for position, merged in enumerate(batched_launch.merge_launches(launches)):
        x, y, count = merged.grid
        assert (x, y) == (5, 1)
        assert len(merged.record) == 64 * (1 if count == 1 else batched_launch.MAX_BATCHED)
        assert merged.kernel.endswith(BATCHED) == (count > 1)
        for i in range(count):
            (number,) = struct.unpack_from("q", merged.record, 64 * i + 8)
            original = launches[number]
            assert count == 1 or original.kernel in batchable
            assert merged.kernel in (original.kernel, original.kernel[:-1] + BATCHED)
            assert merged.record[64 * i :][:64] == original.record
            relocations = [(offset - 64 * i, *rest) for offset, *rest in merged.relocations if offset // 64 == i]
            assert relocations == list(original.relocations)
            assert positions.setdefault(number, position) == position
    assert sorted(positions) == list(range(24))

    def written_values(launch):
        # At 48 is the pointer to the result. What other kernels write is not known: all buffers count as written.
        return {value for offset, value, _ in launch.relocations if offset == 48 or launch.kernel not in batchable}

    def used_values(launch):
        return {value for _, value, _ in launch.relocations}

    for first, second in itertools.combinations(range(24), 2):
        a, b = launches[first], launches[second]
        if written_values(a) & used_values(b) or written_values(b) & used_values(a):
            assert positions[first] < positions[second], (first, second)


def test_batched_launch_groups_as_early_as_possible():
    """Of five chains of three launches, four become three batched launches; those of the fifth stay single."""
    chain = ["cuaug::warp_image<a>", "cuaug::histogram_lut<a>", "cuaug::warp_image<a>"]
    launches = [
        Launch(kernel, (5, 1, 1), 256, 0, bytes(64), ((0, 10 * i + step, 0), (48, 10 * i + step + 1, 0)))
        for i in range(5)
        for step, kernel in enumerate(chain)
    ]
    two = [(launch.kernel, launch.grid[2]) for launch in batched_launch.merge_launches(launches[:6])]
    assert two == [(kernel[:-1] + BATCHED, 2) for kernel in chain]
    assert [launch.grid[2] for launch in batched_launch.merge_launches(launches)] == [4, 4, 4, 1, 1, 1]
