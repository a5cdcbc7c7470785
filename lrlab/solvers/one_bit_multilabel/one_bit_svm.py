"""Support vector machines on a table of signs: the solver of multi-label problems, as it serves one-bit labels."""

from lrlab.solver_entry import SolverEntry
from lrlab.solvers.multilabel.svm import svm
from lrlab.solvers.one_bit_multilabel.requirements import QIU, refuse_single_labels, table_workspace

ENTRY = SolverEntry(
    name="svm",
    title="Support vector machines",
    summary="The widest margin for each label of a table by itself; full rank, and slow.",
    reference=f"scikit-learn's LinearSVC; SVM in {QIU}",
    run=svm,
    families=("one-bit-multilabel",),
    workspace=table_workspace,
    refuse=refuse_single_labels,
)
