/* Private to the reader of fabric files: read.c (files, directives, node headers), read_links.c
 * (port lines and links), and the readers of lists of ports.
 *
 * 'ibnetdiscover --ports', iblinkinfo and opensm-subnet.lst print one line for each port, with more
 * or fewer facts of both ends. Each has a file that parses its lines (read_ports.c,
 * read_linkinfo.c, read_subnet_list.c); port_list.c makes nodes and links of them. */
#ifndef WEFT_TOPOLOGY_READ_H
#define WEFT_TOPOLOGY_READ_H

#include "base/line_reader.h"
#include "topology/topology.h"

/* A line of a file; files are numbered in the order of opening. */
struct file_place {
    uint32_t file, line;
};

/* One port line: its port and the peer that it names. */
struct link_end {
    uint32_t port;
    struct file_place place;
    const char *peer_name; /* with the module's prefix */
    uint64_t peer_guid;    /* 0: not given */
    const char *peer_text; /* the comment of a switch's port from the peer's description on */
    uint32_t target;       /* port index, once resolved */
    uint16_t peer_port;    /* undefined if peer_name is an alias */
    uint8_t widths;        /* enabled, as a mask of enum link_width; 0: not given */
    uint16_t speeds;       /* enabled, as a mask of 1 << enum link_speed; 0: not given */
    uint32_t length_mm;    /* 0: not given */
};

/* One end of a link as a line names it; 0: the line does not state it. */
struct list_end {
    uint64_t node_guid, system_guid;
    uint64_t port_guid; /* of a switch: of its port 0 */
    uint32_t vendor_id;
    uint16_t device_id;
    uint16_t lid;
    uint8_t kind;   /* enum node_kind */
    uint8_t number; /* of the port */
    uint8_t ports;  /* number of ports of the node */
    const char *description;
    uint32_t node; /* index of the node in the list, once resolved */
};

struct list_line {
    struct list_end own, peer;
    bool has_peer;
    uint8_t width; /* enum link_width; 0: not stated */
    uint8_t speed; /* enum link_speed; SPEED_COUNT: not stated */
    struct file_place place;
};

/* A line that is not part of a dump. */
struct noise {
    struct file_place place;
    const char *text;
};

struct reader {
    bool names_adapters;      /* they have no records, only lines of switches name them */
    struct topology topology; /* under construction */
    struct line_reader *lines;
    uint32_t file; /* index of the file being read */
    VEC(const char *) files;
    struct arena names;
    unsigned depth; /* of includes */
    bool may_include;

    uint64_t guid_base[NODE_ROUTER + 1], guid_next[NODE_ROUTER + 1];
    uint64_t system_guid, switch_port_guid; /* of the next node */
    uint32_t vendor_id;                     /* of the next node */
    uint16_t device_id;                     /* of all following nodes, as in ibsim */
    uint8_t widths;                         /* default masks of the file */
    uint16_t speeds;
    const char *module; /* prefix of names, "" if none */

    uint32_t node; /* the node of the current record, or TOPOLOGY_NONE */
    VEC(struct link_end) ends;
    VEC(uint32_t) end_of_port; /* by port: index in `ends` or TOPOLOGY_NONE */
    struct name_map aliases;   /* "module@name" to port index */

    VEC(struct noise) noise;
    int (*take_list_line)(struct reader *reader,
                          char *line); /* NULL: the file is not a list of ports */
    VEC(struct list_line) list_lines;
    struct list_end list_node; /* of the last heading of iblinkinfo */
    bool has_list_node;
};

/* Errors at the current line, and at another one. */
#define reader_fail(reader, ...) line_reader_error((reader)->lines, __VA_ARGS__)
int reader_fail_at(struct reader *reader, struct file_place place, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Scanners: each advances *at only if it returns true. */
void scan_blanks(char **at);
bool scan_word(char **at, const char *word);
bool scan_number(char **at, uint64_t *value);           /* decimal or 0x… */
bool scan_digits(char **at, int base, uint64_t *value); /* of base 16: 0x may precede */
bool scan_guid(char **at, uint64_t *guid);              /* 0x…, behind blanks */
bool scan_quoted(char **at, char **text);               /* ends the text with NUL in place */
bool scan_bracketed(char **at, uint64_t *value);        /* [7] */

/* "lid 4 lmc 0" of a port; other text is a comment and is ignored. */
int reader_take_lid(struct reader *reader, char *at, struct topology_port *port);

/* Masks of speeds and widths as in ibsim and 'ibnetdiscover -f'. */
bool speeds_from_mask(uint64_t base, uint64_t extended, uint16_t *speeds);
bool widths_from_mask(uint64_t value, uint8_t *widths);

/* Whether the name of the node is a key of ibnetdiscover. */
bool reader_is_dumped(const struct reader *reader, uint32_t node);

/* Enables all widths and speeds up to these, so that the slower end decides. Width 0, SPEED_COUNT:
 * not stated. */
void link_end_enable(struct link_end *end, unsigned width, unsigned speed);

/* `line` is NUL-terminated and writable. */
int reader_take_port(struct reader *reader, char *line);
/* Makes the links of all ends. */
int reader_resolve_links(struct reader *reader);

/* ---- lists of ports ---- */

/* A parser takes the current line. LINE_IS_FOREIGN: the line is not one of its format, and is
 * unchanged. */
enum { LINE_IS_FOREIGN = 1 };
int ports_take_line(struct reader *reader, char *line);       /* ibnetdiscover --ports */
int linkinfo_take_line(struct reader *reader, char *line);    /* iblinkinfo */
int subnet_list_take_line(struct reader *reader, char *line); /* opensm-subnet.lst */

/* Adds a line at the current place. */
int list_add(struct reader *reader, struct list_line line);
/* Makes nodes of all lines, and ends of links. */
int list_resolve(struct reader *reader);

/* "4x" or "4X" and "106.25", "25" or "NDR", up to a blank or a bracket; unknown words set "not
 * stated". */
void list_take_rate(struct list_line *line, const char *width_word, const char *speed_word);
/* "8    1": LID and port number. Advances only if it returns true. */
bool list_scan_lid_and_port(char **at, struct list_end *end);

#endif
