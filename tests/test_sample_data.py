"""The bundled tables: small, public, rebuilt to the byte, and as their stories say."""

from __future__ import annotations

import tomllib
import tracemalloc
from dataclasses import replace
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from bundled import files, make_all
from bundled.__main__ import main
from support import ROOT

from dpcore.datasets.catalogue import BUNDLED, BundledTable, bundled, find
from dpcore.datasets.cities import CITIES
from dpcore.datasets.faces import WAYS, faces_like, truth_of
from dpcore.datasets.files import home
from dpcore.datasets.generators import covariance_2d, gaussian_mixture, stand_in, stroke_like
from dpcore.datasets.load import load, read_described
from dpcore.datasets.places import PARTS, check_ins, points_from_histogram
from dpcore.declaration import World
from dpcore.errors import InputError
from dpcore.schema import Column, Schema
from dpcore.wall.data.clipping import bounded_rows

TABLES = pytest.mark.parametrize("table", BUNDLED, ids=lambda table: table.name)


def rows_of(name: str) -> pd.DataFrame:
    """The rows of a bundled table, under its schema."""
    return read_described(f"bundled:{name}", find(name).schema)


@cache
def frame_of(name: str) -> pd.DataFrame:
    """The rows of a bundled table, read or drawn once."""
    return rows_of(name)


def table_files(folder: Path) -> list[Path]:
    """Files of tables: texts of installed libraries change with their versions."""
    return [path for path in folder.iterdir() if not path.name.startswith("docstrings.")]


def test_the_files_are_what_a_rebuild_gives() -> None:
    built = {name: text for made in make_all() for name, text in made.contents().items()}
    kept = {path.name: files.read_content(path) for path in table_files(home())}
    assert sorted(kept) == sorted(built)
    assert [name for name in built if kept[name] != built[name]] == []


@pytest.mark.full
def test_the_command_writes_the_same_files_anywhere(tmp_path: Path) -> None:
    main([str(tmp_path / "new")])
    for path in table_files(tmp_path / "new"):
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
    frame = frame_of(table.name)
    assert len(frame) == table.rows
    assert len(table.schema.features) == table.features
    assert table.schema.title == table.title
    assert set(frame) == {column.name for column in table.schema.columns}


@TABLES
def test_every_axis_has_a_unit_or_is_a_category(table: BundledTable) -> None:
    unitless = table.name in ("life_science_like", "stroke_like")  # principal components have none
    columns = [table.schema.column(name) for name in table.schema.features]
    assert unitless or all(
        column.unit or column.categories or column.type == "binary" for column in columns
    )


@TABLES
def test_every_row_lies_inside_the_public_bounds(table: BundledTable) -> None:
    sealed = load(f"bundled:{table.name}")
    if table.name == "digits":  # three pixels are blank in every picture, which a fit may refuse
        cells = frame_of(table.name)[list(table.schema.features)].to_numpy()
        assert (cells.min(), cells.max()) == (0, 16)
    elif table.name in ("stewards_table", "missing_answers"):
        with pytest.raises(InputError, match="missing"):
            bounded_rows(sealed, private=False)
    else:
        bounded_rows(sealed, private=False)  # refuses a cell outside its bounds


@TABLES
def test_the_bounds_are_not_those_of_the_data(table: BundledTable) -> None:
    frame, schema = frame_of(table.name), table.schema
    if schema.image is not None:  # a pixel's range is that of its camera, and pictures fill it
        return
    for name in schema.features:
        column = schema.column(name)
        if column.lower is not None:
            tight = (frame[name].min(), frame[name].max())
            assert (column.lower, column.upper) != tight or table.provenance == "simulated"


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(InputError, match="three_groups, rare_person"):
        find("titanic")


