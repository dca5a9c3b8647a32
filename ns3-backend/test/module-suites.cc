// SPDX-License-Identifier: GPL-2.0-only
/// Runs the suites of this folder that are linked with it, as ns-3's test-runner does in a source tree.
#include "ns3/test.h"

int
main(int argc, char** argv)
{
    return ns3::TestRunner::Run(argc, argv);
}
