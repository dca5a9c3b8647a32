# The program from its Debian package:  cpack -G DEB in build/release, then
#   docker build -t astrolabe --build-arg PACKAGE=build/release/astrolabe_0.1.0_amd64.deb .
#   docker run --rm -v "$PWD:/work" -w /work astrolabe run experiment.yaml
FROM debian:12-slim
ARG PACKAGE
COPY ${PACKAGE} /tmp/astrolabe.deb
RUN apt-get update && apt-get install -y --no-install-recommends /tmp/astrolabe.deb && rm -rf /tmp/astrolabe.deb /var/lib/apt/lists/*
ENTRYPOINT ["astrolabe"]
