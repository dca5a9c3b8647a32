# `cpack` in the build folder: a Debian package, and an archive that runs from any folder without root.
#   cpack -G DEB     astrolabe_0.1.0_amd64.deb: the program, inputs, examples, the Python package, completions, the manual
#                    page and the library of charts; other libraries are Debian's, which it depends on
#   cpack -G TGZ     astrolabe-0.1.0-Linux-x86_64.tar.gz: the same, and the shared libraries but those of the C library
# The components `program` and `charts` (and `libraries` in the archive) are packed; headers and static libraries are for
# `cmake --install`. Charts are fetched by npm, once.
set(CPACK_PACKAGE_NAME astrolabe)
set(CPACK_PACKAGE_VENDOR astrolabe)
set(CPACK_PACKAGE_CONTACT "the developers of astrolabe <astrolabe@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "co-design of DLRM training and the network that carries it")
set(CPACK_PACKAGE_DESCRIPTION
    "Simulates training iterations of deep learning recommendation models on networks: fat-trees, Opera, TopoOpt\nand others, by rates or packet by packet on ns-3, from one YAML file.")
set(CPACK_PACKAGE_FILE_NAME ${CPACK_PACKAGE_NAME}-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR})
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_GENERATOR DEB TGZ)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "nodejs, librsvg2-bin, python3-pandas")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_CURRENT_BINARY_DIR}/package-components.cmake)
file(WRITE ${CPACK_PROJECT_CONFIG_FILE} [=[
set(CPACK_COMPONENTS_ALL program charts)
if(CPACK_GENERATOR STREQUAL "TGZ")
    list(APPEND CPACK_COMPONENTS_ALL libraries)
    set(CPACK_PACKAGING_INSTALL_PREFIX /)
    set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)
endif()
]=])

# As DT_RPATH, which libraries that need each other follow, too.
set_target_properties(astrolabe PROPERTIES INSTALL_RPATH "$ORIGIN/../lib/astrolabe")
target_link_options(astrolabe PRIVATE LINKER:--disable-new-dtags)
install(CODE [=[
    file(GET_RUNTIME_DEPENDENCIES EXECUTABLES $<TARGET_FILE:astrolabe>
        RESOLVED_DEPENDENCIES_VAR libraries UNRESOLVED_DEPENDENCIES_VAR missing
        PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread)\\.so")
    if(missing)
        message(FATAL_ERROR "shared libraries are missing: ${missing}")
    endif()
    file(INSTALL ${libraries} DESTINATION "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/lib/astrolabe" FOLLOW_SYMLINK_CHAIN)
]=] COMPONENT libraries EXCLUDE_FROM_ALL)

# Of shells, of man, and of Python.
foreach(script bash zsh fish man)
    set(written_${script} ${CMAKE_CURRENT_BINARY_DIR}/completion/${script})
    list(APPEND written ${written_${script}})
    list(APPEND writing COMMAND astrolabe completion ${script} > ${written_${script}})
endforeach()
add_custom_command(OUTPUT ${written}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/completion ${writing}
    DEPENDS astrolabe VERBATIM)
add_custom_target(astrolabe_completion ALL DEPENDS ${written})
install(FILES ${written_bash} DESTINATION share/bash-completion/completions RENAME astrolabe COMPONENT program)
install(FILES ${written_zsh} DESTINATION share/zsh/vendor-completions RENAME _astrolabe COMPONENT program)
install(FILES ${written_fish} DESTINATION share/fish/vendor_completions.d RENAME astrolabe.fish COMPONENT program)
install(FILES ${written_man} DESTINATION share/man/man1 RENAME astrolabe.1 COMPONENT program)
install(DIRECTORY python/astrolabe DESTINATION lib/python3/dist-packages COMPONENT program
    PATTERN __pycache__ EXCLUDE)

# ECharts, which `astrolabe report` fetches on first use elsewhere.
file(READ ${PROJECT_SOURCE_DIR}/study/page/package.json page)
string(JSON echarts_version GET ${page} dependencies echarts)
install(CODE "
    set(page \"${PROJECT_SOURCE_DIR}/study/page\")
    set(work \"${CMAKE_CURRENT_BINARY_DIR}/charts\")
    set(folder \"share/astrolabe/echarts-${echarts_version}\")" COMPONENT charts EXCLUDE_FROM_ALL)
install(CODE [=[
    file(COPY ${page}/package.json ${page}/package-lock.json DESTINATION ${work})
    execute_process(COMMAND npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
        WORKING_DIRECTORY ${work} COMMAND_ERROR_IS_FATAL ANY)
    set(echarts ${work}/node_modules/echarts)
    file(INSTALL ${echarts}/LICENSE ${echarts}/NOTICE ${echarts}/dist/echarts.min.js
        DESTINATION "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/${folder}")
]=] COMPONENT charts EXCLUDE_FROM_ALL)
include(CPack)
