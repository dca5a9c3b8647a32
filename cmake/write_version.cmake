# Writes OUTPUT from INPUT with the release and the commit of SOURCE, where it differs from what is there.
#   cmake -D SOURCE=… -D INPUT=… -D OUTPUT=… -D PROJECT_VERSION=… -P write_version.cmake
set(ASTROLABE_COMMIT "")
execute_process(COMMAND git -C ${SOURCE} describe --always --abbrev=10 --exclude=* --dirty
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failure ERROR_QUIET)
if(NOT failure)
    string(REPLACE "-dirty" ", modified" commit "${commit}")
    set(ASTROLABE_COMMIT " (${commit})")
endif()
configure_file(${INPUT} ${OUTPUT} @ONLY)
