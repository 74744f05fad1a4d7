#!/usr/bin/env bash
# sm_standby.sh on ibsim. Not in the sanitized build: ibsim's replacement of libibumad reads beyond its
# buffers.
export STANDBY_ON=ibsim
# shellcheck source=sm_standby.sh
. "$(dirname "$0")/sm_standby.sh"
