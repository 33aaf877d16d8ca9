"""The published sets that the papers measure on: none comes with the package.

Whoever has one converts it once with ``dpcore data add NAME FILE``. It then lies in a folder of the
user's own, is loaded as ``published:NAME``, stands in the explorer's list, and figures find it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from dpcore.checks import choose, path_of
from dpcore.datasets import conversion
from dpcore.datasets.catalogue import BundledTable, Opening
from dpcore.datasets.conversion import Content, Fact
from dpcore.datasets.corpora import FORGETTING, BundledCorpus
from dpcore.datasets.places import points_from_histogram
from dpcore.errors import InputError
from dpcore.schema import Column, Image, Schema

if TYPE_CHECKING:
    import pandas as pd

    from dpcore.wall.data.corpus import PrivateCorpus

Bounds = dict[str, tuple[float, float]]

# Public limits, in the columns' units.
STROKE: Bounds = {"age": (0, 90), "avg_glucose_level": (50, 300), "bmi": (10, 60)}
HEART: Bounds = {
    "BMI": (10, 60),
    "PhysicalHealth": (0, 30),
    "MentalHealth": (0, 30),
    "SleepTime": (0, 24),
}
ADULT: Bounds = {
    "age": (17, 90),
    "education-num": (1, 16),
    "capital-gain": (0, 99_999),
    "capital-loss": (0, 5_000),
    "hours-per-week": (1, 99),
}
LIFE_SCIENCE_RADIUS = 20.0
COUNTED = (*range(5, 14), 18, 49, 50, 51)  # columns of IPUMS-BR that are no yes or no, from 0
DEGREES: Bounds = {"longitude": (-180.0, 180.0), "latitude": (-90.0, 90.0)}
CHECK_INS, SEED = 200_000, 2011
MOST_KWH = 20.0  # in two hours


@dataclass(frozen=True)
class PublishedSet:
    """One published set: whose it is, how its original is converted, and by what it is known.

    file: the converted form's name. features: columns, or words that are counted. licence: on what
    terms its owner lets others use it. original: what ``dpcore data add`` takes, besides a file of
    the converted form; ``read`` turns it into that. facts: shape and column sums of what the file
    must hold. checksums: published ones of the original's files. limits: where the public limits
    come from. schema, rows: the table that is fitted; without them it holds documents.
    """

    name: str
    title: str
    story: str
    owner: str
    source: str
    licence: str
    original: str
    limits: str
    file: str
    size: tuple[int, int]
    openings: tuple[Opening, ...]
    facts: Mapping[str, Fact]
    read: Callable[[Path], Content] | None = None
    checksums: Mapping[str, str] | None = None
    schema: Callable[[], Schema] | None = None
    rows: Callable[[Content], pd.DataFrame] | None = None

    @property
    def path(self) -> Path:
        """Where the converted set lies, or would."""
        return folder() / self.file

    @property
    def is_here(self) -> bool:
        """Whether it has been added."""
        return self.path.is_file()

    @property
    def credit(self) -> str:
        """Whose it is and on what terms, in a sentence."""
        return f"Data of {self.owner}; licence: {self.licence}."

    def content(self, path: Path | None = None) -> Content:
        """What the converted file holds, checked again. Raises InputError where it is not there or
        is not this set. path: where it lies [in :func:`folder`]."""
        if path is None and not self.is_here:
            raise InputError(
                "data",
                f"{self.name} is not in {folder()}",
                f"add it with dpcore data add {self.name} FILE",
            )
        found = conversion.converted(path or self.path, self.facts)
        conversion.check(found, self.facts, self.name)
        return found

    @property
    def table(self) -> BundledTable | BundledCorpus:
        """The set as the explorer's list has it."""
        rows, features = self.size
        words = (self.name, self.title, self.story)
        if self.schema is None:
            return BundledCorpus(*words, rows, features, "public", self.openings, self.corpus)
        return _Table(*words, self.file, rows, features, "public", self.openings, of=self)

    def table_of_rows(self) -> BundledTable:
        """The same; InputError where the set holds documents."""
        found = self.table
        if isinstance(found, BundledCorpus):
            raise InputError("data", f"{self.name} holds documents, not rows", "choose lda")
        return found

    def corpus(self, content: Content | None = None) -> PrivateCorpus:
        """Its documents, sealed; InputError where the set holds rows. content: as read [from
        :func:`folder`]."""
        from dpcore.wall.data.corpus import PrivateCorpus, Vocabulary

        if self.schema is not None:
            raise InputError("data", f"{self.name} holds rows, not documents", "choose no lda")
        found = self.content() if content is None else content
        lengths = np.diff(found["indptr"].astype(np.intp))
        picked = np.linspace(0, len(lengths) - 1, self.size[0]).astype(np.intp)  # by their places
        kept = np.repeat(np.isin(np.arange(len(lengths)), picked), lengths)
        starts = np.concatenate([[0], np.cumsum(lengths[picked])])
        # Its words were chosen by looking at these documents: fits of it prove nothing.
        words = Vocabulary(tuple(found["words"].tolist()), rehearsal=True, title=self.title)
        sealed = PrivateCorpus.seal(
            starts,
            found["indices"][kept].astype(np.intp),
            found["counts"][kept].astype(float),
            words,
            open_to_all=True,
        )
        return sealed.with_first_words(self.size[1])


