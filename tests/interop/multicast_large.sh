#!/usr/bin/env bash
# multicast.sh on fat trees that ibdmchk checks for minutes.
SM_LIMIT=600 exec bash "$(dirname "$0")/multicast.sh" fattree-5832 fattree-11664
