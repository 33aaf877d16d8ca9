"""The bundled tables: small, public, rebuilt to the byte, and as their stories say."""

from __future__ import annotations

import tomllib
from fnmatch import fnmatch
from pathlib import Path

import numpy as np
import pytest
from support import ROOT

from dpcore.datasets.catalogue import BundledTable, bundled, find, home, path_of
from dpcore.datasets.generators import covariance_2d, gaussian_mixture, stroke_like
from dpcore.datasets.load import load, read_frame
from dpcore.datasets.make import files, make_all
from dpcore.datasets.make.__main__ import main
from dpcore.errors import InputError
from dpcore.wall.clip import bounded_rows

TABLES = pytest.mark.parametrize("table", bundled(), ids=lambda table: table.name)


def test_the_files_are_what_a_rebuild_gives() -> None:
    built = {name: text for made in make_all() for name, text in made.contents().items()}
    kept = {path.name: files.read_content(path) for path in home().iterdir()}
    assert sorted(kept) == sorted(built)
    assert [name for name in built if kept[name] != built[name]] == []


def test_the_command_writes_the_same_files_anywhere(tmp_path: Path) -> None:
    main([str(tmp_path / "new")])
    for path in (tmp_path / "new").iterdir():
        assert files.read_content(path) == files.read_content(home() / path.name)


def test_a_rebuild_leaves_right_files_alone_and_mends_wrong_ones(tmp_path: Path) -> None:
    made = make_all()[0]
    made.write(tmp_path)
    path = tmp_path / made.file
    right, written = path.read_bytes(), path.stat().st_mtime_ns
    made.write(tmp_path)
    assert path.stat().st_mtime_ns == written
    path.write_bytes(b"age\n")
    made.write(tmp_path)
    assert path.read_bytes() == right


def test_together_they_stay_below_four_megabytes() -> None:
    assert sum(path.stat().st_size for path in home().iterdir()) < 4_000_000


def test_every_file_is_shipped_in_the_wheel() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    assert "sample_data" in settings["packages"]["find"]["include"]
    globs = settings["package-data"]["sample_data"]
    names = [path.name for path in home().iterdir()]
    assert [name for name in names if not any(fnmatch(name, glob) for glob in globs)] == []


@TABLES
def test_the_catalogue_states_size_and_schema(table: BundledTable) -> None:
    frame = read_frame(table.path)
    assert len(frame) == table.rows
    assert len(table.schema.features) == table.features
    assert table.path == path_of(table.name)
    assert table.schema.title == table.title
    assert set(frame) == {column.name for column in table.schema.columns}


@TABLES
def test_every_axis_has_a_unit_or_is_a_category(table: BundledTable) -> None:
    unitless = table.name == "life_science_like"  # principal components have none
    columns = [table.schema.column(name) for name in table.schema.features]
    assert unitless or all(column.unit or column.categories for column in columns)


@TABLES
def test_every_row_lies_inside_the_public_bounds(table: BundledTable) -> None:
    sealed = load(table.path)
    if table.name == "stewards_table":
        with pytest.raises(InputError, match="missing"):
            bounded_rows(sealed, private=False)
    else:
        bounded_rows(sealed, private=False)  # refuses a cell outside its bounds


@TABLES
def test_the_bounds_are_not_those_of_the_data(table: BundledTable) -> None:
    frame = read_frame(table.path)
    for name in table.schema.features:
        column = table.schema.column(name)
        if column.lower is not None:
            tight = (frame[name].min(), frame[name].max())
            assert (column.lower, column.upper) != tight or table.provenance == "simulated"


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(InputError, match="three_groups, rare_person"):
        find("titanic")


def test_exactly_one_person_is_rare_in_both_tables() -> None:
    for name in ("rare_person", "rare_person_50x"):
        frame = read_frame(path_of(name))
        rows = frame[["age", "income"]].to_numpy()
        away = np.abs(rows - np.median(rows, axis=0)) > 7 * np.array([7.0, 12.0])
        assert away.any(axis=1).sum() == 1
        assert away.all(axis=1)[-1] or away[-1, 1]
    small, large = (find(name).rows for name in ("rare_person", "rare_person_50x"))
    assert large - 1 == 50 * (small - 1)