@dataclass(frozen=True)
class _Table(BundledTable):
    """A published table in the explorer's list."""

    of: PublishedSet | None = None

    @property
    def path(self) -> Path:
        assert self.of is not None  # made with it
        return self.of.path

    @property
    def schema(self) -> Schema:
        assert self.of is not None
        assert self.of.schema is not None  # else it is a corpus
        return replace(self.of.schema(), title=self.title)

    def source(self) -> tuple[pd.DataFrame, Schema]:
        """The rows, checked, and their public limits."""
        assert self.of is not None
        assert self.of.rows is not None
        return self.of.rows(self.of.content()), self.schema


def folder() -> Path:
    """Where converted sets lie: ``DPCORE_DATA``, or the usual place for a user's data here."""
    named = os.environ.get("DPCORE_DATA")
    if named:
        return path_of("DPCORE_DATA", named)
    if sys.platform == "win32":
        usual = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        usual = Path.home() / "Library" / "Application Support"
    else:
        usual = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
    return usual / "dpcore"


def located(name: str, home: Path | None = None) -> Path:
    """A file of real data: in a folder [``DPCORE_SHARED/data``, else :func:`folder`]. Raises
    InputError where it is not there."""
    shared = os.environ.get("DPCORE_SHARED")
    usual = [*([Path(shared) / "data"] if shared is not None else []), folder()]
    for path in (place / name for place in (usual if home is None else [home])):
        if path.is_file():
            return path
    raise InputError(
        "data",
        f"{name} is not there",
        "add it (dpcore data says how), or name the folder that holds it with --data FOLDER",
    )


def present() -> tuple[PublishedSet, ...]:
    """The sets that have been added here."""
    return tuple(one for one in SETS if one.is_here)


def find_set(name: str) -> PublishedSet:
    """The published set of this name, added or not; InputError if there is none.

    >>> find_set("adult").licence
    'CC BY 4.0'
    """
    for one in SETS:
        if one.name == name:
            return one
    known = [one.name for one in SETS]
    raise InputError("data", f"{name!r} is not a published set", choose(name, known))


def is_documents_set(name: str) -> bool:
    """Whether a published name is one of documents."""
    return any(one.name == name and one.schema is None for one in SETS)


def add(name: str, file: str | Path) -> PublishedSet:
    """Convert a set's original, or a file of the converted form, check it, and keep it with its
    schema in :func:`folder`.

    Raises InputError on an unknown name, a file that cannot be read, or one that is not this set;
    nothing is written then.
    """
    known, path = find_set(name), path_of("file", file)
    if not path.exists():
        raise InputError("file", "there is no such file", "check the path")
    if path.name.lower().endswith(".npz" if known.file.endswith(".npz") else ".csv.gz"):
        found = conversion.converted(path, known.facts)
    elif known.read is None:
        raise InputError("file", f"{known.name} is read from one form alone", known.original)
    else:
        conversion.check_sums(path, known.checksums or {})
        with conversion.one_sentence(known.original):
            found = known.read(path)
    conversion.check(found, known.facts, known.name)
    beside = {}
    if known.schema is not None:
        stated = replace(known.schema(), title=known.title)
        beside[f"{known.name}.toml"] = f"# Limits: {known.limits}\n{stated.to_toml()}"
    conversion.write(known.path, found, beside)
    return known


