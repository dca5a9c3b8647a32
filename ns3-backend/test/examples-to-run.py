#! /usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only

# What test.py runs of examples/: (program and its options, whether to run it, whether under valgrind too).
# Paths are those from testpy-output/<date>/ in the ns-3 tree; the link contrib/astrolabe leads out of it.
cpp_examples = [
    ("astrolabe-incast", "True", "True"),
    ("astrolabe-incast --scheme=pause --leaves=2 --senders=8 --memory=400000", "True", "False"),
    ("astrolabe-queue-trace", "True", "True"),
    ("astrolabe-queue-trace --control=Dcqcn --interval=10us", "True", "False"),
    ("astrolabe-ring-all-reduce --bytes=1000000", "True", "True"),
    ("astrolabe-ring-all-reduce --ports=6 --spray --bytes=1000000", "True", "False"),
    ("astrolabe-tcp-incast", "True", "True"),
    ("astrolabe-tcp-incast --dctcp --senders=16 --bytes=200000", "True", "False"),
    ("opera-shuffle", "True", "True"),
    ("opera-shuffle --racks=8 --rotors=4 --groups=4 --rate=100Gbps", "True", "False"),
    ("opera-tcp-short-flows --flows=20 --duration=5ms", "True", "True"),
    ("opera-rotor-failure", "True", "False"),
    ("opera-two-services", "True", "False"),
    ("topoopt-dlrm", "True", "True"),
    ("topoopt-rings", "True", "True"),
    ("topoopt-rings --hosts=32 --strides=1,7 --forwarding=500ns --spray", "True", "False"),
]

python_examples = []