def test_exactly_one_person_is_rare_in_both_tables() -> None:
    for name in ("rare_person", "rare_person_50x"):
        frame = frame_of(name)
        rows = frame[["age", "income"]].to_numpy()
        away = np.abs(rows - np.median(rows, axis=0)) > 7 * np.array([7.0, 12.0])
        assert away.any(axis=1).sum() == 1
        assert away.all(axis=1)[-1] or away[-1, 1]
    small, large = (find(name).rows for name in ("rare_person", "rare_person_50x"))
    assert large - 1 == 50 * (small - 1)


def test_fifty_rare_people_are_fifty_times_the_table_of_one() -> None:
    rows = frame_of("rare_people")[["age", "income"]].to_numpy()
    assert len(rows) == find("rare_people").rows == 50 * find("rare_person").rows
    away = np.abs(rows - np.median(rows, axis=0)) > 7 * np.array([7.0, 12.0])
    assert away.any(axis=1).sum() == 50
    assert find("rare_people").schema.features == find("rare_person").schema.features


@pytest.mark.parametrize("seed", range(4))
def test_an_exact_fit_finds_the_three_groups_and_gives_the_rare_person_away(seed: int) -> None:
    from sklearn.mixture import GaussianMixture

    def fitted(name: str, columns: list[str]) -> GaussianMixture:
        rows = frame_of(name)[columns].to_numpy()
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
    frame = frame_of("stewards_table")
    for name in ("income", "visits", "distance_to_clinic"):
        assert frame[name].skew() > 1
    share = frame.isna().mean()
    assert 0.10 < share["satisfaction"] < 0.14
    assert 0.02 < share["income"] < 0.04
    assert set(frame["region"]) == {"north", "east", "south", "west"}


def test_the_life_science_table_has_the_published_shape() -> None:
    rows = frame_of("life_science_like").iloc[:, :10].to_numpy()
    spread = [2.48, 2.19, 2.08, 1.84, 1.66, 1.46, 1.34, 1.29, 1.22, 1.17]
    np.testing.assert_allclose(rows.std(axis=0), spread, rtol=0.01)
    np.testing.assert_allclose(rows.mean(axis=0), 0.0, atol=0.02)
    assert np.linalg.norm(rows, axis=1).max() <= 16.25


def test_nothing_of_the_life_science_set_is_copied() -> None:
    from support import shared_data

    with np.load(shared_data("lifesci.npz"), allow_pickle=False) as archive:
        theirs = {row.tobytes() for row in archive["X"].astype(float).round(2)}
    ours = frame_of("life_science_like").iloc[:, :10].to_numpy(dtype=float)
    assert not any(row.tobytes() in theirs for row in ours)


def test_iris_and_wine_are_the_ones_of_scikit_learn() -> None:
    from sklearn.datasets import load_iris, load_wine

    for name, source in (("iris", load_iris()), ("wine", load_wine())):
        table = find(name)
        frame = frame_of(name)
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


def test_a_wide_mixture_is_drawn_in_little_memory_and_as_all_rows_at_once() -> None:
    """A root for each row took 640 MB for the largest table that Explore generates."""
    rows, columns = 3_000, 100
    centres, shapes = np.zeros((2, columns)), [np.eye(columns), 2.0 + np.eye(columns)]
    tracemalloc.start()
    drawn, group = gaussian_mixture(rows, [1, 1], centres, shapes, np.random.default_rng(0))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 40e6
    rng = np.random.default_rng(0)
    rng.choice(2, size=rows, p=[0.5, 0.5])
    roots = np.linalg.cholesky(np.array(shapes))
    standard = rng.standard_normal((rows, columns))
    at_once = np.einsum("nij,nj->ni", roots[group], standard)
    np.testing.assert_array_equal(drawn, at_once)  # to the bit: stored results rest on them


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


