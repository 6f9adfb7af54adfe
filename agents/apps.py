"""The agents app, and the events of other apps that it subscribes to."""

from __future__ import annotations

from django.apps import AppConfig
from django.db.models.signals import post_delete


class AgentsConfig(AppConfig):
    name = "agents"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from agents import checks, webhooks
        from agents.models import (
            FileCheck,
            embeds_of,
            end_embed,
            given_embeds,
            listed_embeds,
            listed_webhooks,
        )
        from chat.answers.persistence import answer_finished
        from documents.access import register, register_given
        from documents.signals import job_finished, library_swept
        from documents.tokens import EMBED, WEBHOOK, register_list
        from reviews.fill_queue import review_filled

        job_finished.connect(webhooks.job_finished)
        answer_finished.connect(webhooks.answer_finished)
        review_filled.connect(webhooks.review_filled)
        library_swept.connect(webhooks.sweep)
        library_swept.connect(checks.sweep)
        post_delete.connect(checks.forget_file, FileCheck)
        register("embed", embeds_of, end_embed)
        register_given(given_embeds)
        register_list(EMBED, listed_embeds)
        register_list(WEBHOOK, listed_webhooks)
