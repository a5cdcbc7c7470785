"""The end of the engine's own process."""

import subprocess
import sys

TWO_ENDS = """
import shutil, signal, threading, time
from lrlab.engine import host
remove, begun = shutil.rmtree, threading.Event()

def slow(*given, **settings):
    begun.set()
    time.sleep(0.3)
    remove(*given, **settings)

shutil.rmtree = slow
signal.signal(signal.SIGTERM, lambda number, frame: host.end({folder!r}))
threading.Thread(target=host.end, args=({folder!r},)).start()
begun.wait()
host.end()
"""
ALONE = {"start_new_session": True}
"""The whole group of processes is ended."""


def test_a_second_end_does_not_cut_off_the_removal_of_the_folder(tmp_path):
    """Workers that are killed have the thread that serves fail, which ends the process, too."""
    folder = tmp_path / "lrlab-x"
    (folder / "scratch").mkdir(parents=True)
    subprocess.run([sys.executable, "-c", TWO_ENDS.format(folder=str(folder))], check=True, timeout=60, **ALONE)
    assert not folder.exists()
