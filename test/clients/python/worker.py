"""Reads one request a line, calls the function that it names, and answers with one line: `worker.ts` is the other side."""

import importlib
import json
import sys
import threading
import traceback
from concurrent.futures import ThreadPoolExecutor

# More than any test has open at once.
THREADS = 8


def main() -> None:
    # Whatever a library prints goes where it disturbs nobody.
    answers, sys.stdout = sys.stdout, sys.stderr
    module = importlib.import_module(sys.argv[1])
    lock = threading.Lock()

    def answer(line: str) -> None:
        request = json.loads(line)
        try:
            reply = {"value": getattr(module, request["name"])(**request["parameters"])}
        except BaseException:
            reply = {"failure": traceback.format_exc()}
        with lock:
            print(json.dumps({"id": request["id"], **reply}), file=answers, flush=True)

    with ThreadPoolExecutor(THREADS) as pool:
        for line in sys.stdin:
            pool.submit(answer, line)


main()
