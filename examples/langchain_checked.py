"""A plain LangChain pipeline over a PDF; Pincite checks what it says, and shows where.

``langchain_checked.py FILE.pdf "QUESTION" FOLDER`` answers with a vector store and a chat model, has each
sentence verified against the file, prints verdicts and links, and saves a picture of the words that decide it
as ``FOLDER/1.png``, …

Needs `pip install httpx pypdf langchain-openai langchain-text-splitters` and OPENAI_API_KEY; OPENAI_BASE_URL,
OPENAI_MODEL, OPENAI_EMBEDDINGS where others than OpenAI's own are meant.
"""

from __future__ import annotations

import os
import re
import sys
import time
from pathlib import Path

import httpx
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from langchain_text_splitters import RecursiveCharacterTextSplitter
from pypdf import PdfReader

PROMPT = "Answer the question from the text alone, in short sentences.\n\n{text}\n\nQuestion: {question}"
ENDED = ("ready", "failed")
file, question, folder = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])

# The pipeline, as anybody writes it: it knows nothing of Pincite.
pages = "\n\n".join(page.extract_text() for page in PdfReader(file).pages)
pieces = RecursiveCharacterTextSplitter(chunk_size=1000, chunk_overlap=100).split_text(pages)
embeddings = OpenAIEmbeddings(
    model=os.environ.get("OPENAI_EMBEDDINGS", "text-embedding-3-small"), check_embedding_ctx_length=False
)
store = InMemoryVectorStore.from_texts(pieces, embeddings)
model = ChatOpenAI(model=os.environ.get("OPENAI_MODEL", "gpt-5-mini"))
chain = ChatPromptTemplate.from_template(PROMPT) | model | StrOutputParser()
text = "\n\n".join(found.page_content for found in store.similarity_search(question, k=4))
said = chain.invoke({"text": text, "question": question})

# What it said, checked.
api = httpx.Client(
    base_url=os.environ["PINCITE_URL"],
    headers={"Authorization": f"Bearer {os.environ['PINCITE_TOKEN']}"},
    timeout=120,
)
upload = api.post("/api/documents/", files={"file": (file.name, file.read_bytes(), "application/pdf")})
document = upload.raise_for_status().json()["id"]
while api.get(f"/api/documents/{document}/status/").raise_for_status().json()["status"] not in (
    "ready",
    "failed",
):
    time.sleep(1)
sentences = [part.strip() for part in re.split(r"(?<=[.!?])\s+", said) if part.strip()]
checked = api.post(
    "/api/verify/", json={"document": document, "claims": [{"claim": one} for one in sentences]}
)
folder.mkdir(exist_ok=True)
for number, (sentence, result) in enumerate(
    zip(sentences, checked.raise_for_status().json()["results"], strict=True), start=1
):
    print(f"{'✓' if result['verified'] else '✗'} {sentence}")
    print(f"   {result['verdict']} {result['reason']} {result['link']}".rstrip())
    if result["picture"]:
        (folder / f"{number}.png").write_bytes(api.get(result["picture"]).raise_for_status().content)
