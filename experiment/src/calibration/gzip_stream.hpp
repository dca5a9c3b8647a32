/// A file as a stream of its text, unpacked where it is gzipped.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <streambuf>

#include <zlib.h>

namespace astrolabe::experiment {

class GzipBuffer : public std::streambuf {
public:
    explicit GzipBuffer(const std::filesystem::path& path)
        : file_(gzopen(path.c_str(), "rb")) {}

    [[nodiscard]] bool is_open() const { return file_ != nullptr; }
    /// Whether reading ended because of a broken or shortened archive.
    [[nodiscard]] bool is_broken() const { return is_broken_; }

protected:
    int_type underflow() override {
        const int count = gzread(file_.get(), buffer_.data(), static_cast<unsigned>(buffer_.size()));
        int error = Z_OK;
        gzerror(file_.get(), &error);
        is_broken_ = is_broken_ || count < 0 || (error != Z_OK && error != Z_STREAM_END);
        if (count <= 0) {
            return traits_type::eof();
        }
        setg(buffer_.data(), buffer_.data(), buffer_.data() + count);
        return traits_type::to_int_type(buffer_.front());
    }

private:
    struct Close {
        void operator()(gzFile_s* file) const { gzclose(file); }
    };
    std::unique_ptr<gzFile_s, Close> file_;
    std::array<char, 64 * 1024> buffer_{};
    bool is_broken_ = false;
};

}  // namespace astrolabe::experiment
