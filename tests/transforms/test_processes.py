"""Recipes in worker processes: copies of one recipe do not draw the same numbers."""

import functools
import itertools

import pytest
from helpers.child_process import python, python_after_import
from helpers.thinning import thinned

METHODS = ["fork", "spawn", "forkserver"]
SEEDS = [None, 5]
python_after_torch = functools.partial(python_after_import, ["torch.utils.data"])

WORKERS = [  # number, method, whether they are persistent
    *((workers, "fork", persistent) for workers in (2, 4) for persistent in (False, True)),
    (2, "spawn", True),
    (2, "forkserver", True),
]


@functools.cache
def worker_draws(method):
    """For each case of WORKERS and each seed: the number of distinct samples in each epoch and in both epochs together,
    and whether the same seed of torch gives both epochs again.

    One child process runs all cases of a method, and the same workers serve all seeds: to start a process takes longer
    than a case.
    """
    cases = [case for case in WORKERS if case[1] == method]
    program = f"""
from torch.utils.data import ConcatDataset
from helpers.process_draws import RecipeResults, epochs, recipe
if __name__ == "__main__":
    for workers, method, persistent in {cases}:
        dataset = ConcatDataset([RecipeResults(recipe(seed)) for seed in {SEEDS}])
        options = dict(num_workers=workers, multiprocessing_context=method, persistent_workers=persistent)
        first = epochs(dataset, 3, **options)
        again = epochs(dataset, 3, **options) == first
        for start in range(0, len(dataset), 96):
            of_seed = [epoch[start : start + 96] for epoch in first]
            print(*(len(set(epoch)) for epoch in of_seed), len(set(sum(of_seed, []))), again)
"""
    output, errors = python_after_torch(program, timeout=240 * len(cases))
    return dict(zip(itertools.product(cases, SEEDS), output.splitlines(), strict=True)), errors


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(("workers", "method", "persistent"), thinned(WORKERS, lambda *case: case[1] != "spawn"))
def test_compose_in_data_loader_workers_draws_anew(workers, method, persistent, seed):
    """All samples of two epochs differ, and the seed of torch's generator gives both epochs again."""
    results, errors = worker_draws(method)
    assert results[(workers, method, persistent), seed] == "96 96 192 True"
    assert errors == ""


@pytest.mark.parametrize("seed", SEEDS)
def test_compose_in_data_loader_without_workers_counts_calls(seed):
    program = f"""
from helpers.process_draws import RecipeResults, IMAGE, epochs, recipe
aug = recipe({seed})
first = epochs(RecipeResults(aug), 3)
print(len(set(sum(first, []))), [aug(IMAGE, step=i).tobytes().hex() for i in range(192)] == sum(first, []))
"""
    assert python_after_torch(program) == ("192 True", "")


@functools.cache
def draws_with_ids(method):
    """For each seed: the number of distinct samples in an epoch, and whether two workers give those of no workers.

    The same workers serve all seeds.
    """
    program = f"""
from torch.utils.data import ConcatDataset
from helpers.process_draws import RecipeResults, epochs, recipe
if __name__ == "__main__":
    seeds = {SEEDS}
    dataset = ConcatDataset([RecipeResults(recipe(seed), options=("ids", "step"), samples=24) for seed in seeds])
    (alone,) = epochs(dataset, 1, count=1)
    (workers,) = epochs(dataset, 2, count=1, num_workers=2, multiprocessing_context="{method}")
    for start in range(0, len(dataset), 24):
        of_seed = slice(start, start + 24)
        print(len(set(alone[of_seed])), workers[of_seed] == alone[of_seed])
"""
    output, errors = python_after_torch(program)
    return dict(zip(SEEDS, output.splitlines(), strict=True)), errors


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("method", ["fork", pytest.param("spawn", marks=pytest.mark.slow), "forkserver"])
def test_compose_with_ids_is_the_same_for_every_number_of_workers(method, seed):
    results, errors = draws_with_ids(method)
    assert (results[seed], errors) == ("24 True", "")


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("workers", [0, 2])
def test_compose_with_ids_but_no_step_draws_anew_in_every_epoch(workers, seed):
    """The counter of a worker's copy begins at 0 in every epoch, so the call warns, once per worker."""
    program = f"""
from helpers.process_draws import RecipeResults, epochs, recipe
first, second = epochs(RecipeResults(recipe({seed}), options=("ids",), samples=24), 3, num_workers={workers})
print(len(set(first + second)), any(a == b for a, b in zip(first, second)))
"""
    output, errors = python_after_torch(program, PYTHONWARNINGS="always::RuntimeWarning")
    assert output == "48 False"
    assert errors.count("pass step=epoch") == 2 * workers
    assert errors.count("RuntimeWarning: cuaug.transforms.Compose:") == 2 * workers


