#!/usr/bin/env bash
# multicast.sh on trees for which ibdmchk needs minutes.
SM_LIMIT=600 exec bash "$(dirname "$0")/multicast.sh" fattree-5832 fattree-11664