def address(name: str) -> str:
    """How :func:`dpcore.load` and the command line name a table of the explorer's list.

    >>> address("iris"), address("adult")
    ('bundled:iris', 'published:adult')
    """
    return f"{'published' if any(one.name == name for one in SETS) else 'bundled'}:{name}"


# --- schemas ---------------------------------------------------------------------------------


def _numbers(bounds: Bounds, **words: float) -> tuple[Column, ...]:
    """Columns of numbers. words: public fills of missing cells."""
    return tuple(
        Column(name, lower=low, upper=high, missing=words.get(name))
        for name, (low, high) in bounds.items()
    )


def _choices(categories: Mapping[str, str]) -> tuple[Column, ...]:
    """Columns of names, which stand with bars between them."""
    return tuple(
        Column(name, type="category", categories=tuple(text.split("|")))
        for name, text in categories.items()
    )


def _ignored(*names: str) -> tuple[Column, ...]:
    return tuple(Column(name, role="ignore", type="text") for name in names)


def _life_science() -> Schema:
    return replace(
        Schema.ball_of([f"x{i + 1}" for i in range(10)], None, LIFE_SCIENCE_RADIUS), unit="compound"
    )


def _faces() -> Schema:
    picture = Image(64, 64)
    return Schema(picture.columns(0, 255, unit="grey level"), unit="image", image=picture)


def _digits() -> Schema:
    picture = Image(28, 28)
    return Schema(picture.columns(0, 255, unit="grey level"), unit="image", image=picture)


def _adult() -> Schema:
    choices = {
        "marital-status": "Married-civ-spouse|Divorced|Never-married|Separated|Widowed|"
        "Married-spouse-absent|Married-AF-spouse",
        "sex": "Female|Male",
    }
    unread = (
        "workclass", "fnlwgt", "education", "occupation", "relationship", "race",
        "native-country", "split",
    )  # fmt: skip
    income = Column("income", role="target", type="binary", categories=("<=50K", ">50K"))
    return Schema((*_numbers(ADULT), *_choices(choices), income, *_ignored(*unread)))


def _stroke() -> Schema:
    choices = {
        "ever_married": "No|Yes",
        "smoking_status": "never smoked|formerly smoked|smokes|Unknown",
    }
    answers = tuple(Column(name, type="binary") for name in ("hypertension", "heart_disease"))
    stroke = Column("stroke", role="target", type="binary")
    columns = (*_numbers(STROKE, bmi=25.0), *answers, *_choices(choices), stroke)
    unread = _ignored("id", "gender", "work_type", "Residence_type")
    return Schema((*columns, *unread), unit="patient")


def _heart() -> Schema:
    answers = (
        "Smoking", "AlcoholDrinking", "Stroke", "DiffWalking", "PhysicalActivity", "Asthma",
        "KidneyDisease", "SkinCancer",
    )  # fmt: skip
    said = tuple(Column(name, type="binary", categories=("No", "Yes")) for name in answers)
    disease = Column("HeartDisease", role="target", type="binary", categories=("No", "Yes"))
    unread = _ignored("Sex", "AgeCategory", "Race", "Diabetic", "GenHealth")
    return Schema((*_numbers(HEART), *said, disease, *unread))


def _acs() -> Schema:
    return Schema(tuple(Column(f"x{i + 1}", type="binary") for i in range(23)))


def _ipums_br() -> Schema:
    bounds = {f"x{i + 1}": (0.0, 255.0 if i in COUNTED else 1.0) for i in range(52)}
    return Schema((*_numbers(bounds), Column("y", role="target", type="binary")))


def _check_ins() -> Schema:
    return Schema(tuple(Column(n, lower=a, upper=b) for n, (a, b) in DEGREES.items()), "check-in")