def test_compose_made_in_data_loader_worker_draws_anew():
    """Every worker makes a recipe of its own, with the same seed."""
    program = """
from helpers.process_draws import RecipeResults, epochs, recipe
class RecipePerWorker(RecipeResults):
    def __getitem__(self, index):
        self.recipe = self.recipe or recipe(5)
        return super().__getitem__(index)
first = epochs(RecipePerWorker(None), 3, num_workers=4)
print(len(set(sum(first, []))), epochs(RecipePerWorker(None), 3, num_workers=4) == first)
"""
    assert python_after_torch(program) == ("192 True", "")


def test_compose_of_two_seeds_differ_in_data_loader_workers():
    """A recipe's seed and a worker's number must not combine to the same draws as another seed and number."""
    program = """
from helpers.process_draws import RecipeResults, epochs, recipe
seeds = range(8)
print(len(set(sum((sum(epochs(RecipeResults(recipe(seed)), 3, num_workers=4), []) for seed in seeds), []))))
"""
    assert python_after_torch(program) == (str(8 * 192), "")


def test_compose_draw_and_structured_call_draw_anew_in_data_loader_workers():
    program = """
import numpy as np
from helpers.process_draws import IMAGE, RecipeResults, epochs, recipe
class Structured(RecipeResults):
    def __getitem__(self, index):
        return self.recipe({"image": IMAGE})["image"].tobytes().hex()
class Applied(RecipeResults):
    def __getitem__(self, index):
        return self.recipe.apply(IMAGE, self.recipe.draw(IMAGE)).tobytes().hex()
class Ragged(RecipeResults):  # two groups, called with the ids of their samples
    def __getitem__(self, index):
        return self.recipe([IMAGE, IMAGE[:1]])[1].tobytes().hex()
plain = epochs(RecipeResults(recipe(5)), 3, num_workers=2)
for kind in (Structured, Applied, Ragged):
    drawn = epochs(kind(recipe(5)), 3, num_workers=2)
    print(drawn == plain, len(set(sum(drawn, []))))
"""
    assert python_after_torch(program) == ("True 192\nTrue 192\nFalse 192", "")


@pytest.mark.parametrize("method", METHODS)
def test_compose_without_seed_draws_anew_in_pool(method):
    program = f"""
from helpers.process_draws import pool_results, recipe
if __name__ == "__main__":
    print(len(set(pool_results("{method}", recipe()))))
"""
    assert python(program) == ("32", "")


def test_compose_without_seed_draws_one_seed_per_process():
    program = """
import os
from helpers.process_draws import IMAGE, recipe
aug = recipe()
aug(IMAGE)
parent_seed = aug.seed
if os.fork() == 0:
    seed, results = aug.seed, [aug(IMAGE) for _ in range(2)]
    same = [(aug(IMAGE, step=step) == result).all() for step, result in zip((1, 2), results)]
    print(seed != parent_seed, aug.seed == seed == aug.state_dict()["seed"] == aug.to_dict()["seed"], *same, flush=True)
    os._exit(0)
os.wait()
print(aug.seed == parent_seed)
"""
    assert python(program) == ("True True True True\nTrue", "")