@pytest.mark.parametrize(
    "name", ["faces_like", "five_parties", "rare_people", "million_places", "stroke_like"]
)
def test_a_drawn_table_is_the_same_every_time_and_has_no_file(name: str) -> None:
    pd.testing.assert_frame_equal(rows_of(name), frame_of(name))
    assert load(f"bundled:{name}").schema == find(name).schema
    with pytest.raises(InputError, match=f"load bundled:{name}"):
        _ = find(name).path


def test_each_model_is_shown_the_tables_that_suit_it() -> None:
    shown: dict[str, list[str]] = {}
    for table in bundled():
        for model in table.models:
            shown.setdefault(model, []).append(table.name)
    gmm = shown.pop("gmm")
    assert gmm[0] == "three_groups"
    assert "stroke_like" not in gmm
    assert shown == {
        "kmeans": ["three_groups", "rare_people", "places", "million_places"],
        "fa": ["faces_like", "digits"],
        "symmetric-mixture": ["two_clouds"],
        "mixture-regression": ["two_lines"],
        "missing-regression": ["missing_answers"],
        "sbn": ["lit_windows"],
        "gmm-release": ["five_parties"],
        "logistic": ["who_comes_back"],
        "bernoulli": ["households"],
        "poisson": ["a_year_of_care"],
        "mean": ["gains_and_losses"],
    }


def test_digits_are_the_ones_of_scikit_learn() -> None:
    from sklearn.datasets import load_digits

    schema, frame, source = find("digits").schema, frame_of("digits"), load_digits()
    shape = (-1, schema.image.height, schema.image.width)
    pictures = frame[list(schema.features)].to_numpy().reshape(shape)
    np.testing.assert_array_equal(pictures, source.images)
    assert frame["digit"].astype(int).tolist() == source.target.tolist()
    assert schema.column("digit").categories == tuple("0123456789")


def test_cities_lie_on_the_map_and_apart() -> None:
    middles = np.array([(city.longitude, city.latitude) for city in CITIES])
    assert np.all(np.abs(middles) <= (180, 90))
    apart = np.linalg.norm(middles[:, None] - middles[None], axis=-1) + 360 * np.eye(len(CITIES))
    assert apart.min() > 8
    assert len({city.name for city in CITIES}) == len(CITIES) == len(PARTS)
    known = {city.name: city for city in CITIES}
    assert known["Sydney"].latitude < 0 < known["Tokyo"].latitude
    assert known["New York"].longitude < known["London"].longitude < known["Delhi"].longitude


@pytest.mark.parametrize("seed", range(3))
def test_check_ins_lie_around_their_cities_in_the_stated_parts(seed: int) -> None:
    points, city = check_ins(100_000, np.random.default_rng(seed))
    shares = np.bincount(city, minlength=len(CITIES)) / len(city)
    np.testing.assert_allclose(shares, np.array(PARTS) / sum(PARTS), atol=0.005)
    for k, place in enumerate(CITIES):
        middle = np.median(points[city == k], axis=0)
        np.testing.assert_allclose(middle, (place.longitude, place.latitude), atol=0.05)
        away = np.abs(points[city == k, 1] - place.latitude)
        assert (away < 0.5).mean() == pytest.approx(0.7 + 0.3 * 0.159, abs=0.05)


def test_exact_clusters_of_places_are_cities() -> None:
    from sklearn.cluster import KMeans

    rows = frame_of("places").to_numpy()
    found = KMeans(len(CITIES), n_init=10, random_state=0).fit(rows).cluster_centers_
    middles = np.array([(city.longitude, city.latitude) for city in CITIES])
    nearest = np.linalg.norm(found[:, None] - middles[None], axis=-1).min(axis=0)
    assert (nearest < 1).sum() >= 18


TOY = [[0, 3, 1], [0, 0, 4]]


