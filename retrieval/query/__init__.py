"""What a query asks for: its scope and filters, its terms, and the queries derived from it.

``plan.plan_search`` joins them.
"""
