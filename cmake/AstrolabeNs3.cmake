# What Debian's ns-3 packages need before a project can link them. Call after find_package(ns3), in the same directory.
#
# The export names, for every library, the include folders of libxml2 and Python 3 of the machine that built it. The
# headers used here need neither, but CMake refuses an imported target with a folder that does not exist.
#
# ns-3.37 exports ns3::libcore, later releases ns3::core: here the libraries have the former names in all of them.
# The package's version file accepts no release but its own, so the oldest release is checked here. The headers of
# ns-3.43 are C++20 and those of ns-3.46 and later C++23, which the export does not say.
function(astrolabe_repair_ns3_targets)
    if(ns3_VERSION VERSION_LESS 3.37)
        message(FATAL_ERROR "ns-3 ${ns3_VERSION} is older than 3.37, the oldest release that astrolabe builds with")
    endif()
    set(standard "")
    if(ns3_VERSION VERSION_GREATER_EQUAL 3.46)
        set(standard cxx_std_23)
    elseif(ns3_VERSION VERSION_GREATER_EQUAL 3.43)
        set(standard cxx_std_20)
    endif()
    get_property(imported DIRECTORY PROPERTY IMPORTED_TARGETS)
    list(FILTER imported INCLUDE REGEX "^ns3::")
    foreach(target IN LISTS imported)
        get_target_property(listed ${target} INTERFACE_INCLUDE_DIRECTORIES)
        if(NOT listed)
            continue()
        endif()
        set(existing "")
        foreach(folder IN LISTS listed)
            if(IS_DIRECTORY "${folder}")
                list(APPEND existing "${folder}")
            endif()
        endforeach()
        list(REMOVE_DUPLICATES existing)
        set_target_properties(${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${existing}")
        if(standard)
            set_property(TARGET ${target} APPEND PROPERTY INTERFACE_COMPILE_FEATURES ${standard})
        endif()
        string(REGEX REPLACE "^ns3::(lib)?" "ns3::lib" name ${target})
        if(NOT TARGET ${name})
            add_library(${name} ALIAS ${target})
        endif()
    endforeach()
endfunction()