def test_compose_after_without_seed_draws_anew_in_pool():
    program = """
from helpers.process_draws import pool_results, recipe
if __name__ == "__main__":
    print(len(set(pool_results("fork", recipe().after(0)))))
"""
    assert python(program) == ("32", "")


def test_transform_draws_anew_in_pool():
    """A transform alone is a recipe without a seed."""
    program = """
import multiprocessing
from helpers.process_draws import IMAGE, call
from cuaug import transforms as T
noise = T.GaussianNoise(clip=False)
noise(IMAGE)
def called(_):
    return call(noise, {})
with multiprocessing.get_context("fork").Pool(4) as pool:
    print(len(set(pool.map(called, range(32), chunksize=1))))
"""
    assert python(program) == ("32", "")


FORKED = """
import os
from helpers.process_draws import IMAGE, recipe
aug, other = recipe(5), recipe(6)
print(aug(IMAGE, step=0).sum(), flush=True)
if os.fork() == 0:
    {statements}
    os._exit(0)
os.wait()
print(other(IMAGE).sum() != 0)
"""


def test_compose_with_seed_warns_once_in_another_process():
    statements = "results = [aug(IMAGE).sum(), other(IMAGE).sum(), aug(IMAGE).sum()]; print(results[0], flush=True)"
    output, errors = python(FORKED.format(statements=statements), PYTHONWARNINGS="always")
    here, child, _ = output.split()
    assert child == here  # the draws stay those of the seed
    assert errors.count("RuntimeWarning") == 1
    assert "cuaug.transforms.Compose" in errors
    assert all(name in errors for name in ("ids=", "step=", "seed="))


@pytest.mark.parametrize("call", ["aug(IMAGE)", "aug({'image': IMAGE})", "aug(IMAGE, labels=1)", "aug.draw(IMAGE)"])
@pytest.mark.parametrize("first", ["aug(IMAGE, step=0)", "pass"])
def test_compose_warning_names_the_line_of_the_call(call, first):
    """The number of cuaug's stack frames above the call differs between the first call with an array and later ones."""
    program = f"""
import os
from helpers.process_draws import IMAGE, recipe
aug = recipe(5)
{first}
if os.fork() == 0:
    {call}
    os._exit(0)
os.wait()
"""
    assert python(program, PYTHONWARNINGS="always")[1].startswith("<string>:7: RuntimeWarning: ")


@pytest.mark.parametrize("call", ["aug(IMAGE, ids=7)", "aug(IMAGE, step=7)", "aug.seed = 9; aug(IMAGE)", "aug.seed"])
def test_compose_with_seed_does_not_warn_if_ids_step_or_seed_is_chosen(call):
    assert python(FORKED.format(statements=call), PYTHONWARNINGS="always")[1] == ""


def test_compose_restored_in_another_process_continues(tmp_path):
    """A state counts as a given seed."""
    program = f"""
import json, os, pathlib
from helpers.process_draws import IMAGE, recipe
saved, path = recipe(), pathlib.Path({str(tmp_path / "state")!r})
for _ in range(3):
    saved(IMAGE)
path.write_text(json.dumps(saved.state_dict()))
print(saved(IMAGE).sum(), flush=True)
if os.fork() == 0:
    restored = recipe()
    restored.load_state_dict(json.loads(path.read_text()))
    print(restored(IMAGE).sum(), flush=True)
    os._exit(0)
os.wait()
"""
    output, errors = python(program, PYTHONWARNINGS="always")
    first, second = output.split()
    assert (first, errors) == (second, "")


def test_compose_does_not_import_torch():
    program = """
import multiprocessing, sys
from helpers.process_draws import IMAGE, pool_results, recipe
aug = recipe()
aug(IMAGE)
pool_results("fork", aug)
print("torch" in sys.modules, "multiprocessing.pool" in sys.modules)
"""
    assert python(program) == ("False True", "")
