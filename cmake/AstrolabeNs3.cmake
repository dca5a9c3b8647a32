# Debian's ns-3 exports, for every library, the include folders of libxml2 and Python 3 of the machine that built
# it. The headers used here need neither, but CMake refuses an imported target with a folder that does not exist.
# Call after find_package(ns3), in the same directory.
function(astrolabe_repair_ns3_targets)
    get_property(imported DIRECTORY PROPERTY IMPORTED_TARGETS)
    list(FILTER imported INCLUDE REGEX "^ns3::lib")
    foreach(target IN LISTS imported)
        get_target_property(listed ${target} INTERFACE_INCLUDE_DIRECTORIES)
        set(existing "")
        foreach(folder IN LISTS listed)
            if(IS_DIRECTORY "${folder}")
                list(APPEND existing "${folder}")
            endif()
        endforeach()
        list(REMOVE_DUPLICATES existing)
        set_target_properties(${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${existing}")
    endforeach()
endfunction()