def _households() -> Schema:
    hours = {f"from_{hour:02d}": (0.0, MOST_KWH) for hour in range(0, 24, 2)}
    columns = tuple(replace(column, unit="kWh") for column in _numbers(hours))
    return Schema(columns, unit="household")


# --- rows ------------------------------------------------------------------------------------


def _array(name: str, target: str | None = None) -> Callable[[Content], pd.DataFrame]:
    """The rows of an array, or of pictures, with another array as column y."""

    def rows(found: Content) -> pd.DataFrame:
        from dpcore.datasets.columnar import frame_of_array

        frame = frame_of_array(found[name], name)
        return frame if target is None else frame.assign(y=found[target])

    return rows


def _cells(found: Content) -> pd.DataFrame:
    """A table as it is."""
    frame: pd.DataFrame = found[conversion.TABLE]
    return frame


def _points(found: Content) -> pd.DataFrame:
    """Points drawn once from the grid, uniform inside each cell."""
    import pandas as pd

    across = found["gowalla"].T  # the grid has latitude first, a map longitude
    drawn = points_from_histogram(
        across, tuple(DEGREES.values()), CHECK_INS, np.random.default_rng(SEED)
    )
    return pd.DataFrame(drawn, columns=list(DEGREES))


def _days(found: Content) -> pd.DataFrame:
    """The mean day of each household whose meter read well, in two-hourly kilowatt-hours."""
    import pandas as pd

    hourly = found["hourly_wh"][found["clean"].astype(bool)]
    days = hourly.reshape(len(hourly), -1, 12, 2).sum(axis=3).mean(axis=1) / 1000.0
    return pd.DataFrame(days, columns=[f"from_{hour:02d}" for hour in range(0, 24, 2)])


_BYTES = "a grey level is a byte, 0 to 255"
_TOPICS = (("rate", 1.0), ("length", 100), FORGETTING)
_WORDS = "the counted words were chosen from these documents, so fits are rehearsals"
_IPUMS = "IPUMS terms: research only, redistribution needs IPUMS's consent"