@pytest.mark.parametrize("seed", range(3))
def test_points_fall_into_the_cells_of_their_histogram(seed: int) -> None:
    extents = [(-1.0, 1.0), (10.0, 13.0)]
    points = points_from_histogram(TOY, extents, 80_000, np.random.default_rng(seed))
    again, _, _ = np.histogram2d(*points.T, bins=(2, 3), range=extents)
    np.testing.assert_allclose(again / 10_000, TOY, atol=0.08)
    assert np.all(again[np.array(TOY) == 0] == 0)
    inside = np.column_stack([points[:, 0] % 1, points[:, 1] % 1])
    np.testing.assert_allclose(
        np.quantile(inside, [0.25, 0.5, 0.75], axis=0)[:, 0], [0.25, 0.5, 0.75], atol=0.01
    )
    np.testing.assert_allclose(inside.mean(axis=0), 0.5, atol=0.01)
    half = len(points) // 2  # the order says nothing about the cell
    np.testing.assert_allclose(points[:half].mean(axis=0), points[half:].mean(axis=0), atol=0.02)


def test_one_seed_gives_one_set_of_points() -> None:
    first, again, other = (
        points_from_histogram(TOY, [(0, 2), (0, 3)], 50, np.random.default_rng(seed))
        for seed in (1, 1, 2)
    )
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize(
    ("counts", "extents", "field"),
    [
        ([1, 2], [(0, 1), (0, 1)], "counts"),
        ([[-1, 2]], [(0, 1), (0, 1)], "counts"),
        ([[np.nan, 2]], [(0, 1), (0, 1)], "counts"),
        ([[0, 0]], [(0, 1), (0, 1)], "counts"),
        ([[1, 1]], [(0, 1)], "extents"),
        ([[1, 1]], [(0, 1), (2, 2)], "extents"),
        ([[1, 1]], [(0, np.inf), (0, 2)], "extents"),
    ],
)
def test_a_histogram_that_is_none_is_refused(counts: object, extents: object, field: str) -> None:
    with pytest.raises(InputError) as caught:
        points_from_histogram(counts, extents, 3, np.random.default_rng(0))  # type: ignore[arg-type]
    assert caught.value.field == field


def test_the_gowalla_grid_gives_points_where_its_counts_are() -> None:
    from support import shared_data

    with np.load(shared_data("dpbench_grids256.npz"), allow_pickle=False) as archive:
        counts = archive["gowalla"]
    extents = [(-90.0, 90.0), (-180.0, 180.0)]
    points = points_from_histogram(counts, extents, 1_256_384, np.random.default_rng(0))
    again, _, _ = np.histogram2d(*points.T, bins=256, range=extents)
    assert not again[counts == 0].any()
    expected = counts / counts.sum() * len(points)
    many = expected > 200
    off = (again[many] - expected[many]) / np.sqrt(expected[many])
    assert np.abs(off).max() < 6
    assert 0.9 < off.std() < 1.1


@pytest.mark.parametrize("seed", range(3))
def test_faces_follow_their_stated_factors(seed: int) -> None:
    rows, truth = faces_like(4_000, 16, rng=np.random.default_rng(seed))
    assert truth.loadings.shape == (256, len(WAYS))
    np.testing.assert_allclose(rows.mean(axis=0), truth.mean, atol=6)
    stated = truth.loadings @ truth.loadings.T + truth.noise**2 * np.eye(256)
    seen = np.cov(rows.T)
    assert np.linalg.norm(seen - stated) < 0.15 * np.linalg.norm(stated)


def test_ten_factors_stand_out_of_the_bundled_faces() -> None:
    rows = frame_of("faces_like").to_numpy()
    values, vectors = np.linalg.eigh(np.cov(rows.T))
    assert values[-10] > 5 * values[-11]
    ways, _ = np.linalg.qr(truth_of(32).loadings)
    assert np.linalg.norm(ways.T @ vectors[:, -10:]) ** 2 / 10 > 0.95
    assert np.isin(rows, [0, 255]).mean() < 0.02  # little is lost to the limits


