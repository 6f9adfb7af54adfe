"""Who may sign in: Django's own pages, without the fields in parts that screen readers cannot name.

Those are the pairs of lists to choose groups and permissions from, and a day and a time for one moment.
"""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User

admin.site.unregister([User, Group])


@admin.register(User)
class PlainUserAdmin(UserAdmin):
    filter_horizontal = ()
    readonly_fields = ("last_login", "date_joined")  # the program writes both


@admin.register(Group)
class PlainGroupAdmin(GroupAdmin):
    filter_horizontal = ()
