"""Named datasets, folders of data and the cache."""

from pathlib import Path

from faults.case import Case

CN = "--method cn --quiet"


def copied(path: Path) -> None:
    path.write_bytes((path.parent / "graph.npz").read_bytes())


CASES = [
    Case("datasets: unknown", f"evaluate atlantis {CN}", "unknown dataset 'atlantis'"),
    Case("datasets: unknown to predict", f"predict atlantis {CN}", "unknown dataset 'atlantis'"),
    Case("datasets: an empty name", ("predict", "", "--method", "cn"), "folder"),
    Case("datasets: no network", f"evaluate cora {CN}", "cannot download"),
    Case("datasets: a data root that is not there", f"evaluate cora {CN} --data-root no", "data_root"),
    Case("datasets: a data root that is a file", f"evaluate cora {CN} --data-root f", "data_root", {"f": "x"}),
    Case("datasets: an empty data root", f"evaluate cora {CN} --data-root d", "cora.npz", {"d": Path.mkdir}),
    Case(
        "datasets: another graph of that name",
        f"evaluate cora {CN} --data-root .",
        "is not cora",
        {"cora.npz": copied},
        ("graph.npz",),
    ),
    Case("datasets: a damaged graph of that name", f"evaluate cora {CN} --data-root .", "npz", {"cora.npz": "x"}),
    Case("datasets: listed from nowhere", "datasets --data-root no", "data_root"),
    Case("datasets: listed from a file", "datasets --data-root f", "data_root", {"f": "x"}),
    Case(
        "datasets: GELATO_DATA is a file",
        f"evaluate cora {CN}",
        "GELATO_DATA",
        {"f": "x"},
        environment={"GELATO_DATA": "f"},
    ),
    Case("datasets: GELATO_DATA is not there", "datasets", "GELATO_DATA", environment={"GELATO_DATA": "no"}),
    Case(
        "datasets: GELATO_DATA of an unknown user",
        "datasets",
        "home folder",
        environment={"GELATO_DATA": "~nobody-here/x"},
    ),
    Case(
        "datasets: GELATO_CACHE of an unknown user",
        "datasets",
        "home folder",
        environment={"GELATO_CACHE": "~nobody-here/x"},
    ),
    Case(
        "datasets: GELATO_CACHE in a device",
        f"evaluate cora {CN}",
        "GELATO_CACHE",
        environment={"GELATO_CACHE": "/dev/null/x"},
    ),
    Case(
        "datasets: GELATO_CACHE is a file",
        f"evaluate cora {CN}",
        "GELATO_CACHE",
        {"f": "x"},
        environment={"GELATO_CACHE": "f"},
    ),
    Case(
        "datasets: an empty home",
        "datasets",
        "HOME",
        environment={"GELATO_CACHE": None, "HOME": "", "XDG_CACHE_HOME": None},
    ),
    Case("variables: NUMBA_NUM_THREADS 0", "methods", "NUMBA_NUM_THREADS", environment={"NUMBA_NUM_THREADS": "0"}),
    Case("variables: NUMBA_NUM_THREADS abc", "methods", "NUMBA_NUM_THREADS", environment={"NUMBA_NUM_THREADS": "abc"}),
    Case("variables: NUMBA_NUM_THREADS -1", "methods", "NUMBA_NUM_THREADS", environment={"NUMBA_NUM_THREADS": "-1"}),
    Case("variables: OMP_NUM_THREADS abc", "methods", "OMP_NUM_THREADS", environment={"OMP_NUM_THREADS": "abc"}),
    Case("variables: MKL_NUM_THREADS 1.5", "methods", "MKL_NUM_THREADS", environment={"MKL_NUM_THREADS": "1.5"}),
]
