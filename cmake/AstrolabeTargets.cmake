# How every target of the project is made: C++20, warnings, header file sets, names.

# Warnings that g++ draws from the optimizer's data flow stay warnings under ASTROLABE_WERROR: they come and go with
# the build type, and g++ 12 has known false ones at -O3 in std::string and std::shared_ptr (GCC bug 105651). clang has
# those of its own that find what g++ does not look for.
function(astrolabe_compile_options target)
    target_compile_features(${target} PUBLIC cxx_std_20)
    set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
    set(flow_warnings -Wno-error=maybe-uninitialized -Wno-error=restrict -Wno-error=array-bounds
        -Wno-error=stringop-overflow -Wno-error=stringop-overread -Wno-error=free-nonheap-object)
    set(clang_warnings -Wextra-semi -Wunreachable-code -Wimplicit-fallthrough -Wcomma -Wshadow-all)
    target_compile_options(${target} PRIVATE
        -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual
        "$<$<CXX_COMPILER_ID:Clang>:${clang_warnings}>"
        "$<$<BOOL:${ASTROLABE_WERROR}>:-Werror>"
        "$<$<AND:$<CXX_COMPILER_ID:GNU>,$<BOOL:${ASTROLABE_WERROR}>>:${flow_warnings}>")
endfunction()

# astrolabe_library(<layer> [COLD] SOURCES <…> HEADERS <…> LINK <…> PRIVATE_LINK <…>)
# A layer's library astrolabe_<layer>, alias astrolabe::<layer>, public headers below include/. LINK names the layers
# and libraries its headers need; with VERIFY_INTERFACE_HEADER_SETS every header is compiled by itself against these.
# COLD: nobody waits for its code, and g++ shall not take twice the time to make it fast.
function(astrolabe_library layer)
    cmake_parse_arguments(ARG "COLD" "" "SOURCES;HEADERS;LINK;PRIVATE_LINK" ${ARGN})
    set(target astrolabe_${layer})
    add_library(${target} STATIC)
    add_library(astrolabe::${layer} ALIAS ${target})
    target_sources(${target}
        PRIVATE ${ARG_SOURCES}
        PUBLIC FILE_SET HEADERS BASE_DIRS include FILES ${ARG_HEADERS})
    target_link_libraries(${target} PUBLIC ${ARG_LINK} PRIVATE ${ARG_PRIVATE_LINK})
    set_target_properties(${target} PROPERTIES
        EXPORT_NAME ${layer}
        POSITION_INDEPENDENT_CODE ON
        VERIFY_INTERFACE_HEADER_SETS ON
        UNITY_BUILD ON
        UNITY_BUILD_BATCH_SIZE 12)
    # What a source file keeps to itself is not in the main file of a unity build.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
    astrolabe_compile_options(${target})
    if(ARG_COLD)
        astrolabe_compile_quickly(${target})
    else()
        astrolabe_no_interposition(${target})
    endif()
    if(ASTROLABE_INSTALL)
        install(TARGETS ${target} EXPORT astrolabe-targets FILE_SET HEADERS)
    endif()
endfunction()

# For position-independent code that somebody waits for: in such code g++ does not inline a function that is visible
# outside its source, as another library might interpose its own. None does.
function(astrolabe_no_interposition target)
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-fno-semantic-interposition>)
endfunction()

# For code that nobody waits for. The build type None is that of the sanitizers' presets.
function(astrolabe_compile_quickly target)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1> $<$<CONFIG:None>:-O0>)
endfunction()

# What tests and benchmarks are compiled with: their own code is cold, the libraries they link are not. Each file is
# compiled by itself, as files of tests are free to use one name for different things.
function(astrolabe_test_options target)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests/support ${PROJECT_SOURCE_DIR})
    astrolabe_compile_quickly(${target})
    astrolabe_compile_options(${target})
endfunction()

# astrolabe_test(<name> [PARTS <n>] SOURCES <…> LINK <…> [LABELS <…>] [PROPERTIES <…>])
# A GoogleTest program; every test in it becomes a CTest test "<name>.<suite>.<test>" with these properties of CTest.
# Its label is "unit" unless LABELS says otherwise; the target fast_tests builds what ./check --fast runs.
# With ASTROLABE_TESTS_TOGETHER a program is CTest tests "<name>.part_<i>_of_<n>", as many as it has files or as PARTS
# says: under a sanitizer a process takes a third of a second to start and to look for leaks. Programs labelled "long"
# are then built where they are asked for by name.
# The headers that most tests include are precompiled once, by the target astrolabe_test_headers.
function(astrolabe_test name)
    cmake_parse_arguments(ARG "" "PARTS" "SOURCES;LINK;LABELS;PROPERTIES" ${ARGN})
    if(NOT ARG_LABELS)
        set(ARG_LABELS unit)
    endif()
    add_executable(${name} ${ARG_SOURCES})
    if(ARG_LABELS MATCHES "^(unit|golden|docs)$")
        add_dependencies(fast_tests ${name})
    endif()
    target_link_libraries(${name} PRIVATE ${ARG_LINK} fmt::fmt GTest::gtest_main rapidcheck rapidcheck_gtest)
    target_compile_definitions(${name} PRIVATE ASTROLABE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    astrolabe_test_options(${name})
    target_precompile_headers(${name} REUSE_FROM astrolabe_test_headers)
    if(NOT ASTROLABE_TESTS_TOGETHER)
        gtest_discover_tests(${name} TEST_PREFIX "${name}." DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
            PROPERTIES LABELS "${ARG_LABELS}" ${ARG_PROPERTIES})
    elseif("long" IN_LIST ARG_LABELS)
        set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
    else()
        list(LENGTH ARG_SOURCES parts)
        if(ARG_PARTS)
            set(parts ${ARG_PARTS})
        endif()
        foreach(part RANGE 1 ${parts})
            set(test ${name}.part_${part}_of_${parts})
            math(EXPR index "${part} - 1")
            add_test(NAME ${test} COMMAND ${name})
            set_tests_properties(${test} PROPERTIES LABELS "${ARG_LABELS}" ${ARG_PROPERTIES}
                ENVIRONMENT "GTEST_TOTAL_SHARDS=${parts};GTEST_SHARD_INDEX=${index}")
        endforeach()
    endif()
endfunction()

# astrolabe_benchmark(<name> SOURCES <…> LINK <…> [SMOKE <regular expression>])
# A Google Benchmark program. The CTest test "benchmark.<name>" only shows that it runs: the cases that match SMOKE
# (default: all), as briefly as possible; what it measures there means nothing.
function(astrolabe_benchmark name)
    cmake_parse_arguments(ARG "" "SMOKE" "SOURCES;LINK" ${ARGN})
    add_executable(${name} ${ARG_SOURCES})
    target_link_libraries(${name} PRIVATE ${ARG_LINK} benchmark::benchmark benchmark::benchmark_main)
    target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
    astrolabe_compile_options(${name})
    if(NOT ARG_SMOKE)
        set(ARG_SMOKE ".")
    endif()
    add_test(NAME benchmark.${name} COMMAND ${name} --benchmark_min_time=0.01 "--benchmark_filter=${ARG_SMOKE}")
    set_tests_properties(benchmark.${name} PROPERTIES LABELS benchmark FAIL_REGULAR_EXPRESSION "ERROR OCCURRED|Failed to match")
endfunction()
