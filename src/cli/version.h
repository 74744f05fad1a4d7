/* The commit that the program was built from. The build generates the source file of this constant,
 * so that a new commit compiles only that one. */
#ifndef WEFT_CLI_VERSION_H
#define WEFT_CLI_VERSION_H

extern const char weft_commit[]; /* "" if it is unknown */

#endif
