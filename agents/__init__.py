"""Pincite for programs: checked evidence over MCP, OpenAI's protocol, and webhooks.

`evidence` has the calls and their results, `mcp` and `openai` speak the two protocols,
`webhooks` tells other programs what has happened. Everything is asked as one user.
"""
