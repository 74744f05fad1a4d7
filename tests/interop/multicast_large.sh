#!/usr/bin/env bash
# multicast.sh on trees that take ibdmchk minutes.
SM_LIMIT=600 exec bash "$(dirname "$0")/multicast.sh" fattree-5832 fattree-11664
