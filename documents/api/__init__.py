"""The API: what all resources share (errors, tokens, rates, paging, idempotency) and the documents'."""
