# The referee of a class, without network and without rights (docs/class.md):
#
#   docker build -t tuplet .
#   docker run --rm --network none --memory 4g --pids-limit 256 \
#     -v "$PWD/submissions:/submissions:ro" -v "$PWD/results:/results" tuplet \
#     tournament easy normal --folder /submissions --games 20 --out /results/games.jsonl --html /results/table.html
#
# The user 1000 must be able to write to results/. Programs in another language than Python need it installed here.
FROM python:3.11-slim
COPY pyproject.toml README.md LICENSE /source/
COPY src /source/src
COPY examples/homework.py /source/examples/
RUN pip install --no-cache-dir /source && rm -r /source && useradd --uid 1000 --create-home referee
USER referee
# Compiled code stays in the image, in the user's cache folder, so that a new container need not compile it again.
RUN tuplet match easy hard --games 2
WORKDIR /tmp
ENTRYPOINT ["tuplet"]
CMD ["--help"]
