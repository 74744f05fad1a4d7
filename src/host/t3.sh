/tmp/w/host/b/weft ctl status
/tmp/w/host/b/weft ctl counters H0 1
