"""Published data sets that papers use: where they come from, and what is known of their licences.

Sizes are those of Yu et al. (2014), Table 2. None of the files is part of this package.
"""

from typing import NamedTuple


class Shape(NamedTuple):
    """Numbers of rows to learn from and to test on, features, labels, and means: features not 0 and labels on in a row.

    Those of Yu et al. (2014), Table 2; of emotions and corel5k those of their files.
    """

    rows: int
    test_rows: int
    features: int
    labels: int
    features_per_row: float
    labels_per_row: float


SHAPES = {
    "bibtex": Shape(4_880, 2_515, 1_836, 159, 68.74, 2.40),
    "delicious": Shape(12_920, 3_185, 500, 983, 18.17, 19.03),
    "corel5k": Shape(4_500, 500, 499, 374, 8.26, 3.52),
    "emotions": Shape(391, 202, 72, 6, 72.0, 1.87),
    "eurlex": Shape(17_413, 1_935, 5_000, 3_993, 236.69, 5.30),
    "nus-wide": Shape(161_789, 107_859, 1_134, 1_000, 862.70, 5.78),
    "autofood": Shape(155, 38, 9_382, 162, 143.92, 15.80),
    "compphys": Shape(161, 40, 33_284, 208, 792.78, 9.80),
    "wiki": Shape(881_805, 10_000, 366_932, 213_707, 146.78, 7.06),
}

MULAN = "mulan.sourceforge.net/datasets.html: NAME-train.arff, NAME-test.arff, NAME.xml"
NOT_STATED = "not stated by its source"

SETS = {
    "bibtex": {
        "rows": "4,880 + 2,515", "features": 1836, "labels": 159, "source": MULAN, "licence": NOT_STATED,
        "reference": "Katakis, Tsoumakas, Vlahavas (2008), ECML/PKDD discovery challenge",
    },
    "delicious": {
        "rows": "12,920 + 3,185", "features": 500, "labels": 983, "source": MULAN, "licence": NOT_STATED,
        "reference": "Tsoumakas, Katakis, Vlahavas (2008), ECML/PKDD workshop on mining multidimensional data",
    },
    "corel5k": {
        "rows": "4,500 + 500", "features": 499, "labels": 374, "source": MULAN, "licence": NOT_STATED,
        "reference": "Duygulu, Barnard, de Freitas, Forsyth (2002), ECCV",
    },
    "emotions": {
        "rows": "391 + 202", "features": 72, "labels": 6, "source": MULAN, "licence": NOT_STATED,
        "reference": "Trohidis, Tsoumakas, Kalliris, Vlahavas (2008), ISMIR, 325-330",
    },
    "eurlex": {
        "rows": "17,413 + 1,935", "features": 5000, "labels": 3993,
        "source": "ke-tud.github.io/resources/eurlex.html (EUROVOC descriptors, first of ten splits); also on Mulan",
        "licence": "not stated for the set; EUR-Lex lets its legal documents be reused (Decision 2011/833/EU)",
        "reference": "Loza Mencía, Fürnkranz (2010), Semantic processing of legal texts, 192-215",
    },
    "nus-wide": {
        "rows": "161,789 + 107,859", "features": 1134, "labels": 1000,
        "source": "NUS-WIDE's page at lms.comp.nus.edu.sg: features of images, user tags",
        "licence": "not stated for features and tags; pictures are given on request, with a form of agreement",
        "reference": "Chua, Tang, Hong, Li, Luo, Zheng (2009), CIVR",
    },
    "autofood": {
        "rows": "155 + 38", "features": 9382, "labels": 162, "source": "no public page known", "licence": NOT_STATED,
        "reference": "as Yu et al. (2014) use it",
    },
    "compphys": {
        "rows": "161 + 40", "features": 33284, "labels": 208, "source": "no public page known", "licence": NOT_STATED,
        "reference": "as Yu et al. (2014) use it",
    },
    "wiki": {
        "rows": "881,805 + 10,000", "features": 366932, "labels": 213707,
        "source": "made by the authors of Wikipedia's pages; no public file known", "licence": NOT_STATED,
        "reference": "Yu et al. (2014)",
    },
}  # fmt: skip
"""By name: rows to learn from and to test on, features, labels, where the files are, licence, who made the set."""

HOW = (
    "Of a set NAME a folder holds NAME-train and NAME-test in any format that is read (.arff, .svm, .txt, .csv, "
    ".npz; packed as .gz or .bz2 or not), in itself or in a folder NAME, and NAME.xml with the labels where the format "
    "is ARFF."
)
"""What a folder of data sets looks like."""
