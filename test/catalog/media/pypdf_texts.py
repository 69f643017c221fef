"""Prints the text of each page that pypdf reads from the PDFs, base64 in a JSON list, that come on the standard input."""

import base64
import io
import json
import logging
import sys

import pypdf

logging.disable(logging.CRITICAL)


def text_of(file):
    try:
        pages = pypdf.PdfReader(io.BytesIO(base64.b64decode(file))).pages
        return "\n".join(page.extract_text() for page in pages).encode("utf-8", "replace").decode()
    except Exception:
        return ""


json.dump([text_of(file) for file in json.load(sys.stdin)], sys.stdout)
