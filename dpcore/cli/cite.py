"""``dpcore cite``: the papers behind what you used, ready for a list of references."""

from __future__ import annotations

import argparse

from dpcore.checks import one_of
from dpcore.cli.output import print_json, print_prose
from dpcore.models.declaration import declarations

PAPERS = {
    "abadi2016": "Abadi, Chu, Goodfellow, McMahan, Mironov, Talwar, Zhang: Deep learning with "
    "differential privacy. CCS 2016.",
    "balle2018a": "Balle, Wang: Improving the Gaussian mechanism for differential privacy. ICML "
    "2018.",
    "balle2018b": "Balle, Barthe, Gaboardi: Privacy amplification by subsampling. NeurIPS 2018.",
    "blei2003": "Blei, Ng, Jordan: Latent Dirichlet allocation. JMLR 3, 2003.",
    "bun2016": "Bun, Steinke: Concentrated differential privacy. TCC 2016-B.",
    "canonne2020": "Canonne, Kamath, Steinke: The discrete Gaussian for differential privacy. "
    "NeurIPS 2020.",
    "chaudhuri2011": "Chaudhuri, Monteleoni, Sarwate: Differentially private empirical risk "
    "minimization. JMLR 12, 2011.",
    "dong2022": "Dong, Roth, Su: Gaussian differential privacy. JRSS B 84, 2022.",
    "donoho2014": "Donoho, Gavish: Minimax risk of matrix denoising by singular value "
    "thresholding. Annals of Statistics 42, 2014.",
    "duchi2018": "Duchi, Jordan, Wainwright: Minimax optimal procedures for locally private "
    "estimation. JASA 113, 2018.",
    "dwork2014": "Dwork, Roth: The algorithmic foundations of differential privacy. 2014.",
    "dwork2014gauss": "Dwork, Talwar, Thakurta, Zhang: Analyze Gauss: optimal bounds for "
    "privacy-preserving principal component analysis. STOC 2014.",
    "feldman2021": "Feldman, Zrnic: Individual privacy accounting via a Rényi filter. NeurIPS "
    "2021.",
    "jalko2017": "Jälkö, Dikmen, Honkela: Differentially private variational inference for "
    "non-conjugate models. UAI 2017.",
    "kairouz2015": "Kairouz, Oh, Viswanath: The composition theorem for differential privacy. ICML "
    "2015.",
    "koskela2020": "Koskela, Jälkö, Honkela: Computing tight differential privacy guarantees using "
    "FFT. AISTATS 2020.",
    "liu2025": "Liu, Scaglione, Peisert: releasing labelled Gaussian mixtures with least KL "
    "divergence. 2025.",
    "mironov2017": "Mironov: Rényi differential privacy. CSF 2017.",
    "park2017": "Park, Foulds, Chaudhuri, Welling: DP-EM: Differentially private expectation "
    "maximization. AISTATS 2017.",
    "park2020": "Park, Foulds, Chaudhuri, Welling: Variational Bayes in private settings (VIPS). "
    "JAIR 68, 2020.",
    "su2016": "Su, Cao, Li, Bertino, Jin: Differentially private k-means clustering. CODASPY 2016.",
    "wang2019": "Wang, Balle, Kasiviswanathan: Subsampled Rényi differential privacy and "
    "analytical moments accountant. AISTATS 2019.",
    "wang2023": "Wang, Ding, Hu, Xie, Pan, Xu: Finite sample guarantees of differentially private "
    "expectation maximization. ECAI 2023.",
}
USED = {
    **{name: model.papers for name, model in declarations().items()},
    "linear": ("dwork2014",),
    "advanced": ("dwork2014",),
    "kov": ("kairouz2015",),
    "zcdp": ("bun2016",),
    "zcdp_tight": ("bun2016", "canonne2020"),
    "ma": ("abadi2016",),
    "rdp": ("mironov2017",),
    "exact": ("balle2018a", "dong2022"),
    "pld": ("koskela2020", "balle2018b"),
    "wbk9": ("wang2019",),
    "wbk27": ("wang2019",),
    "release": ("canonne2020", "bun2016", "feldman2021"),
}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's options."""
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="models, composition methods, release [all]"
    )
    parser.add_argument("--json", action="store_true", help="a JSON list [one line for each]")


def run(args: argparse.Namespace) -> None:
    """Print the references, each once, and how to name this package."""
    names = [one_of("name", name, tuple(USED)) for name in args.names] or list(USED)
    keys = sorted({key for name in names for key in USED[name]})
    own = f"dpcore {_version()}: differentially private latent-variable models. Software."
    told = [*(PAPERS[key] for key in keys), own]
    if args.json:
        print_json(told)
        return
    for line in told:
        print_prose(line)


def _version() -> str:
    import dpcore

    return dpcore.__version__