SETS = (
    PublishedSet(
        "lifesci",
        "Life Science",
        "Ten principal components of 26,733 screened compounds: three groups?",
        "Komarek and Moore (AUTON data sets, ds1.10)",
        "the data of DP-EM (Park, Foulds, Chaudhuri, Welling 2017)",
        "none stated",
        "the text file lifesci.csv: ten numbers and the activity, 0 or 1, a line",
        "no range is published; a ball of radius 20 about 0 is chosen, and longer rows are "
        "shortened to it",
        "lifesci.npz",
        (26_733, 10),
        (Opening("gmm", 3, iterations=10),),
        {"X": Fact((26_733, 10), "f32c60e0d7983c5a"), "y": Fact((26_733,), "6cf3daa16d9f2e58")},
        read=conversion.life_science,
        schema=_life_science,
        rows=_array("X"),
    ),
    PublishedSet(
        "olivetti_faces",
        "Olivetti faces",
        "Ten pictures of each of forty people; what is protected is one picture.",
        "AT&T Laboratories Cambridge (Samaria and Harter 1994), cropped by Sam Roweis",
        "cs.nyu.edu/~roweis/data.html; the file that scikit-learn downloads",
        "free for research, with credit to AT&T Laboratories Cambridge",
        "olivettifaces.mat",
        _BYTES,
        "olivetti_faces.npz",
        (400, 4_096),
        (Opening("fa", 5, iterations=20, pool=8, epsilon=10.0),),
        {"images": Fact((400, 64, 64), "c67059960fe3257b")},
        read=conversion.olivetti,
        checksums={
            "olivettifaces.mat": "b612fb967f2dc77c9c62d3e1266e0c73d5fca46a4b8906c18e454d41af987794"
        },
        schema=_faces,
        rows=_array("images"),
    ),
    PublishedSet(
        "dpbench_grids256",
        "Gowalla check-ins",
        "200,000 points drawn once from published counts of all 6.4 million check-ins.",
        "Cho, Myers and Leskovec (2011), counted by Hay et al. (DPBench, 2016)",
        "github.com/dpcomp-org/dpcomp_core; the check-ins are SNAP's loc-gowalla",
        "none stated",
        "DPBench's grid checkin_256_256.npy",
        "degrees of latitude and longitude",
        "dpbench_grids256.npz",
        (CHECK_INS, 2),
        (Opening("kmeans", 6, iterations=10),),
        {"gowalla": Fact((256, 256), "3ac8fbfbb299b829")},
        read=conversion.grid,
        schema=_check_ins,
        rows=_points,
    ),
    PublishedSet(
        "adult",
        "Adult",
        "Who earned more than 50,000 dollars in 1994? 48,842 answers to a census survey.",
        "Becker and Kohavi (UCI, 1996)",
        "archive.ics.uci.edu/dataset/2/adult",
        "CC BY 4.0",
        "adult.zip, or a folder with adult.data and adult.test",
        "the survey's own codes (ages to 90, hours to 99, gains to 99,999); losses to 5,000, which "
        "is chosen, above the survey's own top code",
        "adult.csv.gz",
        (48_842, 7),
        (Opening("logistic", 1, iterations=10),),
        {conversion.TABLE: Fact((48_842, 16), "0e00a4845b0dec1f")},
        read=conversion.adult,
        schema=_adult,
        rows=_cells,
    ),
    PublishedSet(
        "ipums_br",
        "IPUMS Brazil",
        "Who earns more than a threshold? 38,000 people of a Brazilian census.",
        "IPUMS International, prepared by Lee and Kifer (2018)",
        "github.com/ppmlguy/DP-AGD",
        _IPUMS,
        "IPUMS-BR.dat: 52 whole numbers and the answer, 0 or 1, a line",
        "0 and 1 for answers; no range of the 13 coded columns is published: 0 to 255, a byte",
        "ipums_br.npz",
        (38_000, 52),
        (Opening("logistic", 1, iterations=10),),
        {"X": Fact((38_000, 52), "fe9dad35d055b82f"), "y": Fact((38_000,), "fe0094782db10414")},
        read=conversion.numbers_and_answer,
        schema=_ipums_br,
        rows=_array("X", "y"),
    ),
    PublishedSet(
        "acs",
        "American Community Survey",
        "23 answers of yes or no by 47,461 people: which kinds of people are there?",
        "IPUMS USA, prepared by Zhang et al. (PrivBayes, 2014)",
        "the data of PrivBayes",
        _IPUMS,
        "a text file of 23 numbers, 0 or 1, a line",
        "answers are 0 or 1",
        "acs.npz",
        (47_461, 23),
        (Opening("kmeans", 3, iterations=10), Opening("bernoulli", 3, iterations=10)),
        {"X": Fact((47_461, 23), "0fa6bfa2a98cc855")},
        read=conversion.numbers,
        schema=_acs,
        rows=_array("X"),
    ),
    PublishedSet(
        "stroke_prediction",
        "Stroke prediction",
        "Which of 5,110 patients had a stroke: 249 did.",
        "fedesoriano (Kaggle, 2021)",
        "kaggle.com/datasets/fedesoriano/stroke-prediction-dataset",
        "data files © original authors, for education",
        "healthcare-dataset-stroke-data.csv",
        "chosen, none is published: ages to 90 years, glucose 50 to 300 mg/dl, body mass index 10 "
        "to 60 and 25 where it is missing",
        "stroke_prediction.csv.gz",
        (5_110, 7),
        (Opening("logistic", 1, iterations=10),),
        {conversion.TABLE: Fact((5_110, 12), "27fde263d6869f1a")},
        read=conversion.delimited,
        schema=_stroke,
        rows=_cells,
    ),
    PublishedSet(
        "brfss2020_heart",
        "Heart disease",
        "Who has heart disease? 319,795 adults of a telephone survey.",
        "Centers for Disease Control (BRFSS 2020), prepared by Pytlak (2022)",
        "kaggle.com/datasets/kamilpytlak/personal-key-indicators-of-heart-disease",
        "public domain (CDC)",
        "heart_2020_cleaned.csv",
        "days of a month and hours of a day; body mass index 10 to 60, which is chosen",
        "brfss2020_heart.csv.gz",
        (319_795, 12),
        (Opening("logistic", 1, iterations=10),),
        {conversion.TABLE: Fact((319_795, 18), "ec3c78d426c2d957")},
        read=conversion.delimited,
        schema=_heart,
        rows=_cells,
    ),
    PublishedSet(
        "mnist",
        "MNIST",
        "The 10,000 handwritten digits that are kept for tests.",
        "LeCun, Cortes and Burges (1998)",
        "yann.lecun.com/exdb/mnist",
        "CC BY-SA 3.0, as commonly stated",
        "a folder with the four files train-images-idx3-ubyte to t10k-labels-idx1-ubyte (also .gz)",
        _BYTES,
        "mnist.npz",
        (10_000, 784),
        (Opening("fa", 5, iterations=20, pool=4, epsilon=4.0),),
        {
            "train_images": Fact((60_000, 28, 28), "8a26873122e6d308"),
            "train_labels": Fact((60_000,), "90f2ac4833cc59fc"),
            "test_images": Fact((10_000, 28, 28), "6777a87740983af1"),
            "test_labels": Fact((10_000,), "8ce0027643b96af0"),
        },
        read=conversion.mnist,
        checksums={  # of the files as they are unpacked
            "train-images-idx3-ubyte": "6bbc9ace898e44ae57da46a324031adb",
            "t10k-images-idx3-ubyte": "2646ac647ad5339dbf082846283269ea",
        },
        schema=_digits,
        rows=_array("test_images"),
    ),
    PublishedSet(
        "swiss_smart_meter",
        "Swiss smart meters",
        "The mean day of 527 households, in two-hourly kilowatt-hours.",
        "Weigert, Hopf, Weinig and Staake (2020)",
        "the R package ResidentialEnergyConsumption 1.1.0",
        "CC BY-SA 4.0",
        "give an .npz with hourly_wh (households, days, 24), heating_type and clean",
        "no range is published: 0 to 20 kWh in two hours, which three phases of 25 A exceed "
        "only for a time",
        "swiss_smart_meter.npz",
        (527, 12),
        (Opening("kmeans", 3, iterations=10, epsilon=4.0),),
        {
            "hourly_wh": Fact((537, 49, 24), "458a9c017dffd299"),
            "heating_type": Fact((537,), "3afabfd3be97964e"),
            "clean": Fact((537,), "c06e4a9cadefaf30"),
        },
        schema=_households,
        rows=_days,
    ),
    PublishedSet(
        "wikipedia",
        "Wikipedia",
        "What 5,000 of 30,663 articles of the English Wikipedia are about, in 300 words.",
        "the contributors to Wikipedia",
        "a slice of a dump of 2021, page ids 56,564,557 to 57,025,637",
        "CC BY-SA 3.0",
        "give the word counts, wikipedia.npz, with wikipedia.vocab.txt beside it",
        _WORDS,
        "wikipedia.npz",
        (5_000, 300),
        (Opening("lda", 5, iterations=5, words=_TOPICS),),
        {
            "indptr": Fact((30_664,), "5fb0ed9b92cd4897"),
            "indices": Fact((2_379_905,), "107cf0f0b5447705"),
            "counts": Fact((2_379_905,), "2191e7287393aff7"),
            "shape": Fact((2,), "bc5c7794b5046642"),
            "words": Fact((10_000,), "618403e3069dcaa2"),
        },
    ),
    PublishedSet(
        "imdb_reviews",
        "Film reviews",
        "What 5,000 of 99,802 reviews of films are about, in 300 words.",
        "Maas et al. (Large Movie Review Dataset, 2011)",
        "ai.stanford.edu/~amaas/data/sentiment",
        "none stated",
        "give the word counts, imdb_reviews.npz, with imdb_reviews.vocab.txt beside it",
        _WORDS,
        "imdb_reviews.npz",
        (5_000, 300),
        (Opening("lda", 5, iterations=5, words=_TOPICS),),
        {
            "indptr": Fact((99_803,), "f1a766faabfab842"),
            "indices": Fact((7_345_790,), "0836ac891812a529"),
            "counts": Fact((7_345_790,), "e024143ee1efadcd"),
            "shape": Fact((2,), "099783f0d93f5430"),
            "words": Fact((10_000,), "1608ce21b242185e"),
        },
    ),
)