def test_the_wide_table_lies_in_the_unit_ball_and_scores_as_the_stroke_data() -> None:
    frame = frame_of("stroke_like")
    rows = frame.iloc[:, :100].to_numpy()
    ball = find("stroke_like").schema.ball
    assert ball.radius == 1
    assert 0.8 < np.linalg.norm(rows, axis=1).max() <= 1
    assert _nats(np.cov(rows.T)) == pytest.approx(266, abs=1.5)
    shares = frame["group"].value_counts(normalize=True)
    groups = [np.cov(rows[frame["group"] == k].T) for k in shares.index]
    apart = sum(share * _nats(shape) for share, shape in zip(shares, groups, strict=True))
    unknown = -float((shares * np.log(shares)).sum())  # at most this is lost without the labels
    assert apart - unknown == pytest.approx(277, abs=2)


def _nats(covariance: np.ndarray) -> float:
    """Mean log-likelihood per row of the Gaussian with its own rows' covariance."""
    return -0.5 * float(np.linalg.slogdet(2 * np.pi * np.e * covariance)[1])


def test_rows_to_stand_in_have_what_a_regression_a_label_and_answers_read() -> None:
    box = Schema.from_bounds({"age": (0, 110), "visits": (0, 80)})
    sick, smokes = Column("sick", "target", "binary"), Column("smokes", type="binary")
    label = Column("g", "label", "category", categories=("x", "y", "z", "w"))
    rows = stand_in(replace(box, columns=(*box.columns, sick, smokes, label)), 4000)
    assert set(rows["g"]) == set(label.categories)
    assert set(rows["smokes"]) == {0.0, 1.0}
    apart = rows[["age", "visits"]].groupby(rows["sick"]).mean().diff().abs().iloc[-1]
    assert (apart / rows[["age", "visits"]].std()).max() > 0.5
    among = rows["age"].groupby(rows["g"]).mean()
    assert np.ptp(among) > rows["age"].std()
    paid = Column("paid", "target", lower=0, upper=10)
    rows = stand_in(replace(box, columns=(*box.columns, paid)), 4000)
    assert rows["paid"].between(0, 10).all()
    assert abs(rows[["age", "visits", "paid"]].corr()["paid"]).drop("paid").max() > 0.4


def test_worlds_say_how_rows_lie_inside_their_limits() -> None:
    box = Schema.from_bounds({"age": (0, 110), "visits": (0, 80)})
    sick = replace(box, columns=(*box.columns, Column("sick", "target", "binary")))
    easy = stand_in(box, 3000)
    pd.testing.assert_frame_equal(easy, stand_in(box, 3000, world=World()))
    narrow = stand_in(box, 3000, world=World(width=0.1))
    assert (narrow.std() < 0.4 * easy.std()).all()
    together = stand_in(box, 3000, world=World(apart=0.0))
    assert (together.std() < easy.std()).any()
    assert (abs(together.mean() / [110, 80] - 0.5) < 0.03).all(), "one cloud in the middle"
    rare = stand_in(sick, 3000, world=World(yes=0.03, related=0.5))["sick"]
    assert 0.01 < np.mean(rare == "1") < 0.1
    counts = stand_in(box, 3000, world=World(width=0.1, counts=True))
    assert (counts == counts.round()).all(axis=None)
    assert (counts["age"].between(0, 110)).all()
    mirrored = stand_in(box, 3000, groups=1, world=World(mirrored=True))
    assert (abs(mirrored.mean() / [110, 80] - 0.5) < 0.03).all()
    at_limits = stand_in(box, 3000, world=World(edges=0.2)).isin([0.0, 110.0, 80.0])
    assert (abs(at_limits.mean() - 0.2) < 0.03).all()
    owing = replace(box, columns=(*box.columns, Column("owed", "target", lower=0, upper=10)))
    owed = stand_in(owing, 3000, world=World(away=0.5, related=0.3))["owed"]
    assert abs(owed.mean() - 2.5) < 0.1