@pytest.mark.parametrize("seed", range(4))
def test_an_exact_fit_finds_the_three_groups_and_gives_the_rare_person_away(seed: int) -> None:
    from sklearn.mixture import GaussianMixture

    def fitted(name: str, columns: list[str]) -> GaussianMixture:
        rows = read_frame(path_of(name))[columns].to_numpy()
        return GaussianMixture(3, random_state=seed, reg_covar=0.1).fit(rows)

    means = fitted("three_groups", ["age", "visits"]).means_
    np.testing.assert_allclose(
        means[np.argsort(means[:, 0])], [[33, 18], [60, 46], [87, 28]], atol=1
    )
    rare = fitted("rare_person", ["age", "income"])
    lonely = np.argmax(rare.means_[:, 1])
    np.testing.assert_allclose(rare.means_[lonely], [91, 176], atol=0.1)
    assert rare.weights_[lonely] == pytest.approx(1 / 105, rel=1e-3)


def test_the_stewards_table_is_skewed_and_has_gaps() -> None:
    frame = read_frame(path_of("stewards_table"))
    for name in ("income", "visits", "distance_to_clinic"):
        assert frame[name].skew() > 1
    share = frame.isna().mean()
    assert 0.10 < share["satisfaction"] < 0.14
    assert 0.02 < share["income"] < 0.04
    assert set(frame["region"]) == {"north", "east", "south", "west"}


def test_the_life_science_table_has_the_published_shape() -> None:
    rows = read_frame(path_of("life_science_like")).iloc[:, :10].to_numpy()
    spread = [2.48, 2.19, 2.08, 1.84, 1.66, 1.46, 1.34, 1.29, 1.22, 1.17]
    np.testing.assert_allclose(rows.std(axis=0), spread, rtol=0.01)
    np.testing.assert_allclose(rows.mean(axis=0), 0.0, atol=0.02)
    assert np.linalg.norm(rows, axis=1).max() <= 16.25


def test_nothing_of_the_life_science_set_is_copied() -> None:
    from support import shared_data

    with np.load(shared_data("lifesci.npz"), allow_pickle=False) as archive:
        theirs = {row.tobytes() for row in archive["X"].astype(float).round(2)}
    ours = read_frame(path_of("life_science_like")).iloc[:, :10].to_numpy(dtype=float)
    assert not any(row.tobytes() in theirs for row in ours)


def test_iris_and_wine_are_the_ones_of_scikit_learn() -> None:
    from sklearn.datasets import load_iris, load_wine

    for name, source in (("iris", load_iris()), ("wine", load_wine())):
        table = find(name)
        frame = read_frame(table.path)
        np.testing.assert_array_equal(frame[list(table.schema.features)].to_numpy(), source.data)
        label = table.schema.label
        assert label is not None
        categories = table.schema.column(label).categories
        assert [categories.index(word) for word in frame[label]] == source.target.tolist()


@pytest.mark.parametrize("seed", range(3))
def test_the_mixture_has_the_moments_it_was_given(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = covariance_2d(2.0, 1.0, -0.6)
    rows, group = gaussian_mixture(60_000, [3, 1], [[0, 0], [9, 1]], [shape, np.eye(2)], rng)
    assert (group == 0).mean() == pytest.approx(0.75, abs=0.01)
    np.testing.assert_allclose(rows[group == 1].mean(axis=0), [9, 1], atol=0.05)
    np.testing.assert_allclose(np.cov(rows[group == 0].T), shape, atol=0.1)


@pytest.mark.parametrize(
    ("weights", "means", "covariances", "field"),
    [
        ([1], [[0, 0]], [np.eye(3)], "mixture"),
        ([1, 1], [[0, 0]], [np.eye(2)], "mixture"),
        ([-1], [[0, 0]], [np.eye(2)], "weights"),
        ([1], [[0, 0]], [-np.eye(2)], "covariances"),
        ([1], [[0, 0]], [[[1, 0.5], [0, 1]]], "covariances"),
        ([1], [[0, 0]], [np.full((2, 2), np.nan)], "covariances"),
    ],
)
def test_a_mixture_that_is_none_is_refused(
    weights: object, means: object, covariances: object, field: str
) -> None:
    with pytest.raises(InputError) as caught:
        gaussian_mixture(3, weights, means, covariances, np.random.default_rng(0))  # type: ignore[arg-type]
    assert caught.value.field == field


def test_the_wide_table_follows_its_stated_truth() -> None:
    rows, group, truth = stroke_like(20_000, 20, 4, rng=np.random.default_rng(3))
    assert rows.shape == (20_000, 20)
    assert truth.covariances.shape == (4, 20, 20)
    largest = int(np.argmax(truth.weights))
    members = rows[group == largest]
    np.testing.assert_allclose(members.mean(axis=0), truth.means[largest], atol=0.06)
    np.testing.assert_allclose(np.cov(members.T), truth.covariances[largest], atol=0.06)
