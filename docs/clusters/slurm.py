"""Starts a scheduler here and its workers as jobs of SLURM, and says where it listens; Ctrl-C ends all of them.

python slurm.py --jobs 25 --cores 40 --memory 120GiB --walltime 08:00:00 [--queue NAME] [--account NAME]

Needs `pip install dask-jobqueue==0.9.0` beside lrlab, and a folder that all nodes see. --script prints what each job
runs, and starts nothing.
"""

import argparse
import signal
from pathlib import Path

import dask
import yaml
from dask_jobqueue import SLURMCluster

HERE = Path(__file__).parent
ONE_THREAD = [f"export {name}=1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")]


def parse() -> argparse.Namespace:
    """Return the options."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--cores", type=int, required=True, help="workers of a job, each with one thread")
    parser.add_argument("--memory", required=True, help="of a job, shared by its workers")
    parser.add_argument("--walltime", default="01:00:00")
    for name in ("queue", "account", "interface"):
        parser.add_argument(f"--{name}")
    parser.add_argument("--script", action="store_true")
    return parser.parse_args()


def main() -> None:
    """Serve until the program is ended."""
    given = parse()
    dask.config.update(dask.config.config, yaml.safe_load((HERE / "dask.yaml").read_text()))
    cluster = SLURMCluster(
        cores=given.cores,
        processes=given.cores,
        memory=given.memory,
        walltime=given.walltime,
        queue=given.queue,
        account=given.account,
        interface=given.interface,
        job_script_prologue=[f"export DASK_CONFIG={HERE.resolve() / 'dask.yaml'}", *ONE_THREAD],
        worker_extra_args=["--no-dashboard", "--preload", "lrlab.engine.worker"],
        scheduler_options={"dashboard": False},
    )
    with cluster:
        if given.script:
            print(cluster.job_script())
            return
        cluster.scale(jobs=given.jobs)
        print(f"LRLAB_SCHEDULER={cluster.scheduler_address}", flush=True)
        signal.sigwait([signal.SIGINT, signal.SIGTERM])


if __name__ == "__main__":
    main()
