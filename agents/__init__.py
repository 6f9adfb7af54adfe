"""Pincite for programs: checked evidence over MCP, OpenAI's protocol, and webhooks.

`evidence` has the functions and `results` their types; `mcp_server` (over HTTP: `mcp_http`), `openai_api`
and `openai_responses` are the protocols; `webhooks` sends events to other programs. Each call has the
rights of one user.
"""
