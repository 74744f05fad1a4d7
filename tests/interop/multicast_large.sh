#!/usr/bin/env bash
# multicast.sh on a tree that takes ibdmchk minutes.
exec bash "$(dirname "$0")/multicast.sh" fattree-5832
