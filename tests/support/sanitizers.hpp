/// What the compiler was asked to watch over, whichever compiler it is.
#pragma once

#if defined(__has_feature)
#define ASTROLABE_HAS_FEATURE(feature) __has_feature(feature)
#else
#define ASTROLABE_HAS_FEATURE(feature) 0
#endif

namespace astrolabe::testing {

/// AddressSanitizer keeps a shadow of terabytes of addresses, and freed blocks for a while: several times the
/// memory that a program takes itself.
#if defined(__SANITIZE_ADDRESS__) || ASTROLABE_HAS_FEATURE(address_sanitizer)
inline constexpr bool kHasAddressSanitizer = true;
#else
inline constexpr bool kHasAddressSanitizer = false;
#endif

#if defined(__SANITIZE_THREAD__) || ASTROLABE_HAS_FEATURE(thread_sanitizer)
inline constexpr bool kHasThreadSanitizer = true;
#else
inline constexpr bool kHasThreadSanitizer = false;
#endif

/// Whether a process may be given a limit of addresses.
inline constexpr bool kMemoryCanBeLimited = !kHasAddressSanitizer && !kHasThreadSanitizer;

/// Of what is done for many sizes, up to which: under a sanitizer each costs several times the time.
template <class Number>
constexpr Number up_to(Number most, Number sanitized) {
    return kHasAddressSanitizer || kHasThreadSanitizer ? sanitized : most;
}

}  // namespace astrolabe::testing

#undef ASTROLABE_HAS_FEATURE
