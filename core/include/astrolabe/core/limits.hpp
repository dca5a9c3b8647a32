/// Limits of what is read from the user's files, so that no file, however made, takes the stack, the memory
/// or the time of the machine. Each is far above what an experiment needs, and each has its error with the
/// place (`config.limit`). docs/tools.md, "What the reader takes", has them for users.
#pragma once

#include <cstddef>

namespace astrolabe::limits {

/// Bytes of one file. The largest that are in use, routes of every pair of 1,024 hosts, have some 40 MiB.
inline constexpr std::size_t kFileBytes = std::size_t{64} << 20;

/// Bytes of a file with all that it includes and the files that its sections name, and of the text that
/// aliases repeat: an alias and a file that is included or named again count each time, since each is a copy
/// in memory.
inline constexpr std::size_t kTotalBytes = std::size_t{256} << 20;

/// Values (scalars, lists and mappings) of the same; what an alias repeats counts in full, and what an anchor
/// names counts once more, for the copy that aliases are made of. A value takes some 200 bytes, so that a
/// tree stays below 1 GiB with its text.
inline constexpr std::size_t kValues = 1'000'000;

/// Lists and mappings inside each other, over all files, and steps of a dotted path, which makes as many.
/// Experiments have fewer than 10; readers of the tree recurse, and 100 levels take some 100 KiB of the stack
/// of 8 MiB.
inline constexpr std::size_t kNesting = 100;

/// Files that include each other in a chain. A chain of 3 is long; each link takes some kilobytes of the
/// stack.
inline constexpr std::size_t kIncludeDepth = 32;

/// Inclusions in one reading, each counted as often as it happens: 27 files of which each includes the next
/// twice would make 2^26 of them. A thousand jobs may include a file each.
inline constexpr std::size_t kIncludes = 1000;

/// Bytes and rows of a table of a run that is read again. A row of operations.csv has some 150 bytes and one
/// of links.csv 100, so that a million operations of 16,384 ranks fit; readers keep up to 120 bytes for each
/// row beside the text.
inline constexpr std::size_t kTableBytes = std::size_t{256} << 20;
inline constexpr std::size_t kTableRows = 4'000'000;

/// Errors that are shown; the others are counted. Nobody reads further before correcting these.
inline constexpr std::size_t kErrorsShown = 50;

/// Names that the hint of an error lists; the others are counted.
inline constexpr std::size_t kNamesListed = 100;

}  // namespace astrolabe::limits
