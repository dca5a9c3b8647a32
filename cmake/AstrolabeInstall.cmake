# `cmake --install`: headers and static libraries (exported by astrolabe_library), the program, the ready-made
# inputs, and the package files that make find_package(astrolabe 0.1 COMPONENTS …) work.
include(CMakePackageConfigHelpers)

set(ASTROLABE_COMPONENTS "")
foreach(component core network system workload ns3 experiment study)
    if(TARGET astrolabe_${component})
        list(APPEND ASTROLABE_COMPONENTS ${component})
    endif()
endforeach()

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/astrolabe)
configure_package_config_file(cmake/astrolabeConfig.cmake.in astrolabeConfig.cmake
    INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(astrolabeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT astrolabe-targets NAMESPACE astrolabe:: DESTINATION ${package_folder})
install(FILES
    ${CMAKE_CURRENT_BINARY_DIR}/astrolabeConfig.cmake
    ${CMAKE_CURRENT_BINARY_DIR}/astrolabeConfigVersion.cmake
    cmake/AstrolabeNs3.cmake
    DESTINATION ${package_folder})

if(TARGET astrolabe)
    install(TARGETS astrolabe COMPONENT program)
    include(cmake/AstrolabePackage.cmake)
endif()
install(DIRECTORY inputs examples schema DESTINATION ${CMAKE_INSTALL_DATADIR}/astrolabe COMPONENT program)
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)
