# docker build -t lrlab . && docker run --read-only --tmpfs /tmp -v lrlab:/data -p 127.0.0.1:8501:8501 lrlab
FROM python:3.12-slim
RUN useradd --create-home --uid 1000 lab && mkdir /data && chown lab /data
WORKDIR /lrlab
COPY requirements-lock.txt .
RUN pip install --no-cache-dir --require-hashes -r requirements-lock.txt
COPY . .
# Root owns the code; compiled once here, since the root of the container is read-only.
RUN python -m compileall -q lrlab pages app.py
USER lab
ENV LRLAB_PROFILE=classroom LRLAB_STORE=/data/trials.sqlite HOME=/tmp PYTHONDONTWRITEBYTECODE=1
EXPOSE 8501
HEALTHCHECK CMD python -c "import urllib.request as u; u.urlopen('http://127.0.0.1:8501/_stcore/health', timeout=3)"
CMD ["python", "-m", "streamlit", "run", "app.py", "--server.address", "0.0.0.0"]
