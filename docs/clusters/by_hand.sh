#!/bin/sh
# A dask cluster by hand. On one machine:       sh by_hand.sh scheduler
# On each that computes, a worker per core:     sh by_hand.sh workers tcp://HOST:8786 [NUMBER]
# PYTHON (python3), PORT (8786) and MEMORY of a worker (its share of the machine's, or 4GiB) are taken from the environment.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
export DASK_CONFIG="$here/dask.yaml" PYTHONPATH="$here/../..${PYTHONPATH:+:$PYTHONPATH}"
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 MKL_NUM_THREADS=1
dask="${PYTHON:-python3} -m dask"

case "${1:-}" in
scheduler)
    exec $dask scheduler --port "${PORT:-8786}" --no-dashboard
    ;;
workers)
    # -1: as many as there are cores.
    exec $dask worker "$2" --nworkers "${3:--1}" --nthreads 1 --memory-limit "${MEMORY:-auto}" --no-dashboard \
        --preload lrlab.engine.worker
    ;;
*)
    echo "by_hand.sh scheduler | workers ADDRESS [NUMBER]" >&2
    exit 2
    ;;
esac
