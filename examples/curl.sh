#!/usr/bin/env bash
# Pincite by curl alone: curl.sh FILE.pdf "QUOTE" "CLAIM"
# Finds the quote and checks the claim in a file that is not kept, checks the claim against a text, adds the file
# to the library and asks about it by OpenAI's protocol and by MCP. Needs PINCITE_URL and PINCITE_TOKEN.
set -euo pipefail
file=$1 quote=$2 claim=$3
json() { printf '%s' "$1" | sed 's/\\/\\\\/g; s/"/\\"/g; s/.*/"&"/'; }
api() { curl --silent --show-error --fail-with-body --max-time 120 -H "Authorization: Bearer $PINCITE_TOKEN" "$@"; echo; }
post() { api -H "Content-Type: application/json" --data "$2" "$PINCITE_URL$1"; }

echo "# Where do these words stand in a file?"
api "$PINCITE_URL/api/locate/file/" -F "file=@$file;type=application/pdf" -F "quotes=[{\"quote\": $(json "$quote")}]"

echo "# Does the file bear the claim out?"
api "$PINCITE_URL/api/verify/file/" -F "file=@$file;type=application/pdf" -F "claims=[{\"claim\": $(json "$claim")}]"

echo "# Does a text?"
post /api/verify/ "{\"text\": $(json "$quote"), \"claims\": [{\"claim\": $(json "$claim")}]}"

echo "# The file taken into the library"
api "$PINCITE_URL/api/documents/" -F "file=@$file;type=application/pdf"

echo "# What can be asked by OpenAI's protocol, and an answer"
api "$PINCITE_URL/v1/models"
post /v1/chat/completions "{\"model\": \"library\", \"messages\": [{\"role\": \"user\", \"content\": $(json "$claim")}]}"

echo "# The tools of MCP"
api "$PINCITE_URL/mcp" -H "Content-Type: application/json" -H "Accept: application/json, text/event-stream" \
  --data '{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}'
