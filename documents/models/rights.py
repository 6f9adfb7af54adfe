"""The access rule of documents, as SQL.

A user can access a document

* as its owner;
* by a ``Share`` of the document;
* by a collection that contains it, as the collection's owner or by a ``Share`` of the collection,
  as long as the user who added the document (the holder) may edit the document.

The last rule is recursive: the holder may have that right by a collection, too. A delegated right
therefore ends with the right it depends on, and is never wider. Collections that delegate a right to
each other in a circle give none: a chain counts only when it ends at the document's owner or at a
user with whom the owner shared it for editing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from django.db import connection
from django.db.models import BooleanField, Func, Q
from django.db.models.expressions import RawSQL

if TYPE_CHECKING:
    from django.contrib.auth.models import User

GROUPS_OF = "SELECT group_id FROM auth_user_groups WHERE user_id = {who}"
GIVEN_TO = f"(s.user_id = {{who}} OR s.group_id IN ({GROUPS_OF}))"
HOLDER = "COALESCE(m.added_by_id, c.owner_id)"

# The holder is the owner, or has the right directly from the owner.
SETTLED = f"""(d.owner_id = {HOLDER} OR EXISTS (
    SELECT FROM documents_share s
    WHERE s.document_id = d.id AND s.can_write AND {GIVEN_TO.format(who=HOLDER)}))"""

# A row is a placement in a collection (its ``root``) and a user on whose right to edit it depends.
CHAINS = f"""WITH RECURSIVE chain (root, document_id, holder_id, settled) AS (
    SELECT {{root}}, m.document_id, {HOLDER}, {SETTLED}
    FROM documents_document_collections m
    JOIN documents_collection c ON c.id = m.collection_id
    JOIN documents_document d ON d.id = m.document_id
    WHERE {{seed}}
  UNION
    SELECT chain.root, m.document_id, {HOLDER}, {SETTLED}
    FROM chain
    JOIN documents_document_collections m ON m.document_id = chain.document_id
    JOIN documents_collection c ON c.id = m.collection_id
    JOIN documents_document d ON d.id = m.document_id
    WHERE NOT chain.settled AND (c.owner_id = chain.holder_id OR EXISTS (
        SELECT FROM documents_share s
        WHERE s.collection_id = c.id AND s.can_write AND {GIVEN_TO.format(who="chain.holder_id")}))
) SELECT root FROM chain WHERE settled"""

# In a materialized CTE, Citus evaluates the recursion before it queries the nodes; elsewhere it refuses.
HANDED_ON = f"WITH handed_on AS MATERIALIZED ({CHAINS}) SELECT root FROM handed_on"

# A user's own placement gives that user no right: it depends on that user's right.
COLLECTED = f"""{HOLDER} <> %s AND c.id IN (
    SELECT id FROM documents_collection WHERE owner_id = %s
    UNION ALL SELECT s.collection_id FROM documents_share s
    WHERE s.collection_id IS NOT NULL AND {GIVEN_TO.format(who="%s")} {{rights}})"""
PLACED = f"""SELECT m.document_id, {HOLDER} FROM documents_document_collections m
    JOIN documents_collection c ON c.id = m.collection_id WHERE {{seed}}"""
GIVEN = f"""SELECT s.document_id FROM documents_share s
    WHERE s.document_id IS NOT NULL AND {GIVEN_TO.format(who="%s")} {{rights}}"""
ANY_RIGHT, RIGHT_TO_EDIT = "", "AND s.can_write"


def reachable(user: User, *, to_edit: bool = False) -> Q:
    """Return the condition on documents the user may read, or edit. Deleted ones are included.

    Each subquery runs once and is hashed. Most placements depend on the owner's right and need no recursion.
    """
    rights = RIGHT_TO_EDIT if to_edit else ANY_RIGHT
    collected = COLLECTED.format(rights=rights)
    known = (user.pk,) * 4
    given = RawSQL(GIVEN.format(rights=rights), (user.pk, user.pk))
    by_owner = RawSQL(PLACED.format(seed=collected), known)
    handed_on = RawSQL(HANDED_ON.format(root="m.document_id", seed=f"m.handed_on AND {collected}"), known)
    return Q(owner=user) | Q(pk__in=given) | Q(_IsRow(_Row("pk", "owner"), by_owner)) | Q(pk__in=handed_on)


class _Row(Func):
    """``ROW(…)``."""

    function = "ROW"
    output_field = BooleanField()


class _IsRow(Func):
    """``ROW(…) IN (subquery)``."""

    template = "%(expressions)s"
    arg_joiner = " IN "
    output_field = BooleanField()
    conditional = True


def live_places(document_id: UUID) -> set[int]:
    """Return ids of the document's valid ``Placement`` rows: their holders may edit the document."""
    with connection.cursor() as cursor:
        cursor.execute(CHAINS.format(root="m.id", seed="m.document_id = %s"), [document_id])
        return {row[0] for row in cursor.fetchall()}
